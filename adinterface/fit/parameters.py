"""The parameters of a model, each once: an array at several places is one parameter.

As in Optimisers.jl, the gradients of all places of tied weights are added, and the parameter moves
once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .._trees import Fits, along, flatten_tree, rebuild
from ..core.contract.errors import NotDifferentiableError, TreeError
from ..core.contract.library import PYTHON, Library, complex_of, widest
from ..core.contract.nodes import NodeType
from ..core.tree import Structure, count_leaves, handler_of, is_promoted
from ..core.tree.structures import Constant, Leaf, is_stateful
from ..tree.mapping import precision, require_leaf, require_like


class Parameters:
    """The parameters of a model. `rebuilt` gives the model with other values of them."""

    def __init__(self, model: Any):
        self.model = model
        self.structure: Structure
        self.found: list[Leaf]
        self.structure, self.found = flatten_tree(model)
        known: dict[Any, int] = {}
        #: One leaf for each parameter.
        self.once: list[Leaf] = []
        #: For each leaf of the model: its parameter, or None for a leaf that is not optimised.
        self.places: list[int | None] = []
        for n, leaf in enumerate(self.found):
            if not leaf.differentiated:
                self.places.append(None)
                continue
            # Equal Python numbers may be one object without being one variable.
            place = known.setdefault(n if leaf.library is PYTHON else (id(leaf.value),), len(known))
            if place == len(self.once):
                self.once.append(leaf)
            self.places.append(place)

    @property
    def values(self) -> list[Any]:
        """The value of each parameter."""
        return [leaf.value for leaf in self.once]

    @property
    def library(self) -> Library | None:
        """The library of the first array; None if all parameters are Python numbers."""
        return next((leaf.library for leaf in self.once if leaf.library is not PYTHON), None)

    @property
    def dtypes(self) -> list[str]:
        """The dtype of each parameter; a Python number takes the widest among the arrays."""
        arrays = [leaf for leaf in self.once if leaf.library is not PYTHON]
        real = widest([leaf.library.dtype(leaf.value) for leaf in arrays])
        numbers = {complex: complex_of(real)}
        return [
            numbers.get(type(x.value), real) if x.library is PYTHON else x.library.dtype(x.value)
            for x in self.once
        ]

    def paths(self) -> list[str]:
        """The first place of each parameter."""
        paths: list[str] = []
        places = iter(self.places)
        for path, spec in self.structure.places(""):
            for place in islice(places, count_leaves(spec)):
                if place == len(paths):
                    paths.append(path)
        return paths

    def along(self, other: Any, name: str, fits: Fits | None = require_like) -> list[Any]:
        """For each leaf of the model, the value there in a tree like the model.

        Raises TreeError, with the path, for another structure or shape, or a complex value for a
        real leaf; with another `fits`, its errors.
        """
        return along(self.structure, self.found, other, name, first="the model", fits=fits)

    def gradients(
        self,
        gradient: Any,
        name: str = "the gradient",
        *,
        required: bool = False,
        fits: Fits | None = require_like,
    ) -> list[Any]:
        """The gradient of each parameter, added over all places of one array.

        None for one without a gradient.

        gradient: a tree like the model, or the result of `gradient(f, backend, model,
        Constant(x))`. Raises the errors of `along`. With `required`, a parameter without a gradient
        raises TreeError.
        """
        total: list[Any] = [None] * len(self.once)
        parts = self.along(one_gradient(self.model, gradient), name, fits)
        with precision(self.once):
            for place, part in zip(self.places, parts):
                if place is not None and part is not None:
                    total[place] = part if total[place] is None else total[place] + part
        if required and any(part is None for part in total):
            lacking = next(path for path, part in zip(self.paths(), total) if part is None)
            raise TreeError(
                f"The gradient has None for the model's parameter {lacking or 'itself'}, and an"
                " optimiser's state cannot leave one out. If it is not to be moved, wrap it in"
                " Constant(...) in the model, too; update(...) skips None."
            )
        return total

    def rebuilt(self, values: Sequence[Any]) -> Any:
        """The model with a new value for each parameter, at all its places."""
        return rebuild(
            self.structure,
            iter(
                [
                    leaf.value if place is None else values[place]
                    for leaf, place in zip(self.found, self.places)
                ]
            ),
        )


def stateful_type(structure: Structure) -> NodeType | None:
    """The type of an object in a tree that f may write to, if there is one."""
    return next((node.type for node in structure.nodes() if is_stateful(node.type)), None)


def each_constant(change: Callable[[Any], Any], model: Any) -> Any:
    """The model with `change(x)` in place of each `Constant(x)`.

    Subtrees without a Constant are the same objects.
    """
    if type(model) is Constant:
        return change(model.value)
    handler = handler_of(model, scan=False)
    # which f gets itself
    if not isinstance(handler, NodeType) or handler.is_owner or is_stateful(handler):
        return model
    children, data = handler.flatten(model)
    changed = [each_constant(change, child) for child in children]
    same = all(new is old for new, old in zip(changed, children))
    return model if same else handler.replace(data, changed)


def require_floats(model: Any, name: str = "The start") -> None:
    """Raises NotDifferentiableError for an integer that was meant as a number to be fitted."""

    def refuse(value: Any, path: str) -> None:
        single = require_leaf(value, path).shape(value) == ()
        seen, floating = (
            (f"the integer {value}", f"{float(value)}")
            if single
            else ("an array of integers", "floating numbers")
        )
        raise NotDifferentiableError(
            f"{name}{path} is {seen}, which has no gradient and would stay as it is. Write"
            f" {floating}, or Constant({value if single else '...'}) to keep it."
        )

    flatten_tree(model)  # names the place where a tree holds itself
    each_integer(refuse, model)


def as_floats(data: Any) -> Any:
    """Data with floating numbers in place of its integers."""
    return each_integer(
        lambda value, path: require_leaf(value, path).to_numpy(value).astype(np.float64), data
    )


def each_integer(
    change: Callable[[Any, str], Any], tree: Any, path: str = "", number: bool = True
) -> Any:
    """The tree with `change(value, path)` in place of each integer meant as a number.

    Arrays of integers count, too.

    It is where it is the tree itself, an entry of a dict, list or tuple, or a field that is
    annotated as a float. Elsewhere an integer is structure, also in the containers of a field that
    is annotated with int.
    number: whether the tree is meant as a number if it is an integer.
    """
    handler = handler_of(tree, scan=False)
    if isinstance(handler, Library):
        return change(tree, path) if number and is_promoted(handler.dtype(tree)) else tree
    if (
        handler is None
        or type(tree) is Constant
        or handler.is_owner
        or is_stateful(handler)
        or handler.fixes_numbers
    ):
        return tree
    children, data = handler.flatten(tree)
    plain = "float" if isinstance(tree, (dict, list, tuple)) else ""
    fields = getattr(tree, "__dataclass_fields__", {}).values() or getattr(
        tree, "__attrs_attrs__", ()
    )
    types = {f".{field.name}": str(field.type).lower() for field in fields}
    changed = []
    for key, child in zip(handler.paths(data, len(children)), children):
        type_of = types.get(key, plain)
        floats = re.search("float|complex", type_of) is not None
        if floats or not re.search(r"\bu?int", type_of):
            child = each_integer(change, child, path + key, floats)
        changed.append(child)
    same = all(new is old for new, old in zip(changed, children))
    return tree if same else handler.replace(data, changed)


def one_gradient(model: Any, gradient: Any) -> Any:
    """The gradient of the model, from the result of an operator.

    An operator gives a tuple with one entry for each argument of f.

    Raises TreeError for a tuple with gradients of several arguments.
    """
    # value_and_gradient's
    gradient = getattr(gradient, "gradient", gradient) if isinstance(gradient, tuple) else gradient
    if type(gradient) is not tuple or type(model) is tuple or not gradient:
        return gradient
    if any(part is not None for part in gradient[1:]):
        raise TreeError(
            f"The gradient is a tuple of {len(gradient)} entries, as `gradient` returns it for as"
            f" many arguments, but the model is one {type(model).__name__}. Wrap the other"
            " arguments of f in Constant(...), or make the model a tuple of all."
        )
    return gradient[0]
