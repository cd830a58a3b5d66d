"""`numpy_function(f, deep=True)`, which is experimental, and everything that reads the bytecode of
functions.

NumPy's protocols do not cover code that needs a plain array: `np.asarray(x)`, `isinstance(x,
np.ndarray)`, `float(x)`. A copy of a function has the same code and other globals, in which those
names are replaced. Functions, methods, classes and modules that it reaches are copied at their
first use; the originals are unchanged. Code that cannot be copied, because it is compiled or in a
special class, runs unchanged and refuses differentiated arrays.

The three functions here are the entry: nothing else of adinterface imports a module of this folder.
`copier` makes copies, for both. `writing` defines the replacements in code that writes to arrays,
`copies` those in code with deep=True. The latter are in `globals`, `classes`, `builtin_names`,
`numpy_names`, `math_names` and `scipy_names`. `subclasses` is for those of ndarray. `bytecode`
reads bytecode. May import what `numpy_code` may, and its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_deep_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """A function that makes the copy of f for a call, in which NumPy's names are replaced wherever
    f reaches.
    """
    from . import calls  # a late import of many modules that only this needs

    return calls.with_deep_names(f)


def with_making_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]] | None:
    """A function that makes the copy of f for a call, in which f can write to its arrays.

    None if f writes to nothing.
    """
    from . import writing  # a late import: a program without writes need not load it

    return writing.with_making_names(f)


def with_numbers(reached: dict[int, Any]) -> str | None:
    """Replaces arrays of an engine in the user's objects by their numbers.

    Returns a refusal if some are unknown.
    """
    from . import kept

    return kept.with_numbers(reached)


__all__ = ["with_deep_names", "with_making_names", "with_numbers"]
