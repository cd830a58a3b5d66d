"""What must hold where several processes, or devices, have a model together.

Every process runs every check.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

import adinterface
from adinterface import AutoBackend, Constant, Duplicated, gradient, prepare, value_and_gradient
from adinterface.fit import Training

#: Steps of training, and how far from those of one process their result may be in float64.
STEPS, TOLERANCE = 20, 1e-12


class Setting(NamedTuple):
    """A way to spread a model."""

    name: str
    #: A new loss, model, and data of this process: the same numbers each time.
    make: Callable[[], tuple[Callable[..., Any], Any, tuple[Any, ...]]]


class Outcome(NamedTuple):
    """What one process saw of one check."""

    setting: str
    check: str
    seconds: float
    #: Empty if all was right.
    error: str


def outcomes(
    backend: AutoBackend, yardstick: Any, patterns: Sequence[str] = ()
) -> Iterator[Outcome]:
    """Every check in every setting of an engine's yardstick, or in those whose names match a
    pattern.
    """
    expected, trained = yardstick.expected(), yardstick.trained(STEPS)
    for setting in yardstick.settings(Setting):
        if patterns and not any(fnmatchcase(setting.name, pattern) for pattern in patterns):
            continue
        for check in CHECKS:
            begun, error = time.perf_counter(), ""
            try:
                check(backend, yardstick, setting, trained if check is training else expected)
            except Exception:
                error = traceback.format_exc()
            yield Outcome(setting.name, check.__name__, time.perf_counter() - begun, error)


def _close(found: Sequence[Any], expected: Sequence[Any]) -> None:
    assert len(found) == len(expected), f"{len(found)} arrays, expected {len(expected)}"
    for mine, theirs in zip(found, expected):
        np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)


def _number(value: Any) -> float:
    return float(value.detach() if hasattr(value, "detach") else value)


def one_shot(
    backend: AutoBackend, yardstick: Any, setting: Setting, expected: Sequence[Any]
) -> None:
    """The gradient is that of all data, again and again, and lies as its model does."""
    loss, model, data = setting.make()
    for _ in range(3):
        found, *none = gradient(loss, backend, model, *map(Constant, data))
        assert type(found) is type(model)
        assert none == [None] * len(data)
        _close(yardstick.numbers(found), expected)
        assert yardstick.placements(found) == yardstick.placements(model)


def with_value(
    backend: AutoBackend, yardstick: Any, setting: Setting, expected: Sequence[Any]
) -> None:
    """Prepared, after evaluations without a gradient, and with an auxiliary result."""
    loss, model, data = setting.make()
    plain = _number(loss(model, *data))
    fast = prepare(value_and_gradient, loss, backend, model, *map(Constant, data))
    for _ in range(2):
        value, found = fast(model, *map(Constant, data))
        np.testing.assert_allclose(_number(value), plain, rtol=TOLERANCE)
        _close(yardstick.numbers(found[0]), expected)
        loss(model, *data)
    (value, kept), found = value_and_gradient(
        lambda model, *data: (loss(model, *data), data[0]), backend, model, *map(Constant, data)
    )
    np.testing.assert_allclose(_number(value), plain, rtol=TOLERANCE)
    np.testing.assert_array_equal(yardstick.number(kept), yardstick.number(data[0]))
    _close(yardstick.numbers(found[0]), expected)


def in_a_tree(
    backend: AutoBackend, yardstick: Any, setting: Setting, expected: Sequence[Any]
) -> None:
    """A part of a tree, next to what only this process has."""
    loss, model, data = setting.make()
    found, *_ = gradient(
        lambda tree, *data: tree["scale"] * loss(tree["models"][0], *data),
        backend,
        {"models": [model], "scale": 2.0},
        *map(Constant, data),
    )
    _close(yardstick.numbers(found["models"][0]), [2 * part for part in expected])


def into_buffers(
    backend: AutoBackend, yardstick: Any, setting: Setting, expected: Sequence[Any]
) -> None:
    """Added up in buffers over several calls."""
    loss, model, data = setting.make()
    buffered = Duplicated(model, accumulate=True)
    for _ in range(2):
        gradient(loss, backend, buffered, *map(Constant, data))
    _close(yardstick.numbers(buffered.gradient), [2 * part for part in expected])


def training(
    backend: AutoBackend, yardstick: Any, setting: Setting, expected: Sequence[Any]
) -> None:
    """As many steps as above give the parameters that one process gets from all data."""
    loss, model, data = setting.make()
    wrapper, given, options = yardstick.OPTIMISER
    optimiser = getattr(adinterface.fit, wrapper)(
        *given, *([model] if yardstick.HOLDS_MODEL else []), **options
    )
    steps = Training(loss, backend, optimiser, None if yardstick.HOLDS_MODEL else model)
    for _ in range(STEPS):
        steps(*data)
    _close(yardstick.numbers(steps.model), expected)


CHECKS: tuple[Callable[[AutoBackend, Any, Setting, Sequence[Any]], None], ...] = (
    one_shot,
    with_value,
    in_a_tree,
    into_buffers,
    training,
)
