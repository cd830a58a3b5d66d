"""`scan` and `fori_loop`: a known number of steps."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...core.contract.backend import Arrays
from ...core.contract.errors import OutputError, TreeError
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.tracing import untraced
from ...core.tree import Static
from .captured import engine_among
from .carry import Carry
from .home import Home, Outgrown
from .trees import NUMBERS, LoopTree, described, leaf_of
from .while_loop import attempts, computed_bounds

CarryT = TypeVar("CarryT")


@untraced
def scan(
    f: Callable[[CarryT, Any], tuple[CarryT, Any]],
    init: CarryT,
    xs: Any = None,
    *,
    length: int | None = None,
    reverse: bool = False,
    checkpoint: int | bool | None = None,
) -> tuple[CarryT, Any]:
    """A loop that carries a state, with `jax.lax.scan` semantics, over trees and on any engine.

    ``carry, y = f(carry, x)`` for each slice x of xs along its first axis, starting with `init`.
    Returns the last carry, and all y stacked along a new first axis. JAX compiles f once, for any
    number of steps; elsewhere this is a Python loop.

    init: a tree. Its numbers and arrays keep their shape and dtype from step to step; other values
        (None, strings, Constants) are unchanged. A Python number is a 0-d array in the loop. Its
        dtype is the widest floating dtype among the arrays of init and xs, or that which f returns
        if it is wider.
    xs: a tree of arrays of one length; each step gets a Constant whole. None, with `length`, for no
        slices.
    length: the number of steps; not needed with xs. reverse: runs from the last slice to the first.
    checkpoint: store the carry of every so many steps only, and compute the steps between again in
        a reverse-mode derivative. This needs memory for `length / checkpoint + checkpoint` steps
        instead of `length`, and one more evaluation of f. True takes the square root of the length.
        Finite differences store nothing.

    f must be pure. Inside `numpy_function`, f is NumPy code too.

    Raises TreeError if f changes the structure, a shape or a dtype of its carry or of y. Raises it,
    too, if `length` or the lengths of the arrays in xs differ. Raises OutputError if f does not
    return a pair.

    >>> import numpy as np
    >>> from adinterface.loops import scan
    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    """
    _require_callable("scan", f)
    return _scan(
        "scan", f, LoopTree(init, "carry"), LoopTree(xs, "xs"), length, reverse, checkpoint
    )


@untraced
def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, CarryT], CarryT],
    init: CarryT,
    *,
    checkpoint: int | bool | None = None,
) -> CarryT:
    """``carry = body(i, carry)`` for each i of a range, as `jax.lax.fori_loop`.

    i goes from `lower` to `upper` - 1.

    i is a 0-d integer array; carry, init and checkpoint are as in `scan`. With traced bounds, JAX's
    loop has no reverse-mode derivative, as `while_loop`; Python integers always work.

    Raises TypeError for bounds that are not integers, and the errors of `scan`.

    >>> import numpy as np
    >>> from adinterface.loops import fori_loop
    >>> fori_loop(0, 4, lambda i, x: x * 2.0, 1.0)
    np.float64(16.0)
    """
    _require_callable("fori_loop", body)
    first, last = _bound("lower", lower), _bound("upper", upper)
    carry = LoopTree(init, "carry")
    if not isinstance(first, int) or not isinstance(last, int):
        return computed_bounds(first, last, body, carry)  # type: ignore[no-any-return]
    indices = LoopTree(np.arange(first, max(first, last)), "i")
    result, _ = _scan(
        "fori_loop",
        lambda value, i: (body(i, value), None),
        carry,
        indices,
        None,
        False,
        checkpoint,
    )
    return result  # type: ignore[no-any-return]


def _require_callable(loop: str, f: Any) -> None:
    if not callable(f):
        raise TypeError(f"{loop}: the function of a step must be callable, not {described(f)}.")


def _bound(name: str, value: Any) -> Any:
    """A bound as a Python integer; unchanged where the engine has not computed it."""
    leaf = leaf_of(value)
    if leaf is not None and leaf.library is not PYTHON and leaf.library.shape(leaf.value) == ():
        if leaf.library.traced(leaf.value) and leaf.library.loops().compiles:
            return leaf
        if leaf.library.dtype(leaf.value).startswith(("int", "uint")):
            # not by NumPy, which sees no numbers inside a transformation of torch
            return int(leaf.value)
    if leaf is None or type(leaf.value) is not int:
        raise TypeError(f"fori_loop: {name} must be an integer, not {described(value)}.")
    return leaf.value


def _scan(
    loop: str,
    f: Callable[[Any, Any], Any],
    carry: LoopTree,
    xs: LoopTree,
    length: int | None,
    reverse: bool,
    checkpoint: int | bool | None,
) -> tuple[Any, Any]:
    length = _length(loop, xs, length)
    every = _every(loop, checkpoint, length)
    brought = [*xs.leaves, *engine_among([*carry.leaves, *xs.leaves], f)]

    def run(carry: Carry, home: Home) -> tuple[Any, Any]:
        return Steps(loop, f, carry, xs, home).run(length, reverse, every)

    return attempts(loop, carry, brought, run)  # type: ignore[no-any-return]


def _length(loop: str, xs: LoopTree, length: int | None) -> int:
    lengths: dict[str, int] = {}
    for path, leaf in zip(xs.paths(), xs.leaves):
        shape = () if type(leaf.value) in NUMBERS else leaf.library.shape(leaf.value)
        if shape == ():
            raise TreeError(
                f"{loop}: {path} is {described(leaf.value)}, which has no first axis to go along."
                " Wrap in Constant(...) what every step gets as it is."
            )
        lengths[path] = shape[0]
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{path} has {count}" for path, count in lengths.items())
        raise TreeError(
            f"{loop}: the arrays in xs differ in length along their first axis: {told}. All have as"
            " many slices."
        )
    if length is None:
        if not lengths:
            seen = "there is no array in xs"
            for path, place in xs.structure.places("xs"):
                if isinstance(place, Static) and hasattr(place.value, "shape"):
                    seen = f"{path} is {described(place.value)}, and no engine here has such arrays"
            raise TypeError(f"{loop}: {seen}, so the number of steps is not known. Pass length=...")
        return next(iter(lengths.values()))
    try:
        length = operator.index(length)
    except TypeError:
        raise TypeError(
            f"{loop}: length must be an integer, not {described(length)}. The number of steps is"
            " fixed when a loop is compiled."
        ) from None
    if length < 0:
        raise ValueError(f"{loop}: length must not be negative, and is {length}.")
    for path, count in lengths.items():
        if count != length:
            raise TreeError(
                f"{loop}: length is {length}, but {path} has {count} slices. Leave length out, or"
                " slice xs."
            )
    return length


def _every(loop: str, checkpoint: int | bool | None, length: int) -> int | None:
    if checkpoint is None or checkpoint is False:
        return None
    if checkpoint is True:
        return max(1, math.isqrt(length))
    if not isinstance(checkpoint, (int, np.integer)) or checkpoint < 1:
        raise ValueError(
            f"{loop}: checkpoint is the number of steps after which the carry is kept, a positive"
            f" integer, or True for the square root of the length; it is {checkpoint!r}."
        )
    return min(int(checkpoint), max(length, 1))


class Steps:
    """One attempt at a scan: the arrays of its home, and f as a function of them."""

    def __init__(
        self, loop: str, f: Callable[[Any, Any], Any], carry: Carry, xs: LoopTree, home: Home
    ):
        self.loop: str = loop
        self.f: Callable[[Any, Any], Any] = f
        self.home: Home = home
        self.x_tree: LoopTree = xs
        self.carry: Carry = carry
        self.xs: tuple[Any, ...] = tuple([home.enter(leaf) for leaf in xs.leaves])
        #: The tree y, from the first step on.
        self.y_tree: LoopTree | None = None

    def run(self, length: int, reverse: bool, every: int | None) -> tuple[Any, Any]:
        """The last carry and all y, as trees."""
        loops, carry = self.home.loops, self.carry
        if loops.compiles:
            arrays, ys = loops.scan(
                self.step, carry.arrays, self.xs, length=length, reverse=reverse, checkpoint=every
            )
            return carry.build(arrays), self._stacked_tree(ys)
        if length == 0:
            return carry.build(carry.arrays), self._empty()
        if every is None or self.home.is_plain:
            last, columns = self._go(carry.arrays, self.xs, length, reverse)
            return last, self._stacked_tree(self._stack(columns, reverse))
        arrays, parts = carry.arrays, []
        for start in range(0, length, every):
            count = min(every, length - start)
            first = length - start - count if reverse else start
            xs = tuple([x[first : first + count] for x in self.xs])
            arrays, ys = self._segment(arrays, xs, count, reverse)
            parts.append(ys)
        if reverse:
            parts.reverse()
        namespace = self.home.library.namespace(None)
        return carry.build(arrays), self._stacked_tree(
            [namespace.concat(column) for column in zip(*parts)]
        )

    def step(self, carry: Sequence[Any], xs: Sequence[Any]) -> tuple[Arrays, Arrays]:
        """One step on flat arrays."""
        value, y = self._called(self.carry.build(carry), self.x_tree.build(self.home.leave_all(xs)))
        arrays, _ = self.carry.read(value)
        return tuple(arrays), tuple(self._entered(self._read_y(y)))

    def _segment(
        self, carry: Arrays, xs: Arrays, count: int, reverse: bool
    ) -> tuple[Arrays, Arrays]:
        """`count` steps, of which a reverse-mode derivative stores only the start."""
        kept = len(carry)

        def function(*arrays: Any) -> Arrays:
            value, columns = self._go(arrays[:kept], arrays[kept:], count, reverse)
            return (*self.carry.read(value)[0], *self._stack(columns, reverse))

        results = self.home.loops.checkpoint(function, (*carry, *xs))
        return results[:kept], results[kept:]

    def _go(
        self, start: Arrays, xs: Arrays, length: int, reverse: bool
    ) -> tuple[Any, list[list[Any]]]:
        """A Python loop: the last carry as a tree, and the values of each leaf of y."""
        home, carry, called, build_x = self.home, self.carry, self._called, self.x_tree.build
        slices = [home.loops.slices(x) for x in home.copies(xs)]
        rows: Sequence[Sequence[Any]] = list(zip(*slices)) if slices else [()] * length
        if reverse:
            rows = rows[::-1]
        columns: list[list[Any]] = []
        # A step may write into its carry and its slices: never into those of the caller, nor into
        # what an earlier step gave to be stacked.
        given = home.copies(start)
        value, writes = carry.build(given), home.is_plain
        for row in rows:
            value, y = called(value, build_x(home.leave_all(row)))
            arrays, as_it_is = carry.read(value)
            if not as_it_is:
                value = carry.build(arrays)
            leaves = self._read_y(y)
            writes = writes or any(map(operator.is_, arrays, given))
            if writes or home.wrap is not None:
                leaves = self._entered(leaves)
            if writes:
                leaves = home.copies(leaves)
            given = arrays
            if not columns:
                columns = [[] for _ in leaves]
            for column, leaf in zip(columns, leaves):
                column.append(leaf)
        return value, columns

    def _called(self, value: Any, x: Any) -> tuple[Any, Any]:
        result = self.f(value, x)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise OutputError(
                f"{self.loop}: f must return a pair, the next carry and what is stacked, and"
                f" returned {described(result)}. Write `return carry, None` if there is nothing to"
                " stack."
            )
        value, y = result
        return value, y

    def _read_y(self, y: Any) -> list[Any]:
        if self.y_tree is None:
            tree = LoopTree(
                y,
                "y",
                f"{self.loop}: what f gives to be stacked differs from step to step: {{path}} is"
                " {wanted} in the first step, and {seen} in a later one. Every step gives the"
                " same structure, shapes and dtypes.",
            )
            brought = [leaf for leaf in tree.leaves if leaf.library not in (NUMPY, PYTHON)]
            if brought and self.home.is_plain:
                raise Outgrown(brought)
            self.y_tree = tree.without_arrays()
        return self.y_tree.read(y)

    def _entered(self, leaves: Sequence[Any]) -> list[Any]:
        """Leaves of y as arrays of the home library."""
        home, library, wrapped = self.home, self.home.library, self.home.wrap is not None
        arrays: list[Any] = []
        for leaf in leaves:
            if wrapped or not library.owns(leaf):
                seen = leaf_of(leaf)
                assert seen is not None
                leaf = home.enter(seen)
            arrays.append(leaf)
        return arrays

    def _stack(self, columns: list[list[Any]], reverse: bool) -> list[Any]:
        """Each leaf of y along a new first axis."""
        if not columns:
            return []
        library = self.home.library
        namespace = library.namespace(None)
        stacked = []
        for n, column in enumerate(columns):
            arrays = self._entered(column)
            kinds = [(library.dtype(array), library.shape(array)) for array in arrays]
            for other in kinds:
                if other != kinds[0]:
                    assert self.y_tree is not None
                    at = kinds.index(other)
                    raise self.y_tree.refusal(
                        self.y_tree.paths()[n], described(arrays[at]), described(arrays[0])
                    )
            stacked.append(namespace.stack(arrays[::-1] if reverse else arrays))
        return stacked

    def _stacked_tree(self, arrays: Sequence[Any]) -> Any:
        assert self.y_tree is not None
        return self.y_tree.build(self.home.leave_all(arrays))

    def _empty(self) -> Any:
        """All y of a loop without steps: f is called once, on slices of zeros, for their shapes."""
        home = self.home
        namespace = home.library.namespace(None)
        slices = [
            namespace.astype(namespace.zeros_like(namespace.sum(x, axis=0)), x.dtype)
            for x in self.xs
        ]
        with np.errstate(all="ignore"):
            _, ys = self.step(self.carry.arrays, slices)
        return self._stacked_tree([namespace.stack([y])[:0] for y in ys])


__all__ = ["fori_loop", "scan"]
