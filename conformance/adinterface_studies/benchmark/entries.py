"""How many functions of ours a call goes through: a measure of a leaf's trip that no other load of
the machine disturbs.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from adinterface import AutoBackend
from adinterface.core.contract import registry

from .cells import Cell, Way
from .report import short
from .timing import Calls

HEAD = f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'own':>6}"
#: What goes before: the first calls plan and compile.
WARM = 4


def table(rows: Iterable[tuple[Cell, AutoBackend, str, int, Way]]) -> Iterator[str]:
    """The lines of the table."""
    yield HEAD
    for cell, auto, operator, size, way in rows:
        own = count(cell, auto, operator, size, way)
        yield (
            f"{cell.name:18} {cell.leaf:7} {operator:18} {short(repr(auto)):12} {way:8} {size:>8}"
            f" {own:>6}"
        )


def count(cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way) -> int:
    """The functions of adinterface and of the backend's package that one call enters, after four
    others.

    An entry is an event "call" of `sys.setprofile`: a Python function, a comprehension that is one,
    or a resumed generator.
    """
    call = Calls(cell, auto, operator, size, way).ours()
    packages = tuple(
        [f"{_folder(module)}/" for module in ("adinterface", type(registry.find(auto)).__module__)]
    )
    for _ in range(WARM):
        call()
    own = 0

    def profiler(frame: Any, event: str, argument: Any) -> None:
        nonlocal own
        own += event == "call" and frame.f_code.co_filename.startswith(packages)

    before: Callable[..., Any] | None = sys.getprofile()
    gc.disable()  # what it would finalize is no part of the call
    try:
        sys.setprofile(profiler)
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return own


def _folder(module: str) -> Path:
    file = sys.modules[module.partition(".")[0]].__file__
    assert file is not None
    return Path(file).parent
