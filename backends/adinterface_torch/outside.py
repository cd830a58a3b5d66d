"""Code that torch cannot see: called at once, and once for each entry of a batch inside `torch.func.vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from adinterface.core.contract.rules import Arrays

from .captured import below
from .private import peek


class AdinterfaceOutside(torch.autograd.Function):
    """A function of untraced tensors, which has no derivative."""

    @staticmethod
    def forward(function: Callable[..., Arrays], *arrays: torch.Tensor) -> Arrays:
        return function(*[x.detach() for x in arrays])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(*output)

    @staticmethod
    def vmap(info: Any, in_dims: Any, function: Callable[..., Arrays], *arrays: torch.Tensor) -> Any:
        rows: list[Any] = []
        for n in range(info.batch_size):
            entries = [x if d is None else x.select(d, n) for x, d in zip(arrays, in_dims[1:])]
            rows.append(AdinterfaceOutside.apply(function, *entries))  # type: ignore[no-untyped-call]
        stacks = tuple([torch.stack(column) for column in zip(*rows)])
        return stacks, tuple([0] * len(stacks))


def outside(function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
    """What the function gives for the numbers of these tensors."""
    if peek() is None:
        return function(*[x.detach() for x in arrays])
    found: Arrays = AdinterfaceOutside.apply(below(function), *arrays)  # type: ignore[no-untyped-call]
    return found
