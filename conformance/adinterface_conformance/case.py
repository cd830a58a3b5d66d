"""One scenario on one backend. Values that several checks need are computed once.

f is also evaluated on NumPy arrays without an engine, for comparison.
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

from adinterface import (
    AutoBackend,
    DisconnectedWarning,
    PrecisionWarning,
    array_namespace,
    gradient,
    hessian,
    linearize,
    pullback,
)
from adinterface.core.contract import Backend
from adinterface.core.contract.backend import Aux, FlatFunction
from adinterface.core.contract.library import dtype_kind
from adinterface.core.contract.registry import backend_class, find
from adinterface.core.operators.table import FieldForm, OperatorRow
from adinterface.tools.facts import arguments_of, fields_of, row_of_name

from .accuracy import is_exact, tolerance
from .arguments import Arguments, under
from .scenario import Scenario
from .state import changes, global_state, pair_of, restored, without_imports
from .trees import array_dtype_of, filled, floating, has_derivative, leaves_inside, leaves_of


class Unrelated(FlatFunction):
    """A flat function, as an engine gets it, whose value depends on nothing."""

    def __call__(self, *leaves: Any) -> tuple[tuple[Any, ...], Aux]:
        return (array_namespace(*leaves).asarray(2.0),), Aux()


class Counted:
    """f with a count of its calls, and the errors that `look` finds in the arguments of the
    first.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        look: Callable[[tuple[Any, ...], dict[str, Any]], str] | None = None,
    ):
        self.f, self.calls = f, 0
        self.look, self.seen = look, ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.look is not None and self.calls == 1:
            self.seen = self.look(args, kwargs)
        return self.f(*args, **kwargs)


def row_of(scenario: Scenario) -> OperatorRow:
    """The facts about the operator of the scenario, by name, so that a changed operator can be
    judged too.
    """
    row = row_of_name(scenario.operator.__name__)
    if row is None:
        raise TypeError(
            f"{scenario.operator.__name__} is no operator: it has no row in the registry"
        )
    return row


