"""Copies of modules as `copy.deepcopy` gives them, attribute by attribute, in a fraction of the time.

Nearly all of what a module holds is shared by a deep copy (numbers, names, functions) or empty (the dozen dicts of hooks
that every module has). Only what is neither goes through `copy.deepcopy`.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch import nn

from .distributed import exchanges, is_dtensor

# What a copy shares with the original, as deepcopy does too.
_SHARED = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type, FunctionType, BuiltinFunctionType, torch.dtype, torch.device}
    | {torch.Size}
)
_MAPPINGS = (dict, OrderedDict)
_MUTABLE = (dict, OrderedDict, set, list)
_REGISTERS = ("_parameters", "_buffers", "_modules")
#: The attributes that every module has, and the containers among them: empty as a rule, and never shared by two modules.
_OWN = frozenset(vars(nn.Module()))
_HOOKS = frozenset(name for name, value in vars(nn.Module()).items() if type(value) in _MUTABLE) - {*_REGISTERS}
#: What `nn.Module.__getstate__` leaves out: it would call the original.
_COMPILED = "_compiled_call_impl"

_set = object.__setattr__

#: Where a value still stands that deepcopy must copy: the dict, the name in it, the value.
Pending = list[tuple[dict[str, Any], str, Any]]


def copies_by_state(module: nn.Module) -> bool:
    """Whether deepcopy makes a copy of the module from its `__dict__` alone, with registers of the usual kind in it."""
    if exchanges(module) or _is_spread(module):
        return True
    cls: Any = type(module)
    if getattr(getattr(cls, "__deepcopy__", None), "__module__", "") == "torch.nn.utils.parametrize":
        cls = cls.__mro__[1]  # the deepcopy that comes with a parametrization copies the `__dict__`
    own = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__new__")
    # torch's own fill in what old pickles lack; from the first torch.compile on, Dynamo's stands in front of them.
    if not cls.__setstate__.__module__.startswith(("torch.nn.modules.", "torch._dynamo.")):
        return False
    if any(vars(base).get("__slots__") for base in cls.__mro__):
        return False
    if any(getattr(cls, name, None) is not getattr(nn.Module, name, None) for name in own):
        return False
    return all(type(vars(module)[name]) in _MAPPINGS for name in _REGISTERS)


def _is_plain(value: Any) -> bool:
    """Whether all that a container holds is shared by a copy of it."""
    return _SHARED.issuperset(map(type, chain(value, value.values()) if type(value) in _MAPPINGS else value))


class Layout:
    """How the attributes of a module are copied: decided once, and right for every state that it fits.

    It holds names and types, never a value.
    """

    __slots__ = ("_common", "_deep", "_drops", "_mappings", "_mutable", "_row_values")

    def __init__(self, state: dict[str, Any]):
        hooks: list[tuple[str, Any]] = []  # the empty ones, with their types
        rows: list[str] = []
        #: Containers that can change and hold what is shared alone, with their types; the mappings among them.
        self._mutable: list[tuple[str, Any]] = []
        self._mappings: list[str] = []
        #: What deepcopy copies.
        self._deep: list[str] = []
        for name, value in state.items():
            kind = type(value)
            if name in _REGISTERS or kind in _SHARED:
                continue
            if name in _HOOKS and not value:
                hooks.append((name, kind))
            elif (kind is tuple or kind in _MUTABLE) and _is_plain(value):
                (self._mappings if kind in _MAPPINGS else rows).append(name)
                if kind is not tuple:
                    self._mutable.append((name, kind))
            else:
                self._deep.append(name)
        self._row_values = _values_of(rows)
        self._drops = _COMPILED in state
        # What nn.Module itself made keeps its type, unless there is something in it.
        filled = {*self._mappings, *self._deep, *rows}
        typed = [name for name in state if name not in _OWN or name in filled]
        types = [type(state[name]) for name in typed]
        hook_values = _values_of([name for name, _ in hooks])
        self._common = [*state], _values_of(typed), types, hook_values, hooks, bool(filled) or self._drops

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending) -> dict[str, Any] | None:
        """A copy of the attributes but for parameters, submodules and what it adds to `pending`; None for a state that
        this layout does not fit."""
        names, values_of, types, hook_values, hooks, more = self._common
        if [*state] != names or [*map(type, values_of(state))] != types or any(hook_values(state)):
            return None
        if more and not self._fits(state):
            return None
        new = state.copy()
        for name, kind in hooks:
            new[name] = kind()
        buffers = state["_buffers"]
        new["_buffers"] = _buffers(buffers, memo, pending) if buffers else {}
        if more:
            self._copy_more(state, new, memo, pending)
        return new

    def _fits(self, state: dict[str, Any]) -> bool:
        """Whether what held nothing but shared values still does."""
        if not _is_plain(chain.from_iterable(self._row_values(state))):
            return False
        return not self._mappings or all(_is_plain(state[name]) for name in self._mappings)

    def _copy_more(self, state: dict[str, Any], new: dict[str, Any], memo: dict[int, Any], pending: Pending) -> None:
        for name, kind in self._mutable:
            value = state[name]
            known = memo.get(id(value))
            if known is None:  # a list that several modules share is one in their copies
                known = memo[id(value)] = kind(value)
            new[name] = known
        for name in self._deep:
            pending.append((new, name, state[name]))
        if self._drops:
            del new[_COMPILED]


class Shell:
    """How a module that exchanges gradients between processes becomes a container of them, which exchanges nothing.

    What it holds besides, such as the group of its processes, cannot be copied, and is shared.
    """

    __slots__ = ()

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending) -> dict[str, Any]:
        new = {name: value for name, value in state.items() if name not in _MEMBERSHIP}
        new.update((name, type(state[name])()) for name in _HOOKS if name in state)
        new["_buffers"] = _buffers(state["_buffers"], memo, pending)
        return new


#: What makes a DistributedDataParallel a member of its group.
_MEMBERSHIP = ("reducer", "logger")


class Spread:
    """How a module whose parameters are DTensors is copied: with its hooks, which know the mesh, and with what they know."""

    __slots__ = ()

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending) -> dict[str, Any]:
        new = state.copy()
        new.update((name, state[name].copy()) for name in _HOOKS if name in state)
        new["_buffers"] = _buffers(state["_buffers"], memo, pending)
        return new


def layout_of(module: nn.Module) -> Layout | Shell | Spread:
    if exchanges(module):
        return Shell()
    return Spread() if _is_spread(module) else Layout(vars(module))


def _is_spread(module: nn.Module) -> bool:
    return any(map(is_dtensor, module._parameters.values()))


def _nothing(state: dict[str, Any]) -> tuple[()]:
    return ()


def _values_of(names: list[str]) -> Callable[[dict[str, Any]], Iterable[Any]]:
    if not names:
        return _nothing
    return itemgetter(*names) if len(names) > 1 else lambda state: (state[names[0]],)


def _buffers(buffers: dict[str, Any], memo: dict[int, Any], pending: Pending) -> dict[str, Any]:
    new: dict[str, Any] = {}
    for name, buffer in buffers.items():
        if buffer is None or id(buffer) in memo:
            new[name] = memo[id(buffer)] if buffer is not None else None
        elif type(buffer) is torch.Tensor and not buffer.requires_grad and not vars(buffer):
            new[name] = memo[id(buffer)] = buffer.clone()
        else:
            new[name] = buffer
            pending.append((new, name, buffer))
    return new


def fill(
    modules: Sequence[nn.Module],
    copies: Sequence[nn.Module],
    layouts: list[Layout | Shell | Spread],
    names: Iterable[tuple[list[str], list[str]]],
    values: Iterator[Any],
    children: Iterator[nn.Module | None],
    replaced: Iterable[tuple[Any, Any]],
) -> None:
    """Give each copy, made without `__init__`, the state of its module around other values.

    names: of each module's parameters and children, which take as many of `values` and `children`. replaced: pairs of
    parameter and value. A layout that does not fit any more is made anew, in place.
    """
    memo: dict[int, Any] = {}
    pending: Pending = []
    for inner, copied, layout, (own, below) in zip(modules, copies, layouts, names):
        state = inner.__dict__
        new = layout.copy(state, memo, pending)
        while new is None:
            changed = layouts[[*map(id, modules)].index(id(inner))] = Layout(state)
            new = changed.copy(state, memo, pending)
        # `zip` asks for a name first, so it takes no value that belongs to the next module.
        new["_parameters"] = dict(zip(own, values)) if own else {}
        new["_modules"] = dict(zip(below, children)) if below else {}
        _set(copied, "__dict__", new)
    if pending:
        memo.update((id(old), new) for old, new in chain(zip(modules, copies), replaced))
        for _, _, value in pending:
            _detach(value, memo)
        for new, name, value in pending:
            new[name] = copy.deepcopy(value, memo)


def _detach(value: Any, memo: dict[int, Any]) -> None:
    """deepcopy refuses tensors inside a graph, such as the weight that old-style weight_norm stores."""
    if isinstance(value, torch.Tensor) and value.grad_fn is not None and id(value) not in memo:
        memo[id(value)] = value.detach().clone()


def deep_copy(module: nn.Module, values: dict[Any, Any]) -> nn.Module:
    """A copy around other values by `copy.deepcopy`, which knows every class, in ten times the time."""
    memo: dict[int, Any] = {id(parameter): value for parameter, value in values.items()}
    for inner in module.modules():
        for attribute in vars(inner).values():
            _detach(attribute, memo)
    for inner in reversed(list(module.modules())):  # from the inside out
        if not isinstance(layout := layout_of(inner), Layout):
            memo[id(inner)] = _around(inner, layout, memo)
    return copy.deepcopy(module, memo)


def _around(module: nn.Module, layout: Shell | Spread, memo: dict[int, Any]) -> nn.Module:
    new = layout.copy(vars(module), memo, [])
    for register in _REGISTERS:
        new[register] = {name: copy.deepcopy(held, memo) for name, held in new[register].items()}
    copied: nn.Module = object.__new__(type(module))
    _set(copied, "__dict__", new)
    return copied
