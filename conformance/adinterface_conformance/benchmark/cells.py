"""What the benchmark measures: functions written with an engine's own namespace, at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal

import numpy as np

import adinterface
from adinterface import AutoBackend
from adinterface.core.contract import registry
from adinterface.core.contract.backend import gives

from ..case import Case
from ..scenarios import SCENARIOS
from . import yardsticks
from .loops import Scan, chain, kalman_filter, recurrent_network, runge_kutta
from .objectives import bundle_adjustment, gaussian_mixture, hand_tracking, k_means, lstm, ode
from .problems import Problem, array_and_number, dict_of_six, layers, list_of_leaves, many_leaves, mlp, one_array, steps
from .yardsticks import Leaf, Model

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
    #: Sizes up to which an engine without reverse mode is asked for a gradient or Jacobian, and for an hvp: it evaluates
    #: f twice for each number, and four times for each with hvp.
    forward: int = 10_000
    forward_hvp: int = 10
    #: Which operators such an engine is asked for.
    forward_operators: tuple[str, ...] = OPERATORS
    #: Whether ours is measured without hand-written code, which takes quadratic time on some engine.
    alone: bool = False
    #: What the arguments are made of.
    leaf: Leaf = "ndarray"
    #: What a user writes for this, where the yardstick's `transform` of the leaf does not say.
    by_hand: Callable[[str, Callable[..., Any], bool], Callable[..., Any] | None] | None = None
    #: Options of the backend value with which ours is measured.
    options: tuple[tuple[str, Any], ...] = ()
    #: How an operator is called, for scenarios, which know their seeds, tangents and keywords.
    call: Callable[[AutoBackend, Callable[..., Any]], Any] | None = None

    def includes(self, operator: str, size: int, reverse: bool) -> bool:
        """Whether this is measured on an engine with, or without, reverse mode."""
        if operator not in self.operators or (operator == "jacobian" and size > self.dense):
            return False
        if reverse:
            return True
        return operator in self.forward_operators and size <= (self.forward_hvp if operator == "hvp" else self.forward)


CELLS = (
    Cell("one array", one_array, (10, 10_000, 1_000_000), dense=10_000),
    Cell("dict of 6", dict_of_six, (10,)),
    Cell("tree of leaves", many_leaves, (1000,), forward_operators=("gradient",)),
    Cell("MLP on a batch", mlp, (128,), forward=0, forward_hvp=0),
    Cell("wide: R^n -> R^10", lambda n, xp: layers(n, 512, 10, xp), (1000,), ("jacobian",)),
    Cell("tall: R^10 -> R^n", lambda n, xp: layers(10, 512, n, xp), (1000,), ("jacobian",)),
    Cell("one array", one_array, (10, 300), ("hessian",), forward=0),
)


def _native(cell: Cell, sizes: tuple[int, ...]) -> Cell:
    return replace(cell, leaf="native", sizes=sizes)


#: What the leaf is made of, beyond what `CELLS` has: NumPy arrays in a list, the engine's own arrays, a number.
STEPS = Cell("loop of 20 steps", steps, (10, 100_000), ("pullback",), forward=0)
OTHER_LEAVES = (
    Cell("list of leaves", list_of_leaves, (1000,), ("gradient",), forward=0),
    STEPS,
    Cell("bundle adjustment", bundle_adjustment, (10,), ("pushforward",), forward=0),
    Cell("ODE", ode, (10,), ("pushforward",), forward=0),
    _native(CELLS[0], (10, 10_000)),
    _native(CELLS[1], (10,)),
    _native(STEPS, (10, 100_000)),
    Cell("array and number", array_and_number, (10,), ("gradient", "value_and_gradient"), leaf="number"),
)

_OBJECTIVES = (
    Cell("Gaussian mixture", gaussian_mixture, (50,), ("gradient",), forward=0),
    Cell("bundle adjustment", bundle_adjustment, (10,), ("gradient", "jacobian"), forward=0),
    Cell("hand tracking", hand_tracking, (30,), ("gradient",), forward=0),
    Cell("ODE", ode, (10,), ("gradient",), forward=0),
    Cell("LSTM", lstm, (8,), ("gradient",), forward=0),
    Cell("k-means", k_means, (200,), ("gradient",), forward=0),
)
#: Objectives with Python structure inside, on NumPy arrays and on the engine's own.
OBJECTIVES = tuple(replace(cell, leaf=leaf) for cell in _OBJECTIVES for leaf in ("ndarray", "native"))


def chosen(auto: AutoBackend, leaf: Leaf | None = None, objectives: bool = False) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its own."""
    yardstick = yardsticks.find(auto.name)
    native = yardstick is not None and yardstick.native is not None
    cells = [cell for cell in (OBJECTIVES if objectives else (*CELLS, *OTHER_LEAVES)) if cell.leaf != "native" or native]
    if not objectives and leaf in (None, "module"):
        cells += models(auto)
    return [cell for cell in cells if leaf in (None, cell.leaf)]


