"""Compiled functions: they run unchanged, and refuse differentiated arrays by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from ..array import NumpyArray
from ..made_array import lent, made, with_each
from ..refusals import note_unknown
from .plain import first_wrapped, known_numbers, plain


class _Around:
    """The replacement of a function that is not copied."""

    def __init__(self, real: Callable[..., Any]):
        self.__wrapped__ = real
        self.__doc__ = real.__doc__

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def _plainly(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """With plain NumPy arrays in place of those that copied code has made."""
        return made(self.__wrapped__(*plain(args), **plain(keywords)))


class Compiled(_Around):
    """A compiled function.

    Its result for an engine's numbers is right if it is an integer, a bool or a string, which have no derivative: a test, an
    order, a count. So it is called with copies, and refused if it has written to one.
    """

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if first_wrapped((args, keywords)) is None:
            return self._plainly(args, keywords)
        lent_out: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        try:
            result = self.__wrapped__(*_numbers(args, lent_out), **_numbers(keywords, lent_out))
        except (_Unknown, ValueError, TypeError) as error:
            refused = NumpyCodeError(refusal(self.__wrapped__))
            if isinstance(error, _Unknown):
                note_unknown(refused)
            raise refused from error
        written = any(a.tobytes() != b.tobytes() for a, b in lent_out)
        if written or not _is_discrete(result):
            raise NumpyCodeError(refusal(self.__wrapped__))
        return made(result)

    def __getitem__(self, key: Any) -> Compiled:
        """Of a function that is compiled for several types, that for one."""
        return Compiled(self.__wrapped__[key])  # type: ignore[index]


class Offered(_Around):
    """A function for which an extension has a form that takes an engine's arrays, too."""

    def __init__(self, real: Callable[..., Any], ours: Callable[..., Any]):
        super().__init__(real)
        self._ours = ours

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        # What it makes an object of, or calls, may come to an engine's array later.
        later = getattr(self._ours, "makes_objects", False) or any(map(callable, (*args, *keywords.values())))
        if not later and first_wrapped((args, keywords)) is None:
            return self._plainly(args, keywords)
        return made(self._ours(*lent(args), **lent(keywords)))


class Left(_Around):
    """A Python function that is not copied: it gets plain NumPy arrays in place of those that copied code has made."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if first_wrapped((args, keywords)) is None:
            return self._plainly(args, keywords)
        return self.__wrapped__(*args, **keywords)


class _Unknown(Exception):
    """Numbers that an engine does not know yet."""


def settled(value: Any) -> Any:
    """An engine's integers and bools, which have no derivative, as plain arrays; differentiated arrays unchanged."""
    if type(value) is NumpyArray and value.dtype.kind in "iub" and (numbers := known_numbers(value)) is not None:
        return numbers[()]
    return value


def _numbers(value: Any, lent_out: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]) -> Any:
    """Copies of the numbers, recorded with their originals."""
    cls = type(value)
    if isinstance(value, (list, tuple, dict)):
        return with_each(functools.partial(_numbers, lent_out=lent_out), value)
    if isinstance(value, NumpyArray):
        value = known_numbers(value, uncompiled=True) if cls is NumpyArray else value._array
        if value is None:
            raise _Unknown
    if isinstance(value, np.ndarray):
        lent_out.append((value, value.copy("K")))
        return lent_out[-1][1] if value.ndim else value[()]
    return value


def _is_discrete(result: Any) -> bool:
    if type(result) is tuple:
        return bool(result) and all(map(_is_discrete, result))
    return isinstance(result, (bool, int, str, np.bool_, np.integer)) or (
        isinstance(result, np.ndarray) and result.dtype.kind in "iub"
    )


def refusal(real: Callable[..., Any]) -> str:
    module, name = getattr(real, "__module__", None), getattr(real, "__qualname__", None) or getattr(real, "__name__", "?")
    return (
        f"numpy_function: {module + '.' if module else ''}{name} is compiled code, which takes plain NumPy arrays, and that "
        f"would drop the gradient. Write it with np, give it a derivative with adinterface.rules.differentiate_with, or use "
        f"AutoFiniteDifferences()."
    )
