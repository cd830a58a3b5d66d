"""Where functions are looked at: tails, poles, integers, and what is huge, tiny and negative.

From 1e-150 to 1e150: beyond, engines overflow or underflow when they square on the way, x / y and
hypot(x, y) among them.
"""

from __future__ import annotations

import itertools
import zlib

import numpy as np
from adinterface_conformance.use import Array

_UP = [
    1e-150, 1e-30, 1e-12, 1e-7, 3e-4, 0.01, 0.1, 0.25, 0.5, 0.7, 0.95, 1.0, 1.3, 1.5, 2.0, 2.7, 3.0,
    4.4, 6.0, 7.7, 9.0, 12.5, 17.0, 22.3, 30.0, 37.7, 45.0, 61.3, 88.2, 120.5, 171.2, 250.0, 400.3,
    705.0, 760.0, 3e3, 1e5, 3.3e7, 1e12, 1e30, 1e150,
]  # fmt: skip
_LINE = [-x for x in reversed(_UP)] + [0.0] + _UP
_NEAR_INTEGERS = [
    -0.9999999, -1.0000001, -1.5, -2.00001, -2.5, -3.5, -9.99999, -20.3, -33.7, -100.5, -170.6,
    0.9999999, 1.0000001, 1.4616,
]  # fmt: skip
_UNIT = [0.0, 1e-150, 1e-30, 1e-12, 1e-7, 0.01, 0.2, 0.5, 0.7, 0.9, 0.99, 1 - 1e-6, 1 - 1e-12, 1.0]
_PROBABILITY = [
    0.0, 1e-150, 1e-100, 1e-30, 1e-15, 1e-9, 1e-4, 0.01, 0.0244, 0.1, 0.25, 0.43, 0.5, 0.55, 0.75,
    0.9, 0.99, 1 - 1e-6, 1 - 1e-13, 1.0,
]  # fmt: skip

#: The values that one argument takes; for several, all combinations, or some of them.
AXES: dict[str, list[float]] = {
    "line": _LINE + _NEAR_INTEGERS,
    "line_to_10000": [x for x in _LINE if abs(x) <= 1e4],
    "line_above_zero": [0.0, *_UP, 0.9999999, 1.0000001, 1.4616],
    "line_from_one": [1.0, 1 + 1e-15, 1 + 1e-9, 1.001, *[x for x in _UP if x > 1]],
    "line_near_minus_one": [x for x in _LINE if x > -1] + [-1.0, -1 + 1e-15, -1 + 1e-9, -0.999],
    "unit": sorted({sign * x for sign in (1, -1) for x in _UNIT}),
    "unit_times_two": [2 * p for p in _PROBABILITY],
    "probability": _PROBABILITY,
    "some": [
        -1e150, -1e8, -800.0, -30.3, -2.0, -1.0, -0.4, -1e-9, -1e-150, 0.0, 1e-150, 1e-9, 0.3, 1.0,
        1.7, 5.0, 40.0, 710.5, 1e9, 1e150,
    ],
    "positive": [0.0, 1e-150, 1e-50, 1e-9, 0.02, 0.3, 0.999, 1.0, 1.001, 1.7, 5.0, 40.0, 710.5, 1e9, 1e50, 1e150],
    "above_minus_one": [-1.0, -1 + 1e-12, -0.9, -0.3, -1e-9, 0.0, 1e-150, 1e-9, 0.3, 1.7, 40.0, 1e9, 1e150],
    "powers": [-1e100, -30.5, -2.0, -1.0, -0.3, 0.0, 1e-200, 1e-9, 0.3, 0.9999999, 1.0, 1.0000001, 2.0, 30.5, 1e9, 1e100],
    "exponents": [
        -400.5, -30.0, -3.0, -1.0, -0.5, -1e-9, -1e-40, 0.0, 1e-200, 1e-9, 1e-3, 0.5, 1.0, 1.5, 2.0,
        3.0, 30.7, 400.0,
    ],
    "moderate": [-300.7, -33.3, -7.2, -2.0, -1.0, -0.35, -1e-8, 0.0, 1e-8, 0.4, 1.0, 2.2, 5.0, 11.3, 50.5, 300.0],
    "near_zero": [-9.1, -2.0, -0.35, -1e-8, 0.0, 0.4, 1.0, 2.2, 5.0, 11.3],
    "orders": [-3.0, -1.0, 0.0, 0.3, 0.5, 1.0, 2.5, 7.0, 30.2],
    "parameters": [
        -170.7, -33.3, -3.0, -2.5, -0.7, -1e-9, 0.0, 1e-100, 1e-9, 0.02, 0.5, 1.0, 1.5, 2.0, 3.3,
        12.0, 57.1, 117.6, 141.9, 180.0, 300.5, 1e4, 1e7, 1e15,
    ],
    "shapes": [0.0, 1e-100, 1e-6, 0.02, 0.5, 1.0, 1.5, 3.3, 12.0, 57.1, 200.5, 1e3, 2e4],
    "counts": [0.0, 1.0, 2.0, 3.0, 7.0, 40.0],
    "few": [-7.3, -2.0, -0.5, 0.0, 0.3, 1.0, 2.5, 6.0, 31.2],
    "below_one": [-1e5, -80.3, -7.2, -2.0, -1.0, -0.6, -0.1, 0.0, 0.2, 0.55, 0.9, 0.9999],
}  # fmt: skip


def points(name: str, axes: tuple[str, ...], limit: int) -> tuple[Array, ...]:
    """At most so many points for the function of this name: all combinations, or always the same
    choice of them.
    """
    combinations = list(itertools.product(*[AXES[axis] for axis in axes]))
    if len(combinations) > limit:
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        combinations = [
            combinations[n] for n in sorted(rng.choice(len(combinations), limit, replace=False))
        ]
    return tuple(np.array(column) for column in zip(*combinations))
