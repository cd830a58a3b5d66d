"""Digests of arrays in copied code, which keeps results under them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

from ..array import NumpyArray
from ..made_array import plain
from .kept import Refusing


class Key(Refusing):
    """The digest of numbers that are followed. It is equal to itself alone, so code computes again
    what it kept.
    """

    def __init__(self, function: str):
        super().__init__(
            f"numpy_function: {function} of numbers that are differentiated can only be compared"
            " with another digest. Results that are kept under it belong to one call: call the"
            " function that computes them."
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = Refusing._refuse


class Digest:
    """A hash object, which may be updated with an engine's array."""

    def __init__(self, real: Any):
        self._real = real
        self._followed = False

    def update(self, data: Any) -> None:
        if isinstance(data, NumpyArray) and data._traced():
            self._followed = True
        else:
            self._real.update(data.__array__() if type(data) is NumpyArray else plain(data))

    def digest(self, *length: int) -> Any:
        return Key(f"{self.name}(...).digest()") if self._followed else self._real.digest(*length)

    def hexdigest(self, *length: int) -> Any:
        return (
            Key(f"{self.name}(...).hexdigest()")
            if self._followed
            else self._real.hexdigest(*length)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _digesting(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(data: Any = b"", **keywords: Any) -> Digest:
        made = Digest(real(**keywords))
        made.update(data)
        return made

    return call


def stand_ins() -> dict[int, tuple[Any, Any]]:
    """The replacement of each function of hashlib, by its identity."""
    reals = [getattr(hashlib, name) for name in hashlib.algorithms_guaranteed]
    return {id(real): (real, _digesting(real)) for real in reals}
