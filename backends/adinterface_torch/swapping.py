"""Other tensors in place of parameters while f runs, as in `torch.func.functional_call`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import torch
from torch import nn

from adinterface import ConversionError
from adinterface.core.contract import Arrays, FlatFunction

from .private import is_wrapped

#: The modules in which other tensors stand at the moment, by identity, with the thread of the call
#: that put them there.
_SWAPPED: dict[int, int] = {}


def swapping(function: FlatFunction, leaves: Arrays) -> Callable[..., Any]:
    """The function of values that its modules hold as parameters while it runs."""
    if not function.owned:
        return function
    places = {id(leaves[n]): n for n in function.owned}

    def swapped(*values: torch.Tensor) -> Any:
        with _holding(function.owners, {key: values[n] for key, n in places.items()}):
            return function(*values)

    return swapped


@contextmanager
def _holding(owners: Sequence[nn.Module], values: dict[int, torch.Tensor]) -> Iterator[None]:
    """Modules that hold these values in place of their parameters, by the identities of these."""
    modules = dict.fromkeys([inner for owner in owners for inner in owner.modules()])
    refuse_swapped(modules)
    before = [
        (inner, {**inner._parameters}, {**inner._buffers}, _SWAPPED.get(id(inner)))
        for inner in modules
    ]
    try:
        for inner, own, _, _ in before:
            _SWAPPED[id(inner)] = get_ident()
            new: dict[str, Any] = {
                name: values[id(p)] for name, p in own.items() if id(p) in values
            }
            inner._parameters.update(new)
        yield
    finally:
        for inner, own, buffers, thread in before:
            inner._parameters.update(own)
            # What f has put in the place of a buffer stays there, unless it belongs to a
            # transformation that ends.
            inner._buffers.update(
                (name, x) for name, x in buffers.items() if is_wrapped(inner._buffers.get(name))
            )
            _SWAPPED.pop(id(inner)) if thread is None else _SWAPPED.update({id(inner): thread})


def refuse_swapped(modules: Iterable[nn.Module]) -> None:
    """Refuse modules in which a call in another thread has put other tensors."""
    if not _SWAPPED:  # as nearly always
        return
    for inner in modules:
        if _SWAPPED.get(id(inner), thread := get_ident()) != thread:
            raise ConversionError(
                f"A call in another thread differentiates this {type(inner).__name__} and has put"
                " tensors of its own in the places of its parameters, as"
                " torch.func.functional_call does. Let each thread have its own"
                " copy.deepcopy(model)."
            )
