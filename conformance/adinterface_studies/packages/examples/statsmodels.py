"""statsmodels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example, found_at
from .numbers import GUESSES, NOISE, POSITIVE, SERIES, SYMMETRIC, TABLE, TARGETS, UNIT, X

_COUNTS = np.array([1, 0, 2, 3, 1, 0, 4, 2, 1, 0, 2, 1])
_BINARY = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
_B = np.array([0.3, -0.2, 0.4])


def examples() -> list[Example]:
    return [*_models(), *_families(), *_robust(), *_series(), *_tests(), *_tools()]


def _loglike(f: Any, endog: Any, exog: Any, params: Any) -> Any:
    return f(endog, exog).loglike(params)


def _score(f: Any, endog: Any, exog: Any, params: Any) -> Any:
    return f(endog, exog).score(params)


def _hessian(f: Any, endog: Any, exog: Any, params: Any) -> Any:
    return f(endog, exog).hessian(params)


def _fitted(f: Any, endog: Any, exog: Any) -> Any:
    return f(endog, exog).fit().params


def _models() -> list[Example]:
    from adinterface import Constant

    exog = Constant(TABLE)
    found = []
    for name, endog in (("OLS", TARGETS), ("WLS", TARGETS), ("GLS", TARGETS)):
        found.append(Example(f"statsmodels.api.{name} loglike", (Constant(endog), exog, _B), use=_loglike))
        found.append(Example(f"statsmodels.api.{name} fit", (endog, TABLE), use=_fitted))
        found.append(Example(f"statsmodels.api.{name} rsquared", (endog, TABLE), use=lambda f, y, x: f(y, x).fit().rsquared))
        found.append(Example(f"statsmodels.api.{name} bse", (endog, TABLE), use=lambda f, y, x: f(y, x).fit().bse))
    for name, endog in (("Logit", _BINARY), ("Probit", _BINARY), ("Poisson", _COUNTS)):
        found.append(Example(f"statsmodels.api.{name} loglike", (endog, exog, _B), use=_loglike))
        found.append(Example(f"statsmodels.api.{name} score", (endog, exog, _B), use=_score))
        found.append(Example(f"statsmodels.api.{name} hessian", (endog, exog, _B), use=_hessian))
        found.append(
            Example(f"statsmodels.api.{name} loglikeobs", (endog, exog, _B), use=lambda f, y, x, b: f(y, x).loglikeobs(b))
        )
        found.append(Example(f"statsmodels.api.{name} predict", (endog, exog, _B), use=lambda f, y, x, b: f(y, x).predict(b)))
    for name in ("NegativeBinomial", "GeneralizedPoisson", "NegativeBinomialP"):
        b = np.append(_B, 0.6)
        found.append(Example(f"statsmodels.api.{name} loglike", (_COUNTS, exog, b), use=_loglike))
    found.append(Example("statsmodels.api.MNLogit loglike", (_COUNTS % 3, exog, np.arange(6.0) / 7), use=_loglike))
    found.append(Example("statsmodels.api.GLM loglike", (_COUNTS, exog, _B), use=lambda f, y, x, b: _glm(f, y, x).loglike(b)))
    found.append(Example("statsmodels.api.GLM score", (_COUNTS, exog, _B), use=lambda f, y, x, b: _glm(f, y, x).score(b)))
    found.append(
        Example("statsmodels.api.QuantReg predict", (Constant(TARGETS), exog, _B), use=lambda f, y, x, b: f(y, x).predict(b))
    )
    return found


def _glm(f: Any, endog: Any, exog: Any) -> Any:
    return f(endog, exog, family=found_at("statsmodels.genmod.families").Poisson())


def _families() -> list[Example]:
    found = []
    mu, y = np.array([0.4, 0.7, 0.2]), np.array([0.5, 0.6, 0.3])
    base = "statsmodels.genmod.families"
    for name in ("Poisson", "Gaussian", "Gamma", "Binomial", "InverseGaussian", "NegativeBinomial", "Tweedie"):
        found.append(Example(f"{base}.{name} deviance", (y, mu), use=lambda f, y, mu: f().deviance(y, mu)))
        if name != "Tweedie":
            found.append(Example(f"{base}.{name} loglike_obs", (y, mu), use=lambda f, y, mu: f().loglike_obs(y, mu)))
        found.append(Example(f"{base}.{name} variance", (mu,), use=lambda f, mu: f().variance(mu)))
        found.append(Example(f"{base}.{name} resid_anscombe", (y, mu), use=lambda f, y, mu: f().resid_anscombe(y, mu)))
    for name in ("Logit", "Log", "Identity", "Probit", "CLogLog", "Cauchy", "InversePower", "Sqrt", "LogLog", "LogC"):
        found.append(Example(f"{base}.links.{name}", (UNIT,), use=lambda f, p: f()(p)))
        found.append(Example(f"{base}.links.{name} inverse", (-X if name == "LogC" else X,), use=lambda f, z: f().inverse(z)))
        found.append(Example(f"{base}.links.{name} deriv", (UNIT,), use=lambda f, p: f().deriv(p)))
    return found


def _robust() -> list[Example]:
    found = []
    z = np.array([-2.4, -0.7, 0.3, 1.1, 3.6])
    for name in ("HuberT", "LeastSquares", "RamsayE", "AndrewWave", "TrimmedMean", "Hampel", "TukeyBiweight", "StudentT"):
        for method in ("rho", "psi", "weights"):
            use: Any = lambda f, z, method=method: getattr(f(), method)(z)
            found.append(Example(f"statsmodels.robust.norms.{name} {method}", (z,), use=use))
    found.append(Example("statsmodels.robust.scale.mad", (NOISE,)))
    found.append(Example("statsmodels.robust.scale.iqr", (NOISE,)))
    found.append(Example("statsmodels.robust.scale.qn_scale", (NOISE,)))
    return found


def _series() -> list[Example]:
    base = "statsmodels.tsa.stattools"
    return [
        Example(f"{base}.acf", (SERIES,), {"nlags": 4}),
        Example(f"{base}.acovf", (SERIES,)),
        Example(f"{base}.ccf", (SERIES, NOISE)),
        Example(f"{base}.ccovf", (SERIES, NOISE)),
        Example(f"{base}.pacf", (SERIES,), {"nlags": 3}),
        Example(f"{base}.pacf_yw", (SERIES,), {"nlags": 3}),
        Example(f"{base}.pacf_ols", (SERIES,), {"nlags": 3}),
        Example(f"{base}.pacf_burg", (SERIES,), {"nlags": 3}),
        Example(f"{base}.levinson_durbin", (SERIES,), {"nlags": 3}),
        Example(f"{base}.innovations_algo", (np.array([1.4, 0.5, 0.2]),)),
        Example(f"{base}.q_stat", (np.array([0.4, 0.2, 0.1]), 24)),
        Example("statsmodels.tsa.filters.hp_filter.hpfilter", (SERIES,)),
        Example("statsmodels.tsa.filters.bk_filter.bkfilter", (SERIES, 2, 8, 3)),
        Example("statsmodels.tsa.filters.cf_filter.cffilter", (SERIES,)),
        Example("statsmodels.tsa.filters.filtertools.convolution_filter", (SERIES, np.array([0.3, 0.4, 0.3]))),
        Example("statsmodels.tsa.filters.filtertools.recursive_filter", (SERIES, np.array([0.3]))),
        Example("statsmodels.tsa.tsatools.detrend", (SERIES,)),
        Example("statsmodels.tsa.tsatools.lagmat", (SERIES, 2)),
        Example("statsmodels.tsa.tsatools.add_trend", (SERIES,)),
        Example("statsmodels.tsa.arima_process.arma_acovf", (np.array([1.02, -0.5]), np.array([1.0, 0.3])), {"nobs": 4}),
        Example(
            "statsmodels.tsa.arima_process.arma_impulse_response", (np.array([1.0, -0.5]), np.array([1.0, 0.3])), {"leads": 5}
        ),
        Example("statsmodels.tsa.arima_process.arma2ar", (np.array([1.0, -0.5]), np.array([1.0, 0.3])), {"lags": 5}),
        Example(
            "statsmodels.tsa.seasonal.seasonal_decompose",
            (SERIES,),
            {"period": 4},
            lambda f, y, period: f(y, period=period).trend[2:-2],
        ),
        Example("statsmodels.tsa.api.AutoReg", (SERIES,), use=lambda f, y: f(y, 2).fit().params),
        Example("statsmodels.tsa.api.VAR", (TABLE,), use=lambda f, y: f(y).fit(1).params),
    ]


def _tests() -> list[Example]:
    base = "statsmodels.stats"
    return [
        Example(f"{base}.stattools.durbin_watson", (NOISE,)),
        Example(f"{base}.stattools.jarque_bera", (NOISE,)),
        Example(f"{base}.stattools.omni_normtest", (NOISE,)),
        Example(f"{base}.stattools.medcouple", (NOISE,)),
        Example(f"{base}.stattools.robust_skewness", (NOISE,)),
        Example(f"{base}.stattools.robust_kurtosis", (NOISE,)),
        Example(f"{base}.weightstats.ztest", (NOISE,), {"value": 0.1}),
        Example(f"{base}.weightstats.ttest_ind", (TARGETS, GUESSES)),
        Example(
            f"{base}.weightstats.DescrStatsW",
            (NOISE, np.linspace(0.5, 1.5, 24)),
            use=lambda f, x, w: (f(x, weights=w).std, f(x, weights=w).mean),
        ),
        Example(f"{base}.moment_helpers.cov2corr", (SYMMETRIC,)),
        Example(f"{base}.moment_helpers.corr2cov", (SYMMETRIC, POSITIVE[:3])),
        Example(f"{base}.moment_helpers.mnc2mc", (np.array([0.3, 1.2, 0.7, 3.1]),)),
        Example(f"{base}.moment_helpers.cum2mc", (np.array([0.3, 1.2, 0.7, 3.1]),)),
        Example(f"{base}.moment_helpers.mvsk2mc", ((0.3, 1.2, 0.7, 3.1),), use=lambda f, m: f(m)),
        Example(f"{base}.correlation_tools.cov_nearest", (SYMMETRIC,)),
        Example(f"{base}.correlation_tools.corr_clipped", (np.array([[1.0, 0.3, 0.2], [0.3, 1.0, 0.4], [0.2, 0.4, 1.0]]),)),
        Example(f"{base}.diagnostic.acorr_ljungbox", (NOISE,), {"lags": 3}),
        Example(f"{base}.diagnostic.het_breuschpagan", (TARGETS, np.column_stack([np.ones(12), TABLE]))),
        Example(f"{base}.diagnostic.het_white", (TARGETS, np.column_stack([np.ones(12), TABLE[:, :1]]))),
        Example(f"{base}.proportion.proportion_effectsize", (0.4, 0.6)),
        Example(f"{base}.proportion.proportion_confint", (4.0, 11.0)),
        Example(f"{base}.multitest.fdrcorrection", (UNIT,)),
        Example(f"{base}.multitest.multipletests", (UNIT,)),
        Example(f"{base}.oneway.effectsize_oneway", (POSITIVE, POSITIVE + 1, 12)),
        Example(f"{base}.power.tt_solve_power", (0.4, 20.0), {"alpha": 0.05}),
        Example(f"{base}.effect_size.cohend", (X, UNIT)),
    ]


def _tools() -> list[Example]:
    base = "statsmodels.tools"
    return [
        Example(f"{base}.eval_measures.mse", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.rmse", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.rmspe", (TARGETS + 4, GUESSES + 4)),
        Example(f"{base}.eval_measures.meanabs", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.medianbias", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.stde", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.iqr", (TARGETS, GUESSES)),
        Example(f"{base}.eval_measures.aic", (-12.3,), use=lambda f, llf: f(llf, 24, 3)),
        Example(f"{base}.eval_measures.bic", (-12.3,), use=lambda f, llf: f(llf, 24, 3)),
        Example(f"{base}.eval_measures.hqic", (-12.3,), use=lambda f, llf: f(llf, 24, 3)),
        Example(f"{base}.tools.add_constant", (TABLE,)),
        Example(f"{base}.tools.pinv_extended", (TABLE,)),
        Example(f"{base}.tools.recipr", (X,)),
        Example(f"{base}.tools.isestimable", (TABLE[0].copy(), TABLE)),
        Example(f"{base}.numdiff.approx_fprime", (X,), use=lambda f, x: f(x, lambda z: np.sum(z**2))),
        Example(f"{base}.numdiff.approx_hess", (X,), use=lambda f, x: f(x, lambda z: np.sum(z**3))),
        Example("statsmodels.nonparametric.kernels.gaussian", (0.4, X, X + 0.3)),
        Example("statsmodels.nonparametric.bandwidths.bw_scott", (NOISE,)),
        Example("statsmodels.nonparametric.bandwidths.bw_silverman", (NOISE,)),
        Example("statsmodels.nonparametric.smoothers_lowess.lowess", (SERIES, np.arange(24.0))),
        Example("statsmodels.nonparametric.kde.KDEUnivariate", (NOISE,), use=lambda f, x: f(x).fit(fft=False).density),
        Example("statsmodels.distributions.empirical_distribution.ECDF", (NOISE,), use=lambda f, x: f(x)(x)),
        Example("statsmodels.regression.linear_model.yule_walker", (SERIES,)),
        Example("statsmodels.regression.linear_model.burg", (SERIES,)),
        Example("statsmodels.multivariate.pca.PCA", (TABLE,), use=lambda f, x: f(x, 2).eigenvals),
        Example("statsmodels.gam.smooth_basis.BSplines", (UNIT,), use=lambda f, x: f(x, df=[5], degree=[3]).basis),
    ]
