"""Which code runs as a copy, by its module."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ..engine import ENGINES

#: Packages whose code is not copied: NumPy and Python, and packages that never compute with NumPy.
LEFT = frozenset(sys.stdlib_module_names - {"__main__"}) | {
    "numpy", "pandas", "matplotlib", "adinterface", "numba", "sympy", "mpmath", "pytest", "_pytest",
    "IPython", "tqdm", "joblib", "threadpoolctl", "dask", "xarray", "pyarrow", "rich",
    "typing_extensions", "array_api_strict",
}  # fmt: skip
#: Modules of NumPy that are plain NumPy code.
_WRITTEN_IN_NUMPY = ("numpy.polynomial", "numpy.lib")


def top_of(name: Any) -> str:
    return name.partition(".")[0] if isinstance(name, str) else ""


@functools.lru_cache(4096)
def reached(name: Any) -> bool:
    """Whether code of this module is copied."""
    if not isinstance(name, str):
        return True
    if name.startswith("scipy.sparse"):  # matrices of numbers, which stay constants
        return False
    return name.startswith(_WRITTEN_IN_NUMPY) or top_of(name) not in LEFT | ENGINES
