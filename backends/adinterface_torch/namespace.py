"""The Array API namespace of tensors: array-api-compat, repaired where it loses gradients."""

import sys

from array_api_compat.torch import *  # noqa: F403  (a namespace is what this file is)
from array_api_compat.torch import __array_api_version__ as __array_api_version__
from torch import einsum as einsum

from . import linalg as linalg
from .repairs import fft as fft
from .repairs.standard import *  # noqa: F403


def unique_all(x: object, /) -> tuple[object, ...]:
    """Composed, since torch.unique does not return the index of the first of each."""
    # here, because it imports twenty files
    from adinterface.numpy_code.for_engines import unique_all as composed

    return composed(sys.modules[__name__], x)
