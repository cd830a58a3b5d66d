"""Copies of modules with other values: the tree of modules is copied, and what the modules hold is shared.

A gradient is such a copy. A private copy is called in place of the module, so what leads to a parameter must lead to that of
the copy. It is followed where it can be, and is an error elsewhere.
"""

from __future__ import annotations

import functools
import gc
import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any
from weakref import ProxyTypes, ref

import torch
from torch import nn

from adinterface.core.contract.errors import ConversionError

from .distributed import exchanges
from .pickling import is_marked
from .private import is_wrapped, make_subclass, tree_leaves
from .unrecorded import nodes_behind


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


#: What leads to no parameter.
_PLAIN = frozenset({int, float, bool, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size, NoHooks})
_CONTAINERS = frozenset({dict, OrderedDict, defaultdict, set, list, deque})
#: What is not looked through for a parameter as other objects are. Of the last ones nothing is.
_SPECIAL = FunctionType, torch.Tensor, ref, *ProxyTypes, type, ModuleType, CodeType, FrameType, TracebackType, torch.fx.Graph
#: How many entries the containers in one attribute have, from which on a gradient shares them. A private copy has its own
#: container, but shares the entries if they lead to no parameter.
_LONG = 1_000
_CONTENT = dict.fromkeys(("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"))
#: The registers of hooks that every module has, with their types.
_HOOKS = {name: type(value) for name, value in vars(nn.Module()).items() if isinstance(value, dict) and name not in _CONTENT}
NO_HOOKS = NoHooks()
#: Names an attribute with the row of a Hessian that is no module.
ROW = "_row_of_a_hessian"
#: What a copy has in their places at first.
_BLANK = dict.fromkeys(_HOOKS, NO_HOOKS) | _CONTENT
#: What no copy has: it would call the original.
_COMPILED = "_compiled_call_impl"


def copy_of(module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]) -> nn.Module:
    """A copy of the module in which the values take the places of the parameters."""
    return _Private(module, parameters, values).copied()


