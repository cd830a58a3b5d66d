"""A computation for each entry of some stacks: by the engine in one evaluation, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._trees import structure_key
from ..core.call.call import Call
from ..core.call.output import ALONE, OutputLayout
from ..core.contract.arrays import full_like, library_of
from ..core.contract.backend import Arrays, Aux, Backend, Randomness
from ..core.contract.errors import BackendError, OutputError
from ..core.derive.basis import SEED_BYTES, stack_of, zero_entry
from ..core.support.record import note_step

#: Tuples and lists of native arrays and `Aux`.
Results = Any


def for_each(
    backends: Sequence[Backend],
    compute: Callable[..., Results],
    arrays: Arrays,
    each: Sequence[bool],
    numbers: int,
    randomness: Randomness,
) -> Results:
    """`compute(*entries)` for each entry of those arrays that are stacks, with its results stacked.

    backends: all that take part; the arrays belong to the first. each: whether each array is a
    stack; the others are shared by all entries. numbers: how many numbers one entry returns, which
    bounds the chunk size.
    """
    backend = backends[0]
    stacks = [array for array, stacked in zip(arrays, each) if stacked]
    count = library_of(backend, stacks[0]).shape(stacks[0])[0]
    if count == 0:  # one entry of zeros shows the shapes
        one = [
            full_like(backend, zero_entry(backend, array), 0.0, 1) if stacked else array
            for array, stacked in zip(arrays, each)
        ]
        return _mapped(
            for_each(backends, compute, tuple(one), each, numbers, randomness),
            lambda array: array[:0],
        )
    chunk = _chunk(backend, stacks, count, numbers)
    vectorized = None
    if all(other.chunk_size != 1 for other in backends):
        made = [
            other.vectorize(compute, tuple(each), chunk=chunk, randomness=randomness)
            for other in backends
        ]
        if None not in made:
            vectorized = made[0]
    if vectorized is None:
        note_step(backend, f"{count} entries, one after another")
        if randomness == "same":
            raise BackendError(
                f"batched: {backend.auto!r} takes one entry after another, and each draws random"
                " numbers of its own. Pass what f needs of them as an argument, or write"
                " randomness='different'."
            )
        return _joined(
            backend,
            [
                compute(*[x[n] if stacked else x for x, stacked in zip(arrays, each)])
                for n in range(count)
            ],
        )
    note_step(
        backend,
        (
            f"{count} entries in one evaluation"
            if chunk >= count
            else f"{count} entries, {chunk} at a time"
        ),
    )
    return vectorized(*arrays)


def _chunk(backend: Backend, stacks: Sequence[Any], count: int, numbers: int) -> int:
    """How many entries are computed at a time: as many as fit the budget of seeds."""
    if backend.chunk_size is not None:
        return min(count, backend.chunk_size)
    own = sum(
        int(np.prod(library_of(backend, stack).shape(stack)[1:], dtype=np.int64))
        for stack in stacks
    )
    return min(count, max(1, SEED_BYTES // (8 * max(1, own + numbers))))


def _joined(backend: Backend, rows: Sequence[Results]) -> Results:
    """The results of all entries as one, with each array stacked."""
    if any(row is None for row in rows):  # the outputs of some entries depend on no argument
        return next((row for row in rows if row is not None), None)
    first = rows[0]
    if isinstance(first, Aux):
        arrays = tuple([stack_of(backend, column) for column in zip(*[row.arrays for row in rows])])
        return Aux(arrays, _joined_layouts([row.layout for row in rows]))
    if isinstance(first, (tuple, list)):
        return type(first)([_joined(backend, column) for column in zip(*rows)])
    return stack_of(backend, rows)


def _joined_layouts(layouts: Sequence[OutputLayout]) -> OutputLayout:
    first = layouts[0]
    if all(each is first for each in layouts):
        return first
    key = structure_key(first.structure)
    kinds = [place if isinstance(place, str) else type(place) for place in first.places]
    for n, layout in enumerate(layouts):
        if (
            structure_key(layout.structure) != key
            or [p if isinstance(p, str) else type(p) for p in layout.places] != kinds
        ):
            raise OutputError(
                f"batched: f returned another structure for entry {n} than for entry 0, or another"
                " value of what is no array, so the results cannot be stacked. Let f return the"
                " same structure for every entry."
            )
    places = [
        column[0] if isinstance(column[0], str) else np.asarray(column)
        for column in zip(*[layout.places for layout in layouts])
    ]
    return OutputLayout(first.structure, tuple(places))


def with_axis(results: Results, call: Call) -> Results:
    """The results with Python numbers repeated, which no engine stacks: 3 becomes `[3, 3]`."""
    result: list[Any] = []

    def filled(place: Any) -> Any:
        if isinstance(place, str):
            return place
        numbers = place if isinstance(place, np.ndarray) else np.full(len(result[0]), place)
        library = call.plan.backend.library
        return call.to_user(numbers if library is None else library.asarray(numbers))

    def walk(part: Any) -> Any:
        if isinstance(part, Aux):
            result.extend(part.arrays)
            layout = part.layout
            if layout is ALONE.layout or all(isinstance(place, str) for place in layout.places):
                return part
            return Aux(
                part.arrays, OutputLayout(layout.structure, tuple(map(filled, layout.places)))
            )
        if isinstance(part, (tuple, list)):
            parts = [walk(inner) for inner in part]
            return type(part)(*parts) if hasattr(part, "_fields") else type(part)(parts)
        if not callable(part) and not isinstance(part, bool) and part is not None:
            result.append(part)
        return part

    return walk(results)


def _mapped(results: Results, change: Callable[[Any], Any]) -> Results:
    if results is None:
        return None
    if isinstance(results, Aux):
        return results.map(change)
    if isinstance(results, (tuple, list)):
        return type(results)([_mapped(part, change) for part in results])
    return change(results)
