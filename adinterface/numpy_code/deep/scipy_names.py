"""What copied code of SciPy and scikit-learn needs in place of private functions."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import ClosedFormWarning, levels_to_the_user
from ..array import NumpyArray, known_numbers
from ..made_array import array_of_engine, made, plain
from .globals import Of

Function = Callable[..., Any]


def by_comparisons(real: Function) -> Function:
    """A minimiser that moves among points by comparisons.

    It warns that the minimum has no derivative.
    """

    @functools.wraps(real)
    def call(*args: Any, **keywords: Any) -> Any:
        result = real(*args, **keywords)
        if type(result["fun"]) is NumpyArray:
            method = real.__name__.rpartition("_")[2]
            warnings.warn(
                f"numpy_function: the method {method!r} of scipy.optimize finds a minimum by"
                " comparisons alone, so the point has no derivative by the parameters of the"
                " function. adinterface.rules.root gives it one: write the minimum as the root of"
                " the function's gradient. The methods 'BFGS', 'CG' and 'Powell' compute with the"
                " parameters.",
                ClosedFormWarning,
                stacklevel=levels_to_the_user("numpy", "scipy"),
            )
        return result

    return call


# Covariances
# ------------------------------------------------------------------------------------------------


def factor_of_covariance(real: Function) -> Function:
    """The factor that scipy.stats' distributions compute from a covariance M: a U with U U^T =
    M^-1, and log det M.

    SciPy's U is made of eigenvectors, which have no derivative for equal eigenvalues, as in the
    identity. Only that product is used, so for full rank U is the Cholesky factor here. For a lower
    rank it is SciPy's; in a compiled call, which does not know the rank, it is nan.
    """

    @functools.wraps(real)
    def call(
        self: Any,
        M: Any,
        cond: Any = None,
        rcond: Any = None,
        lower: bool = True,
        *args: Any,
        **keywords: Any,
    ) -> None:
        if type(M) is not NumpyArray or np.ndim(M) != 2 or not lower:
            real(self, M, cond, rcond, lower, *args, **keywords)
            return
        known = known_numbers(M)
        still = NumpyArray(M.engine.library.stopped(M.native), M.engine)
        spectrum = np.linalg.eigvalsh(still if known is None else known)
        least = real.__globals__["_eigvalsh_to_eps"](spectrum, cond, rcond)
        is_definite = np.min(spectrum) > least
        if known is not None and not is_definite:
            real(self, M, cond, rcond, lower, *args, **keywords)
            return
        factor = np.linalg.cholesky(M)
        if known is None:
            factor = np.where(is_definite, factor, np.nan)
        self._M, self.U, self._pinv = M, np.conj(np.linalg.inv(factor).T), None
        self.log_pdet = 2 * np.sum(np.log(np.real(np.diagonal(factor))))
        self.rank, self.V, self.eps = len(M), np.zeros((len(M), 0), M.dtype), 1e3 * least

    return call


# Moments
# ------------------------------------------------------------------------------------------------


def first_moments(real: Function) -> Function:
    """scikit-learn's mean and variance of the old and the new data.

    Of the new data alone if there is no old.

    There scikit-learn divides zero by zero, and replaces the result.
    """

    @functools.wraps(real)
    def call(
        X: Any,
        last_mean: Any,
        last_variance: Any,
        last_sample_count: Any,
        sample_weight: Any = None,
    ) -> Any:
        mean, variance, count = real(X, last_mean, last_variance, last_sample_count, sample_weight)
        if variance is None or not isinstance(X, NumpyArray) or np.any(last_sample_count != 0):
            return mean, variance, count
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        distances = np.where(np.isnan(X), 0.0, X - mean)
        return mean, (weights @ distances**2 - (weights @ distances) ** 2 / count) / count, count

    return call


#: Compiled modules. For each there is another one, in Python, that does the same for namespaces.
_FOR_NAMESPACES = (
    "scipy.spatial.transform._rotation_cy",
    "scipy.spatial.transform._rigid_transform_cy",
)


def on_namespaces(real: Any, of: Of) -> Function:
    """A compiled function of rotations: for an engine's arrays that of SciPy's Python code for
    namespaces.
    """
    ours = getattr(
        importlib.import_module(real.__module__.removesuffix("_cy") + "_xp"), real.__name__, None
    )

    @functools.wraps(real)
    def call(*args: Any, **keywords: Any) -> Any:
        if ours is not None and array_of_engine((args, keywords)) is not None:
            return of(ours)(
                *[np.asarray(arg) if isinstance(arg, np.ndarray) else arg for arg in args],
                **keywords,
            )
        return made(real(*plain(args), **plain(keywords)))

    return call


#: By qualified name, and the end of the module: these get the copy of the function itself.
_CHOOSING: dict[tuple[str, str], Callable[[Function], Function]] = {
    ("solve", "array_api_compat.numpy.linalg"): lambda copy: np.linalg.solve,
    ("_PSD.__init__", "scipy.stats._multivariate"): factor_of_covariance,
    ("_minimize_neldermead", "scipy.optimize._optimize"): by_comparisons,
    ("_minimize_scalar_golden", "scipy.optimize._optimize"): by_comparisons,
    ("_minimize_cobyla", "scipy.optimize._cobyla_py"): by_comparisons,
    ("_incremental_mean_and_var", "sklearn.utils.extmath"): first_moments,
}


def chosen(real: Any, copy: Function) -> Function:
    """The replacement of a function or a method: its copy, or one made of that."""
    name, module = getattr(real, "__qualname__", ""), getattr(real, "__module__", None) or ""
    make = next(
        (
            make
            for (known, end), make in _CHOOSING.items()
            if name == known and module.endswith(end)
        ),
        None,
    )
    return copy if make is None else make(copy)


def function_for(real: Any, of: Of) -> Function | None:
    """The replacement of a SciPy function that would end in compiled code."""
    rotates = getattr(real, "__module__", None) in _FOR_NAMESPACES and not isinstance(real, type)
    return on_namespaces(real, of) if rotates else None
