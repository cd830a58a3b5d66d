"""Rounds of steps along some lines, until all are finished."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..steps import BEGIN
from .estimates import Estimates
from .line_state import LineState
from .method import Slopes
from .one_sided import one_sided_slopes
from .sampling import Sampling, Step


class Rounds(Sampling):
    """Some lines in lockstep: each round gives every unfinished line one more step."""

    #: Made when the first value of f is there.
    estimates: Estimates | None = None

    def run(self) -> Slopes:
        both, one_sided = self.states, []
        if self.lines.point.bounded:
            one_sided = [state for state in both if state.bound()]
            both = [state for state in both if state not in one_sided]
        if both:
            self.march(both)
        for state in both:
            if state.failures and not state.exponents and state.sides:
                one_sided.append(state)
        if one_sided and self.estimates is None:
            self.evaluations.here()  # bounds leave room on one side of every line
        found = self.allocated().slopes()
        if one_sided:
            one_sided_slopes(self, one_sided, found, self.allocated().epsilon)
        if self.evaluations.raised is not None and np.isnan(found.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.not_finite is not None and self.not_finite.any():
            found.values[:, self.not_finite], found.errors[:, self.not_finite] = np.nan, np.inf
        return found

    def march(self, states: Sequence[LineState]) -> None:
        """Rounds until every line has enough."""
        wanted = [(state, exponent) for state in states for exponent in BEGIN]
        while wanted:
            wanted = self._round(wanted)

    def _round(self, wanted: Sequence[Step]) -> list[Step]:
        """Evaluate f at these steps; the steps of the next round."""
        up, down, apart = self.values_at(wanted)
        failed: list[Step] = []
        self.see(wanted, up, down, apart, failed)
        estimates = self.allocated()
        again = [(state, exponent) for state, exponent in failed if exponent not in state.exponents]
        ready = sorted({state.line for state, _ in wanted} - {state.line for state, _ in again})
        return [*again, *estimates.next(self, [self.states[line - self.chosen.start] for line in ready])]

    def allocated(self) -> Estimates:
        """The estimates, as f's outputs are."""
        if self.estimates is None:
            self.estimates = Estimates(self)
        return self.estimates
