"""numpy.linalg on tensors, with NumPy's errors and a better rule for the determinant."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from adinterface.numpy_code.for_engines import COMPOSITIONS

from ..private import is_wrapped
from .composed import composed, inexact

Function = Callable[..., Any]
#: Under torch.func a tensor does not tell its numbers.
_SINGULAR: type[Exception] = vars(torch.linalg)["LinAlgError"]


def _det(a: Any) -> Any:
    """The torch rule is zero or NaN for some singular matrices.

    There the determinant is the product of the singular values, up to its sign.
    """
    a = inexact(a)
    result = torch.linalg.det(a)
    if is_wrapped(a) or not bool((result == 0).any()) or not a.shape[-1]:
        return result
    product = torch.prod(torch.linalg.svdvals(a), -1)
    with torch.no_grad():
        u, _, vh = torch.linalg.svd(a)
        phase = torch.linalg.det(u) * torch.linalg.det(vh)
    product = phase * product
    return torch.where(result == 0, product - product.detach(), result)


#: The functions of which torch knows better.
OWN: dict[str, Function] = {"det": _det}


def __getattr__(name: str) -> Function:
    """A function of numpy.linalg, from here or composed.

    Errors are NumPy LinAlgErrors, which code for NumPy catches.
    """
    if name not in OWN and f"linalg.{name}" not in COMPOSITIONS:
        raise AttributeError(name)
    call = OWN.get(name) or composed(f"linalg.{name}")

    @functools.wraps(call)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except _SINGULAR as error:
            raise np.linalg.LinAlgError(str(error)) from error

    return function
