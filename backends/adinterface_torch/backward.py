"""One backward pass, without what `torch.autograd.grad` does in Python around it.

That function looks for overrides by tensor subclasses, for batches and for other forms of its arguments, which takes longer
than the backward pass of a small f. What it calls in the end is used here for plain tensors; torch's own modules
(checkpointing, its graph utilities) call it in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

try:
    from torch.autograd.graph import _engine_run_backward
except ImportError:  # a private name, which another release of torch may not have
    _engine_run_backward = None  # type: ignore[assignment]


def backward(output: torch.Tensor, leaves: Sequence[torch.Tensor]) -> Sequence[torch.Tensor | None]:
    """The gradients of a real 0-d output that requires grad; None for a leaf that it does not depend on."""
    if _engine_run_backward is None or type(output) is not torch.Tensor:
        return torch.autograd.grad(output, leaves, allow_unused=True)
    # A new seed each time: a user's own backward function may write to it.
    seed = torch.ones_like(output)
    found: Any = _engine_run_backward((output,), (seed,), False, False, tuple(leaves), True, accumulate_grad=False)
    return found  # type: ignore[no-any-return]
