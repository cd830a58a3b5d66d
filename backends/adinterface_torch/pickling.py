"""Refuses to pickle differentiated tensors: an unpickled tensor would be a constant, and its gradient silently zero.

torch pickles tensors with a graph, and `copy.deepcopy` makes a leaf of a leaf. So the leaves that f gets carry a mark, which
refuses to be copied. `copyreg` and `multiprocessing` have an entry for tensors that looks for the marks. Both are there
while f runs, and nothing is left of them afterwards.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Iterable
from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

import torch

from adinterface import ConversionError

from .ambient import here
from .private import is_wrapped
from .reaching import nodes_behind


class _Mark:
    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise ConversionError(
            "copy.deepcopy of a tensor that is being differentiated makes a constant of it, which drops its gradient. "
            "Write x.clone() for a copy, or copy.deepcopy(x.detach()) for a constant."
        )


_MARK = _Mark()


def marked(leaves: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Leaf tensors that only this call refers to, with the mark, which takes 0.1 us each."""
    result = tuple(leaves)
    for leaf in result:
        leaf._followed = _MARK  # type: ignore[attr-defined]
    return result


def is_marked(x: torch.Tensor) -> bool:
    """Whether it is a leaf that f, which runs, has got."""
    return "_followed" in x.__dict__


#: The evaluations of f, in all threads.
RUNNING: dict[int, Guard] = {}


class Guard:
    """While f runs, in any thread. fresh: the leaves that were marked for it, which have no mark afterwards."""

    __slots__ = ("fresh",)

    def __init__(self, fresh: Iterable[torch.Tensor] = ()):
        self.fresh = fresh

    def __enter__(self) -> None:
        RUNNING[id(self)] = self
        _put()

    def __exit__(self, *raised: object) -> None:
        del RUNNING[id(self)]
        if not RUNNING:
            for entry in _ENTRIES:
                entry.remove()
            if RUNNING:  # another thread has begun meanwhile; a lock would take longer than all else here
                _put()
        for leaf in self.fresh:
            leaf.__dict__.pop("_followed", None)


class _Entry:
    """Reduces tensors in a registry: one that is followed to an object that refuses to be pickled, others as before."""

    def __init__(self, registry: dict[Any, Any]):
        self.registry, self.before = registry, registry.get(torch.Tensor)

    def remove(self) -> None:
        if self.before is not None:
            self.registry[torch.Tensor] = self.before
        else:
            self.registry.pop(torch.Tensor, None)

    def __call__(self, x: torch.Tensor) -> Any:
        if _is_followed(x):
            return _same, (_Held(x),)
        return x.__reduce_ex__(pickle.DEFAULT_PROTOCOL) if self.before is None else self.before(x)  # type: ignore[no-untyped-call]


_ENTRIES = (_Entry(copyreg.dispatch_table), _Entry(getattr(ForkingPickler, "_extra_reducers", {})))


def _put() -> None:
    for entry in _ENTRIES:
        found = entry.registry.get(torch.Tensor)
        if found is not entry:
            entry.before, entry.registry[torch.Tensor] = found, entry


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
    """Whether x derives from a leaf that f got, perhaps in another thread: that of a pool, for which f waits."""
    if is_wrapped(x):
        return True
    if x.grad_fn is None:
        return is_marked(x)
    return here.depth > 0 or any(is_marked(node.variable) for node in nodes_behind([x]) if hasattr(node, "variable"))
