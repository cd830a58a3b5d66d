"""The road of every call: arguments recognized at sight, leaves in and gradients back, and its
corners.
"""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from autograd.tracer import getval
from backends_table import assert_tree, call_of, each_backend, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    gradient,
    hvp,
    jacobian,
    prepare,
    pushforward,
    value_and_gradient,
)

X = np.linspace(0.5, 1.5, 4)
Y = np.linspace(-1.0, 2.0, 4)


def cubes(x):
    return array_namespace(x).sum(x**3)


# The short ways
# ------------------------------------------------------------------------------------------------


@each_backend
def test_after_one_call_any_other_may_follow(backend):
    """A prepared call looks first whether the arguments are like the last ones."""
    fast = prepare(
        gradient,
        lambda x, y: array_namespace(x).sum(x**3) + array_namespace(y).sum(y),
        backend,
        X,
        Y,
    )
    mine = lambda x, y: gradient(
        lambda x, y: array_namespace(x).sum(x**3) + array_namespace(y).sum(y), backend, x, y
    )
    for x, y in [
        (X, Y),
        (X + 1, Y),
        (X[:2], Y),
        (X, Y),
        (np.asfortranarray(np.stack([X, Y])), Y),
        (X[::-1], Y),
        (X.astype(">f8"), Y),
        (X, Constant(Y)),
        (X, 2.0),
        (X.astype(np.float32), Y.astype(np.float32)),
        (np.zeros((0, 2)), Y),
        (np.array(3.0), Y),
        (X, Y),
    ]:
        for got, wanted in zip(fast(x, y), mine(x, y)):
            assert type(got) is type(wanted)
            if wanted is not None:
                np.testing.assert_allclose(got, wanted, rtol=rtol_of(backend), atol=1e-6)
                assert getattr(got, "dtype", None) == getattr(wanted, "dtype", None)
    assert fast.specializations == 9


def test_differences_leave_f_its_own_arrays():
    """What f keeps stays as it was: each evaluation gets another array."""
    kept = []

    def f(x):
        kept.append(x)
        return float(np.sum(x**2))

    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for method, least in (("central", 12), ("adaptive", 24)):
        kept.clear()
        (found,) = gradient(f, AutoFiniteDifferences(method=method), x)
        np.testing.assert_allclose(found, 2 * x, atol=1e-6)
        assert len({id(array) for array in kept}) == len(kept) >= least
        assert len({array.tobytes() for array in kept}) == len(kept)
    assert all(array.flags.f_contiguous for array in kept)
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))


# In and back
# ------------------------------------------------------------------------------------------------


def test_a_gradient_that_is_an_argument_is_copied():
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, other):
            ctx.save_for_backward(other)
            return x.sum() * 0 + 1.0

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0], None

    for _ in range(3):
        x, other = X.copy(), Y.copy()
        dx, dother = gradient(lambda x, other: Same.apply(x, other), AutoTorch(), x, other)
        np.testing.assert_array_equal(dx, Y)
        np.testing.assert_array_equal(dother, np.zeros(4))
        dx[:] = 7.0
        np.testing.assert_array_equal(other, Y)


def test_contiguous_arrays_reach_torch_and_autograd_without_a_copy():
    def of_torch(x):
        assert x.data_ptr() == X.__array_interface__["data"][0]
        return (x**2).sum()

    def of_autograd(x):
        assert getval(x) is X
        return (x**2).sum()

    for f, backend in ((of_torch, AutoTorch()), (of_autograd, AutoAutograd())):
        for _ in range(2):
            prepare(gradient, f, backend, X)(X)
            gradient(f, backend, X)
            hvp(f, backend, X, Y)
            jacobian(f, backend, X)


# Corners
# ------------------------------------------------------------------------------------------------


DAY = np.timedelta64(1, "D")


@pytest.mark.parametrize(
    ("example", "change", "number"),
    [
        (
            np.array(["2020-01-01"], dtype="M8[D]"),
            lambda t: t.__iadd__(DAY),
            lambda t: float(t[0].astype(float)) - 18261,
        ),
        (np.array([1.0, "a"], dtype=object), lambda a: a.__setitem__(0, 2.0), lambda a: a[0]),
        ({1}, lambda s: s.add(2), lambda s: float(len(s))),
    ],
    ids=["dates", "objects", "set"],
)
def test_a_constant_that_changes_where_it_is_is_compiled_anew(example, change, number):
    constant = copy.deepcopy(example)
    f = lambda x, c: array_namespace(x).sum(x) * number(c)
    fast = prepare(gradient, f, AutoJax(), X, Constant(constant))
    before = number(constant)
    for _ in range(2):
        np.testing.assert_array_equal(fast(X, Constant(constant))[0], np.full(4, before))
    change(constant)
    assert number(constant) != before
    for _ in range(2):
        np.testing.assert_array_equal(fast(X, Constant(constant))[0], np.full(4, number(constant)))
    np.testing.assert_array_equal(fast(X, Constant(copy.deepcopy(example)))[0], np.full(4, before))


