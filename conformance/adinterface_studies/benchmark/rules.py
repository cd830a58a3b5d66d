"""What a rule costs, and a crossing: compared with the same function without it, interleaved, the fastest of many rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, gradient, prepare, rule
from adinterface.core.contract import registry
from adinterface.rules import differentiate_with

from ..timing import fastest

#: How many rules follow one another in a call.
RULES = 10
#: The numbers in the argument of a crossing.
SIZES = (10, 100_000)
_ROUNDS, _ROUND = 200, 2e-3


@rule
def sine(x: Any) -> Any:
    return array_namespace(x).sin(x)


@sine.pullback
def _(cotangent: Any, value: Any, x: Any) -> Any:
    return cotangent * array_namespace(x).cos(x)


def plain(x: Any) -> Any:
    return array_namespace(x).sin(x)


def _chain(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def loss(x: Any) -> Any:
        for _ in range(RULES):
            x = f(x)
        return array_namespace(x).sum(x)

    return loss


def energy(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.sin(x) * xp.exp(-x * x))


def report(backends: Sequence[AutoBackend], rounds: int = _ROUNDS) -> Iterator[str]:
    """A table, line by line: each engine with rules, then each pair of engines."""
    engines = [auto for auto in backends if registry.find(auto).library is not None]
    x = np.linspace(0.1, 1.0, 10)
    yield f"| prepared gradient, n = 10 | {RULES} plain functions | as rules | a rule costs |"
    yield "| --- | --- | --- | --- |"
    for auto in engines:
        fast = [prepare(gradient, _chain(f), auto, x) for f in (plain, sine)]
        without, with_rules = fastest([lambda fast=fast[n]: fast(x) for n in range(2)], rounds=rounds, batch=_ROUND)  # type: ignore[misc]
        each = (with_rules - without) / RULES
        yield f"| `{type(auto).__name__}` | {without * 1e6:.0f} us | {with_rules * 1e6:.0f} us | {each * 1e6:.1f} us |"
    yield ""
    yield "| prepared gradient | n | the outer alone | the inner alone | the inner inside the outer |"
    yield "| --- | --- | --- | --- | --- |"
    for outer in engines:
        for inner in engines:
            if inner is outer:
                continue
            for size in SIZES:
                y = np.linspace(0.1, 1.0, size)
                crossed = differentiate_with(energy, inner, prepared=True)
                kinds: list[tuple[Any, AutoBackend]] = [(energy, outer), (energy, inner), (crossed, outer)]
                calls = [prepare(gradient, f, auto, y) for f, auto in kinds]
                times = fastest([lambda call=call, y=y: call(y) for call in calls], rounds=max(5, rounds // 10), batch=_ROUND)  # type: ignore[misc]
                cells = " | ".join(f"{seconds * 1e6:,.0f} us" for seconds in times)
                yield f"| `{type(inner).__name__}` inside `{type(outer).__name__}` | {size:,} | {cells} |"
