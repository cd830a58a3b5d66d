"""What a good user writes with NumPy alone: the same stencil in a loop, the yardstick of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def one_shot(operator: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any] | None:
    if operator not in ("gradient", "jacobian") or not isinstance(args[0], np.ndarray):
        return None
    x = args[0]

    def call() -> Any:
        columns = []
        for i in range(x.size):
            h = np.cbrt(np.finfo(x.dtype).eps) * max(1.0, abs(x.flat[i]))
            ahead, behind = x.copy(), x.copy()
            ahead.flat[i] += h
            behind.flat[i] -= h
            columns.append((f(ahead) - f(behind)) / (2 * h))
        return np.moveaxis(np.asarray(columns), 0, -1)

    return call
