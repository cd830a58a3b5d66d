"""How far a study is, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adinterface_conformance.progress import progress


@contextmanager
def steps(count: int, what: str) -> Iterator[Callable[[str], None]]:
    """To be called after each of so many steps, with a line that says what has come of them."""
    done = 0
    with progress(count) as update:

        def advance(line: str) -> None:
            nonlocal done
            done += 1
            update(done, f"{done} of {count} {what}, {line}")

        yield advance
