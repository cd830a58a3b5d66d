"""`checkpoint`: less memory for one more evaluation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar, cast

from ...core.contract.library import NUMPY, PYTHON, Library
from ...core.contract.tracing import untraced
from ...core.tree import Constant, Leaf, flatten

P = ParamSpec("P")
T = TypeVar("T")


def checkpoint(f: Callable[P, T], /) -> Callable[P, T]:
    """f without stored intermediate results: the backward pass computes them again.

    The derivatives are the same; reverse mode stores only the arguments, and evaluates f once more.
    A chain of checkpointed blocks needs the memory of the blocks' arguments and of one block.

    Captured values are differentiated, too. `Loops.checkpoint` of an engine does this; an engine
    without it stores everything, as torch does inside `torch.func`.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import checkpoint
    >>> round(gradient(checkpoint(lambda x: x**3), AutoFiniteDifferences(), 2.0)[0], 6)
    12.0
    """
    if not callable(f):
        raise TypeError(
            f"checkpoint takes a function, not a {type(f).__name__}: write @checkpoint above its"
            " definition."
        )

    @functools.wraps(f)
    @untraced
    def recomputing(*args: P.args, **keywords: P.kwargs) -> T:
        structure, leaves = flatten(Constant((args, keywords)), "an argument")
        library = next(
            (leaf.library for leaf in leaves if leaf.library not in (NUMPY, PYTHON)), None
        )
        if library is None:
            return f(*args, **keywords)
        results: list[Leaf] = []
        form: Any = None

        def flat(*arrays: Any) -> tuple[Any, ...]:
            nonlocal form, results
            given, words = structure.build(_filled(leaves, library, arrays))
            form, results = flatten(f(*given, **words), "the value of f")
            return tuple([leaf.value for leaf in results if leaf.library is library])

        arrays = library.loops().checkpoint(
            flat, tuple([leaf.value for leaf in leaves if leaf.library is library])
        )
        return cast(T, form.build(_filled(results, library, arrays)))

    return recomputing


def _filled(leaves: Sequence[Leaf], library: Library, arrays: Iterable[Any]) -> Iterator[Any]:
    """The values of leaves, with these arrays for those of a library."""
    given = iter(arrays)
    return iter([next(given) if leaf.library is library else leaf.value for leaf in leaves])


__all__ = ["checkpoint"]
