"""Copies of modules with other values: submodules are copied shallowly, and mutable contents deeply.

`copy.deepcopy` takes ten times as long. It is still used for values other than numbers, names, functions and containers of
these, and for modules that define how they are copied.
"""

from __future__ import annotations

import copy
import sys
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import chain
from types import BuiltinFunctionType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from adinterface.core.contract.errors import ConversionError

from .distributed import exchanges, is_dtensor
from .pickling import is_marked
from .private import is_wrapped, make_subclass


class NoHooks(OrderedDict[Any, Any]):
    """The empty register of hooks that all modules of all gradients share; a copy of it is an ordinary register.

    A dozen registers for each submodule would be most of a gradient.
    """

    def __setitem__(self, key: Any, hook: Any) -> None:
        raise TypeError(
            "The modules of a gradient share their registers of hooks, which are empty. Register it on the model that is "
            "differentiated; or on copy.deepcopy(gradient), which has registers of its own."
        )

    def copy(self) -> OrderedDict[Any, Any]:  # type: ignore[override]
        return OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, ()


# What a copy shares with the original, as deepcopy does too.
_SHARED = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type, FunctionType, BuiltinFunctionType, torch.dtype, torch.device}
    | {torch.Size, NoHooks}
)
_CONTAINERS = (dict, OrderedDict, set, list)
_CONTENT = dict.fromkeys(("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"))
#: The registers of hooks that every module has, with their types; the names of those that a call reads, and of the others.
_HOOKS = {name: type(value) for name, value in vars(nn.Module()).items() if isinstance(value, dict) and name not in _CONTENT}
_OF_CALLS = [name for name in _HOOKS if "state_dict" not in name]
_OF_STATE = [name for name in _HOOKS if "state_dict" in name]
NO_HOOKS = NoHooks()
#: Names an attribute with the row of a Hessian that is no module.
ROW = "_row_of_a_hessian"
#: What a copy has in their places at first.
_BLANK = dict.fromkeys(_HOOKS, NO_HOOKS) | _CONTENT
#: What `nn.Module.__getstate__` leaves out: it would call the original.
_COMPILED = "_compiled_call_impl"
#: What makes a DistributedDataParallel a member of its group.
_MEMBERSHIP = ("reducer", "logger")


def copy_of(module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]) -> nn.Module:
    """A copy of the module in which the values take the places of the parameters."""
    return _Copier(module, parameters, values, False).copied()


