"""The JAX engine of adinterface."""

from .backend import JaxBackend
from .library import JaxLibrary
from .nodes import Pytree

__all__ = ["JaxBackend", "JaxLibrary", "Pytree"]
