"""The slope of a function along a line by differences, against a claimed slope.

`weigh` is the one place where the error of a slope is estimated, and `decide` the one function that
says what follows from it.

Sources. Extrapolation of central differences, and neighbouring results as its error: C. Ridders,
Advances in Engineering Software 4 (1982), p. 75. First step: Press et al., Numerical Recipes, 3rd
ed., section 5.7. Noise that grows as steps shrink: J. More, S. Wild, SIAM J. Scientific Computing
33 (2011), p. 1292.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

Outcome = Literal["right", "wrong", "undecided"]

#: A value of f may be so many units in its last place off; and a slope so many times its estimated
#: error.
ROUNDING, CAUTION = 3.0, 10.0
#: Each step is so many times the next one. Extrapolation removes the error in the square of the
#: step.
RATIO = 4.0
#: The shortest and the longest step, in units of the first one; how far f is looked at where it
#: does not change at all; and
#: how many steps are taken at most.
_SHORTEST, _LONGEST, _BLIND, _MOST = 1e-13, RATIO**20, RATIO**10, 36
#: If slopes ahead and behind differ equally over so many steps, f has a kink, not a sharp bend.
_SURE = 7
#: Two steps decide if the slopes agree, and rounding is at most this part of them.
_CLEAR = 1e-2


def decide(
    apart: float, error: float, size: float = 0.0, rtol: float = 0.0, limit: float = 0.1
) -> Outcome:
    """Whether two numbers of this size agree, as far as an error of this size lets one see.

    The numbers are `apart` from each other.

    Wrong: further apart than rtol and the error explain. Right: apart by less than `limit`, the
        error included. Otherwise
    undecided: the numbers may be right, but other ones could be, too.
    """
    if not apart <= rtol * size + CAUTION * error:
        return "wrong" if math.isfinite(error) else "undecided"
    return "right" if apart + error <= max(limit, rtol) * size else "undecided"


@dataclass(frozen=True)
class Look:
    """Slopes along a line, seen with one step."""

    step: float
    #: As claimed, by how far the point really moved.
    slope: float
    central: float
    behind: float
    ahead: float
    #: How much of the slope may be rounding.
    noise: float

    @property
    def apart(self) -> float:
        return self.central - self.slope

    @property
    def jump(self) -> float:
        return abs(self.ahead - self.behind)

    @property
    def blind(self) -> bool:
        """Whether f did not change at all."""
        return self.ahead == 0 == self.behind


def look_at(values: tuple[float, float, float], step: float, slope: float, rounding: float) -> Look:
    """From the values of f behind, at, and ahead of the point. rounding: that of these values."""
    down, here, up = values
    sides = (here - down) / step, (up - here) / step
    return Look(step, slope, (up - down) / (2 * step), *sides, ROUNDING * rounding / step)


@dataclass(frozen=True)
class Evidence:
    """What differences say of a slope.

    gradient, differences: the slope as claimed and as seen. apart: their difference; error: how far
        it may be off.
    size: of the slopes, and of what is to be expected of them if their parts did not cancel by
        chance.
    bend: how much the slope changes over the first step, at most. looks: from the longest step to
        the shortest.
    """

    gradient: float
    differences: float
    apart: float
    error: float
    size: float
    bend: float
    looks: tuple[Look, ...]
    #: Whether rounding is the larger part of the error, and whether the longest step was the best.
    noisy: bool = False
    farthest: bool = False

    def outcome(self, rtol: float, limit: float) -> Outcome:
        if not math.isfinite(self.gradient):
            return "wrong" if self.finite else "undecided"
        if self.independent and self.gradient == 0:
            return "right"
        known = decide(self.apart, self.error, self.size, rtol, limit)
        if known == "undecided" and self.apart + self.error <= rtol * self.bend:
            return "right"  # f is stationary here, but not nearby
        return known

    def judged(
        self, rtol: float, limit: float, own: Callable[[], float], largest: float, epsilon: float
    ) -> tuple[Outcome, Evidence]:
        """The outcome, and the evidence with the error of the claimed slope itself, if it matters.

        own: that error, which takes time. largest: the size of other slopes, if this one is zero
            but for rounding.
        epsilon: the precision of f.
        """
        outcome = self.outcome(rtol, limit)
        if outcome == "right" or not math.isfinite(self.gradient):
            return outcome, self
        error = own()
        found = replace(self, error=self.error + error)
        outcome = found.outcome(rtol, limit)
        hidden = CAUTION * found.error
        # Zero but for rounding: as the changes nearby show, or as differences do, if they are that
        # exact.
        null = (
            abs(self.gradient) <= CAUTION * error
            and self.apart <= hidden <= CAUTION * limit * largest
            and (error > 0 or hidden <= epsilon * largest)
        )
        return (
            ("right", replace(found, size=largest))
            if outcome == "undecided" and null
            else (outcome, found)
        )

    @property
    def independent(self) -> bool:
        """Whether f does not change at all, however far the point moves."""
        return len(self.looks) > 2 and all(look.blind for look in self.looks)

    @property
    def finite(self) -> bool:
        return any(math.isfinite(look.central) for look in self.looks)

    @property
    def kink(self) -> Look | None:
        """The look that shows a kink; None if f is smooth, as far as one sees."""
        return kink_among(self.looks)


def confirmed(
    look: Callable[[float], Look],
    scale: float,
    epsilon: float,
    rtol: float,
    limit: float,
    typical: float = 0.0,
) -> Evidence:
    """The evidence of looks along a line, with more looks where something seems wrong.

    scale: a long step, such as the size of the numbers that move. epsilon: the precision of f.

    Longer steps than that may show that a slope is right. They cannot show that it is wrong: they
    may be longer than f's own scale, and a bounded f has no slope at all over a long step.
    """
    first = scale * (RATIO**3 * epsilon) ** 0.2
    found = settle(look, first, rtol, typical)
    if found.outcome(rtol, limit) != "wrong" or not found.finite:
        return found
    found, again = (
        _within(each, scale, typical, first)
        for each in (found, settle(look, 0.37 * first, rtol, typical))
    )
    error = max(found.error, again.error, abs(again.differences - found.differences) / CAUTION)
    return replace(min(found, again, key=lambda each: each.error), error=error)


def _within(found: Evidence, scale: float, typical: float, first: float) -> Evidence:
    """The evidence of the steps that are at most `scale` long."""
    near = [look for look in found.looks if look.step <= scale]
    if len(near) < 3 or len(near) == len(found.looks):
        return found
    return replace(weigh(near, typical, first), looks=found.looks)  # f may change farther off


def settle(
    look: Callable[[float], Look], first: float, rtol: float, typical: float = 0.0
) -> Evidence:
    """Look with several steps until the slope is known well enough, or no step tells more.

    first: the first step. typical: how large a slope is to be expected.
    """
    looks = [look(first), look(first / RATIO)]
    known = _glance(looks, typical)
    if known.apart <= rtol * known.size and known.error <= _CLEAR * known.size:
        # independent numbers are not equal by chance
        return replace(known, error=min(known.error, rtol * known.size))
    step: float | None = first / RATIO**2
    while step is not None and len(looks) < _MOST:
        looks.insert(0 if step > looks[0].step else len(looks), look(step))
        known = weigh(looks, typical, first)
        if known.apart <= rtol * known.size and known.error <= 10 * rtol * known.size:
            break
        step = None if kink_among(looks, _SURE) else _next(looks, known, first)
    return known


def _next(looks: Sequence[Look], known: Evidence, first: float) -> float | None:
    """The step that may tell more: a longer one where noise is what is seen, else a shorter one.

    What looks like noise to long steps may be f on a smaller scale. So shorter steps follow until
    rounding hides the slope.
    """
    longest, shortest = looks[0], looks[-1]
    most = first * (_BLIND if longest.blind else _LONGEST)
    if known.noisy and known.farthest and math.isfinite(longest.central) and longest.step < most:
        return longest.step * RATIO
    if not RATIO * shortest.noise >= known.error and shortest.step > _SHORTEST * first:
        return shortest.step / RATIO
    return None


def _glance(looks: Sequence[Look], typical: float) -> Evidence:
    """The evidence of two steps, whose error is the rounding alone."""
    wide, narrow = looks
    apart = (RATIO**2 * narrow.apart - wide.apart) / (RATIO**2 - 1)
    size = max(abs(narrow.slope), abs(narrow.central), typical)
    differences = narrow.slope + apart
    return Evidence(
        narrow.slope, differences, abs(apart), narrow.noise, size, wide.jump, tuple(looks)
    )


def weigh(looks: Sequence[Look], typical: float, first: float) -> Evidence:
    """The best of all windows of three steps, and its error.

    The error is how much extrapolation from a shorter step changes; and rounding, as f's values
    have it, and as shorter steps show it. Where the slopes ahead and behind do not approach each
    other as steps shrink, f is not smooth between them: their distance is an error, too; where it
    grows, the steps are longer than the scale of f, and show nothing.
    """
    finite = [look for look in looks if math.isfinite(look.jump) and math.isfinite(look.central)]
    noises = _noises(finite)
    best: Evidence | None = None
    for (a, b, c), noise in zip(zip(finite, finite[1:], finite[2:]), noises[2:]):
        apart, before = (
            (RATIO**2 * narrow.apart - wide.apart) / (RATIO**2 - 1)
            for wide, narrow in ((b, c), (a, b))
        )
        error = abs(apart - before) + 1.5 * noise
        if c.jump > 0.5 * b.jump + 8 * c.noise:
            error = math.inf if c.jump > 1.5 * b.jump + 8 * c.noise else max(error, c.jump)
        size = max(abs(c.slope), abs(c.central), typical)
        if best is None or error < best.error:
            found = (abs(apart), error, size, a.jump * min(1.0, first / a.step), tuple(looks))
            best = Evidence(c.slope, c.slope + apart, *found, 3 * noise >= error, a is finite[0])
    if best is None:
        last = finite[-1] if finite else looks[-1]
        size = max(abs(last.slope), typical)
        best = Evidence(
            last.slope, last.central, abs(last.apart), math.inf, size, 0.0, tuple(looks)
        )
    return best


def _noises(looks: Sequence[Look]) -> list[float]:
    """The noise of each slope: that of the values of f, or more where steps show more."""
    changes = [
        abs(side) * look.step for look in looks for side in (look.ahead, look.behind) if side
    ]
    shown = min(changes, default=0.0) if any(look.blind for look in looks) else 0.0
    result = [max(look.noise, shown / look.step) for look in looks[-2:]]
    for wide, narrow, look in zip(looks[-2::-1], looks[:0:-1], looks[-3::-1]):
        shown = max(shown, abs(wide.apart - narrow.apart) * narrow.step)
        result.insert(0, max(look.noise, shown / look.step))
    return result


def kink_among(looks: Sequence[Look], count: int = 3) -> Look | None:
    """The pair of evaluations that shows a kink, among pairs from the longest step to the shortest.

    None if f is smooth.

    The slopes ahead and behind differ by `h f''` where f is smooth, so the difference falls with
    the step; at a kink it stays. Near many kinks, as in a network of ReLUs, it falls slowly: some
    steps must agree.
    """
    clear = [look for look in looks if math.isfinite(look.jump) and look.jump > 8 * look.noise][
        -count:
    ]
    if len(clear) < count:
        return None
    stays = all(
        0.9 * wide.jump <= narrow.jump <= 1.2 * wide.jump for wide, narrow in pairwise(clear)
    )
    return clear[-1] if stays else None


def at_kink(look: Look, slope: float) -> Outcome:
    """Whether a slope is what engines give at a kink: behind, ahead, or the mean.

    Undecided: another one between.
    """
    if any(
        abs(slope - side) <= 0.02 * look.jump + 2 * look.noise
        for side in (look.behind, look.ahead, look.central)
    ):
        return "right"
    slack = 0.05 * look.jump + 2 * look.noise
    low, high = sorted((look.behind, look.ahead))
    return "undecided" if low - slack <= slope <= high + slack else "wrong"
