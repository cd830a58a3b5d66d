"""A third set of problems, written before the method that was changed after the second one was measured on any of them.

Sources. MGH: as in `problems`, the functions that it leaves out. NIST: as there, from starts that it leaves out. HS: W. Hock,
K. Schittkowski, Test Examples for Nonlinear Programming Codes (1981), objectives and constraints at their standard starts.
Andrei: N. Andrei, An unconstrained optimization test functions collection, Adv. Modeling and Optimization 10 (2008), p. 147,
at the standard starts and near them. Systems: K. Meintjes, A. Morgan, Chemical equilibrium systems as numerical test
problems, ACM Trans. Math. Software 16 (1990), p. 143; J. Dennis, D. Gay, P. Vu, A new nonlinear equations test problem, Rice
University (1983); the circuit of H. Ratschek, J. Rokne, J. Global Optimization 3 (1993), p. 501; B. Averick, R. Carter,
J. More, G. Xue, The MINPACK-2 test problem collection, Argonne (1992). Functions: NIST Digital Library of Mathematical
Functions (dlmf.nist.gov), each by a formula of that library. Flows: textbook differential equations by Runge and Kutta.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .held_out import _runge_kutta
from .problems import Problem, Table, _bells, kowalik_osborne, of, problems_of

Numbers = Sequence[Any]


def _product(factors: Numbers) -> Any:
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product


# More, Garbow, Hillstrom, the rest -----------------------------------------------------------------------------------


def gulf(x: Numbers, m: Any) -> list[Any]:
    parts = [i * m.one / 100 for i in range(5, 100, 10)]
    ys = [25 + m.exp(m.log(-50 * m.log(t)) * 2 / 3) for t in parts]
    return [m.exp(-((y - x[1]) ** x[2]) / x[0]) - t for y, t in zip(ys, parts)]


def discrete_integral(x: Numbers, m: Any) -> list[Any]:
    h = m.one / (len(x) + 1)
    ts = [i * h for i in range(1, len(x) + 1)]
    cubes = [(v + t + 1) ** 3 for v, t in zip(x, ts)]
    below = [sum(s * c for s, c in zip(ts[: i + 1], cubes)) for i in range(len(x))]
    above = [sum((1 - s) * c for s, c in zip(ts[i + 1 :], cubes[i + 1 :])) for i in range(len(x))]
    return [v + h / 2 * ((1 - t) * a + t * b) for v, t, a, b in zip(x, ts, below, above)]


def broyden_banded(x: Numbers, m: Any) -> list[Any]:
    found = []
    for i, v in enumerate(x):
        beside = [x[j] for j in range(max(0, i - 5), min(len(x), i + 2)) if j != i]
        found.append(v * (2 + 5 * v**2) + 1 - sum(w * (1 + w) for w in beside))
    return found


def linear_rank_1(x: Numbers, m: Any) -> list[Any]:
    moment = sum(j * v for j, v in enumerate(x, 1))
    return [i * moment - 1 for i in range(1, 6)]


_INTEGRAL = tuple([t * (t - 1) for t in (1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6)])
_MGH: Table = {
    "gulf": (gulf, ((5.0, 2.5, 0.15), (50.0, 25.0, 1.5))),
    "penalty_1": (
        lambda x, m: [*[m.sqrt(1e-5 * m.one) * (v - 1) for v in x], sum(v**2 for v in x) - 0.25],
        ((1.0, 2.0, 3.0, 4.0),),
    ),
    "discrete_integral": (discrete_integral, (_INTEGRAL, tuple([10 * v for v in _INTEGRAL]))),
    "broyden_banded": (broyden_banded, ((-1.0,) * 7,)),
    "linear_rank_1": (linear_rank_1, ((1.0,) * 3,)),
}  # fmt: skip


# NIST, the rest ------------------------------------------------------------------------------------------------------


_NIST: Table = {
    "gauss": (
        lambda x, m: [_bells(m.one * t, x, m) for t in range(1, 251, 7)],
        ((96.0, 0.009, 103.0, 106.0, 18.0, 72.0, 151.0, 18.0), (94.9, 0.009, 90.1, 113.0, 20.0, 73.8, 140.0, 20.0)),
    ),
    "kowalik_osborne": (kowalik_osborne, ((25.0, 39.0, 41.5, 39.0),)),
}  # fmt: skip


# Hock, Schittkowski --------------------------------------------------------------------------------------------------


def hs_46(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e = x
    objective = (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6
    return [objective, a**2 * d + m.sin(d - e) - 1, b + c**4 * d**2 - 2]


def hs_62(x: Numbers, m: Any) -> list[Any]:
    a, b, c = x
    first = 255 * m.log((a + b + c + 0.03) / (0.09 * a + b + c + 0.03))
    second = 280 * m.log((b + c + 0.03) / (0.07 * b + c + 0.03))
    return [-32.174 * (first + second + 290 * m.log((c + 0.03) / (0.13 * c + 0.03)))]


def hs_68(x: Numbers, m: Any) -> list[Any]:
    a, _, c, d = x
    grown = m.exp(a) - 1
    return [(0.0024 - (grown - c) * d / (grown + d)) / a]


def hs_71(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d = x
    return [a * d * (a + b + c) + c, a * b * c * d - 25, sum(v**2 for v in x) - 40]


def hs_74(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d = x
    return [
        3 * a + 1e-6 * a**3 + 2 * b + 2e-6 / 3 * b**3,
        1000 * m.sin(-c - 0.25) + 1000 * m.sin(-d - 0.25) + 894.8 - a,
        1000 * m.sin(c - 0.25) + 1000 * m.sin(c - d - 0.25) + 894.8 - b,
        1000 * m.sin(d - 0.25) + 1000 * m.sin(d - c - 0.25) + 1294.8,
    ]


def hs_78(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e = x
    return [_product(x), sum(v**2 for v in x) - 10, b * c - 5 * d * e, a**3 + b**3 + 1]


def hs_93(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f = x
    left, right = a * d * (a + b + c), b * c * (a + 1.57 * b + d)
    return [0.0204 * left + 0.0187 * right + 0.0607 * left * e**2 + 0.0437 * right * f**2]


def hs_100(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g = x
    found = (a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6 + 7 * f**2 + g**4
    return [found - 4 * f * g - 10 * f - 8 * g]


def hs_101(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g = x
    return [
        10 * a / b * d**2 * f**-3 * g**-0.25 + 15 / a * b**-2 * c * d / e * g**-0.5 + 20 * a**-2 * b / d * e**-2 * f
        + 25 * a**2 * b**2 / c * e**0.5 * f**-2 * g,
        1 - 0.5 * a**0.5 / c * f**-2 * g - 0.7 * a**3 * b * c**-2 * f * g**0.5 - 0.2 / b * c * d**-0.5 * f ** (2 / 3) * g**0.25,
    ]  # fmt: skip


def hs_104(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g, h = x
    return [
        0.4 * a**0.67 * g**-0.67 + 0.4 * b**0.67 * h**-0.67 + 10 - a - b,
        1 - 4 * c / e - 2 * c**-0.71 / e - 0.0588 * c**-1.3 * g,
        1 - 4 * d / f - 2 * d**-0.71 / f - 0.0588 * d**-1.3 * h,
    ]


def hs_106(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g, h = x
    return [
        a * f - 833.33252 * d - 100 * a + 83333.333, b * g - 1250 * e - b * d + 1250 * d,
        c * h - 1250000 - c * e + 2500 * e,
    ]  # fmt: skip


_FREE = (-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.1, -10.708, -26.662, -22.179)


def hs_111(x: Numbers, m: Any) -> list[Any]:
    amounts = [m.exp(v) for v in x]
    total = m.log(sum(amounts))
    return [sum(amount * (c + v - total) for amount, c, v in zip(amounts, _FREE, x))]


def hs_112(x: Numbers, m: Any) -> list[Any]:
    total = sum(x)
    return [sum(v * (c + m.log(v / total)) for v, c in zip(x, _FREE))]


def hs_114(x: Numbers, m: Any) -> list[Any]:
    a, _, c, d, _, f, g, h, i, j = x
    return [
        1.12 * a + 0.13167 * a * h - 0.00667 * a * h**2 - 0.99 * d, 57.425 + 1.098 * h - 0.038 * h**2 + 0.325 * f - 0.99 * g,
        98000 * c / (d * i + 1000 * c) - f, 35.82 - 0.222 * j - 0.9 * i + 0 * h,
    ]  # fmt: skip


_HS: Table = {
    "hs_7": (lambda x, m: [m.log(1 + x[0] ** 2) - x[1], (1 + x[0] ** 2) ** 2 + x[1] ** 2 - 4], ((2.0, 2.0),)),
    "hs_26": (of(lambda m, a, b, c: [(a - b) ** 2 + (b - c) ** 4, (1 + b**2) * a + c**4 - 3]), ((-2.6, 2.0, 2.0),)),
    "hs_33": (of(lambda m, a, b, c: [(a - 1) * (a - 2) * (a - 3) + c, c**2 - b**2 - a**2]), ((0.0, 0.0, 3.0),)),
    "hs_40": (of(lambda m, a, b, c, d: [-a * b * c * d, a**3 + b**2 - 1, a**2 * d - c, d**2 - b]), ((0.8,) * 4,)),
    "hs_46": (hs_46, ((0.7071067811865476, 1.75, 0.5, 2.0, 2.0),)),
    "hs_57": (
        lambda x, m: [x[0] + (0.49 - x[0]) * m.exp(-x[1] * (t - 8)) for t in (8, 10, 12, 14, 18, 24, 30, 42)],
        ((0.42, 5.0),),
    ),
    "hs_62": (hs_62, ((0.7, 0.2, 0.1),)),
    "hs_66": (lambda x, m: [0.2 * x[2] - 0.8 * x[0], x[1] - m.exp(x[0]), x[2] - m.exp(x[1])], ((0.0, 1.05, 2.9),)),
    "hs_68": (hs_68, ((1.0,) * 4,)),
    "hs_71": (hs_71, ((1.0, 5.0, 5.0, 1.0),)),
    "hs_74": (hs_74, ((0.0,) * 4, (679.9, 1026.1, 0.119, -0.396))),
    "hs_78": (hs_78, ((-2.0, 1.5, 2.0, -1.0, -1.0),)),
    "hs_80": (lambda x, m: [m.exp(_product(x))], ((-2.0, 2.0, 2.0, -1.0, -1.0),)),
    "hs_93": (hs_93, ((5.54, 4.4, 12.02, 11.82, 0.702, 0.852),)),
    "hs_100": (hs_100, ((1.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0),)),
    "hs_101": (hs_101, ((6.0,) * 7,)),
    "hs_104": (hs_104, ((6.0, 3.0, 0.4, 0.2, 6.0, 6.0, 1.0, 0.5),)),
    "hs_106": (hs_106, ((5000.0, 5000.0, 5000.0, 200.0, 350.0, 150.0, 225.0, 425.0),)),
    "hs_111": (hs_111, ((-2.3,) * 10,)),
    "hs_112": (hs_112, ((0.1,) * 10,)),
    "hs_114": (hs_114, ((1745.0, 12000.0, 110.0, 3048.0, 1974.0, 89.2, 92.8, 8.0, 3.6, 145.0),)),
}  # fmt: skip


# Andrei --------------------------------------------------------------------------------------------------------------


def exponential_penalty_1(x: Numbers, m: Any) -> list[Any]:
    d = x[0] - x[1]
    return [(m.exp(d) - 5) ** 2 + d**2 * (d - 11) ** 2]


_ANDREI: Table = {
    "tridiagonal": (lambda x, m: [sum((a + b - 3) ** 2 + (a - b + 1) ** 4 for a, b in pairwise(x))], ((2.0, 2.0, 2.0, 2.0),)),
    "diagonal_1": (lambda x, m: [sum(m.exp(v) - i * v for i, v in enumerate(x, 1))], ((0.25,) * 4,)),
    "diagonal_3": (lambda x, m: [sum(m.exp(v) - i * m.sin(v) for i, v in enumerate(x, 1))], ((1.0,) * 4,)),
    "raydan": (lambda x, m: [sum(i * (m.exp(v) - v) / 10 for i, v in enumerate(x, 1))], ((1.0,) * 4, (-7.0, 12.0, 0.01))),
    "himmelblau": (lambda x, m: [(x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2], ((1.0, 1.0), (3.584, -1.848))),
    "psc_1": (of(lambda m, a, b: [(a**2 + b**2 + a * b) ** 2 + m.sin(a) ** 2 + m.cos(b) ** 2]), ((3.0, 0.1),)),
    "maratos": (lambda x, m: [x[0] + 100 * (x[0] ** 2 + x[1] ** 2 - 1) ** 2], ((1.1, 0.1),)),
    "cliff": (of(lambda m, a, b: [((a - 3) / 100) ** 2 - (a - b) + m.exp(20 * (a - b))]), ((0.0, -1.0), (0.3, 2.1))),
    "quadratic_penalty_2": (
        lambda x, m: [sum((v**2 - m.sin(v)) ** 2 for v in x) + (sum(v**2 for v in x) - 100) ** 2],
        ((1.0,) * 4, (5.1, -4.9, 0.3)),
    ),
    "exponential_penalty_1": (exponential_penalty_1, ((1.5, 1.5), (2.5, 0.7))),
    "denschnf": (
        of(lambda m, a, b: [(2 * (a + b) ** 2 + (a - b) ** 2 - 8) ** 2 + (5 * a**2 + (b - 3) ** 2 - 9) ** 2]),
        ((2.0, 0.0),),
    ),
    "bdexp": (lambda x, m: [sum((a + b) * m.exp(-c * (a + b)) for a, b, c in zip(x, x[1:], x[2:]))], ((1.0,) * 5,)),
    "himmelbg": (lambda x, m: [(2 * x[0] ** 2 + 3 * x[1] ** 2) * m.exp(-x[0] - x[1])], ((1.5, 1.5), (12.0, 9.0))),
    "liarwhd": (lambda x, m: [sum(4 * (v**2 - x[0]) ** 2 + (v - 1) ** 2 for v in x)], ((4.0,) * 4,)),
}  # fmt: skip


# Systems -------------------------------------------------------------------------------------------------------------


def combustion(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g, h, i, j = x
    return [
        b + 2 * f + i + 2 * j - 1e-5, c + h - 3e-5, a + c + 2 * e + 2 * h + i + j - 5e-5, d + 2 * g - 1e-5,
        0.5140437e-7 * e - a**2, 0.1006932e-6 * f - 2 * b**2, 0.7816278e-15 * g - d**2, 0.1496236e-6 * h - a * c,
        0.6194411e-7 * i - a * b, 0.2089296e-14 * j - a * b**2,
    ]  # fmt: skip


def propane(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e = x
    root = m.sqrt(40 * m.one)
    r5, r6, r7, r8, r9, r10 = 0.193, 0.002597 / root, 0.003448 / root, 0.00001799 / 40, 0.0002155 / root, 0.00003846 / 40
    shared = r7 * b * c
    return [
        a * b + a - 3 * e, 2 * a * b + a + b * c**2 + r8 * b - 10 * e + 2 * r10 * b**2 + shared + r9 * b * d,
        2 * b * c**2 + 2 * r5 * c**2 - 8 * e + r6 * c + shared, r9 * b * d + 2 * d**2 - 40 * e,
        a * (b + 1) + r10 * b**2 + b * c**2 + r8 * b + r5 * c**2 + d**2 - 1 + r6 * c + shared + r9 * b * d,
    ]  # fmt: skip


def heart_dipole(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, t, u, v, w = x
    return [
        a + b, c + d, t * a + u * b - v * c - w * d, v * a + w * b + t * c + u * d,
        a * (t**2 - v**2) - 2 * c * t * v + b * (u**2 - w**2) - 2 * d * u * w,
        c * (t**2 - v**2) + 2 * a * t * v + d * (u**2 - w**2) + 2 * b * u * w,
        a * t * (t**2 - 3 * v**2) + c * v * (v**2 - 3 * t**2) + b * u * (u**2 - 3 * w**2) + d * w * (w**2 - 3 * u**2),
        c * t * (t**2 - 3 * v**2) - a * v * (v**2 - 3 * t**2) + d * u * (u**2 - 3 * w**2) - b * w * (w**2 - 3 * u**2),
    ]  # fmt: skip


_CIRCUIT = (
    (0.485, 0.369, 5.2095, 23.3037, 28.5132), (0.752, 1.254, 10.0677, 101.779, 111.8467),
    (0.869, 0.703, 22.9274, 111.461, 134.3884), (0.982, 1.455, 20.2153, 191.267, 211.4823),
)  # fmt: skip


def circuit(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d, e, f, g, h, i = x
    found = [a * c - b * d]
    for g1, g2, g3, g4, g5 in _CIRCUIT:
        found.append((1 - a * b) * c * (m.exp(e * (g1 - g3 * g / 1000 - g5 * h / 1000)) - 1) - g5 + g4 * b)
        found.append((1 - a * b) * d * (m.exp(f * (g1 - g2 - g3 * g / 1000 + g4 * i / 1000)) - 1) - g5 * a + g4)
    return found


def ignition(x: Numbers, m: Any) -> list[Any]:
    """Bratu's equation in one dimension, with a parameter of 3."""
    h = m.one / (len(x) + 1)
    ends = [0, *x, 0]
    return [(2 * b - a - c) / h**2 - 3 * m.exp(b) for a, b, c in zip(ends, ends[1:], ends[2:])]


