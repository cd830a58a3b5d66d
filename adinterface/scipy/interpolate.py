"""scipy.interpolate on the arrays of any engine: piecewise polynomials and linear interpolation.

Each class is derived from the SciPy class. It is made from and called with engine arrays; with
plain arrays alone, its objects are SciPy objects. The formulas are those of SciPy: Fritsch and
Butland, SIAM Journal on Scientific Computing, 1984 (monotone); Akima, Journal of the ACM, 1970; de
Boor, A Practical Guide to Splines, 1978.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate as scipy_interpolate
from scipy.interpolate import _fitpack_impl

from ..core.contract.errors import NumpyCodeError
from ..numpy_code.made_array import plain
from .arrays import Array, array, columns, identity, inexact, multilinear, numbers, taken
from .dispatch import OURS, is_engines, rest_of, unsupported

# Piecewise polynomials
# -----------------------------------------------------------------------------------------------


class _Curve:
    """A curve of SciPy's class, or one of engine arrays.

    The attributes of the latter are in its `__dict__`, and `_held` names them: SciPy's class has
    properties or slots for them, by its version.
    """

    @classmethod
    def _made(cls, **attributes: Any) -> Any:
        """A curve of engine arrays."""
        made = object.__new__(cls)
        made._hold(**attributes)
        return made

    def _hold(self, **attributes: Any) -> None:
        vars(self).update(attributes, _held=frozenset(attributes))

    def __getattribute__(self, name: str) -> Any:
        """Raises NumpyCodeError for what a curve of engine arrays has not."""
        own = object.__getattribute__(self, "__dict__")
        if "_held" not in own or name.startswith("_"):
            return super().__getattribute__(name)
        if name in own["_held"]:
            return own[name]
        owner = next((base for base in type(self).__mro__ if name in vars(base)), object)
        if (
            name in own
            or not owner.__module__.startswith("scipy.")
            or isinstance(vars(owner)[name], (classmethod, staticmethod))
        ):
            return super().__getattribute__(name)
        instead = "Write adinterface.rules.root with the curve as its function."
        raise unsupported(
            f"{_NAME}.{type(self).__name__}", name, instead if name in ("roots", "solve") else ""
        )

    def __setattr__(self, name: str, value: Any) -> None:
        own = vars(self)
        if name in own.get("_held", ()):
            own[name] = inexact(plain(value)) if name in ("c", "t", "x") else value
        else:
            super().__setattr__(name, value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        own = vars(self)
        if "_held" not in own:
            return super().__reduce_ex__(protocol)
        return _restored, (type(self), own.copy())

    def _at(self, values: Callable[[Array], Array], x: Any, extrapolate: Any) -> Any:
        """A function of a vector at places of any shape: repeated, continued, or NaN beyond its
        ends.
        """
        x, extrapolate = inexact(x), self._extrapolated(extrapolate)
        flat = np.reshape(x, (-1,))
        start, end = self._ends()
        if extrapolate == "periodic":
            flat = start + np.remainder(flat - start, end - start)
        result = values(flat)
        if not extrapolate:
            result = np.where(columns((flat < start) | (flat > end), result), np.nan, result)
        return _placed(result, x.shape, self.axis)

    def _ends(self) -> tuple[Any, Any]:
        raise NotImplementedError

    def _extrapolated(self, given: Any) -> Any:
        return self.extrapolate if given is None else given

    def _area(self, area: Any, a: Any, b: Any, extrapolate: Any) -> Any:
        """The integral from a to b. area: an antiderivative, which goes on beyond the ends."""
        if extrapolate != "periodic":
            return area(b, 0, extrapolate) - area(a, 0, extrapolate)
        start, end = self._ends()

        def before(x: Any) -> Any:
            turns = np.floor((x - start) / (end - start))
            return turns * (area(end) - area(start)) + area(x - turns * (end - start))

        return before(b) - before(a)


def _restored(cls: Any, attributes: dict[str, Any]) -> Any:
    curve = object.__new__(cls)
    vars(curve).update(attributes)
    return curve


def _placed(result: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Values at a vector of places, at places of a shape, whose axes begin at `axis`."""
    result = np.reshape(result, (*shape, *result.shape[1:]))
    ndim = len(shape)
    return (
        np.moveaxis(result, tuple(range(ndim)), tuple(range(axis, axis + ndim))) if axis else result
    )


