"""Second derivatives: derivatives of the gradient, or of the derivative, as flat functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..contract.arrays import cast_like, filled, full_like
from ..contract.backend import Arrays, Aux, Backend, FlatFunction, Jacobian, Linearized, Pushforward
from ..support.record import from_engine, note_step
from . import policy
from .basis import Components, inner_products
from .jacobians import gradient, jacobian
from .primitives import Sampled, linearize, pullback, pushforward, stacked


class DerivedFunction(Sampled):
    """A derivative of a flat function as a flat function; aux is `(value, *aux)`, or empty.

    derived: `gradients` or `derivative`.
    """

    derives = True

    def __init__(
        self,
        derived: Callable[..., Pushforward],
        inner: Backend,
        function: Sampled,
        *,
        value: bool = True,
    ):
        self.derived: Callable[..., Pushforward] = derived
        self.inner: Backend = inner
        self.function: Sampled = function
        self.value: bool = value
        self.owned: frozenset[int] = function.owned

    @property
    def owners(self) -> Sequence[Any]:
        return self.function.owners

    @property
    def side_inputs(self) -> Sequence[Any]:
        return self.function.side_inputs

    def repeated(self) -> DerivedFunction:
        return DerivedFunction(self.derived, self.inner, self.function.repeated(), value=self.value)

    def elsewhere(self, layout: Any = None) -> DerivedFunction:
        inner = self.function.elsewhere(layout)
        return DerivedFunction(self.derived, self.inner, inner, value=False)

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        outputs, result, aux = self.derived(self.inner, self.function, leaves, value=self.value)
        return result, Aux((*outputs, *aux.arrays) if self.value else (), aux.layout)


def gradients(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, value: bool = True
) -> Pushforward:
    """As `jacobians.gradient`; the gradients take the place of the tangents."""
    outputs, aux, result, _ = gradient(backend, function, leaves, value=value)
    return Pushforward(outputs, result, aux)


def derivative(
    backend: Backend, function: FlatFunction, leaves: Arrays, *, value: bool = True
) -> Pushforward:
    """The pushforward with tangent 1."""
    one = full_like(backend, leaves[0], 1.0)
    return pushforward(backend, function, leaves, (one,), value=value)


def second_derivative(
    outer: Backend, inner: Backend, function: Sampled, leaves: Arrays, *, value: bool = True
) -> Pushforward:
    """By one real number: outputs are first derivatives, tangents second ones."""
    if outer is inner:
        step = "its own second derivative"
        result = from_engine(inner, step, inner.second_derivatives, function, leaves, value=value)
        if result is not None:
            return result
    once = DerivedFunction(derivative, inner, function, value=value)
    return derivative(outer, once, leaves, value=value)


def hessian(
    outer: Backend, inner: Backend, function: Sampled, leaves: Arrays, *, value: bool = True
) -> Jacobian:
    """The Jacobian of the gradient; aux is `(value, *aux)`. Without `value` blocks alone count."""
    if outer is inner:
        result = from_engine(inner, "its own Hessian", inner.hessian, function, leaves, value=value)
        if result is not None:
            return result
    once = DerivedFunction(gradients, inner, function, value=value)
    return jacobian(outer, once, leaves, value=value)


def hessian_map(outer: Backend, function: FlatFunction, leaves: Arrays) -> Linearized:
    """The Hessian as a linear map: outputs are the gradient, and push is `v -> H v`.

    In reverse mode, and on an engine without a linear map, it is the pullback of the gradient: the
    Hessian is symmetric.
    """
    if policy.by_symmetry(outer, once=True):
        pulled = pullback(outer, function, leaves)
        return Linearized(pulled.outputs, pulled.aux, pulled.back, pulled.stacked)
    return linearize(outer, function, leaves)


def hvp(
    outer: Backend,
    inner: Backend,
    function: Sampled,
    leaves: Arrays,
    directions: Arrays,
    *,
    value: bool = True,
) -> Pushforward:
    """The gradients, and the Hessian times directions. Without `value`, the latter alone."""
    if outer is inner:
        step = "its own product with the Hessian"
        result = from_engine(inner, step, inner.hvp, function, leaves, directions)
        if result is not None:
            outputs, products, aux = result
            return Pushforward(filled(outer, outputs, leaves), filled(outer, products, leaves), aux)
    once = DerivedFunction(gradients, inner, function, value=False)
    if policy.by_symmetry(outer):
        pulled = pullback(outer, once, leaves)
        return Pushforward(pulled.outputs, pulled.back(directions), pulled.aux)
    return pushforward(outer, once, leaves, directions, value=value)


def hessian_diagonal(outer: Backend, inner: Backend, function: Sampled, leaves: Arrays) -> Arrays:
    """The diagonal of the Hessian; holds at most one chunk of rows in memory."""
    if outer is inner:
        step = "its own diagonal of the Hessian"
        result = from_engine(inner, step, inner.second_derivatives, function, leaves, value=False)
        if result is not None:
            return cast_like(inner, result.tangents, leaves)
    linear = hessian_map(outer, DerivedFunction(gradients, inner, function, value=False), leaves)
    apply = stacked(outer, linear)
    components = Components(outer, leaves, doubled=False)
    note_step(outer, f"{components.count} products of the Hessian with a basis vector")
    parts: list[Any] = []
    for start, stop in components.chunks():
        seeds = components.seeds(start, stop)
        parts.append(inner_products(outer, apply(seeds), seeds, stop - start))
    return cast_like(outer, components.split(parts), leaves)
