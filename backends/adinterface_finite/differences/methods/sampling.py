"""Evaluations along some lines: the points, the slopes, and smaller steps where f is not finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..evaluation import OUTSIDE, Arrays, Evaluations
from ..extrapolation import Estimate, Windows, extrapolate, size_of_step
from ..levels import enclosing
from ..points import SQUARED, Lines
from ..steps import BEGIN, FINE, RETREAT, START, unit
from .line_state import LineState
from .method import Array, Options

#: A line, and the exponent of a step along it.
Step = tuple[LineState, int]
#: How far points ahead really are, and those behind.
Apart = tuple[Array, Array]


class StepError(OverflowError):
    """Steps whose powers are no numbers."""


class Sampling:
    """f along some lines: its values, their slopes, and the points where it is not finite."""

    #: Of the derivative; and the power of h in whose series the errors are.
    order, power = 1, 2
    #: How much of the rounding of f's values its differences have, and how much larger an error is
    #: small enough.
    gain, slack = 1.0, 1.0
    #: How many evaluations a line may take beyond the usual ones.
    more = 0

    def __init__(
        self,
        options: Options,
        evaluations: Evaluations,
        lines: Lines,
        chosen: range,
        fresh: Callable[[], Arrays],
    ):
        self.options, self.evaluations, self.lines = options, evaluations, lines
        self.chosen, self.fresh = chosen, fresh
        self.level, self.most = evaluations.level, options.most + self.more
        #: Whether no outer differences use these derivatives. Read here: it changes while f is
        #: evaluated for them.
        self.outermost = enclosing() is None
        factor = 1.0 if options.step is None else options.step / START
        self.states: list[LineState] = []
        for line in chosen:
            facts = lines.facts(line)
            if self.order > 1:
                if facts.usual > 1 / SQUARED:
                    raise StepError(
                        f"an argument is about {facts.usual:.0e}, so large that the square of its"
                        " step, by which a second difference is divided, is no number. Give f the"
                        " argument in a larger unit."
                    )
                if facts.usual < SQUARED:
                    facts = facts._replace(usual=1.0, worst=1.0)
            coarse = facts.exactness if options.noise is None else 0.0
            self.states.append(LineState(line, facts, unit(facts.usual * factor), coarse))
        #: Outputs that are not finite at the point itself.
        self.not_finite: Array | None = None
        #: f is not known at the point itself.
        self.owes = not evaluations.at_hand

    def see(
        self, steps: Sequence[Step], up: Array, down: Array, apart: Apart, again: list[Step]
    ) -> None:
        """Keep the values at these steps; `again` gets the steps in place of non-finite ones.

        apart: the actual distances between the points ahead and behind.
        """
        finite_up, finite_down = self._finite(up), self._finite(down)
        if (
            not (all(finite_up) and all(finite_down))
            and self.not_finite is None
            and not self._alive(up, down)
        ):
            self.not_finite = self.find_not_finite()
            finite_up, finite_down = self._finite(up), self._finite(down)
        with np.errstate(all="ignore"):  # non-finite values, which are not used
            found = self.derivatives(steps, up, down, apart)
            sizes = np.maximum(np.abs(up), np.abs(down))
            middles = self.middles(found, up, down, apart)
        for n, (state, exponent) in enumerate(steps):
            if finite_up[n] and finite_down[n]:
                state.take(exponent, found[n], sizes[n], middles[n])
                continue
            state.count += 2 + self.owed()
            state.bad = min(state.bad, exponent)
            for sign, good, values in ((1, finite_up[n], up[n]), (-1, finite_down[n], down[n])):
                if good:
                    state.sides.append((exponent, sign, apart[sign < 0][n], np.array(values)))
            if (state, exponent - 1) in steps[n + 1 : n + 2] or (again and again[-1][0] is state):
                continue  # the smaller of two steps of the first round says where to go
            lower = self._retreat(state, exponent)
            if lower is not None:
                again.append((state, lower))

    def owed(self) -> int:
        """One evaluation if f was evaluated at the point itself because of this line."""
        owed = self.owes and self.evaluations.at_hand
        self.owes = self.owes and not owed
        return int(owed)

    def _retreat(self, state: LineState, exponent: int) -> int | None:
        """A smaller step than one at which f was not finite; None if no evaluations are left."""
        state.failures += 1
        left = self.most - state.count
        if left < 2 or (not state.exponents and state.failures > 1 and self.one_sided(state)):
            return None
        if state.exponents:
            return state.exponents[-1] - 1
        jump = RETREAT if state.failures == 1 else 2 * RETREAT
        return min(exponent - jump, state.caution) if state.failures == 1 else exponent - jump

    def one_sided(self, state: LineState) -> bool:
        """Whether f is finite on one side of this line alone."""
        return state.one_side() != 0

    def _alive(self, up: Array, down: Array) -> bool:
        """Whether each output was finite somewhere, so that the point needs no evaluation."""
        if any(state.exponents for state in self.states):
            return True
        return bool((np.isfinite(up) | np.isfinite(down)).any(axis=0).all())

    def find_not_finite(self) -> Array:
        """Finds the outputs that are not finite at the point itself. They have no slope."""
        return np.asarray(~np.isfinite(self.evaluations.here()))

    def values_at(self, wanted: Sequence[Step]) -> tuple[Array, Array, Apart]:
        """f ahead and behind, (steps, outputs), and how far the points have moved."""
        steps = [(state.line, state.unit * size_of_step(exponent)) for state, exponent in wanted]
        signed = [(line, t) for line, step in steps for t in (step, -step)]
        distances: list[Any] = []
        ahead, behind = self.split(
            self.evaluations.vectors(self.lines.points(signed, self.fresh, distances))
        )
        return ahead, behind, (np.array(distances[0::2]), np.array(distances[1::2]))

    def split(self, vectors: list[Any]) -> tuple[Array, Array]:
        """Every other one, (steps, outputs)."""
        form = self.evaluations.form
        array = np.array(vectors, form.dtype).reshape(len(vectors), form.size)
        return array[0::2], array[1::2]

    def _finite(self, values: Array) -> list[bool]:
        """Whether each of these is finite in all outputs that are finite at the point itself."""
        if self.not_finite is not None:
            values[:, self.not_finite] = 0.0
        finite: list[bool] = np.asarray(np.isfinite(values).all(axis=1)).tolist()
        return finite

    def derivatives(self, steps: Sequence[Step], up: Array, down: Array, apart: Apart) -> Array:
        """Between the two points of each step."""
        moved = apart[0] - apart[1]
        if not moved.all():
            moved = np.where(moved == 0, np.inf, moved)
        return np.asarray((up - down) / moved[:, None])

    def middles(self, slopes: Array, up: Array, down: Array, apart: Apart) -> Array:
        """f at the point itself, on the straight line between the two points of each step."""
        middle, off = up / 2 + down / 2, apart[0] + apart[1]  # up + down may be too large
        return np.asarray(middle - slopes * (off / 2)[:, None] if off.any() else middle)

    def here(self) -> Array | None:
        """f at the point, NaN where it is not finite; None where the slopes already use it."""
        if self.order > 1:
            return None
        try:
            values = self.evaluations.look()
        except OUTSIDE:
            return np.full(self.evaluations.form.size, np.nan)
        return np.where(np.isfinite(values), values, np.nan)

    # what estimates ask

    def precision(self) -> float:
        """The precision of f's values, relative."""
        own = self.evaluations.form.epsilon if self.options.noise is None else self.options.noise
        return max(own, self.level.error)

    def limit(self, epsilon: float) -> float:
        """The unit of errors that are small enough; for nested derivatives, that of rounding."""
        allowed = self.slack * epsilon
        return max(allowed, FINE) if self.order == 1 and self.outermost else allowed

    def rounding(self, sizes: Array, steps: Array, epsilon: float) -> Array:
        """The rounding errors of slopes, (lines, steps, outputs), from f's values and the steps."""
        noise = 0.5 * self.gain * epsilon * sizes
        if self.options.absolute is not None:
            noise = np.maximum(noise, 0.5 * self.gain * self.options.absolute)
        return np.asarray(noise / (steps**self.order)[:, :, None])

    def extrapolated(
        self,
        found: Windows,
        slopes: Array,
        rounding: Array,
        steps: Array,
        residues: Array | None = None,
    ) -> Estimate:
        """The slopes at step zero. residues: of the middles of the steps from f, if known."""
        return extrapolate(
            found, slopes, rounding, (steps[:, -1:] ** self.order)[:, :, None], steps, residues
        )

    def following(
        self, state: LineState, exponent: int | None, exponents: tuple[int, ...]
    ) -> Sequence[int]:
        """The next steps of a line for which this was decided."""
        if exponent is None:
            unchanged = len(exponents) == 2 and not np.any(state.slopes)
            return self._try_larger_steps(state) if unchanged else ()
        return (exponent,) if exponent not in exponents and state.reaches(exponent) else ()

    def _try_larger_steps(self, state: LineState) -> Sequence[int]:
        """If f did not change near a number close to zero, try steps of about 1."""
        if state.scale >= 2.0**-10 or self.most < 8 or self.lines.point.scale is not None:
            return ()
        if math.log2(unit(1.0) / state.unit) >= state.bad:
            return ()
        state.begin_again(unit(1.0), 1.0)
        return BEGIN
