"""`summary`: the leaves of a model or a gradient as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._trees import flatten_tree
from ..core.tree.structures import DIFFERENTIATED
from .numbers import widened


@dataclass(frozen=True)
class LeafSummary:
    """One leaf: its path, library, dtype, shape and Euclidean norm."""

    path: str
    library: str
    dtype: str
    shape: tuple[int, ...]
    norm: float


@dataclass(frozen=True, repr=False)
class Summary:
    """The leaves of a tree. Prints as a table of text."""

    leaves: tuple[LeafSummary, ...]

    @property
    def size(self) -> int:
        """The number of numbers in all leaves."""
        return sum(int(np.prod(leaf.shape)) for leaf in self.leaves)

    @property
    def norm(self) -> float:
        """The Euclidean norm of all leaves as one vector."""
        return float(np.linalg.norm([leaf.norm for leaf in self.leaves]))

    def __repr__(self) -> str:
        from .compare_table import aligned  # here, because few programs print it

        rows = [
            [x.path or "itself", x.library, x.dtype, str(x.shape), f"{x.norm:.3g}"]
            for x in self.leaves
        ]
        return "\n".join(
            [
                *aligned([["leaf", "library", "dtype", "shape", "norm"], *rows]),
                f"leaves: {len(self.leaves)}, numbers: {self.size:,}, norm: {self.norm:.3g}",
            ]
        )


def summary(tree: Any) -> Summary:
    """The leaves of a model, a gradient or a result, as data that prints as a table.

    Lists every leaf that can have a gradient: floating and complex arrays, Python's float and
    complex. Integers, strings, None and Constants are left out. Each leaf is copied to NumPy for
    its norm: an array that an engine traces raises the engine's error. Raises
    NotDifferentiableError for an object with arrays that is no node.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.tools import summary
    >>> summary(gradient(lambda p: p["w"] * p["b"], AutoFiniteDifferences(), {"w": 3.0, "b": 4.0,
    ...     "name": "line"}))
    leaf      library  dtype  shape  norm
    --------  -------  -----  -----  ----
    [0]['w']  python   float  ()     4
    [0]['b']  python   float  ()     3
    leaves: 2, numbers: 2, norm: 5
    """
    structure, found = flatten_tree(tree)
    leaves = [leaf for leaf in found if leaf.differentiated]
    paths = [path for path, place in structure.places("") if place is DIFFERENTIATED]
    return Summary(
        tuple(
            LeafSummary(
                path,
                leaf.library.name,
                leaf.library.dtype(leaf.value),
                tuple(leaf.library.shape(leaf.value)),
                float(np.linalg.norm(widened(leaf.library.to_numpy(leaf.value)).ravel())),
            )
            for path, leaf in zip(paths, leaves)
        )
    )


__all__ = ["LeafSummary", "Summary", "summary"]
