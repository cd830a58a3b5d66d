"""`estimate_noise`: how noisy a function's values are, from differences of high order along a short
line.

Source: J. More, S. Wild, Estimating computational noise, SIAM J. Scientific Computing 33 (2011), p.
1292 (ECNoise). A smooth function's k-th differences fall with the k-th power of the distance; what
does not fall is noise, whose k-th differences have the variance of the noise times (2k)! / (k!)^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.call.messages import require_function
from ..core.contract.auto import AutoFiniteDifferences
from ..core.contract.errors import PrecisionError
from .probe import Probe, counted

#: Evenly spaced points, besides the one in the middle.
POINTS = 8
#: How far neighbouring points are apart, relative to the numbers that move, one after another.
DISTANCES = (1e-7, 1e-5, 1e-9, 1e-3)
#: The factor of the distances for arguments of less than double precision.
COARSER = 1e4


@dataclass(frozen=True)
class Noise:
    """The noise of f's values: the standard deviation, absolute and relative to the value; and the
    evaluations of f.
    """

    absolute: float
    relative: float
    evaluations: int


def estimate_noise(f: Callable[..., Any], /, *args: Any, seed: int = 0, **kwargs: Any) -> Noise:
    """The noise of a real scalar function's values around a point, for
    `AutoFiniteDifferences(noise=...)`.

    f is evaluated at nine points close together, on a line in a random direction that changes every
    number by the same fraction. Points may be too far apart (f bends) or too close (it does not
    change). Then this is repeated with another distance, up to four times. Rounding is noise too:
    an f that is computed in double precision has a relative noise of about 1e-16.

    args, kwargs: of f; the differentiated ones move. seed: of the direction.
    Raises PrecisionError if no distance shows the noise, and the errors of f.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, derivative
    >>> from adinterface.tools import estimate_noise
    >>> random = np.random.default_rng(0)
    >>> def f(x):
    ...     return np.sin(x) * (1 + 1e-8 * random.standard_normal())
    >>> noise = estimate_noise(f, 1.0)
    >>> 1e-9 < noise.relative < 1e-7
    True
    >>> bool(abs(derivative(f, AutoFiniteDifferences(noise=noise.relative),
    ...     1.0) - np.cos(1.0)) < 1e-5)
    True
    """
    require_function("estimate_noise", f)
    counting = counted(f)
    probe = Probe(counting, AutoFiniteDifferences(method="central"), args, kwargs)
    random = np.random.default_rng(seed)
    signs: Mapping[int, Any] = {
        n: random.choice([-1.0, 1.0], point.shape) * np.where(point == 0, 1.0, point)
        for n, point in enumerate(probe.points)
    }
    for distance in [each * (1.0 if probe.epsilon < 1e-10 else COARSER) for each in DISTANCES]:
        values = [
            float(
                probe.at(
                    {
                        n: (probe.points[n] + k * distance * sign).astype(probe.storage[n])
                        for n, sign in signs.items()
                    }
                )
            )
            for k in range(-POINTS // 2, POINTS // 2 + 1)
        ]
        result = _noise(np.array(values))
        if result is not None:
            size = float(np.abs(values).max())
            return Noise(result, result / size if size else 0.0, counting.calls)
    raise PrecisionError(
        f"estimate_noise: the differences of f show no noise at distances of {min(DISTANCES):g} to"
        f" {max(DISTANCES):g} of its arguments: it is not finite there, bends too much, or is"
        " constant. Look at f at neighbouring points yourself, or pass noise=... as you know it."
    )


def _noise(values: Any) -> float | None:
    """The noise of evenly spaced values; None where they do not show it."""
    if not np.isfinite(values).all() or np.count_nonzero(np.diff(values) == 0) > len(values) // 4:
        return None  # not finite, or so close together that many are equal
    differences, levels, signs = values, [], []
    for order in range(1, len(values) - 1):
        differences = np.diff(differences)
        gamma = math.factorial(order) ** 2 / math.factorial(2 * order)
        levels.append(math.sqrt(gamma * float(np.mean(differences**2))))
        signs.append(bool((differences > 0).any() and (differences < 0).any()))
    for k in range(len(levels) - 2):
        three = levels[k : k + 3]
        if max(three) <= 4 * min(three) and signs[k]:
            return levels[k]
    return None


__all__ = ["Noise", "estimate_noise"]
