"""Each primitive from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..contract.arrays import cast_like, copies, filled, full_like, library_of
from ..contract.backend import (
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Jacobian,
    Linearized,
    Pullback,
    Pushforward,
)
from ..contract.errors import BackendError, NotRecordedError
from ..support.ambient import CORE, now, within
from ..support.record import note_step
from . import policy
from .basis import Components, Stacked, inner_products, stack_of, zero_entry

_Result = TypeVar("_Result", Pullback, Pushforward, Linearized, Jacobian)


def checked(backend: Backend, result: _Result, leaves: Arrays, count: int | None = None) -> _Result:
    """An engine's result, with zeros for each leaf or output on which nothing depends.

    count: the length of tangent stacks. Raises BackendError for an engine that does not return the
    function's `Aux`.
    """
    outputs, aux = result.outputs, result.aux
    if not isinstance(aux, Aux):
        raise BackendError(
            f"{type(backend).__name__} gave aux as a {type(aux).__name__} in its"
            f" {type(result).__name__}. An engine hands on the Aux that the function returned;"
            " aux.map(untraced) takes its arrays out of a trace."
        )
    if isinstance(result, Pullback):
        back, many = with_zeros(backend, result.back, leaves), result.stacked
        many = many and with_zeros(backend, many, leaves, True)
        return Pullback(outputs, aux, back, result.connected, many)
    if isinstance(result, Pushforward):
        return Pushforward(outputs, filled(backend, result.tangents, outputs, count), aux)
    if isinstance(result, Linearized):
        push, many = with_zeros(backend, result.push, outputs), result.stacked
        many = many and with_zeros(backend, many, outputs, True)
        return Linearized(outputs, aux, push, many)
    return result


def with_zeros(backend: Backend, apply: Stacked, likes: Arrays, stacks: bool = False) -> Stacked:
    """An engine's linear map, or its map of stacks, with zeros in place of None."""

    def filled_map(arrays: Arrays) -> Arrays:
        count = library_of(backend, arrays[0]).shape(arrays[0])[0] if stacks else None
        return filled(backend, apply(arrays), likes, count)

    return filled_map


def pullback(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False
) -> Pullback:
    """The engine's pullback; or one pushforward for each component of the leaves in each `back`."""
    if policy.in_reverse(backend):
        note_step(backend, "one pullback")
        return checked(
            backend, backend.pullback(function, leaves, differentiable=differentiable), leaves
        )
    linear = linearize(backend, function, leaves)
    note_step(backend, "back: one pushforward for each real number in the arguments")
    back = _adjoint(backend, stacked(backend, linear), leaves)
    return Pullback(linear.outputs, linear.aux, back)


_AGAIN = "linearize: each push evaluates f"


