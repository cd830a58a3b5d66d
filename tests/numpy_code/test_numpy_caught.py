"""numpy_function(f, deep=True): errors that f raises and catches decide what it computes."""

import cmath
import contextlib
import math
import re
import warnings

import jax
import numpy as np
import pytest

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    derivative,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
#: On both sides of all conditions.
POINTS = [np.array(point) for point in ([0.5, 1.03], [2.0, 1.03], [0.7, 2.1], [1.5, 0.3])]
X = np.array([0.5, 1.0])
PROGRAMS = []


def program(f):
    PROGRAMS.append(pytest.param(f, id=f.__name__))
    return f


def deep(f):
    return numpy_function(f, deep=True)


@program
def raised_in_the_block(x):
    try:
        if x[0] > 1:
            raise ValueError("large")
        y = x[0]
    except ValueError:
        y = x[0] ** 2
    return y * x[1]


def refusing(x):
    if x[0] > 1:
        raise ValueError("large")
    return np.sqrt(2 - x[0])


@program
def raised_in_a_helper(x):
    try:
        return refusing(x) * x[1]
    except ValueError:
        return x[0] ** 2 * x[1]


@program
def raised_and_renamed(x):
    try:
        try:
            y = refusing(x)
        except ValueError as error:
            raise KeyError("large") from error
        finally:
            z = x[1]
    except KeyError:
        y = x[0] ** 2
        z = x[1] ** 2
    return y * z


@program
def any_error_is_caught(x):
    try:
        if x[0] > 1:
            raise ValueError
        return x[0] * x[1]
    except Exception:
        return x[0] ** 2 * x[1]


@program
def an_assertion_is_caught(x):
    try:
        assert x[0] < 1
        return x[0] * x[1]
    except AssertionError:
        return x[0] ** 2 * x[1]


@program
def suppressed(x):
    y = x[0] ** 2 * x[1]
    with np.errstate(all="ignore"), contextlib.suppress(ValueError):
        if x[0] > 1:
            raise ValueError
        y = x[0] * x[1]
    return y


@contextlib.contextmanager
def guard():
    with contextlib.suppress(ValueError):
        yield


@program
def suppressed_by_a_manager_of_ones_own(x):
    y = x[0] ** 2 * x[1]
    with guard():
        if x[0] > 1:
            raise ValueError
        y = x[0] * x[1]
    return y


@program
def a_branch_inside_of_a_block_that_catches_all(x):
    try:
        y = x[0] * x[1] if x[0] < 1 else x[0] ** 2 * x[1]
    except Exception:
        y = 100 * x[0]
    return y


@program
def a_mask_inside_of_a_block(x):
    try:
        y = x[x > 1][0] ** 2
    except IndexError:
        y = x[0]
    return y * x[1]


@program
def places_inside_of_a_block(x):
    try:
        y = np.flatnonzero(x > 1.9)[0] + x[0]
    except (IndexError, TypeError):
        y = x[0] ** 2
    return y * x[1]


@program
def an_integer_inside_of_a_block(x):
    try:
        y = x[0] * int(x[1] * 2)
    except Exception:
        y = 100 * x[0]
    return y * x[1]


@program
def caught_in_a_loop(x):
    y = 0.0
    for i in range(2):
        try:
            if x[i] > 1:
                raise ValueError
            y = y + x[i]
        except (ValueError, KeyError):
            y = y + x[i] ** 2
    return y


@program
def a_warning_that_is_an_error(x):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if x[0] > 1:
                warnings.warn("large", stacklevel=2)
            return x[0] * x[1]
    except UserWarning:
        return x[0] ** 2 * x[1]


@program
def a_warning_that_is_recorded(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if x[0] > 1:
            warnings.warn("large", stacklevel=2)
        y = x[0] * x[1]
    return x[0] ** 2 * x[1] if seen else y


def right(f, found, x):
    steps = 1e-6 * np.eye(len(x))  # shorter than the distance of any point from any condition
    wanted = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
    value, (slope,) = found
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-8)


@each_engine
@pytest.mark.parametrize("f", PROGRAMS)
def test_caught(f, backend):
    for x in POINTS:
        right(f, value_and_gradient(deep(f), backend, x), x)


def test_caught_in_a_function_that_calls_the_copy():
    inner = deep(refusing)

    def f(x):
        try:
            return inner(x) * x[1]
        except ValueError:
            return x[0] ** 2 * x[1]

    for x in POINTS:
        right(raised_in_a_helper, value_and_gradient(f, AutoJax(), x), x)


