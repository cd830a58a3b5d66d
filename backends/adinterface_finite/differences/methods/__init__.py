"""Methods: slopes along lines from evaluations of f. One file each, one interface (`method`)."""

from __future__ import annotations

from .adaptive import Adaptive
from .complex_step import ComplexStep
from .fixed import Fixed
from .method import Method, Options, Slopes


def method_of(
    name: str = "adaptive",
    *,
    order: int | None = None,
    step: float | None = None,
    noise: float | tuple[float, float] | None = None,
    most: int = 10,
    depth: int = 1,
) -> Method:
    """The method of this name.

    name: "adaptive", "complex", "central", "forward" or "backward". order, step: of fixed steps;
    the first adaptive step is relative to that of x. noise: of f's values, relative, or relative
    and absolute. most: evaluations of one line, of adaptive differences. depth: how many
    derivatives are taken of one another.
    """
    relative, absolute = noise if isinstance(noise, tuple) else (noise, None)
    if name in ("adaptive", "complex"):
        adaptive = Adaptive(Options(most, relative, absolute, step))
        return ComplexStep(adaptive) if name == "complex" and depth == 1 else adaptive
    return Fixed(name, order, step, relative, depth)


__all__ = ["Method", "Slopes", "method_of"]
