"""An engine whose arrays do not show whether they are traced: the core tells it when f is
evaluated.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from adinterface import (
    AutoBackend,
    AutoFiniteDifferences,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
)
from adinterface.core.contract import registry
from adinterface.core.contract.library import NUMPY, PYTHON

sys.path.insert(0, str(Path(__file__).parents[2] / "engines" / "small_engines"))
import adinterface_tape
import tapenum


class AutoUnmarked(AutoBackend):
    name = "unmarked"


class UnmarkedLibrary(adinterface_tape.TapeLibrary):
    """The arrays of the tape, of which any may be on it."""

    traced = adinterface_tape.Library.traced
    value_under_trace = adinterface_tape.Library.value_under_trace

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        return x if isinstance(x, tapenum.Taped) else NUMPY.asarray(x, dtype=dtype, copy=copy)

    def to_numpy(self, x):
        return x.value if isinstance(x, tapenum.Taped) else np.asarray(x)


class UnmarkedBackend(adinterface_tape.TapeBackend):
    libraries = (UnmarkedLibrary(),)


(LIBRARY,) = UnmarkedBackend.libraries
X = np.array([0.5, 1.5])


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    point = SimpleNamespace(
        name="unmarked", value="here:UnmarkedBackend", dist=None, load=lambda: UnmarkedBackend
    )
    points = registry._entry_points()
    monkeypatch.setitem(sys.modules, "unmarked", tapenum)
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "unmarked": [point]})


def test_arrays_are_traced_while_f_is_evaluated_and_at_no_other_time():
    seen = []

    def f(x):
        seen.append(
            (
                LIBRARY.traced(x),
                NUMPY.traced(X),
                PYTHON.traced(1.0),
                LIBRARY.value_under_trace(x).tolist(),
            )
        )
        return (x * x).sum()

    for call in (gradient(f, AutoUnmarked(), X), prepare(gradient, f, AutoUnmarked(), X)(X)):
        np.testing.assert_allclose(call[0], 2 * X)
    assert set(map(str, seen)) == {str((True, False, False, X.tolist()))}
    assert not LIBRARY.traced(X)
    with pytest.raises(ZeroDivisionError):
        gradient(lambda x: 1 / 0, AutoUnmarked(), X)
    assert not LIBRARY.traced(X)


def test_calls_inside_of_f():
    seen = []

    def inner(x):
        seen.append(LIBRARY.traced(x))
        return (x * x * x).sum()

    def outer(x):
        (slope,) = gradient(inner, AutoUnmarked(), x)
        seen.append(LIBRARY.traced(slope))
        return slope.sum()

    np.testing.assert_allclose(gradient(outer, AutoFiniteDifferences(), X)[0], 6 * X, rtol=1e-6)
    assert set(seen) == {True, False}
    assert seen[:2] == [True, False]


def test_numpy_code_that_takes_a_number_of_it_is_refused():
    """What the default costs: it would be right for an array without a derivative."""
    f = numpy_function(lambda x: float(x[0]) * np.sum(x))
    with pytest.raises(NumpyCodeError, match="a Python number of what is differentiated"):
        gradient(f, AutoUnmarked(), X)
