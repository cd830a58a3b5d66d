"""lmfit, hmmlearn, filterpy and emcee."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example
from .numbers import ROWS, SERIES, SHARES, SQUARE, SYMMETRIC, TABLE, X

_LINES: dict[str, tuple[float, ...]] = {
    "gaussian": (1.2, 0.3, 0.8), "lorentzian": (1.2, 0.3, 0.8), "voigt": (1.2, 0.3, 0.8, 0.6), "pvoigt": (1.2, 0.3, 0.8, 0.4),
    "moffat": (1.2, 0.3, 0.8, 1.4), "pearson4": (1.2, 0.3, 0.8, 1.4, 0.2), "pearson7": (1.2, 0.3, 0.8, 1.4),
    "breit_wigner": (1.2, 0.3, 0.8, 1.1), "damped_oscillator": (1.2, 1.3, 0.2), "dho": (1.2, 1.3, 0.8, 0.9),
    "logistic": (1.2, 0.3, 0.8), "lognormal": (1.2, 0.3, 0.8), "students_t": (1.2, 0.3, 0.8),
    "expgaussian": (1.2, 0.3, 0.8, 0.9), "doniach": (1.2, 0.3, 0.8, 0.2), "skewed_gaussian": (1.2, 0.3, 0.8, 0.2),
    "skewed_voigt": (1.2, 0.3, 0.8, 0.5, 0.2), "thermal_distribution": (1.2, -0.3, 0.8), "bose": (1.2, -0.3, 0.8),
    "fermi": (1.2, 0.3, 0.8), "step": (1.2, 0.3, 3.8), "rectangle": (1.2, 0.3, 3.8, 2.0, 3.1), "exponential": (1.2, 0.7),
    "powerlaw": (1.2, 0.7), "linear": (1.2, 0.7), "parabolic": (0.4, 1.2, 0.7), "sine": (1.2, 0.7, 0.2),
    "expsine": (1.2, 0.7, 0.2, 0.3), "split_lorentzian": (1.2, 0.3, 0.8, 0.9),
}  # fmt: skip


def examples() -> list[Example]:
    return [*_lmfit(), *_hmmlearn(), *_filterpy(), *_emcee()]


def _lmfit() -> list[Example]:
    found = [Example(f"lmfit.lineshapes.{name}", (X, *numbers)) for name, numbers in _LINES.items()]
    found.append(Example("lmfit.lineshapes.gaussian2d", (X, X[::-1].copy(), 1.2, 0.3, 0.4, 0.8, 0.9)))
    for form in ("erf", "atan", "logistic"):
        found.append(Example(f"lmfit.lineshapes.step {form}", (X, 1.2, 0.3, 0.8), {"form": form}))
        found.append(Example(f"lmfit.lineshapes.rectangle {form}", (X, 1.2, 0.3, 0.8, 2.0, 1.1), {"form": form}))
    for name in ("GaussianModel", "LorentzianModel", "ExponentialModel", "SineModel"):
        found.append(Example(f"lmfit.models.{name}", (X, 1.2, 0.9), use=_model))
    return found


def _model(f: Any, x: Any, a: Any, b: Any) -> Any:
    model = f()
    names = model.param_names[:2]
    return model.eval(model.make_params(), x=x, **dict(zip(names, (a, b))))


def _hmmlearn() -> list[Example]:
    means, covars = TABLE[:2], np.abs(TABLE[2:4]) + 0.4
    full = np.stack([SYMMETRIC, SYMMETRIC + 0.3 * np.eye(3)])
    return [
        Example("hmmlearn.stats.log_multivariate_normal_density", (ROWS, means, covars), {"covariance_type": "diag"}),
        Example("hmmlearn.stats.log_multivariate_normal_density full", (ROWS, means, full), {"covariance_type": "full"}),
        Example("hmmlearn.stats.log_multivariate_normal_density tied", (ROWS, means, SYMMETRIC), {"covariance_type": "tied"}),
        Example(
            "hmmlearn.stats.log_multivariate_normal_density spherical",
            (ROWS, means, covars[:, 0].copy()),
            {"covariance_type": "spherical"},
        ),
        Example("hmmlearn.utils.normalize", (np.abs(ROWS),), use=lambda f, x: _in_place(f, x)),
        Example("hmmlearn.utils.log_normalize", (ROWS,), use=lambda f, x: _in_place(f, x, 1)),
        Example("hmmlearn.utils.fill_covars", (SYMMETRIC,), {"covariance_type": "tied", "n_components": 2, "n_features": 3}),
    ]


def _in_place(f: Any, x: Any, *args: Any) -> Any:
    x = x.copy()
    f(x, *args)
    return x


def _filterpy() -> list[Example]:
    x, z = np.array([0.3, -0.2, 0.6]), np.array([0.5])
    h, f, q, r = np.array([[1.0, 0.2, 0.0]]), SQUARE / 3, 0.1 * np.eye(3), np.array([[0.4]])
    return [
        Example("filterpy.kalman.predict", (x, SYMMETRIC, f, q)),
        Example("filterpy.kalman.update", (x, SYMMETRIC, z, r, h)),
        Example("filterpy.kalman.KalmanFilter", (x, SYMMETRIC, z), use=_kalman),
        Example("filterpy.kalman.InformationFilter", (x, SYMMETRIC, z), use=_information),
        Example("filterpy.kalman.unscented_transform", (np.vstack([ROWS, -ROWS[:1]]), np.full(7, 1 / 7), np.full(7, 1 / 7))),
        Example(
            "filterpy.kalman.MerweScaledSigmaPoints", (x, SYMMETRIC), use=lambda k, m, p: k(3, 0.5, 2.0, 0.3).sigma_points(m, p)
        ),
        Example("filterpy.kalman.JulierSigmaPoints", (x, SYMMETRIC), use=lambda k, m, p: k(3, 0.5).sigma_points(m, p)),
        Example("filterpy.kalman.rts_smoother", (ROWS[:4, :, None], np.stack([SYMMETRIC] * 4)), use=_smoothed),
        Example("filterpy.common.Q_discrete_white_noise", (0.7, 1.3), use=lambda k, dt, var: k(2, dt, var)),
        Example("filterpy.common.Q_continuous_white_noise", (0.7, 1.3), use=lambda k, dt, density: k(3, dt, density)),
        Example("filterpy.common.kinematic_state_transition", (0.7,), use=lambda k, dt: k(2, dt)),
        Example("filterpy.common.linear_ode_discretation", (SQUARE, 0.4), use=lambda k, a, dt: k(a, dt=dt)[0]),
        Example("filterpy.common.van_loan_discretization", (SQUARE / 3, np.eye(3), 0.4)),
        Example("filterpy.common.outer_product_sum", (ROWS,)),
        Example(
            "filterpy.common.runge_kutta4", (0.4, 0.2, 0.1), use=lambda k, y, x, dx: k(y, x, dx, lambda x, y: np.sin(x) * y)
        ),
        Example("filterpy.common.inv_diagonal", (np.diag([1.0, 2.0, 3.0]),)),
        Example("filterpy.stats.gaussian", (0.4, 0.1, 1.3)),
        Example("filterpy.stats.mul", (0.4, 0.9, 0.1, 1.3)),
        Example("filterpy.stats.mul_pdf", (0.4, 0.9, 0.1, 1.3)),
        Example("filterpy.stats.add", (0.4, 0.9, 0.1, 1.3)),
        Example("filterpy.stats.mahalanobis", (x, np.zeros(3), SYMMETRIC)),
        Example("filterpy.stats.likelihood", (z, x, SYMMETRIC, h, r)),
        Example("filterpy.stats.log_likelihood", (z, x, SYMMETRIC, h, r)),
        Example("filterpy.stats.multivariate_gaussian", (x, np.zeros(3), SYMMETRIC)),
        Example("filterpy.stats.multivariate_multiply", (x, SYMMETRIC, np.zeros(3), SYMMETRIC + np.eye(3))),
        Example("filterpy.stats.norm_cdf", ((0.1, 0.6),), use=lambda k, pair: k(pair)),
        Example("filterpy.stats.covariance_ellipse", (SYMMETRIC[:2, :2].copy(),)),
        Example("filterpy.stats.NEES", (ROWS, ROWS * 0.9, np.stack([SYMMETRIC] * 6))),
        Example("filterpy.gh.GHFilter", (0.3, 0.1, 0.8), use=_gh),
        Example("filterpy.leastsq.LeastSquaresFilter", (0.3, 0.8), use=_least_squares),
        Example("filterpy.memory.FadingMemoryFilter", (0.3, 0.8), use=_fading),
        Example("filterpy.discrete_bayes.normalize", (SHARES * 2,), use=lambda k, p: k(p.copy())),
        Example("filterpy.discrete_bayes.update", (SHARES, SHARES[::-1].copy())),
        Example(
            "filterpy.discrete_bayes.predict", (SHARES, np.array([0.1, 0.8, 0.1])), use=lambda k, p, kernel: k(p, 1, kernel)
        ),
    ]


def _kalman(k: Any, x: Any, p: Any, z: Any) -> Any:
    found = k(dim_x=3, dim_z=1)
    found.x, found.P = x, p
    found.F, found.H = np.eye(3) * 0.9, np.array([[1.0, 0.2, 0.0]])
    found.predict()
    found.update(z)
    return found.x, found.P


def _information(k: Any, x: Any, p: Any, z: Any) -> Any:
    found = k(dim_x=3, dim_z=1)
    found.x, found.P_inv = x, p
    found.F, found.H = np.eye(3) * 0.9, np.array([[1.0, 0.2, 0.0]])
    found.predict()
    found.update(z)
    return found.x, found.P_inv


def _smoothed(k: Any, xs: Any, ps: Any) -> Any:
    return k(xs, ps, [np.eye(3) * 0.9] * 4, [np.eye(3) * 0.1] * 4)[:2]


def _gh(k: Any, x: Any, dx: Any, z: Any) -> Any:
    return k(x, dx, 0.5, 0.6, 0.1).update(z)


def _least_squares(k: Any, a: Any, b: Any) -> Any:
    found = k(0.5, 1)
    found(a)
    found(b)
    return found.x


def _fading(k: Any, a: Any, b: Any) -> Any:
    found = k(np.zeros(2), 0.5, 1, 0.6)
    found.update(a)
    found.update(b)
    return found.x


def _emcee() -> list[Example]:
    return [
        Example("emcee.autocorr.function_1d", (SERIES,)),
        Example("emcee.autocorr.integrated_time", (SERIES,), {"quiet": True}),
    ]
