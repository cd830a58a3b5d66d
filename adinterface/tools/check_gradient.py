"""`check_gradient`: a gradient against differences along random directions, in a handful of evaluations of f.

The first look is by the adaptive method of `AutoFiniteDifferences`, which tells how exact it is. Where that is not enough,
or disagrees, plain central differences with several steps say what there is: a kink, noise, or a wrong gradient.

Sources. Step of those: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances truncation and rounding.
Several of them: C. Ridders, Advances in Engineering Software 4 (1982), p. 75: successive steps that agree show how far a
difference can be trusted. Directions with random signs: as in SPSA, J. Spall, IEEE Trans. Automatic Control 37 (1992).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ..core.call.messages import require_function
from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.backend import Arrays, Aux
from ..core.contract.fixed_values import Around
from ..core.contract.library import Library, epsilon, width
from ..core.contract.record import estimating
from ..core.contract.registry import find
from ..core.operators.gradient import gradient
from ..core.operators.pullback import pullback
from ..core.operators.second_order import first_order
from ..core.tree import Structure, handler_of
from .leaves import differentiated_paths, named_leaves, native_leaves, taken_apart, with_native_leaves
from .numbers import Array, widened
from .verdict import Verdict

Status = Literal["right", "wrong", "kink", "unclear"]
#: A displacement of some leaves, by their number.
Direction = Mapping[int, Array]

#: How many leaves are checked alone although no direction that moves all of them complained.
ALONE = 16
#: Rounding errors of f are taken for this many units in the last place.
_ROUNDING = 10.0
#: A slope may be so many times its estimated error off; and the scale of another look, in that of the first.
_CAUTION, _OTHER = 10.0, 1 / 7
#: Steps of the second look, in units of the first one; rounding leaves the shorter dtypes less room.
_LADDER, _SHORT_LADDER = (8.0, 1.0, 1 / 8, 1 / 64, 1 / 512), (4.0, 2.0, 1.0, 1 / 2, 1 / 4)


# Results -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LeafCheck:
    """The slope of f along one random direction, by the gradient and by differences.

    path: the leaf that the direction moves, each of its numbers by 1 or -1 (a complex one by a random unit).
    status: `"right"`; `"wrong"`; `"kink"` if the slopes ahead and behind differ and the gradient lies between them, so
    that any result of an engine is acceptable; `"unclear"` if differences cannot decide.
    tolerance: the largest accepted difference of the two slopes.
    ahead, behind: the one-sided slopes at a kink.
    """

    path: str
    status: Status
    gradient: float
    differences: float
    tolerance: float = 0.0
    behind: float | None = None
    ahead: float | None = None
    note: str = ""

    def __str__(self) -> str:
        if self.status == "unclear":
            return f"{self.path} is unclear: {self.note}"
        if math.isnan(self.differences) and self.note:
            return f"{self.path} is {self.status}: {self.note}"
        numbers = f"slope {self.gradient:.8g} by the gradient, {self.differences:.8g} by differences"
        if self.status == "right":
            return f"{self.path} is right: {numbers}"
        if self.status == "kink":
            sides = f"slope {self.behind:.8g} behind, {self.ahead:.8g} ahead"
            return f"{self.path} is at a kink: {sides}, {self.gradient:.8g} by the gradient"
        return f"{self.path} is wrong: {numbers} (tolerance {self.tolerance:.1g}{self.note and '; ' + self.note})"


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
        return leaves or tuple([check for check in self.whole if check.status != "right"][:1])

    @property
    def wrong(self) -> tuple[LeafCheck, ...]:
        """Where the gradient is wrong."""
        return tuple([check for check in self.findings if check.status == "wrong"])

    @property
    def kinks(self) -> tuple[LeafCheck, ...]:
        """Where f has a kink, so that no gradient is right or wrong."""
        return tuple([check for check in self.findings if check.status == "kink"])

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong or unclear; kinks are not failures."""
        return all(check.status == "kink" for check in self.findings)

    def __repr__(self) -> str:
        name = f"check_gradient({self.backend!r})"
        failures = [check for check in self.findings if check.status != "kink"]
        # The worst comes first: an assertion may show no more than the beginning.
        verdict = f"FAILED, {failures[0]}" if failures else "ok" + ", but for kinks" * bool(self.kinks)
        lines = [f"{name}: {verdict}"]
        lines.extend(f"  {check}" for check in (*failures[1:], *self.kinks))
        lines.append(
            f"  {self.number_count} numbers in {self.leaf_count} leaves; {len(self.whole)} directions of all leaves, "
            f"{len(self.leaves)} of one leaf; {self.evaluations} evaluations of f; seed {self.seed}"
        )
        return "\n".join(lines)


