"""Copies of modules with other values: the tree of modules is copied, and what the modules hold is shared.

A gradient is such a copy. A private copy is called in place of the module, so what leads to a parameter must lead to that of
the copy. It is followed where it can be, and is an error elsewhere.
"""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import chain
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any
from weakref import ref

import torch
from torch import nn

from adinterface import ConversionError

from .distributed import exchanges
from .pickling import is_marked
from .private import is_wrapped, make_subclass, temporarily_clear_interpreter_stack, tree_leaves
from .reaching import depends, reached


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


#: Types of objects that refer to no parameter.
_PLAIN = frozenset({int, float, bool, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size, NoHooks})
#: Types of objects that a gradient shares without a look into them.
_SHARED = _PLAIN | {type, FunctionType, BuiltinFunctionType}
_CONTAINERS = frozenset({dict, OrderedDict, defaultdict, set, list, deque})
#: If the containers in one attribute have more entries in all, a gradient shares them. A private copy has its own container,
#: but shares the entries if they lead to no parameter.
_LONG = 1_000
_CONTENT = dict.fromkeys(("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"))
#: The registers of hooks that every module has, with their types.
_HOOKS = {name: type(value) for name, value in vars(nn.Module()).items() if isinstance(value, dict) and name not in _CONTENT}
NO_HOOKS = NoHooks()
#: Names an attribute with the row of a Hessian that is no module.
ROW = "_row_of_a_hessian"
#: The hooks and the content that a copy starts with.
_BLANK = dict.fromkeys(_HOOKS, NO_HOOKS) | _CONTENT
#: The attribute that no copy has: it would call the original.
_COMPILED = "_compiled_call_impl"


def copy_of(module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]) -> nn.Module:
    """A copy of the module in which the values take the places of the parameters."""
    return _Copier(module, parameters, values, True).copied()


