"""Tensors that are distributed over processes, and modules whose gradients processes exchange.

`DistributedDataParallel` averages gradients, and `fully_shard` sums and scatters them, in hooks of
the accumulation into `.grad`. `torch.autograd.grad` does not run these, so its gradient is that of
this process's data. Here `backward` runs as in torch's training loops. Its `.grad` values are the
result, and earlier `.grad` values are restored.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from adinterface import BackendError, ConversionError
from adinterface.core.contract import Arrays, FlatFunction

from .backward import backward
from .nodes import leaves_behind
from .private import in_use, is_member, sharded_groups

_PLAIN = {torch.Tensor, torch.nn.Parameter}
#: The modules of DTensor and `fully_shard`. Both are slow to import, and a program that uses them
#: has imported them.
_TENSORS, _SHARDING = "torch.distributed.tensor", "torch.distributed.fsdp"

#: Whether torch's derivatives of DTensors are right: up to 2.8 some gradients are not, up to 2.11
#: some second derivatives.
DTENSORS_ARE_RIGHT = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 12)


def is_distributed(x: object) -> bool:
    """Whether x is spread over processes."""
    return type(x) not in _PLAIN and any(
        cls.__module__.startswith("torch.distributed.") for cls in type(x).__mro__
    )


def is_dtensor(x: object) -> bool:
    """Whether x is one array over a mesh of processes, of which this one has its part."""
    tensors = sys.modules.get(_TENSORS)
    return tensors is not None and isinstance(x, tensors.DTensor)


def require_right(x: object) -> None:
    """Refuse to differentiate by a DTensor where torch's derivatives are wrong."""
    if not DTENSORS_ARE_RIGHT and is_dtensor(x):
        raise ConversionError(
            f"Some derivatives of DTensors are wrong in PyTorch {torch.__version__}, so they are"
            " differentiated from PyTorch 2.12 on. Install a newer one; or gather them first,"
            " x.full_tensor(), or wrap the model with DistributedDataParallel."
        )


def is_sharded(module: object) -> bool:
    """Whether `fully_shard` has been applied to this very module."""
    return exchanges(type(module)) and not isinstance(module, DistributedDataParallel)


def exchanges(cls: type) -> bool:
    """Whether modules of a class exchange gradients in hooks; a gradient of one does not."""
    sharding = sys.modules.get(_SHARDING)
    return issubclass(cls, DistributedDataParallel) or (
        sharding is not None and issubclass(cls, sharding.FSDPModule)
    )


def _is_member(module: torch.nn.Module) -> bool:
    """Whether the module takes part in an exchange; the gradient of one does not."""
    if isinstance(module, DistributedDataParallel):
        return "reducer" in vars(module)
    return is_sharded(module) and is_member(module)


def refuse_unknown(module: torch.nn.Module) -> None:
    """Refuse a module that exchanges gradients in an unknown way."""
    unknown = is_distributed(module) and not exchanges(type(module))
    if unknown or any(is_distributed(p) and not is_dtensor(p) for p in module._parameters.values()):
        raise ConversionError(
            f"{type(module).__name__} spreads its parameters over processes in a way that is not"
            " known here. Shard the model with torch.distributed.fsdp.fully_shard, or with"
            " DTensor, whose gradients are global here, or wrap it in Constant(...)."
        )
    if not DTENSORS_ARE_RIGHT:
        for parameter in module._parameters.values():
            require_right(parameter)


def refuse_copies(module: torch.nn.Module) -> None:
    """Refuse a copy of a module that exchanges gradients: the copy would not."""
    result = next(filter(_is_member, module.modules()), None)
    if result is not None:
        name = type(result).__name__
        if not isinstance(result, DistributedDataParallel):
            name = f"fully_shard({name.removeprefix('FSDP')})"
        raise ConversionError(
            f"{name} belongs to a group of processes, and no copy of it around other values does,"
            " which this call needs: its derivatives would be those of this process's data. Take"
            " gradient or value_and_gradient with AutoTorch(), in reverse mode, and write new"
            " values into the parameters in place, as torch optimisers do; or pass the model"
            " before it was wrapped or sharded."
        )


def reshard(module: torch.nn.Module) -> None:
    """Shard parameters again that an evaluation without a backward pass has left whole."""
    if not in_use() or all(group.is_sharded for group in sharded_groups()):
        return
    for inner in module.modules():
        if is_sharded(inner) and _is_member(inner):
            inner.reshard()  # type: ignore[operator]


def placed_like(gradient: Any, leaf: Any) -> Any:
    """A gradient with the placements of its leaf: partial sums over processes are added."""
    if is_dtensor(gradient) and is_dtensor(leaf) and gradient.placements != leaf.placements:
        return gradient.redistribute(placements=leaf.placements)
    return gradient


