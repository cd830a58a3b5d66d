"""JAX behind the contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from adinterface.backend import Arrays, Backend, FlatFunction, Linearized, Pullback, Pushforward

from .handwritten import one_shot
from .known_failures import KNOWN_FAILURES
from .library import JaxLibrary
from .nodes import Pytree


class JaxBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (JaxLibrary(),)
    node_types = (Pytree(),)
    transposes = True
    forward_below = 32
    second_order = ("forward", "reverse")

    def pullback(self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
        connected = True

        def seen(*inner: Any) -> tuple[Arrays, Arrays]:
            nonlocal connected
            outputs, aux = function(*inner)
            connected = any(isinstance(output, jax.core.Tracer) for output in outputs)
            return outputs, aux

        outputs, transposed, aux = jax.vjp(seen, *leaves, has_aux=True)

        def back(cotangents: Arrays) -> Arrays:
            # JAX transposes the derivative; its adjoint in the real inner product is the conjugate of that.
            return tuple([_conj(gradient) for gradient in transposed(tuple([_conj(c) for c in cotangents]))])

        return Pullback(outputs, aux, back, connected, jax.vmap(back))

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        outputs, tangents_out, aux = jax.jvp(function, leaves, tangents, has_aux=True)
        return Pushforward(outputs, tangents_out, aux)

    def pushforward_stacked(self, function: FlatFunction, leaves: Arrays, stacks: Arrays) -> Pushforward:
        def push(tangents: Arrays) -> Any:
            return jax.jvp(function, leaves, tangents, has_aux=True)

        return Pushforward(*jax.vmap(push, out_axes=(None, 0, None))(stacks))

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        outputs, linear, aux = jax.linearize(function, *leaves, has_aux=True)

        def push(tangents: Arrays) -> Arrays:
            return tuple(linear(*tangents))

        return Linearized(outputs, aux, push, jax.vmap(push))

    @classmethod
    def handwritten(cls, operator: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any] | None:
        return one_shot(operator, f, args)

    def note(self, error: Exception) -> str | None:
        if isinstance(error, jax.errors.TracerArrayConversionError):
            return (
                "NumPy was called on a JAX array that is being differentiated. Take the functions from the array: "
                "xp = adinterface.array_namespace(x), then xp.sin(x)."
            )
        if isinstance(error, (jax.errors.ConcretizationTypeError, jax.errors.TracerBoolConversionError)):
            return (
                "JAX cannot turn a traced array into a Python number or a truth value here. Keep it an array "
                "(xp.sum(x), not float(xp.sum(x))); under jax.jit or jax.vmap use jax.numpy.where or jax.lax.cond instead "
                "of a branch on a value."
            )
        writes = isinstance(error, TypeError) and "item assignment" in str(error)
        if writes or (isinstance(error, ValueError) and "setting an array element with a sequence" in str(error)):
            return (
                "JAX arrays cannot be written to. Build the array with xp.stack, xp.concat or xp.where, or use "
                "x = x.at[i].set(value)."
            )
        return None

    @classmethod
    def devices(cls) -> list[str]:
        return [str(device) for device in jax.devices()]


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x
