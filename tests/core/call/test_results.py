"""Results: writable, dense, overlapping nothing; in the library the contract names; one entry for each argument."""

import itertools
from collections import namedtuple
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import BACKENDS, assert_tree, each_backend, rtol_of

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    ValueAndGradient,
    array_namespace,
    gradient,
    hessian,
    jacobian,
    prepare,
    value_and_gradient,
)

# Overlap -------------------------------------------------------------------------------------------------------------


def memory_of(array):
    """Where a mutable array's elements lie: (first byte, one past the last byte); None if there are none."""
    if isinstance(array, torch.Tensor):
        storage = array.untyped_storage()
        return (storage.data_ptr(), storage.data_ptr() + storage.nbytes()) if storage.nbytes() else None
    if isinstance(array, np.ndarray) and array.size:
        return np.lib.array_utils.byte_bounds(array)
    return None


def leaves_of(tree):
    if isinstance(tree, Constant):
        return leaves_of(tree.value)
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves_of(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in leaves_of(value)]
    return [tree]


def assert_free(results, others):
    """Results are writable and dense, and lie apart from one another, from themselves and from the others."""
    results, others = leaves_of(results), leaves_of(others)
    for result in results:
        if isinstance(result, np.ndarray):
            assert result.flags.writeable
            assert result.flags.c_contiguous or result.flags.f_contiguous
            result[...] = result
        if isinstance(result, torch.Tensor):
            assert not result.requires_grad
            assert result.is_contiguous() or result.mT.is_contiguous()
            result.copy_(result.clone())
    pairs = itertools.chain(itertools.combinations(results, 2), itertools.product(results, others))
    for a, b in pairs:
        first, second = memory_of(a), memory_of(b)
        if first is not None and second is not None:
            assert first[1] <= second[0] or second[1] <= first[0], f"{a!r} overlaps {b!r}"


def total(x):
    return array_namespace(x).sum(x)


def weighted_total(x, constant):
    return total(x * constant)


def its_square(x):
    return total(x * x)


def its_own_argument(x):
    return total(x), x


def a_view_of_its_argument(x):
    return total(x), x[::-1] if not isinstance(x, torch.Tensor) else x.flip(0)[0:1], x[0]


def the_same_array_twice(x):
    y = x * 2
    return total(y), y, {"again": y}


def its_constant(x, constant):
    return total(x), constant


def its_transpose(x):
    xp = array_namespace(x)
    return total(x), xp.permute_dims(x, (1, 0))


OVERLAPS = [
    (lambda a, b: total(a + b), 2),
    (total, 1),
    (lambda a, b: total(a) + total(b[0]), 2),
    (lambda a: total(array_namespace(a).permute_dims(a, (1, 0))), 1),
    (lambda a: total(array_namespace(a).permute_dims(a, (1, 0)) * 2), 1),
    (lambda a: total(array_namespace(a).broadcast_to(a[:1], (4, 3))), 1),
    (lambda a: total(a[0]), 1),
    (lambda a, b: total(a), 2),
    (lambda a: a[0, 0] * 1, 1),
    (weighted_total, "constant"),
    (its_own_argument, 1),
    (a_view_of_its_argument, 1),
    (the_same_array_twice, 1),
    (its_transpose, 1),
    (its_constant, "constant"),
]
NAMES = [
    "sum(a + b)", "sum(x)", "sum(a) + sum(b[0])", "transposed", "transposed, doubled", "broadcast", "a row", "one unused",
    "an element", "a Constant factor", "x as aux", "a view as aux", "one aux twice", "x transposed as aux", "a Constant as aux",
]  # fmt: skip
MAKE = {"numpy": np.array, "torch": torch.tensor, "jax": jnp.array}


@each_backend
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("f", "arguments"), OVERLAPS, ids=NAMES)
def test_results_are_writable_dense_and_overlap_nothing(f, arguments, library, backend):
    make = lambda: MAKE[library](np.linspace(0.5, 2, 6, dtype="float32").reshape(2, 3))
    args = (make(), Constant(make())) if arguments == "constant" else tuple(make() for _ in range(arguments))
    value, grads = value_and_gradient(f, backend, *args)
    assert_free([value, grads], args)


@each_backend
def test_arrays_of_broadcast_arrays_are_taken_without_a_warning(backend):
    """NumPy warns who asks them whether they can be written to: warnings are errors here."""
    x = np.broadcast_arrays(np.linspace(0.5, 2, 3), np.ones((2, 3)))[0]
    prepared = prepare(gradient, its_square, backend, x)
    for (found,) in (gradient(its_square, backend, x), prepared(x)):
        np.testing.assert_allclose(found, 2 * np.array(x), rtol=1e-6)
        assert_free(found, [x])


