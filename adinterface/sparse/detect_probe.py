"""A pattern from products with the derivative alone, so on any engine and for any code.

The hierarchy is that of CasADi (Andersson et al. 2019, `get_jac_sparsity_hierarchical`), with
random tangents in the place of bit vectors. The pattern of blocks of columns is known. Blocks that
share no row are split and probed together. A row that answers belongs to the one block of that
colour which it touches. Rows that touch very many blocks are taken whole, by pullbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .colouring import grouped
from .pattern import SparsityPattern, distinct

Array = np.ndarray[Any, Any]
#: From a stack of tangents (k, inputs) to a stack of tangents of the results (k, outputs); or of
#: cotangents, the other way.
Stack = Callable[[Array], Array]

#: Each block is split into so many.
_CUTS = 4
#: At most so many rows are taken whole in one round.
_WHOLE_ROWS = 32
#: Numbers in one stack of tangents.
_STACK = 2**23


def probed_pattern(push: Stack, inputs: int, outputs: int, pull: Stack | None) -> SparsityPattern:
    """The pattern of a linear map at one point, from products with random vectors.

    What is NaN counts as an entry.
    """
    rng = np.random.default_rng(0)
    if not inputs or not outputs:
        return SparsityPattern.of_entries([], [], (outputs, inputs), local=True)
    edges = np.array([0, inputs])
    rows, blocks = np.arange(outputs), np.zeros(outputs, np.intp)
    whole_rows: list[Array] = []
    whole_columns: list[Array] = []
    while edges.size - 1 < inputs:
        if pull is not None and edges.size > 4 * _WHOLE_ROWS:
            degrees = np.bincount(rows, minlength=outputs)
            new = np.flatnonzero(degrees > max(8, 8 * int(np.median(degrees))))
            if 0 < new.size <= _WHOLE_ROWS:
                for at, columns in zip(new, _whole(pull, new, outputs)):
                    whole_rows.append(np.full(columns.size, at))
                    whole_columns.append(columns)
                kept = ~np.isin(rows, new)
                rows, blocks = rows[kept], blocks[kept]
        rows, blocks, edges = _split(push, rows, blocks, edges, (outputs, inputs), rng)
    rows, blocks = np.concatenate([rows, *whole_rows]), np.concatenate([blocks, *whole_columns])
    return SparsityPattern.of_entries(rows, blocks, (outputs, inputs), local=True)


def _whole(pull: Stack, rows: Array, outputs: int) -> list[Array]:
    seeds = np.zeros((rows.size, outputs))
    seeds[np.arange(rows.size), rows] = 1.0
    return [np.flatnonzero(result != 0) for result in pull(seeds)]


def _split(
    push: Stack,
    rows: Array,
    blocks: Array,
    edges: Array,
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """One level down: the entries (row, block) for smaller blocks, and where those begin and
    end.
    """
    inputs, count = shape[1], edges.size - 1
    colours = grouped(rows, blocks, (shape[0], count))
    starts, lengths = edges[:-1], np.diff(edges)
    cuts = distinct(
        np.concatenate([starts + lengths * k // _CUTS for k in range(_CUTS)] + [edges[-1:]])
    )
    parents = np.searchsorted(edges, cuts[:-1], side="right") - 1
    first = np.searchsorted(parents, np.arange(count))
    children = np.arange(parents.size) - first[parents]
    amount = np.diff(np.append(first, parents.size))
    probes = colours[parents].astype(np.int64) * _CUTS + children
    touched = np.zeros(count, bool)
    touched[blocks] = True
    wanted = distinct(probes[touched[parents]])
    probe_of_column = np.repeat(probes, np.diff(cuts))
    tangent = rng.uniform(0.5, 1.5, inputs) * rng.choice([-1.0, 1.0], inputs)
    step = max(1, _STACK // max(shape))
    order = np.argsort(colours[blocks], kind="stable")
    rows, blocks = rows[order], blocks[order]
    ends = np.searchsorted(colours[blocks], np.arange(int(colours.max(initial=0)) + 2))
    found_rows: list[Array] = []
    found_blocks: list[Array] = []
    for at in range(0, wanted.size, step):
        chunk = wanted[at : at + step]
        answers = push(np.where(probe_of_column == chunk[:, None], tangent, 0.0)) != 0
        for probe, answer in zip(chunk.tolist(), answers):
            colour, child = divmod(probe, _CUTS)
            r, b = rows[ends[colour] : ends[colour + 1]], blocks[ends[colour] : ends[colour + 1]]
            hit = (amount[b] > child) & answer[r]
            found_rows.append(r[hit])
            found_blocks.append(first[b[hit]] + child)
    none = np.zeros(0, np.intp)
    return np.concatenate([none, *found_rows]), np.concatenate([none, *found_blocks]), cuts


def united(a: SparsityPattern, b: SparsityPattern) -> SparsityPattern:
    """All entries of two patterns that were found at different points."""
    rows, columns = np.concatenate([a.rows, b.rows]), np.concatenate([a.columns, b.columns])
    return SparsityPattern.of_entries(rows, columns, a.shape, local=True)
