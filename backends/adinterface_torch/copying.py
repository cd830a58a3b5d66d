"""Copies of modules around other values: each submodule shallowly, and deeply what a copy must not share.

`copy.deepcopy` would do, in ten times the time. It still copies what is neither a number, a name, a function nor a plain
container of such, and modules whose classes copy themselves in a way of their own.
"""

from __future__ import annotations

import copy
import sys
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from types import BuiltinFunctionType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from adinterface.core.contract.errors import ConversionError

from .distributed import exchanges, is_dtensor
from .hooks import CALLED, HOOKS, NO_HOOKS, SHARED
from .pickling import is_marked
from .private import as_parameter, is_wrapped

# What a copy shares with the original, as deepcopy does too.
_SHARED = frozenset(
    {int, float, bool, complex, str, bytes, type(None), type, FunctionType, BuiltinFunctionType, torch.dtype, torch.device}
    | {torch.Size}
)
_CONTAINERS = (dict, OrderedDict, set, list)
#: The attributes that every module has.
_OWN = frozenset(vars(nn.Module()))
#: The registers of hooks that a gradient has, too.
_KEPT = [name for name in HOOKS if name not in CALLED]
#: What `nn.Module.__getstate__` leaves out: it would call the original.
_COMPILED = "_compiled_call_impl"
#: What makes a DistributedDataParallel a member of its group.
_MEMBERSHIP = ("reducer", "logger")


def copy_of(module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]) -> nn.Module:
    """A copy of the module in which the values take the places of the parameters."""
    return _Copier(module, parameters, values, False).copied()


