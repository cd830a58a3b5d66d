"""Rules on JAX: `custom_jvp` around a linear primitive whose value is the pushforward and whose transpose is the pullback.

JAX's mechanisms do not take both: `custom_vjp` has no forward mode. `custom_jvp` transposes the code of the forward rule
for reverse mode. That ignores a user's pullback, and fails for a loop or a callback. The primitive is the derivative at one
point as a linear map. Forward it is the pushforward (or the pullback, transposed); backward it is the pullback (or the
pushforward, transposed). So a user defines only what is used. It uses JAX's public interface for primitives:
`jax.extend.core`, `jax.interpreters`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir

from adinterface.core.contract.library import epsilon
from adinterface.core.contract.rules import Arrays, FlatRule, Point, require_linear

ad: Any = _ad  # untyped in JAX

#: From tangents, or cotangents, at a point.
Map = Callable[[Arrays, Point], Arrays]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def custom(rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
    """The value of a rule, with its derivatives."""
    outputs, aux = rule.value(tuple(map(_array, leaves)), tuple(map(_array, carried)))
    return tuple(map(jnp.asarray, outputs)), tuple(map(jnp.asarray, aux))


def _jvp(rule: FlatRule, primals: Any, tangents: Any) -> Any:
    leaves, carried = primals
    for n, tangent in enumerate(tangents[1]):
        if not isinstance(tangent, SymbolicZero) and tangent.dtype != jax.dtypes.float0:
            raise rule.refused(n)
    outputs, aux = custom(rule, leaves, carried)
    point = Point(leaves, carried, outputs, aux)
    moved = tuple([_instantiated(t, x) for t, x in zip(tangents[0], leaves)])
    maps = _Maps(_of_the_point(rule, _push(rule)), _of_the_point(rule, _pull(rule)))
    pushed = _linear.bind(*moved, *leaves, *carried, *outputs, *aux, maps=maps, sizes=tuple(map(len, point)))
    return (outputs, aux), (tuple(pushed), tuple([np.zeros(x.shape, jax.dtypes.float0) for x in aux]))


custom.defjvp(_jvp, symbolic_zeros=True)


def _array(x: Any) -> Any:
    """JAX passes a constant to a rule in a class that is not a JAX array."""
    return x if isinstance(x, jax.Array) else jnp.asarray(x)


def _instantiated(tangent: Any, like: Any) -> Any:
    return jnp.zeros_like(like) if isinstance(tangent, SymbolicZero) else tangent


def _of_the_point(rule: FlatRule, derivative: Map) -> Map:
    """A derivative that may run after the trace of a captured value has ended."""

    def checked(moved: Arrays, point: Point) -> Arrays:
        try:
            return derivative(moved, point)
        except jax.errors.UnexpectedTracerError as error:
            raise rule.captured() from error

    return checked


def _push(rule: FlatRule) -> Map:
    """The pushforward, or the transposed pullback."""
    back = rule.pullback
    if rule.pushforward is not None or back is None:
        assert rule.pushforward is not None
        return rule.pushforward
    return lambda tangents, point: _adjoint(rule, lambda c: back(c, point), point.outputs, tangents)


def _pull(rule: FlatRule) -> Map:
    """The pullback, or the transposed pushforward."""
    push = rule.pushforward
    if rule.pullback is not None or push is None:
        assert rule.pullback is not None
        return rule.pullback
    return lambda cotangents, point: _adjoint(rule, lambda t: push(t, point), point.leaves, cotangents)


def _adjoint(rule: FlatRule, linear: Callable[[Arrays], Arrays], like: Arrays, vectors: Arrays) -> Arrays:
    """The adjoint of a linear map of arrays like these, applied to vectors."""
    # JAX transposes; the adjoint in the real inner product is the conjugate of that.
    seeds = tuple(map(_conj, vectors))
    numbers = not any(isinstance(x, jax.core.Tracer) for x in (*like, *vectors))
    at = tuple(map(jnp.ones_like, like))
    try:
        if not numbers:
            return tuple(map(_conj, jax.linear_transpose(linear, at)(seeds)[0]))
        images, transposed = jax.vjp(linear, at)
        result = tuple(map(_conj, transposed(seeds)[0]))
    except (NotImplementedError, AssertionError, ValueError) as error:  # whichever JAX meets where a map is not linear
        if _is_jaxs(error):
            raise rule.nonlinear() from error
        raise
    # Numbers reveal more nonlinear maps, such as one that adds a constant.
    coarsest = max([epsilon(x.dtype.name) for x in (*images, *result)])
    require_linear(rule, [*map(_number, images, vectors)], [*map(_number, at, result)], coarsest)
    return result


def _is_jaxs(error: Exception) -> bool:
    """Whether an error was raised in JAX's code, not in the author's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] in ("jax", __package__)


