"""Functions on models and gradients: maps, sums, norms, one vector, one matrix."""

import dataclasses
import math
from collections import OrderedDict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_told, each_backend, rtol_of

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    PrecisionError,
    TreeError,
    gradient,
    jacobian,
    prepare,
    tree,
    value_and_jacobian,
)


@dataclasses.dataclass
class Model:
    w: Any
    b: Any
    name: str
    steps: int = 3
    part: Any = None


LIBRARIES = {"numpy": np.asarray, "jax": jnp.asarray, "torch": torch.as_tensor}
each_library = pytest.mark.parametrize("array", LIBRARIES.values(), ids=LIBRARIES)


def model(array, dtype="float32"):
    w = array(np.array([[1.0, -2.0], [3.0, 4.0]], dtype=dtype))
    return Model(
        w, [0.5, array(np.array(2.0, dtype=dtype))], "mine", 3, Constant(array(np.ones(2, dtype)))
    )


def numbers(x):
    return np.asarray(x) if not isinstance(x, torch.Tensor) else x.detach().numpy()


def assert_like(result, example):
    assert type(result) is type(example)
    if not isinstance(example, (float, complex)):
        assert (result.dtype, tuple(result.shape)) == (example.dtype, tuple(example.shape))


@each_library
def test_map_touches_what_can_have_a_gradient_and_nothing_else(array):
    first = model(array)
    result = tree.map(lambda x: x * 2, first)
    assert type(result) is Model
    assert (result.name, result.steps, result.b[0]) == ("mine", 3, 1.0)
    np.testing.assert_array_equal(numbers(result.w), [[2, -4], [6, 8]])
    assert result.part is not first.part
    assert result.part.value is first.part.value
    assert numbers(first.w)[0, 0] == 1.0


@each_library
def test_arithmetic_keeps_types_and_dtypes(array):
    x = model(array)
    for result in (
        tree.add(x, x),
        tree.scale(np.float64(2.0), x),
        tree.axpy(np.array(1.0), x, x),
        tree.zeros_like(x),
    ):
        for found, example in zip(tree.leaves(result), tree.leaves(x)):
            assert_like(found, example)
    np.testing.assert_allclose(numbers(tree.axpy(-0.5, x, x).w), numbers(x.w) / 2)
    assert tree.add(x, x).b[0] == 1.0
    assert numbers(tree.zeros_like(x).w).sum() == 0


@each_library
def test_inner_products_and_norms(array):
    x = model(array)
    flat = np.array([1, -2, 3, 4, 0.5, 2.0])
    assert float(tree.vdot(x, x)) == pytest.approx(flat @ flat)
    assert float(tree.norm(x)) == pytest.approx(np.linalg.norm(flat))
    assert float(tree.norm(x, 1)) == pytest.approx(abs(flat).sum())
    assert float(tree.norm(x, math.inf)) == 4.0
    half = dataclasses.replace(x, b=None)
    assert float(tree.vdot(x, half)) == pytest.approx(30.0)


@each_library
def test_ravel_there_and_back(array):
    x = model(array)
    vector, unravel = tree.ravel(x)
    assert_like(vector, array(np.ones(6, np.float32)))
    np.testing.assert_allclose(numbers(vector), [1, -2, 3, 4, 0.5, 2])
    back = unravel(vector * 2)
    assert type(back) is Model
    for found, example in zip(tree.leaves(back), tree.leaves(x)):
        assert_like(found, example)
    assert back.b[0] == 1.0
    assert back.part.value is x.part.value


def test_ravel_takes_the_widest_dtype_and_gives_each_leaf_its_own():
    x = {
        "a": np.float32([1, 2]),
        "b": torch.tensor([3.0], dtype=torch.float64),
        "c": 4.0,
        "z": np.complex64([1 + 2j]),
    }
    vector, unravel = tree.ravel(x)
    assert vector.dtype == np.complex128
    back = unravel(vector)
    for key in x:
        assert_like(back[key], x[key])
    assert back["z"][0] == 1 + 2j
    empty, nothing = tree.ravel({"name": "x"})
    assert (empty.shape, nothing(empty)) == ((0,), {"name": "x"})


