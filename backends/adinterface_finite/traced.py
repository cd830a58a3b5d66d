"""Differences of values that an outer engine traces: in that engine's arithmetic. The step's derivative does not enter f's."""

from __future__ import annotations

from typing import Any

from adinterface.core.contract import (
    Arrays,
    Backend,
    cast_like,
    epsilon,
    evaluation,
    full_like,
    library_of,
    size_of,
)

from .differences import stencil
from .evaluation import FlatEvaluations, numbers_of


def pushed(backend: Backend, evaluations: FlatEvaluations, tangents: Arrays) -> Arrays:
    """The tangents of f's outputs along these tangents of its leaves."""
    leaves, (outputs, _) = evaluations.leaves, evaluations.base()

    def moved(arrays: list[Any]) -> Arrays:
        return evaluations.call(*[_in_dtype_of(backend, array, leaf) for array, leaf in zip(arrays, leaves)])[0]

    pairs = [(leaf, tangent) for leaf, tangent in zip(leaves, tangents) if size_of(backend, leaf)]
    exactness = [epsilon(library_of(backend, leaf).dtype(leaf)) for leaf, _ in pairs]
    step = stencil.step_along([known(backend, x) for x, _ in pairs], [known(backend, v) for _, v in pairs], exactness)
    if step is None:  # along zero
        return tuple([full_like(backend, output, 0.0) for output in outputs])
    with evaluation(evaluations.given):
        return cast_like(backend, stencil.pushed(moved, leaves, tangents, step), outputs)


def _in_dtype_of(backend: Backend, array: Any, leaf: Any) -> Any:
    """Arithmetic may have turned a 0-d array into a scalar, or float16 into more."""
    library = library_of(backend, leaf)
    if library_of(backend, array) is not library:
        return array
    return library.asarray(array, dtype=library.dtype(leaf), like=leaf)


def known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    return library.value_under_trace(array) if library.traced(array) else numbers_of(backend, array)