def _class(scipys: Any) -> Callable[[type], Any]:
    """Register a subclass of a SciPy class for that class.

    Made of plain arrays alone, an object is a SciPy object.
    """

    def decorate(cls: type) -> type:
        cls.__name__ = cls.__qualname__ = scipys.__name__
        cls.__doc__ = f"scipy.interpolate.{scipys.__name__}, of NumPy's arrays or an engine's."
        OURS[scipys] = cls
        return cls

    return decorate


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
        extrapolate = True if extrapolate is None else extrapolate
        self._hold(c=c, x=x, axis=axis, extrapolate=extrapolate)

    @classmethod
    def construct_fast(cls, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> Any:
        if not is_engines(c, x):
            return super().construct_fast(c, x, extrapolate, axis)
        return cls._made(
            c=c, x=x, axis=axis, extrapolate=True if extrapolate is None else extrapolate
        )

    @classmethod
    def from_spline(cls, tck: Any, extrapolate: Any = None) -> Any:
        t, c, k = tck.tck if isinstance(tck, scipy_interpolate.BSpline) else plain(tck)
        if not is_engines(t, c):
            return super().from_spline(
                tck if isinstance(tck, scipy_interpolate.BSpline) else (t, c, k), extrapolate
            )
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

        def values(x: Array) -> Array:
            piece = np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, breaks.shape[0] - 2)
            step = columns(x - taken(breaks, piece), c[0])
            total: Any = 0.0
            for coefficients in c:
                total = total * step + taken(coefficients, piece, axis=0)
            return total

        return self._at(values, x, extrapolate)

    def _ends(self) -> tuple[Any, Any]:
        return self.x[0], self.x[-1]

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
        widths = columns(x[1:] - x[:-1], c[0])
        for _ in range(nu):
            raised = c / columns(np.arange(c.shape[0], 0, -1).astype(c.dtype), c)
            areas: Any = 0.0
            for coefficients in raised:
                areas = (areas + coefficients) * widths
            starts = np.concatenate([0 * areas[:1], np.cumsum(areas, axis=0)[:-1]], axis=0)
            c = np.concatenate([raised, starts[None]], axis=0)
        return self.construct_fast(
            c, x, False if self.extrapolate == "periodic" else self.extrapolate, self.axis
        )

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """As SciPy's, inside the breakpoints or where the last pieces go on."""
        a, b = plain((a, b))
        if not is_engines(a, b, self.c, self.x):
            return super().integrate(a, b, extrapolate)
        area = PPoly.construct_fast(self.c, self.x, True).antiderivative()
        return self._area(area, a, b, self._extrapolated(extrapolate))


def _differentiated(c: Array, nu: int) -> Array:
    for _ in range(nu):
        k = c.shape[0] - 1
        c = c[:-1] * columns(np.arange(k, 0, -1).astype(c.dtype), c) if k else 0 * c
    return c


class _Interpolator(PPoly):
    """A curve through points, of cubic pieces with slopes that are NumPy code of the points."""

    def _through(
        self,
        slopes: Callable[..., Array],
        x: Any,
        y: Any,
        axis: int,
        extrapolate: Any,
        **options: Any,
    ) -> None:
        x, y, options = plain((x, y, options))
        if not is_engines(x, y, *options.values()):
            super(PPoly, self).__init__(x, y, axis=axis, extrapolate=extrapolate, **options)
            return
        x, y = inexact(x), inexact(y)
        if len(x.shape) != 1 or x.shape[0] < 2:
            raise ValueError("`x` must be 1-dimensional and contain at least 2 elements.")
        axis = axis % len(y.shape)
        y = np.moveaxis(y, axis, 0)
        if x.shape[0] != y.shape[0]:
            raise ValueError(
                f"The length of `y` along `axis`={axis} doesn't match the length of `x`"
            )
        c = _hermite(x, y, slopes(x, y, **options))
        self._hold(c=c, x=x, axis=axis, extrapolate=True if extrapolate is None else extrapolate)


