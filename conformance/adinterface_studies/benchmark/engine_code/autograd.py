"""What a good user writes with autograd alone, whose arrays are NumPy's."""

from __future__ import annotations

from typing import Any

import autograd
import autograd.numpy as namespace
import numpy as np
from autograd.core import make_jvp, make_vjp
from autograd.extend import vspace

from . import Function, build, leaves

__all__ = ["namespace", "native", "transform", "wait"]

native = wait = None


def transform(leaf: str, operator: str, f: Function, prepared: bool) -> Function | None:
    """The autograd operator. Preparation only saves making it in each call."""
    make = _TRANSFORMS.get(operator)
    if make is None:
        return None
    made = make(f)
    return made if prepared else lambda *args: make(f)(*args)


def _hvp(f: Function) -> Function:
    gradient = autograd.grad(f)
    # the Hessian is symmetric
    return lambda x, v, *constants: make_vjp(lambda x: gradient(x, *constants), x)[0](v)


def _jacobian(f: Function) -> Function:
    of_array = autograd.jacobian(f)

    def jacobian(x: Any, *constants: Any) -> Any:
        if isinstance(x, np.ndarray):
            return of_array(x, *constants)
        back, value = make_vjp(lambda x: f(x, *constants), x)
        rows = [leaves(back(basis)) for basis in vspace(value).standard_basis()]
        return build(x, map(np.stack, zip(*rows)))

    return jacobian


def _pullback(f: Function) -> Function:
    def pullback(x: Any, w: Any, *constants: Any) -> Any:
        back, value = make_vjp(lambda x: f(x, *constants), x)
        return value, back(w)

    return pullback


_TRANSFORMS: dict[str, Function] = {
    "gradient": autograd.grad,
    "value_and_gradient": autograd.value_and_grad,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "pullback": _pullback,
    "pushforward": lambda f: lambda x, v, *rest: make_jvp(lambda x: f(x, *rest), x)(v),
    "hessian": autograd.hessian,
}
