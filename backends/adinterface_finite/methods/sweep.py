"""Rounds of steps along some lines, until all of them have enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..steps import BEGIN
from . import edge
from .estimates import Estimates
from .looks import Looks, Step
from .method import Slopes
from .track import Track


class Sweep(Looks):
    """Some lines in lockstep: each round gives every unfinished line one more step."""

    #: Made when the first value of f is there.
    estimates: Estimates | None = None

    def run(self) -> Slopes:
        both, one_sided = self.tracks, []
        if self.lines.point.bounded:
            one_sided = [track for track in both if track.bound()]
            both = [track for track in both if track not in one_sided]
        if both:
            self.march(both)
        for track in both:
            if track.failures and not track.exponents and track.sides:
                one_sided.append(track)
        if one_sided and self.estimates is None:
            self.evaluations.base()  # bounds leave room on one side of every line
        found = self.allocated().slopes()
        if one_sided:
            edge.one_sided(self, one_sided, found, self.allocated().epsilon)
        if self.evaluations.raised is not None and np.isnan(found.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.dead is not None and self.dead.any():
            found.values[:, self.dead], found.errors[:, self.dead] = np.nan, np.inf
        return found

    def march(self, tracks: Sequence[Track]) -> None:
        """Rounds until every line has enough."""
        wanted = [(track, exponent) for track in tracks for exponent in BEGIN]
        while wanted:
            wanted = self._round(wanted)

    def _round(self, wanted: Sequence[Step]) -> list[Step]:
        """Evaluate f at these steps; the steps of the next round."""
        up, down, apart = self.values_at(wanted)
        failed: list[Step] = []
        self.see(wanted, up, down, apart, failed)
        estimates = self.allocated()
        again = [(track, exponent) for track, exponent in failed if exponent not in track.exponents]
        ready = sorted({track.line for track, _ in wanted} - {track.line for track, _ in again})
        return [*again, *estimates.next(self, [self.tracks[line - self.chosen.start] for line in ready])]

    def allocated(self) -> Estimates:
        """The estimates, as f's outputs are."""
        if self.estimates is None:
            self.estimates = Estimates(self)
        return self.estimates
