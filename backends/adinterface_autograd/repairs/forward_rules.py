"""Our forward rules: where autograd's are wrong, and for common primitives, where ours are faster.

A rule is called as autograd calls its own: `rule(argnums, tangents, answer, args, kwargs)`, with
one tangent for each of the argnums. It returns the tangent of the answer, in the answer's shape.
autograd's replaced rules add separate terms, each broadcast by several traced calls, and make n
concatenations for one of n parts.
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
from .functions import primitive_of, shape_of, value

Rule = Callable[..., Any]
RULES: dict[Any, Rule] = {}


def _rule_of(*primitives: Any) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(primitives, rule))
        return rule

    return register


def _spread(tangent: Any, answer: Any) -> Any:
    """A tangent of an argument that is broadcast, as one of the answer."""
    if (
        type(tangent) is type(answer)
        and tangent.shape == answer.shape
        and tangent.dtype == answer.dtype
    ):
        return tangent
    numbers = value(answer)
    if shape_of(tangent) == np.shape(numbers) and np.iscomplexobj(
        value(tangent)
    ) == np.iscomplexobj(numbers):
        return tangent
    return tangent + np.zeros_like(numbers)


# Arithmetic
# ------------------------------------------------------------------------------------------------


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
    anp.linalg.inv: _unary(lambda g, y, x: -anp.matmul(anp.matmul(y, g), y)),
}


# What is linear
# ------------------------------------------------------------------------------------------------


def _linear(primitive: Any) -> Rule:
    """The rule of a primitive that is linear in its first argument, the only one that moves."""

    def rule(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        return primitive(tangents[0], *args[1:], **kwargs)

    return rule


for _primitive in (
    anp.reshape,
    anp.transpose,
    anp.sum,
    wrapper._astype,
    func(ArrayBox.__getitem__),
):
    RULES[_primitive] = _linear(_primitive)


def _of_parts(primitive: Any, settings: int) -> Rule:
    """The rule of a primitive that joins parts, which follow so many other arguments."""

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


# What chooses
# ------------------------------------------------------------------------------------------------


@_rule_of(primitive_of(anp.where))
def _where(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    """autograd's rule ignores the broadcasting of the choices."""
    choices = [None, 0.0, 0.0]
    for argnum, tangent in zip(argnums, tangents):
        choices[argnum] = tangent
    return _spread(anp.where(args[0], *choices[1:]), answer)


# Matrices, and the primitives of this package, which autograd's forward mode then covers too
# ----------------------


def _solve(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    right = sum([t if argnum else -anp.matmul(t, answer) for argnum, t in zip(argnums, tangents)])
    return linalg._solve(args[0], right)


def _hypot(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    return sum([t * functions._leg(args[argnum], answer) for argnum, t in zip(argnums, tangents)])


def _written(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
    known = dict(zip(argnums, tangents))
    return functions.written(
        known[0] if 0 in known else np.zeros_like(value(answer)), args[1], known.get(2, 0.0)
    )


defjvp_argnums(linalg._solve, _solve)
defjvp_argnums(functions.written, _written)
defjvp_argnums(functions.hypot, _hypot)
defjvp_argnums(functions._where, _where)
defjvp_argnums(functions._cast, _linear(functions._cast))
defjvp_argnums(functions._stack, _of_parts(functions._stack, 1))
defjvp_argnums(fft._transform, _linear(fft._transform))
