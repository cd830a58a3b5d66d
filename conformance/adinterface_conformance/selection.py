"""Which backends the running pytest session selects: the plugin sets it, and `installed_backends`
follows it.

pytest's plugin loads this file at every start, so it imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adinterface import AutoBackend

#: The selections of the running pytest sessions, the innermost last (pytest may run inside a test
#: of pytest).
SELECTIONS: list[list[AutoBackend] | None] = []


def selected() -> list[AutoBackend] | None:
    """The backends that the running pytest session selects; None if it leaves the choice open."""
    return SELECTIONS[-1] if SELECTIONS else None
