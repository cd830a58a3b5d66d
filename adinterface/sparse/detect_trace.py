"""A pattern from one run of f on traced arrays.

The method is that of SparseConnectivityTracer.jl (Hill and Dalle, 2025), and before it of the bit
patterns of ADOL-C. Here the sets of all elements of an array are one sparse matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.contract.errors import SparsityError
from ..core.contract.library import PYTHON, dtype_kind
from ..core.tree import flatten
from . import propagation  # noqa: F401 - registers what each function does to traced arrays
from .index_sets import Sets, empty, entries, part_of_identity
from .pattern import SparsityPattern
from .traced import Branched, Trace, Traced, Untraceable

#: A Hessian of more entries than this is not written down.
_ENTRIES = 2 * 10**8


class DetectedPattern(NamedTuple):
    """A pattern, and how it was found."""

    pattern: SparsityPattern
    how: str


def traced_pattern(
    f: Callable[..., Any],
    leaves: Sequence[Any],
    carried: Sequence[Any],
    *,
    second: bool,
    values: bool,
) -> DetectedPattern:
    """The pattern of f's Jacobian, or of its Hessian with `second`.

    f: a function of two lists, the differentiated leaves and the carried values, to the result.
    leaves: NumPy arrays. carried: NumPy arrays and other values; `values` says whether all are
    those of the call, so that f may branch on them. Raises f's errors; Untraceable for code that
    cannot be traced; Branched if f branches without `values`.
    """
    try:
        return DetectedPattern(
            _once(f, leaves, carried, second=second, values=False), "trace, whatever the values are"
        )
    except Branched:
        if not values:
            raise
    return DetectedPattern(
        _once(f, leaves, carried, second=second, values=True),
        "trace at these values, because f branches on them",
    )


def _once(
    f: Callable[..., Any],
    leaves: Sequence[Any],
    carried: Sequence[Any],
    *,
    second: bool,
    values: bool,
) -> SparsityPattern:
    inputs = sum([np.size(leaf) for leaf in leaves])
    trace = Trace(inputs, values=values, second=second)
    arguments: list[Traced] = []
    offset = 0
    for leaf in leaves:
        size = int(np.size(leaf))
        arguments.append(Traced(np.array(leaf), part_of_identity(offset, size, inputs), trace))
        offset += size
    others = [_unknown(value, trace) for value in carried]
    _, result = flatten(f(arguments, others), "the result of f")
    if second:
        return _symmetric(trace, inputs, local=values)
    parts: list[tuple[Sets, int]] = []
    for leaf in result:
        if not leaf.differentiated:
            continue
        value = leaf.value
        if isinstance(value, Traced):
            parts.append((value.sets, value.size))
        else:
            assert leaf.library is not None
            parts.append(
                (None, 1 if leaf.library is PYTHON else int(np.prod(leaf.library.shape(value))))
            )
    rows: list[Any] = []
    columns: list[Any] = []
    offset = 0
    for sets, size in parts:
        if sets is not None:
            r, c = entries(sets)
            rows.append(r + offset)
            columns.append(c)
        offset += size
    none = np.zeros(0, np.int32)
    shape = (offset, inputs)
    return SparsityPattern.of_entries(
        np.concatenate([none, *rows]), np.concatenate([none, *columns]), shape, local=values
    )


def _unknown(value: Any, trace: Trace) -> Any:
    """A carried value as f gets it: traced if another call may have another number there."""
    if isinstance(value, (np.ndarray, np.generic)) and dtype_kind(value.dtype.name) != "other":
        return Traced(value, None, trace)
    if type(value) in (float, complex) and not trace.values:
        return Traced(value, None, trace)
    return value


def _symmetric(trace: Trace, inputs: int, *, local: bool) -> SparsityPattern:
    """The pattern of a Hessian: for each pair of sets that meet, an entry for each input of one
    with each of the other.
    """
    total = empty(inputs, inputs)
    expected = 0
    for a, b in trace.pairs:
        expected += int(
            np.dot(np.diff(a.indptr).astype(np.int64), np.diff(b.indptr).astype(np.int64))
        )
        if expected > _ENTRIES:
            raise SparsityError(
                f"AutoSparse: the Hessian of f, of {inputs} inputs, would have up to {expected}"
                " entries, so it is not sparse: something in f, such as the square of a sum, lets"
                " nearly all inputs meet. Use hvp, which needs no matrix."
            )
        met = a.T.tocsr() @ b
        total = total + met if a is b else total + met + met.T.tocsr()
    rows, columns = entries(total.tocsr())
    return SparsityPattern.of_entries(rows, columns, (inputs, inputs), local=local)


__all__ = ["Branched", "DetectedPattern", "Untraceable", "traced_pattern"]
