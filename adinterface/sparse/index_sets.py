"""Sets of inputs, one for each element of an array, as the rows of one boolean CSR matrix.

None where all are empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .scipy_import import scipy_sparse

#: A boolean CSR matrix with a row for each element and a column for each input.
Sets = Any


def part_of_identity(start: int, size: int, count: int) -> Sets:
    """The sets `{start}`, `{start + 1}`, ... of `size` elements; there are `count` inputs."""
    sp = scipy_sparse()
    indices = np.arange(start, start + size, dtype=np.int32)
    return sp.csr_array(
        (np.ones(size, bool), indices, np.arange(size + 1, dtype=np.int32)), shape=(size, count)
    )


def union(a: Sets, b: Sets) -> Sets:
    """The union of two arrays of sets, element by element."""
    if a is None or a is b:
        return b
    return a if b is None else a + b


def selected(sets: Sets, index: np.ndarray[Any, Any], *, some_empty: bool = False) -> Sets:
    """The sets of elements with these numbers, in this order.

    With `some_empty`, -1 is the empty set.
    """
    if sets is None:
        return None
    index = index.ravel()
    if some_empty and index.size and index.min() < 0:
        kept = index >= 0
        result = selected(sets, index[kept])
        pointers = np.zeros(index.size + 1, result.indptr.dtype)
        pointers[1:][kept] = np.diff(result.indptr)
        return _assembled(
            result.data,
            result.indices,
            np.cumsum(pointers, dtype=result.indptr.dtype),
            (index.size, sets.shape[1]),
        )
    if index.size and index[-1] - index[0] == index.size - 1 and (np.diff(index) == 1).all():
        first, last = int(index[0]), int(index[-1]) + 1
        if last - first == sets.shape[0]:
            return sets
        start, stop = sets.indptr[first], sets.indptr[last]
        pointers = sets.indptr[first : last + 1] - start
        return _assembled(
            sets.data[start:stop], sets.indices[start:stop], pointers, (index.size, sets.shape[1])
        )
    return sets[index]


def _assembled(data: Any, indices: Any, pointers: Any, shape: tuple[int, int]) -> Sets:
    result = scipy_sparse().csr_array((data, indices, pointers), shape=shape)
    # The rows are sorted without duplicates; checking that takes as long as the computation.
    result.has_canonical_format = True
    return result


def stacked(parts: list[tuple[Sets, int]], inputs: int) -> Sets:
    """The sets of several arrays, concatenated, from the sets and the size of each."""
    if all(sets is None for sets, _ in parts):
        return None
    sp = scipy_sparse()
    return sp.vstack(
        [empty(size, inputs) if sets is None else sets for sets, size in parts], format="csr"
    )


def empty(size: int, inputs: int) -> Sets:
    return scipy_sparse().csr_array((size, inputs), dtype=bool)


def united(sets: Sets, groups: np.ndarray[Any, Any], count: int) -> Sets:
    """The union of the sets in each group: `[{0}, {1}, {2}]` with the groups `[0, 1, 0]` -> `[{0,
    2}, {1}]`.
    """
    if sets is not None and count == 1:
        return all_of(sets)
    return related(sets, groups, np.arange(groups.size), count)


def all_of(sets: Sets) -> Sets:
    """The union of all sets, as one row."""
    sp = scipy_sparse()
    indices = np.flatnonzero(np.bincount(sets.indices, minlength=sets.shape[1])).astype(
        sets.indices.dtype
    )
    return sp.csr_array(
        (np.ones(indices.size, bool), indices, np.array([0, indices.size])),
        shape=(1, sets.shape[1]),
    )


def related(sets: Sets, results: Any, elements: Any, count: int) -> Sets:
    """For each of `count` results, the union of the sets of its elements, given as pairs."""
    if sets is None:
        return None
    pairs = results.ravel(), elements.ravel()
    members = (np.ones(pairs[0].size, bool), pairs)
    result = scipy_sparse().csr_array(members, shape=(count, sets.shape[0])) @ sets
    result.sort_indices()
    return result


def everywhere(row: Sets, size: int) -> Sets:
    """One row, `size` times."""
    sp = scipy_sparse()
    pointers = np.arange(size + 1) * row.nnz
    return sp.csr_array(
        (np.ones(size * row.nnz, bool), np.tile(row.indices, size), pointers),
        shape=(size, row.shape[1]),
    )


def entries(sets: Sets) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The rows and the columns of all entries, sorted."""
    if not sets.has_canonical_format:
        sets = sets.copy()
        sets.sum_duplicates()
    return np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr)), sets.indices