def test_under_a_trace_leaves_are_traced():
    x = {"w": np.ones(3), "b": 2.0}
    vector, unravel = tree.ravel(x)

    def f(v):
        back = unravel(v)
        return jnp.sum(back["w"] ** 2) * back["b"]

    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.jit(jax.grad(f))(vector), [4, 4, 4, 3])
    moved = torch.tensor(vector, requires_grad=True)
    back = unravel(moved)
    (torch.sum(back["w"] ** 2) * back["b"]).backward()
    np.testing.assert_allclose(moved.grad, [4, 4, 4, 3])


# Structures
# ------------------------------------------------------------------------------------------------


def test_structures_are_equal_where_all_but_the_leaves_is():
    one, other = (
        tree.structure(model(np.asarray)),
        tree.structure(tree.scale(2.0, model(np.asarray))),
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one != tree.structure(dataclasses.replace(model(np.asarray), name="other"))
    assert one != tree.structure(dataclasses.replace(model(np.asarray), b=[0.5]))
    assert one != "a structure"
    assert len(one) == 3
    assert one.paths == (".w", ".b[0]", ".b[1]")
    assert repr(one) == "TreeStructure(3 leaves: .w, .b[0], .b[1])"
    assert repr(tree.structure(1.0)) == "TreeStructure(1 leaves: the tree itself)"


def test_a_structure_takes_other_leaves():
    structure = tree.structure({"w": [1.0, 2.0], "n": np.arange(2), "c": Constant(3.0)})
    built = structure.unflatten(["a", "b"])
    assert built["w"] == ["a", "b"]
    assert built["n"].tolist() == [0, 1]
    assert built["c"].value == 3.0


def test_dicts_with_the_same_keys_in_another_order_match():
    """`jax.tree.map` sorts the keys of a dict."""
    model, other = (
        {"b": 1.0, "a": [2.0, {2: 3.0, 1: 4.0}]},
        {"a": [20.0, {1: 40.0, 2: 30.0}], "b": 10.0},
    )
    assert list(tree.add(model, other).items()) == [("b", 11.0), ("a", [22.0, {2: 33.0, 1: 44.0}])]


def test_what_is_none_or_constant_in_another_tree_leaves_the_leaf_alone():
    assert tree.add({"a": 1.0, "b": [1.0, 2.0]}, {"a": None, "b": [Constant(3.0), None]}) == {
        "a": 1.0,
        "b": [4.0, 2.0],
    }
    assert tree.add({"a": None, "b": 1.0}, {"a": 2.0, "b": 3.0}) == {"a": None, "b": 4.0}


# Matrices
# ------------------------------------------------------------------------------------------------


@each_backend
def test_a_jacobian_as_a_matrix(backend):
    a, b = np.array([[1.0, 2.0]]), {"c": 3.0, "n": 2}

    def f(a, b):
        return {"y": a[0] * b["c"], "z": [a[0, 0] * a[0, 1]]}

    value, blocks = value_and_jacobian(f, backend, a, b)
    matrix = tree.as_matrix(blocks, value, (a, b))
    np.testing.assert_allclose(
        matrix, [[3, 0, 1], [0, 3, 2], [2, 1, 0]], rtol=max(rtol_of(backend), 1e-9), atol=1e-9
    )


def test_of_one_array_and_with_a_constant():
    x, c = np.array([1.0, 2.0]), np.ones(3)
    blocks = jacobian(lambda x, c: x * c[0], AutoTorch(), x, Constant(c))
    np.testing.assert_allclose(tree.as_matrix(blocks, x, (x, Constant(c))), np.eye(2))
    h = {"a": {"a": np.ones((2, 2)), "b": None}, "b": {"a": None, "b": 4.0}}
    expected = [[1, 1, 0], [1, 1, 0], [0, 0, 4]]
    np.testing.assert_array_equal(tree.as_matrix(h, {"a": x, "b": 1.0}), expected)


# Libraries
# ------------------------------------------------------------------------------------------------


def test_cast():
    x = {"w": np.ones(2), "z": np.ones(2, complex), "n": np.arange(2), "b": 2.0, "t": torch.ones(1)}
    for dtype in ("float32", np.float32, torch.float32, jnp.float32, np.dtype("float32")):
        narrow = tree.cast(x, dtype)
        assert [narrow[key].dtype for key in "wzn"] == [np.float32, np.complex64, np.int64]
        assert (type(narrow["b"]), narrow["t"].dtype) == (float, torch.float32)
    assert tree.cast(x, "bfloat16")["t"].dtype == torch.bfloat16


def test_to_another_library():
    x = {
        "w": np.ones(2, np.float32),
        "n": np.arange(2),
        "b": 2.0,
        "c": Constant(np.ones(1, np.float32)),
    }
    there = tree.to(x, AutoTorch())
    assert (type(there["w"]), there["w"].dtype, there["n"].dtype) == (
        torch.Tensor,
        torch.float32,
        torch.int64,
    )
    assert type(there["c"].value) is torch.Tensor
    assert there["b"] == 2.0
    assert isinstance(tree.to(there, "jax", device=jax.devices()[0])["w"], jax.Array)
    back = tree.to(there, "numpy", dtype="float64")
    assert (type(back["w"]), back["w"].dtype) == (np.ndarray, np.float64)
    assert tree.to(there, "torch", device="cpu")["w"].device == torch.device("cpu")
    assert type(tree.to(x, AutoFiniteDifferences())["w"]) is np.ndarray


# Shapes
# ------------------------------------------------------------------------------------------------

MISFITS = [((3, 1), (3,)), ((3,), (1,)), ((), (3,))]
each_misfit = pytest.mark.parametrize(("own", "other"), MISFITS, ids=str)
TWO_TREES = {
    "add": tree.add,
    "axpy": lambda a, b: tree.axpy(-0.1, b, a),
    "vdot": tree.vdot,
}


@each_misfit
@each_library
@pytest.mark.parametrize("name", TWO_TREES)
def test_nothing_is_broadcast(name, array, own, other):
    a, b = {"w": [array(np.ones(own, "float32"))]}, {"w": [array(np.ones(other, "float32"))]}
    seen = f"tree 2['w'][0] has shape {other}, but the first tree has shape {own} there."
    words = f"{seen} Nothing is broadcast: pass shape {own}."
    assert_told(lambda: TWO_TREES[name](a, b), TreeError, words)


@each_library
@pytest.mark.parametrize(
    "scaled", [tree.scale, lambda factor, x: tree.axpy(factor, x, x)], ids=["scale", "axpy"]
)
def test_a_factor_is_a_number(array, scaled):
    x = {"w": array(np.ones((3, 1), "float32"))}
    for factor in (2**70, np.array(2**70), np.uint64(2**63)):
        assert float(scaled(factor, x)["w"][0, 0]) == pytest.approx(float(factor), rel=1e-6)
    must = "...the factor must be a number or a 0-d array, but has"
    for factor, words in (
        (np.ones(1), f"{must} shape (1,). For one of each leaf..."),
        (array(np.ones(3, "float32")), f"{must} shape (3,). For one of each leaf..."),
        (np.ones((3, 1)), f"{must} shape (3, 1). For one of each leaf..."),
        ("2", f"{must} type str..."),
        (10**400, "...the factor has 1,329 bits, too many for a float."),
        (1j, "...the factor is complex, but the leaf ['w'] is real. Nothing is narrowed: make the leaf complex."),
    ):  # fmt: skip
        assert_told(lambda factor=factor: scaled(factor, x), TreeError, words)


@each_library
def test_a_complex_number_is_not_put_into_a_real_leaf(array):
    real, z = {"w": array(np.ones(2, "float32"))}, {"w": array(1j * np.ones(2, "complex64"))}
    seen = "tree 2['w'] is complex, but the first tree has real numbers there."
    words = f"{seen} Nothing is narrowed: pass the real part, or..."
    for combined in (tree.add, lambda a, b: tree.axpy(1.0, b, a)):
        assert_told(lambda combined=combined: combined(real, z), TreeError, words)
    assert_like(tree.add(z, real)["w"], z["w"])
    assert float(tree.vdot(real, z)) == 0.0


@each_library
def test_map_refuses_a_result_that_broadcasting_made_larger(array):
    x, y = {"w": array(np.ones((3, 1), "float32"))}, {"w": array(np.ones(3, "float32"))}
    words = (
        "map: the leaf ['w'] has shape (3, 1), but with leaves of shape (3,) it was broadcast to"
        " (3, 3). Reshape one of them, or pass the tree with the larger leaves first."
    )
    assert_told(lambda: tree.map(lambda p, g: p - 0.1 * g, x, y), TreeError, words)
    number = {"w": array(np.float32(1.0))}
    words = "map: the leaf ['w'] has shape (), but with leaves of shape (3,) it was broadcast..."
    assert_told(lambda: tree.map(lambda p, g: p - 0.1 * g, number, y), TreeError, words)


# Leaves of several libraries
# --------------------------------------------------------------------------------------------


def test_what_is_traced_stays_so_beside_leaves_of_another_library():
    w = torch.nn.Parameter(torch.tensor([3.0]))
    tree.norm({"a": jnp.ones(1) * 4, "w": w}).backward()
    assert float(w.grad) == pytest.approx(0.6)
    slope = jax.grad(lambda x: tree.norm({"a": torch.tensor([4.0]), "x": x}))(jnp.ones(1) * 3)
    assert float(slope[0]) == pytest.approx(0.6)
    slope = jax.grad(lambda x: tree.add({"a": torch.tensor([4.0])}, {"a": x})["a"][0] ** 2)(
        jnp.ones(1) * 3
    )
    assert float(slope[0]) == 14.0


def _with_constants():
    shared = np.array([3.0, 4.0])
    return {
        "w": shared,
        "same": Constant(shared),
        "level": 1.5,
        "rate": Constant(1.5),
        "layer": Constant({"w": np.array([12.0]), "bias": 5.0}),
        "inner": [np.array([2.0]), Constant(np.array([7.0, 8.0]))],
    }


@each_backend
def test_constants_count_neither_outside_of_f_nor_in_it(backend):
    model = _with_constants()
    size, slope = tree.norm(model), tree.leaves(model)

    def f(m):
        seen.append((tree.norm(m["layer"]), m["layer"]["bias"], len(tree.leaves(m))))
        return tree.norm(m) + 0.0 * m["same"][0]

    for call in (gradient, prepare(gradient, f, backend, model)):
        seen = []
        (found,) = call(f, backend, model) if call is gradient else call(model)
        np.testing.assert_allclose(
            tree.ravel(found)[0], np.concatenate([np.ravel(x) for x in slope]) / size, rtol=1e-5
        )
        assert found["same"] is found["rate"] is found["layer"] is None
        if call is gradient:  # what was in a Constant is a tree of its own
            np.testing.assert_allclose([float(seen[0][0]), float(seen[0][1])], [13.0, 5.0])
            assert seen[0][2] == 3
    np.testing.assert_allclose(value_and_jacobian(f, backend, model).value, size, rtol=1e-6)
    difference = lambda m, anchor: (
        tree.norm(tree.add(m, tree.scale(-0.5, anchor))) + 0.0 * tree.norm(anchor)
    )
    np.testing.assert_allclose(
        value_and_jacobian(difference, backend, model, Constant(model)).value, size / 2, rtol=1e-6
    )


# What is refused
# ------------------------------------------------------------------------------------------------

AB, SQUARE = {"a": 1.0, "b": [1.0]}, {"a": np.ones(2)}
CHOSEN = {"n": Constant(1.0), "w": np.ones(3), "c": 1.0}
PARAMETER = torch.nn.Parameter(torch.tensor([3.0]))
_ENTRY = "A gradient comes as a tuple with an entry for each argument of f: pass the entry, gradient(...)[0]."
#: A call that is refused: the class of the error, and its words.
WRONG = {
    "ord": (lambda: tree.norm(SQUARE, 3), ValueError, "norm: ord must be 1, 2 or math.inf, not 3."),
    "a short vector": (lambda: tree.ravel(CHOSEN)[1](np.ones(2)), TreeError,
     "...the vector has shape (2,), but the tree has 4 numbers: (4,)..."),
    "a tuple in a module": (lambda: tree.map(lambda p: tuple(p.shape), torch.nn.Linear(1, 1)), ConversionError,
     "A module holds tensors alone, so a tuple cannot take the place of a parameter."),
    "too few leaves": (lambda: tree.structure(AB).unflatten(["a"]), TreeError, "The structure has 2 leaves, not 1."),
    **{
        f"another tree, {n}": (lambda other=other: tree.add(AB, other), TreeError, f"tree 2{words}")
        for n, (other, words) in enumerate((
            ([1.0], " is a list, but the first tree has a dict there."),
            (OrderedDict(a=1.0, b=2.0), " is a OrderedDict, but the first tree has a dict there."),
            ({"a": 1.0}, " has 1 children, but the first tree has 2 there."),
            ({"a": 1.0, "c": 2.0}, " has the keys 'a', 'c', but the first tree has 'a', 'b' there."),
            ({"a": "one", "b": [1.0]}, "['a'] is a str, but the first tree has a float there."),
            ({"a": 1.0, "b": 2.0}, "['b'] is a float, but the first tree has a list there."),
            ((AB,), f" is a tuple, but the first tree has a dict there. {_ENTRY}"),
        ))
    },
    **{
        f"{type(model).__name__} before the function": (lambda model=model: tree.map(model, lambda leaf: leaf), TypeError,
         f"map: the order of arguments is map(function, tree, *others), not a {type(model).__name__} and then a function...")
        for model in ({"w": 1.0}, sum, torch.nn.Linear(2, 1))
    },
    "a block": (lambda: tree.as_matrix({"a": {"a": np.ones((2, 3))}}, SQUARE), TreeError,
     "as_matrix: a block has shape (2, 3), but its row and column ask for (2, 2)."),
    "no block": (lambda: tree.as_matrix({"a": None}, SQUARE), TreeError, "as_matrix: there is no block."),
    "an integer dtype": (lambda: tree.cast(SQUARE, "int32"), TypeError,
     "cast: dtype must be real and floating, such as 'float32', not 'int32'."),
    "longdouble in torch": (lambda: tree.cast({"t": torch.ones(1)}, "longdouble"), PrecisionError, "..."),
    "no engine": (lambda: tree.to(SQUARE, "tensorflow"), BackendError, "No installed package offers a backend named 'tensorflow'..."),
    "a module to NumPy": (lambda: tree.to(torch.nn.Linear(1, 1), "numpy"), ConversionError,
     "to: the code of Linear computes with torch alone..."),
    "traced to NumPy": (lambda: jax.jit(lambda v: tree.to(v, "numpy"))(jnp.ones(2)), ConversionError,
     "to: a leaf is traced by jax, which its numbers cannot leave..."),
    "two traces": (lambda: jax.grad(lambda x: tree.norm({"w": 2 * PARAMETER, "x": x}))(jnp.ones(1)), ConversionError,
     "A leaf that torch traces meets one that jax traces, and neither engine follows the other. Convert one of..."),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)
