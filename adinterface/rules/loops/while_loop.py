"""`while_loop`: as many steps as it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...core.contract.backend import Arrays
from ...core.contract.errors import OutputError
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.tracing import untraced
from .captured import engine_among
from .carry import Carry
from .home import Home, Outgrown, known
from .trees import LoopLeaf, LoopTree, described, leaf_of

CarryT = TypeVar("CarryT")


@untraced
def while_loop(
    condition: Callable[[CarryT], Any], body: Callable[[CarryT], CarryT], init: CarryT
) -> CarryT:
    """``while condition(carry): carry = body(carry)``, as `jax.lax.while_loop`.

    The carry is any tree, on any engine.

    carry and init are as in `scan`; the condition returns one bool. The number of steps is unknown,
    so JAX has no reverse-mode derivative of such a loop, and raises; all engines have forward mode,
    and the others both.

    Raises TreeError if body changes the structure, a shape or a dtype of its carry, OutputError if
    the condition is not one bool.

    >>> from adinterface.loops import while_loop
    >>> while_loop(lambda x: x < 100.0, lambda x: x * x, 2.0)
    np.float64(256.0)
    """
    for name, f in (("condition", condition), ("body", body)):
        if not callable(f):
            raise TypeError(f"while_loop: {name} must be callable, not {described(f)}.")
    tree = LoopTree(init, "carry")
    brought = engine_among(tree.leaves, condition, body)
    carried: CarryT = attempts(
        "while_loop", tree, brought, lambda carry, home: _run(condition, body, carry, home)
    )
    return carried


def computed_bounds(lower: Any, upper: Any, body: Callable[[Any, Any], Any], tree: LoopTree) -> Any:
    """The `fori_loop` of which a bound is an array that an engine has not computed yet."""
    traced = [bound for bound in (lower, upper) if isinstance(bound, LoopLeaf)]

    def run(carry: Carry, home: Home) -> Any:
        dtype = home.library.dtype(traced[-1].value)
        bounds = (bound.value if isinstance(bound, LoopLeaf) else bound for bound in (lower, upper))
        first, last = [home.loops.adopt(bound, dtype=dtype, like=home.like) for bound in bounds]

        def stepped(arrays: Arrays) -> Arrays:
            i, *inner = arrays
            return (i + 1, *carry.read(body(home.leave(i), carry.build(inner)))[0])

        return carry.build(
            home.loops.while_loop(lambda arrays: arrays[0] < last, stepped, (first, *carry.arrays))[
                1:
            ]
        )

    return attempts("fori_loop", tree, traced, run)


def attempts(
    loop: str, tree: LoopTree, brought: list[LoopLeaf], run: Callable[[Carry, Home], Any]
) -> Any:
    """`run(carry, home)`, begun again where the loop outgrows its library or a dtype."""
    dtypes: dict[int, str] = {}
    while True:
        home = Home([*tree.leaves, *brought])
        try:
            return run(Carry(loop, tree, home, dtypes), home)
        except Outgrown as more:  # at most once for each number and each library
            brought, dtypes = brought + more.leaves, dtypes | more.dtypes


def _run(
    condition: Callable[[Any], Any], body: Callable[[Any], Any], carry: Carry, home: Home
) -> Any:
    if not home.loops.compiles:
        value = carry.build(home.copies(carry.arrays))  # which a step may write into
        while _truth(condition(value), home):
            value = body(value)
            arrays, as_it_is = carry.read(value)
            if not as_it_is:
                value = carry.build(arrays)
        return value

    def holds(arrays: Arrays) -> Any:
        return _one_truth_value(condition(carry.build(arrays))).value

    def stepped(arrays: Arrays) -> Arrays:
        return tuple(carry.read(body(carry.build(arrays)))[0])

    return carry.build(home.loops.while_loop(holds, stepped, carry.arrays))


def _truth(value: Any, home: Home) -> bool:
    if type(value) is bool or type(value) is np.bool:
        return bool(value)
    leaf = _one_truth_value(value)
    if home.is_plain and leaf.library not in (NUMPY, PYTHON) and leaf.library.loops().compiles:
        raise Outgrown([leaf])  # it depends on a value that the loop does not carry
    return bool(known("while_loop", leaf.library, leaf.value, bool))


def _one_truth_value(value: Any) -> LoopLeaf:
    """What the condition gave, which must be 0-d and boolean."""
    leaf = leaf_of(value)
    if leaf is None or type(leaf.value) is not bool:
        library, array = (PYTHON, value) if leaf is None else (leaf.library, leaf.value)
        if library is PYTHON or library.shape(array) != () or library.dtype(array) != "bool":
            raise OutputError(
                f"while_loop: the condition must give one truth value, and gave {described(value)}."
                " Write a comparison of numbers, or xp.all(...) or xp.any(...) of an array."
            )
    assert leaf is not None
    return leaf


__all__ = ["attempts", "computed_bounds", "while_loop"]
