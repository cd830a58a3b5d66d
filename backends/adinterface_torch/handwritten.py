"""What a good user writes with torch alone for trees of NumPy arrays: the yardstick of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree


def one_shot(operator: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """A call without preparation: `from_numpy` in, `.numpy()` out."""
    transform = _TRANSFORMS.get(operator)
    if transform is None:
        return None

    def call() -> Any:
        tensors = pytree.tree_map(torch.from_numpy, args)
        return pytree.tree_map(lambda t: t.numpy(), transform(f, *tensors))

    return call


def _value_and_gradient(f: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    leaves, spec = pytree.tree_flatten(x)
    for leaf in leaves:
        leaf.requires_grad_()
    value = f(pytree.tree_unflatten(leaves, spec))
    return value.detach(), pytree.tree_unflatten(list(torch.autograd.grad(value, leaves)), spec)


def _hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


def _jacobian(f: Callable[..., Any], x: Any) -> Any:
    with torch.no_grad():
        outputs = f(x).numel()
    return (torch.func.jacfwd if x.numel() < outputs else torch.func.jacrev)(f)(x)


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, x: _value_and_gradient(f, x)[1],
    "value_and_gradient": _value_and_gradient,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "hessian": lambda f, x: torch.func.hessian(f)(x),
}
