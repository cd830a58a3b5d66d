"""`numpy_function` with every operator, on trees, nested, compiled.

The wrappers behave as NumPy's arrays do.
"""

import copy

import jax
import numpy as np
import pytest
import torch
from backends_table import ENGINES

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    gradient,
    jacobian,
    numpy_function,
    value_and_jacobian,
)

X = np.array([0.4, 1.3, 2.2])


def assert_same_jacobian(f, backend, *args):
    """Values and derivatives as those of plain NumPy."""
    seen = []

    def watched(*args):
        result = f(*args)
        seen.append((np.shape(result), result.dtype))
        return result

    wanted = jacobian(f, AutoFiniteDifferences(), *args)
    value, found = value_and_jacobian(numpy_function(watched), backend, *args)
    plain = f(*args)
    assert seen[0] == (plain.shape, plain.dtype)
    np.testing.assert_allclose(value, plain, rtol=1e-12)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@numpy_function
def energy(x):
    return np.sum(np.sin(x) * x**2)


@numpy_function
def field(x):
    return {"s": np.cumsum(np.sin(x)), "t": (x[1:] * x[:-1], np.max(x))}


SLOPE = np.cos(X) * X**2 + 2 * X * np.sin(X)


def test_under_the_engines_own_transforms():
    np.testing.assert_allclose(jax.grad(energy)(X.astype("float32")), SLOPE, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(jax.grad(energy))(X.astype("float32")), SLOPE, rtol=1e-5)
    np.testing.assert_allclose(
        jax.vmap(jax.grad(energy))(np.stack([X, X]).astype("float32"))[1], SLOPE, rtol=1e-5
    )
    np.testing.assert_allclose(torch.func.grad(energy)(torch.tensor(X)), SLOPE)
    np.testing.assert_allclose(
        torch.func.vmap(torch.func.grad(energy))(torch.tensor(np.stack([X, X])))[1], SLOPE
    )


def test_results_are_the_engines_own():
    assert type(energy(torch.tensor(X))) is torch.Tensor
    assert isinstance(field(jax.numpy.asarray(X))["t"][0], jax.Array)
    assert type(energy(X)) is np.float64
    assert numpy_function(lambda x: (x, "a", 3))(torch.ones(2))[1:] == ("a", 3)
    assert numpy_function(lambda x: {"n": len(x), "x": [x]})(torch.ones(2))["n"] == 2


def test_numpy_arrays_alone_reach_f_as_they_are():
    seen = []
    numpy_function(lambda x, y: seen.extend([x, y]))(X, 2.0)
    assert seen[0] is X
    assert type(seen[1]) is float


def test_it_decorates():
    assert energy.__name__ == "energy"
    assert numpy_function(energy).__wrapped__ is energy

    class Box:
        factor = 2.0

        @numpy_function
        def scaled(self, x):
            """Doc."""
            return np.sum(x) * self.factor

    assert Box.scaled.__doc__ == "Doc."
    np.testing.assert_array_equal(gradient(Box().scaled, AutoTorch(), X)[0], [2, 2, 2])


def test_jax_takes_what_is_known_only_outside_jit():
    """A condition and counts that are JAX's own, and an index with too many axes."""

    @numpy_function
    def f(x):
        return np.sum(np.compress(x > 1, x) ** 2) + np.bincount(np.argsort(x), weights=x)[2]

    np.testing.assert_allclose(gradient(f, AutoJax(), X)[0], [0, 2 * X[1], 2 * X[2] + 1])
    with pytest.raises(IndexError):
        gradient(numpy_function(lambda x: x[0, 1]), AutoJax(), X)


# The wrapper as an array
# ---------------------------------------------------------------------------------------------


def wrappers(*arrays):
    found = []
    numpy_function(lambda *args: found.extend(args))(*[torch.tensor(array) for array in arrays])
    return found


