"""Loops and branches with `jax.lax` semantics on any engine.

They are those of Python, unless the engine compiles its own.

May import the contract, the registry and `tree`; names neither engines nor operators.
"""

from ...core.support.publish import publish
from .branches import cond, switch
from .scan import fori_loop, scan
from .while_loop import while_loop

__all__ = ["cond", "fori_loop", "scan", "switch", "while_loop"]


def __dir__() -> list[str]:
    """What is for users."""
    return __all__


publish("adinterface.loops", globals())
