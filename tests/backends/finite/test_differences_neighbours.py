"""f at the point beside its neighbours: steps above the length in which f changes are seen, or told
by an honest estimate.
"""

import math
import warnings

import numpy as np
import pytest

from adinterface import (
    AutoFiniteDifferences,
    PrecisionWarning,
    derivative,
    explain,
    gradient,
    jacobian,
    value_and_gradient,
)
from adinterface.tools.recording import recording

FD = AutoFiniteDifferences()


def judged(f, x, exact, backend=FD):
    """The largest relative error of any output, after a look at the estimate: it is no less than a
    tenth of that error, and what is not right is told by a warning.
    """
    with warnings.catch_warnings(record=True) as told, recording() as record:
        warnings.simplefilter("always")
        found = jacobian(lambda x: f(x[0]), backend, np.array([x]))[0][..., 0]
    off = float(np.max(np.abs(found - exact) / np.abs(found)))
    assert off <= 10 * record.accuracies[0].leaves[0].relative + 1e-9, (found, exact)
    assert off < 1e-4 or [each.category for each in told] == [PrecisionWarning]
    return off


@pytest.mark.parametrize("place", [0.1, 1.0])
@pytest.mark.parametrize("width", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("x", [0.7015, 40.0])
def test_peaks_of_any_width_and_place(x, width, place):
    width *= max(1, abs(x))
    t = lambda x: (x - center) / width
    center = x - place * width
    bell = t(x) * -2 / width
    assert judged(lambda x: x + 1 / (1 + t(x) ** 2), x, 1 + bell / (1 + t(x) ** 2) ** 2) < 1e-2
    assert judged(lambda x: x + np.exp(-(t(x) ** 2)), x, 1 + bell * math.exp(-(t(x) ** 2))) < 1e-2


@pytest.mark.parametrize("height", [1.0, 1e-3])
@pytest.mark.parametrize("x", [0.7015, 500.0])
def test_waves_of_any_length_are_seen_or_told(x, height):
    """At 30 and 40 the first steps are 8 and 4 waves: steps that are multiples of one another would
    show a straight line.
    """
    for k in (3, 10, 30, 100, 1e3, 1e4):
        judged(lambda x, k=k: 1 + x + height * np.sin(k * x), x, 1 + height * k * math.cos(k * x))


@pytest.mark.parametrize("x", [1e-200, -1e-200, 1e-280])
def test_numbers_that_are_almost_zero_have_a_scale_of_their_own(x):
    # f changes over 1e-200, and few evaluations are left to see it
    with pytest.warns(PrecisionWarning):
        assert gradient(lambda x: np.sum((x / abs(x[0])) ** 3), FD, np.array([x]))[
            0
        ] == pytest.approx(3 / abs(x), rel=1)
    assert derivative(math.sin, FD, x) == 1.0
    if x > 0:
        assert derivative(math.sqrt, FD, x) == pytest.approx(0.5 / math.sqrt(x), rel=1e-10)


def test_f_that_is_not_defined_at_the_point_is_judged_by_its_neighbours():
    assert derivative(lambda x: math.sin(x) / x, FD, 0.0) == pytest.approx(0.0, abs=1e-12)
    with np.errstate(invalid="ignore"):
        assert derivative(lambda x: np.sin(x) / x, FD, 0.0) == pytest.approx(0.0, abs=1e-12)


def test_f_is_evaluated_once_at_the_point():
    seen = []

    def f(x):
        seen.append(tuple(x))
        return np.sum(x**2)

    x = np.array([0.3, 1.2, -4.0])
    gradient(f, FD, x)
    assert seen.count(tuple(x)) == 1
    assert len(seen) <= 1 + 10 * 3
    seen.clear()
    value_and_gradient(f, FD, x)
    assert seen.count(tuple(x)) == 1


def test_noise_is_no_peak():
    for seed in range(20):
        random = np.random.default_rng(seed)
        f = lambda x, random=random: np.sin(x) * np.exp(x) * (1 + 1e-8 * random.standard_normal())
        found = explain(derivative, f, FD, 1.1)
        assert found.error < 0.1


def test_a_jump_beside_the_point_is_told_like_one_around_it():
    for f in (np.sign, lambda x: 2.0 * (x > 0)):
        with pytest.warns(PrecisionWarning), recording() as record:
            assert derivative(f, FD, 0.0) > 1e3
        assert record.accuracies[0].relative > 0.5
