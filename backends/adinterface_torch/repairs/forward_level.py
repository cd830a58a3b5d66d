"""torch's one level of forward mode, shared by derivatives in several threads."""

from __future__ import annotations

import importlib
import threading
from contextlib import nullcontext
from typing import Any

from torch.autograd import forward_ad


class _ForwardLevel:
    """The first call enters the level, and the last one leaves it."""

    def __init__(self) -> None:
        self.lock, self.count = threading.Lock(), 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.count:
                self.entered: Any = (
                    nullcontext() if forward_ad._current_level >= 0 else forward_ad.dual_level()
                )
                self.entered.__enter__()
                _nest(1)
            self.count += 1

    def is_of_another(self) -> bool:
        """Whether a level is entered that is not this one."""
        with self.lock:  # a thread may be about to enter or leave it
            return not self.count and forward_ad._current_level >= 0

    def __exit__(self, *raised: object) -> None:
        with self.lock:
            self.count -= 1
            if not self.count:
                _nest(-1)
                self.entered.__exit__(None, None, None)


def _nest(by: int) -> None:
    """Tell torch of nested forward mode: only the outermost one enters and leaves the level."""
    transforms: Any = importlib.import_module("torch._functorch.eager_transforms")
    transforms.JVP_NESTING += by


forward_level = _ForwardLevel()
