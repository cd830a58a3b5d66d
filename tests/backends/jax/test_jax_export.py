"""Calls and prepared calls on `AutoJax` under `jax.jit`, `jax.vmap` and `jax.export`, serialised
and loaded elsewhere.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import assert_numbers
from forked import python

from adinterface import AutoJax, gradient, hessian, jacobian, prepare, pushforward

pytest.importorskip("flatbuffers", reason="jax.export writes files with it")
import jax.export

JAX = AutoJax()
X = jnp.linspace(0.5, 1.5, 3, dtype="float32")


def wave(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(x))


CALLS = {
    "gradient": (gradient, wave, lambda x: (x,)),
    "jacobian": (jacobian, jnp.sin, lambda x: (x,)),
    "hessian": (hessian, wave, lambda x: (x,)),
    "pushforward": (pushforward, jnp.sin, lambda x: ((x,), (x,))),
}


def plain(name):
    operator, f, args = CALLS[name]
    return lambda x: jax.tree.leaves(operator(f, JAX, *args(x)))


def prepared(name):
    operator, f, args = CALLS[name]
    fast = prepare(operator, f, JAX, *args(X))
    return lambda x: jax.tree.leaves(fast(*args(x)))


@pytest.mark.parametrize("made", [plain, prepared])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_under_jit_and_vmap(name, made):
    call = made(name)
    expected = call(X)
    for found, each in zip(jax.jit(call)(X), expected, strict=True):
        assert isinstance(found, jax.Array)
        assert_numbers(found, each, 1e-6)
    for found, one, other in zip(
        jax.vmap(call)(jnp.stack([X, X + 1])), expected, call(X + 1), strict=True
    ):
        assert_numbers(found, jnp.stack([one, other]), 1e-6)


PROGRAM = """
import sys, numpy as np, jax.export
data = np.load(sys.argv[1])
found = [y for name in sys.argv[3:] for y in jax.export.deserialize(bytearray(open(name, "rb").read())).call(data)]
assert not [name for name in sys.modules if name.startswith("adinterface")]
np.savez(sys.argv[2], *map(np.asarray, found))
"""


def test_exported_calls_load_in_a_process_that_knows_neither_this_package_nor_f(tmp_path):
    files, expected = [], []
    for name in CALLS:
        for made in (plain, prepared):
            compiled = jax.jit(made(name))
            files.append(tmp_path / f"{name}-{made.__name__}")
            files[-1].write_bytes(jax.export.export(compiled)(X).serialize())
            expected += compiled(X)
    np.save(tmp_path / "x.npy", X)
    arrays = [tmp_path / "x.npy", tmp_path / "found.npz"]
    python("-c", PROGRAM, *arrays, *files, folder=tmp_path)
    found = np.load(tmp_path / "found.npz")
    assert all(
        np.array_equal(found[name], x) for name, x in zip(found.files, expected, strict=True)
    )


def test_a_call_is_exported_for_shapes_that_are_not_known_yet():
    shape = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), "float32")
    exported = jax.export.export(jax.jit(plain("gradient")))(shape)
    found = jax.export.deserialize(exported.serialize()).call(jnp.ones(5))
    assert_numbers(found[0], plain("gradient")(jnp.ones(5))[0], 1e-6)
