"""`rule`: a function with a pullback, a pushforward or both, right on every engine."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from ..core.contract.tracing import untraced
from .application import apply
from .definition import Definition

P = ParamSpec("P")
T = TypeVar("T")
#: What a pullback and a pushforward are given as.
Derivative = TypeVar("Derivative", bound=Callable[..., Any])


class Rule(Generic[P, T]):
    """A function with its own derivatives; made by `rule`."""

    def __init__(self, f: Callable[P, T], host: bool | Callable[..., Any] = False):
        functools.update_wrapper(self, f)
        self._definition: Definition = Definition(f, host)

    def pullback(self, function: Derivative) -> Derivative:
        """Decorates the reverse derivative: from `(cotangent, value, *args, **keywords)` to a tuple, one entry an argument.

        The cotangent has the structure of the value, and each that is returned that of its argument; None anywhere is zero,
        and a field that is left out of a dict is zero too. A function of one argument may return that one's alone. For complex
        arrays it is the adjoint in the real inner product Re sum(conj(a) b). Returns the function as it is.
        """
        self._definition.back = self._given("pullback", function)
        return function

    def pushforward(self, function: Derivative) -> Derivative:
        """Decorates the forward derivative: `(tangents, value, *args, **keywords)` to the tangent of the value.

        `tangents` is a tuple with an entry for each argument, of the argument's structure: zeros where there is no derivative
        to take, None for what has none. None in the result is zero. Returns the function as it is.
        """
        self._definition.push = self._given("pushforward", function)
        return function

    def _given(self, what: str, function: Any) -> Any:
        if not callable(function):
            raise TypeError(f"{self._definition.name}.{what} takes a function, not a {type(function).__name__}.")
        return function

    @untraced  # compiled, a Function of torch would lose its forward rule (https://github.com/pytorch/pytorch/issues/192985)
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> T:
        return cast(T, apply(self._definition, args, keywords))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]

    def __repr__(self) -> str:
        definition = self._definition
        given = ["pullback"] * (definition.back is not None) + ["pushforward"] * (definition.push is not None)
        return f"<rule {definition.name}: {' and '.join(given) or 'no derivative yet'}>"


@overload
def rule(f: Callable[P, T], /, *, host: bool | Callable[..., Any] = ...) -> Rule[P, T]: ...
@overload
def rule(*, host: bool | Callable[..., Any] = ...) -> Callable[[Callable[P, T]], Rule[P, T]]: ...
def rule(f: Any = None, /, *, host: bool | Callable[..., Any] = False) -> Any:
    """A function that brings its own derivatives: write them once, in neutral code, and every engine uses them.

    >>> import numpy as np
    >>> from adinterface import array_namespace, rule
    >>> @rule
    ... def logistic(x):
    ...     return 1 / (1 + array_namespace(x).exp(-x))
    >>> @logistic.pullback
    ... def _(cotangent, value, x):
    ...     return cotangent * value * (1 - value)

    `@f.pullback` takes `(cotangent, value, *args, **keywords)` and gives a tuple with one cotangent for each positional
    argument, `@f.pushforward` takes `(tangents, value, *args, **keywords)` and gives the tangent of the value. With one of
    the two the other is derived from it by transposing; with none, f is differentiated as it is written. Arguments and value
    are trees. Keyword-only arguments are constants, and defaults are bound by the signature. What f captures is not
    differentiated; that it should be is an error where the engine can tell. The derivatives' own code is differentiated for
    second derivatives.

    host: f itself runs on NumPy arrays, whatever engine is at work: code of SciPy, or compiled code. `@rule(host=True)` runs f
    once more, at ones, where JAX compiles the call and must know its shapes; `@rule(host=like)` takes them from
    `like(*args, **keywords)`. The derivatives are neutral code all the same, which may call such rules.

    Called with NumPy arrays and numbers alone, as by finite differences, it is f itself.
    Raises RuleError, on every engine the same, where a derivative returns what does not fit, and for a keyword that is being
    differentiated.
    """
    if f is None:
        return lambda f: rule(f, host=host)
    if not callable(f):
        raise TypeError(f"rule takes a function, not a {type(f).__name__}: write @rule above its definition.")
    return Rule(f, host)


__all__ = ["Rule", "rule"]
