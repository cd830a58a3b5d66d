"""Notes on errors that f raised under an engine, as a table: what the error says, and what the user should know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Note(NamedTuple):
    """A note for errors of some types with some message."""

    errors: type[BaseException] | tuple[type[BaseException], ...]
    #: A pattern that is searched in the message, behind the name of the module of the error: `torch._dynamo.exc: message`.
    pattern: str
    note: str


def note_of(error: Exception, notes: Sequence[Note]) -> str | None:
    """The first note that fits an error."""
    message = f"{type(error).__module__}: {error}"
    fitting = (row.note for row in notes if isinstance(error, row.errors) and re.search(row.pattern, message, re.DOTALL))
    return next(fitting, None)


__all__ = ["Note", "note_of"]
