"""Problems that were written after the methods, and not looked at while the numbers of the adaptive one were chosen.

The guard of the complex step, and what it says of its error, were mended after the first look at them.

Sources. CUTE: I. Bongartz, A. Conn, N. Gould, P. Toint, CUTE: constrained and unconstrained testing environment, ACM Trans.
Math. Software 21 (1995), p. 123, unconstrained problems at their standard starts and near them. SciPy: global test functions
of scipy/benchmarks (`go_benchmark_functions`, after A. Gavana) other than those of `problems`. Laws: formulas of physics,
chemistry, biology and economics with numbers in their usual units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .problems import Model, Problem, Table, of, problems_of

Numbers = Sequence[Any]


# CUTE ----------------------------------------------------------------------------------------------------------------


def bdqrtic(x: Numbers, m: Any) -> list[Any]:
    return [
        v for i in range(len(x) - 4)
        for v in (3 - 4 * x[i], x[i] ** 2 + 2 * x[i + 1] ** 2 + 3 * x[i + 2] ** 2 + 4 * x[i + 3] ** 2 + 5 * x[-1] ** 2)
    ]  # fmt: skip


def cragglvy(x: Numbers, m: Any) -> list[Any]:
    total = 0 * x[0]
    for i in range(0, len(x) - 2, 2):
        a, b, c, d = x[i : i + 4]
        tangent = m.sin(c - d) / m.cos(c - d)
        total = total + (m.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + (tangent + c - d) ** 4 + a**8 + (d - 1) ** 2
    return [total]


def hairy(x: Numbers, m: Any) -> list[Any]:
    a, b = x
    waves = 30 * m.sin(7 * a) ** 2 * m.cos(7 * b) ** 2
    return [waves + 100 * m.sqrt(0.01 + (a - b) ** 2) + 100 * m.sqrt(0.01 + a**2)]


def schmvett(x: Numbers, m: Any) -> list[Any]:
    return [
        -1 / (1 + (a - b) ** 2) - m.sin((m.pi * b + c) / 2) - m.exp(-(((a + c) / b - 2) ** 2))
        for a, b, c in zip(x, x[1:], x[2:])
    ]


def tointgss(x: Numbers, m: Any) -> list[Any]:
    part = 10 * m.one / len(x)
    return [
        sum((part + c**2) * (2 - m.exp(-((a - b) ** 2) / (0.1 + c**2))) for a, b, c in zip(x, x[1:], x[2:])),
    ]


def sparsine(x: Numbers, m: Any) -> list[Any]:
    n = len(x)
    reach = (1, 2, 3, 5, 7, 11)
    return [m.sin(x[i]) + sum(m.sin(x[(k * (i + 1) - 1) % n]) for k in reach) for i in range(n)]


_CUTE: dict[str, tuple[Model, tuple[float, ...]]] = {
    "arwhead": (lambda x, m: [sum(3 - 4 * v + (v**2 + x[-1] ** 2) ** 2 for v in x[:-1])], (1.0, 1.1, 0.9, 1.0)),
    "bdqrtic": (bdqrtic, (1.0, 0.8, 1.2, 1.0, 0.9, 1.1)),
    "cosine": (lambda x, m: [sum(m.cos(a**2 - b / 2) for a, b in pairwise(x))], (1.0, 0.7, 1.9, -0.4)),
    "cragglvy": (cragglvy, (1.0, 2.0, 2.0, 2.1)),
    "edensch": (
        lambda x, m: [16 + sum((a - 2) ** 4 + (a * b - 2 * b) ** 2 + (b + 1) ** 2 for a, b in pairwise(x))],
        (8.0, 7.5, 0.3),
    ),
    "engval_1": (lambda x, m: [sum((a**2 + b**2) ** 2 - 4 * a + 3 for a, b in pairwise(x))], (2.0, 2.2, -1.7)),
    "genrose": (lambda x, m: [1 + sum(100 * (b - a**2) ** 2 + (b - 1) ** 2 for a, b in pairwise(x))], (0.2, 0.4, 0.6, 0.8)),
    "hairy": (hairy, (-5.0, -7.0)),
    "schmvett": (schmvett, (0.5, 0.45, 0.6, 0.5)),
    "sinquad": (
        lambda x, m: [(x[0] - 1) ** 2, *[m.sin(v - x[-1]) - x[0] ** 2 + v**2 for v in x[1:-1]], x[-1] ** 2 - x[0] ** 2],
        (0.1, 0.12, 0.09, 0.1),
    ),
    "tointgss": (tointgss, (3.0, 2.9, 3.2, 0.4)),
    "indef": (lambda x, m: [sum(x) + sum(m.cos(2 * v - x[-1] - x[0]) for v in x[1:-1]) / 2], (0.17, 0.33, 0.5, 0.67, 0.83)),
    "fletchcr": (lambda x, m: [10 * (b - a + 1 - a**2) for a, b in pairwise(x)], (0.0, 0.3, -0.2, 0.1)),
    "dqrtic": (lambda x, m: [sum((v - i) ** 4 for i, v in enumerate(x, 1))], (2.0, 2.0, 2.0)),
    "sparsine": (sparsine, (0.5, -0.5, 0.4, 1.3)),
}  # fmt: skip


# SciPy ---------------------------------------------------------------------------------------------------------------


def bird(x: Numbers, m: Any) -> list[Any]:
    a, b = x
    return [m.sin(a) * m.exp((1 - m.cos(b)) ** 2) + m.cos(b) * m.exp((1 - m.sin(a)) ** 2) + (a - b) ** 2]


def alpine_2(x: Numbers, m: Any) -> list[Any]:
    product = m.one
    for v in x:
        product = product * m.sqrt(v) * m.sin(v)
    return [product]


def paviani(x: Numbers, m: Any) -> list[Any]:
    product = x[0]
    for v in x[1:]:
        product = product * v
    return [sum(m.log(10 - v) ** 2 + m.log(v - 2) ** 2 for v in x) - product**0.2]


def whitley(x: Numbers, m: Any) -> list[Any]:
    terms = [100 * (a**2 - b) ** 2 + (1 - b) ** 2 for a in x for b in x]
    return [sum(t**2 / 4000 - m.cos(t) + 1 for t in terms)]


def langermann(x: Numbers, m: Any) -> list[Any]:
    places = ((3, 5, 1), (5, 2, 2), (2, 1, 5), (1, 4, 2), (7, 9, 3))
    total = 0 * x[0]
    for a, b, c in places:
        square = (x[0] - a) ** 2 + (x[1] - b) ** 2
        total = total - c * m.exp(-square / m.pi) * m.cos(m.pi * square)
    return [total]


def hartmann_3(x: Numbers, m: Any) -> list[Any]:
    widths = ((3.0, 10.0, 30.0), (0.1, 10.0, 35.0), (3.0, 10.0, 30.0), (0.1, 10.0, 35.0))
    places = ((0.3689, 0.117, 0.2673), (0.4699, 0.4387, 0.747), (0.1091, 0.8732, 0.5547), (0.03815, 0.5743, 0.8828))
    bells = [m.exp(-sum(w * (v - p) ** 2 for w, v, p in zip(each, x, place))) for each, place in zip(widths, places)]
    return [-sum(c * bell for c, bell in zip((1.0, 1.2, 3.0, 3.2), bells))]


def hansen(x: Numbers, m: Any) -> list[Any]:
    a, b = x
    left = sum((i + 1) * m.cos(i * a + i + 1) for i in range(5))
    return [left * sum((j + 1) * m.cos((j + 2) * b + j + 1) for j in range(5))]


def stretched_v(x: Numbers, m: Any) -> list[Any]:
    total = 0 * x[0]
    for a, b in pairwise(x):
        t = a**2 + b**2
        total = total + t**0.25 * (m.sin(50 * t**0.1 + 1) ** 2)
    return [total]


_SCIPY: Table = {
    "bird": (bird, ((4.7, 3.15), (-1.6, -3.1))),
    "alpine_2": (alpine_2, ((7.9, 4.8), (0.02, 3.3, 9.1))),
    "deckkers_aarts": (
        of(lambda m, a, b: [1e5 * a**2 + b**2 - (a**2 + b**2) ** 2 + 1e-5 * (a**2 + b**2) ** 4]),
        ((0.3, 14.9), (-11.0, 3.0)),
    ),
    "michalewicz": (
        lambda x, m: [-sum(m.sin(v) * m.sin(i * v**2 / m.pi) ** 20 for i, v in enumerate(x, 1))],
        ((2.2, 1.57), (1.1, 2.9, 0.3)),
    ),
    "paviani": (paviani, ((9.35, 9.2, 2.4), (5.0, 2.01, 7.7))),
    "mccormick": (of(lambda m, a, b: [m.sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1]), ((-0.5, -1.5), (3.3, -2.7))),
    "zettl": (of(lambda m, a, b: [a / 4 + (a**2 - 2 * a + b**2) ** 2]), ((-0.03, 0.0), (4.0, -0.8))),
    "whitley": (whitley, ((1.0, 0.8), (-2.3, 4.1))),
    "langermann": (langermann, ((2.0, 1.1), (7.3, 8.8))),
    "hartmann_3": (hartmann_3, ((0.11, 0.55, 0.85), (0.5, 0.5, 0.5))),
    "keane": (of(lambda m, a, b: [m.sin(a - b) ** 2 * m.sin(a + b) ** 2 / m.sqrt(a**2 + b**2)]), ((1.39, 0.01), (7.8, 4.4))),
    "hansen": (hansen, ((-7.6, -7.7), (2.2, 5.5))),
    "stretched_v": (stretched_v, ((-9.4, 9.3), (0.2, -0.7, 1.1))),
}  # fmt: skip


# Laws ----------------------------------------------------------------------------------------------------------------


def planck(x: Numbers, m: Any) -> list[Any]:
    """Spectral radiance by the wavelength in metres and the temperature in kelvin."""
    h, c, k = 6.62607015e-34, 2.99792458e8, 1.380649e-23
    length, temperature = x
    return [2 * h * c**2 / length**5 / (m.exp(h * c / (length * k * temperature)) - 1)]


def diode(x: Numbers, m: Any) -> list[Any]:
    """Current by the saturation current in amperes, the voltage and the temperature, with a quality of 1.3."""
    saturation, voltage, temperature = x
    return [saturation * (m.exp(1.602176634e-19 * voltage / (1.3 * 1.380649e-23 * temperature)) - 1)]


def gravity(x: Numbers, m: Any) -> list[Any]:
    """Acceleration of a body by its place in metres, the sun at the origin."""
    distance = m.sqrt(sum(v**2 for v in x))
    return [-1.32712440018e20 * v / distance**3 for v in x]


def kepler(x: Numbers, m: Any) -> list[Any]:
    """The eccentric anomaly by twenty of Newton's steps."""
    anomaly, eccentricity = x
    found = anomaly
    for _ in range(20):
        found = found - (found - eccentricity * m.sin(found) - anomaly) / (1 - eccentricity * m.cos(found))
    return [found]


