"""NumPy code under `numpy_function` on every engine: values, shapes, dtypes and derivatives are
NumPy's.
"""

import functools
import re

import numpy as np
import pytest
import torch
from adinterface_autograd import AutogradLibrary
from adinterface_studies.functions.numpy_code import (
    OTHERS,
    REFUSED,
    SMOOTH,
    SPECIAL,
    VALUES,
    VARIABLES,
    expressions,
    function_of,
    variables_in,
)
from adinterface_torch import TorchLibrary
from autograd.core import VJPNode
from autograd.tracer import new_box
from cells import Cells

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    NumpyCodeError,
    gradient,
    hvp,
    numpy_function,
    prepare,
    pushforward,
    value_and_gradient,
)
from adinterface.core.contract import Library
from adinterface.numpy_code.array import NumpyArray
from adinterface.numpy_code.engine import engine_of

# The Array API has no counterpart of these.
NOT_COMPOSED = re.compile(
    r"np\.frexp|special\.(i0e|i1|i1e|gamma|gammaln|rgamma|digamma|psi|beta|betaln|binom)\("
)
# Results whose size, or branches whose choice, depends on values that jit does not know.
VALUE_DEPENDENT = re.compile(r"\w\[\w > 0\]|np\.unique\(|np\.union1d|^(max|min)\(|argmax")
STENCIL = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
disconnected = pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")


class BareNumpy(Library):
    """An engine that has nothing but the Array API: NumPy's own namespace."""

    types = (np.ndarray, np.generic)

    def dtype(self, x):
        return x.dtype.name

    def to_numpy(self, x):
        return np.asarray(x)

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        return np.asarray(x)

    def namespace(self, x):
        import array_api_compat.numpy as namespace

        return namespace


class BareTorch(TorchLibrary):
    def numpy_sources(self):
        return ()


def box(array):
    return new_box(np.array(array), 0, VJPNode.new_root()) if array.dtype.kind in "fc" else array


ENGINES = {
    "torch": (engine_of(TorchLibrary()), torch.tensor),
    "torch without functions of its own": (engine_of(BareTorch()), torch.tensor),
    "NumPy's namespace": (engine_of(BareNumpy()), np.array),
    "autograd": (engine_of(AutogradLibrary()), box),
}


@pytest.fixture(params=["torch", "torch, composed", "autograd"])
def backend(request, monkeypatch):
    """The backends of the operators below; once a torch that has no functions of its own."""
    if request.param == "torch, composed":
        monkeypatch.setattr(TorchLibrary, "numpy_sources", BareTorch.numpy_sources)
    engine_of.cache_clear()
    yield request.param
    engine_of.cache_clear()


def assert_same(result, expected):
    if isinstance(expected, (list, tuple)):
        assert isinstance(result, (list, tuple))
        assert len(result) == len(expected)
        for part, expected_part in zip(result, expected):
            assert_same(part, expected_part)
    elif isinstance(expected, (np.ndarray, np.generic)):
        array = (
            result.engine.library.to_numpy(result.native) if type(result) is NumpyArray else result
        )
        array = array.numpy() if isinstance(array, torch.Tensor) else array
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
        single = expected.dtype.name in ("float32", "complex64")
        np.testing.assert_allclose(
            array, expected, rtol=2e-5 if single else 1e-12, atol=1e-6 if single else 1e-13
        )
    else:
        assert type(result) is type(expected)
        assert result == expected


# Thousands of expressions, of which pytest's own work for a test, or a subtest, would take half of
# the time: a theme is a test.


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("theme", [*SMOOTH, *SPECIAL, *VALUES])
def test_value_shape_and_dtype_are_numpys(theme, engine):
    cells = Cells()
    for expression in expressions((SMOOTH | SPECIAL | VALUES)[theme]):
        with cells.cell(expression):
            _value_shape_and_dtype_are_numpys(expression, *ENGINES[engine])
    cells.all_right()


def _value_shape_and_dtype_are_numpys(expression, engine, array):
    f, names = function_of(expression), variables_in(expression)
    values = [(VARIABLES | OTHERS)[name] for name in names]
    wrapped = [
        native
        if type(native := array(value)) is np.ndarray and array is box
        else NumpyArray(native, engine)
        for value in values
    ]
    with np.errstate(all="ignore"):
        if not engine.library.numpy_sources() and NOT_COMPOSED.search(expression):
            with pytest.raises(NumpyCodeError, match="does not work on"):
                f(*wrapped)
            return
        assert_same(f(*wrapped), f(*values))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("expression", expressions(REFUSED))
