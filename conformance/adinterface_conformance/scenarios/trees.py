"""Arguments and values that are trees: leaves with a gradient, static values, and their places in
the result.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
    value_gradient_and_hessian,
)

from ..scenario import Scenario
from .building import Operator, array, scalar, scenario, signed, some


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Layer:
    weight: Any
    bias: Any
    activation: Any = None
    name: Any = field(default="layer", metadata={"static": True})


@dataclass(frozen=True)
class Model:
    first: Layer
    second: Layer | None
    scale: Any
    steps: Any = 2


def total(x: Any) -> Any:
    return array_namespace(x).sum(x)


def squares(tree: Any) -> Any:
    """The sum of squares of whatever numbers a tree of plain containers holds."""
    if isinstance(tree, dict):
        return sum(squares(child) for child in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(squares(child) for child in tree)
    return 0.0 if tree is None or isinstance(tree, (str, int)) else total(tree * tree)


def affine(model: Model, x: Any) -> Any:
    y = (model.first.weight @ x + model.first.bias) * model.scale**model.steps
    return total(y if model.first.activation is None else model.first.activation(y))


def frozen_layer(model: dict[str, Any], x: Any) -> Any:
    return total(model["head"] * (model["body"] @ x))


_A, _B, _M = some(3), some(2, seed=1), signed(2, 3, seed=2)

_squares: list[tuple[str, Any, Any]] = [
    ("dict", {"a": _A, "b": 2.0}, {"a": 2 * _A, "b": 4.0}),
    ("list", [_A, _B], [2 * _A, 2 * _B]),
    ("tuple-of-tuples", ((_A, (1.5,)), ()), ((2 * _A, (3.0,)), ())),
    ("named-tuple", Point(_A, 0.5), Point(2 * _A, 1.0)),
    ("ordered-dict", OrderedDict(z=_A, a=_B), OrderedDict(z=2 * _A, a=2 * _B)),
    (
        "keys-of-many-kinds",
        {1: _A, "one": _B, (2, 3): 0.5},
        {1: 2 * _A, "one": 2 * _B, (2, 3): 1.0},
    ),
    (
        "what-has-no-gradient",
        {"a": _A, "n": None, "s": "text", "i": 3},
        {"a": 2 * _A, "n": None, "s": None, "i": None},
    ),
    ("deep", {"a": [{"b": ({"c": [_A]},)}]}, {"a": [{"b": ({"c": [2 * _A]},)}]}),
    (
        "empty-containers",
        {"a": _A, "d": {}, "l": [], "t": ()},
        {"a": 2 * _A, "d": {}, "l": [], "t": ()},
    ),
    ("constant-inside", {"a": _A, "frozen": Constant(_B)}, {"a": 2 * _A, "frozen": None}),
    (
        "unlike-shapes",
        [scalar(0.5), _A, _M, some(1, 2, 1)],
        [scalar(1.0), 2 * _A, 2 * _M, 2 * some(1, 2, 1)],
    ),
]

_V3 = signed(3, seed=3)
_Y = _M @ _V3 + _B
_MODEL = Model(Layer(_M, _B), None, 1.5)
_MODEL_SLOPE = Model(
    Layer(np.tile(_V3, (2, 1)) * 2.25, np.full(2, 2.25), None, "layer"),
    None,
    float(3.0 * np.sum(_Y)),
    None,
)
_TANH = Model(Layer(_M, _B, lambda y: array_namespace(y).tanh(y), "wave"), None, 1.0, 1)
_BENT = 1 - np.tanh(_Y) ** 2
_TANH_SLOPE = Model(
    Layer(np.outer(_BENT, _V3), _BENT, None, "wave"), None, float(np.sum(_BENT * _Y)), None
)

_models = [
    scenario("trees/dataclass", gradient, affine, (_MODEL, Constant(_V3)), (_MODEL_SLOPE, None)),
    scenario(
        "trees/dataclass-and-its-input",
        value_and_gradient,
        affine,
        (_MODEL, _V3),
        (scalar(2.25 * np.sum(_Y)), (_MODEL_SLOPE, 2.25 * np.sum(_M, axis=0))),
    ),
    scenario(
        "trees/dataclass-with-a-function",
        gradient,
        affine,
        (_TANH, Constant(_V3)),
        (_TANH_SLOPE, None),
    ),
    scenario(
        "trees/frozen-layer",
        gradient,
        frozen_layer,
        ({"body": Constant(_M), "head": _B}, _V3),
        ({"body": None, "head": _M @ _V3}, _M.T @ _B),
    ),
    scenario(
        "trees/unused-leaf-is-zero",
        gradient,
        lambda t: total(t["used"]),
        ({"used": _A, "unused": _M, "number": 1.0},),
        ({"used": np.ones(3), "unused": np.zeros((2, 3)), "number": 0.0},),
    ),
    scenario(
        "trees/the-same-array-twice",
        gradient,
        lambda t: total((t["a"] + 2 * t["b"]) ** 2),
        ({"a": _A, "b": _A},),
        ({"a": 6 * _A, "b": 12 * _A},),
    ),
    scenario(
        "trees/auxiliary-results",
        value_and_gradient,
        lambda x: {"loss": total(x**2), "twice": 2 * x, "word": "aux"},
        (_A,),
        ({"loss": scalar(np.sum(_A**2)), "twice": 2 * _A, "word": "aux"}, (2 * _A,)),
    ),
]

# Every operator on one tree: f = (a . a) s^3, and the value {"p": a s, "q": [s^2]}
# --------------------------------------


def cubed(t: Any) -> Any:
    return total(t["a"] ** 2) * t["s"] ** 3


def curve(t: Any) -> Any:
    return {"p": t["a"] * t["s"], "q": [t["s"] ** 2]}


_T, _S, _Q = {"a": _A, "s": 1.5}, 1.5, float(_A @ _A)
_D = {"a": _V3, "s": 0.5}
_VALUE = scalar(_Q * _S**3)
_SLOPE = {"a": 2 * _A * _S**3, "s": 3 * _Q * _S**2}
_AS, _SS = 6 * _A * _S**2, 6 * _Q * _S
_HESSIAN = {"a": {"a": 2 * np.eye(3) * _S**3, "s": _AS}, "s": {"a": _AS, "s": scalar(_SS)}}
_HVP = {"a": 2 * _V3 * _S**3 + 0.5 * _AS, "s": float(_AS @ _V3 + 0.5 * _SS)}
_CURVE = {"p": _A * _S, "q": [scalar(_S**2)]}
_JACOBIAN = {
    "p": ({"a": _S * np.eye(3), "s": _A},),
    "q": [({"a": np.zeros(3), "s": scalar(2 * _S)},)],
}
_PUSHED = {"p": _V3 * _S + 0.5 * _A, "q": [scalar(_S)]}
_SEED = {"p": _V3, "q": [scalar(2.0)]}
_PULLED = ({"a": _V3 * _S, "s": float(_V3 @ _A + 4 * _S)},)

_OPERATORS: list[tuple[Operator, Any, tuple[Any, ...], Any, dict[str, Any]]] = [
    (gradient, cubed, (_T,), (_SLOPE,), {}),
    (value_and_gradient, cubed, (_T,), (_VALUE, (_SLOPE,)), {}),
    (hvp, cubed, (_T, _D), _HVP, {}),
    (gradient_and_hvp, cubed, (_T, _D), (_SLOPE, _HVP), {}),
    (hessian, cubed, (_T,), _HESSIAN, {}),
    (value_gradient_and_hessian, cubed, (_T,), (_VALUE, _SLOPE, _HESSIAN), {}),
    (diagonal_hessian, cubed, (_T,), ({"a": np.full(3, 2 * _S**3), "s": _SS},), {}),
    (jacobian, curve, (_T,), _JACOBIAN, {}),
    (value_and_jacobian, curve, (_T,), (_CURVE, _JACOBIAN), {}),
    (pullback, curve, (_T,), (_CURVE, _PULLED), {"seed": _SEED}),
    (pushforward, curve, (_T,), (_CURVE, _PUSHED), {"tangents": (_D,)}),
    (linearize, curve, (_T,), (_CURVE, _PUSHED), {"tangents": (_D,)}),
]  # fmt: skip

_every_operator = [
    scenario(
        f"trees/every-operator-by-{operator.__name__.replace('_', '-')}",
        operator,
        f,
        args,
        expected,
        **rest,
    )
    for operator, f, args, expected, rest in _OPERATORS
]


def beside(x: Any) -> Any:
    """A value with integers, a bool, a text and None beside what has a derivative."""
    return {
        "y": 2 * x,
        "n": array_namespace(x).asarray([1, 2]),
        "flag": True,
        "rest": ["text", None],
    }


_BESIDE = {"y": 2 * _A, "n": np.array([1, 2]), "flag": True, "rest": ["text", None]}
_parts = [
    scenario(
        "trees/none-in-a-cotangent",
        pullback,
        curve,
        (_T,),
        (_CURVE, ({"a": np.zeros(3), "s": 4 * _S},)),
        seed={"p": None, "q": [2.0]},
    ),
    scenario(
        "trees/none-in-a-tangent",
        pushforward,
        curve,
        (_T,),
        (_CURVE, {"p": 0.5 * _A, "q": [scalar(_S)]}),
        tangents=({"a": None, "s": 0.5},),
    ),
    *[
        scenario(
            f"trees/beside-the-derivative-by-{operator.__name__.replace('_', '-')}",
            operator,
            beside,
            (_A,),
            expected,
            **rest,
        )
        for operator, expected, rest in (
            (jacobian, {"y": (2 * np.eye(3),), "n": None, "flag": None, "rest": [None, None]}, {}),
            (
                pushforward,
                (_BESIDE, {"y": 2 * _V3, "n": None, "flag": None, "rest": [None, None]}),
                {"tangents": (_V3,)},
            ),
            (
                pullback,
                (_BESIDE, (2 * _V3,)),
                {"seed": {"y": _V3, "n": None, "flag": None, "rest": [None, None]}},
            ),
        )
    ],
    scenario(
        "trees/derivative-of-a-tree",
        derivative,
        lambda t: {"up": t, "square": [t**2, (t**3,)]},
        (2.0,),
        {"up": 1.0, "square": [4.0, (12.0,)]},
    ),
]

# Many leaves
# ------------------------------------------------------------------------------------------------


def plain_squares(numbers: Any) -> Any:
    return sum(number * number for number in numbers.values())


def lengths(vectors: Any) -> Any:
    return sum(x @ x for x in vectors)


_MANY = {f"leaf{n}": 0.01 * n for n in range(200)}
_ARRAYS = [array(n, n + 1) / 50 for n in range(30)]

_many = [
    scenario(
        "trees/two-hundred-numbers",
        gradient,
        plain_squares,
        (_MANY,),
        ({name: 2 * number for name, number in _MANY.items()},),
        tags={"many-leaves"},
    ),
    scenario(
        "trees/two-hundred-numbers-by-pushforward",
        pushforward,
        plain_squares,
        (_MANY,),
        (sum(number**2 for number in _MANY.values()), 2 * sum(_MANY.values())),
        tangents=(dict.fromkeys(_MANY, 1.0),),
        tags={"many-leaves"},
    ),
    scenario(
        "trees/thirty-arrays",
        gradient,
        lengths,
        (_ARRAYS,),
        ([2 * x for x in _ARRAYS],),
        tags={"many-leaves"},
    ),
    scenario(
        "trees/thirty-arrays-by-hvp",
        hvp,
        lengths,
        (_ARRAYS, _ARRAYS),
        [2 * x for x in _ARRAYS],
        tags={"many-leaves"},
    ),
]

_all: list[Scenario] = [
    *(scenario(f"trees/{name}", gradient, squares, (tree,), (slopes,)) for name, tree,
        slopes in _squares),
    *_models,
    *_every_operator,
    *_parts,
    *_many,
]  # fmt: skip


def _tagged(each: Scenario) -> Scenario:
    return scenario(
        each.name,
        each.operator,
        each.f,
        each.args,
        each.expected,
        seed=each.seed,
        tangents=each.tangents,
        tags=each.tags | {"tree"},
    )


SCENARIOS = [_tagged(each) for each in _all]
