"""`AutoSparse` with every kind of argument, on every engine, prepared and not: the blocks of the dense result, or a refusal."""

from typing import NamedTuple

import numpy as np
import pytest
from backends_table import BACKENDS, ENGINES, each_backend, each_engine, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    Constant,
    NotDifferentiableError,
    SecondOrder,
    SparsityError,
    array_namespace,
    hessian,
    jacobian,
    prepare,
    value_and_jacobian,
    value_gradient_and_hessian,
)

X = np.array([0.7, -1.3, 0.4, 2.1, 0.9, -0.6])
FORMS = ("csr", "csc", "coo", "native")
#: Where f may branch on values, also prepared.
EAGER = BACKENDS | {"jax": AutoJax(jit=False)}
each_call = pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])


def call_of(operator, f, backend, *args, prepared, **kwargs):
    return prepare(operator, f, backend, *args, **kwargs) if prepared else lambda *args, **kw: operator(f, backend, *args, **kw)


def second(backend):
    """What Hessians are taken by: differences of exact gradients where the backend measures."""
    return SecondOrder(backend, AutoAutograd()) if isinstance(backend, AutoFiniteDifferences) else backend


def close(matrix, expected, backend, dtype="float64"):
    expected = np.asarray(expected)
    tolerance = 100 * rtol_of(backend, dtype) * max(1.0, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=0, atol=tolerance)


def energy(x):
    xp = array_namespace(x)
    return xp.sum(x[1:] * x[:-1] ** 2) + xp.sum(xp.exp(x))


# Several arguments -----------------------------------------------------------------------------------------------------


@each_backend
@each_call
def test_arguments_beside_constants_and_keywords(backend, prepared):
    def f(a, c, b, *, k):
        return c["w"] * a + k * b[0]

    args, kwargs = (X, Constant({"w": 2.0 * X, "name": "w"}), np.array([3.0, 4.0])), {"k": 0.5}
    call = call_of(jacobian, f, AutoSparse(backend), *args, prepared=prepared, **kwargs)
    a, none, b = call(*args, **kwargs)
    assert none is None
    close(a, np.diag(2 * X), backend)
    close(b, np.outer(np.full(6, 0.5), [1.0, 0.0]), backend)
    other = (X, Constant({"w": np.zeros(6), "name": "w"}), np.array([3.0, 4.0]))
    a, _, b = call(*other, k=-1.0)
    close(a, np.zeros((6, 6)), backend)
    close(b, np.outer(np.full(6, -1.0), [1.0, 0.0]), backend)


@each_backend
@each_call
def test_numbers_and_empty_leaves_in_trees(backend, prepared):
    def f(tree, x):
        return {"scaled": tree["scale"] * x * tree["zero"], "none": tree["none"] * 2.0, "number": tree["zero"] ** 2}

    args = ({"scale": 2.0, "zero": np.array(3.0), "none": np.zeros((0, 2)), "name": "f"}, X)
    found = call_of(jacobian, f, AutoSparse(backend), *args, prepared=prepared)(*args)
    shapes = {"scale": 1, "zero": 1, "none": 0}
    for name, rows in (("scaled", 6), ("none", 0), ("number", 1)):
        tree, x = found[name]
        assert tree.pop("name") is None
        assert {key: block.shape for key, block in tree.items()} == {key: (rows, n) for key, n in shapes.items()}
        assert x.shape == (rows, 6)
    close(found["scaled"][0]["scale"], 3 * X[:, None], backend)
    close(found["scaled"][0]["zero"], 2 * X[:, None], backend)
    close(found["scaled"][1], 6 * np.eye(6), backend)
    close(found["number"][0]["zero"], [[6.0]], backend)
    assert found["number"][1].nnz == found["none"][0]["none"].nnz == 0


@each_backend
@each_call
@pytest.mark.parametrize("detect", ["trace", "probe"])
def test_nothing_but_empty_leaves(backend, prepared, detect):
    sparse, none = AutoSparse(backend, detect=detect), np.zeros((0, 3))
    (matrix,) = call_of(jacobian, lambda x: x * x, sparse, none, prepared=prepared)(none)
    assert (matrix.shape, matrix.nnz) == ((0, 0), 0)
    (matrix,) = call_of(jacobian, lambda x: array_namespace(x).sum(x), sparse, none, prepared=prepared)(none)
    assert (matrix.shape, matrix.nnz) == ((1, 0), 0)


