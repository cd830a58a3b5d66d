"""Linear systems, inverses and determinants, by NumPy, of the matrix that SciPy reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..arrays import Array, adjoint, identity, inexact, is_complex, rearranged, transposed
from ..dispatch import of_scipy, unsupported
from .special_matrices import toeplitz

#: The properties of the matrix for each value of `assume_a`; None is any.
_STRUCTURES = {
    None: "general", "gen": "general", "general": "general", "banded": "general",
    "tridiagonal": "tridiagonal", "diagonal": "diagonal", "sym": "symmetric",
    "symmetric": "symmetric", "her": "hermitian", "hermitian": "hermitian", "pos": "hermitian",
    "positive definite": "hermitian", "upper triangular": "upper", "lower triangular": "lower",
}  # fmt: skip


def read(a: Array, assume_a: str | None, lower: bool = False) -> Array:
    """The matrix that is given by the entries of a that SciPy reads."""
    if assume_a not in _STRUCTURES:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    structure = _STRUCTURES[assume_a]
    if structure == "general":
        return a
    if structure == "diagonal":
        return np.triu(np.tril(a))
    if structure == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    if structure in ("upper", "lower"):
        return np.tril(a) if structure == "lower" else np.triu(a)
    half, strict = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
    if structure == "symmetric" or not is_complex(a):
        return half + transposed(strict)
    diagonal = np.eye(a.shape[-1], dtype=bool)
    return np.where(diagonal, np.real(half) + 0j, half) + adjoint(strict)


@of_scipy(scipy.linalg.solve)
def solve(
    a: Any, b: Any, lower: bool = False, assume_a: str | None = None, transposed: bool = False
) -> Array:
    a, b = inexact(a), inexact(b)
    matrix = read(a, assume_a, lower)
    if transposed and is_complex(a) and _STRUCTURES[assume_a] != "general":
        raise unsupported(
            "scipy.linalg.solve",
            "transposed=True for a complex matrix with a structure",
            "Write a.T.",
        )
    return np.linalg.solve(np.swapaxes(matrix, -1, -2) if transposed else matrix, b)


@of_scipy(scipy.linalg.solve_triangular)
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Array:
    a = triangle(inexact(a), lower, unit_diagonal)
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans must be 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    return np.linalg.solve(
        a if trans in (0, "N") else transposed(a) if trans in (1, "T") else adjoint(a), inexact(b)
    )


def triangle(a: Array, lower: bool, unit_diagonal: bool = False) -> Array:
    """One triangle of a matrix; with ones on the diagonal, if asked for."""
    if not unit_diagonal:
        return np.tril(a) if lower else np.triu(a)
    return (np.tril(a, -1) if lower else np.triu(a, 1)) + identity(a.shape[-1], a)


@of_scipy(scipy.linalg.inv)
def inv(a: Any, *, assume_a: str | None = None, lower: bool = False) -> Array:
    return np.linalg.inv(read(inexact(a), assume_a, lower))


det: Callable[..., Array] = of_scipy(scipy.linalg.det)(lambda a: np.linalg.det(inexact(a)))


def _pseudoinverse(name: str, a: Array, atol: Any, rtol: Any, return_rank: bool) -> Any:
    if atol is not None and not (isinstance(atol, (int, float)) and atol == 0):
        raise unsupported(
            f"scipy.linalg.{name}", "atol", "Write rtol, relative to the largest singular value."
        )
    cut = max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if rtol is None else rtol
    inverse = np.linalg.pinv(a, cut)
    return (inverse, np.linalg.matrix_rank(a, rtol=cut)) if return_rank else inverse


@of_scipy(scipy.linalg.pinv)
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False) -> Any:
    return _pseudoinverse("pinv", inexact(a), atol, rtol, return_rank)


@of_scipy(scipy.linalg.pinvh)
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False
) -> Any:
    return _pseudoinverse("pinvh", read(inexact(a), "hermitian", lower), atol, rtol, return_rank)


@of_scipy(scipy.linalg.lstsq)
def lstsq(a: Any, b: Any, cond: Any = None) -> tuple[Any, Any, Any, Any]:
    a, b = inexact(a), inexact(b)
    solution, residues, rank, singular = np.linalg.lstsq(
        a, b, float(np.finfo(a.dtype).eps) if cond is None else cond
    )
    return (
        solution,
        residues[0] if len(b.shape) == 1 and residues.shape[0] else residues,
        rank,
        singular,
    )


@of_scipy(scipy.linalg.norm)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    return np.linalg.norm(inexact(a), ord, axis, keepdims)


@of_scipy(scipy.linalg.solve_banded)
def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any) -> Array:
    below, above = l_and_u
    ab = inexact(ab)
    if ab.shape[-2] != below + above + 1:
        raise ValueError(
            "invalid values for the number of lower and upper diagonals: l+u+1"
            f" ({below + above + 1}) does not equal ab.shape[-2] ({ab.shape[-2]})"
        )
    return np.linalg.solve(rearranged(lambda ab: _dense(ab, above), ab), inexact(b))


@of_scipy(scipy.linalg.solveh_banded)
def solveh_banded(ab: Any, b: Any, lower: bool = False) -> Array:
    ab = inexact(ab)
    half = rearranged(lambda ab: _dense(ab, 0 if lower else ab.shape[-2] - 1), ab)
    return np.linalg.solve(read(half, "hermitian", lower), inexact(b))


def _dense(ab: np.ndarray[Any, Any], above: int) -> np.ndarray[Any, Any]:
    """The matrix whose diagonals are the rows of ab, the main one in row `above`."""
    n = ab.shape[-1]
    dense = np.zeros((*ab.shape[:-2], n, n), ab.dtype)
    for row in range(ab.shape[-2]):
        columns = np.arange(n)
        rows = columns + row - above
        inside = (rows >= 0) & (rows < n)
        dense[..., rows[inside], columns[inside]] = ab[..., row, inside]
    return dense


@of_scipy(scipy.linalg.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any) -> Array:
    matrix = toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)
    b = inexact(b)
    columns = np.reshape(b, (b.shape[0], -1))
    return np.reshape(np.linalg.solve(inexact(matrix), columns), b.shape)


@of_scipy(scipy.linalg.solve_circulant)
def solve_circulant(c: Any, b: Any) -> Array:
    c, b = inexact(c), inexact(b)
    if len(c.shape) != 1:
        raise unsupported(
            "scipy.linalg.solve_circulant",
            "c with more than one axis",
            "Write a loop and np.stack.",
        )
    return np.linalg.solve(rearranged(scipy.linalg.circulant, c), b)
