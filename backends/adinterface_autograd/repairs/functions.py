"""Functions of the Array API that autograd lacks or gets wrong, as compositions of functions that are right.

autograd 1.9 has no rule for broadcast_arrays, copysign, cumulative_prod, cumulative_sum, flip, matrix_transpose, meshgrid,
nextafter, take, take_along_axis, unstack, vecdot. Its rules fail for new axes of broadcast_to, bounds of clip that are boxes,
`prepend` of diff, several axes of roll, sort of a matrix. Those of full_like, where (broadcast choices), std and var
(`correction`) are silently wrong; hypot, prod and std are NaN at zeros or equal numbers. The others here
take the standard's arguments.

Indexing with constant indices, arithmetic and sums are right in both modes and at every order. Most functions here use only
these: sorting indexes by the argument's order, and a product multiplies halves.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, defvjp_argnum, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

#: What the namespace takes from here.
__all__ = [
    "argsort", "asarray", "astype", "broadcast_arrays", "broadcast_to", "clip", "concat", "copysign",
    "cumulative_prod", "cumulative_sum", "diff", "einsum", "expand_dims", "flip", "full", "full_like", "hypot",
    "imag", "linspace", "matrix_transpose", "max", "mean", "meshgrid", "min", "nextafter", "ones_like", "pow",
    "prod", "remainder", "repeat", "reshape", "roll", "sort", "squeeze", "stack", "std", "sum", "take",
    "take_along_axis", "tensordot", "tile", "tril", "triu", "unstack", "var", "vecdot", "where", "zeros_like",
]  # fmt: skip

Axes = int | Sequence[int] | None
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
    return [_axis(a, ndim) for a in (range(ndim) if axis is None else [axis] if isinstance(axis, Int) else axis)]


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    """An index that takes `index` along one axis."""
    return (*(slice(None),) * axis, index)


# Creation ------------------------------------------------------------------------------------------------------------


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
    """x with a value, one or as many, in these places of it, which are counted in C's order and differ from one another."""
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


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    if not is_box(fill_value):
        return np.full(shape, fill_value, dtype=dtype)
    return broadcast_to(fill_value if dtype is None else astype(fill_value, dtype), shape)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return full(shape_of(x), fill_value, dtype=dtype or np.asarray(value(x)).dtype)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return np.zeros_like(value(x), dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return np.ones_like(value(x), dtype=dtype)


def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True) -> Any:
    if not is_box(start) and not is_box(stop):
        return np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
    steps = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    return start * (1 - steps) + stop * steps


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    ndim = len(arrays)
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = [1, 0]
    placed = [anp.reshape(x, [-1 if k == axis else 1 for k in range(ndim)]) for x, axis in zip(arrays, order)]
    shape = np.broadcast_shapes(*[shape_of(x) for x in placed])
    return [broadcast_to(x, shape) for x in placed]


def _masked(x: Any, mask: Any) -> Any:
    return where(mask, x, np.zeros((), dtype=np.asarray(value(x)).dtype))


def _triangle(x: Any, k: int) -> Any:
    rows, columns = shape_of(x)[-2:]
    return np.tri(rows, columns, k=k, dtype=bool)


def tril(x: Any, /, *, k: int = 0) -> Any:
    return _masked(x, _triangle(x, k))


def triu(x: Any, /, *, k: int = 0) -> Any:
    return _masked(x, ~_triangle(x, k - 1))


# Element by element --------------------------------------------------------------------------------------------------


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


def copysign(x: Any, y: Any, /) -> Any:
    turned = np.signbit(value(x)) != np.signbit(value(y))
    return x * np.where(turned, -1, 1).astype(np.result_type(value(x), value(y)))


def nextafter(x: Any, y: Any, /) -> Any:
    return x + (np.nextafter(value(x), value(y)) - value(x))


def remainder(x: Any, y: Any, /) -> Any:
    if not is_box(x) and not is_box(y):
        return np.remainder(x, y)
    # NumPy's number, with the derivative of x - floor(x / y) y; for an infinite y, of x.
    infinite = np.isinf(value(y))
    moving = x - np.floor_divide(value(x), value(y)) * (anp.where(infinite, 0.0, y) if np.any(infinite) else y)
    if not is_box(moving):  # an array of another kind that contains a box; its numbers cannot be read here
        raise TypeError(f"Can't differentiate w.r.t. type {type(moving)}")
    return moving + (np.remainder(value(x), value(y)) - value(moving))


