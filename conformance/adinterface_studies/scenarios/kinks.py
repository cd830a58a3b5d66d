"""Points without a derivative: no answer is right, so each engine's own is written down, and a
change is seen.

At ties of `max`, `min`, `maximum`, `minimum` every engine shares the cotangent equally. `where` and
a Python branch take the side that the condition names, and a NaN on the other side spoils the
product with zero. `abs`, `clip` and `atan2` are each engine's choice. Finite differences give the
mean of the two one-sided slopes. Where there is no slope (a jump, a root at zero) they give a large
number, with a PrecisionWarning where they can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.scenario import OneOf
from adinterface_conformance.scenarios.building import Operator, array, scalar, scenario
from adinterface_conformance.scenarios.numbers import elementary

from adinterface import (
    array_namespace,
    gradient,
    jacobian,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)

#: What the steps that finite differences take at 0 make of a jump of 2, of a jump of the slope by
#: 2, of a second derivative
#: with a kink, and of roots. Each comes with a PrecisionWarning.
_JUMP, _BEND, _CUBED = 698095.6390831426, 642247861.9807265, 6.203895975418049e-09
_ROOT, _ROOT_BESIDE, _POWER = 8992.838262192878, 417.7634265067732, 7.038700908328947e-05

_nan, _inf, _half = float("nan"), float("inf"), (0.5,)
_ORIGIN, _TIES, _ROWS_TIED = np.zeros(2), array(2, 3, 3), array([1, 1], [2, 1])
_SHARED, _ROWS_SHARED = (array(0, 0.5, 0.5),), (array([0.5, 0.5], [1, 0]),)
_BY_PLACE, _BY_MEAN = (
    (array([0, 1, 0], [0, 0, 1], [1, 0, 0]),),
    (array([0, 0.5, 0.5], [0, 0.5, 0.5], [1, 0, 0]),),
)


def sum_of_absolutes(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.abs(x))


def rectified_by_maximum(x: Any) -> Any:
    return array_namespace(x).maximum(x, 0 * x)


def rectified_by_where(x: Any) -> Any:
    return array_namespace(x).where(x > 0, x, 0 * x)


def rectified_from_zero_on(x: Any) -> Any:
    return array_namespace(x).where(x >= 0, x, 0 * x)


def clipped_sum(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.clip(x, 0.0, 1.0))


def sum_of_greatest_in_rows(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.max(x, axis=1))


def greater(a: Any, b: Any) -> Any:
    return array_namespace(a, b).maximum(a, b)


def lesser(a: Any, b: Any) -> Any:
    return array_namespace(a, b).minimum(a, b)


def length(x: Any) -> Any:
    return array_namespace(x).sqrt(x @ x)


def median(x: Any) -> Any:
    return array_namespace(x).sort(x)[1]


def angle(y: Any, x: Any) -> Any:
    return array_namespace(y, x).atan2(y, x)


def absolute_by_branch(x: Any) -> Any:
    return x if x >= 0 else -x


def absolute_cubed(x: Any) -> Any:
    return array_namespace(x).abs(x) ** 3


def rectified_and_squared(x: Any) -> Any:
    return rectified_by_maximum(x) ** 2


def root_beside_zero(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.where(x > 0, xp.sqrt(x), 0 * x)


#: name, operator, f, arguments; the answers in the order of `_NAMES`; anything else.
ROWS: list[
    tuple[
        str,
        Operator,
        Callable[..., Any],
        tuple[Any, ...],
        tuple[Any, Any, Any, Any],
        dict[str, Any],
    ]
] = [
    ("absolute", gradient, elementary("abs"), (0.0,), ((1.0,), (0.0,), (0.0,), (0.0,)), {}),
    ("absolute-by-pullback", pullback, elementary("abs"), (0.0,),
        ((0.0, (1.0,)), (0.0, (0.0,)), (0.0, (0.0,)), (0.0, (0.0,))), {"seed": 1.0}),
    ("absolute-by-pushforward", pushforward, elementary("abs"), (0.0,),
        ((0.0, 1.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)), {"tangents": (1.0,)}),
    ("absolute-by-second-derivative", second_derivative, elementary("abs"), (0.0,),
        (0.0, 0.0, 0.0, _BEND), {}),
    ("absolute-by-branch", gradient, absolute_by_branch, (0.0,), ((1.0,), (1.0,), (1.0,), (0.0,)),
        {"branch": True}),
    ("absolute-cubed", second_derivative, absolute_cubed, (0.0,), (0.0, 0.0, 0.0, _CUBED), {}),
    ("sum-of-absolutes", gradient, sum_of_absolutes, (array(0, -1),),
        ((array(1, -1),), (array(0, -1),), (array(0, -1),), (array(0, -1),)), {}),
    ("absolute-of-complex-zero", gradient, elementary("abs"), (0j,), ((0j,),) * 4,
        {"complex": True}),
    ("sign", gradient, elementary("sign"), (0.0,), ((0.0,), (0.0,), (0.0,), (_JUMP,)),
        {"disconnected": True}),
    ("root", gradient, elementary("sqrt"), (0.0,), ((_inf,), (_inf,), (_inf,), (_ROOT,)), {}),
    ("power-of-one-half", gradient, lambda x: x**0.5, (0.0,), ((_inf,), (_inf,), (_inf,), (_ROOT,)),
        {}),
    ("power-of-three-halves", gradient, lambda x: x**1.5, (0.0,),
        ((0.0,), (0.0,), (0.0,), (_POWER,)), {}),
    ("root-beside-zero", gradient, root_beside_zero, (0.0,),
        ((_nan,), (_nan,), (_nan,), (_ROOT_BESIDE,)), {}),
    ("length", gradient, length, (_ORIGIN,), (*((array(_nan, _nan),),) * 3, (array(0, 0),)), {}),
    ("angle", gradient, angle, (0.0, 0.0), ((_nan, _nan), OneOf((0.0, 0.0), (_nan, _nan)),
        (_nan, _nan), (np.pi / 2 * _JUMP, -np.pi / 2 * _JUMP)), {}),
    ("rectified-by-maximum", gradient, rectified_by_maximum, (0.0,), (_half,) * 4, {}),
    ("rectified-by-where", gradient, rectified_by_where, (0.0,), ((0.0,), (0.0,), (0.0,), _half),
        {}),
    ("rectified-from-zero-on", gradient, rectified_from_zero_on, (0.0,),
        ((1.0,), (1.0,), (1.0,), _half), {}),
    ("rectified-and-squared", second_derivative, rectified_and_squared, (0.0,),
        (0.5, 0.5, 0.5, 1.0), {}),
    ("clipped-at-the-borders", gradient, clipped_sum, (array(0, 1, 0.5),),
        ((array(0.5, 0.5, 1),), OneOf((array(1, 1, 1),), (array(0, 0, 1),)), (array(0, 0, 1),),
        (array(0.5, 0.5, 1),)), {}),
    ("greatest-of-ties", gradient, elementary("max"), (_TIES,), (_SHARED,) * 4, {}),
    ("least-of-ties", gradient, elementary("min"), (-_TIES,), (_SHARED,) * 4, {}),
    ("greatest-of-ties-and-its-value", value_and_gradient, elementary("max"), (_TIES,),
        ((scalar(3), _SHARED),) * 4, {}),
    ("greatest-of-ties-by-pushforward", pushforward, elementary("max"), (_TIES,),
        ((scalar(3), scalar(1)),) * 4, {"tangents": (np.ones(3),)}),
    ("greatest-in-tied-rows", gradient, sum_of_greatest_in_rows, (_ROWS_TIED,), (_ROWS_SHARED,) * 4,
        {}),
    ("greater-of-equals", gradient, greater, (1.0, 1.0), ((0.5, 0.5),) * 4, {}),
    ("lesser-of-equals", gradient, lesser, (1.0, 1.0), ((0.5, 0.5),) * 4, {}),
    ("sorted-ties", jacobian, elementary("sort"), (array(1, 0.5, 0.5),),
        (*(_BY_PLACE,) * 3, _BY_MEAN), {}),
    ("median-of-ties", gradient, median, (array(1, 1, 1),),
        (*((array(0, 1, 0),),) * 3, (array(0, 0, 0),)), {}),
]  # fmt: skip

_NAMES = ("jax", "torch", "autograd", "finite_differences")


def _documented(operator: Operator, answers: tuple[Any, ...]) -> dict[str, Any]:
    """The answers by backend, in the operator's own named tuples."""

    def named(answer: Any) -> Any:
        if isinstance(answer, OneOf):
            return OneOf(*map(named, answer.answers))
        return scenario("", operator, abs, (), answer).expected

    return dict(zip(_NAMES, map(named, answers)))


def _tags(rest: dict[str, Any]) -> set[str]:
    branch = {"value-dependent", "control-flow"} if "branch" in rest else set()
    return {"kink"} | branch | ({"complex", "disconnected"} & set(rest))


SCENARIOS = [
    scenario(
        f"kinks/{name}",
        operator,
        f,
        args,
        documented=_documented(operator, answers),
        tags=_tags(rest),
        **{key: rest[key] for key in ("seed", "tangents") if key in rest},
    )
    for name, operator, f, args, answers, rest in ROWS
]
