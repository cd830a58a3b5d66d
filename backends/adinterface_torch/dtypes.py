"""torch's dtypes by their names, which are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
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
    if name.startswith(("float", "int", "uint", "bool", "complex"))
    and not name.startswith("float8_")
    and name in np.sctypeDict
)
#: What an error offers instead of a dtype that torch lacks.
SUPPORTED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def is_inexact(x: Any) -> bool:
    """Whether x is a tensor of a real or complex floating dtype."""
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())
