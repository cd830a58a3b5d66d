"""SciPy without its distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...example import Example
from ..numbers import NOISE, OTHER_ROWS, POSITIVE, ROWS, SERIES, SQUARE, SYMMETRIC, UNIT, X, Y

_B, _A = np.array([0.2, 0.35, 0.1]), np.array([1.0, -0.6, 0.15])
_SOS = np.array([[0.2, 0.4, 0.2, 1.0, -0.5, 0.1], [1.0, 0.3, 0.1, 1.0, 0.2, 0.05]])
_WAVE = SERIES[:16].copy()
_VECTOR = np.array([0.4, -1.1, 0.7])
_BANDED = np.array([[0.0, 0.3, 0.2], [2.0, 2.5, 2.2], [0.1, 0.4, 0.0]])


def examples() -> list[Example]:
    return [*_signal(), *_windows(), *_linalg(), *_special(), *_interpolate(), *_others()]


def _signal() -> list[Example]:
    table: dict[str, tuple[Any, ...]] = {
        "oaconvolve": (_WAVE, _B), "convolve2d": (np.outer(X, Y), SQUARE), "correlate2d": (np.outer(X, Y), SQUARE),
        "deconvolve": (_WAVE[:6], _B), "sosfilt": (_SOS, _WAVE), "sosfiltfilt": (_SOS, SERIES), "lfilter_zi": (_B, _A),
        "tf2zpk": (_B, _A), "tf2ss": (_B, _A), "tf2sos": (_B, _A), "sos2tf": (_SOS,), "sos2zpk": (_SOS,),
        "bilinear": (_B, _A, 2.0), "lp2lp": (_B, _A, 1.3), "lp2hp": (_B, _A, 1.3), "lp2bp": (_B, _A, 1.3, 0.7),
        "lp2bs": (_B, _A, 1.3, 0.7), "freqs": (_B, _A, X), "freqs_zpk": (X[:1], Y[:2], 1.4, X),
            "freqz_zpk": (X[:1], Y[:2], 1.4, X),
        "group_delay": ((_B, _A), X), "residue": (_B, np.array([1.0, 3.1, 1.7])), "csd": (SERIES, NOISE),
        "coherence": (SERIES, NOISE), "spectrogram": (SERIES,), "stft": (SERIES,), "decimate": (SERIES, 2),
        "resample_poly": (SERIES, 2, 3), "upfirdn": (_B, _WAVE), "envelope": (SERIES,), "vectorstrength": (X, 1.3),
        "square": (X,), "sweep_poly": (X, np.array([0.1, 0.4, 1.2])), "czt": (_WAVE,), "zoom_fft": (_WAVE, [0.2, 0.6]),
        "firwin": (7, 0.3), "firwin2": (9, [0.0, 0.3, 1.0], [1.0, 0.8, 0.0]), "iirnotch": (0.3, 20.0), "iirpeak": (0.3, 20.0),
        "butter": (2, 0.3), "cheby1": (2, 1.0, 0.3), "cheby2": (2, 20.0, 0.3), "savgol_coeffs": (5, 2),
        "order_filter": (_WAVE, np.ones(3), 1), "find_peaks": (SERIES,), "peak_prominences": (SERIES, [3, 9]),
        "cspline1d": (_WAVE,), "qspline1d": (_WAVE,), "symiirorder1": (_WAVE, 0.6, 0.4), "kaiser_beta": (53.0,),
        "kaiser_atten": (21, 0.3), "normalize": (_B, _A), "unique_roots": (X,),
            "minimum_phase": (np.array([0.1, 0.6, 0.9, 0.6, 0.1]),),
    }  # fmt: skip
    keywords: dict[str, dict[str, Any]] = {
        "csd": {"nperseg": 8}, "coherence": {"nperseg": 8}, "spectrogram": {"nperseg": 8, "noverlap": 4},
        "stft": {"nperseg": 8}, "czt": {"m": 6}, "zoom_fft": {"m": 5}, "decimate": {"ftype": "fir"},
    }  # fmt: skip
    found = [Example(f"scipy.signal.{name}", arguments, keywords.get(name, {})) for name, arguments in table.items()]
    a, b = np.array([[-0.4, 0.3], [-0.2, -0.9]]), np.array([[0.5], [1.0]])
    c, d = np.array([[1.0, 0.2]]), np.array([[0.1]])
    found += [
        Example("scipy.signal.ss2tf", (a, b, c, d)),
        Example("scipy.signal.ss2zpk", (a, b, c, d)),
        Example("scipy.signal.cont2discrete", (a, b), use=lambda f, a, b: f((a, b, c, d), 0.3)[:2]),
        Example("scipy.signal.lsim", (a, b, _WAVE), use=lambda f, a, b, u: f((a, b, c, d), u, np.arange(16) * 0.2)[1]),
        Example("scipy.signal.dlsim", (a, b, _WAVE), use=lambda f, a, b, u: f((a, b, c, d, 0.2), u)[1]),
        Example("scipy.signal.step", (a, b), use=lambda f, a, b: f((a, b, c, d), T=np.arange(6) * 0.3)[1]),
        Example(
            "scipy.signal.impulse", (_B, np.array([1.0, 1.6, 0.8])), use=lambda f, n, m: f((n[1:], m), T=np.arange(6) * 0.3)[1]
        ),
        Example("scipy.signal.bode", (_B, _A), use=lambda f, n, m: f((n, m), w=X)),
        Example("scipy.signal.istft", (SERIES[:15].reshape(5, 3),), {"nperseg": 8}),
        Example("scipy.signal.lfilter zi", (_B, _A, _WAVE, X[:2]), use=lambda f, b, a, x, zi: f(b, a, x, zi=zi)),
        Example("scipy.signal.lfilter axis", (_B, _A, ROWS), use=lambda f, b, a, x: f(b, a, x, axis=0)),
        Example("scipy.signal.detrend constant", (ROWS,), {"type": "constant", "axis": 0}),
        Example("scipy.signal.correlate same", (_WAVE, _B), {"mode": "same"}),
        Example("scipy.signal.correlate direct", (_WAVE, _B), {"mode": "full", "method": "direct"}),
        Example("scipy.signal.place_poles gain", (a, b), use=lambda f, a, b: f(a, b, [-1.0, -2.0]).gain_matrix),
    ]
    return found


def _windows() -> list[Example]:
    found = [
        Example("scipy.signal.windows.general_gaussian", (1.5, 2.3), use=lambda f, p, s: f(7, p, s)),
        Example("scipy.signal.windows.exponential", (2.3,), use=lambda f, tau: f(7, None, tau)),
        Example("scipy.signal.windows.chebwin", (60.0,), use=lambda f, at: f(7, at)),
        Example("scipy.signal.windows.general_hamming", (0.6,), use=lambda f, a: f(7, a)),
        Example("scipy.signal.windows.general_cosine", (X,), use=lambda f, a: f(7, a)),
        Example("scipy.signal.windows.taylor", (31.0,), use=lambda f, level: f(9, sll=level)),
        Example("scipy.signal.windows.kaiser_bessel_derived", (2.3,), use=lambda f, beta: f(8, beta)),
        Example("scipy.signal.get_window", (2.3,), use=lambda f, s: f(("gaussian", s), 7)),
    ]
    return found


def _linalg() -> list[Example]:
    table: dict[str, tuple[Any, ...]] = {
        "ldl": (SYMMETRIC,), "schur": (SYMMETRIC,), "hessenberg": (SYMMETRIC,), "expm_frechet": (SQUARE / 4, SYMMETRIC / 4),
        "signm": (SQUARE,), "eig": (SQUARE,), "eigvals": (SQUARE,), "svd": (SQUARE,), "null_space": (ROWS[:2],),
        "solve_banded": ((1, 1), _BANDED, _VECTOR), "cholesky_banded": (_BANDED[:2],),
            "orthogonal_procrustes": (ROWS[:5], OTHER_ROWS),
        "tanhm": (SQUARE / 6,), "rq": (SQUARE,), "lu_factor": (SQUARE,), "matrix_balance": (SQUARE,),
        "eigh_tridiagonal": (X, Y[:3]), "eigvalsh_tridiagonal": (X, Y[:3]), "eigvals_banded": (_BANDED[:2],),
        "diagsvd": (X, 4, 5), "polar left": (SQUARE,), "norm l1": (SQUARE,), "norm nuc": (SQUARE,),
    }  # fmt: skip
    keywords: dict[str, dict[str, Any]] = {"polar left": {"side": "left"}, "norm l1": {"ord": 1}, "norm nuc": {"ord": "nuc"}}
    found = [Example(f"scipy.linalg.{name}", arguments, keywords.get(name, {})) for name, arguments in table.items()]
    return [
        *found,
        Example("scipy.linalg.lu_solve", (SQUARE, _VECTOR), use=_factored),
        Example("scipy.linalg.solve_continuous_are", (SQUARE / 3, np.eye(3), SYMMETRIC, np.eye(3) * 1.3)),
        Example("scipy.linalg.solve_discrete_are", (SQUARE / 5, np.eye(3), SYMMETRIC, np.eye(3) * 1.3)),
        Example("scipy.linalg.solve symmetric", (SYMMETRIC, _VECTOR), {"assume_a": "pos"}),
        Example("scipy.linalg.solve transposed", (SQUARE, _VECTOR), {"transposed": True}),
        Example("scipy.linalg.solve_triangular lower", (SQUARE, ROWS.T.copy()), {"lower": True, "trans": 1}),
        Example("scipy.linalg.cholesky lower", (SYMMETRIC,), {"lower": True}),
        Example("scipy.linalg.qr economic", (ROWS,), {"mode": "economic"}),
        Example("scipy.linalg.eigh values", (SYMMETRIC,), {"eigvals_only": True, "subset_by_index": [0, 1]}),
        Example("scipy.linalg.eigh generalized", (SYMMETRIC, SYMMETRIC.T @ SYMMETRIC), {"eigvals_only": True}),
        Example("scipy.linalg.lu permuted", (SQUARE,), {"permute_l": True}),
        Example("scipy.linalg.qr_multiply", (SQUARE, SYMMETRIC)),
        Example("scipy.linalg.toeplitz one", (X,)),
        Example("scipy.linalg.funm", (SYMMETRIC,), use=lambda f, a: f(a, lambda z: np.sin(z))),
    ]


def _factored(f: Any, a: Any, b: Any) -> Any:
    from scipy.linalg import lu_factor

    return f(lu_factor(a), b)


def _special() -> list[Example]:
    one = "airy ber bei fresnel it2i0k0 itairy itj0y0 kelvin kolmogorov kolmogi lambertw ndtri_exp shichi sici wofz wrightomega"
    found = [Example(f"scipy.special.{name}", (UNIT if name == "kolmogi" else X,)) for name in one.split()]
    table: dict[str, tuple[Any, ...]] = {
        "ellipj": (X, UNIT), "ellipkinc": (X, UNIT), "ellipeinc": (X, UNIT), "elliprc": (X, Y), "elliprf": (X, Y, UNIT),
        "elliprd": (X, Y, UNIT), "elliprg": (X, Y, UNIT), "elliprj": (X, Y, UNIT, X + 0.4), "expn": (2, X),
            "bdtr": (2.0, 7, UNIT),
        "fdtr": (3.0, 5.0, X), "fdtri": (3.0, 5.0, UNIT), "gdtr": (1.3, 2.1, X), "gdtrc": (1.3, 2.1, X),
            "chdtri": (3.0, UNIT),
        "stdtrit": (4.0, UNIT), "gammaincinv": (X, UNIT), "gammainccinv": (X, UNIT), "betaincc": (X, Y, UNIT),
        "betaincinv": (X, Y, UNIT), "hyp1f1": (0.7, 1.9, X), "hyp2f1": (0.7, 1.2, 1.9, UNIT), "hyperu": (0.7, 1.9, X),
        "eval_jacobi": (3, 0.4, 0.7, UNIT), "eval_laguerre": (3, UNIT), "eval_genlaguerre": (3, 0.4, UNIT),
        "eval_gegenbauer": (3, 0.4, UNIT), "eval_chebyu": (3, UNIT), "eval_hermitenorm": (3, UNIT),
            "eval_sh_legendre": (3, UNIT),
        "spherical_yn": (2, X), "spherical_in": (2, X), "spherical_kn": (2, X), "jvp": (1, X), "ivp": (1, X), "kvp": (1, X),
        "diric": (X, 5), "voigt_profile": (X, 0.7, 0.4), "struve": (1, X), "lpmv": (1, 2, UNIT), "cotdg": (X * 20,),
        "factorial2": (X,), "nbdtr": (2, 4, UNIT), "tklmbda": (UNIT, 0.4), "powm1": (X, Y),
            "log_wright_bessel": (1.2, 0.7, X),
        "obl_cv": (1, 2, 0.7), "mathieu_a": (2, 0.7), "logsumexp none": (np.outer(X, Y),), "xlogy axis": (X, Y[:, None]),
    }  # fmt: skip
    return [*found, *[Example(f"scipy.special.{name}", arguments) for name, arguments in table.items()]]


def _interpolate() -> list[Example]:
    at = np.array([0.5, 1.1])
    grid = np.arange(6.0)
    return [
        Example("scipy.interpolate.make_interp_spline", (SERIES[:6], at), use=lambda f, y, z: f(grid, y)(z)),
        Example("scipy.interpolate.BSpline", (X, at), use=lambda f, c, z: f(np.arange(8.0) - 3, c, 3)(z / 3)),
        Example("scipy.interpolate.PPoly", (ROWS[:4], at), use=lambda f, c, z: f(c, np.arange(4.0))(z)),
        Example("scipy.interpolate.UnivariateSpline", (SERIES[:6], at), use=lambda f, y, z: f(grid, y)(z)),
        Example("scipy.interpolate.splrep", (SERIES[:6],), use=lambda f, y: f(grid, y)[1]),
        Example("scipy.interpolate.CubicHermiteSpline", (X, Y, UNIT, at), use=lambda f, x, y, d, z: f(x, y, d)(z)),
        Example("scipy.interpolate.CubicSpline natural", (X, Y, at), use=lambda f, x, y, z: f(x, y, bc_type="natural")(z, 1)),
        Example("scipy.interpolate.pade", (np.array([1.0, 1.0, 0.5, 0.16]),), use=lambda f, a: [p(0.4) for p in f(a, 1)]),
        Example("scipy.interpolate.RegularGridInterpolator", (ROWS[:4], at), use=lambda f, v, z: f((X, np.arange(3.0)), v)(z)),
        Example("scipy.interpolate.interpn", (ROWS[:4], at), use=lambda f, v, z: f((X, np.arange(3.0)), v, z)),
        Example("scipy.interpolate.LinearNDInterpolator", (X, at), use=lambda f, v, z: f(ROWS[:4, :2], v)(z * 0)),
        Example("scipy.interpolate.approximate_taylor_polynomial", (0.4,), use=lambda f, x: f(np.sin, x, 3, 0.5)(0.1)),
        Example("scipy.interpolate.barycentric_interpolate", (X, Y, at)),
        Example("scipy.interpolate.krogh_interpolate", (X, Y, at)),
        Example("scipy.interpolate.pchip_interpolate", (X, Y, at)),
        Example("scipy.interpolate.interp1d cubic", (X, Y, at), use=lambda f, x, y, z: f(x, y, kind="cubic")(z)),
        Example("scipy.interpolate.AAA", (SERIES[:6], at), use=lambda f, y, z: f(grid, y)(z)),
    ]


def _others() -> list[Example]:
    image = np.outer(X, Y)
    t = np.linspace(0, 2, 9)
    rotation = "scipy.spatial.transform.Rotation"
    angles = np.array([0.4, -0.3, 0.9])
    return [
        Example("scipy.ndimage.correlate", (image, np.ones((2, 2)) * 0.3)),
        Example("scipy.ndimage.convolve1d", (image, _B)),
        Example("scipy.ndimage.gaussian_filter1d", (_WAVE, 1.1)),
        Example("scipy.ndimage.laplace", (image,)),
        Example("scipy.ndimage.gaussian_laplace", (image, 0.9)),
        Example("scipy.ndimage.gaussian_gradient_magnitude", (image, 0.9)),
        Example("scipy.ndimage.prewitt", (image,)),
        Example("scipy.ndimage.median_filter", (image, 3)),
        Example("scipy.ndimage.maximum_filter", (image, 3)),
        Example("scipy.ndimage.variance", (image,)),
        Example("scipy.ndimage.standard_deviation", (image,)),
        Example("scipy.ndimage.sum_labels", (image,)),
        Example("scipy.ndimage.shift", (image, 0.3)),
        Example("scipy.ndimage.zoom", (image, 2)),
        Example("scipy.ndimage.map_coordinates", (image, np.array([[0.4, 1.6], [0.7, 2.2]]))),
        Example("scipy.ndimage.spline_filter", (image,)),
        Example("scipy.ndimage.fourier_gaussian", (image, 0.7)),
        Example("scipy.ndimage.uniform_filter1d", (_WAVE, 3), {"mode": "wrap"}),
        Example("scipy.fft.ifft", (_WAVE,)),
        Example("scipy.fft.fft2", (image,)),
        Example("scipy.fft.fftn", (image,)),
        Example("scipy.fft.hfft", (_WAVE,)),
        Example("scipy.fft.dctn", (image,)),
        Example("scipy.fft.idst", (_WAVE,)),
        Example("scipy.fft.dct ortho", (_WAVE,), {"type": 3, "norm": "ortho"}),
        Example("scipy.fft.fft padded", (_WAVE,), {"n": 20, "norm": "forward"}),
        Example("scipy.fft.fht", (_WAVE,), use=lambda f, a: f(a, 0.2, 0.5)),
        Example("scipy.integrate.simpson axis", (ROWS,), {"axis": 0}),
        Example("scipy.integrate.quad_vec", (0.7,), use=lambda f, a: f(lambda x: np.exp(-a * x) * X, 0.0, 1.0)[0]),
        Example("scipy.integrate.dblquad", (0.7,), use=lambda f, a: f(lambda y, x: np.exp(-a * x * y), 0, 1, 0, 1)[0]),
        Example("scipy.integrate.odeint", (0.7, 1.3), use=lambda f, a, y: f(lambda y, t: -a * y, y, t)),
        Example(
            "scipy.integrate.solve_ivp",
            (0.7, X),
            use=lambda f, a, y: f(lambda t, y: -a * y * y, (0, 1), y, rtol=1e-8, atol=1e-10).y,
        ),
        Example("scipy.integrate.cumulative_trapezoid axis", (ROWS,), {"axis": 0, "initial": 0}),
        Example("scipy.integrate.trapezoid axis", (ROWS,), {"axis": 0, "dx": 0.3}),
        Example("scipy.optimize.newton", (0.7,), use=lambda f, a: f(lambda x: np.cos(x) - a * x, 0.5)),
        Example("scipy.optimize.brentq", (0.7,), use=lambda f, a: f(lambda x: np.cos(x) - a * x, 0.0, 2.0)),
        Example("scipy.optimize.toms748", (0.7,), use=lambda f, a: f(lambda x: np.cos(x) - a * x, 0.0, 2.0)),
        Example("scipy.optimize.fsolve", (0.7,), use=lambda f, a: f(lambda x: np.cos(x) - a * x, 0.5)),
        Example("scipy.optimize.nnls", (np.abs(ROWS), np.arange(1.0, 7.0)), use=lambda f, a, b: f(a, b)[0]),
        Example("scipy.optimize.check_grad", (X,), use=lambda f, x: f(lambda z: z @ z, lambda z: 2.1 * z, x)),
        Example("scipy.optimize.golden", (0.7,), use=lambda f, a: f(lambda x: (x - a) ** 2, brack=(0.0, 2.0))),
        Example(f"{rotation} from_euler", (angles,), use=lambda f, a: f.from_euler("xyz", a).as_matrix()),
        Example(f"{rotation} as_quat", (angles,), use=lambda f, a: f.from_rotvec(a).as_quat()),
        Example(f"{rotation} apply", (angles, ROWS), use=lambda f, a, v: f.from_rotvec(a).apply(v)),
        Example("scipy.spatial.distance.cdist seuclidean", (ROWS, OTHER_ROWS, "seuclidean"), {"V": POSITIVE[:3]}),
        Example("scipy.spatial.distance.cdist mahalanobis", (ROWS, OTHER_ROWS, "mahalanobis"), {"VI": SYMMETRIC}),
        Example("scipy.spatial.distance.pdist minkowski p", (ROWS, "minkowski"), {"p": 3.0}),
        Example("scipy.spatial.distance.cosine weighted", (X, Y, UNIT)),
        Example("scipy.spatial.distance.euclidean weighted", (X, Y, UNIT)),
        Example(
            "scipy.spatial.distance.cdist function",
            (ROWS, OTHER_ROWS),
            use=lambda f, a, b: f(a, b, lambda u, v: np.sum((u - v) ** 4)),
        ),
        Example("scipy.spatial.distance.directed_hausdorff", (ROWS, OTHER_ROWS)),
        Example("scipy.spatial.ConvexHull volume", (ROWS,), use=lambda f, p: f(p).volume),
        Example("scipy.spatial.cKDTree query", (ROWS, OTHER_ROWS), use=lambda f, p, q: f(p).query(q)[0]),
        Example("scipy.cluster.vq.kmeans2 fixed", (ROWS, ROWS[:2] * 0.9), use=lambda f, x, k: f(x, k, minit="matrix")[0]),
        Example("scipy.cluster.vq.vq", (ROWS, OTHER_ROWS)),
        Example("scipy.cluster.hierarchy.linkage", (ROWS,), use=lambda f, x: f(x, "average")),
        Example("scipy.constants.convert_temperature", (X, "Celsius", "Kelvin")),
        Example("scipy.constants.lambda2nu", (X,)),
        Example("scipy.differentiate.derivative", (0.7,), use=lambda f, x: f(np.sin, x).df),
    ]
