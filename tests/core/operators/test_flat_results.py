"""Engines whose compilers take functions that return a flat tuple of arrays, and that have no loops of their own."""

from typing import NamedTuple

import numpy as np
import pytest
from adinterface_jax.backend import JaxBackend

from adinterface import (
    AutoJax,
    BackendError,
    Constant,
    Each,
    batched,
    gradient,
    gradient_and_hvp,
    jacobian,
    prepare,
    value_and_gradient,
    value_and_jacobian,
    value_gradient_and_hessian,
)
from adinterface.core.contract import Aux
from adinterface.core.contract.loops import known
from adinterface.core.contract.packed import Packed

X = np.array([0.5, 1.5, 2.5])
STACK = np.stack([X, 2 * X])


class Pair(NamedTuple):
    first: int
    second: list


def test_results_are_taken_apart_and_built_again():
    results = (1, [2, None], Pair(3, [4]), Aux((5, 6), "form"))
    packed = Packed(lambda: results)
    assert packed() == (1, 2, 3, 4, 5, 6)
    first, second, pair, aux = packed.unpacked((10, 20, 30, 40, 50, 60))
    assert (first, second, pair) == (10, [20, None], Pair(30, [40]))
    assert (type(pair), aux.arrays, aux.form) == (Pair, (50, 60), "form")


def energy(x, k):
    return (k * x**3).sum(), {"aux": x * 2.0}


def cubes(x):
    return (x**3).sum()


CALLS = {
    "value and gradient": lambda: prepare(value_and_gradient, energy, AutoJax(), X, 3.0)(2 * X, 3.0),
    "jacobian": lambda: prepare(value_and_jacobian, lambda x: {"a": x**2, "b": x.sum()}, AutoJax(), X)(2 * X),
    "hessian": lambda: prepare(value_gradient_and_hessian, cubes, AutoJax(), X)(2 * X),
    "hvp": lambda: prepare(gradient_and_hvp, cubes, AutoJax(), X, X)(2 * X, X),
    "batched": lambda: batched(jacobian, lambda x: x**2, AutoJax(), Each(STACK)),
    "prepared and batched": lambda: prepare(batched, gradient, cubes, AutoJax(), Each(np.stack([X, X])))(
        Each(np.stack([X, 2 * X]))
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_flat_and_nested_results_give_the_same(name, monkeypatch):
    nested = CALLS[name]()
    unpacked, used = Packed.unpacked, []

    def counted(self, arrays):
        used.append(self)
        return unpacked(self, arrays)

    monkeypatch.setattr(JaxBackend, "takes_trees", False)
    monkeypatch.setattr(Packed, "unpacked", counted)
    assert repr(CALLS[name]()) == repr(nested)
    assert used


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_compiler_of_flat_functions_gets_numpy_numbers(dtype, monkeypatch):
    """In the precision of the call: the engine would choose one for a Python number, and TensorFlow chooses float32."""
    seen = []

    def compile(self, compute):
        return lambda *arrays: (seen.append(arrays), compute(*arrays))[1]

    monkeypatch.setattr(JaxBackend, "takes_trees", False)
    monkeypatch.setattr(JaxBackend, "compile", compile)
    prepare(gradient, lambda x, c: x * c["c"] * c["z"].real, AutoJax(), dtype(2.0), Constant({"c": 1.2, "z": 3j}))(
        dtype(2.0), Constant({"c": 1.2, "z": 3j})
    )
    assert [type(x) for x in seen[0][1:]] == [dtype, {np.float32: np.complex64, np.float64: np.complex128}[dtype]]


class Compiling:
    """A library of an engine that traces f while it compiles."""

    name = "compiling"

    def __init__(self, value):
        self.value = value

    def traced(self, x):
        return True

    def value_under_trace(self, x):
        return self.value


def test_a_loop_that_the_compiler_cannot_decide_names_the_hook():
    def unknown(x):
        raise TypeError("a symbolic value has no truth")

    message = (
        "while_loop: compiling does not know a number that while_loop decides by, as it compiles f or takes a batch at once. "
        "Make the call without prepare, or batched with chunk_size=1 in the backend; or let the backend of the engine compile "
        "loops and branches (`Library.loops`)."
    )
    with pytest.raises(BackendError) as caught:
        known("while_loop", Compiling(None), object(), unknown)
    assert str(caught.value) == message
    with pytest.raises(TypeError, match="a symbolic value"):
        known("while_loop", Compiling(np.array(1.0)), object(), unknown)
    assert known("while_loop", Compiling(None), True, bool) is True
