"""Loops and branches with the meaning of `jax.lax`, on any engine: Python's own, unless the engine's compiler knows better.

A floor beside `namespace`: it may import the contract, the registry and `tree`, and knows neither engines nor operators.
"""

from .branches import cond, switch
from .scan import fori_loop, scan
from .while_loop import while_loop

__all__ = ["cond", "fori_loop", "scan", "switch", "while_loop"]
