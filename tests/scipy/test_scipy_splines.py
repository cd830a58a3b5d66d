"""Splines and other curves by SciPy on every engine: they are instances of SciPy's classes, and
have their methods.
"""

import copy

import numpy as np
import pytest
import scipy.interpolate
from backends_table import each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoTorch,
    NumpyCodeError,
    gradient,
    numpy_function,
    value_and_gradient,
)
from adinterface import scipy as on_any_engine

X = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 5.5])
Y = np.array([1.0, 2.0, 0.5, -1.0, 1.5, 3.0])
AT = np.array([0.3, 1.7, 4.2])
KNOTS = np.r_[[0.0] * 4, 1.0, 2.0, [3.0] * 4]

#: Each of SciPy's module, or ours, and the values of a curve.
CASES = {
    "an instance of the base": lambda i, y: (
        float(isinstance(i.CubicSpline(X, y), i.PPoly)) * y[0] * 2
    ),
    "made of constants": lambda i, y: float(isinstance(i.CubicSpline(X, Y), i.PPoly)) * y[0],
    "a derivative": lambda i, y: (
        float(isinstance(i.CubicSpline(X, y).derivative(), i.CubicSpline)) * y[0]
    ),
    "a type": lambda i, y: float(type(i.CubicSpline(X, y)) is i.CubicSpline) * y[1],
    "pieces": lambda i, y: i.PPoly(np.stack([y[:3], y[3:]]), np.array([0.0, 1.0, 2.0, 3.0]))(1.3),
    "pieces along an axis": lambda i, y: np.sum(
        i.PPoly(np.reshape(y, (1, 3, 2, 1)), X[:3], axis=1)(AT / 2) ** 2
    ),
    "a basis": lambda i, y: i.BSpline.basis_element([0.0, 1.0, 2.0, 3.0])(y[0] + 0.4),
    "a basis of followed knots": lambda i, y: i.BSpline.basis_element(np.sort(y))(0.7),
    "an antiderivative": lambda i, y: i.make_interp_spline(X, y).antiderivative()(2.2),
    "negative orders": lambda i, y: (
        i.CubicSpline(X, y).derivative(-1)(2.0) + i.CubicSpline(X, y).antiderivative(-1)(2.0)
    ),
    "extrapolated": lambda i, y: (
        i.BSpline(KNOTS, y, 3).antiderivative()(4.0) + i.BSpline(KNOTS, y, 3).integrate(-1.0, 4.0)
    ),
    "an integral": lambda i, y: i.make_interp_spline(X, y).integrate(0.3, y[0] + 1),
    "an integral backwards": lambda i, y: i.make_interp_spline(X, y).integrate(2.3, 0.4),
    "an integral inside": lambda i, y: i.BSpline(KNOTS, y, 3, extrapolate=False).integrate(-1, 2.2),
    "an integral over periods": lambda i, y: (
        i.CubicSpline(X, np.append(y[:5], y[:1]), bc_type="periodic").integrate(y[1], 19.0)
        + i.BSpline(KNOTS, y, 3, extrapolate="periodic").integrate(-1.3, y[0] + 4.2)
    ),
    "of derivatives": lambda i, y: (
        i.make_interp_spline(X, y, k=5).derivative(2).integrate(0.2, y[0])
    ),
    "other curves": lambda i, y: (
        i.Akima1DInterpolator(X, y).integrate(0.2, 3.0)
        + i.PchipInterpolator(X, y).derivative()(2.0)
    ),
    "pieces of a spline": lambda i, y: np.sum(i.PPoly.from_spline(i.make_interp_spline(X, y))(AT)),
    "pieces of knots": lambda i, y: (
        np.sum(i.PPoly.from_spline((KNOTS, y, 3))(AT / 2)) + i.PPoly.from_spline((KNOTS, y, 3))(3.5)
    ),
    "attributes": lambda i, y: (
        np.sum(i.CubicSpline(X, y).c[0]) * i.CubicSpline(X, y).x[1]
        + i.make_interp_spline(X, y).tck[1][2]
    ),
    "an axis": lambda i, y: np.sum(
        i.make_interp_spline(X[:3], np.reshape(y, (2, 3)), k=2, axis=1).derivative()(AT / 3)[1] ** 2
    ),
    "lines at an array": lambda i, y: np.sum(i.interp1d(X, y)(AT)),
    "cubic lines": lambda i, y: np.sum(
        i.interp1d(np.arange(6.0), y, kind="cubic")(np.array([0.3, 1.7]))
    ),
    "extrapolated lines": lambda i, y: np.sum(
        i.interp1d(np.linspace(0, 1, 6), y, fill_value="extrapolate")(np.linspace(0, 2, 4))
    ),
    "a spline at an array": lambda i, y: np.sum(i.make_interp_spline(X, y)(AT)),
    "an even spline": lambda i, y: np.sum(i.make_interp_spline(X, y, k=2)(np.linspace(0, 5, 4))),
    "ends of two kinds": lambda i, y: np.sum(
        i.CubicSpline(X, y, bc_type=((2, y[1]), "not-a-knot"))(AT)
    ),
    "three points": lambda i, y: (
        i.CubicSpline(X[:3], y[:3])(0.3)
        + i.CubicSpline(X[:3], y[:3], bc_type=("clamped", "natural"))(0.3)
    ),
    "two points": lambda i, y: i.CubicSpline(X[:2], y[:2], bc_type=("not-a-knot", (1, y[2])))(0.3),
    "a grid": lambda i, y: np.sum(
        i.RegularGridInterpolator((np.arange(6.0),), y)(np.array([[0.3], [1.7]]))
    ),
    "a constant grid": lambda i, y: np.sum(
        i.RegularGridInterpolator((X,), Y)(np.abs(y[:, None]) + 0.1)
    ),
    "knots and coefficients": lambda i, y: np.sum(i.splev(np.array([0.3, 0.4]), (KNOTS, y, 3))),
}


