"""JAX devices as bytes. They do not pickle themselves, not even inside a sharding, so a pickle names platform and number."""

from __future__ import annotations

import io
import pickle
from typing import Any

import jax

from adinterface import BackendError


class _DevicePickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, jax.Device):
            return _device, (value.platform, value.id)
        return NotImplemented


def pickled(device: Any) -> bytes:
    """A device, or a sharding that holds devices."""
    written = io.BytesIO()
    _DevicePickler(written, protocol=4).dump(device)
    return written.getvalue()


def _device(platform: str, number: int) -> Any:
    for device in jax.devices(platform):
        if device.id == number:
            return device
    raise BackendError(f"AutoJax was pickled with the device {platform}:{number}, which JAX does not see here.")
