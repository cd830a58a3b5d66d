"""Published problems with functions of several numbers, as plain arithmetic: `f(x, m)` with NumPy's
or mpmath's mathematics.

Sources. MGH: J. More, B. Garbow, K. Hillstrom, Testing unconstrained optimization software, ACM
Trans. Math. Software 7 (1981), p. 17, at the standard start and at 10 times it. NIST: Statistical
Reference Datasets, nonlinear regression (itl.nist.gov/div898/strd), the models at predictors over
the published ranges, from both starts and at the certified parameters. SciPy: the global test
functions of scipy/benchmarks (`go_benchmark_functions`, after A. Gavana), at points inside their
bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: From numbers and the mathematics for them to numbers.
Model = Callable[[Sequence[Any], Any], list[Any]]


#: Functions, each with its points, by name.
Table = dict[str, tuple[Model, tuple[tuple[float, ...], ...]]]


class Problem(NamedTuple):
    """A function at a point."""

    name: str
    f: Model
    x: tuple[float, ...]


def of(f: Callable[..., list[Any]]) -> Model:
    """The model of a function that takes the mathematics first, then each number by itself."""
    return lambda x, m: f(m, *x)


def problems_of(source: str, table: Table) -> list[Problem]:
    """The problems of a table, the points of each function numbered."""
    return [
        Problem(f"{source} {name} {n}", f, x)
        for name, (f, points) in table.items()
        for n, x in enumerate(points, 1)
    ]


# More, Garbow, Hillstrom
# ---------------------------------------------------------------------------------------------


def helical_valley(x: Sequence[Any], m: Any) -> list[Any]:
    theta = m.atan(x[1] / x[0]) / (2 * m.pi) + (0.5 if x[0].real < 0 else 0)
    return [10 * (x[2] - 10 * theta), 10 * (m.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]]


_BARD = (0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39)


def box(x: Sequence[Any], m: Any) -> list[Any]:
    def t(i: int) -> Any:
        return -i * m.one / 10

    return [
        m.exp(t(i) * x[0]) - m.exp(t(i) * x[1]) - x[2] * (m.exp(t(i)) - m.exp(10 * t(i)))
        for i in range(1, 11)
    ]


def powell_singular(x: Sequence[Any], m: Any) -> list[Any]:
    return [
        x[0] + 10 * x[1],
        m.sqrt(5) * (x[2] - x[3]),
        (x[1] - 2 * x[2]) ** 2,
        m.sqrt(10) * (x[0] - x[3]) ** 2,
    ]


def wood(x: Sequence[Any], m: Any) -> list[Any]:
    return [
        10 * (x[1] - x[0] ** 2), 1 - x[0], m.sqrt(90) * (x[3] - x[2] ** 2), 1 - x[2],
        m.sqrt(10) * (x[1] + x[3] - 2), (x[1] - x[3]) / m.sqrt(10),
    ]  # fmt: skip


_KOWALIK = (4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625)


def kowalik_osborne(x: Sequence[Any], m: Any) -> list[Any]:
    return [x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3]) for u in _KOWALIK]


def brown_dennis(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 5 for i in range(1, 21)]
    return [
        (x[0] + t * x[1] - m.exp(t)) ** 2 + (x[2] + x[3] * m.sin(t) - m.cos(t)) ** 2 for t in ts
    ]


def osborne_2(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 10 for i in range(65)]
    bells = [(x[1], x[5], x[8]), (x[2], x[6], x[9]), (x[3], x[7], x[10])]
    return [
        x[0] * m.exp(-t * x[4]) + sum(a * m.exp(-((t - c) ** 2) * b) for a, b, c in bells)
        for t in ts
    ]


def biggs_exp6(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 10 for i in range(1, 14)]
    return [x[2] * m.exp(-t * x[0]) - x[3] * m.exp(-t * x[1]) + x[5] * m.exp(-t * x[4]) for t in ts]


def watson(x: Sequence[Any], m: Any) -> list[Any]:
    found = []
    for i in range(1, 30):
        t = i * m.one / 29
        slope = sum(j * x[j] * t ** (j - 1) for j in range(1, len(x)))
        found.append(slope - sum(x[j] * t**j for j in range(len(x))) ** 2 - 1)
    return [*found, x[0], x[1] - x[0] ** 2 - 1]


def penalty_2(x: Sequence[Any], m: Any) -> list[Any]:
    def grown(v: Any) -> Any:
        return m.exp(v / 10)

    rows = [x[0] - 0.2]
    rows += [m.sqrt(1e-5) * (grown(x[i]) + grown(x[i - 1])) for i in range(1, len(x))]
    return [*rows, sum((len(x) - j) * x[j] ** 2 for j in range(len(x))) - 1]


def variably_dimensioned(x: Sequence[Any], m: Any) -> list[Any]:
    moment = sum((j + 1) * (v - 1) for j, v in enumerate(x))
    return [*[v - 1 for v in x], moment, moment**2]


def trigonometric(x: Sequence[Any], m: Any) -> list[Any]:
    cosines = sum(m.cos(v) for v in x)
    return [len(x) - cosines + (i + 1) * (1 - m.cos(v)) - m.sin(v) for i, v in enumerate(x)]


def brown_almost_linear(x: Sequence[Any], m: Any) -> list[Any]:
    product = x[0]
    for v in x[1:]:
        product = product * v
    return [*[v + sum(x) - (len(x) + 1) for v in x[:-1]], product - 1]


def discrete_boundary_value(x: Sequence[Any], m: Any) -> list[Any]:
    h = m.one / (len(x) + 1)
    ends = [0, *x, 0]
    return [
        2 * ends[i] - ends[i - 1] - ends[i + 1] + h**2 * (ends[i] + i * h + 1) ** 3 / 2
        for i in range(1, len(x) + 1)
    ]


def broyden_tridiagonal(x: Sequence[Any], m: Any) -> list[Any]:
    ends = [0, *x, 0]
    return [
        (3 - 2 * ends[i]) * ends[i] - ends[i - 1] - 2 * ends[i + 1] + 1
        for i in range(1, len(x) + 1)
    ]


def chebyquad(x: Sequence[Any], m: Any) -> list[Any]:
    rows = []
    before: list[Any] = [1] * len(x)
    now: list[Any] = [2 * v - 1 for v in x]
    for i in range(1, len(x) + 1):
        rows.append(sum(now) / len(x) + (m.one / (i * i - 1) if i % 2 == 0 else 0))
        before, now = now, [2 * (2 * v - 1) * b - a for v, a, b in zip(x, before, now)]
    return rows


_OSBORNE_2 = (1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5)
_MGH: dict[str, tuple[Model, tuple[float, ...]]] = {
    "rosenbrock": (lambda x, m: [10 * (x[1] - x[0] ** 2), 1 - x[0]], (-1.2, 1.0)),
    "freudenstein_roth": (
        lambda x, m: [-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]],
        (0.5, -2.0),
    ),
    "powell_badly_scaled": (lambda x, m: [1e4 * x[0] * x[1] - 1, m.exp(-x[0]) + m.exp(-x[1]) - 1.0001], (0.0, 1.0)),
    "brown_badly_scaled": (lambda x, m: [x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2], (1.0, 1.0)),
    "beale": (lambda x, m: [y - x[0] * (1 - x[1] ** k) for k, y in ((1, 1.5), (2, 2.25), (3, 2.625))], (1.0, 1.0)),
    "jennrich_sampson": (lambda x, m: [2 + 2 * i - (m.exp(i * x[0]) + m.exp(i * x[1])) for i in range(1, 11)], (0.3, 0.4)),
    "helical_valley": (helical_valley, (-1.0, 0.0, 0.0)),
    "bard": (
        lambda x, m: [y - (x[0] + u / ((16 - u) * x[1] + min(u, 16 - u) * x[2])) for u, y in enumerate(_BARD, 1)],
        (1.0, 1.0, 1.0),
    ),
    "gaussian": (lambda x, m: [x[0] * m.exp(-x[1] * ((8 - i) / 2.0 - x[2]) ** 2 / 2) for i in range(1, 16)], (0.4, 1.0, 0.0)),
    "meyer": (lambda x, m: [x[0] * m.exp(x[1] / (45 + 5 * i + x[2])) for i in range(1, 17)], (0.02, 4000.0, 250.0)),
    "box": (box, (0.0, 10.0, 20.0)),
    "powell_singular": (powell_singular, (3.0, -1.0, 0.0, 1.0)),
    "wood": (wood, (-3.0, -1.0, -3.0, -1.0)),
    "kowalik_osborne": (kowalik_osborne, (0.25, 0.39, 0.415, 0.39)),
    "brown_dennis": (brown_dennis, (25.0, 5.0, -5.0, -1.0)),
    "osborne_1": (
        lambda x, m: [x[0] + x[1] * m.exp(-10 * i * x[3]) + x[2] * m.exp(-10 * i * x[4]) for i in range(33)],
        (0.5, 1.5, -1.0, 0.01, 0.02),
    ),
    "osborne_2": (osborne_2, _OSBORNE_2),
    "biggs_exp6": (biggs_exp6, (1.0, 2.0, 1.0, 1.0, 1.0, 1.0)),
    "watson": (watson, (0.0,) * 6),
    "penalty_2": (penalty_2, (0.5,) * 4),
    "variably_dimensioned": (variably_dimensioned, tuple([1 - j / 6 for j in range(1, 7)])),
    "trigonometric": (trigonometric, (1 / 5,) * 5),
    "brown_almost_linear": (brown_almost_linear, (0.5,) * 5),
    "discrete_boundary_value": (discrete_boundary_value, tuple([t * (t - 1) for t in (1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6)])),
    "broyden_tridiagonal": (broyden_tridiagonal, (-1.0,) * 5),
    "chebyquad": (chebyquad, tuple([j / 6 for j in range(1, 6)])),
}  # fmt: skip


# NIST
# ------------------------------------------------------------------------------------------------


def _sampled(model: Callable[[Any, Sequence[Any], Any], Any], predictors: Sequence[float]) -> Model:
    return lambda b, m: [model(m.one * x, b, m) for x in predictors]


def _hahn(x: Any, b: Sequence[Any], m: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (
        1 + b[4] * x + b[5] * x**2 + b[6] * x**3
    )


def _bells(x: Any, b: Sequence[Any], m: Any) -> Any:
    first = b[2] * m.exp(-((x - b[3]) ** 2) / b[4] ** 2)
    return b[0] * m.exp(-b[1] * x) + first + b[5] * m.exp(-((x - b[6]) ** 2) / b[7] ** 2)


def _enso(x: Any, b: Sequence[Any], m: Any) -> Any:
    def wave(t: Any, cosine: Any, sine: Any) -> Any:
        return cosine * m.cos(2 * m.pi * x / t) + sine * m.sin(2 * m.pi * x / t)

    return b[0] + wave(12 * m.one, b[1], b[2]) + wave(b[3], b[4], b[5]) + wave(b[6], b[7], b[8])


_MISRA = (
    77.6,
    114.9,
    141.1,
    190.8,
    239.9,
    289.0,
    332.8,
    378.4,
    434.8,
    477.3,
    536.8,
    593.1,
    689.1,
    760.0,
)
_RAT = (9.0, 14.0, 21.0, 28.0, 42.0, 57.0, 63.0, 70.0, 79.0)
_ROSZMAN = tuple([-4868.68 + 310.0 * i for i in range(25)])
_THURBER = tuple([-3.05 + 0.145 * i for i in range(37)])

#: Model, predictors, and the points: the two starts and the certified parameters.
_NIST: tuple[tuple[str, Callable[..., Any], Sequence[float], tuple[tuple[float, ...], ...]], ...] = (
    (
        "Misra1a", lambda x, b, m: b[0] * (1 - m.exp(-b[1] * x)), _MISRA,
        ((500.0, 0.0001), (250.0, 0.0005), (238.94212918, 5.5015643181e-4)),
    ),
    (
        "Misra1b", lambda x, b, m: b[0] * (1 - (1 + b[1] * x / 2) ** -2), _MISRA,
        ((500.0, 0.0001), (300.0, 0.0002), (337.99746163, 3.9039091287e-4)),
    ),
    (
        "Misra1c", lambda x, b, m: b[0] * (1 - 1 / m.sqrt(1 + 2 * b[1] * x)), _MISRA,
        ((500.0, 0.0001), (600.0, 0.0002), (636.42725809, 2.0813627256e-4)),
    ),
    (
        "Misra1d", lambda x, b, m: b[0] * b[1] * x / (1 + b[1] * x), _MISRA,
        ((500.0, 0.0001), (450.0, 0.0003), (437.36970754, 3.0227324449e-4)),
    ),
    (
        "Chwirut2", lambda x, b, m: m.exp(-b[0] * x) / (b[1] + b[2] * x),
        (0.5, 1.0, 1.75, 3.75, 5.75),
        ((0.1, 0.01, 0.02), (0.15, 0.008, 0.010), (0.16657666537, 5.1653291286e-3, 1.2150007096e-2)),
    ),
    (
        "DanWood", lambda x, b, m: b[0] * x ** b[1], (1.309, 1.471, 1.490, 1.565, 1.611, 1.680),
        ((1.0, 5.0), (0.7, 4.0), (0.76886226176, 3.8604055871)),
    ),
    (
        "Lanczos",
        lambda x, b, m: b[0] * m.exp(-b[1] * x) + b[2] * m.exp(-b[3] * x) + b[4] * m.exp(-b[5] * x),
        tuple([0.05 * i for i in range(24)]),
        ((1.2, 0.3, 5.6, 5.5, 6.5, 7.6), (0.5, 0.7, 3.6, 4.2, 4.0, 6.3), (0.0951, 1.0, 0.8607, 3.0, 1.5576, 5.0)),
    ),
    (
        "Gauss1", _bells, tuple(range(1, 251, 7)),
        (
            (97.0, 0.009, 100.0, 65.0, 20.0, 70.0, 178.0, 16.5),
            (94.0, 0.0105, 99.0, 63.0, 25.0, 71.0, 180.0, 20.0),
            (98.77821087, 0.010497276517, 100.48990633, 67.481111276, 23.129773360, 71.994503004, 178.99805021, 18.389389025),
        ),
    ),
    (
        "Kirby2", lambda x, b, m: (b[0] + b[1] * x + b[2] * x**2) / (1 + b[3] * x + b[4] * x**2),
        (9.65, 10.74, 12.0, 20.0, 40.0, 80.0, 120.0, 170.0, 250.0, 371.3),
        (
            (2.0, -0.1, 0.003, -0.001, 0.00001), (1.5, -0.15, 0.0025, -0.0015, 0.00002),
            (1.6745063063, -0.13927397867, 2.5961181191e-3, -1.7241811870e-3, 2.1664802578e-5),
        ),
    ),
    (
        "Hahn1", _hahn, (14.13, 24.41, 50.0, 99.7, 200.0, 350.0, 500.0, 850.0),
        (
            (10.0, -1.0, 0.05, -0.00001, -0.05, 0.001, -0.000001), (1.0, -0.1, 0.005, -0.000001, -0.005, 0.0001, -0.0000001),
            (
                1.0776351733, -0.12269296921, 4.0863750610e-3, -1.4262662514e-6, -5.7609940901e-3,
                2.4053735503e-4, -1.2314450199e-7,
            ),
        ),
    ),
    (
        "Nelson", lambda x, b, m: b[0] - b[1] * x * m.exp(-b[2] * (180 + x)),
        (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0),
        ((2.0, 0.0001, -0.01), (2.5, 0.000000005, -0.05), (2.5906836021, 5.6177717026e-9, -5.7701013174e-2)),
    ),
    (
        "MGH17", lambda x, b, m: b[0] + b[1] * m.exp(-x * b[3]) + b[2] * m.exp(-x * b[4]),
        tuple(range(0, 330, 10)),
        (
            (50.0, 150.0, -100.0, 1.0, 2.0), (0.5, 1.5, -1.0, 0.01, 0.02),
            (0.37541005211, 1.9358469127, -1.4646871366, 0.012867534640, 0.022122699662),
        ),
    ),
    (
        "Roszman1", lambda x, b, m: b[0] - b[1] * x - m.atan(b[2] / (x - b[3])) / m.pi, _ROSZMAN,
        (
            (0.1, -0.00001, 1000.0, -100.0), (0.2, -0.000005, 1200.0, -150.0),
            (0.20196866396, -6.1953516256e-6, 1204.4556708, -181.34269537),
        ),
    ),
    (
        "ENSO", _enso, tuple(range(1, 169, 5)),
        (
            (11.0, 3.0, 0.5, 40.0, -0.7, -1.3, 25.0, -0.3, 1.4), (10.0, 3.0, 0.5, 44.0, -1.5, 0.5, 26.0, -0.1, 1.5),
            (
                10.510749193, 3.0762128085, 0.53280138227, 44.311088700, -1.6231428586,
                0.52554493756, 26.887614440, 0.21232288488, 1.4966870418,
            ),
        ),
    ),
    (
        "Thurber", _hahn, _THURBER,
        (
            (1000.0, 1000.0, 400.0, 40.0, 0.7, 0.3, 0.03),
            (1300.0, 1500.0, 500.0, 75.0, 1.0, 0.4, 0.05),
            (1288.1396800, 1491.0792535, 583.23836877, 75.416644291, 0.96629502864, 0.39797285797, 0.049727297349),
        ),
    ),
    (
        "BoxBOD", lambda x, b, m: b[0] * (1 - m.exp(-b[1] * x)), (1.0, 2.0, 3.0, 5.0, 7.0, 10.0),
        ((1.0, 1.0), (100.0, 0.75), (213.80940889, 0.54723748542)),
    ),
    (
        "Rat42", lambda x, b, m: b[0] / (1 + m.exp(b[1] - b[2] * x)), _RAT,
        ((100.0, 1.0, 0.1), (75.0, 2.5, 0.07), (72.462237576, 2.6180768402, 0.067359200066)),
    ),
    (
        "Rat43", lambda x, b, m: b[0] / (1 + m.exp(b[1] - b[2] * x)) ** (1 / b[3]),
        tuple(range(1, 16)),
        ((100.0, 10.0, 1.0, 1.0), (700.0, 5.0, 0.75, 1.3), (699.64151270, 5.2771253025, 0.75962938329, 1.2792483859)),
    ),
    (
        "MGH10", lambda x, b, m: b[0] * m.exp(b[1] / (x + b[2])), tuple(range(50, 130, 5)),
        ((2.0, 400000.0, 25000.0), (0.02, 4000.0, 250.0), (5.6096364710e-3, 6181.3463463, 345.22363462)),
    ),
    (
        "Eckerle4", lambda x, b, m: b[0] / b[1] * m.exp(-(((x - b[2]) / b[1]) ** 2) / 2),
        tuple(range(400, 505, 5)),
        ((1.0, 10.0, 500.0), (1.5, 5.0, 450.0), (1.5543827178, 4.0888321754, 451.54121844)),
    ),
    (
        "Bennett5", lambda x, b, m: b[0] * (b[1] + x) ** (-1 / b[2]),
        (7.447168, 8.102586, 9.0, 12.0, 20.0, 35.0, 55.0),
        ((-2000.0, 50.0, 0.8), (-1500.0, 45.0, 0.85), (-2523.5058043, 46.736564644, 0.93218483193)),
    ),
)  # fmt: skip


# SciPy
# ------------------------------------------------------------------------------------------------


def ackley(x: Sequence[Any], m: Any) -> list[Any]:
    mean = sum(v**2 for v in x) / len(x)
    cosines = sum(m.cos(2 * m.pi * v) for v in x) / len(x)
    return [-20 * m.exp(-m.sqrt(mean) / 5) - m.exp(cosines) + 20 + m.exp(m.one)]


def griewank(x: Sequence[Any], m: Any) -> list[Any]:
    product = m.one
    for i, v in enumerate(x, 1):
        product = product * m.cos(v / m.sqrt(m.one * i))
    return [sum(v**2 for v in x) / 4000 - product + 1]


def levy_13(x: Sequence[Any], m: Any) -> list[Any]:
    a, b = x
    rest = (b - 1) ** 2 * (1 + m.sin(2 * m.pi * b) ** 2)
    return [(a - 1) ** 2 * (1 + m.sin(3 * m.pi * b) ** 2) + rest + m.sin(3 * m.pi * a) ** 2]


def goldstein_price(x: Sequence[Any], m: Any) -> list[Any]:
    a, b = x
    left = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    return [
        left
        * (30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2))
    ]


def branin(x: Sequence[Any], m: Any) -> list[Any]:
    a, b = x
    bend = b - 1.275 * a**2 / m.pi**2 + 5 * a / m.pi - 6
    return [bend**2 + 10 * (1 - 1 / (8 * m.pi)) * m.cos(a) * m.cos(b) * m.log(a**2 + b**2 + 1) + 10]


def mishra_11(x: Sequence[Any], m: Any) -> list[Any]:
    product = x[0]
    for v in x[1:]:
        product = product * v
    return [(sum(x) / len(x) - product ** (m.one / len(x))) ** 2]


def salomon(x: Sequence[Any], m: Any) -> list[Any]:
    length = m.sqrt(sum(v**2 for v in x))
    return [1 - m.cos(2 * m.pi * length) + length / 10]


def shubert(x: Sequence[Any], m: Any) -> list[Any]:
    a, b = x
    return [
        sum(i * m.cos((i + 1) * a + i) for i in range(1, 6))
        * sum(i * m.cos((i + 1) * b + i) for i in range(1, 6))
    ]


def colville(x: Sequence[Any], m: Any) -> list[Any]:
    a, b, c, d = x
    found = 100 * (a - b**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
    return [found + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)]


_SCIPY: Table = {
    "ackley": (ackley, ((0.7, -1.3, 2.2), (12.5, -20.1, 3.3))),
    "griewank": (griewank, ((3.1, -7.7), (151.2, -402.5))),
    "rastrigin": (lambda x, m: [10 * len(x) + sum(v**2 - 10 * m.cos(2 * m.pi * v) for v in x)], ((0.3, 0.81), (-4.4, 2.7))),
    "levy_13": (levy_13, ((0.37, 1.91), (-6.3, 4.4))),
    "easom": (
        lambda x, m: [-m.cos(x[0]) * m.cos(x[1]) * m.exp(-((x[0] - m.pi) ** 2) - (x[1] - m.pi) ** 2)],
        ((2.2, 3.9), (-1.4, 5.0)),
    ),
    "goldstein_price": (goldstein_price, ((-0.6, 0.4), (1.7, -1.1))),
    "branin": (branin, ((-3.7, 7.7), (9.1, 2.2))),
    "mishra_11": (mishra_11, ((1.5, 3.3), (8.8, 0.4))),
    "vincent": (lambda x, m: [-sum(m.sin(10 * m.log(v)) for v in x)], ((0.31, 4.4), (9.7, 2.1))),
    "salomon": (salomon, ((0.9, 1.7), (-31.0, 44.0))),
    "shubert": (shubert, ((-7.1, 1.3), (4.6, -0.8))),
    "colville": (colville, ((0.5, -1.5, 2.5, 3.5), (-8.8, 9.1, 0.2, -3.3))),
}  # fmt: skip


def problems() -> list[Problem]:
    """All of them."""
    found: list[Problem] = []
    for name, (f, x) in _MGH.items():
        found.append(Problem(f"MGH {name}", f, x))
        if any(x):
            found.append(Problem(f"MGH {name} x 10", f, tuple([10 * v for v in x])))
    for title, model, predictors, points in _NIST:
        for n, point in enumerate(points):
            found.append(
                Problem(
                    f"NIST {title} {('I', 'II', 'certified')[n]}",
                    _sampled(model, predictors),
                    point,
                )
            )
    return [*found, *problems_of("SciPy", _SCIPY)]


class Doubles:
    """The mathematics of double precision, which takes complex numbers too."""

    one, pi = 1.0, math.pi
    exp, log, sqrt = np.exp, np.log, np.sqrt
    sin, cos, atan = np.sin, np.cos, np.arctan
