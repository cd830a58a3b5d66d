"""Rules on JAX: one primitive for the value, and a linear one for the derivative.

JAX's mechanisms do not serve: `custom_vjp` has no forward mode. `custom_jvp` transposes the code of
the forward rule for reverse mode. That ignores a user's pullback, and fails for a loop or a
callback. In the second derivative of a loop it differentiates the code of the value in place of the
rule. The linear primitive is the derivative at one point. Forward it is the pushforward (or the
pullback, transposed); backward it is the pullback (or the pushforward, transposed). So a user
defines only what is used. Both use JAX's public interface for primitives: `jax.extend.core`,
`jax.interpreters`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir

from adinterface.core.contract import Arrays, FlatRule, Point, epsilon, require_linear

ad: Any = _ad  # untyped in JAX

#: From tangents, or cotangents, at a point.
Map = Callable[[Arrays, Point], Arrays]


def custom(rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
    """The value of a rule, with its derivatives."""
    leaves, carried = tuple(map(_array, leaves)), tuple(map(_array, carried))
    outputs, aux = rule.value(
        tuple(map(jax.lax.stop_gradient, leaves)), tuple(map(jax.lax.stop_gradient, carried))
    )
    point = Point(leaves, carried, tuple(map(jnp.asarray, outputs)), tuple(map(jnp.asarray, aux)))
    maps = _Maps(_of_the_point(rule, _push(rule)), _of_the_point(rule, _pull(rule)), rule.innermost)
    results = _valued.bind(
        *itertools.chain(*point), rule=rule, maps=maps, sizes=tuple(map(len, point))
    )
    return tuple(results[: len(outputs)]), tuple(results[len(outputs) :])


def _array(x: Any) -> Any:
    """JAX passes a constant to a rule in a class that is not a JAX array."""
    return x if isinstance(x, jax.Array) else jnp.asarray(x)


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
    if rule.pushforward is not None:
        return rule.pushforward
    back: Any = rule.pullback
    return lambda tangents, point: _adjoint(rule, lambda c: back(c, point), point.outputs, tangents)


def _pull(rule: FlatRule) -> Map:
    """The pullback, or the transposed pushforward."""
    if rule.pullback is not None:
        return rule.pullback
    push: Any = rule.pushforward
    return lambda cotangents, point: _adjoint(
        rule, lambda t: push(t, point), point.leaves, cotangents
    )


def _adjoint(
    rule: FlatRule, linear: Callable[[Arrays], Arrays], like: Arrays, vectors: Arrays
) -> Arrays:
    """The adjoint of a linear map of arrays like these, applied to vectors."""
    # JAX transposes; the adjoint in the real inner product is the conjugate of that.
    seeds = tuple(map(_conj, vectors))
    at = tuple(map(jnp.ones_like, like))
    if any(isinstance(x, jax.core.Tracer) for x in (*like, *vectors)):
        images, transposed = None, jax.linear_transpose(linear, at)
    else:
        images, transposed = jax.vjp(linear, at)
    try:
        result = tuple(map(_conj, transposed(seeds)[0]))
    # JAX raises one of these where a map is not linear.
    except (NotImplementedError, AssertionError, ValueError) as error:
        raise rule.nonlinear() from error
    if images is None:
        return result
    # Numbers reveal more nonlinear maps, such as one that adds a constant.
    coarsest = max([epsilon(x.dtype.name) for x in (*images, *result)])
    require_linear(rule, [*map(_number, images, vectors)], [*map(_number, at, result)], coarsest)
    return result


def _number(a: Any, b: Any) -> tuple[float, float]:
    """Re sum(conj(a) b), and the size of what was summed."""
    products = np.real(np.conj(np.asarray(a)) * np.asarray(b))
    return float(np.sum(products)), float(np.sum(np.abs(products)))


class _Maps(NamedTuple):
    """A linear map of tangents at a point, and its adjoint."""

    push: Map
    pull: Map
    innermost: bool

    def over(self, axes: Point) -> _Maps:
        """These maps for stacks of tangents, at a point with axes in front of some arrays."""
        return _Maps(
            jax.vmap(self.push, in_axes=(0, axes)),
            jax.vmap(self.pull, in_axes=(0, axes)),
            self.innermost,
        )


#: The value of a rule, which takes the point and returns its outputs and aux; its derivative is the
#: rule's.
_valued: Any = Primitive("adinterface_value")
_valued.multiple_results = True
#: The derivative of a rule, as a linear map of tangents at a point.
_linear: Any = Primitive("adinterface_rule")
_linear.multiple_results = True


def _point(items: Sequence[Any], sizes: tuple[int, ...]) -> Point:
    return Point(
        *[tuple(items[start:end]) for start, end in itertools.pairwise(np.cumsum([0, *sizes]))]
    )


def _parts(items: Sequence[Any], sizes: tuple[int, ...]) -> tuple[Arrays, Point]:
    """The arrays of the tangents, and of the point."""
    return tuple(items[: sizes[0]]), _point(items[sizes[0] :], sizes)


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
    return [
        x if ad.is_undefined_primal(into) else None
        for x, into in zip([*result, *[None] * (len(arrays) - count)], arrays)
    ]


def _same(*point: Any, rule: FlatRule, maps: _Maps, sizes: tuple[int, ...]) -> list[Any]:
    _, _, outputs, aux = _point(point, sizes)
    return [*outputs, *aux]


def _derivative_of_value(
    primals: Any, tangents: Any, *, rule: FlatRule, maps: _Maps, sizes: tuple[int, ...]
) -> Any:
    moves = _point(tangents, sizes)
    for n, tangent in enumerate(moves.carried):
        if _moves(tangent):
            raise rule.refused(n)
    # the value was computed from what does not move
    if any(map(_moves, (*moves.outputs, *moves.aux))):
        raise rule.captured()
    leaves, carried, outputs, _ = _point(primals, sizes)
    as_written = rule.written(leaves, carried) if rule.innermost else None
    if as_written is None:
        values = _valued.bind(*primals, rule=rule, maps=maps, sizes=sizes)
    else:
        values = [*itertools.chain(*as_written)]
    seeds = map(ad.instantiate_zeros, moves.leaves)
    pushed = _linear.bind(*seeds, *leaves, *carried, *values, maps=maps, sizes=sizes)
    return values, [
        *pushed,
        *[ad.Zero(jax.typeof(x).to_tangent_aval()) for x in values[len(outputs) :]],
    ]


def _moves(tangent: Any) -> bool:
    return not isinstance(tangent, ad.Zero) and tangent.dtype != jax.dtypes.float0


def _derivative(primals: Any, tangents: Any, *, maps: _Maps, sizes: tuple[int, ...]) -> Any:
    """Linear in the tangents; by the point, the pushforward's own code is differentiated."""
    count = sizes[0]
    primals = [*primals[:count], *map(_array, primals[count:])]
    values = _linear.bind(*primals, maps=maps, sizes=sizes)
    moves = [n for n in range(count, len(primals)) if not isinstance(tangents[n], ad.Zero)]
    total: Any = [None] * len(values)
    if any(not isinstance(t, ad.Zero) for t in tangents[:count]):
        # a derivative around the forward one has no part in the rule
        apply = _value if maps.innermost else _linear.bind
        total = apply(
            *[ad.instantiate_zeros(t) for t in tangents[:count]],
            *primals[count:],
            maps=maps,
            sizes=sizes,
        )
    if moves:

        def at(*moved: Any) -> Any:
            arrays = list(primals)
            for n, x in zip(moves, moved):
                arrays[n] = x
            return _value(*arrays, maps=maps, sizes=sizes)

        _, more = jax.jvp(at, [primals[n] for n in moves], [tangents[n] for n in moves])
        total = [b if a is None else a + b for a, b in zip(total, more)]
    return values, total


