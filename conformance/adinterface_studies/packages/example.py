"""What a function of a package is called with."""

from __future__ import annotations

import importlib
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adinterface import Constant


@dataclass(frozen=True)
class Example:
    """A function, by where it is found, and arguments for it.

    Arrays of floats, and floats, are differentiated, all else is not; what is wrapped in Constant neither.

    use: calls the function in another way than with its arguments, to make an object of a class and call a method of it.
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    use: Callable[..., Any] | None = None

    @property
    def package(self) -> str:
        """The package, or the part of SciPy."""
        parts = self.name.split(".")
        return ".".join(parts[:2]) if parts[0] == "scipy" else parts[0]

    def function(self) -> Callable[..., Any]:
        """The function itself. Raises ImportError or AttributeError where it is not."""
        found = found_at(self.name.partition(" ")[0])
        use, keywords = self.use, dict(self.keywords)
        if use is None:
            return lambda *args: found(*args, **keywords)
        return lambda *args: use(found, *args, **keywords)

    def differentiated(self) -> tuple[Any, ...]:
        """The arguments as an operator takes them."""
        return tuple([x if is_floating(x) or isinstance(x, Constant) else Constant(x) for x in self.arguments])


def is_floating(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def found_at(name: str) -> Any:
    """A module, or what stands in one, by its full name."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(f"No module named {parts[0]!r}", name=parts[0])


def read(path: Path) -> Sequence[Example]:
    """The examples of a user's file: `EXAMPLES`, a dict from names to tuples of arguments. Raises ValueError without it."""
    found = runpy.run_path(str(path)).get("EXAMPLES")
    if not isinstance(found, dict) or not all(isinstance(value, tuple) for value in found.values()):
        raise ValueError(
            f"{path} has no EXAMPLES that tells a tuple of arguments for each function. Write EXAMPLES = "
            f'{{"package.function": (np.ones(3), 2.0), ...}} in it.'
        )
    return [Example(name, arguments) for name, arguments in found.items()]
