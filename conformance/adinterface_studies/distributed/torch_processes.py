"""Models that are trained by several processes, as torch's users write them: data-parallel,
sharded, and by parts of layers.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

# takes seconds, and is imported later otherwise, by every process for itself
import torch.fx.experimental.symbolic_shapes
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

#: As the engine's package says, in words of its own: the derivatives of DTensors are those of
#: PyTorch 2.12 and later.
DTENSORS_ARE_RIGHT = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 12)


@contextmanager
def group(member: Any, seconds: float) -> Iterator[None]:
    """Membership in a group of processes: the one that this process was started for, or that of the
    environment.
    """
    options: dict[str, Any] = {}
    if member is not None:
        options = {
            "init_method": f"tcp://{member.address}",
            "rank": member.rank,
            "world_size": member.size,
        }
    kind = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group(kind, timeout=datetime.timedelta(seconds=seconds), **options)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def place() -> tuple[int, int]:
    """This process's number, and how many there are."""
    return distributed.get_rank(), distributed.get_world_size()


def loss(model: Any, x: Any, y: Any) -> Any:
    return ((model(x) - y) ** 2).mean()


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _model() -> nn.Sequential:
    torch.manual_seed(0)
    return (
        nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
        .double()
        .to(_device())
    )


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    count = 4 * distributed.get_world_size()
    x = torch.randn(count, 6, generator=draw, dtype=torch.float64)
    return x.to(_device()), torch.stack([x.sum(1), x.prod(1)], dim=1).to(_device())


def _mine() -> tuple[torch.Tensor, torch.Tensor]:
    rank, count = place()
    x, y = _data()
    return x[rank::count], y[rank::count]


def _sharded(model: nn.Sequential, mesh: Any) -> Any:
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def _by_parts(model: nn.Sequential, mesh: Any) -> Any:
    return parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})


def number(x: Any) -> np.ndarray[Any, Any]:
    """A tensor, whole, on the host."""
    whole = x.full_tensor() if hasattr(x, "full_tensor") else x
    array: np.ndarray[Any, Any] = whole.detach().cpu().numpy()
    return array


def numbers(model: nn.Module) -> list[np.ndarray[Any, Any]]:
    """The parameters of a model, or of its gradient, whole."""
    return [number(parameter) for parameter in model.parameters()]


def placements(model: nn.Module) -> list[Any]:
    """How each parameter lies on its mesh."""
    return [getattr(parameter, "placements", None) for parameter in model.parameters()]


def expected() -> list[np.ndarray[Any, Any]]:
    """The gradient of all data, by one process."""
    model = _model()
    loss(model, *_data()).backward()
    return [p.grad.cpu().numpy() for p in model.parameters() if p.grad is not None]


def trained(steps: int) -> list[np.ndarray[Any, Any]]:
    """The parameters after so many steps on all data, by one process."""
    model = _model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model, *_data()).backward()
        optimizer.step()
    return numbers(model)


#: How an optimiser is made: the name of the function, what it is given first, and its options.
OPTIMISER: tuple[str, tuple[Any, ...], dict[str, Any]] = (
    "from_torch_optim",
    (torch.optim.Adam,),
    {"lr": 0.01},
)
#: The optimiser is made around the model, and keeps it.
HOLDS_MODEL = True
#: Processes may be forked from one that has imported this module.
FORKS = True


def settings(setting: Callable[..., Any]) -> Iterator[Any]:
    """Each way to spread a model that the number of processes allows: its name, and what makes a
    loss, a model and data.
    """
    count = distributed.get_world_size()
    line = init_device_mesh(_device(), (count,))
    yield setting(
        "DistributedDataParallel", lambda: (loss, DistributedDataParallel(_model()), _mine())
    )
    yield setting(
        "DistributedDataParallel, views of buckets",
        lambda: (loss, DistributedDataParallel(_model(), gradient_as_bucket_view=True), _mine()),
    )
    yield setting(
        "DistributedDataParallel, static graph",
        lambda: (loss, DistributedDataParallel(_model(), static_graph=True), _mine()),
    )
    if not DTENSORS_ARE_RIGHT:
        return
    yield setting("fully_shard", lambda: (loss, _sharded(_model(), line), _mine()))
    yield setting("DTensor, by parts", lambda: (loss, _by_parts(_model(), line), _data()))
    if count > 2 and count % 2 == 0:
        mesh = init_device_mesh(_device(), (count // 2, 2), mesh_dim_names=("data", "parts"))
        row, (x, y) = mesh.get_local_rank("data"), _data()
        mine = x[row :: count // 2], y[row :: count // 2]
        yield setting(
            "fully_shard on DTensor",
            lambda: (loss, _sharded(_by_parts(_model(), mesh["parts"]), mesh["data"]), mine),
        )
        yield setting("fully_shard, replicated", lambda: (loss, _sharded(_model(), mesh), _mine()))
