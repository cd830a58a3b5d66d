"""Values that finite differences hold fixed: the results of `ignore_derivatives` at the point of the derivative.

Differences evaluate f near the point, where `ignore_derivatives(x)` has another value; its derivative, which must be ignored,
would enter the result. So `ignore_derivatives` returns the value at the point, in order of evaluation. The values are computed
at their first use, so an f that ignores nothing needs no further evaluation. In differences of differences the outermost point
counts: a value of an inner call is computed at that point, as the same call of the same evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from .ambient import within
from .errors import RuleError
from .library import Library
from .repetition import Draws, Repeated, known_to


class Hold:
    """The values of one call of differences, and the position of the running evaluation in them."""

    __slots__ = ("aside", "evaluate", "leaves", "parent", "place", "position", "record", "recording")

    def __init__(self, evaluate: Callable[..., Any], leaves: tuple[Any, ...], aside: Callable[[Any], Any] | None = None):
        self.evaluate: Callable[..., Any] = evaluate
        self.leaves: tuple[Any, ...] = leaves
        self.aside: Callable[[Any], Any] | None = aside
        #: Values, and the holds of inner differences, in order of evaluation; None until the first use.
        self.record: list[Any] | None = None
        self.recording: bool = False
        self.place: int = 0
        self.parent: Hold | None = _hold.get()
        #: The place of this hold in the record of its parent.
        self.position: int = 0
        if self.parent is not None:
            self.position = self.parent.place
            self.parent.place += 1
            if self.parent.recording:
                self.parent.values().append(self)

    def values(self) -> list[Any]:
        """The record, computed by an evaluation at the point if there is none."""
        if self.record is None:
            if self.parent is None or self.parent.recording:
                self._find()
            else:
                twin = _entry(self.parent.values(), self.position, Hold)
                self.record = twin.values()
        assert self.record is not None
        return self.record

    def _find(self) -> None:
        self.record, self.recording, place, self.place = [], True, self.place, 0
        evaluate = self.evaluate if self.aside is None else self.aside(self.evaluate)
        try:
            with within(_hold, self):
                evaluate(*[leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves])
        except BaseException:
            self.record = None
            raise
        finally:
            self.recording, self.place = False, place


#: What `ignore_derivatives` returns while differences evaluate f near a point.
_hold: ContextVar[Hold | None] = ContextVar("adinterface.fixed_values", default=None)


def _entry(record: list[Any], place: int, kind: type) -> Any:
    if place >= len(record) or not isinstance(record[place], kind):
        raise RuleError(
            "ignore_derivatives: f calls it another number of times near the point than at the point, so finite differences "
            "cannot tell which value to hold. Call it equally often on every path through f."
        )
    return record[place]


class _Value:
    """A value at the point; None while an engine traces it without numbers."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Any):
        self.numbers = numbers


def fixed_value(x: Any, library: Library) -> Any:
    """An array without a derivative, with the value that an evaluation of differences must use."""
    hold = _hold.get()
    if hold is None:
        return x
    record = hold.values()
    place = hold.place
    hold.place += 1
    if hold.recording:
        numbers = library.value_under_trace(x) if library.traced(x) else np.array(library.to_numpy(x))
        record.append(_Value(numbers))
        return x
    numbers = _entry(record, place, _Value).numbers
    return x if numbers is None else library.asarray(numbers, dtype=library.dtype(x) if hasattr(x, "dtype") else None, like=x)


class Holding:
    """A flat function that differences evaluate around a point."""

    __slots__ = ("hold", "inside")

    def __init__(self, function: Any, hold: Hold):
        #: For evaluations between `hold_on(hold)` and `let_go`; `hold.place = 0` begins each.
        self.inside: Any = function
        self.hold: Hold = hold

    @property
    def held(self) -> frozenset[int]:
        result: frozenset[int] = self.inside.held
        return result

    @property
    def fresh(self) -> bool:
        return bool(self.inside.fresh)

    @property
    def alone(self) -> Holding:
        return self._of(self.inside.alone)

    @property
    def elsewhere(self) -> Holding:
        return self._of(self.inside.elsewhere)

    @property
    def beside(self) -> Holding:
        """The same for other leaves than those of the call, if only the outputs are used."""
        return self._of(self.inside.elsewhere.alone)

    def _of(self, function: Any) -> Holding:
        return self if function is self.inside else Holding(function, self.hold)

    @property
    def of_any_numbers(self) -> Holding:
        return Holding(self.inside.of_any_numbers, self.hold)

    @property
    def shipped(self) -> Any:
        return self.inside.shipped

    @property
    def taken_apart(self) -> Any:
        return self.inside.taken_apart

    @property
    def ignores(self) -> bool:
        """Whether f has used a value that is held, or has drawn numbers that are drawn again."""
        return self.hold.record is not None or bool(self.inside.draws.states)

    def __call__(self, *leaves: Any) -> Any:
        self.hold.place = 0
        with within(_hold, self.hold):
            return self.inside(*leaves)


def hold_on(hold: Hold) -> Token[Hold | None]:
    """Evaluate with this hold until `let_go` gets the token."""
    return _hold.set(hold)


let_go: Callable[[Token[Hold | None]], None] = _hold.reset


def nothing_fixed() -> within[Hold | None]:
    """A context in which `ignore_derivatives` returns what it is given."""
    return within(_hold, None)


class Around:
    """Evaluations around a point by other code, with ignored values fixed at that point.

    at_the_point: evaluates f at the point.
    """

    __slots__ = ("_hold",)

    def __init__(self, at_the_point: Callable[[], Any]):
        with nothing_fixed():
            self._hold = Hold(at_the_point, ())

    def __call__(self, f: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
        self._hold.place = 0
        with within(_hold, self._hold):
            return f(*args, **keywords)


def holding(function: Any, leaves: tuple[Any, ...], aside: Callable[[Any], Any] | None = None) -> Any:
    """The function for evaluations around a point, with ignored values and the draws of engines fixed at that point.

    aside: an engine's wrapper of a function that is evaluated at the point during another evaluation.
    """
    if isinstance(function, Holding):
        return function
    function = Repeated(function, Draws(known_to(function), all_generators=False))
    return Holding(function, Hold(function.alone, leaves, aside))


__all__ = ["Around", "Hold", "Holding", "fixed_value", "hold_on", "holding", "let_go", "nothing_fixed"]
