"""scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example
from .numbers import GUESSES, LABELS, OTHER_ROWS, ROWS, TABLE, TARGETS

_PROBABILITIES = np.array([0.2, 0.7, 0.6, 0.3, 0.8, 0.1, 0.45, 0.55, 0.65, 0.25, 0.35, 0.75])
_BINARY = (LABELS > 0).astype(int)


def examples() -> list[Example]:
    return [*_regression(), *_pairwise(), *_others()]


def _regression() -> list[Example]:
    positive = (np.exp(TARGETS), np.exp(GUESSES))
    two: dict[str, tuple[Any, ...]] = {
        "mean_squared_error": (TARGETS, GUESSES), "root_mean_squared_error": (TARGETS, GUESSES),
        "mean_absolute_error": (TARGETS, GUESSES), "mean_absolute_percentage_error": (TARGETS, GUESSES),
        "median_absolute_error": (TARGETS, GUESSES), "max_error": (TARGETS, GUESSES), "r2_score": (TARGETS, GUESSES),
        "explained_variance_score": (TARGETS, GUESSES), "mean_squared_log_error": positive,
        "root_mean_squared_log_error": positive, "mean_poisson_deviance": positive, "mean_gamma_deviance": positive,
        "d2_absolute_error_score": (TARGETS, GUESSES), "d2_pinball_score": (TARGETS, GUESSES),
        "mean_pinball_loss": (TARGETS, GUESSES), "log_loss": (_BINARY, _PROBABILITIES),
        "brier_score_loss": (_BINARY, _PROBABILITIES), "hinge_loss": (_BINARY, GUESSES), "roc_auc_score": (_BINARY, GUESSES),
        "average_precision_score": (_BINARY, GUESSES), "auc": (np.sort(TARGETS), GUESSES),
        "ndcg_score": (np.abs(TABLE[:3]), np.abs(TABLE[3:6])), "dcg_score": (np.abs(TABLE[:3]), np.abs(TABLE[3:6])),
        "silhouette_score": (TABLE, LABELS), "davies_bouldin_score": (TABLE, LABELS),
        "calinski_harabasz_score": (TABLE, LABELS),
        "d2_log_loss_score": (_BINARY, _PROBABILITIES), "d2_brier_score": (_BINARY, _PROBABILITIES),
    }  # fmt: skip
    found = [Example(f"sklearn.metrics.{name}", arguments) for name, arguments in two.items()]
    found.append(Example("sklearn.metrics.mean_tweedie_deviance", positive, {"power": 1.5}))
    found.append(Example("sklearn.metrics.d2_tweedie_score", positive, {"power": 1.5}))
    return found


def _pairwise() -> list[Example]:
    found = [
        Example(f"sklearn.metrics.pairwise.{name}", (np.abs(ROWS), np.abs(OTHER_ROWS)))
        for name in (
            "euclidean_distances", "manhattan_distances", "cosine_distances", "cosine_similarity", "rbf_kernel",
            "linear_kernel",
            "polynomial_kernel", "sigmoid_kernel", "laplacian_kernel", "chi2_kernel", "additive_chi2_kernel",
            "nan_euclidean_distances", "pairwise_distances", "pairwise_kernels",
        )
    ]  # fmt: skip
    found += [
        Example(f"sklearn.metrics.pairwise.{name}", (ROWS[:5], OTHER_ROWS))
        for name in ("paired_euclidean_distances", "paired_manhattan_distances", "paired_cosine_distances", "paired_distances")
    ]
    found.append(Example("sklearn.metrics.pairwise.haversine_distances", (ROWS[:, :2], OTHER_ROWS[:, :2])))
    return found


def _others() -> list[Example]:
    kernels = ("RBF", "Matern", "RationalQuadratic", "ExpSineSquared", "DotProduct", "ConstantKernel", "WhiteKernel")
    found = [Example(f"sklearn.gaussian_process.kernels.{name}", (ROWS,), use=lambda f, x: f()(x)) for name in kernels]
    matern: Any = lambda f, x: f(nu=2.5)(x)
    found += [
        Example("sklearn.gaussian_process.kernels.Matern 2.5", (ROWS,), use=matern),
        Example("sklearn.preprocessing.scale", (TABLE,)),
        Example("sklearn.preprocessing.normalize", (TABLE,)),
        Example("sklearn.preprocessing.minmax_scale", (TABLE,)),
        Example("sklearn.preprocessing.maxabs_scale", (TABLE,)),
        Example("sklearn.preprocessing.robust_scale", (TABLE,)),
        Example("sklearn.preprocessing.power_transform", (np.abs(TABLE),)),
        Example("sklearn.preprocessing.StandardScaler", (TABLE,), use=lambda f, x: f().fit_transform(x)),
        Example("sklearn.preprocessing.PolynomialFeatures", (TABLE,), use=lambda f, x: f(2).fit_transform(x)),
        Example("sklearn.covariance.empirical_covariance", (TABLE,)),
        Example("sklearn.covariance.ledoit_wolf_shrinkage", (TABLE,)),
        Example("sklearn.covariance.oas", (TABLE,)),
        Example("sklearn.covariance.shrunk_covariance", (TABLE[:3] @ TABLE[:3].T,)),
        Example("sklearn.utils.extmath.softmax", (TABLE,)),
        Example("sklearn.utils.extmath.row_norms", (TABLE,)),
        Example("sklearn.utils.extmath.safe_sparse_dot", (ROWS, OTHER_ROWS.T.copy())),
        Example("sklearn.utils.extmath.weighted_mode", (TABLE, np.abs(TABLE))),
        Example("sklearn.utils.extmath.fast_logdet", (np.eye(3) + TABLE[:3] @ TABLE[:3].T,)),
        Example("sklearn.utils.extmath.density", (TABLE,)),
        Example("sklearn.utils.extmath.stable_cumsum", (TARGETS,)),
        Example("sklearn.linear_model.LinearRegression", (TABLE, TARGETS), use=lambda f, x, y: f().fit(x, y).coef_),
        Example("sklearn.linear_model.Ridge", (TABLE, TARGETS), use=lambda f, x, y: f(alpha=0.5).fit(x, y).coef_),
        Example("sklearn.decomposition.PCA", (TABLE,), use=lambda f, x: f(2).fit(x).explained_variance_),
        Example("sklearn.neural_network._base.softmax", (TABLE,), use=lambda f, x: _activated(f, x)),
        Example("sklearn.isotonic.check_increasing", (TARGETS, GUESSES)),
        Example("sklearn.feature_selection.f_regression", (TABLE, TARGETS)),
        Example("sklearn.feature_selection.r_regression", (TABLE, TARGETS)),
    ]
    return found


def _activated(f: Any, x: Any) -> Any:
    x = x.copy()
    f(x)
    return x
