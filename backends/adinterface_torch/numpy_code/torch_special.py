"""The functions of scipy.special that torch has natively.

The functions defined here need no correction. `adinterface.scipy.special.table` corrects those in
PARTS, or composes others from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import special as torch_special

from ..levels import is_nested_forward
from .composed import inexact, tensors

Function = Callable[..., Any]


def _of_inexact(function: Function) -> Function:
    return lambda x: function(inexact(x))


def around(function: Function) -> Function:
    """A function of tensors of one inexact dtype and shape, as one of any values.

    It is computed in float64 and rounded once, as SciPy does for float32, because float32 loses too
    many digits. A device without float64 uses its own precision.
    """

    def call(*values: Any) -> Any:
        arrays = [inexact(value) for value in tensors(*values)]
        if len(arrays) > 1:
            arrays = torch.broadcast_tensors(*arrays)  # type: ignore[no-untyped-call]
        if arrays[0].dtype is not torch.float32 or arrays[0].device.type == "mps":
            return function(*arrays)
        return function(*[x.double() for x in arrays]).float()

    return call


def _gammaincc(a: Any, x: Any) -> Any:
    """For a tiny a and an x up to 1, the series in torch lacks a term."""
    from adinterface.scipy.for_engines import small_shape_complement  # here, because it needs SciPy

    from .. import namespace  # here, because array-api-compat is slow to import

    tiny = (a < 1e-9) & (x <= 1) & (x > 0) & (a >= 0)
    series = small_shape_complement(namespace, torch.where(tiny, a, 0.0), torch.where(tiny, x, 0.5))
    return torch.where(tiny, series, torch_special.gammaincc(torch.where(tiny, 1.0, a), x))


PARTS: dict[str, Function] = {
    "erfc": torch.erfc,
    "erfcx": torch_special.erfcx,
    "gammaln": torch.lgamma,
    "polygamma": torch.polygamma,
    "i0e": torch_special.i0e,
    "i1e": torch_special.i1e,
    # torch has no derivative of these by the first argument, and none at all in forward mode.
    "gammainc": torch_special.gammainc,
    "gammaincc": _gammaincc,
}

erf = _of_inexact(torch.erf)
erfc = _of_inexact(torch.erfc)
gammaln = _of_inexact(torch.lgamma)
psi = _of_inexact(torch.digamma)
expit = _of_inexact(torch.sigmoid)
log_expit = _of_inexact(torch.nn.functional.logsigmoid)
entr = _of_inexact(torch_special.entr)
i0 = _of_inexact(torch_special.i0)
i1 = _of_inexact(torch_special.i1)


def _zero_outside(name: str, function: Function) -> Function:
    """torch's derivative is nan outside of the domain, also where it is multiplied by zero.

    A nested forward derivative uses the torch derivative, because torch ignores rules there.
    """

    def call(x: Any) -> Any:
        if is_nested_forward((x,)):
            return function(x)
        from adinterface.scipy.for_engines import with_partials  # here, because it needs SciPy

        return with_partials(name, function)(x)

    return _of_inexact(call)


erfinv = _zero_outside("erfinv", torch.erfinv)
logit = _zero_outside("logit", torch.logit)
ndtri = _zero_outside("ndtri", torch_special.ndtri)


@_of_inexact
def gamma(x: Any) -> Any:
    magnitude = torch.exp(torch.lgamma(x))
    signed = torch.where((x > 0) | (torch.remainder(torch.floor(x), 2) == 0), magnitude, -magnitude)
    return torch.where((x < 0) & (x == torch.floor(x)), torch.full_like(x, torch.nan), signed)
