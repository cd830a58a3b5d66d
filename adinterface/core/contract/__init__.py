"""The contract: what engines and containers must provide, and the values that choose an engine.

Imports NumPy and nothing else of this package. The names here are public: engines of other packages import them.
"""

from .auto import AutoBackend
from .backend import Aux, Backend, FlatFunction, KnownFailure, Linearized, Pullback, Pushforward, Shortcuts
from .library import NUMPY, Library, unsupported_dtype
from .loops import Loops
from .nodes import NodeType, Wrapping
from .publish import publish
from .repetition import Repeated
from .rules import Point

__all__ = [
    "NUMPY",
    "AutoBackend",
    "Aux",
    "Backend",
    "FlatFunction",
    "KnownFailure",
    "Library",
    "Linearized",
    "Loops",
    "NodeType",
    "Point",
    "Pullback",
    "Pushforward",
    "Repeated",
    "Shortcuts",
    "Wrapping",
    "unsupported_dtype",
]

publish(__name__, globals())
