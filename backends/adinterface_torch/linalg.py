"""The linalg extension for torch's tensors."""

from __future__ import annotations

from typing import Any

import torch
from array_api_compat.torch.linalg import *  # noqa: F403  (a namespace is what this file is)

from adinterface import BackendError

from .levels import plain
from .private import is_zero


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """torch gives zeros for the derivative through the vectors of the null space.

    Here it is an error.
    """
    result = torch.linalg.svd(x, full_matrices=full_matrices)
    rows, columns = x.shape[-2:]
    if not full_matrices or rows == columns:
        return result
    count = min(rows, columns)
    u, s, vh = result
    if rows > columns:
        u = torch.cat([u[..., :count], _NullVectors.apply(u[..., count:])], -1)  # type: ignore[no-untyped-call]
    else:
        vh = torch.cat([vh[..., :count, :], _NullVectors.apply(vh[..., count:, :])], -2)  # type: ignore[no-untyped-call]
    return type(result)((u, s, vh))


class _NullVectors(torch.autograd.Function):
    """The vectors of the null space: an error where their derivative counts.

    In forward mode, always.
    """

    generate_vmap_rule = True
    refusal = True  # in nested forward mode, too

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, cotangent: torch.Tensor) -> torch.Tensor:
        numbers = plain(cotangent)
        # zeros come from what selects the other vectors
        if not is_zero(numbers) and bool(numbers.detach().any()):
            raise BackendError(_REFUSAL)
        return cotangent

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> torch.Tensor:
        raise BackendError(_REFUSAL)


_REFUSAL = (
    "linalg.svd: with full_matrices=True the vectors of the null space of a matrix that is not"
    " square have no derivative in torch. Write full_matrices=False, or take the singular values"
    " alone, with linalg.svdvals."
)
