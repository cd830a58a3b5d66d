"""torch's part in loops: slices at once, and segments that are computed again.

Python's loop does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from adinterface.core.contract import Arrays, Loops

from .levels import is_forward
from .private import dual_level, outside_all, peek
from .recording import recorded


class TorchLoops(Loops):
    def slices(self, x: Any) -> Sequence[Any]:
        """By one node in the graph, where x[n] would be as many as there are slices.

        Copies, so that a step may write into its slice after an earlier one has used its own. torch
        has no rule for these in forward mode, which does not need them.
        """
        views = type(x) is not torch.Tensor or is_forward() or dual_level() >= 0
        if views:
            return tuple(x.unbind(0))
        if peek() is not None:  # torch 2.11 cannot batch `unbind_copy`
            return tuple([each.clone() for each in x.unbind(0)])
        return tuple(_unbind_copy(x))

    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        if not torch.is_grad_enabled() or peek() is not None or dual_level() >= 0:
            return function(*arrays)
        result: Arrays = checkpoint(_outside, function, *arrays, use_reentrant=False)
        return result


def _outside(function: Callable[..., Arrays], *arrays: torch.Tensor) -> Arrays:
    """Evaluated again perhaps in a batched backward pass, which is no batch of this function.

    Calls inside it are recorded.
    """
    with outside_all():
        return recorded(function, arrays)


_unbind_copy: Any = torch.unbind_copy
