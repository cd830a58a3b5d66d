"""What is recorded while f runs, and which results stay in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache
from threading import get_ident
from typing import Any, NoReturn, TypeVar

import torch
from torch import nn

from adinterface import ConversionError
from adinterface.core.contract import FlatFunction

from .nodes import leaves_behind
from .private import is_wrapped

T = TypeVar("T")

#: How many calls of this library record f here: inside one, results stay in its graph. Threads of
#: executors take it along.
DEPTH: ContextVar[int] = ContextVar("adinterface.torch.depth", default=0)
depth = DEPTH.get


class _Mark:
    """The `__reduce_ex__` of leaves that f gets: they are neither pickled nor copied."""

    def __init__(self, depth: int, thread: int):
        #: How many calls are around the call that the leaf belongs to, and its thread.
        self.depth, self.thread = depth, thread

    def __call__(self, *args: Any) -> NoReturn:
        raise ConversionError(
            "A tensor that is being differentiated was pickled or copied (by pickle, joblib,"
            " torch.save or copy), which drops its gradient. Compute with it in this process. Write"
            " x.clone() for a copy, or x.detach() for a constant."
        )

    __deepcopy__ = __call__


_mark = lru_cache(_Mark)


def marked(leaves: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Tensors that only this call refers to, with the mark, which takes 0.1 us each."""
    result, mark = tuple(leaves), _mark(depth(), get_ident())
    for leaf in result:
        leaf.__reduce_ex__ = mark  # type: ignore[method-assign]
    return result


def _mark_of(leaf: torch.Tensor) -> _Mark | None:
    mark: _Mark | None = leaf.__dict__.get("__reduce_ex__")
    return mark


def _is_outside(leaf: torch.Tensor) -> bool:
    """Whether a leaf belongs to the user or to a call around this one."""
    mark = _mark_of(leaf)
    return mark is None or mark.depth < depth() or mark.thread != get_ident()


def recorded(function: Callable[..., T], inputs: Iterable[Any]) -> T:
    """The result of a function; results of calls inside it stay in the graph."""
    token = DEPTH.set(depth() + 1)
    try:
        return function(*inputs)
    finally:
        DEPTH.reset(token)


class Recording:
    """The scope of a call with `create_graph`: as if it stood inside a call that records."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        self.token = DEPTH.set(depth() + 1)

    def __exit__(self, *raised: object) -> None:
        DEPTH.reset(self.token)


def in_graph(given: Iterable[Any]) -> bool:
    """Whether something that a call is given is in a graph around it."""
    for value in given:
        if isinstance(value, torch.Tensor):
            if value.grad_fn is not None:
                return True
            if value.requires_grad and (
                depth() or (_mark_of(value) is not None and _is_outside(value))
            ):
                return True
        elif isinstance(value, nn.Module) and any(
            x.grad_fn is not None for x in (*value.parameters(), *value.buffers())
        ):
            return True
    return False


def refuse_shared(function: FlatFunction, leaves: tuple[torch.Tensor, ...]) -> None:
    """Refuse a Constant that holds a parameter which this call differentiates in place."""
    if not function.owned or not function.side_inputs:
        return
    own = {id(leaves[n]) for n in function.owned}
    for value in function.side_inputs:
        held = value.parameters() if isinstance(value, nn.Module) else (value,)
        if not own.isdisjoint(map(id, held)):
            raise ConversionError(
                f"A Constant or keyword ({type(value).__name__}) is or holds a parameter of a"
                " module that this call differentiates, so it would not be constant. Pass"
                " copy.deepcopy(model) in its place, or compute what f needs of it before the"
                " call."
            )


def settled(x: torch.Tensor) -> torch.Tensor:
    """A result that is recorded.

    Without its graph if nothing outside the call that gave it takes part in it.
    """
    return (
        x
        if not x.requires_grad or is_wrapped(x) or any(map(_is_outside, leaves_behind((x,))))
        else x.detach()
    )
