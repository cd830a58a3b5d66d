"""The ufuncs of scipy.special on tensors: those that no composition reaches, and those for which torch is more exact."""

from __future__ import annotations

from typing import Any

import torch
from torch import special as torch_special

from .composed import inexact, tensors


def _one(call: Any) -> Any:
    return lambda x: call(inexact(x))


def _several(call: Any) -> Any:
    return lambda *values: call(*[inexact(value) for value in tensors(*values)])


erf = _one(torch.erf)
erfc = _one(torch.erfc)
erfcx = _one(torch_special.erfcx)
erfinv = _one(torch.erfinv)
gammaln = loggamma = _one(torch.lgamma)
digamma = psi = _one(torch.digamma)
expit = _one(torch.sigmoid)
log_expit = _one(torch.nn.functional.logsigmoid)
logit = _one(torch.logit)
ndtr = _one(torch_special.ndtr)
log_ndtr = _one(torch_special.log_ndtr)
ndtri = _one(torch_special.ndtri)
entr = _one(torch_special.entr)
i0 = _one(torch_special.i0)
i0e = _one(torch_special.i0e)
i1 = _one(torch_special.i1)
i1e = _one(torch_special.i1e)
xlogy = _several(torch.xlogy)
xlog1py = _several(torch_special.xlog1py)
zeta = _several(torch_special.zeta)
gammainc = _several(torch_special.gammainc)
gammaincc = _several(torch_special.gammaincc)


@_one
def gamma(x: Any) -> Any:
    magnitude = torch.exp(torch.lgamma(x))
    return torch.where((x > 0) | (torch.remainder(torch.floor(x), 2) == 0), magnitude, -magnitude)


@_one
def rgamma(x: Any) -> Any:
    return 1 / gamma(x)


@_several
def betaln(a: Any, b: Any) -> Any:
    return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)


@_several
def beta(a: Any, b: Any) -> Any:
    return gamma(a) * gamma(b) / gamma(a + b)


@_several
def binom(n: Any, k: Any) -> Any:
    return gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1)
