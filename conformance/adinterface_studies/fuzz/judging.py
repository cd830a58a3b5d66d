"""What a random program imports: the classes of its arguments, and what is compared beside the laws
of the kit.
"""

from __future__ import annotations

import linecache
import re
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance import CHECKS, Scenario
from adinterface_conformance.accuracy import differentiates
from adinterface_conformance.arguments import Arguments
from adinterface_conformance.case import Case, quiet
from adinterface_conformance.trees import assert_close, floating

import adinterface
from adinterface import AdinterfaceError, AutoAutograd, AutoBackend, AutoTorch


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Layer:
    weight: Any
    bias: Any
    name: Any = field(default="layer", metadata={"static": True})


class Switch:
    """A mutable setting with one integer: a static value that is compared by its contents."""

    def __init__(self, power: int):
        self.power = power

    def raised(self, x: Any) -> Any:
        return x**self.power


def direction(x: Any) -> Any:
    """A tangent of one argument."""
    arguments = Arguments((x,), {})
    rng = np.random.default_rng(1)
    leaves = [
        np.round(rng.uniform(-1, 1, leaf.shape), 2).astype(leaf.dtype) for leaf in arguments.point
    ]
    return arguments.tangents([leaf if leaf.ndim else leaf.item() for leaf in leaves])[0]


def law(name: str, scenario: Scenario, backend: AutoBackend) -> None:
    """A check of the kit, where it applies."""
    if CHECKS[name].applies(scenario, backend, everything=True):
        CHECKS[name].function(scenario, backend)


def agreement(scenario: Scenario, backend: AutoBackend) -> None:
    """Another engine gives the same numbers."""
    other = AutoTorch() if backend.name == AutoAutograd.name else AutoAutograd()
    case, referee = Case(scenario, backend), Case(scenario, other)
    with quiet():
        mine = case.run()
        try:
            theirs = referee.run()
        except Exception as error:
            if is_ours(error):
                return
            raise
        loose = 1e-8 if {"float64", "complex128"} >= set(case.arguments.dtypes) else 1e-3
        rtol = max(case.rtol(), loose if differentiates(backend) else 1e-5)
        for part, got in mine.items():
            pairs = list(zip(floating(got), floating(theirs[part]), strict=True))
            for n, (a, b) in enumerate(pairs):
                scale = 1 + float(np.max(np.abs(b), initial=0.0))
                assert_close(
                    a,
                    b,
                    f"{part}, leaf {n}, as {type(other).__name__} has it",
                    rtol,
                    max(scale, case.scale(mine) or 0),
                )


def elsewhere(scenario: Scenario, backend: AutoBackend, others: tuple[Any, ...]) -> None:
    """A call that was prepared for other numbers and static values gives what a plain one gives."""
    case = Case(scenario, backend)
    with quiet():
        plain = case.run()
        args, kwargs = case.given()
        apart = case.row.directions == "second tuple"
        there = (
            (others, Arguments(others, {}).tangents(case.direction("tangents")))
            if apart
            else others
        )
        fast = adinterface.prepare(scenario.operator, scenario.f, backend, *there, **kwargs)
        try:
            fast(*there, **kwargs)
        except Exception:  # what f cannot do there
            return
        for part, got in case.parts(fast(*args, **kwargs)).items():
            assert_close(
                got,
                plain[part],
                f"{part}, prepared elsewhere",
                max(case.rtol(), 1e-9),
                case.scale(plain),
            )


def is_ours(error: BaseException | None) -> bool:
    """Whether an error is a refusal: the library's own, or an engine's with a note.

    Also where an engine wraps it.
    """
    while error is not None:
        notes = getattr(error, "__notes__", ())
        if isinstance(error, AdinterfaceError) or not all(
            "traceback" in note or "File " in note for note in notes
        ):
            return True
        if re.search(r"adinterface\.[\w.]*Error: ", str(error)):
            return True
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if trace is not None and isinstance(error, (TypeError, ValueError, NotImplementedError)):
            file = trace.tb_frame.f_code.co_filename
            line = linecache.getline(file, trace.tb_lineno).strip()
            if re.search(r"[/\\]adinterface\w*[/\\]", file) and line.startswith("raise "):
                return True
        error = error.__cause__
    return False


def wrong(program: Any) -> str | None:
    """What is wrong with a program; None for one that is right or refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program.run()
        except AssertionError as error:
            return str(error).partition("\nassert ")[0]
        except Exception as error:
            return None if is_ours(error) else f"{type(error).__name__}: {str(error).strip()[:300]}"
    return None