def pinene(x: Numbers, m: Any) -> list[Any]:
    """The thermal isomerization of alpha-pinene after 36,420 minutes."""
    a, b, c, d, e = x

    def slope(y: list[Any]) -> list[Any]:
        return [
            -(a + b) * y[0], a * y[0], b * y[0] - (c + d) * y[2] + e * y[4], c * y[2], d * y[2] - e * y[4],
        ]  # fmt: skip

    return _runge_kutta(slope, [100 * m.one, 0 * m.one, 0 * m.one, 0 * m.one, 0 * m.one], 910.5, 40)


_SYSTEMS: Table = {
    "combustion": (combustion, ((1.5e-7, 2.1e-7, 2.9e-5, 6.3e-11, 4.3e-7, 8.6e-7, 5e-6, 5.8e-7, 5e-7, 3.2e-6),)),
    "propane": (propane, ((0.0031141, 34.5979, 0.0650418, 0.859378, 0.0369519), (10.0, 10.0, 0.05, 50.5, 0.05))),
    "heart_dipole": (heart_dipole, ((0.299, 0.186, -0.0273, 0.0254, -0.474, 0.474, -0.0892, 0.0892),)),
    "circuit": (circuit, ((0.9, 0.45, 1.0, 2.0, 8.0, 8.0, 5.0, 1.0, 2.0), (0.7, 0.5, 0.9, 1.9, 8.1, 8.1, 5.9, 1.0, 1.9))),
    "ignition": (ignition, ((0.1, 0.3, 0.45, 0.5, 0.45, 0.3, 0.1),)),
    "pinene": (pinene, ((5.93e-5, 2.96e-5, 2.05e-5, 2.75e-4, 4e-5),)),
}  # fmt: skip


