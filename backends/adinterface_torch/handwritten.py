"""What a good user writes with torch alone for trees of NumPy arrays: the yardstick of the benchmark."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch as namespace
from torch import nn
from torch.utils import _pytree as pytree

__all__ = ["models", "namespace", "transform"]


def transform(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
    """`from_numpy` in, `torch.autograd.grad`, `.numpy()` out; there is nothing to prepare."""
    of_tensors, of_model = _TRANSFORMS.get(operator), _OF_MODELS.get(operator)
    if of_tensors is None:
        return None

    def call(x: Any, *rest: Any) -> Any:
        if isinstance(x, nn.Module):
            assert of_model is not None
            return of_model(f, x, *rest)
        if isinstance(x, np.ndarray):  # the usual case needs no tree
            return _numpy(of_tensors(f, torch.from_numpy(x), *_tensors(rest)))
        return pytree.tree_map(_numpy, of_tensors(f, pytree.tree_map(torch.from_numpy, x), *_tensors(rest)))

    return call


def _tensors(rest: Sequence[Any]) -> list[Any]:
    return [torch.from_numpy(x) if isinstance(x, np.ndarray) else pytree.tree_map(torch.from_numpy, x) for x in rest]


def _numpy(x: Any) -> Any:
    return tuple([_numpy(part) for part in x]) if isinstance(x, tuple) else x.numpy()


def models() -> dict[str, Any]:
    """A module: a real function of it, an array-valued one, the module, further arguments."""
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
    batch = torch.randn(128, 64, generator=generator)
    labels = torch.randint(10, (128,), generator=generator)

    def loss(model: Any, batch: Any, labels: Any) -> Any:
        return nn.functional.cross_entropy(model(batch), labels)

    def outputs(model: Any, batch: Any, labels: Any) -> Any:
        return model(batch).mean(dim=0)

    return {"nn.Module": (loss, outputs, model, (batch, labels))}


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
    return pytree.tree_unflatten(list(torch.autograd.grad(gradients, leaves, pytree.tree_leaves(v))), spec)


def _jacobian(f: Callable[..., Any], x: Any, *constants: Any) -> Any:
    with torch.no_grad():
        outputs = f(x, *constants).numel()
    inputs = sum(leaf.numel() for leaf in pytree.tree_leaves(x))
    return (torch.func.jacfwd if inputs < outputs else torch.func.jacrev)(f)(x, *constants)


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": _gradient,
    "value_and_gradient": _value_and_gradient,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "hessian": lambda f, x, *constants: torch.func.hessian(f)(x, *constants),
}


# A module of gradients, as ours: a copy of the module around other parameters.


def _module_of(model: nn.Module, values: Sequence[torch.Tensor]) -> nn.Module:
    memo: dict[int, Any] = {
        id(parameter): nn.Parameter(value, requires_grad=False) for parameter, value in zip(model.parameters(), values)
    }
    return copy.deepcopy(model, memo)


def _module_value_and_gradient(f: Callable[..., Any], model: nn.Module, *constants: Any) -> Any:
    value = f(model, *constants)
    return value.detach(), _module_of(model, torch.autograd.grad(value, list(model.parameters())))


def _module_hvp(f: Callable[..., Any], model: nn.Module, v: nn.Module, *constants: Any) -> Any:
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(f(model, *constants), parameters, create_graph=True)
    return _module_of(model, torch.autograd.grad(gradients, parameters, list(v.parameters())))


def _module_jacobian(f: Callable[..., Any], model: nn.Module, *constants: Any) -> Any:
    parameters = list(model.parameters())
    value = f(model, *constants)
    basis = torch.eye(value.numel(), dtype=value.dtype)
    rows = torch.func.vmap(lambda seed: torch.autograd.grad(value, parameters, seed))(basis)
    return _module_of(model, rows)


_OF_MODELS: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, model, *constants: _module_value_and_gradient(f, model, *constants)[1],
    "value_and_gradient": _module_value_and_gradient,
    "hvp": _module_hvp,
    "jacobian": _module_jacobian,
}