def _number(a: Any, b: Any) -> tuple[float, float]:
    """Re sum(conj(a) b), and the size of what was summed."""
    products = np.real(np.conj(np.asarray(a)) * np.asarray(b))
    return float(np.sum(products)), float(np.sum(np.abs(products)))


class _Maps:
    """A linear map of tangents at a point, and its adjoint."""

    __slots__ = ("pull", "push")

    def __init__(self, push: Map, pull: Map):
        self.push, self.pull = push, pull


_linear: Any = Primitive("adinterface_rule")
_linear.multiple_results = True


def _parts(items: Sequence[Any], sizes: tuple[int, ...]) -> tuple[Arrays, Point]:
    """The arrays of the tangents, and of the point."""
    ends = np.cumsum([0, sizes[0], *sizes])
    tangents, *point = [tuple(items[start:end]) for start, end in itertools.pairwise(ends)]
    return tangents, Point(*point)


def _arrays(items: Sequence[Any], sizes: tuple[int, ...]) -> tuple[Arrays, Point]:
    return _parts([x if ad.is_undefined_primal(x) else _array(x) for x in items], sizes)


def _value(*arrays: Any, maps: _Maps, sizes: tuple[int, ...]) -> list[Any]:
    return list(maps.push(*_arrays(arrays, sizes)))


def _shapes(*avals: Any, maps: _Maps, sizes: tuple[int, ...]) -> list[Any]:
    return [aval.strip_weak_type() for aval in _parts(avals, sizes)[1].outputs]


def _transpose(cotangents: Any, *arrays: Any, maps: _Maps, sizes: tuple[int, ...]) -> list[Any]:
    count = sizes[0]
    _, point = _arrays(arrays, sizes)
    seeds = tuple([_conj(ad.instantiate_zeros(c)) for c in cotangents])
    result = [_conj(x) for x in maps.pull(seeds, point)]
    return [x if ad.is_undefined_primal(into) else None for x, into in zip([*result, *[None] * (len(arrays) - count)], arrays)]


def _derivative(primals: Any, tangents: Any, *, maps: _Maps, sizes: tuple[int, ...]) -> Any:
    """The map is linear in its tangents; with respect to the point the pushforward's own code is differentiated."""
    count = sizes[0]
    primals = [*primals[:count], *map(_array, primals[count:])]
    values = _linear.bind(*primals, maps=maps, sizes=sizes)
    moves = [n for n in range(count, len(primals)) if not isinstance(tangents[n], ad.Zero)]
    total: Any = [None] * len(values)
    if any(not isinstance(t, ad.Zero) for t in tangents[:count]):
        total = _linear.bind(*[ad.instantiate_zeros(t) for t in tangents[:count]], *primals[count:], maps=maps, sizes=sizes)
    if moves:

        def at(*moved: Any) -> Any:
            arrays = list(primals)
            for n, x in zip(moves, moved):
                arrays[n] = x
            return _value(*arrays, maps=maps, sizes=sizes)

        _, more = jax.jvp(at, [primals[n] for n in moves], [tangents[n] for n in moves])
        total = [b if a is None else a + b for a, b in zip(total, more)]
    return values, total


def _batched(arrays: Sequence[Any], dims: Sequence[Any], *, maps: _Maps, sizes: tuple[int, ...]) -> Any:
    (length,) = {x.shape[d] for x, d in zip(arrays, dims) if d is not None}
    # All tangents and outputs get the batch axis, so that the results of the map and of its transpose have it, too.
    roles, point = _parts(range(len(arrays)), sizes)
    always = {*roles, *point.outputs}
    axes: list[int | None] = [0 if d is not None or n in always else None for n, d in enumerate(dims)]
    stacks: list[Any] = []
    for x, d, axis in zip(arrays, dims, axes):
        x = x if d is None else jnp.moveaxis(x, d, 0)
        stacks.append(x if d is not None or axis is None else jnp.broadcast_to(x, (length, *x.shape)))
    over = (0, _parts(axes, sizes)[1])
    stacked = _Maps(jax.vmap(maps.push, in_axes=over), jax.vmap(maps.pull, in_axes=over))
    return _linear.bind(*stacks, maps=stacked, sizes=sizes), [0] * sizes[2]


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


_linear.def_impl(_value)
_linear.def_abstract_eval(_shapes)
ad.primitive_transposes[_linear] = _transpose
ad.primitive_jvps[_linear] = _derivative
batching.primitive_batchers[_linear] = _batched
mlir.register_lowering(_linear, mlir.lower_fun(_value, multiple_results=True))
