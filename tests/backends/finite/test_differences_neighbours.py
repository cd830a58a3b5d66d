"""f at the point beside its neighbours: steps above the length in which f changes are seen, or told by an honest estimate."""

import math
import warnings

import numpy as np
import pytest

from adinterface import (
    AutoFiniteDifferences,
    PrecisionWarning,
    derivative,
    diagonal_hessian,
    explain,
    gradient,
    jacobian,
    value_and_gradient,
)
from adinterface.core.contract.record import recording

pytestmark = pytest.mark.sweep  # test_differences.py runs with every change

FD = AutoFiniteDifferences()


def judged(f, x, exact, backend=FD):
    """The largest relative error of any output, after a look at the estimate: it is no less than a tenth of that error, and
    what is not right is told by a warning."""
    with warnings.catch_warnings(record=True) as told, recording() as record:
        warnings.simplefilter("always")
        found = jacobian(lambda x: f(x[0]), backend, np.array([x]))[0][..., 0]
    off = float(np.max(np.abs(found - exact) / np.abs(found)))
    assert off <= 10 * record.accuracies[0].leaves[0].relative + 1e-9, (found, exact)
    assert off < 1e-4 or [each.category for each in told] == [PrecisionWarning]
    return off


def test_a_narrow_bump_is_seen():
    f = lambda x: x + np.exp(-(((x - 0.7) / 0.003) ** 2))
    exact = 1 - 2 * 0.0015 / 0.003**2 * math.exp(-0.25)
    assert judged(f, 0.7015, exact) < 1e-6
    with recording() as record:
        (slope,) = value_and_gradient(f, FD, 0.7015).gradient
    assert slope == pytest.approx(exact, rel=1e-6)
    assert record.accuracies[0].leaves[0].relative < 1e-4


@pytest.mark.parametrize("place", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("x", [0.7015, -3.3, 40.0, 1e-3])
def test_peaks_of_any_width_and_place(x, width, place):
    width *= max(1, abs(x))
    t = lambda x: (x - center) / width
    center = x - place * width
    bell = t(x) * -2 / width
    assert judged(lambda x: x + 1 / (1 + t(x) ** 2), x, 1 + bell / (1 + t(x) ** 2) ** 2) < 1e-2
    assert judged(lambda x: x + np.exp(-(t(x) ** 2)), x, 1 + bell * math.exp(-(t(x) ** 2))) < 1e-2


@pytest.mark.parametrize("x", [500.0, -506.2, 503.3, 497.71, -501.9])
def test_waves_that_are_short_beside_x(x):
    assert judged(lambda x: np.sin(20 * x), x, 20 * math.cos(20 * x)) < 1e-3
    humps = lambda x: np.sin(20 * x) ** 2 + 0.05 * x * x
    assert judged(humps, x, 20 * math.sin(40 * x) + 0.1 * x) < 1e-3


@pytest.mark.parametrize("height", [1.0, 1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("x", [0.7015, -3.3, 40.0, 500.0, 1e-2])
def test_waves_of_any_length_are_seen_or_told(x, height):
    """At 30 and 40 the first steps are 8 and 4 waves: steps that are multiples of one another would show a straight line."""
    for k in (3, 10, 30, 100, 1e3, 1e4):
        judged(lambda x, k=k: 1 + x + height * np.sin(k * x), x, 1 + height * k * math.cos(k * x))


@pytest.mark.parametrize("place", [0.05, 0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("x", [0.7015, -3.3, 40.0, 1e-3])
def test_steep_steps_are_seen_or_told(x, place):
    for width in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
        width *= max(1, abs(x))
        slope = 1 + (1 - math.tanh(place) ** 2) / width
        judged(lambda x, c=x - place * width, w=width: x + np.tanh((x - c) / w), x, slope)


def test_an_f_that_changes_far_from_a_number_near_zero_alone_and_on_one_side_has_a_large_estimate():
    """Its slopes are 0 near the point, where rounding hides it; there is no point behind, and few evaluations are left."""
    with np.errstate(all="ignore"), recording() as record, pytest.warns(PrecisionWarning):
        found = derivative(lambda x: x * np.log(x) - 1, FD, 1e-30)
    assert abs(found - (math.log(1e-30) + 1)) > 1
    assert record.accuracies[0].relative > 0.1


@pytest.mark.parametrize("x", [0.8, 1.246, 1.7, -0.55])
def test_each_output_is_judged_by_itself(x):
    f = lambda x: np.stack([1e6 * np.sin(x), np.sin(1e4 * x)])
    assert judged(f, x, np.array([1e6 * math.cos(x), 1e4 * math.cos(1e4 * x)])) < 1e-3


def test_a_large_output_does_not_hide_the_error_of_a_small_one():
    noise = iter(np.random.default_rng(0).standard_normal(1000))
    f = lambda x: np.stack([1e6 * x[0], np.sin(x[0]) + 1e-3 * next(noise)])
    with pytest.warns(PrecisionWarning):
        jacobian(f, FD, np.array([1.0]))


@pytest.mark.parametrize("x", [1e-200, -1e-200, 1e-280])
def test_numbers_that_are_almost_zero_have_a_scale_of_their_own(x):
    with pytest.warns(PrecisionWarning):  # f changes over 1e-200, and few evaluations are left to see it
        assert gradient(lambda x: np.sum((x / abs(x[0])) ** 3), FD, np.array([x]))[0] == pytest.approx(3 / abs(x), rel=1)
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


def test_the_top_of_an_even_function_is_no_miss():
    """All slopes are rounding, and f at the point fits: no warning."""
    for f in (lambda x: np.cosh(x) - 3 * x**4, lambda x: np.sqrt(1 + np.tanh(x) ** 2)):
        assert abs(derivative(f, FD, 0.0)) < 1e-13


def test_a_jump_beside_the_point_is_told_like_one_around_it():
    for f in (np.sign, lambda x: 2.0 * (x > 0)):
        with pytest.warns(PrecisionWarning), recording() as record:
            assert derivative(f, FD, 0.0) > 1e3
        assert record.accuracies[0].relative > 0.5


def test_steps_do_not_fall_below_what_a_leaf_can_tell_apart():
    x = {"half": np.array([0.5, 1.5], "float16"), "single": np.array([2.0], "float32")}
    (found,) = gradient(lambda x: np.sum(x["half"] * 3) * np.sum(x["single"] * x["single"]), FD, x)
    np.testing.assert_allclose(found["half"], [12, 12], rtol=0.02)
    np.testing.assert_allclose(found["single"], [24], rtol=0.02)


def test_f_is_no_more_exact_than_the_leaf_that_it_computes_with():
    """A float64 beside a float32 makes f float64, but not the sines of a float32."""
    random, errors = np.random.default_rng(0), []
    for _ in range(20):
        a, b = random.normal(size=3).astype("float32"), random.normal(size=2)
        with recording() as record:
            found, other = diagonal_hessian(lambda a, b: np.sum(b) + np.sum(np.sin(a)), FD, a, b)
        errors.append(float(np.abs(found + np.sin(a)).max()))
        assert errors[-1] <= 10 * record.accuracies[0].leaves[0].relative * np.abs(found).max()
        np.testing.assert_allclose(other, [0, 0], atol=1e-12)
    assert np.median(errors) < 5e-4
    assert np.quantile(errors, 0.9) < 5e-3
