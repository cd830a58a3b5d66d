"""Trees as vectors: sums, multiples, inner products and norms.

Each leaf keeps its own library and dtype.

The inner product is the real one, Re sum(conj(a) b), in which a gradient is the steepest ascent, of
complex numbers too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from .._trees import along, flatten_tree, rebuild
from ..core.contract.errors import ConversionError, TreeError
from ..core.contract.library import NUMPY, PYTHON, Library
from ..core.contract.tracing import untraced
from ..core.tree.recognition import handler_of
from ..core.tree.structures import Leaf, Structure
from .mapping import (
    is_complex,
    leaf_path,
    map,
    precision,
    require_leaf,
    require_like,
    require_shape,
)


@untraced
def zeros_like(tree: Any) -> Any:
    """The same tree with zeros for the leaves that can have a gradient.

    >>> from adinterface import tree
    >>> tree.zeros_like({"w": 3.0, "steps": 2})
    {'w': 0.0, 'steps': 2}
    """
    return map(_zero, tree)


@untraced
def add(a: Any, b: Any) -> Any:
    """a + b, leaf by leaf; where b has None, a's leaf.

    The leaves keep the type and dtype that they have in a.

    Nothing is broadcast. Raises TreeError, with the path, where b has another structure or shape,
    or is complex and a is real.

    >>> from adinterface import tree
    >>> tree.add({"w": 1.0, "b": 2.0}, {"w": 0.5, "b": None})
    {'w': 1.5, 'b': 2.0}
    """
    return _combined(lambda x, y: x + y, a, b)


@untraced
def scale(factor: Any, tree: Any) -> Any:
    """factor * tree, for a number or a 0-d array; leaves keep their type and dtype.

    Raises TreeError for a factor that is neither, or that is complex where a leaf is real.
    """
    structure, result = flatten_tree(tree)
    factor = checked_factor("scale: the factor", factor, structure, result)
    return map(lambda x: like(factor * x, x), tree)


@untraced
def axpy(factor: Any, x: Any, y: Any) -> Any:
    """factor * x + y, as in BLAS: like y, whose leaves are kept where x has None.

    factor: a number or a 0-d array. Nothing is broadcast. Raises TreeError, with the path, where x
    has another structure or shape, or is complex and y is real.

    >>> from adinterface import tree
    >>> tree.axpy(-0.1, {"w": 2.0}, {"w": 1.0})
    {'w': 0.8}
    """
    factor = checked_factor("axpy: the factor", factor, *flatten_tree(y))
    return _combined(lambda y, x: factor * x + y, y, x)


def _combined(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A tree like a, with a function of the leaves of both, brought into one library."""
    structure, result = flatten_tree(a)
    others = along(structure, result, b, "tree 2", fits=require_like)
    with precision(result):
        values = [
            (
                like(function(*in_one_library(leaf.value, other)), leaf.value)
                if leaf.differentiated and other is not None
                else leaf.value
            )
            for leaf, other in zip(result, others)
        ]
    return rebuild(structure, iter(values))


@untraced
def vdot(a: Any, b: Any) -> Any:
    """The real inner product Re sum(conj(a) b) of two trees; what is None in b counts as zero.

    A float for NumPy's and Python's numbers, else a 0-d array of the engine; of the first, where
    leaves are of several. Nothing is broadcast. Raises TreeError, with the path, where b has
    another structure or shape, ConversionError where two engines trace leaves.

    >>> from adinterface import tree
    >>> tree.vdot({"w": [1.0, 2.0]}, {"w": [3.0, 4.0]})
    11.0
    """
    structure, result = flatten_tree(a)
    total: Any = 0.0
    others = along(structure, result, b, "tree 2", fits=require_shape)
    with precision([*result, *flatten_tree(b)[1]]):
        for leaf, other in zip(result, others):
            if leaf.differentiated and other is not None:
                total, part = joined(total, _inner(*joined(leaf.value, other)))
                total = total + part
    return total


