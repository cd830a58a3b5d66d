"""Programs of one line, by theme: each is a function of the variables in it, and is differentiated by all of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

_random = np.random.default_rng(20)


def _complex(*shape: int) -> Any:
    return _random.normal(size=shape) + 1j * _random.normal(size=shape)


#: The variables. a to d are numbers, x to v vectors, capitals matrices and more; z, w, Z, W are complex.
VARIABLES: dict[str, Any] = {
    "a": 0.37, "b": 1.62, "c": 0.81, "d": -0.53, "z": 0.6 - 0.8j, "w": -0.4 + 1.1j,
    "x": np.array([0.31, -1.24, 2.12, 0.73, -0.42]), "y": np.array([0.92, 0.45, 1.71, -0.83, -1.12]),
    "p": np.array([0.22, 0.51, 0.93, 0.37, 0.74]), "q": np.array([1.13, 2.41, 1.87, 3.02, 1.45]),
    "u": np.array([0.34, 1.21, -0.66]), "v": np.array([-0.82, 0.57, 1.43]),
    "M": _random.normal(size=(3, 4)), "N": _random.normal(size=(4, 3)), "P": _random.uniform(0.3, 1.9, (3, 4)),
    "S": _random.normal(size=(3, 3)) + 2.5 * np.eye(3), "R": _random.normal(size=(3, 3)), "T": _random.normal(size=(2, 3, 4)),
    "B": _random.normal(size=(2, 3, 3)) + 2.5 * np.eye(3), "X": _random.uniform(0.2, 0.8, (4, 3)),
    "Z": _complex(3), "W": _complex(3, 3) + 2 * np.eye(3), "V": _complex(4),
}  # fmt: skip
#: What the programs capture.
CAPTURED: dict[str, Any] = {
    "np": np, "scipy": scipy, "special": scipy.special, "stats": scipy.stats, "itertools": itertools,
    "index": np.array([2, 0, 2]), "mask": np.array([True, False, True, True, False]), "counts": np.array([0, 2, 1, 4, 3]),
    "grid": np.linspace(-2.0, 3.0, 7), "constant": _random.normal(size=(3, 3)), "symmetric": lambda A: (A + A.T) / 2,
    "__name__": __name__,
}  # fmt: skip

#: Each theme: the programs, with ; between them.
THEMES: dict[str, str] = {}


def _theme(name: str, *texts: str) -> None:
    THEMES[name] = ";".join(texts)


def _each(form: str, *lists: str) -> str:
    """The form with each combination of words from the lists."""
    return ";".join(form.format(*words) for words in itertools.product(*map(str.split, lists)))


# Element by element --------------------------------------------------------------------------------------------------

_EVERYWHERE = "sin cos tan sinh cosh tanh exp expm1 exp2 arctan arcsinh square sinc"
_POSITIVE = "log log10 log1p log2 sqrt reciprocal cbrt"
_INSIDE = "arcsin arccos arctanh"
_REAL = "fabs deg2rad radians rad2deg degrees sign floor ceil"

_theme(
    "functions of numbers",
    _each("np.{}({})", _EVERYWHERE, "a"), _each("np.{}({})", _POSITIVE + " " + _INSIDE, "a"), "np.arccosh(b)",
    _each("np.{}({})", _REAL + " abs absolute negative positive", "d"),
)  # fmt: skip
_theme(
    "functions of arrays",
    _each("np.{}({})", _EVERYWHERE, "x M"), _each("np.{}({})", _POSITIVE, "p P"), _each("np.{}({})", _INSIDE, "p"),
    "np.arccosh(q)", _each("np.{}({})", _REAL + " abs negative", "y"),
)  # fmt: skip
_theme(
    "functions of complex numbers",
    _each("np.{}(z)", "sin cos tan sinh cosh tanh exp expm1 exp2 log log1p log2 log10 sqrt reciprocal abs negative square"),
    _each("np.{}(Z)", "sin cosh exp log sqrt abs real imag conj conjugate angle square arcsin arctan arcsinh real_if_close"),
    "z * np.conj(z)", "np.abs(Z) ** 2", "z.real * z.imag", "Z.conj() @ Z", "np.real(Z * 2j)", "np.exp(1j * x)",
    "(Z + 1j) ** 2",
    "np.angle(x + 3)", "np.real(x)", "np.imag(x)", "np.conj(x)", "np.abs(np.exp(1j * a) + b)",
)  # fmt: skip
_theme(
    "operators",
    _each("{} {} {}", "a x M", "+ - * / // %", "b"), _each("{} {} {}", "d", "+ - *", "x M"), _each("b {} {}", "/ % **", "p P"),
    _each("{} ** {}", "a p P", "2 0.5 -1 b"), "x ** 3", "(-q) % p", "-x", "+x", "abs(x)", "p ** q", "2 ** x", "x @ y", "M @ N",
    "M @ N @ S", "divmod(q, p)[1]", "z * w", "z / w", "z - w", "z ** 2", "Z * w", "W @ Z", "z * b", "x * z",
)  # fmt: skip
_theme(
    "functions of two",
    _each(
        "np.{}({})",
        "add subtract multiply true_divide arctan2 hypot logaddexp logaddexp2 maximum minimum fmax fmin power copysign",
        "p,q a,b P,p[:4] P,a a,q q[:,None],p",
    ),
    _each("np.{}({})", "remainder mod fmod", "q,p b,a P,p[:4] P,-a b,p"),
    "np.divide(M, S[:, :1])", "np.outer(x, y)", "np.add.outer(x, y)", "np.heaviside(x, 0.5)", "np.float_power(p, q)",
)  # fmt: skip
_theme(
    "comparisons",
    _each("np.where(x {} y, x, 2 * y)", "< <= > >= == !="), "(x > 0) * x", "np.where(mask, x, y)", "np.where(x > 0, 1.0, x)",
    "np.where(mask, x, a)", "np.where(M > 0, M, M ** 2)", "np.select([x > 1, x > 0], [x, y], 0.0)", "x if a > 0 else -x",
    "a if x[0] < y[0] else b", "np.clip(x, -0.5, 0.9)", "np.clip(x, a, b)", "np.maximum(np.maximum(x, y), 0)",
    "np.nan_to_num(np.where(mask, x, np.nan))", "np.piecewise(x, [x < 0, x >= 0], [lambda t: t ** 2, lambda t: 3 * t])",
    "np.round(x, 1) + x", "x[np.argmax(x)]", "x[np.argsort(y)]", "np.sign(x) * x", "np.isfinite(x) * x", "np.any(x > 0) * a",
)  # fmt: skip

# Arrays --------------------------------------------------------------------------------------------------------------

_theme(
    "reductions",
    _each(
        "np.{}({})", "sum mean prod max min var std",
        "x M M,axis=0 M,axis=1 M,axis=-1,keepdims=True T,axis=(0,2) T,axis=1 M,axis=None,keepdims=True",
    ),
    _each("np.{}({})", "sum mean prod var std", "Z W,axis=0"),
    _each("np.{}({},ddof=1)", "var std", "x M,axis=0 T,axis=(0,1),keepdims=True"),
    _each("{}.{}()", "x M", "sum mean prod max min var std"), "sum(x)", "sum(M)", "max(x)", "min(x)", "np.sum([a, b, c])",
    "np.mean([a, b])", "np.max(np.stack([x, y]))", "np.sum(x[:0])", "np.ptp(M, axis=1)", "np.median(x)",
    "np.average(M, axis=1)",
    "np.average(x, weights=p)", "np.linalg.norm(x)", "np.cumsum(x)", "np.cumsum(M)", "np.cumsum(M, axis=0)",
    "M.cumsum(axis=1)",
    "np.cumprod(p)", "np.trace(S)", "np.trace(M, offset=1)", "np.trace(T, 0, 1, 2)", "np.nansum(np.where(mask, x, np.nan))",
)  # fmt: skip
_theme(
    "ties",
    "np.max(np.stack([x, x]) * b, axis=0) / 2",
    "np.maximum(a, a)",
    "np.sum(np.sort(np.concatenate([u, u])))",
    "np.where(x >= x, x, y)",
)
_theme(
    "indexing",
    _each("{}",
    "x[1] x[-1] x[1:3] x[::2] x[::-1] x[index] x[mask] x[[0,0,3]] M[1] M[1,2] M[:,1] M[...,0] M[None,1:] M[index]"),
    _each("{}",
    "M[:,[0,2]] M[index,index] T[0,:,1] T[1][2][3] T[:,index] T[...,::2] T[None,...,None,0] M[M>0] x[x>0] x[-4:-1]"),
    "x[1:3] + x[2:4] + x[:2]", "M[index[:, None], [0, 3]]", "np.take(x, index)", "np.take(M, [0, 2], axis=1)",
    "np.take_along_axis(M, np.argsort(M, axis=1), axis=1)", "np.compress([True, False, True], M, axis=0)", "Z[1] * Z[index]",
    "np.extract(x > 0, x)", "x[np.nonzero(mask)]", "[row[0] * row[1] for row in M]", "list(x)[2]", "x.take([1, 2])",
    "M.diagonal()", "np.diagonal(T, axis1=1, axis2=2)", "np.diag(u)", "np.diag(S)", "np.diag(M, 1)", "np.diagflat(u)",
)  # fmt: skip
_theme(
    "shapes",
    _each("np.{}({})", "ravel transpose squeeze flipud", "M T"), "np.fliplr(M)", "np.rot90(M)", "np.rot90(M, 3)",
    "M.reshape(4, 3) @ S.reshape(3, 3)", "M.reshape((2, -1))", "np.reshape(M, (6, 2), order='F')", "M.ravel()", "M.flatten()",
    "M.T @ S", "np.transpose(T, (2, 0, 1))", "T.transpose(1, 2, 0)", "np.swapaxes(T, 0, 1)", "np.moveaxis(T, 0, -1)",
    "np.rollaxis(T, 2)", "np.expand_dims(x, 1) * y", "x[:, None] * x[None, :]", "np.squeeze(x[None, :, None])",
    "np.broadcast_to(u, (2, 3))", "np.atleast_1d(a)", "np.atleast_2d(x)", "np.atleast_3d(M)", "np.roll(x, 2)", "np.roll(M, 1)",
    "np.roll(M, -1, axis=1)", "np.repeat(x, 3)", "np.repeat(M, 2, axis=0)", "np.repeat(M, [1, 0, 2], axis=0)", "np.tile(x, 2)",
    "np.tile(M, (2, 1))", "np.tile(u, (2, 2))", "np.pad(x, (1, 2))", "np.pad(M, ((1, 0), (0, 2)))",
    "np.pad(x, 1, mode='edge')",
    "np.triu(S)", "np.tril(S, -1)", "np.triu(M, 1)", "np.flip(M, axis=1)", "np.full((2, 2), a)", "np.ones((2, 3)) * a",
    "np.zeros_like(x) + y", "np.ones_like(M) * M", "np.linspace(a, b, 5)", "np.meshgrid(u, v)[0] * np.meshgrid(u, v)[1]",
    "M.shape[0] * M", "len(x) * x", "x.size + x", "x.astype(float)", "np.copy(M)", "x.copy() * 2", "np.array(x)", "x.T @ y",
)  # fmt: skip
_theme(
    "joining",
    "np.concatenate([x, y])", "np.concatenate([M, M ** 2], axis=1)", "np.concatenate((M, N.T), 0)", "np.stack([x, y])",
    "np.stack([x, y], axis=1)", "np.vstack([u, v])", "np.hstack([x, p])", "np.hstack([M, S])", "np.dstack([u, v])",
    "np.column_stack([u, v])", "np.append(x, y)", "np.append(x, a)", "np.append(M, M, axis=0)", "np.array([x[0], a, 1.0])",
    "np.array([a, b])", "np.array([[a, b], [c, d]])", "np.array([u, v])", "np.array([u, 2 * u])", "np.array(a)", "np.r_[x, y]",
    "np.c_[u, v]", "np.r_[x, 1.0, a]", "np.split(x, [1, 3])[1]", "np.array_split(x, 2)[0]", "np.vsplit(N, 2)[1]",
    "np.hsplit(M, 2)[0]", "np.block([[S, S], [S, S]])", "np.concatenate([np.zeros(2), x])", "np.stack([np.ones(3), u])",
    "np.concatenate([[a], x])", "np.insert(x, 1, a)", "np.delete(x, 2)", "np.array([[u[0], 0.0], [1.0, u[1]]])",
    "np.asarray([a, x[1]])", "np.array(list(x))",
)  # fmt: skip
_theme(
    "sorting", "np.sort(x)", "np.sort(M, axis=0)", "np.sort(M, axis=None)", "np.partition(x, 2)[:3].sum()", "np.sort(x)[::-1]",
    "x[np.argsort(x)[:2]]", "np.msort(x) if hasattr(np, 'msort') else np.sort(x)", "np.percentile(x, 40)",
    "np.quantile(x, 0.3)",
    "np.unique(x)", "sorted(x)[0]", "np.diff(x)", "np.diff(M, axis=0)", "np.diff(x, n=2)", "np.gradient(x)",
    "np.gradient(x, 0.3)",
    "np.gradient(M)[1]", "np.gradient(M, axis=0)", "np.trapezoid(x, dx=0.4)", "np.interp(a, grid, grid ** 2)",
    "np.interp(p, [0.0, 1.0], u[:2])", "np.convolve(x, u)", "np.convolve(x, u, 'same')", "np.convolve(x, u, 'valid')",
    "np.correlate(x, u)", "np.polyval(u, x)", "np.vander(u)", "np.cross(u, v)", "np.cov(M)", "np.corrcoef(M)",
    "np.unwrap(q * 3)",
    "np.searchsorted(grid, x) * x", "np.histogram(grid)[0] * x[0]", "np.ediff1d(x)",
)  # fmt: skip
_theme(
    "products",
    "np.dot(x, y)", "np.dot(M, N)", "np.dot(M, p[:4])", "np.dot(u, M)", "np.dot(a, M)", "np.dot(T, N)",
    "np.dot(u, np.ones((3, 2)))",
    "x.dot(y)", "M.dot(N)", "np.matmul(T, N)", "np.matmul(B, S)", "np.matmul(u, B)", "np.inner(x, y)", "np.inner(M, M)",
    "np.outer(u, v)", "np.vdot(Z, Z)", "np.kron(S, u)", "np.kron(M, S)", "np.tensordot(T, M, 2)", "np.tensordot(T, N, 1)",
    "np.tensordot(T, T, axes=([0, 2], [0, 2]))", "np.tensordot(M, N, (1, 0))", "np.tensordot(u, v, 0)",
    "np.einsum('ij->i', M)",
    "np.einsum('ij,jk', M, N)", "np.einsum('ij,jk->ki', M, N)", "np.einsum('ii', S)", "np.einsum('ii->i', S)",
    "np.einsum('i,i', x, y)", "np.einsum('i,j->ij', u, v)", "np.einsum('...ij,...jk', B, B)",
    "np.einsum('ijk,jil->kl', T, np.swapaxes(T, 0, 1))",
    "np.einsum('ij,kj,kl->il', S, S, S)", "np.einsum(S, [0, 1], u, [1], [0])", "np.einsum('ijk->', T)",
    "np.einsum('ij,ij->', M, P)",
    "np.einsum('i...->...', M)", "np.einsum('ij,ij,ij->i', M, P, M)", "np.linalg.multi_dot([M, N, S])", "W @ W.conj().T",
)  # fmt: skip

# Linear algebra and transforms -----------------------------------------------------------------------------------------

_SPD = "(S @ S.T + np.eye(3))"
_theme(
    "linear algebra",
    _each("np.linalg.{}({})", "inv det", "S B W"), "np.linalg.slogdet(S)[1]", "np.linalg.slogdet(B)[1]", "np.linalg.pinv(M)",
    "np.linalg.solve(S, u)", "np.linalg.solve(S, R)", "np.linalg.solve(B, R)", "np.linalg.solve(B, B)",
    "np.linalg.solve(W, Z)",
    _each("np.linalg.norm(M, {})", "'fro' 'nuc' 1 2 np.inf"), _each("np.linalg.norm(x, {})", "1 2 3 np.inf -np.inf 2.5"),
    _each("np.linalg.norm({})", "M T,axis=1 T,axis=(0,2) M,axis=0,keepdims=True Z W W,axis=1 W,'nuc' T,'nuc',axis=(1,2)"),
    f"np.linalg.cholesky{_SPD}", "np.linalg.cholesky(B @ np.swapaxes(B, 1, 2) + np.eye(3))", f"np.linalg.eigvalsh{_SPD}",
    f"np.linalg.eigh{_SPD}[0]", f"np.linalg.eigh{_SPD}[1] ** 2", f"np.linalg.eigh({_SPD}, UPLO='U')[0]",
    "np.linalg.eigh(B + np.swapaxes(B, 1, 2))[0]", "np.linalg.eigh(W + W.conj().T)[0]", "np.linalg.eigvals(S @ S.T)",
    "np.abs(np.linalg.eig(S)[0])", "np.linalg.svd(M)[1]", "np.linalg.svd(M, compute_uv=False)",
    "np.linalg.svd(N, full_matrices=False)[0] ** 2",
    "np.abs(np.linalg.svd(M, full_matrices=False)[2])", "np.linalg.svd(B)[1]", "np.linalg.svd(W)[1]",
    "np.abs(np.linalg.qr(N)[1])",
    "np.linalg.matrix_power(S, 3)", "np.linalg.lstsq(N, p[:4], rcond=None)[0]", "np.linalg.cond(S)",
    "np.linalg.tensorinv(S, 1)",
    "u @ np.linalg.inv(S) @ v", "np.log(np.linalg.det(S @ S.T))", "np.trace(np.linalg.inv(S))", "np.linalg.matrix_rank(S) * a",
    f"np.sum(np.linalg.cholesky{_SPD} @ u)", "np.linalg.det(S) * np.linalg.inv(S).T", "np.linalg.cholesky(W @ W.conj().T)",
)  # fmt: skip
_theme(
    "Fourier transforms",
    _each("np.fft.{}({})", "fft ifft rfft irfft hfft", "x M M,axis=0 x,n=3 x,n=8 x,norm='ortho'"),
    _each("np.fft.{}({})", "fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn", "M T"), _each("np.fft.{}(Z)",
    "fft ifft irfft hfft"),
    _each("np.fft.{}({})", "fftshift ifftshift", "x M M,axes=0 T,axes=(0,1)"), "np.fft.fftn(T, axes=(0, 1))",
    "np.fft.rfftn(T, s=(2, 4), axes=(0, 2))", "np.fft.fft2(M, s=(2, 5))", "np.abs(np.fft.fft(x)) ** 2",
    "np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)).real", "np.fft.irfft(np.fft.rfft(V.real))", "scipy.fft.dct(x)",
    "scipy.fft.fft(x)",
)  # fmt: skip

# SciPy ---------------------------------------------------------------------------------------------------------------

_theme(
    "special functions",
    _each("special.{}({})", "gamma gammaln psi digamma erf erfc expit j0 j1 y0 y1 i0 i1 i0e i1e rgamma loggamma", "b q"),
    _each("special.{}({})", "logit erfinv erfcinv ndtri entr", "a p"), _each("special.{}(x)",
    "ndtr log_ndtr expm1 exprel dawsn"),
    "special.polygamma(1, q)", "special.polygamma(0, q)", "special.jn(2, q)", "special.yn(1, q)", "special.iv(1, q)",
    "special.ive(2, q)", "special.jv(1.5, q)", "special.kv(0.5, q)", "special.beta(p, q)", "special.betaln(a, q)",
    "special.betainc(q, b, a)", "special.gammainc(q, p)", "special.gammaincc(b, q)", "special.gammasgn(q) * q",
    "special.multigammaln(b + 3, 2)", "special.logsumexp(x)", "special.logsumexp(M, axis=1)",
    "special.logsumexp(M, axis=0, keepdims=True)", "special.logsumexp(x, b=p)", "special.logsumexp(T, axis=(0, 2))",
    "special.logsumexp(M, axis=1, b=P)", "special.softmax(M, axis=1)", "special.log_softmax(x)", "special.xlogy(p, q)",
    "special.xlog1py(p, q)", "special.rel_entr(p, q)", "special.kl_div(p, q)", "special.boxcox(p, a)",
    "special.binom(5 + a, b)",
    "special.zeta(3.0, q)", "special.hyp2f1(0.3, 0.6, 1.4, a)", "special.hyp1f1(a, b, c)", "special.ellipk(p)",
    "special.expi(q)",
)  # fmt: skip
_theme(
    "distributions",
    _each("stats.norm.{}(x, a, q)", "pdf cdf sf logpdf logcdf logsf"), _each("stats.norm.{}(M, u[:, None], b)",
    "pdf logpdf logcdf"),
    "stats.norm.ppf(p)", _each("stats.t.{}(x, b + 2, d, q)", "pdf cdf logpdf logcdf sf"),
    _each("stats.gamma.{}(q, b)", "pdf cdf logpdf sf"), _each("stats.beta.{}(p, q, b)", "pdf cdf logpdf"),
    _each("stats.chi2.{}(q, 2.5)", "pdf cdf logpdf"), _each("stats.poisson.{}(counts, q)", "pmf cdf logpmf"),
    _each("stats.expon.{}(q, scale=b)", "pdf cdf logpdf"), _each("stats.lognorm.{}(q, b)", "pdf cdf logpdf"),
    _each("stats.uniform.{}(p)", "pdf cdf logpdf"), _each("stats.cauchy.{}(x, d, b)", "pdf cdf logpdf"),
    _each("stats.laplace.{}(x, d, b)", "pdf cdf logpdf"), _each("stats.binom.{}(counts, 5, p)", "pmf logpmf"),
    _each("stats.dirichlet.{}(u ** 2 / np.sum(u ** 2), q[:3])", "pdf logpdf"),
    _each("stats.multivariate_normal.{}(u, v, S @ S.T + np.eye(3))", "pdf logpdf"),
    "stats.multivariate_normal.logpdf(X, v, S @ S.T + np.eye(3))", "stats.multivariate_normal.logpdf(u, v, np.eye(3))",
    "stats.multivariate_normal.entropy(u, S @ S.T + np.eye(3))", "stats.multivariate_normal.logpdf(u, v, b * np.eye(3))",
    "stats.multivariate_t.logpdf(u, v, S @ S.T + np.eye(3), 4.0)", "stats.norm.logpdf(a, b, c)", "stats.logistic.cdf(x)",
)  # fmt: skip
_theme(
    "SciPy's linear algebra",
    "scipy.linalg.solve(S, u)", "scipy.linalg.inv(S)", "scipy.linalg.det(S)", "scipy.linalg.sqrtm(S @ S.T)",
    "scipy.linalg.expm(S)",
    "scipy.linalg.logm(S @ S.T + np.eye(3))", "scipy.linalg.cholesky(S @ S.T, lower=True)",
    "scipy.linalg.solve_triangular(S, u)",
    _each("scipy.linalg.solve_triangular(S, {}, trans={}, lower={})", "u R", "'N' 'T' 1", "True False"),
    "scipy.linalg.solve_banded((1, 1), M[:, :3] + [[0.0], [4.0], [0.0]], u)", "scipy.linalg.solve_sylvester(S, S.T, R)",
    "scipy.linalg.block_diag(S, M)", "scipy.linalg.toeplitz(u)", "scipy.linalg.cho_solve(scipy.linalg.cho_factor(S @ S.T), u)",
    "scipy.linalg.eigh(S @ S.T)[0]", "scipy.linalg.svdvals(M)", "scipy.linalg.lu(S)[2]", "scipy.linalg.norm(M)",
    "scipy.linalg.sqrtm(a * np.eye(3))", "scipy.linalg.expm(a * np.eye(2))",
)  # fmt: skip
_theme(
    "SciPy's other packages",
    _each("scipy.signal.convolve({}, mode='{}')", "x,u M,M[:2,:2]", "full same valid"), "scipy.signal.correlate(x, u)",
    "scipy.signal.fftconvolve(x, u)", "scipy.signal.lfilter(u, [1.0, 0.3], x)", "scipy.signal.detrend(x)",
    "scipy.integrate.trapezoid(x, dx=0.3)", "scipy.integrate.simpson(x, dx=0.3)", "scipy.integrate.cumulative_trapezoid(x)",
    "scipy.integrate.quad(lambda t: np.exp(-a * t * t), 0.0, b)[0]", "scipy.interpolate.CubicSpline(np.arange(5.0), x)(q)",
    "scipy.integrate.quad(lambda t: t ** (1e-3 * a) * np.cos(b * t), 0.0, 1.0)[0]",
    "scipy.interpolate.make_interp_spline(np.arange(5.0), x)(q)", "scipy.interpolate.interp1d(np.arange(5.0), x)(q)",
    "scipy.spatial.distance.cdist(X, X[:2] + b)", "scipy.spatial.distance.pdist(X)", "scipy.spatial.distance.cosine(u, v)",
)  # fmt: skip
