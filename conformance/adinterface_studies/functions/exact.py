"""The functions of NumPy and `scipy.special` that `numpy_function` offers, and their derivatives,
to any number of digits.

Each is written with mpmath from its definition. Sources of the derivatives: NIST Digital Library of
Mathematical Functions, chapters 5 (gamma), 6 (exponential integrals), 7 (error functions), 8
(incomplete gamma), 10 (Bessel), 13 and 15 (hypergeometric); Owen, Tables for computing bivariate
normal probabilities, 1956. Where there is no closed form, it is a central difference with three
times the digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

Number = Any
Function = Callable[..., Number]

#: Far more than float64 has: what cancels on the way is not missed.
DIGITS = 60


class Undefined(ArithmeticError):
    """There is no real number here: a pole, a jump, or outside the domain."""


@dataclass(frozen=True)
class Exact:
    """A real function of several variables, and its derivative by each; None for one that has
    none.
    """

    name: str
    value: Function
    slopes: tuple[Function | None, ...]
    #: Axes to take points from, by argument: see `points.py`.
    axes: tuple[str, ...]


FUNCTIONS: dict[str, Exact] = {}


def enter(name: str, axes: str, value: Function, *slopes: Function | None) -> None:
    FUNCTIONS[name] = Exact(name, value, slopes, tuple(axes.split()))


def by_difference(f: Function, place: int) -> Function:
    """The derivative by one argument, from a central difference whose error is below the digits
    asked for.
    """

    def slope(*args: Number) -> Number:
        with mp.workdps(3 * DIGITS):
            step = mpf(10) ** (-DIGITS) * max(abs(args[place]), mpf(10) ** -20)
            ahead, behind = [
                (*args[:place], args[place] + sign * step, *args[place + 1 :]) for sign in (1, -1)
            ]
            return (f(*ahead) - f(*behind)) / (2 * step)

    return slope


def _zero(*args: Number) -> Number:
    return mpf(0)


def _one(*args: Number) -> Number:
    return mpf(1)


def _inside(condition: bool) -> None:
    if not condition:
        raise Undefined


def _log(x: Number) -> Number:
    _inside(x > 0)
    return mp.log(x)


def _log1p(x: Number) -> Number:
    _inside(x > -1)
    return mp.log1p(x)


def _sqrt(x: Number) -> Number:
    _inside(x >= 0)
    return mp.sqrt(x)


def _sign(x: Number) -> Number:
    _inside(x != 0)
    return mp.sign(x)


# NumPy: one argument
# -------------------------------------------------------------------------------------------------


def _acos(x: Number) -> Number:
    _inside(abs(x) <= 1)
    return mp.acos(x)


def _asin(x: Number) -> Number:
    _inside(abs(x) <= 1)
    return mp.asin(x)


def _acosh(x: Number) -> Number:
    _inside(x >= 1)
    return mp.acosh(x)


def _atanh(x: Number) -> Number:
    _inside(abs(x) < 1)
    return mp.atanh(x)


def _cube_root(x: Number) -> Number:
    return mp.sign(x) * mp.cbrt(abs(x))


def _sinc(x: Number) -> Number:
    return mp.sincpi(x)


def _sinc_slope(x: Number) -> Number:
    if not x:
        return mpf(0)
    if abs(x) < mpf(10) ** -20:
        return -(mp.pi**2) * x / 3
    return (mp.cospi(x) - mp.sincpi(x)) / x


enter("np.absolute", "line", abs, _sign)
enter("np.fabs", "line", abs, _sign)
enter("np.negative", "line", lambda x: -x, lambda x: mpf(-1))
enter("np.positive", "line", lambda x: x, _one)
enter("np.square", "line", lambda x: x * x, lambda x: 2 * x)
enter("np.reciprocal", "line", lambda x: 1 / x, lambda x: -1 / (x * x))
enter("np.sqrt", "line", _sqrt, lambda x: 1 / (2 * _sqrt(x)))
enter("np.cbrt", "line", _cube_root, lambda x: 1 / (3 * _cube_root(x) ** 2))
enter("np.exp", "line", mp.exp, mp.exp)
enter("np.exp2", "line", lambda x: mpf(2) ** x, lambda x: mpf(2) ** x * mp.log(2))
enter("np.expm1", "line", mp.expm1, mp.exp)
enter("np.log", "line", _log, lambda x: x**0 / x if x > 0 else _log(x))
enter(
    "np.log2",
    "line",
    lambda x: _log(x) / mp.log(2),
    lambda x: 1 / (x * mp.log(2)) if x > 0 else _log(x),
)
enter(
    "np.log10",
    "line",
    lambda x: _log(x) / mp.log(10),
    lambda x: 1 / (x * mp.log(10)) if x > 0 else _log(x),
)
enter(
    "np.log1p",
    "line_near_minus_one",
    _log1p,
    lambda x: 1 / (1 + x) if x > -1 else _log1p(x),
)
enter("np.sin", "line", mp.sin, mp.cos)
enter("np.cos", "line", mp.cos, lambda x: -mp.sin(x))
enter("np.tan", "line", mp.tan, lambda x: mp.sec(x) ** 2)
enter("np.arcsin", "unit", _asin, lambda x: 1 / _sqrt(1 - x * x))
enter("np.arccos", "unit", _acos, lambda x: -1 / _sqrt(1 - x * x))
enter("np.arctan", "line", mp.atan, lambda x: 1 / (1 + x * x))
enter("np.sinh", "line", mp.sinh, mp.cosh)
enter("np.cosh", "line", mp.cosh, mp.sinh)
enter("np.tanh", "line", mp.tanh, lambda x: mp.sech(x) ** 2)
enter("np.arcsinh", "line", mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x))
enter("np.arccosh", "line_from_one", _acosh, lambda x: 1 / _sqrt((x - 1) * (x + 1)))
enter("np.arctanh", "unit", _atanh, lambda x: 1 / ((1 - x) * (1 + x)) if abs(x) < 1 else _atanh(x))
enter("np.deg2rad", "line", lambda x: x * mp.pi / 180, lambda x: mp.pi / 180)
enter("np.rad2deg", "line", lambda x: x * 180 / mp.pi, lambda x: 180 / mp.pi)
enter("np.sinc", "line_to_10000", _sinc, _sinc_slope)
enter("np.i0", "line", lambda x: mp.besseli(0, x), lambda x: mp.besseli(1, x))
enter("np.floor", "line", mp.floor, _zero)
enter("np.ceil", "line", mp.ceil, _zero)
enter("np.trunc", "line", lambda x: mp.sign(x) * mp.floor(abs(x)), _zero)
enter("np.rint", "line", mp.nint, _zero)
enter("np.sign", "line", mp.sign, _zero)
enter("np.nan_to_num", "line", lambda x: x, _one)

# NumPy: two arguments
# ------------------------------------------------------------------------------------------------


def _power(x: Number, y: Number) -> Number:
    if x == 0:
        _inside(y >= 0)
        return mpf(1) if y == 0 else mpf(0)
    if x > 0:
        return mp.exp(y * mp.log(x))
    _inside(y == mp.floor(y))
    return mp.exp(y * mp.log(-x)) * (1 if mp.fmod(y, 2) == 0 else -1)


def _power_slope(x: Number, y: Number) -> Number:
    return mpf(0) if y == 0 else y * _power(x, y - 1)


def _power_slope_of_exponent(x: Number, y: Number) -> Number:
    if x == 0:
        _inside(y > 0)
        return mpf(0)
    return _power(x, y) * _log(x)


def _log_sum(x: Number, y: Number) -> Number:
    return max(x, y) + mp.log1p(mp.exp(-abs(x - y)))


def _share(x: Number, y: Number) -> Number:
    return 1 / (1 + mp.exp(y - x))


def _modulo(x: Number, y: Number) -> Number:
    return x - mp.floor(x / y) * y


def _modulo_to_zero(x: Number, y: Number) -> Number:
    return mp.sign(x) * _modulo(abs(x), abs(y))


def _jump_free(slope: Function) -> Function:
    def guarded(x: Number, y: Number) -> Number:
        _inside(x / y != mp.floor(x / y))
        return slope(x, y)

    return guarded


enter("np.add", "some some", lambda x, y: x + y, _one, _one)
enter("np.subtract", "some some", lambda x, y: x - y, _one, lambda x, y: mpf(-1))
enter("np.multiply", "some some", lambda x, y: x * y, lambda x, y: y, lambda x, y: x)
enter("np.divide", "some some", lambda x, y: x / y, lambda x, y: 1 / y, lambda x, y: -x / y**2)
for _name in ("np.power", "np.float_power"):
    enter(_name, "powers exponents", _power, _power_slope, _power_slope_of_exponent)
enter(
    "np.arctan2",
    "some some",
    mp.atan2,
    lambda y, x: x / (x * x + y * y),
    lambda y, x: -y / (x * x + y * y),
)
enter(
    "np.hypot",
    "some some",
    mp.hypot,
    lambda x, y: x / mp.hypot(x, y),
    lambda x, y: y / mp.hypot(x, y),
)
enter("np.logaddexp", "some some", _log_sum, _share, lambda x, y: _share(y, x))
enter(
    "np.logaddexp2",
    "some some",
    lambda x, y: _log_sum(x * mp.log(2), y * mp.log(2)) / mp.log(2),
    lambda x, y: _share(x * mp.log(2), y * mp.log(2)),
    lambda x, y: _share(y * mp.log(2), x * mp.log(2)),
)
for _name, _f in (("np.maximum", max), ("np.fmax", max), ("np.minimum", min), ("np.fmin", min)):

    def _chosen(x: Number, y: Number, f: Function = _f) -> Number:
        _inside(x != y)
        return mpf(f(x, y) == x)

    enter(_name, "some some", _f, _chosen, lambda x, y, chosen=_chosen: chosen(y, x))
enter(
    "np.copysign",
    "some some",
    lambda x, y: abs(x) * (1 if y >= 0 else -1),
    lambda x, y: _sign(x) * (1 if y >= 0 else -1),
    _zero,
)
enter(
    "np.remainder",
    "moderate moderate",
    _modulo,
    _jump_free(_one),
    _jump_free(lambda x, y: -mp.floor(x / y)),
)
enter(
    "np.fmod",
    "moderate moderate",
    _modulo_to_zero,
    _jump_free(_one),
    _jump_free(lambda x, y: -mp.sign(x / y) * mp.floor(abs(x / y))),
)
enter(
    "np.floor_divide",
    "moderate moderate",
    lambda x, y: mp.floor(x / y),
    _jump_free(_zero),
    _jump_free(_zero),
)
enter(
    "np.heaviside",
    "moderate moderate",
    lambda x, y: y if x == 0 else mpf(x > 0),
    None,
    lambda x, y: mpf(x == 0),
)

# scipy.special: error functions
# --------------------------------------------------------------------------------------


def _two_over_root_pi() -> Number:
    return 2 / mp.sqrt(mp.pi)


def _bell(x: Number) -> Number:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _tail(x: Number) -> Number:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _log_tail(x: Number) -> Number:
    if x < -100:
        return mp.log(_scaled_tail(-x / mp.sqrt(2)) / 2) - x * x / 2
    return mp.log1p(-_tail(-x)) if x > 0 else mp.log(_tail(x))


def _erfcx_series(x: Number, first: int) -> Number:
    return mp.fsum([(-1) ** n * mp.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(first, 40)])


def _scaled_tail(x: Number) -> Number:
    """exp(x**2) erfc(x)."""
    if x < -100:
        return mp.inf  # to float64
    if x > 50:  # an asymptotic series, which has all digits there
        return _erfcx_series(x, 0) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def _newton(f: Function, slope: Function, x: Number, wanted: Number) -> Number:
    for _ in range(200):
        step = (f(x) - wanted) / slope(x)
        x -= step
        if abs(step) <= abs(x) * mpf(10) ** (5 - DIGITS):
            break
    return x


def _quantile(p: Number) -> Number:
    """Of the normal distribution, by Newton's method on the logarithm of the tail, which is
    concave.
    """
    _inside(0 < p < 1)
    if p == mpf(1) / 2:
        return mpf(0)
    if p > mpf(1) / 2:
        return -_quantile(1 - p)
    start = -mp.sqrt(-2 * mp.log(p)) if p < mpf("0.1") else mpf(0)
    return _newton(_log_tail, lambda x: _bell(x) / _tail(x), start, mp.log(p))


def _erfinv(y: Number) -> Number:
    _inside(abs(y) < 1)
    if abs(y) < mpf(10) ** -25:
        return y * mp.sqrt(mp.pi) / 2 * (1 + mp.pi * y * y / 12)
    return (
        mp.erfinv(y)
        if abs(y) < mpf("0.9")
        else mp.sign(y) * -_quantile((1 - abs(y)) / 2) / mp.sqrt(2)
    )


def _erfcinv(y: Number) -> Number:
    _inside(0 < y < 2)
    return -_quantile(y / 2) / mp.sqrt(2)


def _owen(h: Number, a: Number) -> Number:
    with mp.workdps(20):
        edge = min(abs(a), 12 / max(abs(h), mpf(1) / 50))  # beyond it the integrand is nothing
        whole = mp.quad(
            lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, edge / 4, edge / 2, edge]
        )
        return mp.sign(a) * whole / (2 * mp.pi)


def _dawson(x: Number) -> Number:
    if abs(x) > 50:
        return mp.fsum([mp.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(40)]) / (2 * x)
    with mp.workdps(DIGITS + int(x * x / 2) + 5):
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


enter("special.erf", "line", mp.erf, lambda x: _two_over_root_pi() * mp.exp(-x * x))
enter("special.erfc", "line", mp.erfc, lambda x: -_two_over_root_pi() * mp.exp(-x * x))
enter(
    "special.erfcx",
    "line",
    _scaled_tail,
    lambda x: (
        _two_over_root_pi() * _erfcx_series(x, 1)
        if x > 50
        else 2 * x * _scaled_tail(x) - _two_over_root_pi()
    ),
)
enter("special.erfinv", "unit", _erfinv, lambda y: mp.exp(_erfinv(y) ** 2) / _two_over_root_pi())
enter(
    "special.erfcinv",
    "unit_times_two",
    _erfcinv,
    lambda y: -mp.exp(_erfcinv(y) ** 2) / _two_over_root_pi(),
)
enter("special.ndtr", "line", _tail, _bell)
enter(
    "special.log_ndtr",
    "line",
    _log_tail,
    lambda x: (
        _bell(x) / _tail(x) if x > -100 else mp.sqrt(2 / mp.pi) / _scaled_tail(-x / mp.sqrt(2))
    ),
)
enter("special.ndtri", "probability", _quantile, lambda p: 1 / _bell(_quantile(p)))
enter("special.dawsn", "line_to_10000", _dawson, lambda x: 1 - 2 * x * _dawson(x))
enter(
    "special.owens_t",
    "near_zero moderate",
    _owen,
    lambda h, a: -_bell(h) * mp.erf(a * h / mp.sqrt(2)) / 2,
    lambda h, a: mp.exp(-h * h * (1 + a * a) / 2) / (2 * mp.pi * (1 + a * a)),
)
enter("special.fresnel[0]", "line_to_10000", mp.fresnels, lambda x: mp.sinpi(x * x / 2))
enter("special.fresnel[1]", "line_to_10000", mp.fresnelc, lambda x: mp.cospi(x * x / 2))

# Gamma and what is made of it
# ----------------------------------------------------------------------------------------


def _pole(x: Number) -> bool:
    return bool(x <= 0 and x == mp.floor(x))


def _gamma(x: Number) -> Number:
    _inside(not _pole(x))
    return mp.gamma(x)


def _reciprocal_gamma(x: Number) -> Number:
    return mp.rgamma(x)


def _reciprocal_gamma_slope(x: Number) -> Number:
    if _pole(x):  # the limit: rgamma has a simple zero there
        n = int(-x)
        return (-1) ** n * mp.fac(n)
    return -mp.psi(0, x) * mp.rgamma(x)


def _log_gamma(x: Number) -> Number:
    _inside(not _pole(x))
    return (
        mp.re(mp.loggamma(x))
        if x > 0
        else mp.log(abs(mp.gamma(x)))
        if x > -1000
        else _reflected_log_gamma(x)
    )


def _reflected_log_gamma(x: Number) -> Number:
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def _digamma(x: Number) -> Number:
    _inside(not _pole(x))
    return (
        mp.psi(0, x)
        if x > -1000
        else mp.psi(0, 1 - x) - mp.pi * mp.cotpi(x)
        if hasattr(mp, "cotpi")
        else _reflected_psi(x)
    )


def _reflected_psi(x: Number) -> Number:
    return mp.psi(0, 1 - x) - mp.pi * mp.cospi(x) / mp.sinpi(x)


def _trigamma(x: Number) -> Number:
    _inside(not _pole(x))
    return mp.psi(1, x) if x > -1000 else (mp.pi / mp.sinpi(x)) ** 2 - mp.psi(1, 1 - x)


def _log_of_beta(a: Number, b: Number) -> Number:
    _inside(not _pole(a) and not _pole(b) and not _pole(a + b))
    return _log_gamma(a) + _log_gamma(b) - _log_gamma(a + b)


def _beta(a: Number, b: Number) -> Number:
    _inside(not _pole(a) and not _pole(b))
    if max(abs(a), abs(b)) > 1000 and min(a, b) > 0:
        return mp.exp(_log_of_beta(a, b))
    return mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b)


def _beta_slope(a: Number, b: Number) -> Number:
    _inside(not _pole(a + b))
    return _beta(a, b) * (_digamma(a) - _digamma(a + b))


def _binomial(n: Number, k: Number) -> Number:
    _inside(not _pole(n + 1))
    return mp.binomial(n, k)


enter("special.gamma", "line", _gamma, lambda x: _gamma(x) * _digamma(x))
enter("special.rgamma", "line", _reciprocal_gamma, _reciprocal_gamma_slope)
enter("special.gammaln", "line", _log_gamma, _digamma)
enter("special.loggamma", "line_above_zero", _log_gamma, _digamma)
enter("special.psi", "line", _digamma, _trigamma)
enter("special.beta", "parameters parameters", _beta, _beta_slope, lambda a, b: _beta_slope(b, a))
enter(
    "special.betaln",
    "parameters parameters",
    _log_of_beta,
    lambda a, b: _digamma(a) - _digamma(a + b),
    lambda a, b: _digamma(b) - _digamma(a + b),
)
enter(
    "special.binom",
    "parameters parameters",
    _binomial,
    by_difference(_binomial, 0),
    by_difference(_binomial, 1),
)


def _rise_slope(z: Number, m: Number) -> Number:
    with mp.workdps(400):  # the difference of what is alike for m = 1e-150
        if z == 0:
            _inside(m > 0)
            return mp.gamma(m)
        return mp.rf(z, m) * (_digamma(z + m) - _digamma(z))


def _rise_slope_of_length(z: Number, m: Number) -> Number:
    if z == 0:
        _inside(m > 0)
        return mpf(0)
    return mp.rf(z, m) * _digamma(z + m)


enter(
    "special.poch",
    "parameters parameters",
    lambda z, m: mp.rf(z, m),
    _rise_slope,
    _rise_slope_of_length,
)
enter("special.gammasgn", "line", lambda x: mp.sign(_gamma(x)), _zero)


def _incomplete(a: Number, x: Number) -> Number:
    _inside(a >= 0 and x >= 0 and not (a == 0 and x == 0))
    if a == 0:
        return mpf(1)
    return (
        1 - mp.gammainc(a, x, regularized=True)
        if x > a + 1
        else mp.gammainc(a, 0, x, regularized=True)
    )


def _incomplete_complement(a: Number, x: Number) -> Number:
    _inside(a >= 0 and x >= 0 and not (a == 0 and x == 0))
    if a == 0:
        return mpf(0)
    if x > a + 1:
        return mp.gammainc(a, x, regularized=True)
    with mp.workdps(DIGITS - int(mp.log10(a)) if a < 1 else DIGITS):
        return 1 - mp.gammainc(a, 0, x, regularized=True)


def _incomplete_slope(a: Number, x: Number) -> Number:
    _inside(a > 0 and x >= 0)
    if x == 0:
        _inside(a >= 1)
        return mpf(a == 1)
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _incomplete_slope_of_shape(a: Number, x: Number) -> Number:
    _inside(a > 0)
    if x > a + 1:  # of the smaller of the two, which keeps its digits
        return -by_difference(lambda a, x: mp.gammainc(a, x, regularized=True), 0)(a, x)
    return by_difference(lambda a, x: mp.gammainc(a, 0, x, regularized=True), 0)(a, x)


enter(
    "special.gammainc", "shapes shapes", _incomplete, _incomplete_slope_of_shape, _incomplete_slope
)
enter(
    "special.gammaincc",
    "shapes shapes",
    _incomplete_complement,
    lambda a, x: -_incomplete_slope_of_shape(a, x),
    lambda a, x: -_incomplete_slope(a, x),
)


def _incomplete_beta(a: Number, b: Number, x: Number) -> Number:
    _inside(a > 0 and b > 0 and 0 <= x <= 1)
    if x > a / (a + b):
        return 1 - mp.betainc(b, a, 0, 1 - x, regularized=True)
    return mp.betainc(a, b, 0, x, regularized=True)


def _incomplete_beta_slope(a: Number, b: Number, x: Number) -> Number:
    _inside(a > 0 and b > 0 and 0 < x < 1)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - _log_of_beta(a, b))


enter(
    "special.betainc",
    "shapes shapes probability",
    _incomplete_beta,
    by_difference(_incomplete_beta, 0),
    by_difference(_incomplete_beta, 1),
    _incomplete_beta_slope,
)

# Bessel functions
# ------------------------------------------------------------------------------------------------

_i = mp.besseli


def _scaled(order: Number, x: Number) -> Number:
    """exp(-|x|) I(x), for a whole order or a positive x."""
    if abs(x) <= 1000:
        return mp.exp(-abs(x)) * _i(abs(order) if order == int(order) else order, x)
    return (
        (mp.sign(x) ** int(order) if x < 0 else 1)
        * _hankel(order, abs(x))
        / mp.sqrt(2 * mp.pi * abs(x))
    )


def _hankel(order: Number, x: Number) -> Number:
    term = total = mpf(1)
    for n in range(1, 40):
        term *= -(4 * mpf(order) ** 2 - (2 * n - 1) ** 2) / (n * 8 * x)
        total += term
    return total


def _scaled_slope(order: Number, x: Number) -> Number:
    with mp.workdps(2 * DIGITS + 2 * max(0, int(mp.log10(abs(x)))) if x else DIGITS):
        return (_scaled(order - 1, x) + _scaled(order + 1, x)) / 2 - mp.sign(x) * _scaled(order, x)


def _of_bessel(order: Number, x: Number) -> Number:
    _inside(x >= 0 or order == mp.floor(order))
    return _i(order, x)


def _scaled_of(order: Number, x: Number) -> Number:
    _inside(x >= 0 or order == mp.floor(order))
    return _scaled(order, x)


enter("special.i0", "line", lambda x: _i(0, x), lambda x: _i(1, x))
enter("special.i1", "line", lambda x: _i(1, x), lambda x: (_i(0, x) + _i(2, x)) / 2)
enter(
    "special.i0e", "line", lambda x: _scaled(0, x), lambda x: _scaled_slope(0, x) if x else mpf(0)
)
enter("special.i1e", "line", lambda x: _scaled(1, x), lambda x: _scaled_slope(1, x))
enter(
    "special.iv",
    "orders moderate",
    _of_bessel,
    None,
    lambda v, x: (_of_bessel(v - 1, x) + _of_bessel(v + 1, x)) / 2,
)
enter(
    "special.ive",
    "orders moderate",
    _scaled_of,
    None,
    lambda v, x: (
        (_scaled_of(v - 1, x) + _scaled_of(v + 1, x)) / 2
        - (_sign(x) * _scaled_of(v, x) if v or x else 0)
    ),
)
enter("special.j0", "line_to_10000", mp.j0, lambda x: -mp.j1(x))
enter("special.j1", "line_to_10000", mp.j1, lambda x: (mp.j0(x) - mp.besselj(2, x)) / 2)


def _y(order: int, x: Number) -> Number:
    _inside(x > 0)
    return mp.bessely(order, x)


enter("special.y0", "line_to_10000", lambda x: _y(0, x), lambda x: -_y(1, x))
enter("special.y1", "line_to_10000", lambda x: _y(1, x), lambda x: (_y(0, x) - _y(2, x)) / 2)

# Exponentials, logarithms and their integrals
# ------------------------------------------------------------------------


def _times_log(x: Number, y: Number) -> Number:
    return mpf(0) if x == 0 else x * _log(y)


def _times_log1p(x: Number, y: Number) -> Number:
    return mpf(0) if x == 0 else x * (mp.log1p(y) if y > -1 else _log(y + 1))


def _boxcox(x: Number, power: Number) -> Number:
    return _log(x) if power == 0 else mp.expm1(power * _log(x)) / power


def _boxcox_slope_of_power(x: Number, power: Number) -> Number:
    log = _log(x)
    if abs(power * log) < mpf(10) ** -20:
        return log**2 / 2 + power * log**3 / 3
    with mp.workdps(3 * DIGITS):
        return (power * log * mp.exp(power * log) - mp.expm1(power * log)) / power**2


def _boxcox1p(x: Number, power: Number) -> Number:
    with mp.workdps(400):
        return _boxcox(1 + x, power)


def _inverse_boxcox(y: Number, power: Number) -> Number:
    if power == 0:
        return mp.exp(y)
    _inside(1 + power * y > 0)
    return mp.exp(mp.log1p(power * y) / power)


def _inverse_boxcox_slope(y: Number, power: Number) -> Number:
    _inside(1 + power * y > 0)
    return _inverse_boxcox(y, power) / (1 + power * y)


def _inverse_boxcox_slope_of_power(y: Number, power: Number) -> Number:
    _inside(1 + power * y > 0)
    if abs(power * y) < mpf(10) ** -20:
        return _inverse_boxcox(y, power) * (-(y**2) / 2 + 2 * power * y**3 / 3)
    with mp.workdps(3 * DIGITS):
        return _inverse_boxcox(y, power) * (
            y / (power * (1 + power * y)) - mp.log1p(power * y) / power**2
        )


def _entropy(x: Number) -> Number:
    _inside(x >= 0)
    return -_times_log(x, x) if x else mpf(0)


def _relative_entropy(x: Number, y: Number) -> Number:
    _inside((x >= 0 and y > 0) or (x == 0 and y >= 0))
    return mpf(0) if x == 0 else x * mp.log(x / y)


def _relative_entropy_slopes(x: Number, y: Number) -> tuple[Number, Number]:
    _inside(x > 0 and y > 0)
    return mp.log(x / y) + 1, -x / y


def _relative_entropy_slope_of_second(x: Number, y: Number) -> Number:
    _inside(x >= 0 and y > 0)
    return -x / y


def _huber(delta: Number, r: Number) -> Number:
    _inside(delta >= 0)
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def _huber_slope_of_delta(delta: Number, r: Number) -> Number:
    _inside(delta >= 0)
    return mpf(0) if abs(r) <= delta else abs(r) - delta


def _huber_slope(delta: Number, r: Number) -> Number:
    _inside(delta >= 0)
    return r if abs(r) <= delta else delta * mp.sign(r)


def _pseudo_huber(delta: Number, r: Number) -> Number:
    _inside(delta >= 0)
    return delta * r * r / (delta + mp.sqrt(delta**2 + r**2)) if delta or r else mpf(0)


def _pseudo_huber_slope_of_delta(delta: Number, r: Number) -> Number:
    """sqrt(delta**2 + r**2) (a - 1)**2 for a = delta / that root."""
    _inside(delta > 0 or (delta == 0 and r != 0))
    root = mp.hypot(delta, r)
    with mp.workdps(700):
        return (mp.sqrt(delta**2 + r**2) - delta) ** 2 / root


def _pseudo_huber_slope(delta: Number, r: Number) -> Number:
    _inside(delta >= 0 and (delta > 0 or r != 0))
    return delta * r / mp.hypot(delta, r)


def _dilogarithm(x: Number) -> Number:
    """SciPy's spence(x), Li2(1 - x)."""
    _inside(x >= 0)
    if x > 10**15 or abs(1 - x) < mpf(10) ** -25:
        if x > 2:
            return (
                -(mp.pi**2) / 6
                - mp.log(x) ** 2 / 2
                + mp.re(mp.polylog(2, 1 / x) if x < 10**4 else 1 / x)
                - mp.log(x) * (mp.log1p(-1 / x) * 0)
            )
        return (1 - x) + (1 - x) ** 2 / 4
    return mp.re(mp.polylog(2, 1 - x))


