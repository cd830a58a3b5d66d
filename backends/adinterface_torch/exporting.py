"""Files of `torch.export`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from adinterface.core.contract.backend import Arrays


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Arrays]):
        super().__init__()
        self.function = function

    def forward(self, *arrays: torch.Tensor) -> Arrays:
        return self.function(*arrays)


def export(function: Callable[..., Arrays], arrays: Arrays, path: str) -> dict[str, Any]:
    """See `Backend.export`."""
    program = torch.export.export(_Program(function), tuple([x.detach() for x in arrays]), strict=False)
    with open(path, "wb") as file:
        torch.export.save(program, file)
    return {"format": "torch.export", "load": "outputs = torch.export.load(path).module()(*inputs)"}
