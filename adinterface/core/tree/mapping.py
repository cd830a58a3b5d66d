"""One function at every leaf of one tree or of several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from ..contract.errors import TreeError
from ..contract.library import NUMPY, PYTHON, Library, kind
from ..contract.nodes import Unkeyed, contents, exactly
from ..contract.structures import (
    DIFFERENTIATED,
    Constant,
    Frozen,
    Leaf,
    LeafSpec,
    Node,
    Static,
    Structure,
    children_of,
    count_leaves,
    paths_of,
)
from ..contract.tracing import untraced
from .flattening import flatten
from .recognition import handler_of

#: A demand on a leaf and what stands beside it: from the two, the name and path of the second, the name of the first tree.
Fits = Callable[[Any, Any, str, str], None]


@untraced
def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree like the first, with `function(leaf, *others' leaves)` for every leaf that can have a gradient.

    Leaves are floating and complex arrays and Python's float and complex. Everything else is kept from the first tree:
    integers, strings, None, Constants, static fields, frozen parameters. A leaf for which another tree has None is kept too, so
    that `map(lambda p, g: p - rate * g, model, gradient)` leaves alone what has no gradient. Of an `nn.Module` it gives a
    module of the same class around new parameters; where its parameters are all frozen, as a gradient's are, all count.

    Raises TreeError, with the path, where another tree has another structure, or where broadcasting leaves of other shapes
    made a result larger than the leaf, TypeError if the first argument is no function.

    >>> from adinterface import tree
    >>> tree.map(lambda p, g: p - 0.5 * g, {"w": 3.0, "name": "linear"}, {"w": 2.0, "name": None})
    {'w': 2.0, 'name': 'linear'}
    """
    structure, found = apart(tree)
    if not callable(function) or (isinstance(structure, Static) and callable(tree)):
        raise TypeError(
            f"map: the order of arguments is map(function, tree, *others), not a {type(function).__name__} and then a "
            f"{type(tree).__name__}."
        )
    rows = [list(along(structure, tree, other, f"tree {n}")) for n, other in enumerate(others, 2)]
    values = []
    with precision(found):
        for n, (leaf, *parts) in enumerate(zip(found, *rows)):
            if not leaf.differentiated or any(part is None for part in parts):
                values.append(leaf.value)
                continue
            values.append(function(leaf.value, *parts))
            if parts:
                _refuse_spread(leaf, parts, values[-1], lambda n=n: leaf_path(structure, n))  # type: ignore[misc]
    return rebuild(structure, iter(values))


def _refuse_spread(leaf: Leaf, parts: Sequence[Any], value: Any, path: Callable[[], str]) -> None:
    """Refuse a result that is larger than the leaf because leaves of other shapes were broadcast.

    The function may take leaves of any shapes: of an outer product of two vectors nothing is said.
    """
    own = leaf.library.shape(leaf.value)
    shapes = [own, *[require_leaf(part, "a tree").shape(part) for part in parts]]
    library = handler_of(value, scan=False)
    if all(shape == own for shape in shapes) or not isinstance(library, Library) or library.shape(value) == own:
        return
    try:
        spread = np.broadcast_shapes(*shapes) == library.shape(value)
    except ValueError:
        return
    if spread:
        raise TreeError(
            f"map: the leaf {path() or 'itself'} has shape {own}, but beside leaves of shape "
            f"{', '.join([str(shape) for shape in shapes[1:]])} it was broadcast to {library.shape(value)}. "
            f"Reshape one of them, or pass the tree with the larger leaves first."
        )


@untraced
def leaves(tree: Any) -> list[Any]:
    """The leaves that can have a gradient, in the tree's own order.

    >>> from adinterface import tree
    >>> tree.leaves({"w": [1.0, 2.0], "steps": 3})
    [1.0, 2.0]
    """
    return [leaf.value for leaf in apart(tree)[1] if leaf.differentiated]


@untraced
def leaves_with_path(tree: Any) -> list[tuple[str, Any]]:
    """As `leaves`, each behind its path as one writes it in Python.

    >>> from adinterface import tree
    >>> tree.leaves_with_path({"w": [1.0, 2.0], "steps": 3})
    [("['w'][0]", 1.0), ("['w'][1]", 2.0)]
    """
    structure, found = apart(tree)
    places = [(path, place) for path, place in paths_of(structure, "") if isinstance(place, LeafSpec) and place.differentiated]
    return [(path, leaf.value) for (path, _), leaf in zip(places, [leaf for leaf in found if leaf.differentiated])]


