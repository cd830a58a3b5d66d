"""Whether dicts are still what they were, without looking into them.

Until Python 3.11 a dict has a version, another one after each change, and no two dicts ever have the same (PEP 509); a function
of Dynamo's reads it. From 3.12 on that function has torch watch the dict instead, which misses attributes that are set on an
object, and the first `update` of an empty dict: nothing is known there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

try:
    from torch._C._dynamo.guards import dict_version
except ImportError:  # a private name, which another release of torch may not have
    dict_version = None  # type: ignore[assignment]

_KEPT = sys.version_info < (3, 12)


def versions_of(dicts: Iterable[dict[Any, Any]]) -> list[int] | None:
    """The versions of some dicts, for `==` with what they were before; None if they cannot be known.

    Of an OrderedDict it does not tell the order; of what is no dict, as a register of a module may be, nothing can be told.
    """
    if dict_version is None or not _KEPT:
        return None
    try:
        return [*map(dict_version, dicts)]
    except (RuntimeError, SystemError):  # by release; it is all that can go wrong
        return None


__all__ = ["versions_of"]
