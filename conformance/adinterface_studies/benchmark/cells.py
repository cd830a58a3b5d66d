"""The cells of the benchmark: functions in the namespace of an engine, at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from adinterface import AutoBackend
from adinterface.core.contract import registry

from . import engine_code
from .engine_code import Function, Leaf

Way = Literal["one-shot", "prepared"]
WAYS: tuple[Way, ...] = ("one-shot", "prepared")
OPERATORS = ("gradient", "value_and_gradient", "hvp", "jacobian")
#: The operators that are asked about array-valued functions; the others are asked about real ones.
VECTOR = ("jacobian", "pullback", "pushforward")
#: Sizes up to which there is a dense Jacobian, and two evaluations of f for each number; four for
#: an hvp.
DENSE, DENSE_HVP = 10_000, 10


class Problem(NamedTuple):
    """A function to differentiate and where."""

    scalar: Function
    #: An array-valued function of the same arguments, for the operators of `VECTOR`.
    vector: Function
    x: Any
    #: A tangent of x, or a cotangent of what `vector` gives; None where neither is used.
    v: Any = None
    #: Further arguments, which are not differentiated.
    constants: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Cell:
    """One problem at several sizes."""

    name: str
    #: From a size and the engine's own namespace.
    build: Callable[[int, Any], Problem]
    sizes: tuple[int, ...]
    operators: tuple[str, ...] = OPERATORS
    #: Which operators an engine without reverse mode is asked for.
    forward: tuple[str, ...] = OPERATORS
    leaf: Leaf = "ndarray"
    #: What a user writes for this, where the engine's `transform` of the leaf does not say.
    by_hand: Callable[[str, Function, bool], Function | None] | None = None
    #: Options of the backend value with which ours is measured.
    options: tuple[tuple[str, Any], ...] = ()

    def includes(self, operator: str, size: int, reverse: bool) -> bool:
        """Whether this is measured on an engine with, or without, reverse mode."""
        if operator not in self.operators or (operator == "jacobian" and size > DENSE):
            return False
        largest = DENSE_HVP if operator == "hvp" else DENSE
        return reverse or (operator in self.forward and size <= largest)


def _pair(make: Callable[[np.random.Generator], Any]) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return make(rng), make(rng)


def one_array(n: int, xp: Any) -> Problem:
    def f(x: Any) -> Any:
        return xp.sum(xp.sin(x) * x**2)

    def g(x: Any) -> Any:
        return xp.sum(xp.reshape(xp.sin(x) * x**2, (10, -1)), axis=1)

    return Problem(f, g, *_pair(lambda rng: rng.normal(size=n)))


def dict_of_six(n: int, xp: Any) -> Problem:
    def g(t: Any) -> Any:
        return xp.sin(t["a"]) * t["b"] + xp.tanh(t["c"]) * t["d"] + xp.cos(t["e"]) * t["f"]

    x, v = _pair(lambda rng: {name: rng.normal(size=n) for name in "abcdef"})
    return Problem(lambda tree: xp.sum(g(tree)), g, x, v)


def many_leaves(n: int, xp: Any) -> Problem:
    """n leaves of three numbers, in layers of two."""

    def f(layers: Any) -> Any:
        return sum([xp.sum(xp.sin(layer["w"]) * layer["b"]) for layer in layers])

    def g(layers: Any) -> Any:
        return sum([xp.sin(layer["w"]) * layer["b"] for layer in layers])

    def made(rng: np.random.Generator) -> Any:
        return [{"w": rng.normal(size=3), "b": rng.normal(size=3)} for _ in range(n // 2)]

    return Problem(f, g, *_pair(made))


def mlp(batch: int, xp: Any) -> Problem:
    """64 inputs, 64 hidden units, 10 classes."""

    def logits(layers: Any, inputs: Any, labels: Any) -> Any:
        hidden = xp.tanh(inputs @ layers["first"]["weight"] + layers["first"]["bias"])
        return hidden @ layers["second"]["weight"] + layers["second"]["bias"]

    def loss(layers: Any, inputs: Any, labels: Any) -> Any:
        found = logits(layers, inputs, labels)
        return xp.mean(xp.log(xp.sum(xp.exp(found), axis=1)) - xp.sum(found * labels, axis=1))

    def made(rng: np.random.Generator) -> Any:
        first = {"weight": rng.normal(size=(64, 64)) / 8, "bias": np.zeros(64)}
        second = {"weight": rng.normal(size=(64, 10)) / 8, "bias": np.zeros(10)}
        return {"first": first, "second": second}

    rng = np.random.default_rng(1)
    constants = (rng.normal(size=(batch, 64)), np.eye(10)[rng.integers(0, 10, size=batch)])
    return Problem(loss, lambda *args: xp.mean(logits(*args), axis=0), *_pair(made), constants)


def layers(inputs: int, outputs: int, xp: Any) -> Problem:
    """Two layers with 512 hidden units."""

    def g(x: Any, first: Any, second: Any) -> Any:
        return xp.tanh(xp.tanh(x @ first) @ second)

    rng = np.random.default_rng(1)
    weights = [rng.normal(size=(inputs, 512)) / inputs**0.5, rng.normal(size=(512, outputs)) / 23]
    pair = _pair(lambda rng: rng.normal(size=inputs))
    return Problem(lambda *args: xp.sum(g(*args)), g, *pair, tuple(weights))


def steps(n: int, xp: Any) -> Problem:
    """A loop of twenty steps, for a pullback that is called once."""

    def g(x: Any) -> Any:
        for _ in range(20):
            x = x + 0.1 * xp.sin(x)
        return x

    return Problem(lambda x: xp.sum(g(x)), g, *_pair(lambda rng: rng.normal(size=n)))


CELLS = (
    Cell("one array", one_array, (10, 10_000, 1_000_000)),
    Cell("dict of 6", dict_of_six, (10,)),
    Cell("tree of leaves", many_leaves, (1000,), forward=("gradient",)),
    Cell("MLP on a batch", mlp, (128,), forward=()),
    Cell("wide: R^n -> R^10", lambda n, xp: layers(n, 10, xp), (1000,), ("jacobian",)),
    Cell("tall: R^10 -> R^n", lambda n, xp: layers(10, n, xp), (1000,), ("jacobian",)),
    Cell("one array", one_array, (10, 300), ("hessian",), ()),
    Cell("one array", one_array, (10,), ("pushforward", "pullback"), ()),
    Cell("loop of 20 steps", steps, (10, 100_000), ("pullback",), ()),
)
#: Of the engine's own arrays.
NATIVE = tuple(
    [
        replace(cell, leaf="native", sizes=tuple([size for size in cell.sizes if size < 1_000_000]))
        for cell in (CELLS[0], CELLS[1], CELLS[8])
    ]
)


def chosen(auto: AutoBackend, leaf: Leaf | None = None) -> list[Cell]:
    """The cells of a kind of leaf, all by default, as far as the engine has such leaves of its
    own.
    """
    code, own = engine_code.find(auto.name), engine_code.find(f"{auto.name}_models")
    models = [] if own is None else [_of_model(model) for model in own.models()]
    native = NATIVE if code is not None and code.native is not None else ()
    return [cell for cell in (*CELLS, *native, *models) if leaf in (None, cell.leaf)]


def _of_model(model: engine_code.Model) -> Cell:
    def build(n: int, xp: Any) -> Problem:
        scalar, vector, x, constants = model.build()
        return Problem(scalar, vector, x, None, constants)

    return Cell(
        model.name, build, (model.size,), model.operators,
        leaf="module", by_hand=model.transform, options=tuple(model.options.items()),
    )  # fmt: skip


def goes_in_reverse(auto: AutoBackend) -> bool:
    return "pullback" in registry.find(auto).gives