# Functions -----------------------------------------------------------------------------------------------------------

#: Stirling's series of the logarithm of gamma (DLMF 5.11.1): the coefficients of 1/x, 1/x^3, ...
_STIRLING = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156))


def _log_gamma(x: Any, m: Any) -> Any:
    shifted, below = x, 0 * x
    for _ in range(12):
        below, shifted = below + m.log(shifted), shifted + 1
    tail = sum(a / (b * shifted ** (2 * k + 1)) for k, (a, b) in enumerate(_STIRLING))
    return (shifted - 0.5) * m.log(shifted) - shifted + m.log(2 * m.pi) / 2 + tail - below


def _erf(x: Any, m: Any) -> Any:
    """7.6.1"""
    term = total = x
    for k in range(1, 50):
        term = -term * x**2 / k
        total = total + term / (2 * k + 1)
    return 2 * total / m.sqrt(m.pi)


def bessel_j(x: Numbers, m: Any) -> list[Any]:
    """Orders 0 and 3, by the midpoint rule for 10.9.2."""
    angles = [m.pi * (2 * k + 1) / 80 for k in range(40)]
    return [sum(m.cos(n * a - x[0] * m.sin(a)) for a in angles) / 40 for n in (0, 3)]


def spherical_bessel(x: Numbers, m: Any) -> list[Any]:
    """10.49.3"""
    v = x[0]
    return [(-1 / v + 3 / v**3) * m.sin(v) - 3 / v**2 * m.cos(v)]


