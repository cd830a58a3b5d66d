"""Lists and tuples of arrays, of whatever class, where NumPy takes an array or several."""

import collections

import numpy as np
import pytest
import scipy.special
from backends_table import each_engine

from adinterface import (
    AutoFiniteDifferences,
    gradient,
    numpy_function,
)

each_depth = pytest.mark.parametrize("deep", [False, True], ids=["usual", "deep"])
X = np.array([0.4, 1.3, 2.2])
ROWS = [np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])]


class Rows(list):
    """A list of a class of its own."""


class Columns(tuple):
    """A tuple of a class of its own."""


Pair = collections.namedtuple("Pair", "first second")
CLASSES = {
    "list": list,
    "tuple": tuple,
    "Rows": Rows,
    "Columns": Columns,
    "namedtuple": lambda rows: Pair(*rows),
}

#: Expressions of a list of two arrays, and of x.
EXPRESSIONS = {
    "stack": lambda g, x: np.stack(g) * x,
    "concatenate": lambda g, x: np.concatenate(g) * x[0],
    "select": lambda g, x: np.select([x > 1, x > 2], g, 0.0) * x,
    "choose": lambda g, x: np.choose([0, 1, 0], g) * x,
    "dot": lambda g, x: np.dot(g, x) + np.dot(x[:2], g)[:2],
    "einsum": lambda g, x: np.einsum("ij,j->i", g, x),
    "polyval": lambda g, x: np.polyval(g, x[0]),
    "operators": lambda g, x: (
        x * g + np.asarray(g) * x - np.multiply(g, x) / (2 + x**2) + (g - x) * (x > g)
    ),
    "products": lambda g, x: np.matmul(g, x) + (g @ x) + (x[:2] @ g)[:2],
    "several": lambda g, x: (
        np.sum(np.asarray(g), axis=0) * x + np.linalg.norm(np.stack(g)) * np.maximum(g, x)
    ),
    "array": lambda g, x: np.array(g) * x + np.sum(np.atleast_2d(np.array(g)), axis=0),
}
each_expression = pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)


@each_engine
@each_expression
def test_a_captured_list_of_arrays(expression, backend):
    f = numpy_function(lambda x: np.sum(np.sin(expression(ROWS, x))), deep=True)
    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    np.testing.assert_allclose(gradient(f, backend, X)[0], wanted, rtol=1e-6, atol=1e-7)


@each_engine
@each_depth
@pytest.mark.parametrize("of", CLASSES.values(), ids=CLASSES)
def test_classes_of_lists(of, deep, backend):
    def f(x):
        y = of([x, 2 * x])
        a = np.zeros(3)
        a[0] = 1.0
        filled = np.zeros((2, 3))
        filled[...] = y
        filled += of([a, x])
        found = (
            np.stack(y) * np.stack(of([a, a]))
            + x * y
            + np.multiply(y, x)
            + np.where(x > 1, y, x)
            + filled
        )
        numbers = (
            np.asarray(of([x[0], 1.5]))
            + np.dot(y, x)
            + np.einsum("ij,j->i", y, x)
            + np.dot(of([a, a]), x)
        )
        return (
            np.sum(np.sin(found))
            + np.sum(np.sin(numbers))
            + np.sum(np.select(of([x > 1, x > 2]), y, 0.0))
        )

    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    np.testing.assert_allclose(
        gradient(numpy_function(f, deep=deep), backend, X)[0], wanted, rtol=1e-6, atol=1e-7
    )


#: Expressions of two numbers that are differentiated, in lists.
OF_NUMBERS = {
    "diag": lambda q, r: np.diag([q, r]) @ np.array([1.0, 3.0]),
    "tile and repeat": lambda q, r: np.tile([q], 3) * np.repeat([q, r, 1.0], 2)[:3],
    "ufuncs": lambda q, r: (
        np.exp([q, 2 * r]) + np.abs([q, -r]) + np.hypot([q, r], [r, 1]) + np.power((q, r), 2)
    ),
    "a nested list": lambda q, r: np.sqrt([[q, r], [r, 1.0]]) * np.isfinite([q, r]),
    "special": lambda q, r: scipy.special.erf([q, r]),
    "methods": lambda q, r: (
        np.add.reduce([q, r])
        + np.multiply.outer([q, 1.0], [r, q])
        + np.logaddexp.accumulate([q, r])
    ),
    "products": lambda q, r: (
        np.matmul([[q, r]], [[q], [1.0]])
        + np.einsum("i,i->", [q, r], [r, 2.0])
        + np.vdot([q, r], [r, r])
    ),
    "weights": lambda q, r: np.average([1.0, 2.0], weights=[q, r]) + np.average([q, r]),
}


@each_engine
@pytest.mark.parametrize("what", OF_NUMBERS)
def test_lists_of_numbers_in_copied_code(what, backend):
    f = lambda q, r: np.sum(np.cos(OF_NUMBERS[what](q, r)))
    wanted = gradient(f, AutoFiniteDifferences(), 0.4, 0.9)
    np.testing.assert_allclose(
        gradient(numpy_function(f, deep=True), backend, 0.4, 0.9), wanted, rtol=1e-6
    )
