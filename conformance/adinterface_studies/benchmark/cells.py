"""What only this project measures: long loops, models of each engine, pushforwards of code with Python structure inside."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

from adinterface_conformance.benchmark import engine_code
from adinterface_conformance.benchmark.cells import CELLS, OTHER_LEAVES, Cell
from adinterface_conformance.benchmark.cells import chosen as of_leaf
from adinterface_conformance.benchmark.engine_code import LEAVES as OF_JUDGE
from adinterface_conformance.benchmark.engine_code import Leaf
from adinterface_conformance.benchmark.problems import Problem

import adinterface
from adinterface import AutoBackend

from .engine_code import Model
from .loops import Scan, chain, kalman_filter, recurrent_network, runge_kutta
from .loops import by_hand as hand_written
from .numbers import cell as array_and_number
from .objectives import bundle_adjustment, ode

LEAVES: tuple[Leaf, ...] = (*OF_JUDGE, "number", "module")

#: What is measured of pushforwards, in addition to the cells of the judge.
PUSHFORWARDS = (
    Cell("bundle adjustment", bundle_adjustment, (10,), ("pushforward",), forward=0),
    Cell("ODE", ode, (10,), ("pushforward",), forward=0),
)


def chosen(auto: AutoBackend, leaf: Leaf | None = None) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its own."""
    cells = of_leaf(auto, leaf, (*CELLS, *OTHER_LEAVES, array_and_number(auto), *PUSHFORWARDS))
    return cells if leaf not in (None, "module") else cells + models(auto)


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
