"""Noncentral distributions (chi squared, Fisher's F, Student's t), and others whose ufuncs are
private in SciPy.

Derivatives by the degrees of freedom are differences of SciPy's functions, of the tail that is
asked for. So are those by the noncentrality of Student's t, and those of two densities by the
place. The first two distributions are mixtures of central ones: a Poisson count is added to the
degrees of freedom. So the derivative by the noncentrality is a difference of two distributions.
Sources: NIST Digital Library of Mathematical Functions, 10.29; Johnson, Kotz and Balakrishnan,
Continuous univariate distributions 2, 1995, chapters 29 to 31. Inverses by the implicit function
theorem.

All functions here take the degrees of freedom, the noncentrality and the place.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from .parameters import by_difference, later, to_pole
from .probability import cumulative, inverse
from .ufunc_rules import ruled, scipy_ufunc

Function: TypeAlias = Callable[..., Any]


def _place_first(name: str) -> Function:
    """A ufunc of SciPy that takes the place first."""
    return lambda *args: scipy_ufunc(name)(args[-1], *args[:-1])


def _differences(name: str, function: Function, *rooms: Any, sign: int = 1) -> list[Function]:
    """The derivatives by the first arguments, one for each room; times the sign."""
    each = [by_difference(name, function, place, room) for place, room in enumerate(rooms)]
    return [lambda *args, f=f: sign * f(*args) for f in each]


# Chi squared
# ------------------------------------------------------------------------------------------------

_CHI_SQUARED = {1: _place_first("chndtr"), -1: _place_first("_ncx2_sf")}
(_density_by_df,) = _differences("_ncx2_pdf", _place_first("_ncx2_pdf"), to_pole)
chi_squared_density: Function = ruled(
    "_ncx2_pdf",
    _place_first("_ncx2_pdf"),
    lambda y, df, nc, x: (
        lambda: _density_by_df(df, nc, x),
        lambda: (chi_squared_density(df + 2, nc, x) - y) / 2,
        lambda: ((df - 2 - x) * y + nc * chi_squared_density(df + 2, nc, x)) / (2 * x),
    ),
)
_chi_squared_by = {
    sign: [
        *_differences("chndtr", tail, to_pole, sign=sign),
        lambda df, nc, x: -chi_squared_density(df + 2, nc, x),
    ]
    for sign, tail in _CHI_SQUARED.items()
}
chi_squared = {
    sign: ruled("chndtr", tail, cumulative(sign, _chi_squared_by[sign], chi_squared_density))
    for sign, tail in _CHI_SQUARED.items()
}


def chi_squared_inverse(sign: int) -> Function:
    return inverse(sign, _chi_squared_by[sign], chi_squared_density, level_first=True)


# Fisher's F
# ------------------------------------------------------------------------------------------------

_FISHER: dict[int, Function] = {1: special.ncfdtr, -1: _place_first("_ncf_sf")}
_density_by = _differences("_ncf_pdf", _place_first("_ncf_pdf"), to_pole, to_pole, None, np.abs)
fisher_density: Function = ruled(
    "_ncf_pdf",
    _place_first("_ncf_pdf"),
    lambda y, *args: (
        *later(_density_by[:2], *args),
        lambda: (_more(fisher_density, *args) - y) / 2,
        *later(_density_by[3:], *args),
    ),
)


def _more(f: Function, n: Any, d: Any, nc: Any, x: Any) -> Any:
    """A tail or a density of the mixture in which the Poisson count is one more."""
    narrower = n / (n + 2)
    result = f(n + 2, d, nc, x * narrower)
    return result * narrower if f is fisher_density else result


def _fisher_by_nc(sign: int, *args: Any) -> Any:
    return sign * (_more(fisher[sign], *args) - fisher[sign](*args)) / 2


_fisher_by: dict[int, list[Function]] = {
    sign: [
        *_differences("ncfdtr", tail, to_pole, to_pole, sign=sign),
        functools.partial(_fisher_by_nc, sign),
    ]
    for sign, tail in _FISHER.items()
}
fisher: dict[int, Function] = {
    sign: ruled("ncfdtr", tail, cumulative(sign, _fisher_by[sign], fisher_density))
    for sign, tail in _FISHER.items()
}


def fisher_inverse(sign: int, level_first: bool = False) -> Function:
    return inverse(sign, _fisher_by[sign], fisher_density, level_first)


# Student's t
# ------------------------------------------------------------------------------------------------

_STUDENT: dict[int, Function] = {1: special.nctdtr, -1: _place_first("_nct_sf")}
_student_density_by = _differences("_nct_pdf", _place_first("_nct_pdf"), to_pole, None, None)
student_density: Function = ruled(
    "_nct_pdf", _place_first("_nct_pdf"), lambda y, *args: tuple(later(_student_density_by, *args))
)
_student_by = {
    sign: _differences("nctdtr", tail, to_pole, None, sign=sign) for sign, tail in _STUDENT.items()
}
student = {
    sign: ruled("nctdtr", tail, cumulative(sign, _student_by[sign], student_density))
    for sign, tail in _STUDENT.items()
}


def student_inverse(sign: int, level_first: bool = False) -> Function:
    return inverse(sign, _student_by[sign], student_density, level_first)


# Others
# ------------------------------------------------------------------------------------------------


def skew_normal_inverse(sign: int) -> Callable[..., Any]:
    def partials(x: Any, p: Any, loc: Any, scale: Any, a: Any) -> Any:
        z = (x - loc) / scale
        front = 2 * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * special.ndtr(a * z) / scale
        by_shape = np.exp(-z * z * (1 + a * a) / 2) / (math.pi * (1 + a * a))
        return sign / front, np.ones_like(x), z, by_shape / front

    return partials


_box_cox_by_power = by_difference("boxcox", special.boxcox, 1)


def tukey_lambda(p: Any, x: Any, power: Any) -> Any:
    """The density of the distribution with quantiles (p^power - (1 - p)^power) / power.

    Zero outside its support.
    """
    inside = (p > 0) & (p < 1)
    at = np.where(inside, p, 0.5)
    slope = at ** (power - 1) + (1 - at) ** (power - 1)

    def by_power() -> Any:
        rise = _box_cox_by_power(at, power) - _box_cox_by_power(1 - at, power)
        return np.where(inside, -rise / slope, 0.0)

    return np.where(inside, 1 / slope, 0.0), by_power
