"""Code that writes to arrays, as a copy in which NumPy's functions that make arrays are replaced.

`np.zeros(n)` uses no protocol, and a plain array cannot become an engine's. So an f that writes
runs as a copy. The copy's globals are those of f, looked up at each use, except that `np` is
`array_makers`. Nothing of the user is changed. Functions of other modules run unchanged. An f that
writes to nothing is not copied.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._closures import is_filled
from ..array_makers import MAKERS
from ..made_array import captured
from .bytecode import assigns_to_globals, nested_codes, writes_to_arrays
from .copier import FunctionCopy, copied
from .globals import Globals

_FUNCTIONS = frozenset({types.FunctionType, types.BuiltinFunctionType, type(np.copy)})


@functools.cache
def _numpy_view() -> types.ModuleType:
    """NumPy, with our functions that make arrays."""
    module = types.ModuleType("numpy", np.__doc__)
    module.__dict__.update(vars(np))
    for name, value in vars(np).items():
        ours = MAKERS.get(value) if callable(value) and getattr(value, "__hash__", None) else None
        if ours is not None:
            setattr(module, name, ours)
    return module


class _Copies:
    """The replacements of the values that functions of one module reach.

    Made for one call, or for one name.
    """

    def __init__(self, module_globals: dict[str, Any]):
        self._module_globals = module_globals
        self._functions: dict[types.FunctionType, types.FunctionType] = {}

    def of(self, value: Any) -> Any:
        if value is np:
            return _numpy_view()
        cls = type(value)
        if cls is np.ndarray:
            return captured(value)
        if cls in _FUNCTIONS:
            ours = MAKERS.get(value)
            if ours is not None:
                return ours
            if self._is_copied(value):
                return self._functions.get(value) or copied(value, self)
        return value

    def stands_for_itself(self, value: Any) -> bool:
        cls = type(value)
        if cls in _FUNCTIONS:
            return value not in MAKERS and not self._is_copied(value)
        return value is not np and cls is not np.ndarray

    def globals_of(self, original: types.FunctionType) -> dict[str, Any]:
        return _globals_of(original.__globals__)

    def announce(self, original: types.FunctionType, copy: FunctionCopy) -> None:
        self._functions[original] = copy.function

    def _is_copied(self, value: Any) -> bool:
        return (
            type(value) is types.FunctionType
            and _can_be_copied(value)
            and value.__globals__ is self._module_globals
        )


@functools.cache
def _builtins() -> dict[str, Any]:
    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        return _Copies({}).of(builtins.__import__(name, *args, **kwargs))

    return vars(builtins) | {"__import__": importing}


_globals: dict[int, Globals] = {}


def _globals_of(original: dict[str, Any]) -> Globals:
    """The globals of a copy.

    The original may be those of a copy, too, where f was made in one.
    """
    known = _globals.get(id(original))
    if known is None or known.original is not original:
        known = _globals[id(original)] = Globals(original, _Copies(original).of, _builtins())
    return known


def with_making_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]] | None:
    """A function that makes the copy of f for a call.

    None if f's code writes to nothing, or cannot be copied.
    """
    if type(f) is types.FunctionType:
        return (
            (lambda: copied(f, _Copies(f.__globals__)))
            if _can_be_copied(f) and _writes(f, set())
            else None
        )
    if isinstance(f, types.MethodType):
        return _around(f.__func__, lambda copy: types.MethodType(copy, f.__self__))
    if isinstance(f, functools.partial):
        return _around(f.func, lambda copy: functools.partial(copy, *f.args, **f.keywords))
    call = vars(type(f)).get("__call__")
    return (
        _around(call, lambda copy: types.MethodType(copy, f))
        if type(call) is types.FunctionType
        else None
    )


def _around(
    function: Any, bind: Callable[[Any], Callable[..., Any]]
) -> Callable[[], Callable[..., Any]] | None:
    copy = with_making_names(function)
    return None if copy is None else lambda: bind(copy())


def _can_be_copied(function: types.FunctionType) -> bool:
    return not assigns_to_globals(function.__code__)


def _writes(f: types.FunctionType, seen: set[Any]) -> bool:
    """Whether f, or a function of its module that it reaches by a name, may write to an array."""
    seen.add(f)
    codes = list(nested_codes(f.__code__))
    if any(writes_to_arrays(code) for code in codes):
        return True
    named = [f.__globals__.get(name) for code in codes for name in code.co_names]
    captured_values = [cell.cell_contents for cell in f.__closure__ or () if is_filled(cell)]
    reached = [value for value in (*named, *captured_values) if type(value) is types.FunctionType]
    of_module = [g for g in reached if g.__globals__ is f.__globals__ and _can_be_copied(g)]
    return any(_writes(g, seen) for g in of_module if g not in seen)