def completed(output: Any) -> Any:
    """An output without sums that are still to be made over processes."""
    if is_dtensor(output) and any(placement.is_partial() for placement in output.placements):
        from torch.distributed.tensor import Replicate

        return output.redistribute(
            placements=[Replicate() if p.is_partial() else p for p in output.placements]
        )
    return output


def spread_like(x: torch.Tensor, like: Any) -> Any:
    """A tensor that every process has, or a DTensor, with the mesh and placements of `like`.

    An extra leading axis is not distributed.
    """
    from torch.distributed.tensor import DTensor, Replicate, Shard

    extra = x.dim() - like.dim()
    if extra:
        placements = [
            Shard(p.dim + extra) if type(p) is Shard and extra > 0 else Replicate()
            for p in like.placements
        ]
    else:
        placements = [Replicate() if p.is_partial() else p for p in like.placements]
    if not isinstance(x, DTensor):
        x = DTensor.from_local(
            x, like.device_mesh, [Replicate()] * like.device_mesh.ndim, run_check=False
        )
    return x if x.placements == tuple(placements) else x.redistribute(placements=placements)


# The exchange of gradients.
# ---------------------------------------------------------------------------------------------


class Exchange:
    """The exchange of gradients between processes, by the modules that a call is given."""

    def __init__(self, function: FlatFunction, leaves: Arrays):
        owned = [leaves[n] for n in function.owned]
        inside = [inner for owner in function.owners for inner in owner.modules()]
        #: Wrappers that average gradients in the backward pass of this evaluation.
        self.wrappers = [
            m for m in inside if isinstance(m, DistributedDataParallel) and _averages(m)
        ]
        #: The groups of `fully_shard` to which parameters belong.
        self.groups = _groups_of(owned)

    def refuse(self) -> None:
        """Refuse a derivative for which there is no exchange, if the module needs one."""
        if self.wrappers:
            name = type(self.wrappers[0]).__name__
            remedy = (
                "Call the module that it wraps, or the wrapper inside its no_sync(), and average"
            )
        elif self.groups:
            name, remedy = "fully_shard", "Take the model before it is sharded, and average"
        else:
            return
        raise BackendError(
            f"{name} exchanges gradients between processes in one backward pass for each evaluation"
            " of f, which gradient and value_and_gradient take. This derivative would be that of"
            f" this process's data. {remedy} the result (torch.distributed.all_reduce)."
        )

    def refuse_kept(self) -> None:
        """Refuse a backward pass after which `fully_shard` would not exchange gradients."""
        if not all(group.reduce_grads and group.all_reduce_grads for group in self.groups):
            raise BackendError(
                "A model of fully_shard was told to keep gradients back"
                " (set_requires_gradient_sync(False)), so there would be none to return. Let it"
                " exchange them in every call, and add gradients up with Duplicated(model,"
                " accumulate=True)."
            )


def _averages(wrapper: DistributedDataParallel) -> bool:
    return _is_member(wrapper) and wrapper.require_backward_grad_sync


def gradients(
    output: torch.Tensor,
    inputs: Sequence[torch.Tensor],
    exchange: Exchange | None,
    create_graph: bool = False,
) -> Sequence[torch.Tensor | None]:
    """The gradients of a scalar by inputs, exchanged where processes do so.

    None for one on which it does not depend.
    """
    if exchange is None or not (exchange.wrappers or exchange.groups):
        return backward((output,), inputs, create_graph=create_graph)
    touched = {id(x): x for x in inputs}
    # which must average all its parameters, for any selection of them
    for wrapper in exchange.wrappers:
        touched.update((id(p), p) for p in wrapper.module.parameters() if p.requires_grad)
    wanted = None if exchange.groups else list(touched.values())
    # whose leaves in the graph are not the parameters, so the pass goes to every leaf
    if exchange.groups:
        touched.update((id(leaf), leaf) for leaf in leaves_behind([output]))
    # Of a wrapper whose `.grad` are views into its buckets, the pass writes over the numbers of the
    # old ones.
    views = any(wrapper.gradient_as_bucket_view for wrapper in exchange.wrappers)
    before = [
        (x, x.grad, x.grad.clone() if views and x.grad is not None else None)
        for x in touched.values()
    ]
    try:
        for x in touched.values():
            x.grad = None
        torch.autograd.backward(output, inputs=wanted)
        result = [x.grad for x in inputs]
        if views:
            result = [None if gradient is None else gradient.clone() for gradient in result]
    finally:
        for x, gradient, numbers in before:
            if gradient is not None and numbers is not None:
                gradient.copy_(numbers)
            x.grad = gradient
    return result


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
