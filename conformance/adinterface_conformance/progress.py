"""The progress of long work: a bar in a terminal, lines in a file."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: After how many seconds there is another line.
EVERY = 10.0


@contextmanager
def progress(total: float | None) -> Iterator[Callable[[float, str], None]]:
    """A function that shows how much is done, and a line about the results, on stderr."""
    try:
        rich = importlib.import_module("rich.progress")
    except ImportError:
        rich = None
    if rich is None or not sys.stderr.isatty():
        yield _lines()
        return
    console = importlib.import_module("rich.console").Console(stderr=True)
    columns = (
        rich.BarColumn(bar_width=40),
        rich.TimeElapsedColumn(),
        rich.TextColumn("{task.description}"),
    )
    with rich.Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, line: bar.update(task, completed=done, description=line)


def _lines() -> Callable[[float, str], None]:
    started = shown = time.monotonic()

    def update(done: float, line: str) -> None:
        nonlocal shown
        if time.monotonic() - shown >= EVERY:
            shown = time.monotonic()
            print(f"{shown - started:.0f} s: {line}", file=sys.stderr, flush=True)

    return update