def colebrook(x: Numbers, m: Any) -> list[Any]:
    """The friction factor of a pipe by the Reynolds number and the relative roughness."""
    reynolds, roughness = x
    found = 0.02 * m.one
    for _ in range(40):
        found = (-2 * m.log(roughness / 3.7 + 2.51 / (reynolds * m.sqrt(found))) / m.log(10 * m.one)) ** -2
    return [found]


def _runge_kutta(slope: Callable[[list[Any]], list[Any]], y: list[Any], h: float, steps: int) -> list[Any]:
    def moved(y: list[Any], k: list[Any], h: float) -> list[Any]:
        return [a + h * b for a, b in zip(y, k)]

    for _ in range(steps):
        a = slope(y)
        b = slope(moved(y, a, h / 2))
        c = slope(moved(y, b, h / 2))
        d = slope(moved(y, c, h))
        y = [v + h / 6 * (p + 2 * q + 2 * r + s) for v, p, q, r, s in zip(y, a, b, c, d)]
    return y


def lotka_volterra(x: Numbers, m: Any) -> list[Any]:
    a, b, c, d = x
    return _runge_kutta(lambda y: [a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]], [10 * m.one, 5 * m.one], 0.1, 40)


def weibull(x: Numbers, m: Any) -> list[Any]:
    """The likelihood of some lifetimes in hours."""
    shape, scale = x
    times = (312.0, 871.0, 1250.0, 1604.0, 2203.0)
    return [sum(m.log(shape / scale) + (shape - 1) * m.log(t / scale) - (t / scale) ** shape for t in times)]


