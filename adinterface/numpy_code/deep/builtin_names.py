"""The built-in names as copied code sees them: `isinstance`, `type` and `float` take an engine's
array for NumPy's.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array import NumpyArray, as_plain, known_numbers, pretended
from ..array_like import ArrayHolder, array_of
from ..python_numbers import is_python_number, python_number
from ..storage import Storage
from .globals import Globals, Of
from .plain import unknown
from .standing import is_instance, is_subclass, real_of, standing


def _number(real: type, dtype: type) -> Callable[..., Any]:
    def make(*args: Any) -> Any:
        if len(args) == 1 and type(x := _converted(args[0], real.__name__)) is NumpyArray:
            if x.size != 1:
                raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
            return python_number(np.reshape(x, ()).astype(dtype))
        return real(*args)

    return make


def _converted(x: Any, name: str) -> Any:
    """What an object has for float(x) or complex(x): a method in Python, or an array."""
    own = getattr(type(x), f"__{name}__", None)
    calls = type(own) is types.FunctionType and not isinstance(x, (Storage, ArrayHolder))
    return own(x) if calls else array_of(x)  # type: ignore[misc]


FLOAT = standing(float, _number(float, np.float64), dtype=np.dtype(float))
_one_complex = _number(complex, np.complex128)


def _complex(real: Any = 0, imag: Any = None) -> Any:
    if imag is None:
        return _one_complex(real)
    if not (type(real) is NumpyArray or type(imag) is NumpyArray):
        return complex(real, imag)
    return _one_complex(real) + 1j * FLOAT(imag)


COMPLEX = standing(complex, _complex, dtype=np.dtype(complex))


def _extreme(real: Callable[..., Any], ufunc: np.ufunc) -> Callable[..., Any]:
    """max and min, which compare numbers: while these are unknown, the engine chooses."""

    def call(*args: Any, **kwargs: Any) -> Any:
        values = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if kwargs or len(values) < 2 or not any(map(unknown, values)):
            return real(*args, **kwargs)
        best = functools.reduce(ufunc, values)
        return python_number(best) if all(map(is_python_number, values)) else best

    return call


def has_attribute(x: Any, name: str) -> bool:
    return hasattr(pretended(x)(0) if isinstance(x, NumpyArray) else x, name)


def _shown(x: Any) -> Any:
    """What print writes: the numbers, or what the engine writes while they are unknown."""
    if type(x) is not NumpyArray:
        return x
    numbers = known_numbers(x)
    return x.native if numbers is None else as_plain(x, numbers)


def builtin_names(of: Of) -> dict[str, Any]:
    """The built-in names, some of them replaced."""

    def get_type(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            return of(pretended(args[0]) if isinstance(args[0], NumpyArray) else type(args[0]))
        return type(*args, **kwargs)

    def get_attribute(x: Any, name: str, *default: Any) -> Any:
        if isinstance(x, NumpyArray):
            if name == "__class__":
                return get_type(x)
            if not has_attribute(x, name):
                return getattr(pretended(x)(0), name, *default)
        return getattr(x, name, *default)

    def import_(name: str, *args: Any, **kwargs: Any) -> Any:
        return of(
            __import__(
                name,
                *map(_original, args),
                **{key: _original(value) for key, value in kwargs.items()},
            )
        )

    return {
        **vars(builtins),
        "float": FLOAT,
        "complex": COMPLEX,
        "isinstance": is_instance,
        "issubclass": is_subclass,
        "getattr": get_attribute,
        "hasattr": has_attribute,
        "type": standing(type, get_type),
        "print": lambda *args, **kwargs: print(*map(_shown, args), **kwargs),
        "max": _extreme(max, np.maximum),
        "min": _extreme(min, np.minimum),
        "__import__": import_,
        "__build_class__": build_class,
        "super": super_,
    }


def super_(*args: Any) -> Any:
    """super() from a replaced class continues with the original's bases.

    Of a subclass of ndarray, with their replacements.
    """
    if not args:
        frame = sys._getframe(1)
        args = frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]]
    cls = real_of(args[0])
    order = (args[-1] if isinstance(args[-1], type) else type(args[-1])).__mro__
    if all(base is not cls for base in order):
        cls = next((base for base in order if vars(base).get("_real") is cls), cls)
    return super(cls, *args[1:])


class _Body(dict[str, Any]):
    """The names of a class statement, which the interpreter looks for in the globals without asking
    them.
    """

    def __init__(self, names: Any, scope: Any):
        super().__init__(names)
        self._scope = scope

    def __missing__(self, name: str) -> Any:
        if name == "__annotations__":  # the interpreter makes them where it finds none
            raise KeyError(name)
        return self._scope[name]


def build_class(function: Any, name: str, *bases: Any, **keywords: Any) -> Any:
    """What a class statement does."""
    resolved = types.resolve_bases(bases)
    meta, names, keywords = types.prepare_class(name, resolved, keywords)
    if resolved is not bases:
        names["__orig_bases__"] = bases
    body = _Body(names, function.__globals__) if type(names) is dict else names
    exec(function.__code__, function.__globals__, body, closure=function.__closure__)
    return meta(name, resolved, dict(body) if type(names) is dict else names, **keywords)


def _original(scope: Any) -> Any:
    return scope.original if type(scope) is Globals else scope
