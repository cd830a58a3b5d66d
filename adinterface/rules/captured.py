"""What a rule captures: an error where that is differentiated.

A rule has derivatives of its arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.contract.errors import AdinterfaceError, RuleError
from ..core.contract.library import NUMPY, PYTHON
from ..core.tree import Constant, flatten
from .loops.captured import captured


def refusal(name: str) -> RuleError:
    """The error for a rule that captures an array which is being differentiated."""
    return RuleError(
        f"{name}: it captures an array that is being differentiated, of which a rule gives no"
        f" derivative. Make it a positional parameter of {name}, or pass it through"
        " ignore_derivatives outside of the rule."
    )


def require_numbers(name: str, value: Any, f: Callable[..., Any]) -> None:
    """Refuse what f gave for numbers if an engine follows it: its derivative would be lost."""
    _, leaves = flatten(Constant(value), f"the value of {name}")
    # torch in forward mode computes with captured tensors here, and drops their tangents.
    others = captured(f) if any(x.library not in (NUMPY, PYTHON) for x in leaves) else ()
    if any(leaf.library.traced(leaf.value) for leaf in (*leaves, *others)):
        raise refusal(name)


def on_numbers(name: str, f: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """f's value for numbers, as code outside of the engine calls it."""
    try:
        result = f(*args, **keywords)
    except (TypeError, ValueError, RuntimeError) as error:
        # NumPy and the engine each refuse arrays of the other, and their words do not tell where
        # the array comes from.
        if not isinstance(error, AdinterfaceError) and any(
            leaf.library.traced(leaf.value) for leaf in captured(f)
        ):
            raise refusal(name) from error
        raise
    require_numbers(name, result, f)
    return result


__all__ = ["on_numbers", "refusal", "require_numbers"]