def _dilogarithm_slope(x: Number) -> Number:
    _inside(x > 0)
    return -1 - (1 - x) / 2 if abs(1 - x) < mpf(10) ** -25 else mp.log(x) / (1 - x)


def _exponential_integral(n: Number, x: Number) -> Number:
    _inside(x >= 0 and n == mp.floor(n) and n >= 0 and (x > 0 or n > 1))
    if x == 0:
        return 1 / (n - 1)
    return mp.expint(n, x) if x < 2000 else mpf(0)


def _exponential_integral_slope(n: Number, x: Number) -> Number:
    _inside(x > 0 or n > 2)
    return -mp.exp(-x) * (1 + 1 / x) / x if n == 0 else -_exponential_integral(n - 1, x)


def _e1(x: Number) -> Number:
    _inside(x > 0)
    return mp.e1(x)


enter(
    "special.expit", "line", lambda x: 1 / (1 + mp.exp(-x)), lambda x: 1 / (2 * mp.cosh(x / 2)) ** 2
)
enter(
    "special.log_expit",
    "line",
    lambda x: -mp.log1p(mp.exp(-x)) if x > 0 else x - mp.log1p(mp.exp(x)),
    lambda x: 1 / (1 + mp.exp(x)),
)
enter(
    "special.logit",
    "probability",
    lambda p: _log(p) - (mp.log1p(-p) if p < 1 else _log(1 - p)),
    lambda p: 1 / (p * (1 - p)) if 0 < p < 1 else _log(mpf(-1)),
)
enter("special.exp2", "line", lambda x: mpf(2) ** x, lambda x: mpf(2) ** x * mp.log(2))
enter("special.exp10", "line", lambda x: mpf(10) ** x, lambda x: mpf(10) ** x * mp.log(10))
enter("special.expm1", "line", mp.expm1, mp.exp)
enter(
    "special.log1p",
    "line_near_minus_one",
    FUNCTIONS["np.log1p"].value,
    *FUNCTIONS["np.log1p"].slopes,
)
enter("special.cbrt", "line", *[FUNCTIONS["np.cbrt"].value, *FUNCTIONS["np.cbrt"].slopes])  # type: ignore[arg-type]
enter("special.cosm1", "line", lambda x: -2 * mp.sin(x / 2) ** 2, lambda x: -mp.sin(x))
enter(
    "special.xlogy",
    "some positive",
    _times_log,
    lambda x, y: _log(y),
    lambda x, y: x / y if y > 0 else _log(y),
)
enter(
    "special.xlog1py",
    "some above_minus_one",
    _times_log1p,
    lambda x, y: mp.log1p(y) if y > -1 else _log(y + 1),
    lambda x, y: x / (1 + y) if y > -1 else _log(y + 1),
)
enter("special.entr", "line", _entropy, lambda x: -_log(x) - 1)
enter(
    "special.rel_entr",
    "positive positive",
    _relative_entropy,
    lambda x, y: _relative_entropy_slopes(x, y)[0],
    _relative_entropy_slope_of_second,
)


