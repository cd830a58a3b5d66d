"""Fuzzing: a sequence of programs that a seed decides, each tried by some operators on every backend."""

from __future__ import annotations

import dataclasses
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adinterface import AutoBackend
from adinterface.core.contract.registry import find
from adinterface.core.operators.operation import Operation
from adinterface.tools.facts import operations, operator_of

from ..accuracy import differentiates
from ..case import warm_up
from ..state import pair_of
from .judging import Finding, NotSmooth, judge
from .making import THEMES, Impossible, Wanted, program
from .program import Program
from .record import Failure, Fuzzing
from .shrinking import shrunk
from .snippet import snippet
from .trial import Call, Trial

#: How many operators a program is tried with: an engine compiles what it has not met, so a program serves several times.
OPERATORS = 4
#: Which part of the programs is about each theme.
SHARES = {"plain": 0.5, "static": 0.15, "captured": 0.2, "caught": 0.15}
#: An engine that compiles takes part in one program of so many: it takes a second for what takes others milliseconds.
SHARE = 3


def fuzz(
    backends: Sequence[AutoBackend],
    seed: int,
    *,
    programs: int | None = None,
    seconds: float | None = None,
    start: int = 0,
    operators: int = OPERATORS,
    share: int = SHARE,
    known: Sequence[Failure] = (),
    seen: Callable[[Fuzzing], None] = lambda fuzzing: None,
) -> Fuzzing:
    """Try a number of programs, or for some time. The same seed makes the same programs in the same order.

    start: the number of the first program. operators: the number of operators for each program. share: an engine that
    compiles runs one program of so many. known: failures that are counted and not shrunk again. seen: called after each
    program.
    """
    for backend in backends:
        warm_up(backend)
    fuzzing, number = Fuzzing(seed, start, operators=operators, share=share), start
    fuzzing.failures += [dataclasses.replace(each, count=0) for each in known]
    deadline = None if seconds is None else time.monotonic() + seconds
    while (programs is None or number < start + programs) and (deadline is None or time.monotonic() < deadline):
        _try(fuzzing, number, backends)
        fuzzing.programs += 1
        number += 1
        seen(fuzzing)
    return fuzzing


def _try(fuzzing: Fuzzing, number: int, backends: Sequence[AutoBackend]) -> None:
    for trial in drawn(fuzzing.seed, number, fuzzing.operators)[1]:
        other: tuple[Call, dict[str, Any]] | None = None
        for call in calls(fuzzing.seed, number, trial, backends, fuzzing.share):
            try:
                judgement = judge(trial, call, other[1] if other else None)
            except NotSmooth:
                fuzzing.skipped += 1
                break
            fuzzing.comparisons[type(call.backend).__name__] += judgement.comparisons
            fuzzing.refused[type(call.backend).__name__] += judgement.refused
            if judgement.findings:
                _note(fuzzing, number, trial, call, judgement.findings, other[0] if other else None)
            elif other is None and judgement.parts is not None and differentiates(call.backend):
                other = call, judgement.parts


# Drawing -------------------------------------------------------------------------------------------------------------


def drawn(seed: int, number: int, operators: int = OPERATORS) -> tuple[Program, list[Trial]]:
    """A program and its operators. Their number does not change the program."""
    rng = np.random.default_rng([seed, number])
    lead = operations()[int(rng.integers(len(operations())))]
    # Drawn apart, so that a plain program stays what it is when there are other themes.
    theme = np.random.default_rng([seed, number, zlib.crc32(b"theme")]).choice(list(THEMES), p=[*SHARES.values()])
    made: Program | None = None
    while made is None:
        try:
            made = program(rng, dataclasses.replace(_wanted(rng, lead), theme=theme))
        except Impossible:
            continue
    shared: dict[Any, Any] = {}
    return made, [Trial(made, operator_of(each), each, number, shared) for each in _operators(rng, made, lead, operators)]


def _wanted(rng: np.random.Generator, operation: type[Operation]) -> Wanted:
    real = operation.order == 2 or bool({"jacobian", "hessian"} & set(operation.forms)) or operation.takes == "one number"
    draw = rng.random()
    if operation.output == "tree":
        form: Any = "tree" if draw < 0.7 else "scalar"
    else:
        form = "auxiliary" if operation.output == "scalar and aux" and draw < 0.4 else "scalar"
    one = operation.takes != "arguments" or draw < 0.3
    return Wanted(form, one, operation.takes == "one number", real)


