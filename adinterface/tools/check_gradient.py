"""`check_gradient`: a gradient against differences along random directions.

`evidence` says what differences show along a direction. Here are the directions: all leaves, some
leaves, the entries of a leaf; and the errors of the gradient itself.

Source. Directions with random signs: as in SPSA, J. Spall, IEEE Trans. Automatic Control 37 (1992).
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..core.call.messages import require_function
from ..core.contract.auto import AutoBackend
from ..core.operators import gradient as operators
from .evidence import CAUTION, Evidence, Look, Outcome, at_kink, confirmed
from .leaves import named_leaves, nearby
from .numbers import Array, largest_of, widened
from .probe import Direction, Probe, counted, inner
from .recording import recording
from .verdict import Verdict

Status = Literal["right", "wrong", "kink", "undecided"]

#: How many leaves are checked alone although no direction that moves all of them complained.
ALONE = 16
#: How many entries of a leaf are looked at alone, where f has a kink.
ENTRIES = 8
#: An undecided leaf counts as right if its slopes agree to this relative error, and it is not the
#: only one.
WEAK = 0.05
_EVERYTHING = "all leaves together"
#: The path of a finding about the value of f itself.
VALUE = "the value of f"
#: Slopes with a larger relative error may agree by chance.
LOOSE = 1e-2


# Results
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeafCheck:
    """The slope of f along one random direction, by the gradient and by differences.

    path: the leaf that the direction moves, each of its numbers by 1 or -1 (a complex one by a
        random unit).
    status: `"right"`; `"wrong"`; `"kink"` if the slopes ahead and behind differ and the gradient is
        one of them, or their
    mean, as engines have it; `"undecided"` if differences cannot tell.
    error: the estimated error of the difference of the two slopes. size: of the slopes.
    tolerance: the largest accepted difference of the two slopes.
    ahead, behind: the one-sided slopes at a kink.
    """

    path: str
    status: Status
    gradient: float
    differences: float
    error: float = 0.0
    size: float = 0.0
    tolerance: float = 0.0
    behind: float | None = None
    ahead: float | None = None
    note: str = ""

    @property
    def relative(self) -> float:
        """How far the slopes may be apart, relative to their size; 0 where both are zero."""
        apart = abs(self.gradient - self.differences) + self.error
        return apart / self.size if self.size and math.isfinite(apart) else 0.0

    @property
    def loose(self) -> bool:
        """Whether the slopes are known to a per cent at best, and may agree by chance."""
        apart = abs(self.gradient - self.differences) + self.error
        return apart > LOOSE * max(abs(self.gradient), abs(self.differences))

    @property
    def unseen(self) -> float:
        """A relative error of the gradient that would not have been seen."""
        return min(0.1, self.tolerance / self.size) if self.size else 0.0

    def __str__(self) -> str:
        if self.status == "undecided":
            return f"{self.path} is undecided: {self.note}"
        if math.isnan(self.differences) and self.note:
            return f"{self.path} is {self.status}: {self.note}"
        numbers = (
            f"slope {self.gradient:.8g} by the gradient, {self.differences:.8g} by differences"
        )
        if self.status == "right":
            return f"{self.path} is right: {numbers}{self.note and '; ' + self.note}"
        if self.status == "kink":
            sides = f"slope {self.behind:.8g} behind, {self.ahead:.8g} ahead"
            return f"{self.path} is at a kink: {sides}, {self.gradient:.8g} by the gradient"
        return (
            f"{self.path} is wrong: {numbers} (tolerance"
            f" {self.tolerance:.1g}{self.note and '; ' + self.note})"
        )


@dataclass(frozen=True, repr=False)
class GradientCheck(Verdict):
    """What `check_gradient` found. True if the gradient is right; prints as a page of text."""

    backend: AutoBackend
    #: The directions that moved all leaves.
    whole: tuple[LeafCheck, ...]
    #: The leaves that were moved alone.
    leaves: tuple[LeafCheck, ...]
    #: How many leaves are differentiated, and how many numbers they hold.
    leaf_count: int
    number_count: int
    #: How often f was called: by the gradient, and by the differences.
    evaluations: int
    seed: int

    @property
    def findings(self) -> tuple[LeafCheck, ...]:
        """Whatever is not right: leaves, or a whole direction if no leaf explains it."""
        leaves = tuple([check for check in self.leaves if check.status != "right"])
        return (
            leaves
            or tuple([check for check in self.whole if check.status == "wrong" or not self.leaves])[
                :1
            ]
        )

    @property
    def wrong(self) -> tuple[LeafCheck, ...]:
        """Where the gradient is wrong."""
        return tuple([check for check in self.findings if check.status == "wrong"])

    @property
    def undecided(self) -> tuple[LeafCheck, ...]:
        """Where differences cannot tell."""
        return tuple([check for check in self.findings if check.status == "undecided"])

    @property
    def kinks(self) -> tuple[LeafCheck, ...]:
        """Where f has a kink, at which the gradient is one that engines give."""
        return tuple([check for check in self.findings if check.status == "kink"])

    @property
    def verdict(self) -> Outcome:
        return "wrong" if self.wrong else "undecided" if self.undecided else "right"

    @property
    def digits(self) -> int | None:
        """To so many digits the slopes agree, at least, wherever they are right.

        None if they are nowhere.
        """
        right = [check.relative for check in (*self.whole, *self.leaves) if check.status == "right"]
        return int(-math.log10(max(*right, 1e-16))) if right else None

    def __repr__(self) -> str:
        failures = [*self.wrong, *self.undecided]
        passed = (
            "right"
            + (f", to {self.digits} digits" if self.digits else "")
            + ", but for kinks" * bool(self.kinks)
        )
        # The worst comes first: an assertion may show no more than the beginning.
        verdict = (
            f"{'FAILED' if self.wrong else 'UNDECIDED'}, {failures[0]}" if failures else passed
        )
        lines = [f"check_gradient({self.backend!r}): {verdict}"]
        lines.extend(f"  {check}" for check in (*failures[1:], *self.kinks))
        for check in (*self.whole[:1], *self.leaves):
            if check.status == "right" and check.note:
                lines.append(f"  {check}")
            elif check.status == "right" and check.unseen >= 0.01:
                lines.append(
                    f"  an error below {check.unseen:.0%} in {check.path} would not be seen"
                )
        lines.append(
            f"  {self.number_count} numbers in {self.leaf_count} leaves; {len(self.whole)}"
            f" directions of all leaves, {len(self.leaves)} of one leaf; {self.evaluations}"
            f" evaluations of f; seed {self.seed}"
        )
        return "\n".join(lines)


# The check
# ------------------------------------------------------------------------------------------------


def check_gradient(
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *args: Any,
    gradient: Callable[..., Any] | None = None,
    seed: int = 0,
    directions: int = 3,
    rtol: float | None = None,
    **kwargs: Any,
) -> GradientCheck:
    """Check a backend's gradient against finite differences along random directions.

    A few directions move all leaves at once, with four to ten evaluations of f each. Then up to 16
    leaves are moved alone: those with the smallest part in these directions. If something
    disagrees, f is evaluated with more steps, and the wrong leaf is found by bisection. So the
    number of evaluations does not depend on the size of the model: a million parameters take 60 to
    150. f gets the arrays that the backend would give it.

    f, backend, args, kwargs: as for `gradient`; to give f a keyword named as one of the following,
        wrap it.

    gradient: what is checked in place of the backend's gradient, called as `gradient(*args,
        **kwargs)`: a prepared call of `gradient` or `value_and_gradient`, or a function that
        returns a tuple with an entry for each argument, as `gradient` does.
    seed: of the random directions; the same seed gives the same directions.
    directions: how many directions move all leaves.
    rtol: the accepted difference of the two slopes, relative to their size; None takes eps^(3/5) of
        the coarsest dtype (4e-10 for float64, 7e-5 for float32), and eps^(2/5) (5e-7, 2e-3) where f
        is too rough for more. The estimated error of the differences is added.

    Returns a `GradientCheck`, true if the gradient is right; it names each wrong leaf with both
    slopes. Where f has a kink (its slopes ahead and behind differ), any result between them counts
    as right. Raises what the gradient raises, ValueError if `directions` is less than 1, TypeError
    if `gradient` returns no such tuple.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, check_gradient
    >>> check_gradient(lambda p: (p["x"] ** 3).sum(), AutoFiniteDifferences(),
    ...     {"x": np.array([1.0, 2.0])}).ok
    True
    """
    require_function("check_gradient", f)
    if directions < 1:
        raise ValueError(f"check_gradient: directions must be at least 1, not {directions}.")
    return checked(f, backend, gradient, args, kwargs, seed, directions, rtol)


def checked(
    f: Callable[..., Any],
    backend: AutoBackend,
    gradient: Callable[..., Any] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seed: int = 0,
    directions: int = 3,
    rtol: float | None = None,
) -> GradientCheck:
    """`check_gradient` for an f with any keywords."""
    counting = counted(f)
    own = functools.partial(operators.gradient, counting, backend)
    claimed = own if gradient is None else functools.partial(_given, gradient)
    with recording() as record:
        result = claimed(*args, **kwargs)
    estimated = {
        leaf.leaf: leaf.relative for accuracy in record.accuracies for leaf in accuracy.leaves
    }
    probe = Probe(counting, backend, args, kwargs)
    whole, leaves = _Search(probe, claimed, _by_path(result), seed, rtol, estimated).run(directions)
    sizes = [point.size for point in probe.points]
    return GradientCheck(
        backend, tuple(whole), tuple(leaves), len(sizes), sum(sizes), counting.calls, seed
    )


def _given(gradient: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    result = gradient(*args, **kwargs)
    found = getattr(result, "gradient", result)  # the second part of `value_and_gradient`
    if not isinstance(found, tuple) or len(found) != len(args):
        raise TypeError(
            "check_gradient: gradient=... must return a tuple with an entry for each argument of f"
            f" ({len(args)} here), as `gradient` does; it returned {type(found).__name__}."
        )
    return found


def _by_path(gradients: tuple[Any, ...]) -> dict[str, Array]:
    leaves = [
        place for i, entry in enumerate(gradients) for place in named_leaves(entry, f"args[{i}]")
    ]
    return {path: widened(leaf.library.to_numpy(leaf.value)) for path, leaf in leaves}


class _Search:
    """The search for the leaves whose gradient is wrong."""

    def __init__(
        self,
        probe: Probe,
        claimed: Callable[..., tuple[Any, ...]],
        gradients: Mapping[str, Array],
        seed: int,
        rtol: float | None,
        errors: Mapping[int, float],
    ):
        #: errors: of the leaves, as a backend of finite differences estimates them, relative to the
        #: largest number.
        self.given, self.claimed, self.seed, self.errors = probe, claimed, seed, errors
        #: As in `decide`.
        self.rtol = probe.epsilon**0.6 if rtol is None else rtol
        self.limit = max(min(0.1, probe.epsilon**0.2), self.rtol)
        self.probe: Probe = probe
        self.drawn = 0
        self.malformed: list[LeafCheck] = []
        self.gradients: dict[int, Array] = {}
        #: Leaves of symmetric matrices of which f reads one triangle.
        self.triangles: set[int] = set()
        for n, (path, point) in enumerate(zip(probe.paths, probe.points)):
            own = gradients.get(path)
            if own is None or own.shape != point.shape:
                seen = (
                    "there is no gradient" if own is None else f"the gradient has shape {own.shape}"
                )
                note = f"{seen}, but the leaf has shape {point.shape}"
                self.malformed.append(LeafCheck(path, "wrong", math.nan, math.nan, note=note))
            elif point.size:
                self.gradients[n] = own

    def run(self, directions: int) -> tuple[list[LeafCheck], list[LeafCheck]]:
        again = self.given.at({})
        if not np.isfinite(again) or again != self.given.value:
            return [self._hopeless(again)], self.malformed
        if not self.gradients:
            return [], self.malformed
        self.probe = self.given.in_double_precision() or self.given
        everything = list(self.gradients)
        whole = [self._along(everything, _EVERYTHING) for _ in range(directions)]
        if all(check.status == "right" for check in whole):
            faint = sorted(everything, key=self._contribution)[:ALONE]
            loose = any(check.loose for check in whole)
            leaves = [self._leaf(n) for n in sorted(faint)] if len(everything) > 1 or loose else []
        else:
            leaves = list(self._blame(everything))
            if self.triangles:
                whole = [self._along(everything, _EVERYTHING) for _ in range(directions)]
        return whole, [*self.malformed, *leaves]

    def _hopeless(self, again: Any) -> LeafCheck:
        if np.isfinite(again):
            note = (
                f"f gives {self.given.value:.17g} and then {again:.17g} at the same point. Fix its"
                " random numbers (a seed or a key as an argument), or switch dropout off."
            )
        else:
            note = f"f is {again} at this point. Choose a point where it is finite."
        return LeafCheck(VALUE, "undecided", math.nan, math.nan, note=note)

    def _blame(self, group: list[int]) -> Iterator[LeafCheck]:
        """Search for the leaves that disagree: one by one if they are few, else by halving."""
        if len(group) <= ALONE:
            yield from [self._leaf(n) for n in group]
            return
        for half in (group[: len(group) // 2], group[len(group) // 2 :]):
            if self._along(half, "").status != "right":
                yield from self._blame(half)

    def _contribution(self, n: int) -> float:
        return float(np.sqrt(np.square(np.abs(self.gradients[n])).sum())) * self._scale(n)

    # directions

    def _scale(self, n: int) -> float:
        """The largest number of a leaf; 1 if all are zero."""
        return float(np.max(np.abs(self.probe.points[n]), initial=0.0)) or 1.0

    def _signs(self, n: int) -> Array:
        point = self.probe.points[n]
        self.drawn += 1
        random = np.random.default_rng([self.seed, self.drawn])
        if point.dtype.kind == "c":
            return np.asarray(np.exp(2j * np.pi * random.random(point.shape)), point.dtype)
        signs = np.asarray(
            random.integers(0, 2, point.shape, dtype=np.int8) * 2.0 - 1.0, point.dtype
        )
        if n in self.triangles:
            return signs + np.swapaxes(signs, -1, -2)
        return np.ones_like(signs) if signs.size == 1 else signs

    def _along(self, group: list[int], path: str) -> LeafCheck:
        direction = {n: self._signs(n) * self._scale(n) for n in group}
        return self._examine(direction, path)

    def _leaf(self, n: int) -> LeafCheck:
        """One leaf alone; along other directions where a random one does not decide."""
        path, point, own = self.probe.paths[n], self.probe.points[n], self.gradients[n]
        signs, scale = self._signs(n), self._scale(n)
        found = self._examine({n: signs}, path, scale)
        if found.ahead is not None and point.size > 1:
            return self._entries(n, found, signs)
        if found.status != "right" and point.size > 1 and self._reads_one_triangle(n):
            self.triangles.add(n)
            note = (
                "f reads one triangle, so symmetric displacements were taken. Write f((a + a.T) /"
                " 2) to be free of that"
            )
            return replace(self._examine({n: self._signs(n)}, path, scale), note=note)
        # The direction in which the gradient is largest: nothing cancels.
        with np.errstate(invalid="ignore", divide="ignore"):
            units = own / np.abs(own)
        aligned = np.where(np.isfinite(units), units, signs)
        if found.status == "right" and found.loose and point.size > 1:
            return self._examine({n: aligned}, path, scale)
        if found.status == "undecided" and point.size > 1:
            for direction in (signs * np.where(point == 0, 1.0, np.abs(point) / scale), aligned):
                other = self._examine({n: direction}, path, scale)
                if other.status == "wrong" or (
                    other.status == "right" and (direction is aligned or not other.loose)
                ):
                    return other
                if other.status != "right":
                    found = min(found, other, key=lambda check: check.relative or math.inf)
        if found.status == "undecided" and 0 < found.relative <= WEAK and len(self.gradients) > 1:
            return replace(found, status="right", tolerance=WEAK * found.size, note="")
        return found

    def _reads_one_triangle(self, n: int) -> bool:
        """Whether a leaf is symmetric, and f reads one triangle of it."""
        point = self.probe.points[n]
        if (
            point.ndim < 2
            or point.shape[-1] != point.shape[-2]
            or not np.array_equal(point, np.conj(np.swapaxes(point, -1, -2)))
        ):
            return False
        moved = point + 1e-3 * self._signs(n) * self._scale(n)
        triangles = [
            np.where(np.tri(point.shape[-1], k=-1, dtype=bool) == lower, moved, point)
            for lower in (True, False)
        ]
        triangles[1] = np.where(np.eye(point.shape[-1], dtype=bool), point, triangles[1])
        return any(
            self.probe.at({n: moved.astype(self.probe.storage[n])}) == self.probe.value
            for moved in triangles
        )

    # what differences show

    def _evidence(self, direction: Direction, scale: float) -> Evidence:
        with np.errstate(all="ignore"):
            parts = [np.real(np.conj(self.gradients[n]) * d) for n, d in direction.items()]
            typical = float(np.sqrt(sum([np.square(part).sum() for part in parts])))
        count = sum([np.count_nonzero(d) for d in direction.values()])
        # A sum of n numbers moves sqrt(n) times as far. The fourth root, because the n numbers of a
        # layer meet in sums of about sqrt(n).
        reach = scale * float(max(1, count)) ** -0.25
        look = lambda step: self.probe.look(direction, step, self.gradients)
        return confirmed(look, reach, self.probe.epsilon, self.rtol, self.limit, typical)

    def _examine(self, direction: Direction, path: str, scale: float = 1.0) -> LeafCheck:
        """scale: the step along the direction that moves the numbers by their own size."""
        evidence, rtol = self._evidence(direction, scale), self.rtol
        own = lambda: self._own_error(direction)
        status, found = evidence.judged(
            rtol, self.limit, own, self._largest() / scale, self.probe.epsilon
        )
        tolerance = rtol * found.size + CAUTION * found.error
        check = LeafCheck(
            path, status, found.gradient, found.differences, found.error, found.size, tolerance
        )
        if status == "right":
            return check
        kink = found.kink
        if kink is not None:
            return self._at_kink(check, kink)
        return replace(check, note=self._why(found)) if status == "undecided" else check

    def _at_kink(self, check: LeafCheck, kink: Look) -> LeafCheck:
        """The check of a direction along which f has a kink."""
        check = replace(
            check,
            gradient=kink.slope,
            differences=kink.central,
            behind=kink.behind,
            ahead=kink.ahead,
        )
        sides = f"slopes {kink.behind:.8g} behind and {kink.ahead:.8g} ahead"
        said = at_kink(kink, kink.slope)
        if said == "right":
            return replace(check, status="kink")
        note = f"f has a kink here, with {sides}"
        if said == "undecided":
            note += (
                f". {kink.slope:.8g} is between them, but no engine's choice. Check near the kink."
            )
        return replace(check, status=said, tolerance=kink.jump / 2, note=note)

    def _entries(self, n: int, found: LeafCheck, signs: Array) -> LeafCheck:
        """Where a leaf has kinks: the numbers at a kink, one by one, and all others together."""
        point, path = self.probe.points[n], self.probe.paths[n]
        order = np.random.default_rng([self.seed, n]).permutation(point.size)
        groups, kinked, smooth = [order], list[int](), list[Any]()

        def part(group: Any) -> Direction:
            moved = np.zeros(point.size, signs.dtype)
            moved[group] = signs.ravel()[group]
            return {n: moved.reshape(point.shape)}

        checks: list[LeafCheck] = []
        while groups and len(kinked) < ENTRIES:
            group = groups.pop()
            check = self._examine(part(group), path, self._scale(n))
            if check.ahead is None:
                smooth.append(group)
            elif len(group) > 1:
                groups += [group[len(group) // 2 :], group[: len(group) // 2]]
                continue
            else:
                index = ", ".join(map(str, np.unravel_index(int(group[0]), point.shape)))
                check = replace(check, path=f"{path}[{index}]")
                kinked.append(int(group[0]))
            checks.append(check)
        for status in ("wrong", "undecided", "kink"):
            worst = next((check for check in checks if check.status == status), None)
            if worst is not None:
                return worst
        return found

    def _own_error(self, direction: Direction) -> float:
        """The error of the slope by the gradient.

        It is what the engine estimates, or how much the slope changes a few roundings away.
        """
        if self.errors:
            parts = [
                self.errors.get(n, 0.0) * largest_of(self.gradients[n]) * float(np.linalg.norm(d))
                for n, d in direction.items()
            ]
            return sum(parts)
        change = [
            sum([inner(other[n] - self.gradients[n], d) for n, d in direction.items()])
            for other in self._others
        ]
        return max(map(abs, change), default=0.0)

    @functools.cached_property
    def _others(self) -> list[dict[int, Array]]:
        """The gradient at points a few roundings away."""
        given, random = self.given, np.random.default_rng([self.seed, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were shown
            found = [
                _by_path(self.claimed(*[nearby(arg, random) for arg in given.args], **given.kwargs))
                for _ in range(4)
            ]
        return [{n: each[given.paths[n]] for n in self.gradients} for each in found]

    def _largest(self) -> float:
        """The largest slope that a leaf is expected to have."""
        return max([self._contribution(n) for n in self.gradients])

    def _why(self, found: Evidence) -> str:
        if not found.finite:
            return (
                "f is not finite at the points around it. Check at a point inside of where f is"
                " defined."
            )
        if not math.isfinite(found.error) or not found.noisy:
            seen = (
                f"(by {found.error:.1g} of {found.differences:.1g})"
                if math.isfinite(found.error)
                else "at every step"
            )
            return (
                f"its differences change from step to step {seen}. Check at a point where f is"
                " smooth, or a part of f."
            )
        where = (
            "Scale f or the leaf so that it counts"
            if self.probe.epsilon < 1e-10
            else "Check in float64"
        )
        return (
            f"the rounding of f hides slopes below {CAUTION * found.error:.1g}, and the gradient"
            f" says {found.gradient:.1g}. {where}, or check a smaller part of f."
        )


__all__ = ["GradientCheck", "LeafCheck", "check_gradient"]