@pytest.mark.parametrize("backend", [AutoTorch(mode="forward"), AutoTorch(mode="reverse"), AutoJax()], ids=repr)
@pytest.mark.parametrize("operator", [jacobian, hessian])
def test_caught_under_other_operators(operator, backend):
    for x in POINTS:
        found, wanted = (operator(deep(raised_in_a_helper), engine, x) for engine in (backend, AutoAutograd()))
        np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), rtol=1e-8)


@pytest.mark.parametrize("f", [raised_in_the_block, a_branch_inside_of_a_block_that_catches_all, a_mask_inside_of_a_block])
def test_in_a_trace_of_the_users_own_it_is_jaxs_own_error(f):
    with pytest.raises((jax.errors.JAXTypeError, jax.errors.JAXIndexError)):
        jax.jit(lambda x: gradient(deep(f), AutoJax(), x)[0])(POINTS[0])


# Errors of Python's own -----------------------------------------------------------------------------------------------

#: Where each function below ends with an error, and where not.
NUMBERS = [np.array(point) for point in ([0.5, 1.0], [-2.0, 1.0], [0.0, 1.0], [1.5, 1.2], [0.3, 0.5])]
PYTHONS = []


def python(f):
    PYTHONS.append(pytest.param(f, id=f.__name__))
    return f


@python
def a_logarithm(x):
    try:
        return math.log(x[0]) * x[1]
    except ValueError:
        return x[0] ** 2 * x[1]


@python
def a_logarithm_to_a_base(x):
    try:
        return math.log(x[1] + 1, 1 + x[0])
    except (ValueError, ZeroDivisionError):
        return x[0] ** 3 + x[1]


@python
def a_complex_logarithm(x):
    try:
        return cmath.log(complex(x[0])).real
    except ValueError:
        return x[0] ** 3 + x[1]


def root_of(x):
    return math.sqrt(x)


@python
def a_square_root_in_a_helper(x):
    try:
        return root_of(x[0] + 0.1) * x[1]
    except ValueError:
        return x[0] ** 3 * x[1]


@python
def an_overflow(x):
    try:
        return math.exp(x[0] * 1000) * x[1] if x[0] > 1 else x[1]
    except OverflowError:
        return x[0] ** 2 * x[1]


@python
def an_overflow_of_a_power(x):
    try:
        return float(x[0] * 10) ** 400 * x[1] * 1e-300
    except OverflowError:
        return x[0] ** 2 * x[1]


@python
def a_division(x):
    a, b = float(x[0]), x[1].item()
    try:
        return (2 * b + 1) / -(a * 2)
    except ZeroDivisionError:
        return b**2 + a


@python
def a_division_of_a_number(x):
    try:
        return x[1] + 1 / float(x[0])
    except ZeroDivisionError:
        return x[1] ** 2 + x[0]


@python
def a_division_by_numpys_number_is_none(x):
    with np.errstate(all="ignore"):
        try:
            return x[1] * (1 / x[0] < 5) + x[0]
        except ZeroDivisionError:
            return 100 * x[1]


