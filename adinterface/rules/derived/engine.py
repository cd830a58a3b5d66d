"""The backend that computes the derivative of a rule, and the arguments that it gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contract.auto import AutoBackend, AutoFiniteDifferences
from ...core.contract.errors import RuleError
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.registry import auto_class
from ...core.tree import Constant, flatten
from ..namespace import engine_of_rule
from ..scalar import is_complex


def auto_of_arrays(tree: Any) -> AutoBackend:
    """The backend of the arrays in a tree; finite differences for NumPy arrays."""
    library = engine_of_rule.get()
    if library is None:
        _, leaves = flatten(Constant(tree), "an argument")
        library = next(
            (leaf.library for leaf in leaves if leaf.library not in (NUMPY, PYTHON)), None
        )
    cls = None if library is None else auto_class(library.name)
    return AutoFiniteDifferences() if cls is None else cls()


def has_derivative(tree: Any) -> bool:
    _, leaves = flatten(tree, "an argument")
    return any(leaf.differentiated for leaf in leaves)


def marked(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an operator: those with nothing to differentiate become Constants."""
    return tuple([arg if has_derivative(arg) else Constant(arg) for arg in args])


def as_like(name: str, what: str, given: Any, result: Any) -> Any:
    """The result of a solver, with the shape and dtype of what the solver was given."""
    if is_complex(result) and not is_complex(given):
        raise RuleError(
            f"{name}: its solver returned complex numbers, and {what} is real. Give {what} a"
            " complex dtype."
        )
    if isinstance(given, (float, complex)) and not hasattr(given, "dtype"):
        return type(given)(np.asarray(result).reshape(()))
    return np.asarray(result, getattr(given, "dtype", None)).reshape(np.shape(given))
