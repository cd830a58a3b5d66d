"""A whole step of training, from loss and optimiser, compared with the one that a good user writes with the engine alone."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import adinterface
from adinterface import AutoBackend
from adinterface.fit import Training

HEAD = f"{'step':44} {'first':>10} {'ours':>10} {'by hand':>10}  ratio"


class Step(NamedTuple):
    """A model, a batch and an optimiser of the engine's own world."""

    name: str
    #: `loss(model, *data)` in the engine's own functions.
    loss: Callable[..., Any]
    data: tuple[Any, ...]
    backend: AutoBackend
    #: Which of our functions makes the optimiser, and of what.
    wrapper: str
    given: tuple[Any, ...]
    options: dict[str, Any]
    #: The model; None where the optimiser holds it.
    model: Any
    #: A new step by hand: called with the data, it returns the loss.
    by_hand: Callable[[], Callable[..., Any]]
    #: Waits until a loss is there.
    wait: Callable[[Any], Any]
    compiled: bool | None = None


def steps(backends: list[AutoBackend]) -> Iterator[Step]:
    """Those of the engines for which this package has a yardstick of training."""
    for auto in backends:
        module = f"{__package__}.engine_code.{auto.name}_training"
        if importlib.util.find_spec(module) is not None:
            yield from importlib.import_module(module).steps(auto, Step)


def table(backends: list[AutoBackend], seconds: float) -> Iterator[str]:
    """A line for each step: milliseconds of both, and the ratio of their fastest runs."""
    yield HEAD
    for step in steps(backends):
        optimiser = getattr(adinterface.fit, step.wrapper)(*step.given, **step.options)
        training = Training(step.loss, step.backend, optimiser, step.model, compiled=step.compiled)
        hand, begun = step.by_hand(), time.perf_counter()
        step.wait(training(*step.data))
        first = time.perf_counter() - begun
        for _ in range(3):
            step.wait(training(*step.data))
            step.wait(hand(*step.data))
        mine: list[float] = []
        theirs: list[float] = []
        until = time.perf_counter() + 2 * seconds
        while time.perf_counter() < until or len(mine) < 10:
            for call, times in ((training, mine), (hand, theirs)):
                begun = time.perf_counter()
                for _ in range(5):
                    loss = call(*step.data)
                step.wait(loss)
                times.append((time.perf_counter() - begun) / 5)
        pairs = statistics.median(ours / other for ours, other in zip(mine, theirs))
        yield (
            f"{step.name:44} {first:8.2f} s {1e3 * min(mine):7.3f} ms {1e3 * min(theirs):7.3f} ms  "
            f"{min(mine) / min(theirs):.2f}, median of pairs {pairs:.2f}"
        )
