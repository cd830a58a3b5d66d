"""Custom rules as an engine sees them: flat rules on flat tuples of the engine's arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

Arrays = tuple[Any, ...]


class Point(NamedTuple):
    """One application of a rule: its inputs and outputs."""

    #: The floating inputs, which may be differentiated.
    leaves: Arrays
    #: Inputs without a derivative: integer arrays, or keywords.
    carried: Arrays
    #: The floating outputs.
    outputs: Arrays
    #: The other outputs, such as integer arrays.
    aux: Arrays


class FlatRule(Protocol):
    """A function and its derivatives, as the core passes them to `Library.custom`.

    Laws: both maps are linear in their first argument; with `<a, b> = Re sum(conj(a) b)`, as in
    `Backend`, `<pushforward(t, point), c> = <t, pullback(c, point)>`. Their results have the dtypes
    and shapes of leaves and outputs: the core has checked it. Their code may itself be
    differentiated, with respect to everything in the point.
    """

    #: The user's name of the function.
    name: str
    #: From one cotangent for each output to one for each leaf; None if the user gave none.
    pullback: Callable[[Arrays, Point], Arrays] | None
    #: From one tangent for each leaf to one for each output; None if the user gave none.
    pushforward: Callable[[Arrays, Point], Arrays] | None

    #: It belongs to the innermost derivative that follows its arguments: derivatives around that
    #: are those of `written`.
    innermost: bool

    def value(self, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        """The function itself: `(outputs, aux)`."""

    def written(self, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays] | None:
        """The value by code whose own derivatives are the rule's; or None."""

    def refused(self, n: int) -> Exception:
        """The error for a carried array (the n-th) that the engine would have to differentiate."""

    def captured(self) -> Exception:
        """The error for a function that captures a differentiated array."""

    def nonlinear(self) -> Exception:
        """The error for a map that is not linear, found when the engine transposes it."""


def require_linear(
    rule: FlatRule,
    images: Sequence[tuple[float, float]],
    adjoints: Sequence[tuple[float, float]],
    epsilon: float,
) -> None:
    """Raise `rule.nonlinear()` for a transposed map L, if `<L(a), v>` and `<a, L'(v)>` differ.

    images, adjoints: for each pair of arrays of the two sides, their inner product and that of
        their absolute values.
    epsilon: that of the arrays' dtype.
    """
    one, other = sum([result for result, _ in images]), sum([result for result, _ in adjoints])
    size = sum([size for _, size in (*images, *adjoints)])
    # Numbers of about 1 that cancel leave some epsilons; NaN shows nothing.
    if abs(one - other) > 100 * (epsilon**0.5 * size + epsilon) and size < math.inf:
        raise rule.nonlinear()
