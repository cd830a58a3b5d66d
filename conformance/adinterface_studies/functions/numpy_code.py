"""NumPy code by theme, as expressions of the arrays below: on each engine it must give what NumPy
gives.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.use import Array, Kind, Use
from scipy import special

_random = np.random.default_rng(3)

#: What the expressions are differentiated by.
VARIABLES: dict[str, Array] = {
    "x": np.array([0.3, -1.2, 2.1, 0.7, -0.4, 1.6]),
    "y": np.array([0.9, 0.45, 1.7, -0.8, -1.1, 0.15]),
    "p": np.array([0.2, 0.5, 0.9, 0.37, 0.71, 0.63]),
    "m": _random.normal(size=(3, 4)),
    "s": _random.normal(size=(3, 3)) + 2 * np.eye(3),
    "t": _random.normal(size=(2, 3, 4)),
}
#: Arrays of the engine as well: i of integers, h of single precision.
OTHERS: dict[str, Array] = {
    "i": np.array([1, 4, -2, 7, 3, -5]),
    "h": np.array([0.5, 1.25, 2.0, 0.75, 1.5, 3.0], dtype=np.float32),
}
#: What the expressions capture.
CAPTURED: dict[str, Any] = {
    "np": np,
    "special": special,
    "n": np.array([1, 4, -2, 7, 3, 1]),
    "k": True,
    "f": 1.5,
    "c": np.array(2 - 1j),
    "b": np.array([True, False, True, True, False, False]),
    "captured": _random.normal(size=(6, 6)),
}


#: What NumPy does not take before a version; `np.count_nonzero` gave Python's int.
NOT_BEFORE = {"np.pad(m, {0: 1, -1: (1, 2)})": "2.4", "np.count_nonzero(x > 0)": "2.3"}


def expressions(*texts: str) -> list[str]:
    """The expressions of a text, less those that the installed NumPy or SciPy does not have."""
    return [
        row.strip()
        for text in texts
        for row in text.split(";")
        if row.strip() and is_there(row.strip())
    ]


def is_there(expression: str) -> bool:
    """Whether NumPy and SciPy have what the expression takes from them: `np.unstack` is of 2.1."""
    if np.lib.NumpyVersion(np.__version__) < NOT_BEFORE.get(expression, "2.0") + ".0":
        return False
    for node in ast.walk(ast.parse(expression)):
        name = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        module, _, path = name.partition(".")
        if module in ("np", "special") and path.replace(".", "").isidentifier():
            try:
                operator.attrgetter(path)(CAPTURED[module])
            except AttributeError:
                return False
    return True


def variables_in(expression: str) -> list[str]:
    names = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    return [name for name in (*VARIABLES, *OTHERS) if name in names]


def function_of(expression: str) -> Callable[..., Any]:
    """The expression as a function of the variables in it."""
    names = variables_in(expression)
    code = compile(expression, f"<{expression}>", "eval")
    return lambda *args: eval(code, CAPTURED | dict(zip(names, args)))


def name_of(expression: str) -> str:
    """The function that an expression is there for: one of linalg, fft or special, or else the
    outermost.
    """
    nodes = list(ast.walk(ast.parse(expression, mode="eval").body))  # from the outside
    called = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    for prefix in ("np.linalg.", "np.fft.", "special.", "np."):
        for name in called:
            if name.startswith(prefix):
                return name
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return f"x.{node.func.attr}()"
        if isinstance(node, ast.Call):
            return f"Python's {ast.unparse(node.func)}"
        if isinstance(node, ast.Attribute):
            return f"x.{node.attr}"
        if isinstance(node, ast.Subscript):
            return "x[index]"
        if isinstance(node, ast.ListComp):
            return "for row in x"
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return _OPERATORS[type(node.op)]
        if isinstance(node, ast.Compare):
            return _OPERATORS[type(node.ops[0])]
    raise ValueError(f"No function in {expression!r}.")


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "x + y", ast.Sub: "x - y", ast.Mult: "x * y", ast.Div: "x / y", ast.FloorDiv: "x // y",
    ast.Mod: "x % y", ast.Pow: "x ** y", ast.MatMult: "x @ y", ast.UAdd: "+x", ast.USub: "-x",
    ast.Invert: "~x", ast.BitAnd: "x & y", ast.BitOr: "x | y", ast.BitXor: "x ^ y",
    ast.LShift: "x << y", ast.RShift: "x >> y", ast.Gt: "x > y", ast.GtE: "x >= y", ast.Lt: "x < y",
    ast.LtE: "x <= y", ast.Eq: "x == y", ast.NotEq: "x != y",
}  # fmt: skip

#: With a derivative, which may be zero.
SMOOTH = {
    "signs": (
        """
        np.abs(x); np.absolute(x); np.fabs(x); np.negative(x); np.positive(x); +x; -x; abs(x)
    """
    ),
    "operators": (
        """
        x + y; x - y; x * y; x / p; x // p; x % p; p ** x; x ** 2; x ** 3; p ** 0.5; 2.0 ** x;
        1 / p; 3.0 - x; 2 / p;
        divmod(x, p)[1]; x + 1; 2 * x
    """
    ),
    "operands": (
        """
        x[:, None] * y; x * 2.5 + n; x * k; x * f; x + captured; captured * x; captured @ x;
        x - np.float32(1.5);
        x * [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    ),
    "arithmetic": (
        """
        np.add(x, y); np.subtract(x, 1.5); np.multiply(x, y); np.divide(x, p); np.true_divide(x, 3);
        np.power(p, x);
        np.pow(p, 2); np.float_power(p, 1.5); np.floor_divide(x, p); np.remainder(x, p); np.mod(x, -p); np.fmod(x, p)
    """
    ),
    "inverse_functions": (
        """
        np.arccos(x / 3); np.acos(x / 3); np.arccosh(p + 2); np.arcsin(x / 3); np.arcsinh(x);
        np.arctan(x); np.arctanh(x / 3);
        np.arctan2(x, y); np.atan2(x, 2.0); np.hypot(x, y)
    """
    ),
    "functions": (
        """
        np.cos(x); np.cosh(x); np.sin(x); np.sinh(x); np.tan(p); np.tanh(x); np.exp(x); np.exp2(x);
        np.expm1(x); np.log(p);
        np.log10(p); np.log1p(p); np.log2(p); np.sqrt(p); np.cbrt(x); np.square(x); np.reciprocal(p)
    """
    ),
    "angles": (
        """
        np.deg2rad(x); np.radians(x); np.rad2deg(x); np.degrees(x); np.sinc(x); np.sinc(x - x);
        np.i0(x); np.logaddexp(x, y);
        np.logaddexp2(x, y); np.logaddexp(x, 0); np.copysign(x, y); np.copysign(x, -1.0)
    """
    ),
    "extremes": (
        """
        np.maximum(x, y); np.minimum(x, y); np.maximum(x, 0.5); np.maximum(0, x); np.fmax(x, y);
        np.fmin(x, 0.1); np.clip(x, -1, 1); x.clip(0.0); np.clip(x, y, 2.0); np.clip(x, None, 1.0);
        np.clip(x, min=-0.5, max=0.5);
        np.heaviside(x, y); np.sign(x); np.ldexp(x, 3); np.modf(x)[0]; np.frexp(x)[0] * 2
    """
    ),
    "rounding": (
        """
        np.floor(x); np.ceil(x); np.trunc(x); np.fix(x); np.rint(x); np.round(x, 1); x.round();
        np.nan_to_num(x); np.real(x);
        x.real; np.imag(x); np.conj(x); np.angle(x); np.unwrap(x * 3); np.unwrap(m * 4, axis=0)
    """
    ),
    "choices": (
        """
        np.where(x > 0, x, y); np.where(x > 0, x, 0.0); np.where(b, 1.0, x);
        np.where(x > 0, np.sqrt(p), -p); np.select([x > 1, x > 0], [x, y], 0.5);
        np.choose(b, [x, y]); x.astype(float); np.astype(x, np.float64); np.copy(x);
        x.copy()
    """
    ),
    "sums": (
        """
        np.sum(x); x.sum(); m.sum(0); m.sum(axis=1); m.sum(axis=-1, keepdims=True);
        np.sum(t, axis=(0, 2)); np.sum(m, initial=2.0); np.sum(x, where=b);
        np.sum(t, (0, 1), keepdims=True); m.sum(axis=()); np.add.reduce(m);
        np.add.reduce(m, axis=1)
    """
    ),
    "products": (
        """
        np.prod(x); m.prod(axis=0); np.prod(t, axis=(0, 1)); np.prod(m, keepdims=True);
        np.prod(x, where=b, initial=3.0);
        np.multiply.reduce(m, axis=1)
    """
    ),
    "moments": (
        """
        np.mean(x); x.mean(); m.mean(axis=0); m.mean(axis=1, keepdims=True);
        np.mean(t, axis=(0, 2)); np.mean(x, where=b); np.std(x); m.std(axis=0); x.std(ddof=1);
        np.var(x); m.var(1); np.var(m, axis=0, ddof=1, keepdims=True);
        np.var(x, where=b); np.var(t, axis=(1, 2)); np.std(m, correction=1)
    """
    ),
    "largest": (
        """
        np.max(x); x.max(); m.max(axis=0); np.amax(m, axis=1); np.max(t, axis=(0, 2));
        np.max(m, axis=0, keepdims=True); np.max(x, initial=10.0); np.min(x); m.min(axis=-1);
        np.amin(m); np.ptp(m, axis=0); np.ptp(x); np.maximum.reduce(m);
        np.max(x, where=b, initial=-9.0)
    """
    ),
    "medians": (
        """
        np.median(x); np.median(m, axis=0); np.median(m, axis=1, keepdims=True);
        np.median(t, axis=(0, 1)); np.average(x); np.average(x, weights=p);
        np.average(m, axis=0, weights=p[:3]); np.average(m, axis=1, weights=m * m, keepdims=True);
        np.average(x, weights=p, returned=True)[1]; np.average(t, axis=(0, 2), weights=t[:, 0, :] ** 2)
    """
    ),
    "percentiles": (
        """
        np.percentile(x, 30); np.percentile(m, [10, 50, 75], axis=0);
        np.percentile(m, 20, axis=1, keepdims=True); np.quantile(x, 0.3);
        np.quantile(m, [[0.1, 0.5], [0.2, 0.9]], axis=1); np.quantile(t, 0.4, axis=(0, 2));
        np.quantile(x, np.array([0.0, 1.0])); np.nanpercentile(np.where(b, p, np.nan), 40);
        np.nanquantile(np.where(b, p, np.nan), [0.2, 0.8])
    """
    ),
    "quantile_methods": (
        """
        np.quantile(x, 0.37, method='lower'); np.quantile(x, 0.37, method='higher');
        np.quantile(x, 0.37, method='midpoint'); np.quantile(x, 0.37, method='nearest');
        np.quantile(x, 0.37, method='inverted_cdf');
        np.quantile(x, 0.5, method='averaged_inverted_cdf');
        np.quantile(x, 0.37, method='closest_observation');
        np.quantile(x, 0.37, method='interpolated_inverted_cdf');
        np.quantile(x, 0.37, method='hazen'); np.quantile(x, 0.37, method='weibull');
        np.quantile(x, 0.37, method='median_unbiased');
        np.quantile(x, 0.37, method='normal_unbiased');
        np.quantile(x, [0.0, 0.25, 0.5, 0.75, 1.0], method='nearest');
        np.quantile(x, [0.0, 0.25, 0.5, 0.75, 1.0], method='closest_observation');
        np.quantile(x, [0.0, 1/6, 0.5, 0.75, 1.0], method='averaged_inverted_cdf');
        np.quantile(x, [0.0, 0.1, 0.95, 1.0], method='weibull')
    """
    ),
    "without_nan": (
        """
        np.nansum(np.where(b, x, np.nan)); np.nanprod(np.where(b, x, np.nan));
        np.nanmean(np.where(b, x, np.nan)); np.nanvar(np.where(b, x, np.nan));
        np.nanstd(np.where(b, x, np.nan), ddof=1); np.nanmax(np.where(b, x, np.nan));
        np.nanmin(np.where(b, x, np.nan)); np.nanmedian(np.where(b, x, np.nan));
        np.nancumsum(np.where(b, x, np.nan));
        np.nancumprod(np.where(b, x, np.nan)); np.nanmean(np.where(b[:3, None], m[:, :2], np.nan), axis=0)
    """
    ),
    "scans": (
        """
        np.cumsum(x); m.cumsum(axis=0); np.cumsum(m); np.cumprod(x); np.cumprod(m, axis=1);
        np.cumulative_sum(x, include_initial=True); np.cumulative_prod(m, axis=0);
        np.add.accumulate(m);
        np.multiply.accumulate(x)
    """
    ),
    "differences": (
        """
        np.diff(x); np.diff(m, axis=0); np.diff(x, n=2); np.diff(x, prepend=0.0, append=y[:2]);
        np.ediff1d(m); np.ediff1d(x, to_begin=1.0, to_end=[2.0, 3.0]); np.gradient(x);
        np.gradient(x, 0.5); np.gradient(x, np.array([0., 1., 1.5, 3., 4., 6.])); np.gradient(m)[0];
        np.gradient(m, axis=1); np.gradient(m, 2.0, np.array([0., 1., 3., 4.]))[1];
        np.gradient(x, edge_order=2);
        np.gradient(x, np.array([0., 1., 1.5, 3., 4., 6.]), edge_order=2); np.gradient(x, np.cumsum(p))
    """
    ),
    "integrals_and_covariances": (
        """
        np.trapezoid(x); np.trapezoid(x, y); np.trapezoid(m, dx=0.5, axis=0);
        np.trapezoid(m, p[:4]); np.cov(m); np.cov(x, y); np.cov(m, rowvar=False, bias=True);
        np.cov(m, aweights=p[:4], fweights=np.array([1, 2, 3, 1]));
        np.cov(m, fweights=np.array([1, 2, 3, 1])); np.corrcoef(m); np.corrcoef(x, y)
    """
    ),
    "interpolation": (
        """
        np.interp(x, np.array([-2., 0., 1., 3.]), p[:4]); np.interp(0.75, np.cumsum(p), x);
        np.interp(y, [0.0, 1.0, 2.0], [1.0, 4.0, -1.0], left=9.0, right=8.0);
        np.interp(x, np.array([0., 1., 2.]), p[:3], period=3.0); np.interp(m, np.array([-2., 0., 1., 3.]), p[:4])
    """
    ),
    "convolution": (
        """
        np.convolve(x, y[:3]); np.convolve(x, y[:3], 'same'); np.convolve(x, y[:3], 'valid');
        np.convolve(x[:2], y); np.convolve(x, [1.0, -1.0]); np.correlate(x, y[:3]);
        np.correlate(x, y[:3], 'full'); np.correlate(x, y, 'same');
        np.correlate(x[:2], y, 'full'); np.convolve(x[:3], y, 'same'); np.correlate(x[:4], y, 'same')
    """
    ),
    "shapes": (
        """
        x.reshape(2, 3); x.reshape((3, -1)); np.reshape(m, (4, 3), order='F'); np.reshape(x, -1);
        m.ravel(); np.ravel(m, order='F'); m.flatten(); m.T; np.transpose(t, (2, 0, 1));
        t.transpose(1, 0, 2); t.mT; np.matrix_transpose(t); np.permute_dims(m, (1, 0));
        np.moveaxis(t, 0, -1); np.moveaxis(t, [0, 1], [-1, 0]); np.rollaxis(t, 2);
        np.rollaxis(t, 0, 3); np.swapaxes(t, 0, 2); t.swapaxes(-1, 0); np.expand_dims(x, 0);
        np.expand_dims(m, (0, -1)); np.squeeze(x[None, :, None]); np.squeeze(x[None], axis=0); x[None].squeeze()
    """
    ),
    "repetition": (
        """
        np.atleast_1d(x[0]); np.atleast_2d(x); np.atleast_3d(x); np.atleast_3d(m);
        np.atleast_2d(x, m)[0]; np.broadcast_to(x, (2, 6)); np.broadcast_arrays(x, 1.0)[0];
        np.broadcast_arrays(x[:, None], y)[1]; np.tile(x, 2); np.tile(m, (2, 1, 3));
        np.repeat(x, 2); np.repeat(m, 3, axis=1); np.repeat(m, [1, 0, 2], axis=0); x.repeat(2);
        np.roll(x, 2); np.roll(m, -1, axis=1); np.roll(m, (1, 2), axis=(0, 1)); np.roll(m, 3);
        np.rot90(m); np.rot90(m, 2); np.rot90(t, -1, axes=(1, 2)); np.flip(x); np.flip(m, 0);
        np.flip(m, axis=(0, 1)); np.fliplr(m); np.flipud(m);
        np.resize(x, (2, 5))
    """
    ),
    "padding": (
        """
        np.pad(x, 2); np.pad(m, ((1, 0), (2, 3)), constant_values=1.5);
        np.pad(x, (2, 3), mode='edge'); np.pad(x, (2, 3), mode='reflect');
        np.pad(x, (2, 8), mode='symmetric'); np.pad(m, 2, mode='wrap');
        np.pad(x, (2, 3), mode='linear_ramp', end_values=(1.0, -1.0)); np.pad(x, 2, mode='mean');
        np.pad(x, 2, mode='maximum', stat_length=2); np.pad(m, 1, mode='median');
        np.pad(m, 1, mode='minimum');
        np.pad(m, {0: 1, -1: (1, 2)}); np.pad(m, ((1, 2), (0, 1)), 'linear_ramp'); np.pad(x, 1, constant_values=((2.0, 3.0),))
    """
    ),
    "joining": (
        """
        np.concatenate([x, y]); np.concatenate((m, m * 2), axis=1);
        np.concatenate([m, x[None, :4]], axis=None); np.concat([x, [1.0, 2.0]]);
        np.concatenate([x, captured[0]]); np.stack([x, y]); np.stack([x, y], axis=-1);
        np.stack([x, captured[0], np.zeros(6)]); np.stack(x); np.array([1.0, 2.0]) * x[:2];
        np.vstack([x, y]); np.hstack([x, y]); np.hstack([m, m]); np.dstack([x, y]);
        np.column_stack([x, y]); np.column_stack([m, x[:3]]); np.block([[m, m], [m, 2 * m]]);
        np.block([x, y]); np.append(x, y); np.append(m, m, axis=0); np.append(x, 1.5);
        np.insert(x, 2, 9.0); np.insert(m, [0, 2], x[:3, None], axis=1);
        np.insert(x, [1, 3], y[:2]); np.delete(x, 1); np.delete(m, [0, 2], axis=1);
        np.delete(x, slice(1, 3)); np.stack([x[0], x[1] * 2, 3.0]); np.vstack((x[0], x[1]));
        np.hstack([x[0], 2.0, x[1:3]])
    """
    ),
    "splitting": (
        """
        np.split(x, 3)[1]; np.split(x, [2, 4])[2]; np.array_split(x, 4)[0];
        np.array_split(m, 3, axis=1)[2];
        np.hsplit(m, 2)[0]; np.vsplit(m, [1])[1]; np.dsplit(t, 2)[1]; np.unstack(m, axis=1)[2]; np.hsplit(x, 2)[1]
    """
    ),
    "indexing": (
        """
        x[0]; x[-1]; x[1:4]; x[::2]; x[::-1]; x[4:1:-1]; x[4:1:-2]; x[-2::-1]; x[10:0:-1]; m[0];
        m[:, 1]; m[1, 2]; m[..., 0]; m[None, 1:, ::-1]; m[::-1, ::-2]; m[[0, 2]]; m[[0, 2], [1, 3]];
        m[:, [0, 0, 1]]; m[np.array([0, 2]), 1:]; m[np.array([[0], [2]]), np.array([1, 3])];
        t[0, :, [1, 2]]; t[[1], :, 0]; t[:, 0, [1, 2]]; t[..., ::-1, [0, 1]]; t[1, ::-1]; x[b];
        x[x > 0]; m[m > 0]; m[np.array([True, False, True])];
        t[:, np.array([True, False, True]), ::-1]; x[np.argsort(x)];
        m[np.argmax(m, axis=0), np.arange(4)]; x[np.int64(2)]; x[np.array(3)];
        x[[True, False, True, False, True, False]]; x[np.argmax(x)]; m[()]; t[1, ..., 0];
        t[[0, 1], ..., ::-2]; x[[]]; x[(1,)];
        m[-1, -2:]; m[[-1, -2]]; x[...]; x[:, np.newaxis]; x[np.array([1, 2], dtype=np.uint8)]
    """
    ),
    "elements": (
        """
        np.take(x, [0, 2]); np.take(m, 1, axis=0); np.take(m, [[0, 1], [2, 0]], axis=1);
        np.take(x, np.array([7, -1]), mode='wrap'); np.take(x, [9, -4], mode='clip');
        x.take([-1, 0]); np.take(m, np.array([3, 5]));
        np.take_along_axis(m, np.argsort(m, axis=1), axis=1);
        np.take_along_axis(m, np.array([[1], [-1], [0]]), axis=1);
        np.take_along_axis(x, np.array([1, 2]), axis=None);
        np.compress([True, False, True], m, axis=0); x.compress(b); np.extract(b, x); np.diag(x);
        np.diag(m); np.diag(x, -2); np.diag(m, 1); np.diagflat(m, 1); np.diagonal(t, 1, 1, 2);
        m.diagonal(); np.tril(m); np.triu(m, 1); np.tril(t, -1);
        np.trace(m); t.trace(axis1=1, axis2=2); np.trace(m, offset=1); np.tril(x)
    """
    ),
    "sorting": (
        """
        np.sort(x); np.sort(m, axis=0); np.sort(m, axis=None); np.partition(x, 2)[2];
        x[np.argpartition(x, 2)[2]];
        np.unique(x); np.sort(x)[::-1]; np.lexsort((x, y)) * x; np.union1d(x, y)
    """
    ),
    "matrix_products": (
        """
        np.dot(x, y); np.dot(m, x[:4]); np.dot(m, m.T); np.dot(t, t.mT); np.dot(x, 2.0);
        np.dot(x[:3], t); x.dot(y); np.vdot(x, y); np.vdot(m, m); np.inner(x, y);
        np.inner(m, x[:4]); np.inner(t, m); np.outer(x, y); np.outer(m, x); x @ y; m @ x[:4];
        m.T @ m; x[:3] @ m; t @ m.T; captured[:, :3] @ m; m @ np.ones(4); np.matmul(t, x[:4]);
        np.tensordot(t, m, axes=([2], [1])); np.tensordot(t, m.T, 1);
        np.tensordot(t, t, axes=((0, 1), (0, 1))); np.tensordot(x, y, 0); np.kron(m, x[:2]);
        np.kron(x[:2], m); np.cross(x[:3], y[:3]); np.cross(m[:, :3], m[:, 1:]);
        np.cross(m.T, m.T[::-1]); np.cross(m, m[:, ::-1], axis=0);
        np.cross(m[:, :3], x[:3], axisa=0, axisb=0, axisc=0);
        np.vecdot(m, m[::-1]); np.matvec(t, x[:4]); np.vecmat(x[:3], t)
    """
    ),
    "einsum": (
        """
        np.einsum('ij,j->i', m, x[:4]); np.einsum('ij,kj->ik', m, m); np.einsum('ii->i', s);
        np.einsum('ii', s); np.einsum('ij->ji', m); np.einsum('i,i', x, y);
        np.einsum('i,j->ij', x, y); np.einsum('bij,bkj->bik', t, t);
        np.einsum('...i,...i->...', t, t); np.einsum('ij,jk,kl->il', s, s, m, optimize=True);
        np.einsum(m, [0, 1], x[:4], [1], [0]); np.einsum('ij', m); np.einsum(' i j , j ', m, x[:4]);
        np.einsum('i...->...', t); np.einsum('ij,ij,ij->', m, m, m); np.einsum('iij->j', t[:1, :1]);
        np.einsum(m, [0, 1], m, [0, 2]);
        np.einsum('...ij,jk', t, m.T); np.einsum('ij,k->', m, x); np.einsum('aij,ij->a', t, m)
    """
    ),
    "linear_algebra": (
        """
        np.linalg.cholesky(s @ s.T + 3 * np.eye(3)); np.linalg.cholesky(s @ s.T, upper=True);
        np.linalg.det(s); np.linalg.inv(s); np.linalg.solve(s, x[:3]); np.linalg.solve(s, m);
        np.linalg.solve(np.stack([s, s.T]), x[:3]); np.linalg.solve(np.stack([s, s.T, s]), s);
        np.linalg.slogdet(s)[1]; np.linalg.slogdet(s).logabsdet; np.linalg.eigh(s + s.T)[0];
        np.linalg.eigh(s + s.T).eigenvectors ** 2; np.linalg.eigh(s @ s.T).eigenvalues;
        np.linalg.eigvalsh(s + s.T, UPLO='U'); np.linalg.svd(m, full_matrices=False)[1];
        np.linalg.svd(s).S; np.linalg.svd(m, compute_uv=False); np.linalg.svdvals(m);
        np.linalg.qr(m.T)[1]; np.linalg.qr(m.T, mode='r'); np.linalg.qr(s).Q; np.linalg.pinv(m);
        np.linalg.lstsq(m.T, x[:4])[0]; np.linalg.lstsq(m.T, t[0].T)[1];
        np.linalg.lstsq(m.T, x[:4])[3]; np.linalg.matrix_power(s, 3); np.linalg.matrix_power(s, -2);
        np.linalg.matrix_power(s, 0) * x[0]; np.linalg.multi_dot([m, m.T, s]); np.linalg.cond(s);
        np.linalg.cond(s, 1); np.linalg.cond(s, 'fro'); np.linalg.cond(s, -2);
        np.linalg.tensorinv(s.reshape(3, 3, 1), ind=1);
        np.linalg.tensorsolve(s.reshape(3, 3, 1), x[:3]); np.linalg.trace(t);
        np.linalg.diagonal(t, offset=1); np.linalg.outer(x, y); np.linalg.cross(m[:, :3], m[:, 1:]);
        np.linalg.vecdot(m, m); np.linalg.tensordot(m, m, axes=2);
        np.linalg.matmul(m, m.T); np.linalg.matrix_transpose(m); np.linalg.det(np.stack([s, s @ s]))
    """
    ),
    "norms": (
        """
        np.linalg.norm(x); np.linalg.norm(m); np.linalg.norm(x, 1); np.linalg.norm(x, np.inf);
        np.linalg.norm(x, -np.inf); np.linalg.norm(x, 3); np.linalg.norm(x, 0) * x;
        np.linalg.norm(m, axis=0); np.linalg.norm(m, 1, axis=1, keepdims=True);
        np.linalg.norm(m, 'fro'); np.linalg.norm(m, 'nuc'); np.linalg.norm(m, 2);
        np.linalg.norm(m, -2); np.linalg.norm(m, 1); np.linalg.norm(m, -1);
        np.linalg.norm(m, np.inf); np.linalg.norm(m, -np.inf); np.linalg.norm(t, axis=(1, 2));
        np.linalg.norm(t, 2, axis=(0, 2)); np.linalg.norm(t); np.linalg.norm(t, keepdims=True);
        np.linalg.matrix_norm(t);
        np.linalg.vector_norm(t, axis=(0, 1)); np.linalg.vector_norm(x, ord=1); np.linalg.vector_norm(m, keepdims=True)
    """
    ),
    "fourier": (
        """
        np.abs(np.fft.fft(x)); np.fft.fft(x).real; np.fft.ifft(x).imag; np.abs(np.fft.rfft(x)) ** 2;
        np.fft.irfft(x + 1j * y); np.fft.irfft(np.fft.rfft(x)); np.fft.fft(m, axis=0).imag;
        np.fft.fft(x, n=8, norm='ortho').real; np.fft.fft2(m).real; np.fft.ifft2(m).real;
        np.fft.fftn(t).imag; np.fft.fftn(t, axes=(0, 1)).real; np.fft.rfft2(m).real;
        np.fft.irfft2(np.fft.rfft2(m)); np.fft.rfftn(t).imag; np.fft.irfftn(np.fft.rfftn(t));
        np.fft.hfft(x + 1j * y); np.fft.ihfft(x).imag; np.fft.fftshift(m); np.fft.ifftshift(x[:5]);
        np.fft.fftshift(m, axes=1);
        np.fft.ifftn(m, s=(4, 2), axes=(0, 1)).real
    """
    ),
    "polynomials": (
        """
        np.polyval(x, y); np.polyval([1.0, 2.0, 3.0], x); np.polyval(x[:3], 1.5);
        np.polyadd(x, y[:3]); np.polysub(x[:2], y); np.polymul(x, y[:3]); np.polyder(x);
        np.polyder(x, 2); np.polyint(x); np.polyint(x, 2, k=[1.0, 2.0]); np.vander(x, 3);
        np.vander(x, increasing=True); np.polyfit(y, x, 2); np.polyfit(np.arange(6.0), x, 1, w=p);
        np.polyfit(y, np.stack([x, p], axis=1), 1)
    """
    ),
    "creation": (
        """
        np.linspace(x[0], x[1], 5); np.linspace(x, y, 3);
        np.linspace(x, y, 4, endpoint=False, axis=1); np.linspace(0.0, x[0], 4, retstep=True)[1];
        np.logspace(x[0], 1.0, 4); np.geomspace(p[0], p[1], 4); np.meshgrid(x, y)[0];
        np.meshgrid(x, y[:2], indexing='ij')[1]; np.meshgrid(x, y, sparse=True)[1];
        np.full_like(x, 2.5) * x; np.full_like(x, y[0]); np.zeros_like(x) + x;
        np.ones_like(m, shape=(6,)) * x; np.empty_like(x) * 0 + x;
        np.piecewise(x, [x < 0, x >= 0], [lambda v: v ** 2, lambda v: np.sin(v)]);
        np.piecewise(x, [x < 0], [1.0, lambda v: v * 2]);
        np.piecewise(x, x > 0, [lambda v: v, -1.0]);
        np.bincount(np.array([0, 1, 1, 2, 0, 4]), weights=x); np.bincount(np.array([0, 1, 1]), weights=x[:3], minlength=5)
    """
    ),
    "iteration": (
        """
        np.nanmax(np.where(b, x, np.nan), keepdims=True); np.add.outer(x, y);
        np.multiply.outer(x, m); np.subtract.outer(x, y);
        sum(x); list(x)[2]; np.array([v for v in captured[0]]) * x; x.T; m.real; [a for a in m][1]; max(x); min(x[0], x[1])
    """
    ),
    "sequences_of_axes": (
        """
        np.moveaxis(t, (0, 1), range(-2, 0)); np.moveaxis(t, np.array([0, 1]), np.array([-2, -1]));
        np.moveaxis(t, [0], [-1]); np.moveaxis(t, source=range(2), destination=[-2, -1]);
        np.transpose(t, range(2, -1, -1)); t.transpose(range(2, -1, -1));
        t.transpose(np.array([2, 1, 0])); np.reshape(t, range(2, 5)); t.reshape(range(2, 5));
        t.reshape(np.array([6, 4])); np.flip(t, range(2)); np.roll(t, range(1, 3), axis=range(2));
        np.roll(t, 1, axis=[0, 2]); np.rot90(t, 1, [0, 2]); np.rot90(t, 1, range(2));
        np.tensordot(t, t, axes=(range(2), range(2))); np.tensordot(t, t, axes=[[0, 1], [0, 1]]);
        np.abs(np.fft.fftn(t, axes=range(2))); np.fft.fftshift(t, axes=range(2));
        np.broadcast_to(t, range(2, 5)); np.tile(t, range(1, 3)); np.tile(t, np.array([1, 2]));
        np.resize(x, range(2, 4)); np.split(t, range(1, 3), axis=1)[1];
        np.array_split(t, np.array([1, 2]), axis=1)[1]; np.median(t, axis=[0, 1]);
        np.median(t, axis=range(2)); np.gradient(t, axis=range(2))[0]; np.pad(t, range(1, 3));
        np.expand_dims(t, [0, 2]); np.repeat(m, np.array([1, 0, 2]), axis=0);
        np.roll(m, np.array([1, 2]), axis=np.array([0, 1]));
        np.repeat(m, np.array([1, 0, 2], dtype=np.uint8), axis=0); np.delete(x, n > 1);
        np.insert(x, np.array([1, 3]), y[:2]); np.delete(m, np.array([0, 2]), axis=1); np.pad(m, np.array([[1, 0], [2, 3]]))
    """
    ),
    "lists_for_arrays": (
        """
        np.concatenate([[x[0]], y]); np.concatenate([[x[0], 2.0], [y[1]], x[:2], [3.0, 4.0]]);
        np.hstack([[x[0]], y]); np.where(b, [x[0], 1.0, x[2], x[3], x[1], 2.0], y);
        np.where(b[:2], (x[0], x[1]), y[:2]); np.append([x[0]], y); np.stack([[x[0], x[1]], y[:2]]);
        np.vstack([(x[0], 1.0, 2.0), m[:, 0]]); np.column_stack([[x[0], x[1], 1.0], m]);
        np.dot([x[0], 1.0, x[1]], m); np.outer([x[0], 1.0], y); np.kron([x[0], 1.0], y);
        np.einsum("i,ij", [x[0], x[1], 1.0], m); np.insert(y, [1, 2], [x[0], x[1]]);
        np.diff(y, prepend=[x[0]]); np.pad(y, 1, constant_values=[x[0], 1.0]);
        np.pad(m, 1, constant_values=((x[0], 1.0), (2.0, x[1])));
        np.pad(y, 2, "linear_ramp", end_values=(x[0], x[1]));
        np.average(m, axis=0, weights=[p[0], 1.0, p[1]]); np.trapezoid(m, [x[0], 1.0, x[2], 5.0]);
        np.polyval([x[0], 1.0, x[1]], y); np.convolve(y, [x[0], 1.0]);
        np.clip(y[:2], [x[1], -1.0], None); np.select([y > 0, y <= 0], [[x[0]] * 6, y]);
        np.linalg.solve(s, [x[0], 1.0, x[1]]); np.block([[y, x[0]], [1.0, y]]);
        np.choose([0, 1, 0], [x[:3], [y[0], 1.0, y[2]]]); np.linspace(y[:2], [x[0], 1.0], 4);
        np.meshgrid([x[0], 1.0], y)[0];
        np.linalg.multi_dot([[x[0], 1.0, x[1]], s, [1.0, 2.0, y[0]]]);
        y[:2] * [x[0], x[1]]; [x[0], x[1], 1.0] @ m; np.maximum(y[:2], [x[0], x[1]])
    """
    ),
    "ranges": (
        """
        t[range(2)]; t[range(2), range(2)]; np.take(t, range(2), axis=1); t.take(range(2), axis=1);
        np.insert(t, range(2), 1.0, axis=1); np.delete(t, range(2), axis=1);
        np.repeat(m, range(1, 4), axis=0); np.interp(x, range(-3, 4), np.arange(7.0) ** 2);
        np.polyval(range(3), x); np.dot(m, range(4)); m @ range(4); np.where(m > 0, range(4), m);
        np.concatenate([x, range(4)]); np.stack([x, range(6)]); m + range(4);
        np.multiply(range(4), m); np.average(m, axis=1, weights=range(1, 5));
        np.convolve(x, range(1, 4));
        np.trapezoid(m, range(4)); np.diff(x, prepend=range(2)); np.einsum("ij,j", m, range(4))
    """
    ),
}