def conjugate(x: Any) -> Any:
    """Complex x conjugated; a real x as it is, which autograd would pass through a node."""
    return anp.conj(x) if np.iscomplexobj(x) else x


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    result = x
    for bound, beyond in ((min, np.less_equal), (max, np.greater_equal)):
        if bound is not None:
            outside = beyond(value(result), value(bound))
            result, bound = broadcast_arrays(result, bound)
            result = where(outside, bound, result)
    return astype(result, x.dtype)


def pow(x: Any, y: Any, /) -> Any:
    return anp.power(x, y)


def imag(x: Any, /) -> Any:
    return anp.imag(x) if np.iscomplexobj(value(x)) else np.zeros_like(value(x))


def discrete(name: str) -> Any:
    """NumPy's function of the numbers; its result has no derivative."""
    function = getattr(np, name)

    @functools.wraps(function)
    def of_numbers(*args: Any, **kwargs: Any) -> Any:
        return function(*[_values(x) for x in args], **{key: _values(x) for key, x in kwargs.items()})

    return of_numbers


def _values(x: Any) -> Any:
    return type(x)(map(_values, x)) if type(x) in (list, tuple) else value(x)


# Manipulation --------------------------------------------------------------------------------------------------------


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join along an axis. `autograd.numpy.concat` has no rule, and silently gives a zero gradient."""
    if axis is None:
        return anp.concatenate([anp.ravel(array) for array in arrays], axis=0)
    return anp.concatenate(list(arrays), axis=axis)


@primitive  # type: ignore[untyped-decorator]
def _stack(axis: int, *parts: Any) -> Any:
    return np.stack(parts, axis)


defvjp_argnum(_stack, lambda argnum, ans, args, kwargs: lambda g: g[_along(_axis(args[0], ans.ndim), argnum - 1)])


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """As in NumPy. autograd's function indexes each part to add the axis, which takes four times as long."""
    return _stack(axis, *[anp.array(part) if type(part) in (list, tuple) else part for part in arrays])


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    axis = _axis(axis, ndim_of(x))
    return tuple([x[_along(axis, i)] for i in range(shape_of(x)[axis])])


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


def expand_dims(x: Any, /, *, axis: Any = 0) -> Any:
    return anp.reshape(x, np.expand_dims(np.empty(shape_of(x)), axis).shape)


def squeeze(x: Any, /, axis: Any) -> Any:
    return anp.reshape(x, np.squeeze(np.empty(shape_of(x)), axis).shape)


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    return anp.reshape(x, tuple(shape) if not isinstance(shape, Int) else shape)


def flip(x: Any, /, *, axis: Axes = None) -> Any:
    turned = axes_of(x, axis)
    return x[tuple([slice(None, None, -1 if n in turned else 1) for n in range(ndim_of(x))])]


def roll(x: Any, /, shift: Any, *, axis: Axes = None) -> Any:
    shape = shape_of(x)
    if axis is None:
        return anp.reshape(roll(anp.ravel(x), shift, axis=0), shape)
    axes = [axis] if isinstance(axis, Int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, Int) else list(shift)
    for a, s in zip(axes, shifts):
        a = _axis(a, len(shape))
        if shape[a]:
            x = x[_along(a, (np.arange(shape[a]) - s) % shape[a])]
    return x


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = anp.ravel(x), 0
    axis = _axis(axis, ndim_of(x))
    return x[_along(axis, np.repeat(np.arange(shape_of(x)[axis]), value(repeats)))]


