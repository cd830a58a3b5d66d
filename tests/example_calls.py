"""An example call of each operator, made of what its row says.

The tests take their examples here.

A new operator needs no line here unless it is called in a way that no operator is called in yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adinterface import array_namespace
from adinterface.core.operators.table import OperatorRow
from adinterface.tools.facts import operator_of, operator_rows

X, V = np.array([0.4, -1.3, 0.8]), np.array([1.0, 0.5, -2.0])


class Example(NamedTuple):
    """A call: `operator(f, backend, *args)`."""

    operator: Callable[..., Any]
    f: Callable[..., Any]
    args: tuple[Any, ...]


def sum_of_cubes(x: Any) -> Any:
    return array_namespace(x).sum(x**3)


def bend(x: Any) -> Any:
    """From n numbers to n - 1."""
    return array_namespace(x).sin(x[:-1]) * x[-1]


def cube(t: Any) -> Any:
    return t**3


def example_of(row: OperatorRow, *, x: Any = X, v: Any = V, number: Any = 2.0) -> Example:
    """The example call of an operator.

    x, v: the point and the direction. number: the point of an operator of one number.
    """
    if row.takes == "one number":
        return Example(operator_of(row), cube, arguments_for(row, number, 1.0))
    f = bend if row.output == "tree" else sum_of_cubes
    return Example(operator_of(row), f, arguments_for(row, x, v))


def examples() -> dict[str, Example]:
    """The example call of every operator, by its name."""
    return {row.name: example_of(row) for row in operator_rows()}


def arguments_for(row: OperatorRow, x: Any, v: Any, *constants: Any) -> tuple[Any, ...]:
    """What an operator takes after the backend, for the point x, the direction v and further
    arguments of f.
    """
    if row.directions is None:
        return (x, *constants)
    if row.directions == "second argument":
        return (x, v, *constants)
    if row.directions == "second tuple":
        return (x, *constants), (v, *[None] * len(constants))
    raise TypeError(
        f"{row.name}: no example call has its directions as {row.directions!r}. Add"
        " them to `arguments_for` in tests/example_calls.py."
    )
