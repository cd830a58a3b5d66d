"""scipy.special on the arrays of any engine."""

from ..dispatch import rest_of
from . import orthogonal_polynomials as orthogonal_polynomials
from . import python_functions as python_functions

__getattr__ = rest_of("scipy.special", globals())
