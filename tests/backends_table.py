"""The backends that every rule is tested on, their tolerances, and the comparison of trees.

`each_backend` parametrizes a test with `backend`: all four; `each_engine`: those that differentiate
(not differences). `assert_tree(actual, expected, rtol)` compares type, structure, dtype, shape and numbers,
and names the path.
"""

import functools
import numbers
import re

import jax
import numpy as np
import pytest
import torch
from adinterface_conformance.trees import nodes

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch, prepare

ENGINES = {"jax": AutoJax(), "torch": AutoTorch(), "autograd": AutoAutograd()}
BACKENDS = ENGINES | {"finite": AutoFiniteDifferences()}
#: The families of scenarios with closed formulas: numbers, arrays of every pair of ranks,
#: Constants, empty and complex arrays.
FORMULAS = ("numbers", "arrays", "constants", "empty", "complex")

each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS.keys())
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES.keys())


# Relative to the largest number of a leaf: what the engine's own arithmetic explains, in units of
# the dtype.
_EXACT = {64: 1e-10, 32: 1e-5, 16: 2e-2}
_DIFFERENCES = {64: 1e-7, 32: 2e-3, 16: 0.3}


def rtol_of(backend, dtype="float64"):
    """The relative tolerance of a gradient from this backend for leaves of this dtype (its name, or
    a dtype).
    """
    name = getattr(dtype, "name", str(dtype)).removeprefix("torch.")
    bits = 32 if name in ("float32", "complex64") else 16 if name in ("float16", "bfloat16") else 64
    return (_DIFFERENCES if isinstance(backend, AutoFiniteDifferences) else _EXACT)[bits]


def assert_tree(actual, expected, rtol=1e-10, path="result"):
    """Same type, structure, dtype, shape and device.

    The same numbers within `rtol` of the leaf's largest one.
    """
    for wanted, got, where in nodes(expected, actual, path):
        if isinstance(wanted, jax.Array):
            assert isinstance(got, jax.Array), f"{where}: {type(got)}, expected a JAX array"
            assert got.sharding == wanted.sharding, (
                f"{where}: {got.sharding}, expected {wanted.sharding}"
            )
        else:
            assert type(got) is type(wanted), (
                f"{where}: {got!r} is {type(got)}, expected {type(wanted)}"
            )
        if isinstance(wanted, (np.ndarray, np.generic, jax.Array, torch.Tensor)):
            assert got.dtype == wanted.dtype, f"{where}: dtype {got.dtype}, expected {wanted.dtype}"
            if isinstance(wanted, torch.Tensor):
                assert got.device == wanted.device, (
                    f"{where}: on {got.device}, expected {wanted.device}"
                )
        elif not isinstance(wanted, numbers.Number):
            assert got is wanted or got == wanted, f"{where}: {got!r}, expected {wanted!r}"
            continue
        assert_numbers(got, wanted, rtol, where)


def assert_numbers(actual, expected, rtol=1e-10, path="result"):
    """The numbers alone, of whatever library."""
    a, e = as_wide(actual), as_wide(expected)
    assert a.shape == e.shape, f"{path}: shape {a.shape}, expected {e.shape}"
    largest = np.max(np.abs(e), initial=0.0)
    atol = rtol * (largest if largest > 0 else 1.0)
    np.testing.assert_allclose(a, e, rtol=rtol, atol=atol, err_msg=path)


def as_wide(x):
    """x as a NumPy array of float64, complex128 or longdouble."""
    if isinstance(x, torch.Tensor):
        x = x.detach().cpu().resolve_conj().resolve_neg()
        x = x.to(torch.complex128 if x.is_complex() else torch.float64).numpy()
    x = np.asarray(x)
    if x.dtype in (np.longdouble, np.clongdouble):
        return x
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


def call_of(prepared, operator, f, backend, *example, **keywords):
    """The operator as a call of f's arguments: one-shot, or prepared for these."""
    if prepared:
        return prepare(operator, f, backend, *example, **keywords)
    return functools.partial(operator, f, backend)


def told(error):
    """An error as a user reads it: its message, then its notes, without the one that JAX adds to
    whatever passes through it.
    """
    notes = [
        note for note in getattr(error, "__notes__", []) if "JAX_TRACEBACK_FILTERING" not in note
    ]
    return "\n".join([str(error), *notes])


def assert_told(call, cls, words):
    """The call raises an error of this class with these words and notes, where `...` stands for any
    text.
    """
    with pytest.raises(cls) as caught:
        call()
    pattern = ".*".join(map(re.escape, words.split("...")))
    assert re.fullmatch(pattern, told(caught.value), re.DOTALL), (
        f"\n{told(caught.value)}\n\nwanted\n{words}"
    )