VALUES = {
    "searching": (
        """
        np.argmax(x); m.argmax(axis=0); np.argmin(m, axis=1, keepdims=True); np.argsort(x);
        m.argsort(axis=0); np.nanargmax(np.where(b, x, np.nan));
        np.nanargmin(np.where(b, x, np.nan)); np.count_nonzero(x > 0); np.count_nonzero(m, axis=0);
        np.all(x > -9); np.any(m > 1, axis=0); (x > 0).all(); np.all(m, axis=(0, 1));
        np.any(x > 0, where=b); np.nonzero(x > 0)[0]; np.argwhere(m > 0); np.flatnonzero(x > 0);
        np.where(x > 0)[0]; np.searchsorted(np.sort(x), 0.5);
        np.searchsorted(np.sort(x), y, side='right'); np.searchsorted(np.array([0., 1., 2.]), x);
        np.digitize(x, [-1.0, 0.0, 1.0]); np.digitize(x, [1.0, 0.0, -1.0], right=True);
        np.digitize(x, [-1.0, 0.0, 1.0], right=True);
        np.isin(n, [1, 3]) & (x > -9)
    """
    ),
    "comparisons": (
        """
        x > 0; x >= y; x < 1; x <= y; x == y; x != 0.3; 1 < x; np.greater(x, y); np.equal(x, 1);
        np.isfinite(x); np.isinf(x); np.isnan(np.where(b, x, np.nan)); np.signbit(x);
        np.isclose(x, y); np.isclose(x, x + 1e-9); np.allclose(x, x); np.array_equal(x, y);
        np.array_equal(x, x); np.array_equiv(x, x[None]); np.logical_and(x > 0, y > 0);
        np.logical_or(x, 0.0); np.logical_xor(x > 0, b); np.logical_not(x); ~(x > 0); (x > 0) & b;
        (x > 0) | (y > 0); (x > 0) ^ b; np.isreal(x); np.iscomplex(x); np.isposinf(x);
        np.isneginf(x); np.nextafter(x, 9.0);
        np.isclose(np.where(b, x, np.nan), np.where(b, x, np.nan), equal_nan=True)
    """
    ),
    "information": (
        """
        np.shape(m); np.ndim(m); np.size(m); np.size(m, 0); m.shape; m.size; m.ndim; len(m);
        x.dtype; np.iscomplexobj(x); np.isrealobj(x); np.result_type(x, np.float32); x.itemsize;
        x.nbytes; np.unravel_index(np.argmax(m), (3, 4))[1];
        np.tril_indices_from(s)[0] + 0 * np.sum(x); np.triu_indices_from(s, 1)[1];
        np.diag_indices_from(s)[0];
        np.linalg.matrix_rank(m); np.linalg.slogdet(s).sign; np.common_type(x); np.linalg.lstsq(m.T, x[:4])[2]
    """
    ),
    "no_derivative": (
        """
        np.unique(n * (x > -9), return_index=True, return_inverse=True, return_counts=True)[1];
        np.unique(n * (x > -9), return_inverse=True)[1]; np.unique_counts(n * (x > -9)).counts;
        np.unique(x > 0); np.frexp(x)[1]; np.modf(x)[1]; np.divmod(x, p)[0]; np.lexsort((x, y));
        np.zeros_like(x); np.ones_like(x, dtype=int); np.full_like(x, 3, dtype=np.float32);
        (x * 2).astype(int); x.astype(np.float32); x.astype('complex64'); np.fft.rfft(x);
        np.fft.fft(m); x + 1j; np.exp(1j * x); np.linalg.eigvals(s);
        np.sort_complex(np.exp(1j * x)); np.conj(x + 1j * y); np.angle(x + 1j * y);
        np.angle(x + 1j, deg=True); (x * c).real; (x * c).imag; np.abs(x * c); np.sum(x * c);
        np.mean(x * c); np.var(x * c); np.sqrt(x + 0j); np.vdot(x * c, y * c);
        np.linalg.norm(x * c); np.cov(x * c); np.sign(x * c); np.cumsum(x > 0); np.sum(x > 0);
        np.mean(x > 0); np.prod(x > -9); np.max(x > 0); np.ptp(x);
        np.diff(x > 0)
    """
    ),
    "rarer_forms": (
        """
        np.piecewise(x, [x < 0], [1.0, lambda v, a: v * a], a=3.0);
        np.piecewise(x, x < 0, [lambda v: -v, 2.0]); np.diff(x, n=0); np.interp(x, [1.0], [2.0]);
        np.stack([x[:2], [1.0, 2.0]]); np.nan_to_num(x * c); np.array_equal(x, m);
        np.array_equiv(x[:3], m); np.isin(x, [0.3, 0.7]); np.isin(x, y, invert=True);
        np.linalg.matrix_rank(x); np.linalg.matrix_rank(m, tol=0.1);
        np.linalg.matrix_rank(s, rtol=0.9); np.polyfit(y, x, 2, full=True)[0];
        np.polyfit(y, x, 2, full=True)[3]; np.polyfit(y, x, 1, cov=True)[1];
        np.polyfit(y, x, 1, cov='unscaled')[1];
        np.polyfit(y, np.stack([x, p], axis=1), 1, cov=True)[1]; np.inner(2.0, x);
        np.nanquantile(np.where(m < 0.5, m, np.nan), [0.2, 0.8], axis=1); np.corrcoef(x);
        np.cov(x, bias=True); np.max(m, axis=()); np.max(x[:0], initial=1.0);
        np.min(m[:0], axis=0, initial=2.0); np.argmax(m, keepdims=True);
        np.prod(x, dtype=np.float32); np.repeat(x, np.array([2])); np.where(n, x, y);
        np.round(x * c, 1); np.sinc(x * c); np.linalg.pinv(m * c); np.linalg.norm(m * c, 'nuc');
        np.linalg.tensorsolve(t[0].reshape(2, 6, 1)[:, :2], x[:2], axes=(2,)); np.sum(m, axis=());
        np.mean(m, axis=()); np.take(m[:0], [], axis=0); m[:0][::-1];
        np.nanmax(np.where(b, x, np.nan), axis=0)
    """
    ),
    "integers": (
        """
        i + i; i * 2; i / 2; i / i; i // 2; i % 3; i ** 2; i - 1.5; i * 2.0; i + np.float32(1.0);
        i * x; np.sin(i); np.sqrt(i * i); np.exp(i); np.sum(i); np.mean(i); np.std(i);
        np.var(i, ddof=1); np.prod(i); np.cumsum(i); np.max(i); np.median(i); np.percentile(i, 50);
        np.dot(i, i); i @ i; np.arctan2(i, 2); np.hypot(i, 3); np.maximum(i, 1); np.maximum(i, 1.5);
        np.clip(i, 0, 2); np.clip(i, 0.5, 2); np.power(i, 2); np.power(2.0, i); np.abs(i);
        np.sign(i); np.floor(i); np.rint(i); np.round(i); np.round(i, -1); np.gcd(i, 6);
        np.lcm(i, 4); i & 3; i | 1; i ^ 5; ~i; i << 1; i >> 1; np.left_shift(i, 2);
        np.bitwise_and(i, 6); np.invert(i); np.float_power(i, 2); np.true_divide(i, i);
        np.log1p(abs(i)); np.interp(i, [0, 1, 2], [3, 4, 5]); np.linalg.norm(i); np.average(i);
        np.diff(i); np.gradient(i); np.cov(i); np.nan_to_num(i); np.isnan(i);
        np.where(i > 0, i, 0.5); np.where(i > 0, i, 0); np.concatenate([i, x]); np.stack([i, i]);
        np.trapezoid(i); np.convolve(i, [1, 1]); np.polyval([1, 2], i); np.fmod(i, 3);
        np.reciprocal(i); np.square(i); np.negative(i); -i; np.heaviside(i, 0.5);
        np.copysign(i, -1); np.logaddexp(i, 1); np.deg2rad(i); np.linalg.solve(np.diag(i), i);
        np.fft.fft(i); np.tril(np.outer(i, i)); np.sinc(i); np.ldexp(x, i); np.expm1(i); np.cbrt(i);
        np.fabs(i); np.isfinite(i); np.ceil(i); i == 1; i > 1.5; i < x; np.divmod(i, 3)[1];
        np.kron(i, i); np.inner(i, x[:6]); np.all(i); np.unwrap(i); np.angle(i); np.ptp(i);
        np.quantile(i, [0.5, 1]); np.nansum(i);
        np.nanmean(i); np.einsum('i,i', i, x); np.cumprod(i)
    """
    ),
    "single_precision": (
        """
        h * 2.0; h * 2; h * x; h * np.float64(2.0); h + np.array([1.0]); h * np.float32(2);
        np.sin(h); np.sum(h); np.mean(h); np.std(h); h / 3; h ** 2; h ** 0.5; np.maximum(h, 0.5);
        np.clip(h, 0, 1); np.where(h > 0, h, 0.0); np.where(h > 0, h, np.float64(0.0));
        np.percentile(h, 50); np.percentile(h, [25, 75]); np.median(h); np.dot(h, h);
        np.linalg.norm(h); np.arctan2(h, 1.0); h * i; np.concatenate([h, x]);
        np.concatenate([h, h]); np.interp(h, [0, 1], [0, 1]); np.fft.fft(h); np.exp(1j * h); h * c;
        np.var(h, ddof=1); np.sum(h, dtype=np.float64); np.mean(h, dtype=float);
        np.cumsum(h, dtype='float64'); np.round(h, 1); np.linspace(h[0], h[1], 3); np.trapezoid(h);
        np.gradient(h); np.cov(h, h); np.average(h); np.average(h, weights=[1, 2, 3, 4, 5, 6]);
        np.quantile(h, 0.3); np.polyval([1, 2], h); np.linalg.solve(np.diag(h), x);
        np.einsum('i,i', h, x); h @ x; np.hypot(h, x); np.power(h, i); np.float_power(h, 2);
        np.logaddexp(h, 0.0); np.ldexp(h, 2); np.convolve(h, [1.0, 2.0]);
        np.interp(x, np.array([0., 1.]), h[:2]); np.exp2(h); np.heaviside(h, 0.5); np.fmod(h, 2);
        h % 2; h // 2; np.divmod(h, 2)[0]; np.nan_to_num(h); np.sinc(h); np.cbrt(h); np.outer(h, h);
        np.stack([h, i]); np.corrcoef(h, h); np.multiply(h, 2, dtype=np.float64);
        np.add(h, h, dtype='float64'); np.deg2rad(h); np.diff(h); np.isclose(h, h); np.unwrap(h);
        np.i0(h); np.linalg.pinv(h[None]); np.full_like(h, 2); np.prod(h); np.angle(h); h + True;
        np.nanmean(h); np.nanmedian(h); np.convolve(h, np.array([1.0])); np.fft.rfft(h);
        np.ones_like(h) * 2; np.geomspace(abs(h[0]), 2.0, 3);
        np.logspace(h[0], 2.0, 3); np.diag(h); np.select([h > 0], [h], 0.0); np.choose(b, [h, x])
    """
    ),
}

