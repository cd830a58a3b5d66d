"""An engine's own special functions with the derivatives that are here: for its backend, which asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.contract.library import Library
from ...core.tree import handler_of
from ...numpy_code.array import NumpyArray, unwrap, wrap
from ...numpy_code.engine import engine_of
from . import error_functions, hypergeometric, probability  # noqa: F401 - they enter the partial derivatives
from .bessel import along_the_line as along_the_line
from .ruled import PARTIALS, natively, ruled


def with_partials(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """An engine's own function, on its own arrays, with the derivatives that a ufunc of this name has here.

    For an engine that has the function, and lacks derivatives of it.
    """

    def function(*args: Any) -> Any:
        engine = next(x._engine for x in args if isinstance(x, NumpyArray))
        beside = next(x._array for x in args if isinstance(x, NumpyArray))
        return wrap(own(*[unwrap(x, engine, beside) for x in args]), engine)

    code = ruled(name, function, PARTIALS[name], host=False)

    def call(*natives: Any) -> Any:
        return natively(code, engine_of(_library_of(natives[0])))(*natives)

    return call


def _library_of(value: Any) -> Library:
    handler = handler_of(value, scan=False)
    assert isinstance(handler, Library)
    return handler
