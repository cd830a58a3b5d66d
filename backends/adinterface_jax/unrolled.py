"""What a Python loop becomes when JAX traces it: a line for each operation of each step, which all are compiled."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax

from adinterface.core.contract.errors import UnrolledWarning, levels_to_the_user

#: From so many operations on it is said. On one core of a server, XLA took 0.5 s for 900 of them, 6 to 54 s for 3,600 to 9,000,
#: 37 s for 12,000 and 420 s for 24,000 (`first_call` in docs/loops.md); code without loops rarely has a tenth of this.
MANY = 10_000


def warning(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` for `jax.jit`: while it is traced, and never after, its operations are counted."""
    compiled = jax.jit(compute)

    @functools.wraps(compute)
    def counted(*arrays: Any) -> Any:
        count = operations(compiled.trace(*arrays).jaxpr.jaxpr)
        if count >= MANY:
            warnings.warn(
                f"JAX traced f as {count:,} operations, which will take it minutes to compile: it unrolls Python's loops. "
                f"Write the loop with adinterface.loops.scan or fori_loop, whose step is traced and compiled once, or leave "
                f"the call uncompiled with AutoJax(jit=False).",
                UnrolledWarning,
                stacklevel=levels_to_the_user("adinterface_jax", "jax"),
            )
        return compiled(*arrays)  # JAX has cached the trace

    return counted


def warn_left(count: int) -> None:
    """The warning for code whose path depends on numbers, and which stays uncompiled."""
    warnings.warn(
        f"f goes on by numbers, and the way that it has taken is {count:,} operations long, which XLA would take minutes to "
        f"compile, for this way alone: its calls run uncompiled, and give the same. If its loop is yours, write it with "
        f"adinterface.loops.while_loop or scan, which are compiled once; AutoJax(jit=False) compiles nothing and says nothing.",
        UnrolledWarning,
        stacklevel=levels_to_the_user("adinterface_jax", "jax"),
    )


def operations(jaxpr: Any) -> int:
    """How many operations a program has, with those of the programs inside it."""
    known: dict[int, int] = {}

    def count(program: Any) -> int:
        if id(program) not in known:
            known[id(program)] = sum(1 + sum(map(count, _programs(list(line.params.values())))) for line in program.eqns)
        return known[id(program)]

    return count(jaxpr)


def _programs(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _programs(list(value))
        else:
            program = getattr(value, "jaxpr", value)  # which a closed one wraps
            if hasattr(program, "eqns"):
                yield program


__all__ = ["MANY", "operations", "warn_left", "warning"]
