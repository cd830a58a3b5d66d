"""An autoencoder: the images of ten digits, 64 pixels each, through two numbers and back.

Data: E. Alpaydin and C. Kaynak (1998), from scikit-learn. Trained by Adam of Optax, with the
gradients of any engine.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import optax
from sklearn.datasets import load_digits

from adinterface import AutoBackend, array_namespace
from adinterface.fit import Training, from_optax

TITLE = "Autoencoder"
#: Differences evaluate the loss some eight times for each of 3,300 numbers, in each step.
REFUSED = ("AutoFiniteDifferences",)
SIZES = (64, 24, 2, 24, 64)
STEPS, IMAGES = 300, 300


def layers(sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    return [
        {"w": rng.normal(size=(wide, high)) * np.sqrt(1.0 / wide), "b": np.zeros(high)}
        for wide, high in pairwise(sizes)
    ]


def through(model: list[dict[str, Any]], x: Any) -> Any:
    xp = array_namespace(x)
    for n, layer in enumerate(model):
        x = x @ layer["w"] + layer["b"]
        if n not in (1, 3):  # the code and the image are not squeezed
            x = xp.tanh(x)
    return x


def loss(model: list[dict[str, Any]], images: Any) -> Any:
    return array_namespace(images).mean((through(model, images) - images) ** 2)


def solve(backend: AutoBackend, steps: int = STEPS, images: int = IMAGES) -> dict[str, Any]:
    data = load_digits()
    pixels = data.data[:images] / 16.0
    training = Training(loss, backend, from_optax(optax.adam(1e-2)), layers())
    curve = np.array([float(training(pixels)) for _ in range(steps)])
    code = np.asarray(through(training.model[:2], pixels))
    return {"loss": curve[-1], "curve": curve, "code": code, "labels": data.target[:images]}


def draw(axes: Any, found: dict[str, Any]) -> None:
    axes.scatter(*found["code"].T, c=found["labels"], cmap="tab10", s=6)
    axes.set(xlabel="first number", ylabel="second number")
