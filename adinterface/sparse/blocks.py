"""The place of each entry of each block in the products that contain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .colouring import alone
from .pattern import Colouring, Indices, SparsityPattern


@dataclass(frozen=True, eq=False)
class Block:
    """The entries of one output's derivative by one leaf, sorted by rows."""

    shape: tuple[int, int]
    rows: Indices
    columns: Indices
    #: Where each row begins, for CSR.
    pointers: Indices
    #: For each entry, its place in the stacks of `BlockLayout.stores`, flat and concatenated.
    places: Indices
    #: Of each entry, the number of the component, among those of all leaves, along which it was
    #: computed.
    seeds: Indices


class BlockLayout:
    """The blocks of a matrix, one for each pair of an output and a leaf, and where their entries
    are found.

    A compressed derivative is two lists of stacks: of products of the coloured lines, and of single
    full lines. The former has a stack for each output by columns, for each leaf by rows; the latter
    the other way round.
    """

    def __init__(
        self,
        pattern: SparsityPattern,
        colouring: Colouring,
        outputs: Sequence[int],
        leaves: Sequence[int],
    ):
        self.pattern: SparsityPattern = pattern
        self.colouring: Colouring = colouring
        self.outputs: tuple[int, ...] = tuple(outputs)
        self.leaves: tuple[int, ...] = tuple(leaves)
        self._row_starts = np.concatenate([[0], np.cumsum(outputs, dtype=np.int64)])
        self._column_starts = np.concatenate([[0], np.cumsum(leaves, dtype=np.int64)])
        self._mirrored = np.zeros(0, bool)
        if colouring.by == "symmetric":
            self._mirrored = ~alone(pattern, colouring)[0]
        self.blocks: list[list[Block]] = [
            [self._block(k, n) for n in range(len(self.leaves))] for k in range(len(self.outputs))
        ]

    def stores(self, k: int, n: int, coloured: Sequence[Any], singles: Sequence[Any]) -> list[Any]:
        """The stacks that contain block (k, n), in the order in which its places are counted."""
        by = self.colouring.by
        if by == "symmetric":
            return list(coloured)
        first, second = (k, n) if by == "columns" else (n, k)
        result = [coloured[first]] if self.colouring.count else []
        return [*result, singles[second]] if self.colouring.singles.size else result

    def _block(self, k: int, n: int) -> Block:
        pattern, whole = self.pattern, len(self.outputs) == 1 and len(self.leaves) == 1
        top, bottom = self._row_starts[k : k + 2]
        left, right = self._column_starts[n : n + 2]
        kept: Any = slice(None)
        if not whole:
            kept = np.flatnonzero(
                (pattern.rows >= top)
                & (pattern.rows < bottom)
                & (pattern.columns >= left)
                & (pattern.columns < right)
            )
        rows, columns = pattern.rows[kept], pattern.columns[kept]
        places, seeds = self._places(rows, columns, kept, k, n)
        shape = (int(bottom - top), int(right - left))
        narrow = np.int32 if max(*shape, rows.size) < 2**31 else np.int64
        rows, columns = (rows - top).astype(narrow), (columns - left).astype(narrow)
        pointers = np.zeros(shape[0] + 1, narrow)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=pointers[1:])
        return Block(shape, rows, columns, pointers, places, seeds)

    def _places(
        self, rows: Indices, columns: Indices, kept: Any, k: int, n: int
    ) -> tuple[Indices, Indices]:
        colouring, count = self.colouring, self.colouring.count
        height, width = self.outputs[k], self.leaves[n]
        if colouring.by == "symmetric":
            mirrored = self._mirrored[kept]
            across = np.where(mirrored, columns, rows)
            along = np.where(mirrored, rows, columns)
            owner = np.searchsorted(self._row_starts, across, side="right") - 1
            starts = self._row_starts[owner]
            sizes = (
                np.asarray(self.outputs, np.int64)[owner] if self.outputs else np.zeros(0, np.int64)
            )
            return _narrow(
                starts * count + colouring.colours[along] * sizes + across - starts
            ), along
        local_rows, local_columns = rows - self._row_starts[k], columns - self._column_starts[n]
        by_columns = colouring.by == "columns"
        along, across, size = (
            (columns, local_rows, height) if by_columns else (rows, local_columns, width)
        )
        places = colouring.colours[along].astype(np.int64) * size + across
        if colouring.singles.size:
            lines, inside, length = (
                (rows, local_columns, width) if by_columns else (columns, local_rows, height)
            )
            number = np.searchsorted(colouring.singles, lines)
            number = np.minimum(number, colouring.singles.size - 1)
            single = colouring.singles[number] == lines
            places = np.where(single, count * size + number * np.int64(length) + inside, places)
        return _narrow(places), columns


def _narrow(places: Indices) -> Indices:
    return places.astype(np.int32 if not places.size or places.max() < 2**31 else np.int64)