def gradient_of(module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
    """A copy of the module that holds gradients, and has no hooks for a call."""
    entries = [_entry(gradient, parameter) for gradient, parameter in zip(gradients, parameters)]
    built = _Copier(module, parameters, entries, True).copied()
    if any(isinstance(gradient, nn.Module) for gradient in gradients):
        for inner in list(built.modules()):
            own: dict[str, Any] = inner._parameters
            for name, row in [*own.items()]:
                if isinstance(row, nn.Module):
                    del own[name]
                    inner._modules[name] = row
    return built


def _entry(gradient: Any, parameter: torch.Tensor) -> Any:
    if type(gradient) is torch.Tensor and not gradient.requires_grad:
        return as_parameter(gradient)
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if isinstance(gradient, nn.Module) or gradient.requires_grad:
        return gradient
    return nn.Parameter(gradient, requires_grad=False)


# How a module is copied: attribute by attribute, by deepcopy since its class copies itself, or as one that processes share.
PLAIN, OWN, SHELL = "plain", "own", "shell"
_ways: WeakKeyDictionary[type, str] = WeakKeyDictionary()


def _way(cls: type) -> str:
    way = _ways.get(cls)
    if way is None:
        way = _ways[cls] = SHELL if exchanges(cls) else PLAIN if _copies_by_state(cls) else OWN
    return way


def _copies_by_state(cls: Any) -> bool:
    """Whether deepcopy makes a copy of such a module from its `__dict__` alone."""
    if getattr(getattr(cls, "__deepcopy__", None), "__module__", "") == "torch.nn.utils.parametrize":
        cls = cls.__mro__[1]  # the deepcopy that comes with a parametrization copies the `__dict__`
    own = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__new__")
    # torch's own fill in what old pickles lack; from the first torch.compile on, Dynamo's stands in front of them.
    if not cls.__setstate__.__module__.startswith(("torch.nn.modules.", "torch._dynamo.")):
        return False
    if any(vars(base).get("__slots__") for base in cls.__mro__):
        return False
    return all(getattr(cls, name, None) is getattr(nn.Module, name, None) for name in own)


def _is_plain(value: Any) -> bool:
    """Whether all that a container holds is shared by a copy of it."""
    return _SHARED.issuperset(map(type, chain(value, value.values()) if isinstance(value, dict) else value))


class _Copier:
    """One copy of a module."""

    def __init__(self, module: nn.Module, parameters: Sequence[Any], values: Sequence[Any], gradient: bool):
        self.module, self.parameters, self.values, self.gradient = module, parameters, values, gradient
        #: Of objects by identity, what stands for them in the copy, as `copy.deepcopy` keeps it.
        self.memo: dict[int, Any] = dict(zip(map(id, parameters), values)) | {id(None): None}
        #: Where a value still stands that deepcopy must copy: the dict, the name in it, the value.
        self.pending: list[tuple[dict[str, Any], str, Any]] = []
        #: The registers of parameters that were met.
        self.registers: list[Mapping[str, Any]] = []
        #: Whether some submodule copies itself.
        self.own_way = False
        self.ways: dict[type, str] = {}
        self.dtensors = "torch.distributed.tensor" in sys.modules

    def copied(self) -> nn.Module:
        result = {"": self.module}
        self.place(result, "", self.module)
        for _, _, value in self.pending:
            self.keep_graph(value)
        for state, name, value in self.pending:
            state[name] = copy.deepcopy(value, self.memo)
        copied: nn.Module = result[""]
        if self.own_way:
            self.check(copied)
        else:
            places = chain.from_iterable([register.values() for register in self.registers])
            if len({*map(id, places)} - {id(None)}) != len(self.parameters):
                raise _changed(self.module)
        return copied

    def place(self, children: dict[str, Any], name: str, module: Any) -> None:
        """Put the copy of a submodule under its name."""
        known = self.memo.get(id(module))
        if known is not None or module is None:
            children[name] = known
            return
        way = self.way(module)
        if way is PLAIN:
            children[name] = self.plain(module)
        elif way is SHELL:
            children[name] = self.shell(module)
        else:
            self.own_way = True
            self.pending.append((children, name, module))
            for inner in module.modules():
                for value in vars(inner).values():
                    self.keep_graph(value)
                if self.way(inner) is SHELL:
                    self.shell(inner)

    def way(self, module: nn.Module) -> str:
        if self.dtensors and any(map(is_dtensor, module._parameters.values())):
            return SHELL
        cls = type(module)
        way = self.ways.get(cls)
        if way is None:
            way = self.ways[cls] = _way(cls)
        return way

    def plain(self, module: nn.Module) -> nn.Module:
        before = module.__dict__
        new, state = self.begun(module)
        if self.gradient:
            state.update(SHARED)
        else:
            state.update([(name, kind()) for name, kind in HOOKS.items()])
        kept = _KEPT if self.gradient else HOOKS
        if any(map(before.get, kept)):
            self.pending += [(state, name, before[name]) for name in kept if before.get(name)]
        for name, value in before.items():
            if name in _OWN or type(value) in _SHARED:
                continue
            kind = type(value)
            if kind is tuple and _is_plain(value):
                continue
            if kind in _CONTAINERS and _is_plain(value):
                if id(value) not in self.memo:  # a list that several modules share is one in their copies
                    self.memo[id(value)] = kind(value)
                state[name] = self.memo[id(value)]
            else:
                self.pending.append((state, name, value))
        state.pop(_COMPILED, None)
        return new

    def shell(self, module: nn.Module) -> nn.Module:
        """A copy that shares all but the registers: what else it holds, such as the group or the mesh, cannot be copied."""
        new, state = self.begun(module)
        empty: Collection[str] = HOOKS if exchanges(type(module)) else CALLED if self.gradient else ()
        for name, kind in HOOKS.items():
            if name in state:
                state[name] = kind() if name in empty else state[name].copy()
        for name in _MEMBERSHIP:
            state.pop(name, None)
        return new

    def begun(self, module: nn.Module) -> tuple[nn.Module, dict[str, Any]]:
        """An object of the class with all attributes of the module, and with its own parameters, buffers and children."""
        memo = self.memo
        new: nn.Module = object.__new__(type(module))
        memo[id(module)] = new
        state = module.__dict__.copy()
        object.__setattr__(new, "__dict__", state)
        own, buffers, children = module._parameters, module._buffers, module._modules
        try:
            state["_parameters"] = {name: memo[id(parameter)] for name, parameter in own.items()}
        except KeyError:
            raise _changed(self.module) from None
        self.registers.append(own)
        state["_buffers"], state["_modules"] = copies, inner = dict(buffers), dict(children)
        for name, buffer in buffers.items():
            self.place_buffer(copies, name, buffer)
        for name, child in children.items():
            self.place(inner, name, child)
        return new, state

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
        """See that a copy by the way of a class itself has the values in it, even if that has made other parameters.

        A copy that is called must have them wherever its code looks for them, which nobody can tell then.
        """
        values = dict(zip(map(id, self.parameters), self.values))
        named = dict(self.module.named_parameters())
        if {*map(id, named.values())} != values.keys():
            raise _changed(self.module)
        found = dict(copied.named_parameters())
        if any(found.get(name) is not values[id(parameter)] for name, parameter in named.items()):
            if not self.gradient or [*found] != [*named]:
                raise _copied_around_others(self.module)
            placed = {id(found[name]): values[id(parameter)] for name, parameter in named.items()}
            for inner in copied.modules():
                own: dict[str, Any] = inner._parameters
                own.update({name: placed[id(parameter)] for name, parameter in own.items() if parameter is not None})
        if self.gradient:
            for inner in copied.modules():
                vars(inner).update((name, NO_HOOKS) for name in CALLED)


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
