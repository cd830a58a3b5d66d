"""What is one object at several places of a model."""

from __future__ import annotations

from typing import Any

from ..contract.errors import TreeError
from ..contract.library import PYTHON, Library
from ..contract.nodes import NodeType
from .building import build_gradient
from .flattening import holder_of
from .recognition import handler_of
from .structure import DIFFERENTIATED, Constant, Node, Static, Structure


def sum_shared(model: Any, gradients: Any) -> Any:
    """Add up the gradients of what is one object in the model.

    Arrays that stand at several places of a model are several variables to `gradient`. If they are one parameter
    (tied weights), its gradient is the sum of theirs: this gives that sum at each of the places. `gradients` has the
    structure of `model`, as `gradient` returns it; the result has the structure of `gradients`.
    Raises TreeError if the two do not match.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> w = np.ones(1)
    >>> tree.sum_shared({"a": w, "b": w}, {"a": np.array([24.0]), "b": np.array([48.0])})
    {'a': array([72.]), 'b': array([72.])}
    """
    owners: list[Any] = []
    parts: list[Any] = []
    structure = _pair(model, gradients, owners, parts, "gradients")
    # Equal Python numbers may be one object without being one variable.
    keys = [n if handler_of(owner) is PYTHON else (id(owner),) for n, owner in enumerate(owners)]
    totals: dict[Any, Any] = {}
    for key, part in zip(keys, parts):
        totals[key] = totals[key] + part if key in totals else part
    taken: set[int] = set()
    sums: list[Any] = []
    for key in keys:
        total = totals[key]
        library = handler_of(total)
        sums.append(library.own(total, taken) if isinstance(library, Library) and library is not PYTHON else total)
    return build_gradient(structure, iter(sums))


def _pair(model: Any, other: Any, owners: list[Any], parts: list[Any], path: str) -> Structure:
    """Walk a model and a tree of its structure side by side, collecting the leaves that have a gradient."""
    if type(model) is Constant or other is None:
        return Static(model, "no gradient")
    handler = handler_of(model)
    if not isinstance(handler, NodeType):
        if not isinstance(handler_of(other), Library):
            raise TreeError(f"{path} is a {type(other).__name__}, but the model has a {type(model).__name__} there.")
        owners.append(model)
        parts.append(other)
        return DIFFERENTIATED
    if type(model) is not type(other):
        raise TreeError(f"{path} is a {type(other).__name__}, but the model has a {type(model).__name__} there.")
    children, data = handler.flatten(model)
    others = [child.value if type(child) is Constant else child for child in handler.flatten(other)[0]]
    if len(children) != len(others):
        raise TreeError(f"{path} has {len(others)} children, but the model has {len(children)} there.")
    keys = handler.paths(data, len(children))
    seen = handler.paths(handler.flatten(other)[1], len(children))
    if keys != seen:
        raise TreeError(
            f"{path} has the keys {', '.join(key.strip('[].') for key in seen)}, but the model has "
            f"{', '.join(key.strip('[].') for key in keys)} there."
        )
    paired = [_pair(child, o, owners, parts, path + key) for child, o, key in zip(children, others, keys)]
    itself = [Static(holder, "no gradient") for holder in holder_of(handler, model, children)]
    return Node(handler, data, (*itself, *paired))