def elliptic_k(x: Numbers, m: Any) -> list[Any]:
    """19.8.5, by the parameter."""
    a, b = m.one, m.sqrt(1 - x[0])
    for _ in range(9):
        a, b = (a + b) / 2, m.sqrt(a * b)
    return [m.pi / (2 * a)]


def lambert_w(x: Numbers, m: Any) -> list[Any]:
    """4.13.1 by Newton's method."""
    w = m.log(1 + x[0])
    for _ in range(12):
        grown = m.exp(w)
        w = w - (w * grown - x[0]) / (grown * (w + 1))
    return [w]


def zeta(x: Numbers, m: Any) -> list[Any]:
    """25.2.3, the alternating series, whose end is Euler's transformation."""
    powers = [m.exp(-x[0] * m.log(m.one * k)) for k in range(1, 41)]
    total = sum(p if k % 2 == 0 else -p for k, p in enumerate(powers[:20]))
    ends, size = powers[20:], m.one / 2
    for _ in range(20):
        total = total + size * ends[0]
        ends, size = [a - b for a, b in pairwise(ends)], size / 2
    return [total / (1 - 2 * m.exp(-x[0] * m.log(2 * m.one)))]


def airy(x: Numbers, m: Any) -> list[Any]:
    """9.4.1"""
    v, f, g = x[0], m.one, x[0]
    first, second = f, g
    for k in range(1, 40):
        f, g = f * v**3 / ((3 * k - 1) * (3 * k)), g * v**3 / ((3 * k) * (3 * k + 1))
        first, second = first + f, second + g
    return [0.355028053887817239 * first - 0.258819403792806798 * second]


