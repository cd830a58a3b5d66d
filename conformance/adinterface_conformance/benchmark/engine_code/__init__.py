"""Hand-written code of each engine for the benchmark: good code for one engine without this package, a module for each engine.

Only this folder of the package imports engines, which it must call directly. The `name` of a backend value is the name of
its module. Engines of other packages have none and are timed alone.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, Literal, Protocol, cast

#: What users bring: NumPy arrays or the engine's own; in other packages' cells also numbers with arrays, or models.
Leaf = Literal["ndarray", "native", "number", "module"]
#: Those of the cells of this package.
LEAVES: tuple[Leaf, ...] = ("ndarray", "native")

Function = Callable[..., Any]


class Yardstick(Protocol):
    """What a good user writes with the engine alone. A module serves as one."""

    @property
    def namespace(self) -> Any:
        """The engine's own functions, as its users import them."""

    @property
    def native(self) -> Callable[[Any], Any] | None:
        """Makes a NumPy array one of the engine's own; None if these are NumPy's."""

    @property
    def wait(self) -> Callable[[Any], Any] | None:
        """Waits until a result of engine arrays is computed, and returns it. None if calls return computed results."""

    def transform(self, leaf: Leaf, operator: str, f: Function, prepared: bool) -> Function | None:
        """The operator as a function of x and constants; None if it is not written by hand.

        `hvp` and `pushforward` take a tangent after x; `pullback` takes a cotangent, and calls `back` once. leaf: the kind
        of arrays in x. prepared: do all possible work before the first call.
        """


@functools.cache
def find(name: str) -> Yardstick | None:
    """The yardstick of the engine of this name; None if this package has none."""
    module = f"{__name__}.{name}"
    try:
        return cast(Yardstick, importlib.import_module(module))
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None
