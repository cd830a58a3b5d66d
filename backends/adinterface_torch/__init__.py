"""The PyTorch engine of adinterface."""

from .backend import TorchBackend
from .library import TorchLibrary
from .modules import ModuleNode

__all__ = ["ModuleNode", "TorchBackend", "TorchLibrary"]