def _rises(x: Array, y: Array) -> tuple[Array, Array]:
    """The widths of the pieces, with as many axes as y, and the slopes of lines through the
    points.
    """
    h = columns(x[1:] - x[:-1], y)
    return h, (y[1:] - y[:-1]) / h


def _hermite(x: Array, y: Array, slopes: Array) -> Array:
    """The cubic pieces with these values and slopes at their ends."""
    h, rise = _rises(x, y)
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / h
    return np.stack([bend / h, (rise - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])


@_class(scipy_interpolate.CubicHermiteSpline)
class CubicHermiteSpline(_Interpolator, scipy_interpolate.CubicHermiteSpline):  # type: ignore[misc]
    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None):
        self._through(
            lambda x, y, dydx: np.moveaxis(inexact(dydx), axis, 0),
            x,
            y,
            axis,
            extrapolate,
            dydx=dydx,
        )


@_class(scipy_interpolate.CubicSpline)
class CubicSpline(CubicHermiteSpline, scipy_interpolate.CubicSpline):  # type: ignore[misc]
    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ):
        if extrapolate is None and isinstance(bc_type, str) and bc_type == "periodic":
            extrapolate = "periodic"
        self._through(_smooth, x, y, axis, extrapolate, bc_type=bc_type)


def _smooth(x: Array, y: Array, bc_type: Any) -> Array:
    """The slopes of a curve with two continuous derivatives: those for which linear conditions
    hold.
    """
    n, (_, rise) = x.shape[0], _rises(x, y)
    ends = _conditions(bc_type)
    if n == 2:
        ends = [(1, rise) if end == "not-a-knot" else end for end in ends]

    def off(y: Array, slopes: Array, known: bool) -> Array:
        """By how much each condition fails, without the value that is asked for unless that is
        `known`.
        """
        (h, _), c = _rises(x, y), _hermite(x, y, slopes)
        third, second = 6 * c[0], 2 * c[1]  # at the start of each piece
        behind = second + third * h
        at = {1: (slopes[:1], slopes[-1:]), 2: (second[:1], behind[-1:])}
        rows = []
        for side, end in enumerate(ends):
            # for three points both ends have this condition, and the curve is a parabola
            if end == "not-a-knot":
                one, other = (third[:1], third[1:2]) if side == 0 else (third[-1:], third[-2:-1])
                rows.append(one if side == 1 and n == 3 and ends[0] == end else one - other)
            elif end == "periodic":
                rows.append(at[1 + side][0] - at[1 + side][1])
            else:
                order, value = end
                rows.append(
                    at[order][side] - np.reshape(array(value), (1, -1))
                    if known
                    else at[order][side]
                )
        return np.concatenate([rows[0], second[1:] - behind[:-1], rows[1]], axis=0)

    flat = np.reshape(y, (n, -1))
    matrix = off(np.zeros((n, n), x.dtype), identity(n, x), False)
    return np.reshape(-np.linalg.solve(matrix, off(flat, 0 * flat, True)), y.shape)


def _conditions(bc_type: Any) -> list[Any]:
    """What holds at each end: 'not-a-knot', 'periodic', or the order and the value of a
    derivative.
    """
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    named = {
        "clamped": (1, 0.0),
        "natural": (2, 0.0),
        "not-a-knot": "not-a-knot",
        "periodic": "periodic",
    }
    result: list[Any] = []
    for condition in both:
        if isinstance(condition, str):
            if condition not in named:
                raise ValueError(f"bc_type={condition} is not allowed.")
            result.append(named[condition])
        elif int(condition[0]) not in (1, 2):
            raise ValueError("The specified derivative order must be 1 or 2.")
        else:
            result.append((int(condition[0]), condition[1]))
    return result


