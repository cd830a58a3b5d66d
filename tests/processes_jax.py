"""What tests JAX on many devices: of one process, and of two."""

import traceback

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from adinterface_studies.distributed import jax_processes as yardstick
from adinterface_studies.distributed.checks import outcomes
from jax import P
from jax.sharding import AxisType, NamedSharding
from xla_flags import COMPILED

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    ConversionError,
    Each,
    batched,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
)

X = np.arange(1.0, 9.0) / 8


def cubes(x):
    return jnp.sum(x**3)


def squares(x):
    return x * x


#: By the operator: what it gives with a backend for x, and what that is in closed form.
OPERATORS = {
    "gradient": (lambda b, x: gradient(cubes, b, x)[0], 3 * X**2),
    "jacobian": (lambda b, x: jacobian(squares, b, x)[0], np.diag(2 * X)),
    "hessian": (lambda b, x: hessian(cubes, b, x), np.diag(6 * X)),
    "hvp": (lambda b, x: hvp(cubes, b, x, x), 6 * X**2),
    "diagonal_hessian": (lambda b, x: diagonal_hessian(cubes, b, x)[0], 6 * X),
    "pullback": (lambda b, x: pullback(squares, b, x)[1](x)[0], 2 * X**2),
    "pushforward": (lambda b, x: pushforward(squares, b, (x,), (x,))[1], 2 * X**2),
    "linearize": (lambda b, x: linearize(squares, b, x)[1](x), 2 * X**2),
    "batched": (lambda b, x: batched(gradient, lambda x: x**3, b, Each(x))[0], 3 * X**2),
    "prepared gradient": (lambda b, x: prepare(gradient, cubes, b, x)(x)[0], 3 * X**2),
    "prepared jacobian": (lambda b, x: prepare(jacobian, squares, b, x)(x)[0], np.diag(2 * X)),
}
#: Those whose Jacobians go by rows in one mode and by columns in the other.
BOTH_WAYS = ("jacobian", "hessian", "diagonal_hessian")


def line(kind):
    return jax.make_mesh((jax.device_count(),), ("devices",), axis_types=(kind,))


def spread(x, mesh, *axes):
    return jax.make_array_from_callback(
        x.shape, NamedSharding(mesh, P(*axes)), lambda place: x[place]
    )


def on_a_mesh(kind):
    """Every operator gives the right numbers, and what has the shape of the leaf lies as the leaf
    does.
    """
    mesh = line(kind)
    x = spread(X, mesh, "devices")
    with jax.set_mesh(mesh):
        for name, (compute, expected) in OPERATORS.items():
            for mode in (None, "forward", "reverse") if name in BOTH_WAYS else (None,):
                found = compute(AutoJax(mode=mode), x)
                np.testing.assert_allclose(
                    yardstick.number(found), expected, rtol=1e-12, atol=1e-12, err_msg=name
                )
                if found.shape == x.shape:
                    assert found.sharding == x.sharding, name


def inside_shard_map():
    """Every operator on the part that a device has, eager and compiled.

    Results vary over the mesh as their leaf does.
    """
    mesh = line(AxisType.Auto)
    names = [
        name
        for name in OPERATORS
        if not name.startswith(("batched", "prepared jac", "prepared hess"))
    ]

    def local(x):
        return [
            OPERATORS[name][0](AutoJax(mode=mode), x)
            for name in names
            for mode in (None, "reverse")
        ]

    mapped = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=P("devices"), out_specs=P("devices")))
    found = iter(mapped(X))
    for name in names:
        expected = OPERATORS[name][1]
        blocks = expected if expected.ndim == 1 else np.diag(expected)[:, None]
        for _ in range(2):
            np.testing.assert_allclose(next(found), blocks, rtol=1e-12, err_msg=name)


def what_varies_less_than_the_loss():
    """Inside `shard_map` the gradient of what all devices have is summed over them, as `jax.grad`
    does it.
    """
    mesh, data = line(AxisType.Auto), np.arange(24.0).reshape(8, 3)

    def loss(w, x):
        return jnp.mean((x @ w) ** 2)

    def local(w, x):
        ours = (
            gradient(loss, AutoJax(), w, Constant(x))[0],
            hessian(loss, AutoJax(), w, Constant(x)),
        )
        return ours, (jax.grad(loss)(w, x), jax.hessian(loss)(w, x))

    ours, theirs = jax.jit(
        jax.shard_map(local, mesh=mesh, in_specs=(P(), P("devices")), out_specs=P())
    )(np.ones(3), data)
    for mine, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)