@each_backend
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_one_array_given_twice_has_two_separate_gradients(library, backend):
    x = MAKE[library](np.linspace(0.5, 2, 3))
    grads = gradient(lambda t, y: total(t["a"] + t["b"]) + 2 * total(y), backend, {"a": x, "b": x}, x)
    assert_free(grads, [x])
    ones = MAKE[library](np.ones(3))
    assert_tree(grads, ({"a": ones, "b": ones}, 2 * ones), rtol_of(backend))


def test_a_tensor_that_requires_grad_gets_a_detached_result():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    value, (result,) = value_and_gradient(lambda x: (total(x * x), x * 3), AutoTorch(), x)
    assert not any(array.requires_grad for array in (*value, result))
    assert x.grad is None


# Library and type of values ------------------------------------------------------------------------------------------

x32, x64 = np.ones(2, dtype="float32"), np.ones(2, dtype="float64")
t32, j32 = torch.ones(2), jnp.ones(2)
VALUES = [
    pytest.param((2.0,), float, id="float"),
    pytest.param((2.0, 3), float, id="float int"),
    pytest.param(({"a": 2.0}, [3.0]), float, id="floats in trees"),
    pytest.param((2.0, Constant(x64)), float, id="float Constant(numpy)"),
    pytest.param((x64,), np.ndarray, id="numpy"),
    pytest.param((np.float64(2),), np.ndarray, id="numpy scalar"),
    pytest.param((t32,), torch.Tensor, id="torch"),
    pytest.param((j32,), jax.Array, id="jax"),
    pytest.param((2.0, t32), torch.Tensor, id="float torch"),
    pytest.param((t32, x32), torch.Tensor, id="torch numpy"),
    pytest.param((x32, t32), np.ndarray, id="numpy torch"),
    pytest.param((Constant(t32), x32), np.ndarray, id="Constant(torch) numpy"),
    pytest.param(([1.0, {"a": j32}], x32, t32), jax.Array, id="jax numpy torch"),
]


def number_of(x):
    """The sum of squares of a tree's floating leaves, as a scalar of the first library that is asked."""
    return total(x * x) if hasattr(x, "shape") else x * x


def mixed_sum(*args):
    arrays = [leaf for leaf in leaves_of(args) if leaf is not None]
    return sum(number_of(array) for array in arrays[1:]) + number_of(arrays[0])


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(("args", "library"), VALUES)
def test_the_value_is_in_the_library_of_the_first_differentiated_array(args, library, name):
    backend = BACKENDS[name]
    if name == "finite":  # f gets each leaf in its own library, so it must bring them together itself
        f = lambda *args: sum(float(number_of(array)) for array in leaves_of(args))
        if any(array is t32 or array is x32 or array is j32 for array in leaves_of(args)):
            f = lambda *args: np.float32(sum(float(number_of(array)) for array in leaves_of(args)))
    else:
        f = mixed_sum
    value, _ = value_and_gradient(f, backend, *args)
    assert isinstance(value, library)
    assert np.shape(value) == ()


class Losses(NamedTuple):
    loss: object
    parts: object


Report = namedtuple("Report", "loss residual label")
AUX = [
    pytest.param(lambda x: (total(x * x), x * 2), lambda v, x: (v, x * 2), id="tuple"),
    pytest.param(lambda x: {"loss": total(x * x), 3: x * 2}, lambda v, x: {"loss": v, 3: x * 2}, id="dict"),
    pytest.param(lambda x: Report(total(x * x), x * 2, "text"), lambda v, x: Report(v, x * 2, "text"), id="namedtuple"),
    pytest.param(lambda x: Losses(total(x * x), [x * 2, {"n": 3}]), lambda v, x: Losses(v, [x * 2, {"n": 3}]), id="NamedTuple"),
    pytest.param(
        lambda x: (total(x * x), None, "text", 3, True, 2.5), lambda v, x: (v, None, "text", 3, True, 2.5), id="no array"
    ),
    pytest.param(lambda x: (total(x * x),), lambda v, x: (v,), id="nothing beside it"),
]


