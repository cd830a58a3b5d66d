"""Good code with torch alone: `torch.autograd.grad` on all leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch as namespace
from torch.utils import _pytree as pytree

from . import Leaf

__all__ = ["namespace", "native", "transform", "wait"]

native: Callable[[Any], Any] | None = torch.tensor
wait: Callable[[Any], Any] | None = None


def transform(
    leaf: Leaf, operator: str, f: Callable[..., Any], prepared: bool
) -> Callable[..., Any] | None:
    """torch's own code for such leaves; there is nothing to prepare."""
    of_tensors = (_OF_TENSORS if leaf == "native" else _TRANSFORMS).get(operator)
    if of_tensors is None:
        return None
    return (lambda *args: of_tensors(f, *args)) if leaf == "native" else _of_numpy(of_tensors, f)


# NumPy arrays: `from_numpy` in, `.numpy()` out. Nobody else holds the tensors, so they are marked
# where they are. --------


def _of_numpy(of_tensors: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, *rest: Any) -> Any:
        if isinstance(x, np.ndarray):  # the usual case needs no tree
            return _numpy(of_tensors(f, torch.from_numpy(x), *_tensors(rest)))
        if of_tensors is _gradient and isinstance(x, list) and isinstance(x[0], np.ndarray):
            tensors = [torch.from_numpy(leaf).requires_grad_() for leaf in x]
            return [
                found.numpy() for found in torch.autograd.grad(f(tensors, *_tensors(rest)), tensors)
            ]
        return pytree.tree_map(
            _numpy, of_tensors(f, pytree.tree_map(torch.from_numpy, x), *_tensors(rest))
        )

    return call


def _tensors(rest: Sequence[Any]) -> list[Any]:
    return [
        torch.from_numpy(x) if isinstance(x, np.ndarray) else pytree.tree_map(torch.from_numpy, x)
        for x in rest
    ]


def _numpy(x: Any) -> Any:
    return tuple([_numpy(part) for part in x]) if isinstance(x, tuple) else x.numpy()


def _gradient(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):
        x.requires_grad_()
        return torch.autograd.grad(f(x, *constants), x)[0]
    return _value_and_gradient(f, x, *constants)[1]


def _value_and_gradient(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):
        x.requires_grad_()
        value = f(x, *constants)
        return value.detach(), torch.autograd.grad(value, x)[0]
    leaves, spec = pytree.tree_flatten(x)
    for leaf in leaves:
        leaf.requires_grad_()
    value = f(x, *constants)
    return value.detach(), pytree.tree_unflatten(list(torch.autograd.grad(value, leaves)), spec)


def _hvp(f: Callable[..., Any], x: Any, v: Any, *constants: Any) -> Any:
    leaves, spec = pytree.tree_flatten(x)
    for leaf in leaves:
        leaf.requires_grad_()
    gradients = torch.autograd.grad(f(x, *constants), leaves, create_graph=True)
    return pytree.tree_unflatten(
        list(torch.autograd.grad(gradients, leaves, pytree.tree_leaves(v))), spec
    )


def _jacobian(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    with torch.no_grad():
        outputs = f(x, *constants).numel()
    inputs = sum(leaf.numel() for leaf in pytree.tree_leaves(x))
    return (torch.func.jacfwd if inputs < outputs else torch.func.jacrev)(f)(x, *constants)


def _pullback(f: Callable[..., Any], x: Any, w: Any, *constants: Any) -> Any:
    x.requires_grad_()
    value = f(x, *constants)
    return value.detach(), torch.autograd.grad(value, x, w)[0]


def _pushforward(f: Callable[..., Any], x: Any, v: Any, *constants: Any) -> Any:
    return torch.func.jvp(lambda x: f(x, *constants), (x,), (v,))


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": _gradient,
    "value_and_gradient": _value_and_gradient,
    "hvp": _hvp,
    "jacobian": _jacobian,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "hessian": lambda f, x, *constants: torch.func.hessian(f)(x, *constants),
}


# The user's own tensors, which stay as they are: a leaf is a detached alias.
# ------------------------------------------


def _tensor_gradient(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):
        y = x.detach().requires_grad_()
        return torch.autograd.grad(f(y, *constants), y)[0]
    return _tensor_value_and_gradient(f, x, *constants)[1]


def _tensor_value_and_gradient(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):
        y = x.detach().requires_grad_()
        value = f(y, *constants)
        return value.detach(), torch.autograd.grad(value, y)[0]
    aliases = {name: leaf.detach().requires_grad_() for name, leaf in x.items()}
    value = f(aliases, *constants)
    return value.detach(), dict(zip(aliases, torch.autograd.grad(value, list(aliases.values()))))


def _tensor_hvp(f: Callable[..., Any], x: Any, v: Any, *constants: Any) -> Any:
    if isinstance(x, torch.Tensor):
        y = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(f(y, *constants), y, create_graph=True)
        return torch.autograd.grad(gradient, y, v)[0]
    aliases = {name: leaf.detach().requires_grad_() for name, leaf in x.items()}
    leaves = list(aliases.values())
    gradients = torch.autograd.grad(f(aliases, *constants), leaves, create_graph=True)
    return dict(zip(aliases, torch.autograd.grad(gradients, leaves, [v[name] for name in aliases])))


_OF_TENSORS: dict[str, Callable[..., Any]] = {
    **_TRANSFORMS,
    "gradient": _tensor_gradient,
    "value_and_gradient": _tensor_value_and_gradient,
    "hvp": _tensor_hvp,
    "pullback": lambda f, x, w, *constants: _pullback(f, x.detach(), w, *constants),
}
