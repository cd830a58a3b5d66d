"""Functions that autograd lacks or gets wrong, with the standard's arguments, from right ones.

autograd 1.9 has no rule for flip and nextafter. Its rules fail for new axes of broadcast_to. Those
of where (broadcast choices) and concat are silently wrong; hypot is NaN at zero. The others here
take the standard's arguments.

Indexing with constant indices, arithmetic and sums are right in both modes and at every order. Most
functions use only these.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, defvjp_argnum, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

#: What the namespace takes from here.
__all__ = [
    "asarray", "astype", "broadcast_arrays", "broadcast_to", "concat", "cumulative_sum", "flip",
    "hypot", "imag", "linspace", "matrix_transpose", "nextafter", "ones_like", "remainder",
    "reshape", "stack", "tensordot", "where", "zeros_like",
]  # fmt: skip

Axes = int | Sequence[int] | None


def primitive_of(function: Any) -> Any:
    """autograd's primitive of a function; since 1.9 some of its functions convert lists first."""
    module, name = sys.modules[function.__module__], function.__name__.removeprefix("custom_")
    return getattr(module, f"_primitive_{name}", getattr(module, f"_original_{name}", function))


Int = (int, np.integer)


def value(x: Any) -> Any:
    """The numbers inside a box, at any depth."""
    return getval(x)


def shape_of(x: Any) -> tuple[int, ...]:
    numbers = getval(x)
    # np.shape takes a microsecond in the midst of other code.
    return numbers.shape if type(numbers) is np.ndarray else np.shape(numbers)


def ndim_of(x: Any) -> int:
    return len(shape_of(x))


def is_box(x: Any) -> bool:
    return hasattr(x, "_trace")


def _axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < (ndim or 1):
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def axes_of(x: Any, axis: Axes) -> list[int]:
    """The axes that an argument `axis` names: all for None."""
    ndim = ndim_of(x)
    return [
        _axis(a, ndim)
        for a in (range(ndim) if axis is None else [axis] if isinstance(axis, Int) else axis)
    ]


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    """An index that takes `index` along one axis."""
    return (*(slice(None),) * axis, index)


# Creation
# ------------------------------------------------------------------------------------------------


