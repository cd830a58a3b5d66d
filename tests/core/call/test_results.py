"""Results in arrays of torch are dense and overlap nothing, as the law `memory` has it of NumPy's.

Leaves of several libraries in one call.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from adinterface_conformance.trees import leaves_inside
from backends_table import BACKENDS, assert_tree, each_backend, rtol_of

from adinterface import Constant, array_namespace, gradient, value_and_gradient


def total(x):
    return array_namespace(x).sum(x)


def leaves_of(tree):
    return [leaf for _, leaf in leaves_inside(tree, "") if leaf is not None]


OVERLAPS = {
    "sum": lambda a, b, c: total(a + b),
    "transposed": lambda a, b, c: total(array_namespace(a).permute_dims(a, (1, 0)) * 2),
    "broadcast": lambda a, b, c: total(array_namespace(a).broadcast_to(a[:1], (4, 3))),
    "the argument": lambda a, b, c: (total(a * c), a),
    "views": lambda a, b, c: (total(a), a[0], array_namespace(a).permute_dims(a, (1, 0))),
    "one array twice": lambda a, b, c: (lambda y: (total(y), y, {"again": y}))(a * 2),
    "the Constant": lambda a, b, c: (total(b), c),
}


@each_backend
@pytest.mark.parametrize("name", OVERLAPS)
def test_results_in_torch_are_dense_and_overlap_nothing(name, backend):
    x, y, constant = (torch.linspace(0.5, 2, 6).reshape(2, 3) for _ in range(3))
    results = leaves_of(value_and_gradient(OVERLAPS[name], backend, x, y, Constant(constant)))
    for result in results:
        assert not result.requires_grad
        assert result.is_contiguous() or result.mT.is_contiguous()
        result.copy_(result.clone())
    given = [x, y, constant]
    for one, other in [*itertools.combinations(results, 2), *itertools.product(results, given)]:
        assert not np.may_share_memory(one.numpy(), other.numpy())


# Libraries
# ------------------------------------------------------------------------------------------------

x32, t32, j32 = np.ones(2, dtype="float32"), torch.ones(2), jnp.ones(2)
VALUES = [
    pytest.param((2.0, 3), float, id="float int"),
    pytest.param(({"a": 2.0}, [3.0], Constant(x32)), float, id="floats in trees"),
    pytest.param((2.0, t32), torch.Tensor, id="float torch"),
    pytest.param((t32, x32), torch.Tensor, id="torch numpy"),
    pytest.param((Constant(t32), x32), np.ndarray, id="Constant(torch) numpy"),
    pytest.param(([1.0, {"a": j32}], x32, t32), jax.Array, id="jax numpy torch"),
]


def square(x):
    return total(x * x) if hasattr(x, "shape") else x * x


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(("args", "library"), VALUES)
def test_the_value_is_in_the_library_of_the_first_differentiated_array(args, library, name):
    def f(*args):
        parts = [square(leaf) for leaf in leaves_of(args)]
        if name != "finite":
            return sum(parts[1:]) + parts[0]
        # f gets each leaf in its own library, so it must bring them together itself
        return (float if library is float else np.float32)(sum(map(float, parts)))

    value, _ = value_and_gradient(f, BACKENDS[name], *args)
    assert isinstance(value, library)
    assert np.shape(value) == ()


@each_backend
def test_leaves_of_several_libraries_in_one_call_keep_their_types(backend):
    x = np.linspace(0.5, 1.5, 3, dtype="float32")

    def f(t):
        parts = [square(leaf) for leaf in (t["numpy"], t["torch"][0], t["jax"][0], t["python"])]
        return np.float32(sum(map(float, parts))) if backend == BACKENDS["finite"] else sum(parts)

    tree, expected = (
        {"numpy": k * x, "torch": [torch.tensor(k * x)], "jax": (jnp.array(k * x),)} for k in (1, 2)
    )
    (found,) = gradient(f, backend, tree | {"python": 2.0, "text": "kept"})
    assert_tree(found, expected | {"python": 4.0, "text": None}, rtol_of(backend, "float32"))
