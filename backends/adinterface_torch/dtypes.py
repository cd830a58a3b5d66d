"""torch's dtypes by their names, which are NumPy's."""

from __future__ import annotations

import numpy as np
import torch

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)
}
#: And the names by dtype.
NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}
#: What `torch.from_numpy` takes.
SHARED = frozenset(
    np.dtype(name) for name in DTYPES if name.startswith(("float", "int", "uint", "bool", "complex")) and name in np.sctypeDict
)
#: What an error offers instead of a dtype that torch lacks.
SUPPORTED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
