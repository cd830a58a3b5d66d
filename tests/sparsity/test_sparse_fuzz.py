"""Patterns from traces: nothing is ever missing, whatever functions f is made of; what is too much
is counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from adinterface_conformance import uses
from adinterface_conformance.use import Use
from adinterface_studies.functions import numpy_code

from adinterface import (
    array_namespace,
)
from adinterface.sparse.detect_trace import traced_pattern
from adinterface.sparse.traced import Traced

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def floating(result: Any) -> Iterator[Any]:
    """The floating arrays of a result, in order."""
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from floating(part)
    elif isinstance(result, (Traced, np.ndarray, np.generic, float, complex)):
        part = result if isinstance(result, Traced) else np.asarray(result)
        if part.dtype.kind in "fc":
            yield part


def vector(f: Function, arrays: Sequence[Array]) -> Array:
    return np.concatenate([np.zeros(0), *[np.ravel(part) for part in floating(f(*arrays))]])


def differences(f: Function, arrays: Sequence[Array]) -> Array:
    """Which results move with which inputs, by differences."""
    columns = []
    for n, array in enumerate(arrays):
        for place in np.ndindex(array.shape):
            moved = []
            for step in (1e-6, -1e-6):
                copies = [x.copy() for x in arrays]
                copies[n][place] += step
                moved.append(vector(f, copies))
            columns.append(np.abs(moved[0] - moved[1]) > 1e-11)
    return np.stack(columns, axis=-1) if columns else np.zeros((vector(f, arrays).size, 0), bool)


def pattern(f: Function, arrays: Sequence[Array], *, second: bool = False) -> Array:
    def outputs(active: Sequence[Any], others: Sequence[Any]) -> Any:
        return tuple(floating(f(*active))) or (np.zeros(0),)

    return traced_pattern(outputs, arrays, [], second=second, values=True).pattern.toarray()


# Every function
# ------------------------------------------------------------------------------------------------

USES = [use for use in (*uses.USES, *numpy_code.USES) if use.kind != "flat"]


def test_every_function_of_the_array_api_and_of_numpy_code_is_traced_without_a_missing_entry() -> (
    None
):
    entries = surplus = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for use in USES:
            f = in_namespace(use)
            arrays = [np.array(array) for array in use.arrays]
            found = pattern(f, arrays)
            moved = differences(f, arrays)
            assert not (moved & ~found).any(), use.source or use.name
            entries += int(moved.sum())
            surplus += int((found & ~moved).sum())
    assert len(USES) > 1000
    # What reduces or sorts depends on all that it looks at: at one point, less of it moves.
    assert surplus < 0.3 * entries


def in_namespace(use: Use) -> Function:
    return (lambda *arrays: use.f(array_namespace(*arrays), *arrays)) if use.neutral else use.f


# Random programs
# ------------------------------------------------------------------------------------------------


def smooth(rng: np.random.Generator) -> Function:
    name = str(rng.choice(["sin", "tanh", "exp", "cos", "square", "atan", "expm1"]))
    return lambda xp, x: getattr(xp, name)(x / 2)


def pointwise_pair(rng: np.random.Generator) -> Function:
    name = str(
        rng.choice(["multiply", "add", "subtract", "atan2", "hypot", "maximum", "logaddexp"])
    )
    return lambda xp, x: getattr(xp, name)(x, xp.flip(x) + 0.3)


def shifted(rng: np.random.Generator) -> Function:
    by = int(rng.integers(1, 4))
    return lambda xp, x: x + xp.roll(x, by) * 0.5


def neighbours(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.concat([x[:1], x[1:] * x[:-1]])


def product(rng: np.random.Generator) -> Function:
    weights = rng.normal(size=(12, 12)) * (rng.random((12, 12)) < 0.2)
    return lambda xp, x: xp.matmul(xp.asarray(weights[: x.shape[0], : x.shape[0]]), x) + x


def taken(rng: np.random.Generator) -> Function:
    places = rng.integers(0, 6, 7)
    return lambda xp, x: xp.take(x, xp.asarray(places % x.shape[0]))


def masked(rng: np.random.Generator) -> Function:
    threshold = float(rng.normal())
    return lambda xp, x: xp.where(x > threshold, x * x[0], xp.sin(x))


def clipped(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.clip(x, -0.8, 1.2) + x**3 / 9


def running(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.cumulative_sum(x) / x.shape[0]


def sorted_(rng: np.random.Generator) -> Function:
    return lambda xp, x: xp.concat([xp.sort(x[:3]), x[3:]])


def written(rng: np.random.Generator) -> Function:
    place = int(rng.integers(0, 5))

    def rule(xp: Any, x: Any) -> Any:
        y = xp.zeros_like(x)
        y[place] = x[0] * x[place]
        y[1:] += x[1:]
        return y + x / 2

    return rule


def branched(rng: np.random.Generator) -> Function:
    return lambda xp, x: x * x[1] if x[0] > 0 else xp.flip(x)


MOVES = [
    smooth, smooth, pointwise_pair, shifted, neighbours, product, taken, masked, clipped, running,
    sorted_, written, branched,
]  # fmt: skip


def program(seed: int) -> tuple[Function, Array]:
    rng = np.random.default_rng(seed)
    chosen = [MOVES[int(rng.integers(0, len(MOVES)))](rng) for _ in range(int(rng.integers(2, 7)))]

    def f(x: Any) -> Any:
        xp = array_namespace(x)
        for move in chosen:
            x = move(xp, x)
        return x

    return f, rng.normal(size=int(rng.integers(6, 12)))


def test_200_random_programs_miss_no_entry_of_their_jacobian() -> None:
    entries = surplus = 0
    for seed in range(200):
        f, x = program(seed)
        found, moved = pattern(f, [x]), differences(f, [x])
        assert not (moved & ~found).any(), seed
        entries += int(moved.sum())
        surplus += int((found & ~moved).sum())
    assert surplus < 0.14 * entries


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_programs_miss_no_entry_of_their_hessian(first: int) -> None:
    for seed in range(first, first + 50, 2):
        f, x = program(seed)

        def scalar(x: Any, f: Function = f) -> Any:
            y = f(x)
            return array_namespace(y).sum(y * y[0] + y)

        found = pattern(scalar, [x], second=True)
        with np.errstate(all="ignore"):
            moved = second_differences(scalar, x)
        assert (found == found.T).all()
        assert not (moved & ~found).any(), seed


def second_differences(f: Function, x: Array) -> Array:
    step = 1e-3
    found = np.zeros((x.size, x.size), bool)
    size = max(1.0, abs(float(f(x))))
    for i in range(x.size):
        for j in range(x.size):
            total = 0.0
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                moved = x.copy()
                moved[i] += a * step
                moved[j] += b * step
                total += a * b * float(f(moved))
            found[i, j] = abs(total) / (4 * step**2) > 1e-4 * size
    return found
