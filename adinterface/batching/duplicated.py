"""A model with a buffer for its gradient, as Enzyme's `Duplicated`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Generic, TypeVar

import numpy as np

from .._trees import along, flatten_tree, rebuild
from ..core.contract.errors import ConversionError, NotDifferentiableError, TreeError
from ..core.contract.library import PYTHON, Library
from ..core.contract.nodes import Around
from ..core.contract.registry import REGISTRY
from ..core.tree import flatten, handler_of
from ..core.tree.structures import Leaf, Marker, build_gradient

T = TypeVar("T")


class Duplicated(Generic[T]):
    """A model, as an argument of `gradient`, with buffers that hold its gradient.

    `value_and_gradient` takes it, too.

    The gradient is written into `gradient`, and the operator returns that for this argument. NumPy
    and torch buffers are written in place, the same arrays in every call; JAX arrays cannot be
    written to, so they are replaced. With `accumulate`, each call adds to the buffers until
    `zero()`; otherwise it replaces their contents. f receives the model itself.

    value: the model. gradient: has the model's structure, types and shapes, as `gradient` returns
    it; zeros at first.

    Raises NotDifferentiableError for a model in which nothing has a gradient. A call raises
    TreeError if the model's shapes or dtypes have changed, and ConversionError inside an engine's
    own transformation, since buffers hold numbers.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, Duplicated, gradient
    >>> model = Duplicated({"w": np.array([1.0, 2.0])}, accumulate=True)
    >>> for x in (1.0, 10.0):
    ...     grads = gradient(lambda m, x: x * m["w"].sum(), AutoFiniteDifferences(), model, x)
    >>> model.gradient["w"].round(6)
    array([11., 11.])
    """

    __slots__ = ("accumulate", "gradient", "value")

    def __init__(self, value: T, *, accumulate: bool = False):
        self.value: T = value
        self.accumulate: bool = accumulate
        structure, result = flatten(value, "the model")
        if not any(leaf.differentiated for leaf in result):
            raise NotDifferentiableError(
                f"Duplicated: nothing in this {type(value).__name__} has a gradient, so there is"
                " nothing to store. Floating numbers and arrays have one; an integer is structure"
                " here."
            )
        self.gradient: T = build_gradient(
            structure, iter([_zeros(leaf) for leaf in result if leaf.differentiated])
        )

    def zero(self) -> None:
        """Set the gradient to zero, in place where arrays can be written to."""
        structure, result = flatten_tree(self.gradient)
        values = [
            _written(leaf, _zeros(leaf), False) if leaf.differentiated else leaf.value
            for leaf in result
        ]
        self.keep(structure, result, values)

    def __repr__(self) -> str:
        leaves = [leaf for leaf in flatten_tree(self.gradient)[1] if leaf.differentiated]
        size = np.linalg.norm(
            [float(np.linalg.norm(leaf.library.to_numpy(leaf.value))) for leaf in leaves]
        )
        return (
            f"Duplicated({type(self.value).__name__} with {len(leaves)} arrays, norm of the"
            f" gradient {size:.6g}{', accumulating' if self.accumulate else ''})"
        )

    def keep(self, structure: Any, found: list[Leaf], values: list[Any]) -> None:
        """Replace buffers that could not be written to."""
        if any(value is not leaf.value for value, leaf in zip(values, found)):
            self.gradient = rebuild(structure, iter(values))


def _stored(duplicated: Duplicated[Any], gradient: Any) -> Any:
    """The contents of the buffers, after a gradient is written into them or added."""
    structure, result = flatten_tree(duplicated.gradient)
    try:
        given = along(structure, result, gradient, "the gradient", first="Duplicated")
    except TreeError as error:
        raise TreeError(
            f"Duplicated: the model has another structure than at first ({error}) Make a new one."
        ) from error
    pairs = [
        (leaf, new) for leaf, new in zip(result, given) if leaf.differentiated and new is not None
    ]
    for leaf, new in pairs:  # check all before anything is written
        _check(leaf, new)
    news = iter([_written(leaf, new, duplicated.accumulate) for leaf, new in pairs])
    values = [
        next(news) if leaf.differentiated and new is not None else leaf.value
        for leaf, new in zip(result, given)
    ]
    duplicated.keep(structure, result, values)
    return duplicated.gradient


def _zeros(leaf: Leaf) -> Any:
    scoping = leaf.library.precision((leaf.library.dtype(leaf.value),))
    with (None if scoping is None else scoping()) or nullcontext():
        return leaf.library.full_like(leaf.value, 0.0)


def _written(leaf: Leaf, new: Any, accumulate: bool) -> Any:
    buffer = leaf.value
    if leaf.library is PYTHON or not leaf.library.mutable or isinstance(buffer, np.generic):
        return buffer + new if accumulate else new
    if accumulate:
        buffer += new
    else:
        buffer[...] = new
    return buffer


def _check(leaf: Leaf, new: Any) -> None:
    library = handler_of(new)
    assert isinstance(library, Library)
    if library.traced(new):
        raise ConversionError(
            "Duplicated: its gradient would be a traced array, which must not outlive the call that"
            " traces it. Inside another derivative or an engine's own transformation pass the model"
            " itself, and store what comes out of it."
        )
    if library is not leaf.library or _shape_and_dtype(library, new) != _shape_and_dtype(
        library, leaf.value
    ):
        raise TreeError(
            "Duplicated: the model has changed since it was wrapped: a gradient is"
            f" {_described(library, new)}, and its buffer {_described(leaf.library, leaf.value)}."
            " Make a new Duplicated of the model."
        )


def _shape_and_dtype(library: Library, x: Any) -> tuple[Any, ...]:
    return library.shape(x), library.dtype(x)


def _described(library: Library, x: Any) -> str:
    return f"of shape {library.shape(x)} and dtype {library.dtype(x)} in {library.name}"


class _Storing:
    """Each gradient is written into the buffers of its argument. f gets the models themselves."""

    def __call__(self, call: Any, evaluate: Callable[[Any], Any]) -> Any:
        args, operator = call.arguments[0], call.plan.operator.name
        buffers = [id(arg) for arg in args if type(arg) is Duplicated]
        if len(set(buffers)) < len(buffers):
            raise TypeError(
                f"{operator}: two arguments are one and the same Duplicated, and there is room for"
                " one gradient in it. Wrap each on its own."
            )
        results = evaluate(call)
        gradients = results if type(results) is tuple else results.gradient
        entries = tuple(
            [
                _stored(arg, entry) if type(arg) is Duplicated else entry
                for arg, entry in zip(args, gradients)
            ]
        )
        return entries if type(results) is tuple else results._replace(gradient=entries)


class _Buffers(Marker):
    def around(self, operator: Any, plan: Any) -> Around:
        if any(
            node.type is self and node is not place
            for _, place in plan.places()
            for node in place.nodes()
        ):
            raise TypeError(
                f"{operator.name}: Duplicated(...) must be an argument itself, not stand inside a"
                " tree, a Constant or a keyword argument. Wrap the whole argument,"
                " Duplicated(model)."
            )
        if not (operator.writes and "arguments" in operator.forms):
            raise TypeError(
                f"{operator.name}: Duplicated(...) has room for a gradient, which gradient and"
                f" value_and_gradient store in it; {operator.name} has none. Pass the model itself."
            )
        return _Storing()


DUPLICATED = _Buffers(Duplicated)
REGISTRY.node_types[Duplicated] = DUPLICATED