@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=repr)
def test_curves_are_those_of_scipy(what, backend):
    case = CASES[what]
    value = case(scipy.interpolate, Y)
    (wanted,) = gradient(lambda y: case(scipy.interpolate, y), AutoFiniteDifferences(), Y)
    for f in (
        numpy_function(lambda y: case(scipy.interpolate, y), deep=True),
        numpy_function(lambda y: case(on_any_engine.interpolate, y)),
    ):
        found, (slopes,) = value_and_gradient(f, backend, Y)
        assert found == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(slopes, wanted, rtol=2e-6, atol=1e-7)


FITTED = {
    **{
        f"ext={ext}": lambda y, ext=ext: scipy.interpolate.UnivariateSpline(X, Y, s=0.1, ext=ext)(
            2 * y
        )
        for ext in (0, 1, 3)
    },
    "a derivative": lambda y: scipy.interpolate.UnivariateSpline(X, Y, s=0.1)(y, nu=1),
    "an antiderivative": lambda y: scipy.interpolate.InterpolatedUnivariateSpline(
        X, Y
    ).antiderivative()(y),
    "an integral": lambda y: scipy.interpolate.InterpolatedUnivariateSpline(X, Y).integral(
        0.2, np.max(y)
    ),
    "a plane curve": lambda y: np.asarray(
        scipy.interpolate.splev(y, scipy.interpolate.splprep([X, Y], s=0)[0])
    ),
    "an integral of splrep": lambda y: scipy.interpolate.splint(
        y[0], 2.5, scipy.interpolate.splrep(X, Y)
    ),
}


@each_engine
@pytest.mark.parametrize("what", FITTED)
def test_splines_that_fitpack_has_fitted_to_plain_data(what, backend):
    f = lambda y: np.sum(FITTED[what](np.abs(y)))
    at = np.array([0.31, 0.83, 1.7])
    (wanted,) = gradient(f, AutoFiniteDifferences(), at)
    np.testing.assert_allclose(
        gradient(numpy_function(f, deep=True), backend, at)[0], wanted, rtol=2e-6, atol=1e-7
    )


