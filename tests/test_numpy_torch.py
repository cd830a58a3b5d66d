"""NumPy's code on torch's tensors, by the backend's own functions and by the compositions that any engine has."""

import operator
import re
import warnings

import numpy as np
import pytest
import torch
from adinterface_torch import TorchLibrary
from numpy_expressions import CAPTURED, OTHERS, SMOOTH, SPECIAL, VALUES, VARIABLES, expressions

from adinterface import (
    AutoTorch,
    DisconnectedWarning,
    Library,
    NumpyCodeError,
    gradient,
    hvp,
    jacobian,
    numpy_function,
    pushforward,
)
from adinterface.numpy_code.array import NumpyArray
from adinterface.numpy_code.compositions import COMPOSITIONS
from adinterface.numpy_code.engine import engine_of

# The Array API has no counterpart of these.
NOT_COMPOSED = re.compile(
    r"np\.frexp|special\.(erf|erfc|erfcx|erfinv|i0e|i1|i1e|ndtr|log_ndtr|ndtri|gamma\w*|rgamma|digamma|psi|beta|betaln|binom)\("
)
# torch has no forward mode for these.
NO_FORWARD_MODE = re.compile(r"special\.gammaincc?\(")
ALL_SMOOTH = expressions(SMOOTH) + expressions(SPECIAL)
STENCIL = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


class BareNumpy(Library):
    """An engine that has nothing but the Array API: NumPy's own namespace."""

    name = "bare"
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


ENGINES = {
    "torch": (engine_of(TorchLibrary()), torch.tensor),
    "torch without functions of its own": (engine_of(BareTorch()), torch.tensor),
    "NumPy's namespace": (engine_of(BareNumpy()), np.array),
}


@pytest.fixture(params=[False, True], ids=["own functions", "compositions"])
def composed(request, monkeypatch):
    """Whether the operators below see a torch that has no functions of its own."""
    if request.param:
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
        array = result._array if type(result) is NumpyArray else result
        if isinstance(array, torch.Tensor):
            array = TorchLibrary().to_numpy(array)
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
        single = expected.dtype.name in ("float32", "complex64")
        np.testing.assert_allclose(array, expected, rtol=2e-5 if single else 1e-12, atol=1e-6 if single else 1e-13)
    else:
        assert type(result) is type(expected)
        assert result == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("expression", ALL_SMOOTH + expressions(VALUES))
def test_value_shape_and_dtype_are_numpys(expression, engine):
    engine, array = ENGINES[engine]
    code = compile(expression, "<expression>", "eval")
    wrapped = {name: NumpyArray(array(value), engine) for name, value in (VARIABLES | OTHERS).items()}
    with np.errstate(all="ignore"):
        if not engine.library.numpy_sources() and NOT_COMPOSED.search(expression):
            with pytest.raises(NumpyCodeError, match="does not work on"):
                eval(code, CAPTURED | wrapped)
            return
        assert_same(eval(code, CAPTURED | wrapped), eval(code, CAPTURED | VARIABLES | OTHERS))


def scalar_of(expression):
    """The expression as a function of the variables in it: their values, a direction for each, and a weighted sum."""
    names = [name for name in VARIABLES if re.search(rf"\b{name}\b", expression)]
    code = compile(expression, "<expression>", "eval")

    def f(*args):
        value = eval(code, CAPTURED | OTHERS | dict(zip(names, args)))
        weights = np.cos(np.arange(np.size(value)) * 1.7 + 0.3).reshape(np.shape(value))
        return np.sum(weights * value)

    args = tuple(VARIABLES[name] for name in names)
    return f, args, tuple(np.sin(np.arange(arg.size) * 2.3 + 1).reshape(arg.shape) for arg in args)


def along(function, args, directions, step=2e-3):
    """The derivative of a function of the arguments in a direction, by differences of the eighth order."""
    moved = lambda n: function(*[arg + n * step * direction for arg, direction in zip(args, directions)])
    return sum(weight * (moved(n) - moved(-n)) for n, weight in enumerate(STENCIL, 1)) / step


def dotted(trees, others):
    return sum(np.sum(a * b) for a, b in zip(trees, others))


@pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")
@pytest.mark.parametrize("expression", ALL_SMOOTH)
def test_derivatives_of_both_orders_in_both_modes(expression, composed):
    f, args, directions = scalar_of(expression)
    on_torch = numpy_function(f)
    if composed and NOT_COMPOSED.search(expression):
        with pytest.raises(NumpyCodeError, match="does not work on"):
            gradient(on_torch, AutoTorch(), *args)
        return
    expected = along(f, args, directions)
    close = lambda value: pytest.approx(value, rel=1e-6, abs=1e-6)
    assert dotted(gradient(on_torch, AutoTorch(), *args), directions) == close(expected)
    second = hvp(lambda leaves: on_torch(*leaves), AutoTorch(), args, directions)
    slope = lambda *moved: dotted(gradient(on_torch, AutoTorch(), *moved), directions)
    assert dotted(second, directions) == close(along(slope, args, directions))
    if NO_FORWARD_MODE.search(expression):
        return
    assert pushforward(on_torch, AutoTorch(mode="forward"), args, directions).tangent == close(expected)


@pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")
@pytest.mark.parametrize(
    "expression", [row for row in expressions(SMOOTH) + expressions(SPECIAL) if not NO_FORWARD_MODE.search(row)]
)
def test_batched_jacobians_agree(expression):
    names = [name for name in VARIABLES if re.search(rf"\b{name}\b", expression)]
    args = [VARIABLES[name] for name in names]
    f = numpy_function(lambda *values: eval(expression, CAPTURED | OTHERS | dict(zip(names, values))))
    rows, columns = [jacobian(f, AutoTorch(mode=mode), *args) for mode in ("reverse", "forward")]
    for row, column in zip(rows, columns):
        np.testing.assert_allclose(row, column, rtol=1e-9, atol=1e-10)


NUMBERS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
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
    """Between arrays, 0-d arrays and Python's numbers, wherever NumPy and the engine have the function."""
    engine, array = ENGINES[engine]
    first = np.ones(2, number)
    others = [np.ones(2, other) for other in NUMBERS] + [np.ones((), other) for other in NUMBERS] + list(PYTHONS)
    compared = 0
    for function in PAIRS:
        for other in others:
            try:
                expected = function(first, other).dtype
            except (TypeError, ValueError):
                continue
            second = NumpyArray(array(other), engine) if isinstance(other, np.ndarray) else other
            try:
                found = function(NumpyArray(array(first), engine), second).dtype
            except (RuntimeError, TypeError):
                continue  # torch lacks some small integers, and the order of complex numbers
            compared += 1
            assert found == expected, (function, other)
    assert compared > 150


# What torch does otherwise -------------------------------------------------------------------------------------------


def run(f, *args):
    return numpy_function(f)(*[torch.tensor(arg) for arg in args])


def test_an_array_that_f_writes_to_afterwards_keeps_its_numbers_for_the_backward_pass():
    def f(x):
        mask = np.zeros(3)
        total = 0.0
        for n in range(3):
            mask[:] = 0.0
            mask[n] = n + 1.0
            total = total + np.sum(x**2 * mask)
        return total

    (found,) = gradient(numpy_function(f), AutoTorch(), np.ones(3))
    np.testing.assert_array_equal(found, [2.0, 4.0, 6.0])


@pytest.mark.parametrize(
    "captured",
    [
        np.arange(3.0)[::-1],
        np.arange(3.0).astype(">f8"),
        np.broadcast_to(np.float64(2.0), (3,)),
        np.arange(3, dtype=np.uint8),
        np.float32(1.5),
    ],
    ids=["reversed", "big endian", "read-only", "small integers", "scalar"],
)
def test_any_captured_array_is_an_operand(captured):
    x = np.array([1.0, 2.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(run(lambda x: x * captured, x), x * captured)
        assert_same(run(lambda x: captured - x, x), captured - x)


@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.cholesky, lambda a: np.linalg.solve(a, a[0])])
def test_a_singular_matrix_raises_numpys_error(function):
    with pytest.raises(np.linalg.LinAlgError):
        run(function, -np.ones((2, 2)) * 0)


@pytest.mark.parametrize("index", [5, [0, 7], (0, 0), np.array([9])], ids=str)
def test_an_index_out_of_bounds_raises_numpys_error(index):
    with pytest.raises(IndexError):
        run(lambda x: x[index], np.ones(3))


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


def test_results_have_numpys_field_names():
    names = {
        "eigh": ("eigenvalues", "eigenvectors"),
        "eig": ("eigenvalues", "eigenvectors"),
        "qr": ("Q", "R"),
        "slogdet": ("sign", "logabsdet"),
        "svd": ("U", "S", "Vh"),
    }
    for engine, array in ENGINES.values():
        x = NumpyArray(array(np.eye(2)), engine)
        for name, fields in names.items():
            assert operator.attrgetter(name)(np.linalg)(x)._fields == fields


def test_every_composition_is_a_function_of_numpy():
    for name in COMPOSITIONS:
        if not name.startswith("special."):
            assert callable(operator.attrgetter(name)(np)), name


def test_a_warning_says_when_nothing_depends_on_the_argument():
    with pytest.warns(DisconnectedWarning):
        gradient(numpy_function(lambda x: np.sum(np.zeros_like(x))), AutoTorch(), np.ones(2))
