"""Extrapolation of one line and one output in Python's numbers, which takes a tenth of what arrays of a few numbers take.

Each window is made of two shorter ones (E. H. Neville, Journal of the Indian Mathematical Society 20 (1934), p. 87). All
windows of some number of steps are written out, one after another, as the source text of one function without loops, lists or
attributes: it takes two thirds of the time of the loop that it stands for, and is compiled once for each number of steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .windows import CALM, CAUTION, FLOOR, TOLD, TWICE, is_far, windows


class Number(NamedTuple):
    """As `Estimate`, of one line and one output."""

    value: float
    error: float
    floor: float
    #: The place of the first step of the window that was taken.
    first: int
    #: Of f's values, its standard deviation in units of the step `2**0`; and how much larger the second sample of it is than
    #: the least.
    noise: float
    alike: float


#: From the slopes, from the largest step to the smallest, and their rounding errors.
Estimate = Callable[[Sequence[float], Sequence[float]], Number]


class Estimator(NamedTuple):
    """What slopes at two or more steps `2**exponents` say."""

    #: As `extrapolate` of one line and one output.
    estimate: Estimate
    #: Each step to the power of the derivative's order, by which the noise of f's values is divided.
    powers: tuple[float, ...]


@functools.lru_cache(maxsize=4096)
def estimator(exponents: tuple[int, ...], power: int, order: int) -> Estimator:
    """Of such steps, from the largest to the smallest; power, order: as for `windows`."""
    powers = tuple([2.0 ** (order * exponent) for exponent in exponents])
    estimate = _written(len(exponents))(*_constants(exponents, power, order))
    if not is_far(exponents):
        return Estimator(estimate, powers)
    before = estimator(exponents[:-1], power, order).estimate

    def far(slopes: Sequence[float], rounding: Sequence[float]) -> Number:
        if abs(slopes[-3] - slopes[-2]) <= CALM * abs(slopes[-2]):
            near = before(slopes[:-1], rounding[:-1])
            noise = near.noise / powers[-1]
            if noise > 8 * rounding[-1] and TOLD * noise < abs(slopes[-1] - near.value):
                return near
        return estimate(slopes, rounding)

    return Estimator(far, powers)


def _spans(steps: int) -> list[tuple[int, int]]:
    """The first and the last step of each window: the shorter ones first, then those of larger steps."""
    return [(last - size, last) for size in range(1, steps) for last in range(size, steps)]


def _constants(exponents: tuple[int, ...], power: int, order: int) -> list[float]:
    """What the function that is written for so many steps asks for, in its order."""
    found: list[float] = []
    for first, last in _spans(len(exponents)):
        inside = exponents[first : last + 1]
        alone, smallest = windows(inside, power, order), 2.0 ** (order * inside[-1])
        nodes = [2.0 ** (power * (exponent - inside[-1])) for exponent in inside]
        found += [nodes[-1] / (nodes[0] - nodes[-1]), float(alone.amplified[-1]) / smallest]
        if len(inside) > 2:
            found += [nodes[0] / nodes[1], float(alone.difference[-1, 0]) / smallest]
    return found


#: One window: s its value, n its part of rounding, e how far it is from the window without its largest step. w is what the
#: difference of the windows without the largest and without the smallest step counts.
_WINDOW = """
        e_{here} = w_{here} * (s_{right} - s_{left})
        s_{here} = s_{right} + e_{here}
        n_{here} = n_{right} + w_{here} * (n_{right} + n_{left})
        if e_{here} < 0.0:
            e_{here} = -e_{here}
"""
#: Of three steps or more the difference is a sample of f's noise (d: how much that is amplified in it).
_SAMPLE = """
        sample = e_{here} / d_{here}
        if sample < second:
            if sample < noise:
                noise, second = sample, noise
            else:
                second = sample
"""
#: The error of a window, as far as it may be the least. Windows come from the last, which are the best as a rule, to the first,
#: so that most are told by one look at the least that their error may be.
_ERROR = """
        total = n_{here} + e_{here}
        if total <= least:
"""
#: Of three steps or more, what the shorter window lacked says what it lacks (r: how much faster it converges if all goes well).
_WIDER_ERROR = """
        total = n_{here} + e_{here} * {FLOOR!r}
        if total <= least:
            if e_{right} > 0.0:
                gained = e_{here} / e_{right} * r_{here}
                if not gained < 1.0:
                    total = n_{here} + e_{here}
                elif gained > {FLOOR!r}:
                    total = n_{here} + e_{here} * gained
"""
#: Slopes at smaller steps may contradict a window.
_NEAR = """
            near = abs(s_{last} - s_{here})
"""
_CONTRADICTED = """
            off = abs(s_{smaller} - s_{here}) - near - 8 * n_{smaller}
            if off > 0.0:
                total += off
"""
#: a: how noise of f is amplified in the window.
_TAKEN = """
            if total <= least:
                least = total
                value = s_{here}
                floor = n_{here}
                first = {first}
                amplified = a_{here}
"""
_BEGIN = """
def of_steps({constants}):
    def estimate(slopes, rounding):
        {slopes} = slopes
        {rounding} = rounding
        least = floor = noise = second = inf
        first, amplified = 0, 0.0
"""
_END = """
        if least == inf:
            return new(Number, (s_0_{last}, inf, inf, 0, 0.0, inf))
        alike = inf
        if second < inf:
            alike = second / noise if noise > 0.0 else inf
            noise = min(sqrt(noise * second), {TWICE!r} * noise)
        error = {CAUTION!r} * noise * amplified
        return new(Number, (value, error if error > least else least, floor, first, noise, alike))
    return estimate
"""
#: Two steps show no noise.
_END_OF_TWO = """
        if least == inf:
            value, floor = s_0_1, inf
        return new(Number, (value, least, floor, 0, 0.0, inf))
    return estimate
"""


def _source(steps: int) -> str:
    constants: list[str] = []
    found: list[str] = []
    judged: list[str] = []
    for first, last in _spans(steps):
        names: dict[str, Any] = {
            "here": f"{first}_{last}", "left": f"{first}_{last - 1}", "right": f"{first + 1}_{last}", "last": f"{last}_{last}",
            "first": first, "FLOOR": FLOOR,
        }  # fmt: skip
        wider, smaller = last - first > 1, range(last + 1, steps)
        constants += [f"{letter}_{names['here']}" for letter in ("ward" if wider else "wa")]
        parts = [_WIDER_ERROR if wider else _ERROR]
        if smaller:
            parts += [_NEAR, *[_CONTRADICTED.replace("{smaller}", f"{other}_{other}") for other in smaller]]
        found += [part.format(**names) for part in ((_WINDOW, _SAMPLE) if wider else (_WINDOW,))]
        judged[:0] = [part.format(**names) for part in (*parts, _TAKEN)]
    given = [", ".join([f"{letter}_{n}_{n}" for n in range(steps)]) for letter in "sn"]
    begin = _BEGIN.format(constants=", ".join(constants), slopes=given[0], rounding=given[1])
    end = _END_OF_TWO if steps == 2 else _END.format(last=steps - 1, TWICE=TWICE, CAUTION=CAUTION)
    return "".join([begin, *found, *judged, end])


@functools.cache
def _written(steps: int) -> Callable[..., Estimate]:
    """From `_constants` to what estimates."""
    # `Number(...)` would be a call of Python's.
    names: dict[str, Any] = {"inf": math.inf, "sqrt": math.sqrt, "Number": Number, "new": tuple.__new__}
    exec(compile(_source(steps), f"<extrapolation of {steps} steps>", "exec"), names)
    made: Callable[..., Estimate] = names["of_steps"]
    return made
