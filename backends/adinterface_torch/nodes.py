"""`torch.nn.Module` as a node: its parameters are the children, everything else is structure."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from adinterface.core.contract.errors import ConversionError
from adinterface.core.contract.nodes import NodeType
from adinterface.core.contract.structures import Constant

from .distributed import reshard
from .exchange import note_given
from .scripted import Scripted, is_scripted
from .state import note_copy
from .structure import ModuleStructure, read

_PARAMETERS = {nn.Parameter}
_IS_NESTED, _REQUIRES_GRAD = operator.attrgetter("is_nested"), operator.attrgetter("requires_grad")
_DTYPE_AND_SHAPE = operator.attrgetter("dtype", "shape")


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
        reshard(value)
        structure, parameters = _read(value)
        if all(map(_REQUIRES_GRAD, parameters)):
            return parameters, structure
        return [p if p.requires_grad else Constant(p) for p in parameters], structure

    def key(self, data: Any) -> Any:
        return data

    def leaf_keys(self, children: Sequence[Any]) -> Iterable[Any] | None:
        if {*map(type, children)} == _PARAMETERS and not any(map(_IS_NESTED, children)):
            return map(_DTYPE_AND_SHAPE, children)
        return None

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        (module, parameters), *values = children
        if all(map(operator.is_, values, parameters)):
            note_given(module)
            return module
        copied = data.around(module, parameters, values)
        note_copy(module, copied)
        return copied

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        return data.gradient(*children[0], children[1:])

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        (module, parameters), *values = children
        values = [value.value if type(value) is Constant else value for value in values]  # the frozen ones
        values = [_parameter(value, old) for value, old in zip(values, parameters)]
        return data.around(module, parameters, values, compiled=True)

    def state(self, value: Any) -> tuple[Any, ...]:
        return tuple([(id(buffer), buffer._version) for buffer in value.buffers()])

    def parts(self, data: Any, other: Any) -> tuple[Sequence[Any], list[str]]:
        # Where a module is the row of a Hessian, modules stand where it has parameters.
        names = data.names if all(_has(other, name) for name in data.names) else _read(other)[0].names
        return [_inside(other, name) for name in names], [_path(name) for name in names]

    def paths(self, data: Any, count: int) -> list[str]:
        return [_path(name) for name in data.names]


def _read(module: nn.Module) -> tuple[ModuleStructure | Scripted, Sequence[Any]]:
    if is_scripted(module):
        return Scripted(module), [*module.parameters()]
    return read(module)


def _parameter(value: Any, old: nn.Parameter) -> nn.Parameter:
    if isinstance(value, nn.Parameter):
        return value
    if not isinstance(value, torch.Tensor):
        kind = type(value).__name__
        raise ConversionError(f"A module holds tensors alone, so a {kind} cannot take the place of a parameter.")
    return nn.Parameter(value.detach(), requires_grad=old.requires_grad)


def _inside(module: Any, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), module)


def _has(module: Any, name: str) -> bool:
    try:
        return _inside(module, name) is not None
    except AttributeError:
        return False


def _path(name: str) -> str:
    """`layers.0.weight` as one writes it in Python: `.layers[0].weight`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


__all__ = ["ModuleNode"]
