"""numpy_function(f, deep=True): code that computes another formula at one value of a parameter, which loses the derivative."""

import hashlib
import warnings

import numpy as np
import pytest
import scipy.special
import scipy.stats
from backends_table import every_run

from adinterface import AutoAutograd, AutoJax, AutoTorch, ClosedFormWarning, NumpyCodeError, gradient, numpy_function, prepare

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

ENGINES = {"torch": AutoTorch(), "autograd": AutoAutograd(), "jax": AutoJax()}
each_engine = pytest.mark.parametrize("backend", ENGINES.values(), ids=ENGINES)
X = np.array([0.3, 0.7, 1.1])
S = scipy.stats
HIDDEN = {
    "kappa4, h": lambda c: S.kappa4._logpdf(X, c, 0.3),
    "kappa4, k": lambda c: S.kappa4.logpdf(X, 0.5, c),
    "genextreme, logpdf": lambda c: S.genextreme.logpdf(X, c),
    "genextreme, cdf": lambda c: S.genextreme.cdf(X, c),
    "genpareto": lambda c: S.genpareto.logpdf(X, c),
    "pearson3": lambda c: S.pearson3.logpdf(X, c),
    "skewnorm": lambda c: S.skewnorm.logpdf(X, c),
    "ncx2": lambda c: S.ncx2.logpdf(X, 2.0, c),
    "yeojohnson": lambda c: S.yeojohnson(X, c),
    "boxcox_llf": lambda c: S.boxcox_llf(c, X),
}
KEPT = {
    "genpareto, ppf": lambda c: S.genpareto.ppf(X / 2, c),
    "skewnorm, cdf": lambda c: S.skewnorm.cdf(X, c),
    "boxcox": lambda c: S.boxcox(X, c),
    "tukeylambda": lambda c: S.tukeylambda.pdf(X, c),
    "vonmises": lambda c: S.vonmises.logpdf(X, c),
    "vonmises, pdf": lambda c: S.vonmises.pdf(X, c),
    "rice": lambda c: S.rice.pdf(X, c),
    "i0e": lambda c: scipy.special.i0e(c),
}


def deep(f):
    """With another term of the parameter: a value that depends on none of the arguments is told of by another warning."""
    return numpy_function(lambda c: np.sum(f(c)) + c, deep=True)


@every_run("torch", "autograd")
@pytest.mark.parametrize("case", HIDDEN)
def test_a_hidden_parameter_is_told(case, backend):
    with pytest.warns(ClosedFormWarning, match=r"^numpy_function: .* tests a number that is differentiated for one value"):
        gradient(deep(HIDDEN[case]), backend, 0.0)
    gradient(deep(HIDDEN[case]), backend, 0.01)  # without a warning, which would be an error


@each_engine
@pytest.mark.parametrize("case", KEPT)
def test_a_parameter_that_is_not_hidden(case, backend):
    f = KEPT[case]
    # To the right alone, where a parameter must not be negative.
    h = 1e-4
    wanted = np.sum(-3 * f(0.0) + 4 * f(h) - f(2 * h)) / (2 * h)
    np.testing.assert_allclose(gradient(deep(f), backend, 0.0)[0] - 1, wanted, rtol=1e-5, atol=1e-6)


def with_a_branch(x, c):
    if c == 0:
        return np.sum(x)
    return np.sum(np.expm1(c * x) / c)


def with_a_branch_the_other_way(x, c):
    return np.sum(np.expm1(c * x) / c) if c != 0 else np.sum(x)


def with_a_small_number(x, c):
    return np.sum(x) if abs(c) < 1e-8 else np.sum(np.expm1(c * x) / c)


def with_a_branch_that_uses_it(x, c):
    if c == 0:
        return np.sum(x + c * x**2 / 2)
    return np.sum(np.expm1(c * x) / c)


def with_a_check(x, c):
    if c == 1:
        raise ValueError
    return np.sum(x / (c - 1))


def with_what_it_computed(x, c):
    distances = np.sqrt((x - 0.3) ** 2) * (1 + c)
    return np.sum(np.where(distances == 0, 1.0, distances))


def until_it_is_small(x, c):
    error = c + 0.0
    while abs(error) > 1e-8:
        error = error * 0.1
    return np.sum(x * error) + c


@each_engine
@pytest.mark.parametrize("f", [with_a_branch, with_a_branch_the_other_way, with_a_small_number])
def test_a_branch_is_told(f, backend):
    with pytest.warns(ClosedFormWarning) as caught:
        gradient(deep(lambda c: f(X, c)), backend, 0.0)
    test = "abs(c) < 1e-8" if f is with_a_small_number else "c != 0" if f is with_a_branch_the_other_way else "c == 0"
    assert str(caught[0].message) == (
        f"numpy_function: {test} in {f.__name__} tests a number that is differentiated for one value, which it has. What the "
        f"code computes there instead may not depend on c, and then the derivative by it is zero. Move c off that value by "
        f"1e-6, or use AutoFiniteDifferences()."
    )
    assert caught[0].filename == __file__


