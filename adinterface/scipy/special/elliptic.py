"""Elliptic integrals and functions. Source: NIST Digital Library of Mathematical Functions, 19.4, 19.18, 22.13, 22.16.

Near m = 0 or 1, where the closed forms cancel, their integral is computed by Gauss-Legendre quadrature.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
#: Below, the closed forms are not used; from this amplitude on, what is integrated is too steep near m = 1.
_SMALL, _STEEP = 0.1, 1.2


def _split(m: Any) -> tuple[Any, Any, Any]:
    """Where m is small; m there, and m elsewhere."""
    small = np.abs(m) < _SMALL
    return small, np.where(small, m, 0.0), np.where(small, 0.5, m)


def _quadrature(phi: Any, m: Any, power: float) -> Any:
    """The integral of sin^2 (1 - m sin^2)^power / 2 from 0 to phi."""
    total: Any = 0.0
    for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist()):
        square = np.sin(phi * ((node + 1) / 2)) ** 2
        total = total + weight * square * (1 - m * square) ** power
    return total * phi / 4


def first_by_m(m: Any) -> Any:
    """The derivative of the complete integral of the first kind."""
    small, near, far = _split(m)
    closed = (special.ellipe(far) - (1 - far) * special.ellipk(far)) / (2 * far * (1 - far))
    return np.where(small, _quadrature(math.pi / 2 * np.ones_like(near), near, -1.5), closed)


def second_by_m(m: Any) -> Any:
    small, near, far = _split(m)
    closed = (special.ellipe(far) - special.ellipk(far)) / (2 * far)
    return np.where(small, -_quadrature(math.pi / 2 * np.ones_like(near), near, -0.5), closed)


def first_incomplete_by_m(phi: Any, m: Any) -> Any:
    m, phi = m + 0 * phi, phi + 0 * m
    # Quarter periods are complete integrals, so that only what is left depends on phi.
    turns = np.round(phi / math.pi)
    rest = phi - turns * math.pi
    full_periods = np.where(turns == 0, 0.0, 2 * turns * first_by_m(np.where(turns == 0, 0.5, m)))
    # Near m = 1 the closed form is a difference of numbers alike too.
    near_one = np.abs(1 - m) < _SMALL
    smooth = (np.abs(m) < _SMALL) | (near_one & (np.abs(rest) < _STEEP))
    steep = near_one & ~smooth
    integrated = _quadrature(np.where(smooth, rest, 0.0), np.where(smooth, m, 0.0), -1.5)
    symmetric = _first_by_m_symmetric(np.where(steep, rest, 1.0), np.where(steep, m, 0.5))
    far = np.where(smooth | steep, 0.5, m)
    rise = np.sin(2 * rest) / np.sqrt(1 - far * np.sin(rest) ** 2)
    difference = special.ellipeinc(rest, far) - (1 - far) * special.ellipkinc(rest, far)
    closed = (difference / far - rise / 2) / (2 * (1 - far))
    return full_periods + np.where(smooth, integrated, np.where(steep, symmetric, closed))


def _first_by_m_symmetric(phi: Any, m: Any) -> Any:
    """By Carlson's integral of the second kind, within a quarter period."""
    sine = np.sin(phi)
    return sine**3 / 6 * special.elliprd(np.cos(phi) ** 2, np.ones_like(sine), 1 - m * sine**2)


def second_incomplete_by_m(phi: Any, m: Any) -> Any:
    small, near, far = _split(m + 0 * phi)
    phi = phi + 0 * m
    turns = np.round(phi / math.pi)
    rest = phi - turns * math.pi
    series = 2 * turns * _quadrature(math.pi / 2 * np.ones_like(near), near, -0.5) + _quadrature(rest, near, -0.5)
    closed = (special.ellipeinc(phi, far) - special.ellipkinc(phi, far)) / (2 * far)
    return np.where(small, -series, closed)


def first_by_complement(p: Any) -> Any:
    """The derivative of the first kind at m = 1 - p, also where p is below the rounding of 1."""
    near_one = p < 0.5
    inner = np.where(near_one, p, 0.5)
    closed = (special.ellipe(1 - inner) - inner * special.ellipkm1(inner)) / (2 * (1 - inner) * inner)
    return np.where(near_one, closed, first_by_m(1 - np.where(near_one, 0.5, p)))


def jacobi(values: Any, u: Any, m: Any) -> Any:
    sn, cn, dn, phi = values
    by_m = -first_incomplete_by_m(phi, m) * dn  # of the amplitude, at a fixed u
    return (
        (cn * dn, cn * by_m),
        (-sn * dn, -sn * by_m),
        (-m * sn * cn, -(sn * sn / 2 + m * sn * cn * by_m) / dn),
        (dn, by_m),
    )


# Carlson's symmetric integrals.


def degenerate(y: Any, a: Any, b: Any, c: Any) -> Any:
    """By the Euler-Poisson-Darboux equation; NaN where the last argument is one of the others."""
    by_a = (special.elliprd(b, c, a) - y) / (2 * (a - c))
    by_b = (special.elliprd(a, c, b) - y) / (2 * (b - c))
    return by_a, by_b, -(1.5 * y + a * by_a + b * by_b) / c


def elementary(y: Any, a: Any, b: Any) -> Any:
    """By the closed forms, or from the symmetric integrals for equal arguments, where the closed forms are 0 / 0."""
    near = np.abs(b - a) < _SMALL * np.abs(b)
    gap = np.where(near, 1.0, b - a)
    one, other = np.where(near, a, 1.0), np.where(near, b, 1.0)
    by_a = np.where(near, -special.elliprd(other, other, one) / 6, (y - 1 / np.sqrt(a)) / (2 * gap))
    return by_a, np.where(near, -special.elliprd(one, other, other) / 3, (np.sqrt(a) / b - y) / (2 * gap))


def symmetric(y: Any, a: Any, b: Any, c: Any) -> Any:
    return -special.elliprd(b, c, a) / 6, -special.elliprd(a, c, b) / 6, -special.elliprd(a, b, c) / 6
