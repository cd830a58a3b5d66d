"""The cells of the benchmark: functions in the namespace of an engine, at several sizes."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from adinterface import AutoBackend
from adinterface.core.contract import registry

from . import engine_code
from .engine_code import Leaf, Model
from .problems import (
    Problem,
    dict_of_six,
    layers,
    list_of_leaves,
    many_leaves,
    mlp,
    one_array,
    steps,
)

Way = Literal["one-shot", "prepared"]
WAYS: tuple[Way, ...] = ("one-shot", "prepared")
OPERATORS = ("gradient", "value_and_gradient", "hvp", "jacobian")


@dataclass(frozen=True)
class Cell:
    """One problem at several sizes."""

    name: str
    #: From a size and the engine's own namespace.
    build: Callable[[int, Any], Problem]
    sizes: tuple[int, ...]
    operators: tuple[str, ...] = OPERATORS
    #: Sizes up to which there is a dense Jacobian.
    dense: int = 10_000
    #: Sizes up to which an engine without reverse mode is asked for a gradient or Jacobian, and for
    #: an hvp: it evaluates
    #: f twice for each number, and four times for each with hvp.
    forward: int = 10_000
    forward_hvp: int = 10
    #: Which operators such an engine is asked for.
    forward_operators: tuple[str, ...] = OPERATORS
    #: Whether ours is measured without hand-written code, which takes quadratic time on some
    #: engine.
    alone: bool = False
    #: What the arguments are made of.
    leaf: Leaf = "ndarray"
    #: What a user writes for this, where the yardstick's `transform` of the leaf does not say.
    by_hand: Callable[[str, Callable[..., Any], bool], Callable[..., Any] | None] | None = None
    #: Options of the backend value with which ours is measured.
    options: tuple[tuple[str, Any], ...] = ()

    def includes(self, operator: str, size: int, reverse: bool) -> bool:
        """Whether this is measured on an engine with, or without, reverse mode."""
        if operator not in self.operators or (operator == "jacobian" and size > self.dense):
            return False
        if reverse:
            return True
        return operator in self.forward_operators and size <= (
            self.forward_hvp if operator == "hvp" else self.forward
        )


CELLS = (
    Cell("one array", one_array, (10, 10_000, 1_000_000), dense=10_000),
    Cell("dict of 6", dict_of_six, (10,)),
    Cell("tree of leaves", many_leaves, (1000,), forward_operators=("gradient",)),
    Cell("MLP on a batch", mlp, (128,), forward=0, forward_hvp=0),
    Cell("wide: R^n -> R^10", lambda n, xp: layers(n, 512, 10, xp), (1000,), ("jacobian",)),
    Cell("tall: R^10 -> R^n", lambda n, xp: layers(10, 512, n, xp), (1000,), ("jacobian",)),
    Cell("one array", one_array, (10, 300), ("hessian",), forward=0),
    Cell("one array", one_array, (10,), ("pushforward", "pullback"), forward=0),
)


def _native(cell: Cell, sizes: tuple[int, ...]) -> Cell:
    return replace(cell, leaf="native", sizes=sizes)


#: What the leaf is made of, beyond what `CELLS` has: NumPy arrays in a list, the engine's own
#: arrays.
STEPS = Cell("loop of 20 steps", steps, (10, 100_000), ("pullback",), forward=0)
OTHER_LEAVES = (
    Cell("list of leaves", list_of_leaves, (1000,), ("gradient",), forward=0),
    STEPS,
    _native(CELLS[0], (10, 10_000)),
    _native(CELLS[1], (10,)),
    _native(STEPS, (10, 100_000)),
)


def chosen(auto: AutoBackend, leaf: Leaf | None = None) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its
    own.
    """
    yardstick = engine_code.find(auto.name)
    native = yardstick is not None and yardstick.native is not None
    cells = [*CELLS, *OTHER_LEAVES, *models(auto)]
    return [
        cell for cell in cells if leaf in (None, cell.leaf) and (cell.leaf != "native" or native)
    ]


def models(auto: AutoBackend) -> list[Cell]:
    """Cells of the engine's own kinds of model."""
    module = f"{__package__}.engine_code.{auto.name}_models"
    if importlib.util.find_spec(module) is None:
        return []
    return [_of_model(model) for model in importlib.import_module(module).models()]


def _of_model(model: Model) -> Cell:
    def build(n: int, xp: Any) -> Problem:
        scalar, vector, x, constants = model.build()
        return Problem(scalar, vector, x, None, constants)

    by_hand, options = model.transform, tuple(model.options.items())
    return Cell(
        model.name,
        build,
        (model.size,),
        model.operators,
        leaf="module",
        by_hand=by_hand,
        options=options,
    )


def goes_in_reverse(auto: AutoBackend) -> bool:
    return "pullback" in registry.find(auto).gives
