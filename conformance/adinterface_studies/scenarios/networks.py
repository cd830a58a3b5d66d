"""Small neural networks, their parameters in trees; the reference is NumPy's complex step."""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios.building import Array, Operator, named, scalar, scenario, signed, some

from adinterface import Constant, array_namespace, gradient, hvp, jacobian, linearize, pullback, pushforward, value_and_gradient

from .complex_step import complex_step_gradient, complex_step_slope

# Layers --------------------------------------------------------------------------------------------------------------


def dense(layer: Any, x: Any) -> Any:
    return x @ layer["weight"] + layer["bias"]


def tanh(x: Any) -> Any:
    return array_namespace(x).tanh(x)


def softmax(z: Any) -> Any:
    xp = array_namespace(z)
    powers = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def normalized(x: Any) -> Any:
    xp = array_namespace(x)
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + 1e-3)


def mean_square(x: Any) -> Any:
    return array_namespace(x).mean(x * x)


# Networks: f(parameters, x) -> real scalar -----------------------------------------------------------------------------


def perceptron(parameters: Any, x: Any) -> Any:
    return mean_square(dense(parameters["second"], tanh(dense(parameters["first"], x))))


def rectified(parameters: Any, x: Any) -> Any:
    hidden = dense(parameters["first"], x)
    return mean_square(dense(parameters["second"], array_namespace(hidden).maximum(hidden, 0.1 * hidden)))


def residual(parameters: Any, x: Any) -> Any:
    for layer in parameters:
        x = x + tanh(dense(layer, x))
    return mean_square(x)


def convolution_by_slices(parameters: Any, x: Any) -> Any:
    kernel, (height, width) = parameters["kernel"], parameters["kernel"].shape
    rows, columns = x.shape[0] - height + 1, x.shape[1] - width + 1
    y = sum(kernel[i, j] * x[i : i + rows, j : j + columns] for i in range(height) for j in range(width))
    return mean_square(tanh(y + parameters["bias"]))


def convolution_by_einsum(parameters: Any, x: Any) -> Any:
    """One dimension, two channels in and out: the windows are stacked, the kernel is contracted."""
    xp = array_namespace(parameters["kernel"], x)
    length = parameters["kernel"].shape[2]
    windows = xp.stack([x[:, i : i + x.shape[1] - length + 1] for i in range(length)])
    y = xp.einsum("oik,kit->ot", parameters["kernel"], windows)
    return mean_square(tanh(y + parameters["bias"][:, None]))


def recurrent(parameters: Any, x: Any) -> Any:
    xp = array_namespace(parameters["bias"], x)
    state = xp.zeros_like(parameters["bias"])
    for step in range(x.shape[0]):
        state = xp.tanh(x[step] @ parameters["inner"] + state @ parameters["again"] + parameters["bias"])
    return mean_square(state)


def gated(parameters: Any, x: Any) -> Any:
    xp = array_namespace(parameters["gate"]["bias"], x)
    state = xp.zeros_like(parameters["gate"]["bias"])
    for step in range(x.shape[0]):
        both = xp.concat([x[step], state])
        gate = 1 / (1 + xp.exp(-dense(parameters["gate"], both)))
        state = gate * state + (1 - gate) * xp.tanh(dense(parameters["candidate"], both))
    return mean_square(state)


def layer_norm(parameters: Any, x: Any) -> Any:
    return mean_square(normalized(x) * parameters["gain"] + parameters["bias"])


def attention(parameters: Any, x: Any) -> Any:
    xp = array_namespace(parameters["key"], x)
    query, key, value = (x @ parameters[name] for name in ("query", "key", "value"))
    weights = softmax(query @ xp.permute_dims(key, (1, 0)) / 3**0.5)
    return mean_square(weights @ value)


def embeddings_by_one_hot(parameters: Any, x: Any) -> Any:
    return mean_square(dense(parameters["dense"], x @ parameters["table"]))


def embeddings_by_index(parameters: Any, words: Any) -> Any:
    return mean_square(dense(parameters["dense"], parameters["table"][words]))


def autoencoder(parameters: Any, x: Any) -> Any:
    """Tied weights: the decoder is the encoder transposed."""
    xp = array_namespace(parameters["weight"], x)
    hidden = xp.tanh(x @ parameters["weight"] + parameters["inner"])
    return mean_square(hidden @ xp.permute_dims(parameters["weight"], (1, 0)) + parameters["outer"] - x)


def experts(parameters: Any, x: Any) -> Any:
    xp = array_namespace(parameters["gate"], x)
    share = softmax(x @ parameters["gate"])
    answers = xp.stack([xp.tanh(x @ expert) for expert in parameters["experts"]], axis=-1)
    return mean_square(xp.sum(share * answers, axis=-1))


def smooth_unit(parameters: Any, x: Any) -> Any:
    """The tanh form of the Gaussian error linear unit."""
    y = dense(parameters, x)
    return mean_square(0.5 * y * (1 + tanh((2 / np.pi) ** 0.5 * (y + 0.044715 * y * y * y))))


