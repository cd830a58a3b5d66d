"""Whose it is, what is constant, what is recorded: the rules of a call that need no closed form, as
laws of a `Case`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface import (
    AdinterfaceError,
    Constant,
    array_namespace,
    gradient,
    loops,
    prepare,
    pushforward,
    tree,
)
from adinterface.rules import scalar_rule

from .case import Case
from .trees import assert_close, floating


def scalar_of(returned: Any) -> Any:
    """The scalar in front of what is auxiliary."""
    if isinstance(returned, dict):
        return next(iter(returned.values()))
    return returned[0] if isinstance(returned, tuple) else returned


def _changed(case: Case, change: Callable[..., Any], *values: Any) -> Any:
    """A function of the numbers of some values of f: of the scalar, or of each leaf."""
    if case.row.output == "tree":
        return tree.map(change, *values)
    return change(*map(scalar_of, values))


def _derivatives(parts: dict[str, Any]) -> dict[str, list[Any]]:
    """The numbers of each part that is a derivative."""
    return {part: floating(got) for part, got in parts.items() if part != "value"}


def _assert_same(
    case: Case,
    got: dict[str, list[Any]],
    wanted: dict[str, list[Any]],
    what: str,
    factor: float = 1.0,
) -> None:
    for part, numbers in wanted.items():
        scale = case.scale(case.run()) or max(
            [1e-3, *[float(np.max(np.abs(x), initial=0.0)) for x in numbers]]
        )
        assert len(got[part]) == len(numbers), (
            f"{what}: {part} has {len(got[part])} leaves, wanted {len(numbers)}"
        )
        for n, (one, other) in enumerate(zip(got[part], numbers)):
            assert_close(one, factor * other, f"{what}: {part}, leaf {n}", 10 * case.rtol(), scale)


def _call(case: Case, f: Callable[..., Any], *constants: Any, **words: Any) -> dict[str, Any]:
    """The parts of the operator's result for another function, with further constants."""
    args, kwargs = case.given()
    return case.parts(case.scenario.operator(f, case.backend, *args, *constants, **kwargs, **words))


def _takes_constants(case: Case) -> bool:
    """Whether further Constants may stand behind the arguments: a map or a tuple of tangents would
    need one for each.
    """
    return case.row.directions != "second tuple" and "push" not in case.forms


def constants(case: Case) -> None:
    """The derivative of f(x) + f(twin) is that of f(x), although the twin is x itself."""
    f, args, wanted = case.scenario.f, case.arguments.args, _derivatives(case.run())

    def with_word(*inner: Any, twin: Any, **words: Any) -> Any:
        return _changed(case, lambda y, z: y + z, f(*inner, **words), f(*twin, **words))

    def with_constant(*inner: Any, **words: Any) -> Any:
        return with_word(*inner[:-1], twin=inner[-1], **words)

    _assert_same(
        case,
        _derivatives(_call(case, with_word, twin=args)),
        wanted,
        "with the arguments as a keyword",
    )
    if _takes_constants(case):
        got = _derivatives(_call(case, with_constant, Constant(args)))
        _assert_same(case, got, wanted, "with the arguments as a Constant")


def _square(derivative: Any) -> Any:
    """The sum of the squares of all numbers of a derivative, for an outer derivative."""
    return sum([array_namespace(leaf).sum(leaf * leaf) for leaf in tree.leaves(derivative)])


def _slope_of_square(case: Case, of: Callable[..., Any], *at: Any) -> Sequence[Any]:
    return floating(gradient(lambda *inner: _square(of(*inner)), case.backend, *at))


def outer(case: Case) -> None:
    """The results of s f are s times those of f, so the sum of their squares has the slope 2 s
    |result|^2.
    """
    f, s = case.scenario.f, 0.75

    def scaled(*inner: Any, factor: Any, **words: Any) -> Any:
        return _changed(case, lambda y: y * factor, f(*inner, **words))

    def scaled_by_last(*inner: Any, **words: Any) -> Any:
        return scaled(*inner[:-1], factor=inner[-1], **words)

    ways: dict[str, Callable[[Any], dict[str, Any]]] = {
        "a keyword": lambda s: _call(case, scaled, factor=s)
    }
    if _takes_constants(case):
        ways["a Constant"] = lambda s: _call(case, scaled_by_last, Constant(s))
    for part, numbers in _derivatives(case.run()).items():
        wanted = 2 * s * sum(float(np.sum(x * x)) for x in numbers)
        for what, parts in ways.items():
            (slope,) = _slope_of_square(
                case, lambda s, parts=parts, part=part: parts(s)[part], np.asarray(s)
            )
            path = f"the slope of |{part}|^2 by a factor that is {what}"
            assert_close(slope, np.asarray(wanted), path, 10 * case.rtol(2), max(1.0, wanted))