@each_engine
@pytest.mark.parametrize("f", [with_a_branch_that_uses_it, with_a_check, with_what_it_computed, until_it_is_small])
def test_other_branches_are_not_told(f, backend):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", ClosedFormWarning)
        gradient(deep(lambda c: f(X + 1, c)), backend, 0.0)


def test_a_parameter_that_is_not_differentiated_is_not_told():
    gradient(numpy_function(lambda x: with_a_branch(x, 0.0), deep=True), AutoTorch(), X)


class Remembering:
    """A model that keeps its last result, with the numbers that it is for."""

    key = result = None

    def value(self, x, y):
        key = (float(x), float(y))
        if key == self.key:
            return self.result
        self.key, self.result = key, x**2 * y
        return self.result

    def value_of_a_pair(self, x, y):
        if self.key is None or (x, y) != self.key:
            self.key, self.result = (x, y), x**2 * y
        return self.result


@every_run("torch", "autograd")
@pytest.mark.parametrize("name", ["value", "value_of_a_pair"])
def test_a_result_that_was_kept_for_equal_numbers_is_computed_again(name, backend):
    model = Remembering()
    f = numpy_function(lambda x, y: x * getattr(model, name)(x, y), deep=True)
    getattr(model, name)(3.0, 2.0)  # with plain numbers
    for _ in range(2):
        np.testing.assert_allclose(gradient(f, backend, 3.0, 2.0), (54.0, 27.0))
    twice = numpy_function(lambda x, y: getattr(model, name)(x, y) + 2 * getattr(model, name)(y, x), deep=True)
    np.testing.assert_allclose(gradient(twice, backend, 2.0, 2.0), (8 + 2 * 4, 4 + 2 * 8))


@every_run("torch", "autograd")
def test_a_pair_is_compared_with_numbers_that_are_written(backend):
    f = numpy_function(lambda x, y: x + y if (x, y) == (0.0, 0.0) else np.hypot(x, y), deep=True)
    np.testing.assert_allclose(gradient(f, backend, 0.0, 0.0), (1.0, 1.0))


class WithDigests:
    """A model that keeps its last result under a digest of the numbers, as galpy has it."""

    key = result = None

    def __call__(self, x):
        digest = hashlib.md5()
        digest.update(np.array([x, 2.0]))
        key = (hashlib.sha256(np.asarray(x)).hexdigest(), digest.digest())
        if key != self.key:
            self.key, self.result = key, np.sum(x**3)
        return self.result


@each_engine
def test_a_result_under_a_digest_is_computed_again(backend):
    model = WithDigests()
    model(2.0)
    f = numpy_function(lambda x: x * model(x), deep=True)
    assert gradient(f, backend, 2.0) == gradient(f, backend, 2.0) == (32.0,)
    fast = prepare(gradient, f, backend, 2.0)
    assert fast(2.0) == (32.0,)
    assert fast(3.0) == (108.0,)


@pytest.mark.parametrize("use", [hash, len, str, bytes, lambda key: key.encode(), lambda key: f"{key}"])
def test_a_digest_can_only_be_compared(use):
    f = numpy_function(lambda x: x * (use(hashlib.md5(np.array([x])).hexdigest()) is not None), deep=True)
    with pytest.raises(
        NumpyCodeError, match=r"md5\(\.\.\.\)\.hexdigest\(\) of numbers that are differentiated can only be comp"
    ):
        gradient(f, AutoTorch(), 2.0)


@each_engine
def test_a_digest_of_plain_numbers(backend):
    known = hashlib.md5(np.arange(3.0)).hexdigest()
    f = numpy_function(lambda x: x if hashlib.md5(np.arange(3.0)).hexdigest() == known else 2 * x, deep=True)
    assert gradient(f, backend, 2.0) == (1.0,)


class RememberingArrays:
    """A model that keeps its last result, with the array that it is for."""

    last = None

    def __init__(self, test):
        self.test = test

    def any_other(self, x):
        return np.any(self.last != x)

    def all_equal(self, x):
        return not (x == self.last).all()

    def array_equal(self, x):
        return not np.array_equal(self.last, x)

    def close(self, x):
        return not np.allclose(x, self.last)

    def __call__(self, x):
        if self.last is None or getattr(self, self.test)(x):
            self.last, self.result = np.array(x), np.sum(x**3)
        return self.result


@each_engine
@pytest.mark.parametrize("test", ["any_other", "all_equal", "array_equal", "close"])
def test_a_result_that_was_kept_for_an_equal_array_is_told(test, backend):
    model = RememberingArrays(test)
    f = numpy_function(lambda x: x[0] * model(x), deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClosedFormWarning)
        for x in (X, X + [1.0, *np.zeros(len(X) - 1)]):
            gradient(f, backend, x)
    with pytest.warns(ClosedFormWarning, match=r"^numpy_function: .* tests a number .* Move x off that value by 1e-6"):
        gradient(f, backend, x)
