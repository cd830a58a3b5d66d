"""Every function of the Array API standard, 2024.12, and the operators of its arrays, in the ways
that people use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .use import Array, Kind, Use

# Arguments: no two elements alike, no element at a kink, nothing symmetric.
V = np.array([0.7, -1.3, 2.1, 0.4])
P = np.array([0.3, 1.7, 0.9, 2.2])
U = np.array([0.21, -0.64, 0.45, 0.83])  # inside (-1, 1)
A = np.array([[0.5, -1.2, 0.8], [1.9, 0.3, -0.7]])
B = np.array([[1.1, 0.6, -0.4], [-0.9, 2.3, 0.2]])
ROW = np.array([0.9, -0.5, 1.4])
T = np.linspace(-1.1, 2.4, 12).reshape(2, 3, 2) ** 2 + np.linspace(0.1, 0.7, 12).reshape(2, 3, 2)
M = np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [-0.2, 0.6, 1.8]])
N = np.array([[1.2, -0.3, 0.7], [0.4, 2.1, -0.6], [0.9, 0.2, 1.6]])
STACK = np.stack([M, N])
S = np.array(1.3)
EMPTY = np.zeros((0, 3))
BACKWARD = A[:, ::-1]
# Far from every jump of floor, round and of a quotient's whole part.
F = np.array([[0.4, -1.3, 0.7], [1.6, 0.35, -0.65]])
G = np.array([[1.1, 0.8, -0.5], [-0.9, 2.3, 0.47]])
TIES = np.array([[1.5, 0.2, 1.1], [0.3, 0.9, 2.2]])

USES: list[Use] = []


def uses(name: str, f: Callable[..., Any], *arrays: Array, kind: Kind = "smooth") -> None:
    USES.append(Use(name, f, arrays, kind))


# Element by element
# --------------------------------------------------------------------------------------------------

for _name, _point in {
    "abs": A, "acos": U, "acosh": P + 1.0, "asin": U, "asinh": A, "atan": A, "atanh": U, "conj": A,
    "cos": A, "cosh": A, "exp": A, "expm1": A, "imag": A, "log": P, "log10": P, "log1p": P,
    "log2": P, "negative": A, "positive": A, "real": A, "reciprocal": P, "sin": A, "sinh": A,
    "sqrt": P, "square": A, "tan": U, "tanh": A,
}.items():  # fmt: skip
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x), _point)
    uses(
        _name,
        lambda xp, x, name=_name: getattr(xp, name)(x[0, ...]),
        np.stack([_point, _point])[:, ::-1],
    )
    uses(
        _name,
        lambda xp, x, name=_name: getattr(xp, name)(x),
        np.array(abs(_point.flat[0]) + (_name == "acosh")),
    )
uses("abs", lambda xp, x: xp.abs(x + 2j * x * x), A)
uses("conj", lambda xp, x: xp.real(xp.conj(x + 1j * x * x) * (2 + 3j)), A)
uses("exp", lambda xp, x: xp.real(xp.exp(1j * x)), A)
uses("exp", lambda xp, x: xp.exp(x), np.array([0.0, -40.0, -1500.0]))
uses("real", lambda xp, x: xp.real((1 + 2j) * x), A)
uses("imag", lambda xp, x: xp.imag((1 + 2j) * x), A)

for _name in ("ceil", "floor", "round", "sign", "trunc"):
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x), F, kind="flat")
for _name in ("isfinite", "isinf", "isnan", "signbit"):
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x), A, kind="discrete")

for _name in (
    "add",
    "atan2",
    "divide",
    "hypot",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
):
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x, y), A, B)
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x, y), A, ROW)
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x[:, None], y), ROW, V)
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x, xp.asarray(ROW)), BACKWARD)
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x, y), S, V)
uses("copysign", lambda xp, x, y: xp.copysign(x, y), A, B)
uses("copysign", lambda xp, x: xp.copysign(x, xp.asarray(ROW)), A)
uses("remainder", lambda xp, x, y: xp.remainder(x, y), F, G)
uses("remainder", lambda xp, x: xp.remainder(x, xp.asarray(1.7, dtype=x.dtype)), F)
uses("floor_divide", lambda xp, x, y: xp.floor_divide(x, y), F, G, kind="flat")
uses("nextafter", lambda xp, x: xp.nextafter(x, xp.asarray(9.0)), A)
uses("pow", lambda xp, x, y: xp.pow(x, y), P, V)
uses("pow", lambda xp, x: xp.pow(x, xp.asarray(2.0)), A)
uses("pow", lambda xp, x: xp.pow(x, xp.asarray(3)), np.array([0.0, -1.5, 0.7]))
uses("pow", lambda xp, x: xp.pow(xp.asarray(2.5), x), A)
uses("clip", lambda xp, x: xp.clip(x, -0.6, 1.0), A)
uses("clip", lambda xp, x: xp.clip(x, min=0.1), A)
uses("clip", lambda xp, x: xp.clip(x, max=0.1), A)
uses("clip", lambda xp, x, low: xp.clip(x, low, xp.asarray(1.7, dtype=x.dtype)), A, ROW / 4)
for _name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x, y), A, B, kind="discrete")
for _name in ("logical_and", "logical_or", "logical_xor"):
    uses(_name, lambda xp, x, y, name=_name: getattr(xp, name)(x > 0, y > 0), A, B, kind="discrete")
uses("logical_not", lambda xp, x: xp.logical_not(x > 0), A, kind="discrete")
for _name in (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
):
    uses(
        _name,
        lambda xp, x, name=_name: getattr(xp, name)(xp.astype(x * 4, xp.int64) % 8, xp.asarray(2)),
        A,
        kind="discrete",
    )
uses(
    "bitwise_invert",
    lambda xp, x: xp.bitwise_invert(xp.astype(x * 4, xp.int64)),
    A,
    kind="discrete",
)

# Statistics
# ------------------------------------------------------------------------------------------------

for _name in ("sum", "prod", "mean", "max", "min", "var", "std"):
    for _options in (
        {},
        {"axis": 0},
        {"axis": -1, "keepdims": True},
        {"axis": (0, 2)},
        {"axis": None, "keepdims": True},
    ):
        _x = T if _options.get("axis") == (0, 2) else TIES
        uses(_name, lambda xp, x, name=_name, options=_options: getattr(xp, name)(x, **options), _x)
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x, axis=1), BACKWARD)
for _name in ("var", "std"):
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x, axis=1, correction=1), A)
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x, correction=0.5), A)
uses("sum", lambda xp, x: xp.sum(x, axis=0), EMPTY)
uses("prod", lambda xp, x: xp.prod(x, axis=0), EMPTY)
uses("prod", lambda xp, x: xp.prod(x), np.array([2.0, 0.0, 3.0]))
uses("prod", lambda xp, x: xp.prod(x, axis=1), np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]]))
uses("prod", lambda xp, x: xp.prod(x, axis=0, keepdims=True), A)
uses("cumulative_sum", lambda xp, x: xp.cumulative_sum(x), V)
uses("cumulative_sum", lambda xp, x: xp.cumulative_sum(x, axis=1), A)
uses("cumulative_sum", lambda xp, x: xp.cumulative_sum(x, axis=-2, include_initial=True), A)
uses("cumulative_prod", lambda xp, x: xp.cumulative_prod(x), V)
uses("cumulative_prod", lambda xp, x: xp.cumulative_prod(x, axis=1, include_initial=True), A)
uses("cumulative_prod", lambda xp, x: xp.cumulative_prod(x), np.array([2.0, 0.0, 3.0, 0.0]))
uses("count_nonzero", lambda xp, x: xp.count_nonzero(x, axis=1), A, kind="discrete")
uses("all", lambda xp, x: xp.all(x > 0, axis=1), A, kind="discrete")
uses("any", lambda xp, x: xp.any(x > 0, axis=0, keepdims=True), A, kind="discrete")
uses("diff", lambda xp, x: xp.diff(x), A)
uses("diff", lambda xp, x: xp.diff(x, axis=0, n=1), A)
uses("diff", lambda xp, x: xp.diff(x, n=2), V)
uses("diff", lambda xp, x, y: xp.diff(x, prepend=y[:1], append=y[1:]), V, ROW)

# Manipulation
# ------------------------------------------------------------------------------------------------

uses("broadcast_to", lambda xp, x: xp.broadcast_to(x, (2, 4, 3)), ROW)
uses("broadcast_to", lambda xp, x: xp.broadcast_to(x, (3, 2)), S)
uses("broadcast_to", lambda xp, x: xp.broadcast_to(x, (2, 4)), V[:1])
uses("broadcast_arrays", lambda xp, x, y: tuple(xp.broadcast_arrays(x, y)), A, ROW)
uses("concat", lambda xp, x, y: xp.concat([x, y]), A, B)
uses("concat", lambda xp, x, y: xp.concat((x, y), axis=-1), A, B)
uses("concat", lambda xp, x, y: xp.concat([x, y, xp.asarray(A)], axis=None), A, ROW)
uses("expand_dims", lambda xp, x: xp.expand_dims(x, axis=1), A)
uses("expand_dims", lambda xp, x: xp.expand_dims(x, axis=-1), A)
uses("flip", lambda xp, x: xp.flip(x), A)
uses("flip", lambda xp, x: xp.flip(x, axis=-1), A)
uses("flip", lambda xp, x: xp.flip(x, axis=(0, 2)), T)
uses("moveaxis", lambda xp, x: xp.moveaxis(x, 0, -1), T)
uses("moveaxis", lambda xp, x: xp.moveaxis(x, (0, 1), (2, 0)), T)
uses("permute_dims", lambda xp, x: xp.permute_dims(x, (2, 0, 1)), T)
uses("repeat", lambda xp, x: xp.repeat(x, 3), V)
uses("repeat", lambda xp, x: xp.repeat(x, 2, axis=1), A)
uses("repeat", lambda xp, x: xp.repeat(x, xp.asarray([1, 0, 2]), axis=-1), A)
uses("reshape", lambda xp, x: xp.reshape(x, (3, -1)), A)
uses("reshape", lambda xp, x: xp.reshape(x, (1,)), S)
uses("roll", lambda xp, x: xp.roll(x, 2), A)
uses("roll", lambda xp, x: xp.roll(x, -1, axis=1), A)
uses("roll", lambda xp, x: xp.roll(x, (1, 2), axis=(0, 2)), T)
uses("squeeze", lambda xp, x: xp.squeeze(x, axis=1), A[:, None])
uses("squeeze", lambda xp, x: xp.squeeze(x, axis=(0, -1)), A[None, :, :, None])
uses("stack", lambda xp, x, y: xp.stack([x, y]), A, B)
uses("stack", lambda xp, x, y: xp.stack((x, y), axis=-1), A, B)
uses("stack", lambda xp, x: xp.stack([x[0], x[1] * 2, x[0] * x[1]]), V)
uses("tile", lambda xp, x: xp.tile(x, (2, 1, 2)), A)
uses("tile", lambda xp, x: xp.tile(x, (3,)), V)
uses("unstack", lambda xp, x: tuple(xp.unstack(x)), A)
uses("unstack", lambda xp, x: tuple(xp.unstack(x, axis=-1)), A)

# Creation
# ------------------------------------------------------------------------------------------------

uses("arange", lambda xp, x: x * xp.arange(4, dtype=xp.float64), V)
uses("asarray", lambda xp, x: xp.asarray(x) * xp.asarray([1.0, 2.0, 3.0, 4.0]), V)
uses("empty", lambda xp, x: x * xp.zeros_like(xp.empty((4,), dtype=xp.float64)), V, kind="flat")
uses("empty_like", lambda xp, x: xp.zeros_like(xp.empty_like(x)), V, kind="discrete")
uses("eye", lambda xp, x: x[:, None] * xp.eye(4, 3, k=1, dtype=xp.float64), V)
uses("eye", lambda xp, x: x[:, None] * xp.eye(4, 0, dtype=xp.float64), V)
uses("from_dlpack", lambda xp, x: x * xp.from_dlpack(xp.asarray([1.0, 2.0, 3.0, 4.0])), V)
uses("full", lambda xp, x: x * xp.full((4,), 2.5, dtype=xp.float64), V)
uses("full_like", lambda xp, x: x * xp.full_like(x, 2.5), V)
uses("linspace", lambda xp, x: x * xp.linspace(0.0, 1.0, 4, dtype=xp.float64), V)
uses("meshgrid", lambda xp, x, y: tuple(xp.meshgrid(x, y)), V, ROW)
uses("meshgrid", lambda xp, x, y: tuple(xp.meshgrid(x, y, indexing="ij")), V, ROW)
uses("ones", lambda xp, x: x * xp.ones((4,), dtype=xp.float64), V)
uses("ones_like", lambda xp, x: x * xp.ones_like(x), V)
uses("tril", lambda xp, x: xp.tril(x), M)
uses("tril", lambda xp, x: xp.tril(x, k=-1), STACK)
uses("triu", lambda xp, x: xp.triu(x), A)
uses("triu", lambda xp, x: xp.triu(x, k=1), STACK)
uses("zeros", lambda xp, x: x * xp.zeros((4,), dtype=xp.float64), V, kind="flat")
uses("zeros_like", lambda xp, x: xp.zeros_like(x), V, kind="discrete")

# Data types and inspection
# -------------------------------------------------------------------------------------------

uses("astype", lambda xp, x: xp.astype(x, xp.float64), V)
uses("astype", lambda xp, x: xp.real(xp.astype(x, xp.complex128) * (1 + 2j)), V)
uses("astype", lambda xp, x: xp.astype(x, xp.int64), V, kind="discrete")
uses("can_cast", lambda xp, x: xp.can_cast(xp.float32, xp.float64), V, kind="discrete")
uses("finfo", lambda xp, x: float(xp.finfo(x.dtype).eps), V, kind="discrete")
uses("iinfo", lambda xp, x: int(xp.iinfo(xp.int32).max), V, kind="discrete")
uses("isdtype", lambda xp, x: xp.isdtype(x.dtype, "real floating"), V, kind="discrete")
uses("result_type", lambda xp, x: xp.result_type(x, xp.float32) == xp.float64, V, kind="discrete")

# Searching, sorting, sets
# --------------------------------------------------------------------------------------------

uses("argmax", lambda xp, x: xp.argmax(x, axis=1), A, kind="discrete")
uses("argmin", lambda xp, x: xp.argmin(x, axis=0, keepdims=True), A, kind="discrete")
uses("argsort", lambda xp, x: xp.argsort(x, axis=-1, descending=True), A, kind="discrete")
uses("nonzero", lambda xp, x: tuple(xp.nonzero(x > 0)), A, kind="discrete")
uses(
    "searchsorted",
    lambda xp, x: xp.searchsorted(xp.asarray([-1.0, 0.0, 1.0]), x),
    V,
    kind="discrete",
)
uses("sort", lambda xp, x: xp.sort(x), V)
uses("sort", lambda xp, x: xp.sort(x, axis=0), A)
uses("sort", lambda xp, x: xp.sort(x, axis=1, descending=True), T)
uses("where", lambda xp, x, y: xp.where(x > 0, x, y), A, B)
uses("where", lambda xp, x, y: xp.where(x > 0, x, y), A, ROW)
uses("where", lambda xp, x, y, z: xp.where(x > 0, y[:, None], z), A, V[:2], S)
uses(
    "where", lambda xp, x: xp.where(xp.asarray([[True], [False]]), x, 2j * x), ROW, kind="discrete"
)
uses("where", lambda xp, x, y: xp.where(xp.asarray([True, False, True]), x * y, 0.5), A, ROW)
for _name in ("unique_all", "unique_counts", "unique_inverse"):
    uses(_name, lambda xp, x, name=_name: getattr(xp, name)(x)[1], V, kind="discrete")
uses(
    "unique_values",
    lambda xp, x: xp.sort(xp.unique_values(xp.astype(x, xp.int64))),
    V,
    kind="discrete",
)
uses("take", lambda xp, x: xp.take(x, xp.asarray([2, 0, 2]), axis=1), A)
uses("take", lambda xp, x: xp.take(x, xp.asarray([1, -1])), V)
uses(
    "take_along_axis", lambda xp, x: xp.take_along_axis(x, xp.asarray([[2, 0], [1, 1]]), axis=1), A
)
uses("take_along_axis", lambda xp, x: xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0), A)

# Products
# ------------------------------------------------------------------------------------------------

for _where in ("", "linalg."):

    def _get(xp: Any, name: str, where: str = _where) -> Callable[..., Any]:
        return getattr(xp.linalg, name) if where else getattr(xp, name)  # type: ignore[no-any-return]

    uses(_where + "matmul", lambda xp, x, y, get=_get: get(xp, "matmul")(x, y), A, M)
    uses(_where + "matmul", lambda xp, x, y, get=_get: get(xp, "matmul")(x, y), STACK, ROW)
    uses(_where + "matmul", lambda xp, x, y, get=_get: get(xp, "matmul")(x, y), ROW, M)
    uses(_where + "matmul", lambda xp, x, y, get=_get: get(xp, "matmul")(x, y), STACK, N)
    uses(
        _where + "matrix_transpose",
        lambda xp, x, get=_get: get(xp, "matrix_transpose")(x),
        STACK[:, :2],
    )
    uses(_where + "tensordot", lambda xp, x, y, get=_get: get(xp, "tensordot")(x, y, axes=1), A, M)
    uses(
        _where + "tensordot",
        lambda xp, x, y, get=_get: get(xp, "tensordot")(x, y, axes=((1, 0), (0, 1))),
        A,
        B.T,
    )
    uses(
        _where + "tensordot", lambda xp, x, y, get=_get: get(xp, "tensordot")(x, y, axes=0), ROW, V
    )
    uses(_where + "vecdot", lambda xp, x, y, get=_get: get(xp, "vecdot")(x, y), A, B)
    uses(
        _where + "vecdot",
        lambda xp, x, y, get=_get: get(xp, "vecdot")(x, y, axis=-2),
        T,
        T[:1] + 0.3,
    )
    uses(
        _where + "vecdot",
        lambda xp, x, y, get=_get: xp.real(get(xp, "vecdot")(x * (1 + 2j), y + 0j)),
        A,
        ROW,
    )

uses("einsum", lambda xp, x, y: xp.einsum("ij,jk->ik", x, y), A, M)
uses("einsum", lambda xp, x, y: xp.einsum("ij,ij->i", x, y), A, A[:, :1])
uses("einsum", lambda xp, x: xp.einsum("ii->i", x), M)
uses("einsum", lambda xp, x: xp.einsum("ii", x), M)
uses("einsum", lambda xp, x, y: xp.einsum("...ij,...j->...i", x, y), STACK, ROW)
uses("einsum", lambda xp, x, y: xp.einsum("i,j,k->ijk", x, y, xp.asarray(ROW)), V, ROW)

# linalg
# ------------------------------------------------------------------------------------------------


def _symmetric(xp: Any, x: Any) -> Any:
    return xp.matmul(x, xp.matrix_transpose(x)) + 0.1 * xp.eye(3, dtype=x.dtype)


for _x in (M, STACK):
    uses("linalg.cholesky", lambda xp, x: xp.linalg.cholesky(_symmetric(xp, x)), _x)
    uses("linalg.cholesky", lambda xp, x: xp.linalg.cholesky(_symmetric(xp, x), upper=True), _x)
    uses("linalg.det", lambda xp, x: xp.linalg.det(x), _x)
    uses("linalg.inv", lambda xp, x: xp.linalg.inv(x), _x)
    uses("linalg.slogdet", lambda xp, x: xp.linalg.slogdet(x)[1], _x)
    uses("linalg.slogdet", lambda xp, x: xp.linalg.slogdet(x).logabsdet, _x)
    uses("linalg.eigvalsh", lambda xp, x: xp.linalg.eigvalsh(_symmetric(xp, x)), _x)
    uses("linalg.eigh", lambda xp, x: xp.linalg.eigh(_symmetric(xp, x))[0], _x)
    # An eigenvector has no sign of its own; its outer product with itself has.
    uses(
        "linalg.eigh",
        lambda xp, x: xp.linalg.eigh(_symmetric(xp, x)).eigenvectors[..., 0:1] ** 2,
        _x,
    )
    uses("linalg.svdvals", lambda xp, x: xp.linalg.svdvals(x), _x)
    uses("linalg.pinv", lambda xp, x: xp.linalg.pinv(x), _x)
    uses("linalg.matrix_power", lambda xp, x: xp.linalg.matrix_power(x, 3), _x)
    uses("linalg.matrix_power", lambda xp, x: xp.linalg.matrix_power(x, -2), _x)
    uses(
        "linalg.matrix_power",
        lambda xp, x: xp.linalg.matrix_power(x, 1) + xp.linalg.matrix_power(x, 0),
        _x,
    )
    uses("linalg.qr", lambda xp, x: xp.linalg.qr(x).Q ** 2, _x)
    uses("linalg.qr", lambda xp, x: xp.abs(xp.linalg.qr(x)[1]), _x)
    uses("linalg.trace", lambda xp, x: xp.linalg.trace(x), _x)
    uses("linalg.trace", lambda xp, x: xp.linalg.trace(x, offset=1), _x)
    uses("linalg.diagonal", lambda xp, x: xp.linalg.diagonal(x), _x)
    uses("linalg.diagonal", lambda xp, x: xp.linalg.diagonal(x, offset=-1), _x)
    uses("linalg.matrix_rank", lambda xp, x: xp.linalg.matrix_rank(x), _x, kind="discrete")
    for _ord in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf")):
        uses("linalg.matrix_norm", lambda xp, x, ord=_ord: xp.linalg.matrix_norm(x, ord=ord), _x)
    uses("linalg.matrix_norm", lambda xp, x: xp.linalg.matrix_norm(x, keepdims=True), _x)
uses("linalg.qr", lambda xp, x: xp.linalg.qr(x).R ** 2, A.T)
uses("linalg.qr", lambda xp, x: xp.linalg.qr(x, mode="reduced").Q ** 2, A.T)
uses("linalg.svd", lambda xp, x: xp.linalg.svd(x, full_matrices=False)[1], A)
uses("linalg.svd", lambda xp, x: xp.linalg.svd(x, full_matrices=False).U ** 2, A)
uses("linalg.svd", lambda xp, x: xp.linalg.svd(x, full_matrices=False).Vh ** 2, STACK)
uses("linalg.pinv", lambda xp, x: xp.linalg.pinv(x), A)
uses("linalg.svdvals", lambda xp, x: xp.linalg.svdvals(x), A)
uses("linalg.solve", lambda xp, x, y: xp.linalg.solve(x, y), M, ROW)
uses("linalg.solve", lambda xp, x, y: xp.linalg.solve(x, y), M, A.T)
uses("linalg.solve", lambda xp, x, y: xp.linalg.solve(x, y), STACK, ROW)
uses("linalg.solve", lambda xp, x, y: xp.linalg.solve(x, y), STACK, N)
uses("linalg.cross", lambda xp, x, y: xp.linalg.cross(x, y), A, B)
uses("linalg.cross", lambda xp, x, y: xp.linalg.cross(x, y), A, ROW)
uses("linalg.cross", lambda xp, x, y: xp.linalg.cross(x, y, axis=0), M, N)
uses("linalg.outer", lambda xp, x, y: xp.linalg.outer(x, y), V, ROW)
for _ord in (2, 1, 3, 0.5, float("inf"), -float("inf"), -1):
    uses(
        "linalg.vector_norm", lambda xp, x, ord=_ord: xp.linalg.vector_norm(x, ord=ord, axis=-1), A
    )
uses("linalg.vector_norm", lambda xp, x: xp.linalg.vector_norm(x), A)
uses("linalg.vector_norm", lambda xp, x: xp.linalg.vector_norm(x, axis=(0, 2), keepdims=True), T)
uses("linalg.vector_norm", lambda xp, x: xp.linalg.vector_norm(x, ord=0), V, kind="flat")

# fft
# ------------------------------------------------------------------------------------------------


def _parts(xp: Any, z: Any) -> Any:
    return xp.real(z), xp.imag(z)


for _name in ("fft", "ifft"):
    uses(
        f"fft.{_name}",
        lambda xp, x, y, name=_name: _parts(xp, getattr(xp.fft, name)(x + 1j * y)),
        V,
        P,
    )
    uses(
        f"fft.{_name}",
        lambda xp, x, name=_name: _parts(xp, getattr(xp.fft, name)(x + 0j, n=3, axis=0)),
        M,
    )
    uses(
        f"fft.{_name}",
        lambda xp, x, name=_name: _parts(xp, getattr(xp.fft, name)(x + 0j, n=5, norm="ortho")),
        A,
    )
    uses(
        f"fft.{_name}n",
        lambda xp, x, name=_name: _parts(xp, getattr(xp.fft, name + "n")(x + 0j)),
        A,
    )
    uses(
        f"fft.{_name}n",
        lambda xp, x, n=_name: _parts(
            xp, getattr(xp.fft, n + "n")(x + 0j, axes=(0, 2), norm="forward")
        ),
        T,
    )
for _length in (4, 5):
    _r = np.linspace(-1.0, 1.5, _length) ** 3 + 0.4
    uses("fft.rfft", lambda xp, x: _parts(xp, xp.fft.rfft(x)), _r)
    uses("fft.rfft", lambda xp, x: _parts(xp, xp.fft.rfft(x, n=3, norm="ortho")), _r)
    uses("fft.rfftn", lambda xp, x: _parts(xp, xp.fft.rfftn(x)), np.stack([_r, _r**2]))
    uses("fft.ihfft", lambda xp, x: _parts(xp, xp.fft.ihfft(x)), _r)
uses("fft.rfft", lambda xp, x: _parts(xp, xp.fft.rfft(x, axis=0)), M)
for _n in (None, 4, 5):
    uses("fft.irfft", lambda xp, x, y, n=_n: xp.fft.irfft(x + 1j * y, n=n), ROW, ROW * 2 - 0.3)
    uses("fft.hfft", lambda xp, x, y, n=_n: xp.fft.hfft(x + 1j * y, n=n), ROW, ROW * 2 - 0.3)
uses("fft.irfftn", lambda xp, x, y: xp.fft.irfftn(x + 1j * y, s=(2, 4), axes=(0, 1)), A, B)
uses("fft.fftshift", lambda xp, x: xp.fft.fftshift(x), V)
uses("fft.fftshift", lambda xp, x: xp.fft.fftshift(x, axes=1), A)
uses("fft.ifftshift", lambda xp, x: xp.fft.ifftshift(x, axes=(0, 2)), T)
uses("fft.fftfreq", lambda xp, x: x * xp.astype(xp.fft.fftfreq(4, d=0.5), xp.float64), V)
uses("fft.rfftfreq", lambda xp, x: x[:3] * xp.astype(xp.fft.rfftfreq(4, d=0.5), xp.float64), V)

# The array itself
# ------------------------------------------------------------------------------------------------

for _symbol, _operation in {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/":
    lambda x, y: x / y,
}.items():  # fmt: skip
    uses(f"x {_symbol} y", lambda xp, x, y, op=_operation: op(x, y), A, B)
    uses(f"x {_symbol} y", lambda xp, x, op=_operation: op(x, 1.7) + op(1.7, x), BACKWARD)
uses("x % y", lambda xp, x, y: x % y, F, G)
uses("x % y", lambda xp, x: x % 1.7, BACKWARD)
uses("x ** y", lambda xp, x, y: x**y, P, V)
uses("x ** y", lambda xp, x: x**3 + x**2 + x**1 + x**0, np.array([0.0, -1.5, 0.7]))
uses("x ** y", lambda xp, x: 2.0**x, A)
uses("x // y", lambda xp, x, y: x // y, F, G, kind="flat")
uses("x @ y", lambda xp, x, y: x @ y, A, M)
uses("-x", lambda xp, x: -x, A)
uses("+x", lambda xp, x: +x, A)
uses("abs(x)", lambda xp, x: abs(x), A)
for _symbol, _comparison in {
    "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=":
    lambda x, y: x >= y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y,
}.items():  # fmt: skip
    uses(f"x {_symbol} y", lambda xp, x, y, op=_comparison: op(x, y), A, B, kind="discrete")
uses(
    "x & y",
    lambda xp, x, y: ((x > 0) & (y > 0)) | ((x < 0) ^ (y < 0)) | ~(x > 1),
    A,
    B,
    kind="discrete",
)
uses("x.T", lambda xp, x: x.T, A)
uses("x.mT", lambda xp, x: x.mT, STACK[:, :2])
uses("x.shape", lambda xp, x: (*x.shape, x.ndim), A, kind="discrete")
uses("x.dtype", lambda xp, x: x.dtype == xp.float64, A, kind="discrete")
for _index in (
    0, -1, (1, 2), slice(1, None), (slice(None), 1), (slice(None), slice(None, None, 2)), None,
    Ellipsis, (Ellipsis, 0), (None, 1, Ellipsis), (0, slice(0, 2)),
):  # fmt: skip
    uses("x[...]", lambda xp, x, index=_index: x[index], A)
uses("x[...]", lambda xp, x: x[:, xp.asarray([2, 0, 2])], A)
uses("x[...]", lambda xp, x: x[xp.asarray([0, 1, 0]), xp.asarray([2, 2, 1])], A)
uses("x[::-1]", lambda xp, x: x[:, ::-1], A)
uses("x[mask]", lambda xp, x: x[xp.asarray([[True, False, True], [False, True, True]])], A)
uses("if x > y", lambda xp, x: x * 2 if x > 1 else x, S)
uses("int(x)", lambda xp, x: int(x), S, kind="discrete")
