"""Loops and branches: what an engine may give for them. No engine needs any of it.

A loop sees flat tuples of the engine's arrays, never a tree. By default the core runs Python's own loop, which an engine
that records operations follows as it follows all of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from .errors import BackendError

T = TypeVar("T")

Arrays = tuple[Any, ...]

#: From the carry and one slice of each array that is scanned to the next carry and one slice of each result.
Step = Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]


class Loops:
    """The loops of one library's arrays.

    Laws: `scan`, `while_loop` and `switch` give what Python's loop over the same steps gives, and so do their derivatives;
    `checkpoint(function, arrays)` gives what `function(*arrays)` gives, and the same derivatives, with respect to arrays that
    `function` closes over, too.
    """

    #: The engine runs `scan`, `while_loop` and `switch` itself, and traces a step once. Otherwise the core runs Python's loop.
    compiles: ClassVar[bool] = False

    def __init__(self, library: Any):
        #: The `Library` whose loops these are.
        self.library = library

    def adopt(self, x: Any, *, dtype: str | None = None, like: Any = None) -> Any:
        """A NumPy array or a Python number that stands in a loop beside arrays of this library, as one of them."""
        return self.library.asarray(x, dtype=dtype, like=like, copy=True)

    def slices(self, x: Any) -> Sequence[Any]:
        """The slices of x along its first axis."""
        return [x[n] for n in range(self.library.shape(x)[0])]

    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        """`function(*arrays)`, without keeping what it computes on the way: a derivative in reverse computes that again.

        By default everything is kept, which is right, but bounds no memory.
        """
        return function(*arrays)

    def scan(
        self, step: Step, carry: Arrays, xs: Arrays, *, length: int, reverse: bool, checkpoint: int | None
    ) -> tuple[Arrays, Arrays]:
        """The last carry, and the results of all steps, stacked in the order of `xs`; for an engine that `compiles`.

        checkpoint: keep only the carry of every so many steps for a derivative in reverse.
        """
        raise NotImplementedError

    def while_loop(self, condition: Callable[[Arrays], Any], body: Callable[[Arrays], Arrays], carry: Arrays) -> Arrays:
        """The first carry of which the condition is false; for an engine that `compiles`."""
        raise NotImplementedError

    def switch(self, index: Any, branches: Sequence[Callable[..., Arrays]], operands: Arrays) -> Arrays:
        """What the branch of this number gives; for an engine that `compiles`.

        The index is in bounds. A branch may give Python numbers, which take the dtype of what other branches give there.
        """
        raise NotImplementedError


def known(loop: str, library: Any, x: Any, number: Callable[[Any], T]) -> T:
    """`number(x)`, by which Python's loop or branch decides.

    Raises BackendError where the engine compiles, so that x has no value yet, and has no loops of its own.
    """
    try:
        return number(x)
    except Exception as error:  # the engine's own, if it does not know the value
        if not library.traced(x) or library.value_under_trace(x) is not None:
            raise
        raise BackendError(
            f"{loop}: {library.name} compiles f and does not know a value that {loop} decides by. Make the call without "
            f"prepare, or let the engine's backend compile loops and branches (`Library.loops`)."
        ) from error


__all__ = ["Arrays", "Loops", "Step", "known"]
