"""What is recorded while f runs; which graph results stay in; which parameters are differentiated in place.

A module's parameters are differentiated in place if nothing else that the call is given reaches them. Else f gets the module
around aliases of them, so that the derivative of the call does not pass through a Constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import get_ident
from time import perf_counter_ns
from types import CellType, FunctionType
from typing import Any

import torch
from torch import nn

from adinterface.core.contract import Arrays, FlatFunction, task_made

from .ambient import here
from .pickling import RUNNING, Guard
from .reaching import depends, reached

#: How many objects are looked into. Beyond, a Constant is taken for one that reaches the parameters.
_MOST = 20_000


class Recording(Guard):
    """f is recorded at these inputs: results of calls inside f stay in the graph. fresh: those that were marked for it."""

    __slots__ = ("began", "inputs", "outer", "thread")

    def __init__(self, inputs: Arrays, fresh: Iterable[torch.Tensor] = ()):
        super().__init__(fresh)
        self.inputs = inputs

    def __enter__(self) -> None:
        self.began, self.thread = perf_counter_ns(), get_ident()
        super().__enter__()
        self.outer, here.inputs = here.inputs, self.inputs
        here.depth += 1

    def __exit__(self, *raised: object) -> None:
        here.depth -= 1
        here.inputs = self.outer
        super().__exit__()


class Creating:
    """The scope of a call with `create_graph`: copies of leaves stay in the graph of every leaf that requires grad."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before, here.creates = here.creates, True

    def __exit__(self, *raised: object) -> None:
        here.creates = self.before


def in_graph(given: Iterable[Any]) -> bool:
    """Whether something that a call is given is in the graph of what is computed around it."""
    for value in given:
        if isinstance(value, torch.Tensor):
            if value.grad_fn is not None or (RUNNING and value.requires_grad and (here.depth or _is_input(value))):
                return True
        elif isinstance(value, nn.Module):
            own = [x for inner in value.modules() for x in (*inner._parameters.values(), *inner._buffers.values())]
            if any(x is not None and x.grad_fn is not None for x in own):
                return True
    return False


def reaches_others(results: Iterable[torch.Tensor], inputs: Arrays) -> bool:
    """Whether results depend on the inputs of f of a call around this one, perhaps in the thread that started this one."""
    others = _inputs_of_all()
    return bool(others) and depends(results, others, inputs)


def _is_input(x: torch.Tensor) -> bool:
    return any(x is other for other in _inputs_of_all())


def _inputs_of_all() -> list[torch.Tensor]:
    """The recorded inputs of f of all calls that may be around this one, in this thread or another."""
    thread, made = get_ident(), task_made()
    around = [r for r in [*RUNNING.values()] if isinstance(r, Recording) and (r.thread == thread or r.began < made)]
    return [x for recording in around for x in recording.inputs if x.requires_grad]


def in_place(function: FlatFunction, leaves: Arrays, keep: bool = False) -> frozenset[int]:
    """The leaves that are differentiated where they are: all that a module holds, or none.

    keep: whether results stay in a graph, so that aliases of the other leaves are in it, too.
    """
    owned = function.owned
    if not owned:
        return owned
    others: list[Any] = []
    if keep:  # the results of an earlier call, which f captures, are in a graph of the parameters, too
        others += [leaf for n, leaf in enumerate(leaves) if n not in owned and leaf.requires_grad]
        others += [x for x in reached(_known_to(function), most=_MOST) or () if x.grad_fn is not None]
    given = function.given
    if not (others or given):
        return owned
    found = reached([*others, *given], most=_MOST)
    return frozenset() if found is None or depends(found, [leaves[n] for n in owned]) else owned


def _known_to(function: FlatFunction) -> list[Any]:
    """What a function is given, and what f's own code names: its closure and its globals, but not those of functions inside."""
    f = getattr(function, "f", None)
    if not isinstance(f, FunctionType):
        return [*function.given]
    cells = [cell.cell_contents for cell in f.__closure__ or () if cell != CellType()]
    return [*function.given, *cells, *[f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__]]


def share_buffers(module: nn.Module, copied: nn.Module) -> None:
    """The copy changes the module's own buffers, as f does in place."""
    for inner, other in zip(module.modules(), copied.modules()):
        vars(other)["_buffers"] = inner._buffers