# Their parameters ----------------------------------------------------------------------------------------------------


def _dense(inputs: int, outputs: int, seed: int) -> dict[str, Array]:
    return {"weight": signed(inputs, outputs, seed=seed), "bias": signed(outputs, seed=seed + 1)}


_X = signed(4, 3, seed=1)
_WORDS = np.array([2, 0, 2, 4])
_TABLE = {"table": signed(5, 3, seed=2), "dense": _dense(3, 2, 4)}
_TWO_LAYERS = {"first": _dense(3, 3, 2), "second": _dense(3, 2, 4)}
_SIGNAL = signed(2, 6, seed=3)

#: name, f, parameters, input
NETWORKS: list[tuple[str, Any, Any, Array]] = [
    ("perceptron", perceptron, _TWO_LAYERS, _X),
    ("leaky-rectifier", rectified, _TWO_LAYERS, _X),
    ("residual", residual, [_dense(3, 3, 2), _dense(3, 3, 4)], _X),
    ("convolution-by-slices", convolution_by_slices, {"kernel": signed(2, 2, seed=2), "bias": 0.1}, signed(4, 4, seed=1)),
    ("convolution-by-einsum", convolution_by_einsum, {"kernel": signed(2, 2, 3, seed=2), "bias": signed(2, seed=5)}, _SIGNAL),
    ("recurrent", recurrent, {"inner": signed(3, 3), "again": signed(3, 3, seed=2), "bias": signed(3, seed=3)}, _X),
    ("gated", gated, {"gate": _dense(5, 2, 1), "candidate": _dense(5, 2, 3)}, _X),
    ("layer-norm", layer_norm, {"gain": some(3), "bias": signed(3, seed=3)}, _X),
    ("attention", attention, {name: signed(3, 3, seed=n) for n, name in enumerate(("query", "key", "value"))}, _X),
    ("embeddings-by-one-hot", embeddings_by_one_hot, _TABLE, np.eye(5)[_WORDS]),
    ("autoencoder", autoencoder, {"weight": signed(3, 2), "inner": signed(2, seed=3), "outer": signed(3, seed=4)}, _X),
    ("experts", experts, {"gate": signed(3, 2), "experts": (signed(3, seed=3), signed(3, seed=4))}, _X),
    ("smooth-unit", smooth_unit, _dense(3, 3, 2), _X),
]

_LOOPS = {"residual", "convolution-by-slices", "recurrent", "gated"}


def _scenarios_of(name: str, f: Any, parameters: Any, x: Array, other: Operator) -> list[Scenario]:
    """The gradient for the parameters, and one more operator."""
    tags = {"neural-net", "tree"} | ({"control-flow"} if name in _LOOPS else set())
    value, slopes = scalar(f(parameters, x)), complex_step_gradient(f, parameters, x)
    asked: dict[Operator, tuple[tuple[Any, ...], Any, dict[str, Any]]] = {
        gradient: ((parameters, Constant(x)), (slopes[0], None), {}),
        value_and_gradient: ((parameters, x), (value, slopes), {}),
        pullback: ((parameters, Constant(x)), (value, (slopes[0], None)), {"seed": 1.0}),
        jacobian: ((parameters, Constant(x)), (_arrays(slopes[0]), None), {}),
    }
    if other in (pushforward, linearize):
        along = scalar(complex_step_slope(f, (parameters, x), (parameters, x)))
        asked[other] = (parameters, x), (value, along), {"tangents": (parameters, x)}
    return [
        scenario(named(f"networks/{name}", operator), operator, f, args, expected, tags=tags, **rest)
        for operator in (gradient, other)
        for args, expected, rest in (asked[operator],)
    ]


def _arrays(tree: Any) -> Any:
    """A Jacobian has 0-d arrays where the gradient has Python numbers."""
    if isinstance(tree, dict):
        return {key: _arrays(child) for key, child in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_arrays(child) for child in tree)
    return np.asarray(tree)


_OTHERS = (value_and_gradient, pullback, pushforward, linearize, jacobian)

_index_slopes = complex_step_gradient(embeddings_by_one_hot, _TABLE, np.eye(5)[_WORDS])[0]

SCENARIOS = [
    *(
        each
        for n, (name, f, parameters, x) in enumerate(NETWORKS)
        for each in _scenarios_of(name, f, parameters, x, _OTHERS[n % len(_OTHERS)])
    ),
    scenario(
        "networks/embeddings-by-index",
        gradient,
        embeddings_by_index,
        (_TABLE, Constant(_WORDS)),
        (_index_slopes, None),
        tags={"neural-net", "tree"},
    ),
    # No closed form of second order: the laws (symmetry, linearity, differences) decide.
    *(
        scenario(f"networks/{name}-by-hvp", hvp, f, (parameters, parameters, Constant(x)), tags={"neural-net", "tree"})
        for name, f, parameters, x in (NETWORKS[7], NETWORKS[12])
    ),
]
