"""Colouring: which columns, rows, or lines of a symmetric matrix share a product.

Columns: SciPy's compiled greedy grouping (Curtis, Powell and Reid 1974) if available, else first
fit in Python. Full rows would need a colour each, so they are computed separately. Symmetric
matrices: star colouring (Gebremedhin, Tarafdar, Manne and Pothen 2007, algorithm 4.1), so that each
entry can be read at one of its two places.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.contract.errors import SparsityError
from .pattern import Colouring, Indices, SparsityPattern
from .scipy_import import scipy_sparse

#: Star colouring visits the neighbours of neighbours; a pattern with more of them is coloured by
#: columns, which is a star
#: colouring with more colours.
_PATHS = 4 * 10**8


class _Lines(NamedTuple):
    """The rows, or the columns, of a pattern: where each begins in `crossing`, the list of the
    lines that it crosses.

    The rows of `[[0, 1], [1, 1]]` have the pointers `[0, 1, 3]` and cross the columns `[1, 0, 1]`.
    """

    pointers: Indices
    crossing: Indices
    #: How many lines of the other direction there are.
    across: int

    @property
    def number(self) -> int:
        return self.pointers.size - 1

    @property
    def degrees(self) -> Indices:
        degrees: Indices = np.diff(self.pointers)
        return degrees


def _rows_of(rows: Indices, columns: Indices, shape: tuple[int, int]) -> _Lines:
    """The rows of entries that are sorted by rows."""
    narrow = np.int32 if max(*shape, rows.size) < 2**31 else np.int64
    pointers = np.zeros(shape[0] + 1, narrow)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=pointers[1:])
    return _Lines(pointers, columns.astype(narrow, copy=False), shape[1])


def _turned(lines: _Lines) -> _Lines:
    """The columns from the rows, or the rows from the columns, without sorting."""
    marks = np.ones(lines.crossing.size, np.int8)
    matrix = scipy_sparse().csr_array(
        (marks, lines.crossing, lines.pointers), shape=(lines.number, lines.across)
    )
    turned = matrix.tocsc()
    return _Lines(turned.indptr, turned.indices, lines.number)


def _same(a: _Lines, b: _Lines) -> bool:
    return np.array_equal(a.pointers, b.pointers) and np.array_equal(a.crossing, b.crossing)


def choose(pattern: SparsityPattern, *, pushes: bool, pulls: bool) -> Colouring:
    """The colouring of a Jacobian that takes the fewest passes.

    pushes: whether the engine can push, which a colouring of columns needs. pulls: the same for
    rows. With both, full lines of the other direction are computed separately.
    """
    singles = pushes and pulls
    rows = _rows_of(pattern.rows, pattern.columns, pattern.shape)
    columns = _turned(rows)
    best = _one_sided("columns", columns, rows, singles) if pushes else None
    if pulls and (best is None or _rows_may_take_fewer(columns, rows, best.passes, singles)):
        other = _one_sided("rows", rows, columns, singles)
        best = other if best is None or other.passes < best.passes else best
    assert best is not None
    return best


def _rows_may_take_fewer(columns: _Lines, rows: _Lines, passes: int, singles: bool) -> bool:
    """Whether a colouring of rows may take fewer passes.

    All rows that cross one column need different colours.
    """
    fewest = int(_costs(columns.degrees).min()) if singles else int(columns.degrees.max(initial=0))
    return passes > max(1, fewest) and not _same(columns, rows)


def _one_sided(by: Any, lines: _Lines, others: _Lines, singles: bool) -> Colouring:
    """A colouring of `lines`. singles: compute full lines of the `others` separately."""
    full = _full_lines(others.degrees) if singles else np.zeros(0, np.intp)
    if full.size:
        stays = np.ones(others.number, bool)
        stays[full] = False
        kept = np.repeat(stays, others.degrees)
        pointers = np.concatenate([[0], np.cumsum(np.where(stays, others.degrees, 0))]).astype(
            others.pointers.dtype
        )
        lines = _turned(_Lines(pointers, others.crossing[kept], others.across))
    return Colouring(by, _renumbered(np.where(lines.degrees > 0, _grouped(lines), -1)), full)


def _costs(degrees: Indices) -> Indices:
    """For each degree the least number of passes if fuller lines are computed separately: the
    degree + their number.
    """
    counts = np.bincount(degrees, minlength=1)
    costs: Indices = np.cumsum(counts[::-1])[::-1] - counts + np.arange(counts.size)
    return costs


def _full_lines(degrees: Indices) -> Indices:
    """The lines to compute separately, so that the least number of passes is smallest.

    As few as possible.
    """
    costs = _costs(degrees)
    fullest = costs.size - 1 - int(np.argmin(costs[::-1]))
    return np.flatnonzero(degrees > fullest)


def _renumbered(colours: Indices) -> Indices:
    """The colours without gaps: `[5, -1, 2, 5]` -> `[1, -1, 0, 1]`."""
    used = np.zeros(int(colours.max(initial=-1)) + 2, bool)
    used[colours] = True  # the last place is that of -1, which is not a colour
    used[-1] = False
    numbers = np.cumsum(used, dtype=np.int32) - 1
    numbers[-1] = -1
    result: Indices = numbers[colours]
    return result


def grouped(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Indices:
    """A colour for each column, such that no two of one colour share a row."""
    if (np.diff(rows) < 0).any():
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
    return _grouped(_turned(_rows_of(rows, columns, shape)))


def _grouped(lines: _Lines) -> Indices:
    """A colour for each line, such that no two of one colour cross the same line."""
    if not lines.crossing.size:
        return np.zeros(lines.number, np.int32)
    compiled = _compiled()
    return _first_fit(lines) if compiled is None else compiled(lines)


def _compiled() -> Callable[[_Lines], Indices] | None:
    """SciPy's grouping, which is private and may be missing in another version."""
    try:
        # called by `group_columns` for a sparse matrix, in its own order
        from scipy.optimize._numdiff import group_sparse
    except ImportError:
        return None

    def compiled(lines: _Lines) -> Indices:
        result: Indices = group_sparse(lines.across, lines.number, lines.crossing, lines.pointers)
        return result

    return compiled