def _batched(
    arrays: Sequence[Any], dims: Sequence[Any], *, maps: _Maps, sizes: tuple[int, ...]
) -> Any:
    # All tangents and outputs get the batch axis, so that the results of the map and of its
    # transpose have it, too.
    roles, point = _parts(range(len(arrays)), sizes)
    stacks, axes = _stacked(arrays, dims, {*roles, *point.outputs})
    return _linear.bind(*stacks, maps=maps.over(_parts(axes, sizes)[1]), sizes=sizes), [0] * sizes[
        2
    ]


def _batched_value(
    arrays: Sequence[Any],
    dims: Sequence[Any],
    *,
    rule: FlatRule,
    maps: _Maps,
    sizes: tuple[int, ...],
) -> Any:
    leaves, _, outputs, aux = _point(range(len(arrays)), sizes)
    # the maps take a tangent with the axis for each leaf
    stacks, axes = _stacked(arrays, dims, {*leaves, *outputs, *aux})
    results = _valued.bind(*stacks, rule=rule, maps=maps.over(_point(axes, sizes)), sizes=sizes)
    return results, [0] * len(results)


def _stacked(
    arrays: Sequence[Any], dims: Sequence[Any], always: set[int]
) -> tuple[list[Any], list[int | None]]:
    """The arrays with their batch axis in front, and its places; those in `always` get one."""
    (length,) = {x.shape[d] for x, d in zip(arrays, dims) if d is not None}
    axes: list[int | None] = [
        0 if d is not None or n in always else None for n, d in enumerate(dims)
    ]
    stacks: list[Any] = []
    for x, d, axis in zip(arrays, dims, axes):
        x = x if d is None else jnp.moveaxis(x, d, 0)
        stacks.append(
            x if d is not None or axis is None else jnp.broadcast_to(x, (length, *x.shape))
        )
    return stacks, axes


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


_linear.def_impl(_value)
_linear.def_abstract_eval(_shapes)
ad.primitive_transposes[_linear] = _transpose
ad.primitive_jvps[_linear] = _derivative
batching.primitive_batchers[_linear] = _batched
_valued.def_impl(_same)
_valued.def_abstract_eval(_same)
ad.primitive_jvps[_valued] = _derivative_of_value
batching.primitive_batchers[_valued] = _batched_value
mlir.register_lowering(_valued, mlir.lower_fun(_same, multiple_results=True))
mlir.register_lowering(_linear, mlir.lower_fun(_value, multiple_results=True))
