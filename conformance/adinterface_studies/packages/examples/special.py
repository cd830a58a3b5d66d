"""scipy.special, scipy.optimize and other parts of SciPy that are functions of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..example import Example
from .numbers import POSITIVE, SERIES, UNIT, X, Y

_OF_ONE = """
    erf erfc erfcx gamma gammaln loggamma digamma expit logit log_expit log1p expm1 exp2 exp10 cbrt entr ndtr log_ndtr ndtri i0
    i0e i1 i1e j0 j1 y0 y1 k0 k0e k1 k1e rgamma sinc softplus spence exprel cosm1 sindg cosdg tandg radian dawsn dawsn erfinv
    erfcinv psi ellipk ellipe ellipkm1 exp1 expi zetac gammasgn log_softmax softmax logsumexp
"""
_OF_TWO = """
    xlogy xlog1py beta betaln rel_entr kl_div huber pseudo_huber gammainc gammaincc boxcox boxcox1p inv_boxcox inv_boxcox1p
    logaddexp hyp0f1 binom poch agm jv jve iv ive kv kve yv stdtr chdtr chdtrc pdtr owens_t multigammaln
"""


def examples() -> list[Example]:
    return [*_special(), *_optimize(), *_integrate(), *_others()]


def _special() -> list[Example]:
    found = []
    for name in dict.fromkeys(_OF_ONE.split()):
        found.append(Example(f"scipy.special.{name}", (UNIT if name in ("logit", "erfinv", "erfcinv", "ndtri") else X,)))
    for name in _OF_TWO.split():
        first: Any = X
        if name in ("multigammaln",):
            found.append(Example(f"scipy.special.{name}", (X + 2, 3)))
            continue
        if name in ("jv", "jve", "iv", "ive", "kv", "kve", "yv"):
            found.append(Example(f"scipy.special.{name}", (1, X)))
            continue
        found.append(Example(f"scipy.special.{name}", (first, Y)))
    ks = {
        "comb": (X + 4, Y),
        "perm": (X + 4, Y),
        "factorial": (X,),
        "polygamma": (1, X),
        "zeta": (X + 1.5,),
        "betainc": (X, Y, UNIT),
    }
    found += [Example(f"scipy.special.{name}", arguments) for name, arguments in ks.items()]
    found += [
        Example("scipy.special.logsumexp axis", (np.outer(X, Y),), {"axis": 1}),
        Example("scipy.special.logsumexp weights", (X,), {"b": Y}),
        Example("scipy.special.logsumexp signs", (X,), {"b": np.array([1.0, -0.5, 2.0, 1.0]), "return_sign": True}),
        Example("scipy.special.softmax axis", (np.outer(X, Y),), {"axis": 0}),
        Example("scipy.special.log_softmax axis", (np.outer(X, Y),), {"axis": 0}),
        Example("scipy.special.eval_legendre", (3, UNIT)),
        Example("scipy.special.eval_chebyt", (3, UNIT)),
        Example("scipy.special.eval_hermite", (3, UNIT)),
        Example("scipy.special.spherical_jn", (2, X)),
        Example("scipy.special.sph_harm_y", (2, 1, X, Y)),
        Example("scipy.special.legendre poly", (UNIT,), use=lambda f, x: f(4)(x)),
        Example("scipy.special.jacobi poly", (UNIT,), use=lambda f, x: f(3, 0.5, 1.5)(x)),
    ]
    return found


def _optimize() -> list[Example]:
    return [
        Example("scipy.optimize.rosen", (X,)),
        Example("scipy.optimize.rosen_der", (X,)),
        Example("scipy.optimize.rosen_hess", (X,)),
        Example("scipy.optimize.rosen_hess_prod", (X, Y)),
        Example("scipy.optimize.LinearConstraint residual", (X,), use=lambda f, x: f(np.eye(4), -1.0, 1.0).residual(x)),
        Example("scipy.optimize.approx_fprime", (X,), use=lambda f, x: f(x, lambda z: z @ z)),
    ]


def _integrate() -> list[Example]:
    t = np.linspace(0, 1, 9)
    y = np.exp(-t) + 0.1 * t**2
    return [
        Example("scipy.integrate.trapezoid", (y, t)),
        Example("scipy.integrate.simpson", (y,), {"x": t}),
        Example("scipy.integrate.simpson even", (y[:8],), {"dx": 0.3}),
        Example("scipy.integrate.cumulative_trapezoid", (y, t)),
        Example("scipy.integrate.cumulative_simpson", (y,), {"dx": 0.2}),
        Example("scipy.integrate.romb", (y,), {"dx": 0.2}),
        Example("scipy.integrate.quad", (0.7, 1.9), use=lambda f, a, b: f(lambda x: np.exp(-a * x) * np.sin(x), 0.0, b)[0]),
        Example("scipy.integrate.fixed_quad", (0.7, 1.9), use=lambda f, a, b: f(lambda x: np.exp(-a * x), 0.0, b)[0]),
        Example("scipy.integrate.newton_cotes", (X,), use=lambda f, x: f(4)[0][:4] * x),
    ]


def _others() -> list[Example]:
    wave = SERIES[:16]
    found = [
        Example("scipy.signal.detrend", (wave,)),
        Example("scipy.signal.convolve", (X, Y)),
        Example("scipy.signal.fftconvolve", (X, Y)),
        Example("scipy.signal.correlate", (X, Y)),
        Example("scipy.signal.lfilter", (np.array([0.3, 0.2]), np.array([1.0, -0.4]), wave)),
        Example("scipy.signal.filtfilt", (np.array([0.3, 0.2]), np.array([1.0, -0.4]), wave)),
        Example("scipy.signal.savgol_filter", (wave, 5, 2)),
        Example("scipy.signal.hilbert", (wave,)),
        Example("scipy.signal.resample", (wave, 12)),
        Example("scipy.signal.periodogram", (wave,)),
        Example("scipy.signal.welch", (wave,), {"nperseg": 8}),
        Example("scipy.signal.medfilt", (wave,)),
        Example("scipy.signal.wiener", (wave,)),
        Example("scipy.signal.chirp", (X, 1.1, 2.0, 3.3)),
        Example("scipy.signal.sawtooth", (X, 0.4)),
        Example("scipy.signal.gausspulse", (X, 2.0)),
        Example("scipy.signal.unit_impulse", (X,), use=lambda f, x: f(4) * x),
        Example("scipy.signal.lombscargle", (X, Y, POSITIVE[:3])),
        Example("scipy.signal.freqz", (np.array([0.3, 0.2]), np.array([1.0, -0.4])), {"worN": 8}),
        Example("scipy.signal.zpk2tf", (X[:2], Y[:1], 1.4)),
        Example("scipy.signal.windows.tukey", (X,), use=lambda f, x: f(4, 0.3) * x),
        Example("scipy.signal.windows.kaiser", (2.3,), use=lambda f, b: f(7, b)),
        Example("scipy.signal.windows.gaussian", (2.3,), use=lambda f, s: f(7, s)),
        Example("scipy.fft.fft", (wave,)),
        Example("scipy.fft.rfft", (wave,)),
        Example("scipy.fft.irfft", (wave,)),
        Example("scipy.fft.dct", (wave,)),
        Example("scipy.fft.idct", (wave,)),
        Example("scipy.fft.dst", (wave,)),
        Example("scipy.fft.fftshift", (wave,)),
        Example("scipy.interpolate.interp1d", (X, Y, np.array([0.5, 1.1])), use=lambda f, x, y, z: f(x, y)(z)),
        Example("scipy.interpolate.CubicSpline", (X, Y, np.array([0.5, 1.1])), use=lambda f, x, y, z: f(x, y)(z)),
        Example("scipy.interpolate.PchipInterpolator", (X, Y, np.array([0.5, 1.1])), use=lambda f, x, y, z: f(x, y)(z)),
        Example(
            "scipy.interpolate.Akima1DInterpolator",
            (np.arange(6.0), SERIES[:6], np.array([0.5, 1.1])),
            use=lambda f, x, y, z: f(x, y)(z),
        ),
        Example("scipy.interpolate.BarycentricInterpolator", (X, Y, np.array([0.5, 1.1])), use=lambda f, x, y, z: f(x, y)(z)),
        Example("scipy.interpolate.KroghInterpolator", (X, Y, np.array([0.5, 1.1])), use=lambda f, x, y, z: f(x, y)(z)),
        Example("scipy.interpolate.lagrange", (X[:3], Y[:3]), use=lambda f, x, y: f(x, y)(0.9)),
        Example(
            "scipy.interpolate.RBFInterpolator", (np.outer(X, [1, 0.5]), Y), use=lambda f, x, y: f(x, y)(np.array([[0.5, 0.7]]))
        ),
        Example("scipy.ndimage.gaussian_filter", (np.outer(X, Y), 0.8)),
        Example("scipy.ndimage.convolve", (np.outer(X, Y), np.ones((2, 2)) * 0.3)),
        Example("scipy.ndimage.uniform_filter", (np.outer(X, Y), 3)),
        Example("scipy.ndimage.mean", (X,)),
        Example("scipy.ndimage.center_of_mass", (np.outer(X, Y),)),
        Example("scipy.ndimage.sobel", (np.outer(X, Y),)),
        Example("scipy.cluster.vq.whiten", (np.outer(X, Y) + np.eye(4),)),
        Example("scipy.odr.unilinear", (X, Y[:2]), use=lambda f, x, b: f.fcn(b, x)),
    ]
    return found
