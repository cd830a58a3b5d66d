"""The replacements of compiled SciPy functions by NumPy code."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.errors import ClosedFormWarning, levels_to_the_user
from ..array import NumpyArray, known_numbers, settled_number
from ..made_array import array_of_engine, made, plain
from .globals import Of
from .plain import Same, assembled

Function = Callable[..., Any]


def special(name: str, *args: Any) -> Any:
    """A function of scipy.special, which is imported where it is needed."""
    return getattr(importlib.import_module("scipy.special"), name)(*args)


#: By the name of a ufunc that scipy.stats has for itself, the same in functions that have
#: derivatives.
UFUNCS: dict[str, Function] = {
    "_beta_pdf": lambda x, a, b: np.exp(
        special("xlog1py", b - 1, -x) + special("xlogy", a - 1, x) - special("betaln", a, b)
    ),
    "_beta_ppf": lambda q, a, b: special("betaincinv", a, b, q),
    "_binom_pmf": lambda x, n, p: np.exp(
        _log_binomial(n, x) + special("xlogy", x, p) + special("xlog1py", n - x, -p)
    ),
    "_binom_cdf": lambda x, n, p: np.where(
        x >= n, 1.0, special("betainc", np.maximum(n - np.floor(x), 0.5), np.floor(x) + 1, 1 - p)
    ),
    "_binom_sf": lambda x, n, p: np.where(
        x >= n, 0.0, special("betainc", np.floor(x) + 1, np.maximum(n - np.floor(x), 0.5), p)
    ),
    "_nbinom_pmf": lambda x, n, p: np.exp(
        _log_negative(x, n) + special("xlogy", n, p) + special("xlog1py", x, -p)
    ),
    "_nbinom_cdf": lambda x, n, p: special("betainc", n, np.floor(x) + 1, p),
    "_nbinom_sf": lambda x, n, p: special("betainc", np.floor(x) + 1, n, 1 - p),
    "_nbinom_mean": lambda n, p: n * (1 - p) / p,
    "_nbinom_variance": lambda n, p: n * (1 - p) / p**2,
    "_nbinom_skewness": lambda n, p: (2 - p) / np.sqrt(n * (1 - p)),
    "_nbinom_kurtosis_excess": lambda n, p: 6 / n + p**2 / (n * (1 - p)),
    "_cauchy_ppf": lambda q, loc, scale: loc - scale / np.tan(np.pi * q),
    "_cauchy_isf": lambda q, loc, scale: loc + scale / np.tan(np.pi * q),
    "_skewnorm_cdf": lambda x, loc, scale, a: (
        special("ndtr", (x - loc) / scale) - 2 * special("owens_t", (x - loc) / scale, a)
    ),
    "powm1": lambda x, y: np.expm1(y * np.log(x)),
    "_cosine_cdf": lambda x: np.where(
        x < -np.pi, 0.0, np.where(x > np.pi, 1.0, (np.pi + x + np.sin(x)) / (2 * np.pi))
    ),
    "fdtr": lambda a, b, x: special("betainc", a / 2, b / 2, a * x / (a * x + b)),
    "fdtrc": lambda a, b, x: special("betainc", b / 2, a / 2, b / (a * x + b)),
    "chdtr": lambda v, x: special("gammainc", v / 2, x / 2),
    "chdtrc": lambda v, x: special("gammaincc", v / 2, x / 2),
    "pdtr": lambda k, m: special("gammaincc", np.floor(k) + 1, m),
    "pdtrc": lambda k, m: special("gammainc", np.floor(k) + 1, m),
    "_zeta": lambda x, q: special("zeta", x, q),
    "i0e": lambda x: _scaled_bessel(x),
}
#: Functions for which ours replaces the engine's, too.
_ALWAYS_OURS = frozenset({"i0e"})


def _scaled_bessel(x: Any) -> Any:
    """exp(-|x|) I0(x), at zero with the slope to its right: parameters of distributions are not
    negative, and code has the other factor, exp(x).
    """
    near = np.where(np.abs(x) < 1, x, 0.0)
    return np.where(
        np.abs(x) < 1,
        np.exp(np.where(near < 0, near, -near)) * special("i0", near),
        special("i0e", x),
    )


def _log_binomial(n: Any, k: Any) -> Any:
    return special("gammaln", n + 1) - special("gammaln", k + 1) - special("gammaln", n - k + 1)


def _log_negative(k: Any, n: Any) -> Any:
    return special("gammaln", n + k) - special("gammaln", k + 1) - special("gammaln", n)


def ufunc_for(real: np.ufunc) -> Any:
    """The replacement of a ufunc, which also takes lists with engine arrays."""
    return Ufunc(
        real, None if np.__dict__.get(real.__name__) is real else UFUNCS.get(real.__name__)
    )


class Ufunc(Same):
    """A ufunc, perhaps with NumPy code in place of it; an engine's function, or a rule, is
    preferred.
    """

    def __init__(self, real: np.ufunc, ours: Function | None):
        self.__wrapped__: np.ufunc = real
        self._ours = ours
        self._always = real.__name__ in _ALWAYS_OURS
        self.__doc__ = real.__doc__

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        return (
            (lambda *args, **keywords: value(*map(assembled, args), **keywords))
            if name in _OF_LISTS
            else value
        )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if list in (kinds := [type(arg) for arg in args]) or tuple in kinds:
            args = tuple(map(assembled, args))
        if self._ours is None:
            return self.__wrapped__(*args, **keywords)
        followed = array_of_engine(args)
        if followed is None or (
            not self._always and followed._engine.functions.has(self.__wrapped__)
        ):
            return self.__wrapped__(*args, **keywords)
        return self._ours(*args)


#: The methods of a ufunc that take arrays.
_OF_LISTS = frozenset({"accumulate", "outer", "reduce", "reduceat"})


# Roots
# ------------------------------------------------------------------------------------------------


def root(real: Function, of: Of) -> Function:
    """scipy.optimize.brentq and its kin: the root by SciPy, of the numbers; its derivative by steps
    of Newton's.

    Each step of the chord method r - f(r) / c adds one order of derivatives to those that are
    right; four are taken, so a root has its derivatives up to the fourth order.
    """

    @functools.wraps(real)
    def call(f: Any, a: Any, b: Any, args: Any = (), *others: Any, **keywords: Any) -> Any:
        extra = args if isinstance(args, tuple) else (args,)
        known = settled_number(extra)
        numbers = lambda x: settled_number(f(x, *known))
        options = {name: settled_number(value) for name, value in keywords.items()}
        root = real(numbers, settled_number(a), settled_number(b), (), *others, **options)
        at, rest = (root[0], root[1:]) if isinstance(root, tuple) else (root, None)
        if array_of_engine((f(at, *extra),)) is None:
            return root
        slope = _slope(numbers, at)
        if not np.isfinite(slope) or slope == 0:
            raise ZeroDivisionError(
                f"numpy_function: {real.__name__} found a root at which f has no slope: {at}"
            )
        for _ in range(4):
            at = at - f(at, *extra) / slope
        if rest is None:
            return at
        rest[0].root = at
        return (at, *rest)

    return call


def _slope(f: Function, x: float) -> float:
    """A derivative by differences, extrapolated: it need not be exact, since the function is zero
    there.
    """
    step = 1e-3 * max(1.0, abs(x)) if abs(x) > 1e-2 else 1e-2 * max(abs(x), 1e-6)
    rows = [[(f(x + h) - f(x - h)) / (2 * h)] for h in (step, step / 2, step / 4)]
    for n in (1, 2):
        for k in range(n, 3):
            rows[k].append(rows[k][n - 1] + (rows[k][n - 1] - rows[k - 1][n - 1]) / (4**n - 1))
    return float(rows[2][2])


def by_comparisons(real: Function) -> Function:
    """A minimiser that moves among points by comparisons. It warns that the minimum has no
    derivative.
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
        still = NumpyArray(M._engine.library.stopped(M._array), M._engine)
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


