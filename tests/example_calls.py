"""An example call of each operator, made of what its operation says. The tests take their examples
here.

A new operator needs no line here unless it is called in a way that no operator is called in yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adinterface import array_namespace
from adinterface.core.operators.table import OperatorRow
from adinterface.tools.facts import operations, operator_of

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


def example_of(operation: OperatorRow, *, x: Any = X, v: Any = V, number: Any = 2.0) -> Example:
    """The example call of an operator. x, v: the point and the direction. number: the point of an
    operator of one number.
    """
    if operation.takes == "one number":
        return Example(operator_of(operation), cube, arguments_for(operation, number, 1.0))
    f = bend if operation.output == "tree" else sum_of_cubes
    return Example(operator_of(operation), f, arguments_for(operation, x, v))


def examples() -> dict[str, Example]:
    """The example call of every operator, by its name."""
    return {operation.name: example_of(operation) for operation in operations()}


def arguments_for(operation: OperatorRow, x: Any, v: Any, *constants: Any) -> tuple[Any, ...]:
    """What an operator takes after the backend, for the point x, the direction v and further
    arguments of f.
    """
    if operation.directions is None:
        return (x, *constants)
    if operation.directions == "second argument":
        return (x, v, *constants)
    if operation.directions == "second tuple":
        return (x, *constants), (v, *[None] * len(constants))
    raise TypeError(
        f"{operation.name}: no example call has its directions as {operation.directions!r}. Add"
        " them to `arguments_for` in tests/example_calls.py."
    )
