"""Plain data, which is not replaced; and engine arrays inside lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array import NumpyArray, numbers_unknown
from ..array_like import arrays_in
from ..made_array import MadeArray, array_of_engine, plain
from ..writes import holds_storage, stacked

#: Types whose instances are not replaced.
PLAIN = frozenset({
    int, float, bool, complex, str, bytes, bytearray, type(None), type(Ellipsis),
    type(NotImplemented), set, frozenset, slice, range, object, NumpyArray, MadeArray, np.dtype,
    *(type(np.dtype(code)) for code in np.typecodes["All"]), *np.sctypeDict.values(),
})  # fmt: skip


class Same:
    """A replacement of which copies are itself, as of a function."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def assembled(value: Any) -> Any:
    """A list with engine arrays as one array, as NumPy takes lists.

    A list of plain arrays unchanged.
    """
    value = arrays_in(value)
    if isinstance(value, (list, tuple)):
        if array_of_engine(value) is not None:
            return stacked(value)
        if holds_storage(value):
            return plain(value)
    return value


def unknown(x: Any) -> bool:
    """Whether these are numbers that the engine does not know yet, as while compiling."""
    return type(x) is NumpyArray and numbers_unknown(x.native, x.engine)
