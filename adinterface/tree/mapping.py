"""One function at every leaf of one tree or of several side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from .._trees import along, flatten_tree, rebuild, structure_key
from ..core.contract.errors import TreeError
from ..core.contract.library import NUMPY, PYTHON, Library, dtype_kind
from ..core.contract.tracing import untraced
from ..core.tree.recognition import handler_of
from ..core.tree.structures import DIFFERENTIATED, Leaf, Static, Structure, count_leaves


@untraced
def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree like the first, with `function(leaf, *others' leaves)` for every leaf.

    Only leaves that can have a gradient count.

    Leaves are floating and complex arrays and Python's float and complex. Everything else is kept
    from the first tree: integers, strings, None, Constants, static fields, frozen parameters. A
    leaf for which another tree has None is kept too, so that `map(lambda p, g: p - rate * g, model,
    gradient)` leaves alone what has no gradient. Of an `nn.Module` it gives a module of the same
    class around new parameters; where its parameters are all frozen, as a gradient's are, all
    count.

    Raises TypeError if the first argument is no function. Raises TreeError, with the path, where
    another tree has another structure, or where broadcasting leaves of other shapes made a result
    larger than the leaf.

    >>> from adinterface import tree
    >>> tree.map(lambda p, g: p - 0.5 * g, {"w": 3.0, "name": "linear"}, {"w": 2.0, "name": None})
    {'w': 2.0, 'name': 'linear'}
    """
    structure, result = flatten_tree(tree)
    if not callable(function) or (isinstance(structure, Static) and callable(tree)):
        raise TypeError(
            "map: the order of arguments is map(function, tree, *others), not a"
            f" {type(function).__name__} and then a {type(tree).__name__}."
        )
    rows = [along(structure, result, other, f"tree {n}") for n, other in enumerate(others, 2)]
    values = []
    with precision(result):
        for n, (leaf, *parts) in enumerate(zip(result, *rows)):
            if not leaf.differentiated or any(part is None for part in parts):
                values.append(leaf.value)
                continue
            values.append(function(leaf.value, *parts))
            if parts:
                _refuse_spread(leaf, parts, values[-1], lambda n=n: leaf_path(structure, n))  # type: ignore[misc]
    return rebuild(structure, iter(values))


def _refuse_spread(leaf: Leaf, parts: Sequence[Any], value: Any, path: Callable[[], str]) -> None:
    """Refuse a result that is larger than the leaf because leaves of other shapes were broadcast.

    Any other result is allowed, such as the outer product of two vectors.
    """
    own = leaf.library.shape(leaf.value)
    shapes = [own, *[require_leaf(part, "a tree").shape(part) for part in parts]]
    library = handler_of(value, scan=False)
    if (
        all(shape == own for shape in shapes)
        or not isinstance(library, Library)
        or library.shape(value) == own
    ):
        return
    try:
        spread = np.broadcast_shapes(*shapes) == library.shape(value)
    except ValueError:
        return
    if spread:
        raise TreeError(
            f"map: the leaf {path() or 'itself'} has shape {own}, but with leaves of shape"
            f" {', '.join([str(shape) for shape in shapes[1:]])} it was broadcast to"
            f" {library.shape(value)}. Reshape one of them, or pass the tree with the larger leaves"
            " first."
        )


@untraced
def leaves(tree: Any) -> list[Any]:
    """The leaves that can have a gradient, in the tree's own order.

    >>> from adinterface import tree
    >>> tree.leaves({"w": [1.0, 2.0], "steps": 3})
    [1.0, 2.0]
    """
    return [leaf.value for leaf in flatten_tree(tree)[1] if leaf.differentiated]


@untraced
def leaves_with_path(tree: Any) -> list[tuple[str, Any]]:
    """As `leaves`, each behind its path as one writes it in Python.

    >>> from adinterface import tree
    >>> tree.leaves_with_path({"w": [1.0, 2.0], "steps": 3})
    [("['w'][0]", 1.0), ("['w'][1]", 2.0)]
    """
    structure, result = flatten_tree(tree)
    paths = [path for path, place in structure.places("") if place is DIFFERENTIATED]
    return [*zip(paths, [leaf.value for leaf in result if leaf.differentiated])]


class TreeStructure:
    """What is left of a tree without the leaves that can have a gradient.

    Equal for trees that differ in these alone.
    """

    def __init__(self, tree: Any):
        self._structure, result = flatten_tree(tree)
        self._places = [
            (leaf.differentiated, None if leaf.differentiated else leaf.value) for leaf in result
        ]
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
        return rebuild(
            self._structure, iter([next(values) if fills else kept for fills, kept in self._places])
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeStructure) and bool(self._key == other._key)

    def __hash__(self) -> int:
        return hash(self.paths)

    def __repr__(self) -> str:
        return (
            f"TreeStructure({len(self)} leaves:"
            f" {', '.join(path or 'the tree itself' for path in self.paths)})"
        )


@untraced
def structure(tree: Any) -> TreeStructure:
    """The structure of a tree, to compare or to `unflatten` other leaves with.

    >>> from adinterface import tree
    >>> tree.structure({"a": 1.0}) == tree.structure({"a": 2.0})
    True
    """
    return TreeStructure(tree)


# Helpers of the functions of this folder
# ----------------------------------------------------------------------------------


def require_shape(leaf: Any, other: Any, place: str, first: str) -> None:
    """Raises TreeError for a leaf of another shape, which arithmetic would broadcast."""
    own, seen = require_leaf(leaf, first).shape(leaf), require_leaf(other, place).shape(other)
    if own != seen:
        raise TreeError(
            f"{place} has shape {seen}, but {first} has shape {own} there. Nothing is broadcast:"
            f" pass shape {own}."
        )


def require_like(leaf: Any, other: Any, place: str, first: str) -> None:
    """As `require_shape`; also where a real leaf would have to take a complex number."""
    require_shape(leaf, other, place, first)
    if is_complex(other) and not is_complex(leaf):
        raise TreeError(
            f"{place} is complex, but {first} has real numbers there. Nothing is narrowed: pass the"
            " real part, or make the leaf complex."
        )


def is_complex(x: Any) -> bool:
    library = require_leaf(x, "the tree")
    return type(x) is complex or dtype_kind(library.dtype(x)) == "complex"


def leaf_path(structure: Structure, n: int) -> str:
    return [path for path, place in structure.places("") for _ in range(count_leaves(place))][n]


def precision(found: Sequence[Leaf]) -> AbstractContextManager[Any]:
    """The scope in which arithmetic on these leaves keeps their dtypes."""
    engines = [
        leaf
        for leaf in found
        if leaf.differentiated and leaf.library is not NUMPY and leaf.library is not PYTHON
    ]
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
