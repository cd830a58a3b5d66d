"""What an engine uses for a function of the table."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...core.contract.library import Library
from ...core.tree import handler_of
from ...numpy_code.array import NumpyArray, unwrap, wrap
from ...numpy_code.engine import Engine, engine_of
from .table import TABLE, Function, no_partials
from .ufunc_rules import natively, ruled, scipy_ufunc


class NativeFunctions(Protocol):
    """The attribute `special` of an engine's `numpy_sources`.

    Its other functions need no correction.

    PARTS: functions of the engine's arrays, by the names of scipy.special, that the table corrects
        or gives derivatives.
    around: from a function that is made of them to one of any arguments, which converts these to
        arrays of one dtype.
    """

    PARTS: Mapping[str, Function]

    def around(self, function: Function, /) -> Function: ...


def _natives(library: Library) -> NativeFunctions | None:
    namespaces = [getattr(source, "special", None) for source in library.numpy_sources()]
    return next((namespace for namespace in namespaces if hasattr(namespace, "PARTS")), None)


class Source(enum.Enum):
    """Where the values and the derivatives of a function come from on an engine, best first."""

    NATIVE = "the engine"
    CORRECTED = "the engine, corrected"
    NATIVE_VALUES = "values of the engine, derivatives of the table"
    COMPOSED = "Array API code"
    CODE = "NumPy code"
    SCIPY = "SciPy on the host, derivatives of the table"


def source_of(name: str, library: Library) -> Source | None:
    """The first available source; None where neither the engine nor the table has the function."""
    row = TABLE.get(name)
    if any(hasattr(getattr(source, "special", None), name) for source in library.numpy_sources()):
        return Source.NATIVE
    if row is None:
        return None
    natives = _natives(library)
    if (
        natives is not None
        and row.corrected is not None
        and all(part in natives.PARTS for part in row.parts)
    ):
        return Source.CORRECTED
    if natives is not None and row.partials is not None and name in natives.PARTS:
        return Source.NATIVE_VALUES
    if row.composed is not None:
        return Source.COMPOSED
    return (
        Source.CODE if row.code is not None else Source.SCIPY if row.partials is not None else None
    )


def on_engine(name: str, engine: Engine) -> Function | None:
    """The function for an engine whose own is missing or wrong; None where there is no source."""
    natives, namespace = _natives(engine.library), engine.library.namespace(None)
    source = source_of(name, engine.library)
    if source is Source.CORRECTED:
        assert natives is not None
        return natives.around(_corrected(name, natives.PARTS, namespace))
    if source is Source.NATIVE_VALUES:
        assert natives is not None
        return natives.around(with_partials(name, natives.PARTS[name]))
    if source is Source.COMPOSED:
        composed = TABLE[name].composed
        assert composed is not None
        return functools.partial(composed, namespace)
    return natively(_numpy_code(name), engine) if source in (Source.CODE, Source.SCIPY) else None


def _corrected(name: str, parts: Mapping[str, Function], namespace: Any) -> Function:
    row = TABLE[name]
    assert row.corrected is not None

    def part(other: str) -> Function:
        corrected = other != name and other in TABLE and TABLE[other].corrected is not None
        return _corrected(other, parts, namespace) if corrected else parts[other]

    return functools.partial(row.corrected, namespace, *map(part, row.parts))


@functools.cache
def _numpy_code(name: str) -> Function:
    """The function as NumPy code."""
    row = TABLE[name]
    return row.code or ruled(
        name, scipy_ufunc(name), row.partials, orders=row.orders, what=row.what
    )


@functools.cache
def with_partials(name: str, native: Function) -> Function:
    """An engine's own function, on its own arrays, with the derivatives that the table has for
    it.
    """

    def function(*args: Any) -> Any:
        engine = next(x.engine for x in args if isinstance(x, NumpyArray))
        beside = next(x.native for x in args if isinstance(x, NumpyArray))
        return wrap(native(*[unwrap(x, engine, beside) for x in args]), engine)

    row = TABLE[name]
    code = ruled(name, function, row.partials, orders=row.orders, what=row.what, host=False)

    def call(*arrays: Any) -> Any:
        library = handler_of(arrays[0], scan=False)
        assert isinstance(library, Library)
        return natively(code, engine_of(library))(*arrays)

    return call


@functools.cache
def _of_complex_numbers(name: str) -> Function:
    partials = TABLE[name].complex_partials
    return ruled(name, scipy_ufunc(name), None if partials is no_partials else partials)


def of_complex(name: str, engine: Engine) -> Callable[..., Any] | None:
    """SciPy's function on an engine's complex arrays.

    None where engines take them themselves or SciPy does not.
    """
    row = TABLE.get(name)
    return (
        None
        if row is None or row.complex_partials is None
        else natively(_of_complex_numbers(name), engine)
    )
