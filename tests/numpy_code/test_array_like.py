"""Objects that NumPy takes as arrays: those with `__array__`, and those of subclasses of
ndarray.
"""

import re

import numpy as np
import pytest
from backends_table import each_engine

from adinterface import (
    AutoJax,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
)

X = np.array([0.4, 1.3, 2.2])
W = np.array([1.0, 2.0, 3.0])
PROGRAMS = []


def program(f):
    PROGRAMS.append(pytest.param(f, id=f.__name__))
    return f


def differences(f, x):
    """By hand, because the value of some of these functions is an array of a subclass."""
    steps = 1e-6 * np.eye(len(x))
    return np.array([float(f(x + step)) - float(f(x - step)) for step in steps]) / 2e-6


# Objects with __array__
# -----------------------------------------------------------------------------------------------


class Cell:
    """Three lengths, as an array."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __array__(self, dtype=None, copy=None):
        return np.array(self.lengths, dtype=dtype)


class Given:
    """An object that gives what it holds, as classes did before NumPy 2."""

    def __init__(self, values):
        self.values = values

    def __array__(self):
        return self.values


class Measured:
    """Numbers in a unit, which decide themselves what an operator of an array does with them."""

    __array_priority__ = 100

    def __init__(self, numbers, unit):
        self.numbers, self.unit = numbers, unit

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numbers)

    def __mul__(self, other):
        return Measured(np.asarray(self) * np.asarray(other), self.unit)

    __rmul__ = __mul__

    def in_metres(self):
        return np.sum(self.numbers) * self.unit


CELL, LENGTH = Cell(W), Measured(W, 1000.0)


@program
def made_into_arrays(x):
    made = (
        np.asarray(Cell(x)),
        np.array(Cell(x), float),
        np.asanyarray(Given(x)),
        np.ascontiguousarray(Cell(x)),
        np.asarray(CELL),
    )
    return (
        sum(np.sum(a * W * x) for a in made)
        + np.sum(np.array([Cell(x), Cell(2 * x)]) ** 2)
        + np.ndim(Cell(x)) * x[0]
    )


@program
def functions_of_them(x):
    joined = np.concatenate([Cell(x), np.atleast_1d(Cell(x**2)), np.where(x > 1, Given(x), 0.0)])
    return (
        np.sum(np.sin(Cell(x)))
        + np.sum(Given(x))
        + np.dot(Cell(x), W)
        + np.linalg.norm(Given(x))
        + np.sum(joined**2)
    )


@program
def operators_beside_them(x):
    return np.sum(x * Cell(x) + W * Cell(x) + W[1] * Given(x) - CELL * x) + np.sum(
        np.multiply(x, Given(x)) * np.add(W, CELL)
    )


@program
def written(x):
    a, b = np.zeros(3), x.copy()
    a[:] = Cell(x)
    b[:2] = Cell(x[1:])
    return np.sum(a * b)


# Subclasses of ndarray
# ------------------------------------------------------------------------------------------------


class Series(np.ndarray):
    """Numbers with a name, as the documentation of NumPy has it."""

    separator = "/"

    def __new__(cls, values, name="x"):
        self = np.asarray(values).view(cls)
        self.name = name
        return self

    def __array_finalize__(self, source):
        self.name = getattr(source, "name", None)

    @property
    def doubled(self):
        return 2 * self

    def energy(self):
        return (self**2).sum()

    def path(self):
        return self.name + self.separator


class Named(Series):
    def __new__(cls, values):
        return super().__new__(cls, values, "named")

    def energy(self):
        return 3 * super().energy()


class Field(np.ndarray):
    """One that gives plain arrays, as a package of finite elements has it."""

    def __new__(cls, values, gradient=None):
        self = np.asarray(values).view(cls)
        self.gradient = gradient
        return self

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return np.array(array)

    def __getitem__(self, index):
        return 2 * np.array(self)[index]


class Doubling(np.ndarray):
    """One with operators of its own, made with the constructor of ndarray."""

    def __new__(cls, values):
        self = super().__new__(cls, len(values))
        self[:] = values
        return self

    def __mul__(self, other):
        return 2 * np.asarray(self) * other

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        inputs = [np.asarray(x) for x in inputs]
        return 10 * getattr(ufunc, method)(*inputs, **keywords)


SERIES, FIELD, DOUBLING = Series(W, "captured"), Field(W, W**2), Doubling(W)


@program
def a_subclass(x):
    s = Series(x, "a")
    assert isinstance(s, Series)
    assert isinstance(s, np.ndarray)
    assert type(s) is Series
    assert s.__class__ is Series
    assert not isinstance(s, Named)
    assert isinstance(Named(x), Series)
    assert s.path() == "a/"
    assert Series.separator == "/"
    return (
        s.energy()
        + np.sum(s.doubled.doubled)
        + Named(x).energy()
        + np.asarray(s)[0]
        + x.view(Series).energy()
    )


@program
def results_of_its_class(x):
    s = Series(np.stack([x, 2 * x]), "b")
    for result in (
        s * W,
        W * s,
        x + s,
        np.sin(s),
        s[0],
        s[:, 1:],
        s.T,
        s.sum(0),
        np.sum(s, 1),
        s.copy(),
        s.astype(float),
    ):
        assert type(result) is Series
    for result in (s * W, np.sin(s), s[0], s.T):
        assert result.name == "b"
    for result in (
        s[0, 1],
        np.asarray(s),
        np.array(s),
        s.view(np.ndarray),
        np.where(s > 1, s, 0.0),
        np.concatenate([s, s]),
    ):
        assert not isinstance(result, Series)
    assert np.asanyarray(s) is s
    assert [type(part) for part in np.split(s, 2)] == [Series, Series]
    return (
        np.sum(np.split(s, 2)[1][0] * s[0])
        + s[1].energy()
        + sum(row.energy() for row in s)
        + np.dot(s[0], W)
        + len(s) * s.max()
    )


@program
def captured_objects_of_one(x):
    assert (x * SERIES).name == "captured"
    return (
        (x * SERIES).energy()
        + np.sum(SERIES.doubled * x)
        + np.sum(FIELD.gradient * x)
        + np.sum(FIELD * x)
        + FIELD[1] * x[0]
    )


@program
def its_own_protocols(x):
    field, doubling = Field(x, x**2), Doubling(x)
    assert type(field * 2) is np.ndarray
    assert type(field) is Field
    return (
        field[0]
        + np.sum(field.gradient * field)
        + np.sum(doubling * W)
        + np.sum(np.exp(doubling))
        + np.sum(W + doubling)
    )


@program
def written_to(x):
    s = Series(1 * x)
    s[0] = x[1] ** 2
    s += W
    np.add(s, x, out=s)
    rows = np.zeros((2, 3)).view(Series)
    rows[1] = x
    assert type(s) is type(rows) is Series
    return s.energy() + rows.energy() + float(s[0]) * rows[1, 2]


@each_engine
@pytest.mark.parametrize("f", PROGRAMS)
def test_program(f, backend):
    wanted = differences(f, X)
    np.testing.assert_allclose(
        gradient(numpy_function(f, deep=True), backend, X)[0], wanted, rtol=1e-6
    )


@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled(f):
    fast = prepare(gradient, numpy_function(f, deep=True), AutoJax(), X)
    np.testing.assert_allclose(fast(1.1 * X)[0], differences(f, 1.1 * X), rtol=1e-6)


@each_engine
@pytest.mark.parametrize("function", [np.asarray, np.sin], ids=["asarray", "sin"])
def test_an_object_alone_is_refused_by_name_without_copied_code(function, backend):
    message = (
        "numpy_function: this code needs plain arrays or numbers of Python, which those"
        " here are not (object __array__ method not producing an array). Compute what is constant"
        " before the call, and pass it to f. For code that you cannot change there are"
        " numpy_function(f, deep=True),"
    )
    with pytest.raises(NumpyCodeError, match=re.escape(message)):
        gradient(numpy_function(lambda x: np.sum(function(Given(x)))), backend, X)
    f = numpy_function(
        lambda x: np.sum(
            function(Given(x).__array__()) if function is np.sin else Given(x).__array__()
        )
    )
    assert np.all(gradient(f, backend, X)[0] != 0)


@each_engine
def test_a_subclass_is_refused_by_name_without_copied_code(backend):
    message = (
        "numpy_function: this code makes an object of test_array_like.Series, a subclass of"
        " numpy.ndarray, which an engine's array cannot be. Write np.asarray(x) for it."
        " For code that you cannot change there are numpy_function(f, deep=True),"
    )
    with pytest.raises(NumpyCodeError, match=re.escape(message)):
        gradient(numpy_function(lambda x: x.view(Series).energy()), backend, X)


@each_engine
def test_a_captured_subclass_beside_an_array_of_an_engine(backend):
    np.testing.assert_allclose(
        gradient(numpy_function(lambda x: np.sum(SERIES * x)), backend, X)[0], W
    )
    message = (
        "numpy_function: test_array_like.Doubling is a subclass of numpy.ndarray with operators of"
        " its own, which an engine's"
    )
    with pytest.raises(NumpyCodeError, match=re.escape(message)):
        gradient(numpy_function(lambda x: np.sum(x * DOUBLING)), backend, X)
