"""`python -m adinterface_studies batched`: per-example gradients of a small network, batched and in
a loop.

The loop calls a prepared gradient for each example, and stacks: what one writes without `batched`.
Both run interleaved in one process, and the fastest of the rounds counts, since the others tell
what else the machine did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adinterface import (
    AutoBackend,
    Constant,
    Each,
    array_namespace,
    batched,
    gradient,
    prepare,
    tree,
)

from . import options as studies
from .timing import fastest

#: Inputs, hidden units and outputs of the network.
SIZES = (8, 16, 4)


def loss(model: dict[str, Any], x: Any, y: Any) -> Any:
    """The squared error of one example."""
    xp = array_namespace(x)
    hidden = xp.tanh(model["v"] @ x + model["b"])
    return xp.sum((model["w"] @ hidden - y) ** 2)


def problem(examples: int) -> tuple[dict[str, Any], Any, Any]:
    """A network, and its inputs and targets."""
    rng = np.random.default_rng(0)
    inputs, hidden, outputs = SIZES
    model = {
        "v": rng.normal(size=(hidden, inputs)),
        "b": rng.normal(size=hidden),
        "w": rng.normal(size=(outputs, hidden)),
    }
    return model, rng.normal(size=(examples, inputs)), rng.normal(size=(examples, outputs))


def measure(backend: AutoBackend, examples: int, rounds: int) -> tuple[float, float, float]:
    """Seconds of the loop, of a batched call, and of a prepared batched call."""
    model, x, y = problem(examples)
    one = prepare(gradient, loss, backend, model, Constant(x[0]), Constant(y[0]))
    args = model, Constant(Each(x)), Constant(Each(y))
    fast = prepare(batched, gradient, loss, backend, *args)

    def loop() -> Any:
        rows = [one(model, Constant(a), Constant(b))[0] for a, b in zip(x, y)]
        return tree.map(lambda *leaves: np.stack(leaves), *rows)

    for name, stack in fast(*args)[0].items():
        np.testing.assert_allclose(stack, loop()[name], rtol=1e-5, atol=1e-7)
    found = fastest(
        [loop, lambda: batched(gradient, loss, backend, *args), lambda: fast(*args)], rounds=rounds
    )
    return found[0], found[1], found[2]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 for a wrong command line."""
    parser = studies.parser("batched", __doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    # others would take the loop's whole time in each call
    backends = studies.backends(options.backend, reverse=True)
    print(
        f"{f'{options.examples} examples':28} {'loop ms':>10} {'batched ms':>10}"
        f" {'prepared ms':>11} {'loop/prepared':>13}"
    )
    for backend in backends:
        seconds = measure(backend, options.examples, options.rounds)
        cells = [f"{1e3 * each:10.2f}" for each in seconds]
        print(
            f"{type(backend).__name__:28} {cells[0]} {cells[1]} {cells[2]:>11}"
            f" {seconds[0] / seconds[2]:13.1f}"
        )
    return 0
