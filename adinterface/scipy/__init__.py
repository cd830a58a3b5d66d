"""SciPy's functions with known derivatives, on the arrays of any engine.

    from adinterface.scipy import linalg

    linalg.solve_triangular(a, b)

It may import `rules`, `numpy_code` and core. The functions have the names and arguments of SciPy,
and call SciPy for plain NumPy arrays. SciPy is imported with the first of these modules. Engines
import `for_engines`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from ..core.contract.errors import MissingEngineError
from ..numpy_code.array import PRODUCTS
from ..numpy_code.engine import FURTHER, OF_COMPLEX, OFFERS, Engine

_MODULES = (
    "fft",
    "integrate",
    "interpolate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
)


def __getattr__(name: str) -> Any:
    """A module of ours, or SciPy's own where there is none."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        scipy = importlib.import_module("scipy")
    except ModuleNotFoundError as error:
        raise MissingEngineError(
            f"adinterface.scipy.{name} needs SciPy, which is not installed: pip install"
            " 'adinterface[scipy]'",
            name=error.name,
        ) from None
    return (
        importlib.import_module(f"{__name__}.{name}") if name in _MODULES else getattr(scipy, name)
    )


def __dir__() -> list[str]:
    """What is for users."""
    return ["ours", *_MODULES]


def ours(function: Any) -> Callable[..., Any] | None:
    """The function or class of this package for one of SciPy, found by the object.

    None if there is none.

    Used by code that copies NumPy code and replaces SciPy functions in the copy.
    """
    module: Any = getattr(function, "__module__", None)
    if not isinstance(module, str) or not module.startswith("scipy.") or not callable(function):
        return None
    package = "densities" if module == "scipy.stats._stats" else module.split(".")[1]
    if package not in (*_MODULES, "densities") or function.__hash__ is None:
        return None
    importlib.import_module(f"{__name__}.{package}")
    from .dispatch import OURS

    return OURS.get(function)


def _ufunc(name: str, engine: Engine) -> Callable[..., Any] | None:
    """A ufunc of scipy.special that an engine has not."""
    if not name.startswith("special."):
        return None
    from .special.on_engines import on_engine

    return on_engine(name.removeprefix("special."), engine)


def _of_complex(name: str, engine: Engine) -> Callable[..., Any] | None:
    """A ufunc of scipy.special that an engine has for real numbers alone."""
    # NumPy's i0 has the name of a SciPy ufunc, also without SciPy: a program with a SciPy ufunc has
    # imported it.
    if not name.startswith("special.") or "scipy.special" not in sys.modules:
        return None
    from .special.on_engines import of_complex

    return of_complex(name.removeprefix("special."), engine)


FURTHER.append(_ufunc)
OF_COMPLEX.append(_of_complex)
OFFERS.append(ours)


def _sparse_product(ufunc: Any, other: Any, array: Any, reflected: bool) -> Any:
    """A product with a sparse matrix of SciPy's, which is a constant."""
    if "scipy.sparse" not in sys.modules:  # a program with a sparse matrix has imported it
        return NotImplemented
    from .sparse.sparse_products import matrix_product

    return matrix_product(ufunc, other, array, reflected)


PRODUCTS.append(_sparse_product)
