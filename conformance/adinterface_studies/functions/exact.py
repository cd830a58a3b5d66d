"""The functions of NumPy and `scipy.special` that `numpy_function` offers, to any number of digits.

Each is written with mpmath's own functions. Outside of its domain a function is complex, infinite
or raises. A derivative is a central difference with so many digits that nothing is lost; it is none
where the two sides differ, or where a side is outside of the domain. Those that take long are
written down: NIST Digital Library of Mathematical Functions, chapters 7, 8 and 10; Owen, Tables for
computing bivariate normal probabilities, 1956.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

from .points import AXES

Number = Any
Function = Callable[..., Number]


class Undefined(ArithmeticError):
    """There is no real number here: a pole, a jump, a kink, or outside the domain."""


@dataclass(frozen=True)
class Exact:
    """A real function of several variables, and its derivative by each.

    None for one that has none.
    """

    value: Function
    slopes: tuple[Function | None, ...]
    #: Axes to take points from, by argument: see `points.py`.
    axes: tuple[str, ...]
    #: Of all numbers: far more than float64 has, and the orders of magnitude between the arguments.
    digits: int


def _real(f: Function, *args: Number) -> Number:
    found = f(*args)
    if not mp.isfinite(found) or mp.im(found) != 0:
        raise Undefined
    return mp.re(found)


def _slope(f: Function, place: int) -> Function:
    """The derivative by one argument."""

    def slope(*args: Number) -> Number:
        x = args[place]
        step = mpf(10) ** -40 * min(abs(x), 1) or mpf(10) ** -(mp.dps // 3)
        behind, here, ahead = (
            _real(f, *args[:place], x + move, *args[place + 1 :]) for move in (-step, 0, step)
        )
        left, right = (here - behind) / step, (ahead - here) / step
        if abs(left - right) > mpf(10) ** -15 * (abs(left) + abs(right)) + mpf(10) ** -30:
            raise Undefined
        return (ahead - behind) / (2 * step)

    return slope


FUNCTIONS: dict[str, Exact] = {}


def enter(
    name: str,
    axes: str,
    value: Function,
    slopes: Mapping[int, Function | None] | None = None,
    digits: int = 0,
) -> None:
    """Add a function. slopes: derivatives by arguments that are not differences."""
    names, known = tuple(axes.split()), slopes or {}
    sizes = [abs(mp.log10(abs(x))) for axis in names for x in AXES[axis] if x]
    written = tuple([known.get(n, _slope(value, n)) for n in range(len(names))])
    FUNCTIONS[name] = Exact(value, written, names, digits or 210 + 2 * int(max(sizes)))


def _zero(*args: Number) -> Number:
    return mpf(0)


def _one(*args: Number) -> Number:
    return mpf(1)


# NumPy
# -------------------------------------------------------------------------------------------------


def _truncated(x: Number) -> Number:
    return mp.sign(x) * mp.floor(abs(x))


def _cube_root(x: Number) -> Number:
    return mp.sign(x) * mp.cbrt(abs(x))


for _name, _f in {
    "absolute": abs, "fabs": abs, "negative": lambda x: -x, "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "sqrt": mp.sqrt, "cbrt": _cube_root, "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x, "expm1": mp.expm1, "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": lambda x: mp.log(x) / mp.log(10),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arctan": mp.atan, "sinh": mp.sinh,
    "cosh": mp.cosh, "tanh": mp.tanh, "arcsinh": mp.asinh, "deg2rad": lambda x: x * mp.pi / 180,
    "rad2deg": lambda x: x * 180 / mp.pi, "i0": lambda x: mp.besseli(0, x),
}.items():  # fmt: skip
    enter(f"np.{_name}", "line", _f)
enter("np.log1p", "line_near_minus_one", mp.log1p)
enter("np.sinc", "line_to_10000", mp.sincpi)
enter("np.arcsin", "unit", mp.asin)
enter("np.arccos", "unit", mp.acos)
enter("np.arctanh", "unit", mp.atanh)
enter("np.arccosh", "line_from_one", mp.acosh)
for _name, _f in (("floor", mp.floor), ("ceil", mp.ceil), ("trunc", _truncated), ("rint", mp.nint)):
    enter(f"np.{_name}", "line", _f, {0: _zero})
enter("np.sign", "line", mp.sign, {0: _zero})
for _name in ("positive", "nan_to_num"):
    enter(f"np.{_name}", "line", lambda x: x, {0: _one})


def _log_sum(x: Number, y: Number) -> Number:
    return max(x, y) + mp.log1p(mp.exp(-abs(x - y)))


def _fmod(x: Number, y: Number) -> Number:
    return x - _truncated(x / y) * y


def _copysign(x: Number, y: Number) -> Number:
    return abs(x) * (1 if y >= 0 else -1)


for _name, _f in {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "arctan2": mp.atan2, "hypot": mp.hypot, "logaddexp": _log_sum,
    "logaddexp2": lambda x, y: _log_sum(x * mp.log(2), y * mp.log(2)) / mp.log(2),
    "maximum": max, "fmax": max, "minimum": min, "fmin": min,
}.items():  # fmt: skip
    enter(f"np.{_name}", "some some", _f)
enter("np.copysign", "some some", _copysign, {1: _zero})
for _name in ("power", "float_power"):
    enter(f"np.{_name}", "powers exponents", mp.power)
enter("np.remainder", "moderate moderate", lambda x, y: x - mp.floor(x / y) * y)
enter("np.fmod", "moderate moderate", _fmod)
enter("np.floor_divide", "moderate moderate", lambda x, y: mp.floor(x / y))
enter("np.heaviside", "moderate moderate", lambda x, y: y if x == 0 else mpf(x > 0), {0: None})

# scipy.special: error functions
# --------------------------------------------------------------------------------------


def _bell(x: Number) -> Number:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _owen(h: Number, a: Number) -> Number:
    with mp.workdps(20):
        edge = min(abs(a), 12 / max(abs(h), mpf(1) / 50))  # beyond it the integrand is nothing
        whole = mp.quad(
            lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, edge / 4, edge / 2, edge]
        )
        return mp.sign(a) * whole / (2 * mp.pi)


enter("special.erf", "line", mp.erf)
enter("special.erfc", "line", mp.erfc)
enter("special.erfcx", "line", lambda x: mp.exp(x * x) * mp.erfc(x), digits=900)
enter("special.erfinv", "unit", mp.erfinv)
enter("special.erfcinv", "unit_times_two", lambda y: mp.erfinv(1 - y))
enter("special.ndtr", "line", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, {0: _bell})
enter("special.log_ndtr", "line", lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2))
enter("special.ndtri", "probability", lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1))
enter("special.dawsn", "line_to_10000", lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x))
enter(
    "special.owens_t", "near_zero moderate", _owen, {
        0: lambda h, a: -_bell(h) * mp.erf(a * h / mp.sqrt(2)) / 2,
        1: lambda h, a: mp.exp(-h * h * (1 + a * a) / 2) / (2 * mp.pi * (1 + a * a)),
    },
)  # fmt: skip
enter("special.fresnel[0]", "line_to_10000", mp.fresnels, {0: lambda x: mp.sinpi(x * x / 2)})
enter("special.fresnel[1]", "line_to_10000", mp.fresnelc, {0: lambda x: mp.cospi(x * x / 2)})

# Gamma and what is made of it
# ----------------------------------------------------------------------------------------


def _log_gamma(x: Number) -> Number:
    return mp.re(mp.loggamma(x))


def _log_beta(a: Number, b: Number) -> Number:
    return _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)


def _gamma_below(a: Number, x: Number) -> Number:
    return 1 - _gamma_above(a, x) if x > a + 1 else mp.gammainc(a, 0, x, regularized=True)


def _gamma_above(a: Number, x: Number) -> Number:
    return mp.gammainc(a, x, regularized=True) if x > a + 1 else 1 - _gamma_below(a, x)


def _gamma_density(a: Number, x: Number) -> Number:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _beta_below(a: Number, b: Number, x: Number) -> Number:
    if x > a / (a + b):
        return 1 - mp.betainc(b, a, 0, 1 - x, regularized=True)
    return mp.betainc(a, b, 0, x, regularized=True)


def _beta_density(a: Number, b: Number, x: Number) -> Number:
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - _log_beta(a, b))


enter("special.gamma", "line", mp.gamma)
enter("special.rgamma", "line", mp.rgamma)
enter("special.gammaln", "line", _log_gamma)
enter("special.loggamma", "line_above_zero", mp.loggamma)
enter("special.psi", "line", lambda x: mp.psi(0, x))
enter("special.beta", "parameters parameters", mp.beta)
enter("special.betaln", "parameters parameters", _log_beta)
enter("special.binom", "parameters parameters", mp.binomial)
enter("special.poch", "parameters parameters", mp.rf)
enter("special.gammasgn", "line", lambda x: mp.sign(mp.gamma(x)), {0: _zero})
enter("special.gammainc", "shapes shapes", _gamma_below, {1: _gamma_density})
enter("special.gammaincc", "shapes shapes", _gamma_above, {1: lambda a, x: -_gamma_density(a, x)})
enter("special.betainc", "shapes shapes probability", _beta_below, {2: _beta_density}, 180)

# Bessel functions
# ------------------------------------------------------------------------------------------------


def _i(v: Number, x: Number) -> Number:
    return mp.besseli(abs(v) if v == mp.floor(v) else v, x)


def _scaled(v: Number, x: Number) -> Number:
    return mp.exp(-abs(x)) * _i(v, x)


def _between(f: Function, sign: int = 1) -> Function:
    return lambda v, x: (f(v - 1, x) + sign * f(v + 1, x)) / 2


enter("special.i0", "line", lambda x: mp.besseli(0, x), {0: lambda x: mp.besseli(1, x)})
enter("special.i1", "line", lambda x: mp.besseli(1, x))
enter("special.i0e", "line", lambda x: _scaled(0, x), digits=700)
enter("special.i1e", "line", lambda x: _scaled(1, x), digits=700)
enter("special.iv", "orders moderate", _i, {0: None})
enter("special.ive", "orders moderate", _scaled, {0: None})
enter("special.j0", "line_to_10000", mp.j0)
enter("special.j1", "line_to_10000", mp.j1)
enter(
    "special.y0", "line_to_10000", lambda x: mp.bessely(0, x), {0: lambda x: -mp.bessely(1, x)}, 100
)
_y = {0: lambda x: _between(mp.bessely, -1)(1, x)}
enter("special.y1", "line_to_10000", lambda x: mp.bessely(1, x), _y, 100)

# Exponentials, logarithms and their integrals
# ------------------------------------------------------------------------


def _logit(p: Number) -> Number:
    return mp.log(p / (1 - p))


def _x_log(x: Number, y: Number) -> Number:
    return mpf(0) if x == 0 else x * mp.log(y)


def _divergence(x: Number, y: Number) -> Number:
    return _x_log(x, x / y) if x or not y else mpf(0)


def _boxcox(x: Number, power: Number) -> Number:
    return mp.log(x) if power == 0 else (mp.power(x, power) - 1) / power


def _inverse_boxcox(y: Number, power: Number) -> Number:
    return mp.exp(y) if power == 0 else mp.exp(mp.log1p(power * y) / power)


def _huber(delta: Number, r: Number) -> Number:
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


enter("special.expit", "line", lambda x: 1 / (1 + mp.exp(-x)))
enter("special.log_expit", "line", lambda x: -mp.log1p(mp.exp(-x)))
enter("special.logit", "probability", _logit)
enter("special.exp2", "line", FUNCTIONS["np.exp2"].value)
enter("special.exp10", "line", lambda x: mpf(10) ** x)
enter("special.expm1", "line", mp.expm1)
enter("special.log1p", "line_near_minus_one", mp.log1p)
enter("special.cbrt", "line", _cube_root)
enter("special.cosm1", "line", lambda x: -2 * mp.sin(x / 2) ** 2)
enter("special.xlogy", "some positive", _x_log)
enter("special.xlog1py", "some above_minus_one", lambda x, y: _x_log(x, 1 + y))
enter("special.entr", "line", lambda x: -_x_log(x, x))
enter("special.rel_entr", "positive positive", _divergence)
enter("special.kl_div", "positive positive", lambda x, y: _divergence(x, y) - x + y)
enter("special.boxcox", "positive exponents", _boxcox)
enter("special.boxcox1p", "above_minus_one exponents", lambda x, p: _boxcox(1 + x, p))
enter("special.inv_boxcox", "some exponents", _inverse_boxcox)
enter("special.huber", "positive some", _huber)
enter(
    "special.pseudo_huber",
    "positive some",
    lambda d, r: d * (mp.sqrt(d * d + r * r) - d),
    digits=900,
)
enter("special.exp1", "line_to_10000", mp.e1)
enter("special.expi", "line_to_10000", mp.ei)
enter("special.expn", "counts moderate", mp.expint, {0: None})
enter("special.sici[0]", "line_to_10000", mp.si)
enter("special.sici[1]", "line_to_10000", mp.ci)
enter("special.spence", "line", lambda x: mp.polylog(2, 1 - x), {0: lambda x: mp.log(x) / (1 - x)})
enter("special.hyp1f1", "few few moderate", mp.hyp1f1)
enter("special.hyp2f1", "few few few below_one", mp.hyp2f1)

# SciPy's own, by rules
# -------------------------------------------------------------------------------------------------


def _student(df: Number, t: Number) -> Number:
    tail = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def _student_density(df: Number, t: Number) -> Number:
    return (1 + t * t / df) ** (-(df + 1) / 2) / (mp.sqrt(df) * mp.beta(df / 2, mpf(1) / 2))


def _negative(f: Function) -> Function:
    return lambda *args: -f(*args)


_k = _negative(_between(mp.besselk))
enter("special.jv", "orders moderate", mp.besselj, {0: None, 1: _between(mp.besselj, -1)})
enter("special.yv", "orders moderate", mp.bessely, {0: None, 1: _between(mp.bessely, -1)}, 80)
enter("special.kv", "orders moderate", mp.besselk, {0: None, 1: _k}, 80)
enter("special.k0", "moderate", lambda x: mp.besselk(0, x), {0: lambda x: -mp.besselk(1, x)}, 80)
enter("special.k1", "moderate", lambda x: mp.besselk(1, x), {0: lambda x: _k(1, x)}, 80)
enter("special.erfi", "moderate", mp.erfi)
enter("special.ellipk", "below_one", mp.ellipk)
enter("special.ellipe", "below_one", mp.ellipe)
enter("special.stdtr", "few moderate", _student, {1: _student_density})

#: The groups of functions: what each is called, by the first of it.
GROUPS = {
    "np.absolute": "NumPy, of one argument",
    "np.add": "NumPy, of two arguments",
    "special.erf": "Error functions",
    "special.gamma": "Gamma and what is made of it",
    "special.i0": "Bessel functions",
    "special.expit": "Exponentials, logarithms and their integrals",
    "special.hyp1f1": "Hypergeometric functions",
    "special.jv": (
        "Bessel functions, elliptic integrals and Student's distribution, by rules on SciPy's own"
    ),
}
