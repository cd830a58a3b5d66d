"""`differentiate_with`: a function of one engine inside any other engine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from ...core.call.call import Call
from ...core.call.row import OperatorRow, Parts
from ...core.contract.auto import AutoBackend
from ...core.contract.backend import Arrays
from ...core.contract.library import NUMPY, PYTHON, Library, complex_of, widest
from ...core.contract.registry import evaluation, find
from ...core.contract.tracing import untraced
from ...core.operators.prepare import Prepared
from ...core.operators.pullback import pullback, pushforward
from ...core.operators.run import run
from ...core.tree import Constant, Leaf, build_gradient, flatten
from ..rule import Rule
from .engine import has_derivative, marked

P = ParamSpec("P")
T = TypeVar("T")


def differentiate_with(
    f: Callable[P, T],
    backend: AutoBackend,
    /,
    *,
    prepared: bool = False,
    like: Callable[..., Any] | None = None,
) -> Callable[P, T]:
    """A function that `backend` runs and differentiates, inside any engine that calls it.

    Examples are a torch model inside `jax.jit(jax.grad(...))`, a JAX function in a torch training
    step, and finite differences of a program in either. f gets the backend's arrays (NumPy arrays
    for finite differences) and returns any tree; value and derivatives have the caller's library,
    dtype and device. Every positional argument is differentiated; keyword-only arguments are
    constants. Captured values are not differentiated: pass the parameters of a torch module as a
    dict, to `torch.func.functional_call`.

    Both modes and higher orders are the backend's own: the second derivative of f is that of
    `backend` over `backend`. Called by the same engine, f's code is differentiated.

    prepared: keep the plans of f and its derivatives, and compile them where the backend compiles,
        as `prepare` does. This is much faster on JAX, for a pure f; captured values are then fixed.

    Compiled JAX code calls f back on the host. While JAX traces, f runs once, at ones, to find the
    shapes of its value.
    like: a function of the same arguments that returns an example of the value instead.
    Raises BackendError for anything but a backend.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import differentiate_with
    >>> cube = differentiate_with(lambda x: x**3, AutoFiniteDifferences())
    >>> round(gradient(cube, AutoFiniteDifferences(), 2.0)[0], 6)
    12.0
    """
    if not callable(f):
        raise TypeError(
            "differentiate_with takes a function, then a backend; in place of f there is a"
            f" {type(f).__name__}."
        )
    return cast("Callable[P, T]", _Crossing(f, backend, like, prepared=prepared))


class _Crossing(Rule[..., Any]):
    """The rule of a function whose derivatives are a backend's."""

    def __init__(
        self,
        f: Callable[..., Any],
        backend: AutoBackend,
        like: Callable[..., Any] | None = None,
        *,
        prepared: bool,
    ):
        super().__init__(f, host=like or True)
        self._prepared = Prepared(_VALUE, backend, f) if prepared else None
        self._own, self._backend, self._library = f, backend, find(backend).library
        self.definition.f = self._value
        self.definition.outside = True
        self.definition.back, self.definition.push = self._pulled, self._pushed

    @untraced
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        _, leaves = flatten(Constant((args, keywords)), "an argument")
        beside = [leaf.value for leaf in leaves if leaf.library is self._library]
        if self._library is not None and beside:
            dtype = widest(map(self._library.dtype, beside))
            given = [_native(arg, self._library, beside[0], dtype) for arg in args]
            words = {
                name: _native(Constant(value), self._library, beside[0], dtype)
                for name, value in keywords.items()
            }
            return self._own(*given, **words)
        return super().__call__(*args, **keywords)

    def _value(self, *args: Any, **keywords: Any) -> Any:
        if self._library is None:
            args, keywords = _plain(args), _plain(keywords)
            with evaluation(()):
                return self._own(*args, **keywords)
        if not any(map(has_derivative, args)):
            return self._own(*args, **keywords)
        if self._prepared is not None:
            return self._prepared(*marked(args), **keywords)
        return run(_VALUE, self._backend, self._own, marked(args), keywords)

    @functools.cached_property
    def _back(self) -> _Crossing:
        def back(cotangent: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]:
            pulled: tuple[Any, ...] = pullback(
                self._own, self._backend, *marked(args), **keywords
            ).back(cotangent)
            return pulled

        back.__name__ = f"the pullback of {self.definition.name}"
        return self._derivative(
            back, lambda cotangent, *args, **keywords: tuple(map(_gradient_of, args))
        )

    @functools.cached_property
    def _push(self) -> _Crossing:
        def push(tangents: Any, value: Any, *args: Any, **keywords: Any) -> Any:
            moved = tuple([t if has_derivative(arg) else None for t, arg in zip(tangents, args)])
            return pushforward(self._own, self._backend, marked(args), moved, **keywords).tangent

        push.__name__ = f"the pushforward of {self.definition.name}"
        return self._derivative(
            push, lambda tangents, value, *args, **keywords: _gradient_of(value)
        )

    def _derivative(self, f: Callable[..., Any], like: Callable[..., Any]) -> _Crossing:
        return _Crossing(f, self._backend, like, prepared=self._prepared is not None)

    def _pulled(self, cotangent: Any, value: Any, *args: Any, **keywords: Any) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", self._back(cotangent, *args, **keywords))

    def _pushed(self, tangents: Any, value: Any, *args: Any, **keywords: Any) -> Any:
        return self._push(tangents, value, *args, **keywords)

    def __repr__(self) -> str:
        return f"<{self.definition.name} differentiated with {self._backend!r}>"


def _computed(f: Call, x: Arrays, _: Arrays) -> Parts:
    with evaluation(x):
        return (f(*x),)


#: A function's value on a backend.
_VALUE = OperatorRow("differentiate_with", _computed, ("value",))


def _gradient_of(arg: Any) -> Any:
    """An example of the gradient of a tree: `{"w": x, "n": 3}` -> `{"w": x, "n": None}`."""
    structure, leaves = flatten(arg, "an argument")
    return build_gradient(structure, iter([leaf.value for leaf in leaves if leaf.differentiated]))


def _native(tree: Any, library: Library, beside: Any, dtype: str) -> Any:
    """A tree for a function of this library: arrays are lifted, differentiated numbers arrays."""
    structure, leaves = flatten(tree, "an argument")

    def native(leaf: Leaf) -> Any:
        if leaf.library is NUMPY:
            return library.lift(leaf.value, beside)
        if leaf.library is PYTHON and leaf.differentiated:
            wanted = complex_of(dtype) if type(leaf.value) is complex else dtype
            return library.asarray(leaf.value, dtype=wanted, like=beside)
        return leaf.value

    return structure.build(iter(map(native, leaves)))


def _plain(tree: Any) -> Any:
    """The tree with NumPy arrays in place of arrays of other libraries."""
    structure, leaves = flatten(Constant(tree), "an argument")
    plain = [
        x.value if x.library in (NUMPY, PYTHON) else np.array(x.library.to_numpy(x.value))
        for x in leaves
    ]
    return structure.build(iter(plain))


__all__ = ["differentiate_with"]
