"""The gradient zoo: the worked examples of Julia's differentiation packages, with the numbers that
they print.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios.building import Operator, array, scalar, scenario

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    jacobian,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)

from .zoo_functions import (
    COTANGENT,
    MODEL_GRADIENT,
    MODEL_VALUE,
    NET_BIAS,
    NET_WEIGHT,
    POINT,
    SIGNAL,
    Chain,
    Dense,
    Embedding,
    angle,
    composition,
    dense_layer,
    doubled_sum,
    embedding_model,
    matrix_layer,
    net_of_input,
    net_of_parameters,
    only,
    power_of_an_axis,
    product_of_three,
    scaled_by_a_pair,
    sine,
    slots,
    squared_norm_of_first,
    squared_norm_of_layer,
    sum_and_product,
    sum_of_cubes,
    sum_of_reciprocals,
    sum_of_roots,
    third_column,
    twice,
    wave,
    weighted_triple,
)


def row(
    name: str,
    operator: Operator,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    expected: Any,
    *,
    seed: Any = None,
    value: Any = None,
    integers: bool = False,
    disconnected: bool = False,
) -> list[Scenario]:
    """One row of the source.

    A second one where it writes integers, which count as floats if they stand alone.

    For a pullback or pushforward `expected` is what comes back, `value` what f gives, `seed` what
    goes in.
    """
    tags = {
        tag for tag, holds in (("tree", _holds_tree(args)), ("disconnected", disconnected)) if holds
    }
    rest: dict[str, Any] = {}
    if operator in (pullback, pushforward):
        rest = {"tangents": seed} if operator is pushforward else {"seed": seed}
        value = _plain(f(*args)) if value is None else value
        expected = (value, expected)
    variants = [("", args, tags)] + [
        ("-of-integers", _as_integers(args), tags | {"integers"})
    ] * integers
    return [
        scenario(f"zoo/{name}{end}", operator, f, given, expected, tags=marks, **rest)
        for end, given, marks in variants
    ]


def _plain(value: Any) -> Any:
    """NumPy's scalar as the Python number that belongs to Python arguments."""
    return value.item() if isinstance(value, np.generic) else value


def _holds_tree(args: tuple[Any, ...]) -> bool:
    return any(not isinstance(arg, (int, float, str, np.ndarray, Constant)) for arg in args)


def _as_integers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        int(arg)
        if type(arg) is float
        else arg.astype("int64")
        if isinstance(arg, np.ndarray)
        else arg
        for arg in args
    )


