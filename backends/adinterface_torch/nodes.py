"""`torch.nn.Module` as a node: its parameters are the children, everything else is structure."""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import torch
from torch import nn

from adinterface.contract.errors import ConversionError
from adinterface.contract.nodes import NodeType
from adinterface.tree import Constant

# Wrappers keep the module that the user wrote in one of these; their hooks do not run under torch.autograd.grad,
# or their code cannot be rebuilt around other values.
_INNER = ("_orig_mod", "module", "_fsdp_wrapped_module")


class Held(NamedTuple):
    """A module and its parameters, each once."""

    module: nn.Module
    parameters: tuple[nn.Parameter, ...]


class ModuleNode(NodeType):
    """Children: each parameter once (tied ones are one), in the order of `named_parameters`; frozen ones as Constant.

    f gets the user's own module as long as the children are its own parameters. Otherwise it gets a private copy
    around the values, in which every reference to a parameter is theirs (an LSTM's list of flat weights,
    parametrizations), and which never touches the user's object.
    """

    held = True

    def matches(self, value: object) -> bool:
        return isinstance(value, nn.Module)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        _refuse_wrappers(value)
        parameters = tuple(value.parameters())
        return [p if p.requires_grad else Constant(p) for p in parameters], Held(value, parameters)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        if all(child is parameter for child, parameter in zip(children, data.parameters)):
            return data.module
        return copy_around(data.module, dict(zip(data.parameters, children)))

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        gradients: dict[nn.Parameter, Any] = {}
        nested = False
        child: Any
        for parameter, child in zip(data.parameters, children):
            if child is None:
                child = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
            if isinstance(child, nn.Module):  # a row of a Hessian
                gradients[parameter], nested = child, True
            else:
                gradients[parameter] = child if child.requires_grad else nn.Parameter(child, requires_grad=False)
        built = copy_around(data.module, gradients)
        if nested:
            for inner in list(built.modules()):
                for name, child in list(inner._parameters.items()):
                    if isinstance(child, nn.Module):
                        del inner._parameters[name]
                        inner._modules[name] = child
        return built

    def paths(self, data: Any, count: int) -> list[str]:
        return [_path(name) for name, _ in data.module.named_parameters()]


def _path(name: str) -> str:
    """`layers.0.weight` as one writes it in Python: `.layers[0].weight`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


def copy_around(module: nn.Module, values: dict[nn.Parameter, Any]) -> nn.Module:
    """A copy of the module in which these values take the places of its parameters."""
    try:
        return _plain_copy(module, values, {})
    except _NotPlainError:
        return _deep_copy(module, values)


class _NotPlainError(Exception):
    """A module holds something that only `copy.deepcopy` copies as it should."""


# What a copy shares with the original, as deepcopy does too.
_SHARED = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type, FunctionType, BuiltinFunctionType, torch.dtype, torch.device}
    | {torch.Size}
)


def _plain_copy(module: nn.Module, values: dict[nn.Parameter, Any], copies: dict[int, nn.Module]) -> nn.Module:
    """What `copy.deepcopy` gives, for modules whose state is parameters, buffers, modules, numbers and names, in a tenth of
    the time: it goes through the dozen dicts of hooks that every module has, which are empty."""
    known = copies.get(id(module))
    if known is not None:
        return known
    cls: Any = type(module)
    if not _copies_by_state(cls):
        raise _NotPlainError
    new: nn.Module = cls.__new__(cls)
    copies[id(module)] = new
    state: dict[str, Any] = {}
    for name, value in vars(module).items():
        kind = type(value)
        if kind in _SHARED:
            state[name] = value
        elif name == "_parameters":
            state[name] = {key: None if p is None else values[p] for key, p in value.items()}
        elif name == "_modules":
            state[name] = {key: None if m is None else _plain_copy(m, values, copies) for key, m in value.items()}
        elif name == "_buffers":
            state[name] = {key: None if b is None else _buffer(b) for key, b in value.items()}
        elif kind in (dict, OrderedDict, set, list) and not value:
            state[name] = kind()
        elif kind in (tuple, set, list) and all(type(item) in _SHARED for item in value):
            state[name] = kind(value)
        else:
            raise _NotPlainError
    vars(new).update(state)
    return new


@functools.cache
def _copies_by_state(cls: Any) -> bool:
    """Whether deepcopy makes a copy from `__dict__` alone."""
    own = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__new__")
    if not cls.__setstate__.__module__.startswith("torch.nn.modules."):  # torch's own fill in what old pickles lack
        return False
    slots = any(vars(base).get("__slots__") for base in cls.__mro__)
    return not slots and all(getattr(cls, name, None) is getattr(nn.Module, name, None) for name in own)


def _buffer(buffer: torch.Tensor) -> torch.Tensor:
    if type(buffer) is not torch.Tensor or buffer.requires_grad or vars(buffer):
        raise _NotPlainError
    return buffer.clone()


def _deep_copy(module: nn.Module, values: dict[nn.Parameter, Any]) -> nn.Module:
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
