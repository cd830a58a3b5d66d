"""scipy.interpolate on the arrays of any engine: piecewise polynomials and linear interpolation.

Each class is derived from the SciPy class. It is made from and called with engine arrays; with plain arrays alone, its
objects are SciPy objects. The formulas are those of SciPy: Fritsch and Butland, SIAM Journal on Scientific Computing, 1984
(monotone); Akima, Journal of the ACM, 1970; de Boor, A Practical Guide to Splines, 1978.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.interpolate as scipy_interpolate

from ..core.contract.errors import NumpyCodeError
from ..numpy_code.made_array import plain
from .arrays import Array, array, inexact, numbers, taken
from .dispatch import OURS, is_engines, rest_of, unsupported

# Piecewise polynomials -----------------------------------------------------------------------------------------------


def _hold(curve: Any, **attributes: Any) -> None:
    """Set the attributes of a curve of engine arrays. SciPy's are properties: of the arrays since 1.16, of all since 1.18."""
    if isinstance(getattr(type(curve), "axis", None), property):
        curve._delegate_to = curve._xp = curve._xp_internal = _Attributes(attributes)
        return
    curve._asarray = _Attributes.asarray
    for name, value in attributes.items():
        setattr(curve, f"_{name}" if isinstance(getattr(type(curve), name, None), property) else name, value)


class _Attributes:
    """The attributes that SciPy's properties read, and the namespace with which they convert them."""

    __name__ = "adinterface.scipy.interpolate"

    def __init__(self, attributes: dict[str, Any]):
        vars(self).update(attributes)

    @staticmethod
    def asarray(x: Any) -> Any:
        return x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(_NAME, name)


class _Curve:
    def __reduce_ex__(self, protocol: Any) -> Any:
        """For copies: the `__setstate__` of SciPy 1.18 would convert a curve's engine arrays into NumPy arrays."""
        of_engine = isinstance(vars(self).get("_xp"), _Attributes)
        return (_restored, (type(self), vars(self).copy())) if of_engine else super().__reduce_ex__(protocol)


def _restored(cls: type, state: dict[str, Any]) -> Any:
    curve: Any = object.__new__(cls)
    vars(curve).update(state)
    return curve


def _class(scipys: Any) -> Callable[[type], Any]:
    """Register a subclass of a SciPy class for that class. Made of plain arrays alone, an object is a SciPy object."""

    def decorate(cls: type) -> type:
        cls.__name__ = cls.__qualname__ = scipys.__name__
        cls.__doc__ = f"scipy.interpolate.{scipys.__name__}, of NumPy's arrays or an engine's."
        OURS[scipys] = cls
        return cls

    return decorate


def _periodic_integral(antiderivative_curve: Any, a: Any, b: Any, start: Any, end: Any) -> Any:
    """The integral from a to b of a curve that repeats, from its antiderivative over one period."""
    zero = antiderivative_curve(start)

    def up_to(x: Any) -> Any:
        periods = np.floor((numbers(x, _NAME) - numbers(start, _NAME)) / numbers(end - start, _NAME))
        return periods * (antiderivative_curve(end) - zero) + antiderivative_curve(x - periods * (end - start)) - zero

    return up_to(b) - up_to(a)


_NAME = "scipy.interpolate"