#: Long loops, with the number of their steps.
LOOPS: tuple[tuple[str, int, Callable[[int, Any, Scan], Problem]], ...] = (
    ("Kalman filter", 1000, kalman_filter),
    ("Runge-Kutta fit", 2000, runge_kutta),
    ("LSTM", 200, recurrent_network),
)


def loops(auto: AutoBackend) -> list[Cell]:
    """Loops written with `scan`, beside those that are written by hand for the engine."""
    yardstick = yardsticks.find(auto.name)
    if yardstick is None:
        return []
    scan = yardstick.scan

    def cell(name: str, n: int, program: Callable[[int, Any, Scan], Problem]) -> Cell:
        def by_hand(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
            return yardstick.transform("ndarray", operator, program(n, yardstick.namespace, scan).scalar, prepared)

        return Cell(name, lambda n, xp: program(n, xp, adinterface.scan), (n,), ("gradient",), forward=0, by_hand=by_hand)

    return [cell(*row) for row in LOOPS]


#: The same loop of more and more steps, as it is and with checkpoints, to see what each takes of memory.
LENGTHS = (100, 1_000, 4_000, 16_000)
CHECKPOINTS = tuple(
    Cell(f"checkpoint={every}", partial(chain, checkpoint=every), LENGTHS, ("gradient",), forward=0, alone=True)
    for every in (None, True)
)


def models(auto: AutoBackend) -> list[Cell]:
    """Cells of the engine's own kinds of model."""
    yardstick = yardsticks.find(auto.name)
    return [] if yardstick is None else [_of_model(model) for model in yardstick.models()]


def _of_model(model: Model) -> Cell:
    def build(n: int, xp: Any) -> Problem:
        scalar, vector, x, constants = model.build()
        return Problem(scalar, vector, x, None, constants)

    by_hand, options = model.transform, tuple(model.options.items())
    return Cell(model.name, build, (model.size,), model.operators, leaf="module", by_hand=by_hand, options=options)


def scenarios(pattern: str) -> list[Cell]:
    """The scenarios of this name pattern as cells, each at the size that it has."""

    def cell(scenario: Any) -> Cell:
        operator = scenario.operator.__name__
        # Hand-written code exists for plain calls only.
        plain = scenario.seed is None and scenario.tangents is None and not scenario.kwargs
        plain = plain and operator in OPERATORS and all(isinstance(arg, np.ndarray) for arg in scenario.args)
        problem = Problem(scenario.f, scenario.f, scenario.args[0] if plain and len(scenario.args) == 1 else None)
        call = lambda backend, f: Case(scenario, backend).apply(scenario.operator, f)
        return Cell(scenario.name, lambda n, xp: problem, (numbers(scenario.args),), (operator,), call=call)

    return [cell(scenario) for scenario in SCENARIOS if fnmatchcase(scenario.name, pattern)]


def numbers(tree: Any) -> int:
    """How many numbers an argument holds, as far as plain containers show."""
    if isinstance(tree, dict):
        return sum(numbers(child) for child in tree.values())
    return sum(numbers(child) for child in tree) if isinstance(tree, (tuple, list)) else int(np.size(tree))


def goes_in_reverse(auto: AutoBackend) -> bool:
    return gives(registry.find(auto), "pullback")


__all__ = [
    "CELLS", "CHECKPOINTS", "LOOPS", "OBJECTIVES", "OPERATORS", "OTHER_LEAVES", "WAYS", "Cell", "Way", "chosen", "loops",
    "models", "scenarios",
]  # fmt: skip
