"""Windows of neighbouring steps: their weights and noise factors, from the steps alone."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

#: How much shorter odd steps are: ratios of neighbouring steps are near the root of 5 and its part
#: of 4, far from quotients of small numbers. It has few binary digits, so that distances are exact.
ODD = 115 / 128
#: A window's error is at least this part of that of the window without its largest step.
FLOOR = 0.01
#: A measured noise counts so many times: it is seen in one or two samples.
CAUTION = 3.0
#: From this power of two on a step lies far below the others: what is noise at those is much more
#: there. Where the slopes at the others differ by at most this part, and that at the far step by
#: more than this part of such noise, f is noisy. Where the far slope is much nearer than that,
#: there is none, and what the others show is what f does between them.
FAR, CALM, TOLD = 6, 0.2, 0.01
#: The relative error above which derivatives of a noisy f cause a warning.
DOUBT = 1e-4


#: What a step far below the others shows of f is noise if it is more than this part of what the
#: others show.
ALIKE = 2.0**-4
#: Where slopes agree by so much better than f at the point fits, f is not noisy, but the point
#: stands apart.
ALONE = 64.0
#: f at the point is missed if by more than so many roundings.
SURE = 8.0
#: Where extrapolation leaves no more than this part of what f at the point is missed by, slopes
#: that agree are believed.
FITS = 1e-3


class Windows(NamedTuple):
    """All windows of neighbouring steps: first those of one step, then those of two, ..."""

    #: (windows, steps): the weights of the slopes in a window's value.
    weights: Array
    #: Their absolute values.
    gains: Array
    #: The window without the largest step, for each of two steps or more.
    shorter: Array
    #: How the value differs from that of the shorter window, in the weights of the slopes.
    changes: Array
    #: For each window of three steps or more, its shorter one among those of two steps or more.
    previous: Array
    #: For each window of three steps or more, how much faster it converges than the shorter one if
    #: all goes well.
    ratios: Array
    #: How much independent noise of f is amplified in the value, and in the difference of a window
    #: and its shorter one; in units of the smallest step.
    amplified: Array
    difference: Array
    #: Steps behind a window, which may contradict it: for each such pair the window, its last step,
    #: the smaller step; and what sums the pairs of a window.
    behind: tuple[Array, Array, Array]
    gathered: Array
    #: The place of the first step of each window of two steps or more, and of the last.
    first: Array
    last: Array
    steps: int
    #: Each step in units of the first one.
    powers: Array
    #: The windows without the smallest step if that lies far below the others, and how much more
    #: noise that step has.
    before: Windows | None
    #: The windows of the steps above the first gap, if there are two or more.
    above: Windows | None
    louder: float


def size_of_step(exponent: int) -> float:
    """A step in units of the first one: `2**exponent`, odd ones a bit shorter.

    So no step is a multiple of the next one, and a wave is not aliased at both.
    """
    return 2.0**exponent * (ODD if exponent % 2 else 1.0)


@functools.lru_cache(maxsize=4096)
def windows(exponents: tuple[int, ...], power: int, order: int) -> Windows:
    """Of steps `2**exponents`, from the largest on, where errors are a series in `h**power`.

    order: of the derivative; the noise of f's values is divided by that power of the step.
    """
    steps = len(exponents)
    powers = np.array([size_of_step(e) for e in exponents])
    sizes = powers / powers[-1]
    nodes = sizes**power
    spans = [(start, size) for size in range(1, steps + 1) for start in range(steps - size + 1)]
    number = {span: n for n, span in enumerate(spans)}
    weights = np.zeros((len(spans), steps))
    for n, (start, size) in enumerate(spans):
        inside = range(start, start + size)
        for j in inside:
            weights[n, j] = np.prod([nodes[k] / (nodes[k] - nodes[j]) for k in inside if k != j])
    wide = spans[steps:]
    shorter = np.array([number[start + 1, size - 1] for start, size in wide], dtype=int)
    ratios = np.array([nodes[start] / nodes[start + 1] for start, size in wide if size > 2])
    rounding = (weights / sizes**order) ** 2
    changes = weights[steps:] - weights[shorter]
    apart = (changes / sizes**order) ** 2
    pairs = [
        (n, start + size - 1, j)
        for n, (start, size) in enumerate(wide)
        for j in range(start + size, steps)
    ]
    gathered = np.zeros((len(wide), len(pairs)))
    for k, (n, _, _) in enumerate(pairs):
        gathered[n, k] = 1.0
    columns = np.array(pairs, dtype=int).reshape(-1, 3)
    behind = (columns[:, 0], columns[:, 1], columns[:, 2])
    amplified = np.sqrt(rounding.sum(axis=1))[steps:]
    difference = np.sqrt(apart.sum(axis=1))[steps - 1 :]
    # whether the smallest step lies far below the others
    far = steps > 2 and exponents[-2] - exponents[-1] >= FAR
    above = upper(exponents)
    return Windows(
        weights, np.abs(weights), shorter, changes, shorter[steps - 1 :] - steps, ratios[:, None],
        amplified, difference[:, None], behind, gathered,
        np.array([start for start, _ in wide], dtype=int),
        np.array([start + size - 1 for start, size in wide], dtype=int), steps, powers,
        windows(exponents[:-1], power, order) if far else None,
        windows(exponents[:above], power, order) if 1 < above < steps else None,
        float(sizes[-2]) ** order if far else 0.0,
    )  # fmt: skip


def upper(exponents: tuple[int, ...]) -> int:
    """How many steps there are above the first gap."""
    pairs = enumerate(itertools.pairwise(exponents), 1)
    return next((n for n, (one, other) in pairs if one - other >= FAR), len(exponents))
