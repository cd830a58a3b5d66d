"""Compiled functions: they run unchanged, and refuse differentiated arrays by name."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from ..array import NumpyArray, known_numbers
from ..array_like import with_each
from ..made_array import array_of_engine, lent, made, plain
from ..refusals import note_unknown
from .plain import Same


class _Around(Same):
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

    Its result for an engine's numbers is right if it is an integer, a bool or a string, which have
    no derivative: a test, an order, a count. So it is called with copies, and refused if it has
    written to one.
    """

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if array_of_engine((args, keywords)) is None:
            return self._calling_back(args, keywords)
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

    def _calling_back(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """With functions that hand it plain numbers: C code may print an error of theirs, or go on.

        So it is refused then.
        """
        refused = False

        def told(value: Any) -> Any:
            if not isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
                return with_each(told, value)

            @functools.wraps(value)
            def call(*args: Any, **keywords: Any) -> Any:
                nonlocal refused
                result = value(*args, **keywords)
                refused = refused or array_of_engine(result) is not None
                return _any_numbers(result)

            return call

        try:
            result = self._plainly(told(args), told(keywords))
        except Exception as error:
            if refused:
                raise NumpyCodeError(refusal(self.__wrapped__)) from error
            raise
        if refused:
            raise NumpyCodeError(refusal(self.__wrapped__))
        return result

    def __getitem__(self, key: Any) -> Compiled:
        """Of a function that is compiled for several types, that for one."""
        return Compiled(self.__wrapped__[key])  # type: ignore[index]


class Offered(_Around):
    """A function with a form that takes an engine's arrays, too: an extension's, or itself if it is
    not copied.
    """

    def __init__(self, real: Callable[..., Any], ours: Callable[..., Any]):
        super().__init__(real)
        self._ours = ours

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        # What it makes an object of, or calls, may come to an engine's array later.
        later = getattr(self._ours, "makes_objects", False) or any(
            map(callable, (*args, *keywords.values()))
        )
        if not later and array_of_engine((args, keywords)) is None:
            return self._plainly(args, keywords)
        return made(self._ours(*lent(args), **lent(keywords)))

    def __getitem__(self, key: Any) -> Offered:
        """Of a function that is compiled for several types, that for one."""
        return Offered(self.__wrapped__[key], self._ours)  # type: ignore[index]


class _Unknown(Exception):
    """Numbers that an engine does not know yet."""


def settled(value: Any) -> Any:
    """An engine's integers and bools, which have no derivative, as plain arrays.

    Differentiated arrays unchanged.
    """
    if (
        type(value) is NumpyArray
        and value.dtype.kind in "iub"
        and (numbers := known_numbers(value)) is not None
    ):
        return numbers[()]
    return value


def _numbers(value: Any, lent_out: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]) -> Any:
    """Copies of the numbers, recorded with their originals."""
    cls = type(value)
    if isinstance(value, (list, tuple, dict)):
        return with_each(functools.partial(_numbers, lent_out=lent_out), value)
    if isinstance(value, NumpyArray):
        value = known_numbers(value) if cls is NumpyArray else value.native
        if value is None:
            raise _Unknown
    if isinstance(value, np.ndarray):
        lent_out.append((value, value.copy("K")))
        return lent_out[-1][1] if value.ndim else value[()]
    return value


def _any_numbers(value: Any) -> Any:
    """The numbers of a result; while they are unknown, others."""
    if type(value) is not NumpyArray:
        return with_each(_any_numbers, plain(value))
    numbers = known_numbers(value)
    return np.zeros(value.shape) if numbers is None else numbers


def _is_discrete(result: Any) -> bool:
    if type(result) is tuple:
        return bool(result) and all(map(_is_discrete, result))
    return isinstance(result, (bool, int, str, np.bool_, np.integer)) or (
        isinstance(result, np.ndarray) and result.dtype.kind in "iub"
    )


def refusal(real: Callable[..., Any]) -> str:
    module, name = (
        getattr(real, "__module__", None),
        getattr(real, "__qualname__", None) or getattr(real, "__name__", "?"),
    )
    name = f"{module}.{name}" if module else str(name)
    return (
        f"numpy_function: {name} is compiled code, which takes plain NumPy arrays, and that would"
        " drop the gradient. adinterface.scipy and adinterface.rules have other solvers. Or write"
        " it with np, give it a derivative with adinterface.rules.differentiate_with, or use"
        " AutoFiniteDifferences()."
    )
