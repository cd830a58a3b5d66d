"""Central slopes at geometric steps, extrapolated until the estimated error is small enough.

Steps start at the scale of x. They grow where rounding or noise dominates, and shrink where f
curves too much or is not finite. At the edge of the domain of f, slopes are one-sided and
extrapolated in h.

The parts: `line_state` is the state of one line; `sampling` evaluates f along lines; `rounds`
extrapolates and repeats this until all lines are finished; `one_sided` is for the edge of a domain.
`steps` chooses the next step.
"""

from __future__ import annotations

from collections.abc import Callable

from ..evaluation import Arrays, Evaluations
from ..points import Lines
from .method import Method, Options, Slopes, in_parts
from .rounds import Rounds


class Adaptive(Method):
    options: Options

    def __init__(self, options: Options):
        self.options = options

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        def compute(chosen: range) -> Slopes:
            return Rounds(self.options, evaluations, lines, chosen, fresh).run()

        return in_parts(evaluations, lines, self.options.most, compute)

    def relative_error(self, order: int, epsilon: float) -> float:
        return min(1.0, (1e4 if order == 1 else 1e6) * epsilon)
