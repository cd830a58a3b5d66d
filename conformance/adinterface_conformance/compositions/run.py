"""Trying compositions: a seed decides the programs and the calls; what fails is shrunk to a program that runs when pasted."""

from __future__ import annotations

import linecache
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adinterface import AdinterfaceError, AutoBackend
from adinterface.tools.evidence import decide
from adinterface.tools.numbers import largest_of

from ..accuracy import differentiates
from ..case import warm_up
from .calls import ROADS, Array, Call, Place, Reference, Rough, compiles, engines_of, forward_of, reference, stages_of
from .program import Program, drawn, smaller, source

#: How many ways each backend tries a program. One that compiles, or takes differences, takes part in one program of so many;
#: a compiling one makes one prepared call in one of so many.
CALLS, SHARE, COMPILED = 6, 3, 6
#: What results may be off, by order and bits, relative to the largest number that takes part; differences are less exact.
ALLOWED = {(1, 64): 1e-6, (2, 64): 1e-5, (1, 32): 5e-3, (2, 32): 3e-2}
BY_DIFFERENCES = {1: 1e-5, 2: 1e-2}
#: How long one failure is shrunk, in seconds.
SECONDS = 90.0


#: What is wrong where something else is: a wrong gradient has a wrong Hessian.
_EXPLAINED = {
    "v": ["value"],
    "J": ["value", "J", "g"],
    "C": ["value", "J", "g", "C"],
    "g": ["value", "J", "g"],
    "H": list("JgHd") + ["value"],
    "d": list("JgHd") + ["value"],
}


@dataclass
class Find:
    """A failure: the call, what is wrong, and the shrunk program."""

    call: Call
    kind: str
    message: str
    program: Program
    number: int
    text: str = ""
    count: int = 1

    def explains(self, call: Call, kind: str, program: Program) -> bool:
        """Whether another failure is probably the same."""
        if self.call.backend not in (call.backend, type(call.backend)()):
            return False
        if kind.endswith("is wrong"):
            quantity = kind[0]
            if self.kind not in [f"{each} is wrong" for each in _EXPLAINED.get(quantity, [quantity])]:
                return False
        elif self.kind != kind:
            return False
        return self.program.blocks <= program.blocks and (bool(self.program.blocks) or self.call.road == call.road)

    def __str__(self) -> str:
        first = f"program {self.number}, {self.count} times"
        return f"# {self.call}: {self.kind} ({first})\n# {self.message}\n{self.text}"


@dataclass
class Compositions:
    """What came of a run."""

    seed: int
    programs: int = 0
    comparisons: int = 0
    #: Refusals by their words, and programs without a reference.
    refused: Counter[str] = field(default_factory=Counter)
    rough: int = 0
    finds: list[Find] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.comparisons} comparisons, {self.refused.total()} refusals, {self.rough} rough, "
            f"{len(self.finds)} finds"
        )


def compositions(
    backends: Sequence[AutoBackend],
    seed: int,
    *,
    programs: int | None = None,
    seconds: float | None = None,
    start: int = 0,
    seen: Callable[[Compositions], None] = lambda done: None,
) -> Compositions:
    """Try a number of programs, or for some time. The same seed makes the same programs, and the same calls of each backend."""
    done = Compositions(seed)
    for backend in backends:
        warm_up(backend)
    deadline = None if seconds is None else time.monotonic() + seconds
    engines = engines_of(backends)
    while (programs is None or done.programs < programs) and (deadline is None or time.monotonic() < deadline):
        number = start + done.programs
        _try(done, drawn(seed, number), number, engines)
        done.programs += 1
        seen(done)
    return done


def calls(seed: int, number: int, program: Program, backend: AutoBackend) -> list[Call]:
    """The calls of a backend, whatever other backends there are."""
    rng = np.random.default_rng([seed, number, sum(backend.name.encode())])
    kind = "c" if program.is_complex else "f"
    plain = program.pack in ("array", "native")
    fitting = [name for name, road in ROADS.items() if kind in road.kinds and (plain or road.trees)]
    fitting = [name for name in fitting if not name.startswith("sparse") or program.pack == "array"]
    reverse = "reverse" in program.tags
    if reverse:
        fitting = [name for name in fitting if not re.search("push|linear|jacobian", name)]
    chosen = [*dict.fromkeys(["value", "gradient", *rng.permutation(fitting)])][: CALLS + 1]
    may_compile = not compiles(backend) or not number % COMPILED
    made, compiled = [], 0
    for name in chosen:
        prepared = bool(rng.random() < 0.35) and may_compile and not (compiles(backend) and compiled)
        compiled += prepared
        turned = forward_of(backend) if rng.random() < 0.3 and name != "value" and not reverse else backend
        made.append(Call(turned, str(name), prepared))
    return made


