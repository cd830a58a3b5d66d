"""scipy.stats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..example import Example
from .numbers import GUESSES, NOISE, POSITIVE, ROWS, SERIES, SHARES, SYMMETRIC, TARGETS, UNIT, X, Y

#: By distribution, its shapes; location and scale are 0.1 and 1.3.
SHAPES: dict[str, tuple[float, ...]] = {
    "alpha": (3.57,), "anglit": (), "arcsine": (), "argus": (1.0,), "beta": (2.31, 0.627), "betaprime": (5.0, 6.0),
    "bradford": (0.299,), "burr": (10.5, 4.3), "burr12": (10.0, 4.0), "cauchy": (), "chi": (7.8,), "chi2": (5.5,), "cosine": (),
    "crystalball": (2.0, 3.0), "dgamma": (1.1,), "dweibull": (2.07,), "erlang": (10,), "expon": (), "exponnorm": (1.5,),
    "exponpow": (2.7,), "exponweib": (2.89, 1.95), "f": (29.0, 18.0), "fatiguelife": (29.0,), "fisk": (3.09,),
    "foldcauchy": (4.72,), "foldnorm": (1.95,), "gamma": (1.99,), "gausshyper": (13.8, 3.12, 2.51, 5.18),
    "genexpon": (9.13, 16.2, 3.28), "genextreme": (-0.1,), "gengamma": (4.42, 3.12), "genhalflogistic": (0.773,),
    "genhyperbolic": (0.5, 1.5, -0.5), "genlogistic": (0.412,), "gennorm": (1.3,), "genpareto": (0.1,), "gibrat": (),
    "gompertz": (0.947,), "gumbel_l": (), "gumbel_r": (), "halfcauchy": (), "halfgennorm": (0.675,), "halflogistic": (),
    "halfnorm": (), "hypsecant": (), "invgamma": (4.07,), "invgauss": (0.145,), "invweibull": (10.6,), "jf_skew_t": (8.0, 4.0),
    "johnsonsb": (4.32, 3.18), "johnsonsu": (2.55, 2.25), "kappa3": (1.0,), "kappa4": (0.4, 0.3), "laplace": (),
    "laplace_asymmetric": (2.0,), "levy": (), "levy_l": (), "loggamma": (0.414,), "logistic": (), "loglaplace": (3.25,),
    "lognorm": (0.954,), "loguniform": (0.01, 1.25), "lomax": (1.88,), "maxwell": (), "mielke": (10.4, 4.6), "moyal": (),
    "nakagami": (4.97,), "ncf": (27.0, 27.0, 0.416), "nct": (14.0, 0.24), "ncx2": (21.0, 1.06), "norm": (),
    "norminvgauss": (1.25, 0.5), "pareto": (2.62,), "pearson3": (-0.1,), "powerlaw": (1.66,), "powerlognorm": (2.14, 0.446),
    "powernorm": (4.45,), "rayleigh": (), "rdist": (1.6,), "recipinvgauss": (0.63,), "reciprocal": (0.01, 1.25),
    "rel_breitwigner": (36.5,), "rice": (0.775,), "semicircular": (), "skewcauchy": (0.5,), "skewnorm": (4.0,), "t": (2.74,),
    "trapezoid": (0.2, 0.8), "triang": (0.158,), "truncexpon": (4.69,), "truncnorm": (0.1, 2.0), "truncpareto": (2.0, 5.3),
    "truncweibull_min": (2.5, 0.25, 1.75), "tukeylambda": (0.5,), "uniform": (), "vonmises": (3.99,), "vonmises_line": (3.99,),
    "wald": (), "weibull_max": (2.87,), "weibull_min": (1.79,), "wrapcauchy": (0.031,),
}  # fmt: skip
_METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
#: By distribution, points k and its shapes.
_DISCRETE: dict[str, tuple[Any, ...]] = {
    "bernoulli": (0.3,), "betabinom": (5, 2.3, 0.63), "binom": (5, 0.4), "boltzmann": (1.4, 19), "dlaplace": (0.8,),
    "geom": (0.5,), "logser": (0.6,), "nbinom": (5, 0.5), "planck": (0.51,), "poisson": (0.6,), "skellam": (15.0, 8.0),
    "zipf": (6.6,), "zipfian": (1.25, 10), "yulesimon": (11.0,),
}  # fmt: skip


def examples() -> list[Example]:
    return [*_continuous(), *_discrete(), *_multivariate(), *_descriptive(), *_tests()]


def _inside(name: str, shapes: tuple[float, ...]) -> np.ndarray[Any, Any]:
    """Three points inside of the support."""
    try:
        import scipy.stats
    except ImportError:
        return X[:3]
    return np.asarray(getattr(scipy.stats, name).ppf([0.23, 0.42, 0.81], *shapes, loc=0.1, scale=1.3), float)


def _continuous() -> list[Example]:
    found = []
    for name, shapes in SHAPES.items():
        x = _inside(name, shapes)
        for method in _METHODS:
            found.append(Example(f"scipy.stats.{name}.{method}", (x, *shapes, 0.1, 1.3)))
    for name in ("norm", "expon", "gamma", "beta", "logistic", "uniform", "weibull_min", "gumbel_r", "cauchy", "t"):
        shapes = SHAPES[name]
        found.append(Example(f"scipy.stats.{name}.ppf", (UNIT, *shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.isf", (UNIT, *shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.entropy", (*shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.stats", (*shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.mean", (*shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.var", (*shapes, 0.1, 1.3)))
        found.append(Example(f"scipy.stats.{name}.nnlf", ((*shapes, 0.1, 1.3), _inside(name, shapes))))
        found.append(
            Example(
                f"scipy.stats.{name} frozen", (_inside(name, shapes), *shapes, 0.1, 1.3), use=lambda f, x, *a: f(*a).logpdf(x)
            )
        )
    return found


def _discrete() -> list[Example]:
    k = np.array([1, 2, 3])
    found = []
    for name, shapes in _DISCRETE.items():
        points = np.array([0, 1]) if name == "bernoulli" else k
        for method in ("pmf", "logpmf"):
            found.append(Example(f"scipy.stats.{name}.{method}", (points, *shapes)))
    for name in ("binom", "poisson", "geom", "nbinom"):
        for method in ("cdf", "sf", "logcdf", "mean", "var"):
            points_and_shapes = _DISCRETE[name] if method in ("mean", "var") else (k, *_DISCRETE[name])
            found.append(Example(f"scipy.stats.{name}.{method}", points_and_shapes))
    return found


def _multivariate() -> list[Example]:
    mean, points = np.array([0.1, -0.2, 0.3]), ROWS[:2]
    return [
        Example("scipy.stats.multivariate_normal.logpdf", (points, mean, SYMMETRIC)),
        Example("scipy.stats.multivariate_normal.pdf", (points, mean, SYMMETRIC)),
        Example("scipy.stats.multivariate_normal.entropy", (mean, SYMMETRIC)),
        Example("scipy.stats.multivariate_t.logpdf", (points, mean, SYMMETRIC, 4.5)),
        Example("scipy.stats.multivariate_t.pdf", (points, mean, SYMMETRIC, 4.5)),
        Example("scipy.stats.dirichlet.logpdf", (np.array([0.2, 0.3, 0.5]), np.array([1.2, 2.3, 0.8]))),
        Example("scipy.stats.dirichlet.pdf", (np.array([0.2, 0.3, 0.5]), np.array([1.2, 2.3, 0.8]))),
        Example("scipy.stats.dirichlet.mean", (np.array([1.2, 2.3, 0.8]),)),
        Example("scipy.stats.dirichlet.var", (np.array([1.2, 2.3, 0.8]),)),
        Example("scipy.stats.dirichlet.entropy", (np.array([1.2, 2.3, 0.8]),)),
        Example("scipy.stats.multinomial.logpmf", (np.array([1, 2, 1]), 4, np.array([0.2, 0.3, 0.49]))),
        Example("scipy.stats.multinomial.pmf", (np.array([1, 2, 1]), 4, np.array([0.2, 0.3, 0.49]))),
        Example("scipy.stats.wishart.logpdf", (SYMMETRIC, 5.0, np.eye(3) * 1.2)),
        Example("scipy.stats.wishart.pdf", (SYMMETRIC, 5.0, np.eye(3) * 1.2)),
        Example("scipy.stats.invwishart.logpdf", (SYMMETRIC, 5.0, np.eye(3) * 1.2)),
        Example(
            "scipy.stats.matrix_normal.logpdf", (ROWS[:3], np.zeros((3, 3)), SYMMETRIC, SYMMETRIC + np.diag([0.1, 0.4, 0.9]))
        ),
        Example(
            "scipy.stats.vonmises_fisher.logpdf", (np.array([0.6, 0.0, 0.8]),), {"mu": np.array([0.0, 0.6, 0.8]), "kappa": 1.7}
        ),
    ]


def _descriptive() -> list[Example]:
    weights: Callable[..., Any] = lambda f, x: f(x, weights=np.arange(1.0, 1.0 + len(x)))
    one = [
        "circmean", "circstd", "circvar", "describe", "entropy", "gmean", "gstd", "hmean", "iqr", "kstat", "kstatvar",
        "kurtosis",
        "median_abs_deviation", "moment", "sem", "skew", "tmean", "tsem", "tstd", "tvar", "variation", "zscore", "zmap",
        "trim_mean", "differential_entropy", "expectile", "rankdata", "bayes_mvs", "boxcox_llf", "yeojohnson_llf",
        "boxcox", "yeojohnson", "pmean", "lmoment", "gzscore", "tmin", "tmax", "obrientransform", "cumfreq", "sigmaclip",
    ]  # fmt: skip
    special: dict[str, tuple[Any, ...]] = {
        "zmap": (POSITIVE, NOISE), "trim_mean": (SERIES, 0.1), "boxcox_llf": (0.4, POSITIVE), "yeojohnson_llf": (0.4, POSITIVE),
        "boxcox": (POSITIVE, 0.4), "yeojohnson": (POSITIVE, 0.4), "pmean": (POSITIVE, 1.7),
        "expectile": (POSITIVE, 0.3), "obrientransform": (POSITIVE, X), "entropy": (SHARES,),
    }  # fmt: skip
    found = [Example(f"scipy.stats.{name}", special.get(name, (POSITIVE,))) for name in one]
    return [
        *found,
        # np.partition leaves the order of what stays open
        Example("scipy.stats.trim1", (SERIES, 0.1), use=lambda f, x, share: np.sort(f(x, share))),
        Example("scipy.stats.entropy relative", (SHARES, SHARES[::-1].copy())),
        Example("scipy.stats.gmean weighted", (POSITIVE,), use=weights),
        Example("scipy.stats.hmean weighted", (POSITIVE,), use=weights),
        Example("scipy.stats.zscore axis", (ROWS,), {"axis": 0}),
        Example("scipy.stats.skew unbiased", (NOISE,), {"bias": False}),
        Example("scipy.stats.kurtosis unbiased", (NOISE,), {"bias": False}),
        Example("scipy.stats.moment third", (NOISE, 3)),
        Example("scipy.stats.wasserstein_distance", (X, Y)),
        Example("scipy.stats.energy_distance", (X, Y)),
        Example("scipy.stats.gaussian_kde", (NOISE, X), use=lambda f, data, points: f(data)(points)),
        Example("scipy.stats.gaussian_kde.logpdf", (NOISE, X)).__class__(
            "scipy.stats.gaussian_kde logpdf", (NOISE, X), use=lambda f, data, points: f(data).logpdf(points)
        ),
        Example("scipy.stats.scoreatpercentile", (NOISE, 30.0)),
        Example("scipy.stats.norm.fit", (NOISE,)),
        Example("scipy.stats.expon.fit", (POSITIVE,)),
        Example("scipy.stats.uniform.fit", (POSITIVE,)),
        Example("scipy.stats.power_divergence", (np.array([3.2, 4.1, 2.7]), np.array([3.0, 4.0, 3.0]))),
    ]


def _tests() -> list[Example]:
    two: dict[str, tuple[Any, ...]] = {
        "ttest_ind": (X, Y), "ttest_rel": (X, Y), "ttest_1samp": (X, 0.5), "pearsonr": (TARGETS, GUESSES),
        "linregress": (TARGETS, GUESSES),
        "f_oneway": (X, Y, POSITIVE), "bartlett": (NOISE[:8], SERIES[:7]), "levene": (NOISE[:8], SERIES[:7]),
        "fligner": (NOISE[:8], SERIES[:7]), "jarque_bera": (NOISE,), "skewtest": (NOISE,), "kurtosistest": (NOISE,),
        "normaltest": (NOISE,), "shapiro": (NOISE,), "kstest": (NOISE, "norm"), "cramervonmises": (NOISE, "norm"),
        "chisquare": (np.array([3.0, 4.2, 2.8]),), "combine_pvalues": (np.array([0.1, 0.4, 0.03]),),
        "theilslopes": (TARGETS, GUESSES), "siegelslopes": (TARGETS, GUESSES), "weightedtau": (TARGETS, GUESSES),
        "spearmanr": (TARGETS, GUESSES), "kendalltau": (TARGETS, GUESSES), "pointbiserialr": (np.array([0, 1, 1, 0]), X),
        "alexandergovern": (NOISE[:8], SERIES[:7]), "mannwhitneyu": (X, Y), "wilcoxon": (X, Y), "ranksums": (X, Y),
        "kruskal": (X, Y), "friedmanchisquare": (X, Y, SHARES), "ansari": (X, Y), "mood": (NOISE[:8], SERIES[:7]),
        "ttest_ind_from_stats": (1.2, 0.8, 9, 0.7, 1.1, 11), "somersd": (TARGETS, GUESSES),
        "directional_stats": (ROWS,), "anderson": (NOISE,), "probplot": (NOISE,), "ppcc_max": (NOISE,),
        "false_discovery_control": (np.array([0.1, 0.4, 0.03]),), "quantile_test": (NOISE,), "dunnett": (X, Y),
    }  # fmt: skip
    return [Example(f"scipy.stats.{name}", arguments) for name, arguments in two.items()]
