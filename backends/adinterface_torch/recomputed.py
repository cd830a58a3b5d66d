"""Writes of a function into existing tensors, such as the statistics of a BatchNorm, happen once, although it is evaluated
again for its derivative.

The second evaluation finds these tensors as the first one found them, and writes into copies.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

#: The functions that write their second and third argument, a mean and a variance, by the name under which torch has them.
_WITH_STATISTICS = ("batch_norm", "instance_norm")
_IN_PLACE = ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__iand__", "__ior__", "__ixor__")


#: The attribute of a copy that holds the tensor that it replaces, in an evaluation inside one that is repeated.
_OWN = "_adinterface_own"


class Writes(TorchFunctionMode):
    """Notes the tensors that a function writes into and did not make, with copies of what they were before."""

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._made: dict[int, weakref.ref[torch.Tensor]] = {}

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for tensor in _written(function, args, kwargs):
            self._note(tensor)
        result = function(*args, **kwargs)
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(tensor, torch.Tensor) and all(tensor is not x for x in args):
                self._made[id(tensor)] = weakref.ref(tensor)
        return result

    def _note(self, tensor: torch.Tensor) -> None:
        whole = tensor if tensor._base is None else tensor._base
        made = self._made.get(id(whole))
        if made is None or made() is not whole:
            own = getattr(whole, _OWN, whole)
            if id(own) not in self.before:
                self.before[id(own)] = own, whole.detach().clone()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]
        self._made.clear()


def _written(function: Any, args: Any, kwargs: Any) -> Iterator[torch.Tensor]:
    name = getattr(function, "__name__", "")
    if name in _WITH_STATISTICS:
        given: Iterable[Any] = (*args[1:3], kwargs.get("running_mean"), kwargs.get("running_var"))
    elif name in _IN_PLACE or (name.endswith("_") and not name.endswith("__")):
        given = args[:1]
    else:
        given = (kwargs.get("out"),)
    for value in given:
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, torch.Tensor):
                yield part


class StandingIn(TorchFunctionMode):
    """Replaces the tensors that a function captures by others."""

    def __init__(self, pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]):
        super().__init__()
        self._others = {id(tensor): other for tensor, other in pairs}

    def of(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._others.get(id(value), value)
        if type(value) in (tuple, list):
            return type(value)([self.of(part) for part in value])
        return value

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args = [self.of(value) for value in args]
        return function(*args, **{name: self.of(value) for name, value in kwargs.items()}) if kwargs else function(*args)


def scratch(writes: Writes) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The tensors that were written into, each with one of its own numbers before, to be written into instead."""
    pairs = [(tensor, before.clone()) for tensor, before in writes.before.values()]
    for tensor, copy in pairs:
        setattr(copy, _OWN, tensor)
    return pairs


__all__ = ["StandingIn", "Writes", "scratch"]
