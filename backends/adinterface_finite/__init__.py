"""The engine of finite differences. `differences` is a package of NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import FiniteDifferencesBackend as FiniteDifferencesBackend


def __getattr__(name: str) -> Any:
    if name != "FiniteDifferencesBackend":
        raise AttributeError(name)
    from . import backend  # late: who uses `differences` needs no adinterface

    return backend.FiniteDifferencesBackend
