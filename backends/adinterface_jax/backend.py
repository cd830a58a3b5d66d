"""The JAX backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.tree_util import register_pytree_node

from adinterface import AutoJax, BackendError
from adinterface.core.contract import (
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Linearized,
    Pullback,
    Pushforward,
    Randomness,
    in_mode,
    note_of,
)

from .known_failures import KNOWN_FAILURES
from .library import JAX
from .nodes import EquinoxModule, NnxObject, Pytree
from .notes import NOTES

# JAX's transformations, and compiled code, carry it along: its layout belongs to what was traced.
register_pytree_node(
    Aux, lambda aux: ((aux.arrays,), aux.layout), lambda layout, parts: Aux(*parts, layout)
)


class JaxBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (JAX,)
    node_types = (EquinoxModule(), NnxObject(), Pytree())
    opaque_types = (type(jax.jit(abs)), jax.custom_jvp, jax.custom_vjp)
    transposes = True

    def __init__(self, auto: AutoJax):
        super().__init__(auto)
        self.jit = auto.jit
        if auto.device is not None and not isinstance(
            auto.device, (jax.Device, jax.sharding.Sharding)
        ):
            raise BackendError(
                f"AutoJax: device must be a jax.Device, a Sharding or None, not {auto.device!r}. "
                f"JAX sees {', '.join(self.devices())}."
            )

    def second_order(self) -> tuple[Backend, Backend]:
        return in_mode(self, "forward"), in_mode(self, "reverse")

    def pullback(
        self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False
    ) -> Pullback:
        connected = True

        def seen(*inner: Any) -> tuple[Arrays, Aux]:
            nonlocal connected
            outputs, aux = function(*inner)
            # Under jit a constant is traced too, but not by the trace that follows the derivative.
            connected = not {*map(type, inner)}.isdisjoint(map(type, outputs))
            return outputs, aux

        outputs, transposed, aux = jax.vjp(seen, *leaves, has_aux=True)

        def transpose(cotangents: Arrays) -> Arrays:
            # JAX transposes the derivative; its adjoint in the real inner product is the conjugate
            # of that.
            try:
                return tuple(map(_conj, transposed(tuple(map(_conj, cotangents)))))
            except ValueError as error:
                if _NO_WAY_BACK in str(error):
                    raise BackendError(_WHILE) from error
                raise

        back = _in_its_precision(transpose, outputs)
        return Pullback(outputs, aux, back, connected, lambda stacks: jax.vmap(back)(stacks))

    def pushforward(
        self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
    ) -> Pushforward:
        outputs, tangents_out, aux = jax.jvp(function, leaves, tangents, has_aux=True)
        return Pushforward(outputs, tangents_out, aux)

    def pushforward_stacked(
        self, function: FlatFunction, leaves: Arrays, stacks: Arrays
    ) -> Pushforward:
        def push(tangents: Arrays) -> Any:
            return jax.jvp(function, leaves, tangents, has_aux=True)

        return Pushforward(*jax.vmap(push, out_axes=(None, 0, None))(stacks))

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        outputs, linear, aux = jax.linearize(function, *leaves, has_aux=True)

        push = _in_its_precision(lambda tangents: tuple(linear(*tangents)), leaves)
        return Linearized(outputs, aux, push, lambda stacks: jax.vmap(push)(stacks))

    def vectorize(
        self,
        compute: Callable[..., Any],
        each: tuple[bool, ...],
        *,
        chunk: int,
        randomness: Randomness,
    ) -> Callable[..., Any]:
        at_once = jax.vmap(compute, in_axes=tuple([0 if stacked else None for stacked in each]))

        def function(*arrays: Any) -> Any:
            stacks = [array for array, stacked in zip(arrays, each) if stacked]
            if chunk >= stacks[0].shape[0]:
                return at_once(*arrays)
            form: Any = None

            def leaves_of(parts: list[Any]) -> list[Any]:
                nonlocal form
                rest = iter(parts)
                # Each chunk is traced on its own, and JAX treats the structures of their results as
                # different.
                leaves, form = jax.tree.flatten(
                    compute(*[next(rest) if stacked else x for x, stacked in zip(arrays, each)])
                )
                return leaves

            leaves = jax.lax.map(leaves_of, stacks, batch_size=chunk)
            return jax.tree.unflatten(form, leaves)

        return function

    def compile(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        return jax.jit(compute) if self.jit else None

    def note(self, error: Exception) -> str | None:
        return note_of(error, NOTES)

    @classmethod
    def devices(cls) -> list[str]:
        return [str(device) for device in jax.devices()]


#: Patterns of JAX's messages, with what the user should do.
_NO_WAY_BACK = "Reverse-mode differentiation does not work for lax.while_loop"
_WHILE = (
    "JAX cannot go back through a while_loop, or a fori_loop whose bounds it computes: it would"
    " have to keep every step of a number that it does not know. Use scan, or fori_loop with"
    " Python's integers for bounds, and cond inside for the steps that may not be needed; or go"
    ' forward, with AutoJax(mode="forward") or pushforward.'
)


def _in_its_precision(
    linear: Callable[[Arrays], Arrays], likes: Arrays
) -> Callable[[Arrays], Arrays]:
    """A linear map of such arrays, also in a user's trace with 32 bits where the map has 64."""

    dtypes = [like.dtype for like in likes]

    def applied(arrays: Arrays) -> Arrays:
        if [x.dtype for x in arrays] == dtypes:
            return linear(arrays)
        with jax.enable_x64(True):
            results = linear(tuple([x.astype(dtype) for x, dtype in zip(arrays, dtypes)]))
        return tuple([x.astype(jax.dtypes.canonicalize_dtype(x.dtype)) for x in results])

    return applied


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x
