"""Refuses to pickle differentiated tensors: an unpickled tensor would be a constant, and its gradient silently zero.

torch pickles tensors with a graph, and `copy.deepcopy` makes a leaf of a leaf. So the leaves that f gets carry a mark, which
refuses to be copied. The registries of `copyreg` and `multiprocessing` have an entry for tensors, as torch has one in the
latter: it looks for marked leaves, and reduces all other tensors as torch does. Nothing changes while f runs.
"""

from __future__ import annotations

import copyreg
import pickle
import threading
from collections.abc import Callable, Iterable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

import torch
from torch.multiprocessing.reductions import reduce_tensor

from adinterface.core.contract.errors import ConversionError

from .ambient import here
from .private import is_wrapped
from .unrecorded import nodes_behind


class _Mark:
    """What the leaves that f gets in a thread carry."""

    __slots__ = ("thread",)

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    @property
    def counts(self) -> bool:
        """Whether f runs, in this thread or, for a pool that pickles in a thread of its own, while f waits for it."""
        return here.depth > 0 or self.thread != threading.get_ident()

    def __deepcopy__(self, memo: Any) -> _Mark:
        if self.counts:
            raise ConversionError(
                "copy.deepcopy of a tensor that is being differentiated makes a constant of it, which drops its gradient. "
                "Write x.clone() for a copy, or copy.deepcopy(x.detach()) for a constant."
            )
        return self


def marked(leaves: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Leaf tensors that only this call refers to, with the mark, which takes 0.1 us each."""
    mark = here.mark
    if mark is None:
        mark = here.mark = _Mark()
    result = tuple(leaves)
    for leaf in result:
        leaf._followed = mark  # type: ignore[attr-defined]
    return result


def is_marked(x: torch.Tensor) -> bool:
    """Whether it is a leaf that f has got."""
    return "_followed" in x.__dict__


class _Held:
    """A traced tensor in reduced form: it can be copied shallowly, and nothing else."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise ConversionError(
            "A tensor that is being differentiated was pickled (by pickle, joblib, torch.save or multiprocessing), which drops "
            "its gradient. Compute with it in this process, or pickle x.detach(), a constant."
        )


def _same(held: _Held) -> torch.Tensor:
    """Another tensor on the same memory, in the same graph."""
    return held.tensor.view_as(held.tensor)


def _is_followed(x: torch.Tensor) -> bool:
    """Whether f runs, and x derives from a leaf that f got."""
    if is_wrapped(x):
        return True
    if x.grad_fn is None:
        return x.requires_grad and _counts(x)
    if here.depth > 0:
        return True
    return any(_counts(getattr(node, "variable", None)) for node in nodes_behind([x]))


def _counts(leaf: Any) -> bool:
    mark: _Mark | None = getattr(leaf, "_followed", None)
    return mark is not None and mark.counts


def _guarded(usual: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """How tensors are reduced: those that are followed to what refuses to be pickled."""

    def reduce(x: torch.Tensor) -> Any:
        if _is_followed(x):
            return _same, (_Held(x),)
        if is_marked(x):  # f has kept it: the mark is of no use any more
            x = x.detach().requires_grad_(x.requires_grad)
        return usual(x)

    return reduce


def _as_torch(x: torch.Tensor) -> Any:
    return x.__reduce_ex__(pickle.DEFAULT_PROTOCOL)  # type: ignore[no-untyped-call]


copyreg.pickle(torch.Tensor, _guarded(copyreg.dispatch_table.get(torch.Tensor, _as_torch)))
ForkingPickler.register(torch.Tensor, _guarded(reduce_tensor))
