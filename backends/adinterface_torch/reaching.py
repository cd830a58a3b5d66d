"""What leads to what: in the graph of torch, and from one Python object to another."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any
from weakref import ProxyTypes, ref

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from adinterface.core.contract import Arrays

# In the graph. ----------------------------------------------------------------------------------------------------------


def nodes_behind(tensors: Iterable[torch.Tensor], ends: Iterable[torch.Tensor] = ()) -> Iterator[Any]:
    """The nodes of torch's graph that a backward pass from tensors visits, up to these ends."""
    seen = {edge_of(x) for x in ends if x.requires_grad}
    return (node for node, _ in edges_behind([edge_of(x) for x in tensors if x.requires_grad], seen))


def edges_behind(stack: Iterable[Any], seen: Iterable[Any] = ()) -> Iterator[Any]:
    """These edges of the graph, and all behind them, up to those that were seen."""
    stack, seen = list(stack), {(None, 0), *seen}
    while stack:
        edge = stack.pop()
        if edge not in seen:
            seen.add(edge)
            yield edge
            stack.extend(edge[0].next_functions)


def edge_of(x: torch.Tensor) -> tuple[Any, int]:
    """The node of the graph that a tensor, which requires grad, comes from or is, and which result of it."""
    edge = get_gradient_edge(x)
    return edge.node, edge.output_nr


def depends(tensors: Iterable[torch.Tensor], leaves: Sequence[torch.Tensor], ends: Arrays = ()) -> bool:
    """Whether a backward pass from the tensors, up to these ends, arrives at one of the leaves."""
    tensors, own = [*tensors], {*map(id, ends)}
    if not {*map(id, leaves)}.difference(own).isdisjoint(map(id, tensors)):
        return True
    tensors = [x for x in tensors if x.grad_fn is not None]
    if not tensors:
        return False
    nodes = {edge_of(x)[0] for x in leaves if x.requires_grad and id(x) not in own}
    return any(node in nodes for node in nodes_behind(tensors, ends))


# From object to object. -------------------------------------------------------------------------------------------------

#: Types of objects with a way of their own in `_special`. The last six are not looked into.
_SPECIAL = (
    *(FunctionType, torch.Tensor, nn.Module, ref, *ProxyTypes),
    *(type, ModuleType, CodeType, FrameType, TracebackType, torch.fx.Graph),
)


def reached(
    values: Iterable[Any], seen: dict[int, Any] | None = None, known: Mapping[int, Any] = {}, *, most: float = float("inf")
) -> list[torch.Tensor] | None:
    """The tensors that can be reached from these values; None if there are more objects than `most`.

    seen: gets the objects that are looked into, by identity. known: those that are not looked into again.
    """
    seen = {} if seen is None else seen
    result: list[torch.Tensor] = []
    level = {id(value): value for value in values}
    while level:
        level = {key: value for key, value in level.items() if key not in seen and key not in known}
        seen |= level
        if len(seen) > most:
            return None
        kinds = {*map(type, level.values())}
        special = {kind for kind in kinds if issubclass(kind, _SPECIAL)}
        found = gc.get_referents(*[value for value in level.values() if type(value) not in special])
        for value in [value for value in level.values() if type(value) in special]:
            if issubclass(type(value), torch.Tensor):
                result.append(value)
            else:
                found += _special(value)
        level = {id(value): value for value in filter(gc.is_tracked, found)}
    return result


def _special(value: Any) -> Sequence[Any]:
    """Of a function, all but its globals; of a weak reference, what it refers to."""
    kind = type(value)  # not `isinstance`, which asks what a proxy refers to
    if kind is FunctionType:
        return value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__
    if issubclass(kind, ref):  # the object itself, not what it holds: schedulers refer to optimizers so
        return [target for target in [value()] if isinstance(target, (nn.Module, torch.Tensor, MethodType))]
    if issubclass(kind, torch.jit.ScriptModule):  # which keeps them in C++
        return [*value.parameters()]
    if issubclass(kind, nn.Module):  # without registers that are empty, as most are
        return [held for held in value.__dict__.values() if type(held) is not OrderedDict or held]
    if kind in ProxyTypes:
        with suppress(ReferenceError):  # it is dead
            return [value.__init__.__self__]
    return ()
