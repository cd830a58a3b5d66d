"""Chooses between SciPy and the function of this package, by the types of the arguments.

The functions here are NumPy code for `numpy_function`, so each is written once for every engine,
and differentiated to any order. Plain arrays and numbers go to SciPy itself.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import NUMPY, PYTHON, Library
from ..core.tree import handler_of
from ..numpy_code import numpy_function
from ..numpy_code.array import NumpyArray

F = TypeVar("F", bound=Callable[..., Any])

#: Ours, by SciPy's own function or class.
OURS: dict[Any, Callable[..., Any]] = {}

#: Options that change how SciPy computes, or what it does with memory, but not the result.
IGNORED = frozenset({
    "blocksize", "check_finite", "copy", "disp", "driver", "lapack_driver", "lwork", "overwrite_a",
    "overwrite_ab", "overwrite_b", "overwrite_data", "overwrite_x", "workers",
})  # fmt: skip


def of_scipy(scipy_function: Any, *, ignored: Iterable[str] = ()) -> Callable[[F], F]:
    """Decorates NumPy code that computes a SciPy function on engine arrays.

    The code takes some or all of the SciPy parameters, under their names. Any other parameter must
    have its SciPy default, or be among `ignored`, which have no effect here.
    """

    def decorate(code: F) -> F:
        # before SciPy 1.17 some are objects without a name
        word = getattr(scipy_function, "__name__", code.__name__)
        name = f"{_public(scipy_function)}.{word}"
        signature = _signature(scipy_function)
        known = inspect.signature(code).parameters
        everything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
        nothing = IGNORED.union(ignored)
        on_engine = numpy_function(code)

        @functools.wraps(scipy_function, assigned=("__name__", "__qualname__", "__doc__"))
        def call(*args: Any, **keywords: Any) -> Any:
            kind = _kind((*args, *keywords.values()))
            if kind is None:
                return scipy_function(*args, **keywords)
            if signature is not None:
                args, keywords = _bound(name, signature, known, everything, nothing, args, keywords)
            return (code if kind is NumpyArray else on_engine)(*args, **keywords)

        call.__module__, call.__name__ = f"adinterface.{_public(scipy_function)}", word
        OURS[scipy_function] = call
        return call  # type: ignore[return-value]

    return decorate


def _public(scipy_function: Any) -> str:
    """The package of SciPy in which users find a function."""
    parts: list[str] = scipy_function.__module__.split(".")
    public = [part for part in parts if not part.startswith("_")]
    return ".".join(public[:3] if public[1:2] == ["spatial"] else public[:2])


def _signature(scipy_function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(scipy_function)
    except (TypeError, ValueError):
        return None


def _bound(
    name: str,
    signature: inspect.Signature,
    known: Any,
    everything: bool,
    nothing: Collection[str],
    args: Any,
    keywords: Any,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as the code takes them."""
    positional: list[Any] = []
    taken: dict[str, Any] = {}
    for word, value in signature.bind(*args, **keywords).arguments.items():
        parameter = signature.parameters[word]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            taken |= value
            if not everything:
                for option in value.keys() - known.keys():
                    raise unsupported(name, option)
        elif word in known:
            taken[word] = value
        elif word not in nothing and not _same(value, parameter.default):
            raise unsupported(name, word)
    return tuple(positional), taken


def _same(value: Any, default: Any) -> bool:
    return value is default or (
        isinstance(value, (bool, int, float, str)) and bool(value == default)
    )


def unsupported(name: str, option: str, instead: str = "") -> NumpyCodeError:
    """The error for an option of a SciPy function that has no derivative here."""
    return NumpyCodeError(
        f"{name}: {option} is not supported for an engine's arrays. "
        + (instead or "Leave it out, or use AutoFiniteDifferences().")
    )


def _kind(values: Iterable[Any]) -> type | None:
    """NumpyArray, if one is among the values or inside a list or a tuple of them.

    Object for an engine's own array; None.
    """
    kind: type | None = None
    for value in values:
        cls = type(value)
        if cls is NumpyArray:
            return NumpyArray
        if isinstance(value, (tuple, list)):
            inner = _kind(value)
            if inner is NumpyArray:
                return inner
            kind = kind or inner
        elif cls not in PLAIN and is_native(value):
            kind = object
    return kind


#: Types of values that are no arrays and contain none.
PLAIN = frozenset({int, float, bool, complex, str, type(None), slice})


def is_native(value: Any) -> bool:
    """Whether it is an engine's own array."""
    if isinstance(value, np.ndarray):
        return False
    handler = handler_of(value, scan=False)
    return isinstance(handler, Library) and handler is not NUMPY and handler is not PYTHON


def is_engines(*values: Any) -> bool:
    """Whether an engine's array is among the values."""
    return _kind(values) is not None


def guarded(scipy_function: F) -> F:
    """A SciPy function without a version here: it takes NumPy arrays only, and refuses engine
    arrays.
    """

    @functools.wraps(scipy_function)
    def call(*args: Any, **keywords: Any) -> Any:
        if is_engines(*args, *keywords.values()):
            raise NumpyCodeError(
                f"{_public(scipy_function)}.{scipy_function.__name__} has no derivative here, and"
                " takes plain NumPy arrays alone. The table in the documentation lists what does;"
                " a rule (adinterface.rule) can give it one, and AutoFiniteDifferences() needs"
                " none."
            )
        return scipy_function(*args, **keywords)

    return call  # type: ignore[return-value]


def _of_ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    """A ufunc that takes engine arrays too."""
    code = numpy_function(ufunc)

    def call(*args: Any, **keywords: Any) -> Any:
        return (code if is_engines(*args) else ufunc)(*args, **keywords)

    call.__name__ = call.__qualname__ = ufunc.__name__
    call.__doc__ = f"scipy.special.{ufunc.__name__}, of NumPy's arrays or an engine's."
    return call


def rest_of(name: str, module_globals: dict[str, Any]) -> Callable[[str], Any]:
    """Enter ours into a module under SciPy's names.

    Returns the `__getattr__` of the module, for what only the SciPy module has.
    """
    module = importlib.import_module(name)
    for attribute, value in vars(module).items():
        if callable(value) and value.__hash__ is not None and value in OURS:
            module_globals[attribute] = OURS[value]

    def get(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(
                f"module {module_globals['__name__']!r} has no attribute {attribute!r}"
            )
        value = getattr(module, attribute)
        if isinstance(value, np.ufunc):
            value = _of_ufunc(value)
        elif callable(value) and not inspect.isclass(value):
            value = guarded(value)
        module_globals[attribute] = value
        return value

    return get
