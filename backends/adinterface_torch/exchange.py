"""Gradients through modules that exchange them between processes: one plain backward pass, whose hooks do it.

`DistributedDataParallel` averages gradients, and `fully_shard` sums and scatters them, in hooks of the accumulation into
`.grad`, which `torch.autograd.grad` leaves out: what it gives is the gradient of this process's own data. Here `backward` runs
as in torch's own training loops. What it leaves in `.grad` is taken out, and what stood there before is put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from adinterface.contract.backend import Arrays, FlatFunction
from adinterface.contract.errors import BackendError

from .distributed import is_dtensor, sharded_groups


class Watch(TorchFunctionMode):
    """Finds, while f runs, what exchanges gradients of the parameters that are differentiated, also if f only captures it."""

    def __init__(self, held: Sequence[Any]):
        super().__init__()
        self._held = {id(leaf) for leaf in held}
        self._seen: set[int] = set()
        #: Those that average gradients in the backward pass of this evaluation.
        self.wrappers: list[DistributedDataParallel] = []
        #: The groups of `fully_shard` to which parameters belong.
        self.groups = _groups_of(held)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        active: Any = DistributedDataParallel._active_ddp_module
        if active is not None and id(active) not in self._seen:
            self._seen.add(id(active))
            if active.require_backward_grad_sync and not self._held.isdisjoint(map(id, active.module.parameters())):
                self.wrappers.append(active)
        return func(*args, **(kwargs or {}))

    @property
    def exchanges(self) -> bool:
        return bool(self.wrappers or self.groups)

    def refuse(self) -> None:
        """Refuse a derivative that no exchange gives, where there is one."""
        if self.wrappers:
            name = type(self.wrappers[0]).__name__
            remedy = "Call the module that it wraps, or the wrapper inside its no_sync(), and average"
        elif self.groups:
            name, remedy = "fully_shard", "Take the model before it is sharded, and average"
        else:
            return
        raise BackendError(
            f"{name} exchanges gradients between processes in one backward pass for each evaluation of f, which gradient and "
            f"value_and_gradient take. This derivative would be that of this process's data. {remedy} the result "
            f"(torch.distributed.all_reduce)."
        )

    def refuse_kept(self) -> None:
        """Refuse a backward pass after which `fully_shard` would keep gradients to itself."""
        if not all(group.reduce_grads and group.all_reduce_grads for group in self.groups):
            raise BackendError(
                "A model of fully_shard was told to keep gradients back (set_requires_gradient_sync(False)), so there would be "
                "none to return. Let it exchange them in every call, and add gradients up with Duplicated(model, "
                "accumulate=True)."
            )


def watch(function: FlatFunction, leaves: Arrays) -> Watch:
    return Watch([leaves[n] for n in function.held])


@contextmanager
def refusing(function: FlatFunction, leaves: Arrays) -> Iterator[None]:
    """An evaluation of f for a derivative that no exchange gives."""
    watching = watch(function, leaves)
    watching.refuse()
    with watching:
        yield
    watching.refuse()


def exchanged(output: torch.Tensor, inputs: Arrays, watched: Watch) -> list[Any]:
    """The gradients of a scalar by inputs, of which some are parameters that processes exchange gradients of.

    A leaf that the scalar does not depend on has None.
    """
    touched = {id(x): x for x in inputs}
    for wrapper in watched.wrappers:
        touched.update((id(p), p) for p in wrapper.module.parameters() if p.requires_grad)
    touched.update((id(x), x) for x in _accumulating(output))
    # Of a wrapper whose `.grad` are views into its buckets, the pass writes over the numbers of the old ones.
    views = any(wrapper.gradient_as_bucket_view for wrapper in watched.wrappers)
    before = [(x, x.grad, x.grad.clone() if views and x.grad is not None else None) for x in touched.values()]
    try:
        for x in touched.values():
            x.grad = None
        torch.autograd.backward(output)
        found = [x.grad for x in inputs]
        if views:
            found = [None if gradient is None else gradient.clone() for gradient in found]
    finally:
        for x, gradient, numbers in before:
            if numbers is not None:
                gradient.copy_(numbers)
            x.grad = gradient
    return found


def _accumulating(output: torch.Tensor) -> Iterator[Any]:
    """Every leaf of torch's graph that a backward pass adds to, asked for or not."""
    stack, seen = [output.grad_fn], set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if type(node).__name__ == "AccumulateGrad":
            yield node.variable  # type: ignore[attr-defined]
        else:
            stack += [following for following, _ in node.next_functions]


def _groups_of(leaves: Sequence[Any]) -> list[Any]:
    """The groups of `fully_shard` to which these parameters belong."""
    spread = {id(leaf) for leaf in leaves if is_dtensor(leaf)}
    if not spread:
        return []
    return [
        group
        for group in sharded_groups()
        if not spread.isdisjoint(id(parameter.sharded_param) for parameter in group.fsdp_params)
    ]