# The function along a line -------------------------------------------------------------------------------------------


class Probe:
    """f at a point and around it. It gets what `AutoFiniteDifferences(native=backend)` would hand it."""

    #: Evaluates f with ignored values fixed at the point.
    _around: Around

    def __init__(self, f: Callable[..., Any], auto: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]):
        inner = first_order(auto).auto
        differences = inner if isinstance(inner, AutoFiniteDifferences) else AutoFiniteDifferences(native=inner)
        self.backend: AutoFiniteDifferences = differences
        self.f: Callable[..., Any] = f
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.structures: list[Structure] = taken_apart(args)[0]
        self.paths: list[str] = differentiated_paths(self.structures)
        self.points: list[Array] = []
        self.epsilon: float = 0.0
        self.value: Any = self.at({})

    def at(self, moved: Mapping[int, Array]) -> Any:
        """The value of f with these leaves in place of the point's own, as a NumPy scalar of at least float64."""
        values: list[Any] = []

        def elsewhere(*args: Any, **keywords: Any) -> Any:
            leaves = native_leaves(self.structures, args)
            libraries = [_library_of(leaf) for leaf in leaves]
            dtypes = [library.dtype(leaf) for library, leaf in zip(libraries, leaves)]
            if not self.points:
                self._start(libraries, dtypes, leaves)
            if moved:
                there = list(leaves)
                for n, array in moved.items():
                    there[n] = libraries[n].asarray(array, dtype=dtypes[n], like=leaves[n])
                output = self._around(self.f, *with_native_leaves(self.structures, args, there), **keywords)
            else:
                self._around = Around(lambda: self.f(*args, **keywords))
                output = self._around(self.f, *args, **keywords)
            if isinstance(output, (tuple, dict)):  # the scalar, followed by auxiliary values
                output = next(iter(output.values())) if isinstance(output, dict) else output[0]
            library = _library_of(output)
            self.epsilon = max(self.epsilon, epsilon(library.dtype(output)))
            values.append(widened(library.to_numpy(output))[()])
            # The value does not matter, except that it has at least the precision of the arguments.
            return max(zip(dtypes, leaves), key=lambda leaf: width(leaf[0]))[1]

        pullback(elsewhere, self.backend, *self.args, **self.kwargs)
        return values[0]

    def _start(self, libraries: Sequence[Library], dtypes: Sequence[str], leaves: Sequence[Any]) -> None:
        """Note where f is looked at: the leaves of its arguments as it gets them."""
        numbers = [library.to_numpy(leaf) for library, leaf in zip(libraries, leaves)]
        self.storage: list[Any] = [array.dtype for array in numbers]
        self.points = [widened(array) for array in numbers]
        self.epsilon = max(map(epsilon, dtypes))

    def look(self, direction: Direction, step: float, gradients: Mapping[int, Array]) -> Look:
        """Two evaluations: ahead and behind."""
        ends: list[dict[int, Array]] = []
        with np.errstate(all="ignore"):
            for h in (step, -step):
                ends.append({n: (self.points[n] + h * d).astype(self.storage[n]) for n, d in direction.items()})
            ahead, behind = ends
            up, down = self.at(ahead), self.at(behind)
            # The gradient is multiplied by the step after rounding.
            parts = [np.real(np.conj(gradients[n]) * (widened(ahead[n]) - widened(behind[n]))) / (2 * step) for n in direction]
            slope = float(sum([part.sum() for part in parts]))
            typical = float(np.sqrt(sum([np.square(part).sum() for part in parts])))
            largest = max(abs(float(v)) for v in (up, down, self.value))
            return Look(
                step,
                slope,
                float((up - down) / (2 * step)),
                float((self.value - down) / step),
                float((up - self.value) / step),
                typical,
                _ROUNDING * self.epsilon * largest / step,
            )

    def scale(self, direction: Direction) -> float:
        """1, less where many numbers move at once: a sum of n of them moves sqrt(n) times as far.

        The fourth root, because the n numbers of a layer meet in sums of about sqrt(n).
        """
        count = max(1, sum([d.size for d in direction.values()]))
        return float(count**-0.25)


