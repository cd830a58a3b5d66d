"""The functions that the benchmark differentiates, in the namespace of an engine, and their
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: The operators that are asked about array-valued functions; the others are asked about real ones.
VECTOR = ("jacobian", "pullback", "pushforward")


class Problem(NamedTuple):
    """A function to differentiate and where."""

    #: A real scalar function, for all operators but those of `VECTOR`.
    scalar: Callable[..., Any]
    #: An array-valued function of the same arguments.
    vector: Callable[..., Any]
    x: Any
    #: A tangent of x, for `hvp` and `pushforward`, and a cotangent of what `vector` gives, for
    #: `pullback`; None where
    #: these are not used, or the engine's own tools make one.
    v: Any = None
    #: Further arguments, which are not differentiated.
    constants: tuple[Any, ...] = ()

    def made_of(self, native: Callable[[Any], Any]) -> Problem:
        """The same of other arrays: `native` makes one from a NumPy array."""

        def made(tree: Any) -> Any:
            if isinstance(tree, dict):
                return {key: made(child) for key, child in tree.items()}
            return native(tree) if isinstance(tree, np.ndarray) else tree

        return self._replace(
            x=made(self.x), v=made(self.v), constants=tuple(map(made, self.constants))
        )


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def one_array(n: int, xp: Any) -> Problem:
    def f(x: Any) -> Any:
        return xp.sum(xp.sin(x) * x**2)

    def g(x: Any) -> Any:
        return xp.sum(xp.reshape(xp.sin(x) * x**2, (10, -1)), axis=1)

    rng = _rng()
    return Problem(f, g, rng.normal(size=n), rng.normal(size=n))


def dict_of_six(n: int, xp: Any) -> Problem:
    def f(tree: Any) -> Any:
        return xp.sum(
            xp.sin(tree["a"]) * tree["b"]
            + xp.tanh(tree["c"]) * tree["d"]
            + xp.cos(tree["e"]) * tree["f"]
        )

    def g(tree: Any) -> Any:
        return (
            xp.sin(tree["a"]) * tree["b"]
            + xp.tanh(tree["c"]) * tree["d"]
            + xp.cos(tree["e"]) * tree["f"]
        )

    rng = _rng()
    x, v = ({name: rng.normal(size=n) for name in "abcdef"} for _ in range(2))
    return Problem(f, g, x, v)


def many_leaves(n: int, xp: Any) -> Problem:
    """n leaves of three numbers, in layers of two."""

    def f(layers: Any) -> Any:
        return sum([xp.sum(xp.sin(layer["w"]) * layer["b"]) for layer in layers])

    def g(layers: Any) -> Any:
        return sum([xp.sin(layer["w"]) * layer["b"] for layer in layers])

    rng = _rng()
    x, v = (
        [{"w": rng.normal(size=3), "b": rng.normal(size=3)} for _ in range(n // 2)]
        for _ in range(2)
    )
    return Problem(f, g, x, v)


def mlp(batch: int, xp: Any) -> Problem:
    """64 inputs, 64 hidden units, 10 classes."""

    def logits(layers: Any, inputs: Any, labels: Any) -> Any:
        hidden = xp.tanh(inputs @ layers["first"]["weight"] + layers["first"]["bias"])
        return hidden @ layers["second"]["weight"] + layers["second"]["bias"]

    def loss(layers: Any, inputs: Any, labels: Any) -> Any:
        found = logits(layers, inputs, labels)
        return xp.mean(xp.log(xp.sum(xp.exp(found), axis=1)) - xp.sum(found * labels, axis=1))

    rng = _rng()
    x, v = (
        {
            "first": {"weight": rng.normal(size=(64, 64)) / 8, "bias": np.zeros(64)},
            "second": {"weight": rng.normal(size=(64, 10)) / 8, "bias": np.zeros(10)},
        }
        for _ in range(2)
    )
    constants = (rng.normal(size=(batch, 64)), np.eye(10)[rng.integers(0, 10, size=batch)])
    return Problem(loss, lambda *args: xp.mean(logits(*args), axis=0), x, v, constants)


def layers(inputs: int, hidden: int, outputs: int, xp: Any) -> Problem:
    rng = _rng()
    weights = [
        rng.normal(size=(inputs, hidden)) / inputs**0.5,
        rng.normal(size=(hidden, outputs)) / hidden**0.5,
    ]

    def g(x: Any, first: Any, second: Any) -> Any:
        return xp.tanh(xp.tanh(x @ first) @ second)

    return Problem(
        lambda *args: xp.sum(g(*args)),
        g,
        rng.normal(size=inputs),
        rng.normal(size=inputs),
        tuple(weights),
    )


def list_of_leaves(n: int, xp: Any) -> Problem:
    """n arrays of three numbers in one list, with so little else that their conversion takes the
    time.
    """

    def g(leaves: Any) -> Any:
        return sum(leaves) ** 2

    rng = _rng()
    return Problem(lambda leaves: xp.sum(g(leaves)), g, [rng.normal(size=3) for _ in range(n)])


def steps(n: int, xp: Any) -> Problem:
    """A loop of twenty steps, for a pullback that is called once."""

    def g(x: Any) -> Any:
        for _ in range(20):
            x = x + 0.1 * xp.sin(x)
        return x

    rng = _rng()
    return Problem(lambda x: xp.sum(g(x)), g, rng.normal(size=n), rng.normal(size=n))
