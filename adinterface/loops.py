"""Loops and branches with `jax.lax` semantics on any engine: Python's, unless the engine compiles its own."""

from .core.contract.publish import publish as _publish
from .rules.loops import *  # noqa: F403
from .rules.loops import __all__ as __all__

_publish(__name__)


def __dir__() -> list[str]:
    """What is for users."""
    return __all__
