"""Classes that represent others in copied code; some return an engine's array for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import NumpyArray, pretended
from ..array_like import ArrayHolder


class Standing(type):
    """The metaclass of such classes.

    They are subclasses of `_real`, the original, equal to it, with its instances.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        make = vars(cls).get("_make")
        return super().__call__(*args, **kwargs) if make is None else make(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        real = vars(cls).get("_real")
        return (
            type.__instancecheck__(cls, instance) if real is None else is_instance(instance, real)
        )

    def __subclasscheck__(cls, subclass: type) -> bool:
        real = vars(cls).get("_real")
        return (
            type.__subclasscheck__(cls, subclass)
            if real is None
            else issubclass(real_of(subclass), real)
        )

    def __eq__(cls, other: object) -> bool:
        return True if cls is other or vars(cls).get("_real", cls) is other else NotImplemented

    def __hash__(cls) -> int:
        return hash(vars(cls)["_real"]) if "_real" in vars(cls) else type.__hash__(cls)


def standing(real: type, make: Callable[..., Any], **attributes: Any) -> type:
    """A replacement of this class, whose call returns the result of `make`."""
    body = {
        "_make": staticmethod(make),
        "_real": real,
        "__module__": real.__module__,
        "__doc__": real.__doc__,
        **attributes,
    }
    made: type = _meta_of(real)(real.__name__, (real,), body)
    made.__qualname__ = real.__qualname__
    return made


def _meta_of(real: type) -> type:
    return Standing if type(real) is type else type("Standing", (Standing, type(real)), {})


def real_of(value: Any) -> Any:
    """The original of a replaced class; anything else unchanged."""
    return vars(value).get("_real", value) if issubclass(type(value), Standing) else value


def is_instance(x: Any, classes: Any) -> bool:
    """The built-in of this name, for which an engine's array is NumPy's."""
    if isinstance(x, ArrayHolder):
        return is_subclass(type(x)._real, classes) or isinstance(x, classes)  # type: ignore[attr-defined]
    if isinstance(x, NumpyArray):
        return is_subclass(pretended(x), classes) or classes is NumpyArray
    return isinstance(x, _real_classes(classes))


def is_subclass(cls: Any, classes: Any) -> bool:
    return issubclass(real_of(cls), _real_classes(classes))


def _real_classes(classes: Any) -> Any:
    if type(classes) is tuple:
        return tuple([_real_classes(one) for one in classes])
    return real_of(classes)