def tile(x: Any, repetitions: Any, /) -> Any:
    repetitions = (repetitions,) if isinstance(repetitions, Int) else tuple(repetitions)
    ndim = builtins.max(ndim_of(x), len(repetitions))
    x = anp.reshape(x, (1,) * (ndim - ndim_of(x)) + shape_of(x))
    for axis, count in enumerate((1,) * (ndim - len(repetitions)) + repetitions):
        if count != 1:
            x = x[_along(axis, np.tile(np.arange(shape_of(x)[axis]), count))]
    return x


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    if axis is None:
        if ndim_of(x) != 1:
            raise ValueError("take needs an axis for an array of more than one dimension.")
        axis = 0
    return x[_along(_axis(axis, ndim_of(x)), np.asarray(value(indices)))]


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    indices, ndim = np.asarray(value(indices)), ndim_of(x)
    axis = _axis(axis, ndim)
    shape = shape_of(x)
    grid = [np.arange(n).reshape([-1 if k == m else 1 for k in range(ndim)]) for m, n in enumerate(shape)]
    grid[axis] = indices
    return x[tuple(grid)]


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return take_along_axis(x, argsort(x, axis=axis, descending=descending), axis=axis)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    numbers = np.asarray(value(x))
    if not descending:
        return np.argsort(numbers, axis=axis, stable=True)
    last = numbers.shape[axis] - 1
    return np.flip(last - np.argsort(np.flip(numbers, axis=axis), axis=axis, stable=True), axis=axis)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    axis = _axis(axis, ndim_of(x))
    for _ in range(n):
        x = x[_along(axis, slice(1, None))] - x[_along(axis, slice(None, -1))]
    return x


# Statistics ----------------------------------------------------------------------------------------------------------


def _reduced(x: Any, axis: Axes) -> tuple[Any, list[int]]:
    """x with the reduced axes moved to the end as one, and which they were."""
    axes, shape = axes_of(x, axis), shape_of(x)
    kept = [n for n in range(len(shape)) if n not in axes]
    moved = anp.transpose(x, kept + axes)
    return anp.reshape(moved, [shape[n] for n in kept] + [int(np.prod([shape[n] for n in axes]))]), axes


