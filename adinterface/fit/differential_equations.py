"""SciPy's solvers of differential equations on nested states, with Jacobians from any backend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import OutputError, TreeError
from ..core.contract.tracing import untraced
from ..core.operators.jacobian import jacobian
from ..core.operators.pullback import linearize
from ..core.operators.run import run
from ..core.tree.structures import Constant
from .evaluate import EVALUATE
from .flat import Flat
from .packing import Packing, Rows, Vector, pack
from .parameters import Parameters, require_floats
from .solvers import require_dense, scipy
from .tree.mapping import require_leaf
from .tree.vectors import as_matrix

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
    problem._rows = Rows(y0, "y")
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


@untraced
def solve_bvp(
    f: Callable[..., Any],
    boundary: Callable[..., Any],
    backend: AutoBackend,
    x: Any,
    y: Any,
    /,
    p: Any = None,
    **options: Any,
) -> Any:
    """`scipy.integrate.solve_bvp` of `dy/dx = f(x, y)` with `boundary(y(a), y(b)) = 0`, for a
    nested y, with Jacobians of both.

    x: the mesh, of shape `(m,)`. y: a guess, a tree of arrays whose last axis is the mesh. f is
    called with all of the mesh at once, as SciPy does it, and returns a tree like y; each column
    depends on its own column alone. With unknown parameters `p`, a tree, both functions take it
    last, and `boundary` returns as many numbers more.

    Returns SciPy's result: `y` and `p` are trees, `sol(x)` too; `vector` is SciPy's own `y`. Raises
    TypeError for `fun_jac=` and `bc_jac=`, BackendError for `AutoSparse`, TreeError where y does
    not fit the mesh.
    """
    for name in ("fun_jac", "bc_jac"):
        if name in options:
            raise TypeError(f"solve_bvp: leave {name}= out. The Jacobians are the backend's.")
    require_dense(backend, "solve_bvp", "SciPy takes a dense Jacobian of each node")
    integrate = scipy("integrate", "solve_bvp")
    require_floats(y, "y")
    require_floats(p, "p")
    mesh = np.asarray(x, dtype=np.float64)
    columns = _Columns(y, len(mesh))
    unknown = None if p is None else Packing(p)

    def others(numbers: tuple[Vector, ...]) -> tuple[Any, ...]:
        return () if unknown is None else (unknown.unpacked(np.asarray(numbers[0])),)

    def on_mesh(state: Any, *rest: Any) -> Any:
        *parameters, nodes = rest
        return f(nodes, state, *parameters)

    def slope(nodes: Vector, state: Vector, *numbers: Vector) -> Vector:
        value = evaluated(
            on_mesh, columns.nested(state), *others(numbers), Constant(np.asarray(nodes))
        )
        return columns.flat(value, len(nodes))

    def evaluated(function: Callable[..., Any], *args: Any) -> Any:
        return run(EVALUATE, backend, function, args, {})

    def slopes(nodes: Vector, state: Vector, *numbers: Vector) -> Any:
        parameters = others(numbers)
        _, push = linearize(
            on_mesh, backend, columns.nested(state), *parameters, Constant(np.asarray(nodes))
        )
        nothing = (None,) * (len(parameters) + 1)
        by_state = [
            columns.flat(push(unit, *nothing), len(nodes)) for unit in columns.units(len(nodes))
        ]
        if unknown is None:
            return np.stack(by_state, axis=1)
        units = [unknown.unpacked(row) for row in np.eye(unknown.size)]
        return np.stack(by_state, axis=1), np.stack(
            [columns.flat(push(None, unit, None), len(nodes)) for unit in units], axis=1
        )

    def condition(start: Vector, end: Vector, *numbers: Vector) -> Vector:
        value = evaluated(boundary, columns.nested(start), columns.nested(end), *others(numbers))
        return pack(value, "solve_bvp")

    def conditions(start: Vector, end: Vector, *numbers: Vector) -> Any:
        args = (columns.nested(start), columns.nested(end), *others(numbers))
        value = evaluated(boundary, *args)
        matrix = np.asarray(as_matrix(jacobian(boundary, backend, *args), value, args))
        n = len(start)
        parts = matrix[:, :n], matrix[:, n : 2 * n]
        return parts if unknown is None else (*parts, matrix[:, 2 * n :])

    result = integrate.solve_bvp(
        slope, condition, mesh, columns.flat(y, len(mesh)),
        None if unknown is None else unknown.start(), fun_jac=slopes, bc_jac=conditions, **options,
    )  # fmt: skip
    result["vector"], dense = result.y, result.sol
    result["y"] = columns.nested(result.y)
    result["sol"] = lambda x: columns.nested(dense(x))
    if unknown is not None:
        result["p"] = unknown.unpacked(result.p)
    return result


def _same_columns(leaf: Any, other: Any, place: str, first: str) -> None:
    """Refuse another shape but for the last axis, the mesh, which SciPy refines."""
    own, seen = np.shape(leaf)[:-1], require_leaf(other, place).shape(other)
    if not seen or seen[:-1] != own:
        raise TreeError(
            f"solve_bvp: {place} has shape {seen}, but y has shape {(*own, 'mesh')} there."
        )


class _Columns:
    """Trees of arrays with the mesh as their last axis, as SciPy's matrices of shape `(n, m)`; at
    one node as vectors.
    """

    def __init__(self, y: Any, nodes: int):
        self.parameters = Parameters(y)
        self.shapes = [leaf.library.shape(leaf.value) for leaf in self.parameters.once]
        for path, shape in zip(self.parameters.paths(), self.shapes):
            if not shape or shape[-1] != nodes:
                raise TreeError(
                    f"solve_bvp: y{path} has shape {shape}, but the last axis must be the mesh, of"
                    f" {nodes} nodes."
                )
        self.heights = [math.prod(shape[:-1]) for shape in self.shapes]

    def flat(self, tree: Any, nodes: int) -> Vector:
        wrapped = (
            (tree,) if type(tree) is tuple and type(self.parameters.model) is not tuple else tree
        )
        parts = self.parameters.gradients(wrapped, "what f returned", fits=_same_columns)
        rows = [
            (
                np.zeros((height, nodes))
                if part is None
                else np.asarray(part, dtype=np.float64).reshape(height, nodes)
            )
            for part, height in zip(parts, self.heights)
        ]
        return np.concatenate(rows)

    def nested(self, numbers: Vector) -> Any:
        starts = np.cumsum([0, *self.heights]).tolist()
        parts = [
            np.array(numbers[start:stop]).reshape((*shape[:-1], *numbers.shape[1:]))
            for start, stop, shape in zip(starts, starts[1:], self.shapes)
        ]
        return self.parameters.rebuilt(parts)

    def units(self, nodes: int) -> Iterator[Any]:
        """For each row of the matrix the state that is one in this row and zero elsewhere."""
        for n in range(sum(self.heights)):
            unit = np.zeros((sum(self.heights), nodes))
            unit[n] = 1.0
            yield self.nested(unit)


__all__ = ["solve_bvp", "solve_ivp"]
