"""What a good user writes with autograd alone: the yardstick of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd


def one_shot(operator: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """A call of autograd's own operator."""
    transform = _TRANSFORMS.get(operator)
    return None if transform is None else lambda: transform(f, *args)


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, x: autograd.grad(f)(x),
    "value_and_gradient": lambda f, x: autograd.value_and_grad(f)(x),
    "jacobian": lambda f, x: autograd.jacobian(f)(x),
    "hvp": lambda f, x, v: autograd.hessian_vector_product(f)(x, v),
    "hessian": lambda f, x: autograd.hessian(f)(x),
}