# Kernel densities
# ------------------------------------------------------------------------------------------------


class KernelEstimate(Same):
    """scipy.stats' sums of Gaussian densities around points, at others; `estimate[spec]` is
    itself.
    """

    def __init__(self, real: Any, log: bool):
        self.__wrapped__: Any = real
        self._log = log

    def __getitem__(self, spec: str) -> Function:
        real = self.__wrapped__[spec]

        def call(points: Any, values: Any, xi: Any, cho_cov: Any, dtype: Any) -> Any:
            if array_of_engine((points, values, xi, cho_cov)) is None:
                return made(real(*plain((points, values, xi, cho_cov)), dtype))
            return self._estimate(points, values, xi, cho_cov)

        return call

    def _estimate(self, points: Any, values: Any, xi: Any, cho_cov: Any) -> Any:
        """(m, p) for n points (n, d) with values (n, p), at m others (m, d)."""
        inverse = np.linalg.inv(np.tril(cho_cov)).T
        distances = (points @ inverse)[:, None] - (xi @ inverse)[None]
        d = np.shape(points)[1]
        logs = (
            -0.5 * np.sum(distances**2, -1)
            - np.sum(np.log(np.diagonal(cho_cov)))
            - 0.5 * d * np.log(2 * np.pi)
        )
        if self._log:
            terms = logs[:, :, None] + np.log(values)[:, None]
            top = np.max(terms, axis=0)
            return top + np.log(np.sum(np.exp(terms - top), axis=0))
        return np.exp(logs).T @ values


# Moments
# ------------------------------------------------------------------------------------------------


def first_moments(real: Function) -> Function:
    """scikit-learn's mean and variance of the old and the new data; of the new data alone if there
    is no old.

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
#: By module and name: a function of the original and of the replacements.
FUNCTIONS: dict[tuple[str, str], Callable[[Function, Of], Any]] = {
    **{
        ("scipy.optimize._zeros_py", name): root
        for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
    },
    ("scipy.interpolate._fitpack_impl", "splev"): lambda real, of: of(
        importlib.import_module("scipy.interpolate").splev
    ),
    ("scipy.interpolate._fitpack_impl", "splint"): lambda real, of: of(
        importlib.import_module("scipy.interpolate").splint
    ),
    ("scipy.stats._stats", "gaussian_kernel_estimate"): lambda real, of: KernelEstimate(
        real, False
    ),
    ("scipy.stats._stats", "gaussian_kernel_estimate_log"): lambda real, of: KernelEstimate(
        real, True
    ),
}


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
    module, name = getattr(real, "__module__", None) or "", getattr(real, "__name__", "")
    make = (
        on_namespaces
        if module in _FOR_NAMESPACES and not isinstance(real, type)
        else FUNCTIONS.get((module, name))
    )
    return None if make is None else make(real, of)
