"""The time to compile a Python loop, which JAX traces as one operation for each operation of each step."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface import UnrolledWarning
from adinterface.core.contract import levels_to_the_user

#: The warning starts at so many seconds.
LONG_SECONDS = 10.0
#: The operations of a gradient that come with each array of the arguments: a model with many arrays is no unrolled loop.
PER_ARRAY = 20


def seconds(count: int) -> float:
    """The time that XLA takes to compile so many operations, by a fit that is right to a factor of about 3.

    Measured in CPU seconds, gradients of unrolled loops: LSTM 1.8, 4.3, 14 (550, 1,100, 2,200 operations); Runge-Kutta fit 1.5,
    3.3, 11 (620, 950, 1,600); scalar recurrence 5.8, 24 (1,200, 2,500); layers 1.6, 3.3, 7.2 (550, 1,100, 2,200). A Kalman
    filter takes less: 2.3 (3,100). So does elementwise code without indices, which XLA fuses into one kernel: 2.4 (3,600).
    """
    return float((count / 400) ** 1.5)


def warning(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` for `jax.jit`: while it is traced, and never after, its operations are counted."""
    compiled = jax.jit(compute)

    @functools.wraps(compute)
    def counted(*arrays: Any) -> Any:
        if jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            return compute(*[jnp.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays])
        count = operations(compiled.trace(*arrays).jaxpr.jaxpr)
        if (estimate := seconds(max(count - PER_ARRAY * len(arrays), 0))) >= LONG_SECONDS:
            warn(
                f"JAX traced f as {count:,} operations, which XLA will take about {estimate:,.0f} s to compile: it unrolls "
                f"Python's loops. Write the loop with adinterface.loops.scan or fori_loop, whose step is traced and compiled "
                f"once, or leave the call uncompiled with AutoJax(jit=False)."
            )
        return compiled(*arrays)  # JAX has cached the trace

    return counted


def warn_left(count: int) -> None:
    """The warning for code whose path depends on numbers, and which stays uncompiled."""
    warn(
        f"The path of f depends on numbers. The path of this call has {count:,} operations, which XLA would take about "
        f"{seconds(count):,.0f} s to compile, for this path alone: calls run uncompiled, with the same results. Write the loop "
        f"with adinterface.loops.while_loop or scan, which are compiled once. AutoJax(jit=False) compiles nothing."
    )


def warn(message: str) -> None:
    warnings.warn(message, UnrolledWarning, stacklevel=levels_to_the_user("adinterface_jax", "jax"))


def operations(jaxpr: Any) -> int:
    """How many operations a program has, with those of the programs inside it."""
    known: dict[int, int] = {}

    def count(program: Any) -> int:
        if id(program) not in known:
            known[id(program)] = sum(1 + sum(map(count, programs(list(line.params.values())))) for line in program.eqns)
        return known[id(program)]

    return count(jaxpr)


def programs(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from programs(list(value))
        else:
            program = getattr(value, "jaxpr", value)  # which a closed one wraps
            if hasattr(program, "eqns"):
                yield program


__all__ = ["LONG_SECONDS", "operations", "seconds", "warn_left", "warning"]
