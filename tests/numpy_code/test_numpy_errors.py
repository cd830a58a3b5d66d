"""What NumPy code cannot do on an engine says so word for word, and what to write instead.

No gradient is dropped.
"""

import math
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from backends_table import BACKENDS, ENGINES
from scipy.integrate import quad
from scipy.optimize import brentq

from adinterface import (
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
)

X = np.array([0.5, 1.5, 2.5])
REFUSED = []


OTHER_CODE = (
    " For code that you cannot change there are numpy_function(f, deep=True),"
    " adinterface.rules.differentiate_with and AutoFiniteDifferences()."
)
LEFT = (
    " Leave it an array: np and adinterface.scipy have functions for it, np.ma has none. Write"
    " np.stack([...]) for a list of arrays, np.sin for math.sin, and a = np.array(a) in f before"
    " a[0] = x[0]." + OTHER_CODE
)


def refused(message):
    """In a message, {engine} stands for the engine's name.

    Each begins with the name of numpy_function.
    """

    if message.endswith("drop its gradient."):
        message += LEFT

    def enter(f):
        REFUSED.append(pytest.param(f, "numpy_function: " + message, id=f.__name__))
        return f

    return enter


LEAVING = "this code makes {} of what is differentiated, which would drop its gradient."


@refused(LEAVING.format("a plain NumPy array"))
def asarray(x):
    return np.sum(np.asarray(x))


@refused(LEAVING.format("a plain NumPy array"))
def array_of_elements(x):
    return np.sum(np.array([x[0], x[1]]))


ARGUMENT = (
    "this code writes into an argument of f, which belongs to the caller. Write x = x.copy() first."
)
PLAIN = np.zeros(3)


class Owner:
    plain = PLAIN
    kept = staticmethod(np.asarray)


@refused(ARGUMENT)
def writing(x):
    x[0] = 1.0
    return np.sum(x)


@refused(LEAVING.format("a Python number"))
def python_float(x):
    return float(x[0]) * 2


@refused(LEAVING.format("a Python number"))
def math_module(x):
    return math.sin(x[0])


@refused(LEAVING.format("a Python number"))
def item(x):
    return x[0].item()


@refused(LEAVING.format("Python numbers"))
def tolist(x):
    return sum(x.tolist())


@refused(ARGUMENT)
def in_place_on_an_argument(x):
    x += 1.0
    return np.sum(x)


@refused(ARGUMENT)
def out(x):
    return np.sum(np.add(x, 1.0, out=x))


@refused(ARGUMENT)
def ufunc_at(x):
    np.add.at(x, [0], 1.0)
    return np.sum(x)


@refused(LEAVING.format("a Python number"))
def filling_another(x):
    Owner.plain.fill(x[0])
    return np.sum(Owner.plain)


INTO_PLAIN = (
    "{} would write its result into a plain NumPy array (out=, or an operator such as +=), which"
    " would drop its gradient: f itself has not made that array. Write a = np.array(a) in f first,"
    " and pass that to the code." + OTHER_CODE
)
for _name, _write in {
    "np.add": lambda x: np.sum(np.add(x, 1.0, out=Owner.plain)),
    "np.place": lambda x: np.place(Owner.plain, [True, False, True], x),
    "np.put": lambda x: np.put(Owner.plain, [0, 1], x),
    "np.add.at": lambda x: np.add.at(Owner.plain, [0, 1, 0], x),
    "np.multiply.at": lambda x: np.multiply.at(Owner.plain, [0, 1, 0], x),
    "np.copyto": lambda x: np.copyto(dst=Owner.plain, src=x),
    "np.putmask": lambda x: np.putmask(Owner.plain, [True, False, True], x),
    "np.put_along_axis": lambda x: np.put_along_axis(Owner.plain, np.array([0, 1, 2]), x, 0),
}.items():
    REFUSED.append(
        pytest.param(
            _write, "numpy_function: " + INTO_PLAIN.format(_name), id=f"{_name} of another"
        )
    )


