"""Good code with torch alone: `torch.autograd.grad` on all leaves.

Tensors that are made of NumPy arrays belong to nobody else, and are marked where they are. The
user's own stay as they are: a leaf is a detached alias.
"""

from __future__ import annotations

from typing import Any

import torch
import torch as namespace

from . import Function, build, leaves

__all__ = ["namespace", "native", "transform", "wait"]

native, wait = torch.tensor, None


def transform(leaf: str, operator: str, f: Function, prepared: bool) -> Function | None:
    """torch's own code for such leaves; there is nothing to prepare."""
    made = _TRANSFORMS.get(operator)
    if made is None:
        return None
    if leaf == "native":
        return lambda *args: made(f, _alias, *args)

    def of_numpy(*args: Any) -> Any:
        return _numpy(made(f, torch.Tensor.requires_grad_, *map(_tensors, args)))

    return of_numpy


def _alias(x: torch.Tensor) -> torch.Tensor:
    return x.detach().requires_grad_()


def _tensors(x: Any) -> Any:
    return build(x, map(torch.from_numpy, leaves(x)))


def _numpy(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.numpy()
    if isinstance(x, tuple):
        return tuple([_numpy(part) for part in x])
    return build(x, iter([leaf.numpy() for leaf in leaves(x)]))


def _gradient(f: Function, mark: Function, x: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):  # the usual case needs no tree
        y = mark(x)
        return torch.autograd.grad(f(y, *constants), y)[0]
    return _value_and_gradient(f, mark, x, *constants)[1]


def _value_and_gradient(f: Function, mark: Function, x: Any, *constants: Any) -> Any:
    y = build(x, map(mark, leaves(x)))
    value = f(y, *constants)
    return value.detach(), build(x, iter(torch.autograd.grad(value, leaves(y))))


def _hvp(f: Function, mark: Function, x: Any, v: Any, *constants: Any) -> Any:
    y = build(x, map(mark, leaves(x)))
    parts = leaves(y)
    gradients = torch.autograd.grad(f(y, *constants), parts, create_graph=True)
    return build(x, iter(torch.autograd.grad(gradients, parts, leaves(v))))


def _jacobian(f: Function, mark: Function, x: Any, *constants: Any) -> Any:
    with torch.no_grad():
        outputs = f(x, *constants).numel()
    inputs = sum(leaf.numel() for leaf in leaves(x))
    return (torch.func.jacfwd if inputs < outputs else torch.func.jacrev)(f)(x, *constants)


def _pullback(f: Function, mark: Function, x: Any, w: Any, *constants: Any) -> Any:
    y = mark(x)
    value = f(y, *constants)
    return value.detach(), torch.autograd.grad(value, y, w)[0]


_TRANSFORMS: dict[str, Function] = {
    "gradient": _gradient,
    "value_and_gradient": _value_and_gradient,
    "hvp": _hvp,
    "jacobian": _jacobian,
    "pullback": _pullback,
    "pushforward": lambda f, mark, x, v, *rest: torch.func.jvp(lambda x: f(x, *rest), (x,), (v,)),
    "hessian": lambda f, mark, *args: torch.func.hessian(f)(*args),
}
