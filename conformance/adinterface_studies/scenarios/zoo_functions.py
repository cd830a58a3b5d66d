"""The functions and models of the gradient zoo, written as a user of this library writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from adinterface_conformance.scenarios.building import Array, array

from adinterface import array_namespace

# A model as nested dataclasses
# ---------------------------------------------------------------------------------------


@dataclass
class Dense:
    weight: Any
    bias: Any = None
    activation: Callable[..., Any] | None = None

    def __call__(self, x: Any) -> Any:
        y = self.weight @ x if self.bias is None else self.weight @ x + self.bias
        return y if self.activation is None else self.activation(y)


@dataclass
class Embedding:
    weight: Any

    def __call__(self, index: Any) -> Any:
        return self.weight[:, index]


@dataclass
class Chain:
    layers: tuple[Any, ...] = field(default=())

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def softmax(z: Any) -> Any:
    xp = array_namespace(z)
    powers = xp.exp(z - xp.max(z))
    return powers / xp.sum(powers)


def only(x: Any) -> Any:
    """The one element of an array of length 1."""
    return x[0]


def embedding_model() -> Any:
    return Chain((Embedding(array([1, 3, 5], [2, 4, 6])), softmax))


def squared_norm_of_first(model: Any) -> Any:
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

# Functions
# ------------------------------------------------------------------------------------------------

NET_WEIGHT = array(
    [0.8242805451868016, 0.6935345698171789, 0.3575917782149711],
    [0.8336651872057976, 0.8051473582305209, 0.5414066575533398],
)
NET_BIAS = array(0.12011868865849706, 0.28705432802353603)


def sum_of_roots(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.sqrt(x))


def sum_of_cubes(x: Any) -> Any:
    return array_namespace(x).sum(x**3)


def weighted_triple(x: Any) -> Any:
    return array_namespace(x["a"]).sum((x["a"] + 2 * x["b"] + 3 * x["c"]) ** 2)


def product_of_three(a: Any, b: Any, c: Any) -> Any:
    return a * b * c


def doubled_sum(x: Any) -> Any:
    return array_namespace(x).sum(2 * x)


def wave(x: Any) -> Any:
    return array_namespace(x).sin(x**2) * 5


def sine(x: Any) -> Any:
    return array_namespace(x).sin(x)


def net_of_input(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(xp.asarray(NET_WEIGHT) @ x + xp.asarray(NET_BIAS))


def net_of_parameters(weight: Any, bias: Any) -> Any:
    xp = array_namespace(weight, bias)
    return xp.sum(weight @ xp.asarray(array(1, 2, 3)) + bias)


def matrix_layer(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.asarray(NET_WEIGHT) @ x + xp.asarray(NET_BIAS)[:, None]


def sum_and_product(x: Any) -> Any:
    return array_namespace(x).stack([x[0] + x[1], x[0] * x[1]])


def exponential_and_logarithm(y: Any) -> Any:
    xp = array_namespace(y)
    return xp.stack([xp.exp(y[0] + y[1]), xp.log(y[0]) + xp.log(y[1])])


def composition(x: Any) -> Any:
    return exponential_and_logarithm(sum_and_product(x))


def power_of_an_axis(x: Any, y: Any, axis: Any) -> Any:
    return array_namespace(x).sum(x ** x.shape[axis] + y)


def scaled_by_a_pair(a: Any, pair: Any) -> Any:
    return array_namespace(a).sum(a * pair[0]) + pair[1]


def sum_of_reciprocals(x: Any) -> Any:
    return array_namespace(x).sum(1 / x), 1 / x


def squared_norm_of_layer(model: Any, x: Any) -> Any:
    y = model(x)
    return array_namespace(y).sum(y**2)


def third_column(model: Any) -> Any:
    return model(2)


def twice(x: Any) -> Any:
    return array_namespace(x).stack([x, x])


def angle(x: Any, y: Any) -> Any:
    return array_namespace(x, y).atan2(x, y)


def dense_layer(weight: Any, bias: Any) -> Any:
    return Chain((Dense(weight, bias),))


SIGNAL = (np.sin(np.arange(30.0)) + 1.1).reshape(3, 10)
COTANGENT = (np.cos(np.arange(20.0)) + 1.2).reshape(2, 10)
POINT = 0.8236475079774124


def slots(shape: tuple[int, ...], numbers: dict[tuple[int, ...], float]) -> Array:
    """An array of zeros with some elements set."""
    out = np.zeros(shape)
    for place, number in numbers.items():
        out[place] = number
    return out