class Case:
    """A scenario on a backend, and what has been computed of it so far."""

    def __init__(self, scenario: Scenario, backend: AutoBackend):
        self.scenario, self.backend = scenario, backend
        self.row = row_of(scenario)
        self.name = self.row.name
        #: What each field of the result is, by its name.
        self.forms = fields_of(self.row)
        self.rng = np.random.default_rng(zlib.crc32(scenario.name.encode()))
        self._known: dict[str, Any] = {}
        #: What the first call, and that of `run`, left changed that is global.
        self.leaks: list[str] = [*warm_up(backend)]
        self._watch()

    def _watch(self) -> None:
        """Remember the global state before the first check."""
        with quiet():  # as the checks are made
            self._state, self._modules = global_state(self.backend), len(sys.modules)

    def changed(self) -> list[str]:
        """The global state that the calls of this case changed."""
        changed = changes(self._state, global_state(self.backend))
        late = len(sys.modules) != self._modules  # what is imported late brings its own along
        return [*self.leaks, *(without_imports(changed) if late else changed)]

    def once(self, what: str, compute: Callable[[], Any]) -> Any:
        """Compute something a single time; its error is raised again at each use."""
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

    @functools.cached_property
    def arguments(self) -> Arguments:
        """The arguments of f."""
        args = self.scenario.args
        # The tangents of a scenario stand apart from its arguments, unlike the direction among
        # them.
        apart = self.row.directions == "second tuple"
        return Arguments(args if apart else arguments_of(self.row, args), self.scenario.kwargs)

    @functools.cached_property
    def point(self) -> list[Any]:
        """The differentiated leaves as NumPy arrays of their own dtype."""
        return self.arguments.point

    def evaluate(self, leaves: Sequence[Any]) -> Any:
        """What f returns for these leaves, without an engine."""
        args, kwargs = self.arguments.with_leaves(leaves)
        return self.scenario.f(*args, **kwargs)

    def outputs(self, leaves: Sequence[Any]) -> list[Any]:
        """What is differentiated of f's value for these leaves."""
        return self.differentiated(self.evaluate(leaves))

    def differentiated(self, value: Any) -> list[Any]:
        """The numbers of a value that the operator differentiates: all, or the scalar before the
        auxiliary values.
        """
        numbers = floating(value)
        return numbers if self.row.output == "tree" else numbers[:1]

    @property
    def value(self) -> Any:
        """What f returns, without an engine."""
        return self.once("value", lambda: self.evaluate(self.point))

    # directions

    def direction(self, name: str) -> list[Any]:
        """Random numbers like the differentiated leaves; the same in every call with one name."""
        drawn: list[Any] = self.once(
            f"direction {name}", lambda: [self._random(leaf, leaf.dtype) for leaf in self.point]
        )
        return drawn

    def as_tangents(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """These leaves in the form of tangents of the arguments."""
        leaves = [np.array(x, dtype=dtype) for x, dtype in zip(leaves, self.arguments.dtypes)]
        return self.arguments.tangents(
            [numbers if numbers.ndim else _number(numbers) for numbers in leaves]
        )

    def codirection(self, name: str) -> list[Any]:
        """Random numbers like the leaves of the value that have a derivative."""

        def compute() -> list[Any]:
            return [
                self._random(x, dtype)
                for x, dtype in zip(floating(self.value), self._value_dtypes())
            ]

        return self.once(f"codirection {name}", compute)  # type: ignore[no-any-return]

    def as_cotangent(self, leaves: Sequence[Any]) -> Any:
        """These leaves in the form of a cotangent of the value."""
        return filled(
            self.value,
            iter([np.array(x, dtype=dtype) for x, dtype in zip(leaves, self._value_dtypes())]),
        )

    def _value_dtypes(self) -> list[str]:
        return [array_dtype_of(leaf) for leaf in self.value_leaves()]

    def value_leaves(self) -> list[Any]:
        """The leaves of f's value that have a derivative, as f gives them."""
        return [leaf for _, leaf in leaves_of(self.value) if has_derivative(leaf)]

    def _random(self, like: Any, dtype: Any) -> Any:
        numbers = self.rng.uniform(-1, 1, np.shape(like))
        if np.iscomplexobj(like):
            numbers = numbers + 1j * self.rng.uniform(-1, 1, np.shape(like))
        return np.asarray(numbers).astype(dtype)

    # the operator

    @property
    def seed(self) -> Any:
        """The cotangent that `back` is called with."""
        seed = self.scenario.seed
        return seed if seed is not None else self.as_cotangent(self.codirection("seed"))

    def seed_leaves(self) -> list[Any]:
        """The numbers of the seed, one for each leaf of the value that has a derivative.

        None is zero.
        """
        known = dict(leaves_of(self.seed, ""))
        places = [path for path, leaf in leaves_of(self.value, "") if has_derivative(leaf)]
        return [
            under(known, path, np.zeros(np.shape(x)))
            for path, x in zip(places, floating(self.value))
        ]

    @property
    def tangents(self) -> tuple[Any, ...]:
        """The tangents that `pushforward` or `push` is called with."""
        tangents = self.scenario.tangents
        return tangents if tangents is not None else self.as_tangents(self.direction("tangents"))

    def tangent_leaves(self) -> list[Any]:
        """The numbers of the tangents, one for each differentiated leaf; None is zero."""
        return self.arguments.completed(self.tangents)

    def vector_leaves(self) -> list[Any]:
        """The numbers of the vector that a Hessian-vector product is taken along."""
        return self.arguments.completed(
            (self.scenario.args[1], *[None for _ in self.arguments.args[1:]])
        )

    def stacked_cotangent(self, rows: Sequence[Sequence[Any]]) -> Any:
        """A stack of cotangents."""
        return filled(self.value, iter([np.stack(column) for column in zip(*rows)]))

    def stacked_tangents(self, rows: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Stacks of tangents, one for each argument."""
        return self.arguments.tangents([np.stack(column) for column in zip(*rows)])

    def differentiated_leaves_at(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves of f's value there that have a derivative, as f gives them."""
        return [leaf for _, leaf in leaves_of(self.evaluate(leaves)) if has_derivative(leaf)]

    def given(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the operator is given after the backend."""
        args = (
            (self.arguments.args, self.tangents)
            if self.row.directions == "second tuple"
            else self.scenario.args
        )
        return args, dict(self.scenario.kwargs)

    def apply(self, operator: Callable[..., Any], f: Callable[..., Any]) -> Any:
        """Call an operator as the scenario does."""
        args, kwargs = self.given()
        return operator(f, self.backend, *args, **kwargs)

    def parts(self, result: Any) -> dict[str, Any]:
        """The result of an operator, field by field.

        A map is applied to the seed or tangents of the scenario.
        """
        names = list(self.forms)
        if len(names) == 1:
            return {names[0]: result}
        assert isinstance(result, tuple), (
            f"{self.name} returned a {type(result).__name__}, wanted {', '.join(names)}"
        )
        assert len(result) == len(names), (
            f"{self.name} returned {len(result)} results, wanted {', '.join(names)}"
        )
        return {
            name: self._applied(form, part)
            for (name, form), part in zip(self.forms.items(), result)
        }

    def _applied(self, form: FieldForm, part: Any) -> Any:
        if form == "back":
            return part(self.seed)
        return part(*self.tangents) if form == "push" else part

    def run(self) -> dict[str, Any]:
        """The result, field by field, of the one call that most checks look at."""
        return self.once("run", self._run)  # type: ignore[no-any-return]

    def _run(self) -> dict[str, Any]:
        modules = len(sys.modules)
        parts, leaks = self._measured()
        # what an engine that was imported on the way brings along is no leak
        if leaks and len(sys.modules) > modules:
            self.leaks += without_imports(leaks)
            parts, leaks = self._measured()
        self.leaks += leaks
        return parts

    def _measured(self) -> tuple[dict[str, Any], list[str]]:
        """One call, the global state that it changed, and its effects: `calls`, `counted`,
        `written`.
        """
        inputs = self.inputs()
        copies = [array.copy() for _, array in inputs]
        self.counted = Counted(
            self.scenario.f, functools.partial(self.arguments.mistaken, prepared=False)
        )
        with quiet(), restored():
            before = global_state(self.backend)
            result = self.apply(self.scenario.operator, self.counted)
            self.calls = self.counted.calls
            parts = self.parts(result)
            leaks = changes(before, global_state(self.backend))
        self.written = [
            path for (path, array), copy in zip(inputs, copies) if not _same(array, copy)
        ]
        for (_, array), copy in zip(inputs, copies):
            if not _same(array, copy):
                array[...] = copy
        return parts, leaks

    def again(self, backend: AutoBackend | None = None) -> dict[str, Any]:
        """The result of another call."""
        mine, self.backend = self.backend, backend or self.backend
        try:
            return self.parts(self.apply(self.scenario.operator, self.scenario.f))
        finally:
            self.backend = mine

    def inputs(self) -> list[tuple[str, Any]]:
        """The arrays that the caller passes, with their paths."""
        values = [*((f"args[{i}]", arg) for i, arg in enumerate(self.scenario.args))]
        values += [(f"kwargs[{name!r}]", value) for name, value in self.scenario.kwargs.items()]
        values += [("seed", self.scenario.seed), ("tangents", self.scenario.tangents)]
        places = [place for path, value in values for place in leaves_inside(value, path)]
        return [(path, leaf) for path, leaf in places if isinstance(leaf, np.ndarray)]

    def pullback(self) -> Any:
        """`(value, back)` of f on this backend."""
        return self.once("pullback", lambda: self._of_f(pullback))

    def linearize(self) -> Any:
        """`(value, push)` of f on this backend."""
        return self.once("linearize", lambda: self._of_f(linearize))

    def _of_f(self, operator: Callable[..., Any]) -> Any:
        return operator(self.scenario.f, self.backend, *self.arguments.args, **self.scenario.kwargs)

    # the backend

    @property
    def engine(self) -> Backend:
        """The backend of first-order operators."""
        return find(pair_of(self.backend)[1])

    @property
    def reverse(self) -> bool:
        """Whether the engine takes gradients by its own pullback."""
        return "pullback" in self.engine.gives and self.engine.mode != "forward"

    @property
    def tells_disconnected(self) -> bool:
        """Whether the engine can tell that a value depends on no argument."""
        return (
            self.reverse
            and not self.engine.pullback(
                Unrelated(), (self.engine.libraries[0].asarray(np.ones(2)),)
            ).connected
        )

    def rtol(self, order: int | None = None) -> float:
        """The relative tolerance of a derivative here."""
        dtypes = [*self.arguments.dtypes, *map(array_dtype_of, self.value_leaves())]
        return tolerance(self.backend, order or self.row.order, self.scenario.rtol, dtypes)

    def scale(self, parts: dict[str, Any]) -> float | None:
        """The scale of an error: each leaf, or, for differences, the largest number in them."""
        if is_exact(self.backend, self.row.order):
            return None
        sizes = [1.0]
        for tree in (*parts.values(), self.value):
            sizes.extend(
                float(np.max(np.abs(x), initial=0.0))
                for x in floating(tree)
                if np.all(np.isfinite(x))
            )
        return max(sizes)


def _number(array: Any) -> Any:
    """A 0-d array or a number, since tangents of Python numbers and of 0-d arrays may be either."""
    return complex(array) if dtype_kind(array.dtype.name) == "complex" else float(array)


def _same(a: Any, b: Any) -> bool:
    return (
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Ignores warnings that are not tested: disconnected outputs, overflow, estimated errors."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", DisconnectedWarning)
        warnings.simplefilter("ignore", PrecisionWarning)
        yield


@functools.lru_cache(maxsize=64)
def warm_up(backend: AutoBackend) -> tuple[str, ...]:
    """Make a first call, and return the global state that it changed.

    Changes by the import of the engine do not count.
    """
    for each in pair_of(backend):
        backend_class(each.name)
    modules = len(sys.modules)
    changed = _first_calls(backend)
    if changed and len(sys.modules) > modules:  # what is imported on the way brings its own along
        changed = [*without_imports(changed), *_first_calls(backend)]
    return tuple([f"at the first call: {change}" for change in changed])


def _first_calls(backend: AutoBackend) -> list[str]:
    with quiet(), restored():
        before = global_state(backend)
        for first in (
            lambda: gradient(lambda x: x * x, backend, 1.0),
            lambda: hessian(lambda x: x * x * x, backend, 1.0),
        ):
            with suppress(Exception):  # what an engine cannot do, the scenarios show
                first()
        return changes(before, global_state(backend))


_last: list[Case] = []


def case_of(scenario: Scenario, backend: AutoBackend) -> Case:
    """The case that the last check looked at, if it was this one: its computations are shared."""
    if not _last or _last[0].scenario is not scenario or _last[0].backend != backend:
        _last[:] = [Case(scenario, backend)]
    return _last[0]


def forget() -> None:
    """Forget the last case: the next check makes its calls again, from the global state at that
    time.
    """
    _last.clear()
