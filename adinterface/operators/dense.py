"""A word to those who compute a dense Jacobian that is almost all zeros."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..contract.errors import DenseJacobianWarning, levels_to_the_user
from ..contract.library import Library
from ..tree import handler_of

#: From so many entries on a dense Jacobian is looked at.
_ENTRIES = 10**7
#: So many of them, at random places; and which part of them is to be other than zero for a dense one to pay.
_LOOKS, _PART = 4096, 0.01


def warn_if_wasteful(name: str, blocks: Sequence[Sequence[Any]]) -> None:
    """Warn with DenseJacobianWarning where one block has more than 10^7 entries, of which a sample shows less than 1 % to be
    other than zero."""
    for row in blocks:
        for block in row:
            shape = block.shape
            if math.prod(shape) > _ENTRIES:
                _look(name, block, tuple(shape))


def _look(name: str, block: Any, shape: tuple[int, ...]) -> None:
    library = handler_of(block)
    if not isinstance(library, Library) or library.traced(block):
        return
    rng = np.random.default_rng(0)
    # A few slices along the first axis, so that no engine has to move all of a large array.
    rows = np.unique(rng.integers(0, shape[0], 16))
    places = rng.integers(0, math.prod(shape[1:]), (rows.size, _LOOKS // 16))
    some = np.concatenate([library.to_numpy(block[int(row)]).ravel()[at] for row, at in zip(rows, places)])
    part = np.count_nonzero(some) / some.size
    if part < _PART:
        warnings.warn(
            f"{name}: of a dense Jacobian with {math.prod(shape):,} entries, {100 * (1 - part):.1f} % of a sample are zero. "
            f"AutoSparse(backend) computes the others alone, in a few products: {name}(f, AutoSparse(backend), *args).",
            DenseJacobianWarning,
            stacklevel=levels_to_the_user(),
        )
