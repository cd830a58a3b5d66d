"""`linear_solve`: a linear system given by its products, differentiated exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.contract.arrays import library_of_array
from ...core.operators.pullback import pullback, pushforward
from ..captured import on_numbers
from ..namespace import array_namespace
from ..rule import rule
from ..scalar import conj, is_complex
from .engine import as_like, auto_of_arrays, has_derivative, marked


def linear_solve(
    matvec: Callable[..., Any],
    b: Any,
    /,
    *args: Any,
    solver: Callable[[Callable[[Any], Any], Any], Any],
    transposed: Callable[..., Any] | None = None,
) -> Any:
    """The x with `matvec(x, *args) = b`, for a matvec that is linear in x.

    Derivatives with respect to b and args are exact.

    matvec: neutral code; takes and returns arrays of b's shape and dtype. What it captures is not
        differentiated.
    solver: `solver(product, b)`, called with product(x) = matvec(x, *args) on NumPy arrays, returns
        x, for example `lambda product, b: scipy.sparse.linalg.gmres(LinearOperator((n, n),
        product), b, rtol=1e-12)[0]`.
    transposed: the product with the transpose, `transposed(x, *args)`, which reverse mode solves
        with; matvec itself for a symmetric matrix. It does not conjugate: of a product with the
        adjoint, as `rmatvec` of SciPy, it is `conj(rmatvec(conj(x)))`. None: the matrix is formed,
        by one matvec for each number in b, by two for a complex one.

    Derivatives of any order, forward and reverse: each takes one more solution, with the matrix or
    with its transpose.
    """
    for what, given in (("matvec", matvec), ("solver", solver)):
        if not callable(given):
            raise TypeError(
                f"linear_solve: {what} must be a function, not a {type(given).__name__}."
            )
    return _solve(b, *args, matvec=matvec, solver=solver, transposed=transposed)


@rule(host=lambda b, *args, matvec, solver, transposed: b)
def _solve(b: Any, *args: Any, matvec: Any, solver: Any, transposed: Any) -> Any:
    result = solver(lambda x: on_numbers("linear_solve", matvec, x, *args), b)
    return as_like("linear_solve", "b", b, result)


@_solve.pullback
def _back(
    cotangent: Any, value: Any, b: Any, *args: Any, matvec: Any, solver: Any, transposed: Any
) -> tuple[Any, ...]:
    other = transposed or _transposed(matvec)
    # The adjoint is the conjugate of the transpose.
    weights = conj(_solve(conj(cotangent), *args, matvec=other, solver=solver, transposed=matvec))
    if not any(map(has_derivative, args)):
        return weights, *[None] * len(args)
    _, back = pullback(lambda *args: matvec(value, *args), auto_of_arrays(cotangent), *marked(args))
    return weights, *back(-weights)


@_solve.pushforward
def _push(
    tangents: Any, value: Any, b: Any, *args: Any, matvec: Any, solver: Any, transposed: Any
) -> Any:
    right = tangents[0]
    if any(map(has_derivative, args)):
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(tangents[1:], args)])
        backend = auto_of_arrays((value, tangents))
        right = (
            right
            - pushforward(lambda *args: matvec(value, *args), backend, marked(args), moved).tangent
        )
    return _solve(right, *args, matvec=matvec, solver=solver, transposed=transposed)


_solve.definition.name = "linear_solve"


def _transposed(matvec: Callable[..., Any]) -> Callable[..., Any]:
    """The product with the transpose of a matrix that is given by its products."""

    def other(x: Any, *args: Any) -> Any:
        xp = array_namespace(x, *[arg for arg in args if hasattr(arg, "shape")])
        count = math.prod(x.shape)
        library, flat = library_of_array(x), xp.reshape(x, (count,))
        units = library.asarray(np.eye(count), dtype=library.dtype(x), like=x)

        def product(factor: Any) -> Any:
            """The product of x with each column of the matrix, times a factor."""
            columns = [matvec(xp.reshape(units[n] * factor, x.shape), *args) for n in range(count)]
            return xp.stack([xp.reshape(column, (count,)) for column in columns]) @ flat

        result = xp.real(product(1)) - 1j * xp.real(product(1j)) if is_complex(x) else product(1)
        return xp.reshape(result, x.shape)

    return other


__all__ = ["linear_solve"]
