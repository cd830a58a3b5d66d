"""Models that many devices train, as JAX's users write them: with shardings on meshes of every
kind, and with `shard_map`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

#: How many devices this machine pretends to have: for one process, and for each of several.
ALONE, EACH = 8, 2


@contextmanager
def group(member: Any, seconds: float, heartbeat: int = 10) -> Iterator[None]:
    """Membership in a group of processes: the one that this process was started for, or one of the
    environment's.

    seconds: how long the others may take to come. heartbeat: after how many seconds of silence a
    member counts as gone.

    JAX itself finds groups of Slurm, MPI, Kubernetes and TPU pods. Elsewhere it reads
    JAX_COORDINATOR_ADDRESS alone.
    """
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    if member is None:
        count, rank = (os.environ.get(name) for name in ("JAX_NUM_PROCESSES", "JAX_PROCESS_ID"))
        jax.distributed.initialize(
            num_processes=None if count is None else int(count),
            process_id=None if rank is None else int(rank),
            initialization_timeout=int(seconds),
        )
    else:
        jax.config.update("jax_platforms", "cpu")  # type: ignore[no-untyped-call]
        jax.config.update("jax_num_cpu_devices", ALONE if member.size == 1 else EACH)  # type: ignore[no-untyped-call]
        if member.size > 1:
            jax.distributed.initialize(
                member.address,
                member.size,
                member.rank,
                initialization_timeout=int(seconds),
                heartbeat_timeout_seconds=heartbeat,
            )
    try:
        yield
    finally:
        if jax.process_count() > 1:
            jax.distributed.shutdown()  # type: ignore[no-untyped-call]


def place() -> tuple[int, int]:
    """This process's number, and how many there are."""
    return jax.process_index(), jax.process_count()


def loss(model: Any, x: Any, y: Any) -> Any:
    for layer in model[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean((x @ model[-1]["w"] + model[-1]["b"] - y) ** 2)


def _model() -> list[dict[str, np.ndarray[Any, Any]]]:
    draw = np.random.default_rng(0)
    sizes = [(8, 16), (16, 8), (8, 8)]
    return [
        {"w": draw.normal(size=shape) / 4, "b": draw.normal(size=shape[1]) / 4} for shape in sizes
    ]


def _data() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(16, 8))
    return x, np.sin(x)


def _spread(x: np.ndarray[Any, Any], mesh: Any, *axes: Any) -> jax.Array:
    spec = PartitionSpec(*axes)  # type: ignore[no-untyped-call]
    return jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), lambda place: x[place])


def number(x: Any) -> np.ndarray[Any, Any]:
    """An array, whole, on the host."""
    if isinstance(x, jax.Array) and isinstance(x.sharding, NamedSharding):
        x = jax.jit(lambda x: x, out_shardings=NamedSharding(x.sharding.mesh, PartitionSpec()))(x)  # type: ignore[no-untyped-call]
    return np.asarray(x)


def numbers(model: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a model, or of its gradient, whole."""
    return [number(leaf) for leaf in jax.tree.leaves(model)]


def placements(model: Any) -> list[Any]:
    """How each array lies on its mesh."""
    return [leaf.sharding for leaf in jax.tree.leaves(model)]


def expected() -> list[np.ndarray[Any, Any]]:
    """The gradient of all data, by one process."""
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.grad(loss)(_model(), *_data()))]


def trained(steps: int) -> list[np.ndarray[Any, Any]]:
    """The parameters after so many steps on all data, by one process."""
    model, transform, data = _model(), OPTIMISER[1][0], _data()
    state = transform.init(model)
    for _ in range(steps):
        updates, state = transform.update(jax.grad(loss)(model, *data), state)
        model = optax.apply_updates(model, updates)
    return [np.asarray(leaf) for leaf in jax.tree.leaves(model)]


#: How an optimiser is made: the name of the function, what it is given first, and its options.
OPTIMISER: tuple[str, tuple[Any, ...], dict[str, Any]] = ("from_optax", (optax.adam(0.01),), {})
#: The optimiser is made around the model, and keeps it.
HOLDS_MODEL = False
#: Processes may be forked from one that has imported this module.
FORKS = False


def settings(setting: Callable[..., Any]) -> Iterator[Any]:
    """Each way to spread a model over all devices: its name, and what makes a loss, a model and
    data.
    """
    for kind in (AxisType.Auto, AxisType.Explicit):
        words = f", {kind.name} axes"
        line = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(kind,))
        yield setting("data-parallel" + words, partial(_made, line, (), (), ("data",)))
        yield setting(
            "fully sharded" + words, partial(_made, line, ("data",), ("data",), ("data",), kind)
        )
        grid = jax.make_mesh(
            (jax.device_count() // 2, 2), ("data", "parts"), axis_types=(kind,) * 2
        )
        yield setting(
            "data and parts" + words,
            partial(_made, grid, (None, "parts"), ("parts",), ("data",), kind),
        )
    manual = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(AxisType.Auto,))
    yield setting("shard_map inside", partial(_mapped, manual))


def _made(
    mesh: Any, of_weights: Any, of_biases: Any, of_data: Any, kind: Any = AxisType.Auto
) -> tuple[Callable[..., Any], Any, tuple[Any, ...]]:
    model = [
        {"w": _spread(layer["w"], mesh, *of_weights), "b": _spread(layer["b"], mesh, *of_biases)}
        for layer in _model()
    ]
    spread = _gathering(mesh) if kind is AxisType.Explicit else loss
    return jax.jit(spread), model, tuple([_spread(part, mesh, *of_data) for part in _data()])


def _gathering(mesh: Any) -> Callable[..., Any]:
    """With Explicit axes a user says where weights are gathered for a product that would contract a
    sharded axis.
    """

    def gathering(model: Any, x: Any, y: Any) -> Any:
        whole = NamedSharding(mesh, PartitionSpec())  # type: ignore[no-untyped-call]
        return loss(jax.tree.map(lambda leaf: jax.sharding.reshard(leaf, whole), model), x, y)  # type: ignore[no-untyped-call]

    return gathering


def _mapped(mesh: Any) -> tuple[Callable[..., Any], Any, tuple[Any, ...]]:
    everywhere, rows = PartitionSpec(), PartitionSpec("data")  # type: ignore[no-untyped-call]

    def local(model: Any, x: Any, y: Any) -> Any:
        return jax.lax.pmean(loss(model, x, y), "data")  # type: ignore[no-untyped-call]

    mapped = jax.shard_map(
        local, mesh=mesh, in_specs=(everywhere, rows, rows), out_specs=everywhere
    )
    return jax.jit(mapped), *_made(mesh, (), (), ("data",))[1:]
