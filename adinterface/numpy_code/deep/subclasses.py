"""Subclasses of ndarray, in code that runs as a copy: an engine's array has none of the memory that
their objects are.

Each such class is replaced by one whose objects hold an array, with copies of its methods; the rest
is the array's. NumPy says which results are of the class: it is asked with the numbers of the
arrays, or with others while they are unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from ..array import NumpyArray, known_numbers, of_no_axes
from ..array_like import ArrayHolder, with_each
from ..made_array import MadeArray, captured, made, plain
from ..refusals import of_subclass
from . import classes
from .globals import Of
from .standing import Standing


class HolderType(Standing):
    """The metaclass of such classes, which have the attributes of the user's."""

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return type.__call__(cls, *args, **keywords)

    def __getattr__(cls, name: str) -> Any:
        return cls._of(getattr(cls._real, name))


class Subclass(ArrayHolder, np.lib.mixins.NDArrayOperatorsMixin, metaclass=HolderType):  # type: ignore[metaclass]
    """The replacement of ndarray as a base."""

    __slots__ = ("__dict__", "__weakref__")
    __array_priority__ = 0.0
    __hash__ = None  # type: ignore[assignment]
    _real: type = np.ndarray
    _of: Any

    def __new__(
        cls, shape: Any = (), dtype: Any = float, buffer: Any = None, *args: Any, **keywords: Any
    ) -> Any:
        buffer = _unwrapped(buffer)
        if type(buffer) is not NumpyArray:
            made_of = np.ndarray(shape, dtype, plain(buffer), *args, **keywords)
            return cls.around(made(made_of) if buffer is None else captured(made_of), None)
        if args or keywords or buffer.dtype != np.dtype(dtype):
            raise NumpyCodeError(of_subclass(cls._real))
        size = int(np.prod(shape))
        return cls.around(np.reshape(np.ravel(buffer)[:size], shape), None)

    @classmethod
    def around(cls, array: Any, source: Any) -> Any:
        """An object of the class with this array, made of another array or object."""
        self = object.__new__(cls)
        self._inner = of_no_axes(array)
        self.__array_finalize__(source)
        return self

    def __array_finalize__(self, source: Any) -> None:
        pass

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return type(self).around(array, self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._inner

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        result = getattr(ufunc, method)(*_unwrapped(inputs), **_unwrapped(keywords))
        if "out" in keywords:
            return keywords["out"][0] if len(keywords["out"]) == 1 else keywords["out"]
        first: Any = next((x for x in inputs if isinstance(x, ArrayHolder)), None)
        if first is None or method == "at":
            return result
        parts = result if type(result) is tuple else (result,)
        wrapped = tuple(
            [first.__array_wrap__(part, (ufunc, inputs, n)) for n, part in enumerate(parts)]
        )
        return wrapped if type(result) is tuple else wrapped[0]

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        return self._in_its_class(self._of(function), function, args, keywords)

    def _in_its_class(self, ours: Any, numpys: Any, args: tuple[Any, ...], keywords: Any) -> Any:
        """The result of our function, of the class that NumPy's has."""
        result = ours(*_unwrapped(args), **_unwrapped(keywords))
        if not isinstance(result, (NumpyArray, np.ndarray, list, tuple)):
            return result
        with np.errstate(all="ignore"):
            return self._like(result, numpys(*_plain(args), **_plain(keywords)))

    def _like(self, result: Any, plain: Any) -> Any:
        if isinstance(result, (list, tuple)) and result and isinstance(plain, (list, tuple)):
            parts = list(map(self._like, result, plain))
            return (
                parts
                if type(result) is list
                else result._make(parts)
                if hasattr(result, "_make")
                else tuple(parts)
            )
        if type(plain) is np.ndarray or not isinstance(plain, np.ndarray):
            return result
        cls = type(self) if type(plain) is type(self)._real else self._of(type(plain))
        return self if result is self._inner else cls.around(result, self)

    def _inherited(self, name: str) -> Any:
        """An attribute of ndarray, or of the user's class that is no code."""
        if not hasattr(np.ndarray, name):
            return getattr(type(self), name)
        value = getattr(self._inner, name)
        get = operator.attrgetter(name)
        if not callable(value) or isinstance(value, NumpyArray):
            return self._in_its_class(get, get, (self,), {})
        call = lambda x, *args, **keywords: get(x)(*args, **keywords)
        return lambda *args, **keywords: self._in_its_class(call, call, (self, *args), keywords)

    def __getitem__(self, index: Any) -> Any:
        return self._in_its_class(operator.getitem, operator.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        self._inner[_unwrapped(index)] = _unwrapped(value)

    def __iter__(self) -> Iterator[Any]:
        return (Subclass.__getitem__(self, n) for n in range(len(self._inner)))

    def __copy__(self) -> Any:
        return self._inherited("copy")()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()


def _forwarding(name: str) -> Callable[..., Any]:
    return lambda self, *args: getattr(self._inner, name)(*_unwrapped(args))


for _name in (
    "bool",
    "complex",
    "contains",
    "float",
    "format",
    "index",
    "int",
    "len",
    "repr",
    "str",
):
    setattr(Subclass, f"__{_name}__", _forwarding(f"__{_name}__"))


def _attribute(name: str) -> Any:
    """What super() finds of ndarray."""

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        return Subclass._inherited(self, name)(*args, **keywords)

    def write(self: Any, value: Any) -> None:
        setattr(self._inner, name, _unwrapped(value))

    return (
        method
        if callable(getattr(np.ndarray, name))
        else property(lambda self: Subclass._inherited(self, name), write)
    )


for _name in dir(np.ndarray):
    if not _name.startswith("_"):
        setattr(Subclass, _name, _attribute(_name))


def _unwrapped(value: Any) -> Any:
    return value._inner if isinstance(value, ArrayHolder) else with_each(_unwrapped, value)


def _plain(value: Any) -> Any:
    """The values as NumPy has them, with other numbers for those that are unknown."""
    if isinstance(value, ArrayHolder):
        return np.asarray(_plain(value._inner)).view(type(value)._real)  # type: ignore[attr-defined]
    if type(value) is MadeArray:
        return value.native
    if type(value) is not NumpyArray:
        return with_each(_plain, value)
    numbers = known_numbers(value)
    if numbers is None:
        square = np.eye(value.shape[-2], value.shape[-1]) if value.ndim > 1 else 1
        numbers = np.broadcast_to(square, value.shape).astype(value.dtype)
    return numbers


#: Attributes of the replacement, which are no values of the user's.
_OWN = frozenset({"_inner", "_of", "_real"})


def _reading(of: Of) -> Callable[[Any, str], Any]:
    read = classes.reading(of)

    def __getattribute__(self: Any, name: str) -> Any:
        if name in _OWN:
            return object.__getattribute__(self, name)
        try:
            return read(self, name)
        except AttributeError:
            if name[:2] == "__" or any(name in vars(base) for base in type(self).__mro__):
                raise
            return self._inherited(name)

    return __getattribute__


def class_for(cls: type, of: Of, copy: classes.Copy) -> Any:
    """The replacement of a subclass of ndarray."""
    bases = [
        Subclass if base is np.ndarray else of(base) if issubclass(base, np.ndarray) else base
        for base in cls.__bases__
    ]
    body = {
        "_real": cls,
        "_of": staticmethod(of),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }
    made_class = HolderType(cls.__name__, tuple(bases), body | {"__getattribute__": _reading(of)})
    for base in reversed(cls.__mro__):
        if base is cls or (base is not object and not issubclass(base, np.ndarray)):
            classes.fill(made_class, dict(vars(base)), copy)
    return made_class


def object_for(value: Any, cls: Any) -> Any:
    """An object of the replaced class for the user's, whose attributes it shares."""
    self = object.__new__(cls)
    self._inner = captured(value.view(np.ndarray))
    if hasattr(value, "__dict__"):
        object.__setattr__(self, "__dict__", value.__dict__)
    return self
