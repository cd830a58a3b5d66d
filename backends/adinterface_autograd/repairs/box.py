"""The boxes that f receives: autograd's boxes, with the array object of the Array API.

autograd boxes a value with the class registered for its type, so its functions return its own
boxes; ours wrap them in this class. A plain autograd box is accepted wherever one of ours is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, ClassVar, NoReturn

import autograd.numpy as anp
import numpy as np
from autograd.numpy.numpy_boxes import ArrayBox

from . import functions, given
from .functions import value


class Box(ArrayBox):  # type: ignore[misc]
    """A box that answers `__array_namespace__`."""

    __slots__ = ()
    # by which opt_einsum, and with it xarray's dot, finds the functions
    __module__ = ArrayBox.__module__

    device = "cpu"
    #: The namespace of boxes, whose functions return boxes. Who uses the repairs gives it.
    namespace: ClassVar[ModuleType]

    # Copied or unpickled nodes would lead nowhere.
    def __copy__(self) -> Box:
        return self

    def __deepcopy__(self, memo: Any) -> Box:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise given.pickled()

    @property
    def shape(self) -> Any:
        value = self._value
        try:
            return value.shape  # autograd uses its own np.shape, which takes ten times as long
        except AttributeError:
            return np.shape(value)

    @property
    def mT(self) -> Any:
        return boxed(anp.swapaxes(self, -1, -2))

    @property
    def T(self) -> Any:
        return boxed(anp.transpose(self))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.namespace

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        if device != "cpu":
            raise ValueError(
                f"autograd computes on the CPU alone, so there is no device {device!r}."
            )
        return self

    def __bool__(self) -> bool:
        return bool(value(self))

    def __int__(self) -> int:
        return int(value(self))

    def __hash__(self) -> int:
        return id(self)

    def prod(self, axis: Any = None, **options: Any) -> Any:
        return self.namespace.prod(self, axis=axis, **options)

    def std(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        return self.namespace.std(self, axis=axis, correction=ddof, keepdims=keepdims)

    def var(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        return self.namespace.var(self, axis=axis, correction=ddof, keepdims=keepdims)

    def astype(self, dtype: Any, *unused: Any, **options: Any) -> Any:
        return boxed(functions.astype(self, dtype))


Box.register(Box)


def boxed(result: Any) -> Any:
    """The boxes of a result as ours."""
    if type(result) is ArrayBox:
        return Box(result._value, result._trace, result._node)
    if isinstance(result, (tuple, list)):
        parts = [boxed(part) for part in result]
        return type(result)._make(parts) if hasattr(result, "_make") else type(result)(parts)
    return result


def boxing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that returns our boxes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        # as NumPy's reductions pass it, which autograd's rules do not know
        if "out" in kwargs and kwargs["out"] is None:
            del kwargs["out"]
        result = function(*args, **kwargs)
        return result if type(result) is np.ndarray else boxed(result)

    return wrapped


def boxing_all(found: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What has these names, with the functions among it returning our boxes."""
    return {
        name: (
            boxing(found[name])
            if callable(found[name]) and not isinstance(found[name], type)
            else found[name]
        )
        for name in names
    }


def _operator(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    def operate(self: Any, other: Any) -> Any:
        try:
            result = function(other, self) if reflected else function(self, other)
        except TypeError:
            if _is_foreign(other):
                return NotImplemented  # the other operand may define it
            raise
        return (
            Box(result._value, result._trace, result._node) if type(result) is ArrayBox else result
        )

    return operate


def _is_foreign(other: Any) -> bool:
    """Whether it is another array with its own operators; xarray responds to ufuncs only."""
    cls = type(other)
    answers = (
        hasattr(cls, "__array_function__") or getattr(cls, "__array_ufunc__", None) is not None
    )
    return answers and not isinstance(other, np.ndarray)


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: boxed(function(self))


_BINARY = {
    "add": anp.add, "sub": anp.subtract, "mul": anp.multiply, "truediv": anp.true_divide,
    "mod": functions.remainder, "pow": anp.power, "matmul": anp.matmul,
    "floordiv": functions.discrete("floor_divide"),
}  # fmt: skip
for _name, _function in _BINARY.items():
    setattr(Box, f"__{_name}__", _operator(_function))
    setattr(Box, f"__r{_name}__", _operator(_function, reflected=True))
Box.__getitem__ = _operator(ArrayBox.__getitem__)
Box.__neg__, Box.__abs__, Box.__pos__ = _unary(anp.negative), _unary(anp.abs), lambda self: self
for _name in (
    "sum", "mean", "max", "min", "cumsum", "reshape", "ravel", "squeeze", "swapaxes", "transpose",
    "trace", "diagonal", "repeat", "clip", "flatten",
):  # fmt: skip
    setattr(Box, _name, boxing(getattr(ArrayBox, _name)))