def gradient_of(module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
    """A copy of the module that holds gradients, and has no hooks."""
    entries = [*map(entry, gradients, parameters)]
    built = _Copier(module, parameters, entries, False).copied()
    if not all(issubclass(cls, torch.Tensor) for cls in {*map(type, entries)}):  # rows of a Hessian
        for inner in list(built.modules()):
            own: dict[str, Any] = inner._parameters
            for name in [name for name, row in own.items() if row is not None and not isinstance(row, torch.Tensor)]:
                if isinstance(own[name], nn.Module):
                    inner._modules[name] = own.pop(name)
                else:
                    vars(inner).update({name: own.pop(name), ROW: name})
    return built


def entry(gradient: Any, parameter: torch.Tensor) -> Any:
    """The gradient of a parameter as a parameter that requires no gradient; zeros for None."""
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if not isinstance(gradient, torch.Tensor) or gradient.requires_grad or is_wrapped(gradient):
        return gradient  # a parameter would lose its graph, or the tangent in it
    if type(gradient) is torch.Tensor:  # in two thirds of the time: 3 % of the gradient of 50 linears
        return make_subclass(nn.Parameter, gradient, False)
    return nn.Parameter(gradient, requires_grad=False)


class _Copier:
    """One copy: attributes are shared, but for parameters and modules, and for containers that hold some.

    private: whether the copy will be called. Then its containers are its own, and what led to a parameter leads to its value.
    """

    def __init__(self, module: nn.Module, parameters: Sequence[Any], values: Sequence[Any], private: bool):
        self.module, self.parameters, self.private = module, parameters, private
        #: The types of what is never replaced.
        self.shared = _PLAIN if private else _SHARED
        #: The copies of objects, by identity, as in `copy.deepcopy`.
        self.memo: dict[int, Any] = dict(zip(map(id, parameters), values))
        self.memo[id(None)] = None
        #: Attributes to look at once all modules have copies: their module, the `__dict__` of the copy, the name.
        self.pending: list[tuple[nn.Module, dict[str, Any], str]] = []
        #: The parameters of each submodule.
        self.met: list[Iterable[Any]] = []
        #: Objects that lead to no parameter, by identity.
        self.apart: dict[int, Any] = {}

    def copied(self) -> nn.Module:
        copied = self.copy(self.module)
        if {*map(id, chain.from_iterable(self.met)), id(None)} != {*map(id, self.parameters), id(None)}:
            raise ConversionError(
                f"{type(self.module).__name__} has other parameters than before: f added, removed or replaced some, so their "
                f"gradients have no place. Let the module have all its parameters before it is differentiated."
            )
        for owner, state, name in self.pending:
            self.place, self.left = f"{type(owner).__name__}.{name}", _LONG
            state[name] = self.of(state[name])
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
            hooks = {} if exchanges(kind) else {name: before[name].copy() for name in _HOOKS if before.get(name)}
            state.update([(name, hooks.get(name) or register()) for name, register in _HOOKS.items()])
            self.pending += [(module, state, name) for name in hooks]
        parameters, buffers, children = before["_parameters"], before["_buffers"], before["_modules"]
        for buffer in buffers.values():
            if id(buffer) not in memo:
                memo[id(buffer)] = self.buffer(buffer)
        self.met.append(parameters.values())
        state["_parameters"] = {name: memo.get(id(p)) for name, p in parameters.items()} if parameters else {}
        state["_buffers"] = {name: memo[id(buffer)] for name, buffer in buffers.items()} if buffers else {}
        state["_modules"] = {name: self.copy(child) for name, child in children.items()} if children else {}
        state["_non_persistent_buffers_set"] = before["_non_persistent_buffers_set"].copy()
        return new

    def is_shared(self, value: Any) -> bool:
        return type(value) in self.shared or (type(value) is tuple and self.shared.issuperset(map(type, value)))

    def buffer(self, buffer: Any) -> Any:
        """A copy of a buffer. A private one stays in the graph of an outer derivative; a gradient is in none."""
        if type(buffer) is torch.Tensor and not buffer.requires_grad and not buffer.__dict__:
            return buffer.clone()
        if self.private and buffer.grad_fn is not None and self.leads(buffer):
            self.place = f"A buffer of {type(self.module).__name__}"
            raise self.refusal(buffer)
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
        if not (kind in _CONTAINERS or kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_make"))):
            return self.other(value) if self.private else value
        self.left -= len(value)
        long = self.left < 0 and not (self.private and self.leads(value))
        if long and not (self.private and kind in _CONTAINERS):
            return value
        if kind not in _CONTAINERS:
            found = [*map(self.of, value)]
            return value if all(map(operator.is_, found, value)) else tuple.__new__(kind, found)
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
        """Whether a parameter can be reached from a value."""
        seen: dict[int, Any] = {}
        with temporarily_clear_interpreter_stack():  # inside a level the graph outside it cannot be seen
            if depends(reached([value], seen, self.apart) or (), self.parameters):
                return True
        self.apart |= seen
        return False

    def other(self, value: Any) -> Any:
        """What a private copy has in place of an object that is no container."""
        kind = type(value)
        if kind is MethodType:
            function, owner = self.of(value.__func__), self.of(value.__self__)
            return value if owner is value.__self__ else MethodType(function, owner)
        is_tensor = issubclass(kind, torch.Tensor)
        if (is_tensor and value.grad_fn is None) or not self.leads(value):
            return value
        if is_tensor:
            return ComputedFromParameter(self.refusal(value))
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

    def refusal(self, value: Any) -> ConversionError:
        return ConversionError(
            f"{self.place} is or holds a {type(value).__name__} that refers to a parameter of the module. In a copy of the "
            f"module with other values it would refer to the old one. Write a method of the module in its place; or use "
            f"reverse mode, which needs no copy unless another argument, a Constant or a keyword may share the parameters."
        )


class ComputedFromParameter:
    """In a private copy, in place of a tensor computed from the old values: the module may replace it, but not use it."""

    def __init__(self, refusal: ConversionError):
        self.refusal = refusal

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise next(x for x in tree_leaves((args, kwargs)) if isinstance(x, cls)).refusal

    def _refused(self, *others: Any) -> Any:
        raise self.refusal

    __getattr__ = __getitem__ = __len__ = __neg__ = __abs__ = _refused
    # If these were missing, torch would replace the TypeError by one of its own.
    __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = __matmul__ = _refused
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __rmatmul__ = _refused
