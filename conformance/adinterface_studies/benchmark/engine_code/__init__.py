"""Hand-written code of each engine for the benchmark: good code for one engine without this
package, a module for each engine.

Models of its own kind are in the module `NAME_models`. The `name` of a backend value is the name of
its module. Engines of other packages have none and are timed alone.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, cast

#: What users bring: NumPy arrays, the engine's own, or models.
Leaf = Literal["ndarray", "native", "module"]
LEAVES: tuple[Leaf, ...] = ("ndarray", "native", "module")

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
        """Waits until a result of engine arrays is computed, and returns it. None if calls return
        computed results.
        """

    def transform(self, leaf: Leaf, operator: str, f: Function, prepared: bool) -> Function | None:
        """The operator as a function of x and constants; None if it is not written by hand.

        `hvp` and `pushforward` take a tangent after x; `pullback` takes a cotangent, and calls
        `back` once. leaf: the kind of arrays in x. prepared: do all possible work before the first
        call.
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


class Model(NamedTuple):
    """A model of the engine's own kind, and how those who use such models differentiate a function
    of it.
    """

    name: str
    #: How many numbers, or examples in a batch, the table shows as its size.
    size: int
    #: A real function of the model, an array-valued one, the model, further arguments.
    build: Callable[[], tuple[Function, Function, Any, tuple[Any, ...]]]
    #: As `transform` of a yardstick, for this model.
    transform: Callable[[str, Function, bool], Function | None]
    operators: tuple[str, ...] = ("gradient", "value_and_gradient")
    #: Options of the backend value with which ours is measured.
    options: Mapping[str, Any] = {}
