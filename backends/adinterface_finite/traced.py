"""Differences of values that an outer engine traces: in that engine's arithmetic, with steps that are numbers.

The step's derivative does not enter that of f. Accuracy cannot be estimated under a trace, so the stencil is fixed: four
points, whose error falls with the fourth power of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface.core.contract.arrays import cast_like, full_like, library_of, size_of
from adinterface.core.contract.backend import Arrays, Aux, Backend, FlatFunction, Linearized, Pushforward
from adinterface.core.contract.fixed_values import holding
from adinterface.core.contract.library import epsilon, kind
from adinterface.core.contract.registry import evaluation
from adinterface.core.contract.repetition import copies

from .evaluation import check_precision, kept_all

Evaluate = Callable[..., tuple[Arrays, Aux]]

#: Distances and weights; the step is the fifth root of the machine epsilon.
STENCIL, ROOT = ((1.0, 8 / 12), (-1.0, -8 / 12), (2.0, -1 / 12), (-2.0, 1 / 12)), 5


def linearize(backend: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    function = holding(function, leaves)
    with evaluation(leaves):
        outputs, aux = kept_all(function(*copies(backend, leaves, function.held)))
    check_precision(backend, leaves, outputs)

    def push(tangents: Arrays) -> Arrays:
        if step_of(backend, leaves, tangents) is None:  # along zero
            return tuple([full_like(backend, output, 0.0) for output in outputs])
        return _pushed(backend, function.alone, leaves, tangents)[0]

    return Linearized(outputs, aux, push)


def pushforward(
    backend: Backend, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
) -> Pushforward:
    function = holding(function, leaves)
    # Along zero, f's value gives the dtypes of the zeros.
    if value or step_of(backend, leaves, tangents) is None:
        linear = linearize(backend, function, leaves)
        return Pushforward(linear.outputs, linear.push(tangents), linear.aux)
    pushed, aux = _pushed(backend, function.alone, leaves, tangents)
    return Pushforward((), pushed, aux)


def _pushed(backend: Backend, function: Evaluate, leaves: Arrays, tangents: Arrays) -> tuple[Arrays, Aux]:
    """The tangents in a direction other than zero, and f's aux."""
    step = step_of(backend, leaves, tangents)
    total: list[Any] = []
    outputs: Arrays = ()
    first = Aux()
    with evaluation(leaves):
        for distance, weight in STENCIL:
            moved = [leaf + distance * step * tangent for leaf, tangent in zip(leaves, tangents)]
            there, aux = kept_all(function(*_same_dtype(backend, moved, leaves)))
            if not total:
                check_precision(backend, leaves, there)
                outputs, first = there, aux
                total = [weight * output for output in there]
            else:
                total = [sum_ + weight * output for sum_, output in zip(total, there)]
    return cast_like(backend, [sum_ / step for sum_ in total], outputs), first


def step_of(backend: Backend, leaves: Arrays, tangents: Arrays) -> Any:
    """The step: relative to the largest component of x that v moves, at least to 1; None if v is zero.

    Where x is unknown it is taken for 1.
    """
    scale, length, relative = 1.0, 0.0, 0.0
    for leaf, tangent in zip(leaves, tangents):
        library = library_of(backend, leaf)
        if size_of(backend, leaf) == 0:
            continue
        v = known(backend, tangent)
        moves = np.ones(library.shape(leaf)) if v is None else np.abs(v)
        if not np.any(moves):
            continue
        relative = max(relative, epsilon(library.dtype(leaf)) ** (1 / ROOT))
        length = max(length, float(np.max(moves)))
        x = known(backend, leaf)
        if x is not None:
            scale = max(scale, float(np.max(np.abs(x), where=moves != 0, initial=0.0)))
    return relative * scale / length if length else None


def _same_dtype(backend: Backend, moved: list[Any], leaves: Arrays) -> Arrays:
    """Arithmetic may have turned a 0-d array into a scalar, or float16 into more."""
    same: list[Any] = []
    for array, leaf in zip(moved, leaves):
        library = library_of(backend, leaf)
        source = library_of(backend, array)
        same.append(array if source is not library else library.asarray(array, dtype=library.dtype(leaf), like=leaf))
    return tuple(same)


def known(backend: Backend, array: Any) -> Any:
    """The numbers of an array; None if an outer engine traces it without them."""
    library = library_of(backend, array)
    if not library.traced(array):
        numbers = library.to_numpy(array)
        return numbers.astype("complex128" if kind(library.dtype(array)) == "complex" else "float64")
    return library.value_under_trace(array)