@_class(scipy_interpolate.PchipInterpolator)
class PchipInterpolator(CubicHermiteSpline, scipy_interpolate.PchipInterpolator):  # type: ignore[misc]
    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None):
        self._through(_monotone, x, y, axis, extrapolate)


def _monotone(x: Array, y: Array) -> Array:
    h, rise = _rises(x, y)
    if x.shape[0] == 2:
        return np.concatenate([rise, rise], axis=0)
    before, after = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    turning = np.sign(rise[:-1]) * np.sign(rise[1:]) <= 0
    left, right = [np.where(turning, 1.0, part) for part in (rise[:-1], rise[1:])]
    inner = np.where(turning, 0.0, (before + after) / (before / left + after / right))
    first = _one_sided(h[:1], h[1:2], rise[:1], rise[1:2])
    last = _one_sided(h[-1:], h[-2:-1], rise[-1:], rise[-2:-1])
    return np.concatenate([first, inner, last], axis=0)


def _one_sided(h: Array, next_h: Array, rise: Array, next_rise: Array) -> Array:
    """Three points' slope at an end, bounded so that the shape is kept."""
    slope = ((2 * h + next_h) * rise - h * next_rise) / (h + next_h)
    away = np.sign(slope) != np.sign(rise)
    steep = (np.sign(rise) != np.sign(next_rise)) & (np.abs(slope) > 3 * np.abs(rise))
    return np.where(away, 0.0, np.where(steep & ~away, 3 * rise, slope))


@_class(scipy_interpolate.Akima1DInterpolator)
class Akima1DInterpolator(CubicHermiteSpline, scipy_interpolate.Akima1DInterpolator):  # type: ignore[misc]
    def __init__(
        self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
    ):
        self._through(_akima, x, y, axis, bool(extrapolate), method=method)


def _akima(x: Array, y: Array, method: str) -> Array:
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    _, rise = _rises(x, y)
    if x.shape[0] == 2:
        return np.concatenate([rise, rise], axis=0)
    one, two = 2 * rise[:1] - rise[1:2], 3 * rise[:1] - 2 * rise[1:2]
    three, four = 2 * rise[-1:] - rise[-2:-1], 3 * rise[-1:] - 2 * rise[-2:-1]
    m = np.concatenate([two, one, rise, three, four], axis=0)
    change = np.abs(m[1:] - m[:-1])
    if method == "makima":
        change = change + np.abs(m[1:] + m[:-1]) / 2
    ahead, behind = change[2:], change[:-2]
    total = ahead + behind
    # SciPy takes the mean where the neighbouring slopes change little compared with the largest
    # change.
    flat = total <= 1e-9 * np.max(total)
    weighted = (ahead * m[1:-2] + behind * m[2:-1]) / np.where(flat, 1.0, total)
    return np.where(flat, (m[3:] + m[:-3]) / 2 if method == "akima" else 0 * m[3:], weighted)


# B-splines
# ------------------------------------------------------------------------------------------------


