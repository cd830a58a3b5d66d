"""Loops and branches that an engine may compile. By default the core runs a Python loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, final

from ..support.members import own_members
from .rules import Arrays

#: From the carry and one slice of each scanned array to the next carry and one slice of each
#: result.
Step = Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]


class Loops:
    """The loops of one library's arrays.

    Laws: `scan`, `while_loop` and `switch` equal a Python loop over the same steps, and so do their
    derivatives. `checkpoint(function, arrays)` equals `function(*arrays)`, with the same
    derivatives, also with respect to arrays that `function` captures.

    An engine that compiles defines `scan`, `while_loop` and `switch`, and traces a step once.
    Otherwise the core runs a Python loop.
    """

    #: The names of the members that the class defines.
    gives: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.gives = own_members(cls, Loops)

    def __init__(self, library: Any):
        #: The `Library` of the arrays in the loops.
        self.library = library

    @property
    @final
    def compiles(self) -> bool:
        return "scan" in self.gives

    def adopt(self, x: Any, *, dtype: str | None = None, like: Any = None) -> Any:
        """A NumPy array or a Python number in a loop, as an array of this library."""
        return self.library.asarray(x, dtype=dtype, like=like, copy=True)

    def slices(self, x: Any) -> Sequence[Any]:
        """The slices of x along its first axis, into which a step may write."""
        return [x[n] for n in range(self.library.shape(x)[0])]

    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        """`function(*arrays)`, whose intermediate values a reverse-mode derivative computes again.

        By default all are stored, which is correct, but does not save memory. Later evaluations
        draw the random numbers of the first one: the core sees to that.
        """
        return function(*arrays)

    def scan(
        self,
        step: Step,
        carry: Arrays,
        xs: Arrays,
        *,
        length: int,
        reverse: bool,
        checkpoint: int | None,
    ) -> tuple[Arrays, Arrays]:
        """The last carry, and the results of all steps, stacked in the order of `xs`.

        checkpoint: keep only the carry of every so many steps for a derivative in reverse.
        """
        raise NotImplementedError

    def while_loop(
        self, condition: Callable[[Arrays], Any], body: Callable[[Arrays], Arrays], carry: Arrays
    ) -> Arrays:
        """The first carry for which the condition is false; for an engine that compiles."""
        raise NotImplementedError

    def switch(
        self, index: Any, branches: Sequence[Callable[..., Arrays]], operands: Arrays
    ) -> Arrays:
        """The value of the branch with this number; for an engine that compiles.

        The index is in bounds. A branch may return Python numbers, which take the dtype of other
        branches in the same place.
        """
        raise NotImplementedError