def test_curves_of_engines_are_instances_of_scipys_own_classes():
    seen = []

    @numpy_function
    def f(y):
        curves = on_any_engine.interpolate
        seen.append(isinstance(curves.CubicSpline(X, y), scipy.interpolate.PPoly))
        seen.append(isinstance(curves.interp1d(X, y), scipy.interpolate.interp1d))
        return np.sum(copy.deepcopy(curves.CubicSpline(X, y))(AT))

    (found,) = gradient(f, AutoTorch(), Y)
    assert seen == [True, True]
    np.testing.assert_allclose(
        found,
        gradient(
            lambda y: np.sum(scipy.interpolate.CubicSpline(X, y)(AT)), AutoFiniteDifferences(), Y
        )[0],
    )


def changed(curve, **attributes):
    for name, value in attributes.items():
        setattr(curve, name, value)
    return curve


BEYOND = np.array([-1.2, 1.7, 7.3])


@each_engine
@pytest.mark.parametrize("attribute", ["extrapolate", "periodic", "places", "numbers"])
@pytest.mark.parametrize("kind", ["cubic", "monotone", "hermite", "pieces", "basis"])
def test_attributes_of_a_curve_can_be_set(kind, attribute, backend):
    make = {
        "cubic": lambda y: scipy.interpolate.CubicSpline(X, y),
        "monotone": lambda y: scipy.interpolate.PchipInterpolator(X, y),
        "hermite": lambda y: scipy.interpolate.CubicHermiteSpline(X, y, y[::-1]),
        "pieces": lambda y: scipy.interpolate.PPoly(np.stack([y, y[::-1]]), np.arange(7.0)),
        "basis": lambda y: scipy.interpolate.BSpline(KNOTS, y, 3),
    }[kind]
    places = "t" if kind == "basis" else "x"

    def f(y):
        curve = make(y)
        if attribute == "places":
            changed(curve, **{places: getattr(curve, places) + 1})
        elif attribute == "numbers":
            changed(curve, c=curve.c * y[1])
        else:
            changed(curve, extrapolate="periodic" if attribute == "periodic" else False)
        curve.note = "mine"
        again = copy.deepcopy(curve)
        assert again.note == "mine"
        assert again.extrapolate == curve.extrapolate
        values = np.nan_to_num(curve(BEYOND), nan=-1.0) * np.array([1.0, 2.0, 3.0])
        return np.sum(values) + np.sum(np.nan_to_num(again.derivative()(BEYOND)))

    value, (slopes,) = value_and_gradient(numpy_function(f, deep=True), backend, Y)
    assert value == pytest.approx(f(Y), rel=1e-9)
    (wanted,) = gradient(f, AutoFiniteDifferences(), Y)
    np.testing.assert_allclose(slopes, wanted, rtol=2e-6, atol=1e-5)


def subclasses(curves):
    class Mine(curves.CubicSpline):
        factor = 2

        def __init__(self, x, y, shift=0.5):
            super().__init__(x, y)
            self.shift = shift

        @property
        def half(self):
            return self._half

        @half.setter
        def half(self, value):
            self._half = value / 2

        def twice(self, x):
            return self.factor * self(x + self.shift)

        def roots(self):
            return np.array([1.5])

    class MyBasis(curves.BSpline):
        def twice(self, x):
            return 2 * self(x)

    return Mine, MyBasis


MINE = subclasses(on_any_engine.interpolate)


