"""Integrals by SciPy on every engine: each derivative has nodes of its own."""

import functools

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from backends_table import each_engine

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    NumpyCodeError,
    derivative,
    gradient,
    hessian,
    numpy_function,
    prepare,
)
from adinterface import scipy as on_any_engine

integrate = on_any_engine.integrate
each_mode = pytest.mark.parametrize(
    "backend",
    [
        AutoTorch(),
        AutoAutograd(),
        AutoJax(),
        AutoTorch(mode="forward"),
        AutoAutograd(mode="forward"),
    ],
    ids=repr,
)
each_depth = pytest.mark.parametrize("deep", [False, True])


def power(a):
    """Smooth by t at a = 1, but its derivative by a is infinite at 0."""
    return integrate.quad(lambda t: t ** (a - 1) * (1 - t), 0.0, 0.7)[0]


def written_with_scipy(a):
    return scipy.integrate.quad(lambda t: t ** (a - 1) * (1 - t), 0.0, 0.7)[0]


OF_POWER = [
    float(mpmath.quad(lambda t, n=n: mpmath.log(t) ** n * (1 - t), [0, 0.7])) for n in (1, 2)
]


@each_mode
@pytest.mark.parametrize(
    "f", [numpy_function(power), numpy_function(written_with_scipy, deep=True)]
)
def test_a_derivative_that_is_less_smooth_than_the_integrand(backend, f):
    assert derivative(f, backend, 1.0) == pytest.approx(OF_POWER[0], rel=1e-10)
    assert gradient(f, backend, 1.0)[0] == pytest.approx(OF_POWER[0], rel=1e-10)


def of_limits_and_parameters(p):
    a, b, c = p[0], p[1], p[2]
    return np.sin(
        integrate.quad(lambda t, b: t ** (a - 1) * np.cos(b * t), 0.1 * b, c, args=(b,))[0]
    )


def _exactly(a, b, c):
    return mpmath.sin(mpmath.quad(lambda t: t ** (a - 1) * mpmath.cos(b * t), [0.1 * b, c]))


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()])  # JAX compiles for 9 s
def test_limits_args_and_captured_parameters_together(backend):
    f, at = numpy_function(of_limits_and_parameters), np.array([1.0, 0.5, 1.3])
    units = np.eye(3, dtype=int)
    first = [float(mpmath.diff(_exactly, tuple(at), tuple(map(int, row)))) for row in units]
    second = [
        [float(mpmath.diff(_exactly, tuple(at), tuple(map(int, one + other)))) for one in units]
        for other in units
    ]
    np.testing.assert_allclose(gradient(f, backend, at)[0], first, rtol=1e-9)
    np.testing.assert_allclose(hessian(f, backend, at), second, atol=1e-9)


def test_a_derivative_that_does_not_converge_warns_by_name():
    f = numpy_function(
        lambda a: integrate.quad(lambda t: (t + 1e-9) ** (a - 1), 0.0, 1.0, limit=3)[0]
    )
    said = (
        r"quad: the integral of a derivative of order 1 may have an error above the .* that is"
        r" estimated"
    )
    with pytest.warns(scipy.integrate.IntegrationWarning, match=said):
        gradient(f, AutoTorch(), 1.0)


@each_engine
def test_infinite_limits(backend):
    f = numpy_function(lambda a: integrate.quad(lambda t: np.exp(-a * t * t), 0.0, np.inf)[0])
    assert gradient(f, backend, 0.7)[0] == pytest.approx(
        -0.25 * np.sqrt(np.pi) * 0.7**-1.5, rel=1e-10
    )
    assert hessian(f, backend, 0.7) == pytest.approx(0.375 * np.sqrt(np.pi) * 0.7**-2.5, rel=1e-9)


class Model:
    def __init__(self, rates):
        self.rates = rates

    def density(self, t):
        return np.exp(-self.rates["of"][0] * t)

    __call__ = density


PLACES = {
    "a method": lambda a: Model({"of": [a]}).density,
    "an object": lambda a: Model({"of": [a]}),
    "a partial": lambda a: functools.partial(lambda a, t: np.exp(-a * t), a),
    "a default": lambda a: lambda t, a=a: np.exp(-a * t),
    "a keyword's default": lambda a: lambda t, *, a=a: np.exp(-a * t),
    "a function in a closure": lambda a: (lambda inner: lambda t: np.exp(-inner() * t))(lambda: a),
    "a list": lambda a: (lambda held: lambda t: np.exp(-held[0][0] * t))([(a,)]),
}


