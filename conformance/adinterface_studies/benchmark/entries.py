"""How many functions a call goes through: a measure of a leaf's trip that no other load of the machine disturbs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adinterface_conformance.benchmark.cells import Cell, Way
from adinterface_conformance.benchmark.report import short
from adinterface_conformance.benchmark.timing import Call, Calls

from adinterface import AutoBackend
from adinterface.core.contract import registry

HEAD = f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'own':>6} {'added':>6} {'by hand':>8}"
#: Where the code lies that our package writes out for a structure.
WRITTEN = "<written by adinterface>"
#: What goes before: the first calls plan and compile.
WARM = 4


@dataclass(frozen=True)
class Entries:
    """The functions that one call enters, as `sys.setprofile` reports them.

    An entry is an event "call" or "c_call" between the start and the end of one call, after four others. "call" is a Python
    function, a comprehension that is one, or a resumed generator; "c_call" is a built-in function that Python code calls.
    """

    #: The events "call" whose code lies in the package of adinterface or of the backend: what our own trip takes.
    own: int
    #: All events of our call, f and the engine included, beyond `by_hand`.
    added: int | None
    #: All events of the hand-written call: f itself, and what the engine needs in any case. None if there is none.
    by_hand: int | None


def count(cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way) -> Entries:
    """The entries of one call of ours, and those of the hand-written one."""
    calls = Calls(cell, auto, operator, size, way)
    packages = (WRITTEN, *[f"{_folder(module)}/" for module in ("adinterface", type(registry.find(auto)).__module__)])
    own, everything = _count(calls.ours(), packages)
    by_hand = calls.handwritten()
    if by_hand is None:
        return Entries(own, None, None)
    _, theirs = _count(by_hand, packages)
    return Entries(own, everything - theirs, theirs)


def table(rows: Iterable[tuple[Cell, AutoBackend, str, int, Way]]) -> Iterator[str]:
    """The lines of the table."""
    yield HEAD
    for each in rows:
        yield row(*each)


def row(cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way) -> str:
    """One line of the table."""
    entries = count(cell, auto, operator, size, way)
    by_hand = "".join(
        f"{'-' if number is None else number:>{width}}" for number, width in ((entries.added, 7), (entries.by_hand, 9))
    )
    return f"{cell.name:18} {cell.leaf:7} {operator:18} {short(repr(auto)):12} {way:8} {size:>8} {entries.own:>6}{by_hand}"


def _folder(module: str) -> Path:
    file = sys.modules[module.partition(".")[0]].__file__
    assert file is not None
    return Path(file).parent


def _count(call: Call, packages: tuple[str, ...]) -> tuple[int, int]:
    """Of one call: the Python functions of these folders that are entered, and all entries."""
    for _ in range(WARM):
        call()
    own = everything = 0

    def profiler(frame: Any, event: str, argument: Any) -> None:
        nonlocal own, everything
        if event in ("call", "c_call"):
            everything += 1
            own += event == "call" and frame.f_code.co_filename.startswith(packages)

    before: Callable[..., Any] | None = sys.getprofile()
    gc.disable()  # what it would finalize is no part of the call
    try:
        sys.setprofile(profiler)
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return own, everything - 1  # ending the profile is a call as well
