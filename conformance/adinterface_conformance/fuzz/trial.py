"""A trial: one operator on one program at one point, with all arguments of a call, for any backend."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoBackend, array_namespace
from adinterface.core.contract.library import Library
from adinterface.core.contract.nodes import NodeType
from adinterface.core.contract.registry import find
from adinterface.core.operators.operation import Operation
from adinterface.core.tree import handler_of

from ..arguments import shifted
from ..case import Case
from ..scenario import Scenario
from ..state import pair_of
from ..trees import filled, has_derivative, leaves_of, mapped
from .elsewhere import Elsewhere, elsewhere, switched
from .program import Program
from .reference import reference_names, reference_namespace

Vectors = list[Any]


@dataclass(frozen=True)
class Call:
    """How an operator is called: with which backend, prepared or not, with leaves of NumPy or of the engine."""

    backend: AutoBackend
    prepared: bool = False
    native: bool = False

    def __str__(self) -> str:
        return repr(self.backend) + ", prepared" * self.prepared + ", with its own arrays" * self.native


class Trial:
    """One operator on one program.

    seed: decides the directions. shared: values that several operators on one program share.
    """

    def __init__(
        self, program: Program, operator: Callable[..., Any], operation: type[Operation], seed: int, shared: dict[Any, Any]
    ):
        self.program, self.operator, self.operation, self.seed = program, operator, operation, seed
        self.arguments = program.arguments
        self.point = self.arguments.point
        if not shared:
            shared["f"] = program.function(array_namespace)
            shared["reference"] = program.function(reference_namespace, **reference_names())
        self.f, self._reference, self.known = shared["f"], shared["reference"], shared

    # f

    def value_at(self, leaves: Vectors) -> Any:
        """What f returns there, as the reference computes it."""
        args, kwargs = self.arguments.with_leaves(leaves)
        with np.errstate(all="ignore"):
            return self._reference(*args, **kwargs)

    def outputs(self, leaves: Vectors) -> Vectors:
        """The numbers that are differentiated."""
        found = [np.asarray(leaf) for _, leaf in leaves_of(self.value_at(leaves)) if has_derivative(leaf)]
        return found if self.operation.output == "tree" else found[:1]

    @functools.cached_property
    def value(self) -> Any:
        """What f returns, in the dtypes of the call."""
        return self.value_at(self.point)

    # directions

    def direction(self, name: str) -> Vectors:
        """Random numbers like the differentiated leaves; the same for every backend and operator."""
        if name not in self.known:
            rng = np.random.default_rng([self.seed, *name.encode()])
            self.known[name] = [_random(rng, np.shape(x), x.dtype) for x in self.point]
        return self.known[name]  # type: ignore[no-any-return]

    @functools.cached_property
    def tangents(self) -> tuple[Any, ...]:
        leaves = [x if x.ndim else x.item() for x in self.direction("tangents")]
        return self.arguments.tangents(leaves)

    @functools.cached_property
    def seed_leaves(self) -> Vectors:
        rng = np.random.default_rng(self.seed)
        return [_random(rng, y.shape, y.dtype) for y in self.outputs(self.point)]

    @functools.cached_property
    def cotangent(self) -> Any:
        return filled(self.value, iter(self.seed_leaves))

    # the call

    @property
    def elsewhere(self) -> Elsewhere:
        """The program with the other numbers and static values for which a call is prepared."""
        if "elsewhere" not in self.known:
            self.known["elsewhere"] = elsewhere(self.program, self.seed)
        return self.known["elsewhere"]  # type: ignore[no-any-return]

    def given(self, program: Program, native: Callable[[Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the operator, including a direction that it takes."""
        args = tuple([native(arg) for arg in program.args])
        if self.operation.directions == "second argument":
            args = (args[0], self.tangents[0], *args[1:])
        return args, {name: native(value) for name, value in program.kwargs.items()}

    def scenario(self, native: Callable[[Any], Any] = lambda value: value) -> Scenario:
        """The trial as a case for the checks."""
        args, kwargs = self.given(self.program, native)
        maps = "back" in self.operation.forms, "push" in self.operation.forms or self.operation.directions == "second tuple"
        return Scenario(
            "fuzz/program", self.operator, self.f, args, kwargs=kwargs,
            seed=self.cotangent if maps[0] else None, tangents=self.tangents if maps[1] else None,
        )  # fmt: skip

    def case(self, call: Call) -> Tried:
        """The trial on a backend."""
        library = native_library(call.backend) if call.native else None
        return Tried(self, call, functools.partial(as_native, library))


class Tried(Case):
    """A case whose one call may be prepared. Global state is not checked."""

    def __init__(self, trial: Trial, call: Call, native: Callable[[Any], Any]):
        super().__init__(trial.scenario(native), call.backend)
        self._trial, self._call, self._native = trial, call, native

    def _watch(self) -> None:
        pass

    def direction(self, name: str) -> Vectors:
        return self._trial.direction(name)

    def evaluate(self, leaves: Sequence[Any]) -> Any:
        return self._trial.value_at(list(leaves))

    def _run(self) -> dict[str, Any]:
        operator = self.scenario.operator
        if not self._call.prepared:
            return self.parts(self.apply(operator, self.scenario.f))
        fast = self.prepared()
        return self.parts(self.apply(lambda f, backend, *args, **kwargs: fast(*args, **kwargs), self.scenario.f))

    def prepared(self) -> Callable[..., Any]:
        """The prepared call, after a call with other numbers and static values, which it must not remember."""
        args, kwargs = self.elsewhere()
        with switched(self._trial.elsewhere):
            fast = adinterface.prepare(self.scenario.operator, self.scenario.f, self.backend, *args, **kwargs)
            fast(*args, **kwargs)
        return fast

    def elsewhere(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the prepared call is made for."""
        args, kwargs = self._trial.given(self._trial.elsewhere.program, self._native)
        if self.operation.directions == "second tuple":
            return (args, shifted(self._trial.tangents)), kwargs
        return args, kwargs


@functools.lru_cache(maxsize=64)
def native_library(backend: AutoBackend) -> Library | None:
    """The library of an engine's own arrays; None if they are NumPy's."""
    libraries = find(pair_of(backend)[1]).libraries
    if not libraries or isinstance(libraries[0].asarray(np.zeros(1)), np.ndarray):
        return None
    return libraries[0]


def as_native(library: Library | None, value: Any) -> Any:
    """A value whose NumPy arrays are the library's, those wrapped in Constant included."""
    if library is None:
        return value
    if isinstance(value, adinterface.Constant):
        return adinterface.Constant(as_native(library, value.value))
    if isinstance(value, (np.ndarray, np.generic)):
        scoping = library.precision((value.dtype.name,))
        with (scoping and scoping()) or nullcontext():
            return library.asarray(np.array(value), dtype=value.dtype.name, copy=True)
    if isinstance(handler_of(value, scan=False), NodeType):
        return mapped(functools.partial(as_native, library), value)
    return value


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    x: Any = np.round(rng.uniform(-1, 1, shape), 2)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.round(rng.uniform(-1, 1, shape), 2)
    return np.asarray(x, dtype=dtype)