@each_backend
def test_where_a_static_value_stands_tells_calls_apart(backend):
    def f(x, low, high):
        xp = array_namespace(x)
        x = x if low is None else xp.where(x < low, low * x, x)
        return xp.sum(x if high is None else xp.where(x > high, high * x, x))

    fast = prepare(gradient, f, backend, X, low=None, high=0.7)
    for low, high in [(None, 0.7), (0.6, None), (None, 0.7), (0.6, 2.0), (0.6, None)]:
        plain = np.where((low or 0.0) > X, low or 0.0, 1.0) * np.where(
            (high or np.inf) < X, high or 0.0, 1.0
        )
        np.testing.assert_allclose(
            fast(X, low=low, high=high)[0], plain, rtol=rtol_of(backend), atol=1e-6
        )
    mixed = prepare(
        gradient,
        lambda x, a, b: array_namespace(x).sum(x) * (a + 10 * b),
        backend,
        X,
        Constant(2.0),
        Constant(3),
    )
    for a, b in [(2.0, 3), (3, 2.0)]:
        np.testing.assert_allclose(
            mixed(X, Constant(a), Constant(b))[0], np.full(4, a + 10 * b), rtol=1e-5
        )


# Across processes, and random keys
# -----------------------------------------------------------------------------------


def test_random_keys_of_jax_are_compiled_once():
    noise = lambda x, key: (x * jax.random.normal(key, (4,))).sum()
    fast = prepare(gradient, noise, AutoJax(), X, Constant(jax.random.key(0)))
    for seed in range(3):
        key = jax.random.key(seed)
        assert_tree(fast(X, Constant(key)), gradient(noise, AutoJax(), X, Constant(key)), 1e-12)
    assert fast.specializations == 1


def test_a_random_key_beside_the_value_leaves_compiled_code():
    f = lambda x, key: (cubes(x), jax.random.split(key)[0])
    fast = prepare(value_and_gradient, f, AutoJax(), X, Constant(jax.random.key(0)))
    for seed in range(2):
        key = jax.random.key(seed)
        _, following = fast(X, Constant(key)).value
        assert (following == jax.random.split(key)[0]).all()


# Engines that compute on while the caller goes on
# --------------------------------------------------------------------

MANY = 200_000


def late(x, y):
    """x * y, long after the call."""
    turned = x
    for _ in range(20):
        turned = jnp.cos(turned)
    return (jnp.mean(turned) * 0 + 1) * y * x


@pytest.mark.parametrize(
    ("operator", "arguments", "of_second"),
    [
        (jacobian, lambda x, y: (x, y), lambda found: found[0]),
        (pushforward, lambda x, y: ((x, y), (None, y)), lambda found: found.tangent),
    ],
)
def test_a_compiled_call_whose_results_are_not_waited_for_has_numbers_of_its_own(
    operator, arguments, of_second
):
    """The results are JAX's, which are not there yet when the caller writes into an array that JAX
    reads.
    """
    f = (lambda x, y: jnp.mean(late(x, y)) * x[0]) if operator is jacobian else late
    x = jnp.ones(MANY, dtype="float32")
    fast = prepare(operator, f, AutoJax(), *arguments(x, np.ones(MANY, np.float32)))
    for _ in range(3):
        y = np.ones(MANY, np.float32)
        found = fast(*arguments(x, y))
        y[:] = 5.0
        np.testing.assert_allclose(np.max(np.asarray(of_second(found))), 1.0, rtol=1e-3)


# Where and in what precision gradients lie
# ---------------------------------------------------------------------------


def test_a_numpy_gradient_has_its_dtype_inside_a_trace_that_does_not_follow_it():
    """The precision of that trace holds: it may compute in 32 bits."""
    fast = prepare(gradient, cubes, AutoJax(), X)
    found = []
    jax.vmap(lambda v: (found.extend([*gradient(cubes, AutoJax(), X), *fast(X)]), v)[1])(
        jnp.ones(3)
    )
    for one in found:
        assert (type(one), one.dtype) == (np.ndarray, np.float64)
        np.testing.assert_allclose(one, 3 * X**2, rtol=1e-6)


@pytest.mark.parametrize("prepared", [False, True])
def test_a_gradient_lies_where_its_own_leaf_does_not_where_an_earlier_one_did(prepared):
    plain = jnp.ones(4)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))
    placed = jax.device_put(
        plain, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    )
    # the zeros for y lie where JAX puts what nobody asked it to put anywhere
    f = lambda x, y: (x * x).sum()
    call = call_of(prepared, gradient, f, AutoJax(), plain, plain)
    for leaf in (plain, placed, plain):
        for found in call(leaf, leaf):
            assert found.sharding == leaf.sharding