def test_attributes_are_those_of_an_array():
    (x,) = wrappers(np.arange(6.0).reshape(2, 3))
    assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes, len(x)) == (
        (2, 3),
        2,
        6,
        np.float64,
        8,
        48,
        2,
    )
    assert x.T.shape == x.mT.shape == (3, 2)
    assert [row.shape for row in x] == [(3,), (3,)]
    assert [float(v) for v in x.flat] == [0, 1, 2, 3, 4, 5]
    assert x.flatten().shape == (6,)
    assert x.transpose().shape == x.transpose(1, 0).shape == x.transpose((1, 0)).shape == (3, 2)
    assert (
        x.conj().shape == x.copy().shape == copy.copy(x).shape == copy.deepcopy(x).shape == (2, 3)
    )
    assert (repr(x), str(x)) == (f"NumpyArray({np.asarray(x)!r})", str(np.asarray(x)))
    assert 3.0 in x
    assert 9.0 not in x
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x[0, 1].item() == 1.0
    assert np.asarray(x).shape == (2, 3)  # no engine follows it here
    assert x.compress([True, False], axis=0).shape == (1, 3)
    assert x.reshape((3, 2), order="F").shape == (3, 2)
    assert (complex(x[0, 1]), int(x[1, 0]), bool(x[0, 0])) == (1 + 0j, 3, False)
    assert f"{x[1, 2]:.1f}" == "5.0"


ZERO, ONE = np.int64(0), np.int32(1)
COUNTED = {
    "sum": lambda x: np.sum(x, axis=ZERO),
    "sum, keepdims": lambda x: np.sum(x, axis=-ONE, keepdims=True),
    "max": lambda x: np.max(x, axis=ZERO),
    "var over none": lambda x: np.var(x, axis=()) + x,
    "cumsum": lambda x: np.cumsum(x, axis=ZERO),
    "roll": lambda x: np.roll(x, ONE, axis=ZERO),
    "moveaxis": lambda x: np.moveaxis(x, ZERO, -ONE),
    "transpose": lambda x: np.transpose(x, (ONE, ZERO)),
    "reshape": lambda x: np.reshape(x, (np.int64(3), np.int64(-1))),
    "repeat": lambda x: np.repeat(x, np.int64(2), axis=ZERO),
    "take": lambda x: np.take(x, np.int64(2), axis=ONE),
    "diff": lambda x: np.diff(x, n=ONE, axis=ZERO),
    "norm, ord": lambda x: np.linalg.norm(x, np.int64(1), ONE),
    "tensordot": lambda x: np.tensordot(x, x, axes=(ONE, ONE)),
    "pad": lambda x: np.pad(x, ONE),
}


N = np.array([0, 1, 2])


SORTED = {
    "sort": lambda x: np.sort(x, kind="mergesort") * N,
    "argsort": lambda x: x[np.argsort(-x, kind="stable")] * N,
    "sort, stable": lambda x: np.sort(x, stable=True) * N,
    "partition": lambda x: np.partition(x, [1, 2]) * N,
    "argpartition": lambda x: x[np.argpartition(-x, [0, 1, 2])] * N,
}


MASKED = {
    "without out": lambda x: np.where(x > 0, np.log(x, where=x > 0), 7.0),
    "with out": lambda x: np.log(x, out=np.zeros(3), where=x > 0),
    "a sum with out": lambda x: np.add.reduce(
        np.stack([x, 2 * x]), 0, out=np.zeros(3), where=[[True], [False]]
    ),
    "two arguments": lambda x: np.where(x > 0, np.divide(2.0, np.sqrt(np.abs(x)), where=x > 0), x),
    "two results": lambda x: np.where(x > 0, np.modf(x, where=[True, False, True])[0], 0.0),
}