def a_tree_of_leaves_that_lie_differently():
    mesh = jax.make_mesh((4, 2), ("rows", "columns"), axis_types=(AxisType.Auto,) * 2)
    draw = np.random.default_rng(0)
    parts = {"a": ("rows", "columns"), "b": ("columns",), "c": (), "d": (None, "rows")}
    numbers = {
        "a": draw.normal(size=(4, 4)),
        "b": draw.normal(size=4),
        "c": draw.normal(size=4),
        "d": draw.normal(size=(4, 4)),
    }
    model = {name: spread(numbers[name], mesh, *axes) for name, axes in parts.items()}

    def loss(m):
        return jnp.sum(jnp.sin(m["a"] @ m["b"]) * m["c"]) + jnp.sum(m["d"] ** 2)

    expected = jax.grad(loss)(numbers)
    fast = prepare(gradient, loss, AutoJax(), model)
    for found in (
        gradient(loss, AutoJax(), model)[0],
        fast(model)[0],
        hvp(loss, AutoJax(), model, model),
    ):
        for name, leaf in model.items():
            assert found[name].sharding == leaf.sharding, name
    for found in (gradient(loss, AutoJax(), model)[0], fast(model)[0]):
        for name in model:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
    assert fast.specializations == 1
    fast({name: spread(numbers[name], mesh) for name in model})
    assert fast.specializations == 2


def a_prepared_call_inside_a_step_that_donates():
    x = spread(X, line(AxisType.Auto), "devices")
    fast = prepare(gradient, cubes, AutoJax(), x)
    step = jax.jit(lambda x: x - 0.1 * fast(x)[0], donate_argnums=0)
    expected = X
    for _ in range(3):
        x = step(x)
        expected = expected - 0.3 * expected**2
    np.testing.assert_allclose(x, expected, rtol=1e-12)
    assert fast(x)[0].sharding == x.sharding


def what_would_be_gathered_is_refused():
    mesh = line(AxisType.Auto)
    x = spread(X, mesh, "devices")
    message = (
        "A JAX array of shape (8,) lies in parts on 8 devices (P('devices',)), which another engine"
        " could only have gathered on one. Differentiate it with AutoJax(), which leaves it where"
        " it is, or gather it yourself: jax.device_put(x, jax.devices()[0])."
    )
    for backend in (AutoTorch(), AutoAutograd(), AutoFiniteDifferences(native=AutoTorch())):
        for args in ((x,), (X, Constant(x))):
            with pytest.raises(ConversionError) as caught:
                gradient(lambda *args: (args[-1] ** 3).sum(), backend, *args)
            assert str(caught.value) == message
    everywhere = spread(X, mesh)
    for backend in (AutoTorch(), AutoAutograd()):
        (found,) = gradient(lambda x: (x**3).sum(), backend, everywhere)
        np.testing.assert_allclose(found, 3 * X**2, rtol=1e-12)
        assert found.sharding == everywhere.sharding


ON_DEVICES = {
    "Auto axes": lambda: on_a_mesh(AxisType.Auto),
    "Explicit axes": lambda: on_a_mesh(AxisType.Explicit),
    "Manual axes": inside_shard_map,
    "what varies less than the loss": what_varies_less_than_the_loss,
    "leaves that lie differently": a_tree_of_leaves_that_lie_differently,
    "donated leaves": a_prepared_call_inside_a_step_that_donates,
    "what would be gathered": what_would_be_gathered_is_refused,
}


def _of_several_processes():
    x = spread(X, line(AxisType.Auto), "devices")
    assert not x.is_fully_addressable
    with pytest.raises(RuntimeError, match="process_allgather"):  # as JAX says it
        gradient(cubes, AutoFiniteDifferences(), x)


ON_PROCESSES = {
    "Auto axes": lambda: on_a_mesh(AxisType.Auto),
    "numbers of others": _of_several_processes,
}


#: By the number of processes: the settings of the conformance package's set that are run here.
SETTINGS = {
    1: ["fully sharded, Auto*", "data and parts, Exp*", "shard_map*"],
    2: ["data-parallel, Auto*"],
}


def _find_what_is_compiled():
    """What other processes, and earlier ones, have compiled."""
    jax.config.update("jax_compilation_cache_dir", str(COMPILED))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def program(member):
    """The error of every test, by its name."""
    _find_what_is_compiled()
    found = {}
    with yardstick.group(member, 60):
        for name, function in (ON_DEVICES if member.size == 1 else ON_PROCESSES).items():
            try:
                function()
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
        for outcome in outcomes(AutoJax(), yardstick, SETTINGS[member.size]):
            found[f"the set: {outcome.setting}: {outcome.check}"] = outcome.error
    return found
