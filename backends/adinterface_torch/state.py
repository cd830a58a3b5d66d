"""f's changes of a module's buffers, where f gets private copies: they are written into the user's module once.

In forward mode other values replace the parameters, so f gets a copy of the module, and the statistics of its BatchNorm would
be lost. One evaluation of f is one update, for any number of tangents.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from adinterface import ConversionError

from .ambient import here
from .nested_forward import plain


@contextmanager
def _noted() -> Iterator[list[tuple[nn.Module, nn.Module]]]:
    """Records the copies made in a block of code, for the outermost caller: a nested evaluation is part of it."""
    if here.copies is not None:
        yield []
        return
    made: list[tuple[nn.Module, nn.Module]] = []
    here.copies = made
    try:
        yield made
    finally:
        here.copies = None


@contextmanager
def kept() -> Iterator[None]:
    """One evaluation of f, whose changes to buffers of copies go into the modules."""
    with _noted() as made:
        yield
    # Of several copies of one module, the first has the original state.
    for module, copied in {id(module): (module, copied) for module, copied in reversed(made)}.values():
        _write(module, copied)


@contextmanager
def unchanged() -> Iterator[None]:
    """Evaluations of f for many entries at once, whose changes to buffers have no place: they are refused."""
    with _noted() as made:
        yield
    for module, copied in made:
        for (name, buffer), changed in zip(module.named_buffers(), copied.buffers()):
            if changed.shape != buffer.shape or not torch.equal(buffer, _plain(changed)):
                raise ConversionError(
                    f"batched: f changes the buffer {name} of {type(module).__name__}, as a BatchNorm does in training mode, "
                    f"and each entry would change it. Put the model into evaluation mode, module.eval(), or take one entry "
                    f"after another, AutoTorch(chunk_size=1)."
                )


@torch.no_grad()
def _write(module: nn.Module, copied: nn.Module) -> None:
    for inner, other in zip(module.modules(), copied.modules()):
        for name, changed in other._buffers.items():
            buffer = inner._buffers.get(name)
            if buffer is None or changed is None:
                continue
            new = _plain(changed)
            if new.shape != buffer.shape:
                setattr(inner, name, new.clone())
            elif not torch.equal(buffer, new):
                buffer.copy_(new)


def _plain(tensor: Any) -> torch.Tensor:
    """The numbers of a tensor, out of the transformations in which it was computed."""
    numbers: torch.Tensor = plain(tensor).detach()
    return numbers
