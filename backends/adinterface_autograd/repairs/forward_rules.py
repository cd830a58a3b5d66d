"""Our forward rules: where autograd's are wrong, and for common primitives, where ours are faster.

A rule is called as autograd calls its own: `rule(argnums, tangents, answer, args, kwargs)`, with one tangent for each of the
argnums. It returns the tangent of the answer, in the answer's shape. autograd's replaced rules add separate terms, each
broadcast by several traced calls, and make n concatenations for one of n parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defjvp_argnums
from autograd.numpy import numpy_wrapper as wrapper
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.util import func

from . import fft, functions, linalg
from .functions import Axes, axes_of, shape_of, take_along_axis, value

Rule = Callable[..., Any]
RULES: dict[Any, Rule] = {}


def _rule_of(*primitives: Any) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return register


def _require(kwargs: dict[str, Any], *known: str) -> None:
    """Leave calls with other keywords, such as `where`, to the transposed reverse rule."""
    if not kwargs.keys() <= set(known):
        raise NotImplementedError(f"this rule knows no {', '.join(kwargs.keys() - set(known))}")


def _spread(tangent: Any, answer: Any) -> Any:
    """A tangent of an argument that is broadcast, as one of the answer."""
    if type(tangent) is type(answer) and tangent.shape == answer.shape and tangent.dtype == answer.dtype:
        return tangent
    numbers = value(answer)
    if shape_of(tangent) == np.shape(numbers) and np.iscomplexobj(value(tangent)) == np.iscomplexobj(numbers):
        return tangent
    return tangent + np.zeros_like(numbers)


# Arithmetic ----------------------------------------------------------------------------------------------------------


@_rule_of(anp.add)
def _add(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    return tangents[0] + tangents[1] if len(tangents) == 2 else _spread(tangents[0], answer)


@_rule_of(anp.subtract)
def _subtract(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    if len(tangents) == 2:
        return tangents[0] - tangents[1]
    return _spread(-tangents[0] if argnums[0] else tangents[0], answer)


@_rule_of(anp.multiply)
def _multiply(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    if len(tangents) == 2:
        return tangents[0] * args[1] + args[0] * tangents[1]
    return args[0] * tangents[0] if argnums[0] else tangents[0] * args[1]


@_rule_of(anp.divide, anp.true_divide)
def _divide(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    if len(tangents) == 2:
        return (tangents[0] - answer * tangents[1]) / args[1]
    return -(answer * tangents[0]) / args[1] if argnums[0] else tangents[0] / args[1]


@_rule_of(anp.power)
def _power(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    x, y = args
    if len(tangents) == 1 and type(y) in (int, float):
        return tangents[0] * (y * x ** (y - 1 if y else 1))
    total: Any = None
    for argnum, tangent in zip(argnums, tangents):
        if argnum == 0:
            term = tangent * y * x ** anp.where(y, y - 1, 1.0)
        else:
            term = tangent * anp.log(anp.where(x, x, 1.0)) * answer
        total = term if total is None else total + term
    return total


def _unary(derivative: Callable[[Any, Any, Any], Any]) -> Rule:
    """The rule of a function of one argument, from `derivative(tangent, answer, x)`."""

    def rule(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        return derivative(tangents[0], answer, args[0])

    return rule


RULES |= {
    anp.negative: _unary(lambda g, y, x: -g),
    anp.exp: _unary(lambda g, y, x: g * y),
    anp.log: _unary(lambda g, y, x: g / x),
    anp.sin: _unary(lambda g, y, x: g * anp.cos(x)),
    anp.cos: _unary(lambda g, y, x: -g * anp.sin(x)),
    anp.tanh: _unary(lambda g, y, x: g / anp.cosh(x) ** 2),
    anp.square: _unary(lambda g, y, x: g * 2 * x),
    anp.sqrt: _unary(lambda g, y, x: g * 0.5 / y),
}


# What is linear ------------------------------------------------------------------------------------------------------


def _linear(primitive: Any) -> Rule:
    """The rule of a primitive that is linear in its first argument, where only that has a tangent."""

    def rule(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        return primitive(tangents[0], *args[1:], **kwargs)

    return rule


for _primitive in (anp.reshape, anp.transpose, anp.sum, wrapper._astype, func(ArrayBox.__getitem__)):
    RULES[_primitive] = _linear(_primitive)


def _of_parts(primitive: Any, settings: int) -> Rule:
    """The rule of a primitive that puts together parts, which follow so many arguments of another kind."""

    def rule(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        parts = list(args)
        for n in range(settings, len(parts)):
            parts[n] = np.zeros_like(value(parts[n]))
        for argnum, tangent in zip(argnums, tangents):
            parts[argnum] = tangent
        return primitive(*parts, **kwargs)

    return rule


RULES[anp.array_from_args] = _of_parts(anp.array_from_args, 2)
RULES[anp.concatenate_args] = _of_parts(anp.concatenate_args, 1)


@_rule_of(anp.pad)
def _pad(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule ignores the options, and treats every mode as linear."""
    return _padded(tangents[0], *args[1:], **kwargs)