def asarray(x: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """As in NumPy, with boxes kept."""
    if is_box(x):
        return x if dtype is None or x.dtype == dtype else astype(x, dtype)
    if type(x) in (list, tuple):
        made = anp.array(x)
        return made if dtype is None else astype(made, dtype)
    return np.asarray(x, dtype=dtype, copy=copy)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    if not is_box(x):
        return np.asarray(x).astype(dtype, copy=copy)
    target = np.dtype(dtype)
    if target.kind not in "fc":
        return np.asarray(value(x)).astype(target)
    if x.dtype == target:
        return x
    if target.kind == "c":
        return _cast(x + 0j, target)
    return _cast(anp.real(x) if np.iscomplexobj(value(x)) else x, target)


@primitive  # type: ignore[untyped-decorator]
def _cast(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


defvjp(_cast, lambda ans, x, dtype: lambda g: astype(g, x.dtype), argnums=(0,))


@primitive  # type: ignore[untyped-decorator]
def written(x: Any, places: Any, value: Any) -> Any:
    """x with a value, one or as many, in different places of it, counted in C's order."""
    result = np.array(x, order="C")
    result.reshape(-1)[places] = value
    return result


def _vjp_of_written(ans: Any, x: Any, places: Any, value: Any) -> Any:
    several = bool(shape_of(value))

    def back(g: Any) -> Any:  # which holds none of the arrays: a loop of writes keeps places alone
        taken = anp.reshape(g, (-1,))[places]
        return taken if several else anp.sum(taken)

    return back


def _vjp_beside_written(ans: Any, x: Any, places: Any, value: Any) -> Any:
    return lambda g: written(g, places, 0.0)


defvjp(written, _vjp_beside_written, _vjp_of_written, argnums=(0, 2))


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return np.zeros_like(value(x), dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return np.ones_like(value(x), dtype=dtype)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    if not is_box(start) and not is_box(stop):
        return np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
    steps = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    return start * (1 - steps) + stop * steps


# Element by element
# --------------------------------------------------------------------------------------------------


@primitive  # type: ignore[untyped-decorator]
def hypot(x: Any, y: Any, /) -> Any:
    return np.hypot(x, y)


def _leg(leg: Any, length: Any) -> Any:
    """leg / hypotenuse, and 0 at the corner, where there is no derivative."""
    corner = value(length) == 0
    return where(corner, 0.0, leg / where(corner, 1.0, length))


defvjp(
    hypot,
    lambda ans, x, y: unbroadcast_f(x, lambda g: g * _leg(x, ans)),
    lambda ans, x, y: unbroadcast_f(y, lambda g: g * _leg(y, ans)),
)


@primitive  # type: ignore[untyped-decorator]
def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)


# autograd's rule ignores the broadcasting of the choices.
defvjp(
    _where,
    None,
    lambda ans, condition, x, y: unbroadcast_f(x, lambda g: where(condition, g, 0.0)),
    lambda ans, condition, x, y: unbroadcast_f(y, lambda g: where(condition, 0.0, g)),
)


def where(condition: Any, x: Any, y: Any, /) -> Any:
    return _where(value(condition), x, y)


def nextafter(x: Any, y: Any, /) -> Any:
    return x + (np.nextafter(value(x), value(y)) - value(x))


def remainder(x: Any, y: Any, /) -> Any:
    if not is_box(x) and not is_box(y):
        return np.remainder(x, y)
    # NumPy's number, with the derivative of x - floor(x / y) y; for an infinite y, of x.
    infinite = np.isinf(value(y))
    moving = x - np.floor_divide(value(x), value(y)) * (
        anp.where(infinite, 0.0, y) if np.any(infinite) else y
    )
    # an array of another kind that contains a box; its numbers cannot be read here
    if not is_box(moving):
        raise TypeError(f"Can't differentiate w.r.t. type {type(moving)}")
    return moving + (np.remainder(value(x), value(y)) - value(moving))


def conjugate(x: Any) -> Any:
    """Complex x conjugated; a real x as it is, which autograd would pass through a node."""
    return anp.conj(x) if np.iscomplexobj(x) else x


def imag(x: Any, /) -> Any:
    return anp.imag(x) if np.iscomplexobj(value(x)) else np.zeros_like(value(x))


def discrete(name: str) -> Any:
    """NumPy's function of the numbers; its result has no derivative."""
    function = getattr(np, name)

    @functools.wraps(function)
    def of_numbers(*args: Any, **kwargs: Any) -> Any:
        return function(
            *[_values(x) for x in args], **{key: _values(x) for key, x in kwargs.items()}
        )

    return of_numbers


def _values(x: Any) -> Any:
    return type(x)(map(_values, x)) if type(x) in (list, tuple) else value(x)


# Manipulation
# ------------------------------------------------------------------------------------------------


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join along an axis. `autograd.numpy.concat` silently gives a zero gradient."""
    if axis is None:
        return anp.concatenate([anp.ravel(array) for array in arrays], axis=0)
    return anp.concatenate(list(arrays), axis=axis)


@primitive  # type: ignore[untyped-decorator]
def _stack(axis: int, *parts: Any) -> Any:
    return np.stack(parts, axis)


defvjp_argnum(
    _stack,
    lambda argnum, ans, args, kwargs: lambda g: g[_along(_axis(args[0], ans.ndim), argnum - 1)],
)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """As in NumPy. autograd's function indexes each part, which takes four times as long."""
    return _stack(
        axis, *[anp.array(part) if type(part) in (list, tuple) else part for part in arrays]
    )


def matrix_transpose(x: Any, /) -> Any:
    return anp.swapaxes(x, -1, -2)


def broadcast_to(x: Any, /, shape: Any) -> Any:
    if not is_box(x):
        return np.broadcast_to(x, shape)
    np.broadcast_shapes(shape_of(x), np.broadcast_to(np.empty(shape_of(x)), shape).shape)
    return x * np.ones(shape, dtype=x.dtype)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*[shape_of(x) for x in arrays])
    return tuple([broadcast_to(x, shape) for x in arrays])


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    return anp.reshape(x, tuple(shape) if not isinstance(shape, Int) else shape)


def flip(x: Any, /, *, axis: Axes = None) -> Any:
    turned = axes_of(x, axis)
    return x[tuple([slice(None, None, -1 if n in turned else 1) for n in range(ndim_of(x))])]


# Statistics
# ------------------------------------------------------------------------------------------------


def _summed(dtype: Any, x: Any) -> Any:
    return x if dtype is None else astype(x, dtype)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    if axis is None and ndim_of(x) != 1:
        raise ValueError("cumulative_sum needs an axis for an array of more than one dimension.")
    axis = _axis(axis or 0, ndim_of(x))
    result = anp.cumsum(_summed(dtype, x), axis=axis)
    if include_initial:
        shape = [1 if n == axis else length for n, length in enumerate(shape_of(x))]
        result = anp.concatenate(
            [np.zeros(shape, np.asarray(value(result)).dtype), result], axis=axis
        )
    return result


# Products
# ------------------------------------------------------------------------------------------------


def tensordot(x: Any, y: Any, /, *, axes: Any = 2) -> Any:
    return anp.tensordot(
        x, y, int(axes) if isinstance(axes, Int) else [list(part) for part in axes]
    )
