"""The ufuncs of scipy.special on tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import special as torch_special

from .dtypes import INEXACT, tensors


def _inexact(x: Any) -> Any:
    return x if x.dtype in INEXACT else x.to(torch.float64)


def _one(call: Any) -> Any:
    def function(x: Any) -> Any:
        return call(_inexact(x))

    return function


def _several(call: Any) -> Any:
    def function(*values: Any) -> Any:
        return call(*[_inexact(value) for value in tensors(*values)])

    return function


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
exp2 = _one(torch.exp2)
expm1 = _one(torch.expm1)
log1p = _one(torch.log1p)
xlogy = _several(torch.xlogy)
xlog1py = _several(torch_special.xlog1py)
zeta = _several(torch_special.zeta)
gammainc = _several(torch_special.gammainc)
gammaincc = _several(torch_special.gammaincc)


@_one
def exp10(x: Any) -> Any:
    return torch.pow(10.0, x)


@_one
def cosm1(x: Any) -> Any:
    return -2 * torch.square(torch.sin(x / 2))


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


@_several
def rel_entr(x: Any, y: Any) -> Any:
    return torch.xlogy(x, x) - torch.xlogy(x, y)


@_several
def kl_div(x: Any, y: Any) -> Any:
    return torch.xlogy(x, x) - torch.xlogy(x, y) - x + y


@_several
def huber(delta: Any, r: Any) -> Any:
    size = torch.abs(r)
    return torch.where(size <= delta, torch.square(r) / 2, delta * (size - delta / 2))


@_several
def pseudo_huber(delta: Any, r: Any) -> Any:
    return torch.square(delta) * (torch.sqrt(1 + torch.square(r / delta)) - 1)


@_several
def boxcox(x: Any, power: Any) -> Any:
    at_zero = power == 0
    safe = torch.where(at_zero, 1, power)
    return torch.where(at_zero, torch.log(x), torch.expm1(safe * torch.log(x)) / safe)


@_several
def inv_boxcox(y: Any, power: Any) -> Any:
    at_zero = power == 0
    safe = torch.where(at_zero, 1, power)
    return torch.where(at_zero, torch.exp(y), torch.exp(torch.log1p(safe * torch.where(at_zero, 0, y)) / safe))
