"""scipy.interpolate on the arrays of any engine: piecewise polynomials and linear interpolation.

Each class is made from values and places that may be an engine's, and called with such; with plain arrays alone it is SciPy's
own. The pieces are SciPy's, from the same formulas: Fritsch and Butland, SIAM Journal on Scientific Computing, 1984
(monotone); Akima, Journal of the ACM, 1970; de Boor, A Practical Guide to Splines, 1978.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.interpolate as own

from .arrays import Array, array, inexact, numbers, taken
from .dispatch import OURS, is_engines, rest_of, unsupported

# Piecewise polynomials -----------------------------------------------------------------------------------------------


class _Curve:
    """What is called with places, which may be an engine's: NumPy code beside an object of SciPy's, if there is one."""

    _scipys: Any = None

    def __call__(self, x: Any, *args: Any, **keywords: Any) -> Any:
        if self._scipys is not None and not is_engines(x, *args):
            return self._scipys(x, *args, **keywords)
        return self._evaluate(x, *args, **keywords)

    def _evaluate(self, x: Any) -> Any:
        raise NotImplementedError


class _Pieces(_Curve):
    """Polynomials c[0] (x - a)^k + ... + c[k] between breakpoints, as `scipy.interpolate.PPoly` has them."""

    def __init__(self, c: Array, x: Array, extrapolate: Any, axis: int = 0):
        #: Of shape (k + 1, pieces, ...).
        self.c, self.x, self.axis = c, x, axis
        self.extrapolate = True if extrapolate is None else extrapolate

    def _evaluate(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Array:
        c = self.c
        for _ in range(nu):
            k = c.shape[0] - 1
            c = c[:-1] * np.reshape(np.arange(k, 0, -1).astype(c.dtype), (-1, *[1] * (len(c.shape) - 1))) if k else 0 * c
        x = inexact(x)
        flat = np.reshape(x, (-1,))
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        first, last = self.x[0], self.x[-1]
        if extrapolate == "periodic":
            flat = first + np.remainder(flat - first, last - first)
        piece = np.clip(np.searchsorted(self.x, flat, side="right") - 1, 0, self.x.shape[0] - 2)
        step = flat - taken(self.x, piece)
        inner = (1,) * (len(c.shape) - 2)
        step = np.reshape(step, (-1, *inner))
        total: Any = 0.0
        for coefficients in c:
            total = total * step + taken(coefficients, piece, axis=0)
        if not extrapolate:
            outside = np.reshape((flat < first) | (flat > last), (-1, *inner))
            total = np.where(outside, np.nan, total)
        total = np.reshape(total, (*x.shape, *total.shape[1:]))
        ndim = len(x.shape)
        return np.moveaxis(total, tuple(range(ndim)), tuple(range(self.axis, self.axis + ndim))) if self.axis else total

    def derivative(self, nu: int = 1) -> _Pieces:
        """As SciPy's."""
        if nu < 0:
            raise unsupported("scipy.interpolate", "a negative nu", "Write antiderivative(nu).")
        c = self.c
        for _ in range(nu):
            k = c.shape[0] - 1
            c = c[:-1] * np.reshape(np.arange(k, 0, -1).astype(c.dtype), (-1, *[1] * (len(c.shape) - 1))) if k else 0 * c
        return _Pieces(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> _Pieces:
        """As SciPy's."""
        pieces = self
        for _ in range(nu):
            c, x = pieces.c, pieces.x
            k = c.shape[0]
            inner = (1,) * (len(c.shape) - 2)
            raised = c / np.reshape(np.arange(k, 0, -1).astype(c.dtype), (-1, 1, *inner))
            widths = np.reshape(x[1:] - x[:-1], (-1, *inner))
            areas: Any = 0.0
            for coefficients in raised:
                areas = (areas + coefficients) * widths
            starts = np.concatenate([0 * areas[:1], np.cumsum(areas, axis=0)[:-1]], axis=0)
            pieces = _Pieces(np.concatenate([raised, starts[None]], axis=0), x, pieces.extrapolate, pieces.axis)
        return pieces

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Array:
        """As SciPy's, inside the breakpoints or where the last pieces go on."""
        whole = self.antiderivative()
        if self.extrapolate == "periodic" or extrapolate == "periodic":
            raise unsupported("scipy.interpolate", "integrate of a periodic curve", "Add up its periods.")
        return whole._evaluate(b, extrapolate=extrapolate) - whole._evaluate(a, extrapolate=extrapolate)


def _class(scipys: Any) -> Callable[[type], Any]:
    """Enter a class of ours for SciPy's; it is made with `_made`, on plain arrays by SciPy."""

    def decorate(cls: type) -> type:
        cls.__name__ = cls.__qualname__ = scipys.__name__
        cls.__doc__ = f"scipy.interpolate.{scipys.__name__}, of NumPy's arrays or an engine's."
        OURS[scipys] = cls
        return cls

    return decorate


class _Interpolator(_Pieces):
    """A curve through points, whose coefficients are NumPy code of them."""

    _own: Any = None

    def __init__(self, x: Any, y: Any, *args: Any, axis: int = 0, **keywords: Any):
        if not is_engines(x, y, *args, *keywords.values()):
            self._scipys = self._own(x, y, *args, axis=axis, **keywords)
        x, y = inexact(x), inexact(y)
        if len(x.shape) != 1 or x.shape[0] < 2:
            raise ValueError("`x` must be 1-dimensional and contain at least 2 elements.")
        axis = axis % len(y.shape)
        y = np.moveaxis(y, axis, 0)
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
        c, extrapolate = self._coefficients(x, y, *args, **keywords)
        super().__init__(c, x, extrapolate, axis)

    def _coefficients(self, x: Array, y: Array, *args: Any, **keywords: Any) -> tuple[Array, Any]:
        raise NotImplementedError

    def derivative(self, nu: int = 1) -> Any:
        return super().derivative(nu) if self._scipys is None else _Beside(self, super().derivative(nu), "derivative", nu)

    def antiderivative(self, nu: int = 1) -> Any:
        return super().antiderivative(nu)


class _Beside(_Pieces):
    """Pieces of a curve that SciPy has too."""

    def __init__(self, curve: _Interpolator, pieces: _Pieces, method: str, nu: int):
        super().__init__(pieces.c, pieces.x, pieces.extrapolate, pieces.axis)
        self._scipys = getattr(curve._scipys, method)(nu)


def _columns(x: Array, y: Array) -> Array:
    """x with as many axes as y."""
    return np.reshape(x, (-1, *[1] * (len(y.shape) - 1)))


def _hermite(x: Array, y: Array, slopes: Array) -> Array:
    """The cubic pieces with these values and slopes at their ends."""
    h = _columns(x[1:] - x[:-1], y)
    rise = (y[1:] - y[:-1]) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / h
    return np.stack([bend / h, (rise - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


@_class(own.CubicHermiteSpline)
class CubicHermiteSpline(_Interpolator):
    _own = own.CubicHermiteSpline

    def _coefficients(self, x: Array, y: Array, dydx: Any, extrapolate: Any = None) -> tuple[Array, Any]:
        return _hermite(x, y, inexact(dydx)), extrapolate


@_class(own.CubicSpline)
class CubicSpline(_Interpolator):
    _own = own.CubicSpline

    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None):
        super().__init__(x, y, axis=axis, bc_type=bc_type, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, bc_type: Any, extrapolate: Any) -> tuple[Array, Any]:
        if extrapolate is None and bc_type == "periodic":
            extrapolate = "periodic"
        return _hermite(x, y, _slopes(x, y, bc_type)), extrapolate


def _slopes(x: Array, y: Array, bc_type: Any) -> Array:
    """The slopes at the points of a curve with two continuous derivatives."""
    n = x.shape[0]
    h = x[1:] - x[:-1]
    rise = (y[1:] - y[:-1]) / _columns(h, y)
    if bc_type == "periodic":
        if n == 2:
            return 0 * y
        return _periodic_slopes(h, rise, y)
    start, end = _conditions(bc_type, y)
    if n == 2 and start == end == "not-a-knot":
        return np.concatenate([rise, rise], axis=0)
    if n == 3 and start == end == "not-a-knot":  # the parabola through three points
        width = _columns(h, y)
        middle = (width[1:] * rise[:1] + width[:1] * rise[1:]) / (width[:1] + width[1:])
        return np.concatenate([2 * rise[:1] - middle, middle, 2 * rise[1:] - middle], axis=0)
    zero = 0 * h[:1]
    lower, diagonal, upper = [h[1:], 2 * (h[:-1] + h[1:]), h[:-1]]
    inner = _tridiagonal_rows(lower, diagonal, upper, n)
    right = 3 * (_columns(h[1:], y) * rise[:-1] + _columns(h[:-1], y) * rise[1:])
    first, first_right = _end(start, h, rise, y, zero, n, 0)
    last, last_right = _end(end, h, rise, y, zero, n, 1)
    matrix = np.concatenate([first, inner, last], axis=0)
    vector = np.concatenate([first_right, right, last_right], axis=0)
    found = np.linalg.solve(matrix, np.reshape(vector, (n, -1)))
    return np.reshape(found, y.shape)


def _conditions(bc_type: Any, y: Array) -> tuple[Any, Any]:
    """What holds at the ends: 'not-a-knot', or the order and the value of a derivative."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    named = {"clamped": (1, 0.0), "natural": (2, 0.0), "not-a-knot": "not-a-knot"}
    found = []
    for condition in both:
        if isinstance(condition, str):
            if condition not in named:
                raise ValueError(f"bc_type={condition} is not allowed.")
            found.append(named[condition])
        else:
            found.append((int(condition[0]), condition[1]))
    return found[0], found[1]


def _tridiagonal_rows(lower: Array, diagonal: Array, upper: Array, n: int) -> Array:
    """The rows of the inner points of a matrix."""
    columns = np.arange(n)
    rows = np.arange(n - 2)[:, None]
    empty = np.zeros((n - 2, n), np.result_type(diagonal.dtype))
    for part, shift in ((lower, 0), (diagonal, 1), (upper, 2)):
        empty = empty + np.where(columns == rows + shift, part[:, None], 0.0)
    return empty


def _end(condition: Any, h: Array, rise: Array, y: Array, zero: Array, n: int, side: int) -> tuple[Array, Array]:
    """The row of the matrix and of the right side for one end."""
    near, far = (h[0], h[min(1, n - 2)]) if side == 0 else (h[-1], h[max(-2, 1 - n)])
    slope, next_slope = (rise[:1], rise[min(1, n - 2) :][:1]) if side == 0 else (rise[-1:], rise[max(-2, 1 - n) :][:1])
    if condition == "not-a-knot":
        whole = near + far
        row = _row([far, whole], n, side)
        right = ((near + 2 * whole) * far * slope + near**2 * next_slope) / whole
        return row, right
    order, value = condition
    value = np.reshape(value + 0 * y[:1], y[:1].shape) if not np.ndim(value) else np.reshape(array(value), y[:1].shape)
    if order == 1:
        return _row([1 + 0 * near, 0 * near], n, side), value
    if order == 2:
        sign = -0.5 if side == 0 else 0.5
        return _row([2 * near, near], n, side), 3 * near * slope + sign * value * near**2
    raise ValueError("The specified derivative order must be 1 or 2.")


def _row(parts: Sequence[Any], n: int, side: int) -> Array:
    """A row of n numbers with two at one end, the one of the end first."""
    both = np.stack(list(parts) if side == 0 else list(reversed(parts)))
    rest = np.zeros(n - 2, both.dtype)
    return np.concatenate([both, rest] if side == 0 else [rest, both])[None, :]


def _periodic_slopes(h: Array, rise: Array, y: Array) -> Array:
    """The last point is the first."""
    n = h.shape[0]
    before = np.concatenate([h[-1:], h[:-1]])
    rise_before = np.concatenate([rise[-1:], rise[:-1]], axis=0)
    columns, rows = np.arange(n), np.arange(n)[:, None]
    matrix = np.where(columns == rows, (2 * (before + h))[:, None], 0.0)
    matrix = matrix + np.where(columns == (rows - 1) % n, h[:, None], 0.0)
    matrix = matrix + np.where(columns == (rows + 1) % n, before[:, None], 0.0)
    right = 3 * (_columns(h, y) * rise_before + _columns(before, y) * rise)
    found = np.reshape(np.linalg.solve(matrix, np.reshape(right, (n, -1))), (n, *y.shape[1:]))
    return np.concatenate([found, found[:1]], axis=0)


@_class(own.PchipInterpolator)
class PchipInterpolator(_Interpolator):
    _own = own.PchipInterpolator

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None):
        super().__init__(x, y, axis=axis, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, extrapolate: Any) -> tuple[Array, Any]:
        h = _columns(x[1:] - x[:-1], y)
        rise = (y[1:] - y[:-1]) / h
        if x.shape[0] == 2:
            return _hermite(x, y, np.concatenate([rise, rise], axis=0)), extrapolate
        before, after = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        turning = np.sign(rise[:-1]) * np.sign(rise[1:]) <= 0
        left, right = [np.where(turning, 1.0, part) for part in (rise[:-1], rise[1:])]
        inner = np.where(turning, 0.0, (before + after) / (before / left + after / right))
        first = _one_sided(h[:1], h[1:2], rise[:1], rise[1:2])
        last = _one_sided(h[-1:], h[-2:-1], rise[-1:], rise[-2:-1])
        return _hermite(x, y, np.concatenate([first, inner, last], axis=0)), extrapolate


def _one_sided(h: Array, next_h: Array, rise: Array, next_rise: Array) -> Array:
    """Three points' slope at an end, bounded so that the shape is kept."""
    slope = ((2 * h + next_h) * rise - h * next_rise) / (h + next_h)
    away = np.sign(slope) != np.sign(rise)
    steep = (np.sign(rise) != np.sign(next_rise)) & (np.abs(slope) > 3 * np.abs(rise))
    return np.where(away, 0.0, np.where(steep & ~away, 3 * rise, slope))


@_class(own.Akima1DInterpolator)
class Akima1DInterpolator(_Interpolator):
    _own = own.Akima1DInterpolator

    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None):
        super().__init__(x, y, axis=axis, method=method, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, method: str, extrapolate: Any) -> tuple[Array, Any]:
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"`method`={method} is unsupported.")
        h = _columns(x[1:] - x[:-1], y)
        rise = (y[1:] - y[:-1]) / h
        if x.shape[0] == 2:
            return _hermite(x, y, np.concatenate([rise, rise], axis=0)), bool(extrapolate)
        one, two = 2 * rise[:1] - rise[1:2], 3 * rise[:1] - 2 * rise[1:2]
        three, four = 2 * rise[-1:] - rise[-2:-1], 3 * rise[-1:] - 2 * rise[-2:-1]
        m = np.concatenate([two, one, rise, three, four], axis=0)
        change = np.abs(m[1:] - m[:-1])
        if method == "makima":
            change = change + np.abs(m[1:] + m[:-1]) / 2
        ahead, behind = change[2:], change[:-2]
        total = ahead + behind
        # SciPy takes the mean where the slopes around do not change, beside where they change most.
        flat = total <= 1e-9 * np.max(total)
        weighted = (ahead * m[1:-2] + behind * m[2:-1]) / np.where(flat, 1.0, total)
        level = (m[3:] + m[:-3]) / 2 if method == "akima" else 0 * m[3:]
        return _hermite(x, y, np.where(flat, level, weighted)), bool(extrapolate)


# B-splines -----------------------------------------------------------------------------------------------------------


def _basis(t: Array, k: int, x: Array, count: int, extrapolate: bool = True) -> tuple[Array, Array]:
    """The first of the k + 1 B-splines that are not zero at each place, and their values there, by Cox and de Boor."""
    first = np.clip(np.searchsorted(t, x, side="right") - 1, k, count - 1)
    values: list[Any] = [np.ones_like(x)]
    for degree in range(1, k + 1):
        raised: list[Any] = []
        for n in range(degree + 1):
            total: Any = 0.0
            if n > 0:
                left, right = taken(t, first - degree + n), taken(t, first + n)
                total = total + _divided(x - left, right - left) * values[n - 1]
            if n < degree:
                left, right = taken(t, first - degree + n + 1), taken(t, first + n + 1)
                total = total + _divided(right - x, right - left) * values[n]
            raised.append(total)
        values = raised
    return first - k, np.stack(values)


def _divided(top: Array, bottom: Array) -> Array:
    """Zero where knots coincide."""
    same = bottom == 0
    return np.where(same, 0.0, top / np.where(same, 1.0, bottom))


@_class(own.BSpline)
class BSpline(_Curve):
    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0):
        if not is_engines(t, c):
            self._scipys = own.BSpline(t, c, k, extrapolate, axis)
        self.t, self.k, self.extrapolate = inexact(t), int(k), extrapolate
        self.c = inexact(c)
        self.axis = axis % len(self.c.shape)
        count = self.t.shape[0] - self.k - 1
        if count < self.k + 1:
            raise ValueError(f"Need at least {2 * self.k + 2} knots for degree {self.k}")
        if self.c.shape[self.axis] < count:
            raise ValueError("Knots, coefficients and degree are inconsistent.")

    def _evaluate(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Array:
        if nu:
            return self.derivative(nu)._evaluate(x, 0, extrapolate)
        x = inexact(x)
        flat = np.reshape(x, (-1,))
        count = self.t.shape[0] - self.k - 1
        start, end = self.t[self.k], self.t[count]
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            flat = start + np.remainder(flat - start, end - start)
        c = np.moveaxis(self.c, self.axis, 0)
        first, values = _basis(self.t, self.k, flat, count)
        total: Any = 0.0
        for n in range(self.k + 1):
            total = total + _columns(values[n], c) * taken(c, first + n, axis=0)
        if not extrapolate:
            total = np.where(_columns((flat < start) | (flat > end), c), np.nan, total)
        total = np.reshape(total, (*x.shape, *c.shape[1:]))
        ndim = len(x.shape)
        return np.moveaxis(total, tuple(range(ndim)), tuple(range(self.axis, self.axis + ndim))) if self.axis else total

    def derivative(self, nu: int = 1) -> BSpline:
        """As SciPy's."""
        spline = self
        for _ in range(nu):
            t, k = spline.t, spline.k
            if k == 0:
                return BSpline(t, 0 * spline.c, 0, spline.extrapolate, spline.axis)
            c = np.moveaxis(spline.c, spline.axis, 0)[: t.shape[0] - k - 1]
            widths = t[k + 1 : -1] - t[1 : -k - 1]
            lower = _divided(k * (c[1:] - c[:-1]), _columns(widths, c))
            spline = BSpline(t[1:-1], np.moveaxis(lower, 0, spline.axis), k - 1, spline.extrapolate, spline.axis)
        return spline


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """scipy.interpolate.make_interp_spline, of NumPy's arrays or an engine's: by the collocation matrix."""
    if not is_engines(x, y):
        made = own.make_interp_spline(x, y, k, t, bc_type, axis, check_finite)
        return BSpline(made.t, made.c, made.k, made.extrapolate, made.axis)
    if bc_type not in (None, "not-a-knot"):
        instead = "Write CubicSpline(x, y, bc_type=...)."
        raise unsupported("scipy.interpolate.make_interp_spline", f"bc_type={bc_type!r}", instead)
    if is_engines(x) and k % 2 == 0 and t is None:
        raise unsupported("scipy.interpolate.make_interp_spline", "an even k with an engine's x", "Write k=3.")
    x, y = inexact(x), np.moveaxis(inexact(y), axis, 0)
    n = x.shape[0]
    if t is None:
        if is_engines(x):
            inner = x[(k + 1) // 2 : n - (k + 1) // 2] if k % 2 else x
            t = np.concatenate([x[:1]] * (k + 1) + [inner] + [x[-1:]] * (k + 1))
        else:
            t = own.make_interp_spline(x, np.zeros(n), k).t
    t = inexact(t)
    first, values = _basis(t, k, x, n)
    columns = np.arange(n)
    matrix: Any = 0.0
    for m in range(k + 1):
        matrix = matrix + np.where(columns == (first + m)[:, None], values[m][:, None], 0.0)
    c = np.reshape(np.linalg.solve(matrix, np.reshape(y, (n, -1))), y.shape)
    return BSpline(t, np.moveaxis(c, 0, axis), k, True, axis)


OURS[own.make_interp_spline] = make_interp_spline


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """scipy.interpolate.splev, of NumPy's arrays or an engine's."""
    t, c, k = tck if isinstance(tck, tuple) else (tck.t, tck.c, tck.k)
    if not is_engines(x, t, c):
        return own.splev(x, tck, der, ext)
    if ext not in (0,):
        raise unsupported("scipy.interpolate.splev", f"ext={ext}", "Write np.clip(x, first, last), or np.where.")
    c = inexact(c)
    count = inexact(t).shape[0] - k - 1
    return BSpline(t, c[:count], k)._evaluate(x, der)


OURS[own.splev] = splev


# Linear --------------------------------------------------------------------------------------------------------------


@_class(own.interp1d)
class interp1d(_Curve):
    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: bool | None = None,
        fill_value: Any = np.nan, assume_sorted: bool = False,
    ):  # fmt: skip
        if not is_engines(x, y, fill_value):
            self._scipys = own.interp1d(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)
        x, y = inexact(x), inexact(y)
        self.axis = axis % len(y.shape)
        y = np.moveaxis(y, self.axis, 0)
        if not assume_sorted:
            order = np.argsort(x)
            x, y = taken(x, order), taken(y, order, axis=0)
        kinds = ("linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "cubic", "quadratic")
        named = {0: "zero", 1: "slinear", 2: "quadratic", 3: "cubic"}.get(kind, kind)
        if named not in kinds:
            raise unsupported("scipy.interpolate.interp1d", f"kind={kind!r}", "Write make_interp_spline(x, y, k).")
        self.kind, self.x, self.y = named, x, y
        self.extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.fill_value = fill_value
        self.bounds_error = (not self.extrapolates and fill_value is np.nan) if bounds_error is None else bounds_error
        self.curve: Any = None
        if named in ("cubic", "quadratic"):
            self.curve = make_interp_spline(x, y, 3 if named == "cubic" else 2)

    def _evaluate(self, x: Any) -> Array:
        where = inexact(x)
        flat = np.reshape(where, (-1,))
        first, last = self.x[0], self.x[-1]
        below, above = flat < first, flat > last
        if self.bounds_error and not self.extrapolates:
            self._require_inside(below, above)
        found = self.curve._evaluate(flat) if self.curve is not None else self._pieces(flat)
        if not self.extrapolates:
            low, high = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value, self.fill_value)
            found = np.where(_columns(below, found), low, np.where(_columns(above, found), high, found))
        found = np.reshape(found, (*where.shape, *self.y.shape[1:]))
        ndim = len(where.shape)
        return np.moveaxis(found, tuple(range(ndim)), tuple(range(self.axis, self.axis + ndim))) if self.axis else found

    def _require_inside(self, below: Array, above: Array) -> None:
        """Where the numbers are known; a compiled call gives NaN outside."""
        from ..contract.errors import NumpyCodeError

        try:
            outside = numbers(below, "interp1d").any(), numbers(above, "interp1d").any()
        except NumpyCodeError:
            return
        if outside[0]:
            raise ValueError("A value in x_new is below the interpolation range.")
        if outside[1]:
            raise ValueError("A value in x_new is above the interpolation range.")

    def _pieces(self, x: Array) -> Array:
        count = self.x.shape[0]
        if self.kind in ("linear", "slinear"):
            piece = np.clip(np.searchsorted(self.x, x, side="left") - 1, 0, count - 2)
            left, right = taken(self.x, piece), taken(self.x, piece + 1)
            low, high = taken(self.y, piece, axis=0), taken(self.y, piece + 1, axis=0)
            return low + _columns((x - left) / (right - left), low) * (high - low)
        if self.kind in ("nearest", "nearest-up"):
            side: Any = "left" if self.kind == "nearest" else "right"
            place = np.searchsorted((self.x[1:] + self.x[:-1]) / 2, x, side=side)
        elif self.kind == "next":
            place = np.searchsorted(self.x, x, side="left")
        else:
            place = np.searchsorted(self.x, x, side="right") - 1
        return taken(self.y, np.clip(place, 0, count - 1), axis=0)


@_class(own.RegularGridInterpolator)
class RegularGridInterpolator(_Curve):
    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan,
        **options: Any,
    ):  # fmt: skip
        if not is_engines(list(points), values):
            self._scipys = own.RegularGridInterpolator(points, values, method, bounds_error, fill_value, **options)
        if method not in ("linear", "nearest"):
            raise unsupported("scipy.interpolate.RegularGridInterpolator", f"method={method!r}", "Write method='linear'.")
        self.grid = [inexact(p) for p in points]
        self.values, self.method = inexact(values), method
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def _evaluate(self, xi: Any, method: str | None = None) -> Array:
        ndim = len(self.grid)
        xi = np.stack(np.broadcast_arrays(*[inexact(x) for x in xi]), axis=-1) if isinstance(xi, tuple) else inexact(xi)
        if xi.shape[-1] != ndim:
            raise ValueError(f"The requested sample points xi have dimension {xi.shape[-1]} but this interpolator has {ndim}")
        flat = np.reshape(xi, (-1, ndim))
        outside: Any = False
        places, parts = [], []
        for n, axis in enumerate(self.grid):
            at = flat[:, n]
            outside = outside | (at < axis[0]) | (at > axis[-1])
            piece = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, axis.shape[0] - 2)
            left, right = taken(axis, piece), taken(axis, piece + 1)
            places.append(piece)
            parts.append((at - left) / (right - left))
        if self.bounds_error:
            self._require_inside(outside)
        inner = self.values.shape[ndim:]
        stacked = np.reshape(self.values, (-1, *inner))
        total: Any = 0.0
        nearest = (method or self.method) == "nearest"
        for corner in [None] if nearest else list(np.ndindex(*[2] * ndim)):
            index: Any = 0
            weight: Any = 1.0
            for n, (piece, part) in enumerate(zip(places, parts)):
                step = (part > 0.5).astype(np.int64) if corner is None else corner[n]
                index = index * self.values.shape[n] + piece + step
                weight = weight if corner is None else weight * (part if corner[n] else 1 - part)
            value = taken(stacked, index, axis=0)
            total = total + (value if corner is None else _columns(weight, value) * value)
        if not self.bounds_error and self.fill_value is not None:
            total = np.where(_columns(outside, total), self.fill_value, total)
        return np.reshape(total, (*xi.shape[:-1], *inner))

    def _require_inside(self, outside: Array) -> None:
        from ..contract.errors import NumpyCodeError

        try:
            found = numbers(outside, "RegularGridInterpolator").any()
        except NumpyCodeError:
            return
        if found:
            raise ValueError("One of the requested xi is out of bounds")


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """scipy.interpolate.interpn, of NumPy's arrays or an engine's."""
    if not is_engines(list(points), values, xi):
        return own.interpn(points, values, xi, method, bounds_error, fill_value)
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)._evaluate(xi)


OURS[own.interpn] = interpn

__getattr__ = rest_of("scipy.interpolate", globals())

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PchipInterpolator", "RegularGridInterpolator",
    "interp1d", "interpn", "make_interp_spline", "splev",
]  # fmt: skip
