"""Rounds of steps along some lines, until all of them have enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..evaluation import Near, as_number
from ..steps import BEGIN
from . import edge
from .arrays import Stacks
from .looks import Apart, Looks, Step, Values
from .method import Slopes
from .numbers import Numbers
from .track import Track

#: Up to so many lines of an f with one real output are estimated by themselves: NumPy's arrays pay from there on.
FEW = 40


class Sweep(Looks):
    """Some lines in lockstep: each round gives every unfinished line one more step.

    Where f has one real output, and nobody waits for many points at once, each of few lines goes to its end by itself: what is
    shared by the lines of a round takes longer than that.
    """

    #: Whether what is evaluated for a line depends on others, or others on it.
    joint = False
    #: Made when the first value of f is there.
    estimates: Numbers | Stacks | None = None

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
        found = self.allocated().slopes(self.tracks)
        if one_sided:
            edge.one_sided(self, one_sided, found, self.allocated().epsilon)
        if self.evaluations.raised is not None and np.isnan(found.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.dead is not None and self.dead.any():
            found.values[:, self.dead], found.errors[:, self.dead] = np.nan, np.inf
        return found

    # rounds

    def march(self, tracks: Sequence[Track]) -> None:
        """Rounds until every line has enough."""
        rest: Sequence[Track] = tracks
        if not self.joint and self.evaluations.executor is None:
            rest = self._one_by_one(tracks)
            if not rest:
                return
        if isinstance(self.estimates, Stacks) and not self.joint and not self.lines.point.bounded:
            wanted, last = self.estimates.in_groups(self, rest)
            if last is not None:
                wanted.extend(self.next_round(*last))
        else:
            wanted = [(track, exponent) for track in rest for exponent in BEGIN]
        while wanted:
            wanted = self.next_round(wanted, *self.values_at(wanted))

    def next_round(self, wanted: Sequence[Step], up: Values, down: Values, apart: Apart) -> list[Step]:
        """Keep what a round has found, as `see`; the steps of the next one."""
        estimates = self.allocated()
        failed: list[Step] = []
        self.see(wanted, up, down, apart, failed)
        again = [(track, exponent) for track, exponent in failed if exponent not in track.exponents]
        ready = sorted({track.line for track, _ in wanted} - {track.line for track, _ in again})
        return [*again, *estimates.next(self, [self.tracks[line - self.chosen.start] for line in ready])]

    def _one_by_one(self, tracks: Sequence[Track]) -> Sequence[Track]:
        """Each line to its end, if f has one real output; the lines, if it has others."""
        evaluations, vector, distance = self.evaluations, None, None
        with Near(evaluations):
            if self.estimates is None:
                first = tracks[0]
                leaves, distance = first.move(first.unit * 2.0 ** BEGIN[0])
                vector = evaluations.vector(leaves)
            estimates = self.allocated()
            if not isinstance(estimates, Numbers):
                self.begun = vector
                return tracks
            number = evaluations.numbers()
            begun = None if vector is None else (as_number(vector), distance)
            for track in tracks:
                estimates.to_the_end(self, track, number, begun)
                begun = None
        return ()

    def allocated(self) -> Numbers | Stacks:
        """The estimates, as f's outputs are."""
        if self.estimates is None:
            self.single = self.evaluations.layout(()).alone
            self.estimates = Numbers(self) if self.single and len(self.tracks) <= FEW else Stacks(self)
        return self.estimates
