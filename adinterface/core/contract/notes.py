"""Notes on errors that f raised under an engine: a table of patterns and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: What to write where NumPy or SciPy was called on an engine's array.
TAKE_FUNCTIONS = (
    "Write xp.sin(x) for np.sin(x), with xp = adinterface.array_namespace(x). Or decorate f, and"
    " every function whose arguments f captures, with @adinterface.numpy_function. For SciPy use"
    " adinterface.scipy or @numpy_function(deep=True)."
)


class Note(NamedTuple):
    """A note for errors of some types with some message."""

    errors: type[BaseException] | tuple[type[BaseException], ...]
    #: A pattern to search in the error's module and message: `torch._dynamo.exc: message`.
    pattern: str
    note: str


def note_of(error: Exception, notes: Sequence[Note]) -> str | None:
    """The first note whose pattern matches an error."""
    message = f"{type(error).__module__}: {error}"
    for row in notes:
        if isinstance(error, row.errors) and re.search(row.pattern, message, re.DOTALL):
            return row.note
    return None
