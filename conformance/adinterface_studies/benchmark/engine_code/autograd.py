"""What a good user writes with autograd alone, whose arrays are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy as namespace
import numpy as np
from autograd.core import make_jvp, make_vjp
from autograd.extend import vspace

from . import Leaf

__all__ = ["namespace", "native", "transform", "wait"]

native: Callable[[Any], Any] | None = None
wait: Callable[[Any], Any] | None = None


def transform(
    leaf: Leaf, operator: str, f: Callable[..., Any], prepared: bool
) -> Callable[..., Any] | None:
    """The autograd operator. Preparation only saves making it in each call."""
    make = _TRANSFORMS.get(operator)
    if make is None:
        return None
    made = make(f)
    return made if prepared else lambda *args: make(f)(*args)


def _hvp(f: Callable[..., Any]) -> Callable[..., Any]:
    gradient = autograd.grad(f)

    def product(x: Any, v: Any, *constants: Any) -> Any:
        back, _ = make_vjp(lambda x: gradient(x, *constants), x)  # the Hessian is symmetric
        return back(v)

    return product


def _jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    of_array = autograd.jacobian(f)

    def jacobian(x: Any, *constants: Any) -> Any:
        if isinstance(x, np.ndarray):
            return of_array(x, *constants)
        back, value = make_vjp(lambda x: f(x, *constants), x)
        rows = [back(basis) for basis in vspace(value).standard_basis()]
        return _stacked(rows)

    return jacobian


def _pullback(f: Callable[..., Any]) -> Callable[..., Any]:
    def pullback(x: Any, w: Any, *constants: Any) -> Any:
        back, value = make_vjp(lambda x: f(x, *constants), x)
        return value, back(w)

    return pullback


def _pushforward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, v, *constants: make_jvp(lambda x: f(x, *constants), x)(v)


def _stacked(rows: list[Any]) -> Any:
    if isinstance(rows[0], dict):
        return {key: _stacked([row[key] for row in rows]) for key in rows[0]}
    if isinstance(rows[0], (list, tuple)):
        return [_stacked(list(column)) for column in zip(*rows)]
    return np.stack(rows)


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": autograd.grad,
    "value_and_gradient": autograd.value_and_grad,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "hessian": autograd.hessian,
}
