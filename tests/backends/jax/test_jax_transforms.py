"""`AutoJax` inside JAX's own transformations: tracers stay tracers, none leaks, and the ambient
precision holds.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import assert_numbers, assert_tree, call_of

from adinterface import (
    AutoJax,
    Constant,
    diagonal_hessian,
    gradient,
    hessian,
    jacobian,
    linearize,
    prepare,
    pullback,
    value_and_gradient,
)

X = np.linspace(0.5, 1.5, 3)
X32 = jnp.asarray(X, dtype="float32")


def wave(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(x))


def first(x):
    return (np.sin(x) + np.cos(x)) * np.exp(x)


def second(x):
    return 2 * np.cos(x) * np.exp(x)


def slope(x):
    return gradient(wave, AutoJax(), x)[0]


TRANSFORMS = {
    "jit": (jax.jit(slope), first),
    "vmap": (jax.vmap(slope), first),
    "grad": (jax.grad(lambda x: jnp.sum(slope(x))), second),
    "jit of grad": (jax.jit(jax.grad(lambda x: jnp.sum(slope(x)))), second),
    "jacfwd": (jax.jacfwd(slope), lambda x: np.diag(second(x))),
    "jacrev": (jax.jacrev(slope), lambda x: np.diag(second(x))),
    "linearize": (lambda x: jax.linearize(slope, x)[1](jnp.ones_like(x)), second),
    "scan": (lambda x: jax.lax.scan(lambda carry, y: (carry, slope(y)), 0, x)[1], first),
    "while_loop": (lambda x: jax.lax.fori_loop(0, 1, lambda i, y: slope(y), x), first),
}


@pytest.mark.parametrize(("transform", "expected"), TRANSFORMS.values(), ids=TRANSFORMS.keys())
def test_gradient_works_inside_a_transformation(transform, expected):
    assert_tree(transform(X32), jnp.asarray(expected(X), dtype="float32"), 1e-5)


# the check is slow: JAX traces everything anew for it
@pytest.mark.parametrize("name", ["jit", "vmap", "grad", "scan"])
def test_no_tracer_leaks_out_of_a_transformation(name):
    transform, _ = TRANSFORMS[name]
    with jax.checking_leaks():
        transform(X32)


@pytest.mark.parametrize("name", ["jit", "vmap", "grad", "jit of grad"])
def test_float64_holds_where_the_caller_has_it(name):
    transform, expected = TRANSFORMS[name]
    with jax.enable_x64(True):
        result = transform(jnp.asarray(X))
    assert result.dtype == "float64"
    assert_numbers(result, expected(X), 1e-12)


def test_jit_traces_f_once_and_results_are_tracers_inside():
    calls = []

    @jax.jit
    def step(model):
        def loss(m):
            calls.append(1)
            return jnp.sum(m["w"] ** 2) * m["scale"], {"seen": m["w"] * 2}

        (value, aux), (grads,) = value_and_gradient(loss, AutoJax(), model)
        for leaf in (value, aux["seen"], grads["w"], grads["scale"]):
            assert isinstance(leaf, jax.core.Tracer)
        return value, aux, grads

    for _ in range(3):
        value, aux, grads = step({"scale": 2.0, "w": X32})  # in the order in which jit returns keys
    assert len(calls) == 1
    assert_numbers(value, 2 * np.sum(X**2), 1e-5)
    assert_tree(aux, {"seen": 2 * X32})
    assert_tree(grads, {"scale": jnp.float32(np.sum(X**2)), "w": 4 * X32}, 1e-5)


def test_constants_and_keywords_may_be_tracers():
    f = lambda x, c, *, k: jnp.sum(x**2 * c * k)
    result = jax.jit(lambda c, k: gradient(f, AutoJax(), X32, Constant(c), k=k)[0])(X32, X32)
    assert_numbers(result, 2 * X**3, 1e-5)


@pytest.mark.parametrize("prepared", [False, True])
def test_maps_of_64_bits_inside_a_trace_of_32(prepared):
    f = lambda t: t["x"] ** 3 * t["y"]
    point = {"x": X, "y": X.astype("float32")}
    maps = [call_of(prepared, each, f, AutoJax(), point)(point) for each in (pullback, linearize)]
    (_, back), (_, push) = maps
    one, three, slope = jnp.ones(3), jnp.ones((2, 3)), 3 * X**2 * point["y"]
    for map_, expected in (
        (lambda v: back(v)[0]["x"], slope),
        (lambda v: push({"x": v, "y": v}), slope + X**3),
        (lambda v: back.stacked(v[None])[0]["x"][0], slope),
        (lambda v: push.stacked({"x": v[None], "y": None})[0], slope),
    ):
        assert_numbers(jax.jit(map_)(one), expected, 1e-6)
        assert_numbers(jax.jit(jax.vmap(map_))(three)[1], expected, 1e-6)
        assert_numbers(
            jax.jit(jax.grad(lambda v, map_=map_: jnp.sum(map_(v))))(one), expected, 1e-6
        )


# Meshes
# ------------------------------------------------------------------------------------------------


def quadratic(x):
    return jnp.sum(jnp.sin(x) ** 2)


def doubled(x):
    return jnp.sin(x) * 2


def _sharded(*axis_types):
    mesh = jax.make_mesh((1,), ("x",), axis_types=axis_types)
    return mesh, jax.device_put(
        jnp.arange(4.0), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    )


MESHED = {
    "gradient": lambda backend, x: gradient(quadratic, backend, x)[0],
    "jacobian": lambda backend, x: jacobian(doubled, backend, x)[0],
    "hessian": lambda backend, x: hessian(quadratic, backend, x),
    "diagonal_hessian": lambda backend, x: diagonal_hessian(quadratic, backend, x)[0],
    "pullback": lambda backend, x: pullback(doubled, backend, x)[1](x)[0],
    "prepared jacobian": lambda backend, x: prepare(jacobian, doubled, backend, x)(x)[0],
}


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("name", MESHED)
def test_arrays_on_a_mesh_with_explicit_axes(name, mode):
    mesh, x = _sharded(jax.sharding.AxisType.Explicit)
    expected = MESHED[name](AutoJax(mode=mode), jnp.arange(4.0))
    with jax.set_mesh(mesh):
        found = MESHED[name](AutoJax(mode=mode), x)
    assert_numbers(found, expected, 1e-6)
    if found.ndim == 1:
        assert found.sharding.spec == x.sharding.spec


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("name", [name for name in MESHED if not name.startswith("prepared")])
def test_operators_inside_shard_map(name, mode):
    mesh, _ = _sharded(jax.sharding.AxisType.Auto)
    spec = jax.sharding.PartitionSpec("x")
    compute = jax.shard_map(
        lambda x: MESHED[name](AutoJax(mode=mode), x), mesh=mesh, in_specs=spec, out_specs=spec
    )
    assert_numbers(
        compute(jnp.arange(4.0)), MESHED[name](AutoJax(mode=mode), jnp.arange(4.0)), 1e-6
    )
