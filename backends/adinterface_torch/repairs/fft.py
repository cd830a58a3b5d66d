"""The fft extension for torch's tensors."""

from typing import Any

import torch
from array_api_compat.torch.fft import *  # noqa: F403  (a namespace is what this file is)
from array_api_compat.torch.fft import __all__ as __all__


def ihfft(x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """torch returns a lazily negated view, which vmap cannot batch, and warns when it is copied."""
    opposite = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    conjugate = torch.fft.rfft(x, n=n, dim=axis, norm=opposite)
    return torch.complex(conjugate.real, -conjugate.imag)