@untraced
def norm(tree: Any, ord: Literal[1, 2] | float = 2) -> Any:
    """The norm of all leaves as one vector: Euclidean, 1, or `math.inf` for the largest.

    A float for NumPy's and Python's numbers, else a 0-d array of the engine; of the first, where
    leaves are of several. Raises ValueError for another `ord`.

    >>> from adinterface import tree
    >>> tree.norm({"w": 3.0, "b": 4.0})
    5.0
    """
    result = flatten_tree(tree)[1]
    with precision(result):
        return _norm(tree, [leaf.value for leaf in result if leaf.differentiated], ord)


def _norm(tree: Any, found: list[Any], ord: float) -> Any:
    if ord == 2:
        return vdot(tree, tree) ** 0.5
    parts = [_modulus(leaf) for leaf in found]
    if ord == 1:
        total: Any = 0.0
        for xp, size in parts:
            total, part = joined(total, _number(xp.sum(size)))
            total = total + part
        return total
    if ord != math.inf:
        raise ValueError(f"norm: ord must be 1, 2 or math.inf, not {ord!r}.")
    sizes = [_number(xp.max(size)) for xp, size in parts if math.prod(size.shape)]
    largest: Any = max([size for size in sizes if isinstance(size, float)], default=0.0)
    for size in sizes:
        if not isinstance(size, float):
            largest, size = joined(largest, size)
            largest = (
                require_leaf(size, "the tree").namespace(size).where(size > largest, size, largest)
            )
    return largest


@untraced
def sum_shared(model: Any, gradients: Any) -> Any:
    """Add up the gradients of each array that is at several places of the model.

    To `gradient`, an array at several places is several variables. If they are one parameter (tied
    weights), its gradient is the sum of theirs: the result has that sum at each of the places.
    `gradients` has the structure of `model`, as `gradient` returns it; the result has the structure
    of `gradients`. Raises TreeError if the two do not match, in their shapes too.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> w = np.ones(1)
    >>> tree.sum_shared({"a": w, "b": w}, {"a": np.array([24.0]), "b": np.array([48.0])})
    {'a': array([72.]), 'b': array([72.])}
    """
    along(*flatten_tree(model), gradients, "gradients", first="the model", fits=require_shape)
    structure, places = flatten_tree(gradients)
    owners = along(structure, places, model, "the model", first="gradients")
    pairs = [(owner, place) for owner, place in zip(owners, places) if place.differentiated]
    # Equal Python numbers may be one object without being one variable.
    keys = [
        n if handler_of(owner) is PYTHON else (id(owner),) for n, (owner, _) in enumerate(pairs)
    ]
    totals: dict[Any, Any] = {}
    for key, (_, part) in zip(keys, pairs):
        totals[key] = totals[key] + part.value if key in totals else part.value
    taken: set[int] = set()
    sums: list[Any] = []
    for key in keys:
        total = totals[key]
        library = handler_of(total)
        sums.append(
            library.unshared(total, taken)
            if isinstance(library, Library) and library is not PYTHON
            else total
        )
    remaining = iter(sums)
    return rebuild(
        structure,
        iter([next(remaining) if place.differentiated else place.value for place in places]),
    )


# One leaf
# ------------------------------------------------------------------------------------------------


def _zero(x: Any) -> Any:
    if type(x) in (float, complex):
        return type(x)(0)
    library = require_leaf(x, "the tree")
    return like(library.namespace(x).zeros_like(x), x)