def _basis(t: Array, k: int, x: Array, count: int) -> tuple[Array, Array]:
    """The first of the k + 1 B-splines that are not zero at each place, and their values there, by
    Cox and de Boor.
    """
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
    """top / bottom; zero where knots coincide."""
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
        self._hold(t=t, c=c, k=k, axis=axis, extrapolate=extrapolate)

    @classmethod
    def construct_fast(cls, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> Any:
        if not is_engines(t, c):
            return super().construct_fast(t, c, k, extrapolate, axis)
        return cls._made(t=t, c=c, k=k, axis=axis, extrapolate=extrapolate)

    @property
    def tck(self) -> tuple[Any, Any, int]:
        return self.t, self.c, self.k

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
        t, c = inexact(self.t), inexact(self.c)
        count = t.shape[0] - self.k - 1

        def values(x: Array) -> Array:
            first, basis = _basis(t, self.k, x, count)
            total: Any = 0.0
            for n in range(self.k + 1):
                total = total + columns(basis[n], c) * taken(c, first + n, axis=0)
            return total

        return self._at(values, x, extrapolate)

    def _ends(self) -> tuple[Any, Any]:
        return self.t[self.k], self.t[self.t.shape[0] - self.k - 1]

    def derivative(self, nu: int = 1) -> Any:
        # Of plain arrays, too: SciPy's keeps coefficients of knots that no longer count.
        t, c, k = self.t, inexact(self.c)[: self.t.shape[0] - self.k - 1], self.k
        if nu < 0:
            return self.antiderivative(-nu)
        for _ in range(nu):
            if k == 0:
                c = 0 * c
                break
            lower = _divided(k * (c[1:] - c[:-1]), columns(t[k + 1 : -1] - t[1 : -k - 1], c))
            t, c, k = t[1:-1], lower, k - 1
        return self.construct_fast(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> Any:
        if not is_engines(self.t, self.c):
            return super().antiderivative(nu)
        if nu <= 0:
            return self.derivative(-nu)
        t, c, k = self.t, inexact(self.c)[: self.t.shape[0] - self.k - 1], self.k
        for _ in range(nu):
            areas = np.cumsum(c * columns(t[k + 1 :] - t[: -k - 1], c), axis=0) / (k + 1)
            t = np.concatenate([t[:1], t, t[-1:]])
            c, k = np.concatenate([0 * areas[:1], areas], axis=0), k + 1
        # As many coefficients as SciPy's, of which the last k + 1 do not count.
        c = np.concatenate([c] + [c[-1:]] * (k + 1), axis=0)
        return self.construct_fast(
            t, c, k, False if self.extrapolate == "periodic" else self.extrapolate, self.axis
        )

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        a, b = plain((a, b))
        if not is_engines(a, b, self.t, self.c):
            return super().integrate(a, b, extrapolate)
        extrapolate = self._extrapolated(extrapolate)
        area = BSpline.construct_fast(inexact(self.t), self.c, self.k).antiderivative()
        if not extrapolate:  # nothing outside of the knots
            start, end = self._ends()
            a, b = [np.minimum(np.maximum(x, start), end) for x in (a, b)]
        return self._area(area, a, b, extrapolate or True)


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> Any:
    """scipy.interpolate.make_interp_spline of NumPy or engine arrays, by the collocation matrix."""
    x, y, t = plain((x, y, t))
    if not is_engines(x, y):
        made = scipy_interpolate.make_interp_spline(x, y, k, t, bc_type, axis, check_finite)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis)
    if bc_type not in (None, "not-a-knot"):
        instead = "Write CubicSpline(x, y, bc_type=...)."
        raise unsupported("scipy.interpolate.make_interp_spline", f"bc_type={bc_type!r}", instead)
    x, y = inexact(x), np.moveaxis(inexact(y), axis, 0)
    n = x.shape[0]
    if n <= k:
        raise ValueError(f"A spline of degree {k} needs {k + 1} points, and x has {n}.")
    if t is None:
        middle = x if k % 2 else (x[1:] + x[:-1]) / 2
        inner = middle[(k + 1) // 2 : middle.shape[0] - (k + 1) // 2] if k else x[1:]
        t = np.concatenate([x[:1]] * (k + 1) + [inner] + [x[-1:]] * (k + 1))
    t = inexact(t)
    matrix = BSpline.construct_fast(t, identity(n, x), k)(x)
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
    """scipy.interpolate.splint, of NumPy's arrays or an engine's: a spline is zero outside of its
    knots.
    """
    t, c, k = plain(tuple(tck) if isinstance(tck, (tuple, list)) else tck.tck)
    a, b = plain((a, b))
    if not is_engines(a, b, t, c):
        return scipy_interpolate.splint(a, b, tck)
    return BSpline(t, inexact(c)[: t.shape[0] - k - 1], k).integrate(a, b, extrapolate=False)


OURS |= {scipy_interpolate.splev: splev, scipy_interpolate.splint: splint}
OURS |= {_fitpack_impl.splev: splev, _fitpack_impl.splint: splint}


# Linear
# ------------------------------------------------------------------------------------------------


def _cell(axis: Array, at: Array, side: Any) -> tuple[Array, Array]:
    """Between which two points places are: the index of the first, and how far they are from it to
    the second.
    """
    first = np.clip(np.searchsorted(axis, at, side=side) - 1, 0, axis.shape[0] - 2)
    left, right = taken(axis, first), taken(axis, first + 1)
    return first, (at - left) / (right - left)


def _require_inside(outside: Array, said: str) -> None:
    """Where the numbers are known; a compiled call gives the fill value outside."""
    try:
        found = numbers(outside, _NAME).any()
    except NumpyCodeError:
        return
    if found:
        raise ValueError(said)


_KINDS = (
    "linear", "nearest", "nearest-up", "previous", "next", "zero", "slinear", "cubic", "quadratic"
)  # fmt: skip


class _Lines:
    """Interpolation by lines, steps or splines between points; some arrays may be engine arrays."""

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: Any,
        axis: int,
        bounds_error: bool | None,
        fill_value: Any,
        assume_sorted: bool,
    ):
        x, y = inexact(x), inexact(y)
        self.axis = axis % len(y.shape)
        y = np.moveaxis(y, self.axis, 0)
        if not assume_sorted:
            order = np.argsort(x)
            x, y = taken(x, order), taken(y, order, axis=0)
        named = {0: "zero", 1: "slinear", 2: "quadratic", 3: "cubic"}.get(kind, kind)
        if named not in _KINDS:
            raise unsupported(
                "scipy.interpolate.interp1d", f"kind={kind!r}", "Write make_interp_spline(x, y, k)."
            )
        self.kind, self.x, self.y = named, x, y
        self.extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        # there is none before the first, and none after the last
        if self.extrapolates and named in ("previous", "next"):
            self.extrapolates, bounds_error = False, False
            fill_value = (np.nan, y[-1]) if named == "previous" else (y[0], np.nan)
        self.fill_value = fill_value
        self.bounds_error = (
            (not self.extrapolates and fill_value is np.nan)
            if bounds_error is None
            else bounds_error
        )
        self.curve: Any = None
        if named in ("cubic", "quadratic"):
            self.curve = make_interp_spline(x, y, 3 if named == "cubic" else 2)

    def __call__(self, x: Any) -> Array:
        where = inexact(x)
        flat = np.reshape(where, (-1,))
        first, last = self.x[0], self.x[-1]
        below, above = flat < first, flat > last
        if self.bounds_error and not self.extrapolates:
            _require_inside(below, "A value in x_new is below the interpolation range.")
            _require_inside(above, "A value in x_new is above the interpolation range.")
        result = self.curve(flat) if self.curve is not None else self._pieces(flat)
        if not self.extrapolates:
            low, high = (
                self.fill_value
                if isinstance(self.fill_value, tuple)
                else (self.fill_value, self.fill_value)
            )
            result = np.where(
                columns(below, result), low, np.where(columns(above, result), high, result)
            )
        return _placed(result, where.shape, self.axis)

    def _pieces(self, x: Array) -> Array:
        count = self.x.shape[0]
        if self.kind in ("linear", "slinear"):
            first, part = _cell(self.x, x, "left")
            return multilinear(self.y, [first], [part])
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
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
        bounds_error: bool | None = None, fill_value: Any = np.nan, assume_sorted: bool = False,
    ):  # fmt: skip
        x, y, fill_value = plain((x, y, fill_value))
        if is_engines(x, y, fill_value):
            self._lines = _Lines(x, y, kind, axis, bounds_error, fill_value, assume_sorted)
            self.x, self.y = self._lines.x, y
        else:
            super().__init__(x, y, kind, axis, copy, bounds_error, fill_value, assume_sorted)

    def __call__(self, x: Any) -> Any:
        x, lines = plain(x), vars(self).get("_lines")
        if lines is not None:
            return lines(x)
        if not is_engines(x):
            return super().__call__(x)
        kind = self._spline.k if self._kind == "spline" else self._kind
        return _Lines(self.x, self.y, kind, self.axis, self.bounds_error, self.fill_value, True)(x)


