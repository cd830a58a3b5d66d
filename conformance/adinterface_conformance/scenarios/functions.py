"""The functions that models are made of: reductions, shapes, indices, linear algebra.

Each with its Jacobian.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    gradient,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_jacobian,
)

from .building import Array, Operator, array_to_array, beside, scenario, signed, some

_X, _M, _S = some(3), some(2, 3), some(3, 3, seed=1) + np.eye(3)
_EYE, _EYE23 = np.eye(3), np.eye(6).reshape(2, 3, 2, 3)
_INVERSE = np.linalg.inv(_S)
_WEIGHT = signed(2, 3, seed=2)
_B = signed(3, seed=7)
_LARGE, _INSIDE = _X > 0.8, (_X > 0.5) & (_X < 0.9)
_NORM = 1 + _X @ _X
_BY_ROW = np.einsum("ik,l->ikl", _EYE, _S[0]) + np.einsum("k,il->ikl", _EYE[0], _S)
_BY_MATRIX = np.einsum("ik,jl->ijkl", np.eye(2), _M) + np.einsum("jk,il->ijkl", np.eye(2), _M)
_BY_PRODUCT = _M[0, 1] * _EYE23[1] + _M[1][:, None, None] * _EYE23[0, 1]
_SORTED = np.argsort(_X)


def _covariance(weight: Any) -> Any:
    return weight @ array_namespace(weight).permute_dims(weight, (1, 0))


def _solution(matrix: Any) -> Any:
    """With one column, because engines and the standard disagree on a stack of vectors."""
    xp = array_namespace(matrix)
    return xp.linalg.solve(matrix, beside(matrix, _B[:, None]))[:, 0]


def _trace(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(x * beside(x, _EYE))


def _with_squares(x: Any) -> Any:
    return array_namespace(x).stack([x, x**2])


def _repeated(x: Any) -> Any:
    return x[array_namespace(x).asarray(np.array([0, 2, 0]))]


def _masked(x: Any) -> Any:
    return array_namespace(x).where(x > 0.8, x**2, x)


def _smooth_maximum(x: Any) -> Any:
    return array_namespace(x).logaddexp(x, 2 * x)


def _first_row_contracted(x: Any) -> Any:
    return array_namespace(x).einsum("ij,j->i", x, x[0])


#: name, f, x, value, Jacobian
ROWS: list[tuple[str, Any, Array, Any, Any]] = [
    # Reductions
    ("sum-of-an-axis", lambda x: array_namespace(x).sum(x, axis=1), _M, _M.sum(1), _EYE23.sum(1)),
    ("mean-of-an-axis", lambda x: array_namespace(x).mean(x, axis=0), _M, _M.mean(0),
        _EYE23.sum(0) / 2),
    ("variance", lambda x: array_namespace(x).var(x), _X, _X.var(), 2 / 3 * (_X - _X.mean())),
    ("greatest", lambda x: array_namespace(x).max(x), _X, _X.max(), _EYE[np.argmax(_X)]),
    ("least-of-an-axis", lambda x: array_namespace(x).min(x, axis=1), _M, _M.min(1),
        _EYE23[[0, 1], np.argmin(_M, axis=1)]),
    ("product-of-an-axis", lambda x: array_namespace(x).prod(x, axis=0), _M, _M.prod(0),
        np.flip(_M, 0)[None] * _EYE23.sum(0)),
    ("running-sum", lambda x: array_namespace(x).cumulative_sum(x), _X, np.cumsum(_X),
        np.tril(np.ones((3, 3)))),
    ("length", lambda x: array_namespace(x).sqrt(x @ x), _X, np.linalg.norm(_X),
        _X / np.linalg.norm(_X)),
    ("sorted", lambda x: array_namespace(x).sort(x), _X, _X[_SORTED], _EYE[_SORTED]),
    # Shapes
    ("reshaped", lambda x: array_namespace(x).reshape(x, (3, 2)), _M, _M.reshape(3, 2),
        _EYE23.reshape(3, 2, 2, 3)),
    # An engine may give the caller's array and tangent as the value and its tangent.
    ("itself", lambda x: x, _X, _X, _EYE),
    ("transposed", lambda x: array_namespace(x).permute_dims(x, (1, 0)), _M, _M.T,
        _EYE23.transpose(1, 0, 2, 3)),
    ("stacked", _with_squares, _X, np.stack([_X, _X**2]), np.stack([_EYE, np.diag(2 * _X)])),
    ("joined", lambda x: array_namespace(x).concat([x, x * x]), _X, np.r_[_X, _X**2],
        np.concatenate([_EYE, np.diag(2 * _X)])),
    ("repeated-by-broadcasting", lambda x: x[:, None] + x[None, :], _X, np.add.outer(_X, _X),
        _EYE[:, None] + _EYE[None]),
    # Indices
    ("slice-with-a-step", lambda x: x[::2] ** 2, _X, _X[::2] ** 2, np.diag(2 * _X)[::2]),
    ("negative-index", lambda x: x[-1] * x, _X, _X[-1] * _X,
        _X[-1] * _EYE + np.outer(_X, _EYE[-1])),
    ("repeated-index", _repeated, _X, _X[[0, 2, 0]], _EYE[[0, 2, 0]]),
    ("row-and-column", lambda x: x[1, :] * x[0, 1], _M, _M[1] * _M[0, 1], _BY_PRODUCT),
    ("chosen-by-a-mask", _masked, _X, np.where(_LARGE, _X**2, _X),
        np.diag(np.where(_LARGE, 2 * _X, 1))),
    ("clipped", lambda x: array_namespace(x).clip(x, 0.5, 0.9), _X, np.clip(_X, 0.5, 0.9),
        np.diag(_INSIDE) * 1.0),
    ("greater-of-two", lambda x: array_namespace(x).maximum(x, 1 - x), _X, np.maximum(_X, 1 - _X),
        np.diag(np.sign(_X - 0.5))),
    # Two arguments of a function
    ("angle", lambda x: array_namespace(x).atan2(x, 2 - x), _X, np.arctan2(_X, 2 - _X),
        np.diag(2 / (_X**2 + (2 - _X) ** 2))),
    ("power-of-itself", lambda x: x**x, _X, _X**_X, np.diag(_X**_X * (np.log(_X) + 1))),
    ("smooth-maximum", _smooth_maximum, _X, np.logaddexp(_X, 2 * _X),
        np.diag(1 + 1 / (1 + np.exp(-_X)))),
    ("divided", lambda x: x / (1 + x @ x), _X, _X / _NORM,
        _EYE / _NORM - 2 * np.outer(_X, _X) / _NORM**2),
    # Linear algebra
    ("matrix-and-vector", lambda x: beside(x, _WEIGHT) @ x, _X, _WEIGHT @ _X, _WEIGHT),
    ("covariance", _covariance, _M, _M @ _M.T, _BY_MATRIX),
    ("einsum", _first_row_contracted, _S, _S @ _S[0], _BY_ROW),
    ("inverse", lambda x: array_namespace(x).linalg.inv(x), _S, _INVERSE,
        -np.einsum("ik,lj->ijkl", _INVERSE, _INVERSE)),
    ("determinant", lambda x: array_namespace(x).linalg.det(x), _S, np.linalg.det(_S),
        np.linalg.det(_S) * _INVERSE.T),
    ("logarithm-of-a-determinant", lambda x: array_namespace(x).linalg.slogdet(x)[1], _S,
        np.linalg.slogdet(_S)[1], _INVERSE.T),
    ("solution", _solution, _S, _INVERSE @ _B, -np.einsum("ik,l->ikl", _INVERSE, _INVERSE @ _B)),
    ("trace", _trace, _S, np.trace(_S), _EYE),
]  # fmt: skip

_PRODUCTS: tuple[Operator, ...] = (pullback, pushforward, linearize, jacobian)


def _asked(n: int) -> tuple[Operator, ...]:
    """Every function by its Jacobian or one product with it, in turn."""
    return (value_and_jacobian,) if n % 2 else (_PRODUCTS[n // 2 % 4],)


_matrix, _vector = signed(2, 3, seed=4), signed(3, seed=5)

SCENARIOS = [
    *(each for n,
        (name, f, x, value,
        slope) in enumerate(ROWS) for each in array_to_array(f"functions/{name}", f, x, value=value,
        slope=slope, operators=_asked(n))),
    scenario("functions/product-of-two-matrices", gradient, lambda a,
        b: array_namespace(a, b).sum(a @ b), (_matrix, _S),
        (np.tile(_S.sum(1), (2, 1)), np.tile(_matrix.sum(0)[:, None], (1, 3)))),
    scenario("functions/bilinear-form", gradient, lambda a, m, b: a @ (m @ b),
        (_matrix[:, 0], _matrix, _vector), (_matrix @ _vector, np.outer(_matrix[:, 0], _vector),
        _matrix.T @ _matrix[:, 0])),
    scenario("functions/product-with-a-zero", gradient, lambda x: array_namespace(x).prod(x),
        (np.array([2.0, 0.0, 3.0]),), (np.array([0.0, 6.0, 0.0]),)),
    scenario("functions/sum-of-absolutes-by-hvp", hvp,
        lambda x: array_namespace(x).sum(array_namespace(x).abs(x)),
        (np.array([1.0, -2.0]), np.ones(2)), np.zeros(2)),
    scenario("functions/batch-of-products", gradient, lambda a,
        b: array_namespace(a, b).sum((a @ b) ** 2), (_STACK := signed(2, 2, 3, seed=6),
        Constant(_vector)), (2 * (_STACK @ _vector)[..., None] * _vector, None)),
]  # fmt: skip
