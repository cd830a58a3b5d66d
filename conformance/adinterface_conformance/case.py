"""One scenario on one backend: what several checks look at is computed once.

f is also evaluated on NumPy arrays, with no engine at all: what the laws compare with.
"""

from __future__ import annotations

import functools
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from adinterface import AutoBackend, Backend, Constant, DisconnectedWarning, gradient, hessian, linearize, pullback
from adinterface.call.call import Call
from adinterface.contract.backend import gives
from adinterface.contract.library import kind
from adinterface.registry import find
from adinterface.tree import Leaf, build_gradient, flatten

from .accuracy import pair_of, tolerance
from .scenario import Scenario
from .state import changes, global_state, restored
from .trees import dtype_of, floating, is_floating, leaves_of

SECOND_ORDER = frozenset(
    {
        "second_derivative",
        "value_derivative_and_second_derivative",
        "hvp",
        "gradient_and_hvp",
        "hessian",
        "value_gradient_and_hessian",
        "diagonal_hessian",
    }
)

#: What the result of each operator consists of.
PARTS: dict[str, tuple[str, ...]] = {
    "gradient": ("gradient",),
    "value_and_gradient": ("value", "gradient"),
    "jacobian": ("jacobian",),
    "value_and_jacobian": ("value", "jacobian"),
    "pullback": ("value", "cotangents"),
    "pushforward": ("value", "tangent"),
    "linearize": ("value", "tangent"),
    "derivative": ("derivative",),
    "value_and_derivative": ("value", "derivative"),
    "second_derivative": ("second_derivative",),
    "value_derivative_and_second_derivative": ("value", "derivative", "second_derivative"),
    "hvp": ("hvp",),
    "gradient_and_hvp": ("gradient", "hvp"),
    "hessian": ("hessian",),
    "value_gradient_and_hessian": ("value", "gradient", "hessian"),
    "diagonal_hessian": ("diagonal_hessian",),
}


class _NoEngine(Backend):
    """f's arguments as NumPy arrays: how a scenario is evaluated without any engine."""


class Counted:
    """f, and how often it was called."""

    def __init__(self, f: Callable[..., Any]):
        self.f, self.calls = f, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.f(*args, **kwargs)