def linearize(backend: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    """The engine's linear map, or one from its pullback."""
    if policy.in_forward(backend, once=True):
        linear = backend.linearize(function, leaves)
        if linear is not None:
            note_step(backend, _AGAIN if backend.estimates else "linearize")
            return checked(backend, linear, leaves)
        if "pushforward" in backend.gives:
            note_step(backend, _AGAIN)
            return _linearize_by_pushforward(backend, function, leaves)
    if backend.transposes:
        note_step(backend, "one pullback, transposed into a linear map")
        pulled = checked(backend, backend.pullback(function, leaves, differentiable=True), leaves)
        return _transposed_or_by_rows(backend, pulled)
    if "pullback" not in backend.gives:
        raise BackendError(
            f"{type(backend).__name__} defines neither pullback nor pushforward; it must give one"
            " of them."
        )
    note_step(backend, "one pullback; push: one back for each real number in the result")
    pulled = checked(backend, backend.pullback(function, leaves), leaves)
    push = _adjoint(backend, stacked(backend, pulled), pulled.outputs)
    return Linearized(pulled.outputs, pulled.aux, push)


def pushforward(
    backend: Backend,
    function: FlatFunction,
    leaves: Arrays,
    tangents: Arrays,
    *,
    value: bool = True,
) -> Pushforward:
    """The engine's pushforward, or one from its pullback. Without `value`, tangents alone count."""
    if policy.in_forward(backend):
        note_step(backend, "one pushforward")
        return checked(
            backend, backend.pushforward(function, leaves, tangents, value=value), leaves
        )
    linear = linearize(backend, function, leaves)
    return Pushforward(linear.outputs, linear.push(tangents), linear.aux)


def _linearize_by_pushforward(
    backend: Backend, function: FlatFunction, leaves: Arrays
) -> Linearized:
    """Evaluates f once for its value, and once more in every push."""
    function = function.repeated()
    outputs, aux = function(*copies(backend, leaves, function.owned))

    def push(tangents: Arrays) -> Arrays:
        return checked(backend, backend.pushforward(function, leaves, tangents), leaves).tangents

    return Linearized(outputs, aux, push)


class Sampled(FlatFunction):
    """A flat function that can be evaluated at other points than that of the call."""

    __slots__ = ("owned",)

    #: Whether its outputs are derivatives of one function.
    derives = False

    def repeated(self) -> Sampled:
        return self

    def elsewhere(self, layout: Any = None) -> Sampled:
        """This function for other leaves, none of which is in an owner. Its aux is not used.

        layout: an `Aux.layout`. Where its value has floating numbers, integers become floats.
        """
        raise NotImplementedError

    @property
    def unchecked(self) -> FlatFunction | None:
        """This function for leaves of other dtypes, its value not checked; or None."""
        return None

    def task(
        self, leaves: Sequence[Any]
    ) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
        """A function and its arguments for another process; `received` reads its value."""
        return self, leaves, {}


class _Back(FlatFunction):
    """A pullback as a flat function of cotangents."""

    __slots__ = ("_pulled",)

    def __init__(self, pulled: Pullback):
        self._pulled = pulled

    @property
    def side_inputs(self) -> Arrays:
        return self._pulled.outputs  # the map is in the graphs in which these are

    def __call__(self, *cotangents: Any) -> tuple[Arrays, Aux]:
        with within(CORE, now()._replace(transposing=True)):
            return self._pulled.back(cotangents), Aux()


def transposed(backend: Backend, pulled: Pullback) -> Linearized:
    """The adjoint of the adjoint: `back` is linear, so its pullback at any point is `push`."""
    # Not at zero: an engine's rule may leave out a product with zero.
    point = tuple([full_like(backend, output, 1.0) for output in pulled.outputs])
    again = checked(backend, backend.pullback(_Back(pulled), point), point)
    return Linearized(pulled.outputs, pulled.aux, again.back, again.stacked)


def _transposed_or_by_rows(backend: Backend, pulled: Pullback) -> Linearized:
    """As `transposed`; by rows where `back` was not recorded, or a hook is in it."""
    by_rows = _adjoint(backend, _looped(backend, pulled.back), pulled.outputs)
    try:
        linear = transposed(backend, pulled)
    except NotRecordedError:
        return Linearized(pulled.outputs, pulled.aux, by_rows)

    def push(tangents: Arrays) -> Arrays:
        try:
            return linear.push(tangents)
        except NotRecordedError:
            return by_rows(tangents)

    def push_stacks(stacks: Arrays) -> Arrays:
        try:
            return stacked(backend, linear)(stacks)
        except NotRecordedError:
            return _looped(backend, push)(stacks)

    return linear._replace(push=push, stacked=push_stacks)


def stacked(backend: Backend, linear: Pullback | Linearized) -> Stacked:
    """The map of stacks of a pullback, or of a linear map."""
    apply = linear.back if isinstance(linear, Pullback) else linear.push
    return linear.stacked or _looped(backend, apply)


def _looped(backend: Backend, apply: Callable[[Arrays], Arrays]) -> Stacked:
    """One call for each entry of the stacks, for engines that have no batched one."""

    def apply_each(stacks: Arrays) -> Arrays:
        count = library_of(backend, stacks[0]).shape(stacks[0])[0]
        if count == 0:  # one call shows the shapes
            zeros = tuple([zero_entry(backend, stack) for stack in stacks])
            return tuple([stack_of(backend, [x])[:0] for x in apply(zeros)])
        entries = [tuple([stack[i] for stack in stacks]) for i in range(count)]
        rows = [apply(entry) for entry in entries]
        return tuple([stack_of(backend, column) for column in zip(*rows)])

    return apply_each


def _adjoint(backend: Backend, apply: Stacked, domain: Arrays) -> Callable[[Arrays], Arrays]:
    """The adjoint of a linear map from `domain`, by applying the map to a basis."""

    def adjoint(codomain: Arrays) -> Arrays:
        components = Components(backend, domain)
        parts = [
            inner_products(backend, apply(components.seeds(start, stop)), codomain, stop - start)
            for start, stop in components.chunks()
        ]
        return cast_like(backend, components.split(parts), domain)

    return adjoint
