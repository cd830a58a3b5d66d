"""Functions of the standard whose derivatives JAX lacks or gets wrong.

(Not in namespace.py, whose `any` and `sum` are JAX's.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient

__all__ = [
    "from_dlpack", "hypot", "logaddexp", "maximum", "minimum", "nextafter", "pow", "power", "std",
]  # fmt: skip


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of JAX is one already; under jit it could not be exported."""
    if isinstance(x, jax.Array):
        return x if device is None else jax.device_put(x, device)
    return jnp.from_dlpack(x, device=device, copy=copy)


def hypot(x: Any, y: Any, /) -> Any:
    """JAX 0.10's rule selects the larger, which loses second derivatives where |x| = |y|."""
    scale = stop_gradient(jnp.maximum(jnp.abs(x), jnp.abs(y)))
    scale = jnp.where((scale == 0) | jnp.isinf(scale), 1, scale)
    return scale * _root((x / scale) ** 2 + (y / scale) ** 2)


def _root(x: Any) -> Any:
    """The square root of a sum of squares, whose derivative is zero, not NaN, at zero."""
    corner = x == 0
    return jnp.where(corner, 0, jnp.sqrt(jnp.where(corner, 1, x)))


def std(x: Any, /, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    """JAX's rule has no derivative where all elements are equal."""
    return _root(jnp.var(x, axis, dtype, **options))


def _inexact(*values: Any) -> list[Any]:
    """Promotes to floating dtypes as JAX does."""
    dtype = jax.eval_shape(jnp.logaddexp, *values).dtype
    return [jnp.asarray(value, dtype=dtype) for value in values]


def logaddexp(x: Any, y: Any, /) -> Any:
    """JAX's rule is wrong next to an infinity, and nan between two."""
    x, y = jnp.broadcast_arrays(*_inexact(x, y))
    larger, smaller = jnp.where(x < y, y, x), jnp.where(x < y, x, y)
    alike = (x == y) & jnp.isinf(x)
    distance = jnp.where(alike, 0, smaller) - jnp.where(alike, 0, larger)
    return jnp.where(alike, (x + y) / 2, larger + jnp.log1p(jnp.exp(distance)))


def _larger(own: Callable[..., Any], before: Callable[..., Any]) -> Callable[..., Any]:
    """A choice between two numbers whose derivative selects, too.

    JAX multiplies the other branch by zero, which is nan where it is infinite: in 1 / maximum(x,
    1e-308) at x = -1. JAX 0.12 has no derivative for complex numbers, though their maximum.
    """
    chosen = jax.custom_jvp(own)

    @chosen.defjvp
    def slope(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        alike = jnp.where(x == y, (dx + dy) / 2, 0)
        return chosen(x, y), jnp.where(before(x, y), dx, jnp.where(before(y, x), dy, alike))

    def call(x: Any, y: Any, /) -> Any:
        dtype = jnp.result_type(x, y)
        weak = all(not hasattr(z, "dtype") or getattr(z, "weak_type", False) for z in (x, y))
        if weak or not jnp.issubdtype(dtype, jnp.inexact):
            return own(x, y)
        return chosen(*jnp.broadcast_arrays(jnp.asarray(x, dtype), jnp.asarray(y, dtype)))

    return call


maximum = _larger(jnp.maximum, jnp.greater)
minimum = _larger(jnp.minimum, jnp.less)


def pow(x: Any, y: Any, /) -> Any:
    """JAX's rule has no derivative of 0.0 ** 0.0, and no second derivative of 0.0 ** 1.0."""
    if type(y) is float and y.is_integer() and 0 <= y < 64:
        y = int(y) if jnp.issubdtype(jnp.result_type(x), jnp.inexact) else y
    if not hasattr(y, "dtype") or not jnp.issubdtype(y.dtype, jnp.inexact):
        return jnp.power(x, y)
    x, y = (
        jnp.broadcast_arrays(*_inexact(x, y))
        if not jnp.iscomplexobj(x) and not jnp.iscomplexobj(y)
        else (x, y)
    )
    zero = (x == 0) & ((y == 0) | (y == 1))
    return jnp.where(zero & (y == 1), x, jnp.power(jnp.where(zero, 1, x), y))


power = pow


def nextafter(x: Any, y: Any, /) -> Any:
    """JAX has no derivative for it: that of x."""
    return x + stop_gradient(jnp.nextafter(stop_gradient(x), stop_gradient(y)) - x)