class _Grid:
    """Interpolation in a grid of several axes; some arrays may be engine arrays."""

    def __init__(self, points: Any, values: Any, method: str, bounds_error: bool, fill_value: Any):
        if method not in ("linear", "nearest"):
            raise unsupported(
                "scipy.interpolate.RegularGridInterpolator",
                f"method={method!r}",
                "Write method='linear'.",
            )
        self.grid = [inexact(p) for p in points]
        self.values, self.method = inexact(values), method
        self.bounds_error, self.fill_value = bounds_error, fill_value
        for n, axis in enumerate(self.grid):
            if type(axis) is np.ndarray and axis[0] > axis[-1]:  # SciPy takes a descending axis too
                self.grid[n], self.values = axis[::-1], np.flip(self.values, n)

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        ndim = len(self.grid)
        xi = (
            np.stack(np.broadcast_arrays(*[inexact(x) for x in xi]), axis=-1)
            if isinstance(xi, tuple)
            else inexact(xi)
        )
        if xi.shape[-1] != ndim:
            raise ValueError(
                f"The requested sample points xi have dimension {xi.shape[-1]} but this"
                f" interpolator has {ndim}"
            )
        flat = np.reshape(xi, (-1, ndim))
        outside: Any = False
        cells = []
        for n, axis in enumerate(self.grid):
            outside = outside | (flat[:, n] < axis[0]) | (flat[:, n] > axis[-1])
            cells.append(_cell(axis, flat[:, n], "right"))
        if self.bounds_error:
            _require_inside(outside, "One of the requested xi is out of bounds")
        if (method or self.method) == "nearest":
            result = multilinear(
                self.values, [first + (part > 0.5) for first, part in cells], [None] * ndim
            )
        else:
            result = multilinear(self.values, *zip(*cells))
        if not self.bounds_error and self.fill_value is not None:
            result = np.where(columns(outside, result), self.fill_value, result)
        return np.reshape(result, (*xi.shape[:-1], *result.shape[1:]))