def _first_fit(lines: _Lines) -> Indices:
    """As `_grouped`, in Python: each line takes the least colour that the lines which it crosses
    have not seen.
    """
    pointers, crossing = lines.pointers.tolist(), lines.crossing.tolist()
    seen: list[set[int]] = [set() for _ in range(lines.across)]
    colours = np.zeros(lines.number, np.int32)
    for n, (begin, end) in enumerate(itertools.pairwise(pointers)):
        mine = crossing[begin:end]
        taken: set[int] = set().union(*[seen[other] for other in mine])
        colour = 0
        while colour in taken:
            colour += 1
        colours[n] = colour
        for other in mine:
            seen[other].add(colour)
    return colours


# Symmetric
# ------------------------------------------------------------------------------------------------


def symmetric(pattern: SparsityPattern) -> SparsityPattern:
    """The pattern with the mirror of each entry. Raises SparsityError if it is not square."""
    height, width = pattern.shape
    if height != width:
        raise SparsityError(
            f"AutoSparse: a Hessian is square, but its pattern has shape {pattern.shape}."
        )
    lines = _rows_of(pattern.rows, pattern.columns, pattern.shape)
    if _same(lines, _turned(lines)):
        return pattern
    rows, columns = (
        np.concatenate([pattern.rows, pattern.columns]),
        np.concatenate([pattern.columns, pattern.rows]),
    )
    return SparsityPattern.of_entries(rows, columns, pattern.shape, local=pattern.local)


def by_symmetry(pattern: SparsityPattern) -> Colouring:
    """A colouring of a symmetric pattern: full lines have a colour each, the others are coloured as
    a star.
    """
    n = pattern.shape[0]
    rows, columns = pattern.rows, pattern.columns
    degrees = np.bincount(rows, minlength=n)
    full = _full_lines(degrees)
    r, c = rows, columns
    if full.size:
        stays = np.ones(n, bool)
        stays[full] = False
        inside = stays[rows] & stays[columns]
        r, c = rows[inside], columns[inside]
    rest = np.bincount(r, minlength=n).astype(np.int64)
    plain = _renumbered(np.where(rest > 0, grouped(r, c, (n, n)), -1))
    colours = plain
    # No star colouring has fewer colours than 2 where lines meet at all, and paths of two need
    # three.
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
    #: Of each line its neighbours' colours, with the first neighbour of each. While the line has no
    #: colour they all differ.
    first: list[dict[int, int]] = [{} for _ in range(n)]
    #: The colours of those neighbours of a coloured line that have a second neighbour of its
    #: colour: to meet one of them
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
    """Raises SparsityError for a colouring in which a product mixes two entries."""
    lines = {"columns": pattern.shape[1], "rows": pattern.shape[0]}.get(
        colouring.by, pattern.shape[1]
    )
    across, along = pattern.rows, pattern.columns
    if colouring.by == "rows":
        across, along = along, across
    kept = ~np.isin(across, colouring.singles)
    wrong = colouring.colours.size != lines
    if not wrong:
        colours = colouring.colours[along].astype(np.int64)
        if colouring.by != "symmetric":
            key = across[kept] * np.int64(colouring.count) + colours[kept]
            key.sort()
            wrong = bool((colours[kept] < 0).any()) or bool((key[1:] == key[:-1]).any())
        else:
            own, mirror = alone(pattern, colouring)
            wrong = not bool((own | mirror).all())
    if wrong:
        raise SparsityError(
            "AutoSparse: the colouring of this pattern puts two entries into one place, so it is"
            " not a colouring of it. Leave it out: SparsityPattern.of_entries(pattern.rows,"
            " pattern.columns, pattern.shape)."
        )


def alone(pattern: SparsityPattern, colouring: Colouring) -> tuple[Any, Any]:
    """For each entry (i, j) of a symmetric matrix, whether it is the only one in row i with the
    colour of j; and its mirror.
    """
    n, count = pattern.shape[0], colouring.count
    # Lines without a colour have all of their entries in full ones, and are read there. They share
    # a place at the end.
    above, below = (
        colouring.colours[lines].astype(np.int64) for lines in (pattern.columns, pattern.rows)
    )
    key = np.where(above < 0, n * count, pattern.rows * np.int64(count) + above)
    mirror = np.where(below < 0, n * count, pattern.columns * np.int64(count) + below)
    single = np.bincount(key, minlength=n * count + 1) == 1
    single[n * count] = False
    return single[key], single[mirror]


__all__ = ["by_symmetry", "choose", "fits", "grouped", "require_valid", "symmetric"]
