"""Trees as vectors: sums, multiples, inner products and norms, each leaf in its own library and dtype.

The inner product is the real one, Re sum(conj(a) b), in which a gradient is the steepest ascent, of complex numbers too.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ..contract.errors import TreeError
from ..contract.library import NUMPY, PYTHON, Library, kind
from .mapping import along, apart, map, precision, rebuild, require_leaf
from .structures import DIFFERENTIATED, count_leaves, paths_of


def zeros_like(tree: Any) -> Any:
    """The same tree with zeros for the leaves that can have a gradient.

    >>> from adinterface import tree
    >>> tree.zeros_like({"w": 3.0, "steps": 2})
    {'w': 0.0, 'steps': 2}
    """
    return map(_zero, tree)


def add(a: Any, b: Any) -> Any:
    """a + b, leaf by leaf; where b has None, a's leaf. The leaves keep the type and dtype that they have in a.

    >>> from adinterface import tree
    >>> tree.add({"w": 1.0, "b": 2.0}, {"w": 0.5, "b": None})
    {'w': 1.5, 'b': 2.0}
    """
    return map(lambda x, y: like(x + y, x), a, b)


def scale(factor: Any, tree: Any) -> Any:
    """factor * tree, for a number or a 0-d array; leaves keep their type and dtype."""
    factor = weak(factor)
    return map(lambda x: like(factor * x, x), tree)


def axpy(factor: Any, x: Any, y: Any) -> Any:
    """factor * x + y, as in BLAS: like y, whose leaves are kept where x has None.

    >>> from adinterface import tree
    >>> tree.axpy(-0.1, {"w": 2.0}, {"w": 1.0})
    {'w': 0.8}
    """
    factor = weak(factor)
    return map(lambda y, x: like(factor * x + y, y), y, x)


def vdot(a: Any, b: Any) -> Any:
    """The real inner product Re sum(conj(a) b) of two trees; what is None in b counts as zero.

    A float for NumPy's and Python's numbers, else a 0-d array of the engine.

    >>> from adinterface import tree
    >>> tree.vdot({"w": [1.0, 2.0]}, {"w": [3.0, 4.0]})
    11.0
    """
    structure, found = apart(a)
    total: Any = 0.0
    others = list(along(structure, a, b, "tree 2"))
    with precision(found):
        for leaf, other in zip(found, others):
            if leaf.differentiated and other is not None:
                total = total + _inner(leaf.value, other, leaf.library)
    return total


def norm(tree: Any, ord: Literal[1, 2] | float = 2) -> Any:
    """The norm of all leaves as one vector: Euclidean, the sum of moduli (1) or the largest modulus (`math.inf`).

    A float for NumPy's and Python's numbers, else a 0-d array of the engine. Raises ValueError for another `ord`.

    >>> from adinterface import tree
    >>> tree.norm({"w": 3.0, "b": 4.0})
    5.0
    """
    found = apart(tree)[1]
    with precision(found):
        return _norm(tree, [leaf.value for leaf in found if leaf.differentiated], ord)


def _norm(tree: Any, found: list[Any], ord: float) -> Any:
    if ord == 2:
        return vdot(tree, tree) ** 0.5
    parts = [_modulus(leaf) for leaf in found]
    if ord == 1:
        return sum([_number(xp.sum(size)) for xp, size in parts], start=0.0)
    if ord != math.inf:
        raise ValueError(f"norm: ord must be 1, 2 or math.inf, not {ord!r}.")
    sizes = [(xp, _number(xp.max(size))) for xp, size in parts if math.prod(size.shape)]
    largest: Any = max([size for _, size in sizes if isinstance(size, float)], default=0.0)
    for xp, size in sizes:
        largest = largest if isinstance(size, float) else xp.where(size > largest, size, largest)
    return largest


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b: the condition is one truth value, or a tree of them (or of boolean arrays) like a.

    Raises TreeError, with the path, where the trees differ, or an array of truth values does not fit the leaf's shape.

    >>> from adinterface import tree
    >>> tree.where({"w": True, "b": False}, {"w": 1.0, "b": 2.0}, {"w": 10.0, "b": 20.0})
    {'w': 1.0, 'b': 20.0}
    """
    structure, found = apart(a)
    one = structure is DIFFERENTIATED or type(condition) is not type(a)
    conditions = [condition] * len(found) if one else list(along(structure, a, condition, "the condition", whatever=True))
    others = list(along(structure, a, b, "tree 3"))
    with precision(found):
        values = [
            _chosen(condition, leaf.value, other, n, a) if leaf.differentiated and other is not None else leaf.value
            for n, (leaf, condition, other) in enumerate(zip(found, conditions, others))
        ]
    return rebuild(structure, iter(values))


