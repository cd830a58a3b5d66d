"""numpy_function(f, deep=True): errors that f raises and catches decide what it computes."""

import contextlib
import dis
import warnings

import jax
import numpy as np
import pytest

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)
from adinterface.numpy_code.deep.catching import catches

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
#: On both sides of all conditions.
POINTS = [np.array(point) for point in ([0.5, 1.03], [2.0, 1.03], [0.7, 2.1], [1.5, 0.3])]
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
    fast = prepare(value_and_gradient, deep(f), backend, POINTS[0])
    for x in POINTS:
        right(f, value_and_gradient(deep(f), backend, x), x)
        right(f, fast(x), x)


def test_caught_in_a_function_that_calls_the_copy():
    inner = deep(refusing)

    def f(x):
        try:
            return inner(x) * x[1]
        except ValueError:
            return x[0] ** 2 * x[1]

    fast = prepare(value_and_gradient, f, AutoJax(), POINTS[0])
    for x in POINTS:
        right(raised_in_a_helper, fast(x), x)


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


def test_a_check_that_nobody_catches_is_passed_over():
    def f(x):
        done = []
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                return refusing(x) * len(done)
        finally:
            done.append(1)

    found = jax.jit(lambda x: gradient(deep(f), AutoJax(), x)[0])(POINTS[0])
    np.testing.assert_array_equal(found, [0, 0])


def _with():
    with guard():
        raise ValueError


def _returning():
    try:
        raise ValueError
    finally:
        return 1  # noqa: B012


def _again():
    try:
        raise ValueError
    except ValueError:
        print("seen")
        raise


@pytest.mark.parametrize(("f", "wanted"), [(_with, True), (_returning, True), (_again, False)])
def test_whether_a_function_catches(f, wanted):
    (raised, *_) = [i.offset for i in dis.get_instructions(f) if i.opname == "RAISE_VARARGS"]
    assert catches(f.__code__, raised) is wanted
