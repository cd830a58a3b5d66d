"""Optimisers and solvers of other packages on any tree and any backend.

`import adinterface` imports none of it, and SciPy and an engine's optimisers are imported when they
are used. It may import core, tree, the value `AutoSparse`, `Duplicated` and `Each`. Only
integrations import it, and engines import `for_engines`.
"""

from ..core.support.publish import publish
from .differential_equations import solve_ivp
from .flat import Flat, flat
from .optimisers import Optimiser, StatefulOptimiser, from_optax, from_torch_optim
from .solvers import curve_fit, find_root, least_squares, minimize
from .training import Training
from .update import update

__all__ = [
    "Flat",
    "StatefulOptimiser",
    "Optimiser",
    "Training",
    "curve_fit",
    "find_root",
    "flat",
    "from_optax",
    "from_torch_optim",
    "least_squares",
    "minimize",
    "solve_ivp",
    "update",
]

publish(__name__, globals())
