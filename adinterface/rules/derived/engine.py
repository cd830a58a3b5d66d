"""The backend of the engine that is at work where a rule's derivative is computed."""

from __future__ import annotations

from typing import Any

from ...core.contract.ambient import now
from ...core.contract.auto import AutoBackend, AutoFiniteDifferences
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.registry import auto_class
from ...core.tree import Constant, Leaf, flatten


def backend_of_arrays(tree: Any) -> AutoBackend:
    """The backend whose engine has made the arrays of a tree; finite differences for NumPy's, which none has made."""
    library = now().following
    if library is None:
        leaves: list[Leaf] = []
        flatten(Constant(tree), leaves, lambda: "an argument")
        library = next((leaf.library for leaf in leaves if leaf.library not in (NUMPY, PYTHON)), None)
    cls = None if library is None else auto_class(library.name)
    return AutoFiniteDifferences() if cls is None else cls()


def has_derivative(tree: Any) -> bool:
    """Whether there is something in a tree to differentiate."""
    leaves: list[Leaf] = []
    flatten(tree, leaves, lambda: "an argument")
    return any(leaf.differentiated for leaf in leaves)


def marked(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an operator: those with nothing to differentiate become Constants."""
    return tuple([arg if has_derivative(arg) else Constant(arg) for arg in args])
