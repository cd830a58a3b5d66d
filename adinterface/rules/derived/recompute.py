"""`checkpoint`: less memory for one more evaluation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.tracing import untraced
from ...core.operators.pullback import pullback, pushforward
from ...core.tree import Constant, Leaf, flatten
from ..rule import rule
from .engine import backend_of_arrays, has_derivative, marked

P = ParamSpec("P")
T = TypeVar("T")


def checkpoint(f: Callable[P, T], /) -> Callable[P, T]:
    """f, whose intermediate results are not kept for the way back, but computed again there.

    The derivatives are the same; reverse mode keeps the arguments alone, and evaluates f once more. The value's memory is that
    of one evaluation, so a long chain of checkpointed blocks needs the memory of the blocks' arguments and of one block.

    JAX and torch do it in their own way (`jax.checkpoint`, `torch.utils.checkpoint`), which also differentiates what f
    captures. On the other engines, and inside `torch.func`, pass as an argument what is to be differentiated.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import checkpoint
    >>> round(gradient(checkpoint(lambda x: x**3), AutoFiniteDifferences(), 2.0)[0], 6)
    12.0
    """
    if not callable(f):
        raise TypeError(f"checkpoint takes a function, not a {type(f).__name__}: write @checkpoint above its definition.")
    again = rule(f)
    again._definition.written = f

    @again.pullback
    def back(cotangent: Any, value: Any, *args: Any, **keywords: Any) -> Any:
        return pullback(f, backend_of_arrays((cotangent, args)), *marked(args), **keywords).back(cotangent)

    @again.pushforward
    def push(tangents: Any, value: Any, *args: Any, **keywords: Any) -> Any:
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(tangents, args)])
        return pushforward(f, backend_of_arrays((tangents, args)), marked(args), moved, **keywords).tangent

    @untraced
    @functools.wraps(f)
    def recomputing(*args: P.args, **keywords: P.kwargs) -> T:
        leaves: list[Leaf] = []
        structure = flatten(Constant((args, keywords)), leaves, lambda: "an argument")
        library = next((leaf.library for leaf in leaves if leaf.library not in (NUMPY, PYTHON)), None)
        form: Any = None

        def flat(*arrays: Any) -> tuple[Any, ...]:
            nonlocal form
            given, words = structure.build(iter(arrays))
            result: list[Leaf] = []
            form = flatten(f(*given, **words), result, lambda: "the value of f")
            return tuple([leaf.value for leaf in result])

        result = None if library is None else library.checkpointed(flat, tuple([leaf.value for leaf in leaves]))
        return again(*args, **keywords) if result is None else cast(T, form.build(iter(result)))

    return recomputing


__all__ = ["checkpoint"]
