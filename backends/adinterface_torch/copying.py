"""Copies of modules as `copy.deepcopy` gives them, attribute by attribute, in a fraction of the time.

Nearly all of what a module holds is shared by a deep copy (numbers, names, functions) or empty (the dozen dicts of hooks
that every module has). Only what is neither goes through `copy.deepcopy`.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter, call, itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch import nn

from .distributed import exchanges, is_dtensor
from .hooks import CALLED, HOOKS, NO_HOOKS, SHARED
from .library import is_wrapped
from .pickling import is_marked
from .versions import versions_of

# What a copy shares with the original, as deepcopy does too.
_SHARED = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type, FunctionType, BuiltinFunctionType, torch.dtype, torch.device}
    | {torch.Size}
)
_MAPPINGS = (dict, OrderedDict)
_MUTABLE = (dict, OrderedDict, set, list)
_REGISTERS = ("_parameters", "_buffers", "_modules")
#: The attributes that every module has.
_OWN = frozenset(vars(nn.Module()))
#: What `nn.Module.__getstate__` leaves out: it would call the original.
_COMPILED = "_compiled_call_impl"

_set, _state = object.__setattr__, attrgetter("__dict__")
_requires_grad, _buffers = attrgetter("requires_grad"), itemgetter("_buffers")
_TENSOR = {torch.Tensor}
_transformed = torch._C._functorch.peek_interpreter_stack
#: One call for many tensors, in half of the time; a private name, which not every release has.
_clone_all: Callable[[list[torch.Tensor]], list[torch.Tensor]] | None = getattr(torch, "_foreach_clone", None)

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

    __slots__ = (
        *("_copied", "_deep", "_drops", "_fresh", "_more", "_mutable", "_shared"),
        *("hooks", "key", "mappings", "names", "rows", "saved", "tuples", "typed", "types"),
    )

    def __init__(self, state: dict[str, Any]):
        empty = [name for name in HOOKS if name in state and not state[name]]
        tuples: list[str] = []
        rows: list[str] = []
        #: Containers that can change and hold what is shared alone, with their types; the mappings among them.
        self._mutable: list[tuple[str, Any]] = []
        self.mappings: list[str] = []
        #: What deepcopy copies; and of a gradient.
        self._deep: list[str] = []
        for name, value in state.items():
            kind = type(value)
            if name in _REGISTERS or kind in _SHARED or name in empty:
                continue
            if name not in CALLED and (kind is tuple or kind in _MUTABLE) and _is_plain(value):
                (self.mappings if kind in _MAPPINGS else tuples if kind is tuple else rows).append(name)
                if kind is not tuple:
                    self._mutable.append((name, kind))
            else:
                self._deep.append(name)
        self._copied = [name for name in self._deep if name not in CALLED]
        #: What makes each of the empty ones anew, to copy one is faster than to call its class; and those of a gradient.
        self._fresh = [(name, HOOKS[name]().copy) for name in empty]
        self._shared = {name: none for name, none in SHARED.items() if name in empty or (name in CALLED and name in state)}
        self._drops = _COMPILED in state
        self._more = bool(self._mutable or self._deep) or self._drops
        # What nn.Module itself made keeps its type, unless there is something in it.
        filled = {*self.mappings, *self._deep, *tuples, *rows}
        typed = [name for name in state if name not in _OWN or name in filled]
        #: What a state that it fits has: these names, of which some have these types, some are empty, some hold what is shared.
        self.names, self.types, self.typed = [*state], [type(state[name]) for name in typed], _values_of(typed)
        self.hooks, self.saved = _values_of(empty), _values_of([name for name in empty if name not in CALLED])
        self.tuples, self.rows = _values_of(tuples), _values_of(rows)
        #: Equal for layouts that copy alike, and fit the same states.
        kinds = tuple(kind for _, kind in self._mutable)
        names: list[tuple[Any, ...]] = [tuple(x) for x in (state, typed, empty, tuples, rows, self.mappings, self._deep)]
        self.key = (*names, *self.types, *kinds, self._drops)

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending, gradient: bool = False) -> dict[str, Any]:
        """A copy of the attributes but for the registers and what it adds to `pending`, of a state that it fits.

        gradient: without hooks for a call, and with what all gradients share.
        """
        new = state.copy()
        if gradient:
            new.update(self._shared)
        else:
            for name, fresh in self._fresh:
                new[name] = fresh()
        if self._more:
            self._copy_more(state, new, memo, pending, gradient)
        return new

    def _copy_more(
        self, state: dict[str, Any], new: dict[str, Any], memo: dict[int, Any], pending: Pending, gradient: bool
    ) -> None:
        for name, kind in self._mutable:
            value = state[name]
            known = memo.get(id(value))
            if known is None:  # a list that several modules share is one in their copies
                known = memo[id(value)] = kind(value)
            new[name] = known
        for name in self._copied if gradient else self._deep:
            pending.append((new, name, state[name]))
        if self._drops:
            del new[_COMPILED]


class Shell:
    """How a module that exchanges gradients between processes becomes a container of them, which exchanges nothing.

    What it holds besides, such as the group of its processes, cannot be copied, and is shared.
    """

    __slots__ = ()

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending, gradient: bool = False) -> dict[str, Any]:
        new = {name: value for name, value in state.items() if name not in _MEMBERSHIP}
        new.update((name, kind()) for name, kind in HOOKS.items() if name in state)
        return new


#: What makes a DistributedDataParallel a member of its group.
_MEMBERSHIP = ("reducer", "logger")


class Spread:
    """How a module whose parameters are DTensors is copied: with its hooks, which know the mesh, and with what they know."""

    __slots__ = ()

    def copy(self, state: dict[str, Any], memo: dict[int, Any], pending: Pending, gradient: bool = False) -> dict[str, Any]:
        new = state.copy()
        new.update((name, state[name].copy()) for name in HOOKS if name in state)
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


def _copies(registers: Sequence[dict[str, Any]], memo: dict[int, Any], pending: Pending) -> list[dict[str, Any]]:
    """Copies of registers of buffers, each buffer once; those that are more than a tensor are added to `pending`."""
    buffers = [*chain.from_iterable(map(dict.values, registers))]
    if not ({*map(type, buffers)} <= _TENSOR and not any(map(_requires_grad, buffers)) and not any(map(vars, buffers))):
        return [_copy(register, memo, pending) for register in registers]
    numbers = [*map(id, buffers)]
    memo.update(zip(numbers, _clones(buffers)))
    copies = map(memo.__getitem__, numbers)
    return [dict(zip(register, copies)) for register in registers]


def _clones(tensors: list[torch.Tensor]) -> Iterable[torch.Tensor]:
    if not tensors or _clone_all is None or _transformed() is not None:  # vmap has no rule for many at once
        return [tensor.clone() for tensor in tensors]
    return _clone_all(tensors)


def _copy(buffers: dict[str, Any], memo: dict[int, Any], pending: Pending) -> dict[str, Any]:
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


class Layouts:
    """The layouts of the submodules of a module, of which one look at all their states tells whether they fit."""

    def __init__(self, layouts: Sequence[Layout | Shell | Spread]):
        self._known = _Expected(layouts)

    def of(self, states: Sequence[dict[str, Any]], gradient: bool) -> Sequence[Layout | Shell | Spread]:
        """A layout that fits for each state, for a copy or for a gradient; those that do not fit any more are made anew."""
        known = self._known  # once, for another thread may set it
        if not known.fit(states, gradient):
            pairs = zip(known.layouts, states)
            fitting = [x if _Expected([x]).fit([state], gradient) else Layout(state) for x, state in pairs]
            known = self._known = _Expected(fitting)
        return known.layouts


class _Expected:
    """What the states have that some layouts fit, as lists for all of them."""

    def __init__(self, layouts: Sequence[Layout | Shell | Spread]):
        # Layers that are alike share one layout: what is looked at in every call for all of them is little then.
        alike: dict[Any, Any] = {}
        self.layouts = layouts = [alike.setdefault(x.key, x) if isinstance(x, Layout) else x for x in layouts]
        own = [(n, layout) for n, layout in enumerate(layouts) if isinstance(layout, Layout)]  # the others fit any state
        self._places = None if len(own) == len(layouts) else [n for n, _ in own]
        plain = [layout for _, layout in own]
        self._names, self._types = [x.names for x in plain], [*chain.from_iterable(x.types for x in plain)]
        self._typed, self._hooks, self._saved = [x.typed for x in plain], [x.hooks for x in plain], [x.saved for x in plain]
        self._tuples = [(n, x.tuples) for n, x in enumerate(plain) if x.tuples is not _nothing]
        self._rows = [(n, x.rows) for n, x in enumerate(plain) if x.rows is not _nothing]
        self._mappings = [(n, name) for n, x in enumerate(plain) for name in x.mappings]
        #: The versions of states with these names, types and tuples. What a container holds changes without them.
        self._versions: list[int] | None = None

    def fit(self, states: Sequence[dict[str, Any]], gradient: bool) -> bool:
        if self._places is not None:
            states = [states[n] for n in self._places]
        every = chain.from_iterable
        versions = versions_of(states)
        if versions is None or versions != self._versions:
            if [*map(list, states)] != self._names or [*map(type, every(map(call, self._typed, states)))] != self._types:
                return False
            if not _is_plain(every(every([row(states[n]) for n, row in self._tuples]))):
                return False
            self._versions = versions
        if any(every(map(call, self._saved if gradient else self._hooks, states))):
            return False
        if self._rows and not _is_plain(every(every([row(states[n]) for n, row in self._rows]))):
            return False
        return not self._mappings or all(_is_plain(states[n][name]) for n, name in self._mappings)


def fill(
    modules: Sequence[nn.Module],
    copies: Sequence[nn.Module],
    layouts: Layouts,
    names: Iterable[tuple[Sequence[str], Sequence[str]]],
    values: Iterator[Any],
    children: Iterator[nn.Module | None],
    replaced: Iterable[tuple[Any, Any]],
    gradient: bool,
) -> None:
    """Give each copy, made without `__init__`, the state of its module around other values.

    names: of each module's parameters and children, which take as many of `values` and `children`. replaced: pairs of
    parameter and value. gradient: the copies are one.
    """
    memo: dict[int, Any] = {}
    pending: Pending = []
    states = [*map(_state, modules)]
    buffers = iter(_copies([*filter(None, map(_buffers, states))], memo, pending))
    for state, copied, layout, (own, below) in zip(states, copies, layouts.of(states, gradient), names):
        new = layout.copy(state, memo, pending, gradient)
        parameters: dict[str, Any] = {}
        for name in own:
            parameters[name] = next(values)
        inner: dict[str, Any] = {}
        for name in below:
            inner[name] = next(children)
        new["_buffers"] = next(buffers) if new["_buffers"] else {}
        new["_parameters"], new["_modules"] = parameters, inner
        _set(copied, "__dict__", new)
    if pending:
        memo.update((id(old), new) for old, new in chain(zip(modules, copies), replaced))
        for _, _, value in pending:
            _keep_graph(value, memo, gradient)
        for new, name, value in pending:
            new[name] = copy.deepcopy(value, memo)


def _keep_graph(value: Any, memo: dict[int, Any], gradient: bool) -> None:
    """deepcopy refuses tensors inside a graph, which may be that of an outer derivative; a gradient holds none."""
    if isinstance(value, torch.Tensor) and id(value) not in memo:
        in_graph = value.grad_fn is not None or is_marked(value)
        if in_graph or is_wrapped(value):
            memo[id(value)] = value.detach().clone() if gradient and in_graph else value.clone()


def deep_copy(module: nn.Module, values: dict[Any, Any], gradient: bool = False) -> nn.Module:
    """A copy around other values by `copy.deepcopy`, which knows every class, in ten times the time."""
    memo: dict[int, Any] = {id(parameter): value for parameter, value in values.items()}
    for inner in module.modules():
        for attribute in vars(inner).values():
            _keep_graph(attribute, memo, gradient)
    for inner in reversed(list(module.modules())):  # from the inside out
        if not isinstance(layout := layout_of(inner), Layout):
            memo[id(inner)] = _around(inner, layout, memo)
    copied = copy.deepcopy(module, memo)
    if gradient:
        for inner in copied.modules():
            vars(inner).update((name, NO_HOOKS) for name in CALLED)
    return copied


def _around(module: nn.Module, layout: Shell | Spread, memo: dict[int, Any]) -> nn.Module:
    new = layout.copy(vars(module), memo, [])
    for register in _REGISTERS:
        new[register] = {name: copy.deepcopy(held, memo) for name, held in new[register].items()}
    copied: nn.Module = object.__new__(type(module))
    _set(copied, "__dict__", new)
    return copied
