"""Whether tensors are still what others were: one question to torch for any number of them.

Dynamo asks it before it runs compiled code. To ask each tensor for its class, dtype, shape, layout and the rest takes about ten
calls of torch's for each, which is longer than the backward pass of a small layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

try:
    from torch._C._dynamo.guards import TensorGuards
except ImportError:  # a private name, which another release of torch may not have
    TensorGuards = None  # type: ignore[assignment, misc]

_PLAIN = {torch.Tensor, torch.nn.Parameter}


def alike(examples: Sequence[torch.Tensor]) -> Callable[..., bool]:
    """The question of as many tensors whether they are distinct objects, each like its example.

    True means: of its class, dtype, device, layout, shape, strides and `requires_grad`, and as much or as little a conjugate, a
    negative, an efficient zero, or a part of a functorch transformation. False means to look closer: there are classes for
    which nothing is known here, and modes of torch make tensors look different. It keeps no tensor alive.
    """
    if TensorGuards is None or not {*map(type, examples)} <= _PLAIN or any(x.is_nested for x in examples):
        return _unknown
    # Without these words the shapes and strides are those of the examples.
    check: Callable[..., bool] = TensorGuards(*examples, dynamic_dims_sizes=None, dynamic_dims_strides=None).check
    return check


def _unknown(*tensors: torch.Tensor) -> bool:
    return False


__all__ = ["alike"]
