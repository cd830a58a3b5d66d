"""The HIPS autograd engine of adinterface."""

from .backend import AutogradBackend
from .library import AutogradLibrary

__all__ = ["AutogradBackend", "AutogradLibrary"]
