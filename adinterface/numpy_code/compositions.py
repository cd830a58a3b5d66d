"""NumPy's functions composed of the Array API: for every engine, wherever it has none of its own.

Each takes the namespace first, then what NumPy's function takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPOSITIONS: dict[str, Callable[..., Any]] = {}