@refused(LEAVING.format("a Python number"))
def writing_into_another(x):
    Owner.plain[0] = x[0]
    return np.sum(Owner.plain)


CAPTURED = (
    "this code writes what is differentiated into an array that f captures or gets in a Constant, which"
    " outlives the call. Write x = x.copy() in f first."
)


@refused(CAPTURED)
def writing_into_a_captured_array(x):
    PLAIN[0] = x[0]
    return np.sum(PLAIN)


@refused(
    "this code writes what is differentiated into memory that a plain NumPy array shares, such as"
    " np.asarray of it in a function that f calls, which would not see it. Write x = x.copy()"
    " first."
)
def writing_beside_a_plain_array(x):
    a = np.zeros(3)
    seen = Owner.kept(a)
    a[0] = x[0]
    return np.sum(a) + np.sum(seen)


@refused(
    "this code writes where a reshape or ravel may look on or not: that depends on how its"
    " argument lies in memory, which an engine's array does not tell. Write x = x.copy() before the"
    " reshape or ravel."
)
def writing_beside_a_ravel_of_unknown_memory(x):
    y = x[:, None] * x
    flat = y.ravel()
    y[0, 0] = 0.0
    return np.sum(flat)


@refused(ARGUMENT)
def sort(x):
    x.sort()
    return x[0]


@refused("x.ctypes needs NumPy memory, which an array of {engine} does not have.")
def memory(x):
    return x.ctypes


@refused(
    "x.device asks where an array lies, and the engine's may lie anywhere. Leave device=... out: a"
    " NumPy array goes to where the array that it meets lies."
)
def device(x):
    return np.sum(x * np.ones(3, device=x.device))


@refused("np.sin does not take casting= here. Leave it out.")
def ufunc_casting(x):
    return np.sum(np.sin(x, casting="no"))


@refused(
    "np.add.reduceat has no counterpart here. Write it with np.add and a loop or a reduction such"
    " as np.sum."
)
def reduceat(x):
    return np.sum(np.add.reduceat(x, [0, 2]))


@refused(
    "an array of dtype object has no counterpart in {engine}. Convert it to numbers with"
    " astype(float)."
)
def objects(x):
    return np.sum(x * np.array([1, None, 2], dtype=object))


@refused(
    "an array of dtype <U1 has no counterpart in {engine}. Convert it to numbers with"
    " astype(float)."
)
def strings(x):
    return np.sum(np.where(x > 1, np.array(["a", "b", "c"]), x))


@refused(LEAVING.format("a plain NumPy array"))
def foreign_function(x):
    return np.sum(scipy.linalg.solve(np.eye(3), x))


@refused(LEAVING.format("a plain NumPy array"))
def vectorize(x):
    return np.sum(np.vectorize(abs)(x))


@refused(LEAVING.format("a plain NumPy array"))
def full(x):
    return np.sum(np.full(3, x[0]))


@refused(LEAVING.format("a plain NumPy array"))
def arange(x):
    return np.sum(np.arange(x[0], x[2]))


@refused(LEAVING.format("a plain NumPy array"))
def random_numbers(x):
    rng = np.random.default_rng(0)
    return rng.normal(x[0], 1.0)


@refused(LEAVING.format("a Python number"))
def integral(x):
    return quad(lambda s: s * x[0], 0, 5)[0]


@refused(LEAVING.format("a plain NumPy array"))
def exponential(x):
    return np.sum(scipy.linalg.expm(x * np.eye(3)))


@refused(LEAVING.format("a plain NumPy array"))
def function_of_a_tuple(x):
    return np.sum(np.exp((x, x)))


@refused(
    "np.histogram does not work on {engine} arrays. Write np.searchsorted and comparisons; a"
    " histogram has no derivative."
)
def histogram(x):
    return np.histogram(x)[0][0]


@refused(ARGUMENT)
def put(x):
    np.put(x, [0], 1.0)
    return np.sum(x)


@refused(
    "scipy.special.mathieu_a does not work on {engine} arrays. The table in the documentation lists"
    " what does."
)
def special(x):
    return np.sum(scipy.special.mathieu_a(2, x / 3))


