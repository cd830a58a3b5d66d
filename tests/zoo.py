"""The gradient zoo: the worked examples of Julia's differentiation packages, one row each, as data.

A row says: this operator, on this function, at these arguments, gives these numbers. Functions are written as a
user of this library writes them. Arrays are row-major. `expected` is all that the operator returns, except for
`pullback` and `pushforward`, where `seed` is what goes in (a cotangent; a tuple of tangents) and `value` what f gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adinterface import Constant, array_namespace, ignore_derivatives, non_differentiable, rule, scalar_rule


@dataclass(frozen=True)
class Row:
    name: str
    operator: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    expected: Any
    seed: Any = None
    value: Any = None
    #: The source writes integers: bare arguments may be given as integers with the same result.
    integers: bool = False
    #: The value depends on no argument, which an engine that traces can tell.
    disconnected: bool = False


def array(*numbers):
    return np.array(numbers, dtype="float64")


def scalar(number):
    return np.array(number, dtype="float64")


# A model as nested dataclasses ---------------------------------------------------------------------------------------


@dataclass
class Dense:
    weight: Any
    bias: Any = None
    activation: Callable[..., Any] | None = None

    def __call__(self, x):
        y = self.weight @ x if self.bias is None else self.weight @ x + self.bias
        return y if self.activation is None else self.activation(y)


@dataclass
class Embedding:
    weight: Any

    def __call__(self, index):
        return self.weight[:, index]


@dataclass
class Chain:
    layers: tuple[Any, ...] = field(default=())

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def softmax(z):
    xp = array_namespace(z)
    powers = xp.exp(z - xp.max(z))
    return powers / xp.sum(powers)


def only(x):
    """The one element of an array of length 1."""
    return x[0]


def embedding_model():
    return Chain((Embedding(array([1, 3, 5], [2, 4, 6])), softmax))


def squared_norm_of_first(model):
    p = model(0)
    return array_namespace(p).sum(p * p)


SLOPE = 0.18171549534589682
MODEL_VALUE = 0.6067761335170363
MODEL_GRADIENT = Chain((Embedding(array([-SLOPE, 0, 0], [SLOPE, 0, 0])), None))

#: After one and after two steps of gradient descent with step length 1/3.
WEIGHT_AFTER_ONE_STEP = array([1.0605718317819657, 3, 5], [1.9394281682180343, 4, 6])
WEIGHT_AFTER_TWO_STEPS = array([1.117678188904822, 3, 5], [1.882321811095178, 4, 6])
VALUE_AFTER_TWO_STEPS = 0.5665111155481435
SLOPE_AFTER_TWO_STEPS = 0.1581029886651505

# Functions -----------------------------------------------------------------------------------------------------------

NET_WEIGHT = array(
    [0.8242805451868016, 0.6935345698171789, 0.3575917782149711],
    [0.8336651872057976, 0.8051473582305209, 0.5414066575533398],
)
NET_BIAS = array(0.12011868865849706, 0.28705432802353603)


def sum_of_roots(x):
    xp = array_namespace(x)
    return xp.sum(xp.sqrt(x))


def sum_of_cubes(x):
    return array_namespace(x).sum(x**3)


def weighted_triple(x):
    return array_namespace(x["a"]).sum((x["a"] + 2 * x["b"] + 3 * x["c"]) ** 2)


def product_of_three(a, b, c):
    return a * b * c


def doubled_sum(x):
    return array_namespace(x).sum(2 * x)


def wave(x):
    return array_namespace(x).sin(x**2) * 5


def sine(x):
    return array_namespace(x).sin(x)


def net_of_input(x):
    xp = array_namespace(x)
    return xp.sum(xp.asarray(NET_WEIGHT) @ x + xp.asarray(NET_BIAS))


def net_of_parameters(weight, bias):
    xp = array_namespace(weight, bias)
    return xp.sum(weight @ xp.asarray(array(1, 2, 3)) + bias)


def matrix_layer(x):
    xp = array_namespace(x)
    return xp.asarray(NET_WEIGHT) @ x + xp.asarray(NET_BIAS)[:, None]


def sum_and_product(x):
    return array_namespace(x).stack([x[0] + x[1], x[0] * x[1]])


def exponential_and_logarithm(y):
    xp = array_namespace(y)
    return xp.stack([xp.exp(y[0] + y[1]), xp.log(y[0]) + xp.log(y[1])])


def composition(x):
    return exponential_and_logarithm(sum_and_product(x))


def power_of_an_axis(x, y, axis):
    return array_namespace(x).sum(x ** x.shape[axis] + y)


def scaled_by_a_pair(a, pair):
    return array_namespace(a).sum(a * pair[0]) + pair[1]


def sum_of_reciprocals(x):
    return array_namespace(x).sum(1 / x), 1 / x


def squared_norm_of_layer(model, x):
    y = model(x)
    return array_namespace(y).sum(y**2)


def third_column(model):
    return model(2)


def twice(x):
    return array_namespace(x).stack([x, x])


def angle(x, y):
    return array_namespace(x, y).atan2(x, y)


def dense_layer(weight, bias):
    return Chain((Dense(weight, bias),))


_signal = (np.sin(np.arange(30.0)) + 1.1).reshape(3, 10)
_cotangent = (np.cos(np.arange(20.0)) + 1.2).reshape(2, 10)
_point = 0.8236475079774124


def _slots(shape, **numbers):
    """An array of zeros with some elements set: `_slots((2, 2), _01=5)`."""
    out = np.zeros(shape)
    for key, number in numbers.items():
        out[tuple(int(digit) for digit in key[1:])] = number
    return out


# Rows ----------------------------------------------------------------------------------------------------------------

# Functions with rules of their own -----------------------------------------------------------------------------------


@rule
def add(a, b):
    return a + b


add.pullback(lambda cotangent, value, a, b: (cotangent, cotangent))


@dataclass(frozen=True)
class AddTo:
    """A callable whose rule has a slot for itself."""

    amount: int

    @rule
    def __call__(self, x):
        return self.amount + x


AddTo.__call__.pullback(lambda cotangent, value, self, x: (None, cotangent))


@rule
def fill(x, length):
    """`length` copies of x."""
    xp = array_namespace(x)
    return xp.broadcast_to(x, (length,)) * 1.0


fill.pullback(lambda cotangent, value, x, length: (array_namespace(cotangent).sum(cotangent), None))
sine_rule = scalar_rule(sine, lambda value, x: array_namespace(x).cos(x))
hypotenuse = scalar_rule(lambda x, y: (x**2 + y**2) ** 0.5, lambda h, x, y: (x / h, y / h))
sine_and_cosine = scalar_rule(
    lambda x: (array_namespace(x).sin(x), array_namespace(x).cos(x)), lambda value, x: ((value[1],), (-value[0],))
)


def ignored_push(x):
    """x goes into the value and takes no derivative with it."""
    y = [1.0, 1.0, 1.0]
    ignore_derivatives(lambda: y.append(x))
    return sum(y[:3]) + ignore_derivatives(y[3])


equal = non_differentiable(lambda x, y: (x == y) * (0.0 * x + 1.0))
length = non_differentiable(lambda x: 0.0 * array_namespace(x).sum(x) + x.shape[0])

ROWS = [
    # gradient
    Row("sum of roots of a row", "gradient", sum_of_roots, (array([1, 4, 16]),), (array([0.5, 0.25, 0.125]),), integers=True),
    Row("model with a softmax", "gradient", squared_norm_of_first, (embedding_model(),), (MODEL_GRADIENT,)),
    Row(
        "three entries of a dict",
        "gradient",
        weighted_triple,
        ({"a": array(2), "b": array(2), "c": array(2)},),
        ({"a": array(24), "b": array(48), "c": array(72)},),
    ),
    Row("two scalars", "gradient", lambda x, y: 2 * x + 3 * y, (1.0, 1.0), (2.0, 3.0), integers=True),
    Row("one scalar gives a tuple", "gradient", lambda x: 5 * x + 3, (10.0,), (5.0,), integers=True),
    Row(
        "network by its input",
        "gradient",
        net_of_input,
        (array(1, 2, 3),),
        (array(1.6579457323925992, 1.4986819280476997, 0.898998435768311),),
        integers=True,
    ),
    Row(
        "network by its parameters",
        "gradient",
        net_of_parameters,
        (NET_WEIGHT, NET_BIAS),
        (array([1, 2, 3], [1, 2, 3]), array(1, 1)),
    ),
    Row("sine of a square", "gradient", wave, (4.0,), (-38.30637921293538,), integers=True),
    Row("product of three", "gradient", product_of_three, (2.0, 3.0, 5.0), (15.0, 10.0, 6.0), integers=True),
    Row(
        "sum of squares",
        "gradient",
        lambda x: array_namespace(x).sum(x * x),
        (array(7, 11, 13),),
        (array(14, 22, 26),),
        integers=True,
    ),
    Row(
        "an axis is a Constant",
        "gradient",
        power_of_an_axis,
        (array(7, 11), 0.0, Constant(0)),
        (array(14, 22), 2.0, None),
        integers=True,
    ),
    Row("doubled sum", "gradient", doubled_sum, (array(1, 2, 3),), (array(2, 2, 2),), integers=True),
    Row("a tuple argument", "gradient", scaled_by_a_pair, (array(1, 2, 3), (4.0, 5.0)), (array(4, 4, 4), (6.0, 1.0))),
    Row(
        "dense layer and its input",
        "gradient",
        squared_norm_of_layer,
        (dense_layer(array([3.0]), array(0)), array(1)),
        (dense_layer(array([6.0]), array(6)), array(18)),
    ),
    Row(
        "dense layer, input a Constant",
        "gradient",
        squared_norm_of_layer,
        (dense_layer(array([3.0]), array(0)), Constant(array(1))),
        (dense_layer(array([6.0]), array(6)), None),
    ),
    Row(
        "embedding, dense, a function",
        "gradient",
        third_column,
        (Chain((Embedding(array([1.1, 2.2, 3.3])), Dense(array([4.4]), array(0)), only)),),
        (Chain((Embedding(array([0, 0, 4.4])), Dense(array([3.3]), array(1)), None)),),
    ),
    # value_and_gradient
    Row(
        "value of the sum of roots",
        "value_and_gradient",
        sum_of_roots,
        (array([1, 4, 16]),),
        (scalar(7), (array([0.5, 0.25, 0.125]),)),
        integers=True,
    ),
    Row(
        "value computed outside",
        "value_and_gradient",
        lambda x: scalar(7),
        (array([1, 4, 16]),),
        (scalar(7), (array([0, 0, 0]),)),
        disconnected=True,
    ),
    Row(
        "value of the model computed outside",
        "value_and_gradient",
        lambda model: scalar(MODEL_VALUE),
        (embedding_model(),),
        (scalar(MODEL_VALUE), (Chain((Embedding(np.zeros((2, 3))), None)),)),
        disconnected=True,
    ),
    Row(
        "value of the model",
        "value_and_gradient",
        squared_norm_of_first,
        (embedding_model(),),
        (scalar(MODEL_VALUE), (MODEL_GRADIENT,)),
    ),
    Row("quotient", "value_and_gradient", lambda a, b: a / b, (1.0, 2.0), (0.5, (0.5, -0.25)), integers=True),
    Row(
        "auxiliary result in a tuple",
        "value_and_gradient",
        sum_of_reciprocals,
        (array(1, 2, 4),),
        ((scalar(1.75), array(1, 0.5, 0.25)), (array(-1, -0.25, -0.0625),)),
        integers=True,
    ),
    Row(
        "auxiliary result in a dict",
        "value_and_gradient",
        lambda x, y: {"div": x / y, "mul": x * y},
        (3.0, 4.0),
        ({"div": 0.75, "mul": 12.0}, (0.25, -0.1875)),
        integers=True,
    ),
    Row(
        "value of the doubled sum",
        "value_and_gradient",
        doubled_sum,
        (array(1, 2, 3),),
        (scalar(12), (array(2, 2, 2),)),
        integers=True,
    ),
    Row(
        "value of embedding and dense",
        "value_and_gradient",
        third_column,
        (Chain((Embedding(array([1.1, 2.2, 3.3])), Dense(array([4.4]), array(0)), only)),),
        (scalar(14.52), (Chain((Embedding(array([0, 0, 4.4])), Dense(array([3.3]), array(1)), None)),)),
    ),
    # derivative
    Row("slope of a line", "derivative", lambda x: 5 * x + 3, (10.0,), 5.0, integers=True),
    Row("slope of sine of a square", "derivative", wave, (4.0,), -38.30637921293538, integers=True),
    # jacobian
    Row(
        "squared row sums",
        "jacobian",
        lambda x: array_namespace(x).sum(x, axis=1) ** 2,
        (array([1, 2, 3], [4, 5, 6]),),
        (array([[12, 12, 12], [0, 0, 0]], [[0, 0, 0], [30, 30, 30]]),),
        integers=True,
    ),
    Row(
        "composition of two",
        "jacobian",
        composition,
        (array(1, 2),),
        (array([3 * math.exp(5), 2 * math.exp(5)], [4 / 3, 5 / 6]),),
        integers=True,
    ),
    Row(
        "squares of a slice",
        "jacobian",
        lambda a: 100 * a[0:3] ** 2,
        (array(1, 2, 3, 4, 5, 6, 7),),
        (_slots((3, 7), _00=200, _11=400, _22=600),),
        integers=True,
    ),
    Row(
        "a scalar argument gives a vector",
        "jacobian",
        lambda a, x: a**2 * x,
        (array(1, 2, 3), 1.0),
        (np.diag(array(2, 4, 6)), array(1, 4, 9)),
        integers=True,
    ),
    Row(
        "product along an axis",
        "jacobian",
        lambda a, axis: array_namespace(a).prod(a, axis=axis),
        (array([1, 2], [3, 4], [5, 6]), Constant(1)),
        (_slots((3, 3, 2), _000=2, _001=1, _110=4, _111=3, _220=6, _221=5), None),
        integers=True,
    ),
    Row(
        "a string argument",
        "jacobian",
        lambda a, word: a ** len(word),
        (array(1, 2, 3), "str"),
        (np.diag(array(3, 12, 27)), None),
        integers=True,
    ),
    Row(
        "a tuple argument, scalar output",
        "jacobian",
        scaled_by_a_pair,
        (array(1, 2, 3), (4.0, 5.0)),
        (array(4, 4, 4), (scalar(6), scalar(1))),
    ),
    Row(
        "running sum",
        "value_and_jacobian",
        lambda x: array_namespace(x).cumulative_sum(x),
        (array(1, 2, 3),),
        (array(1, 3, 6), (np.tril(np.ones((3, 3))),)),
        integers=True,
    ),
    # hessian
    Row("hessian of a product", "hessian", lambda x: x[0] * x[1], (array(0.3, -0.8),), array([0, 1], [1, 0])),
    Row(
        "hessian of cubes of a matrix",
        "hessian",
        sum_of_cubes,
        (array([1, 2], [3, 4]),),
        _slots((2, 2, 2, 2), _0000=6, _0101=12, _1010=18, _1111=24),
        integers=True,
    ),
    Row("hessian of a scalar", "hessian", sine, (math.pi / 2,), -1.0),
    Row(
        "hessian of an angle",
        "hessian",
        lambda v: angle(v[0], v[1]),
        (array(1, 2),),
        array([-0.16, -0.12], [-0.12, 0.16]),
        integers=True,
    ),
    # diagonal_hessian
    Row(
        "diagonal of cubes of a matrix",
        "diagonal_hessian",
        sum_of_cubes,
        (array([1, 2], [3, 4]),),
        (array([6, 12], [18, 24]),),
        integers=True,
    ),
    Row(
        "diagonal for two arrays",
        "diagonal_hessian",
        lambda x, y: array_namespace(x, y).sum(x * y[:, None] * y[None, :]),
        (array([1, 22], [333, 4]), array(0.5, 0.666)),
        (np.zeros((2, 2)), array(2, 8)),
    ),
    Row("diagonal for two scalars", "diagonal_hessian", angle, (1.0, 2.0), (-0.16, 0.16), integers=True),
    # pullback
    Row("back through a product by 5", "pullback", lambda x: x * 5.0, (math.sin(16.0),), (5.0,), seed=1.0),
    Row("back through a sine", "pullback", sine, (16.0,), (-4.788297401616923,), seed=5.0),
    Row("back through a square", "pullback", lambda x: x**2, (4.0,), (-38.30637921293538,), seed=-4.788297401616923),
    Row("back to a sum", "pullback", sum_and_product, (array(1, 2),), (array(1, 1),), seed=array(1, 0), value=array(3, 2)),
    Row("back to a product", "pullback", sum_and_product, (array(1, 2),), (array(2, 1),), seed=array(0, 1)),
    Row(
        "back through a composition",
        "pullback",
        composition,
        (array(1, 2),),
        (array(4 / 3, 5 / 6),),
        seed=array(0, 1),
        value=array(148.4131591025766, 1.791759469228055),
    ),
    Row("back through a matrix layer", "pullback", matrix_layer, (_signal,), (NET_WEIGHT.T @ _cotangent,), seed=_cotangent),
    Row(
        "back through a product of three",
        "pullback",
        product_of_three,
        (2.0, 3.0, 5.0),
        (15.0, 10.0, 6.0),
        seed=1.0,
        value=30.0,
        integers=True,
    ),
    Row("back, linear in the seed", "pullback", product_of_three, (2.0, 3.0, 5.0), (30.0, 20.0, 12.0), seed=2.0, integers=True),
    Row("back to what is used twice", "pullback", twice, (1.0,), (2.0,), seed=array(1, 1), value=array(1, 1)),
    Row("None in a cotangent is zero", "pullback", lambda x: [x, x], (1.0,), (2.0,), seed=[2.0, None], value=[1.0, 1.0]),
    # pushforward
    Row(
        "forward through a sine",
        "pushforward",
        sine,
        (_point,),
        0.6795498147167869,
        seed=(1.0,),
        value=0.7336293678134624,
    ),
    Row(
        "forward to sine and cosine",
        "pushforward",
        lambda x: (sine(x), array_namespace(x).cos(x)),
        (_point,),
        (0.6795498147167869, -0.7336293678134624),
        seed=(1.0,),
        value=(0.7336293678134624, 0.6795498147167869),
    ),
    # rules
    Row("back through a rule", "pullback", add, (2.0, 3.0), (1.0, 1.0), seed=1.0, value=5.0, integers=True),
    Row("back to the argument of a callable", "pullback", AddTo(3), (4.0,), (2.0,), seed=2.0, value=7.0, integers=True),
    Row("back through a rule of sine", "pullback", sine_rule, (_point,), (0.6795498147167869,), seed=1.0),
    Row("back through a rule of two arguments", "pullback", hypotenuse, (3.0, 4.0), (0.6, 0.8), seed=1.0, value=5.0),
    Row("forward through a rule of sine", "pushforward", sine_rule, (_point,), 0.6795498147167869, seed=(1.0,)),
    Row(
        "forward through a rule of two values",
        "pushforward",
        sine_and_cosine,
        (_point,),
        (0.6795498147167869, -0.7336293678134624),
        seed=(1.0,),
        value=(0.7336293678134624, 0.6795498147167869),
    ),
    Row("back through copies", "pullback", fill, (2.0, Constant(3)), (6.0, None), seed=array(1, 2, 3), value=array(2, 2, 2)),
    Row("what is ignored", "gradient", lambda x, w: ignore_derivatives(x) * w, (2.0, 3.0), (0.0, 2.0)),
    Row("a push that is ignored", "value_and_gradient", ignored_push, (2.0,), (5.0, (0.0,)), disconnected=True),
    Row("back through a comparison", "pullback", equal, (2.0, 3.0), (0.0, 0.0), seed=1.0, value=0.0),
    Row("forward through a length", "pushforward", length, (array(2, 3),), scalar(0.0), seed=(array(1, 1),), value=scalar(2.0)),
]


def rows(*operators):
    """The rows of these operators."""
    return [row for row in ROWS if row.operator in operators]
