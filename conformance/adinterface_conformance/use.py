"""A function as data: how it is called, and what kind of derivative it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

#: smooth: has a derivative that means something. once: so has it, but no second one.
#: flat: constant but for jumps, so its derivative is exactly zero.
#: discrete: returns integers, bools or Python values, through which no derivative goes.
Kind = Literal["smooth", "once", "flat", "discrete"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Use:
    """One way to call a function.

    f: `f(xp, *arrays)` for a function of the Array API, `f(*arrays)` for one of NumPy; gives an
        array or a tuple of them.
    arrays: its floating arguments, small, in float64.
    """

    name: str
    f: Callable[..., Any]
    arrays: tuple[Array, ...]
    kind: Kind
    #: Whether f takes the namespace first.
    neutral: bool = True
    #: The code of f, for messages.
    source: str = ""

    @property
    def key(self) -> str:
        """Its name in lists of known failures."""
        return ("function:" if self.neutral else "numpy:") + self.name