def _divergence(x: Number, y: Number) -> Number:
    return _relative_entropy(x, y) - x + y


enter(
    "special.kl_div",
    "positive positive",
    _divergence,
    lambda x, y: _relative_entropy_slopes(x, y)[0] - 1,
    lambda x, y: 1 + _relative_entropy_slope_of_second(x, y),
)
enter(
    "special.boxcox",
    "positive exponents",
    _boxcox,
    lambda x, p: _power(x, p - 1) if x > 0 else _log(x),
    _boxcox_slope_of_power,
)
enter(
    "special.boxcox1p",
    "above_minus_one exponents",
    _boxcox1p,
    lambda x, p: mp.exp((p - 1) * mp.log1p(x)) if x > -1 else _log(x + 1),
    by_difference(_boxcox1p, 1),
)
enter(
    "special.inv_boxcox",
    "some exponents",
    _inverse_boxcox,
    _inverse_boxcox_slope,
    _inverse_boxcox_slope_of_power,
)
enter("special.huber", "positive some", _huber, _huber_slope_of_delta, _huber_slope)
enter(
    "special.pseudo_huber",
    "positive some",
    _pseudo_huber,
    _pseudo_huber_slope_of_delta,
    _pseudo_huber_slope,
)
enter("special.exp1", "line_to_10000", _e1, lambda x: -mp.exp(-x) / x if x > 0 else _e1(x))
enter("special.expi", "line_to_10000", mp.ei, lambda x: mp.exp(x) / x)
enter("special.expn", "counts moderate", _exponential_integral, None, _exponential_integral_slope)
enter("special.sici[0]", "line_to_10000", mp.si, mp.sinc)
enter(
    "special.sici[1]",
    "line_to_10000",
    lambda x: mp.ci(x) if x > 0 else _log(x),
    lambda x: mp.cos(x) / x,
)
enter("special.spence", "line", _dilogarithm, _dilogarithm_slope)