def _padded(tangent: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    if mode in ("constant", "linear_ramp", "empty"):  # the added values have no tangent
        return anp.pad(tangent, pad_width, "constant" if mode == "empty" else mode)
    if mode in ("edge", "mean", "reflect", "symmetric", "wrap"):
        return anp.pad(tangent, pad_width, mode, **options)
    raise NotImplementedError(f"autograd has no forward rule for pad with mode={mode!r}. Join the parts with concatenate.")


# What chooses --------------------------------------------------------------------------------------------------------


@_rule_of(anp._original_where)
def _where(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule ignores the broadcasting of the choices."""
    choices = [None, 0.0, 0.0]
    for argnum, tangent in zip(argnums, tangents):
        choices[argnum] = tangent
    return _spread(anp.where(args[0], *choices[1:]), answer)


def _kept(x: Any, reduced: Any, axis: Axes) -> Any:
    """What `reduced` would be with keepdims."""
    axes = axes_of(x, axis)
    return anp.reshape(reduced, [1 if n in axes else length for n, length in enumerate(shape_of(x))])


@_rule_of(anp.max, anp.min, anp.amax, anp.amin)
def _extreme(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule fails for tuples of negative axes and for NumPy integers."""
    _require(kwargs, "axis", "out", "keepdims")
    return _chosen(answer, tangents[0], *args, **kwargs)


def _chosen(answer: Any, tangent: Any, x: Any, axis: Axes = None, out: None = None, keepdims: bool = False) -> Any:
    places = value(x) == value(_kept(x, answer, axis))
    axes = tuple(axes_of(x, axis))
    return anp.sum(tangent * places, axis=axes, keepdims=keepdims) / np.sum(places, axis=axes, keepdims=keepdims)


@_rule_of(anp.sort)
def _sort(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule is right for one axis only, and silently wrong for more."""
    return _moved(answer, tangents[0], *args, **kwargs)


@_rule_of(anp.partition)
def _partition(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    x, _, *others = args if len(args) > 1 else (*args, None)
    return _moved(answer, tangents[0], x, *others, **kwargs)


def _moved(answer: Any, tangent: Any, x: Any, axis: int | None = -1, *unused: Any, **options: Any) -> Any:
    """The tangent put in the order of the answer, which holds the numbers of x, moved along an axis."""
    numbers, ordered = value(x), value(answer)
    if axis is None:
        numbers, tangent, axis = np.ravel(numbers), anp.ravel(tangent), 0
    source, place = [np.argsort(array, axis=axis, kind="stable") for array in (numbers, ordered)]
    order = np.empty_like(source)
    np.put_along_axis(order, place, source, axis)
    return take_along_axis(tangent, order, axis=axis)


# Statistics and norms ------------------------------------------------------------------------------------------------


def _real_product(x: Any, tangent: Any) -> Any:
    """Half the tangent of |x|**2."""
    if np.iscomplexobj(value(x)):
        return anp.real(anp.conj(x) * tangent)
    return x * tangent


def _half_of_squares(
    tangent: Any, x: Any, axis: Axes = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: bool = False,
    *, correction: float | None = None,
) -> tuple[Any, float]:  # fmt: skip
    """Half the tangent of the sum of the squared distances from the mean, and by what var divides that sum."""
    axes = tuple(axes_of(x, axis))
    centred = x - anp.mean(x, axis=axes, keepdims=True)
    count = np.prod([shape_of(x)[n] for n in axes])
    return anp.sum(_real_product(centred, tangent), axis=axes, keepdims=keepdims), count - (
        ddof if correction is None else correction
    )


@_rule_of(wrapper._primitive_var)
def _var(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule fails for a tuple of axes, and ignores `correction`."""
    _require(kwargs, "axis", "dtype", "out", "ddof", "keepdims", "correction")
    half, count = _half_of_squares(tangents[0], *args, **kwargs)
    return 2 * half / count


@_rule_of(wrapper._primitive_std)
def _std(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    _require(kwargs, "axis", "dtype", "out", "ddof", "keepdims", "correction")
    half, count = _half_of_squares(tangents[0], *args, **kwargs)
    alone = value(args[0]).size == value(answer).size  # of one number, where autograd has zero
    return half * 0.0 if alone else half / (count * answer)


@_rule_of(anp.linalg._primitive_norm)
def _norm(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule ignores keepdims, and returns a complex tangent for complex arrays."""
    return _of_norm(answer, tangents[0], *args, **kwargs)


def _of_norm(answer: Any, tangent: Any, x: Any, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Any:
    axes = tuple(axes_of(x, axis))
    matrix = ord is not None and len(axes) == 2
    if ord == "nuc":
        moved, change = [anp.moveaxis(array, axes, (-2, -1)) for array in (x, tangent)]
        u, _, v = linalg.svd(moved, full_matrices=False)
        result = anp.sum(_real_product(anp.matmul(u, v), change), axis=(-2, -1))
        return anp.reshape(result, shape_of(answer))
    if ord is None or ord == "fro" or (ord == 2 and not matrix):
        return anp.sum(_real_product(x, tangent), axis=axes, keepdims=keepdims) / answer
    if matrix or isinstance(ord, str) or not 1 < ord < np.inf:
        raise NotImplementedError(f"autograd has no derivative of this norm with ord={ord!r}. Write it as a sum or with svd.")
    weighted = _real_product(x, tangent) * anp.abs(x) ** (ord - 2)
    return anp.sum(weighted, axis=axes, keepdims=keepdims) / answer ** (ord - 1)


# Matrices, and the primitives of this package, which autograd's forward mode then covers too ----------------------


@_rule_of(anp.linalg.inv)
def _inv(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    return -anp.matmul(anp.matmul(answer, tangents[0]), answer)


def _solve(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    right = sum([t if argnum else -anp.matmul(t, answer) for argnum, t in zip(argnums, tangents)])
    return linalg._solve(args[0], right)


def _hypot(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    return sum([t * functions._leg(args[argnum], answer) for argnum, t in zip(argnums, tangents)])


def _written(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    known = dict(zip(argnums, tangents))
    return functions.written(known[0] if 0 in known else np.zeros_like(value(answer)), args[1], known.get(2, 0.0))


defjvp_argnums(linalg._solve, _solve)
defjvp_argnums(functions.written, _written)
defjvp_argnums(functions.hypot, _hypot)
defjvp_argnums(functions._where, _where)
defjvp_argnums(functions._cast, _linear(functions._cast))
defjvp_argnums(functions._stack, _of_parts(functions._stack, 1))
defjvp_argnums(fft._transform, _linear(fft._transform))