def _with_axes(x: Any, shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> Any:
    return anp.reshape(x, [1 if n in axes else length for n, length in enumerate(shape)]) if keepdims else x


def _summed(dtype: Any, x: Any) -> Any:
    return x if dtype is None else astype(x, dtype)


def sum(x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return anp.sum(_summed(dtype, x), axis=axis if axis is None or isinstance(axis, Int) else tuple(axis), keepdims=keepdims)


def prod(x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """By halves: autograd's rule divides by each factor, which gives NaN where one is zero."""
    if not is_box(x):
        return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)
    x = _summed(dtype, x)
    result, axes = _reduced(x, axis)
    while (count := shape_of(result)[-1]) > 1:
        half = count // 2
        product = result[..., :half] * result[..., half : 2 * half]
        result = product if count % 2 == 0 else anp.concatenate([product, result[..., 2 * half :]], axis=-1)
    if shape_of(result)[-1]:
        result = result[..., 0]
    else:
        result = np.ones(shape_of(result)[:-1], dtype=x.dtype)
    return _with_axes(result, x.shape, axes, keepdims)


def mean(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return sum(x, axis=axis, keepdims=keepdims) / _count(x, axis)


def _count(x: Any, axis: Axes) -> int:
    return math.prod([shape_of(x)[a] for a in axes_of(x, axis)])


def var(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    centred = x - mean(x, axis=axis, keepdims=True)
    squares = anp.real(centred * anp.conj(centred)) if np.iscomplexobj(value(x)) else centred * centred
    total = sum(squares, axis=axis, keepdims=keepdims)
    return total / np.maximum(_count(x, axis) - correction, 0.0).astype(np.asarray(value(total)).dtype)


def std(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return root(var(x, axis=axis, correction=correction, keepdims=keepdims))


def root(x: Any) -> Any:
    """The square root of a sum of squares: where all of them are zero, its derivative is zero, not NaN."""
    corner = value(x) == 0
    return where(corner, 0.0, anp.sqrt(where(corner, 1.0, x)))


def _not_negative(x: Any, axis: Axes) -> Axes:
    """Several axes in the form that autograd's forward rules take."""
    return axis if axis is None or isinstance(axis, Int) else tuple(axes_of(x, axis))


def max(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return anp.max(x, axis=_not_negative(x, axis), keepdims=keepdims)


def min(x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return anp.min(x, axis=_not_negative(x, axis), keepdims=keepdims)


def _cumulated(x: Any, axis: int | None, include_initial: bool, product: bool, dtype: Any) -> Any:
    ndim = ndim_of(x)
    if axis is None:
        if ndim != 1:
            name = "cumulative_prod" if product else "cumulative_sum"
            raise ValueError(f"{name} needs an axis for an array of more than one dimension.")
        axis = 0
    axis, x = _axis(axis, ndim), _summed(dtype, x)
    if not product:
        result = anp.cumsum(x, axis=axis)
    else:
        result, step, count = x, 1, shape_of(x)[axis]
        while step < count:  # each element takes in the ones at a doubling distance in front of it
            later = result[_along(axis, slice(step, None))] * result[_along(axis, slice(None, count - step))]
            result = anp.concatenate([result[_along(axis, slice(None, step))], later], axis=axis)
            step *= 2
    if include_initial:
        shape = list(shape_of(x))
        shape[axis] = 1
        start = np.full(shape, 1 if product else 0, dtype=np.asarray(value(result)).dtype)
        result = anp.concatenate([start, result], axis=axis)
    return result


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    return _cumulated(x, axis, include_initial, False, dtype)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """As sums are; autograd has no rule, and a quotient of products would be NaN at a zero."""
    return _cumulated(x, axis, include_initial, True, dtype)


# Products ------------------------------------------------------------------------------------------------------------


def vecdot(x: Any, y: Any, /, *, axis: int = -1) -> Any:
    shape = np.broadcast_shapes(shape_of(x), shape_of(y))
    return anp.sum(broadcast_to(conjugate(x), shape) * broadcast_to(y, shape), axis=axis)


def einsum(subscripts: str, /, *operands: Any, **options: Any) -> Any:
    """As in NumPy. autograd has no rule for a repeated index of an operand, so diagonals are taken first. Its gradient of
    an operand with a broadcast axis of length 1 has the wrong shape, so such axes are broadcast first.
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        letters = "".join(terms).replace("...", "")
        output = "..." * ("..." in inputs) + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    taken = [_without_repeats(term, x) for term, x in zip(terms, operands)]
    lengths = index_lengths([term for term, _ in taken], [x for _, x in taken])
    taken = [(term, _expanded(term, x, lengths)) for term, x in taken]
    return anp.einsum(",".join(term for term, _ in taken) + "->" + output, *[x for _, x in taken], **options)


def index_lengths(terms: Sequence[str], operands: Sequence[Any]) -> dict[str, set[int]]:
    """The lengths of the axes that each index of an einsum names; those of `...` left aside."""
    lengths: dict[str, set[int]] = {}
    for term, x in zip(terms, operands):
        for letter, axis in _axes(term, ndim_of(x)):
            lengths.setdefault(letter, set()).add(shape_of(x)[axis])
    return lengths


def _axes(term: str, ndim: int) -> Iterator[tuple[str, int]]:
    before, _, after = term.partition("...")
    yield from zip(before, range(ndim))
    yield from zip(after, range(ndim - len(after), ndim))


def _expanded(term: str, x: Any, lengths: dict[str, set[int]]) -> Any:
    shape = list(shape_of(x))
    for letter, axis in _axes(term, len(shape)):
        if shape[axis] == 1:
            shape[axis] = builtins.max(lengths[letter] - {1}, default=1)
    return x if tuple(shape) == tuple(shape_of(x)) else broadcast_to(x, tuple(shape))


def _without_repeats(term: str, x: Any) -> tuple[str, Any]:
    for letter in dict.fromkeys(term.replace("...", "")):
        while term.count(letter) > 1:
            before, _, after = term.partition("...")
            ndim = ndim_of(x)
            places = [n for n, c in enumerate(before) if c == letter]
            places += [ndim - len(after) + n for n, c in enumerate(after) if c == letter]
            i = np.arange(shape_of(x)[places[0]])
            x = anp.moveaxis(x, places[:2], (-2, -1))[..., i, i]
            first = term.index(letter)
            second = term.index(letter, first + 1)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return term, x


def tensordot(x: Any, y: Any, /, *, axes: Any = 2) -> Any:
    return anp.tensordot(x, y, int(axes) if isinstance(axes, Int) else [list(part) for part in axes])
