"""The contract: what engines and containers must provide, and the values that choose an engine.

Imports NumPy and `support`. An engine imports `adinterface` and the names here, which are public.
"""

from ..support.other_packages import advice
from ..support.publish import publish
from ..support.record import active_record, note_accuracy, note_step
from ..support.static_values import Unkeyed, key_of
from .arrays import block_dtype, copies, library_of, library_of_array, size_of
from .auto import AutoBackend, changed_options
from .backend import (
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Gradient,
    Jacobian,
    KnownFailure,
    Linearized,
    Pullback,
    Pushforward,
    Randomness,
    Shortcuts,
)
from .errors import levels_to_the_user
from .inexact import Accuracy, LeafAccuracy
from .library import (
    NUMPY,
    PYTHON,
    Enter,
    Library,
    LibraryShortcuts,
    Scoping,
    ToLeaf,
    any_wide,
    as_it_is,
    dtype_kind,
    dtype_name,
    epsilon,
    unsupported_dtype,
    width,
)
from .loops import Loops, Step
from .nodes import Around, NodeType
from .notes import TAKE_FUNCTIONS, Note, note_of
from .registry import backend_for, evaluation, function_of_extension, in_mode
from .rules import FlatRule, Point, require_linear
from .tracing import leave_to_python

__all__ = [
    # what every engine needs
    "AutoBackend", "Backend", "FlatFunction", "Arrays", "Aux", "Pullback", "Pushforward", "Library",
    "NUMPY", "PYTHON", "unsupported_dtype", "KnownFailure",
    # what gives speed, rules, loops, containers, and an engine whose derivatives have errors
    "Shortcuts", "Gradient", "Jacobian", "Linearized", "Randomness", "LibraryShortcuts", "Enter",
    "ToLeaf", "Scoping", "FlatRule", "Point", "Loops", "Step", "NodeType", "Around",
    "Accuracy", "LeafAccuracy",
    # helpers: of arrays and dtypes, messages, records, static values, extensions
    "as_it_is", "dtype_kind", "width", "any_wide", "epsilon", "dtype_name", "library_of",
    "library_of_array", "size_of", "block_dtype", "require_linear", "Note", "note_of",
    "TAKE_FUNCTIONS", "advice", "levels_to_the_user", "note_step", "note_accuracy", "active_record",
    "key_of", "Unkeyed", "changed_options", "backend_for", "in_mode", "evaluation",
    "leave_to_python", "function_of_extension", "copies",
]  # fmt: skip

publish(__name__, globals())