def hypergeometric(x: Numbers, m: Any) -> list[Any]:
    """15.2.1"""
    a, b, c, z = x
    term = total = m.one
    for k in range(80):
        term = term * (a + k) * (b + k) / ((c + k) * (k + 1)) * z
        total = total + term
    return [total]


def kummer(x: Numbers, m: Any) -> list[Any]:
    """13.2.2"""
    a, b, z = x
    term = total = m.one
    for k in range(60):
        term = term * (a + k) / ((b + k) * (k + 1)) * z
        total = total + term
    return [total]


def legendre(x: Numbers, m: Any) -> list[Any]:
    """18.9.1, degrees 1 to 10"""
    before, now = m.one, x[0]
    found = [now]
    for n in range(1, 10):
        before, now = now, ((2 * n + 1) * x[0] * now - n * before) / (n + 1)
        found.append(now)
    return found


def hermite(x: Numbers, m: Any) -> list[Any]:
    """18.9.1, degree 8, with the weight"""
    before, now = m.one, 2 * x[0]
    for n in range(1, 8):
        before, now = now, 2 * x[0] * now - 2 * n * before
    return [now * m.exp(-x[0] * x[0] / 2)]


def fresnel(x: Numbers, m: Any) -> list[Any]:
    """7.6.6"""
    t = m.pi * x[0] ** 2 / 2
    term, total = t * x[0], t * x[0] / 3
    for k in range(1, 40):
        term = -term * t**2 / ((2 * k) * (2 * k + 1))
        total = total + term / (4 * k + 3)
    return [total]


