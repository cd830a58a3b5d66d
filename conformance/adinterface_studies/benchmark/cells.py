"""What only this project measures: objectives with Python structure inside, long loops, models of each engine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from adinterface_conformance.benchmark import yardsticks
from adinterface_conformance.benchmark.cells import CELLS, OTHER_LEAVES, Cell
from adinterface_conformance.benchmark.cells import chosen as of_leaf
from adinterface_conformance.benchmark.problems import Problem
from adinterface_conformance.benchmark.yardsticks import LEAVES as OF_JUDGE
from adinterface_conformance.benchmark.yardsticks import Leaf

import adinterface
from adinterface import AutoBackend

from .loops import Scan, chain, kalman_filter, recurrent_network, runge_kutta
from .loops import by_hand as hand_written
from .objectives import bundle_adjustment, gaussian_mixture, hand_tracking, k_means, lstm, ode
from .yardsticks import Model

LEAVES: tuple[Leaf, ...] = (*OF_JUDGE, "module")

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


#: What is measured of pushforwards, beside the cells of the judge.
PUSHFORWARDS = (
    Cell("bundle adjustment", bundle_adjustment, (10,), ("pushforward",), forward=0),
    Cell("ODE", ode, (10,), ("pushforward",), forward=0),
)


def chosen(auto: AutoBackend, leaf: Leaf | None = None, objectives: bool = False) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its own."""
    cells = of_leaf(auto, leaf, OBJECTIVES if objectives else (*CELLS, *OTHER_LEAVES, *PUSHFORWARDS))
    return cells if objectives or leaf not in (None, "module") else cells + models(auto)


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
    scan = hand_written(auto.name, yardstick.namespace)

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
    module = f"{__package__}.yardsticks.{auto.name}_models"
    if importlib.util.find_spec(module) is None:
        return []
    return [_of_model(model) for model in importlib.import_module(module).models()]


def _of_model(model: Model) -> Cell:
    def build(n: int, xp: Any) -> Problem:
        scalar, vector, x, constants = model.build()
        return Problem(scalar, vector, x, None, constants)

    by_hand, options = model.transform, tuple(model.options.items())
    return Cell(model.name, build, (model.size,), model.operators, leaf="module", by_hand=by_hand, options=options)
