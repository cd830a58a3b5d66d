"""Hyper-dual numbers: arrays whose rows are a value and its derivatives by the parameters of a
function.

With one direction there are two rows: the value and the derivative. With two there are four: the
value, the derivatives by the first, by the second, and by both. Each parameter is an array of its
values and, in further rows, its derivatives by the directions. Source: Fike and Alonso, The
development of hyper-dual numbers for exact second-derivative calculations, 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Numbers: TypeAlias = np.ndarray[Any, Any]

EPSILON = 2.0**-52
#: For how many numbers a function is computed at once.
_BLOCK = 1_024
#: The product: for each row, the two rows whose product is added, besides those with the first
#: value.
PAIRS = {
    rows: [
        (row, part, row ^ part)
        for row in range(rows)
        for part in range(1, row + 1)
        if part & row == part
    ]
    for rows in (1, 2, 4)
}


def ones(rows: int, *shape: int) -> Numbers:
    result = np.zeros((rows, *shape))
    result[0] = 1.0
    return result


def composed(
    parameters: Sequence[Numbers], value: Any, slopes: Sequence[Any], bends: Sequence[Sequence[Any]]
) -> Numbers:
    """A function of parameters, from its derivatives by each of them, and by each two."""
    directions = len(parameters[0]) - 1
    result = np.zeros((1 << directions, *np.shape(value)))
    result[0] = value
    for n in range(directions):
        result[1 << n] = sum(slope * part[1 + n] for slope, part in zip(slopes, parameters))
    if directions == 2:
        pairs = [
            (bend, one, other)
            for row, one in zip(bends, parameters)
            for bend, other in zip(row, parameters)
        ]
        result[3] = sum(bend * one[1] * other[2] for bend, one, other in pairs)
    return result


def exponential(
    parameters: Sequence[Numbers], log: Any, slopes: Sequence[Any], bends: Sequence[Sequence[Any]]
) -> Numbers:
    """exp of the function that `composed` makes of these."""
    value = np.exp(log)
    curved = [
        [value * (bend + one * other) for bend, other in zip(row, slopes)]
        for row, one in zip(bends, slopes)
    ]
    return composed(parameters, value, [value * slope for slope in slopes], curved)


def line(parameter: Numbers, factor: float, shift: Any) -> Numbers:
    return composed([parameter], factor * parameter[0] + shift, [factor], [[0.0]])


def times(rows: Numbers, factor: Numbers, shift: Any) -> Numbers:
    """The product with a parameter, moved by so much."""
    return product(line(factor, 1.0, shift), rows)


def over(rows: Numbers, divisor: Numbers, shift: Any) -> Numbers:
    """The quotient by a parameter, moved by so much."""
    value = divisor[0] + shift
    result: Numbers = rows / value
    for row in range(1, len(rows)):
        for direction in range(len(divisor) - 1):
            if row >> direction & 1:
                result[row] -= divisor[1 + direction] * result[row ^ 1 << direction] / value
    return result


def product(one: Numbers, other: Numbers) -> Numbers:
    result: Numbers = one[0] * other
    for row, part, beside in PAIRS[len(one)]:
        result[row] += one[part] * other[beside]
    return result


def inverse(rows: Numbers) -> Numbers:
    value = 1 / rows[0]
    result: Numbers = -rows * value**2
    result[0] = value
    if len(rows) == 4:
        result[3] += 2 * rows[1] * rows[2] * value**3
    return result


def in_blocks(
    function: Callable[..., Numbers], directions: Sequence[int], *args: Numbers
) -> Numbers:
    """A function of parameters and a variable, its last argument, on arrays of any shape.

    directions: the places of the parameters by which it is differentiated. It is called with arrays
    of one axis.
    """
    shape = np.broadcast_shapes(*[np.shape(y) for y in args])
    flat = np.stack([np.ravel(np.broadcast_to(y, shape)) for y in args])
    rows = np.empty((1 << len(directions), flat.shape[1]))
    with np.errstate(all="ignore"):
        for first in range(0, flat.shape[1], _BLOCK):
            part = flat[:, first : first + _BLOCK]
            along = [
                [np.full(part.shape[1], float(n == place)) for place in directions]
                for n in range(len(part) - 1)
            ]
            params = [np.stack([y, *slopes]) for y, slopes in zip(part, along)]
            rows[:, first : first + _BLOCK] = function(*params, part[-1])
    return rows.reshape(len(rows), *shape)
