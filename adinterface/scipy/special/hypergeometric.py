"""Hypergeometric functions. Source: NIST Digital Library of Mathematical Functions, 13.3, 15.5, 16.3."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from scipy import special

from . import jets
from .ruled import enter, in_double, ruled

enter("hyperu", lambda y, a, b, x: -a * special.hyperu(a + 1, b + 1, x), orders=2, what="first two arguments")


def from_jet(jet: Callable[..., jets.Jet], *places: int) -> Callable[..., Any]:
    """The derivative by one parameter, or by two, as a function of NumPy's arrays; of the dtype of the arguments."""

    def derivative(*args: Any) -> Any:
        found = jet(*args)
        return found.first[places[0]] if len(places) == 1 else found.second[places]

    return in_double(derivative)


def later(functions: Sequence[Callable[..., Any]], *args: Any, factor: float = 1.0) -> list[Callable[[], Any]]:
    """Partial derivatives that are dear, to be computed if they are wanted."""
    return [lambda f=f: factor * f(*args) for f in functions]  # type: ignore[misc]


def by_parameters(
    name: str, jet: Callable[..., jets.Jet], count: int, by_variable: Callable[..., Any]
) -> list[Callable[..., Any]]:
    """The derivatives of a function by its first `count` arguments, which have derivatives themselves.

    by_variable: the derivative by the last argument of that by a parameter: `(place, *args)`.
    """
    second: dict[tuple[int, int], Callable[..., Any]] = {}
    for i, j in itertools.combinations_with_replacement(range(count), 2):
        second[i, j] = ruled(f"{name}, differentiated twice,", from_jet(jet, i, j), None)

    def first(i: int) -> Callable[..., Any]:
        def partials(y: Any, *args: Any) -> Any:
            return *later([second[min(i, j), max(i, j)] for j in range(count)], *args), by_variable(i, *args)

        return ruled(f"{name}, differentiated by argument {i},", from_jet(jet, i), partials)

    return [first(i) for i in range(count)]


def _limit(i: int, v: Any, z: Any) -> Any:
    raised = special.hyp0f1(v + 1, z)
    return limit_by[i](v + 1, z) / v - raised / v**2


limit_by = by_parameters("hyp0f1", jets.hyp0f1, 1, _limit)
enter("hyp0f1", lambda y, v, z: (*later(limit_by, v, z), special.hyp0f1(v + 1, z) / v))


def _kummer(i: int, a: Any, b: Any, x: Any) -> Any:
    raised = special.hyp1f1(a + 1, b + 1, x)
    own = raised / b if i == 0 else -a / b**2 * raised
    return own + a / b * kummer_by[i](a + 1, b + 1, x)


kummer_by = by_parameters("hyp1f1", jets.hyp1f1, 2, _kummer)
enter("hyp1f1", lambda y, a, b, x: (*later(kummer_by, a, b, x), a / b * special.hyp1f1(a + 1, b + 1, x)))


def _gauss(i: int, a: Any, b: Any, c: Any, x: Any) -> Any:
    raised = special.hyp2f1(a + 1, b + 1, c + 1, x)
    own = (b / c * raised, a / c * raised, -a * b / c**2 * raised)[i]
    return own + a * b / c * gauss_by[i](a + 1, b + 1, c + 1, x)


gauss_by = by_parameters("hyp2f1", jets.hyp2f1, 3, _gauss)
enter(
    "hyp2f1",
    lambda y, a, b, c, x: (*later(gauss_by, a, b, c, x), a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, x)),
)
