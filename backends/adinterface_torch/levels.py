"""What a tensor is at the active levels of `torch.func`: forward, reverse, batches."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad

from adinterface import BackendError

from .private import (
    TransformType,
    dual_level,
    is_gradtracking,
    is_wrapped,
    level_of,
    peek,
    retrieve_current_functorch_interpreter,
    transformations,
    unwrapped,
)


def is_forward() -> bool:
    """Whether a level of forward mode is at work."""
    return any(level.key() == TransformType.Jvp for level in transformations() or ())


def is_nested_forward(arguments: Iterable[Any]) -> bool:
    """Whether one of them changes along tangents of two levels of forward mode."""
    levels = [level.key() for level in transformations() or ()]
    return levels.count(TransformType.Jvp) > 1 and any(len(_levels(x).moved) > 1 for x in arguments)


def is_followed(tensor: torch.Tensor) -> bool:
    """Whether a value has a tangent or is recorded, at the present level or outside it."""
    levels = _levels(tensor)
    return bool(levels.moved) or levels.recorded


def outside_derivatives(x: torch.Tensor) -> torch.Tensor:
    """The tensor without the wrappers of derivatives; one in a batch stays in it."""
    while is_gradtracking(x):
        x = unwrapped(x)
    return x


def plain(x: Any) -> Any:
    """The tensor without any wrapper of `torch.func`."""
    while is_wrapped(x):
        x = unwrapped(x)
    return x


class _Levels(NamedTuple):
    """What is true of a value at the present level and at those outside it."""

    #: The levels at which it has a tangent; that of `forward_ad` is 0.
    moved: frozenset[int]
    #: Whether it is recorded in a graph at one of them.
    recorded: bool


def _levels(tensor: torch.Tensor) -> _Levels:
    """Looks at a value of the present level, and through it at the levels outside."""
    present: Any = peek()
    forward = dual_level() >= 0 if present is None else present.key() == TransformType.Jvp
    primal, tangent = dual(tensor) if forward else (tensor, None)
    moved = (
        frozenset[int]()
        if tangent is None
        else frozenset({0 if present is None else present.level()})
    )
    seen = _Levels(moved, tensor.requires_grad)
    if present is None:
        return seen
    with retrieve_current_functorch_interpreter().lower():
        for part in (primal,) if tangent is None else (primal, tangent):
            outer = _levels(unwrapped(part) if level_of(part) == present.level() else part)
            seen = _Levels(*map(operator.or_, seen, outer))
    return seen


def dual(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A tensor of the present level and its tangent there."""
    unpacked: Any = forward_ad.unpack_dual(tensor)  # type: ignore[no-untyped-call]
    return unpacked.primal, unpacked.tangent


def refuse_tangents(tensors: Iterable[Any]) -> None:
    """Refuse tensors with a tangent of `torch.autograd.forward_ad`: aliases lose it."""
    for tensor in tensors:
        if (
            isinstance(tensor, torch.Tensor)
            and not is_wrapped(tensor)
            and dual(tensor)[1] is not None
        ):
            raise BackendError(
                "A tensor of this call has a tangent of torch.autograd.forward_ad.dual_level, which"
                " would be lost. Take the outer derivative with torch.func.jvp, or with"
                " adinterface.pushforward."
            )