# One leaf ---------------------------------------------------------------------------------------------------------------


def _zero(x: Any) -> Any:
    if type(x) in (float, complex):
        return type(x)(0)
    library = require_leaf(x, "the tree")
    return like(library.namespace(x).zeros_like(x), x)


def like(result: Any, x: Any) -> Any:
    """A result in the type and dtype of the leaf x; a tracer stays one."""
    library, source = require_leaf(x, "the tree"), require_leaf(result, "the result")
    if library is PYTHON:
        return type(x)(result) if source is PYTHON else result if source is not NUMPY else type(x)(result.item())
    if type(x) is np.ndarray and source in (NUMPY, PYTHON):
        return np.asarray(result, dtype=x.dtype)
    if source is library and library.dtype(result) == library.dtype(x):
        return result
    dtype = library.dtype(x)
    if source is not library and source.traced(result):
        return source.asarray(result, dtype=dtype)
    return library.asarray(result if source is library else library.foreign(result, source), dtype=dtype, like=x)


def weak(factor: Any) -> Any:
    """A number that widens no array: NumPy's own scalars would."""
    return factor.item() if isinstance(factor, (np.generic, np.ndarray)) and factor.ndim == 0 else factor


def _inner(a: Any, b: Any, library: Library) -> Any:
    if library is PYTHON and type(b) in (float, complex, int):
        return (a.conjugate() * b).real
    xp = (library if library is not PYTHON else require_leaf(b, "tree 2")).namespace(b if library is PYTHON else a)
    a, b = xp.asarray(a), xp.asarray(b)
    product = (xp.conj(a) if _is_complex(a) else a) * b
    return _number(xp.sum(xp.real(product) if _is_complex(product) else product))


def _is_complex(x: Any) -> bool:
    library = require_leaf(x, "the tree")
    return kind(library.dtype(x)) == "complex" or library.dtype(x) == "complex"


def _modulus(x: Any) -> tuple[Any, Any]:
    library = require_leaf(x, "the tree")
    xp = library.namespace(x)
    return xp, xp.abs(xp.asarray(x))


def _number(x: Any) -> Any:
    return float(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _chosen(condition: Any, a: Any, b: Any, n: int, tree: Any) -> Any:
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    library = require_leaf(a, "the tree")
    holder = require_leaf(condition, "the condition")
    shape, fits = library.shape(a), holder.shape(condition)
    if len(fits) > len(shape) or any(one not in (1, all) for one, all in zip(fits[::-1], shape[::-1])):
        path = [path for path, spec in paths_of(apart(tree)[0], "") for _ in range(count_leaves(spec))][n]
        raise TreeError(
            f"where: the condition has shape {fits}, but the leaf {path or 'itself'} has shape {shape}. Pass one truth value, "
            f"or a tree like the others, with a truth value or a boolean array for each leaf."
        )
    xp = (holder if library in (PYTHON, NUMPY) else library).namespace(condition if library in (PYTHON, NUMPY) else a)
    return like(xp.where(xp.asarray(condition), xp.asarray(a), xp.asarray(b)), a)


__all__ = ["add", "axpy", "norm", "scale", "vdot", "where", "zeros_like"]