def _try(done: Compositions, program: Program, number: int, engines: Sequence[AutoBackend]) -> None:
    known: list[Reference | None] = []
    found: dict[str, tuple[Call, Array]] = {}
    for backend in engines:
        if (compiles(backend) and number % SHARE) or (not differentiates(backend) and number % SHARE != 1):
            continue
        if not differentiates(backend) and ("hook" in program.tags or "32" in program.dtype or "while_loop" in program.blocks):
            continue
        for call in calls(done.seed, number, program, backend):
            kind, message = _judged(call, program, engines, known, found, done)
            if kind:
                _note(done, call, kind, message, program, number, engines)


def _judged(
    call: Call,
    program: Program,
    engines: Sequence[AutoBackend],
    known: list[Reference | None],
    found: dict[str, tuple[Call, Array]],
    done: Compositions | None = None,
) -> tuple[str, str]:
    """The fault of a call, and the words that describe it; two empty texts if there is none.

    engines: who may be the referee. known: the reference, once it is made. found: results of other calls by quantity, for
    what has no reference.
    """
    try:
        got = Place(program, call.backend).run(call)
    except Exception as error:
        if is_ours(error):
            if done is not None:
                done.refused[_in_words(error)] += 1
            return "", ""
        return f"raises {_in_words(error)}", f"{type(error).__name__}: {str(error).strip()[:300]}"
    road = ROADS[call.road]
    wanted, referee = None, ""
    # The value is that of the first engine; derivatives are differences of it, where hooks do not change them.
    has_reference = road.gives == "value" or "hook" not in program.tags
    if has_reference:
        if not known:
            known.append(_reference(program, call, engines))
        try:
            wanted = known[0].of(road.gives) if known[0] is not None else None
        except Rough:
            wanted = None
        if known[0] is not None:
            referee = f"{'' if road.gives == 'value' else 'differences of '}the value on {known[0].backend!r}"
        if wanted is None and done is not None:
            done.rough += 1
    if wanted is None:
        if has_reference:
            return "", ""
        other, wanted = found.setdefault(road.gives, (call, got))
        referee = str(other)
    if done is not None:
        done.comparisons += 1
    scale = 1 + float(np.max(np.abs(wanted), initial=0.0))
    allowed = _allowed(call, program) + (known[0].doubt if known and known[0] is not None else 0.0)
    if wanted.shape == got.shape and decide(largest_of(got - wanted), 0.0, scale, allowed) != "wrong":
        return "", ""
    return f"{road.gives} is wrong", f"got {got.round(7).tolist()}, wanted {wanted.round(7).tolist()} by {referee}"


def _reference(program: Program, call: Call, engines: Sequence[AutoBackend]) -> Reference | None:
    """By the first engine whose value another one shares."""
    exact = [each for each in engines if differentiates(each)]
    made: list[Reference] = []
    for backend in exact:
        for road in ("value", "value of pushforward"):
            try:
                new = reference(program, backend, road)
            except Exception:  # an engine that refuses the program has no value of it
                continue
            for old in made:
                if old.table["value"].shape == new.table["value"].shape and np.allclose(old.table["value"], new.table["value"]):
                    return old
            made.append(new)
            break
    return made[0] if made else None


def _allowed(call: Call, program: Program) -> float:
    order = ROADS[call.road].order
    allowed = ALLOWED[order, 32 if "32" in program.dtype else 64]
    return allowed if differentiates(call.backend) else max(allowed, BY_DIFFERENCES[order])


def is_ours(error: BaseException | None) -> bool:
    """Whether an error is the library's own, or an engine's with a note; also where an engine wraps it."""
    while error is not None:
        notes = getattr(error, "__notes__", ())
        if isinstance(error, AdinterfaceError) or not all("traceback" in note for note in notes):  # of which an engine may tell
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