@_class(scipy_interpolate.PPoly)
class PPoly(_Curve, scipy_interpolate.PPoly):  # type: ignore[misc]
    """Polynomials c[0] (x - a)^k + ... + c[k] between breakpoints."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0):
        c, x = plain((c, x))
        if not is_engines(c, x):
            super().__init__(c, x, extrapolate, axis)
            return
        c = inexact(c)
        if len(c.shape) < 2:
            raise ValueError("Coefficients array must be at least 2-dimensional.")
        if not 0 <= axis < len(c.shape) - 1:
            raise ValueError(f"axis={axis} must be between 0 and {len(c.shape) - 1}")
        if axis:
            c = np.moveaxis(c, (axis, axis + 1), (0, 1))
        x = inexact(x)
        if c.shape[1] != x.shape[0] - 1:
            raise ValueError("number of coefficients != len(x)-1")
        self._set(c, x, extrapolate if extrapolate is None or extrapolate == "periodic" else bool(extrapolate), axis)

    def _set(self, c: Array, x: Array, extrapolate: Any, axis: int) -> None:
        # c has the shape (k + 1, pieces, ...).
        _hold(self, c=c, x=x, axis=axis, extrapolate=True if extrapolate is None else extrapolate)

    @classmethod
    def construct_fast(cls, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Any:
        if not is_engines(c, x):
            return super().construct_fast(c, x, extrapolate, axis)
        made = object.__new__(cls)
        made._set(c, x, extrapolate, axis)
        return made

    @classmethod
    def from_spline(cls, tck: Any, extrapolate: Any = None) -> Any:
        t, c, k = tck.tck if isinstance(tck, scipy_interpolate.BSpline) else plain(tck)
        if not is_engines(t, c):
            return super().from_spline(tck if isinstance(tck, scipy_interpolate.BSpline) else (t, c, k), extrapolate)
        if extrapolate is None and isinstance(tck, scipy_interpolate.BSpline):
            extrapolate = tck.extrapolate
        spline = BSpline.construct_fast(inexact(t), inexact(c), k)
        pieces = [spline(spline.t[:-1], m) / math.factorial(m) for m in range(k, -1, -1)]
        return cls.construct_fast(np.stack(pieces), spline.t, extrapolate)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        x = plain(x)
        if not is_engines(x, self.c, self.x):
            return super().__call__(x, nu, extrapolate)
        c, breaks = _differentiated(self.c, nu), self.x
        x = inexact(x)
        flat = np.reshape(x, (-1,))
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        first, last = breaks[0], breaks[-1]
        if extrapolate == "periodic":
            flat = first + np.remainder(flat - first, last - first)
        piece = np.clip(np.searchsorted(breaks, flat, side="right") - 1, 0, breaks.shape[0] - 2)
        step = flat - taken(breaks, piece)
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

    def derivative(self, nu: int = 1) -> Any:
        if not is_engines(self.c, self.x):
            return super().derivative(nu)
        if nu < 0:
            return self.antiderivative(-nu)
        return self.construct_fast(_differentiated(self.c, nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        if not is_engines(self.c, self.x):
            return super().antiderivative(nu)
        if nu <= 0:
            return self.derivative(-nu)
        c, x = self.c, self.x
        inner = (1,) * (len(c.shape) - 2)
        widths = np.reshape(x[1:] - x[:-1], (-1, *inner))
        for _ in range(nu):
            raised = c / np.reshape(np.arange(c.shape[0], 0, -1).astype(c.dtype), (-1, 1, *inner))
            areas: Any = 0.0
            for coefficients in raised:
                areas = (areas + coefficients) * widths
            starts = np.concatenate([0 * areas[:1], np.cumsum(areas, axis=0)[:-1]], axis=0)
            c = np.concatenate([raised, starts[None]], axis=0)
        return self.construct_fast(c, x, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """As SciPy's, inside the breakpoints or where the last pieces go on."""
        a, b = plain((a, b))
        if not is_engines(a, b, self.c, self.x):
            return super().integrate(a, b, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        antiderivative_curve = PPoly.construct_fast(self.c, self.x, True).antiderivative()
        if extrapolate == "periodic":
            return _periodic_integral(antiderivative_curve, a, b, self.x[0], self.x[-1])
        return antiderivative_curve(b, extrapolate=extrapolate) - antiderivative_curve(a, extrapolate=extrapolate)

    def solve(self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        if not is_engines(y, self.c, self.x):
            return super().solve(plain(y), discontinuity, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        level = float(np.reshape(numbers(y, _NAME), ()))
        known = scipy_interpolate.PPoly.construct_fast(numbers(self.c, _NAME), numbers(self.x, _NAME), extrapolate)
        roots = known.solve(level, discontinuity, extrapolate)
        if len(self.c.shape) == 2:
            return self._followed(self.c, known, roots, level, y)
        result = np.empty(roots.shape, object)
        for place in np.ndindex(roots.shape):
            inside = (slice(None), slice(None), *place)
            one = scipy_interpolate.PPoly.construct_fast(known.c[inside], known.x, extrapolate)
            result[place] = self._followed(self.c[inside], one, roots[place], level, y)
        return result

    def _followed(self, c: Array, known: Any, roots: Any, level: float, y: Any) -> Any:
        """Known roots, with derivatives from the curve: each step of the chord method adds one order."""
        if not roots.size:
            return roots
        size = np.max(np.abs(known(known.x))) + abs(level)
        off, slope = known(roots) - level, known(roots, 1)
        nan = np.isnan(roots)
        jumps = np.isin(roots, known.x) & (np.abs(off) > 1e-9 * size)
        if np.any(~nan & ~jumps & (np.abs(slope) * (known.x[-1] - known.x[0]) <= 1e-7 * size)):
            raise NumpyCodeError(
                f"{_NAME}: a root at which the curve has no slope has no derivative: {roots.tolist()}. Solve for another y."
            )
        usual = ~nan & ~jumps
        at: Any = np.where(usual, roots, known.x[0])
        curve = PPoly.construct_fast(c, self.x, True)
        for _ in range(4):
            at = at - (curve(at) - y) / np.where(usual, slope, 1.0)
        breaks = taken(self.x, np.clip(np.searchsorted(known.x, np.where(nan, known.x[0], roots)), 0, len(known.x) - 1))
        return np.where(usual, at, np.where(jumps, breaks, np.nan))


def _differentiated(c: Array, nu: int) -> Array:
    for _ in range(nu):
        k = c.shape[0] - 1
        c = c[:-1] * np.reshape(np.arange(k, 0, -1).astype(c.dtype), (-1, *[1] * (len(c.shape) - 1))) if k else 0 * c
    return c


class _Interpolator(PPoly):
    """A curve through points, whose coefficients are NumPy code of them."""

    def __init__(self, x: Any, y: Any, *args: Any, axis: int = 0, **keywords: Any):
        x, y, args, keywords = plain((x, y, args, keywords))
        if not is_engines(x, y, *args, *keywords.values()):
            super(PPoly, self).__init__(x, y, *args, axis=axis, **keywords)
            return
        x, y = inexact(x), inexact(y)
        if len(x.shape) != 1 or x.shape[0] < 2:
            raise ValueError("`x` must be 1-dimensional and contain at least 2 elements.")
        axis = axis % len(y.shape)
        y = np.moveaxis(y, axis, 0)
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"The length of `y` along `axis`={axis} doesn't match the length of `x`")
        c, extrapolate = self._coefficients(x, y, *args, **keywords)
        self._set(c, x, extrapolate, axis)

    def _coefficients(self, x: Array, y: Array, *args: Any, **keywords: Any) -> tuple[Array, Any]:
        raise NotImplementedError


def _columns(x: Array, y: Array) -> Array:
    """x with as many axes as y."""
    return np.reshape(x, (-1, *[1] * (len(y.shape) - 1)))


def _hermite(x: Array, y: Array, slopes: Array) -> Array:
    """The cubic pieces with these values and slopes at their ends."""
    h = _columns(x[1:] - x[:-1], y)
    rise = (y[1:] - y[:-1]) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / h
    return np.stack([bend / h, (rise - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


@_class(scipy_interpolate.CubicHermiteSpline)
class CubicHermiteSpline(_Interpolator, scipy_interpolate.CubicHermiteSpline):  # type: ignore[misc]
    def _coefficients(self, x: Array, y: Array, dydx: Any, extrapolate: Any = None) -> tuple[Array, Any]:
        return _hermite(x, y, inexact(dydx)), extrapolate


@_class(scipy_interpolate.CubicSpline)
class CubicSpline(CubicHermiteSpline, scipy_interpolate.CubicSpline):  # type: ignore[misc]
    def __init__(self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None):
        super().__init__(x, y, axis=axis, bc_type=bc_type, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, bc_type: Any, extrapolate: Any) -> tuple[Array, Any]:  # type: ignore[override]
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
    result = np.linalg.solve(matrix, np.reshape(vector, (n, -1)))
    return np.reshape(result, y.shape)


def _conditions(bc_type: Any, y: Array) -> tuple[Any, Any]:
    """What holds at the ends: 'not-a-knot', or the order and the value of a derivative."""
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    named = {"clamped": (1, 0.0), "natural": (2, 0.0), "not-a-knot": "not-a-knot"}
    result = []
    for condition in both:
        if isinstance(condition, str):
            if condition not in named:
                raise ValueError(f"bc_type={condition} is not allowed.")
            result.append(named[condition])
        else:
            result.append((int(condition[0]), condition[1]))
    return result[0], result[1]


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
        both = near + far
        row = _row([far, both], n, side)
        right = ((near + 2 * both) * far * slope + near**2 * next_slope) / both
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
    result = np.reshape(np.linalg.solve(matrix, np.reshape(right, (n, -1))), (n, *y.shape[1:]))
    return np.concatenate([result, result[:1]], axis=0)


@_class(scipy_interpolate.PchipInterpolator)
class PchipInterpolator(CubicHermiteSpline, scipy_interpolate.PchipInterpolator):  # type: ignore[misc]
    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None):
        super().__init__(x, y, axis=axis, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, extrapolate: Any) -> tuple[Array, Any]:  # type: ignore[override]
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


@_class(scipy_interpolate.Akima1DInterpolator)
class Akima1DInterpolator(CubicHermiteSpline, scipy_interpolate.Akima1DInterpolator):  # type: ignore[misc]
    def __init__(self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None):
        super().__init__(x, y, axis=axis, method=method, extrapolate=extrapolate)

    def _coefficients(self, x: Array, y: Array, method: str, extrapolate: Any) -> tuple[Array, Any]:  # type: ignore[override]
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
        # SciPy takes the mean where the neighbouring slopes change little compared with the largest change.
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


@_class(scipy_interpolate.BSpline)
class BSpline(_Curve, scipy_interpolate.BSpline):  # type: ignore[misc]
    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0):
        t, c = plain((t, c))
        if not is_engines(t, c):
            super().__init__(t, c, k, extrapolate, axis)
            return
        t, c, k = inexact(t), inexact(c), int(k)
        axis = axis % len(c.shape)
        c = np.moveaxis(c, axis, 0)
        count = t.shape[0] - k - 1
        if count < k + 1:
            raise ValueError(f"Need at least {2 * k + 2} knots for degree {k}")
        if c.shape[0] < count:
            raise ValueError("Knots, coefficients and degree are inconsistent.")
        self._set(t, c, k, extrapolate, axis)

    def _set(self, t: Array, c: Array, k: int, extrapolate: Any, axis: int) -> None:
        _hold(self, t=t, c=c, k=k, axis=axis, extrapolate=extrapolate)

    @classmethod
    def construct_fast(cls, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Any:
        if not is_engines(t, c):
            return super().construct_fast(t, c, k, extrapolate, axis)
        made = object.__new__(cls)
        made._set(t, c, k, extrapolate, axis)
        return made

    @classmethod
    def basis_element(cls, t: Any, extrapolate: Any = True) -> Any:
        t = plain(t)
        if not is_engines(t):
            return super().basis_element(t, extrapolate)
        t = inexact(t)
        k = t.shape[0] - 2
        t = np.concatenate([t[:1] - 1] * k + [t] + [t[-1:] + 1] * k)
        c = np.zeros(t.shape)
        c[k] = 1.0
        return cls.construct_fast(t, c.astype(t.dtype), k, extrapolate)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        x = plain(x)
        if not is_engines(x, self.t, self.c):
            return super().__call__(x, nu, extrapolate)
        if nu:
            return self.derivative(nu)(x, 0, extrapolate)
        x, t, c = inexact(x), inexact(self.t), inexact(self.c)
        flat = np.reshape(x, (-1,))
        count = t.shape[0] - self.k - 1
        start, end = t[self.k], t[count]
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        if extrapolate == "periodic":
            flat = start + np.remainder(flat - start, end - start)
        first, values = _basis(t, self.k, flat, count)
        total: Any = 0.0
        for n in range(self.k + 1):
            total = total + _columns(values[n], c) * taken(c, first + n, axis=0)
        if not extrapolate:
            total = np.where(_columns((flat < start) | (flat > end), c), np.nan, total)
        total = np.reshape(total, (*x.shape, *c.shape[1:]))
        ndim = len(x.shape)
        return np.moveaxis(total, tuple(range(ndim)), tuple(range(self.axis, self.axis + ndim))) if self.axis else total

    def derivative(self, nu: int = 1) -> Any:
        # Of plain arrays, too: SciPy's keeps coefficients of knots that no longer count.
        t, c, k = self.t, inexact(self.c)[: self.t.shape[0] - self.k - 1], self.k
        if nu < 0:
            return self.antiderivative(-nu)
        for _ in range(nu):
            if k == 0:
                c = 0 * c
                break
            lower = _divided(k * (c[1:] - c[:-1]), _columns(t[k + 1 : -1] - t[1 : -k - 1], c))
            t, c, k = t[1:-1], lower, k - 1
        return self.construct_fast(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        if not is_engines(self.t, self.c):
            return super().antiderivative(nu)
        if nu <= 0:
            return self.derivative(-nu)
        t, c, k = self.t, inexact(self.c)[: self.t.shape[0] - self.k - 1], self.k
        for _ in range(nu):
            areas = np.cumsum(c * _columns(t[k + 1 :] - t[: -k - 1], c), axis=0) / (k + 1)
            t = np.concatenate([t[:1], t, t[-1:]])
            c, k = np.concatenate([0 * areas[:1], areas], axis=0), k + 1
        # As many coefficients as SciPy's, of which the last k + 1 do not count.
        c = np.concatenate([c] + [c[-1:]] * (k + 1), axis=0)
        return self.construct_fast(t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        a, b = plain((a, b))
        if not is_engines(a, b, self.t, self.c):
            return super().integrate(a, b, extrapolate)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        antiderivative_curve = BSpline.construct_fast(inexact(self.t), self.c, self.k).antiderivative()
        start, end = self.t[self.k], self.t[self.t.shape[0] - self.k - 1]
        if extrapolate == "periodic":
            return _periodic_integral(antiderivative_curve, a, b, start, end)
        if not extrapolate:  # nothing outside of the knots
            a, b = [np.minimum(np.maximum(end_, start), end) for end_ in (a, b)]
        return antiderivative_curve(b) - antiderivative_curve(a)


def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """scipy.interpolate.make_interp_spline of NumPy or engine arrays, by the collocation matrix."""
    x, y, t = plain((x, y, t))
    if not is_engines(x, y):
        made = scipy_interpolate.make_interp_spline(x, y, k, t, bc_type, axis, check_finite)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis)
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
            t = scipy_interpolate.make_interp_spline(x, np.zeros(n), k).t
    t = inexact(t)
    first, values = _basis(t, k, x, n)
    columns = np.arange(n)
    matrix: Any = 0.0
    for m in range(k + 1):
        matrix = matrix + np.where(columns == (first + m)[:, None], values[m][:, None], 0.0)
    c = np.reshape(np.linalg.solve(matrix, np.reshape(y, (n, -1))), y.shape)
    return BSpline.construct_fast(t, c, k, True, axis % len(c.shape))


make_interp_spline.makes_objects = True  # type: ignore[attr-defined]
OURS[scipy_interpolate.make_interp_spline] = make_interp_spline


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """scipy.interpolate.splev, of NumPy's arrays or an engine's."""
    t, c, k = plain(tuple(tck) if isinstance(tck, (tuple, list)) else tck.tck)
    x = plain(x)
    if not is_engines(x, t, c):
        return scipy_interpolate.splev(x, tck, der, ext)
    if isinstance(c, list):  # a curve in several dimensions
        return [splev(x, (t, part, k), der, ext) for part in c]
    t, c, x = inexact(t), inexact(c), inexact(x)
    first, last = t[k], t[t.shape[0] - k - 1]
    inside = (x >= first) & (x <= last)
    if ext == 2 and not np.all(inside):
        raise ValueError("Found x value not in the domain")
    if ext == 3 and der == 0:  # SciPy extrapolates derivatives then
        x = np.clip(x, first, last)
    value = BSpline(t, c[: t.shape[0] - k - 1], k)(x, der)
    return np.where(inside, value, 0.0) if ext == 1 else value


def splint(a: Any, b: Any, tck: Any) -> Any:
    """scipy.interpolate.splint, of NumPy's arrays or an engine's: a spline is zero outside of its knots."""
    t, c, k = plain(tuple(tck) if isinstance(tck, (tuple, list)) else tck.tck)
    a, b = plain((a, b))
    if not is_engines(a, b, t, c):
        return scipy_interpolate.splint(a, b, tck)
    return BSpline(t, inexact(c)[: t.shape[0] - k - 1], k).integrate(a, b, extrapolate=False)


OURS |= {scipy_interpolate.splev: splev, scipy_interpolate.splint: splint}


# Linear --------------------------------------------------------------------------------------------------------------


class _Lines:
    """Interpolation by lines, steps or splines between points; some arrays may be engine arrays."""

    def __init__(
        self, x: Any, y: Any, kind: Any, axis: int, bounds_error: bool | None, fill_value: Any, assume_sorted: bool
    ):  # fmt: skip
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
        if self.extrapolates and named in ("previous", "next"):  # there is none before the first, and none after the last
            self.extrapolates, bounds_error = False, False
            fill_value = (np.nan, y[-1]) if named == "previous" else (y[0], np.nan)
        self.fill_value = fill_value
        self.bounds_error = (not self.extrapolates and fill_value is np.nan) if bounds_error is None else bounds_error
        self.curve: Any = None
        if named in ("cubic", "quadratic"):
            self.curve = make_interp_spline(x, y, 3 if named == "cubic" else 2)

    def __call__(self, x: Any) -> Array:
        where = inexact(x)
        flat = np.reshape(where, (-1,))
        first, last = self.x[0], self.x[-1]
        below, above = flat < first, flat > last
        if self.bounds_error and not self.extrapolates:
            self._require_inside(below, above)
        result = self.curve(flat) if self.curve is not None else self._pieces(flat)
        if not self.extrapolates:
            low, high = self.fill_value if isinstance(self.fill_value, tuple) else (self.fill_value, self.fill_value)
            result = np.where(_columns(below, result), low, np.where(_columns(above, result), high, result))
        result = np.reshape(result, (*where.shape, *self.y.shape[1:]))
        ndim = len(where.shape)
        return np.moveaxis(result, tuple(range(ndim)), tuple(range(self.axis, self.axis + ndim))) if self.axis else result

    def _require_inside(self, below: Array, above: Array) -> None:
        """Where the numbers are known; a compiled call gives NaN outside."""
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


@_class(scipy_interpolate.interp1d)
class interp1d(scipy_interpolate.interp1d):  # type: ignore[misc]
    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True, bounds_error: bool | None = None,
        fill_value: Any = np.nan, assume_sorted: bool = False,
    ):  # fmt: skip
        x, y, fill_value = plain((x, y, fill_value))
        self._given = (x, y, kind, axis, bounds_error, fill_value, assume_sorted)
        self._lines: _Lines | None = None
        if is_engines(x, y, fill_value):
            self._lines = _Lines(*self._given)
            self.x, self.y = self._lines.x, y
        else:
            super().__init__(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)

    def __call__(self, x: Any) -> Any:
        x = plain(x)
        state = vars(self)  # that of an interp1d of SciPy, where copied code captures one
        lines = state.get("_lines")
        if lines is None and not is_engines(x):
            return super().__call__(x)
        if "_given" in state:
            given = self._given
        else:
            kind = self._spline.k if self._kind == "spline" else self._kind
            given = self.x, self.y, kind, self.axis, self.bounds_error, self.fill_value, True
        return (lines or _Lines(*given))(x)


class _Grid:
    """Interpolation in a grid of several axes; some arrays may be engine arrays."""

    def __init__(self, points: Any, values: Any, method: str, bounds_error: bool, fill_value: Any):
        if method not in ("linear", "nearest"):
            raise unsupported("scipy.interpolate.RegularGridInterpolator", f"method={method!r}", "Write method='linear'.")
        self.grid = [inexact(p) for p in points]
        self.values, self.method = inexact(values), method
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def __call__(self, xi: Any, method: str | None = None) -> Array:
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
        try:
            result = numbers(outside, "RegularGridInterpolator").any()
        except NumpyCodeError:
            return
        if result:
            raise ValueError("One of the requested xi is out of bounds")


@_class(scipy_interpolate.RegularGridInterpolator)
class RegularGridInterpolator(scipy_interpolate.RegularGridInterpolator):  # type: ignore[misc]
    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan,
        **options: Any,
    ):  # fmt: skip
        points, values, fill_value = plain((points, values, fill_value))
        self._given = (points, values, method, bounds_error, fill_value)
        self._engines: _Grid | None = None
        if is_engines(list(points), values, fill_value):
            self._engines = _Grid(*self._given)
        else:
            super().__init__(points, values, method, bounds_error, fill_value, **options)

    def __call__(self, xi: Any, method: str | None = None, **options: Any) -> Any:
        xi = plain(xi)
        if self._engines is None and not is_engines(xi):
            return super().__call__(xi, method, **options)
        return (self._engines or _Grid(*self._given))(xi, method)


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """scipy.interpolate.interpn, of NumPy's arrays or an engine's."""
    points, values, xi = plain((points, values, xi))
    if not is_engines(list(points), values, xi):
        return scipy_interpolate.interpn(points, values, xi, method, bounds_error, fill_value)
    return _Grid(points, values, method, bounds_error, fill_value)(xi)


OURS[scipy_interpolate.interpn] = interpn

__getattr__: Callable[[str], Any] = rest_of("scipy.interpolate", globals())

__all__ = [
    "Akima1DInterpolator", "BSpline", "CubicHermiteSpline", "CubicSpline", "PPoly", "PchipInterpolator",
    "RegularGridInterpolator", "interp1d", "interpn", "make_interp_spline", "splev", "splint",
]  # fmt: skip
