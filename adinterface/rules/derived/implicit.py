"""`root` and `fixed_point`, differentiated by the implicit function theorem.

For f(x, a) = 0: dx = -(df/dx)^-1 (df/da) da. Source: Blondel et al., Efficient and Modular Implicit
Differentiation, 2022, section 2.1. The solver's steps are not differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.contract.errors import RuleError
from ...core.operators.jacobian import jacobian
from ...core.operators.pullback import pullback, pushforward
from ..captured import on_numbers
from ..namespace import array_namespace
from ..rule import rule
from ..scalar import is_complex
from .engine import as_like, auto_of_arrays, has_derivative, marked

#: From a function of x and a first guess to its root, or its fixed point.
Solver = Callable[[Callable[[Any], Any], Any], Any]


def root(f: Callable[..., Any], x0: Any, /, *args: Any, solver: Solver | None = None) -> Any:
    """The x, with the shape and dtype of x0, for which `f(x, *args)` is zero.

    Its derivatives with respect to `args` are exact.

    f: neutral code, differentiable at the root; returns an array of x's shape. For complex x it
        need not be holomorphic.
    x0: the start. `solver(g, x0)` is called with g(x) = f(x, *args) on NumPy arrays and returns the
        root, for example `lambda g, x0: scipy.optimize.root(g, x0, tol=1e-12).x`. The root does not
        depend on x0, so its derivative is zero.
    args: trees; captured values are not differentiated.

    The n x n Jacobian of f is formed and factored; for complex x that of 2n real numbers.
    Derivatives of any order, forward and reverse. Raises the solver's errors. A singular Jacobian
    raises LinAlgError or gives infinities, depending on the engine.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.rules import root
    >>> def newton(g, x):
    ...     for _ in range(30):
    ...         x = x - g(x) * 1e-6 / (g(x + 1e-6) - g(x))
    ...     return x
    >>> round(gradient(lambda a: root(lambda x, a: x * x - a, 1.0, a, solver=newton),
    ...     AutoFiniteDifferences(), 4.0)[0], 4)
    0.25
    """
    solver = _required("root", f, solver, "lambda g, x0: scipy.optimize.root(g, x0, tol=1e-12).x")
    return _root(x0, *args, f=f, solver=solver)


def fixed_point(g: Callable[..., Any], x0: Any, /, *args: Any, solver: Solver | None = None) -> Any:
    """The x, of the shape of x0, with `g(x, *args) = x`.

    Its derivatives with respect to `args` are exact.

    solver: `solver(h, x0)`, called with h(x) = g(x, *args) on NumPy arrays, returns the fixed
    point, for example `lambda h, x0: scipy.optimize.fixed_point(h, x0)`. Everything else is as for
    `root`.
    """
    solve = _required("fixed_point", g, solver, "lambda h, x0: scipy.optimize.fixed_point(h, x0)")

    def residual(x: Any, *args: Any) -> Any:
        return g(x, *args) - x

    return _root(x0, *args, f=residual, solver=lambda h, x0: solve(lambda x: h(x) + x, x0))


def _required(name: str, f: Any, solver: Any, example: str) -> Solver:
    if not callable(f):
        raise TypeError(f"{name}: f must be a function, not a {type(f).__name__}.")
    if not callable(solver):
        seen = "it is missing" if solver is None else f"not a {type(solver).__name__}"
        raise TypeError(
            f"{name}: solver must be a function, {seen}. Write, for example, solver={example}."
        )
    return solver  # type: ignore[no-any-return]


@rule(host=lambda x0, *args, f, solver: x0)
def _root(x0: Any, *args: Any, f: Any, solver: Any) -> Any:
    result = solver(lambda x: on_numbers("root", f, x, *args), x0)
    return as_like("root", "x0", x0, result)


@_root.pullback
def _back(cotangent: Any, value: Any, x0: Any, *args: Any, f: Any, solver: Any) -> tuple[Any, ...]:
    if not any(map(has_derivative, args)):
        return None, *[None] * len(args)
    backend = auto_of_arrays(cotangent)
    # the adjoint of a matrix of real numbers
    weights = _solved(_jacobian(f, backend, value, args).T, cotangent)
    _, back = pullback(lambda *args: f(value, *args), backend, *marked(args))
    return None, *back(-weights)


@_root.pushforward
def _push(tangents: Any, value: Any, x0: Any, *args: Any, f: Any, solver: Any) -> Any:
    if not any(map(has_derivative, args)):
        return None
    backend = auto_of_arrays((value, tangents))
    moved = tuple([t if has_derivative(arg) else None for t, arg in zip(tangents[1:], args)])
    pushed = pushforward(lambda *args: f(value, *args), backend, marked(args), moved).tangent
    return -_solved(_jacobian(f, backend, value, args), pushed)


_root.definition.name = "root"


def _jacobian(f: Any, backend: Any, value: Any, args: tuple[Any, ...]) -> Any:
    """The matrix of the derivative of f with respect to x.

    Of real and imaginary parts, so that f need not be holomorphic.
    """

    def equation(x: Any) -> Any:
        result = f(_whole(x, value), *args)
        if is_complex(result) != is_complex(value) or getattr(result, "shape", ()) != value.shape:
            seen, wanted = [
                f"{'complex' if is_complex(y) else 'real'} and of shape {tuple(y.shape)}"
                for y in (result, value)
            ]
            raise RuleError(
                f"root: f must return an array like x, and x is like x0. It is {seen}; x0 is"
                f" {wanted}."
            )
        return _parts(result)

    (result,) = jacobian(equation, backend, _parts(value))
    n = math.isqrt(math.prod(result.shape))
    return array_namespace(result).reshape(result, (n, n))


def _solved(matrix: Any, right: Any) -> Any:
    """The solution of a linear system, of the shape of the right side."""
    xp, parts = array_namespace(matrix, right), _parts(right)
    return _whole(
        xp.reshape(xp.linalg.solve(matrix, xp.reshape(parts, (-1, 1))), parts.shape), right
    )


def _parts(x: Any) -> Any:
    """The real and imaginary parts of complex numbers; else x."""
    xp = array_namespace(x)
    return xp.stack([xp.real(x), xp.imag(x)]) if is_complex(x) else x


def _whole(parts: Any, like: Any) -> Any:
    """The inverse of `_parts`. like: whether the numbers are complex."""
    return parts[0] + 1j * parts[1] if is_complex(like) else parts


__all__ = ["fixed_point", "root"]
