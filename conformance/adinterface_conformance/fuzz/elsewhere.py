"""Other numbers and static values, for which a call is prepared before it is tested.

A call that wrongly keeps the numbers, the branch or the static values of its preparation then fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from adinterface import Constant
from adinterface.core.contract.nodes import NodeType
from adinterface.core.tree import handler_of

from ..arguments import shifted
from ..trees import has_derivative, leaves_inside, leaves_of, mapped
from .nodes import Switch
from .program import Program
from .reference import reference_names, reference_namespace

#: What numbers are multiplied with: those on the other side of a branch first.
_FACTORS = -0.96875, 0.96875


class Elsewhere(NamedTuple):
    """A program with other numbers; also with other static values, or while its switches are turned."""

    program: Program
    turns: bool


def elsewhere(program: Program, seed: int) -> Elsewhere:
    """The first choice for which the program runs. seed: decides whether static values, switches or both change."""
    f = program.function(reference_namespace, **reference_names())
    first = int(np.random.default_rng(seed).integers(3))
    for turn, turns in ((turned, False), (_kept, True), (turned, True))[first:] + ((turned, False), (_kept, False)):
        for factor in _FACTORS:

            def other(value: Any, turn: Callable[[Any], Any] = turn, factor: float = factor) -> Any:
                return shifted(changed(turn, value), factor)

            args, kwargs = tuple(map(other, program.args)), {name: other(value) for name, value in program.kwargs.items()}
            there = Elsewhere(replace(program, args=args, kwargs=kwargs), turns)
            if _runs(there, f):
                return there
    return Elsewhere(program, False)


def _kept(value: Any) -> Any:
    return value


def _runs(there: Elsewhere, f: Callable[..., Any]) -> bool:
    arguments = there.program.arguments
    args, kwargs = arguments.with_leaves(arguments.point)
    with warnings.catch_warnings(), np.errstate(all="ignore"), switched(there):
        warnings.simplefilter("ignore")
        try:
            value = f(*args, **kwargs)
        except Exception:  # another length, another sign: whatever it is, the program does not run there
            return False
        return all(np.all(np.isfinite(leaf)) for _, leaf in leaves_of(value) if has_derivative(leaf))


def turned(value: Any) -> Any:
    """Another static value of the same type; a Switch is changed in place, by `switched`."""
    if type(value) is bool:
        return not value
    if type(value) is int:
        return value % 3 + 1
    return {"text": "word", "word": "text"}.get(value, value) if type(value) is str else value


def changed(change: Callable[[Any], Any], value: Any) -> Any:
    """The value with `change(leaf)` at every leaf, those inside Constant included."""
    if isinstance(value, Constant):
        return Constant(changed(change, value.value))
    if isinstance(handler_of(value, scan=False), NodeType):
        return mapped(lambda leaf: changed(change, leaf), value)
    return change(value)


def switches(program: Program) -> list[Switch]:
    """The settings among the arguments."""
    leaves = [getattr(leaf, "__self__", leaf) for _, leaf in leaves_inside((program.args, dict(program.kwargs)), "")]
    return list({id(leaf): leaf for leaf in leaves if type(leaf) is Switch}.values())


@contextmanager
def switched(there: Elsewhere) -> Iterator[None]:
    """While the switches stand as they do there."""
    found = switches(there.program) if there.turns else []
    before = [each.power for each in found]
    for each in found:
        each.power = turned(each.power)
    try:
        yield
    finally:
        for each, power in zip(found, before):
            each.power = power
