"""Loops and branches with `jax.lax` semantics on any engine: Python's, unless the engine compiles
its own.
"""

from .rules.loops import *  # noqa: F403
from .rules.loops import __all__ as __all__
from .rules.loops import __dir__ as __dir__
