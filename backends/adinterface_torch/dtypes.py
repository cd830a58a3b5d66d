"""torch's dtypes by their names, which are NumPy's, and what Python floats become in the namespace that f uses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from adinterface.core.contract import any_wide

from .ambient import here

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)
}
#: And the names by dtype.
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
#: The dtypes that NumPy knows only through ml_dtypes, and those of their bits.
EXTENDED = {
    dtype: torch.int16 if dtype.itemsize == 2 else torch.uint8
    for name, dtype in DTYPES.items()
    if name.startswith(("bfloat16", "float8_"))
}
#: What `torch.from_numpy` takes.
SHARED = frozenset(
    np.dtype(name)
    for name in DTYPES
    if name.startswith(("float", "int", "uint", "bool", "complex")) and not name.startswith("float8_") and name in np.sctypeDict
)
#: What an error offers instead of a dtype that torch lacks.
SUPPORTED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def is_inexact(x: Any) -> bool:
    """Whether x is a tensor of a real or complex floating dtype."""
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


class Precision:
    """While f runs, Python floats become tensors of the call's precision, as on JAX, not of torch's default dtype.

    Inference mode counts as `no_grad`: what is converted there could not be recorded.
    """

    __slots__ = ("before", "dtype", "modes")

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype

    def __enter__(self) -> None:
        self.before, here.python_float = here.python_float, self.dtype
        self.modes = (torch.inference_mode(False), torch.no_grad()) if torch.is_inference_mode_enabled() else ()
        for mode in self.modes:
            mode.__enter__()

    def __exit__(self, *raised: object) -> None:
        here.python_float = self.before
        for mode in reversed(self.modes):
            mode.__exit__(None, None, None)


def precision(dtypes: tuple[str, ...]) -> Callable[[], Precision]:
    """The scope of a call with arrays of these dtypes."""
    return partial(Precision, torch.float64 if any_wide(dtypes) else torch.float32)
