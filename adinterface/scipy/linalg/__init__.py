"""scipy.linalg on the arrays of any engine."""

from ..dispatch import rest_of
from . import decompositions as decompositions
from . import equations as equations
from . import solving as solving

__getattr__ = rest_of("scipy.linalg", globals())
