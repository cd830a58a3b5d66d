"""How far long work is: a bar where somebody looks, a line from time to time where it is written to a file."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: After how many seconds there is another line.
EVERY = 10.0


@contextmanager
def steps(count: int, what: str) -> Iterator[Callable[[str], None]]:
    """To be called after each of so many steps, with a line that says what has come of them; all goes to stderr."""
    started = shown = time.monotonic()
    done = 0
    try:
        rich = importlib.import_module("rich.progress")
    except ImportError:
        rich = None
    if rich is None or not sys.stderr.isatty():

        def advance(line: str) -> None:
            nonlocal done, shown
            done += 1
            if time.monotonic() - shown >= EVERY:
                shown = time.monotonic()
                print(f"{shown - started:.0f} s: {done} of {count} {what}, {line}", file=sys.stderr, flush=True)

        yield advance
        return
    console = importlib.import_module("rich.console").Console(stderr=True)
    columns = rich.BarColumn(bar_width=40), rich.MofNCompleteColumn(), rich.TimeElapsedColumn(), rich.TimeRemainingColumn()
    with rich.Progress(*columns, rich.TextColumn("{task.description}"), console=console) as progress:
        task = progress.add_task("", total=count)
        yield lambda line: progress.update(task, advance=1, description=line)