def maps_outside(case: Case) -> None:
    """|back(w)|^2 has the gradient 2 push(back(w)), and |push(v)|^2 has 2 back(push(v))."""
    *_, map_ = case.apply(case.scenario.operator, case.scenario.f)
    if "back" in case.forms:
        w = case.as_cotangent(case.codirection("w"))
        got = _slope_of_square(case, map_, w)
        image = case.as_tangents(floating(map_(w)))
        wanted = floating(
            pushforward(
                case.scenario.f, case.backend, case.arguments.args, image, **case.scenario.kwargs
            ).tangent
        )
    else:
        v = case.as_tangents(case.direction("v"))
        got = _slope_of_square(case, map_, *v)
        wanted = floating(case.pullback().back(case.as_cotangent(floating(map_(*v)))))
    assert len(got) == len(wanted), f"{len(got)} leaves, wanted {len(wanted)}"
    size = max([1.0, *[float(np.max(np.abs(x), initial=0.0)) for x in wanted]])
    for n, (one, other) in enumerate(zip(got, wanted)):
        assert_close(
            one,
            2 * other,
            f"the gradient of the square of the map, leaf {n}",
            10 * case.rtol(2),
            size,
        )


class Token:
    """An object that is equal to itself alone."""


def identity(case: Case) -> None:
    """f finds the very objects of the caller, alone and in containers, one-shot and prepared."""
    token, f = Token(), case.scenario.f
    words = {
        "alone": token,
        "listed": [token],
        "deep": {"a": (1, [token]), "b": "text"},
        "among": {token, 2},
    }
    seen: list[str] = []

    def looking(*inner: Any, given: Any, **others: Any) -> Any:
        found = {
            "alone": given["alone"] is token,
            "in a list": given["listed"][0] is token,
            "in a tuple with a list in a dict": given["deep"]["a"][1][0] is token,
            "in a set": token in given["among"],
        }
        seen.extend([where for where, same in found.items() if not same])
        return f(*inner, **others)

    def behind(*inner: Any, **others: Any) -> Any:
        return looking(*inner[:-1], given=inner[-1], **others)

    args, kwargs = case.given()
    _call(case, looking, given=words)
    if _takes_constants(case):
        _call(case, behind, Constant(words))
    assert not seen, f"f got a copy of an object {seen[0]}"
    if "value-dependent" not in case.scenario.tags:
        fast = prepare(case.scenario.operator, looking, case.backend, *args, **kwargs, given=words)
        fast(*args, **kwargs, given=words)
        assert not seen, f"prepared, f got a copy of an object {seen[0]}"


#: The second derivative of a rule is that of its partial derivative, which NumPy's `exp` does not
#: tell.
exponential = scalar_rule(np.exp, lambda value, x: value)


def recorded(case: Case) -> None:
    """The second derivative through a rule, alone and in a loop, is that of the same function
    without one, or it is refused.
    """
    f = case.scenario.f
    size = 1.0 / (1.0 + abs(float(np.real(scalar_of(case.value)))))

    def through(exp: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda *inner, **words: exp(scalar_of(f(*inner, **words)) * size)

    wanted = _derivatives(_call(case, through(lambda y: array_namespace(y).exp(y))))
    ways: dict[str, Callable[[Any], Any]] = {
        "a rule": exponential,
        "a rule in a loop": lambda y: loops.fori_loop(0, 1, lambda i, carry: exponential(carry), y),
    }
    for what, way in ways.items():
        try:
            got = _derivatives(_call(case, through(way)))
        except AdinterfaceError:
            continue
        _assert_same(case, got, wanted, f"through {what}")
