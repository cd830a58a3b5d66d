"""A warning about a dense Jacobian or Hessian that is almost all zeros."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.contract.errors import ConversionError, DenseJacobianWarning, levels_to_the_user
from ..core.contract.library import Library
from ..core.tree import handler_of

#: The number of random samples, the number of samples in one block, and the share of non-zero
#: entries below which we warn.
_DRAWS, _PLACES, _PART = 256, 16, 0.01


def warn_if_wasteful(name: str, matrix: str, blocks: Sequence[Any]) -> None:
    """Warn with DenseJacobianWarning if less than 1 % of the entries of these blocks are non-zero
    in a sample.
    """
    sizes = [math.prod(block.shape) for block in blocks]
    rng = np.random.default_rng(0)
    drawn = np.searchsorted(np.cumsum(sizes), rng.integers(0, sum(sizes), _DRAWS), side="right")
    result = 0
    for n, draws in zip(*np.unique(drawn, return_counts=True)):
        some = _some(blocks[n], rng.integers(0, sizes[n], _PLACES * draws))
        if some is None:
            return
        result += int(np.count_nonzero(some))
    if result < _PART * _DRAWS * _PLACES:
        # The text does not depend on the numbers, so that Python shows it once for each line of the
        # user's code.
        warnings.warn(
            f"{name}: of a dense {matrix} with {sum(sizes):,} entries, less than {100 * _PART:.0f}"
            " % of a sample are other than zero. AutoSparse(backend) computes these alone, in a"
            f" few products: {name}(f, AutoSparse(backend), *args).",
            DenseJacobianWarning,
            stacklevel=levels_to_the_user(),
        )


def _some(block: Any, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """The entries at these places; None where they cannot be read.

    The engine copies these entries only, not the block.
    """
    library = handler_of(block)
    if not isinstance(library, Library) or library.traced(block):
        return None
    try:
        return library.to_numpy(library.take(block, places))
    except ConversionError:  # the array is distributed over several processes
        return None
