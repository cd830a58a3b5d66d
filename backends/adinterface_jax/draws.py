"""Random numbers that f draws outside of JAX while JAX traces it: compiled code has them as constants."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import jax

from adinterface import FrozenDrawsWarning
from adinterface.core.contract import Draws, levels_to_the_user


def watched(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` for `jax.jit`, which warns if f draws from the generators of the process while it is traced."""

    @functools.wraps(compute)
    def traced(*arrays: Any) -> Any:
        if not any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(arrays)):
            return compute(*arrays)
        results, draws = _drawn(compute, arrays)
        if draws and _draws_again(compute, arrays):
            warnings.warn(
                "f draws from the generator of NumPy or Python while JAX compiles it: each call computes with the numbers of "
                "the first. Draw with jax.random from a key that is an argument, pass the numbers as an argument, or leave the "
                "call uncompiled with AutoJax(jit=False).",
                FrozenDrawsWarning,
                stacklevel=levels_to_the_user("adinterface_jax", "jax"),
            )
        return results

    return traced


def _drawn(compute: Callable[..., Any], arrays: tuple[Any, ...]) -> tuple[Any, bool]:
    """The results, and whether a generator has changed meanwhile."""
    draws = Draws()
    return draws(compute, *arrays), bool(draws.states)


def _draws_again(compute: Callable[..., Any], arrays: tuple[Any, ...]) -> bool:
    """Whether a generator changes during a second trace: another thread, such as a loader of data, rarely draws in both."""
    answers: list[bool] = []

    def traced(*arrays: Any) -> Any:
        results, draws = _drawn(compute, arrays)
        answers.append(draws)
        return results

    jax.eval_shape(traced, *arrays)
    return answers[0]
