"""The Array API namespace of torch tensors: array-api-compat, with our functions where it loses a gradient."""

import sys

from array_api_compat.torch import *  # noqa: F403  (a namespace is what this file is)
from array_api_compat.torch import __array_api_version__ as __array_api_version__
from torch import einsum as einsum

from . import fft as fft
from . import linalg as linalg
from .completed_standard import *  # noqa: F403


def unique_all(x: object, /) -> tuple[object, ...]:
    """Composed, since torch.unique does not return the index of the first of each."""
    from adinterface.numpy_code.compositions import indexing  # here, because it imports twenty files

    return indexing.unique_all(sys.modules[__name__], x)
