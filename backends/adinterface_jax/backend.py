"""JAX behind the contract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# JAX has no public name for the question whether a trace is active; `trace_state_clean` asks this, in ten times the time.
from jax._src.core import eval_trace, trace_state_strong_ref
from jax.tree_util import Partial as _Partial
from jax.tree_util import tree_flatten, tree_structure

from adinterface.contract.auto import AutoJax
from adinterface.contract.backend import Arrays, Backend, FlatFunction, Linearized, Pullback, Pushforward
from adinterface.contract.library import any_wide

from .known_failures import KNOWN_FAILURES
from .library import JaxLibrary
from .nodes import Pytree

#: A map as a pytree, so that compiled code can return it.
Partial: Any = _Partial


class JaxBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (JaxLibrary(),)
    node_types = (Pytree(),)
    opaque_types = (type(jax.jit(abs)), jax.custom_jvp, jax.custom_vjp)
    transposes = True

    def __init__(self, auto: AutoJax):
        super().__init__(auto)
        self.jit = auto.jit

    forward_below = 32
    second_order = ("forward", "reverse")

    def pullback(self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
        connected = True

        def seen(*inner: Any) -> tuple[Arrays, Arrays]:
            nonlocal connected
            outputs, aux = function(*inner)
            # Under jit a constant is traced too, but not by the trace that follows the derivative.
            connected = any(type(output) in {type(leaf) for leaf in inner} for output in outputs)
            return outputs, aux

        outputs, transposed, aux = jax.vjp(seen, *leaves, has_aux=True)

        back = Partial(_transposed, transposed)
        return Pullback(outputs, aux, back, connected, Partial(_batched, back))

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        outputs, tangents_out, aux = jax.jvp(function, leaves, tangents, has_aux=True)
        return Pushforward(outputs, tangents_out, aux)

    def pushforward_stacked(self, function: FlatFunction, leaves: Arrays, stacks: Arrays) -> Pushforward:
        def push(tangents: Arrays) -> Any:
            return jax.jvp(function, leaves, tangents, has_aux=True)

        return Pushforward(*jax.vmap(push, out_axes=(None, 0, None))(stacks))

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        outputs, linear, aux = jax.linearize(function, *leaves, has_aux=True)

        push = Partial(_pushed, linear)
        return Linearized(outputs, aux, push, Partial(_batched, push))

    def compile(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        return _compiled(compute) if self.jit else None

    def compile_numpy(self, compute: Callable[..., Any], dtypes: tuple[str, ...]) -> Callable[..., Any] | None:
        wide, compiled = any_wide(dtypes), Compiled(compute)
        jitted, results, asarray = compiled.jitted, compiled.results, np.asarray

        def call(active: Sequence[Any], carried: Sequence[Any], tangents: Sequence[Any]) -> Any:
            # Inside an outer trace its precision holds, and results stay tracers.
            if trace_state_strong_ref.value is not eval_trace:
                return None
            if compiled.counts is None:
                compiled.counts = len(active), len(active) + len(carried)
            if wide:
                with jax.enable_x64(True):
                    arrays = jitted(*active, *carried, *tangents)
            else:
                arrays = jitted(*active, *carried, *tangents)
            # Copied in this way, which is faster than np.array(array).
            if compiled.alone:
                return (asarray(arrays).copy(),)
            return results([asarray(array).copy() for array in arrays])

        return call

    def note(self, error: Exception) -> str | None:
        if isinstance(error, jax.errors.TracerArrayConversionError):
            return (
                "NumPy was called on a JAX array that is being differentiated. Take the functions from the array: "
                "xp = adinterface.array_namespace(x), then xp.sin(x); or decorate f with adinterface.numpy_function."
            )
        if isinstance(error, (jax.errors.ConcretizationTypeError, jax.errors.TracerBoolConversionError)):
            return (
                "JAX cannot turn a traced array into a Python number or a truth value here. Keep it an array "
                "(xp.sum(x), not float(xp.sum(x))); under jax.jit or jax.vmap use jax.numpy.where or jax.lax.cond instead "
                "of a branch on a value. A prepared call stays eager with AutoJax(jit=False)."
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


def _transposed(transposed: Callable[..., Any], cotangents: Arrays) -> Arrays:
    # JAX transposes the derivative; its adjoint in the real inner product is the conjugate of that.
    return tuple([_conj(gradient) for gradient in transposed(tuple([_conj(c) for c in cotangents]))])


def _pushed(linear: Callable[..., Any], tangents: Arrays) -> Arrays:
    return tuple(linear(*tangents))


def _batched(apply: Callable[..., Any], stacks: Arrays) -> Any:
    return jax.vmap(apply)(stacks)


_applied = jax.jit(lambda apply, arrays: apply(arrays))


class Compiled:
    """`jax.jit` of a function whose results hold bools and maps beside arrays.

    The arguments are flat, and so are the results: JAX takes nested ones apart in each call.
    """

    def __init__(self, compute: Callable[..., Any]):
        self.unflatten: Any = None
        #: Whether the result is a tuple of one array, which then comes without a list around it.
        self.alone = False
        #: What is no array, and where it stands among the leaves.
        self.static: list[tuple[int, Any]] = []

        #: How many arguments are active, and how many active or carried; the same in every call.
        self.counts: tuple[int, int] | None = None

        @jax.jit
        def jitted(*arrays: Any) -> Any:
            assert self.counts is not None
            active, both = self.counts
            structure: Any
            leaves, structure = tree_flatten(compute(arrays[:active], arrays[active:both], arrays[both:]))
            # A tuple of arrays is what it is already.
            self.unflatten = None if structure == tree_structure((0,) * len(leaves)) else structure.unflatten
            self.static = [(place, leaf) for place, leaf in enumerate(leaves) if not isinstance(leaf, jax.Array)]
            self.alone = self.unflatten is None and not self.static and len(leaves) == 1
            return leaves[0] if self.alone else [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

        self.jitted = jitted

    def results(self, arrays: list[Any]) -> Any:
        """What `compute` returned, around these arrays."""
        if self.unflatten is None:
            return tuple(arrays)
        for place, value in self.static:
            arrays.insert(place, value)
        return self.unflatten(arrays)


def _compiled(compute: Callable[..., Any]) -> Callable[..., Any]:
    compiled = Compiled(compute)

    def call(active: Arrays, carried: Arrays, tangents: Arrays) -> Any:
        compiled.counts = len(active), len(active) + len(carried)
        found = compiled.jitted(*active, *carried, *tangents)
        arrays = [found] if compiled.alone else found
        return _with_compiled_maps(compiled.results(arrays))

    return call


def _with_compiled_maps(results: Any) -> Any:
    """The maps of a pullback or a linearization, each compiled when it is first applied."""
    if isinstance(results, Pullback):
        return results._replace(back=_compiled_map(results.back), back_stacked=_compiled_map(results.back_stacked))
    if isinstance(results, Linearized):
        return results._replace(push=_compiled_map(results.push), push_stacked=_compiled_map(results.push_stacked))
    return results


def _compiled_map(apply: Callable[..., Any] | None) -> Any:
    return apply if apply is None else lambda arrays: _applied(apply, arrays)


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x
