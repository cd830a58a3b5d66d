"""Whether dicts are still what they were, without looking into them.

A dict has a version, another one after each change, and no two dicts ever have the same (PEP 509). From Python 3.12 on torch
keeps it, of the dicts whose version was asked for. Dynamo asks it before it runs code that was compiled for a module.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

try:
    from torch._C._dynamo.guards import dict_version
except ImportError:  # a private name, which another release of torch may not have
    dict_version = None  # type: ignore[assignment]

#: torch keeps versions in a table that only Python's lock guards.
_LOCKED = getattr(sys, "_is_gil_enabled", lambda: True)()


def versions_of(dicts: Iterable[dict[Any, Any]]) -> list[int] | None:
    """The versions of some dicts, for `==` with what they were before; None if they cannot be known.

    Of an OrderedDict it does not tell the order; of what is no dict, as a register of a module may be, nothing can be told.
    """
    if dict_version is None or not _LOCKED:
        return None
    try:
        return [*map(dict_version, dicts)]
    except (RuntimeError, SystemError):  # by release; it is all that can go wrong
        return None


__all__ = ["versions_of"]
