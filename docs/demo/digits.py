"""Train one classifier of handwritten digits with three engines, and check the gradients of four.

The model and the loss are written once. The engine is one word, `AutoJax()`, `AutoTorch()` or
`AutoAutograd()`, in `prepare(value_and_gradient, loss, engine, ...)`, which JAX compiles and the
others plan once. All start from the same weights and see the same minibatches, so their loss curves
must coincide. Run it with `make demo`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    gradient,
    prepare,
    tree,
    value_and_gradient,
)

ENGINES: tuple[AutoBackend, ...] = (AutoJax(), AutoTorch(), AutoAutograd())
SIZES = (64, 48, 32, 10)
# for finite differences, which evaluate the loss twice for each number of the model
SMALL = (64, 4, 10)
STEPS = 500
BATCH = 64
RATE = 0.1
MOMENTUM = 0.9
WINDOW = 20  # steps of the picture's running mean: about one pass through the images


# The model: nested frozen dataclasses, in the functions of whichever engine calls it
# ---------------------------------


def tanh(x: Any) -> Any:
    return array_namespace(x).tanh(x)


def identity(x: Any) -> Any:
    return x


@dataclass(frozen=True)
class Dense:
    weight: Any
    bias: Any
    activation: Callable[[Any], Any]

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.weight + self.bias)


@dataclass(frozen=True)
class Chain:
    layers: tuple[Dense, ...]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def loss(model: Chain, images: Any, targets: Any) -> Any:
    """The mean softmax cross entropy.

    `targets` has a row for each image, with a one at its digit.
    """
    scores = model(images)
    xp = array_namespace(scores)
    scores = scores - xp.max(scores, axis=1, keepdims=True)
    return xp.mean(xp.log(xp.sum(xp.exp(scores), axis=1)) - xp.sum(scores * targets, axis=1))


def initial(sizes: Sequence[int], seed: int) -> Chain:
    """Weights of variance 1 / inputs, biases of zero; tanh between the layers."""
    random = np.random.default_rng(seed)
    activations = [tanh] * (len(sizes) - 2) + [identity]
    return Chain(
        tuple(
            Dense(
                random.standard_normal((inputs, outputs)) / np.sqrt(inputs),
                np.zeros(outputs),
                activation,
            )
            for inputs, outputs, activation in zip(sizes, sizes[1:], activations)
        )
    )


# The data
# ------------------------------------------------------------------------------------------------


class Digits(NamedTuple):
    """Images of 8 x 8 pixels in [0, 1], and their digits."""

    train_images: np.ndarray
    train_targets: np.ndarray
    test_images: np.ndarray
    test_digits: np.ndarray


def digits() -> Digits:
    images, labels = load_digits(return_X_y=True)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images / 16.0, labels, test_size=0.25, random_state=0, stratify=labels
    )
    return Digits(train_images, np.eye(10)[train_labels], test_images, test_labels)


def accuracy(model: Chain, data: Digits) -> float:
    return float(np.mean(np.argmax(model(data.test_images), axis=1) == data.test_digits))


# Training
# ------------------------------------------------------------------------------------------------


class Training(NamedTuple):
    model: Chain
    losses: np.ndarray
    seconds: np.ndarray


def train(
    backend: AutoBackend,
    model: Chain,
    data: Digits,
    steps: int,
    tick: Callable[[], None] = lambda: None,
) -> Training:
    """Stochastic gradient descent with momentum.

    The minibatches depend on nothing but the number of the step.
    """
    random = np.random.default_rng(1)
    velocity = tree.zeros_like(model)
    example = Constant(data.train_images[:BATCH]), Constant(data.train_targets[:BATCH])
    loss_and_slope = prepare(value_and_gradient, loss, backend, model, *example)
    losses, seconds = np.empty(steps), np.empty(steps)
    for step in range(steps):
        batch = random.choice(len(data.train_images), BATCH, replace=False)
        images, targets = Constant(data.train_images[batch]), Constant(data.train_targets[batch])
        start = time.perf_counter()
        value, (slope, _, _) = loss_and_slope(model, images, targets)
        velocity = tree.axpy(-RATE, slope, tree.scale(MOMENTUM, velocity))
        model = tree.add(model, velocity)
        seconds[step] = time.perf_counter() - start
        losses[step] = value
        tick()
    return Training(model, losses, seconds)


# The comparison
# ------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """What the table says of one backend.

    Finite differences check the gradient only, and do not train.
    """

    backend: AutoBackend
    first_seconds: float
    difference: float
    training: Training | None = None
    accuracy: float = float("nan")


class Checked(NamedTuple):
    seconds: float
    difference: float


def difference(one: Any, other: Any) -> float:
    """The largest difference of two gradients, each array relative to its own largest entry."""
    return max(
        float(np.max(np.abs(a - b)) / np.max(np.abs(a)))
        for a, b in zip(tree.leaves(one), tree.leaves(other))
    )


def check(
    backends: Sequence[AutoBackend], model: Chain, data: Digits, images: int
) -> list[Checked]:
    """For each backend, how long its gradient takes, and how far it is at most from that of any
    other.
    """
    batch = Constant(data.train_images[:images]), Constant(data.train_targets[:images])
    slopes, seconds = [], []
    for backend in backends:
        start = time.perf_counter()
        slopes.append(gradient(loss, backend, model, *batch)[0])
        seconds.append(time.perf_counter() - start)
    apart = [
        max(difference(mine, other) for other in slopes if other is not mine) for mine in slopes
    ]
    return [Checked(*pair) for pair in zip(seconds, apart)]


def compare(steps: int, tick: Callable[[str], None] = lambda label: None) -> list[Row]:
    """Check the first gradient of every backend against the others, and train with each engine from
    the same start.
    """
    data, start = digits(), initial(SIZES, seed=0)
    rows = []
    for backend, checked in zip(ENGINES, check(ENGINES, start, data, BATCH)):
        training = train(backend, start, data, steps, partial(tick, name(backend)))
        rows.append(Row(backend, *checked, training, accuracy(training.model, data)))
    differences = AutoFiniteDifferences()
    checked = check([differences, *ENGINES], initial(SMALL, seed=0), data, images=16)[0]
    return [*rows, Row(differences, *checked)]


# What is shown
# ------------------------------------------------------------------------------------------------


def name(backend: AutoBackend) -> str:
    return f"{type(backend).__name__}()"


def table(rows: list[Row], steps: int) -> Table:
    result = Table(
        title=f"{steps} steps on minibatches of {BATCH} images, model {sizes(SIZES)}, float64",
        caption=(
            "First call: with the import of the engine. Time per step: the median. Gradient: the"
            " largest difference of the first gradient from that of any other engine, relative to"
            f" the largest entry of each array. Finite differences: for a model {sizes(SMALL)} and"
            " 16 images, compared with the three engines."
        ),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    result.add_column("backend", no_wrap=True)
    for heading in (
        "first\ncall",
        "time per\nstep",
        "final\nloss",
        "test\naccuracy",
        "gradient\ndiffers by",
    ):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        cells = ["-", "-", "-"]
        if row.training:
            per_step = np.median(row.training.seconds) * 1e3
            cells = [f"{per_step:.2f} ms", f"{row.training.losses[-1]:.5f}", f"{row.accuracy:.1%}"]
        result.add_row(
            name(row.backend), f"{row.first_seconds:.2f} s", *cells, f"{row.difference:.1e}"
        )
    return result


def sizes(layers: Sequence[int]) -> str:
    return "-".join(str(size) for size in layers)


def picture(rows: list[Row], path: Path) -> None:
    """The loss curves, which coincide, and how far each is from the first."""
    trained = [(name(row.backend), row.training.losses) for row in rows if row.training]
    first_name, first = trained[0]
    figure = Figure(figsize=(11, 4.2), dpi=130, layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = [
        {"color": "#9ecae1", "linewidth": 6.0, "linestyle": "-"},
        {"color": "#d95f02", "linewidth": 2.2, "linestyle": "-"},
        {"color": "black", "linewidth": 1.2, "linestyle": (0, (3, 3))},
    ]
    for (label, losses), style in zip(trained, styles):
        left.semilogy(np.arange(1, len(losses) + 1), trailing_mean(losses), label=label, **style)
    left.set(
        title="The loss curves coincide",
        xlabel="step",
        ylabel=f"cross entropy, mean of the last {WINDOW} steps",
    )
    left.legend()
    for (label, losses), style in zip(trained[1:], styles[1:]):
        apart = np.abs(losses - first) / np.abs(first)
        # a logarithmic axis has no place for the steps that agree to the last bit
        at = np.flatnonzero(apart)
        right.semilogy(at + 1, apart[at], ".", markersize=4, color=style["color"], label=label)
    right.set(
        title=f"Difference from {first_name} (zero is not drawn)",
        xlabel="step",
        ylabel="relative difference of the loss",
    )
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def trailing_mean(losses: np.ndarray) -> np.ndarray:
    return np.array(
        [losses[max(0, end - WINDOW) : end].mean() for end in range(1, len(losses) + 1)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help=f"steps of training with each engine (default {STEPS})",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("demo_output"), help="where to save the picture"
    )
    options = parser.parse_args()
    console = Console()
    columns = (
        TextColumn("{task.description:16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars = {
            name(backend): progress.add_task(name(backend), total=options.steps, start=False)
            for backend in ENGINES
        }

        def tick(label: str) -> None:
            progress.start_task(bars[label])
            progress.advance(bars[label])

        rows = compare(options.steps, tick)
    console.print(table(rows, options.steps))
    path = options.output / "digits.png"
    picture(rows, path)
    console.print(f"The loss curves are in {path}", soft_wrap=True)


if __name__ == "__main__":
    main()
