"""A Python number and an array in one dict, and what good users write for that with an engine alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.benchmark import engine_code
from adinterface_conformance.benchmark.cells import Cell
from adinterface_conformance.benchmark.problems import Problem

from adinterface import AutoBackend

Function = Callable[..., Any]


def array_and_number(n: int, xp: Any) -> Problem:
    def f(x: Any) -> Any:
        return xp.sum(xp.sin(x["array"]) * x["number"])

    array = np.random.default_rng(0).normal(size=n)
    return Problem(f, lambda x: xp.sin(x["array"]) * x["number"], {"array": array, "number": 0.5})


def cell(auto: AutoBackend) -> Cell:
    """The cell, with hand-written code for this engine; autograd takes the dict as it is."""
    by_hand = {"jax": _jax, "torch": _torch, "finite_differences": _differences}.get(auto.name)
    return Cell("array and number", array_and_number, (10,), ("gradient", "value_and_gradient"), leaf="number", by_hand=by_hand)


def _jax(operator: str, f: Function, prepared: bool) -> Function | None:
    """The operator of JAX in the precision of NumPy; the number comes back by `.item()`."""
    jax = importlib.import_module("jax")
    make = {"gradient": jax.grad, "value_and_gradient": jax.value_and_grad}.get(operator)
    if make is None:
        return None
    jitted = jax.jit(make(f)) if prepared else None

    def given(gradient: Any) -> Any:
        return {"array": np.array(gradient["array"]), "number": gradient["number"].item()}

    def call(x: Any) -> Any:
        with jax.enable_x64(True):
            if jitted is not None:
                result = jitted(x)
            else:
                result = make(f)({name: jax.numpy.asarray(leaf) for name, leaf in x.items()})
            return (np.array(result[0]), given(result[1])) if isinstance(result, tuple) else given(result)

    return call


def _torch(operator: str, f: Function, prepared: bool) -> Function | None:
    """A 0-d tensor in, `.item()` out; there is nothing to prepare."""
    torch = importlib.import_module("torch")

    def value_and_gradient(x: Any) -> Any:
        array = torch.from_numpy(x["array"]).requires_grad_()
        number = torch.tensor(x["number"], dtype=array.dtype, requires_grad=True)
        value = f({"array": array, "number": number})
        of_array, of_number = torch.autograd.grad(value, (array, number))
        return value.detach().numpy(), {"array": of_array.numpy(), "number": of_number.item()}

    return {"gradient": lambda x: value_and_gradient(x)[1], "value_and_gradient": value_and_gradient}.get(operator)


def _differences(operator: str, f: Function, prepared: bool) -> Function | None:
    """The stencil for arrays, with a 0-d array for the number."""
    yardstick = engine_code.find("finite_differences")
    assert yardstick is not None
    of_arrays = yardstick.transform("ndarray", "gradient", lambda x: f({**x, "number": x["number"].item()}), prepared)
    assert of_arrays is not None

    def gradient(x: Any) -> Any:
        slopes = of_arrays({"array": x["array"], "number": np.asarray(x["number"])})
        return {"array": slopes["array"], "number": slopes["number"].item()}

    return {"gradient": gradient, "value_and_gradient": lambda x: (f(x), gradient(x))}.get(operator)
