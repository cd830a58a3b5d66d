"""Whether the other package can call f as it will."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..core.call.messages import require_function


def require_arguments(caller: str, f: Callable[..., Any], count: int) -> None:
    """Raises TypeError, with the remedy, for what cannot be called with so many positional arguments."""
    require_function(caller, f)
    try:
        signature = inspect.signature(f)
    except ValueError:
        return  # a function in C may have none
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        raise TypeError(
            f"{caller}: f must take {count} positional argument{'s' * (count != 1)}, one for each array: {error}. "
            f"Bind others with functools.partial."
        ) from error