class TreeStructure:
    """What is left of a tree without the leaves that can have a gradient; equal for trees that differ in these alone."""

    def __init__(self, tree: Any):
        self._structure, found = apart(tree)
        self._places = [(leaf.differentiated, None if leaf.differentiated else leaf.value) for leaf in found]
        #: The path of each leaf, in order.
        self.paths: tuple[str, ...] = tuple([path for path, _ in leaves_with_path(tree)])
        self._key = structure_key(self._structure)

    def __len__(self) -> int:
        """The number of leaves."""
        return len(self.paths)

    def unflatten(self, leaves: Sequence[Any]) -> Any:
        """The tree with these leaves. Raises TreeError if they are too many or too few."""
        if len(leaves) != len(self):
            raise TreeError(f"The structure has {len(self)} leaves, not {len(leaves)}.")
        values = iter(leaves)
        return rebuild(self._structure, iter([next(values) if fills else kept for fills, kept in self._places]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeStructure) and bool(self._key == other._key)

    def __hash__(self) -> int:
        return hash(self.paths)

    def __repr__(self) -> str:
        return f"TreeStructure({len(self)} leaves: {', '.join(path or 'the tree itself' for path in self.paths)})"


@untraced
def structure(tree: Any) -> TreeStructure:
    """The structure of a tree, to compare or to `unflatten` other leaves with.

    >>> from adinterface import tree
    >>> tree.structure({"a": 1.0}) == tree.structure({"a": 2.0})
    True
    """
    return TreeStructure(tree)


# What the functions of this folder are made of --------------------------------------------------------------------------


def apart(tree: Any) -> tuple[Structure, list[Leaf]]:
    """The structure of a tree and its numeric leaves, in order."""
    found: list[Leaf] = []
    structure = flatten(tree, found, lambda: "the tree")
    if not _holds_frozen(structure):
        return structure, found
    thawed: list[Leaf] = []
    return _thawed(structure, iter(found), thawed), thawed


def _is_frozen(node: Node) -> bool:
    return node.type.held and all(isinstance(child, Frozen) for child in children_of(node))


def _holds_frozen(structure: Structure) -> bool:
    return isinstance(structure, Node) and (_is_frozen(structure) or any(_holds_frozen(child) for child in structure.children))


def _thawed(structure: Structure, found: Iterator[Leaf], leaves: list[Leaf], thaws: bool = False) -> Structure:
    """The structure in which what a held container has frozen as a whole, as a gradient has, counts."""
    if isinstance(structure, LeafSpec):
        leaf = next(found)
        counts = structure.differentiated or (thaws and leaf.library.is_floating(leaf.value))
        leaves.append(Leaf(leaf.value, leaf.library, leaf.holder, counts))
        return DIFFERENTIATED if counts else structure
    if isinstance(structure, Frozen):
        inner = _thawed(structure.inner, found, leaves, thaws)
        return inner if thaws else Frozen(inner)
    if isinstance(structure, Node):
        thaws = _is_frozen(structure)
        children = [_thawed(child, found, leaves, thaws) for child in structure.children]
        return Node(structure.type, structure.data, tuple(children))
    return structure


def rebuild(structure: Structure, values: Iterator[Any]) -> Any:
    """The tree with these leaves, for the user: Constants stay, and a container that is held is one of its own."""
    if isinstance(structure, LeafSpec):
        return next(values)
    if isinstance(structure, Frozen):
        return Constant(rebuild(structure.inner, values))
    if isinstance(structure, Node):
        return structure.type.replace(structure.data, [rebuild(child, values) for child in structure.children])
    return structure.value


def along(
    structure: Structure,
    tree: Any,
    other: Any,
    name: str,
    path: str = "",
    *,
    first: str = "the first tree",
    whatever: bool = False,
    fits: Fits | None = None,
) -> Iterator[Any]:
    """What another tree has in the place of each leaf; None where it has none, or the leaf is in a Constant.

    fits: a further demand on the two, such as `require_shape`.
    Raises TreeError, with both, where that has another structure, or has no number or array, unless `whatever` may stand there.
    """
    if isinstance(structure, Static):
        return
    if type(other) is Constant:
        other = other.value
    if isinstance(structure, Frozen) or other is None:
        yield from [None] * count_leaves(structure)
    elif isinstance(structure, LeafSpec):
        if not whatever and not isinstance(handler_of(other, scan=False), Library):
            raise _misfit(tree, other, name, path, first)
        if fits is not None and structure.differentiated:
            fits(tree, other, name + path, first)
        yield other
    else:
        if type(tree) is not type(other):
            raise _misfit(tree, other, name, path, first)
        kind = structure.type
        children = [child.value if type(child) is Constant else child for child in kind.flatten(tree)[0]]
        keys, (parts, seen) = kind.paths(structure.data, len(children)), kind.parts(structure.data, other)
        if len(keys) != len(seen):
            raise TreeError(f"{name}{path} has {len(seen)} children, but {first} has {len(keys)} there.")
        if keys != seen:
            raise TreeError(
                f"{name}{path} has the keys {', '.join(key.strip('[].') for key in seen)}, but {first} has "
                f"{', '.join(key.strip('[].') for key in keys)} there."
            )
        for inner, child, part, key in zip(children_of(structure), children, parts, keys):
            yield from along(inner, child, part, name, path + key, first=first, whatever=whatever, fits=fits)


def require_shape(leaf: Any, other: Any, place: str, first: str) -> None:
    """Raises TreeError, with the path, for a leaf of another shape: arithmetic would broadcast the two."""
    own, seen = require_leaf(leaf, first).shape(leaf), require_leaf(other, place).shape(other)
    if own != seen:
        raise TreeError(f"{place} has shape {seen}, but {first} has shape {own} there. Nothing is broadcast: pass shape {own}.")


def require_like(leaf: Any, other: Any, place: str, first: str) -> None:
    """As `require_shape`; also where a real leaf would have to take a complex number."""
    require_shape(leaf, other, place, first)
    if is_complex(other) and not is_complex(leaf):
        raise TreeError(
            f"{place} is complex, but {first} has real numbers there. Nothing is narrowed: pass the real part, or make the "
            f"leaf complex."
        )


def is_complex(x: Any) -> bool:
    """Whether a number or an array is complex."""
    library = require_leaf(x, "the tree")
    return type(x) is complex or kind(library.dtype(x)) == "complex"


def leaf_path(structure: Structure, n: int) -> str:
    """The path of the n-th leaf."""
    return [path for path, spec in paths_of(structure, "") for _ in range(count_leaves(spec))][n]


def _misfit(tree: Any, other: Any, name: str, path: str, first: str) -> TreeError:
    remedy = ""
    if type(other) is tuple and len(other) == 1 and not path:
        remedy = " A gradient comes as a tuple with an entry for each argument of f: pass the entry, gradient(...)[0]."
    return TreeError(f"{name}{path} is a {type(other).__name__}, but {first} has a {type(tree).__name__} there.{remedy}")


def precision(found: Sequence[Leaf]) -> AbstractContextManager[Any]:
    """The scope in which arithmetic on these leaves keeps their dtypes, as a call of an operator on them has it."""
    engines = [leaf for leaf in found if leaf.differentiated and leaf.library is not NUMPY and leaf.library is not PYTHON]
    dtypes = tuple([leaf.library.dtype(leaf.value) for leaf in engines])
    scopes = ExitStack()
    for library in dict.fromkeys([leaf.library for leaf in engines]):
        scoping = library.precision(dtypes)
        scope = None if scoping is None else scoping()
        if scope is not None:
            scopes.enter_context(scope)
    return scopes


def require_leaf(value: Any, name: str) -> Library:
    """The library of what must be a number or an array."""
    handler = handler_of(value, scan=False)
    if not isinstance(handler, Library):
        raise TreeError(f"{name} must be a number or an array, not a {type(value).__name__}.")
    return handler


def structure_key(structure: Structure) -> Any:
    """Equal for structures between which f could not tell."""
    if isinstance(structure, LeafSpec):
        return structure.differentiated
    if isinstance(structure, Frozen):
        return "Constant", structure_key(structure.inner)
    if isinstance(structure, Node):
        children = tuple([structure_key(child) for child in children_of(structure)])
        return structure.type, structure.type.key(structure.data), children
    try:
        return exactly(structure.value)
    except Unkeyed:
        return contents(structure.value)
