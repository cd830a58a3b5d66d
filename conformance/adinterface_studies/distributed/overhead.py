"""What a step of training costs compared with the one that is written with the engine alone, in the same processes."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import adinterface
from adinterface import AutoBackend, Constant, prepare, value_and_gradient
from adinterface.fit import Training

from .engine import yardstick_of
from .launch import Member, Report


class Step(NamedTuple):
    """A model in training."""

    name: str
    loss: Callable[..., Any]
    model: Any
    data: tuple[Any, ...]
    #: A whole step with the engine alone, which waits for its loss.
    by_hand: Callable[[], float]


class Cost(NamedTuple):
    """Seconds of one step, the fastest of its rounds: by hand, by value, gradient and optimiser, and by `Training`."""

    name: str
    by_hand: float
    in_two: float
    training: float


def costs(place: Member | None, auto: AutoBackend, rounds: int, layers: int, width: int, seconds: float) -> list[Cost]:
    """One process of the group. All of them take the same steps at the same time."""
    module = yardstick_of(auto)
    assert module is not None
    yardstick: Any = importlib.import_module(module)
    with yardstick.group(place, seconds):
        return [_measured(auto, yardstick, step, rounds) for step in yardstick.steps(Step, layers, width)]


def _measured(auto: AutoBackend, yardstick: Any, step: Step, rounds: int) -> Cost:
    ways = (step.by_hand, _in_two(auto, yardstick, step), _trained(auto, yardstick, step))
    fastest = [float("inf")] * len(ways)
    for way in (*ways, *ways):  # the first steps allocate, compile, and order what is exchanged
        way()
    for _ in range(rounds):
        for n, way in enumerate(ways):
            begun = time.perf_counter()
            way()
            fastest[n] = min(fastest[n], time.perf_counter() - begun)
    return Cost(step.name, *fastest)


def _optimiser(yardstick: Any, model: Any) -> Any:
    wrapper, given, options = yardstick.OPTIMISER
    return getattr(adinterface.fit, wrapper)(*given, *([model] if yardstick.HOLDS_MODEL else []), **options)


def _in_two(auto: AutoBackend, yardstick: Any, step: Step) -> Callable[[], float]:
    optimiser, data = _optimiser(yardstick, step.model), [Constant(part) for part in step.data]
    fast = prepare(value_and_gradient, step.loss, auto, step.model, *data)
    held = [step.model, None if yardstick.HOLDS_MODEL else optimiser.init(step.model)]

    def stepped() -> float:
        value, slope = fast(held[0], *data)
        if yardstick.HOLDS_MODEL:
            optimiser.step(slope[0])
        else:
            held[:] = optimiser.step(slope[0], held[1], held[0])
        return float(value)

    return stepped


def _trained(auto: AutoBackend, yardstick: Any, step: Step) -> Callable[[], float]:
    optimiser = _optimiser(yardstick, step.model)
    training = Training(step.loss, auto, optimiser, None if yardstick.HOLDS_MODEL else step.model)
    return lambda: float(training(*step.data))


def table(title: str, reports: Sequence[Report]) -> Iterator[str]:
    """A line for each model: milliseconds of a step, and ratios, of the slowest process."""
    yield title
    for report in reports:
        if report.error:
            yield f"  process {report.rank}: {report.error}"
    rows = [report.result for report in reports if not report.error]
    for found in zip(*rows):
        worst = max(found, key=lambda cost: cost.in_two / cost.by_hand)
        yield (
            f"  {worst.name:28} {1e3 * worst.by_hand:8.1f} ms by hand   value_and_gradient and step "
            f"{worst.in_two / worst.by_hand:5.3f}   Training {worst.training / worst.by_hand:5.3f}"
        )