class Case:
    """A scenario on a backend, and what has been computed of it so far."""

    def __init__(self, scenario: Scenario, backend: AutoBackend):
        self.scenario, self.backend = scenario, backend
        self.name = scenario.operator.__name__
        self.order = 2 if self.name in SECOND_ORDER else 1
        self.rng = np.random.default_rng(zlib.crc32(scenario.name.encode()))
        self._known: dict[str, Any] = {}

    def once(self, what: str, compute: Callable[[], Any]) -> Any:
        """Compute something a single time; what it raises is raised again to whoever asks."""
        if what not in self._known:
            try:
                self._known[what] = compute(), None
            except Exception as raised:
                self._known[what] = None, raised
        value, failure = self._known[what]
        if failure is not None:
            raise failure
        return value

    # f without an engine

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of f."""
        args = self.scenario.args
        return (args[0], *args[2:]) if self.name in ("hvp", "gradient_and_hvp") else args

    @property
    def call(self) -> Call:
        def compute() -> Call:
            call = Call(self.name, _NoEngine(AutoBackend()), self.arguments, dict(self.scenario.kwargs))
            call.native(copy=True)
            return call

        return self.once("call", compute)  # type: ignore[no-any-return]

    @property
    def point(self) -> list[Any]:
        """The differentiated leaves as NumPy arrays of their own dtype."""
        return [np.asarray(leaf) for leaf in self.call.leaves_native]

    def evaluate(self, leaves: Sequence[Any]) -> Any:
        """What f returns for these leaves, without an engine."""
        args, kwargs = self.call.arguments([np.asarray(leaf)[()] if np.ndim(leaf) == 0 else leaf for leaf in leaves])
        return self.scenario.f(*args, **kwargs)

    def outputs(self, leaves: Sequence[Any]) -> list[Any]:
        """What is differentiated of f's value for these leaves."""
        return self.differentiated(self.evaluate(leaves))

    def differentiated(self, value: Any) -> list[Any]:
        """The numbers of a value that the operator differentiates: all, or the scalar in front of what is auxiliary."""
        found = floating(value)
        return found[:1] if self.scalar else found

    @property
    def scalar(self) -> bool:
        """Whether f gives a real scalar, perhaps with auxiliary results behind it."""
        return "gradient" in self.name or "hessian" in self.name or "hvp" in self.name

    @property
    def value(self) -> Any:
        """What f returns, without an engine."""
        return self.once("value", lambda: self.evaluate(self.call.native(copy=True)))

    # directions

    def direction(self, name: str) -> list[Any]:
        """Random numbers like the differentiated leaves; the same in every call with one name."""
        return self.once(f"direction {name}", lambda: [self._random(leaf, leaf.dtype) for leaf in self.point])  # type: ignore[no-any-return]

    def tangents(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """These leaves in the form of tangents of the arguments."""
        leaves = [np.array(x, dtype=dtype) for x, dtype in zip(leaves, self.call.dtypes)]
        entries = iter([numbers if numbers.ndim else _number(numbers) for numbers in leaves])
        return tuple([build_gradient(structure, entries) for structure in self.call.structures])

    def codirection(self, name: str) -> list[Any]:
        """Random numbers like the leaves of the value that have a derivative."""

        def compute() -> list[Any]:
            return [self._random(x, dtype) for x, dtype in zip(floating(self.value), self._value_dtypes())]

        return self.once(f"codirection {name}", compute)  # type: ignore[no-any-return]

    def cotangent(self, leaves: Sequence[Any]) -> Any:
        """These leaves in the form of a cotangent of the value."""
        found: list[Leaf] = []
        structure = flatten(self.value, found, lambda: "value")
        dtypes = self._value_dtypes()
        return build_gradient(structure, iter([np.array(x, dtype=dtype) for x, dtype in zip(leaves, dtypes)]))

    def _value_dtypes(self) -> list[str]:
        found: list[Leaf] = []
        flatten(self.value, found, lambda: "value")
        names = [leaf.library.dtype(leaf.value) for leaf in found if leaf.differentiated]
        return [{"float": "float64", "complex": "complex128"}.get(name, name) for name in names]

    def _random(self, like: Any, dtype: Any) -> Any:
        numbers = self.rng.uniform(-1, 1, np.shape(like))
        if np.iscomplexobj(like):
            numbers = numbers + 1j * self.rng.uniform(-1, 1, np.shape(like))
        return np.asarray(numbers).astype(dtype)

    # the operator

    @property
    def seed(self) -> Any:
        seed = self.scenario.seed
        return seed if seed is not None else self.cotangent(self.codirection("seed"))

    @property
    def given_tangents(self) -> tuple[Any, ...]:
        given = self.scenario.tangents
        return given if given is not None else self.tangents(self.direction("given"))

    def seed_like(self) -> Any:
        """The seed, completed: None in a cotangent is zero."""
        if self.scenario.seed is None:
            return self.seed
        found = [np.zeros(np.shape(x)) for x in floating(self.value)]
        places = [path for path, leaf in leaves_of(self.value, "") if is_floating(leaf)]
        given = {path: leaf for path, leaf in leaves_of(self.scenario.seed, "") if leaf is not None}
        return [_under(given, path, zero) for path, zero in zip(places, found)]

    def given_leaves(self) -> list[Any]:
        """The tangents of the scenario, a number for each differentiated leaf; None is zero."""
        return self._completed(self.given_tangents)

    def given_vector(self) -> list[Any]:
        """The vector that an hvp is taken along."""
        return self._completed((self.scenario.args[1], *[None for _ in self.arguments[1:]]))

    def _completed(self, tangents: Sequence[Any]) -> list[Any]:
        paths = [place.path for place in self.call.places() if place.leaf is not None]
        given: dict[str, Any] = {}
        for i, tangent in enumerate(tangents):
            given.update((path, leaf) for path, leaf in leaves_of(tangent, f"args[{i}]") if leaf is not None)
        return [_under(given, path, np.zeros_like(leaf)) for path, leaf in zip(paths, self.point)]

    def stacked_cotangent(self, rows: Sequence[Sequence[Any]]) -> Any:
        """A stack of cotangents."""
        found: list[Leaf] = []
        structure = flatten(self.value, found, lambda: "value")
        return build_gradient(structure, iter([np.stack(column) for column in zip(*rows)]))

    def stacked_tangents(self, rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Stacks of tangents, one for each argument."""
        entries = iter([np.stack(column) for column in zip(*rows)])
        return tuple([build_gradient(structure, entries) for structure in self.call.structures])

    def differentiated_leaves_at(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of f's value there that have a derivative, as f gives them."""
        return [leaf for _, leaf in leaves_of(self.evaluate(leaves)) if is_floating(leaf)]

    def apply(self, operator: Callable[..., Any], f: Callable[..., Any]) -> Any:
        """Call an operator as the scenario does."""
        if operator.__name__ == "pushforward":
            return operator(f, self.backend, self.arguments, self.given_tangents, **self.scenario.kwargs)
        return operator(f, self.backend, *self.scenario.args, **self.scenario.kwargs)

    def parts(self, raw: Any) -> dict[str, Any]:
        """What an operator returned, part by part; what returns a function is applied to the scenario's seed or tangents."""
        names = PARTS[self.name]
        if len(names) == 1:
            return {names[0]: raw}
        assert isinstance(raw, tuple), f"{self.name} returned a {type(raw).__name__}, wanted {', '.join(names)}"
        assert len(raw) == len(names), f"{self.name} returned {len(raw)} results, wanted {', '.join(names)}"
        found = dict(zip(names, raw))
        if self.name == "pullback":
            found["cotangents"] = found["cotangents"](self.seed)
        elif self.name == "linearize":
            found["tangent"] = found["tangent"](*self.given_tangents)
        return found

    def run(self) -> dict[str, Any]:
        """The result, part by part, of the one call that most checks look at."""
        return self.once("run", self._run)  # type: ignore[no-any-return]

    def _run(self) -> dict[str, Any]:
        warm_up(self.backend)
        modules = len(sys.modules)
        found = self._measured()
        if self.state_changes and len(sys.modules) > modules:  # an engine that was set up on the way is no leak
            found = self._measured()
        return found

    def _measured(self) -> dict[str, Any]:
        """One call, and what it did beside returning: `calls`, `counted`, `state_changes`, `written`."""
        inputs = self.inputs()
        copies = [array.copy() for _, array in inputs]
        self.counted = Counted(self.scenario.f)
        with quiet(), restored():
            before = global_state(self.backend)
            raw = self.apply(self.scenario.operator, self.counted)
            self.calls = self.counted.calls
            found = self.parts(raw)
            self.state_changes = changes(before, global_state(self.backend))
        self.written = [path for (path, array), copy in zip(inputs, copies) if not _same(array, copy)]
        for (_, array), copy in zip(inputs, copies):
            if not _same(array, copy):
                array[...] = copy
        return found

    def again(self, backend: AutoBackend | None = None) -> dict[str, Any]:
        """The result of another call."""
        mine, self.backend = self.backend, backend or self.backend
        try:
            return self.parts(self.apply(self.scenario.operator, self.scenario.f))
        finally:
            self.backend = mine

    def inputs(self) -> list[tuple[str, Any]]:
        """The arrays that the caller passes, with their paths."""
        found: list[tuple[str, Any]] = []
        call = [*((f"args[{i}]", arg) for i, arg in enumerate(self.scenario.args))]
        call += [(f"kwargs[{name!r}]", value) for name, value in self.scenario.kwargs.items()]
        call += [("seed", self.scenario.seed), ("tangents", self.scenario.tangents)]
        for path, value in call:
            found.extend((where, leaf) for where, leaf in _inside(value, path) if isinstance(leaf, np.ndarray))
        return found

    def pullback(self) -> Any:
        """`(value, back)` of f on this backend."""
        return self.once("pullback", lambda: pullback(self.scenario.f, self.backend, *self.arguments, **self.scenario.kwargs))

    def linearize(self) -> Any:
        """`(value, push)` of f on this backend."""
        return self.once("linearize", lambda: linearize(self.scenario.f, self.backend, *self.arguments, **self.scenario.kwargs))

    # the backend

    @property
    def engine(self) -> Backend:
        """The backend of first-order operators."""
        return find(pair_of(self.backend)[1])

    @property
    def reverse(self) -> bool:
        """Whether the engine takes gradients by its own pullback."""
        return gives(self.engine, "pullback") and self.engine.mode != "forward"

    def rtol(self, order: int | None = None) -> float:
        """The relative tolerance of a derivative here."""
        dtypes = [*self.call.dtypes, *(dtype_of(leaf) for leaf in self.differentiated_leaves())]
        names = [{"float": "float64", "complex": "complex128"}.get(dtype, dtype) for dtype in dtypes]
        return tolerance(self.backend, order or self.order, self.scenario.rtol, names)

    def differentiated_leaves(self) -> list[Any]:
        found: list[Leaf] = []
        flatten(self.value, found, lambda: "value")
        return [leaf.value for leaf in found if leaf.differentiated]

    def scale(self, parts: dict[str, Any]) -> float | None:
        """What an error is measured against: each leaf, or, for differences, the largest number that takes part in them."""
        if self.rtol() <= self.scenario.rtol:
            return None
        sizes = [1.0]
        for tree in (*parts.values(), self.value):
            sizes.extend(float(np.max(np.abs(x), initial=0.0)) for x in floating(tree) if np.all(np.isfinite(x)))
        return max(sizes)


def _inside(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree, also of what is wrapped in Constant."""
    for where, leaf in leaves_of(value, path):
        if isinstance(leaf, Constant):
            yield from _inside(leaf.value, where)
        else:
            yield where, leaf


def _number(array: Any) -> Any:
    """A 0-d array as it would stand in a tangent of a Python number or of a 0-d array: both take either."""
    return complex(array) if kind(array.dtype.name) == "complex" else float(array)


def _under(given: dict[str, Any], path: str, zero: Any) -> Any:
    """The number that is given for a path; zero if there is None, there or at a node above it."""
    return np.asarray(given[path]) if path in given else zero


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


@contextmanager
def quiet() -> Iterator[None]:
    """A scenario may be disconnected, and functions may overflow: neither is what is tested."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DisconnectedWarning)
        yield


@functools.lru_cache(maxsize=64)
def warm_up(backend: AutoBackend) -> None:
    """Make a first call: importing an engine may change global state, which is not the call's doing."""
    with quiet(), restored():
        for first in (lambda: gradient(lambda x: x * x, backend, 1.0), lambda: hessian(lambda x: x * x * x, backend, 1.0)):
            with suppress(Exception):  # what an engine cannot do, the scenarios show
                first()


_last: list[Case] = []


def case_of(scenario: Scenario, backend: AutoBackend) -> Case:
    """The case that the last check looked at, if it was this one: its computations are shared."""
    if not _last or _last[0].scenario is not scenario or _last[0].backend != backend:
        _last[:] = [Case(scenario, backend)]
    return _last[0]
