"""Rows of the study: rules that are right, and rules with a fault, for `check_rule`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from judged_functions import Random, Row

from adinterface import array_namespace, rule
from adinterface.rules import ignore_derivatives, scalar_rule


def _scalar(
    f: Callable[[Any, Any], Any], derivative: Callable[[Any, Any], Any], draw: Callable[[Random], Any], double: bool = False
) -> Row:
    """f and its derivative of `(xp, x)`."""
    made = scalar_rule(lambda x: f(array_namespace(x), x), lambda value, x: derivative(array_namespace(x), x))
    return Row(lambda random, dtype: (made, (np.asarray(draw(random), dtype),)), double)


def _cosine(factor: float) -> Callable[[Any, Any], Any]:
    return lambda xp, x: factor * xp.cos(x)


@rule
def _inverse(a: Any) -> Any:
    return array_namespace(a).linalg.inv(a)


@_inverse.pullback
def _(c: Any, value: Any, a: Any) -> Any:
    transposed = array_namespace(value).matrix_transpose(value)
    return (-(transposed @ c @ transposed),)


@rule
def _softmax(x: Any) -> Any:
    xp = array_namespace(x)
    e = xp.exp(x - xp.max(x))
    return e / xp.sum(e)


@_softmax.pullback
def _(c: Any, value: Any, x: Any) -> Any:
    return (value * (c - array_namespace(x).sum(c * value)),)


def _uniform(random: Random) -> Any:
    return random.uniform(0.5, 1.5, 3)


def _hilbert(random: Random) -> Any:
    return random.uniform(1, 2) / (np.arange(6)[:, None] + np.arange(6) + 1.0)


RIGHT_RULES: dict[str, Row] = {
    "rule of a sine": _scalar(lambda xp, x: xp.sin(x), lambda xp, x: xp.cos(x), _uniform),
    "rule of a logarithm near 1e-8": _scalar(lambda xp, x: xp.log(x), lambda xp, x: 1 / x, lambda r: 1e-8 * _uniform(r), True),
    "rule of 1e-6 x**2": _scalar(lambda xp, x: 1e-6 * x * x, lambda xp, x: 2e-6 * x, _uniform, True),
    "rule of an inverse": Row(lambda random, dtype: (_inverse, (np.eye(3) + 0.1 * random.standard_normal((3, 3)),)), True),
    "rule of the inverse of a Hilbert matrix": Row(lambda random, dtype: (_inverse, (_hilbert(random),)), True),
    "rule of a softmax": Row(lambda random, dtype: (_softmax, (random.standard_normal(4).astype(dtype),))),
}

RULE_FAULTS: dict[str, Row] = {
    **{
        f"rule of a sine, factor {factor}": _scalar(lambda xp, x: xp.sin(x), _cosine(factor), _uniform)
        for factor in (1.001, 1.5, 0, -1)
    },
    "second order only": _scalar(lambda xp, x: xp.sin(x), lambda xp, x: xp.cos(ignore_derivatives(x)), _uniform, True),
    "second order of 1e-6 x**2": _scalar(
        lambda xp, x: 1e-6 * x * x, lambda xp, x: 2e-6 * ignore_derivatives(x), _uniform, True
    ),
    "in single precision only": _scalar(
        lambda xp, x: xp.sin(x), lambda xp, x: xp.cos(x) * (1.0 if "64" in str(x.dtype) else 1.01), _uniform, True
    ),
}