def test_what_numpy_refuses_is_refused(expression, engine):
    engine, array = ENGINES[engine]
    f, names = function_of(expression), variables_in(expression)
    with pytest.raises((ValueError, TypeError, IndexError)) as wanted:
        f(*[VARIABLES[name] for name in names])
    errors = (ValueError, IndexError, TypeError)  # an AxisError is both of the first two
    with pytest.raises((*errors, RuntimeError)) as found:
        f(*[NumpyArray(array(VARIABLES[name]), engine) for name in names])
    if type(found.value) is RuntimeError:  # torch's word for everything
        assert engine is ENGINES["torch"][0]
        return
    assert any(isinstance(wanted.value, cls) and isinstance(found.value, cls) for cls in errors)
    assert str(found.value)


def scalar_of(expression):
    """A weighted sum of the expression, and a point and a direction for the variables in it."""
    f = function_of(expression)

    def scalar(*args):
        value = f(*args)
        weights = np.cos(np.arange(np.size(value)) * 1.7 + 0.3).reshape(np.shape(value))
        return np.sum(weights * value)

    args = tuple(VARIABLES[name] for name in variables_in(expression))
    return (
        scalar,
        args,
        tuple(np.sin(np.arange(arg.size) * 2.3 + 1).reshape(arg.shape) for arg in args),
    )


def along(function, args, directions, step=2e-3):
    """The derivative of a function of the arguments in a direction, by differences of the eighth
    order.
    """
    moved = lambda n: function(
        *[arg + n * step * direction for arg, direction in zip(args, directions)]
    )
    return sum(weight * (moved(n) - moved(-n)) for n, weight in enumerate(STENCIL, 1)) / step


@functools.cache
def both_orders(expression):
    """The first and the second derivative of an expression along its direction, by differences of
    the eighth order in NumPy.
    """
    f, args, directions = scalar_of(expression)
    step = 2e-3
    at = [
        f(*[arg + n * step * direction for arg, direction in zip(args, directions)])
        for n in range(-4, 5)
    ]
    second = sum(
        weight * (at[4 + n] + at[4 - n])
        for n, weight in enumerate((8 / 5, -1 / 5, 8 / 315, -1 / 560), 1)
    )
    return along(f, args, directions), (second - 205 / 72 * at[4]) / step**2


def dotted(trees, others):
    return sum(np.sum(a * b) for a, b in zip(trees, others))


@disconnected
@pytest.mark.parametrize("theme", [*SMOOTH, *SPECIAL])
def test_derivatives_of_both_orders_in_both_modes(theme, backend):
    cells = Cells()
    for expression in expressions((SMOOTH | SPECIAL)[theme]):
        with cells.cell(expression):
            _derivatives_of_both_orders_in_both_modes(expression, backend)
    cells.all_right()


def _derivatives_of_both_orders_in_both_modes(expression, backend):
    f, args, directions = scalar_of(expression)
    auto = AutoAutograd if backend == "autograd" else AutoTorch
    on_engine = numpy_function(f)
    if backend == "torch, composed" and NOT_COMPOSED.search(expression):
        with pytest.raises(NumpyCodeError, match="does not work on"):
            gradient(on_engine, auto(), *args)
        return
    expected, expected_second = both_orders(expression)
    close = lambda value: pytest.approx(value, rel=1e-6, abs=1e-6)
    assert dotted(gradient(on_engine, auto(), *args), directions) == close(expected)
    second = hvp(lambda leaves: on_engine(*leaves), auto(), args, directions)
    assert dotted(second, directions) == close(expected_second)
    assert pushforward(on_engine, auto(mode="forward"), args, directions).tangent == close(expected)


@disconnected
@pytest.mark.parametrize("theme", [*SMOOTH, *SPECIAL])
def test_jax_compiles_a_theme_and_has_numpys_values_and_gradients(theme):
    """One compilation for all expressions of a theme.

    Each expression by itself is what the table is for.
    """
    rows = [
        row for row in expressions((SMOOTH | SPECIAL)[theme]) if not VALUE_DEPENDENT.search(row)
    ]
    functions = [
        (function_of(row), [list(VARIABLES).index(name) for name in variables_in(row)])
        for row in rows
    ]
    on_jax = []

    def total(*args, seen=None):
        terms = []
        for row, (f, places) in zip(rows, functions):
            value = f(*[args[n] for n in places])
            weights = np.cos(np.arange(np.size(value)) * 1.7 + 0.3 + len(terms)).reshape(
                np.shape(value)
            )
            terms.append(np.sum(weights * value))
            if seen is not None:
                seen.append((row, np.shape(value), np.result_type(value)))
        return sum(terms)

    args = tuple(VARIABLES.values())
    directions = tuple(np.sin(np.arange(arg.size) * 2.3 + 1).reshape(arg.shape) for arg in args)
    f = numpy_function(lambda *args: total(*args, seen=on_jax))
    value, gradients = prepare(value_and_gradient, f, AutoJax(), *args)(*args)
    plain = []
    assert value == pytest.approx(total(*args, seen=plain), rel=1e-9)
    assert on_jax[: len(plain)] == plain
    assert dotted(gradients, directions) == pytest.approx(
        along(total, args, directions), rel=1e-6, abs=1e-6
    )


