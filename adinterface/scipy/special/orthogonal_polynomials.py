"""Orthogonal polynomials. Source: NIST Digital Library of Mathematical Functions, 18.9."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ..arrays import inexact
from ..dispatch import of_scipy, unsupported


def one_degree_less(name: str, n: Any, *rest: Any) -> Any:
    """The polynomial of one degree less, for any real degree. Zero for one of degree zero."""
    none = (n == 0) | (n == -1)
    return np.where(none, 0.0, getattr(special, f"eval_{name}")(np.where(none, 0, n - 1), *rest))


def lowered(name: str, factor: Callable[..., Any], *rises: int) -> Callable[..., Any]:
    """The slope of a polynomial: a factor times that of one degree less, whose parameters are
    raised by so much.
    """

    def slope(y: Any, n: Any, *rest: Any) -> Any:
        *parameters, x = rest
        return factor(n, *parameters) * one_degree_less(
            name, n, *[p + rise for p, rise in zip(parameters, rises)], x
        )

    return slope


# Below a degree in the middle functions come again: P_n = P_(-n-1), T_n = T_(-n), U_n = -U_(-n-2).


def legendre_slope(n: Any, x: Any) -> Any:
    return one_degree_less("gegenbauer", np.maximum(n, -n - 1), 1.5, x)


def chebyt_slope(n: Any, x: Any) -> Any:
    return np.abs(n) * one_degree_less("chebyu", np.abs(n), x)


def chebyu_slope(n: Any, x: Any) -> Any:
    return np.where(n < -1, -2.0, 2.0) * one_degree_less(
        "gegenbauer", np.maximum(n, -n - 2), 2.0, x
    )


@of_scipy(special.assoc_legendre_p_all)
def assoc_legendre_p_all(
    n: int, m: int, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0
) -> Any:
    """By the recurrence in the degree, for z between -1 and 1: shape (diff_n + 1, n + 1, 2 m + 1,
    ...).
    """
    z = inexact(z)
    if branch_cut != 2 or z.dtype.kind == "c":
        raise unsupported(
            "scipy.special.assoc_legendre_p_all", f"branch_cut={branch_cut} or a complex z"
        )
    orders = [*range(m + 1), *range(-m, 0)]
    columns = [_of_order(abs(order), n, z, diff_n) for order in orders]
    scales = np.array(
        [[_scale(degree, order, norm) for order in orders] for degree in range(n + 1)]
    )
    table = np.stack([np.stack([np.stack(degree) for degree in column]) for column in columns], 2)
    return np.swapaxes(table, 0, 1) * np.reshape(
        scales, (*scales.shape, *[1] * len(z.shape))
    ).astype(z.dtype)


def _of_order(m: int, n: int, z: Any, diff_n: int) -> list[list[Any]]:
    """Of each degree up to n, the polynomial of order m and its derivatives."""
    w, h, zero = 1 - z * z, m / 2, 0 * z
    first = (1 + zero) if m == 0 else w**h
    second = -m * z * w ** (h - 1) if m else zero
    third = (
        zero
        if m == 0
        else -m * w ** (h - 1) + (m * (m - 2) * z * z * w ** (h - 2) if m != 2 else 0)
    )
    size = float((-1) ** m * math.prod(range(1, 2 * m, 2)))
    rows = [[zero] * (diff_n + 1)] * m + [
        [size * each for each in (first, second, third)[: diff_n + 1]]
    ]
    for degree in range(m, n):
        now, before = rows[degree], rows[degree - 1] if degree > m else [zero] * (diff_n + 1)
        rows.append(
            [
                (
                    (2 * degree + 1) * (z * now[k] + (k * now[k - 1] if k else 0))
                    - (degree + m) * before[k]
                )
                / (degree - m + 1)
                for k in range(diff_n + 1)
            ]
        )
    return rows[: n + 1]


def _scale(degree: int, order: int, norm: bool) -> float:
    """The factor of a polynomial, with that of the order without its sign."""
    if abs(order) > degree:
        return 0.0
    count = math.perm(degree + abs(order), 2 * abs(order))
    size = math.sqrt((degree + 0.5) / count) if norm else 1.0 if order >= 0 else 1 / count
    return -size if order < 0 and order % 2 else size