def _in_words(error: BaseException) -> str:
    """The error without what differs from program to program."""
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__} " + re.sub(r"[\d.,()\[\]'\"<> ]+|\bf\d+\b", " ", first)[:70].strip()


# Shrinking -----------------------------------------------------------------------------------------------------------


def _note(
    done: Compositions, call: Call, kind: str, message: str, program: Program, number: int, engines: Sequence[AutoBackend]
) -> None:
    for known in done.finds:
        if known.explains(call, kind, program):
            known.count += 1
            return
    program, call, message = shrunk(program, call, kind, message, engines)
    for known in done.finds:
        if known.explains(call, kind, program):
            known.count += 1
            return
    done.finds.append(Find(call, kind, message, program, number, snippet(program, call, message)))


def fails(program: Program, call: Call, kind: str, engines: Sequence[AutoBackend]) -> str | None:
    """The words for the fault of this program; None if it has another fault, or none."""
    road = ROADS[call.road]
    if ("c" if program.is_complex else "f") not in road.kinds or (program.pack not in ("array", "native") and not road.trees):
        return None
    found: dict[str, tuple[Call, Array]] = {}
    known: list[Reference | None] = []
    if "hook" in program.tags:  # compared with the other mode
        for other in ("gradient", "pullback", "hessian", call.road):
            backend = call.backend if "reverse" in program.tags else forward_of(call.backend)
            turned = Call(backend, other)
            if turned != call and ROADS[other].gives == road.gives:
                _judged(turned, program, engines, known, found)
    try:
        seen, message = _judged(call, program, engines, known, found)
    except Exception:  # what is left may not be a program at all
        return None
    return message if seen == kind else None


def shrunk(program: Program, call: Call, kind: str, message: str, engines: Sequence[AutoBackend]) -> tuple[Program, Call, str]:
    """The smallest program, and the plainest call, of which the same is wrong."""
    deadline = time.monotonic() + SECONDS
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        plainer = [Call(call.backend, call.road)] if call.prepared else []
        candidates: list[tuple[Program, Call]] = [(program, each) for each in plainer]
        candidates += [(each, call) for each in smaller(program)]
        for less, simple in candidates:
            if time.monotonic() > deadline:
                break
            words = fails(less, simple, kind, engines)
            if words is not None:
                program, call, message, progress = less, simple, words, True
                break
    return program, call, message


def snippet(program: Program, call: Call, message: str) -> str:
    """The program as one pastes it: without what it does not use."""
    engine = getattr(call.backend, "native", None) or call.backend
    text = source(program, engine.name)
    names = ["p = pack(X)", "other = pack(X * 0.875)"]
    size = program.size
    units = f"list(np.eye({size}, dtype=X.dtype))"
    names += [
        f"rows = {units}" + (f" + [1j * e for e in {units}]" if program.is_complex else ""),
        "basis = [pack(e) for e in rows]",
    ]
    body = "\n".join(stages_of(call, program))
    if call.backend != engine:
        names.append(f"B = {call.backend!r}")
    needed = [line for line in names if re.search(rf"\b{line.split(' ')[0]}\b", body) or line.startswith("B")]
    if any(line.startswith("basis") for line in needed):
        needed = [*dict.fromkeys([line for line in names if line.startswith("rows")] + needed)]
    forward = f"B_forward = {forward_of(engine)!r}\n" if "B_forward" in text else ""
    head, _, rest = text.partition("\n\n\n")
    head = f"{head}\n\nB = {engine!r}\n{forward}"
    return _pruned(f"{head}\n{rest}\n\n" + "\n".join([*needed, body, f"print(result)  # {message}"]) + "\n")


def _pruned(text: str) -> str:
    """Without functions that nothing calls."""
    while True:
        for found in re.finditer(r"(?m)^def (\w+)\(.*\n(?:(?:    .*)?\n)+", text):
            if len(re.findall(rf"\b{found[1]}\b", text)) == 1:
                text = text.replace(found[0], "")
                break
        else:
            return re.sub(r"\n{3,}", "\n\n", text)


__all__ = ["Any", "Compositions", "Find", "calls", "compositions", "fails", "is_ours", "shrunk", "snippet"]
