"""Two small networks on the digits, each written once, trained with every engine by three
libraries' optimisers.

    python docs/demo/training.py [--steps 200] [--samples 256] [--plot training.png]

needs the extras `all`, `optax` and `scipy`, and the group `demo`. It prints how far the loss curves
of the engines lie apart, and how far that of one engine departs if its start is moved by the last
bit: where that is as much, the optimiser amplifies rounding, whatever the engine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import optax
import torch
from sklearn.datasets import load_digits

from adinterface import AutoAutograd, AutoBackend, AutoJax, AutoTorch, array_namespace
from adinterface.fit import Training, from_optax, from_torch_optim, minimize

BACKENDS: tuple[AutoBackend, ...] = (AutoJax(), AutoTorch(), AutoAutograd())
Model = dict[str, Any]


def perceptron(model: Model, images: Any) -> Any:
    """The scores of the ten digits, of shape `(n, 10)`, for images of shape `(n, 64)`."""
    xp = array_namespace(images)
    return xp.tanh(images @ model["w"] + model["b"]) @ model["v"] + model["c"]


def attention(model: Model, images: Any) -> Any:
    """As `perceptron`: each row of an image is a token of eight pixels and looks at the others."""
    xp = array_namespace(images)
    rows = xp.reshape(images, (-1, 8, 8)) @ model["embedding"] + model["position"]
    scores = rows @ model["query"] @ xp.matrix_transpose(rows @ model["key"]) / 4.0
    weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    seen = weights / xp.sum(weights, axis=-1, keepdims=True) @ (rows @ model["value"])
    return xp.mean(xp.tanh(rows + seen), axis=1) @ model["v"] + model["c"]


def start(network: Callable[..., Any]) -> Model:
    """The weights at the start, drawn once for all engines."""
    shapes: dict[str, tuple[int, ...]] = (
        {"w": (64, 16), "b": (16,), "v": (16, 10), "c": (10,)}
        if network is perceptron
        else {
            "embedding": (8, 16),
            "position": (8, 16),
            "query": (16, 16),
            "key": (16, 16),
            "value": (16, 16),
            "v": (16, 10),
            "c": (10,),
        }
    )
    draw = np.random.default_rng(0)
    return {name: draw.normal(size=shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}


def loss_of(network: Callable[..., Any], decay: float = 1e-4) -> Callable[..., Any]:
    """The mean cross entropy, with weight decay."""

    def loss(model: Model, images: Any, labels: Any) -> Any:
        xp = array_namespace(images)
        scores = network(model, images)
        scores = scores - xp.max(scores, axis=1, keepdims=True)
        right = xp.sum(labels * scores, axis=1)
        return xp.mean(xp.log(xp.sum(xp.exp(scores), axis=1)) - right) + decay * sum(
            xp.sum(part * part) for part in model.values()
        )

    return loss


def digits(samples: int) -> tuple[Any, Any]:
    """So many images of shape `(64,)`, and their digits as rows of the unit matrix."""
    found = load_digits()
    return found.data[:samples] / 16.0, np.eye(10)[found.target[:samples]]


def by_optax(
    loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int
) -> list[float]:
    training = Training(loss, backend, from_optax(optax.adam(1e-2)), model)
    return [float(training(*data)) for _ in range(steps)]


def by_torch(
    loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int
) -> list[float]:
    training = Training(
        loss, backend, from_torch_optim(torch.optim.SGD, model, lr=0.1, momentum=0.9)
    )
    return [float(training(*data)) for _ in range(steps)]


def by_scipy(
    loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int
) -> list[float]:
    curve: list[float] = []

    def follow(intermediate_result: Any) -> None:
        curve.append(float(intermediate_result.fun))

    options = {"maxiter": steps, "maxfun": 10 * steps, "maxcor": 300, "ftol": 0.0, "gtol": 0.0}
    minimize(loss, backend, model, *data, method="L-BFGS-B", callback=follow, options=options)
    return curve


NETWORKS = {"perceptron": perceptron, "attention": attention}
ADAM, SGD, LBFGS, FLAT = (
    "Optax, Adam",
    "torch.optim, SGD with momentum",
    "SciPy, L-BFGS-B",
    "SciPy, L-BFGS-B, less decay",
)
#: By network and title, the optimiser and the weight decay. With a decay of 0.015 the attention net
#: has a minimum that L-BFGS
#: reaches; with less the way to it is flat, and rounding errors grow along it.
CASES = {
    ("perceptron", ADAM): (by_optax, 1e-4),
    ("perceptron", SGD): (by_torch, 1e-4),
    ("perceptron", LBFGS): (by_scipy, 1e-2),
    ("attention", ADAM): (by_optax, 1e-4),
    ("attention", SGD): (by_torch, 1e-4),
    ("attention", LBFGS): (by_scipy, 1.5e-2),
    ("attention", FLAT): (by_scipy, 1e-2),
}
MOVED = "moved by a bit"
Curves = dict[tuple[str, str], dict[str, list[float]]]


def moved(model: Model) -> Model:
    """The weights, each to its next neighbour in 64 bits, up or down."""
    draw = np.random.default_rng(1)
    return {
        name: np.nextafter(part, part + draw.choice([-1.0, 1.0], part.shape))
        for name, part in model.items()
    }


def curves(
    steps: int,
    samples: int,
    backends: tuple[AutoBackend, ...] = BACKENDS,
    report: Callable[[str], None] = print,
) -> Curves:
    """The loss after each step, by network and title, and by backend.

    And of the first backend from the moved start.
    """
    data, found = digits(samples), Curves()
    for (name, title), (train, decay) in CASES.items():
        loss, first = loss_of(NETWORKS[name], decay), start(NETWORKS[name])
        of: dict[str, list[float]] = {}
        for backend in backends:
            begun = time.perf_counter()
            curve = of[type(backend).__name__] = train(loss, backend, first, data, steps)
            seconds = time.perf_counter() - begun
            report(
                f"{name:10}  {title:30}  {type(backend).__name__:12}  loss {curve[-1]:.10f} "
                f" {seconds:6.2f} s"
            )
        of[MOVED] = train(loss, backends[0], moved(first), data, steps)
        engines = max(
            map(max, apart(of, *[type(backend).__name__ for backend in backends[1:]])), default=0.0
        )
        report(
            f"{name:10}  {title:30}  apart         {engines:.1e} by engines,"
            f" {max(apart(of, MOVED)[0]):.1e} by the last bit"
        )
        found[name, title] = of
    return found


def apart(of: dict[str, list[float]], *names: str) -> list[Any]:
    """How far each of these curves lies from the first, step by step."""
    first = next(iter(of.values()))
    return [_distance(first, of[name]) for name in names]


def _distance(first: list[float], second: list[float]) -> Any:
    """At the minimum one may stop a step before the other: its curve goes on as it ended."""
    count = max(len(first), len(second))
    return np.abs(
        np.subtract(
            *[np.array([*curve, *[curve[-1]] * (count - len(curve))]) for curve in (first, second)]
        )
    )


COLOURS = {ADAM: "tab:blue", SGD: "tab:orange", LBFGS: "tab:green", FLAT: "tab:red"}


def plot(found: Curves, path: str) -> None:
    """One plot for each network, a colour for each optimiser, a dash for each backend: they lie on
    one another.

    Below, how far they lie apart at most, and, dotted, how far one backend does whose start is
    moved by its last bit.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    above, below = figure.subplots(2, len(NETWORKS), sharex=True, sharey="row")
    for curve_of, distance_of, network in zip(above, below, NETWORKS):
        for (name, title), of in found.items():
            if name != network:
                continue
            *engines, _ = of
            for n, backend in enumerate(engines):
                style, width, shade = (
                    ("-", 6.0, COLOURS[title]),
                    ("--", 2.0, "black"),
                    (":", 2.0, "white"),
                )[n]
                label = f"{title}: {backend}" if n == 0 else f"the same: {backend}"
                curve_of.plot(
                    of[backend],
                    style,
                    color=shade,
                    lw=width,
                    alpha=0.6 if n == 0 else 1.0,
                    label=label,
                )
            distances = apart(of, *engines[1:], MOVED)
            longest = max(map(len, distances))
            together = [
                np.pad(distance, (0, longest - len(distance)), "edge") for distance in distances
            ]
            least = 1e-17
            distance_of.plot(
                np.maximum(np.maximum.reduce(together[:-1]), least), color=COLOURS[title]
            )
            distance_of.plot(np.maximum(together[-1], least), ":", color=COLOURS[title])
        distance_of.axhline(1e-8, color="gray", lw=0.5)
        curve_of.set(title=network, yscale="log")
        distance_of.set(xlabel="step", yscale="log")
    above[0].set_ylabel("loss")
    below[0].set_ylabel("distance of the curves\n(dotted: of one engine, start moved by a bit)")
    handles, labels = above[-1].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        fontsize=7,
        loc="outside lower center",
        ncols=len(COLOURS),
        facecolor="lightgray",
    )
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("--plot", help="draw the curves to this PNG file")
    options = parser.parse_args()
    found = curves(options.steps, options.samples)
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
