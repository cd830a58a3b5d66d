"""Central slopes at geometric steps, extrapolated, each line until its estimated error is small enough.

Steps start in the scale of x, grow where rounding or noise drowns the slope, shrink where f bends too much or is not finite.
Where f is finite on one side alone, at the edge of its domain, slopes are one-sided and extrapolated in h.

The parts: `track` keeps what is known along one line; `looks` evaluates f along lines; `estimates` says what follows from that;
`edge` is for one-sided slopes; `sweep` goes on until there is enough. Which steps come next is in `steps`.
"""

from __future__ import annotations

from collections.abc import Callable

from adinterface.core.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines
from .looks import Options
from .method import Method, Slopes
from .sweep import Sweep

#: Numbers that are held at once.
MEMORY = 2**21


class Adaptive(Method):
    """The parameters are those of `Options`."""

    def __init__(self, most: int = 10, noise: float | None = None, absolute: float | None = None, step: float | None = None):
        self.options = Options(most, noise, absolute, step)

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        first = Sweep(self.options, evaluations, lines, range(1), fresh).run()
        if lines.count < 2:
            return first
        # The first line shows how many outputs there are.
        parts, size = [first], max(1, MEMORY // (self.options.most * max(1, evaluations.layout(()).count)))
        for start in range(1, lines.count, size):
            chosen = range(start, min(start + size, lines.count))
            parts.append(Sweep(self.options, evaluations, lines, chosen, fresh).run())
        return Slopes.joined(parts)

    def relative_error(self, order: int, epsilon: float) -> float:
        return min(1.0, (1e4 if order == 1 else 1e6) * epsilon)
