"""Rare arguments: half precision, single-precision complex, other byte orders, NumPy scalars, and
large arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
    value_and_jacobian,
    value_gradient_and_hessian,
)

from ..scenario import Scenario
from .building import array_to_array, array_to_number, beside, named, scalar, scenario, signed, some


def cubes(x: Any) -> Any:
    return array_namespace(x).sum(x**3)


def waves(x: Any) -> Any:
    return array_namespace(x).sin(2 * x)


def product(z: Any) -> Any:
    xp = array_namespace(z)
    return xp.sum(xp.real(z) ** 2 * xp.imag(z))


def neighbours(x: Any) -> Any:
    """A sum of products, so that the Hessian is not diagonal."""
    return array_namespace(x).sum(x[1:] * x[:-1] ** 2)


# Precision and byte order
# --------------------------------------------------------------------------------------------

_ARRAYS: dict[str, tuple[np.dtype[Any], set[str], float]] = {
    "half-precision": (np.dtype("float16"), {"float16"}, 2e-2),
    "big-endian": (np.dtype(">f8"), {"big-endian"}, 1e-9),
    "big-endian-single": (np.dtype(">f4"), {"big-endian", "float32"}, 1e-5),
}


def _of_dtype(name: str, dtype: np.dtype[Any], tags: set[str], rtol: float) -> Iterator[Scenario]:
    """A result like a leaf has the byte order of the leaf; other results have the native one."""
    x, own = some(3).astype(dtype), dtype.newbyteorder("=")
    exact, v = x.astype("float64"), signed(3, seed=9).astype(dtype)
    total, slope = np.asarray(np.sum(exact**3), own), (3 * exact**2).astype(dtype)
    waved, bent = np.sin(2 * exact).astype(own), 2 * np.cos(2 * exact)
    rows: list[tuple[Any, Any, Any, dict[str, Any]]] = [
        (gradient, cubes, (slope,), {}),
        (value_and_gradient, cubes, (total, (slope,)), {}),
        (value_and_jacobian, waves, (waved, (np.diag(bent).astype(own),)), {}),
        (pullback, waves, (waved, ((bent * v).astype(dtype),)), {"seed": v}),
        (pushforward, waves, (waved, (bent * v).astype(own)), {"tangents": (v,)}),
        (linearize, waves, (waved, (bent * v).astype(own)), {"tangents": (v,)}),
    ]
    for operator, f, expected, rest in rows:
        stem = named(f"layouts/{name}", operator)
        yield scenario(stem, operator, f, (x,), expected, tags=tags, rtol=rtol, **rest)


_layouts = [each for name, row in _ARRAYS.items() for each in _of_dtype(name, *row)]

_Z = (some(3) + 1j * signed(3, seed=1)).astype("complex64")
_SLOPE = 2 * _Z.real * _Z.imag + 1j * _Z.real**2
_W = (signed(3, seed=4) + 1j * signed(3, seed=5)).astype("complex64")

_single = [
    scenario(
        named("layouts/single-complex", operator), operator, f, (_Z,), expected, **rest,
        tags={"complex", "complex64"}, rtol=1e-5,
    )
    for operator, f, expected, rest in (
        (gradient, product, (_SLOPE,), {}),
        (value_and_gradient, product, (np.asarray(np.sum(_Z.real**2 * _Z.imag)), (_SLOPE,)), {}),
        (pullback, lambda z: z * z, (_Z * _Z, (_W * np.conj(2 * _Z),)), {"seed": _W}),
        (pushforward, lambda z: z * z, (_Z * _Z, 2 * _Z * _W), {"tangents": (_W,)}),
    )
]  # fmt: skip

# NumPy's scalars
# ------------------------------------------------------------------------------------------------


def powers(t: Any) -> Any:
    return {"square": t * t, "cube": t**3}


def weighted(t: Any) -> Any:
    return t["scale"] * array_namespace(t["x"]).sum(t["x"] ** 2)


_X = some(3)
_T, _U = np.float64(0.7), np.float32(0.7)

_scalars = [
    scenario("layouts/scalar-by-gradient", gradient, lambda t: t**3, (_T,), (np.float64(3 * _T**2),), tags={"numpy-scalar"}),
    scenario(
        "layouts/single-scalar-by-gradient", gradient, lambda t: t**3, (_U,),
        (np.float32(3 * _U**2),), tags={"numpy-scalar", "float32"}, rtol=1e-5,
    ),
    scenario(
        "layouts/scalar-by-derivative", derivative, powers, (_T,),
        {"square": scalar(2 * _T), "cube": scalar(3 * _T**2)}, tags={"numpy-scalar"},
    ),
    scenario(
        "layouts/scalar-by-second-derivative", second_derivative, lambda t: t**3, (_T,),
        scalar(6 * _T), tags={"numpy-scalar"},
    ),
    scenario("layouts/scalar-by-jacobian", jacobian, lambda t: t**3, (_T,), (scalar(3 * _T**2),), tags={"numpy-scalar"}),
    scenario(
        "layouts/scalar-beside-an-array", gradient, weighted, ({"x": _X, "scale": _T},),
        ({"x": 2 * _T * _X, "scale": np.float64(np.sum(_X**2))},), tags={"numpy-scalar", "tree"},
    ),
    scenario(
        "layouts/scalar-in-a-constant", gradient, lambda x, t: t * array_namespace(x).sum(x**2),
        (_X, Constant(_T)), (2 * _T * _X, None), tags={"numpy-scalar"},
    ),
]  # fmt: skip

# Many numbers
# ------------------------------------------------------------------------------------------------

_MANY = signed(150, seed=2)
_UPWARD, _DOWNWARD = np.append(_MANY[1:], 0.0), np.append(0.0, _MANY[:-1])
_BENT = np.diag(2 * _UPWARD) + np.diag(2 * _MANY[:-1], 1) + np.diag(2 * _MANY[:-1], -1)

_many = [
    *array_to_number(
        "layouts/many-numbers",
        neighbours,
        _MANY,
        value=np.sum(_MANY[1:] * _MANY[:-1] ** 2),
        slope=2 * _MANY * _UPWARD + _DOWNWARD**2,
        curve=_BENT,
        operators=(gradient, value_and_gradient, pullback, hvp, gradient_and_hvp),
        tags={"large"},
    ),
    *array_to_array(
        "layouts/many-numbers",
        waves,
        _MANY,
        value=np.sin(2 * _MANY),
        slope=np.diag(2 * np.cos(2 * _MANY)),
        operators=(value_and_jacobian, pushforward, linearize),
        tags={"large"},
    ),
]

# Blocks of equal shape
# -----------------------------------------------------------------------------------------------

_P, _Q, _M = some(3), signed(3, seed=6), signed(3, 3, seed=7)


def crossed(t: dict[str, Any]) -> Any:
    """A bilinear form that is not symmetric, so that the mixed blocks are transposes of each other,
    and not equal.
    """
    return t["p"] @ (beside(t["p"], _M) @ t["q"]) + array_namespace(t["p"]).sum(t["p"] ** 3)


def squared(a: Any) -> Any:
    """Of a matrix: the blocks of its Hessian change with its axes."""
    return array_namespace(a).sum((a @ a) * beside(a, _M))


def both(t: dict[str, Any]) -> Any:
    return {"first": t["p"] * t["q"][0], "second": beside(t["p"], _M) @ t["q"] * t["p"][1]}


_BLOCKS = {"p": {"p": np.diag(6 * _P), "q": _M}, "q": {"p": _M.T.copy(), "q": np.zeros((3, 3))}}
_E = np.eye(3)
# d2/dA_ab dA_cd of sum_ij M_ij sum_k A_ik A_kj is M_ad delta_bc + M_cb delta_da.
_SQUARED = np.einsum("ad,bc->abcd", _M, _E) + np.einsum("cb,ad->abcd", _M, _E)
_MQ = _M @ _Q
_BOTH = {
    "first": ({"p": _Q[0] * _E, "q": np.outer(_P, _E[0])},),
    "second": ({"p": np.outer(_MQ, _E[1]), "q": _M * _P[1]},),
}
_TREE = {"p": _P, "q": _Q}
_FORCE = {"p": _M @ _Q + 3 * _P**2, "q": _M.T @ _P}

_blocks = [
    scenario("layouts/equal-shapes-by-hessian", hessian, crossed, (_TREE,), _BLOCKS, tags={"tree"}),
    scenario(
        "layouts/equal-shapes-by-value-gradient-and-hessian", value_gradient_and_hessian, crossed,
        (_TREE,), (np.asarray(_P @ _M @ _Q + np.sum(_P**3)), _FORCE, _BLOCKS), tags={"tree"},
    ),
    scenario("layouts/equal-shapes-by-jacobian", jacobian, both, (_TREE,), _BOTH, tags={"tree"}),
    scenario("layouts/equal-axes-by-hessian", hessian, squared, (signed(3, 3, seed=8),), _SQUARED),
]  # fmt: skip

# Containers with more than their leaves, and integers that are structure
# ------------------------------------------------


@dataclass(frozen=True)
class Block:
    weight: Any
    steps: int = 2
    name: str = field(default="block", metadata={"static": True})


def stepped(block: Block) -> Any:
    return block.steps * array_namespace(block.weight).sum(block.weight**2)


def repeated(x: Any, count: Any, options: Any) -> Any:
    """Takes its constants where only an integer and a bool will do."""
    total = sum(x[k % 3] ** (k + 1) for k in range(count))
    return total * options["factor"][options["index"]] if options["on"] is True else total


_factory: defaultdict[str, Any] = defaultdict(list, {"x": _P, "y": 2.0})

_containers = [
    scenario(
        "layouts/default-dict",
        gradient,
        lambda t: t["y"] * array_namespace(t["x"]).sum(t["x"] ** 2),
        (_factory,),
        (defaultdict(list, {"x": 4 * _P, "y": float(np.sum(_P**2))}),),
        tags={"tree"},
    ),
    scenario(
        "layouts/static-field", gradient, stepped, (Block(_P, 3, "named"),), (Block(6 * _P, None, "named"),),  # type: ignore[arg-type]
        tags={"tree"},
    ),
    *[
        scenario(
            f"layouts/integers-in-{name}",
            gradient,
            repeated,
            (_P, *args),
            (np.array([1.0, 2 * _P[1], 3 * _P[2] ** 2]) * 0.5, *[None for _ in args]),
            kwargs=kwargs,
        )
        for name, args, kwargs in (
            ("constants", (Constant(3), Constant({"factor": np.array([0.25, 0.5]), "index": 1, "on": True})), {}),
            ("keywords", (), {"count": 3, "options": {"factor": [0.25, 0.5], "index": 1, "on": True}}),
        )
    ],
]  # fmt: skip

# Integers that are promoted, and an array that is none of its own
# -------------------------------------------------------

_ROW = np.broadcast_arrays(_P, np.ones((2, 3)))[0]
_promoted = [
    scenario("layouts/integer-by-derivative", derivative, lambda t: t**3, (2,), 12.0),
    scenario(
        "layouts/integer-by-pullback", pullback, lambda t: t**3, (2,), (8.0, (24.0,)), seed=2.0
    ),
    scenario(
        "layouts/integers-by-hessian", hessian, cubes, (np.array([1, 2]),), np.diag([6.0, 12.0])
    ),
    scenario(
        "layouts/integers-by-hvp",
        hvp,
        cubes,
        (np.array([1, 2]), np.array([1, 1])),
        np.array([6.0, 12.0]),
    ),
    scenario("layouts/broadcast-array", gradient, cubes, (_ROW,), (3 * np.array(_ROW) ** 2,)),
]

SCENARIOS = [*_promoted, *_layouts, *_single, *_scalars, *_many, *_blocks, *_containers]
