"""The ufuncs of scipy.special: for each one its signature, and where its values and its derivatives
come from.

Each function has one row. Longer code is in the modules imported here, by families. The functions
that an engine has are in one file of that engine, by the same names.

Source of the derivatives, unless a row names another: NIST Digital Library of Mathematical
Functions (DLMF).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from . import array_api, bessel, elliptic, far_out, noncentral, probability, python_functions
from . import error_functions as errors
from . import hypergeometric as hyper
from . import orthogonal_polynomials as poly
from .parameters import later

Function: TypeAlias = Callable[..., Any]


class Row(NamedTuple):
    """A function of scipy.special.

    An engine uses the first available of: its own function where that is right; `corrected`; its
    own function with `partials`; `composed`; `code`; SciPy's function on the host with `partials`.
    """

    name: str
    #: The parameters. Those before a semicolon have no derivative; `what` says what they are.
    signature: str
    #: From the value and the arguments to the derivatives by the arguments. A function among them
    #: is called if that derivative
    #: is wanted.
    partials: Function | None = None
    what: str = "order"
    #: From the namespace, the engine's functions that `parts` names, and the arguments, to the
    #: value.
    corrected: Function | None = None
    parts: tuple[str, ...] = ()
    #: From the namespace and the arguments to the value, by functions of the Array API.
    composed: Function | None = None
    #: From the arguments to the value: NumPy code that calls other functions of this table.
    code: Function | None = None
    #: As `partials`, for complex arguments, which the engines' own functions do not take.
    complex_partials: Function | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.signature.replace(";", "").split())

    @property
    def orders(self) -> int:
        """How many of the first parameters have no derivative."""
        before, semicolon, _ = self.signature.partition(";")
        return len(before.split()) if semicolon else 0


def no_partials(*args: Any) -> None:
    """The partials of a complex function that SciPy has and whose derivatives are unknown."""


#: The slope of erf at zero.
_ERF_AT_ZERO = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI, _DEGREE = math.sqrt(2 * math.pi), math.pi / 180
_GAMMAS = ("gammaln", "polygamma")
_DEGREES = "degree or parameter"


def _erf_slope(y: Any, z: Any) -> Any:
    return _ERF_AT_ZERO * np.exp(-z * z)


def _erfc_slope(y: Any, z: Any) -> Any:
    return -_ERF_AT_ZERO * np.exp(-z * z)


def _ndtr_slope(y: Any, x: Any) -> Any:
    return np.exp(-x * x / 2) / _ROOT_TWO_PI


ROWS = (
    # Exponentials and logarithms. Array API code, which the engine differentiates.
    Row("exp2", "x", composed=array_api.of_floats("exp2")),
    Row("exp10", "x", composed=array_api.exp10),
    Row("expm1", "x", composed=array_api.of_floats("expm1")),
    Row("log1p", "x", composed=array_api.of_floats("log1p")),
    Row("cbrt", "x", composed=array_api.of_floats("cbrt")),
    Row("cosm1", "x", composed=array_api.cosm1),
    Row("exprel", "x", lambda y, x: errors.exprel_slope(x)), Row("powm1", "x y", errors.powm1),
    Row("expit", "x", composed=array_api.expit),
    Row("log_expit", "x", composed=array_api.log_expit),
    Row("logit", "p", lambda y, p: 1 / (p * (1 - p))),
    Row("softplus", "x", code=lambda x: np.logaddexp(x, 0.0)),
    Row("xlogy", "x y", composed=array_api.xlogy, complex_partials=lambda y, x, z: (np.log(z), x / z)),
    Row("xlog1py", "x y", composed=array_api.xlog1py, complex_partials=lambda y, x, z: (np.log1p(z), x / (1 + z))),
    Row("entr", "x", composed=array_api.entr), Row("rel_entr", "x y", composed=array_api.rel_entr),
    Row("kl_div", "x y", composed=array_api.kl_div),
    Row("boxcox", "x lmbda", composed=array_api.box_cox(0)),
    Row("boxcox1p", "x lmbda", composed=array_api.box_cox(1)),
    Row("inv_boxcox", "y lmbda", composed=array_api.inv_boxcox(0)),
    Row("inv_boxcox1p", "y lmbda", composed=array_api.inv_boxcox(1)),
    Row("huber", "delta r", composed=array_api.huber),
    Row("pseudo_huber", "delta r", composed=array_api.pseudo_huber),
    Row("wrightomega", "z", lambda y, z: y / (1 + y)),
    # In degrees.
    Row("sindg", "x", lambda y, x: _DEGREE * special.cosdg(x)),
    Row("cosdg", "x", lambda y, x: -_DEGREE * special.sindg(x)),
    Row("tandg", "x", lambda y, x: _DEGREE * (1 + y * y)),
    Row("cotdg", "x", lambda y, x: -_DEGREE * (1 + y * y)),
    Row("radian", "d m s", lambda y, d, m, s: tuple([_DEGREE / part * np.ones_like(y) for part in (1, 60, 3600)])),
    # Error functions. DLMF 7.2, 7.10, 7.12.
    Row("erf", "z", _erf_slope, complex_partials=_erf_slope),
    Row("erfc", "z", _erfc_slope, complex_partials=_erfc_slope),
    Row(
        "erfcx", "z", errors.erfcx_slope, complex_partials=lambda y, z: 2 * z * y - _ERF_AT_ZERO
    ),
    Row("erfi", "z", lambda y, x: _ERF_AT_ZERO * np.exp(x * x)),
    Row("erfinv", "y", lambda y, x: np.exp(y * y) / _ERF_AT_ZERO),
    Row("erfcinv", "y", lambda y, x: -np.exp(y * y) / _ERF_AT_ZERO),
    Row("dawsn", "z", errors.dawsn_slope, complex_partials=errors.dawsn_slope),
    Row("wofz", "z", errors.wofz_slope),
    Row("voigt_profile", "x sigma gamma", errors.voigt),
    Row("ndtr", "x", code=lambda x: special.erfc(-x / math.sqrt(2)) / 2, complex_partials=_ndtr_slope),
    Row(
        "log_ndtr", "x", code=errors.log_ndtr, complex_partials=lambda y, z: np.exp(-z * z / 2 - y) / _ROOT_TWO_PI
    ),
    Row("ndtri", "y", lambda y, p: np.exp(y * y / 2) * _ROOT_TWO_PI),
    Row("ndtri_exp", "y", lambda y, x: np.exp(x + y * y / 2) * _ROOT_TWO_PI),
    Row("owens_t", "h a", errors.owens_t),
    Row("fresnel", "z", errors.fresnel, complex_partials=errors.fresnel),
    # Exponential integrals. DLMF 6.2, 8.19, 25.12.
    Row("exp1", "z", lambda y, x: -np.exp(-x) / x),
    Row("expi", "x", lambda y, x: np.exp(x) / x),
    Row("expn", "n; x", errors.expn_slope),
    Row("sici", "x", errors.sici, complex_partials=errors.sici),
    Row("shichi", "x", lambda values, x: ((errors.sinc(x, 1),), (np.cosh(x) / x,))),
    Row("spence", "z", errors.spence_slope, complex_partials=errors.spence_slope),
    # Gamma and beta functions. DLMF 5.2, 5.5, 25.11.
    Row("gamma", "z", complex_partials=lambda y, z: y * special.psi(z)),
    Row("gammaln", "x"),
    Row("loggamma", "z", code=lambda x: special.gammaln(x), complex_partials=lambda y, z: special.psi(z)),
    Row("gammasgn", "x", lambda y, x: None),
    Row(
        "rgamma", "z", corrected=far_out.rgamma, parts=("gammaln",), complex_partials=lambda y, z: -y * special.psi(z)
    ),
    Row("psi", "z", corrected=far_out.digamma, parts=("psi",), complex_partials=no_partials),
    Row("beta", "a b", corrected=far_out.beta, parts=_GAMMAS),
    Row("betaln", "a b", corrected=far_out.betaln, parts=_GAMMAS),
    Row("binom", "x y", corrected=far_out.binom, parts=_GAMMAS),
    Row("poch", "z m", corrected=far_out.poch, parts=_GAMMAS),
    Row("_zeta", "x q", code=python_functions.hurwitz_zeta),
    Row("_riemann_zeta", "x", code=python_functions.riemann_zeta),
    Row("zetac", "x", lambda y, s: python_functions.zeta_by_exponent(s)),
    # Incomplete gamma and beta functions, and their inverses. DLMF 8.7, 8.8, 8.17.
    Row("gammainc", "a x", probability.cumulative(1, [probability.gamma_by_shape], probability.gamma_density)),
    Row("gammaincc", "a x", probability.cumulative(-1, [probability.gamma_by_shape], probability.gamma_density)),
    Row("gammaincinv", "a y", probability.inverse(1, [probability.gamma_by_shape], probability.gamma_density)),
    Row("gammainccinv", "a y", probability.inverse(-1, [probability.gamma_by_shape], probability.gamma_density)),
    Row("betainc", "a b x", probability.cumulative(1, probability.beta_by, probability.beta_density)),
    Row("betaincc", "a b x", probability.cumulative(-1, probability.beta_by, probability.beta_density)),
    Row("betaincinv", "a b y", probability.inverse(1, probability.beta_by, probability.beta_density)),
    Row("betainccinv", "a b y", probability.inverse(-1, probability.beta_by, probability.beta_density)),
    # Distributions that are made of these. DLMF 8.17, 26.
    Row("chdtr", "v x", code=lambda v, x: special.gammainc(v / 2, x / 2)),
    Row("chdtrc", "v x", code=lambda v, x: special.gammaincc(v / 2, x / 2)),
    Row("chdtri", "v p", code=lambda v, p: 2 * special.gammainccinv(v / 2, p)),
    Row("gdtr", "a b x", code=lambda a, b, x: special.gammainc(b, a * x)),
    Row("gdtrc", "a b x", code=lambda a, b, x: special.gammaincc(b, a * x)),
    Row("gdtrix", "a b p", code=lambda a, b, p: special.gammaincinv(b, p) / a),
    Row("fdtr", "dfn dfd x", code=lambda n, d, x: special.betainc(n / 2, d / 2, probability.ratio(n, d, x))),
    Row("fdtrc", "dfn dfd x", code=lambda n, d, x: special.betainc(d / 2, n / 2, d / (d + n * x))),
    Row("fdtri", "dfn dfd p", code=probability.fisher_inverse),
    Row("pdtr", "k m", code=lambda k, m: special.gammaincc(probability.next_count(k), m)),
    Row("pdtrc", "k m", code=lambda k, m: special.gammainc(probability.next_count(k), m)),
    Row("bdtr", "k n p", code=probability.binomial_up_to),
    Row("bdtrc", "k n p", code=probability.binomial_beyond),
    Row("nbdtr", "k n p", code=lambda k, n, p: special.betainc(*probability.negative_binomial_shapes(k, n), p)),
    Row("nbdtrc", "k n p", code=lambda k, n, p: special.betaincc(*probability.negative_binomial_shapes(k, n), p)),
    # Those of scipy.stats alone.
    Row(
        "_beta_pdf", "x a b",
        code=lambda x, a, b: np.exp(special.xlog1py(b - 1, -x) + special.xlogy(a - 1, x) - special.betaln(a, b)),
    ),
    Row("_beta_ppf", "q a b", code=lambda q, a, b: special.betaincinv(a, b, q)),
    Row(
        "_binom_pmf", "x n p",
        code=lambda x, n, p: np.exp(
            probability.log_binomial(n, x) + special.xlogy(x, p) + special.xlog1py(n - x, -p)
        ),
    ),
    Row("_binom_cdf", "x n p", code=lambda x, n, p: probability.binomial(x, n, p, 1.0)),
    Row("_binom_sf", "x n p", code=lambda x, n, p: probability.binomial(x, n, p, 0.0)),
    Row(
        "_nbinom_pmf", "x n p",
        code=lambda x, n, p: np.exp(
            probability.log_binomial(n + x - 1, x) + special.xlogy(n, p) + special.xlog1py(x, -p)
        ),
    ),
    Row("_nbinom_cdf", "x n p", code=lambda x, n, p: special.betainc(n, np.floor(x) + 1, p)),
    Row("_nbinom_sf", "x n p", code=lambda x, n, p: special.betainc(np.floor(x) + 1, n, 1 - p)),
    Row("_nbinom_mean", "n p", code=lambda n, p: n * (1 - p) / p),
    Row("_nbinom_variance", "n p", code=lambda n, p: n * (1 - p) / p**2),
    Row("_nbinom_skewness", "n p", code=lambda n, p: (2 - p) / np.sqrt(n * (1 - p))),
    Row("_nbinom_kurtosis_excess", "n p", code=lambda n, p: 6 / n + p**2 / (n * (1 - p))),
    Row("_cauchy_ppf", "q loc scale", code=lambda q, loc, scale: loc - scale / np.tan(np.pi * q)),
    Row("_cauchy_isf", "q loc scale", code=lambda q, loc, scale: loc + scale / np.tan(np.pi * q)),
    Row(
        "_cosine_cdf", "x",
        code=lambda x: np.where(np.abs(x) > np.pi, np.where(x < 0, 0.0, 1.0), (np.pi + x + np.sin(x)) / (2 * np.pi)),
    ),
    Row(
        "_skewnorm_cdf", "x loc scale a",
        code=lambda x, loc, scale, a: special.ndtr((x - loc) / scale) - 2 * special.owens_t((x - loc) / scale, a),
    ),
    Row("stdtr", "df t", probability.cumulative(1, [probability.student_by_df], probability.student_density)),
    Row("stdtrit", "df p", probability.inverse(1, [probability.student_by_df], probability.student_density)),
    Row("kolmogorov", "y", errors.kolmogorov_slope),
    Row("kolmogi", "p", lambda y, p: 1 / errors.kolmogorov_slope(p, y)),
    Row("tklmbda", "x lmbda", noncentral.tukey_lambda),
    # Noncentral distributions. SciPy keeps those with an underscore to scipy.stats.
    Row("chndtr", "x df nc", code=lambda x, df, nc: noncentral.chi_squared[1](df, nc, x)),
    Row("chndtrix", "p df nc", noncentral.chi_squared_inverse(1)),
    Row("_ncx2_cdf", "x df nc", code=lambda x, df, nc: noncentral.chi_squared[1](df, nc, x)),
    Row("_ncx2_sf", "x df nc", code=lambda x, df, nc: noncentral.chi_squared[-1](df, nc, x)),
    Row("_ncx2_pdf", "x df nc", code=lambda x, df, nc: noncentral.chi_squared_density(df, nc, x)),
    Row("_ncx2_ppf", "p df nc", noncentral.chi_squared_inverse(1)),
    Row("_ncx2_isf", "p df nc", noncentral.chi_squared_inverse(-1)),
    Row("ncfdtr", "dfn dfd nc f", code=noncentral.fisher[1]),
    Row("ncfdtri", "dfn dfd nc p", noncentral.fisher_inverse(1)),
    Row("_ncf_sf", "x dfn dfd nc", code=lambda x, n, d, nc: noncentral.fisher[-1](n, d, nc, x)),
    Row("_ncf_pdf", "x dfn dfd nc", code=lambda x, n, d, nc: noncentral.fisher_density(n, d, nc, x)),
    Row("_ncf_isf", "p dfn dfd nc", noncentral.fisher_inverse(-1, level_first=True)),
    Row("nctdtr", "df nc t", code=noncentral.student[1]),
    Row("nctdtrit", "df nc p", noncentral.student_inverse(1)),
    Row("_nct_sf", "x df nc", code=lambda x, df, nc: noncentral.student[-1](df, nc, x)),
    Row("_nct_pdf", "x df nc", code=lambda x, df, nc: noncentral.student_density(df, nc, x)),
    Row("_nct_ppf", "p df nc", noncentral.student_inverse(1, level_first=True)),
    Row("_nct_isf", "p df nc", noncentral.student_inverse(-1, level_first=True)),
    Row("_skewnorm_ppf", "p loc scale a", noncentral.skew_normal_inverse(1)),
    Row("_skewnorm_isf", "p loc scale a", noncentral.skew_normal_inverse(-1)),
    # Bessel functions and their relatives. DLMF 9.2, 10.2, 10.6, 10.25, 10.27, 10.29, 10.32, 11.4.
    Row("jv", "v z", lambda y, v, z: (lambda: bessel.by_order["jv"](v, z), lambda: bessel.between("jv", v, z, -1))),
    Row("jve", "v; z", lambda y, v, z: bessel.between("jve", v, bessel.along_the_line("jv", "imag", z), -1)),
    Row("yv", "v; z", lambda y, v, z: bessel.between("yv", v, z, -1)),
    Row("yve", "v; z", lambda y, v, z: bessel.between("yve", v, bessel.along_the_line("yv", "imag", z), -1)),
    Row("yn", "n; x", lambda y, n, z: bessel.between("yv", np.trunc(n), z, -1)),
    Row("iv", "v z", lambda y, v, z: (lambda: bessel.by_order["iv"](v, z), lambda: bessel.between("iv", v, z, 1))),
    Row(
        "ive", "v z",
        lambda y, v, z: (
            lambda: bessel.by_order["ive"](v, z),
            lambda: bessel.between("ive", v, z, 1) - np.sign(bessel.along_the_line("iv", "real", z)) * y,
        ),
    ),
    Row("kv", "v z", lambda y, v, z: (lambda: bessel.by_order["kv"](v, z), lambda: -bessel.between("kv", v, z, 1))),
    Row("kve", "v z", lambda y, v, z: (lambda: bessel.by_order["kve"](v, z), lambda: y - bessel.between("kve", v, z, 1))),
    Row("kn", "n; x", lambda y, n, z: -bessel.between("kv", np.trunc(n), z, 1)),
    Row("j0", "x", lambda y, z: -special.j1(z)),
    Row("j1", "x", lambda y, z: (special.j0(z) - special.jv(2, z)) / 2),
    Row("y0", "x", lambda y, z: -special.y1(z)),
    Row("y1", "x", lambda y, z: (special.y0(z) - special.yv(2, z)) / 2),
    Row("i0", "x"),
    Row("i1", "x"),
    Row("i0e", "x", corrected=far_out.scaled_bessel(0), parts=("i0e",)),
    Row("i1e", "x", corrected=far_out.scaled_bessel(1), parts=("i1e",)),
    Row("k0", "x", lambda y, z: -special.k1(z)),
    Row("k1", "x", lambda y, z: -(special.k0(z) + special.kv(2, z)) / 2),
    Row("k0e", "x", lambda y, z: y - special.k1e(z)),
    Row("k1e", "x", lambda y, z: y - (special.k0e(z) + special.kve(2, z)) / 2),
    Row("struve", "v; x", lambda y, v, x: bessel.between("struve", v, x, -1) + bessel.power_of_struve(v, x)),
    Row("modstruve", "v; x", lambda y, v, x: bessel.between("modstruve", v, x, 1) + bessel.power_of_struve(v, x)),
    Row("itj0y0", "x", lambda values, x: ((special.j0(x),), (special.y0(x),))),
    Row("iti0k0", "x", lambda values, x: ((special.i0(x),), (special.k0(x),))),
    Row("airy", "z", lambda values, z: ((values[1],), (z * values[0],), (values[3],), (z * values[2],))),
    # Elliptic integrals and functions. DLMF 19.4, 19.18, 22.13, 22.16.
    Row("ellipk", "m", lambda y, m: elliptic.first_by_m(m)),
    Row("ellipkm1", "p", lambda y, p: -special.elliprd(0.0, 1.0, p) / 6),
    Row("ellipe", "m", lambda y, m: elliptic.second_by_m(m)),
    Row(
        "ellipkinc", "phi m",
        lambda y, phi, m: (1 / np.sqrt(1 - m * np.sin(phi) ** 2), lambda: elliptic.incomplete(elliptic.first_by_m, phi, m)),
    ),
    Row(
        "ellipeinc", "phi m",
        lambda y, phi, m: (np.sqrt(1 - m * np.sin(phi) ** 2), lambda: elliptic.incomplete(elliptic.second_by_m, phi, m)),
    ),
    Row("ellipj", "u m", elliptic.jacobi),
    Row("elliprf", "x y z", elliptic.symmetric),
    Row("elliprd", "x y z", elliptic.slopes(1.5, 0.5, 0.5, 1.5)),
    Row("elliprc", "x y", elliptic.elementary, complex_partials=elliptic.elementary),
    Row("agm", "a b", code=elliptic.agm),
    # Hypergeometric functions. DLMF 13.3, 15.5, 16.3.
    Row("hyp0f1", "v z", lambda y, v, z: (*later(hyper.limit_by, v, z), special.hyp0f1(v + 1, z) / v)),
    Row("hyp1f1", "a b x", lambda y, a, b, x: (*later(hyper.kummer_by, a, b, x), hyper.kummer_slope(a, b, x))),
    Row("hyp2f1", "a b c z", hyper.gauss_partials),
    Row("hyperu", "a b; x", lambda y, a, b, x: -a * hyper.hyperu_checked(a + 1, b + 1, x), "first two arguments"),
    # Orthogonal polynomials. DLMF 18.9.
    Row("eval_jacobi", "n alpha beta; x", poly.lowered("jacobi", lambda n, a, b: (n + a + b + 1) / 2, 1, 1), _DEGREES),
    # leading coefficient 1
    Row("eval_sh_jacobi", "n p q; x", poly.lowered("sh_jacobi", lambda n, p, q: n, 2, 1), _DEGREES),
    Row("eval_gegenbauer", "n alpha; x", poly.lowered("gegenbauer", lambda n, a: 2 * a, 1), _DEGREES),
    Row("eval_legendre", "n; x", lambda y, n, x: poly.legendre_slope(n, x), _DEGREES),
    Row("eval_sh_legendre", "n; x", lambda y, n, x: 2 * poly.legendre_slope(n, 2 * x - 1), _DEGREES),
    Row("eval_chebyt", "n; x", lambda y, n, x: poly.chebyt_slope(n, x), _DEGREES),
    Row("eval_sh_chebyt", "n; x", lambda y, n, x: 2 * poly.chebyt_slope(n, 2 * x - 1), _DEGREES),
    # 2 T_n(x / 2)
    Row("eval_chebyc", "n; x", lambda y, n, x: poly.chebyt_slope(n, x / 2), _DEGREES),
    Row("eval_chebyu", "n; x", lambda y, n, x: poly.chebyu_slope(n, x), _DEGREES),
    Row("eval_sh_chebyu", "n; x", lambda y, n, x: 2 * poly.chebyu_slope(n, 2 * x - 1), _DEGREES),
    # U_n(x / 2)
    Row("eval_chebys", "n; x", lambda y, n, x: poly.chebyu_slope(n, x / 2) / 2, _DEGREES),
    Row("eval_hermite", "n; x", poly.lowered("hermite", lambda n: 2 * n), _DEGREES),
    Row("eval_hermitenorm", "n; x", poly.lowered("hermitenorm", lambda n: n), _DEGREES),
    Row("eval_laguerre", "n; x", lambda y, n, x: -poly.one_degree_less("genlaguerre", n, 1.0, x), _DEGREES),
    Row("eval_genlaguerre", "n alpha; x", poly.lowered("genlaguerre", lambda n, a: -1, 1), _DEGREES),
)  # fmt: skip

TABLE = {row.name: row for row in ROWS}
