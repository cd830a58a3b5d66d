"""A word to those who compute a dense Jacobian, or Hessian, that is almost all zeros."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..contract.errors import ConversionError, DenseJacobianWarning, levels_to_the_user
from ..contract.library import Library
from ..tree import handler_of

#: From so many entries on a dense derivative is looked at.
_ENTRIES = 10**7
#: At so many random places, those of one draw in one block; and which part of them is to be other than zero for a dense
#: derivative to pay.
_DRAWS, _PLACES, _PART = 256, 16, 0.01


def may_be_wasteful(sizes: Sequence[int]) -> bool:
    """Whether arrays of these sizes together are so many entries that they are looked at."""
    return sum(sizes) > _ENTRIES


def warn_if_wasteful(name: str, blocks: Sequence[Sequence[Any]], matrix: str = "Jacobian") -> None:
    """Warn with DenseJacobianWarning where the blocks have more than 10^7 entries together, of which a sample shows less than
    1 % to be other than zero."""
    sizes = [math.prod(block.shape) for row in blocks for block in row]
    if may_be_wasteful(sizes):
        _look(name, matrix, [block for row in blocks for block in row], sizes)


def _look(name: str, matrix: str, blocks: Sequence[Any], sizes: Sequence[int]) -> None:
    rng = np.random.default_rng(0)
    drawn = np.searchsorted(np.cumsum(sizes), rng.integers(0, sum(sizes), _DRAWS), side="right")
    result = 0
    for n, draws in zip(*np.unique(drawn, return_counts=True)):
        some = _some(blocks[n], rng.integers(0, sizes[n], _PLACES * draws))
        if some is None:
            return
        result += int(np.count_nonzero(some))
    if result < _PART * _DRAWS * _PLACES:
        # Of the same words whatever the numbers are, so that Python shows it once for each line of the user's.
        warnings.warn(
            f"{name}: of a dense {matrix} with {sum(sizes):,} entries, less than {100 * _PART:.0f} % of a sample are other "
            f"than zero. AutoSparse(backend) computes these alone, in a few products: {name}(f, AutoSparse(backend), *args).",
            DenseJacobianWarning,
            stacklevel=levels_to_the_user(),
        )


def _some(block: Any, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The entries at these places; None where nobody can look at them. An engine moves them alone, not the whole block."""
    library = handler_of(block)
    if not isinstance(library, Library) or library.traced(block):
        return None
    try:
        return library.sample(block, np.unravel_index(places, block.shape))
    except ConversionError:  # it lies in parts on the devices of several processes
        return None
