"""Values, and functions, that are not differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from ..core.contract.errors import RuleError
from ..core.contract.library import Library
from ..core.tree import flatten, handler_of
from .fixed_values import fixed_value

P = ParamSpec("P")
T = TypeVar("T")


@overload
def ignore_derivatives(x: Callable[[], T], /) -> T: ...
@overload
def ignore_derivatives(x: T, /) -> T: ...
def ignore_derivatives(x: Any, /) -> Any:
    """A value that counts as a constant, on any engine, in any mode, at any order.

    x: an array or a tree of arrays; or a function without arguments, whose result is the value.

    Finite differences agree with the engines: near the point, the value is that at the point. f
    must call this equally often on every path, else RuleError is raised.


    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import ignore_derivatives
    >>> gradient(lambda x: ignore_derivatives(x) * x, AutoFiniteDifferences(), 3.0)
    (3.0,)
    """
    library = handler_of(x, scan=False)
    if isinstance(library, Library):
        return fixed_value(library.stopped(x), library)
    if library is None and callable(x):
        return ignore_derivatives(x())
    structure, leaves = flatten(x, "what ignore_derivatives is given")
    if any(node.type.is_owner for node in structure.nodes()):
        raise RuleError(
            f"ignore_derivatives: a {type(x).__name__} holds its parameters itself, so they cannot"
            " be taken out of the derivative here. Wrap it in Constant(...) where it is an"
            " argument, or ignore what it computes."
        )
    return structure.build(
        iter([fixed_value(leaf.library.stopped(leaf.value), leaf.library) for leaf in leaves])
    )


def non_differentiable(f: Callable[P, T], /) -> Callable[P, T]:
    """A function whose value counts as a constant: `ignore_derivatives` of each call.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import non_differentiable
    >>> @non_differentiable
    ... def scale(x):
    ...     return 2.0 * x
    >>> gradient(lambda x: scale(x) * x, AutoFiniteDifferences(), 3.0)
    (6.0,)
    """
    if not callable(f):
        raise TypeError(
            f"non_differentiable takes a function, not a {type(f).__name__}: write"
            " @non_differentiable above its definition, or ignore_derivatives(x) for a value."
        )

    @functools.wraps(f)
    def constant(*args: P.args, **keywords: P.kwargs) -> T:
        return ignore_derivatives(lambda: f(*args, **keywords))

    return constant


__all__ = ["ignore_derivatives", "non_differentiable"]