NUMBERS = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
PYTHONS = (True, 2, 2.0, 2j)
PAIRS = (
    np.add,
    np.multiply,
    np.true_divide,
    np.maximum,
    np.hypot,
    np.power,
    np.remainder,
    np.equal,
    np.logical_and,
    np.vecdot,
    np.matmul,
    np.dot,
    lambda a, b: np.where(True, a, b),
    lambda a, b: np.concatenate([a, b]),
    lambda a, b: np.stack([a, b]),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", NUMBERS)
def test_dtypes_are_promoted_as_in_numpy(number, engine):
    """Between arrays, 0-d arrays and Python's numbers, wherever NumPy and the engine have the
    function.
    """
    engine, array = ENGINES[engine]
    first = np.ones(2, number)
    if array is box and first.dtype.kind not in "fc":
        pytest.skip("autograd has no boxes of integers: they are NumPy's arrays")
    wrapped = lambda x: (
        NumpyArray(native, engine)
        if type(native := array(x)) is not np.ndarray or array is np.array
        else native
    )
    others = (
        [np.ones(2, other) for other in NUMBERS]
        + [np.ones((), other) for other in NUMBERS]
        + list(PYTHONS)
    )
    compared = 0
    for function in PAIRS:
        for other in others:
            try:
                expected = function(first, other).dtype
            except (TypeError, ValueError):
                continue
            second = wrapped(other) if isinstance(other, np.ndarray) else other
            try:
                found = function(wrapped(first), second).dtype
            except (RuntimeError, TypeError):
                continue  # torch lacks some small integers, and the order of complex numbers
            compared += 1
            assert found == expected, (function, other)
    assert compared > 150


# What torch does otherwise
# -------------------------------------------------------------------------------------------


def run(f, *args):
    return numpy_function(f)(*[torch.tensor(arg) for arg in args])


@pytest.mark.parametrize("engine", ["torch", "torch without functions of its own"])
@pytest.mark.parametrize(
    ("f", "dtype"),
    [
        (lambda x: x * 2.0, torch.bfloat16),
        (lambda x: np.heaviside(x, 0.5), torch.bfloat16),
        (lambda x: np.vstack([x, np.arange(3)]), torch.bfloat16),
        (lambda x: np.maximum(x, True), torch.bfloat16),
        (lambda x: x * 1j, torch.complex64),
        (lambda x: x + np.ones(3, np.float16), torch.float32),
        (lambda x: x + np.ones(3), torch.float64),
    ],
)
def test_bfloat16_gives_way_to_other_inexact_dtypes_alone(engine, f, dtype):
    engine, array = ENGINES[engine]
    assert f(NumpyArray(array([1.0, 2.0, 3.0], dtype=torch.bfloat16), engine)).native.dtype is dtype


@pytest.mark.parametrize(
    "function", [np.linalg.inv, np.linalg.cholesky, lambda a: np.linalg.solve(a, a[0])]
)
def test_a_singular_matrix_raises_numpys_error(function):
    with pytest.raises(np.linalg.LinAlgError):
        run(function, -np.ones((2, 2)) * 0)


@pytest.mark.parametrize(
    ("f", "instead"),
    [
        (lambda x: np.histogram(x), "a histogram has no derivative"),
        (lambda x: np.spacing(x), "Write x * np.finfo"),
        (lambda x: np.trim_zeros(x), "Write a slice of known length"),
        (lambda x: np.intersect1d(x, x), "np.isin"),
        (lambda x: np.pad(x, 1, mode=lambda *args: None), "np.pad does not take mode="),
        (lambda x: np.quantile(x, 0.5, weights=x, method="inverted_cdf"), "weights"),
        (lambda x: np.unique(x, axis=0), "axis=None alone"),
    ],
)
def test_what_is_refused_says_what_to_write(f, instead):
    with pytest.raises(NumpyCodeError, match=re.escape(instead)):
        run(f, np.ones(3))


@pytest.mark.parametrize(
    "backend", [AutoJax(), AutoTorch(), AutoAutograd()], ids=["jax", "torch", "autograd"]
)
@pytest.mark.parametrize(
    "f",
    [np.maximum, np.fmax, lambda x, low: np.clip(x, low, None)],
    ids=["maximum", "fmax", "clip"],
)
def test_what_is_not_chosen_has_no_derivative_even_of_an_infinite_one(f, backend):
    x = np.array([-1.0, 2.0, 3.0])
    value = lambda x: (
        np.sum(np.where(x > 0, 1 / f(x, 2.3e-308), 0.0))
        - np.sum(1 / -np.minimum(-x, -2.3e-308) * (x > 0))
    )
    (slope,) = gradient(
        numpy_function(lambda x: 2 * np.sum((x > 0) / f(x, 2.3e-308)) - value(x)), backend, x
    )
    np.testing.assert_allclose(slope, [0.0, -1 / 2, -2 / 9])
