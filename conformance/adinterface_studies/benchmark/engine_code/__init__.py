"""Hand-written code of each engine for the benchmark: good code for one engine without this
package.

A module has the `name` of a backend value, and four names. `namespace` has the engine's functions.
`native` makes a NumPy array one of the engine's own, and `wait` waits until a result is computed;
None where there is no need. `transform(leaf, operator, f, prepared)` gives the operator as a
function of x and constants, or None; prepared, it does all possible work before the first call.
`hvp` and `pushforward` take a tangent after x; `pullback` takes a cotangent, and calls `back` once.
Models of an engine are in the module `NAME_models`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

#: What users bring: NumPy arrays, the engine's own, or models.
Leaf = Literal["ndarray", "native", "module"]
LEAVES: tuple[Leaf, ...] = ("ndarray", "native", "module")

Function = Callable[..., Any]


class Model(NamedTuple):
    """A model of the engine's own kind, and how those who use such models differentiate a function
    of it.
    """

    name: str
    #: How many numbers, or examples in a batch, the table shows as its size.
    size: int
    #: A real function of the model, an array-valued one, the model, further arguments.
    build: Callable[[], tuple[Function, Function, Any, tuple[Any, ...]]]
    #: As `transform` of the engine's module, for this model: from operator, f and prepared.
    transform: Callable[[str, Function, bool], Function | None]
    operators: tuple[str, ...] = ("gradient", "value_and_gradient")
    #: Options of the backend value with which ours is measured.
    options: Mapping[str, Any] = {}


@functools.cache
def find(name: str) -> Any:
    """The module of an engine, or of its models; None if there is none."""
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None


def leaves(tree: Any) -> list[Any]:
    """The leaves of dicts and lists."""
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else None
    return [tree] if children is None else [leaf for child in children for leaf in leaves(child)]


def build(tree: Any, parts: Iterator[Any]) -> Any:
    """A tree like this one, of other leaves."""
    if isinstance(tree, dict):
        return {key: build(child, parts) for key, child in tree.items()}
    return [build(child, parts) for child in tree] if isinstance(tree, list) else next(parts)
