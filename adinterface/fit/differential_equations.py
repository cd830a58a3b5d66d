"""SciPy's solvers of differential equations on nested states, with Jacobians from any backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import OutputError
from ..core.contract.tracing import untraced
from ..core.tree.structures import Constant
from .flat import Flat
from .packing import Packing, Rows, Vector
from .solvers import require_dense, scipy

#: Methods of `solve_ivp` that use a Jacobian.
_IMPLICIT = ("Radau", "BDF", "LSODA")


@untraced
def solve_ivp(
    f: Callable[..., Any],
    backend: AutoBackend,
    t_span: tuple[float, float],
    y0: Any,
    /,
    *constants: Any,
    method: Any = "RK45",
    events: Any = None,
    **options: Any,
) -> Any:
    """`scipy.integrate.solve_ivp` of `dy/dt = f(t, y, *constants)` for a nested state y.

    The implicit methods (`Radau`, `BDF`, `LSODA`) get the backend's Jacobian; with `AutoSparse` it
    is sparse, which LSODA does not take. f returns a tree like y. events: functions of t and the
    nested state. Returns SciPy's result: `y` is a tree like y0 whose arrays have time as their last
    axis; `sol(t)`, with `dense_output=True`, returns the state. `vector` is SciPy's own `y`, of
    shape `(n, times)`.

    Raises TreeError, with the path, if f returns a tree of another structure or shape than y;
    OutputError for another count of numbers; BackendError for `AutoSparse` with `LSODA`; TypeError
    for `jac=` and `args=`.
    """
    for name in ("jac", "args", "vectorized"):
        if name in options:
            raise TypeError(
                f"solve_ivp: leave {name}= out. The Jacobian is the backend's; further arguments of"
                " f follow y0."
            )
    integrate = scipy("integrate", "solve_ivp")
    # t is the first argument of f, y the first of the differentiated functions.
    problem = Flat(lambda y, t, *others: f(t, y, *others), backend, y0, (0.0, *constants), {})
    problem.packing.require_real("solve_ivp")
    problem.rows = Rows(y0, "y")
    size = problem.packing.size

    def derivative(t: float, y: Vector) -> Vector:
        problem.constants = (Constant(float(t)), *problem.constants[1:])
        return _checked(problem.residuals(y), size)

    def slope(t: float, y: Vector) -> Any:
        problem.constants = (Constant(float(t)), *problem.constants[1:])
        return problem.jacobian(y)

    if method == "LSODA":
        require_dense(
            backend,
            "solve_ivp",
            "the method 'LSODA' takes a dense Jacobian",
            "choose 'BDF' or 'Radau'",
        )
    if method in _IMPLICIT:
        options["jac"] = slope
    if events is not None:
        computed = events if isinstance(events, (list, tuple)) else [events]
        options["events"] = [_event(event, problem) for event in computed]
    result = integrate.solve_ivp(derivative, t_span, problem.x0, method=method, **options)
    result["vector"] = result.y
    result["y"] = _over_time(problem.packing, result.y)
    if result.sol is not None:
        dense = result.sol
        result["sol"] = lambda t: (
            problem.unravel(dense(t)) if np.ndim(t) == 0 else _over_time(problem.packing, dense(t))
        )
    return result


def _event(event: Callable[..., Any], problem: Flat) -> Callable[..., Any]:
    def wrapped(t: float, y: Vector) -> Any:
        return event(t, problem.unravel(y))

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(wrapped, name, getattr(event, name))
    return wrapped


def _over_time(packing: Packing, numbers: Vector) -> Any:
    shapes, starts = packing.shapes, packing.starts
    values = [
        numbers[start:stop].reshape((*shape, -1))
        for shape, start, stop in zip(shapes, starts, starts[1:])
    ]
    return packing.parameters.rebuilt(values)


def _checked(value: Vector, size: int) -> Vector:
    if value.shape != (size,):
        raise OutputError(
            f"solve_ivp: f returned {value.size} numbers, but y has {size}. Return dy/dt as a tree"
            " like y."
        )
    return value


__all__ = ["solve_ivp"]
