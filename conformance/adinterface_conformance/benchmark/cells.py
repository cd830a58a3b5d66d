"""What the benchmark measures: functions written with an engine's own namespace, at several sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

import numpy as np

from adinterface import AutoBackend, registry
from adinterface.contract.backend import gives

from ..case import Case
from ..scenarios import SCENARIOS

Way = Literal["one-shot", "prepared"]
WAYS: tuple[Way, ...] = ("one-shot", "prepared")
OPERATORS = ("gradient", "value_and_gradient", "hvp", "jacobian")


class Problem(NamedTuple):
    """A function to differentiate and where."""

    #: A real scalar function, for all operators but `jacobian`.
    scalar: Callable[..., Any]
    #: An array-valued function of the same arguments.
    vector: Callable[..., Any]
    x: Any
    #: A tangent of x, for `hvp`; None where the engine's own tools make one.
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
    #: Sizes up to which there is a dense Jacobian.
    dense: int = 10_000
    #: Sizes up to which an engine without reverse mode is asked for a gradient or Jacobian, and for an hvp: it evaluates
    #: f twice for each number, and four times for each with hvp.
    forward: int = 10_000
    forward_hvp: int = 10
    #: Which operators such an engine is asked for.
    forward_operators: tuple[str, ...] = OPERATORS
    #: Whether ours is measured without hand-written code, which takes quadratic time on some engine.
    alone: bool = False
    #: How an operator is called, for scenarios, which know their seeds, tangents and keywords.
    call: Callable[[AutoBackend, Callable[..., Any]], Any] | None = None

    def includes(self, operator: str, size: int, reverse: bool) -> bool:
        """Whether this is measured on an engine with, or without, reverse mode."""
        if operator not in self.operators or (operator == "jacobian" and size > self.dense):
            return False
        if reverse:
            return True
        return operator in self.forward_operators and size <= (self.forward_hvp if operator == "hvp" else self.forward)


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
        return xp.sum(xp.sin(tree["a"]) * tree["b"] + xp.tanh(tree["c"]) * tree["d"] + xp.cos(tree["e"]) * tree["f"])

    def g(tree: Any) -> Any:
        return xp.sin(tree["a"]) * tree["b"] + xp.tanh(tree["c"]) * tree["d"] + xp.cos(tree["e"]) * tree["f"]

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
    x, v = ([{"w": rng.normal(size=3), "b": rng.normal(size=3)} for _ in range(n // 2)] for _ in range(2))
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


def _layers(inputs: int, hidden: int, outputs: int, xp: Any) -> Problem:
    rng = _rng()
    weights = [rng.normal(size=(inputs, hidden)) / inputs**0.5, rng.normal(size=(hidden, outputs)) / hidden**0.5]

    def g(x: Any, first: Any, second: Any) -> Any:
        return xp.tanh(xp.tanh(x @ first) @ second)

    return Problem(lambda *args: xp.sum(g(*args)), g, rng.normal(size=inputs), rng.normal(size=inputs), tuple(weights))


CELLS = (
    Cell("one array", one_array, (10, 10_000, 1_000_000), dense=10_000),
    Cell("dict of 6", dict_of_six, (10,)),
    Cell("tree of leaves", many_leaves, (1000,), forward_operators=("gradient",)),
    Cell("MLP on a batch", mlp, (128,), forward=0, forward_hvp=0),
    Cell("wide: R^n -> R^10", lambda n, xp: _layers(n, 512, 10, xp), (1000,), ("jacobian",)),
    Cell("tall: R^10 -> R^n", lambda n, xp: _layers(10, 512, n, xp), (1000,), ("jacobian",)),
    Cell("one array", one_array, (10, 300), ("hessian",), forward=0),
)


def models(auto: AutoBackend) -> list[Cell]:
    """Cells of the engine's own kind of model."""
    handwritten = registry.backend_class(auto.name).handwritten
    if handwritten is None:
        return []
    cells = []
    for name, (scalar, vector, model, constants) in handwritten.models().items():
        problem = Problem(scalar, vector, model, None, constants)
        cells.append(Cell(name, lambda n, xp, problem=problem: problem, (128,)))  # type: ignore[misc]
    return cells


def scenarios(pattern: str) -> list[Cell]:
    """The scenarios of this name pattern as cells, each at the size that it has."""

    def cell(scenario: Any) -> Cell:
        operator = scenario.operator.__name__
        # Hand-written code exists for plain calls only.
        plain = scenario.seed is None and scenario.tangents is None and not scenario.kwargs
        plain = plain and operator in OPERATORS and all(isinstance(arg, np.ndarray) for arg in scenario.args)
        problem = Problem(scenario.f, scenario.f, scenario.args[0] if plain and len(scenario.args) == 1 else None)
        call = lambda backend, f: Case(scenario, backend).apply(scenario.operator, f)
        return Cell(scenario.name, lambda n, xp: problem, (numbers(scenario.args),), (operator,), call=call)

    return [cell(scenario) for scenario in SCENARIOS if fnmatchcase(scenario.name, pattern)]


def numbers(tree: Any) -> int:
    """How many numbers an argument holds, as far as plain containers show."""
    if isinstance(tree, dict):
        return sum(numbers(child) for child in tree.values())
    return sum(numbers(child) for child in tree) if isinstance(tree, (tuple, list)) else int(np.size(tree))


def goes_in_reverse(auto: AutoBackend) -> bool:
    return gives(registry.find(auto), "pullback")


__all__ = ["CELLS", "OPERATORS", "WAYS", "Cell", "Problem", "Way", "models", "replace", "scenarios"]