def recursive(a):
    def power(t, n=3):
        return 1.0 if n == 0 else np.exp(-a * t / 3) * power(t, n - 1)

    return power


@pytest.mark.parametrize(
    "make", [*PLACES.values(), recursive], ids=[*PLACES, "a recursive function"]
)
@each_depth
def test_wherever_a_function_holds_its_parameters(make, deep):
    f = numpy_function(lambda a: integrate.quad(make(a), 0.0, 1.0)[0], deep=deep)
    wanted = float(mpmath.diff(lambda a: (1 - mpmath.exp(-a)) / a, 0.7))
    for backend in (AutoTorch(), AutoAutograd()):
        assert gradient(f, backend, 0.7)[0] == pytest.approx(wanted, rel=1e-10)


_GLOBAL = []


def test_a_parameter_that_is_not_found_is_refused():
    def f(a):
        _GLOBAL[:] = [a]
        return integrate.quad(lambda t: np.exp(-_GLOBAL[0] * t), 0.0, 1.0)[0]

    with pytest.raises(
        NumpyCodeError, match=r"func captures an array .* such as a global name. Pass it in args="
    ):
        gradient(numpy_function(f), AutoTorch(), 0.7)


def test_arrays_and_complex_numbers_as_parameters():
    weights = np.array([[0.3, 1.2], [0.7, 0.1]])
    f = numpy_function(lambda w: integrate.quad(lambda t: np.sum(np.cos(w * t)), 0.0, 1.0)[0])
    wanted = [[float(mpmath.diff(lambda w: mpmath.sin(w) / w, x)) for x in row] for row in weights]
    for backend in (AutoTorch(), AutoAutograd(), AutoJax()):
        np.testing.assert_allclose(gradient(f, backend, weights)[0], wanted, rtol=1e-9)
    g = numpy_function(
        lambda z: integrate.quad(lambda t: np.real(z * z) * t + np.imag(z), 0.0, 1.0)[0]
    )
    for backend in (AutoTorch(), AutoAutograd(), AutoJax()):
        assert gradient(g, backend, 0.7 + 0.3j)[0] == pytest.approx(0.7 + (-0.3 + 1) * 1j)


def test_prepared():
    f = numpy_function(power)
    for backend in (AutoTorch(), AutoAutograd(), AutoJax(jit=False)):
        fast = prepare(gradient, f, backend, 0.8)
        assert fast(1.0)[0] == pytest.approx(OF_POWER[0], rel=1e-10)


DOUBLE = {
    "dblquad": (
        lambda i, a: i.dblquad(lambda y, x: x ** (a - 1) * y * a, 0.0, 1.0, 0.0, lambda x: x * a)[
            0
        ],
        lambda a: a**3 / 2 / (a + 2),
    ),
    "limits": (
        lambda i, a: i.dblquad(lambda y, x: x * y, 0.0, a, 0.0, 1.0)[0],
        lambda a: a * a / 4,
    ),
    "nquad": (
        lambda i, a: i.nquad(
            lambda y, x, c: c * x * y, [lambda x, c: (0.0, x * c), (0.0, 1.0)], args=(a,)
        )[0],
        lambda a: a**3 / 8,
    ),
}


@pytest.mark.parametrize("what", DOUBLE)
@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=repr)
def test_integrals_over_several_variables(what, backend):
    code, exact = DOUBLE[what]
    for f in (
        numpy_function(lambda a: code(integrate, a)),
        numpy_function(lambda a: code(scipy.integrate, a), deep=True),
    ):
        assert gradient(f, backend, 1.0)[0] == pytest.approx(float(mpmath.diff(exact, 1.0)))
    assert code(integrate, 1.0) == pytest.approx(code(scipy.integrate, 1.0), abs=0)


def test_what_plain_numbers_give_is_of_scipy():
    assert integrate.quad(np.sin, 0.0, 1.0) == scipy.integrate.quad(np.sin, 0.0, 1.0)
    assert (
        integrate.quad(np.sin, 0.0, 1.0, full_output=1)[0]
        == scipy.integrate.quad(np.sin, 0.0, 1.0)[0]
    )