@each_backend
@pytest.mark.parametrize("library", MAKE)
@pytest.mark.parametrize(("f", "expected"), AUX)
def test_value_is_all_that_f_returned(f, expected, library, backend):
    x = MAKE[library](np.array([0.5, 1, 2], dtype="float32"))
    result = value_and_gradient(f, backend, x)
    assert type(result) is ValueAndGradient
    assert_tree(result.value, expected(MAKE[library](np.float32(5.25)), x), 1e-6)
    assert_tree(result.gradient, (2 * x,), rtol_of(backend, "float32"))


@each_backend
def test_integer_and_bool_auxiliary_results_keep_their_dtype(backend):
    f = lambda x: (total(x), array_namespace(x).argmax(x), x > 1)
    (_, index, mask), _ = value_and_gradient(f, backend, np.array([0.5, 2, 1]))
    assert index.dtype.kind == "i"
    assert int(index) == 1
    assert_tree(mask, np.array([False, True, False]))


@each_backend
def test_python_numbers_give_python_numbers_in_auxiliary_results(backend):
    f = lambda x, y: {"quotient": x / y, "more": [x * y, y]}
    value, grads = value_and_gradient(f, backend, 3.0, 4.0)
    assert_tree(value, {"quotient": 0.75, "more": [12.0, 4.0]})
    assert_tree(grads, (0.25, -0.1875), rtol_of(backend))


# Mixed libraries -----------------------------------------------------------------------------------------------------


@each_backend
def test_leaves_of_several_libraries_in_one_call_keep_their_types(backend):
    values = np.linspace(0.5, 1.5, 3, dtype="float32")
    tree = {"numpy": values, "torch": [torch.tensor(values)], "jax": (jnp.array(values),), "python": 2.0, "text": "kept"}

    def f(t):
        parts = (number_of(t["numpy"]), number_of(t["torch"][0]), number_of(t["jax"][0]), number_of(t["python"]))
        if isinstance(backend, AutoFiniteDifferences):
            return np.float32(sum(float(part) for part in parts))
        return sum(parts)

    expected = {
        "numpy": 2 * values,
        "torch": [torch.tensor(2 * values)],
        "jax": (jnp.array(2 * values),),
        "python": 4.0,
        "text": None,
    }
    assert_tree(gradient(f, backend, tree), (expected,), rtol_of(backend, "float32"))


# One entry for each argument -----------------------------------------------------------------------------------------


@each_backend
def test_arguments_and_gradients_zip(backend):
    args = (np.array([1.0, 2.0]), 3.0, Constant(2), {"a": np.array([4.0]), "n": 2}, "text", None, 5)
    grads = gradient(lambda x, y, n, t, *rest: total(x) * y**n + total(t["a"]), backend, *args)
    assert type(grads) is tuple
    assert len(grads) == len(args)
    expected = (np.array([9.0, 9.0]), 18.0, None, {"a": np.array([1.0]), "n": None}, None, None, 0.0)
    for _, (result, reference) in zip(args, zip(grads, expected)):
        assert_tree(result, reference, rtol_of(backend))


@each_backend
@pytest.mark.parametrize(
    "unused",
    [
        2.0,
        1j,
        np.float32(2),
        np.ones((2, 3), dtype="float32"),
        np.ones(2, dtype="complex128"),
        np.zeros((0, 3)),
        torch.ones(2),
        jnp.ones((1, 2)),
        {"a": [np.ones(2)], "b": None},
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', '')}",
)
def test_a_leaf_that_f_does_not_use_has_zeros(unused, backend):
    zero = {"a": [np.zeros(2)], "b": None} if isinstance(unused, dict) else 0 * unused
    assert_tree(gradient(lambda x, other: x * x, backend, np.float64(2.0), unused)[1], zero)


@each_backend
def test_keyword_arguments_reach_f_and_are_not_differentiated(backend):
    f = lambda x, *, power, shift: total(x**power + shift)
    grads = gradient(f, backend, np.array([1.0, 2.0]), power=3, shift=np.array([1.0, 1.0]))
    assert_tree(grads, (np.array([3.0, 12.0]),), rtol_of(backend))


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
@pytest.mark.parametrize("operator", [jacobian, hessian])
def test_numpy_results_are_in_c_order(operator, backend):
    """Whatever the order of the axes in which an engine has them."""
    x = np.arange(6.0).reshape(2, 3) / 7
    f = (lambda x: array_namespace(x).matrix_transpose(x)) if operator is jacobian else total_of_squares
    for call in (operator, prepare(operator, f, backend, x)):
        result = call(x) if call is not operator else call(f, backend, x)
        result = result[0] if operator is jacobian else result
        assert result.flags.c_contiguous


def total_of_squares(x):
    return total(x * x * x)
