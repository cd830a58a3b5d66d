"""Methods: slopes along lines from evaluations of f. One file each, with one interface (see `method`)."""

from __future__ import annotations

from adinterface.core.contract.auto import AutoFiniteDifferences

from .adaptive import Adaptive
from .complex_step import ComplexStep
from .fixed import Fixed
from .method import Method


def method_of(auto: AutoFiniteDifferences, depth: int = 1) -> Method:
    """The method of a backend value, for nested derivatives of this depth."""
    relative, absolute = auto.noise if isinstance(auto.noise, tuple) else (auto.noise, None)
    if auto.method in ("adaptive", "complex"):
        adaptive = Adaptive(auto.max_evaluations, relative, absolute, auto.step)
        return ComplexStep(adaptive) if auto.method == "complex" and depth == 1 else adaptive
    return Fixed(auto.method, auto.order, auto.step, relative, depth)


__all__ = ["method_of"]
