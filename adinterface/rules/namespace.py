"""`array_namespace`: one f for every engine."""

from __future__ import annotations

from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

from ..core.contract.library import NUMPY, PYTHON, Library
from ..core.contract.tracing import untraced
from ..core.tree import handler_of

#: While a rule runs: the engine that differentiates it, if its carried arrays are NumPy arrays. A
#: rule gets both, so its
#: namespace must accept both.
engine_of_rule: ContextVar[Library | None] = ContextVar("adinterface.rules", default=None)


@untraced
def array_namespace(*arrays: Any) -> Any:
    """The Array API namespace of these arrays, so that one f runs on every engine.

    Write `xp = array_namespace(x); xp.sum(xp.sin(x))`.

    Accepts NumPy, JAX and torch arrays, autograd's boxes, and arrays of any other library that
    array-api-compat knows. Python numbers and None are ignored; without arrays the result is
    NumPy's. If a tracer and NumPy arrays are given, the tracer decides; in a derivative of a
    `rule`, the engine that differentiates it. The namespace also has `einsum`. Raises TypeError for
    arrays of two libraries that do not mix.
    """
    libraries: dict[str, tuple[Library, Any]] = {}
    unknown: list[Any] = []
    for x in arrays:
        # JAX passes the constants of a rule in a subclass.
        handler = (
            None if x is None else NUMPY if isinstance(x, np.ndarray) else handler_of(x, scan=False)
        )
        if isinstance(handler, Library):
            libraries.setdefault(handler.name, (handler, x))
        elif x is not None:
            unknown.append(x)
    if unknown:
        import array_api_compat

        return array_api_compat.array_namespace(*arrays)
    others = [pair for name, pair in libraries.items() if name not in (NUMPY.name, PYTHON.name)]
    if len(others) > 1:
        names = " and ".join(sorted(library.name for library, _ in others))
        raise TypeError(
            f"array_namespace: {names} arrays do not mix; convert them to one library first."
        )
    library, x = others[0] if others else (engine_of_rule.get() or NUMPY, None)
    namespace: ModuleType = library.namespace(x)
    return namespace