def _confluent(a: Number, b: Number, x: Number) -> Number:
    _inside(not _pole(b))
    return mp.hyp1f1(a, b, x)


def _gauss(a: Number, b: Number, c: Number, z: Number) -> Number:
    _inside(not _pole(c) and z < 1)
    return mp.hyp2f1(a, b, c, z)


enter(
    "special.hyp1f1",
    "few few moderate",
    _confluent,
    by_difference(_confluent, 0),
    by_difference(_confluent, 1),
    lambda a, b, x: a / b * _confluent(a + 1, b + 1, x),
)
enter(
    "special.hyp2f1",
    "few few few below_one",
    _gauss,
    by_difference(_gauss, 0),
    by_difference(_gauss, 1),
    by_difference(_gauss, 2),
    lambda a, b, c, z: a * b / c * _gauss(a + 1, b + 1, c + 1, z),
)


# SciPy's own, by rules
# -------------------------------------------------------------------------------------------------


def _of_order(f: Function) -> Function:
    """Where it is real."""

    def value(v: Number, x: Number) -> Number:
        _inside(x > 0 or v == mp.floor(v))
        return f(v, x)

    return value


def _between(f: Function, sign: int) -> Function:
    return lambda v, x: (f(v - 1, x) + sign * f(v + 1, x)) / 2