def exponential_integral(x: Numbers, m: Any) -> list[Any]:
    """6.9.1, a continued fraction"""
    found = x[0]
    for k in range(60, 0, -1):
        found = x[0] + k / (1 + k / found)
    return [m.exp(-x[0]) / found]


def langevin(x: Numbers, m: Any) -> list[Any]:
    up, down = m.exp(x[0]), m.exp(-x[0])
    return [(up + down) / (up - down) - 1 / x[0]]


def call_option(x: Numbers, m: Any) -> list[Any]:
    """Black and Scholes, by price, strike, rate, volatility and time."""
    price, strike, rate, volatility, time = x
    spread = volatility * m.sqrt(time)
    upper = (m.log(price / strike) + (rate + volatility**2 / 2) * time) / spread
    normal = [(1 + _erf(d / m.sqrt(2 * m.one), m)) / 2 for d in (upper, upper - spread)]
    return [price * normal[0] - strike * m.exp(-rate * time) * normal[1]]


_FUNCTIONS: Table = {
    "log_gamma": (lambda x, m: [_log_gamma(x[0], m)], ((0.3,), (17.5,), (1e-6,))),
    "beta": (lambda x, m: [m.exp(_log_gamma(x[0], m) + _log_gamma(x[1], m) - _log_gamma(x[0] + x[1], m))], ((0.5, 3.2),)),
    "erf": (lambda x, m: [_erf(x[0], m)], ((0.4,), (1.9,))),
    "bessel_j": (bessel_j, ((2.5,), (11.0,))),
    # 10.32.1
    "bessel_i": (lambda x, m: [sum(m.exp(x[0] * m.cos(m.pi * (2 * k + 1) / 80)) for k in range(40)) / 40], ((3.0,),)),
    "spherical_bessel": (spherical_bessel, ((0.3,), (8.0,))),
    "elliptic_k": (elliptic_k, ((0.5,), (0.999,), (1e-5,))),
    "lambert_w": (lambert_w, ((2.5,), (1e3,))),
    "zeta": (zeta, ((2.5,), (1.1,))),
    # 25.12.1
    "dilogarithm": (lambda x, m: [sum(x[0] ** k / (k * k) for k in range(1, 80))], ((0.5,),)),
    "airy": (airy, ((1.5,), (-4.0,))),
    "hypergeometric": (hypergeometric, ((0.5, 1.5, 2.2, 0.4),)),
    "kummer": (kummer, ((1.3, 2.7, -3.0),)),
    "legendre": (legendre, ((0.3,), (0.95,))),
    "hermite": (hermite, ((1.2,),)),
    "fresnel": (fresnel, ((1.1,),)),
    "exponential_integral": (exponential_integral, ((1.3,), (9.0,))),
    # 20.2.3, by place and nome
    "theta": (
        of(lambda m, z, q: [1 + 2 * sum(q ** (n * n) * m.cos(2 * n * z) for n in range(1, 30))]),
        ((0.4, 0.3), (1.3, 0.8)),
    ),
    # 25.12.9, fifty terms
    "clausen": (lambda x, m: [sum(m.sin(k * x[0]) / (k * k) for k in range(1, 51))], ((1.0,), (0.03,))),
    "langevin": (langevin, ((0.01,), (4.0,))),
    "call_option": (call_option, ((100.0, 95.0, 0.03, 0.25, 0.5),)),
}  # fmt: skip


