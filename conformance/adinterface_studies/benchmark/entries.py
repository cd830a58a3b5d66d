"""How many functions of ours a call goes through: a measure that no other load of the machine
disturbs.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adinterface.core.contract import registry

from .timing import HEAD, Calls, Row, words


def table(rows: Iterable[Row]) -> Iterator[str]:
    """The lines of the table."""
    yield f"{HEAD.partition(' calls')[0].rstrip()} {'own':>6}"
    for row in rows:
        yield f"{words(row)} {count(row):>6}"


def count(row: Row) -> int:
    """The functions of adinterface and of the backend's package that one call enters, after four
    others, which plan and compile.

    An entry is an event "call" of `sys.setprofile`: a Python function, a comprehension that is one,
    or a resumed generator.
    """
    call = Calls(*row).ours()
    modules = ("adinterface", type(registry.find(row[1])).__module__.partition(".")[0])
    packages = tuple([f"{Path(sys.modules[name].__file__ or '').parent}/" for name in modules])
    for _ in range(4):
        call()
    own = 0

    def profiler(frame: Any, event: str, argument: Any) -> None:
        nonlocal own
        own += event == "call" and frame.f_code.co_filename.startswith(packages)

    before: Any = sys.getprofile()
    gc.disable()  # what it would finalize is no part of the call
    try:
        sys.setprofile(profiler)
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return own