class Along:
    """The slope along a direction by adaptive differences, with as many evaluations as it takes."""

    def __init__(self, probe: Probe, direction: Direction, scale: float, gradients: Mapping[int, Array]):
        self.line: _Line = _Line(probe, direction)
        with np.errstate(all="ignore"):
            parts = [np.real(np.conj(gradients[n]) * d) for n, d in direction.items()]
            self.gradient: float = float(sum([part.sum() for part in parts]))
            self.typical: float = float(np.sqrt(sum([np.square(part).sum() for part in parts])))
            # The effect of rounding the moved leaves on f, beyond the rounding of its value.
            shaken = [np.abs(gradients[n]) * np.abs(probe.points[n]) for n in direction]
            absolute = 0.5 * probe.epsilon * float(np.sqrt(sum([np.square(part).sum() for part in shaken])))
        self.noise: tuple[float, float] = probe.epsilon, absolute if math.isfinite(absolute) else 0.0
        # From four evaluations there is an error in the fourth power of the step, and rounding.
        self.step: Any = scale * probe.epsilon**0.2

    def slope(self, most: int) -> Slope:
        """By so many evaluations at most, those included that were made before."""
        backend = find(AutoFiniteDifferences(noise=self.noise, scale=1.0, step=self.step, max_evaluations=most))
        with estimating() as result, np.errstate(all="ignore"):
            pushed = backend.pushforward(self.line, (np.float64(0.0),), (np.float64(1.0),), value=False)
        differences = float(pushed.tangents[0])
        error = result[0].relative * abs(differences) if result else math.inf
        return Slope(self.gradient, differences, error, self.typical)


class _Line:
    """f along a direction, as a flat function of how far."""

    held: frozenset[int] = frozenset()
    fresh = False
    given = ()

    def __init__(self, probe: Probe, direction: Direction):
        self.probe: Probe = probe
        self.direction: Direction = direction
        self.known: dict[float, Any] = {0.0: np.float64(probe.value)}

    @property
    def alone(self) -> _Line:
        return self

    @property
    def elsewhere(self) -> _Line:
        return self

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        (t,), probe = leaves, self.probe
        if t not in self.known:
            moved = {n: (probe.points[n] + t * d).astype(probe.storage[n]) for n, d in self.direction.items()}
            self.known[t] = np.float64(probe.at(moved))
        return (self.known[t],), Aux()


def _library_of(array: Any) -> Library:
    handler = handler_of(array)
    assert isinstance(handler, Library), type(array)
    return handler


@dataclass(frozen=True)
class Slope:
    """A slope along a direction, by the gradient and by adaptive differences, and their estimated error."""

    gradient: float
    differences: float
    error: float
    #: As in `Look`.
    typical: float

    @property
    def size(self) -> float:
        return max(abs(self.gradient), abs(self.differences), self.typical)

    def tolerance(self, rtol: float) -> float:
        return rtol * self.size + _CAUTION * self.error

    def equal(self, rtol: float) -> bool:
        return math.isfinite(self.size) and abs(self.gradient - self.differences) <= rtol * self.size

    def agrees(self, rtol: float) -> bool:
        return math.isfinite(self.size) and abs(self.gradient - self.differences) <= self.tolerance(rtol)

    def trusted(self, rtol: float) -> bool:
        return math.isfinite(self.size) and _CAUTION * self.error <= rtol * self.size

    def confirms(self, other: Slope, rtol: float) -> bool:
        """Whether the differences of both are the same."""
        return abs(self.differences - other.differences) <= self.tolerance(rtol) + other.tolerance(rtol)