def gradient_of(module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
    """A copy of the module that holds gradients, and has no hooks for a call."""
    entries = [*map(entry, gradients, parameters)]
    built = _Copier(module, parameters, entries).copied()
    if not all(issubclass(cls, torch.Tensor) for cls in {*map(type, entries)}):  # rows of a Hessian
        for inner in list(built.modules()):
            own: dict[str, Any] = inner._parameters
            for name, row in [*own.items()]:
                if row is not None and not isinstance(row, torch.Tensor):
                    del own[name]
                    if isinstance(row, nn.Module):
                        inner._modules[name] = row
                    else:
                        vars(inner).update({name: row, ROW: name})
    return built


def entry(gradient: Any, parameter: torch.Tensor) -> Any:
    """What takes the place of the parameter: its gradient as a parameter, which requires none; zeros for None."""
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if not isinstance(gradient, torch.Tensor) or gradient.requires_grad or is_wrapped(gradient):
        return gradient  # a parameter would lose its graph, or the tangent in it
    if type(gradient) is torch.Tensor:  # in two thirds of the time: 3 % of the gradient of 50 linears
        return make_subclass(nn.Parameter, gradient, False)
    return nn.Parameter(gradient, requires_grad=False)


class _Copier:
    """One gradient: attributes are shared, but for parameters and modules, and for containers that hold some."""

    #: The types of what is never replaced.
    shared = _PLAIN | {type, FunctionType, BuiltinFunctionType}
    #: Whether the copy is called.
    private = False
    #: The registers of hooks that the copy has, too.
    kept: Collection[str] = [name for name in _HOOKS if "state_dict" in name]

    def __init__(self, module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]):
        self.module, self.parameters = module, parameters
        #: The copies of objects, by identity, as in `copy.deepcopy`.
        self.memo: dict[int, Any] = dict(zip(map(id, parameters), values))
        self.memo[id(None)] = None
        #: Attributes to look at once all modules have copies: their module, the `__dict__` of the copy, the name.
        self.pending: list[tuple[nn.Module, dict[str, Any], str]] = []
        #: The parameters of each submodule.
        self.met: list[Iterable[Any]] = [[None]]
        #: Copies of modules whose class says how they are pickled; objects that lead to no parameter, by identity.
        self.restored: list[Any] = []
        self.apart: dict[int, Any] = {}

    def copied(self) -> nn.Module:
        copied = self.copy(self.module)
        if len({*map(id, chain.from_iterable(self.met))}) != len(self.parameters) + 1:
            raise _changed(self.module)
        for owner, state, name in self.pending:
            self.place, self.left = f"{type(owner).__name__}.{name}", _LONG
            state[name] = self.of(state[name])
        for new in self.restored:
            new.__setstate__(new.__dict__.copy())
        return copied

    def copy(self, module: nn.Module) -> nn.Module:
        """A copy with its own registers, which is made once."""
        memo = self.memo
        if id(module) in memo:
            return memo[id(module)]  # type: ignore[no-any-return]
        before = module.__dict__
        kind: Any = type(module)
        new: nn.Module = object.__new__(kind)
        memo[id(module)] = new
        state = before.copy()
        if self.private and (kind.__getstate__, kind.__setstate__) != (nn.Module.__getstate__, nn.Module.__setstate__):
            state = self.restored_state(kind, module, new)
        object.__setattr__(new, "__dict__", state)
        state.update(_BLANK)
        state.pop(_COMPILED, None)
        if "reducer" in state and exchanges(kind):
            del state["reducer"], state["logger"]  # which make a DistributedDataParallel a member of its group
        if "_keys" in state and kind is nn.ParameterDict:
            state["_keys"] = state["_keys"].copy()  # a register, too
        if not self.shared.issuperset(map(type, state.values())):
            others = [(name, value) for name, value in state.items() if type(value) not in self.shared]
            self.pending += [(module, state, name) for name, value in others if not self.is_shared(value)]
        if self.private:
            state.update([(name, register()) for name, register in _HOOKS.items()])
        if any(map(before.get, self.kept)) and not exchanges(kind):
            state.update({name: before[name].copy() for name in self.kept if before.get(name)})
            self.pending += [(module, state, name) for name in self.kept if before.get(name)]
        parameters, buffers, children = before["_parameters"], before["_buffers"], before["_modules"]
        for buffer in buffers.values():
            if id(buffer) not in memo:
                memo[id(buffer)] = self.buffer(buffer)
        state["_parameters"] = self.values_of(parameters) if parameters else {}
        state["_buffers"] = {name: memo[id(buffer)] for name, buffer in buffers.items()} if buffers else {}
        state["_modules"] = {name: self.copy(child) for name, child in children.items()} if children else {}
        state["_non_persistent_buffers_set"] = before["_non_persistent_buffers_set"].copy()
        return new

    def restored_state(self, kind: Any, module: Any, new: nn.Module) -> dict[str, Any]:
        """The attributes, as far as the class pickles them: it leaves out what refers to the module, and makes it anew."""
        by_torch = [method.__module__.startswith("torch.") for method in (kind.__getstate__, kind.__setstate__)]
        if not all(by_torch):
            self.restored.append(new)
        return dict(module.__dict__ if by_torch[0] else module.__getstate__())

    def is_shared(self, value: Any) -> bool:
        return type(value) in self.shared or (type(value) is tuple and self.shared.issuperset(map(type, value)))

    def values_of(self, parameters: dict[str, Any]) -> dict[str, Any]:
        self.met.append(parameters.values())
        try:
            return {name: self.memo[id(parameter)] for name, parameter in parameters.items()}
        except KeyError:
            raise _changed(self.module) from None

    def buffer(self, buffer: Any) -> Any:
        """A copy of a buffer. A private one stays in the graph of an outer derivative; a gradient is in none."""
        if type(buffer) is torch.Tensor and not buffer.requires_grad and not buffer.__dict__:
            return buffer.clone()
        new = buffer.clone() if self.private else buffer.detach().clone()
        if isinstance(buffer, nn.Parameter):
            new = nn.Parameter(new.detach(), requires_grad=buffer.requires_grad)
        if not is_marked(buffer):
            vars(new).update(buffer.__dict__)
        return new

    def of(self, value: Any) -> Any:
        """What the copy has in place of a value in the module."""
        known = self.memo.get(id(value))
        if known is not None:
            return known
        kind = type(value)
        if kind is int and self.private and value in self.memo:  # a register of what belongs to which module
            return id(self.memo[value])
        if self.is_shared(value):
            return value
        named = issubclass(kind, tuple) and hasattr(kind, "_make")
        if not (kind in _CONTAINERS or kind is tuple or named):
            return self.other(value)
        self.left -= len(value)
        long = self.left < 0 and not (self.private and self.leads(value))
        if long and not (self.private and kind in _CONTAINERS):
            return value
        if kind not in _CONTAINERS:
            found = [*map(self.of, value)]
            return value if all(map(operator.is_, found, value)) else kind._make(found) if named else tuple(found)
        new = self.memo[id(value)] = value.copy()
        if long:
            return new
        keyed = isinstance(new, dict)
        entries = [*new, *new.values()] if keyed else [*new]
        found = [*map(self.of, entries)]
        if not all(map(operator.is_, found, entries)):
            new.clear()
            fill = new.extend if hasattr(new, "extend") else new.update
            fill(zip(found[: len(found) // 2], found[len(found) // 2 :]) if keyed else found)
        elif not self.private:
            new = self.memo[id(value)] = value
        return new

    def leads(self, value: Any) -> bool:
        """Whether code may come from a value to a parameter."""
        seen: list[int] = []
        level = {id(value): value}
        while level:
            for known in level.keys() & self.apart.keys():
                del level[known]
            if not level.keys().isdisjoint(map(id, self.parameters)):
                for known in seen:
                    del self.apart[known]
                return True
            self.apart |= level
            seen += level
            found = [*filter(gc.is_tracked, _referents([*level.values()]))]
            level = dict(zip(map(id, found), found))
        return False

    def other(self, value: Any) -> Any:
        return value


class _Private(_Copier):
    """One copy that is called: its containers are its own, and what leads to a parameter leads to its own value."""

    shared = _PLAIN
    private = True
    kept = _HOOKS

    def buffer(self, buffer: Any) -> Any:
        if buffer.grad_fn is not None and self.leads(buffer):
            self.place = f"A buffer of {type(self.module).__name__}"
            raise self.refusal(buffer)
        return super().buffer(buffer)

    def other(self, value: Any) -> Any:
        kind = type(value)
        if issubclass(kind, torch.Tensor):
            return self.view(value)
        if kind is MethodType:
            function, owner = self.of(value.__func__), self.of(value.__self__)
            return value if owner is value.__self__ else MethodType(function, owner)
        if not self.leads(value):
            return value
        if kind is ref:
            return ref(self.of(value()), value.__callback__)
        if kind is functools.partial:
            new: Any = functools.partial(self.of(value.func), *map(self.of, value.args), **self.of(value.keywords))
        elif hasattr(kind, "__del__") or any(vars(cls).get("__slots__") for cls in kind.__mro__):
            raise self.refusal(value)
        else:
            try:
                new = object.__new__(kind)
            except TypeError:  # not an object of a plain class
                raise self.refusal(value) from None
        self.memo[id(value)] = new
        new.__dict__.update({name: self.of(held) for name, held in value.__dict__.items()})
        return new

    def view(self, x: torch.Tensor) -> torch.Tensor:
        """The same view of the copy, unless it is one that has no gradient in reverse mode either."""
        base: Any = x._base
        new = None if base is None else self.memo.get(id(base))
        if new is None or (base.requires_grad and not x.requires_grad):
            if x.grad_fn is None or not self.leads(x):
                return x
            old = _Old()
            old.refusal = self.refusal(x)
            return old
        if (new.shape, new.stride(), new.dtype) != (base.shape, base.stride(), x.dtype):
            raise self.refusal(x)
        offset = x.storage_offset() - base.storage_offset() + new.storage_offset()
        made: torch.Tensor = new.as_strided(x.shape, x.stride(), offset)
        self.memo[id(x)] = made
        return made

    def refusal(self, value: Any) -> ConversionError:
        return ConversionError(
            f"{self.place} is or holds a {type(value).__name__} that refers to a parameter of the module. In a copy of the "
            f"module with other values it would refer to the old one. Write a method of the module in its place; or use "
            f"reverse mode, which needs no copy unless another argument, a Constant or a keyword may share the parameters."
        )


class _Old(torch.Tensor):
    """In a private copy, in place of what was computed from a parameter: the module may replace it, but not use it."""

    refusal: ConversionError

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise next(x for x in tree_leaves((args, kwargs)) if isinstance(x, _Old)).refusal

    def refused(self, *others: Any) -> Any:
        raise self.refusal


for _name in ("add", "sub", "mul", "truediv", "pow", "matmul"):  # of which torch turns a TypeError into one of its own
    setattr(_Old, f"__{_name}__", _Old.refused)
    setattr(_Old, f"__r{_name}__", _Old.refused)


def _referents(values: list[Any]) -> list[Any]:
    """What objects refer to, as the garbage collector knows it; of a function, all but its globals.

    Of a tensor, what it was computed from.
    """
    special = {kind for kind in {*map(type, values)} if issubclass(kind, _SPECIAL)}
    found = gc.get_referents(*[value for value in values if type(value) not in special])
    computed: list[torch.Tensor] = []
    for value in [value for value in values if type(value) in special]:
        kind = type(value)
        if kind is FunctionType:
            found += value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__
        elif issubclass(kind, torch.Tensor):
            found.append(value._base)
            computed += [value] if value.grad_fn is not None else []
        elif issubclass(kind, ref):  # the object itself, not what it holds: schedulers refer to optimizers so
            found += [target for target in [value()] if isinstance(target, (nn.Module, torch.Tensor, MethodType))]
        elif kind in ProxyTypes:
            with suppress(ReferenceError):  # it is dead
                found.append(value.__init__.__self__)
    return found + [node.variable for node in nodes_behind(computed) if hasattr(node, "variable")]


def _changed(module: nn.Module) -> ConversionError:
    return ConversionError(
        f"{type(module).__name__} has other parameters than before: f added, removed or replaced some, so their "
        f"gradients have no place. Let the module have all its parameters before it is differentiated."
    )
