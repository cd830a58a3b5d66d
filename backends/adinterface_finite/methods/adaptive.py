"""Central slopes at geometric steps, extrapolated, each line until its estimated error is small enough.

Steps start in the scale of x, grow where rounding or noise drowns the slope, shrink where f bends too much or is not finite.
Where f is finite on one side alone, at the edge of its domain, slopes are one-sided and extrapolated in h.

The parts: `line_state` keeps what is known along one line; `sampling` evaluates f along lines; `estimates` extrapolates;
`one_sided` is for the edge of a domain; `rounds` repeats this until every line has enough. `steps` chooses the next step.
"""

from __future__ import annotations

from collections.abc import Callable

from adinterface.core.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines
from .method import Method, Slopes, in_parts
from .rounds import Rounds
from .sampling import Options


class Adaptive(Method):
    """The parameters are those of `Options`."""

    def __init__(self, most: int = 10, noise: float | None = None, absolute: float | None = None, step: float | None = None):
        self.options = Options(most, noise, absolute, step)

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        options = self.options
        return in_parts(
            evaluations, lines, options.most, lambda chosen: Rounds(options, evaluations, lines, chosen, fresh).run()
        )

    def relative_error(self, order: int, epsilon: float) -> float:
        return min(1.0, (1e4 if order == 1 else 1e6) * epsilon)
