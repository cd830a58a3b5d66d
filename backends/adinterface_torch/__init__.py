"""The PyTorch engine of adinterface."""

from .backend import TorchBackend
from .library import TorchLibrary
from .nodes import ModuleNode

__all__ = ["ModuleNode", "TorchBackend", "TorchLibrary"]
