"""What users do with models and gradients: map over leaves, add them up, make vectors and matrices
of them.
"""

from .fit.tree import *  # noqa: F403
from .fit.tree import __all__ as __all__
from .fit.tree import __dir__ as __dir__
