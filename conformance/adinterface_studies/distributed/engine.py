"""What this package has of an engine for several processes."""

from __future__ import annotations

import importlib.util

from adinterface import AutoBackend


def yardstick_of(auto: AutoBackend) -> str | None:
    """The module in which an engine's users spread models over processes; None if this package has
    none.
    """
    module = f"{__package__}.{auto.name}_processes"
    return module if importlib.util.find_spec(module) is not None else None
