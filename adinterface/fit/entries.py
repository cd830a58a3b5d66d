"""The entries of sparse matrices that have one pattern."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.contract.errors import SparsityError
from .packing import Vector


class Entries:
    """The places of the entries of a csr_array, or of those on and below its diagonal."""

    def __init__(self, matrix: Any, *, lower: bool):
        self.lower = lower
        self.shape: Any = matrix.shape
        self.nnz: Any = matrix.nnz
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        self.taken: Any = np.flatnonzero(rows >= matrix.indices) if lower else slice(None)
        self.rows: Any = rows[self.taken]
        self.columns: Any = matrix.indices[self.taken]

    def of(self, matrix: Any) -> Vector:
        """The entries of a matrix with the same pattern.

        Raises SparsityError where their number differs.
        """
        if len(matrix.data) != self.nnz or matrix.shape != self.shape:
            raise SparsityError(
                f"A sparse matrix has shape {matrix.shape} and {len(matrix.data)} entries, but"
                f" {self.shape} and {self.nnz} at the start. Let f and the constraint return the"
                " same shapes for all values."
            )
        entries: Vector = matrix.data[self.taken] if self.lower else matrix.data.copy()
        return entries


__all__ = ["Entries"]
