"""Values that finite differences hold fixed: those of `ignore_derivatives` at the point.

Differences evaluate f near the point, where `ignore_derivatives(x)` has another value; its
derivative, which must be ignored, would enter the result. So `ignore_derivatives` returns the value
at the point, in order of evaluation. The values are computed at their first use, so an f that
ignores nothing needs no further evaluation. In differences of differences the outermost point
counts: a value of an inner call is computed at that point, as the same call of the same evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..core.contract.errors import RuleError
from ..core.contract.library import Library
from ..core.support.ambient import within

Scope = Callable[[], AbstractContextManager[Any]]


class Hold:
    """The values of one call of differences, and the position of the running evaluation in them.

    evaluate, leaves: give these values at the point. aside: enters a context in which they are
    evaluated.
    """

    __slots__ = (
        "aside",
        "evaluate",
        "leaves",
        "parent",
        "place",
        "position",
        "record",
        "recording",
    )

    def __init__(
        self, evaluate: Callable[..., Any], leaves: tuple[Any, ...], aside: Scope = nullcontext
    ):
        self.evaluate: Callable[..., Any] = evaluate
        self.leaves: tuple[Any, ...] = leaves
        self.aside: Scope = aside
        #: Values, and the holds of inner differences, in order of evaluation; None until the first
        #: use.
        self.record: list[Any] | None = None
        self.recording: bool = False
        #: How many entries of the record the running evaluation has used.
        self.place: int = 0
        self.parent: Hold | None = _hold.get()
        #: The place of this hold in the record of its parent.
        self.position: int = 0
        if self.parent is not None:
            self.position = self.parent.place
            self.parent.place += 1
            if self.parent.recording:
                self.parent.values().append(self)

    def __call__(self, f: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
        """f with these values."""
        with self.steadily():
            self.place = 0
            return f(*args, **keywords)

    def steadily(self) -> within[Hold | None]:
        """A context for evaluations with these values, each after `place = 0`."""
        return within(_hold, self)

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
        try:
            with self.steadily(), self.aside():
                self.evaluate(
                    *[leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves]
                )
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
            "ignore_derivatives: f calls it another number of times near the point than at the"
            " point, so finite differences cannot tell which value to hold. Call it equally often"
            " on every path through f."
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
        numbers = (
            library.value_under_trace(x) if library.traced(x) else np.array(library.to_numpy(x))
        )
        record.append(_Value(numbers))
        return x
    numbers = _entry(record, place, _Value).numbers
    return (
        x
        if numbers is None
        else library.asarray(
            numbers, dtype=library.dtype(x) if hasattr(x, "dtype") else None, like=x
        )
    )


def nothing_fixed() -> within[Hold | None]:
    """A context in which `ignore_derivatives` returns what it is given."""
    return within(_hold, None)


__all__ = ["Hold", "fixed_value", "nothing_fixed"]
