"""SciPy code by package, as expressions of the arrays below: on each engine it must give what SciPy
gives.

`linalg`, `signal` and so on are those of `adinterface.scipy`; ufuncs of `special` are SciPy's own,
as NumPy code calls them.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import scipy.special
from adinterface_conformance.use import Array, Kind, Use

from adinterface import scipy as on_any_engine

_random = np.random.default_rng(5)

#: What the expressions are differentiated by.
VARIABLES: dict[str, Array] = {
    "x": np.array([0.3, -1.2, 2.1, 0.7, -0.4, 1.6]),
    "y": np.array([0.9, 0.45, 1.7, -0.8, -1.1, 0.15]),
    "p": np.array([0.2, 0.7, 1.6, 3.3]),
    "q": np.array([0.9, 2.3, 1.4, 5.0]),
    "u": np.array([0.15, 0.4, 0.66, 0.93]),
    "v": np.array([-1.2, 0.3, 0.9, 2.4]),
    "m": _random.normal(size=(3, 4)),
    "s": _random.normal(size=(3, 3)) + 3 * np.eye(3),
    "a": _random.normal(size=(3, 3)),
    "i": _random.normal(size=(4, 5)),
    "k": _random.normal(size=(3, 2)),
    "w": np.array([0.31, 1.3, 2.05, 3.9]),
    "c": np.array(0.8),
    "d": np.array(0.3),
}
_SPARSE: Any = on_any_engine.sparse.random(5, 6, density=0.4, format="csr", random_state=1)
#: What the expressions capture.
CAPTURED: dict[str, Any] = {
    "np": np,
    "special": scipy.special,
    "inf": np.inf,
    **{
        name: getattr(on_any_engine, name)
        for name in ("fft", "integrate", "interpolate", "linalg", "ndimage", "signal")
    },
    "sparse": on_any_engine.sparse,
    "distance": on_any_engine.spatial.distance,
    "functions": on_any_engine.special,
    "n": np.array([0, 1, 2, 5]),
    "eye": np.eye(3),
    "knots": np.array([0.0, 0.7, 1.5, 2.2, 3.6, 4.1]),
    "t": np.array([0.0, 0.0, 0.0, 0.0, 0.95, 2.2, 4.0, 4.0, 4.0, 4.0]),
    "grid": (np.array([0.0, 1.1, 2.0, 3.7]), np.array([0.0, 0.4, 1.0, 2.0, 2.5])),
    "A": _SPARSE,
    "B": on_any_engine.sparse.csc_matrix(_SPARSE[:, :5] + 5 * on_any_engine.sparse.eye(5)),
}

#: By package, with what is under `special` an ufunc's name where that is all there is to it.
EXPRESSIONS = {
    "linalg": (
        """
        linalg.solve(s, x[:3]); linalg.solve(s, m, transposed=True, overwrite_a=True);
        linalg.solve(s @ s.T + eye, x[:3], assume_a='pos', lower=True);
        linalg.solve(s, m, assume_a='sym');
        linalg.solve_triangular(s, x[:3], lower=True, trans='T');
        linalg.solve_triangular(s, m, unit_diagonal=True); linalg.inv(s); linalg.det(s);
        linalg.det(np.stack([s, s.T])); linalg.pinv(m); linalg.pinvh(s @ s.T);
        linalg.lstsq(m.T, x[:4])[:2]; linalg.norm(m); linalg.norm(m, 1, axis=1);
        linalg.cholesky(s @ s.T + eye); linalg.cholesky(s @ s.T + eye, lower=True);
        linalg.cho_factor(s @ s.T + eye)[0];
        linalg.cho_solve(linalg.cho_factor(s @ s.T + eye), x[:3]);
        linalg.solve_banded((1, 1), m + np.array([[0], [5], [0]]), x[:4]);
        linalg.solveh_banded(m[:2] + np.array([[5], [0]]), x[:4], lower=True);
        linalg.solve_toeplitz(p[::-1], x[:4]); linalg.solve_circulant(q, x[:4]); linalg.lu(s)[1:];
        linalg.lu(m.T)[1:]; linalg.lu(m, permute_l=True); linalg.lu_factor(a)[0];
        linalg.lu_solve(linalg.lu_factor(a), x[:3]);
        linalg.lu_solve(linalg.lu_factor(a), m, trans=1); linalg.qr(s); linalg.qr(m);
        linalg.qr(m.T, mode='economic'); linalg.qr(m.T, mode='r')[0];
        linalg.qr(a, pivoting=True)[:2]; linalg.svd(s)[1];
        linalg.svd(m, full_matrices=False)[0] ** 2; linalg.svdvals(m); linalg.polar(s);
        linalg.orthogonal_procrustes(s, a); linalg.eigh(s)[0]; linalg.eigh(s)[1] ** 2;
        linalg.eigh(a, s @ s.T + eye, eigvals_only=True, subset_by_index=[1, 2]);
        linalg.eigh(a, s @ s.T + eye)[1] ** 2; linalg.eigvalsh(a, lower=False);
        linalg.eigh_tridiagonal(x[:3], q[:2], eigvals_only=True);
        linalg.eigvalsh_tridiagonal(x[:3], q[:2]); linalg.expm(a);
        linalg.expm(np.stack([a, s / 3])); linalg.logm(s @ s.T + eye);
        linalg.sqrtm(s @ s.T + eye + a / 9); linalg.fractional_matrix_power(s @ s.T + eye, 0.3);
        linalg.cosm(a); linalg.sinm(a); linalg.tanm(a / 4); linalg.coshm(a); linalg.sinhm(a);
        linalg.tanhm(a); linalg.expm_frechet(a, s); linalg.solve_sylvester(s, s @ s.T, a);
        linalg.solve_continuous_lyapunov(s, a); linalg.solve_discrete_lyapunov(a / 5, s);
        linalg.solve_continuous_are(a, m[:, :2], s @ s.T + eye, np.eye(2));
        linalg.solve_discrete_are(a, m[:, :2], s @ s.T + eye, np.eye(2) * q[0]);
        linalg.toeplitz(x, y[:2]); linalg.toeplitz(x); linalg.hankel(x[:3], y[:2]);
        linalg.circulant(x); linalg.leslie(x[:3], y[:2]); linalg.convolution_matrix(x, 4, 'same');
        linalg.block_diag(a, m, [1.0, 2.0]); linalg.companion(x);
        linalg.khatri_rao(m, m[:2])
    """
    ),
    "special": (
        """
        special.jv(q, p); special.yv(0.5, p); special.iv(q, p); special.kv(v, p); special.kn(0, p);
        special.yn(1, p); special.ive(2, v); special.ive(q, p); special.kve(v, p);
        special.jve(1, p); special.yve(1, p); special.j0(p); special.j1(p); special.y0(p);
        special.y1(p); special.k0(p); special.k1(p); special.k0e(p); special.k1e(p);
        special.exp1(p); special.expi(p); special.expn(n, p); special.spence(p); special.dawsn(p);
        special.erfi(p); special.erfcinv(u); special.wrightomega(p); special.exprel(p);
        special.kolmogorov(p); special.kolmogi(u); special.sindg(v); special.cosdg(v);
        special.tandg(v); special.cotdg(p); special.radian(v, v, v); special.struve(1.5, p);
        special.modstruve(0.5, p); special.itj0y0(p); special.iti0k0(p);
        special.airy(v); special.sici(p); special.shichi(p);
        special.fresnel(v); special.ndtri_exp(-p); special.owens_t(v, p);
        special.wofz(v + 0.3j).real; special.voigt_profile(v, p, q); special.ellipk(u);
        special.ellipk(u / 9); special.ellipkm1(p); special.ellipe(u); special.ellipe(u / 9);
        special.ellipkinc(v, u); special.ellipkinc(v * 5, u / 20); special.ellipeinc(v, u);
        special.ellipeinc(v * 5, u / 20); special.ellipj(v, u); special.elliprf(p, q, q[::-1]);
        special.elliprd(p, q, 1 + q[::-1]); special.elliprc(p, q); special.agm(p, q);
        special.hyp0f1(q, v); special.hyp1f1(q, p, v); special.hyp2f1(q / 2, p, q[::-1] + 1, v / 4);
        special.hyperu(1.5, 0.5, p); special.gammainc(q, p); special.gammaincc(p, q);
        special.gammaincinv(q, u); special.gammainccinv(q, u); special.betainc(q, p, u);
        special.betaincc(q, p, u); special.betaincinv(q, p + 0.3, u);
        special.betainccinv(q, p + 0.3, u); special.stdtr(q, v); special.stdtrit(q, u);
        special.chdtr(q, p); special.chdtrc(q, p); special.chdtri(q, u); special.gdtr(p, q, p);
        special.gdtrc(p, q, p); special.gdtrix(p, q, u); special.fdtr(p, q, p);
        special.fdtrc(p, q, p); special.fdtri(q + 1, q[::-1], u); special.pdtr(2, p);
        special.chndtr(p, q, p + 1); special.chndtrix(u, q, p); special.ncfdtr(q, p + 1, p, q);
        special.ncfdtri(q, p + 1, p, u); special.nctdtr(q, v, p); special.nctdtrit(q, v, u);
        special.tklmbda(v / 3, p); special.zetac(q + 1); special.pdtrc(2, p); special.bdtr(2, 5, u);
        special.bdtrc(2, 5, u); special.nbdtr(2, 5, u); special.nbdtrc(2, 5, u);
        special.eval_legendre(n, v / 3); special.eval_chebyt(n, v / 3);
        special.eval_chebyu(n, v / 3); special.eval_hermite(n, v); special.eval_hermitenorm(n, v);
        special.eval_laguerre(n, v); functions.assoc_legendre_p_all(3, 2, v / 3, diff_n=1);
        special.eval_sh_legendre(n, v / 3); special.eval_sh_chebyt(n, v / 3);
        special.eval_jacobi(3, 0.5, 1.5, v); special.eval_sh_chebyu(n, v / 3);
        special.eval_chebyc(n, v); special.eval_chebys(n, v);
        special.eval_sh_jacobi(3, 2.5, 1.5, v); special.eval_gegenbauer(3, 0.5, v);
        special.eval_genlaguerre(3, 0.5, v); special.powm1(p, v); special.gammasgn(v) * v;
        functions.logsumexp(x); functions.logsumexp(m, axis=1, b=q, keepdims=True);
        functions.softmax(m, axis=0); functions.log_softmax(m, axis=1); functions.polygamma(1, p);
        functions.zeta(q + 1, p); functions.zeta(q + 1); functions.multigammaln(q + 1, 3);
        functions.comb(q + 3, p); functions.perm(q + 5, p); functions.factorial(p);
        functions.lambertw(p).real; functions.diric(x, 5); functions.spherical_jn(n, p);
        functions.spherical_jn(2, p, derivative=True);
        functions.spherical_yn(1, p); functions.spherical_in(1, p); functions.spherical_kn(1, p)
    """
    ),
    "spatial": (
        """
        distance.pdist(m); distance.pdist(m, 'cityblock'); distance.pdist(m, 'seuclidean');
        distance.cdist(m, i[:, :4]); distance.cdist(m, i[:, :4], 'sqeuclidean');
        distance.cdist(m, i[:, :4], 'cosine'); distance.cdist(m, i[:, :4], 'correlation');
        distance.cdist(m, i[:, :4], 'chebyshev'); distance.cdist(m, i[:, :4], 'canberra');
        distance.cdist(m, i[:, :4], 'minkowski', p=3.5);
        distance.cdist(m ** 2, i[:, :4] ** 2, 'braycurtis');
        distance.cdist(m ** 2, i[:, :4] ** 2, 'jensenshannon');
        distance.cdist(a, k.T, 'mahalanobis', VI=eye + 0.1); distance.squareform(x);
        distance.squareform(distance.pdist(m)); distance.euclidean(x, y);
        distance.sqeuclidean(x, y); distance.cityblock(x, y); distance.chebyshev(x, y);
        distance.cosine(x, y); distance.correlation(x, y); distance.minkowski(x, y, 3);
        distance.canberra(x, y); distance.braycurtis(x, y + 3); distance.seuclidean(p, v, q);
        distance.mahalanobis(x[:3], y[:3], eye + 0.1);
        distance.jensenshannon(p, q, 2.0)
    """
    ),
    "signal": (
        """
        signal.convolve(x, y[:3]); signal.convolve(x, y[:3], 'same');
        signal.convolve(y[:3], x, 'valid'); signal.fftconvolve(i, k);
        signal.fftconvolve(i, i[:, :2], 'same', axes=1); signal.oaconvolve(i, k, 'valid');
        signal.correlate(x, y[:4]); signal.correlate(i, k, 'same');
        signal.convolve2d(i, k, 'same', 'symm'); signal.convolve2d(i, k, 'full', 'wrap');
        signal.convolve2d(i, k, 'full', 'fill', 1.5); signal.correlate2d(i, a, 'same', 'symm');
        signal.lfilter(x[:3], q, y); signal.lfilter(x[:2], 1.0, i, axis=0);
        signal.lfilter(x[:2], q[:3], i, axis=0, zi=i[:2]);
        signal.lfilter_zi(x[:3], q[:3] + np.array([3.0, 0.0, 0.0]));
        signal.sosfilt([[0.5, 0.2, 0.1, 1.0, -0.3, 0.1], [0.4, 0.1, 0.3, 1.0, 0.2, 0.05]], x);
        signal.filtfilt([0.3, 0.2], [1.0, -0.5], x, padlen=3); signal.detrend(i);
        signal.detrend(i, 0, 'constant');
        signal.savgol_filter(x, 5, 2); signal.savgol_filter(i, 3, 1, deriv=1, axis=0);
        signal.savgol_filter(x, 5, 2, mode='wrap');
        signal.savgol_filter(x, 5, 2, mode='constant', cval=1.0);
        signal.hilbert(x).imag
    """
    ),
    "ndimage": (
        """
        ndimage.correlate(i, k); ndimage.correlate(i, k, mode='constant', cval=0.7, origin=(1, -1));
        ndimage.convolve(i, k, mode='nearest'); ndimage.convolve1d(i, k[0], mode='mirror');
        ndimage.correlate1d(i, k[:, 0], 0); ndimage.gaussian_filter(i, 1.2);
        ndimage.gaussian_filter(i, [1.0, 0.5], order=[0, 2], radius=2, mode='wrap');
        ndimage.gaussian_filter1d(i, c, radius=3); ndimage.gaussian_laplace(i, 0.9);
        ndimage.gaussian_gradient_magnitude(i, 0.9, truncate=3.0); ndimage.uniform_filter(i, 3);
        ndimage.uniform_filter1d(i, 4, origin=-1); ndimage.sobel(i, 0); ndimage.prewitt(i);
        ndimage.laplace(i); ndimage.maximum_filter(i, 3);
        ndimage.minimum_filter(m, footprint=[[0, 1], [1, 1]], mode='nearest');
        ndimage.map_coordinates(i, [p / 1.2, q / 1.6], order=1)
    """
    ),
    "interpolate": (
        """
        interpolate.CubicSpline(knots, x)(w);
        interpolate.CubicSpline(knots, x, bc_type='natural')(w);
        interpolate.CubicSpline(knots, x, bc_type='clamped')(w, 1);
        interpolate.CubicSpline(np.cumsum(np.exp(x)), y)(w);
        interpolate.CubicSpline(knots, x).integrate(0.2, 3.0);
        interpolate.CubicHermiteSpline(knots, x, y)(w); interpolate.PchipInterpolator(knots, x)(w);
        interpolate.Akima1DInterpolator(knots, x)(w); interpolate.make_interp_spline(knots, x)(w);
        interpolate.make_interp_spline(knots, x, k=2)(w + 0.05); interpolate.BSpline(t, x, 3)(w);
        interpolate.BSpline(t, x, 3)(w, 1); interpolate.splev(w, (t, x, 3));
        interpolate.splint(0.1, w[0], (t, x, 3)); interpolate.BSpline(t, x, 3).antiderivative(2)(w);
        interpolate.BSpline(t, x, 3).integrate(0.3, 3.0);
        interpolate.BSpline.basis_element(p)(w / 2); interpolate.PPoly(m, knots[:5])(w / 1.5);
        interpolate.PPoly(m, knots[:5]).antiderivative()(w / 1.5);
        interpolate.PPoly.from_spline(interpolate.BSpline(t, x, 3))(w);
        interpolate.interp1d(knots, x)(w); interpolate.interp1d(knots, x, kind='cubic')(w);
        interpolate.interp1d(knots, x, kind='nearest')(0.9);
        interpolate.interp1d(knots, x, bounds_error=False, fill_value=(1.0, 2.0))(2 * w - 1);
        interpolate.RegularGridInterpolator(grid, i)(np.stack([w / 1.3, p / 1.4], axis=-1));
        interpolate.interpn(grid, i, [[0.3, 0.2], [2.0, 0.8]])
    """
    ),
    "integrate": (
        """
        integrate.trapezoid(x, knots); integrate.trapezoid(i, dx=0.3, axis=0);
        integrate.cumulative_trapezoid(x, knots, initial=0); integrate.simpson(x, x=knots);
        integrate.simpson(i, dx=0.3); integrate.cumulative_simpson(x, x=knots);
        integrate.cumulative_simpson(i, dx=0.3, initial=0.0); integrate.romb(i, 0.3);
        integrate.fixed_quad(lambda x, c: np.sin(c * x), d, 1.7, (c,))[0];
        integrate.quad(lambda x, c: np.sin(c * x * x), d, 1.7, (c,))[0];
        integrate.quad(lambda x: np.exp(-c * x * x), 0, inf)[0];
        integrate.quad(lambda x: x ** (d - 0.3) * (1 - x), 0, 0.7, epsabs=1e-12, epsrel=1e-12)[0];
        integrate.dblquad(lambda y, x: np.sin(c * x * y), 0, 1, 0, d)[0]
    """
    ),
    "fft": (
        """
        fft.fft(x, 8, norm='ortho', workers=1).real; fft.ifft(x).imag;
        fft.irfft(fft.rfft(i, axis=0) ** 2, axis=0); fft.rfft(x).imag; fft.fft2(i).real;
        fft.ifft2(i).imag; fft.fftn(i).imag; fft.rfftn(i).real; fft.hfft(x + 1j * y);
        fft.ihfft(x).imag; fft.fftshift(i); fft.ifftshift(i, 0); fft.dct(x); fft.dct(x, 1);
        fft.dct(i, 3, axis=0, norm='ortho'); fft.dct(x, 4, n=8, norm='forward'); fft.idct(x);
        fft.dst(x); fft.dst(x, 3); fft.idst(x, 2, norm='ortho'); fft.dctn(i);
        fft.idctn(i); fft.dstn(i, 1); fft.idstn(i, 3)
    """
    ),
    "sparse": (
        "A @ x; x[:5] @ A; A.dot(x); A @ x[:, None] * y; sparse.linalg.spsolve(B, x[:5]);"
        " sparse.product(A, x)"
    ),
}


def expressions(text: str) -> list[str]:
    """The expressions of a text, less those with a function that the installed SciPy does not
    have.
    """
    rows = [row.strip() for row in text.split(";") if row.strip()]
    return [row for row in rows if is_there(row)]


#: Before these versions SciPy's own values, differences of which are the reference, were rough to
#: some 1e-8.
ROUGH_BEFORE = {"chndtrix": "1.17.0", "fdtri": "1.17.0", "nctdtrit": "1.16.0"}


#: Functions that are differentiated once by their parameters, by differences.
ONCE = frozenset({
    "jv", "iv", "ive", "kv", "kve", "zeta", "zetac", "hyp0f1", "hyp1f1", "hyp2f1", "chndtr",
    "chndtrix", "ncfdtr", "ncfdtri", "nctdtr", "nctdtrit", "tklmbda",
})  # fmt: skip


def is_there(expression: str) -> bool:
    """Whether SciPy has the ufuncs of `special` that the expression takes, smooth enough:
    `betaincc` is of 1.11.
    """
    nodes = ast.walk(ast.parse(expression))
    taken = [ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)]
    names = [name.partition(".")[2] for name in taken if name.startswith("special.")]
    version = np.lib.NumpyVersion(scipy.__version__)
    if any(version < ROUGH_BEFORE.get(name, "0.0.0") for name in names):
        return False
    return all(hasattr(scipy.special, name) for name in names if "." not in name)


def variables_in(expression: str) -> list[str]:
    bound = {
        arg.arg
        for node in ast.walk(ast.parse(expression))
        if isinstance(node, ast.Lambda)
        for arg in node.args.args
    }
    names = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    return [name for name in VARIABLES if name in names and (name not in bound or name == "c")]


def function_of(expression: str) -> Any:
    """The expression as a function of the variables in it.

    Each has arrays of its own: JAX 0.10 takes one that code compiled for 64 bits has captured for
    64 bits ever after.
    """
    names = variables_in(expression)
    captured = CAPTURED | {
        name: value.copy() for name, value in CAPTURED.items() if type(value) is np.ndarray
    }
    return eval(f"lambda {', '.join(names)}: {expression}", captured)


def name_of(expression: str) -> str:
    """SciPy's name of the function that an expression is there for: the first that is called."""
    first = expression.lstrip("(").partition("(")[0].strip()
    package, _, rest = first.partition(".")
    if package not in CAPTURED or not rest or package == "A":
        return "scipy.sparse: A @ x"
    public = {"distance": "spatial.distance", "functions": "special"}.get(package, package)
    return f"scipy.{public}.{rest.rpartition('.')[2] if package != 'sparse' else rest}"


def _uses() -> list[Use]:
    uses = []
    for text in EXPRESSIONS.values():
        for expression in expressions(text):
            kind: Kind = "once" if name_of(expression).rpartition(".")[2] in ONCE else "smooth"
            arrays = tuple([VARIABLES[name] for name in variables_in(expression)])
            uses.append(
                Use(
                    name_of(expression),
                    function_of(expression),
                    arrays,
                    kind,
                    neutral=False,
                    source=expression,
                )
            )
    return uses


USES = _uses()
