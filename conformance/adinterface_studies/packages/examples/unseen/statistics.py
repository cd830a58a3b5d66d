"""scipy.stats, statsmodels, and scikit-learn: other functions, methods and arguments than in the other lists."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adinterface import Constant

from ...example import Example, found_at
from ..numbers import (
    GUESSES,
    LABELS,
    NOISE,
    OTHER_ROWS,
    POSITIVE,
    ROWS,
    SERIES,
    SHARES,
    SYMMETRIC,
    TABLE,
    TARGETS,
    UNIT,
    X,
    Y,
)
from ..statistics import SHAPES

_COUNTS = np.array([1, 0, 2, 3, 1, 0, 4, 2, 1, 0, 2, 1])
_BINARY = (LABELS > 0).astype(int)


def examples() -> list[Example]:
    return [*_distributions(), *_samples(), *_statsmodels(), *_sklearn()]


def _distributions() -> list[Example]:
    found = []
    for name in (
        "chi2",
        "lognorm",
        "pareto",
        "rayleigh",
        "laplace",
        "invgamma",
        "genextreme",
        "halfnorm",
        "truncnorm",
        "nakagami",
    ):
        shapes = SHAPES[name]
        for method in ("ppf", "isf"):
            found.append(Example(f"scipy.stats.{name}.{method}", (UNIT, *shapes, -0.2, 0.7)))
        for method in ("mean", "var", "std", "median", "entropy"):
            found.append(Example(f"scipy.stats.{name}.{method}", (*shapes, -0.2, 0.7)))
        found.append(Example(f"scipy.stats.{name} moment", (*shapes, -0.2, 0.7), use=lambda f, *a: f.moment(2, *a)))
        found.append(Example(f"scipy.stats.{name} interval", (0.6, *shapes, -0.2, 0.7), use=lambda f, p, *a: f.interval(p, *a)))
    k = np.array([1, 2, 4])
    for name, shapes in {
        "betabinom": (6, 2.3, 0.63), "betanbinom": (5, 9.3, 1.2), "boltzmann": (1.4, 19), "dlaplace": (0.8,), "geom": (0.3,),
        "logser": (0.6,), "planck": (0.51,), "zipfian": (1.25, 10), "yulesimon": (11.0,), "bernoulli": (0.3,),
    }.items():  # fmt: skip
        points = np.array([0, 1]) if name == "bernoulli" else k
        found.append(Example(f"scipy.stats.{name} cdf", (points, *shapes), use=lambda f, *a: f.cdf(*a)))
        found.append(Example(f"scipy.stats.{name} mean", shapes, use=lambda f, *a: f.mean(*a)))
        found.append(Example(f"scipy.stats.{name} stats", shapes, use=lambda f, *a: f.stats(*a, moments="mv")))
    for name, arguments in {"Normal": {"mu": 0.4, "sigma": 1.3}, "Uniform": {"a": 0.1, "b": 2.3}}.items():
        keys = list(arguments)
        for method in ("pdf", "logpdf", "cdf", "logcdf", "ccdf", "mean", "variance", "entropy", "median"):
            pointless = method in ("mean", "variance", "entropy", "median")
            use: Any = lambda f, x, a, b, keys=keys, method=method, pointless=pointless: getattr(
                f(**dict(zip(keys, (a, b)))), method
            )(*([] if pointless else [x]))
            found.append(Example(f"scipy.stats.{name} {method}", (X, *arguments.values()), use=use))
    mean = np.array([0.1, -0.2, 0.3])
    concentration = np.array([1.2, 2.3, 0.8])
    found += [
        Example("scipy.stats.multivariate_normal frozen", (ROWS, mean, SYMMETRIC), use=lambda f, x, m, c: f(m, c).logpdf(x)),
        Example(
            "scipy.stats.multivariate_normal cdf",
            (ROWS[0, :2].copy(), mean[:2], SYMMETRIC[:2, :2].copy()),
            use=lambda f, *a: f.cdf(*a),
        ),
        Example(
            "scipy.stats.dirichlet_multinomial logpmf", (np.array([1, 2, 3]), concentration, 6), use=lambda f, *a: f.logpmf(*a)
        ),
        Example("scipy.stats.dirichlet_multinomial mean", (concentration, 6), use=lambda f, *a: f.mean(*a)),
        Example("scipy.stats.dirichlet cov", (concentration,), use=lambda f, a: f.cov(a)),
        Example("scipy.stats.multivariate_t entropy", (mean, SYMMETRIC, 4.5), use=lambda f, m, s, d: f.entropy(m, s, d)),
        Example("scipy.stats.invwishart mean", (7.0, SYMMETRIC), use=lambda f, d, s: f.mean(d, s)),
        Example("scipy.stats.wishart entropy", (7.0, SYMMETRIC), use=lambda f, d, s: f.entropy(d, s)),
        Example("scipy.stats.wishart var", (7.0, SYMMETRIC), use=lambda f, d, s: f.var(d, s)),
        Example(
            "scipy.stats.matrix_normal pdf", (ROWS[:3], np.zeros((3, 3)), SYMMETRIC), use=lambda f, x, m, s: f.pdf(x, m, s)
        ),
        Example("scipy.stats.multinomial entropy", (4, SHARES), use=lambda f, n, p: f.entropy(n, p)),
        Example("scipy.stats.multinomial cov", (4, SHARES), use=lambda f, n, p: f.cov(n, p)),
        Example(
            "scipy.stats.vonmises_fisher pdf",
            (ROWS[:1] / np.linalg.norm(ROWS[:1]), 1.7),
            use=lambda f, x, k: f.pdf(x, np.array([0, 0.6, 0.8]), k),
        ),
        Example("scipy.stats.normal_inverse_gamma logpdf", (0.3, 1.4, 0.1, 2.2, 3.1, 0.9), use=lambda f, *a: f.logpdf(*a)),
        Example("scipy.stats.rv_histogram pdf", (X[:3],), use=lambda f, x: f(np.histogram(NOISE, 5)).pdf(x)),
        Example("scipy.stats.gamma expect", (1.99,), use=lambda f, a: f.expect(lambda x: x**2, (a,))),
        Example("scipy.stats.gamma frozen cdf", (X, 1.99, 1.3), use=lambda f, x, a, s: f(a, scale=s).cdf(x)),
        Example("scipy.stats.beta nnlf", (2.31, 0.63, 0.0, 1.0, UNIT), use=lambda f, a, b, m, s, x: f.nnlf((a, b, m, s), x)),
    ]
    return found


def _samples() -> list[Example]:
    table: dict[str, tuple[Any, ...]] = {
        "tukey_hsd": (X, Y, POSITIVE), "ks_2samp": (X, Y), "ks_1samp": (NOISE, "norm"), "cramervonmises_2samp": (X, Y),
        "anderson_ksamp": ([X, Y],), "brunnermunzel": (X, Y), "epps_singleton_2samp": (NOISE[:12], SERIES[:12]),
        "median_test": (X, Y), "mode": (X,), "relfreq": (NOISE,), "percentileofscore": (NOISE, 0.3),
        "binned_statistic": (UNIT, Y), "boxcox_normmax": (POSITIVE,),
            "yeojohnson_normmax": (POSITIVE,),
        "chi2_contingency": (np.array([[3.0, 4.5], [2.1, 6.2]]),), "poisson_means_test": (4, 11.3, 7, 9.2),
        "contingency.expected_freq": (np.array([[3.0, 4.5], [2.1, 6.2]]),),
            "contingency.margins": (np.array([[3.0, 4.5], [2.1, 6.2]]),),
        "contingency.association": (np.array([[3, 4], [2, 6]]),), "qmc.discrepancy": (np.outer(UNIT, [0.9, 0.4]),),
        "qmc.scale": (np.outer(UNIT, [0.9, 0.4]), [0.1, 0.2], [1.3, 2.4]),
            "wasserstein_distance weighted": (X, Y, UNIT, SHARES),
        "chatterjeexi": (TARGETS, GUESSES), "quantile": (NOISE, 0.3), "mstats.winsorize": (NOISE,),
            "mstats.gmean": (POSITIVE,),
        "kstat third": (NOISE, 3), "circmean degrees": (X * 40,), "circvar axis": (ROWS,), "gmean axis": (np.abs(ROWS),),
        "pmean weighted": (POSITIVE, 1.7), "iqr scaled": (NOISE,), "median_abs_deviation normal": (NOISE,),
            "skew axis": (ROWS,),
        "kurtosis axis": (ROWS,), "zscore unbiased": (NOISE,), "sem axis": (ROWS,), "ttest_ind welch": (X, POSITIVE),
        "ttest_1samp less": (X, 0.5), "pearsonr axis": (ROWS[:5], OTHER_ROWS), "entropy base": (SHARES,),
            "f_oneway welch": (X, POSITIVE),
        "levene mean": (NOISE[:8], SERIES[:7]), "combine_pvalues stouffer": (UNIT,), "combine_pvalues pearson": (UNIT,),
        "variation axis": (ROWS,), "describe axis": (ROWS,), "differential_entropy vasicek": (NOISE,),
            "lmoment order": (NOISE,),
        "tmean limits": (NOISE, (-1.0, 1.5)), "tvar limits": (NOISE, (-1.0, 1.5)), "wilcoxon less": (NOISE,),
            "tstd axis": (ROWS,),
        "power_divergence lambda": (np.array([3.2, 4.1, 2.7]), np.array([3.0, 4.0, 3.0])),
            "obrientransform two": (NOISE, SERIES),
        "moment many": (NOISE, [1, 2, 3]), "expectile default": (POSITIVE,), "trim_mean axis": (ROWS, 0.2),
            "rankdata axis": (ROWS,),
    }  # fmt: skip
    keywords: dict[str, dict[str, Any]] = {
        "kstat third": {}, "circmean degrees": {"high": 360}, "circvar axis": {"axis": 0}, "gmean axis": {"axis": 1},
        "pmean weighted": {"weights": POSITIVE[::-1].copy()}, "iqr scaled": {"scale": "normal", "rng": (20, 80)},
        "median_abs_deviation normal": {"scale": "normal"}, "skew axis": {"axis": 1},
            "kurtosis axis": {"axis": None, "fisher": False},
        "zscore unbiased": {"ddof": 1}, "sem axis": {"axis": 1, "ddof": 0}, "ttest_ind welch": {"equal_var": False},
        "ttest_1samp less": {"alternative": "less"}, "pearsonr axis": {"axis": 0}, "entropy base": {"base": 2},
        "f_oneway welch": {"equal_var": False}, "levene mean": {"center": "mean"},
            "combine_pvalues stouffer": {"method": "stouffer"},
        "combine_pvalues pearson": {"method": "pearson"}, "variation axis": {"axis": 1}, "describe axis": {"axis": 1},
        "differential_entropy vasicek": {"method": "vasicek"}, "lmoment order": {"order": 3, "standardize": False},
        "wilcoxon less": {"alternative": "less", "method": "asymptotic"}, "tstd axis": {"axis": 1},
        "power_divergence lambda": {"lambda_": "freeman-tukey", "sum_check": False}, "trim_mean axis": {"axis": 1},
        "rankdata axis": {"axis": 1}, "anderson_ksamp": {"variant": "midrank"},
    }  # fmt: skip
    found = [Example(f"scipy.stats.{name}", arguments, keywords.get(name, {})) for name, arguments in table.items()]
    # Sorted, because NumPy leaves open in which order np.partition gives what it does not ask for.
    return [*found, Example("scipy.stats.trimboth", (SERIES, 0.1), use=lambda f, x, share: np.sort(f(x, share)))]


def _statsmodels() -> list[Example]:
    exog, b = Constant(TABLE), np.array([0.3, -0.2, 0.4])
    tools, tsa, stats = "statsmodels.tools", "statsmodels.tsa", "statsmodels.stats"
    discrete = "statsmodels.discrete.discrete_model"
    groups = np.repeat(np.arange(4), 3)
    return [
        Example(f"{discrete}.Logit cdf", (TARGETS, b), use=lambda f, x, b: f(_BINARY, TABLE).cdf(x)),
        Example(f"{discrete}.Logit information", (exog, b), use=lambda f, x, b: f(_BINARY, x).information(b)),
        Example(f"{discrete}.Logit score_obs", (exog, b), use=lambda f, x, b: f(_BINARY, x).score_obs(b)),
        Example(f"{discrete}.Probit score_obs", (exog, b), use=lambda f, x, b: f(_BINARY, x).score_obs(b)),
        Example(f"{discrete}.Poisson score_obs", (exog, b), use=lambda f, x, b: f(_COUNTS, x).score_obs(b)),
        Example(f"{discrete}.Poisson cdf", (exog, b), use=lambda f, x, b: f(_COUNTS, x).pdf(x @ b)),
        Example(f"{discrete}.NegativeBinomial score", (exog, np.append(b, 0.6)), use=lambda f, x, b: f(_COUNTS, x).score(b)),
        Example(f"{discrete}.NegativeBinomialP score", (exog, np.append(b, 0.6)), use=lambda f, x, b: f(_COUNTS, x).score(b)),
        Example(f"{discrete}.GeneralizedPoisson score", (exog, np.append(b, 0.6)), use=lambda f, x, b: f(_COUNTS, x).score(b)),
        Example(f"{discrete}.MNLogit score", (exog, np.arange(6.0) / 7), use=lambda f, x, b: f(_COUNTS % 3, x).score(b)),
        Example(
            "statsmodels.discrete.truncated_model.TruncatedLFPoisson loglike",
            (exog, b),
            use=lambda f, x, b: f(_COUNTS + 1, x).loglike(b),
        ),
        Example(
            "statsmodels.discrete.count_model.ZeroInflatedPoisson loglike",
            (exog, np.append(0.2, b)),
            use=lambda f, x, b: f(_COUNTS, x).loglike(b),
        ),
        Example(
            "statsmodels.miscmodels.ordinal_model.OrderedModel loglike",
            (np.array([0.3, -0.2, 0.4, 0.1, 0.5]),),
            use=lambda f, b: f(_COUNTS.clip(0, 2), TABLE, distr="logit").loglike(b),
        ),
        Example(
            "statsmodels.regression.linear_model.OLS cov_params",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x).fit().cov_params(),
        ),
        Example("statsmodels.regression.linear_model.OLS tvalues", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().tvalues),
        Example("statsmodels.regression.linear_model.OLS pvalues", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().pvalues),
        Example("statsmodels.regression.linear_model.OLS fvalue", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().fvalue),
        Example("statsmodels.regression.linear_model.OLS aic", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().aic),
        Example(
            "statsmodels.regression.linear_model.OLS conf_int", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().conf_int()
        ),
        Example(
            "statsmodels.regression.linear_model.OLS HC1", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit(cov_type="HC1").bse
        ),
        Example(
            "statsmodels.regression.linear_model.OLS HAC",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x).fit(cov_type="HAC", cov_kwds={"maxlags": 2}).bse,
        ),
        Example(
            "statsmodels.regression.linear_model.OLS predict",
            (TARGETS, TABLE, ROWS),
            use=lambda f, y, x, z: f(y, x).fit().predict(z),
        ),
        Example(
            "statsmodels.regression.linear_model.OLS influence",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x).fit().get_influence().cooks_distance[0],
        ),
        Example(
            "statsmodels.regression.linear_model.WLS weights",
            (TARGETS, np.abs(TARGETS) + 0.3),
            use=lambda f, y, w: f(y, TABLE, weights=w).fit().params,
        ),
        Example(
            "statsmodels.regression.linear_model.GLSAR fit",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x, rho=np.array([0.4])).fit().params,
        ),
        Example(
            "statsmodels.regression.linear_model.OLS ridge",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x).fit_regularized(alpha=0.3, L1_wt=0.0).params,
        ),
        Example(
            "statsmodels.genmod.generalized_linear_model.GLM fit", (TARGETS, TABLE), use=lambda f, y, x: f(y, x).fit().params
        ),
        Example(
            "statsmodels.genmod.generalized_linear_model.GLM poisson",
            (TABLE,),
            use=lambda f, x: f(_COUNTS, x, family=_family("Poisson")).fit(tol=1e-12).params,
        ),
        Example(
            "statsmodels.genmod.generalized_linear_model.GLM gamma loglike",
            (b,),
            use=lambda f, b: f(np.exp(TARGETS), TABLE, family=_family("Gamma")).loglike(b**2, scale=1.0),
        ),
        Example(
            "statsmodels.robust.robust_linear_model.RLM fit",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x).fit(tol=1e-12, maxiter=200).params,
        ),
        Example("statsmodels.robust.scale.huber", (NOISE,), use=lambda f, x: f(x)),
        Example("statsmodels.robust.scale.hubers_scale", (NOISE,)),
        Example(
            f"{tsa}.arima_process.ArmaProcess acf",
            (np.array([1.0, -0.5]), np.array([1.0, 0.3])),
            use=lambda f, a, m: f(a, m).acf(4),
        ),
        Example(f"{tsa}.arima_process.arma_periodogram", (np.array([1.0, -0.5]), np.array([1.0, 0.3])), {"worN": 6}),
        Example(f"{tsa}.arima_process.lpol_fiar", (0.3, 6), use=lambda f, d, n: f(d, n)),
        Example(
            f"{tsa}.holtwinters.SimpleExpSmoothing",
            (SERIES, 0.4),
            use=lambda f, y, a: f(y, initialization_method="known", initial_level=0.1).fit(a, optimized=False).sse,
        ),
        Example(f"{tsa}.statespace.tools.constrain_stationary_univariate", (X,)),
        Example(f"{tsa}.statespace.tools.unconstrain_stationary_univariate", (UNIT - 0.4,)),
        Example(
            f"{tsa}.statespace.sarimax.SARIMAX loglike",
            (np.array([0.4, 0.8]),),
            use=lambda f, p: f(SERIES, order=(1, 0, 0)).loglike(p),
        ),
        Example(f"{tsa}.ar_model.AutoReg loglike", (SERIES,), use=lambda f, y: f(y, 1).fit().llf),
        Example(f"{tsa}.vector_ar.util.vech", (SYMMETRIC,)),
        Example(f"{tsa}.vector_ar.util.norm_signal_order", (SYMMETRIC,)),
        Example(f"{tsa}.tsatools.lagmat2ds", (TABLE, 1)),
        Example(f"{tsa}.tsatools.duplication_matrix", (X,), use=lambda f, x: f(2)[:, 0] * x),
        Example(f"{tsa}.stattools.adfuller", (SERIES,), use=lambda f, y: f(y, maxlag=1, autolag=None)[0]),
        Example(f"{tsa}.stattools.kpss", (SERIES,), use=lambda f, y: f(y, nlags=2)[0]),
        Example(
            f"{tsa}.stattools.grangercausalitytests", (TABLE[:, :2].copy(),), use=lambda f, y: f(y, [1])[1][0]["ssr_ftest"][0]
        ),
        Example(f"{tsa}.stattools.coint", (SERIES, NOISE), use=lambda f, a, c: f(a, c, maxlag=1, autolag=None)[0]),
        Example(f"{stats}.weightstats.zconfint", (NOISE,)),
        Example(f"{stats}.weightstats.DescrStatsW ttest", (NOISE,), use=lambda f, x: f(x).ttest_mean(0.1)),
        Example(
            f"{stats}.weightstats.DescrStatsW corrcoef",
            (TABLE, np.linspace(0.5, 1.5, 12)),
            use=lambda f, x, w: f(x, weights=w).corrcoef,
        ),
        Example(f"{stats}.weightstats.CompareMeans", (TARGETS, GUESSES), use=lambda f, a, c: f.from_data(a, c).ztest_ind()),
        Example(f"{stats}.diagnostic.het_arch", (NOISE,), {"nlags": 2}),
        Example(
            f"{stats}.diagnostic.linear_reset", (TARGETS, TABLE), use=lambda f, y, x: f(_ols(y, x).fit(), 2, use_f=True).fvalue
        ),
        Example(f"{stats}.diagnostic.kstest_normal", (NOISE,)),
        Example(f"{stats}.diagnostic.normal_ad", (NOISE,)),
        Example(f"{stats}.outliers_influence.variance_inflation_factor", (TABLE, 1)),
        Example(f"{stats}.moment_helpers.mc2mnc", (np.array([0.3, 1.2, 0.7, 3.1]),)),
        Example(f"{stats}.moment_helpers.mnc2cum", (np.array([0.3, 1.2, 0.7, 3.1]),)),
        Example(f"{stats}.moment_helpers.mc2mvsk", (np.array([0.3, 1.2, 0.7, 3.1]),)),
        Example(f"{stats}.proportion.proportions_ztest", (np.array([4.0, 7.0]), np.array([11.0, 13.0]))),
        Example(f"{stats}.proportion.proportion_confint wilson", (4.0, 11.0), {"method": "wilson"}),
        Example(f"{stats}.rates.test_poisson", (4.0, 11.3), use=lambda f, c, n: f(c, n, value=0.4, method="score").statistic),
        Example(f"{stats}.meta_analysis.effectsize_smd", (1.2, 0.8, 9, 0.7, 1.1, 11)),
        Example(
            f"{stats}.meta_analysis.combine_effects",
            (X, POSITIVE[:4]),
            use=lambda f, e, v: f(e, v, method_re="chi2").mean_effect_re,
        ),
        Example(
            f"{stats}.contingency_tables.Table2x2 log_oddsratio",
            (np.array([[3.0, 4.5], [2.1, 6.2]]),),
            use=lambda f, t: f(t).log_oddsratio,
        ),
        Example(
            f"{stats}.contingency_tables.SquareTable symmetry", (SYMMETRIC + 3,), use=lambda f, t: f(t).symmetry().statistic
        ),
        Example(f"{stats}.correlation_tools.corr_nearest", (np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.8], [0.2, 0.8, 1.0]]),)),
        Example(f"{stats}.covariance.transform_corr_normal", (0.4,), use=lambda f, c: f(c, "kendall")),
        Example(f"{stats}.inter_rater.cohens_kappa", (SYMMETRIC + 3,), use=lambda f, t: f(t).kappa),
        Example(f"{stats}.inter_rater.fleiss_kappa", (np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]),)),
        Example(f"{tools}.eval_measures.maxabs", (TARGETS, GUESSES)),
        Example(f"{tools}.eval_measures.vare", (TARGETS, GUESSES)),
        Example(f"{tools}.eval_measures.aicc", (-12.3,), use=lambda f, llf: f(llf, 24, 3)),
        Example(f"{tools}.tools.nan_dot", (ROWS, OTHER_ROWS.T.copy())),
        Example(f"{tools}.tools.fullrank", (ROWS,)),
        Example(f"{tools}.transform_model.StandardizeTransform", (TABLE,), use=lambda f, x: f(x)(x)),
        Example(f"{tools}.linalg.logdet_symm", (SYMMETRIC,)),
        Example(f"{tools}.linalg.stationary_solve", (np.array([0.5, 0.2]), np.array([0.4, -1.1, 0.7]))),
        Example(f"{tools}.numdiff.approx_fprime_cs", (X,), use=lambda f, x: f(x, lambda z: z**3)),
        Example(
            "statsmodels.nonparametric.kernels_asymmetric.kernel_pdf_gamma",
            (0.7, POSITIVE, 0.4),
            use=lambda f, x, s, b: f(x, s, b),
        ),
        Example(
            "statsmodels.nonparametric.kernel_density.KDEMultivariate",
            (TABLE,),
            use=lambda f, x: f(x, "ccc", bw=[0.4, 0.5, 0.6]).pdf(ROWS),
        ),
        Example(
            "statsmodels.nonparametric.kernel_regression.KernelReg",
            (TARGETS,),
            use=lambda f, y: f(y, TABLE[:, :1], "c", bw=[0.6]).fit()[0],
        ),
        Example(
            "statsmodels.multivariate.factor_rotation.rotate_factors",
            (ROWS[:, :2].copy(),),
            use=lambda f, a: f(a, "varimax")[0],
        ),
        Example(
            "statsmodels.multivariate.cancorr.CanCorr", (TABLE[:, :2].copy(),), use=lambda f, y: f(y, TABLE[:, 2:]).cancorr
        ),
        Example(
            "statsmodels.distributions.copula.api.ClaytonCopula",
            (np.outer(UNIT, [0.9, 0.5]),),
            use=lambda f, u: f(1.4).logpdf(u),
        ),
        Example(
            "statsmodels.distributions.copula.api.GumbelCopula", (np.outer(UNIT, [0.9, 0.5]),), use=lambda f, u: f(1.4).cdf(u)
        ),
        Example(
            "statsmodels.distributions.copula.api.FrankCopula", (np.outer(UNIT, [0.9, 0.5]),), use=lambda f, u: f(1.4).logpdf(u)
        ),
        Example(
            "statsmodels.distributions.copula.api.GaussianCopula",
            (np.outer(UNIT, [0.9, 0.5]),),
            use=lambda f, u: f(0.4).logpdf(u),
        ),
        Example(
            "statsmodels.duration.hazard_regression.PHReg loglike",
            (b,),
            use=lambda f, b: f(POSITIVE.repeat(3)[:12] + np.arange(12) / 50, TABLE).loglike(b),
        ),
        Example("statsmodels.emplike.descriptive.DescStat", (NOISE,), use=lambda f, x: f(x).test_mean(0.1)[0]),
        Example("statsmodels.genmod.families.links.Power", (POSITIVE, 0.7), use=lambda f, p, power: f(power=power)(p)),
        Example("statsmodels.genmod.families.links.CDFLink", (UNIT,), use=lambda f, p: f().inverse_deriv(p)),
        Example("statsmodels.genmod.families.links.NegativeBinomial", (POSITIVE,), use=lambda f, p: f(0.7)(p)),
        Example("statsmodels.genmod.cov_struct.Exchangeable", (0.3, X), use=_exchangeable),
        Example(
            "statsmodels.regression.mixed_linear_model.MixedLM loglike",
            (TARGETS,),
            use=lambda f, y: f(y, TABLE, groups).loglike(_mixed(f, y, groups), profile_fe=False),
        ),
        Example("statsmodels.regression.quantile_regression.hall_sheather", (0.3,), use=lambda f, q: f(20, q)),
        Example(
            "statsmodels.sandbox.regression.gmm.IV2SLS",
            (TARGETS, TABLE),
            use=lambda f, y, x: f(y, x, TABLE[:, ::-1] + 0.1).fit().params,
        ),
    ]


def _family(name: str) -> Any:
    return found_at(f"statsmodels.api.families.{name}")()


def _ols(y: Any, x: Any) -> Any:
    return found_at("statsmodels.api.OLS")(y, x)


def _exchangeable(f: Any, share: Any, x: Any) -> Any:
    structure = f()
    structure.dep_params = share
    return structure.covariance_matrix(x, 0)[0]


def _mixed(f: Any, y: Any, groups: Any) -> Any:
    parameters = found_at("statsmodels.regression.mixed_linear_model.MixedLMParams")
    return parameters.from_components(fe_params=np.array([0.3, -0.2, 0.4]), cov_re=np.array([[0.6]]))


def _sklearn() -> list[Example]:
    kernels = "sklearn.gaussian_process.kernels"
    return [
        Example(
            "sklearn.metrics.mean_squared_error weighted", (TARGETS, GUESSES), {"sample_weight": np.linspace(0.5, 1.5, 12)}
        ),
        Example("sklearn.metrics.mean_squared_error raw", (TABLE, TABLE * 0.9), {"multioutput": "raw_values"}),
        Example("sklearn.metrics.r2_score weighted", (TABLE, TABLE * 0.9 + 0.1), {"multioutput": "variance_weighted"}),
        Example(
            "sklearn.metrics.mean_absolute_error weighted", (TARGETS, GUESSES), {"sample_weight": np.linspace(0.5, 1.5, 12)}
        ),
        Example("sklearn.metrics.log_loss many", (LABELS, np.exp(TABLE) / np.exp(TABLE).sum(1, keepdims=True))),
        Example("sklearn.metrics.hinge_loss many", (LABELS, TABLE)),
        Example("sklearn.metrics.silhouette_samples", (TABLE, LABELS)),
        Example("sklearn.metrics.coverage_error", (np.eye(3, dtype=int)[LABELS], TABLE)),
        Example("sklearn.metrics.label_ranking_loss", (np.eye(3, dtype=int)[LABELS], TABLE)),
        Example("sklearn.metrics.roc_curve", (_BINARY, GUESSES)),
        Example("sklearn.metrics.precision_recall_curve", (_BINARY, GUESSES)),
        Example(
            "sklearn.metrics.d2_absolute_error_score weighted", (TARGETS, GUESSES), {"sample_weight": np.linspace(0.5, 1.5, 12)}
        ),
        Example("sklearn.metrics.pairwise.pairwise_distances l1", (ROWS, OTHER_ROWS), {"metric": "l1"}),
        Example("sklearn.metrics.pairwise.pairwise_distances correlation", (ROWS, OTHER_ROWS), {"metric": "correlation"}),
        Example("sklearn.metrics.pairwise.pairwise_kernels cosine", (ROWS, OTHER_ROWS), {"metric": "cosine"}),
        Example("sklearn.metrics.pairwise.pairwise_distances_argmin_min", (ROWS, OTHER_ROWS)),
        Example("sklearn.metrics.pairwise.rbf_kernel gamma", (ROWS, OTHER_ROWS, 0.7)),
        Example("sklearn.metrics.pairwise.polynomial_kernel degree", (ROWS, OTHER_ROWS, 2, 0.7, 0.3)),
        Example(f"{kernels}.RBF anisotropic", (ROWS, OTHER_ROWS), use=lambda f, x, y: f([0.7, 1.1, 0.9])(x, y)),
        Example(f"{kernels}.RBF gradient", (ROWS,), use=lambda f, x: f(0.7)(x, eval_gradient=True)),
        Example(f"{kernels}.Matern general", (ROWS,), use=lambda f, x: f(nu=0.9)(x)),
        Example(f"{kernels}.Sum", (ROWS,), use=lambda f, x: f(*_two_kernels())(x)),
        Example(f"{kernels}.Product", (ROWS,), use=lambda f, x: f(*_two_kernels())(x)),
        Example(f"{kernels}.Exponentiation", (ROWS,), use=lambda f, x: f(_two_kernels()[0], 2)(x)),
        Example(
            "sklearn.gaussian_process.GaussianProcessRegressor fixed",
            (TABLE, TARGETS),
            use=lambda f, x, y: f(_two_kernels()[0], optimizer=None, alpha=0.1).fit(x, y).predict(ROWS),
        ),
        Example(
            "sklearn.gaussian_process.GaussianProcessRegressor likelihood",
            (TABLE, TARGETS),
            use=lambda f, x, y: f(_two_kernels()[0], optimizer=None, alpha=0.1).fit(x, y).log_marginal_likelihood_value_,
        ),
        Example(
            "sklearn.preprocessing.StandardScaler partial",
            (TABLE,),
            use=lambda f, x: f().partial_fit(x[:6]).partial_fit(x[6:]).var_,
        ),
        Example("sklearn.preprocessing.MinMaxScaler", (TABLE,), use=lambda f, x: f((-1, 2)).fit_transform(x)),
        Example("sklearn.preprocessing.MaxAbsScaler", (TABLE,), use=lambda f, x: f().fit_transform(x)),
        Example("sklearn.preprocessing.RobustScaler", (TABLE,), use=lambda f, x: f().fit_transform(x)),
        Example("sklearn.preprocessing.Normalizer", (TABLE,), use=lambda f, x: f("l1").fit_transform(x)),
        Example("sklearn.preprocessing.PowerTransformer", (np.abs(TABLE),), use=lambda f, x: f("box-cox").fit(x).lambdas_),
        Example(
            "sklearn.preprocessing.QuantileTransformer", (TABLE,), use=lambda f, x: f(n_quantiles=5).fit(TABLE).transform(x)
        ),
        Example("sklearn.preprocessing.KernelCenterer", (SYMMETRIC,), use=lambda f, k: f().fit_transform(k)),
        Example("sklearn.preprocessing.SplineTransformer", (TABLE,), use=lambda f, x: f(4).fit(TABLE * 1.5).transform(x)),
        Example("sklearn.preprocessing.FunctionTransformer", (TABLE,), use=lambda f, x: f(np.sin).fit_transform(x)),
        Example("sklearn.preprocessing.add_dummy_feature", (TABLE,)),
        Example("sklearn.decomposition.PCA transform", (TABLE,), use=lambda f, x: f(2).fit(TABLE).transform(x)),
        Example("sklearn.decomposition.PCA score", (TABLE,), use=lambda f, x: f(2).fit(TABLE).score(x)),
        Example(
            "sklearn.decomposition.TruncatedSVD",
            (TABLE,),
            use=lambda f, x: f(2, algorithm="arpack", random_state=0).fit(TABLE).transform(x),
        ),
        Example(
            "sklearn.decomposition.FactorAnalysis",
            (TABLE,),
            use=lambda f, x: f(1, svd_method="lapack").fit(TABLE).score_samples(x),
        ),
        Example(
            "sklearn.linear_model.LinearRegression predict",
            (TABLE, TARGETS, ROWS),
            use=lambda f, x, y, z: f().fit(x, y).predict(z),
        ),
        Example(
            "sklearn.linear_model.Ridge svd", (TABLE, TARGETS), use=lambda f, x, y: f(0.5, solver="svd").fit(x, y).intercept_
        ),
        Example("sklearn.linear_model.RidgeCV", (TABLE, TARGETS), use=lambda f, x, y: f([0.1, 1.0]).fit(x, y).coef_),
        Example("sklearn.linear_model.BayesianRidge", (TABLE, TARGETS), use=lambda f, x, y: f(tol=1e-9).fit(x, y).coef_),
        Example(
            "sklearn.linear_model.LogisticRegression decision",
            (TABLE,),
            use=lambda f, x: f().fit(TABLE, _BINARY).decision_function(x),
        ),
        Example(
            "sklearn.linear_model.LogisticRegression proba", (TABLE,), use=lambda f, x: f().fit(TABLE, LABELS).predict_proba(x)
        ),
        Example("sklearn.linear_model.Lasso", (TABLE, TARGETS), use=lambda f, x, y: f(0.05).fit(x, y).coef_),
        Example(
            "sklearn.kernel_ridge.KernelRidge", (TABLE, TARGETS), use=lambda f, x, y: f(0.5, kernel="rbf").fit(x, y).dual_coef_
        ),
        Example(
            "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
            (TABLE,),
            use=lambda f, x: f().fit(TABLE, LABELS).decision_function(x),
        ),
        Example(
            "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
            (TABLE,),
            use=lambda f, x: f(reg_param=0.1).fit(TABLE, LABELS).decision_function(x),
        ),
        Example("sklearn.naive_bayes.GaussianNB", (TABLE,), use=lambda f, x: f().fit(TABLE, LABELS).predict_log_proba(x)),
        Example(
            "sklearn.naive_bayes.MultinomialNB",
            (np.abs(TABLE),),
            use=lambda f, x: f().fit(np.abs(TABLE), LABELS).predict_log_proba(x),
        ),
        Example("sklearn.neighbors.NearestCentroid", (TABLE,), use=lambda f, x: f().fit(x, LABELS).centroids_),
        Example(
            "sklearn.neighbors.KNeighborsRegressor",
            (TABLE,),
            use=lambda f, x: f(3, weights="distance").fit(TABLE, TARGETS).predict(x + 0.1),
        ),
        Example("sklearn.neighbors.KernelDensity", (ROWS,), use=lambda f, x: f(bandwidth=0.5).fit(TABLE).score_samples(x)),
        Example(
            "sklearn.mixture.GaussianMixture score", (ROWS,), use=lambda f, x: f(2, random_state=0).fit(TABLE).score_samples(x)
        ),
        Example(
            "sklearn.mixture.BayesianGaussianMixture score",
            (ROWS,),
            use=lambda f, x: f(2, random_state=0).fit(TABLE).score_samples(x),
        ),
        Example(
            "sklearn.cluster.KMeans transform", (ROWS,), use=lambda f, x: f(2, random_state=0, n_init=1).fit(TABLE).transform(x)
        ),
        Example("sklearn.svm.SVR predict", (ROWS,), use=lambda f, x: f().fit(TABLE, TARGETS).predict(x)),
        Example(
            "sklearn.neural_network.MLPRegressor predict",
            (ROWS,),
            use=lambda f, x: f((4,), "tanh", max_iter=5, random_state=0).fit(TABLE, TARGETS).predict(x),
        ),
        Example("sklearn.covariance.EmpiricalCovariance", (TABLE,), use=lambda f, x: f().fit(x).covariance_),
        Example("sklearn.covariance.EmpiricalCovariance mahalanobis", (ROWS,), use=lambda f, x: f().fit(TABLE).mahalanobis(x)),
        Example("sklearn.covariance.LedoitWolf", (TABLE,), use=lambda f, x: f().fit(x).covariance_),
        Example("sklearn.covariance.OAS", (TABLE,), use=lambda f, x: f().fit(x).precision_),
        Example("sklearn.cross_decomposition.PLSRegression", (TABLE, TARGETS), use=lambda f, x, y: f(2).fit(x, y).coef_),
        Example(
            "sklearn.random_projection.GaussianRandomProjection",
            (TABLE,),
            use=lambda f, x: f(2, random_state=0).fit_transform(x),
        ),
        Example(
            "sklearn.kernel_approximation.RBFSampler",
            (TABLE,),
            use=lambda f, x: f(random_state=0, n_components=3).fit(TABLE).transform(x),
        ),
        Example(
            "sklearn.kernel_approximation.Nystroem",
            (TABLE,),
            use=lambda f, x: f(n_components=3, random_state=0).fit(TABLE).transform(x),
        ),
        Example("sklearn.feature_selection.f_classif", (TABLE, LABELS)),
        Example("sklearn.feature_selection.chi2", (np.abs(TABLE), LABELS)),
        Example("sklearn.feature_selection.VarianceThreshold", (TABLE,), use=lambda f, x: f().fit(x).variances_),
        Example("sklearn.impute.SimpleImputer", (TABLE,), use=lambda f, x: f().fit_transform(x)),
        Example("sklearn.pipeline.make_pipeline", (TABLE,), use=_pipeline),
        Example("sklearn.calibration.calibration_curve", (_BINARY, np.linspace(0.1, 0.9, 12))),
        Example("sklearn.utils.extmath.svd_flip", (ROWS, TABLE[:3]), use=lambda f, u, v: f(u, v)),
        Example("sklearn.utils.extmath.randomized_svd", (TABLE,), use=lambda f, x: f(x, 2, random_state=0)[1]),
        Example("sklearn.utils.extmath.cartesian", (X, Y), use=lambda f, a, b: f((a, b))),
        Example("sklearn.utils.extmath.squared_norm", (TABLE,)),
        Example("sklearn.datasets.make_low_rank_matrix", (0.4,), use=lambda f, t: f(6, 4, tail_strength=t, random_state=0)),
        Example(
            "sklearn.ensemble.GradientBoostingRegressor",
            (ROWS,),
            use=lambda f, x: f(n_estimators=3).fit(TABLE, TARGETS).predict(x),
        ),
    ]


def _two_kernels() -> Any:
    kernels = importlib.import_module("sklearn.gaussian_process.kernels")
    return kernels.RBF(0.8), kernels.DotProduct(0.6)


def _pipeline(f: Any, x: Any) -> Any:
    linear, scaled = map(importlib.import_module, ("sklearn.linear_model", "sklearn.preprocessing"))
    return f(scaled.StandardScaler(), linear.Ridge(0.3)).fit(TABLE, TARGETS).predict(x)
