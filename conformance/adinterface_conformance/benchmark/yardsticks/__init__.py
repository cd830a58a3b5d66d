"""What good users write with an engine alone: the yardsticks of the benchmark, a module for each engine.

This is the one folder of the package that imports engines, since the judge of what a call costs has to use the engine
without us. A module is found by the `name` of the backend value; another package's engine has none and is timed alone.
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
        """Waits until a result of the engine's own arrays is there, and returns it; None if no call returns before."""

    def transform(self, leaf: Leaf, operator: str, f: Function, prepared: bool) -> Function | None:
        """The operator as a function of x and constants; None if it is not written by hand.

        After x comes a tangent of x for `hvp` and `pushforward`, a cotangent of f(x) for `pullback`, whose `back` is
        called once. leaf: what x is made of. prepared: what can be done before the first call is.
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
