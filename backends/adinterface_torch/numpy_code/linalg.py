"""numpy.linalg on tensors: by torch where that is more exact or faster, else composed; with NumPy errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.numpy_code.compositions import COMPOSITIONS

from ..private import is_wrapped
from .composed import INEXACT, composed, inexact, tensors

Function = Callable[..., Any]
#: Under torch.func a tensor does not tell its numbers.
_SINGULAR: type[Exception] = vars(torch.linalg)["LinAlgError"]


def _solve(a: Any, b: Any) -> Any:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype and a.dtype in INEXACT):
        a, b = tensors(a, b)
        a, b = inexact(a), inexact(b)
    if b.ndim == a.ndim:
        return torch.linalg.solve(a, b)
    if b.ndim == 1:
        return torch.linalg.solve(a, b[:, None])[..., 0]
    # With as many axes as a, or torch takes a stack of vectors for what NumPy takes for a matrix.
    return torch.linalg.solve(a, b[(None,) * (a.ndim - b.ndim)])


def _det(a: Any) -> Any:
    """The torch rule is zero or NaN for some singular matrices. There the determinant is the product of the singular
    values, up to its sign."""
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


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """torch's has a derivative where all is zero."""
    x = inexact(x)
    if axis is None and ord is not None and x.ndim > 2:
        raise ValueError("Improper number of dimensions to norm.")
    return torch.linalg.norm(x, ord, tuple(axis) if isinstance(axis, list) else axis, keepdims)


#: The functions of which torch knows better.
OWN: dict[str, Function] = {
    "det": _det,
    "solve": _solve,
    "norm": _norm,
}


def __getattr__(name: str) -> Function:
    """A function of numpy.linalg, from here or composed. Errors are NumPy LinAlgErrors, which code for NumPy catches."""
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