def lennard_jones(x: Numbers, m: Any) -> list[Any]:
    """Energy in joules of two argon atoms at a distance in metres."""
    ratio = (3.405e-10 / x[0]) ** 6
    return [4 * 1.654e-21 * (ratio**2 - ratio)]


_LAWS: Table = {
    "planck": (planck, ((5e-7, 5800.0), (1.06e-3, 2.725), (1e-5, 300.0))),
    # Rate by the prefactor, the activation energy in joules a mole, and the temperature.
    "arrhenius": (
        of(lambda m, a, energy, temperature: [a * m.exp(-energy / (8.314462618 * temperature))]),
        ((1e13, 1.03e5, 318.0), (2.5e-3, 4.2e4, 1100.0)),
    ),
    # Pressure in pascals by the molar volume in cubic metres and the temperature, carbon dioxide.
    "van_der_waals": (
        of(lambda m, volume, temperature: [8.314462618 * temperature / (volume - 4.267e-5) - 0.364 / volume**2]),
        ((2.24e-2, 273.15), (6e-5, 304.0)),
    ),
    "antoine": (
        of(lambda m, a, b, c, t: [m.exp(m.log(10 * m.one) * (a - b / (c + t)))]),
        ((8.07131, 1730.63, 233.426, 25.0), (4.6543, 1435.264, -64.848, 373.0)),
    ),
    "diode": (diode, ((1e-12, 0.62, 300.0), (3e-9, -0.4, 350.0), (1e-14, 0.9, 250.0))),
    # Occupancy at some concentrations in moles a litre, by the largest, the half and the exponent.
    "hill": (
        of(lambda m, top, half, power: [top * c**power / (half**power + c**power) for c in (1e-9, 1e-8, 1e-7, 1e-6)]),
        ((1.0, 2.7e-8, 2.8), (3e-6, 4e-7, 0.9)),
    ),
    "gravity": (gravity, ((1.496e11, 2.1e10, -3e9), (5.8e10, 1e3, 0.0))),
    # Energy in joules by mass and speed.
    "lorentz": (
        of(lambda m, mass, speed: [mass * 2.99792458e8**2 / m.sqrt(1 - (speed / 2.99792458e8) ** 2)]),
        ((9.1093837e-31, 2.9e8), (1.0, 30.0)),
    ),
    "kepler": (kepler, ((0.8, 0.2056), (0.02, 0.97))),
    "colebrook": (colebrook, ((1.2e5, 2.5e-4), (4e7, 1e-6))),
    "lotka_volterra": (lotka_volterra, ((1.1, 0.4, 0.4, 0.1), (0.6, 0.05, 0.9, 0.02))),
    "pendulum": (
        lambda x, m: _runge_kutta(lambda y: [y[1], -9.81 * m.sin(y[0]) - 0.1 * y[1]], list(x), 0.05, 60),
        ((0.3, 0.0), (3.1, 0.2)),
    ),
    "softmax_loss": (lambda x, m: [m.log(sum(m.exp(v) for v in x)) - x[0]], ((0.3, -1.2, 2.2), (-30.0, 14.0, 12.0))),
    "weibull": (weibull, ((1.8, 1400.0), (0.9, 3000.0))),
    # Production with a constant elasticity, by capital, labour and the exponent.
    "ces": (
        of(lambda m, capital, labour, power: [1.7 * (0.3 * capital**power + 0.7 * labour**power) ** (1 / power)]),
        ((3.1, 2.2, 0.4), (1.5e6, 3.2e4, -0.7)),
    ),
    "lennard_jones": (lennard_jones, ((3.8e-10,), (3.2e-10,), (1.2e-9,))),
    "nernst": (
        of(lambda m, inside, outside, temperature: [8.314462618 * temperature / 96485.33212 * m.log(outside / inside)]),
        ((0.14, 0.005, 310.0), (1e-7, 1.5e-3, 298.15)),
    ),
}  # fmt: skip


def held_out() -> list[Problem]:
    """All of them."""
    found: list[Problem] = []
    for name, (f, x) in _CUTE.items():
        found.append(Problem(f"CUTE {name}", f, x))
        found.append(Problem(f"CUTE {name} x 3", f, tuple([3 * v for v in x])))
    return [*found, *problems_of("SciPy", _SCIPY), *problems_of("law", _LAWS)]
