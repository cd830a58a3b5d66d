"""Jacobians and Hessians of the problems to fifty digits and more, by differences of mpmath's
numbers.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from .problems import Problem

#: Digits of the numbers, and of the step: the truncation error is its square.
_DIGITS, _STEP = 90, 30


class Exact:
    """mpmath as the mathematics of a problem."""

    exp, log, sqrt = staticmethod(mpmath.exp), staticmethod(mpmath.log), staticmethod(mpmath.sqrt)
    sin, cos, atan = staticmethod(mpmath.sin), staticmethod(mpmath.cos), staticmethod(mpmath.atan)

    @property
    def one(self) -> Any:
        return mpmath.mpf(1)

    @property
    def pi(self) -> Any:
        return +mpmath.pi


def jacobian(problem: Problem) -> np.ndarray[Any, Any]:
    """(outputs, n)"""
    with mpmath.workdps(_DIGITS):
        h = mpmath.mpf(10) ** -_STEP
        x = [mpmath.mpf(v) for v in problem.x]
        columns = []
        for i in range(len(x)):
            size = h * (abs(x[i]) or 1)
            ends = [
                problem.f([*x[:i], x[i] + step, *x[i + 1 :]], Exact()) for step in (size, -size)
            ]
            columns.append([float((a - b) / (2 * size)) for a, b in zip(*ends)])
    return np.array(columns).T


def hessian(problem: Problem) -> np.ndarray[Any, Any]:
    """(n, n), of the sum of squares of the outputs; of the output itself if it is one."""
    with mpmath.workdps(_DIGITS):
        h = mpmath.mpf(10) ** -(_STEP // 2)
        x = [mpmath.mpf(v) for v in problem.x]
        steps = [h * (abs(v) or 1) for v in x]

        def at(*moves: tuple[int, int]) -> Any:
            z = list(x)
            for i, sign in moves:
                z[i] += sign * steps[i]
            return scalar(problem.f(z, Exact()))

        found = np.empty((len(x), len(x)))
        for i in range(len(x)):
            for j in range(i + 1):
                corners = (
                    at((i, 1), (j, 1))
                    - at((i, 1), (j, -1))
                    - at((i, -1), (j, 1))
                    + at((i, -1), (j, -1))
                )
                found[i, j] = found[j, i] = float(corners / (4 * steps[i] * steps[j]))
    return found


def scalar(outputs: list[Any]) -> Any:
    """The objective that a problem means."""
    return outputs[0] if len(outputs) == 1 else sum(v * v for v in outputs)
