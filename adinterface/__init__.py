"""One function, any engine: `gradient(f, backend, *args)` on nested models, with JAX, PyTorch, autograd or differences."""

from . import tree
from .auto import AutoAutograd, AutoBackend, AutoFiniteDifferences, AutoJax, AutoTorch
from .backend import Backend, FlatFunction, Pullback, Pushforward
from .errors import (
    AdinterfaceError,
    BackendError,
    ConversionError,
    DisconnectedWarning,
    MissingEngineError,
    NotDifferentiableError,
    OutputError,
    PrecisionError,
    TreeError,
)
from .namespace import array_namespace
from .operators.gradient import ValueAndGradient, gradient, value_and_gradient
from .tree import Constant, register_node

__version__ = "0.1.0"

__all__ = [
    "AdinterfaceError",
    "AutoAutograd",
    "AutoBackend",
    "AutoFiniteDifferences",
    "AutoJax",
    "AutoTorch",
    "Backend",
    "BackendError",
    "Constant",
    "ConversionError",
    "DisconnectedWarning",
    "FlatFunction",
    "MissingEngineError",
    "NotDifferentiableError",
    "OutputError",
    "PrecisionError",
    "Pullback",
    "Pushforward",
    "TreeError",
    "ValueAndGradient",
    "__version__",
    "array_namespace",
    "gradient",
    "register_node",
    "tree",
    "value_and_gradient",
]
