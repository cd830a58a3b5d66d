"""scipy.spatial on the arrays of any engine: its distances."""

from ..dispatch import rest_of
from . import distance as distance

__getattr__ = rest_of("scipy.spatial", globals())
