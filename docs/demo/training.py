"""Two small networks on the digits, each written once, trained with every engine by three libraries' optimisers.

    python docs/demo/training.py [--steps 200] [--samples 256] [--plot training.png]

needs the extras `all`, `demo`, `optax` and `scipy`. It prints how far the loss curves of the engines lie apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import optax as optax_library
import torch
from sklearn.datasets import load_digits

from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoJax,
    AutoTorch,
    Training,
    array_namespace,
    minimize,
    optax,
    torch_optim,
)

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


def by_optax(loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int) -> list[float]:
    training = Training(loss, backend, optax(optax_library.adam(1e-2)), model)
    return [float(training(*data)) for _ in range(steps)]


def by_torch(loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int) -> list[float]:
    training = Training(loss, backend, torch_optim(torch.optim.SGD, model, lr=0.1, momentum=0.9))
    return [float(training(*data)) for _ in range(steps)]


# L-BFGS amplifies rounding errors in flat valleys, which more decay makes steeper.
DECAY = {"by_optax": 1e-4, "by_torch": 1e-4, "by_scipy": 1e-2}


def by_scipy(loss: Callable[..., Any], backend: AutoBackend, model: Model, data: tuple[Any, Any], steps: int) -> list[float]:
    curve: list[float] = []

    def follow(intermediate_result: Any) -> None:
        curve.append(float(intermediate_result.fun))

    options = {"maxiter": steps, "maxfun": 10 * steps, "maxcor": 300, "ftol": 0.0, "gtol": 0.0}
    minimize(loss, backend, model, *data, method="L-BFGS-B", callback=follow, options=options)
    return curve


OPTIMISERS = {"Optax, Adam": by_optax, "torch.optim, SGD with momentum": by_torch, "SciPy, L-BFGS-B": by_scipy}
NETWORKS = {"perceptron": perceptron, "attention": attention}
Curves = dict[tuple[str, str], dict[str, list[float]]]


def curves(
    steps: int, samples: int, backends: tuple[AutoBackend, ...] = BACKENDS, report: Callable[[str], None] = print
) -> Curves:
    """The loss after each step, by network and optimiser, and by backend."""
    data, found = digits(samples), Curves()
    for name, network in NETWORKS.items():
        for title, train in OPTIMISERS.items():
            of: dict[str, list[float]] = {}
            for backend in backends:
                begun = time.perf_counter()
                of[type(backend).__name__] = train(
                    loss_of(network, DECAY[train.__name__]), backend, start(network), data, steps
                )
                seconds = time.perf_counter() - begun
                last = of[type(backend).__name__][-1]
                report(f"{name:10}  {title:30}  {type(backend).__name__:12}  loss {last:.10f}  {seconds:6.2f} s")
            found[name, title] = of
            half = {backend: curve[: steps // 2] for backend, curve in of.items()}
            report(f"{name:10}  {title:30}  apart        {apart(half):.1e} in the first half, {apart(of):.1e} in all")
    return found


def apart(of: dict[str, list[float]]) -> float:
    """The largest difference between the curves of two backends."""
    first, *others = of.values()
    return max([float(np.max(np.abs(_difference(first, other)))) for other in others], default=0.0)


def _difference(first: list[float], second: list[float]) -> Any:
    """At the minimum one may stop a step before the other: its curve goes on as it ended."""
    count = max(len(first), len(second))
    return np.subtract(*[np.array([*curve, *[curve[-1]] * (count - len(curve))]) for curve in (first, second)])


def plot(found: Curves, path: str) -> None:
    """Each network beside the other, a colour for each optimiser, a dash for each backend: they lie on one another."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(1, len(NETWORKS), sharey=True)
    for ax, network in zip(axes, NETWORKS):
        for color, title in zip(("tab:blue", "tab:orange", "tab:green"), OPTIMISERS):
            for n, (backend, curve) in enumerate(found[network, title].items()):
                style, width, shade = (("-", 6.0, color), ("--", 2.0, "black"), (":", 2.0, "white"))[n]
                ax.plot(curve, style, color=shade, lw=width, alpha=0.6 if n == 0 else 1.0, label=f"{title}: {backend}")
        ax.set(title=network, xlabel="step", yscale="log")
    axes[0].set_ylabel("loss")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize=7, loc="outside lower center", ncols=len(OPTIMISERS), facecolor="lightgray")
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
