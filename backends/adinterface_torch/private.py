"""What PyTorch has no public name for, each with a way that any release has."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


def _as_parameter(tensor: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, requires_grad=False)


#: A parameter without a gradient on the memory of a plain tensor.
as_parameter: Callable[[torch.Tensor], nn.Parameter] = _as_parameter

if hasattr(torch.Tensor, "_make_subclass"):

    def as_parameter(tensor: torch.Tensor) -> nn.Parameter:
        return torch.Tensor._make_subclass(nn.Parameter, tensor, False)
