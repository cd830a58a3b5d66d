"""Calls that a compiler of user code traces: plain code for `gradient`, `value_and_gradient`, `hvp`, `gradient_and_hvp`.

The compiler traces every line here, so the code is plain: no cache, no lock, no plan. Arguments are trees of the engine's own
arrays. Every other argument, and every error, is refused; then the call is left to Python: see `core/contract/tracing.py`.
An engine whose compiler traces user code derives its `Compiler` from the one here.
"""

from __future__ import annotations

import dataclasses
import types
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, final

from ..core.contract.auto import AutoBackend
from ..core.contract.structures import Constant
from ..core.tree.recognition import is_registered

#: Values without numbers, which f gets as they are. An int in a tree is one.
_PASSED = (str, bytes, bool, int, type(None), type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


class TracedGradient(NamedTuple):
    """The result of `Compiler.gradient`."""

    output: Any
    #: None of these overlaps another array.
    aux: tuple[Any, ...]
    gradients: tuple[Any, ...]


class Compiler(ABC):
    """A compiler that traces Python code: the result of `Backend.compiler`.

    The compiler traces these methods too, so they contain only code that it can trace.
    """

    #: The name of the backend; set by the core.
    _name: str = ""

    @abstractmethod
    def reads_code(self) -> bool:
        """Whether it interprets the running code, as `torch.compile` does; otherwise Python runs the code on traced arrays."""

    @abstractmethod
    def refuse(self, reason: str) -> NoReturn:
        """End the tracing of the call that is being traced, and leave that call to Python.

        Raises an error with the reason where the whole program must be traced.
        """

    @abstractmethod
    def is_array(self, value: Any) -> bool:
        """Whether a value is an array of the engine that `gradient` takes."""

    @abstractmethod
    def namespace(self) -> ModuleType:
        """What `Library.namespace` returns for an array of the engine."""

    @abstractmethod
    def accepts(self, auto: AutoBackend) -> str | None:
        """Why the options of a backend value cannot be traced; None if they can."""

    @abstractmethod
    def gradient(self, function: Callable[..., tuple[Any, tuple[Any, ...]]], leaves: Sequence[Any]) -> TracedGradient:
        """The gradients of a function from leaves to `(real scalar, aux)`, in reverse mode."""

    @abstractmethod
    def hvp(self, function: Callable[..., Any], leaves: Sequence[Any], directions: Sequence[Any]) -> tuple[Any, Any]:
        """The gradients of a function from leaves to a real scalar, and its Hessian times the directions."""

    @final
    def is_floating(self, array: Any) -> bool:
        """Whether an array holds real or complex floating numbers."""
        return bool(self.namespace().isdtype(array.dtype, ("real floating", "complex floating")))

    @final
    def trace(self, kind: Any, auto: AutoBackend, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """One call of an operator, as the compiler traces it. `kind`: see `dispatch.Kind`."""
        name = getattr(kind, "name", "batched")
        if name not in _TRACED:
            self.refuse(f"adinterface traces {', '.join(_TRACED)}, not {name}")
        if type(auto).name != self._name:
            self.refuse(f"{name} on {type(auto).__name__} cannot be traced by the compiler of {self._name}")
        reason = self.accepts(auto)
        if reason is not None:
            self.refuse(reason)
        return _TRACED[name](self, kind, f, args, kwargs)


def _gradient(compiler: Compiler, kind: Any, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    call = _Call(compiler, kind.name, f, args, kwargs)
    return call.gradients(compiler.gradient(call.scalar, call.leaves).gradients)


def _value_and_gradient(
    compiler: Compiler, kind: Any, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    call = _Call(compiler, kind.name, f, args, kwargs)
    output, aux, gradients = compiler.gradient(call.scalar_and_aux, call.leaves)
    value = _filled(compiler, call.returned[0], iter([output, *aux]))
    return kind.result(value, call.gradients(gradients))


def _hvp(compiler: Compiler, kind: Any, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _both(compiler, kind, f, args, kwargs)[1]


def _gradient_and_hvp(
    compiler: Compiler, kind: Any, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return kind.result(*_both(compiler, kind, f, args, kwargs))


def _both(
    compiler: Compiler, kind: Any, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    if len(args) < 2:
        compiler.refuse(f"{kind.name} takes x and v")
    x, v, *constants = args
    for constant in constants:
        if type(constant) is not Constant:
            compiler.refuse(f"{kind.name} differentiates one argument; a further one must be a Constant")
    call = _Call(compiler, kind.name, f, (x, *constants), kwargs)
    directions: list[Any] = []
    _collect_directions(compiler, x, v, directions)
    gradients, products = compiler.hvp(lambda *leaves: call.scalar(*leaves)[0], call.leaves, directions)
    return call.gradients(gradients)[0], call.gradients(products)[0]


_TRACED = {
    "gradient": _gradient,
    "value_and_gradient": _value_and_gradient,
    "hvp": _hvp,
    "gradient_and_hvp": _gradient_and_hvp,
}


class _Call:
    """The arguments of one call, and f as a function of their differentiated leaves."""

    def __init__(self, compiler: Compiler, name: str, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self.compiler, self.name, self.f, self.args = compiler, name, f, args
        self.leaves: list[Any] = []
        for i, arg in enumerate(args):
            if compiler.is_array(arg) and not compiler.is_floating(arg):
                compiler.refuse(f"args[{i}] is an array of integers or bools")
            if type(arg) is int:
                compiler.refuse(f"args[{i}] is an int")
            _collect(compiler, arg, f"args[{i}]", self.leaves, False)
        self.kwargs = {key: _unwrapped(compiler, value, f"the keyword {key}") for key, value in kwargs.items()}
        if not self.leaves:
            compiler.refuse(f"nothing in the arguments of {name} is differentiated")
        #: What f returned in `scalar_and_aux`.
        self.returned: list[Any] = []

    def _value(self, leaves: Sequence[Any]) -> Any:
        both = iter(leaves)
        args = [_rebuilt(self.compiler, arg, both) for arg in self.args]
        return self.f(*args, **self.kwargs)

    def scalar(self, *leaves: Any) -> tuple[Any, tuple[Any, ...]]:
        return self._checked(self._value(leaves)), ()

    def scalar_and_aux(self, *leaves: Any) -> tuple[Any, tuple[Any, ...]]:
        value = self._value(leaves)
        first: Any = value
        arrays: list[Any] = []
        if isinstance(value, (tuple, dict)) and value:
            first = next(iter(value.values())) if isinstance(value, dict) else value[0]
            _collect_arrays(self.compiler, value, "the result of f", arrays)
        self.returned.append(value)
        return self._checked(first), tuple(arrays[1:])

    def _checked(self, value: Any) -> Any:
        is_real = self.compiler.namespace().isdtype
        if not (self.compiler.is_array(value) and value.ndim == 0 and is_real(value.dtype, "real floating")):
            self.compiler.refuse(f"{self.name}: f returned no real scalar")
        return value

    def gradients(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        each = iter(arrays)
        return tuple([_like(self.compiler, arg, each) for arg in self.args])


# trees ---------------------------------------------------------------------------------------------------------------


def _children(compiler: Compiler, value: Any, path: str) -> list[tuple[str, Any]] | None:
    """The children of a container with their paths; None for a value that is passed unchanged. Refuses all other values."""
    cls = type(value)
    if cls is dict or cls is OrderedDict:
        return [(f"{path}[{key!r}]", child) for key, child in value.items()]
    if cls is list or cls is tuple or _is_namedtuple(cls):
        return [(f"{path}[{i}]", child) for i, child in enumerate(value)]
    if cls in _PASSED:
        return None
    if dataclasses.is_dataclass(cls) and not is_registered(cls) and not isinstance(value, dict):
        fields = dataclasses.fields(value)
        if hasattr(value, "__dict__") and len(value.__dict__) != len(fields):
            compiler.refuse(f"{path}, a {cls.__name__}, has attributes that are no fields")
        return [(f"{path}.{each.name}", getattr(value, each.name)) for each in fields if not _is_static(each)]
    compiler.refuse(f"{path} is a {cls.__module__}.{cls.__qualname__}")


def _is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _is_static(field: dataclasses.Field[Any]) -> bool:
    return bool(field.metadata.get("static", False))


def _collect(compiler: Compiler, value: Any, path: str, leaves: list[Any], constant: bool) -> None:
    """The differentiated leaves of a tree, in order. Refuses a tree with values that cannot be traced."""
    if compiler.is_array(value):
        if compiler.is_floating(value) and not constant:
            leaves.append(value)
        return
    if type(value) is Constant:
        _collect(compiler, value.value, path, leaves, True)
        return
    if constant and type(value) in (float, complex):
        return
    children = _children(compiler, value, path)
    if children is not None:
        for place, child in children:
            _collect(compiler, child, place, leaves, constant)


def _collect_arrays(compiler: Compiler, value: Any, path: str, arrays: list[Any]) -> None:
    """All arrays in a result of f."""
    if compiler.is_array(value):
        arrays.append(value)
    elif type(value) not in (float, complex):
        for place, child in _children(compiler, value, path) or ():
            _collect_arrays(compiler, child, place, arrays)


def _collect_directions(compiler: Compiler, x: Any, v: Any, directions: list[Any]) -> None:
    """The directions of the differentiated leaves of x. Refuses directions of another structure than x."""
    if compiler.is_array(x):
        if not compiler.is_floating(x):
            return
        if v is None:
            v = compiler.namespace().zeros_like(x)
        elif not (compiler.is_array(v) and v.shape == x.shape and v.dtype == x.dtype):
            compiler.refuse("v does not have the form of x")
        directions.append(v)
        return
    if type(x) is Constant:
        if v is not None:
            compiler.refuse("v has a direction for a Constant")
        return
    children = _children(compiler, x, "x")
    if children is None:
        return
    if v is None:
        for _, child in children:
            _collect_directions(compiler, child, None, directions)
        return
    others = _children(compiler, v, "v")
    same_keys = not isinstance(x, dict) or (isinstance(v, dict) and list(x) == list(v))
    if others is None or type(v) is not type(x) or len(others) != len(children) or not same_keys:
        compiler.refuse("v does not have the form of x")
    for (_, child), (_, other) in zip(children, others):
        _collect_directions(compiler, child, other, directions)


def _rebuilt(compiler: Compiler, value: Any, leaves: Iterator[Any]) -> Any:
    """A tree with other values for its differentiated leaves, and without Constants around values."""
    if compiler.is_array(value):
        return next(leaves) if compiler.is_floating(value) else value
    if type(value) is Constant:
        return _unwrapped(compiler, value.value, "a Constant")
    return _mapped(value, lambda child: _rebuilt(compiler, child, leaves))


def _filled(compiler: Compiler, value: Any, arrays: Iterator[Any]) -> Any:
    """A result of f with other arrays in the places of all its arrays."""
    if compiler.is_array(value):
        return next(arrays)
    return _mapped(value, lambda child: _filled(compiler, child, arrays))


def _like(compiler: Compiler, value: Any, leaves: Iterator[Any]) -> Any:
    """The gradient of a tree: None where there is none."""
    if compiler.is_array(value):
        return next(leaves) if compiler.is_floating(value) else None
    if type(value) is Constant or type(value) in _PASSED:
        return None
    return _mapped(value, lambda child: _like(compiler, child, leaves))


def _unwrapped(compiler: Compiler, value: Any, path: str) -> Any:
    """What a Constant or a keyword argument holds, as f gets it."""
    if compiler.is_array(value):
        return value
    if type(value) is Constant:
        return _unwrapped(compiler, value.value, path)
    if type(value) in (float, complex) or _children(compiler, value, path) is None:
        return value
    return _mapped(value, lambda child: _unwrapped(compiler, child, path))


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A container of the same class with the results for its children; other values unchanged."""
    cls = type(value)
    if cls in _PASSED:
        return value
    if cls is dict:
        return {key: function(child) for key, child in value.items()}
    if cls is OrderedDict:
        return OrderedDict([(key, function(child)) for key, child in value.items()])
    if cls is list:
        return [function(child) for child in value]
    if cls is tuple:
        return tuple([function(child) for child in value])
    if _is_namedtuple(cls):
        return cls(*[function(child) for child in value])
    if dataclasses.is_dataclass(cls):
        new = object.__new__(cls)
        for each in dataclasses.fields(value):
            child = getattr(value, each.name)
            object.__setattr__(new, each.name, child if _is_static(each) else function(child))
        return new
    return value
