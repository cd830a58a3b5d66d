"""The handler of a value: the library of a leaf, the type of a node, or None."""

from __future__ import annotations

import enum
import functools
import numbers
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from ..contract import registry
from ..contract.errors import NotDifferentiableError, an
from ..contract.library import NUMPY, PYTHON, Library, NumpyLibrary, check_ndarray, dtype_kind
from ..contract.nodes import NodeType
from ..contract.registry import REGISTRY
from ..support import other_packages
from .containers import KEPT_CLASSES, PLAIN, RECORDS, Attributes, Registered
from .opaque import buffer_has_floats, hidden, is_number
from .structures import Constant

T = TypeVar("T")


@overload
def register_node(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Sequence[Any]], T],
) -> type[T]: ...


@overload
def register_node(cls: type[T], *, fields: Iterable[str]) -> type[T]: ...


def register_node(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Any]] | None = None,
    unflatten: Callable[[Any, Sequence[Any]], T] | None = None,
    *,
    fields: Iterable[str] | None = None,
) -> type[T]:
    """Register a class, so that its instances are nodes of trees.

    Args:
        cls: The class.
        flatten: `flatten(obj)` gives `(children, data)`: children are trees, data is everything
            else.
        unflatten: `unflatten(data, children)` builds an object. Children may be numbers, an
            engine's arrays, gradients or None, so it should check nothing.
        fields: In place of both functions, the names of the attributes that are children. All
            others are carried along as in a Constant; objects are built again without `__init__`.

    Returns:
        The class.

    Raises:
        ValueError: The class is registered already.
        TypeError: The class has a built-in meaning: a built-in container, a number, an array.
    """
    if (fields is None) != (flatten is not None and unflatten is not None) or isinstance(
        fields, str
    ):
        raise TypeError(
            "register_node takes both functions, register_node(cls, flatten, unflatten), or the"
            " names of the attributes that are differentiated, register_node(cls, fields=['w',"
            " 'b'])."
        )
    if not isinstance(cls, type) or _has_meaning(cls):
        raise TypeError(
            f"register_node: {getattr(cls, '__qualname__', cls)} is no class of yours: what its"
            " objects are is settled before registered classes are looked up. Derive a class from"
            " it and register that one."
        )
    if cls in REGISTRY.node_types:
        raise ValueError(
            f"{cls.__qualname__} is registered already; a class is flattened in one way."
        )
    if fields is not None:
        REGISTRY.node_types[cls] = Attributes(cls, fields)
    elif flatten is not None and unflatten is not None:
        REGISTRY.node_types[cls] = Registered(cls, flatten, unflatten)
    REGISTRY.handlers.pop(cls, None)
    _OPAQUE.discard(cls)
    return cls


def register_stand_in(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Sequence[Any]], T],
) -> None:
    """As `register_node`, for a class of ours that wraps one array and is accepted as an array.

    Called at import, so it does not load engines.
    """
    stand_in = REGISTRY.node_types[cls] = Registered(cls, flatten, unflatten)
    stand_in.stands_for_array = True


def stood_for(value: Any) -> Any:
    """The array in a stand-in (see `register_stand_in`); any other value unchanged."""
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType) and handler.stands_for_array:
        (value,), _ = handler.flatten(value)
    return value


def _has_meaning(cls: type) -> bool:
    if cls in _SETTLED or issubclass(cls, np.generic):
        return True
    return any(issubclass(cls, library.types) for library in registry.libraries() if library.types)


def handler_of(
    value: Any,
    *,
    scan: bool = True,
    alone: bool = False,
    path: Callable[[], str] = lambda: "argument",
) -> Library | NodeType | None:
    """The library of a leaf, the type of a node, or None for an opaque value.

    With `scan`, an opaque object that holds floating arrays raises NotDifferentiableError. alone:
    whether the value is a whole argument, for which an object that holds numbers raises, too.
    """
    cls = type(value)
    known = REGISTRY.handlers.get(cls)
    if known is not None:
        return known
    if cls in _OPAQUE:
        return None
    handler = _find_handler(value, path)
    if handler is not None:
        if len(REGISTRY.handlers) >= KEPT_CLASSES:  # of a program that creates classes without end
            REGISTRY.handlers.clear()
        REGISTRY.handlers[cls] = handler
    elif any(cls in backend.opaque_types for backend in registry.loaded_backends()):
        _OPAQUE.add(cls)
    elif scan:
        _check_opaque(value, path(), alone)
    return handler


