"""Compressed derivatives: a few products, each of many columns or rows that share no entry, from
the primitives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.contract.arrays import library_of, size_of
from ..core.contract.backend import Arrays, Aux, Backend, FlatFunction, Linearized
from ..core.derive.basis import SEED_BYTES, Stacked, concatenated
from ..core.derive.primitives import linearize, pullback, stacked, transposed
from ..core.derive.second_order import DerivedFunction, hessian_map
from ..core.support.record import note_step
from .pattern import Colouring, Indices

Numbers = np.ndarray[Any, Any]

#: Compiled code holds seeds of at most this many bytes; it computes larger ones. A compiler that
#: knows them folds them into f,
#: which is faster, but takes long if they are large. Into a gradient it folds them once for each
#: place where f's tangents meet,
#: and reading all of those takes longer than computing the seeds.
FOLDED_BYTES, FOLDED_BYTES_OF_GRADIENTS = 16 * 2**20, 0


class Compressed(NamedTuple):
    """The products of a compressed derivative.

    `coloured` and `singles` have a stack for each output, or for each leaf.
    """

    outputs: Arrays
    aux: Aux
    coloured: Sequence[Any]
    singles: Sequence[Any]


def compressed_jacobian(
    backend: Backend,
    function: FlatFunction,
    leaves: Arrays,
    colouring: Colouring,
    scales: Sequence[Any] | None = None,
    direction: Numbers | None = None,
) -> Compressed:
    """scales: for each leaf, what its tangents are multiplied by, element by element.

    direction: one more product is taken with it, the last in each stack of coloured lines.
    """
    pushes = colouring.by == "columns"
    single = bool(colouring.singles.size)
    note_step(
        backend, f"{colouring.passes} products with the Jacobian: {colouring}{_beside(direction)}"
    )
    if not pushes or single:
        pulled = pullback(backend, function, leaves, differentiable=bool(backend.transposes))
        outputs, aux, back = pulled.outputs, pulled.aux, stacked(backend, pulled)
    if pushes or single:
        # A linear map of the engine is preferred: the transpose of a transpose costs more.
        own = "linearize" in backend.gives and backend.transposes != "always"
        again = single and bool(backend.transposes) and not own
        linear = transposed(backend, pulled) if again else linearize(backend, function, leaves)
        outputs, aux, push = linear.outputs, linear.aux, stacked(backend, linear)
    first, second = (leaves, outputs) if pushes else (outputs, leaves)
    coloured_by, single_by = (
        (push, back if single else None) if pushes else (back, push if single else None)
    )
    scales_of = scales if pushes else None
    coloured = _stacks(
        backend, coloured_by, first, colouring.colours, colouring.count, scales_of, direction
    )
    singles: list[Any] = []
    if single_by is not None:
        numbers = np.full(sum([size_of(backend, array) for array in second]), -1, np.int32)
        numbers[colouring.singles] = np.arange(colouring.singles.size)
        singles = _stacks(
            backend, single_by, second, numbers, colouring.singles.size, None if pushes else scales
        )
    return Compressed(outputs, aux, coloured, singles)


def compressed_hessian(
    outer: Backend,
    function: DerivedFunction,
    leaves: Arrays,
    colouring: Colouring,
    scales: Sequence[Any] | None = None,
    direction: Numbers | None = None,
) -> Compressed:
    """As `compressed_jacobian`, of the gradient, whose Jacobian is symmetric."""
    linear: Linearized = hessian_map(outer, function, leaves)
    note_step(
        outer, f"{colouring.passes} products with the Hessian: {colouring}{_beside(direction)}"
    )
    push = stacked(outer, linear)
    coloured = _stacks(
        outer,
        push,
        leaves,
        colouring.colours,
        colouring.count,
        scales,
        direction,
        FOLDED_BYTES_OF_GRADIENTS,
    )
    return Compressed(linear.outputs, linear.aux, coloured, ())


def _beside(direction: Numbers | None) -> str:
    return "" if direction is None else "; one more, to check them"


def _stacks(
    backend: Backend,
    apply: Stacked,
    arrays: Arrays,
    colours: Indices,
    count: int,
    scales: Sequence[Any] | None,
    direction: Numbers | None = None,
    folded: int = FOLDED_BYTES,
) -> list[Any]:
    """The products with the sum of the basis vectors of each colour, and the direction.

    None if there is neither.

    folded: how many bytes of seeds compiled code may hold.
    """
    known = 8 * count * colours.size <= folded
    step = backend.chunk_size
    if step is None:
        step = max(1, SEED_BYTES // max(8, 8 * colours.size))
    parts = []
    total = count if direction is None else count + 1
    for start in range(0, total, step):
        stop = min(start + step, total)
        seeds = _seeds(
            backend,
            arrays,
            colours,
            (start, stop),
            scales,
            known,
            direction if stop > count else None,
        )
        parts.append(apply(seeds))
    return [concatenated(backend, column) for column in zip(*parts)]


def _seeds(
    backend: Backend,
    arrays: Arrays,
    colours: Indices,
    chunk: tuple[int, int],
    scales: Sequence[Any] | None,
    known: bool,
    last: Numbers | None,
) -> Arrays:
    """The sums of the basis vectors of each colour in `chunk`.

    Computed at run time if a compiler must not fold them.

    last: the vector in the place of the last sum.
    """
    start, stop = chunk
    seeds: list[Any] = []
    offset = 0
    for n, array in enumerate(arrays):
        library = library_of(backend, array)
        shape, dtype = library.shape(array), library.dtype(array)
        size = size_of(backend, array)
        own, given = (
            colours[offset : offset + size],
            None if last is None else last[offset : offset + size],
        )
        offset += size
        xp = library.namespace(array)
        if not known and library.traced(array) and scales is None and hasattr(xp, "arange"):
            stack = xp.reshape(
                library.asarray(own)[None, :] == xp.arange(start, stop)[:, None],
                (stop - start, *shape),
            )
            seeds.append(library.asarray(stack, dtype=dtype, like=array))
            continue
        numbers = (
            (own[None, :] == np.arange(start, stop)[:, None])
            .reshape(stop - start, *shape)
            .astype("float64")
        )
        if given is not None:
            numbers[-1] = given.reshape(shape)
        if scales is not None:
            numbers *= scales[n]
        seeds.append(library.asarray(numbers, dtype=dtype, like=array))
    return tuple(seeds)


def joined(scales: Sequence[Any] | None) -> Numbers | None:
    """The scales of all leaves in one vector."""
    return None if scales is None else np.concatenate([np.zeros(0), *map(np.ravel, scales)])


def gathered(backend: Backend, stores: Sequence[Any], places: Indices) -> Any:
    """The entries at these places of concatenated flat stacks, by the engine itself."""
    library = library_of(backend, stores[0])
    if len(stores) == 1:
        return library.take(stores[0], places)
    xp = library.namespace(stores[0])
    return library.take(
        concatenated(backend, [xp.reshape(store, (-1,)) for store in stores]), places
    )