@each_engine
@pytest.mark.parametrize("made", ["in the function", "outside of it"])
def test_a_users_subclass_keeps_its_methods(made, backend):
    def f(y):
        cubic, basis = MINE if made == "outside of it" else subclasses(scipy.interpolate)
        curve = cubic(X, y)
        curve.half = 3.0
        again = copy.copy(curve)
        curve.extrapolate = False
        return (
            np.sum(curve.twice(AT) ** 2) * curve.half
            + np.sum(np.nan_to_num(curve.twice(BEYOND), nan=-1.0))
            + np.sum(again.twice(again.roots() + 4.0))
            + np.sum(basis(KNOTS, y, 3).twice(AT / 2))
        )

    value, (slopes,) = value_and_gradient(numpy_function(f, deep=True), backend, Y)
    assert value == pytest.approx(f(Y), rel=1e-10)
    (wanted,) = gradient(f, AutoFiniteDifferences(), Y)
    np.testing.assert_allclose(slopes, wanted, rtol=2e-6, atol=1e-6)


@each_engine
def test_class_methods_of_scipy_take_plain_knots_from_a_curve(backend):
    def f(y):
        curve = scipy.interpolate.BSpline(KNOTS, y, 3)
        return np.sum(curve.design_matrix(AT / 2, curve.t, curve.k).toarray() @ y**2)

    (slopes,) = gradient(numpy_function(f, deep=True), backend, Y)
    matrix = scipy.interpolate.BSpline.design_matrix(AT / 2, KNOTS, 3).toarray()
    np.testing.assert_allclose(slopes, 2 * Y * np.sum(matrix, axis=0), rtol=1e-10)


@each_engine
@pytest.mark.parametrize("method", ["roots", "solve"])
def test_the_error_for_roots_names_what_finds_them(method, backend):
    f = lambda y: np.sum(getattr(on_any_engine.interpolate.CubicSpline(X, y), method)())
    with pytest.raises(NumpyCodeError, match=rf"CubicSpline: {method} .*rules\.root"):
        gradient(numpy_function(f), backend, Y)


@each_engine
@pytest.mark.parametrize("method", ["extend", "insert_knot"])
def test_methods_that_take_numpys_memory_are_refused(method, backend):
    def f(y):
        curves = on_any_engine.interpolate
        if method == "extend":
            return curves.PPoly(np.stack([y, y]), np.arange(len(Y) + 1.0)).extend(
                np.ones((2, 1)), np.array([len(Y) + 1.0])
            )
        return curves.BSpline(np.arange(len(Y) + 4.0), y, 3).insert_knot(3.5)

    with pytest.raises(
        NumpyCodeError, match=r"not supported for an engine|makes a plain NumPy array of what"
    ):
        gradient(numpy_function(f), backend, Y)


def test_curves_of_plain_arrays_have_all_that_scipys_have():
    for name in (
        "CubicSpline",
        "PchipInterpolator",
        "Akima1DInterpolator",
        "interp1d",
        "make_interp_spline",
    ):
        ours, own = (
            getattr(on_any_engine.interpolate, name)(X, Y),
            getattr(scipy.interpolate, name)(X, Y),
        )
        np.testing.assert_array_equal(ours(AT), own(AT))
        assert isinstance(ours, type(own))
    ours, own = [i.CubicSpline(X, Y) for i in (on_any_engine.interpolate, scipy.interpolate)]
    np.testing.assert_array_equal(ours.c, own.c)
    assert ours.integrate(0.2, 3.0) == own.integrate(0.2, 3.0)
    assert type(ours.derivative()) is on_any_engine.interpolate.CubicSpline
    with pytest.raises(NotImplementedError):
        on_any_engine.interpolate.Akima1DInterpolator.from_spline(
            scipy.interpolate.make_interp_spline(X, Y)
        )


@each_engine
@pytest.mark.parametrize(
    "name",
    ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "interp1d", "make_interp_spline"],
)
def test_a_captured_curve_of_scipy(name, backend):
    """Some of SciPy's curves keep their state in slots, which the object that stands for them in
    copied code has too.
    """
    curve = getattr(scipy.interpolate, name)(X, Y)
    (slopes,) = gradient(numpy_function(lambda x: np.sum(curve(x)), deep=True), backend, AT)
    np.testing.assert_allclose(slopes, (curve(AT + 1e-6) - curve(AT - 1e-6)) / 2e-6, rtol=1e-7)
