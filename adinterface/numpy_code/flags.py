"""The memory flags of an array."""

from __future__ import annotations

import dataclasses

from .storage import ARGUMENT, CAPTURED, Storage


@dataclasses.dataclass(frozen=True)
class Flags:
    """As of a NumPy array in C order: an engine's array has no other. The caller's arrays are read-only."""

    writeable: bool
    c_contiguous: bool = True
    f_contiguous: bool = False
    owndata: bool = True
    aligned: bool = True
    behaved: bool = True
    contiguous: bool = True
    forc: bool = True
    fnc: bool = False
    fortran: bool = False
    carray: bool = True
    num: int = 0

    def __getitem__(self, key: str) -> bool:
        flag: bool = getattr(self, _LETTERS.get(key, key.lower()))
        return flag


_LETTERS = {"C": "c_contiguous", "F": "f_contiguous", "W": "writeable", "O": "owndata", "A": "aligned"}


def flags_of(x: Storage) -> Flags:
    return Flags(x._origin is not ARGUMENT and x._origin is not CAPTURED, f_contiguous=x.ndim < 2)
