"""Code in which NumPy's or Python's C code met what stands for an array: it runs, or is refused by
name, with deep=True.
"""

import hashlib
import json
import re
import statistics

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from backends_table import each_engine
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from adinterface import (
    AutoTorch,
    NumpyCodeError,
    gradient,
    numpy_function,
)

X = np.array([0.4, 1.3, 2.2])
PROGRAMS, REFUSED = [], []


def program(f):
    PROGRAMS.append(pytest.param(f, id=f.__name__))
    return f


def refused(message):
    def register(f):
        REFUSED.append(pytest.param(f, message, id=f.__name__))
        return f

    return register


def deep(f):
    return numpy_function(f, deep=True)


def differences(f, x):
    """By hand, with a step that is smaller than what a rounding keeps."""
    steps = 1e-6 * np.eye(len(x))
    return np.array([f(x + step) - f(x - step) for step in steps]) / 2e-6


# What runs
# ------------------------------------------------------------------------------------------------


@program
def a_shape_that_is_assigned(x):
    y, made = 2 * x, np.zeros(3)
    y.shape = (3, 1)
    y[1] = x[:1] ** 2
    made.shape = 1, 3
    made[0] = x
    assert y.shape == (3, 1)
    return np.sum(y @ made)


@program
def rounded(x):
    assert type(round(x[1])) is int
    assert round(float(x[1])) == 1
    return round(x[0], 3) + round(x[1]) * x[2] + round(float(x[2]), 1) * x[0]


@program
def windows(x):
    return np.sum(as_strided(x, (2, 2), (8, 8)) ** 2) + np.sum(sliding_window_view(x, 2) ** 3)


@program
def polynomials(x):
    p = np.poly1d(x)
    return (
        np.polyder(p)(0.7)
        + np.polyint(p)(0.2)
        + np.polyval(p, 0.3)
        + np.polyadd(p, p)(0.1)
        + np.polyder(x)[0]
    )


@program
def products_of_two_components(x):
    return np.cross(x[:2], np.array([1.0, 2.0])) * x[2] + np.sum(
        np.cross(np.outer(x, x[:2]), x[1:])
    )


@program
def flags(x):
    y, made = 2 * x, np.zeros(3)
    made[0] = x[0]
    y.setflags(write=False)
    made.setflags(write=False)
    return np.sum(y * made)


class Convertible:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return float(self.x)

    def __complex__(self):
        return complex(self.x, 2.0)


@program
def conversions_of_the_object(x):
    return float(Convertible(x[0])) ** 2 + abs(complex(Convertible(x[1]))) + complex(x[2]).real


class Around(np.ndarray):
    def __new__(cls, values):
        values = np.array(values, dtype=float)
        return super().__new__(cls, (3,), float, values)

    def square(self):
        return np.sum(self.view(np.ndarray) ** 2)


@program
def an_array_around_a_buffer(x):
    return Around(2 * x).square() * Around([1, 2, 3]).square()


@program
def blocks_with_constant_rows(x):
    return np.sum(np.block([[x[:1], x[1:2]], [1.0, 2.0]]) ** 2) + np.sum(np.block([[x], [X]]) ** 2)


@program
def least_squares_of_zero_and_of_no_columns(x):
    of_zero = np.linalg.lstsq(0 * np.outer(x, x), x, rcond=None)
    of_none = np.linalg.lstsq(np.zeros((3, 0)), x, rcond=None)
    return np.sum(x**2) + np.sum(of_zero[0]) + np.sum(of_none[0])


@each_engine
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.filterwarnings(
    "ignore:Arrays of 2-dimensional vectors are deprecated:DeprecationWarning"
)
def test_program(f, backend):
    wanted = differences(f, X)
    np.testing.assert_allclose(gradient(deep(f), backend, X)[0], wanted, rtol=1e-6, atol=1e-7)


# What is refused
# ------------------------------------------------------------------------------------------------

KEY = (
    "makes text, bytes or a key of what is differentiated, which have no derivative. Make them"
    " before the call, of the plain"
)
CODE = "needs plain arrays or numbers of Python, which those here are not"
COMPILED = (
    " is compiled code, which takes plain NumPy arrays, and that would drop the gradient."
    " adinterface.scipy and adinterface.rules have other solvers."
)


@refused(f"numpy_function: hash(x) {KEY}")
def a_hash(x):
    return x[0] * (hash(float(x[0])) * 0 + 1)


@refused(f"numpy_function: x.tobytes {KEY}")
def bytes_of_an_array(x):
    return np.sum(x) * len(hashlib.md5(x.tobytes()).hexdigest())


@refused(f"numpy_function: this code {CODE}")
def a_view_of_memory(x):
    return np.sum(x) * len(memoryview(x))


@refused("numpy_function: ")
def statistics_of_python(x):
    return statistics.mean([float(v) for v in x]) + statistics.fmean(x)


@refused(f"numpy_function: this code {CODE}")
def methods_of_the_class(x):
    return np.sum(np.ndarray.__iadd__(x, 1.0))


@refused(
    "numpy_function: x.shape = ... gives another shape to an argument of f, or to an array that"
    " shares its elements"
)
def the_shape_of_an_argument(x):
    x.shape = (3, 1)
    return np.sum(x)


@refused(f"numpy_function: scipy.optimize._minpack._hybrd{COMPILED}")
def roots(x):
    return scipy.optimize.fsolve(lambda t: t**2 - x, np.ones(3))[0]


@refused(COMPILED)
def a_fit(x):
    return scipy.optimize.curve_fit(lambda t, a: a * t, np.arange(3.0), x)[0][0]


@refused(COMPILED)
def an_equation_by_lsoda(x):
    return scipy.integrate.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), np.ones(3), method="LSODA").y[
        0, -1
    ]


@refused(
    f"{CODE} ((): incompatible function arguments). Compute what is constant before the call, and"
    " pass it to f."
)
def a_linear_program(x):
    return scipy.optimize.linprog(-x, A_ub=np.eye(3), b_ub=np.ones(3)).fun


@each_engine
@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_refused(f, message, backend, capfd):
    with pytest.raises(NumpyCodeError, match=re.escape(message)) as caught:
        gradient(deep(f), backend, X)
    told = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "numpy_function(f, deep=True)" not in told  # which the user has written
    assert "NumpyArray" not in told.partition("\n")[0]
    assert capfd.readouterr().err == ""  # C code prints no traceback


def test_a_complete_decomposition_on_torch():
    f = lambda A: np.sum(np.linalg.qr(A, mode="complete")[1] ** 2)
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete'") as caught:
        gradient(numpy_function(f), AutoTorch(), np.ones((3, 2)) + np.eye(3, 2))
    assert caught.value.__notes__[0].endswith(
        "of the reduced decomposition alone: qr(x), in mode 'reduced'."
    )


# Errors and advice
# ------------------------------------------------------------------------------------------------


@each_engine
@pytest.mark.parametrize(
    "f",
    [lambda x: x + "a", lambda x: {}["a"], lambda x: json.loads("{")],
    ids=["types", "key", "JSON"],
)
def test_errors_of_the_code_itself_stay(f, backend):
    with pytest.raises((TypeError, KeyError, ValueError)) as caught:
        gradient(deep(f), backend, X)
    assert not isinstance(caught.value, NumpyCodeError)
