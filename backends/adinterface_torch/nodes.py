"""`torch.nn.Module` as a node: its parameters are the children, everything else is structure."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from adinterface.errors import ConversionError
from adinterface.nodes import NodeType
from adinterface.tree import Constant

# Wrappers keep the module that the user wrote in one of these; their hooks do not run under torch.autograd.grad,
# or their code cannot be rebuilt around other values.
_INNER = ("_orig_mod", "module", "_fsdp_wrapped_module")


class ModuleNode(NodeType):
    """Children: each parameter once (tied ones are one), in the order of `named_parameters`; frozen ones as Constant.

    f gets the user's own module as long as the children are its own parameters. Otherwise it gets a private copy
    around the values, made by `copy.deepcopy` with the parameters' places taken: it reaches every reference to a
    parameter (an LSTM's list of flat weights, parametrizations), and never touches the user's object.
    """

    held = True

    def matches(self, value: object) -> bool:
        return isinstance(value, nn.Module)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        _refuse_wrappers(value)
        return [p if p.requires_grad else Constant(p) for p in value.parameters()], value

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        parameters = list(data.parameters())
        if all(child is parameter for child, parameter in zip(children, parameters)):
            return data
        return _copy_around(data, dict(zip(parameters, children)))

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        gradients: dict[nn.Parameter, Any] = {}
        child: Any
        for parameter, child in zip(data.parameters(), children):
            if child is None:
                child = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
            if isinstance(child, nn.Module):  # a row of a Hessian
                gradients[parameter] = child
                continue
            in_graph = child.requires_grad
            gradients[parameter] = child if in_graph else nn.Parameter(child, requires_grad=False)
        built = _copy_around(data, gradients)
        for inner in list(built.modules()):
            for name, child in list(inner._parameters.items()):
                if isinstance(child, nn.Module):
                    del inner._parameters[name]
                    inner._modules[name] = child
        return built

    def paths(self, data: Any, count: int) -> list[str]:
        return [_path(name) for name, _ in data.named_parameters()]


def _path(name: str) -> str:
    """`layers.0.weight` as one writes it in Python: `.layers[0].weight`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


def _copy_around(module: nn.Module, values: dict[nn.Parameter, Any]) -> nn.Module:
    memo: dict[int, Any] = {id(parameter): value for parameter, value in values.items()}
    for inner in module.modules():
        for attribute in vars(inner).values():
            # deepcopy refuses tensors inside a graph, such as the weight that old-style weight_norm stores.
            if isinstance(attribute, torch.Tensor) and attribute.grad_fn is not None:
                memo[id(attribute)] = attribute.detach().clone()
    return copy.deepcopy(module, memo)


def _refuse_wrappers(module: nn.Module) -> None:
    for inner in module.modules():
        kind = type(inner)
        if isinstance(inner, torch.jit.ScriptModule):
            raise ConversionError(
                f"{kind.__name__}: a ScriptModule cannot be rebuilt around gradients. Pass the module it was made from; "
                f"torch.compile it inside f if you need the speed."
            )
        wraps = next((name for name in _INNER if isinstance(inner._modules.get(name), nn.Module)), None)
        if wraps is not None and kind.__module__.startswith("torch."):
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}: its hooks do not run here, or it cannot be "
                f"rebuilt around gradients. Pass the inner module, model.{wraps}, and call the wrapper inside f if you need it."
            )
