"""Results: writable, dense, overlapping nothing; in the library the contract names; one entry for
each argument.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from adinterface_conformance.trees import leaves_inside
from backends_table import BACKENDS, assert_tree, each_backend, rtol_of

from adinterface import (
    AutoFiniteDifferences,
    Constant,
    array_namespace,
    gradient,
    value_and_gradient,
)

# Overlap
# ------------------------------------------------------------------------------------------------


def memory_of(array):
    """Where a mutable array's elements lie: (first byte, one past the last byte); None if there are
    none.
    """
    if isinstance(array, torch.Tensor):
        storage = array.untyped_storage()
        return (
            (storage.data_ptr(), storage.data_ptr() + storage.nbytes())
            if storage.nbytes()
            else None
        )
    if isinstance(array, np.ndarray) and array.size:
        return np.lib.array_utils.byte_bounds(array)
    return None


def leaves_of(tree):
    return [leaf for _, leaf in leaves_inside(tree, "")]


def assert_free(results, others):
    """Results are writable and dense, and lie apart from one another, from themselves and from the
    others.
    """
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
    (lambda a: total(array_namespace(a).permute_dims(a, (1, 0)) * 2), 1),
    (lambda a: total(array_namespace(a).broadcast_to(a[:1], (4, 3))), 1),
    (lambda a, b: total(a), 2),
    (weighted_total, "constant"),
    (its_own_argument, 1),
    (a_view_of_its_argument, 1),
    (the_same_array_twice, 1),
    (its_transpose, 1),
    (its_constant, "constant"),
]
NAMES = [
    "sum(a + b)", "transposed, doubled", "broadcast", "one unused", "a Constant factor",
    "x as aux", "a view as aux", "one aux twice", "x transposed as aux", "a Constant as aux",
]  # fmt: skip
MAKE = {"numpy": np.array, "torch": torch.tensor, "jax": jnp.array}


@each_backend
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(("f", "arguments"), OVERLAPS, ids=NAMES)
def test_results_are_writable_dense_and_overlap_nothing(f, arguments, library, backend):
    make = lambda: MAKE[library](np.linspace(0.5, 2, 6, dtype="float32").reshape(2, 3))
    args = (
        (make(), Constant(make()))
        if arguments == "constant"
        else tuple(make() for _ in range(arguments))
    )
    value, grads = value_and_gradient(f, backend, *args)
    assert_free([value, grads], args)


# Library and type of values
# ------------------------------------------------------------------------------------------

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
    """The sum of squares of a tree's floating leaves, as a scalar of the first library that is
    asked.
    """
    return total(x * x) if hasattr(x, "shape") else x * x


def mixed_sum(*args):
    arrays = [leaf for leaf in leaves_of(args) if leaf is not None]
    return sum(number_of(array) for array in arrays[1:]) + number_of(arrays[0])


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(("args", "library"), VALUES)
def test_the_value_is_in_the_library_of_the_first_differentiated_array(args, library, name):
    backend = BACKENDS[name]
    # f gets each leaf in its own library, so it must bring them together itself
    if name == "finite":
        f = lambda *args: sum(float(number_of(array)) for array in leaves_of(args))
        if any(array is t32 or array is x32 or array is j32 for array in leaves_of(args)):
            f = lambda *args: np.float32(sum(float(number_of(array)) for array in leaves_of(args)))
    else:
        f = mixed_sum
    value, _ = value_and_gradient(f, backend, *args)
    assert isinstance(value, library)
    assert np.shape(value) == ()


# Mixed libraries
# ------------------------------------------------------------------------------------------------


@each_backend
def test_leaves_of_several_libraries_in_one_call_keep_their_types(backend):
    values = np.linspace(0.5, 1.5, 3, dtype="float32")
    tree = {
        "numpy": values,
        "torch": [torch.tensor(values)],
        "jax": (jnp.array(values),),
        "python": 2.0,
        "text": "kept",
    }

    def f(t):
        parts = (
            number_of(t["numpy"]),
            number_of(t["torch"][0]),
            number_of(t["jax"][0]),
            number_of(t["python"]),
        )
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
