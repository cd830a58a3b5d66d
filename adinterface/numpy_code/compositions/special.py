"""Ufuncs of scipy.special that the Array API can express."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .composing import COMPOSITIONS, Array, composition, inexact, promoted

for _name in ("exp2", "expm1", "log1p", "cbrt"):
    composition(f"special.{_name}")(lambda xp, x, of_float=COMPOSITIONS[_name]: of_float(xp, inexact(xp, x)))


def _inexact(xp: ModuleType, *values: Any) -> list[Array]:
    return [inexact(xp, x) for x in promoted(xp, *values)]


def _guarded(xp: ModuleType, x: Array, bad: Array) -> Array:
    """x with 1 in place of what would give an infinite derivative in the branch that is not taken."""
    return xp.where(bad, xp.ones_like(x), x)


@composition("special.expit")
def expit(xp: ModuleType, x: Array) -> Array:
    return (xp.tanh(inexact(xp, x) / 2) + 1) / 2


@composition("special.log_expit")
def log_expit(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    return -xp.logaddexp(xp.zeros_like(x), -x)


@composition("special.logit")
def logit(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    return xp.log(x) - xp.log1p(-x)


@composition("special.exp10")
def exp10(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    return xp.pow(10 * xp.ones_like(x), x)


@composition("special.cosm1")
def cosm1(xp: ModuleType, x: Array) -> Array:
    return -2 * xp.square(xp.sin(inexact(xp, x) / 2))


@composition("special.xlogy")
def xlogy(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = _inexact(xp, x, y)
    zero = (x == 0) & (y == y)
    return xp.where(zero, xp.zeros_like(x * y), x * xp.log(_guarded(xp, y, zero)))


@composition("special.xlog1py")
def xlog1py(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = _inexact(xp, x, y)
    zero = (x == 0) & (y == y)
    return xp.where(zero, xp.zeros_like(x * y), x * xp.log1p(_guarded(xp, y, zero)))


@composition("special.entr")
def entr(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    positive = x > 0
    found = -x * xp.log(_guarded(xp, x, xp.logical_not(positive)))
    return xp.where(positive, found, xp.where(x == 0, xp.zeros_like(x), xp.where(x < 0, xp.full_like(x, -float("inf")), x)))


@composition("special.rel_entr")
def rel_entr(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = _inexact(xp, x, y)
    positive = (x > 0) & (y > 0)
    ratio = _guarded(xp, x, xp.logical_not(positive)) / _guarded(xp, y, xp.logical_not(positive))
    infinite = xp.where((x == 0) & (y >= 0), xp.zeros_like(ratio), xp.full_like(ratio, float("inf")))
    return xp.where(positive, x * xp.log(ratio), infinite)


@composition("special.kl_div")
def kl_div(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = _inexact(xp, x, y)
    return rel_entr(xp, x, y) - x + y


@composition("special.boxcox")
def boxcox(xp: ModuleType, x: Any, power: Any) -> Array:
    x, power = _inexact(xp, x, power)
    at_zero = power == 0
    safe = _guarded(xp, power, at_zero)
    return xp.where(at_zero, xp.log(x), xp.expm1(safe * xp.log(x)) / safe)


@composition("special.inv_boxcox")
def inv_boxcox(xp: ModuleType, y: Any, power: Any) -> Array:
    y, power = _inexact(xp, y, power)
    at_zero = power == 0
    safe = _guarded(xp, power, at_zero)
    return xp.where(at_zero, xp.exp(y), xp.exp(xp.log1p(safe * xp.where(at_zero, xp.zeros_like(y), y)) / safe))


@composition("special.huber")
def huber(xp: ModuleType, delta: Any, r: Any) -> Array:
    delta, r = _inexact(xp, delta, r)
    size = xp.abs(r)
    return xp.where(size <= delta, xp.square(r) / 2, delta * (size - delta / 2))


@composition("special.pseudo_huber")
def pseudo_huber(xp: ModuleType, delta: Any, r: Any) -> Array:
    delta, r = _inexact(xp, delta, r)
    return xp.square(delta) * (xp.sqrt(1 + xp.square(r / delta)) - 1)
