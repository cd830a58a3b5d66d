"""`numpy_function(f, deep=True)`, which is experimental, and all that reads the instructions of functions.

NumPy's protocols end where code asks for a plain array: `np.asarray(x)`, `isinstance(x, np.ndarray)`, `float(x)`. A copy of a
function has the same code and other globals, in which those names are answered. What it reaches from there, other functions,
methods, classes and modules, is copied when it is first met; nothing is changed where it is found. Code that cannot be copied,
because it was compiled or lies in a class of its own kind, stays itself, and refuses what is differentiated as ever.

The two functions here are the door: nothing else of adinterface imports a module of this folder. `copier` makes copies, for
both. `writing` says what stands for each value in code that writes to arrays, `copies` in code that runs with deep=True;
`globals`, `classes`, `builtin_names`, `numpy_names`, `math_names` and `scipy_names` are what it needs. `bytecode`, `branches`,
`catching` and `closed_forms` read instructions. May import what `numpy_code` may, and its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_deep_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """What gives the copy of f for a call, in which NumPy's names mean ours wherever f comes to."""
    from . import calls  # here, because its many modules are for those alone who ask for it

    return calls.with_deep_names(f)


def with_making_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]] | None:
    """What gives the copy of f for a call, in which arrays that f makes can be written to; None where f writes to nothing."""
    from . import writing  # here, because whoever imports adinterface need not write

    return writing.with_making_names(f)


__all__ = ["with_deep_names", "with_making_names"]