LISTS = {
    "average": lambda x: np.average(x, weights=[1, 2, 3]),
    "clip": lambda x: np.clip(x, [0, 1, 0], 2),
    "sum": lambda x: x.sum(where=[True, False, True]),
    "max": lambda x: x.max(where=[True, True, False], initial=-5.0),
    "interp": lambda x: np.interp(x, xp=(-3, 1, 4), fp=[1, 5, 2]),
    "repeat": lambda x: np.repeat(x, repeats=[1, 0, 2]),
    "take": lambda x: np.take(x, indices=[1, 0]),
    "diff": lambda x: np.diff(x, prepend=[0], append=(1, 2)),
    "stack": lambda x: np.stack((x, [1, 1, 1])),
    "concatenate": lambda x: np.concatenate((x, (1, 2))),
    "dot": lambda x: np.dot(x, (1, 2, 3)),
    "full_like": lambda x: x * np.full_like(x, (1, 2, 3)),
    "lstsq": lambda x: np.linalg.lstsq(np.stack([x, x**2], 1), [1.0, 2.0, 4.0])[0],
    # and what stays a tuple
    "axes": lambda x: np.sum(np.outer(x, x), axis=(0, 1)),
    "axes of tensordot": lambda x: np.tensordot(
        np.outer(x, x), np.outer(x, x), axes=([0, 1], [1, 0])
    ),
    "axes of squeeze": lambda x: np.squeeze(x[None, :, None], (0, 2)),
    "places": lambda x: np.split(x, indices_or_sections=(1,))[1],
    "resized shape": lambda x: np.resize(x, (2, 4)),
    "shape": lambda x: np.zeros_like(x, shape=(2,)) + x[:2],
    "width": lambda x: np.pad(x, (1, 2), constant_values=(3, 4)),
}


OPERANDS = {
    "roll by an array of the engine": lambda x: np.roll(x, np.argmax(x)) * N,
    "roll by an array": lambda x: np.roll(x, np.array([1, 1])) * N,
    "roll of two axes": lambda x: np.roll(np.outer(x, x), (np.array(1), np.int64(2)), axis=(0, 1)),
    "minus True": lambda x: x - True,
    "True minus": lambda x: np.subtract(True, x),
    "minus a comparison": lambda x: x - (x > 1.0),
    "integers minus True": lambda x: x * (np.argsort(x) - True),
    "where of a list": lambda x: np.where([True, False, True], x, 0.0),
    "where of a list of integers": lambda x: np.where([1, 0, 2], x[0], x),
    "solve for a list": lambda x: np.linalg.solve(np.diag(x), [1.0, 2.0, 3.0]),
    "solve for a list of rows": lambda x: np.linalg.solve(np.diag(x), [[1], [2], [3]]),
    "solve with a matrix of lists": lambda x: np.linalg.solve([[1.0, 2.0], [3.0, 5.0]], x[:2]),
}


INDICES = {
    "an empty ellipsis": (np.s_[None, [0, 1], ..., 0], (3, 1)),
    "an empty ellipsis between masks": (np.s_[[True, False, True], ..., [0, 1]], (3, 2)),
    "an ellipsis": (np.s_[[0, 1], ..., [1]], (3, 2, 2)),
}

X2, X3 = np.array([[0.3, 1.7, 0.9], [2.2, 0.6, 1.1]]), np.array([1.3, -0.4, 2.2])
#: Where each table is tried: NumPy's integers count as Python's do, any kind of sorting, a ufunc has
#: no derivative where it is not computed, lists and tuples stand for arrays.
TRIED = [
    *[pytest.param(f, X2, id=name) for name, f in COUNTED.items()],
    *[pytest.param(f, X3, id=name) for name, f in (SORTED | MASKED).items()],
    *[pytest.param(f, X, id=name) for name, f in (LISTS | OPERANDS).items()],
    *[
        pytest.param(lambda x, at=at: x[at], np.arange(1.0, 1 + np.prod(shape)).reshape(shape), id=name)
        for name, (at, shape) in INDICES.items()
    ],
]  # fmt: skip


@pytest.mark.parametrize(
    "backend", [*ENGINES.values(), AutoTorch(mode="forward")], ids=[*ENGINES, "torch forward"]
)
@pytest.mark.parametrize(("f", "x"), TRIED)
# some bounds of clip are numbers of the array
@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")
@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
def test_values_and_derivatives_are_numpys(f, x, backend):
    assert_same_jacobian(f, backend, x)