@dataclass(frozen=True)
class Look:
    """Slopes along a direction, seen with one step."""

    step: float
    #: By the gradient.
    slope: float
    central: float
    behind: float
    ahead: float
    #: How large a slope is to be expected from the gradient, when its parts do not cancel by chance.
    typical: float
    #: How much of the slope may be rounding.
    noise: float

    @property
    def size(self) -> float:
        return max(abs(self.slope), abs(self.central), self.typical)

    @property
    def jump(self) -> float:
        return abs(self.ahead - self.behind)

    def settled(self, rtol: float) -> bool:
        error = abs(self.central - self.slope)
        return error == 0 or (error <= rtol * self.size + self.noise and self.noise <= 0.1 * self.size)


def kink_among(looks: Sequence[Look]) -> Look | None:
    """The pair of evaluations that shows a kink, among pairs from the longest step to the shortest; None if f is smooth.

    The slopes ahead and behind differ by `h f''` where f is smooth, so the difference falls with the step; at a kink it
    stays (or grows, if f jumps). Near many kinks, as in a network of ReLUs, it falls slowly: three steps must agree.
    """
    clear = [look for look in looks if math.isfinite(look.jump) and look.jump > 8 * look.noise][-3:]
    if len(clear) < 3:
        return None
    stays = all(narrow.jump >= 0.9 * wide.jump for wide, narrow in pairwise(clear))
    return clear[-1] if stays else None


def between(look: Look, slope: float) -> bool:
    """Whether a slope lies between the one-sided ones of a kink."""
    low, high = sorted((look.behind, look.ahead))
    slack = 0.05 * (high - low) + 2 * look.noise
    return low - slack <= slope <= high + slack


def ladder(probe: Probe, direction: Direction, scale: float, gradients: Mapping[int, Array]) -> list[Look]:
    """Looks with several steps, from the longest to the shortest; shorter ones still where f is not finite."""
    looks: list[Look] = []
    step = scale * probe.epsilon ** (1 / 3)
    factors = _SHORT_LADDER if probe.epsilon > 1e-10 else _LADDER
    for _ in range(3):
        looks = [probe.look(direction, step * factor, gradients) for factor in factors]
        if any(math.isfinite(look.central) for look in looks):
            break
        step *= factors[-1] / 8
    return looks


# The check -----------------------------------------------------------------------------------------------------------


def check_gradient(
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *args: Any,
    seed: int = 0,
    directions: int = 3,
    rtol: float | None = None,
    **kwargs: Any,
) -> GradientCheck:
    """Check a backend's gradient against finite differences along random directions.

    A few directions move all leaves at once, with four to ten evaluations of f each. Then up to 16 leaves are moved alone:
    those with the smallest part in these directions. If something disagrees, f is evaluated with more steps, and the wrong leaf
    is found by bisection. So the number of evaluations does not depend on the size of the model: a million parameters take 60
    to 150. f gets the arrays that the backend would give it.

    f, backend, args, kwargs: as for `gradient`; to give f a keyword named `seed`, `directions` or `rtol`, wrap it.

    seed: of the random directions; the same seed gives the same directions.
    directions: how many directions move all leaves.
    rtol: the accepted difference of the two slopes, relative to their size; None takes eps^(3/5) of the coarsest dtype (4e-10
    for float64, 7e-5 for float32), and eps^(2/5) (5e-7, 2e-3) where f is too rough for more. The estimated error of the
    differences is added.

    Returns a `GradientCheck`, true if the gradient is right; it names each wrong leaf with both slopes. Where f has a
    kink (its slopes ahead and behind differ), any result between them counts as right.
    Raises what `gradient` raises, and ValueError if `directions` is less than 1.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, check_gradient
    >>> check_gradient(lambda p: (p["x"] ** 3).sum(), AutoFiniteDifferences(), {"x": np.array([1.0, 2.0])}).ok
    True
    """
    require_function("check_gradient", f)
    if directions < 1:
        raise ValueError(f"check_gradient: directions must be at least 1, not {directions}.")
    evaluations = 0

    @functools.wraps(f)
    def counted(*inner: Any, **keywords: Any) -> Any:
        nonlocal evaluations
        evaluations += 1
        return f(*inner, **keywords)

    result = gradient(counted, backend, *args, **kwargs)
    probe = Probe(counted, backend, args, kwargs)
    whole, leaves = _Search(probe, _by_path(result), seed, rtol).run(directions)
    sizes = [point.size for point in probe.points]
    return GradientCheck(backend, tuple(whole), tuple(leaves), len(sizes), sum(sizes), evaluations, seed)


