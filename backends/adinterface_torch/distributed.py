"""What is spread over processes: tensors, and modules whose gradients processes exchange."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from adinterface.core.contract.errors import ConversionError

_AVAILABLE = distributed.is_available()
_PLAIN = {torch.Tensor, torch.nn.Parameter}

#: Where DTensor and `fully_shard` come from. Both are slow to import, and nobody holds one who has not imported them.
_TENSORS, _SHARDING = "torch.distributed.tensor", "torch.distributed.fsdp"
_STATES = "torch.distributed._composable_state"


def _membership() -> Callable[[], object]:
    """`distributed.is_initialized` by the dict of all groups, if torch keeps one: it asks three functions in a row."""
    if not _AVAILABLE:
        return bool
    module = distributed.distributed_c10d
    groups: Any = getattr(module, "_pg_map", None)
    known = type(groups) is dict and getattr(getattr(module, "_world", None), "pg_map", None) is groups
    return groups.__len__ if known else distributed.is_initialized


#: Whether torch's derivatives of DTensors are right: up to 2.8 some gradients are not, up to 2.11 some second derivatives.
DTENSORS_ARE_RIGHT = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 12)

#: Whether this process belongs to a group: the one question that a call without any must answer.
in_use = _membership()


def is_distributed(x: object) -> bool:
    """Whether x is spread over processes."""
    return type(x) not in _PLAIN and any(cls.__module__.startswith("torch.distributed.") for cls in type(x).__mro__)


def is_dtensor(x: object) -> bool:
    """Whether x is one array over a mesh of processes, of which this one has its part."""
    tensors = sys.modules.get(_TENSORS)
    return tensors is not None and isinstance(x, tensors.DTensor)


def require_right(x: object) -> None:
    """Refuse to differentiate by a DTensor where torch's own derivatives are wrong."""
    if not DTENSORS_ARE_RIGHT and is_dtensor(x):
        raise ConversionError(
            f"Some derivatives of DTensors are wrong in PyTorch {torch.__version__}, so they are differentiated from PyTorch "
            f"2.12 on. Install a newer one; or gather them first, x.full_tensor(), or wrap the model with "
            f"DistributedDataParallel."
        )


def is_sharded(module: object) -> bool:
    """Whether `fully_shard` has been applied to this very module."""
    sharding = sys.modules.get(_SHARDING)
    return sharding is not None and isinstance(module, sharding.FSDPModule)


def exchanges(cls: type) -> bool:
    """Whether modules of a class exchange gradients in hooks; a gradient of one does not."""
    sharding = sys.modules.get(_SHARDING)
    return issubclass(cls, DistributedDataParallel) or (sharding is not None and issubclass(cls, sharding.FSDPModule))


def _is_member(module: torch.nn.Module) -> bool:
    """Whether the module takes part in an exchange; the gradient of one does not."""
    if isinstance(module, DistributedDataParallel):
        return "reducer" in vars(module)
    return is_sharded(module) and sys.modules[_STATES]._get_module_state(module) is not None


def name_of(module: torch.nn.Module) -> str:
    """What made the module one that exchanges gradients, as its user wrote it."""
    if isinstance(module, DistributedDataParallel):
        return type(module).__name__
    return f"fully_shard({type(module).__name__.removeprefix('FSDP')})"


def refuse_unknown(module: torch.nn.Module) -> None:
    """Refuse a module that exchanges gradients in a way that nobody here knows."""
    unknown = is_distributed(module) and not exchanges(type(module))
    if unknown or any(is_distributed(p) and not is_dtensor(p) for p in module._parameters.values()):
        raise ConversionError(
            f"{type(module).__name__} spreads its parameters over processes in a way that is not known here. Shard the model "
            f"with torch.distributed.fsdp.fully_shard, or with DTensor, whose gradients are global here, or wrap it in "
            f"Constant(...)."
        )
    if not DTENSORS_ARE_RIGHT:
        for parameter in module._parameters.values():
            require_right(parameter)


def refuse_copies(module: torch.nn.Module) -> None:
    """Refuse a private copy around other values of a module that exchanges gradients: it would compute on its own."""
    found = next(filter(_is_member, module.modules()), None)
    if found is not None:
        raise ConversionError(
            f"{name_of(found)} belongs to a group of processes, and no copy of it around other values does, which this call "
            f"needs: its derivatives would be those of this process's data. Take gradient or value_and_gradient with "
            f"AutoTorch(), in reverse mode, and write new values into the parameters in place, as torch's optimisers do; or "
            f"pass the model before it was wrapped or sharded."
        )


def reshard(module: torch.nn.Module) -> None:
    """Give a model back its sharded parameters, where an evaluation without a backward pass has left whole ones."""
    if not in_use() or all(group.is_sharded for group in sharded_groups()):
        return
    for inner in module.modules():
        if is_sharded(inner) and _is_member(inner):
            inner.reshard()  # type: ignore[operator]


def sharded_groups() -> list[Any]:
    """All groups of parameters that `fully_shard` has made in this process and that are alive."""
    states = sys.modules.get(_STATES)
    if states is None:
        return []
    found: dict[int, Any] = {}
    for reference in list(states._module_state_mapping.values()):
        state = reference()
        groups = getattr(state, "_fsdp_param_groups", None)
        if groups is None:  # as up to torch 2.9
            groups = [getattr(state, "_fsdp_param_group", None)]
        found.update((id(group), group) for group in groups if group is not None)
    return list(found.values())


def placed_like(gradient: Any, leaf: Any) -> Any:
    """A gradient with the placements of its leaf: what is summed over processes so far by each alone becomes the sum."""
    if is_dtensor(gradient) and is_dtensor(leaf) and gradient.placements != leaf.placements:
        return gradient.redistribute(placements=leaf.placements)
    return gradient


def completed(output: Any) -> Any:
    """An output without sums that are still to be made over processes."""
    if is_dtensor(output) and any(placement.is_partial() for placement in output.placements):
        from torch.distributed.tensor import Replicate

        return output.redistribute(placements=[Replicate() if p.is_partial() else p for p in output.placements])
    return output


def spread_like(x: torch.Tensor, like: Any) -> Any:
    """A tensor that is the same on every process, or a DTensor, on the mesh of `like`, as that lies there.

    A leading axis of its own is not spread.
    """
    from torch.distributed.tensor import DTensor, Replicate, Shard

    extra = x.dim() - like.dim()
    if extra:
        placements = [Shard(p.dim + extra) if type(p) is Shard and extra > 0 else Replicate() for p in like.placements]
    else:
        placements = [Replicate() if p.is_partial() else p for p in like.placements]
    if not isinstance(x, DTensor):
        x = DTensor.from_local(x, like.device_mesh, [Replicate()] * like.device_mesh.ndim, run_check=False)
    return x if x.placements == tuple(placements) else x.redistribute(placements=placements)
