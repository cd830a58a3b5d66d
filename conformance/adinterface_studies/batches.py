"""`python -m adinterface_studies batched`: per-example gradients of a small network, batched and in a loop.

The loop calls a prepared gradient for each example, and stacks: what one writes without `batched`. Both run interleaved in one
process, and the fastest of the rounds counts, since the others tell what else the machine did. The second table is what
gradients of micro-batches hold: the arrays that a sum of plain gradients and `Duplicated` leave allocated at their peak.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant, Duplicated, Each, array_namespace, batched, gradient, prepare, tree

from . import options as studies

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
    model = {"v": rng.normal(size=(hidden, inputs)), "b": rng.normal(size=hidden), "w": rng.normal(size=(outputs, hidden))}
    return model, rng.normal(size=(examples, inputs)), rng.normal(size=(examples, outputs))


def fastest(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of each call, interleaved."""
    best = [float("inf")] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for n, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[n] = min(best[n], time.perf_counter() - start)
    return best


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
    loop_time, once, prepared = fastest([loop, lambda: batched(gradient, loss, backend, *args), lambda: fast(*args)], rounds)
    return loop_time, once, prepared


def peaks(backend: AutoBackend, numbers: int, batches: int) -> tuple[float, float]:
    """Gradients' worth of NumPy's memory at the peak of some micro-batches: of a sum of gradients, and in `Duplicated`."""
    w, xs = np.ones(numbers), np.ones(batches)
    duplicated = Duplicated(w, accumulate=True)
    plain = prepare(gradient, _linear, backend, w, Constant(1.0))

    def summed() -> None:
        total = np.zeros(numbers)
        for x in xs:
            total = total + plain(w, Constant(float(x)))[0]

    def stored() -> None:
        for x in xs:
            plain(duplicated, Constant(float(x)))

    return _peak(summed) / (8 * numbers), _peak(stored) / (8 * numbers)


def _linear(w: Any, x: Any) -> Any:
    return array_namespace(w).sum(w * x)


def _peak(call: Callable[[], Any]) -> int:
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 for a wrong command line."""
    parser = studies.parser("batched", __doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(argv)
    backends = studies.backends(options.backend, reverse=True)  # others would take the loop's whole time in each call
    print(f"{f'{options.examples} examples':28} {'loop ms':>10} {'batched ms':>10} {'prepared ms':>11} {'loop/prepared':>13}")
    for backend in backends:
        seconds = measure(backend, options.examples, options.rounds)
        cells = [f"{1e3 * each:10.2f}" for each in seconds]
        print(f"{type(backend).__name__:28} {cells[0]} {cells[1]} {cells[2]:>11} {seconds[0] / seconds[2]:13.1f}")
    print(f"\n{'8 micro-batches':28} {'summed':>10} {'Duplicated':>10}    (peak, in gradients, of what NumPy allocates)")
    for backend in backends:
        summed, stored = peaks(backend, 1_000_000, 8)
        print(f"{type(backend).__name__:28} {summed:10.2f} {stored:10.2f}")
    return 0