def _suits(operation: type[Operation], made: Program, lead: type[Operation]) -> bool:
    """Whether an operator can be tried on a program that was made for another one."""
    arguments = made.arguments
    real = all(np.dtype(dtype).kind == "f" for dtype in arguments.dtypes)
    needs_real = operation.order == 2 or bool({"jacobian", "hessian"} & set(operation.forms))
    form = {"tree": ("tree",), "scalar": ("tree", "scalar", "scalar and aux"), "auxiliary": ("scalar and aux",)}[made.form]
    one = all(path.startswith("args[0]") for path in arguments.paths)
    number = lead.takes == "one number"
    takes = {"arguments": True, "one argument": one and not number, "one number": number}[operation.takes]
    return operation.output in form and takes and (real or not needs_real)


def _operators(rng: np.random.Generator, made: Program, lead: type[Operation], count: int) -> list[type[Operation]]:
    others = [other for other in operations() if other is not lead and _suits(other, made, lead)]
    chosen = [others[int(n)] for n in rng.permutation(len(others))[: count - 1]]
    return [lead, *chosen]


def _compiles(backend: AutoBackend) -> bool:
    return find(pair_of(backend)[0]).compile(lambda *arrays: ()) is not None


def calls(seed: int, number: int, trial: Trial, backends: Sequence[AutoBackend], share: int = SHARE) -> Iterator[Call]:
    """A call for each backend, independent of the others. A compiling one runs one program of `share`."""
    operation = zlib.crc32(trial.operation.name.encode())
    for backend in backends:
        draws = np.random.default_rng([seed, number, operation, zlib.crc32(backend.name.encode())]).random(3)
        compiles = _compiles(backend)
        if compiles and number % share:
            continue
        decided = bool(trial.program.kinds & {"static", "caught"})  # what a prepared call may get wrong
        prepared = (0.4 if decided else 0.02) if compiles else 0.6 if decided else 0.25
        call = Call(_with_mode(backend, float(draws[1])), bool(draws[0] < prepared), bool(draws[2] < 0.25))
        yield call if may_prepare(trial, backend) else dataclasses.replace(call, prepared=False)


def may_prepare(trial: Trial, backend: AutoBackend) -> bool:
    """Whether a prepared call may be asked for: a branch on a value is refused where it would be compiled."""
    return not (trial.program.kinds & {"branch", "caught"} and _compiles(backend))


def _with_mode(backend: AutoBackend, draw: float) -> AutoBackend:
    if not (dataclasses.is_dataclass(backend) and any(each.name == "mode" for each in dataclasses.fields(backend))):
        return backend
    mode = None if draw < 0.6 else "forward" if draw < 0.8 else "reverse"
    return dataclasses.replace(backend, mode=mode)  # type: ignore[call-arg]


# Failures ------------------------------------------------------------------------------------------------------------


def _note(fuzzing: Fuzzing, number: int, trial: Trial, call: Call, findings: list[Finding], other: Call | None) -> None:
    """Count a failure that is known, and cut a new one down."""
    first = findings[0]
    name = type(call.backend).__name__
    texts = {statement.text for statement in trial.program.statements}
    for known in fuzzing.failures:
        if known.explains(name, trial.operation.name, first.kind, first.words, texts):
            known.count += 1
            return

    def attempt(smaller: Program, plainer: Call) -> list[Finding]:
        again = Trial(smaller, trial.operator, trial.operation, trial.seed, {})
        beside = judge(again, other).parts if other is not None else None
        return judge(again, plainer, beside).findings

    def fails(smaller: Program, plainer: Call) -> bool:
        return any(finding.kind == first.kind and finding.words == first.words for finding in attempt(smaller, plainer))

    least, plainest = shrunk(trial.program, call, fails)
    again = Trial(least, trial.operator, trial.operation, trial.seed, {})
    messages = [finding.message for finding in attempt(least, plainest)] or [first.message]
    text = snippet(again, plainest, messages)
    rules = frozenset(statement.text for statement in least.statements)
    fuzzing.failures.append(Failure(name, trial.operation.name, first.kind, first.words, rules, text, number))
