"""The derivative from the imaginary part of f at a point moved by a tiny imaginary number.

No difference is taken, so nothing cancels and the result has the precision of f. But f must be
analytic: `abs`, `conj`, comparisons and `float()` make the result silently wrong. So one central
difference checks each number. Where the two disagree, the adaptive method is used.

Sources. W. Squire, G. Trapp, SIAM Review 40 (1998), p. 110; on operations that break it: J.
Martins, P. Sturdza, J. Alonso, ACM Trans. Math. Software 29 (2003), p. 245.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..evaluation import Arrays, Evaluations
from ..points import Lines, OtherLines
from .adaptive import Adaptive
from .method import Array, Method, Slopes

#: The imaginary step in units of x, and that of the guard; how far the two may be apart, and in
#: units of rounding.
STEP, GUARD, AGREE, ROUNDING = 1e-30, 6e-6, 1e-6, 8.0
#: How many of its roundings f's own arithmetic may cost: NumPy takes powers of complex numbers by
#: their logarithms.
OWN = 256.0
#: How near it must be for a second look with a step of a sixteenth, and by how much its error must
#: fall: by 256 at best.
NEAR, FALL = 0.1, 100.0
#: After so many exceptions f is not given complex numbers any more.
ENOUGH = 2


class ComplexStep(Method):
    def __init__(self, otherwise: Adaptive):
        self.otherwise, self.options = otherwise, otherwise.options

    def relative_error(self, order: int, epsilon: float) -> float:
        return self.otherwise.relative_error(order, epsilon)

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        found: dict[int, tuple[Array, ...]] = {}
        raised = 0
        for line in range(lines.count):
            if raised >= ENOUGH:
                break
            try:
                slope = self._imaginary(evaluations, lines, line, fresh)
            except Exception:
                # f does not take complex numbers; if it is at fault, it raises with real ones too
                raised += 1
                continue
            guarded = (
                None if slope is None else self._guarded(evaluations, lines, line, fresh, slope)
            )
            if guarded is not None:
                found[line] = guarded
        rest = [line for line in range(lines.count) if line not in found]
        if len(rest) == lines.count:
            return self.otherwise.slopes(evaluations, lines, fresh)
        if rest:
            others = self.otherwise.slopes(
                evaluations, OtherLines(lines.point, [(lines, line) for line in rest]), fresh
            )
            found.update(zip(rest, zip(*others)))
        return Slopes(
            *[np.array(column) for column in zip(*[found[line] for line in range(lines.count)])]
        )

    def _imaginary(
        self, evaluations: Evaluations, lines: Lines, line: int, fresh: Callable[[], Arrays]
    ) -> Array | None:
        step = STEP * lines.facts(line).usual
        leaves = lines.imaginary(fresh(), line, step)
        parts = None if leaves is None else evaluations.imaginary(leaves)
        slope = None if parts is None else parts / step
        return slope if slope is None or np.isfinite(slope).all() else None

    def _guarded(
        self,
        evaluations: Evaluations,
        lines: Lines,
        line: int,
        fresh: Callable[[], Arrays],
        slope: Array,
    ) -> tuple[Array, ...] | None:
        """The slope and what else `Slopes` has of a line, if a central difference agrees with it.

        Where f curves too much for that, the difference must shrink with the step as a truncation
        error does. The error of a wrong complex step does not shrink.
        """
        before: Array | None = None
        scale = lines.facts(line).usual
        for step in (GUARD * scale, GUARD / 16 * scale):
            ahead, far = lines.at(fresh(), line, step)
            behind, near = lines.at(fresh(), line, -step)
            up, down = (np.atleast_1d(vector) for vector in evaluations.vectors([ahead, behind]))
            form = evaluations.form
            if form.complex or up.shape != slope.shape:
                return None
            with np.errstate(all="ignore"):
                off = np.abs((up - down) / (far - near) - slope)
                sizes = np.maximum(np.abs(up), np.abs(down)).astype("float64")
                top = np.max(np.abs(slope), initial=0.0)
                rounding = ROUNDING * form.epsilon * sizes / step
                if np.all(off <= AGREE * top + rounding) or (
                    before is not None and np.all(off <= before / FALL + rounding)
                ):
                    errors = np.full(slope.shape, OWN * form.epsilon * top)
                    return slope, errors, errors, sizes / scale, np.zeros(slope.shape)
                if not np.all(off <= NEAR * top + rounding):
                    return None
            before = off
        return None
