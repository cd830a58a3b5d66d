"""What only this project measures: objectives with Python structure inside, long loops, models of each engine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np
from adinterface_conformance.benchmark import engine_code
from adinterface_conformance.benchmark.cells import CELLS, OPERATORS, OTHER_LEAVES, Cell
from adinterface_conformance.benchmark.cells import chosen as of_leaf
from adinterface_conformance.benchmark.engine_code import LEAVES as OF_JUDGE
from adinterface_conformance.benchmark.engine_code import Leaf
from adinterface_conformance.benchmark.problems import Problem
from adinterface_conformance.case import Case
from adinterface_conformance.scenario import Scenario

import adinterface
from adinterface import AutoBackend

from ..scenarios import SCENARIOS
from .engine_code import Model
from .loops import Scan, chain, kalman_filter, recurrent_network, runge_kutta
from .loops import by_hand as hand_written
from .numbers import cell as array_and_number
from .objectives import bundle_adjustment, gaussian_mixture, hand_tracking, k_means, lstm, ode

LEAVES: tuple[Leaf, ...] = (*OF_JUDGE, "number", "module")

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


#: What is measured of pushforwards, in addition to the cells of the judge.
PUSHFORWARDS = (
    Cell("bundle adjustment", bundle_adjustment, (10,), ("pushforward",), forward=0),
    Cell("ODE", ode, (10,), ("pushforward",), forward=0),
)


def chosen(auto: AutoBackend, leaf: Leaf | None = None, objectives: bool = False) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its own."""
    cells = of_leaf(auto, leaf, OBJECTIVES if objectives else (*CELLS, *OTHER_LEAVES, array_and_number(auto), *PUSHFORWARDS))
    return cells if objectives or leaf not in (None, "module") else cells + models(auto)


#: Long loops, with the number of their steps.
LOOPS: tuple[tuple[str, int, Callable[[int, Any, Scan], Problem]], ...] = (
    ("Kalman filter", 1000, kalman_filter),
    ("Runge-Kutta fit", 2000, runge_kutta),
    ("LSTM", 200, recurrent_network),
)


def loops(auto: AutoBackend) -> list[Cell]:
    """Loops written with `scan`, compared with those that are written by hand for the engine."""
    yardstick = engine_code.find(auto.name)
    if yardstick is None:
        return []
    scan = hand_written(auto.name, yardstick.namespace)

    def cell(name: str, n: int, program: Callable[[int, Any, Scan], Problem]) -> Cell:
        def by_hand(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
            return yardstick.transform("ndarray", operator, program(n, yardstick.namespace, scan).scalar, prepared)

        return Cell(name, lambda n, xp: program(n, xp, adinterface.loops.scan), (n,), ("gradient",), forward=0, by_hand=by_hand)

    return [cell(*row) for row in LOOPS]


#: The same loop of more and more steps, as it is and with checkpoints, to see what each takes of memory.
LENGTHS = (100, 1_000, 4_000, 16_000)
CHECKPOINTS = tuple(
    Cell(f"checkpoint={every}", partial(chain, checkpoint=every), LENGTHS, ("gradient",), forward=0, alone=True)
    for every in (None, True)
)


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
    return Cell(model.name, build, (model.size,), model.operators, leaf="module", by_hand=by_hand, options=options)


def scenarios(pattern: str) -> list[Cell]:
    """The scenarios of this name pattern as cells, each at the size that it has."""

    def cell(scenario: Scenario) -> Cell:
        operator = scenario.operator.__name__
        # Hand-written code exists for plain calls only.
        plain = scenario.seed is None and scenario.tangents is None and not scenario.kwargs
        plain = plain and operator in OPERATORS and all(isinstance(arg, np.ndarray) for arg in scenario.args)
        problem = Problem(scenario.f, scenario.f, scenario.args[0] if plain and len(scenario.args) == 1 else None)
        call = lambda backend, f: Case(scenario, backend).apply(scenario.operator, f)
        size = numbers(scenario.args)
        return Cell(scenario.name, lambda n, xp: problem, (size,), (operator,), size, size, size, (operator,), call=call)

    return [cell(scenario) for scenario in SCENARIOS if fnmatchcase(scenario.name, pattern)]


def numbers(tree: Any) -> int:
    """How many numbers an argument holds, as far as plain containers show."""
    if isinstance(tree, dict):
        return sum(numbers(child) for child in tree.values())
    return sum(numbers(child) for child in tree) if isinstance(tree, (tuple, list)) else int(np.size(tree))