_ROWS = [
    # gradient
    row("sum-of-roots-of-a-row", gradient, sum_of_roots, (array([1, 4, 16]),),
        (array([0.5, 0.25, 0.125]),), integers=True),
    row("model-with-a-softmax", gradient, squared_norm_of_first, (embedding_model(),),
        (MODEL_GRADIENT,)),
    row("three-entries-of-a-dict", gradient, weighted_triple,
        ({"a": array(2), "b": array(2), "c": array(2)},), ({"a": array(24), "b": array(48),
        "c": array(72)},)),
    row("two-scalars", gradient, lambda x, y: 2 * x + 3 * y, (1.0, 1.0), (2.0, 3.0), integers=True),
    row("one-scalar-gives-a-tuple", gradient, lambda x: 5 * x + 3, (10.0,), (5.0,), integers=True),
    row("network-by-its-input", gradient, net_of_input, (array(1, 2, 3),),
        (array(1.6579457323925992, 1.4986819280476997, 0.898998435768311),), integers=True),
    row("network-by-its-parameters", gradient, net_of_parameters, (NET_WEIGHT, NET_BIAS),
        (array([1, 2, 3], [1, 2, 3]), array(1, 1))),
    row("sine-of-a-square", gradient, wave, (4.0,), (-38.30637921293538,), integers=True),
    row("product-of-three", gradient, product_of_three, (2.0, 3.0, 5.0), (15.0, 10.0, 6.0),
        integers=True),
    row("sum-of-squares", gradient, lambda x: array_namespace(x).sum(x * x), (array(7, 11, 13),),
        (array(14, 22, 26),), integers=True),
    row("an-axis-is-a-constant", gradient, power_of_an_axis, (array(7, 11), 0.0, Constant(0)),
        (array(14, 22), 2.0, None), integers=True),
    row("doubled-sum", gradient, doubled_sum, (array(1, 2, 3),), (array(2, 2, 2),), integers=True),
    row("a-tuple-argument", gradient, scaled_by_a_pair, (array(1, 2, 3), (4.0, 5.0)),
        (array(4, 4, 4), (6.0, 1.0))),
    row("dense-layer-and-its-input", gradient, squared_norm_of_layer,
        (dense_layer(array([3.0]), array(0)), array(1)), (dense_layer(array([6.0]), array(6)),
        array(18))),
    row("dense-layer-input-a-constant", gradient, squared_norm_of_layer,
        (dense_layer(array([3.0]), array(0)), Constant(array(1))),
        (dense_layer(array([6.0]), array(6)), None)),
    row("embedding-dense-a-function", gradient, third_column,
        (Chain((Embedding(array([1.1, 2.2, 3.3])), Dense(array([4.4]), array(0)), only)),),
        (Chain((Embedding(array([0, 0, 4.4])), Dense(array([3.3]), array(1)), None)),)),
    # value_and_gradient
    row("value-of-the-sum-of-roots", value_and_gradient, sum_of_roots, (array([1, 4, 16]),),
        (scalar(7), (array([0.5, 0.25, 0.125]),)), integers=True),
    row("value-computed-outside", value_and_gradient, lambda x: scalar(7), (array([1, 4, 16]),),
        (scalar(7), (array([0, 0, 0]),)), disconnected=True),
    row("value-of-the-model-computed-outside", value_and_gradient,
        lambda model: scalar(MODEL_VALUE), (embedding_model(),),
        (scalar(MODEL_VALUE), (Chain((Embedding(np.zeros((2, 3))), None)),)), disconnected=True),
    row("value-of-the-model", value_and_gradient, squared_norm_of_first, (embedding_model(),),
        (scalar(MODEL_VALUE), (MODEL_GRADIENT,))),
    row("quotient", value_and_gradient, lambda a, b: a / b, (1.0, 2.0), (0.5, (0.5, -0.25)),
        integers=True),
    row("auxiliary-result-in-a-tuple", value_and_gradient, sum_of_reciprocals, (array(1, 2, 4),),
        ((scalar(1.75), array(1, 0.5, 0.25)), (array(-1, -0.25, -0.0625),)), integers=True),
    row("auxiliary-result-in-a-dict", value_and_gradient, lambda x, y: {"div": x / y, "mul": x * y},
        (3.0, 4.0), ({"div": 0.75, "mul": 12.0}, (0.25, -0.1875)), integers=True),
    row("value-of-the-doubled-sum", value_and_gradient, doubled_sum, (array(1, 2, 3),),
        (scalar(12), (array(2, 2, 2),)), integers=True),
    row("value-of-embedding-and-dense", value_and_gradient, third_column,
        (Chain((Embedding(array([1.1, 2.2, 3.3])), Dense(array([4.4]), array(0)), only)),),
        (scalar(14.52), (Chain((Embedding(array([0, 0, 4.4])), Dense(array([3.3]), array(1)),
        None)),))),
    # derivative
    row("slope-of-a-line", derivative, lambda x: 5 * x + 3, (10.0,), 5.0, integers=True),
    row("slope-of-sine-of-a-square", derivative, wave, (4.0,), -38.30637921293538, integers=True),
    # jacobian
    row("squared-row-sums", jacobian, lambda x: array_namespace(x).sum(x, axis=1) ** 2,
        (array([1, 2, 3], [4, 5, 6]),), (array([[12, 12, 12], [0, 0, 0]],
        [[0, 0, 0], [30, 30, 30]]),), integers=True),
    row("composition-of-two", jacobian, composition, (array(1, 2),),
        (array([3 * math.exp(5), 2 * math.exp(5)], [4 / 3, 5 / 6]),), integers=True),
    row("squares-of-a-slice", jacobian, lambda a: 100 * a[0:3] ** 2, (array(1, 2, 3, 4, 5, 6, 7),),
        (slots((3, 7), {(0, 0): 200, (1, 1): 400, (2, 2): 600}),), integers=True),
    row("a-scalar-argument-gives-a-vector", jacobian, lambda a, x: a**2 * x, (array(1, 2, 3), 1.0),
        (np.diag(array(2, 4, 6)), array(1, 4, 9)), integers=True),
    row("product-along-an-axis", jacobian, lambda a, axis: array_namespace(a).prod(a, axis=axis),
        (array([1, 2], [3, 4], [5, 6]), Constant(1)), (slots((3, 3, 2),
        {(0, 0, 0): 2, (0, 0, 1): 1, (1, 1, 0): 4, (1, 1, 1): 3, (2, 2, 0): 6, (2, 2, 1): 5}),
        None), integers=True),
    row("a-string-argument", jacobian, lambda a, word: a ** len(word), (array(1, 2, 3), "str"),
        (np.diag(array(3, 12, 27)), None), integers=True),
    row("a-tuple-argument-scalar-output", jacobian, scaled_by_a_pair, (array(1, 2, 3), (4.0, 5.0)),
        (array(4, 4, 4), (scalar(6), scalar(1)))),
    row("running-sum", value_and_jacobian, lambda x: array_namespace(x).cumulative_sum(x),
        (array(1, 2, 3),), (array(1, 3, 6), (np.tril(np.ones((3, 3))),)), integers=True),
    # hessian
    row("hessian-of-a-product", hessian, lambda x: x[0] * x[1], (array(0.3, -0.8),),
        array([0, 1], [1, 0])),
    row("hessian-of-cubes-of-a-matrix", hessian, sum_of_cubes, (array([1, 2], [3, 4]),),
        slots((2, 2, 2, 2), {(0, 0, 0, 0): 6, (0, 1, 0, 1): 12, (1, 0, 1, 0): 18,
        (1, 1, 1, 1): 24}), integers=True),
    row("hessian-of-a-scalar", hessian, sine, (math.pi / 2,), -1.0),
    row("hessian-of-an-angle", hessian, lambda v: angle(v[0], v[1]), (array(1, 2),),
        array([-0.16, -0.12], [-0.12, 0.16]), integers=True),
    # diagonal_hessian
    row("diagonal-of-cubes-of-a-matrix", diagonal_hessian, sum_of_cubes, (array([1, 2], [3, 4]),),
        (array([6, 12], [18, 24]),), integers=True),
    row("diagonal-for-two-arrays", diagonal_hessian, lambda x,
        y: array_namespace(x, y).sum(x * y[:, None] * y[None, :]),
        (array([1, 22], [333, 4]), array(0.5, 0.666)), (np.zeros((2, 2)), array(2, 8))),
    row("diagonal-for-two-scalars", diagonal_hessian, angle, (1.0, 2.0), (-0.16, 0.16),
        integers=True),
    # pullback
    row("back-through-a-product-by-5", pullback, lambda x: x * 5.0, (math.sin(16.0),), (5.0,),
        seed=1.0),
    row("back-through-a-sine", pullback, sine, (16.0,), (-4.788297401616923,), seed=5.0),
    row("back-through-a-square", pullback, lambda x: x**2, (4.0,), (-38.30637921293538,),
        seed=-4.788297401616923),
    row("back-to-a-sum", pullback, sum_and_product, (array(1, 2),), (array(1, 1),),
        seed=array(1, 0), value=array(3, 2)),
    row("back-to-a-product", pullback, sum_and_product, (array(1, 2),), (array(2, 1),),
        seed=array(0, 1)),
    row("back-through-a-composition", pullback, composition, (array(1, 2),), (array(4 / 3, 5 / 6),),
        seed=array(0, 1), value=array(148.4131591025766, 1.791759469228055)),
    row("back-through-a-matrix-layer", pullback, matrix_layer, (SIGNAL,),
        (NET_WEIGHT.T @ COTANGENT,), seed=COTANGENT),
    row("back-through-a-product-of-three", pullback, product_of_three, (2.0, 3.0, 5.0),
        (15.0, 10.0, 6.0), seed=1.0, value=30.0, integers=True),
    row("back-linear-in-the-seed", pullback, product_of_three, (2.0, 3.0, 5.0), (30.0, 20.0, 12.0),
        seed=2.0, integers=True),
    row("back-to-what-is-used-twice", pullback, twice, (1.0,), (2.0,), seed=array(1, 1),
        value=array(1, 1)),
    row("none-in-a-cotangent-is-zero", pullback, lambda x: [x, x], (1.0,), (2.0,), seed=[2.0, None],
        value=[1.0, 1.0]),
    # pushforward
    row("forward-through-a-sine", pushforward, sine, (POINT,), 0.6795498147167869, seed=(1.0,),
        value=0.7336293678134624),
    row("forward-to-sine-and-cosine", pushforward, lambda x: (sine(x), array_namespace(x).cos(x)),
        (POINT,), (0.6795498147167869, -0.7336293678134624), seed=(1.0,),
        value=(0.7336293678134624, 0.6795498147167869)),
]  # fmt: skip


SCENARIOS = [each for rows in _ROWS for each in rows]