_OPAQUE_AT_SIGHT = (str, bytes, bool, type(None), type)
_PLAIN_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
#: Classes of opaque values without anything to differentiate, and classes that were found to be
#: such.
_OPAQUE: set[type] = {*_OPAQUE_AT_SIGHT, *_PLAIN_CALLABLES, functools.partial}
_SETTLED = (
    *_OPAQUE_AT_SIGHT, object, int, float, complex, dict, OrderedDict, defaultdict, list, tuple,
    np.ndarray, Constant,
)  # fmt: skip


def _find_handler(value: Any, path: Callable[[], str]) -> Library | NodeType | None:
    cls = type(value)
    if NUMPY.owns(value):
        return NUMPY
    if isinstance(value, np.ndarray) and cls not in REGISTRY.node_types:
        check_ndarray(value, path())
    if PYTHON.owns(value):
        return PYTHON
    if cls in REGISTRY.node_types:
        return REGISTRY.node_types[cls]
    for node_type in PLAIN:
        if node_type.matches(value):
            return node_type
    for library in registry.libraries():
        if library.owns(value):
            return library
    for backend in registry.loaded_backends():
        for node_type in backend.node_types:
            if node_type.matches(value):
                return node_type
    for node_type in RECORDS:
        if node_type.matches(value):
            return node_type
    if hasattr(cls, "__array__"):
        registry.require_importable(cls)
    return None


def _check_opaque(value: Any, path: str, alone: bool) -> None:
    cls = type(value)
    name = f"{cls.__module__}.{cls.__qualname__}"
    if is_number(value) or (
        alone and isinstance(value, numbers.Number) and not isinstance(value, (int, enum.Enum))
    ):
        plain = "complex" if isinstance(value, complex) else "float"
        raise NotDifferentiableError(
            f"{path} is {an(name)}, a number that no engine differentiates: it would silently have"
            f" no gradient. Pass {plain}(x), or wrap it in Constant(...)."
        )
    if buffer_has_floats(value):
        remedy = (
            other_packages.advice(value)
            or "Pass numpy.asarray(x) or what it is made of, or wrap it in Constant(...)."
        )
        raise NotDifferentiableError(
            f"{path} is {an(name)}. {remedy} No engine differentiates its floating numbers where"
            " they are, so they would silently have no gradient. Or register the class with"
            f" register_node({cls.__qualname__}, flatten, unflatten)."
        )
    inner, what = hidden(value, is_floating_array), "a floating array"
    if inner is None and alone:
        inner, what = hidden(value, is_floating_array, numbers=True), "a number"
    if inner is None and hasattr(cls, "stateless_call"):  # of Keras, with variables in its layers
        inner, what = "", "a model"
    if inner is not None:
        way = "flatten, unflatten"
        if inner.startswith("."):
            way = f"fields=[{inner[1:].partition('.')[0].partition('[')[0]!r}]"
        remedy = other_packages.advice(value) or (
            f"Register the class with register_node({cls.__qualname__}, {way}), make it a"
            " dataclass, or wrap it in Constant(...)."
        )
        raise NotDifferentiableError(
            f"{path} is {an(name)}, which adinterface cannot look into, but {path}{inner} is"
            f" {what}: it would silently have no gradient. {remedy}"
        )


def is_floating_array(value: object) -> bool:
    """Whether value is an array of real or complex floats, of any loaded library."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" or dtype_kind(value.dtype.name) in ("real", "complex")
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType) or handler is None or isinstance(handler, NumpyLibrary):
        return False
    return handler.name != "python" and dtype_kind(handler.dtype(value)) in ("real", "complex")


def refuse_hidden_arrays(value: object, where: str, owner: object) -> None:
    """Refuse an attribute of `owner` that holds a floating array without being a field."""
    inner: str | None = ""
    if not (is_floating_array(value) or buffer_has_floats(value)):
        inner = hidden(value, is_floating_array)
    if inner is not None:
        remedy = other_packages.advice(owner) or (
            "Declare it as a field, mark it static with field(metadata={'static': True}), register"
            " the class with register_node, or wrap the object in Constant(...)."
        )
        raise NotDifferentiableError(
            f"{where}{inner} is an attribute that is not a field but holds a floating array, which"
            f" would silently have no gradient. {remedy}"
        )
