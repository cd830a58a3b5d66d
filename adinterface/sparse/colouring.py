"""Which columns, rows, or lines of a symmetric matrix share a product.

Columns: SciPy's compiled greedy grouping (Curtis, Powell and Reid 1974) where it is to be had, else first fit in Python. Full
rows would ask for a colour each, so they are taken out first and computed by themselves. Symmetric matrices: star colouring
(Gebremedhin, Tarafdar, Manne and Pothen 2007, algorithm 4.1), so that each entry can be read at one of its two places.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..contract.errors import SparsityError
from ..contract.pattern import Colouring, Indices, SparsityPattern
from .scipy_door import scipy_sparse

#: Star colouring looks at the colours of neighbours of neighbours; a pattern in which they are more is coloured by columns,
#: which is a star colouring of more colours.
_PATHS = 4 * 10**8


def choose(pattern: SparsityPattern, *, pushes: bool, pulls: bool) -> Colouring:
    """The colouring of a Jacobian that takes the fewest passes: by columns where pushforwards are to be had, by rows where
    pullbacks are; both where it takes out lines."""
    singles = pushes and pulls
    best = by_columns(pattern, singles=singles) if pushes else None
    if pulls and (best is None or _rows_may_take_fewer(pattern, best.passes, singles)):
        other = by_rows(pattern, singles=singles)
        best = other if best is None or other.passes < best.passes else best
    assert best is not None
    return best


def _rows_may_take_fewer(pattern: SparsityPattern, passes: int, singles: bool) -> bool:
    """Not if a column has more entries than that, each of which asks for a colour of its row, unless it is taken out."""
    degrees = np.bincount(pattern.columns, minlength=pattern.shape[1])
    fewest = _costs(np.sort(degrees)[::-1]).min() if singles else degrees.max(initial=0)
    return passes > max(1, int(fewest)) and not _mirrored(pattern)


def _mirrored(pattern: SparsityPattern) -> bool:
    """Whether rows and columns are the same, so that they take the same colours."""
    if pattern.shape[0] != pattern.shape[1]:
        return False
    matrix = scipy_sparse().csr_array((np.ones(pattern.nnz, np.int8), (pattern.rows, pattern.columns)), shape=pattern.shape)
    turned = matrix.T.tocsr()
    return np.array_equal(matrix.indptr, turned.indptr) and np.array_equal(matrix.indices, turned.indices)


def _costs(degrees: Indices) -> Indices:
    """How many passes it takes at least if so many of the fullest lines are taken out; these are their degrees, falling."""
    costs: Indices = np.arange(degrees.size + 1) + np.append(degrees, 0)
    return costs


def by_columns(pattern: SparsityPattern, *, singles: bool) -> Colouring:
    return _one_sided("columns", pattern.rows, pattern.columns, pattern.shape, singles)


def by_rows(pattern: SparsityPattern, *, singles: bool) -> Colouring:
    return _one_sided("rows", pattern.columns, pattern.rows, (pattern.shape[1], pattern.shape[0]), singles)


def _one_sided(by: Any, rows: Indices, columns: Indices, shape: tuple[int, int], singles: bool) -> Colouring:
    degrees = np.bincount(rows, minlength=shape[0])
    full = _full_lines(degrees) if singles else np.zeros(0, np.intp)
    if full.size:
        kept = ~np.isin(rows, full)
        rows, columns = rows[kept], columns[kept]
    colours = grouped(rows, columns, shape)
    used = np.zeros(shape[1], bool)
    used[columns] = True
    return Colouring(by, _renumbered(np.where(used, colours, -1)), full)


def _full_lines(degrees: Indices) -> Indices:
    """The fullest rows, of which to take out one saves more colours than it costs: the least k + degree of the next fullest."""
    order = np.argsort(-degrees, kind="stable")
    costs = _costs(degrees[order])
    if not degrees.size or costs.min() >= costs[0]:
        return np.zeros(0, np.intp)
    return np.sort(order[: int(np.argmin(costs))])


def _renumbered(colours: Indices) -> Indices:
    """The colours that are used, from 0 on."""
    _, numbers = np.unique(colours[colours >= 0], return_inverse=True)
    found = np.full(colours.size, -1, np.int32)
    found[colours >= 0] = numbers
    return found


def grouped(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Indices:
    """A colour for each column, such that no two of one colour share a row."""
    if not rows.size:
        return np.zeros(shape[1], np.int32)
    compiled = _compiled()
    if compiled is None:
        return first_fit(rows, columns, shape)
    return compiled(rows, columns, shape)


def _compiled() -> Callable[[Indices, Indices, tuple[int, int]], Indices] | None:
    """SciPy's own `group_columns`, which is private and may be gone in another version."""
    try:
        from scipy.optimize._numdiff import group_columns
    except ImportError:
        return None

    def compiled(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Indices:
        marks = np.ones(rows.size, np.int8)
        narrow = np.int32 if max(*shape, rows.size) < 2**31 else np.int64
        if (np.diff(rows) < 0).any():
            matrix = scipy_sparse().coo_array((marks, (rows, columns)), shape=shape)
        else:  # by rows, so that to order it by columns takes no sorting
            pointers = np.zeros(shape[0] + 1, narrow)
            np.cumsum(np.bincount(rows, minlength=shape[0]), out=pointers[1:])
            matrix = scipy_sparse().csr_array((marks, columns.astype(narrow), pointers), shape=shape)
        found: Indices = group_columns(matrix.tocsc(), order=np.arange(shape[1]))  # without an order it takes a random one
        return found

    return compiled


def first_fit(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Indices:
    """As `grouped`, column after column: the least colour that none of the column's rows has seen."""
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(shape[1] + 1))
    places = rows[order].tolist()
    seen: list[set[int]] = [set() for _ in range(shape[0])]
    colours = np.zeros(shape[1], np.int32)
    for column in range(shape[1]):
        mine = places[ends[column] : ends[column + 1]]
        taken: set[int] = set().union(*[seen[row] for row in mine]) if mine else set()
        colour = 0
        while colour in taken:
            colour += 1
        colours[column] = colour
        for row in mine:
            seen[row].add(colour)
    return colours


# Symmetric -------------------------------------------------------------------------------------------------------------


def symmetric(pattern: SparsityPattern) -> SparsityPattern:
    """The pattern with the mirror of each entry. Raises SparsityError if it is not square."""
    height, width = pattern.shape
    if height != width:
        raise SparsityError(f"AutoSparse: a Hessian is square, but its pattern has shape {pattern.shape}.")
    rows, columns = np.concatenate([pattern.rows, pattern.columns]), np.concatenate([pattern.columns, pattern.rows])
    both = SparsityPattern.of_entries(rows, columns, pattern.shape)
    return pattern if both.nnz == pattern.nnz else both


def by_symmetry(pattern: SparsityPattern) -> Colouring:
    """A colouring of a symmetric pattern: full lines have a colour each, the others are coloured as a star."""
    n = pattern.shape[0]
    rows, columns = pattern.rows, pattern.columns
    degrees = np.bincount(rows, minlength=n)
    full = _full_lines(degrees)
    inside = ~(np.isin(rows, full) | np.isin(columns, full))
    r, c = rows[inside], columns[inside]
    rest = np.bincount(r, minlength=n).astype(np.int64)
    plain = _renumbered(np.where(rest > 0, grouped(r, c, (n, n)), -1))
    colours = plain
    # No star colouring has fewer colours than 2 where lines meet at all, and paths of two need three.
    if plain.max(initial=-1) > 2 and int((rest * rest).sum()) <= _PATHS:
        star = _star(r, c, n)
        colours = star if star.max() < plain.max() else plain
    colours = colours.copy()
    colours[full] = colours.max(initial=-1) + 1 + np.arange(full.size)
    return Colouring("symmetric", colours, np.zeros(0, np.intp))


def _star(rows: Indices, columns: Indices, n: int) -> Indices:
    off = rows != columns
    pointers = np.searchsorted(rows[off], np.arange(n + 1)).tolist()
    others = columns[off].tolist()
    near = [others[a:b] for a, b in itertools.pairwise(pointers)]
    used = np.zeros(n, bool)
    used[rows] = True
    colours = [-1] * n
    #: Of each line its neighbours' colours, with the first neighbour of each. While the line has no colour they all differ.
    first: list[dict[int, int]] = [{} for _ in range(n)]
    #: The colours of those neighbours of a coloured line that have a second neighbour of its colour: to meet one of them
    #: through this line would make a path of four lines in two colours.
    middles: list[set[int]] = [set() for _ in range(n)]
    for v in np.flatnonzero(used).tolist():
        forbidden: set[int] = set()
        for w in near[v]:
            if colours[w] < 0:
                forbidden.update(first[w])
            else:
                forbidden.add(colours[w])
                forbidden.update(middles[w])
        colour = 0
        while colour in forbidden:
            colour += 1
        colours[v] = colour
        for w in near[v]:
            other = first[w].setdefault(colour, v)
            if other != v:
                middles[v].add(colours[w])
                middles[other].add(colours[w])
    return np.array(colours, np.int32)


def fits(pattern: SparsityPattern, *, pushes: bool, pulls: bool, second: bool) -> bool:
    """Whether the colouring that a pattern brings can be used here."""
    colouring = pattern.colouring
    if colouring is None or (colouring.by == "symmetric") != second:
        return False
    if second:
        return True
    forward, backward = (pushes, pulls) if colouring.by == "columns" else (pulls, pushes)
    return forward and (backward or not colouring.singles.size)


def require_valid(pattern: SparsityPattern, colouring: Colouring) -> None:
    """Raises SparsityError for a colouring in which two entries fall together."""
    lines = {"columns": pattern.shape[1], "rows": pattern.shape[0]}.get(colouring.by, pattern.shape[1])
    across, along = pattern.rows, pattern.columns
    if colouring.by == "rows":
        across, along = along, across
    kept = ~np.isin(across, colouring.singles)
    wrong = colouring.colours.size != lines
    if not wrong:
        colours = colouring.colours[along].astype(np.int64)
        if colouring.by != "symmetric":
            key = across[kept] * np.int64(colouring.count) + colours[kept]
            wrong = bool((colours[kept] < 0).any()) or np.unique(key).size != key.size
        else:
            own, mirror = alone(pattern, colouring)
            wrong = not bool((own | mirror).all())
    if wrong:
        raise SparsityError(
            "AutoSparse: the colouring of this pattern puts two entries into one place, so it is not a colouring of it. Leave "
            "it out: SparsityPattern.of_entries(pattern.rows, pattern.columns, pattern.shape)."
        )


def alone(pattern: SparsityPattern, colouring: Colouring) -> tuple[Any, Any]:
    """Of each entry (i, j) of a symmetric matrix, whether it stands alone in row i of the colour of j; and its mirror."""
    n, count = pattern.shape[0], colouring.count
    # Lines without a colour have all of their entries in full ones, and are read there. They share a place at the end.
    above, below = (colouring.colours[lines].astype(np.int64) for lines in (pattern.columns, pattern.rows))
    key = np.where(above < 0, n * count, pattern.rows * np.int64(count) + above)
    mirror = np.where(below < 0, n * count, pattern.columns * np.int64(count) + below)
    single = np.bincount(key, minlength=n * count + 1) == 1
    single[n * count] = False
    return single[key], single[mirror]


__all__ = ["by_columns", "by_rows", "by_symmetry", "choose", "first_fit", "fits", "require_valid", "symmetric"]