MATRIX = (
    "np.matrix has a product of its own, which an engine's array does not have. Write"
    " np.asarray(m), and @ for the product."
)
SOME_MATRIX = np.eye(3).view(np.matrix)


@refused(MATRIX)
def matrix(x):
    return np.sum(x * SOME_MATRIX)


@refused(MATRIX)
def matrix_in_front(x):
    return np.sum(SOME_MATRIX * x)


MASKED = (
    "a masked array together with an engine's array would lose its mask. Write np.where(mask, a,"
    " b), or nan for what is masked and np.nansum and the like."
)


@refused(MASKED)
def masked(x):
    return np.sum(x * np.ma.masked_array(X, [True, False, False]))


ORDER = (
    "order='{}' depends on how an array lies in memory, which an engine's array does not tell."
    " Write order='C' or order='F'."
)


@refused(ORDER.format("K"))
def ravel_in_memory_order(x):
    return np.sum(np.ravel(np.outer(x, x).T, "K") * np.arange(9))


@refused(ORDER.format("A"))
def reshape_in_memory_order(x):
    return np.sum(np.reshape(np.outer(x, x).T, 9, order="A") * np.arange(9))


@refused("np.emath.log does not work on {engine} arrays. Write np.log(x + 0j).")
def complex_where_numpys_own_is_nan(x):
    return np.sum(np.real(np.emath.log(x - 1.0)))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_what_cannot_work_says_what_to_write(f, message, engine):
    with pytest.raises(NumpyCodeError) as caught:
        gradient(numpy_function(f), ENGINES[engine], X)
    assert str(caught.value) == message.replace("{engine}", engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("low", [0.0, 1.0])
def test_what_was_refused_inside_the_c_code_of_scipy_arrives(low, engine):
    """SciPy's solver asks for a number, ignores the error, and fails with one of Python's or of its
    own.
    """

    @numpy_function
    def root(x):
        return brentq(lambda s: s**2 - x[0], low, 5)

    with pytest.raises((NumpyCodeError, ValueError)) as caught:
        gradient(root, ENGINES[engine], X)
    _tells(caught.value)


def _tells(error):
    told = [str(error), *getattr(error, "__notes__", [])]
    message = "numpy_function: " + LEAVING.format("a Python number")
    assert sum(message in each for each in told) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_of_the_code_itself_stays_what_it_is(engine):
    @numpy_function
    def inner(x):
        try:
            return float(x[0])
        except TypeError as error:
            raise KeyError("no number") from error

    with pytest.raises(KeyError, match="no number") as caught:
        gradient(numpy_function(lambda x: inner(x) * x[0]), ENGINES[engine], X)
    _tells(caught.value)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_what_has_no_derivative_may_become_a_python_value(backend):
    """Comparisons choose a branch, integers count a loop, and a message shows the number."""
    shown = []

    def f(x):
        shown.append(f"{x[0]:.2f}")
        steps = int(np.floor(x[1] * 2 + 0.5))
        return sum(x[0] ** n for n in range(steps)) if x[2] > x[1] else x[0]

    (found,) = gradient(numpy_function(f), backend, X)
    np.testing.assert_allclose(found, [1 + 2 * 0.5, 0, 0], rtol=1e-6, atol=1e-9)
    assert "0.50" in shown


@pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
def test_in_place_arithmetic_keeps_shape_and_dtype(backend):
    def single(x):
        y = (x * 2).astype(np.float32)
        y += np.ones(3)
        assert y.dtype == np.float32
        return np.sum(y)

    def wider(x):
        y = x * 2
        y += np.ones((2, 3))
        return np.sum(y)

    def complex_(x):
        y = x * 2
        y += 1j
        return np.sum(y)

    np.testing.assert_allclose(gradient(numpy_function(single), backend, X)[0], [2, 2, 2])
    with pytest.raises(
        ValueError, match=r"operand with shape \(3,\) doesn't match the broadcast shape"
    ):
        gradient(numpy_function(wider), backend, X)
    with pytest.raises(
        TypeError,
        match="Cannot cast ufunc 'add' output from dtype\\('complex128'\\) to dtype\\('float64'\\)",
    ):
        gradient(numpy_function(complex_), backend, X)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: x[0] if x[0] > 0 else x[1], "AutoJax(jit=False)"),
        (python_float, "this code makes a Python number of what"),
    ],
    ids=["a branch", "a number"],
)
def test_under_jit_no_value_is_known(f, said):
    with pytest.raises(Exception, match=re.escape(said)) as caught:
        prepare(gradient, numpy_function(f), AutoJax(), X)(X)
    assert said in "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_a_plain_array_indexed_by_what_jit_does_not_know():
    def f(x):
        return np.sum(x * X[np.argsort(x)])

    message = "^numpy_function: this code makes a plain NumPy array of what is differentiated"
    with pytest.raises(NumpyCodeError, match=message):
        prepare(gradient, numpy_function(f), AutoJax(), X)(X)
    g = numpy_function(lambda x, a: np.sum(x * a[np.argsort(x)]))
    np.testing.assert_allclose(
        prepare(gradient, g, AutoJax(), X, Constant(X))(X, Constant(X))[0], X
    )
    np.testing.assert_allclose(gradient(numpy_function(f), AutoTorch(), X)[0], X)


@pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda x: x + "a", TypeError, "unsupported operand type(s) for +: 'NumpyArray' and 'str'"),
        (lambda x: "a" - x, TypeError, "unsupported operand type(s) for -: 'str' and 'NumpyArray'"),
        (
            lambda x: np.sin(x) * {},
            TypeError,
            "unsupported operand type(s) for *: 'NumpyArray' and 'dict'",
        ),
        (lambda x: np.hypot(x, "a"), TypeError, "numpy_function: np.hypot got a str and"),
        (lambda x: x.numpy(), AttributeError, "'numpy.ndarray' object has no attribute 'numpy'"),
        (
            lambda x: [x][x[0]],
            TypeError,
            "only integer scalar arrays can be converted to a scalar index",
        ),
        (lambda x: {x: 1}, TypeError, "unhashable type: 'numpy.ndarray'"),
        (lambda x: len(x[0]), TypeError, "len() of unsized object"),
        (lambda x: list(x[0]), TypeError, "iteration over a 0-d array"),
        (lambda x: x.reshape(2, 2), (ValueError, TypeError, RuntimeError), ""),
        (lambda x: x[7], IndexError, ""),
        (lambda x: np.sum(x, axis=3), (ValueError, IndexError), ""),
    ],
)
def test_python_errors_are_numpys(f, error, message, backend):
    with pytest.raises(error, match=re.escape(message) if message else None):
        gradient(numpy_function(f), backend, X)


WRITING = {
    "place": lambda a, x: np.place(a, x > 1, 2.0),
    "put": lambda a, x: np.put(a, ind=np.argsort(-x), v=[1.0, 2.0, 3.0]),
    "at": lambda a, x: np.add.at(a, np.argsort(-x), [1.0, 2.0, 3.0]),
    "at, of one": lambda a, x: np.negative.at(a, np.argmax(x)),
    "copyto": lambda a, x: np.copyto(a, 3.0, where=x > 1),
    "putmask": lambda a, x: np.putmask(a, x > 1, [2.0, 3.0]),
    "put_along_axis": lambda a, x: np.put_along_axis(a, np.argsort(-x), [1.0, 2.0, 3.0], 0),
}


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_are_written_to_plain_arrays_where_the_engine_says(engine, name):
    """Of masks and indices nothing has a derivative, so a plain array takes them, whoever made
    it.
    """
    wanted, plain = np.ones(3), np.ones(3)
    WRITING[name](wanted, X)
    owner = type("Owner", (), {"plain": plain})

    def f(x):
        WRITING[name](owner.plain, x)
        return np.sum(x * owner.plain)

    np.testing.assert_array_equal(gradient(numpy_function(f), ENGINES[engine], X)[0], wanted)
    np.testing.assert_array_equal(plain, wanted)