def like(result: Any, x: Any) -> Any:
    """A result in the type and dtype of the leaf x; a tracer stays one."""
    library, source = require_leaf(x, "the tree"), require_leaf(result, "the result")
    if library is PYTHON:
        return (
            type(x)(result)
            if source is PYTHON
            else result
            if source is not NUMPY
            else type(x)(result.item())
        )
    if type(x) is np.ndarray and source in (NUMPY, PYTHON):
        return np.asarray(result, dtype=x.dtype)
    if source is library and library.dtype(result) == library.dtype(x):
        return result
    dtype = library.dtype(x)
    if source is not library and source.traced(result):
        return source.asarray(result, dtype=dtype)
    return library.asarray(
        result if source is library else library.foreign(result, source), dtype=dtype, like=x
    )


def checked_factor(name: str, factor: Any, structure: Structure, found: Sequence[Leaf]) -> Any:
    """A number, or a 0-d array, as one that widens no array: NumPy's own scalars would.

    Raises TreeError for any other, which would be broadcast, and for a complex one where a leaf is
    real.
    """
    library = handler_of(factor, scan=False)
    if not isinstance(library, Library) or library.shape(factor) != ():
        seen = (
            f"shape {library.shape(factor)}"
            if isinstance(library, Library)
            else f"type {type(factor).__name__}"
        )
        raise TreeError(
            f"{name} must be a number or a 0-d array, but has {seen}. For one of each leaf write"
            " tree.map(lambda leaf, factor: factor * leaf, tree, factors)."
        )
    if is_complex(factor):
        for n, leaf in enumerate(found):
            if leaf.differentiated and not is_complex(leaf.value):
                path = leaf_path(structure, n) or "itself"
                raise TreeError(
                    f"{name} is complex, but the leaf {path} is real. Nothing is narrowed: make the"
                    " leaf complex."
                )
    number = factor.item() if library is NUMPY else factor
    if type(number) is not int or number.bit_length() <= 63:
        return number
    try:
        return float(number)  # engines do not take the int
    except OverflowError:
        raise TreeError(f"{name} has {number.bit_length():,} bits, too many for a float.") from None


def in_one_library(x: Any, y: Any) -> tuple[Any, Any]:
    """As `joined`, where what is converted takes the dtype of the leaf x."""
    dtype = require_leaf(x, "the tree").dtype(x)
    return joined(x, y, dtype)


def joined(x: Any, y: Any, dtype: str | None = None) -> tuple[Any, Any]:
    """Two numbers or arrays in one library: in that of the first, or of what is traced.

    Without `dtype` each keeps its own.

    Raises ConversionError where two engines trace them.
    """
    ours, theirs = require_leaf(x, "the tree"), require_leaf(y, "the tree")
    if ours is theirs or ours is PYTHON or theirs is PYTHON:
        return x, y
    if not theirs.traced(y):
        return x, ours.asarray(ours.foreign(y, theirs), dtype=dtype or theirs.dtype(y), like=x)
    if ours.traced(x):
        raise ConversionError(
            f"A leaf that {ours.name} traces meets one that {theirs.name} traces, and neither"
            " engine follows the other. Convert one of the trees first: tree.to(tree,"
            f" {ours.name!r})."
        )
    return theirs.asarray(theirs.foreign(x, ours), dtype=dtype or ours.dtype(x), like=y), y


def _inner(a: Any, b: Any) -> Any:
    array = next((x for x in (a, b) if type(x) not in (float, complex, int)), None)
    if array is None:
        return (a.conjugate() * b).real
    xp = require_leaf(array, "the tree").namespace(array)
    if is_complex(a):
        a = a.conjugate() if type(a) is complex else xp.conj(a)
    product = xp.asarray(a * b)  # of a number and an array: the number alone would be narrowed
    return _number(xp.sum(xp.real(product) if is_complex(product) else product))


def _modulus(x: Any) -> tuple[Any, Any]:
    library = require_leaf(x, "the tree")
    xp = library.namespace(x)
    return xp, xp.abs(xp.asarray(x))


def _number(x: Any) -> Any:
    return float(x) if isinstance(x, (np.ndarray, np.generic)) else x


__all__ = ["add", "axpy", "norm", "scale", "vdot", "zeros_like"]
