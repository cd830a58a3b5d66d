"""Differences of values that an outer engine traces: in that engine's arithmetic. The step's derivative does not enter f's."""

from __future__ import annotations

from typing import Any

from adinterface.core.contract.arrays import cast_like, full_like, library_of, size_of
from adinterface.core.contract.backend import Arrays, Aux, Backend, Linearized, Pushforward
from adinterface.core.contract.library import epsilon, kind
from adinterface.core.contract.registry import evaluation

from .differences import stencil
from .evaluation import check_precision, kept_all


def linearize(backend: Backend, around: Any, leaves: Arrays) -> Linearized:
    """around: the flat function around the leaves."""
    with evaluation(leaves):
        outputs, aux = kept_all(around.at_the_point())
    check_precision(backend, leaves, outputs)

    def push(tangents: Arrays) -> Arrays:
        found = _pushed(backend, around, leaves, tangents)
        return tuple([full_like(backend, output, 0.0) for output in outputs]) if found is None else found[0]

    return Linearized(outputs, aux, push)


def pushforward(backend: Backend, around: Any, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
    found = None if value else _pushed(backend, around, leaves, tangents)
    if found is not None:
        return Pushforward((), *found)
    linear = linearize(backend, around, leaves)  # along zero, f's value gives the dtypes of the zeros
    return Pushforward(linear.outputs, linear.push(tangents), linear.aux)


def _pushed(backend: Backend, around: Any, leaves: Arrays, tangents: Arrays) -> tuple[Arrays, Aux] | None:
    """The tangents in a direction, and f's aux; None along zero."""
    pairs = [(leaf, tangent) for leaf, tangent in zip(leaves, tangents) if size_of(backend, leaf)]
    exactness = [epsilon(library_of(backend, leaf).dtype(leaf)) for leaf, _ in pairs]
    step = stencil.step_along([known(backend, x) for x, _ in pairs], [known(backend, v) for _, v in pairs], exactness)
    if step is None:
        return None
    seen: list[tuple[Arrays, Aux]] = []

    def moved(arrays: list[Any]) -> Arrays:
        seen.append(kept_all(around(*[_in_dtype_of(backend, array, leaf) for array, leaf in zip(arrays, leaves)])))
        check_precision(backend, leaves, seen[0][0])
        return seen[-1][0]

    with evaluation(leaves):
        totals = stencil.pushed(moved, leaves, tangents, step)
    return cast_like(backend, totals, seen[0][0]), seen[0][1]


def _in_dtype_of(backend: Backend, array: Any, leaf: Any) -> Any:
    """Arithmetic may have turned a 0-d array into a scalar, or float16 into more."""
    library = library_of(backend, leaf)
    if library_of(backend, array) is not library:
        return array
    return library.asarray(array, dtype=library.dtype(leaf), like=leaf)


def known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    if not library.traced(array):
        numbers = library.to_numpy(array)
        return numbers.astype("complex128" if kind(library.dtype(array)) == "complex" else "float64")
    return library.value_under_trace(array)
