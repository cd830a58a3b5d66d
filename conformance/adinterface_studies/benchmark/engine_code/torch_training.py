"""Steps of training as torch's users write them: `backward()` and the optimiser's `step()`, eager and by `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch


def _loss(model: Any, x: Any, y: Any) -> Any:
    return torch.nn.functional.cross_entropy(model(x), y)


def _model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 10))


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    return torch.randn(128, 64, generator=draw), torch.randint(10, (128,), generator=draw)


def _by_hand(compiled: bool) -> Callable[..., Any]:
    model = _model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = torch.compile(_loss) if compiled else _loss

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def steps(auto: Any, step: Callable[..., Any]) -> Iterator[Any]:
    """An MLP of 64, 64, 10 on a batch of 128 by torch's Adam."""
    for name, backend in (("torch's Adam", auto), ("torch's Adam, torch.compile", replace(auto, compile=True))):
        yield step(
            f"MLP, {name}", _loss, _data(), backend, "from_torch_optim", (torch.optim.Adam, _model()), {"lr": 1e-3}, None,
            partial(_by_hand, backend.compile), lambda loss: loss,
        )  # fmt: skip
