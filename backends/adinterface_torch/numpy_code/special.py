"""The ufuncs of scipy.special on tensors: those that no composition reaches, and those for which torch is more exact."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import special as torch_special

from adinterface.numpy_code.compositions import far_out

from ..nested_forward import is_nested_forward
from .composed import inexact, tensors

Function = Callable[..., Any]


def _one(call: Function) -> Function:
    return lambda x: call(inexact(x))


def _several(call: Function) -> Function:
    return lambda *values: call(*torch.broadcast_tensors(*[inexact(value) for value in tensors(*values)]))  # type: ignore[no-untyped-call]


def _in_double(call: Function) -> Function:
    """Computed in float64 and rounded once, as SciPy does for float32, where a single precision loses too much on the way.

    A device without float64 computes as it can.
    """

    def rounded(*arrays: Any) -> Any:
        if arrays[0].dtype is not torch.float32 or arrays[0].device.type == "mps":
            return call(*arrays)
        return call(*[x.double() for x in arrays]).float()

    return rounded


def _composed(composed: Function, *own: Any) -> Function:
    """A function that is made of torch's own."""

    def call(*values: Any) -> Any:
        from .. import namespace  # here, because array-api-compat is slow to import

        return composed(namespace, *own, *values)

    return _in_double(call)


def _digammas(n: int, x: Any) -> Any:
    return torch.polygamma(n, x) if n else torch.digamma(x)


_gammas = (torch.lgamma, _digammas)
_erfcx = _composed(far_out.erfcx, torch_special.erfcx)

erf = _one(torch.erf)
erfc = _one(torch.erfc)
erfcx = _one(_erfcx)
gammaln = loggamma = _one(torch.lgamma)
digamma = psi = _one(torch.digamma)
expit = _one(torch.sigmoid)
log_expit = _one(torch.nn.functional.logsigmoid)
ndtr = _one(_composed(far_out.ndtr, torch.erfc))
log_ndtr = _one(_composed(far_out.log_ndtr, torch.erfc, _erfcx))
entr = _one(torch_special.entr)
i0 = _one(torch_special.i0)
i0e = _one(_composed(far_out.scaled_bessel, 0, torch_special.i0e))
i1 = _one(torch_special.i1)
i1e = _one(_composed(far_out.scaled_bessel, 1, torch_special.i1e))
zeta = _several(torch_special.zeta)


def _gammaincc(a: Any, x: Any) -> Any:
    """For a tiny a and an x up to 1 the series of torch's own forgets a term."""
    from .. import namespace  # here, because array-api-compat is slow to import

    tiny = (a < 1e-9) & (x <= 1) & (x > 0) & (a >= 0)
    series = far_out.small_shape_complement(namespace, torch.where(tiny, a, 0.0), torch.where(tiny, x, 0.5))
    return torch.where(tiny, series, torch_special.gammaincc(torch.where(tiny, 1.0, a), x))


@functools.cache
def _with_partials(name: str) -> Function:
    """torch's own. Of incomplete gamma functions it has no derivative by the first argument, and none at all in forward mode;
    the derivatives of inverse functions are nan outside of their domains, also where nothing is to come of them."""
    from adinterface.scipy.special.own import with_partials  # here, because it needs SciPy

    own = {
        "gammainc": torch_special.gammainc, "gammaincc": _gammaincc, "erfinv": torch.erfinv, "logit": torch.logit,
        "ndtri": torch_special.ndtri,
    }[name]  # fmt: skip
    return with_partials(name, _in_double(own) if name.startswith("gamma") else own)


gammainc, gammaincc = (_several(lambda a, x, name=name: _with_partials(name)(a, x)) for name in ("gammainc", "gammaincc"))


def _inverse(own: Function) -> Function:
    """Inside a forward derivative of a forward derivative, where torch leaves rules out, torch's own rule has to do."""
    return lambda x: own(x) if is_nested_forward((x,)) else _with_partials(own.__name__.removeprefix("special_"))(x)


erfinv, logit, ndtri = (_one(_inverse(own)) for own in (torch.erfinv, torch.logit, torch_special.ndtri))
rgamma = _one(_composed(far_out.rgamma, torch.lgamma))
beta = _several(_composed(far_out.beta, *_gammas))
betaln = _several(_composed(far_out.betaln, *_gammas))
binom = _several(_composed(far_out.binom, *_gammas))
poch = _several(_composed(far_out.poch, *_gammas))


@_one
def gamma(x: Any) -> Any:
    magnitude = torch.exp(torch.lgamma(x))
    signed = torch.where((x > 0) | (torch.remainder(torch.floor(x), 2) == 0), magnitude, -magnitude)
    return torch.where((x < 0) & (x == torch.floor(x)), torch.full_like(x, torch.nan), signed)
