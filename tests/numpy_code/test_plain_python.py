"""numpy_function(f, deep=True): what plain Python asks of numbers, keeps of them, and writes as text."""

import math

import jax
import numpy as np
import pytest
import scipy.optimize

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
    value_and_gradient,
)

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
X = np.array([1.4, 1.3, 2.2])


def deep(f):
    return numpy_function(f, deep=True)


# Questions ------------------------------------------------------------------------------------------------------------


def _case(x):
    match x:
        case np.ndarray():
            return 1
        case np.float64():
            return 2
        case float() | int():
            return 3
    return 4


def _has_shape(x):
    try:
        return x.shape == ()
    except AttributeError:
        return False


def questions(x):
    number, of_python, computed = x[0], float(x[0]), math.sin(x[1]) * 2.0
    values = [x, np.asarray(x[0]), np.zeros(3), number, np.sum(x), of_python, x[1].item(), computed, -computed]
    names = ["__len__", "__iter__", "__getitem__", "shape", "dtype", "size", "is_integer", "__array__", "_array", "__name__"]
    answers = [hasattr(value, name) for value in values for name in names]
    answers += [getattr(of_python, "shape", None) is None, getattr(number, "shape", None) == (), getattr(x, "mask", 0) == 0]
    answers += [_case(value) == n for value in values for n in range(1, 5)]
    answers += [_has_shape(value) for value in values]
    answers += [x.__class__ is np.ndarray, number.__class__ is np.float64, of_python.__class__ is float, type(x) is x.__class__]
    answers += [{np.ndarray: True}.get(x.__class__, False), issubclass(x.__class__, np.ndarray), x.__class__.__name__ == "ndarray"]
    dtype = x.dtype
    answers += [x.dtype.type is np.float64, dtype.type is not np.float32, np.float64 is np.dtype(float).type]
    answers += [type(number) is np.float64, dtype.type in (np.float32, np.float64), number.is_integer()]
    return answers


def by_answers(x):
    return sum(x[0] ** (2 + bool(answer)) * (n + 1) for n, answer in enumerate(questions(x)))


@each_engine
def test_questions_get_the_answers_of_plain_numpy(backend):
    wanted = gradient(by_answers, AutoFiniteDifferences(), X)[0]
    value, (found,) = value_and_gradient(deep(by_answers), backend, X)
    assert value == pytest.approx(by_answers(X), rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_an_attribute_of_another_class_is_missing():
    with pytest.raises(AttributeError, match="^'float' object has no attribute 'shape'$"):
        gradient(deep(lambda x: float(x[0]).shape), AutoTorch(), X)
    with pytest.raises(AttributeError, match=r"^'numpy\.float64' object has no attribute 'detach'$"):
        gradient(deep(lambda x: x[0].detach()), AutoTorch(), X)


# Records of results ---------------------------------------------------------------------------------------------------


ROOTS = {
    "root_scalar": lambda f: scipy.optimize.root_scalar(f, bracket=[0, 3]).root,
    "toms748": lambda f: scipy.optimize.root_scalar(f, bracket=[0, 3], method="toms748")["root"],
    "newton": lambda f: scipy.optimize.root_scalar(f, x0=1.0, x1=1.5).root,
    "brentq": lambda f: scipy.optimize.brentq(f, 0, 3, full_output=True)[1].root,
    "bisect": lambda f: scipy.optimize.bisect(f, 0, 3, full_output=True)[0],
}


@each_engine
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
def test_the_root_in_a_record_has_its_derivative(root, backend):
    f = deep(lambda x: x[1] * root(lambda t: t**3 - x[0]))
    cube_root = X[0] ** (1 / 3)
    for call in (lambda x: gradient(f, backend, x), prepare(gradient, f, backend, X)):
        np.testing.assert_allclose(call(X)[0], [X[1] * cube_root / X[0] / 3, cube_root, 0.0], rtol=1e-7, atol=1e-12)