@python
def a_power_of_zero(x):
    try:
        return float(x[0]) ** -1 * x[1]
    except ZeroDivisionError:
        return x[0] ** 2 + x[1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the engines that compute with NumPy
@each_engine
@pytest.mark.parametrize("f", PYTHONS)
def test_an_error_of_python_is_caught(f, backend):
    for x in NUMBERS:
        value, (slope,) = value_and_gradient(deep(f), backend, x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(slope, _slope(f, x), rtol=1e-6, atol=1e-8)


def _slope(f, x):
    """By differences within the way that f takes at x; at a point of an error alone by what its `except` computes."""
    if x[0] == 0 and f in EXACT:
        return EXACT[f]
    return [(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(2)]


EXACT = {
    a_logarithm: [0, 0], a_logarithm_to_a_base: [0, 1], a_complex_logarithm: [0, 1], a_division: [1, 2],
    a_division_of_a_number: [1, 2], a_power_of_zero: [0, 1], a_division_by_numpys_number_is_none: [1, 0],
}  # fmt: skip


@each_engine
def test_a_number_that_f_gets_is_pythons(backend):
    def f(x, scale=1.0):
        try:
            return scale / (2 * x)
        except ZeroDivisionError:
            return x + 7.0

    for x in 0.0, 2.0, 0.0:
        assert derivative(deep(f), backend, x) == (-1 / (2 * x**2) if x else 1)


@each_engine
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_number_of_numpys_is_none_of_pythons(backend):
    f = deep(lambda x: 1 / np.sum(x) if isinstance(np.sum(x), np.floating) and not isinstance(np.sum(x), int) else x[0])
    assert value_and_gradient(f, backend, np.zeros(1)).value == np.inf


@each_engine
def test_a_negative_number_has_a_complex_root_as_in_python(backend):
    f = lambda x: abs(float(x[0]) ** (1 / 3)) * x[1]
    value, (slope,) = value_and_gradient(deep(f), backend, np.array([-8.0, 1.5]))
    assert value == pytest.approx(3)
    np.testing.assert_allclose(slope, [-1 / 8, 2], rtol=1e-12)


@each_engine
@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: math.log(x[0]), ValueError),
        (lambda x: math.exp(-1e4 * x[0]), OverflowError),
        (lambda x: 1 / float(x[1]), ZeroDivisionError),
        (lambda x: divmod(float(x[0]), x[1].item()), ZeroDivisionError),
        (lambda x: math.sqrt(x), TypeError),
    ],
)
def test_an_error_of_python_comes_out(f, error, backend):
    x = np.array([-2.0, 0.0])
    with pytest.raises(error) as plain, np.errstate(all="ignore"):
        f(x)
    with pytest.raises(error, match=re.escape(str(plain.value))), np.errstate(all="ignore"):
        gradient(deep(f), backend, x)


def test_a_compiled_call_passes_over_an_error():
    fast = prepare(gradient, deep(lambda x: math.log(x[0]) + x[1]), AutoJax(), X)
    np.testing.assert_allclose(fast(X)[0], [2, 1])
    assert fast.specializations == 1


# One element as a number ----------------------------------------------------------------------------------------------


def elements(x):
    row = x.reshape(1, 2)
    assert type(x.item(0)) is float
    assert type(np.sum(x).item()) is type(float(np.sum(x))) is float
    assert isinstance(np.argmax(x).item(), int)
    a, (b, c) = x[0].item(), x.tolist()
    found = (row @ np.array([[1.0, 2.0], [3.0, 4.0]]) @ row.T).item() + x.item(1) * a + row.item(0, 1) + row.item((0, 0)) * 2
    return found * np.argmax(x).item() + b * c + math.sin(row.tolist()[0][1])


@each_engine
def test_an_element_as_a_number(backend):
    right(elements, value_and_gradient(deep(elements), backend, X), X)


@each_engine
@pytest.mark.parametrize("convert", [lambda x: x.item(), float])
def test_an_array_is_no_number(backend, convert):
    with pytest.raises((ValueError, TypeError)):
        gradient(deep(convert), backend, X)


@pytest.mark.parametrize("extreme", [max, min])
@each_engine
def test_the_largest_of_numbers_of_python_is_one(extreme, backend):
    """A division by it is a division of Python's, which is checked; its dtype gives way to that of arrays."""

    @deep
    def f(a, b):
        try:
            y = 1.0 / extreme(float(b), 0.0)
        except ZeroDivisionError:
            y = 2.0
        return a**2 * y

    number = np.float64 if backend == AutoJax() else np.float32  # JAX has no doubles in a call of single precision
    b = 0.74 if extreme is max else -0.74
    for factor in (1, -1, 1):
        value, (slope, _) = value_and_gradient(f, backend, number(0.5), Constant(number(factor * b)))
        expected = 1 / number(b) if factor == 1 else 2.0
        np.testing.assert_allclose([value, slope], [0.25 * expected, expected], rtol=1e-6)
        assert np.asarray(value).dtype == number
    assert hessian(f, backend, number(0.5), Constant(number(b))).dtype == number


@each_engine
@pytest.mark.parametrize("x", [0.28, 0.5])
def test_math_computes_in_double_precision(x, backend):
    """exp(420) is a number in double precision and infinite in single precision."""

    @deep
    def f(c):
        try:
            y = math.exp(1500.0 * c) * 0.0
        except OverflowError:
            y = 1.0
        return np.sin(c) * (2.0 + y)

    x = np.asarray(x, np.float32)
    if backend.name == "jax" and x < 0.4:
        with pytest.raises(NumpyCodeError, match=r"math.exp\(1500.0 \* c\) is 2.53328e\+182, which float32 cannot hold"):
            gradient(f, backend, x)
        return
    (g,) = gradient(f, backend, x)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g, np.cos(x) * (2.0 if x < 0.4 else 3.0), rtol=1e-5)