def _positive(f: Function) -> Function:
    def value(*args: Number) -> Number:
        _inside(args[-1] > 0)
        return f(*args)

    return value


enter(
    "special.jv",
    "orders moderate",
    _of_order(mp.besselj),
    None,
    _of_order(_between(mp.besselj, -1)),
)
enter(
    "special.yv",
    "orders moderate",
    _positive(mp.bessely),
    None,
    _positive(_between(mp.bessely, -1)),
)
enter(
    "special.kv",
    "orders moderate",
    _positive(mp.besselk),
    None,
    _positive(lambda v, x: -_between(mp.besselk, 1)(v, x)),
)
enter(
    "special.k0",
    "moderate",
    _positive(lambda x: mp.besselk(0, x)),
    _positive(lambda x: -mp.besselk(1, x)),
)
enter(
    "special.k1",
    "moderate",
    _positive(lambda x: mp.besselk(1, x)),
    _positive(lambda x: -_between(mp.besselk, 1)(1, x)),
)
enter("special.erfi", "moderate", mp.erfi, lambda x: _two_over_root_pi() * mp.exp(x * x))


def _complete(f: Function) -> Function:
    def value(m: Number) -> Number:
        _inside(m < 1)
        return f(m)

    return value


enter(
    "special.ellipk", "below_one", _complete(mp.ellipk), _complete(lambda m: mp.diff(mp.ellipk, m))
)
enter(
    "special.ellipe", "below_one", _complete(mp.ellipe), _complete(lambda m: mp.diff(mp.ellipe, m))
)


def _student(df: Number, t: Number) -> Number:
    _inside(df > 0)
    tail = mp.betainc(df / 2, mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t < 0 else 1 - tail


def _student_slope(df: Number, t: Number) -> Number:
    _inside(df > 0)
    return (1 + t * t / df) ** (-(df + 1) / 2) / (mp.sqrt(df) * mp.beta(df / 2, mpf(1) / 2))


enter("special.stdtr", "few moderate", _student, by_difference(_student, 0), _student_slope)

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
