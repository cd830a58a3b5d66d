"""Files of `jax.export`: StableHLO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import export as jax_export

from adinterface import MissingEngineError
from adinterface.core.contract import Arrays

#: The dtypes that JAX has only with `jax_enable_x64`.
_WIDE = ("float64", "complex128", "int64", "uint64")


def export(function: Callable[..., Arrays], arrays: Arrays, path: str) -> dict[str, Any]:
    """See `Backend.export`."""
    exported = jax_export.export(jax.jit(function))(*arrays)
    try:
        written = exported.serialize()
    except ImportError:
        raise MissingEngineError(
            "jax.export needs flatbuffers to write a file: pip install 'adinterface[export]'", name="flatbuffers"
        ) from None
    with open(path, "wb") as file:
        file.write(written)
    wide = any(str(aval.dtype) in _WIDE for aval in (*exported.in_avals, *exported.out_avals))
    return {
        "format": "jax.export",
        "load": "outputs = jax.export.deserialize(bytearray(open(path, 'rb').read())).call(*inputs)",
        "platforms": list(exported.platforms),
        "needs": ["jax.config.update('jax_enable_x64', True)"] if wide else [],
    }