def _by_path(gradients: tuple[Any, ...]) -> dict[str, Array]:
    leaves = [place for i, entry in enumerate(gradients) for place in named_leaves(entry, f"args[{i}]")]
    return {path: widened(leaf.library.to_numpy(leaf.value)) for path, leaf in leaves}


class _Search:
    """For the leaves whose gradient differences contradict."""

    def __init__(self, probe: Probe, gradients: Mapping[str, Array], seed: int, rtol: float | None):
        self.probe, self.seed = probe, seed
        #: How much the slopes may differ; and where differences cannot tell so much.
        self.rtol = probe.epsilon**0.6 if rtol is None else rtol
        self.coarse = max(self.rtol, probe.epsilon**0.4)
        self.drawn = 0
        self.malformed: list[LeafCheck] = []
        self.gradients: dict[int, Array] = {}
        for n, (path, point) in enumerate(zip(probe.paths, probe.points)):
            own = gradients.get(path)
            if own is None or own.shape != point.shape:
                seen = "there is no gradient" if own is None else f"the gradient has shape {own.shape}"
                note = f"{seen}, but the leaf has shape {point.shape}"
                self.malformed.append(LeafCheck(path, "wrong", math.nan, math.nan, note=note))
            elif point.size:
                self.gradients[n] = own

    def run(self, directions: int) -> tuple[list[LeafCheck], list[LeafCheck]]:
        again = self.probe.at({})
        if not np.isfinite(again) or again != self.probe.value:
            return [self._hopeless(again)], self.malformed
        if not self.gradients:
            return [], self.malformed
        everything = list(self.gradients)
        whole = [self._along(everything, "all leaves together") for _ in range(directions)]
        if all(check.status == "right" for check in whole):
            faint = sorted(everything, key=self._contribution)[:ALONE]
            leaves = [self._alone(n) for n in sorted(faint)] if len(everything) > 1 else []
        else:
            leaves = list(self._blame(everything))
        return whole, [*self.malformed, *leaves]

    def _hopeless(self, again: Any) -> LeafCheck:
        if np.isfinite(again):
            note = (
                f"f gives {self.probe.value:.17g} and then {again:.17g} at the same point. Fix its random numbers (a seed or a "
                f"key as an argument), or switch dropout off."
            )
        else:
            note = f"f is {again} at this point. Choose a point where it is finite."
        return LeafCheck("the value of f", "unclear", math.nan, math.nan, note=note)

    def _blame(self, group: list[int]) -> Iterator[LeafCheck]:
        """Search for the leaves that disagree: one by one if they are few, else by halving."""
        if len(group) <= ALONE:
            yield from [self._alone(n) for n in group]
            return
        for half in (group[: len(group) // 2], group[len(group) // 2 :]):
            if self._along(half, "").status != "right":
                yield from self._blame(half)

    def _contribution(self, n: int) -> float:
        return float(np.sqrt(np.square(np.abs(self.gradients[n])).sum())) * self._scale(n)

    def _scale(self, n: int) -> float:
        return max(1.0, float(np.max(np.abs(self.probe.points[n]), initial=0.0)))

    def _signs(self, n: int) -> Array:
        point = self.probe.points[n]
        self.drawn += 1
        random = np.random.default_rng([self.seed, self.drawn])
        if point.dtype.kind == "c":
            return np.asarray(np.exp(2j * np.pi * random.random(point.shape)), point.dtype)
        return np.asarray(random.integers(0, 2, point.shape, dtype=np.int8) * 2.0 - 1.0, point.dtype)

    def _along(self, group: list[int], path: str) -> LeafCheck:
        direction = {n: self._signs(n) * self._scale(n) for n in group}
        return self._examine(direction, self.probe.scale(direction), path)

    def _alone(self, n: int) -> LeafCheck:
        signs = self._signs(n)
        direction = {n: np.ones_like(signs) if signs.size == 1 and signs.dtype.kind == "f" else signs}  # the derivative
        return self._examine(direction, self.probe.scale(direction) * self._scale(n), self.probe.paths[n])

    def _examine(self, direction: Direction, scale: float, path: str) -> LeafCheck:
        probe, rtol = self.probe, self.rtol
        along = Along(probe, direction, scale, self.gradients)
        first = along.slope(4)
        # Two independent numbers are not equal by chance; if rounding leaves no more to see, that is enough too.
        if first.equal(rtol) or (first.trusted(10 * rtol) and first.agrees(rtol)):
            return LeafCheck(path, "right", first.gradient, first.differences, first.tolerance(rtol))
        first = along.slope(10)
        trusted, tolerance = first.trusted(self.coarse), first.tolerance(rtol)
        if trusted and first.agrees(rtol):
            return LeafCheck(path, "right", first.gradient, first.differences, tolerance)
        result = self._judge(ladder(probe, direction, scale, self.gradients), path)
        if result.status != "right" or not trusted:
            return result
        # Plain differences cannot see so small an error. Other steps must, for the estimate may not hold.
        again = Along(probe, direction, _OTHER * scale, self.gradients).slope(10)
        if again.trusted(self.coarse) and not again.agrees(rtol) and again.confirms(first, rtol):
            return LeafCheck(path, "wrong", first.gradient, first.differences, tolerance)
        return result

    def _judge(self, looks: list[Look], path: str) -> LeafCheck:
        """A second look, with several steps: differences of neighbouring steps say how far each can be trusted."""
        finite = [look for look in looks if math.isfinite(look.central)]
        if not finite:
            return LeafCheck(path, "unclear", looks[0].slope, math.nan, note="f is not finite at the points around it.")
        windows = [finite[i : i + 3] for i in range(max(1, len(finite) - 2))]
        uncertainty, bend, best = min([_trust(window) for window in windows], key=lambda trust: trust[0])
        for look in finite:
            if look.noise <= uncertainty and look.settled(self.coarse):
                return LeafCheck(path, "right", look.slope, look.central, self.coarse * look.size + look.noise)
        tolerance = self.coarse * best.size + 2 * uncertainty
        error = abs(best.central - best.slope)
        kink = kink_among(finite)
        if kink is not None and error > tolerance:
            slopes = (kink.slope, kink.central, tolerance, kink.behind, kink.ahead)
            if between(kink, kink.slope):
                return LeafCheck(path, "kink", *slopes)
            note = f"f has a kink here, with slopes {kink.behind:.8g} behind and {kink.ahead:.8g} ahead"
            return LeafCheck(path, "wrong", *slopes, note)
        if not error <= tolerance + bend:  # also if the gradient is NaN
            return LeafCheck(path, "wrong", best.slope, best.central, tolerance + bend)
        last = finite[-1]
        nearer = abs(last.central - last.slope) <= 0.1 * abs(finite[0].central - finite[0].slope) + last.noise
        if uncertainty <= max(0.3 * best.size, 30 * best.noise) or nearer:
            return LeafCheck(path, "right", best.slope, best.central, tolerance + bend)
        if kink is not None:
            return LeafCheck(path, "kink", kink.slope, kink.central, tolerance, kink.behind, kink.ahead)
        note = f"its differences change from step to step (by {uncertainty:.1g} of {best.central:.1g})."
        return LeafCheck(path, "unclear", best.slope, best.central, tolerance, note=note)


def _trust(looks: Sequence[Look]) -> tuple[float, float, Look]:
    """The difference of the slopes of neighbouring steps, with rounding; f's bend; and the middle pair.

    If f has many kinks nearby, the slopes ahead and behind have separate errors: their difference, the bend, is about as large
    as the error of the central slope, which is their mean.
    """
    slopes = [look.central for look in looks]
    middle = looks[len(looks) // 2]
    bend = max(look.jump for look in looks if look.step < 4 * middle.step)
    return max(slopes) - min(slopes) + middle.noise, bend, middle


__all__ = ["GradientCheck", "LeafCheck", "check_gradient"]