@_class(scipy_interpolate.RegularGridInterpolator)
class RegularGridInterpolator(scipy_interpolate.RegularGridInterpolator):  # type: ignore[misc]
    def __init__(
        self, points: Any, values: Any, method: str = "linear", bounds_error: bool = True,
        fill_value: Any = np.nan, **options: Any,
    ):  # fmt: skip
        points, values, fill_value = plain((points, values, fill_value))
        if is_engines(list(points), values, fill_value):
            self._engines = _Grid(points, values, method, bounds_error, fill_value)
        else:
            super().__init__(points, values, method, bounds_error, fill_value, **options)

    def __call__(self, xi: Any, method: str | None = None, **options: Any) -> Any:
        xi, grid = plain(xi), vars(self).get("_engines")
        if grid is not None:
            return grid(xi, method)
        if not is_engines(xi):
            return super().__call__(xi, method, **options)
        own = self.grid, self.values, self.method, self.bounds_error, self.fill_value
        return _Grid(*own)(xi, method)


def interpn(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Any:
    """scipy.interpolate.interpn, of NumPy's arrays or an engine's."""
    points, values, xi = plain((points, values, xi))
    if not is_engines(list(points), values, xi):
        return scipy_interpolate.interpn(points, values, xi, method, bounds_error, fill_value)
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


OURS[scipy_interpolate.interpn] = interpn

__getattr__ = rest_of("scipy.interpolate", globals())