#: What NumPy refuses, and so every engine, with an error of the same class.
REFUSED = """
    np.squeeze(m, axis=0); np.split(x, 4); np.cross(m, m); np.linalg.norm(t, axis=(0, 1, 2));
    np.linalg.norm(m, 3); np.linalg.norm(x, 'fro'); np.linalg.qr(m, mode='other');
    np.quantile(x, 0.5, method='other'); np.gradient(x[:1]); np.gradient(x, 1.0, 2.0);
    np.einsum('ij,jk', m); np.einsum('ij', x); np.moveaxis(m, 5, 0); np.matrix_transpose(x);
    np.piecewise(x, [x < 0], [1.0, 2.0, 3.0]); np.expand_dims(x, 4); np.linalg.norm(t)[0][0]
"""

#: Ufuncs of scipy.special.
SPECIAL = {
    "special": (
        """
        special.erf(x); special.erfc(x); special.erfinv(x / 3); special.expit(x); special.logit(p);
        special.log_expit(x); special.gammaln(p + 1); special.digamma(p); special.psi(p + 2);
        special.xlogy(p, p); special.xlogy(0.0, p); special.xlog1py(x, p); special.ndtr(x);
        special.log_ndtr(x); special.ndtri(p); special.entr(p); special.i0(x); special.i0e(x);
        special.i1(x); special.i1e(x); special.gamma(p); special.gamma(-p / 4 - 0.5);
        special.gamma(x); special.rgamma(p); special.beta(p, p + 1); special.betaln(p, 2.0);
        special.binom(p + 3, 2.0); special.rel_entr(p, p + 0.1); special.kl_div(p, p + 0.1);
        special.huber(1.0, x); special.pseudo_huber(1.0, x); special.exp10(x); special.exp2(x);
        special.expm1(x); special.log1p(p); special.cosm1(x); special.boxcox(p, 0.5);
        special.boxcox(p, 0.0); special.inv_boxcox(p, 0.5); special.erfcx(x); special.cbrt(x);
        special.gammaincc(2.0, p);
        special.gammainc(2.0, p)
    """
    )
}


def _uses() -> list[Use]:
    smooth = expressions(*SMOOTH.values(), *SPECIAL.values())
    discrete = expressions(
        *[
            text
            for theme, text in VALUES.items()
            if theme in ("searching", "comparisons", "no_derivative")
        ]
    )
    uses = []
    for expression in smooth + discrete:
        arrays = tuple([VARIABLES[name] for name in variables_in(expression)])
        kind: Kind = "smooth" if expression in smooth else "discrete"
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
