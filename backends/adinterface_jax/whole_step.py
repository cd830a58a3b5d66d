"""A training step as one `jax.jit` program, for models of JAX or NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from .library import precision_of
from .nnx import stateful
from .private import ArrayImpl

_NUMPY = frozenset([np.ndarray])
_JAX = frozenset([ArrayImpl])
_EITHER = _NUMPY | _JAX
_WIDE = frozenset(map(np.dtype, ("float64", "complex128")))


class _Known(NamedTuple):
    """What the last step returned, which need not be looked at again."""

    model: Any
    state: Any
    kinds: frozenset[type]
    wide: bool


class WholeStep:
    """`whole(model, state, *data)`, compiled: the value, the updated model and the next state.

    A faster alternative to the prepared step of `Training`, which serves all arguments. A step of
    an MLP with Adam takes 1.05 to 1.08 times the hand-written time (70 us on JAX arrays, 150 us on
    NumPy arrays); the prepared step takes 1.5 and 1.2 times.

    None for arguments that `jax.jit` does not take: Python numbers, other classes, NNX state, an
    array at several places of the model. NumPy arrays are returned as writable arrays.
    """

    def __init__(self, whole: Callable[..., Any]):
        self._compiled = jax.jit(whole)
        self._last: _Known | None = None

    def __call__(
        self, model: Any, state: Any, data: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if kwargs:
            return None
        known = self._last
        if known is None or model is not known.model or state is not known.state:
            known = _known(model, state)
            if known is None:
                return None
        wide = _width(jax.tree.leaves(data), _EITHER, known.wide)
        nested = [part for part in data if type(part) not in _EITHER]
        if wide is None or any(True for _ in stateful(nested, {})):
            return None
        try:
            with precision_of("float64" if wide else "float32"):
                value, *following = self._compiled(model, state, *data)
        except jax.errors.JaxRuntimeError:  # of the device, such as too little memory
            raise
        except Exception:
            # f, or the transformation, cannot be traced so: the general road makes the step, or
            # says why not.
            return None
        if known.kinds == _NUMPY:
            value, *following = jax.tree.map(_own, [value, *following])
        moved = _ordered(model, following[0])
        self._last = _Known(moved, following[1], *known[2:])
        return value, moved, following[1]


def _known(model: Any, state: Any) -> _Known | None:
    """A user's model and state as the compiled step takes them; None if it does not."""
    leaves = jax.tree.leaves(model)
    kinds = frozenset(map(type, leaves))
    if kinds not in (_NUMPY, _JAX) or len({*map(id, leaves)}) != len(leaves):
        return None
    wide = _width([*leaves, *jax.tree.leaves(state)], kinds, False)
    if wide is None or any(True for _ in stateful([model], {})):
        return None
    return _Known(model, state, kinds, wide)


def _width(leaves: Sequence[Any], kinds: frozenset[type], wide: bool) -> bool | None:
    """Whether a call with these leaves has 64 bits; None if one is of another kind."""
    for leaf in leaves:
        if type(leaf) not in kinds:
            return None
        wide = wide or leaf.dtype in _WIDE
    return wide


def _own(x: Any) -> Any:
    return np.asarray(x).copy()  # faster than np.array(x)


def _ordered(model: Any, moved: Any) -> Any:
    """A tree that JAX returned, with the keys of dicts in the order of the model's."""
    if type(model) is dict:
        return {key: _ordered(part, moved[key]) for key, part in model.items()}
    if type(model) in (list, tuple):
        return type(model)(map(_ordered, model, moved))
    return moved