# Flows ---------------------------------------------------------------------------------------------------------------


def fitzhugh_nagumo(x: Numbers, m: Any) -> list[Any]:
    a, b, c = x
    slope: Callable[[list[Any]], list[Any]] = lambda y: [c * (y[0] - y[0] ** 3 / 3 + y[1]), -(y[0] - a + b * y[1]) / c]
    return _runge_kutta(slope, [-m.one, m.one], 0.05, 60)


def lorenz(x: Numbers, m: Any) -> list[Any]:
    a, b, c = x
    slope: Callable[[list[Any]], list[Any]] = lambda y: [
        a * (y[1] - y[0]), y[0] * (b - y[2]) - y[1], y[0] * y[1] - c * y[2],
    ]  # fmt: skip
    return _runge_kutta(slope, [m.one, m.one, m.one], 0.01, 100)


def orbit(x: Numbers, m: Any) -> list[Any]:
    """Place and speed after half a turn around a mass of 1."""

    def slope(y: list[Any]) -> list[Any]:
        cube = m.sqrt(y[0] ** 2 + y[1] ** 2) ** 3
        return [y[2], y[3], -y[0] / cube, -y[1] / cube]

    return _runge_kutta(slope, list(x), 0.03, 100)


def epidemic(x: Numbers, m: Any) -> list[Any]:
    """Susceptible, infected and recovered people after 60 days."""
    infection, recovery = x
    slope: Callable[[list[Any]], list[Any]] = lambda y: [
        -infection * y[0] * y[1], infection * y[0] * y[1] - recovery * y[1], recovery * y[1],
    ]  # fmt: skip
    return _runge_kutta(slope, [0.999 * m.one, 0.001 * m.one, 0 * m.one], 0.5, 120)


_FLOWS: Table = {
    "fitzhugh_nagumo": (fitzhugh_nagumo, ((0.2, 0.2, 3.0),)),
    "van_der_pol": (
        lambda x, m: _runge_kutta(lambda y: [y[1], x[2] * (1 - y[0] ** 2) * y[1] - y[0]], [x[0], x[1]], 0.05, 80),
        ((2.0, 0.0, 1.0), (0.1, -0.3, 3.0)),
    ),
    "lorenz": (lorenz, ((10.0, 28.0, 8 / 3),)),
    "orbit": (orbit, ((1.0, 0.0, 0.0, 1.0), (0.5, 0.1, -0.2, 1.6))),
    "epidemic": (epidemic, ((0.35, 0.1),)),
}  # fmt: skip


def unseen() -> list[Problem]:
    """All of them."""
    tables = (
        ("MGH", _MGH), ("NIST", _NIST), ("HS", _HS), ("Andrei", _ANDREI), ("system", _SYSTEMS), ("function", _FUNCTIONS),
        ("flow", _FLOWS),
    )  # fmt: skip
    return [problem for source, table in tables for problem in problems_of(source, table)]
