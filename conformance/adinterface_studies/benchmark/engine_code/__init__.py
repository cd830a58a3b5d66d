"""What good users write with an engine alone, beyond what the benchmark of the judge measures.

A module is found by the `name` of the backend value and by what it is about, such as `torch_models`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Function = Callable[..., Any]


class Model(NamedTuple):
    """A model of the engine's own kind, and how those who use such models differentiate a function of it."""

    name: str
    #: How many numbers, or examples in a batch, the table shows as its size.
    size: int
    #: A real function of the model, an array-valued one, the model, further arguments.
    build: Callable[[], tuple[Function, Function, Any, tuple[Any, ...]]]
    #: As `transform` of the judge's yardstick, for this model.
    transform: Callable[[str, Function, bool], Function | None]
    operators: tuple[str, ...] = ("gradient", "value_and_gradient")
    #: Options of the backend value with which ours is measured.
    options: Mapping[str, Any] = {}
