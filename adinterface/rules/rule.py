"""`rule`: a function with a pullback, a pushforward or both, right on every engine."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from ..core.contract.errors import RuleError
from ..core.contract.tracing import untraced
from .application import apply
from .definition import POSITIONAL, Definition

P = ParamSpec("P")
T = TypeVar("T")
#: The type of a decorated pullback or pushforward.
Derivative = TypeVar("Derivative", bound=Callable[..., Any])


class Rule(Generic[P, T]):
    """A function with its own derivatives; made by `rule`."""

    def __init__(self, f: Callable[P, T], host: bool | Callable[..., Any] = False):
        functools.update_wrapper(self, f)
        self.definition: Definition = Definition(f, host)

    def pullback(self, function: Derivative) -> Derivative:
        """Decorates the reverse derivative, from a cotangent to a tuple of cotangents.

        It is called as `(cotangent, value, *args, **keywords)`, and returns one for each argument.

        The cotangent has the structure of the value, and each returned one that of its argument.
        None is zero, and so is a missing field of a dict. A function of one argument may return its
        cotangent alone. For complex arrays it is the adjoint in the real inner product Re
        sum(conj(a) b). Returns the decorated function.
        """
        self.definition.back = self._given("pullback", function)
        return function

    def pushforward(self, function: Derivative) -> Derivative:
        """Decorates the forward derivative, from tangents to the tangent of the value.

        It is called as `(tangents, value, *args, **keywords)`.

        `tangents` is a tuple with an entry for each argument, of the argument's structure: zeros
        where nothing is differentiated, None where nothing can be. None in the result is zero.
        Returns the decorated function.
        """
        self.definition.push = self._given("pushforward", function)
        return function

    def _given(self, what: str, function: Any) -> Any:
        if not callable(function):
            raise TypeError(
                f"{self.definition.name}.{what} takes a function, not a {type(function).__name__}."
            )
        parameters = list(self.definition.signature.parameters.values())
        names = [p.name for p in parameters if p.kind in POSITIONAL and p.default is p.empty]
        first = ["cotangent" if what == "pullback" else "tangents", "value"]
        try:
            inspect.signature(function).bind_partial(*first, *names)
        except TypeError:
            raise RuleError(
                f"{self.definition.name}: its {what} is called with"
                f" ({', '.join([*first, *names])}), and must take so many arguments."
            ) from None
        except ValueError:  # compiled, without a signature
            pass
        return function

    # compiled, a Function of torch would lose its forward rule
    # (https://github.com/pytorch/pytorch/issues/192985)
    @untraced
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> T:
        return cast(T, apply(self.definition, args, keywords))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined,no-any-return]

    def __repr__(self) -> str:
        definition = self.definition
        given = ["pullback"] * (definition.back is not None) + ["pushforward"] * (
            definition.push is not None
        )
        return f"<rule {definition.name}: {' and '.join(given) or 'no derivative yet'}>"


@overload
def rule(f: Callable[P, T], /, *, host: bool | Callable[..., Any] = ...) -> Rule[P, T]: ...
@overload
def rule(*, host: bool | Callable[..., Any] = ...) -> Callable[[Callable[P, T]], Rule[P, T]]: ...
def rule(f: Any = None, /, *, host: bool | Callable[..., Any] = False) -> Any:
    """A function with its own derivatives: write them once, in neutral code, for every engine.

    >>> import numpy as np
    >>> from adinterface import array_namespace, rule
    >>> @rule
    ... def logistic(x):
    ...     return 1 / (1 + array_namespace(x).exp(-x))
    >>> @logistic.pullback
    ... def _(cotangent, value, x):
    ...     return cotangent * value * (1 - value)

    `@f.pullback` takes `(cotangent, value, *args, **keywords)` and returns a tuple with one
    cotangent for each positional argument. `@f.pushforward` takes `(tangents, value, *args,
    **keywords)` and returns the tangent of the value. One of them is enough: the other is its
    transpose. With neither, f's code is differentiated. Arguments and value are trees. Keyword-only
    arguments are constants, and the signature binds defaults. Captured values are not
    differentiated; where the engine can tell, it is an error if they should be. Second derivatives
    differentiate the code of the derivatives.

    host: f itself runs on copies of the arguments as NumPy arrays, on any engine: SciPy or compiled
        code. `@rule(host=True)` runs f once more, at ones, where JAX compiles the call and must
        know its shapes; `@rule(host=like)` takes them from `like(*args, **keywords)`. All but
        numbers must then be the same in each call, Python's ints and strings too. The derivatives
        are still neutral code, which may call such rules, and may write into the cotangent or
        tangents.

    A call with NumPy arrays and numbers alone, as in finite differences, runs f itself.
    Raises RuleError, the same on every engine, for a derivative's result that does not fit, and for
    a differentiated keyword.
    """
    if f is None:
        return lambda f: rule(f, host=host)
    if not callable(f):
        raise TypeError(
            f"rule takes a function, not a {type(f).__name__}: write @rule above its definition."
        )
    return Rule(f, host)


__all__ = ["Rule", "rule"]
