"""Scopes of autograd's tracing, and its backward pass for several outputs and several roots."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

import autograd.numpy as anp
from autograd.core import add_outgrads
from autograd.tracer import isbox, trace_stack
from autograd.util import toposort

from . import given

# autograd numbers its traces by a global depth that is not safe between threads, and too high after
# f raises. While one of our traces is open the depth only grows, so an inner trace has the larger
# number; the last to close restores the depth that the first found. All our traces have different
# numbers, so a box that outlives its trace, captured by a rule, is never mistaken for one of
# another trace.

_lock = threading.Lock()
_open = 0
_base = _last = -1


class new_trace:
    """A scope with a trace of its own; returns its number."""

    __slots__ = ()

    def __enter__(self) -> int:
        global _open, _base, _last
        with _lock:
            if _open == 0:
                _base = trace_stack.top
            _open += 1
            number: int = max(trace_stack.top, _last) + 1
            trace_stack.top = _last = number
        return number

    def __exit__(self, *raised: object) -> None:
        global _open
        with _lock:
            _open -= 1
            if _open == 0:
                trace_stack.top = _base


def node_of(x: Any, trace: int) -> Any:
    """The node of a box of this trace; None for what does not depend on its roots."""
    return x._node if isbox(x) and x._trace == trace else None


def traces_of(arrays: Iterable[Any]) -> set[int]:
    """The traces that follow these arrays."""
    result: set[int] = set()
    for x in arrays:
        while isbox(x):
            result.add(x._trace)
            x = x._value
    return result


def unboxed(x: Any, trace: int) -> Any:
    """The value of a box of this trace; anything else unchanged.

    Raises `given.listed` if the value contains boxes. autograd does not trace arrays in a list,
    which NumPy makes an array of objects.
    """
    if not isbox(x) or x._trace != trace:
        return x
    value = x._value
    if (isbox(value) and value._trace == trace) or getattr(
        getattr(value, "dtype", None), "kind", ""
    ) == "O":
        raise given.listed()
    return value


def _suited(gradient: Any, node: Any) -> Any:
    """A gradient of a real array is real, which some of autograd's rules leave complex."""
    if (
        getattr(node, "real", False)
        and getattr(getattr(gradient, "dtype", None), "kind", "") == "c"
    ):
        return anp.real(gradient)
    return gradient


class _Sink:
    """A node after all outputs, so that one topological order serves them together."""

    def __init__(self, parents: Sequence[Any]):
        self.parents = parents


def backward(seeds: Sequence[tuple[Any, Any]], ends_at: Collection[Any] = ()) -> dict[Any, Any]:
    """Propagate the seeds to the roots: `backward_pass` for several ends and several roots.

    The nodes in `ends_at` count as roots, too.
    """
    collected: dict[Any, Any] = {}
    for end, cotangent in seeds:
        collected[end] = add_outgrads(collected.get(end), cotangent)
    results: dict[Any, Any] = {}
    parents: Any = attrgetter("parents")
    if ends_at:
        parents = lambda node: () if node in ends_at else node.parents
    order = toposort(_Sink([end for end, _ in seeds]), parents)
    next(order)  # the sink itself
    for node in order:
        gradient = collected.pop(node)[0]
        if not node.parents or node in ends_at:
            results[node] = gradient
            continue
        contributions = node.vjp(gradient)
        if getattr(getattr(gradient, "dtype", None), "kind", "") == "c":
            contributions = map(_suited, contributions, node.parents)
        for parent, contribution in zip(node.parents, contributions):
            collected[parent] = add_outgrads(collected.get(parent), contribution)
    return results