@each_engine
@each_call
def test_hessians_of_trees_with_numbers_and_empty_leaves(backend, prepared):
    class Parts(NamedTuple):
        a: object
        number: object
        none: object

    def f(p):
        xp = array_namespace(p.a)
        return p.number * energy(p.a) + xp.sum(p.none)

    p = Parts(X, 1.5, np.zeros(0))
    value, slope, blocks = call_of(value_gradient_and_hessian, f, AutoSparse(backend), p, prepared=prepared)(p)
    expected = value_gradient_and_hessian(f, AutoAutograd(), p)
    np.testing.assert_allclose(value, expected.value)
    np.testing.assert_allclose(slope.a, expected.gradient.a)
    for one in Parts._fields:
        for other in Parts._fields:
            shape = (np.size(getattr(p, one)), np.size(getattr(p, other)))
            block = getattr(getattr(blocks, one), other)
            assert block.shape == shape
            close(block, np.reshape(getattr(getattr(expected.hessian, one), other), shape), backend)


# Numbers ---------------------------------------------------------------------------------------------------------------


@each_backend
@each_call
def test_hessians_in_single_precision(backend, prepared):
    single = X.astype("float32")
    matrix = call_of(hessian, energy, AutoSparse(second(backend)), single, prepared=prepared)(single)
    assert matrix.dtype == "float32"
    close(matrix, hessian(energy, AutoAutograd(), X), backend, "float32")


@each_engine
@each_call
@pytest.mark.parametrize("detect", ["trace", "probe"])
def test_nan_in_a_hessian_stays_where_it_is(backend, prepared, detect):
    x = X.copy()
    call = call_of(hessian, energy, AutoSparse(backend, detect=detect), x, prepared=prepared)
    x[5] = np.nan
    found, expected = call(x).toarray(), hessian(energy, AutoAutograd(), X)
    assert np.isnan(found[4:, 4:]).any()
    np.testing.assert_allclose(found[:4, :4], expected[:4, :4], rtol=1e-10)
    assert np.isfinite(found[:4]).all()  # a zero of the seed times what is NaN in a row is NaN in all of that row


@each_backend
@each_call
@pytest.mark.parametrize("operator", [jacobian, value_and_jacobian, hessian, value_gradient_and_hessian])
def test_complex_leaves_are_refused_wherever_they_stand(operator, backend, prepared):
    def f(tree):
        xp = array_namespace(tree["z"])
        return xp.sum(xp.real(tree["z"] * xp.conj(tree["z"]))) + xp.sum(tree["x"])

    tree = {"x": X, "z": X + 1j}
    with pytest.raises(NotDifferentiableError, match="complex"):
        call_of(operator, f, AutoSparse(backend), tree, prepared=prepared)(tree)


# Patterns that do not hold ---------------------------------------------------------------------------------------------


def chain(x):
    xp = array_namespace(x)
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[1:] * x[:-1] + xp.sin(x[1:])])


@each_backend
@each_call
@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_pattern_is_found_in_every_form(form, backend, prepared):
    sparse = AutoSparse(backend, pattern=np.eye(6), format=form)
    for operator in (jacobian, value_and_jacobian):
        message = rf"{operator.__name__}: the derivative has entries outside its pattern \(given\)"
        with pytest.raises(SparsityError, match=message):
            call_of(operator, chain, sparse, X, prepared=prepared)(X)


@each_engine
@each_call
@pytest.mark.parametrize("operator", [hessian, value_gradient_and_hessian])
def test_a_wrong_pattern_of_a_hessian_is_found(operator, backend, prepared):
    sparse = AutoSparse(backend, pattern=np.eye(6))
    with pytest.raises(SparsityError, match=rf"{operator.__name__}: the derivative has entries outside its pattern \(given\)"):
        call_of(operator, energy, sparse, X, prepared=prepared)(X)


@pytest.mark.parametrize("backend", EAGER.values(), ids=EAGER)
def test_a_pattern_that_changes_with_the_values(backend):
    def f(x):
        return x * x if x[0] > 0 else x * x[0]

    fast = prepare(jacobian, f, AutoSparse(backend), X)
    for _ in range(3):
        close(fast(X)[0], np.diag(2 * X), backend)
    with pytest.raises(SparsityError, match="f branches on values, and these lead another way"):
        fast(-X)
    close(fast(X)[0], np.diag(2 * X), backend)
    for x in (X, -X):
        close(jacobian(f, AutoSparse(backend), x)[0], jacobian(f, AutoAutograd(), x)[0], backend)


@pytest.mark.parametrize("backend", (ENGINES | {"jax": AutoJax(jit=False)}).values(), ids=ENGINES)
def test_a_hessian_whose_pattern_changes_with_the_values(backend):
    def f(x):
        xp = array_namespace(x)
        return xp.sum(x**3) if x[0] > 0 else xp.sum(x[1:] ** 2 * x[:-1])

    fast = prepare(hessian, f, AutoSparse(backend), X)
    close(fast(X), np.diag(6 * X), backend)
    with pytest.raises(SparsityError, match="f branches on values, and these lead another way"):
        fast(-X)
    for x in (X, -X):
        close(hessian(f, AutoSparse(backend), x), hessian(f, AutoAutograd(), x), backend)