def gradient_of(module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
    """A copy of the module that holds gradients, and has no hooks for a call."""
    entries = [*map(entry, gradients, parameters)]
    built = _Copier(module, parameters, entries, True).copied()
    if not all(issubclass(cls, torch.Tensor) for cls in {*map(type, entries)}):  # rows of a Hessian
        for inner in list(built.modules()):
            for name, row in [*inner._parameters.items()]:
                if row is not None and not isinstance(row, torch.Tensor):
                    del inner._parameters[name]
                    if isinstance(row, nn.Module):
                        inner._modules[name] = row
                    else:
                        vars(inner).update({name: row, ROW: name})
    return built


def entry(gradient: Any, parameter: torch.Tensor) -> Any:
    """What takes the place of the parameter: its gradient as a parameter, which requires none; zeros for None."""
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if not isinstance(gradient, torch.Tensor) or gradient.requires_grad:
        return gradient
    if type(gradient) is torch.Tensor:  # in two thirds of the time: 3 % of the gradient of 50 linears
        return make_subclass(nn.Parameter, gradient, False)
    return nn.Parameter(gradient, requires_grad=False)


# How a module is copied: attribute by attribute; by deepcopy, since its class defines that; or with all attributes but the
# registers shared, since processes exchange its gradients.
BY_ATTRIBUTES, BY_DEEPCOPY, BY_REGISTERS = "attributes", "deepcopy", "registers"
_methods: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def _method_of(module: nn.Module) -> str:
    if "torch.distributed.tensor" in sys.modules and any(map(is_dtensor, module._parameters.values())):
        return BY_REGISTERS
    cls = type(module)
    method = _methods.get(cls)
    if method is None:
        by_state = BY_ATTRIBUTES if _copies_by_state(cls) else BY_DEEPCOPY
        method = _methods[cls] = BY_REGISTERS if exchanges(cls) else by_state
    return method


def _copies_by_state(cls: Any) -> bool:
    """Whether deepcopy makes a copy of such a module from its `__dict__` alone."""
    if getattr(getattr(cls, "__deepcopy__", None), "__module__", "") == "torch.nn.utils.parametrize":
        cls = cls.__mro__[1]  # the deepcopy that comes with a parametrization copies the `__dict__`
    methods = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__new__")
    # torch fills in attributes that old pickles lack; after the first torch.compile, Dynamo wraps that.
    if not cls.__setstate__.__module__.startswith(("torch.nn.modules.", "torch._dynamo.")):
        return False
    if any(vars(base).get("__slots__") for base in cls.__mro__):
        return False
    return all(getattr(cls, name, None) is getattr(nn.Module, name, None) for name in methods)


def _is_shared(values: Iterable[Any]) -> bool:
    """Whether a copy shares all that a container holds."""
    return _SHARED.issuperset(map(type, chain(values, values.values()) if isinstance(values, dict) else values))


class _Copier:
    """One copy of a module."""

    def __init__(self, module: nn.Module, parameters: Sequence[Any], values: Sequence[Any], gradient: bool):
        self.module, self.parameters, self.values = module, parameters, values
        self.gradient = gradient
        #: The names of the hooks that the copy has, too.
        self.kept = _OF_STATE if gradient else [*_HOOKS]
        #: The copies of objects, by identity, as in `copy.deepcopy`.
        self.memo: dict[int, Any] = dict(zip(map(id, parameters), values))
        self.memo[id(None)] = None
        #: The places of values that deepcopy must still copy: the dict, the name in it, the value.
        self.pending: list[tuple[dict[str, Any], str, Any]] = []
        #: The parameters of each submodule.
        self.met: list[Iterable[Any]] = [[None]]
        #: Whether the class of some submodule defines how it is copied.
        self.by_deepcopy = False

    def copied(self) -> nn.Module:
        result: dict[str, Any] = {}
        self.place(result, "", self.module)
        if self.pending:
            for _, _, value in self.pending:
                self.keep_graph(value)
            for state, name, value in self.pending:
                state[name] = copy.deepcopy(value, self.memo)
        copied: nn.Module = result[""]
        if self.by_deepcopy:
            self.check(copied)
        elif len({*map(id, chain.from_iterable(self.met))}) != len(self.parameters) + 1:
            raise _changed(self.module)
        return copied

    def place(self, children: dict[str, Any], name: str, module: Any) -> None:
        """Put the copy of a submodule under its name."""
        known = self.memo.get(id(module))
        if known is not None or module is None:
            children[name] = known
            return
        method = _method_of(module)
        if method is not BY_DEEPCOPY:
            children[name] = self.copy(module, method is BY_REGISTERS)
            return
        self.by_deepcopy = True
        self.pending.append((children, name, module))
        for inner in module.modules():
            for value in vars(inner).values():
                self.keep_graph(value)
            if _method_of(inner) is BY_REGISTERS:
                self.copy(inner, True)

    def copy(self, module: nn.Module, shares: bool) -> nn.Module:
        """A copy with its own registers. shares: whether all else is shared with the module, for what cannot be copied."""
        memo, before = self.memo, module.__dict__
        new: nn.Module = object.__new__(type(module))
        memo[id(module)] = new
        state = before.copy()
        object.__setattr__(new, "__dict__", state)
        state.update(_BLANK)
        if shares:
            self.copy_hooks_of_shared(module, state)
        else:
            if not _SHARED.issuperset(map(type, state.values())):
                self.copy_attributes(state)
            if not self.gradient:
                state.update([(name, kind()) for name, kind in _HOOKS.items()])
            if any(map(before.get, self.kept)):
                self.pending += [(state, name, before[name]) for name in self.kept if before.get(name)]
            state.pop(_COMPILED, None)
        parameters, buffers, children = before["_parameters"], before["_buffers"], before["_modules"]
        state["_parameters"] = self.values_of(parameters) if parameters else {}
        state["_buffers"], state["_modules"] = copies, inner = dict(buffers), dict(children)
        state["_non_persistent_buffers_set"] = before["_non_persistent_buffers_set"].copy()
        for name, buffer in buffers.items():
            self.place_buffer(copies, name, buffer)
        for name, child in children.items():
            self.place(inner, name, child)
        return new

    def values_of(self, parameters: dict[str, Any]) -> dict[str, Any]:
        self.met.append(parameters.values())
        try:
            return {name: self.memo[id(parameter)] for name, parameter in parameters.items()}
        except KeyError:
            raise _changed(self.module) from None

    def copy_hooks_of_shared(self, module: nn.Module, state: dict[str, Any]) -> None:
        before = module.__dict__
        kept = () if exchanges(type(module)) else self.kept
        state.update([(name, before[name].copy() if name in kept else kind()) for name, kind in _HOOKS.items()])
        for name in _MEMBERSHIP:
            state.pop(name, None)

    def copy_attributes(self, state: dict[str, Any]) -> None:
        memo = self.memo
        for name, value in state.items():
            kind = type(value)
            if kind in _SHARED or (kind is tuple and _is_shared(value)):
                continue
            if kind in _CONTAINERS and _is_shared(value):
                if id(value) not in memo:  # a list that several modules share is one in their copies
                    memo[id(value)] = kind(value)
                state[name] = memo[id(value)]
            else:
                self.pending.append((state, name, value))

    def place_buffer(self, buffers: dict[str, Any], name: str, buffer: Any) -> None:
        memo = self.memo
        if id(buffer) in memo:
            buffers[name] = memo[id(buffer)]
        elif type(buffer) is torch.Tensor and not buffer.requires_grad and not buffer.__dict__:
            buffers[name] = memo[id(buffer)] = buffer.clone()
        elif buffer is not None:
            self.pending.append((buffers, name, buffer))

    def keep_graph(self, value: Any) -> None:
        """deepcopy refuses tensors inside a graph, which may be that of an outer derivative; a gradient holds none."""
        if isinstance(value, torch.Tensor) and id(value) not in self.memo:
            in_graph = value.grad_fn is not None or is_marked(value)
            if in_graph or is_wrapped(value):
                self.memo[id(value)] = value.detach().clone() if self.gradient and in_graph else value.clone()

    def check(self, copied: nn.Module) -> None:
        """Check that a copy made by the class itself has the values in it, even if it made other parameters.

        A copy that is called must have them wherever its code reads them, which cannot be checked.
        """
        values = dict(zip(map(id, self.parameters), self.values))
        named = dict(self.module.named_parameters())
        if {*map(id, named.values())} != values.keys():
            raise _changed(self.module)
        result = dict(copied.named_parameters())
        if any(result.get(name) is not values[id(parameter)] for name, parameter in named.items()):
            if not self.gradient or [*result] != [*named]:
                raise _copied_around_others(self.module)
            placed = {id(result[name]): values[id(parameter)] for name, parameter in named.items()}
            for inner in copied.modules():
                own: dict[str, Any] = inner._parameters
                own.update({name: placed[id(parameter)] for name, parameter in own.items() if parameter is not None})
        if self.gradient:
            for inner in copied.modules():
                vars(inner).update(dict.fromkeys(_OF_CALLS, NO_HOOKS))


def _changed(module: nn.Module) -> ConversionError:
    return ConversionError(
        f"{type(module).__name__} has other parameters than before: f added, removed or replaced some, so their "
        f"gradients have no place. Let the module have all its parameters before it is differentiated."
    )


def _copied_around_others(module: nn.Module) -> ConversionError:
    return ConversionError(
        f"{type(module).__name__} copies itself in a way of its own, around other tensors than it is given, so that "
        f"it cannot be called around other values, as forward mode and differences do, or be rebuilt around gradients. "
        f"Use reverse mode, or differentiate a function of its parameters: gradient(lambda p, x: ..., backend, "
        f"dict(model.named_parameters()), Constant(x)), with torch.func.functional_call(model, p, x) in it."
    )
