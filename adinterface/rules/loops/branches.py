"""`cond` and `switch`: one of several functions, by a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ...core.contract.backend import Arrays
from ...core.contract.library import Library, dtype_kind
from ...core.contract.tracing import untraced
from .captured import engine_among
from .home import Home, known
from .trees import NUMBERS, LoopLeaf, LoopTree, described, leaf_of, of_kind

T = TypeVar("T")


@untraced
def cond(
    pred: Any, true_function: Callable[..., T], false_function: Callable[..., T], *operands: Any
) -> T:
    """One of two functions of the operands, by a truth value, as `jax.lax.cond`.

    The value is ``true_function(*operands) if pred else false_function(*operands)``, on any engine.

    pred: one bool. Where the engine has not computed it, as under `jax.jit`, the engine decides,
    and both functions must return the same structure, shapes and dtypes; elsewhere only the chosen
    one runs. operands: trees, whose numbers are arrays in the functions, as in `scan`.

    Raises TypeError if pred is not one bool, TreeError if the functions return different
    structures.

    >>> from adinterface.loops import cond
    >>> cond(True, lambda x: x + 1.0, lambda x: x - 1.0, 2.0)
    np.float64(3.0)
    """
    leaf = leaf_of(pred)
    if leaf is None or not _is_one(leaf, ("bool",)):
        raise TypeError(
            f"cond: pred must be one truth value, not {described(pred)}. Write a comparison of"
            " numbers, or xp.all(...) or xp.any(...) of an array."
        )
    return _chosen("cond", leaf, (false_function, true_function), operands)  # type: ignore[no-any-return]


@untraced
def switch(index: Any, branches: Sequence[Callable[..., T]], *operands: Any) -> T:
    """``branches[index](*operands)``, with `jax.lax.switch` semantics, on any engine.

    index: an integer, clamped to the bounds. operands and the branches' values are as in `cond`.

    Raises TypeError if index is not an integer, ValueError without branches, TreeError if branches
    return different structures.


    >>> from adinterface.loops import switch
    >>> switch(1, [lambda x: x, lambda x: 2.0 * x, lambda x: 3.0 * x], 5.0)
    np.float64(10.0)
    """
    branches = tuple(branches)
    if not branches:
        raise ValueError("switch: there is no branch to choose from. Pass at least one function.")
    leaf = leaf_of(index)
    if leaf is None or not _is_one(leaf, ("int", "uint")):
        raise TypeError(
            f"switch: index must be one integer, not {described(index)}. Convert it, or use cond"
            " for a truth value."
        )
    return _chosen("switch", leaf, branches, operands)  # type: ignore[no-any-return]


def _is_one(leaf: LoopLeaf, kinds: tuple[str, ...]) -> bool:
    if type(leaf.value) in NUMBERS:
        return type(leaf.value).__name__ in kinds
    return leaf.library.shape(leaf.value) == () and leaf.library.dtype(leaf.value).startswith(kinds)


def _chosen(
    loop: str, index: LoopLeaf, branches: tuple[Callable[..., Any], ...], operands: tuple[Any, ...]
) -> Any:
    for branch in branches:
        if not callable(branch):
            raise TypeError(f"{loop}: a branch must be callable, not {described(branch)}.")
    tree = LoopTree(operands, "operands")
    leaves = [index, *tree.leaves]
    home = Home(leaves + engine_among(leaves, *branches))
    arrays = tuple([home.enter(leaf) for leaf in tree.leaves])

    def build(given: Sequence[Any]) -> Any:
        return tree.build(home.leave_all(given))

    library: Library = index.library
    if not (library.loops().compiles and library.traced(index.value)):
        number = min(max(known(loop, library, index.value, int), 0), len(branches) - 1)
        return _arrays_of(branches[number](*build(arrays)), home)
    given = Branches(loop, branches, build, home)
    results = home.loops.switch(index.value, [given.flat(n) for n in range(len(branches))], arrays)
    return given.built(results)


def _arrays_of(result: Any, home: Home) -> Any:
    """The result of a branch with arrays in place of Python numbers."""
    tree = LoopTree(result, "result")
    if not any(type(leaf.value) in NUMBERS for leaf in tree.leaves):
        return result
    if home.is_plain:
        home = Home(tree.leaves)
    return tree.build(
        [
            leaf.wrap(leaf.value) if leaf.wrap else home.leave(home.enter(leaf))
            for leaf in tree.leaves
        ]
    )


_KINDS = {bool: "bool", int: "integer", float: "real", complex: "complex"}


class Seen(NamedTuple):
    """One leaf of the result of a branch.

    A Python number takes the dtype of an array of its kind.
    """

    words: str
    kind: str
    shape: tuple[int, ...]
    dtype: str | None


class Branches:
    """The branches of which an engine runs one: all return the structure of the first."""

    def __init__(
        self,
        loop: str,
        functions: Sequence[Callable[..., Any]],
        build: Callable[[Sequence[Any]], Any],
        home: Home,
    ):
        self.loop: str = loop
        self.functions: Sequence[Callable[..., Any]] = functions
        self.build: Callable[[Sequence[Any]], Any] = build
        self.home: Home = home
        self.tree: LoopTree | None = None
        self.kinds: list[Seen | None] = []
        self.first: int = 0

    def flat(self, n: int) -> Callable[..., Arrays]:
        """Branch n on flat arrays. Python numbers in its result stay numbers."""

        def branch(*arrays: Any) -> Arrays:
            return self._compared_with_first(n, self.functions[n](*self.build(arrays)))

        return branch

    def _compared_with_first(self, n: int, result: Any) -> Arrays:
        if self.tree is None:
            self.tree, self.first = LoopTree(result, "result"), n
            self.kinds = [None] * len(self.tree.leaves)
            self.tree.without_arrays()
        self.tree.message = (
            f"{self.loop}: {self._name(self.first)} and {self._name(n)} give different things:"
            " {path} is {wanted} from the one, and {seen} from the other. Both must give the"
            " same structure, shapes and dtypes."
        )
        arrays = []
        for place, value in enumerate(self.tree.read(result)):
            leaf = leaf_of(value)
            assert leaf is not None
            if type(leaf.value) in NUMBERS:
                array, seen = leaf.value, Seen(described(value), _KINDS[type(leaf.value)], (), None)
            else:
                array, library = self.home.enter(leaf), self.home.library
                dtype, shape = library.dtype(array), library.shape(array)
                seen = Seen(of_kind(dtype, shape), dtype_kind(dtype), shape, dtype)
            known = self.kinds[place] or seen
            if known[1:3] != seen[1:3] or (
                None not in (known.dtype, seen.dtype) and known.dtype != seen.dtype
            ):
                raise self.tree.refusal(self.tree.paths()[place], seen.words, known.words)
            self.kinds[place] = seen if known.dtype is None else known
            arrays.append(array)
        return tuple(arrays)

    def _name(self, n: int) -> str:
        return (
            ("the function for False", "the function for True")[n]
            if self.loop == "cond"
            else f"branch {n}"
        )

    def built(self, arrays: Sequence[Any]) -> Any:
        assert self.tree is not None
        return self.tree.build(self.home.leave_all(arrays))


__all__ = ["cond", "switch"]
