"""One function on every engine, against differences of itself."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adinterface import (
    AutoBackend,
    AutoFiniteDifferences,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
    value_and_gradient,
)

from .example import Example

#: What can become of a function.
STATUSES = ("right", "wrong", "refused", "failed")


@dataclass(frozen=True)
class Trial:
    """What became of one function on one engine.

    status: "right"; "wrong", which is a fault; "refused", by NumpyCodeError; "failed", by another error.
    """

    name: str
    package: str
    backend: str
    prepared: bool
    status: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.status:8} {self.backend}{' prepared' if self.prepared else ''} {self.name}: {self.reason}"


class Unusable(Exception):
    """An example that says nothing: the function is not there, raises, gives no numbers, or differences of it do not settle."""


@dataclass(frozen=True)
class Reference:
    """What NumPy itself gives, and differences of it."""

    value: float
    gradients: tuple[np.ndarray[Any, Any], ...]
    #: How far two kinds of differences are apart.
    doubts: tuple[np.ndarray[Any, Any], ...]


def total(result: Any) -> Any:
    """One number of all floating numbers in a result, each with another weight. NumPy code, which runs on every engine."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        parts = [total(part) * (1 + 0.125 * n) for n, part in enumerate(result)]
        return sum([part for part in parts if not isinstance(part, int)])
    if not hasattr(result, "dtype") and not isinstance(result, float):
        return 0
    y = np.asarray(result)
    if y.dtype.kind not in "fc":
        return 0
    if y.dtype.kind == "c":
        y = np.real(y) + 0.5 * np.imag(y)
    weights = np.cos(0.7 * np.arange(y.size) + 0.3)
    return np.sum(weights * np.reshape(y, (-1,)))


def scalar_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: total(function(*args))


def reference(example: Example) -> Reference:
    """Raises Unusable."""
    try:
        function = scalar_of(example.function())
    except (ImportError, AttributeError) as error:
        raise Unusable(str(error)) from error
    except Exception as error:  # whatever a package raises as it is imported
        raise Unusable(f"importing it raises {type(error).__name__}: {error}") from error
    args = example.differentiated()
    try:
        with quiet():
            value = function(*copied(example.arguments))
            if not np.isfinite(value):
                raise Unusable("its value is no finite number")
            plain = gradient(function, AutoFiniteDifferences(), *args)
            again = _other_differences(function, example)
    except Unusable:
        raise
    except Exception as error:  # whatever the function raises
        raise Unusable(f"NumPy's own call raises {type(error).__name__}: {error}") from error
    found = [np.asarray(g, float) for g in plain if g is not None]
    for a, b in zip(found, again, strict=True):
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, abs(value))):
            raise Unusable("differences of two kinds do not agree on it")
    return Reference(float(value), tuple(found), tuple([np.abs(a - b) for a, b in zip(found, again)]))


def _other_differences(function: Callable[..., Any], example: Example) -> list[np.ndarray[Any, Any]]:
    """Central differences of a fixed step."""
    found = []
    for n, argument in enumerate(example.differentiated()):
        if argument is not example.arguments[n] or type(argument).__name__ == "Constant":
            continue
        x = np.array(argument, float)
        slopes = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            step = 1e-5 * max(1.0, abs(float(x[place])))
            values = []
            for sign in (1, -1):
                moved = x.copy()
                moved[place] += sign * step
                args = list(copied(example.arguments))
                args[n] = moved if isinstance(argument, np.ndarray) else float(moved)
                values.append(function(*args))
            slopes[place] = (values[0] - values[1]) / (2 * step)
        found.append(slopes)
    return found


def copied(arguments: Sequence[Any]) -> list[Any]:
    """The arguments as plain code gets them."""
    plain = [x.value if type(x).__name__ == "Constant" else x for x in arguments]
    return [x.copy() if isinstance(x, np.ndarray) else x for x in plain]


def run(example: Example, wanted: Reference, backends: Sequence[AutoBackend], prepared: Sequence[bool]) -> list[Trial]:
    """The function on each engine, called and prepared."""
    f = numpy_function(scalar_of(example.function()), deep=True)
    args = example.differentiated()
    trials = []
    for backend in backends:
        for ahead in prepared:
            status, reason = _outcome(f, backend, args, wanted, ahead)
            trials.append(Trial(example.name, example.package, type(backend).__name__, ahead, status, reason))
    return trials


def _outcome(f: Any, backend: AutoBackend, args: tuple[Any, ...], wanted: Reference, ahead: bool) -> tuple[str, str]:
    try:
        with quiet():
            if ahead:
                value, gradients = prepare(value_and_gradient, f, backend, *args)(*args)
            else:
                value, gradients = value_and_gradient(f, backend, *args)
    except NumpyCodeError as error:
        return "refused", str(error).removeprefix("numpy_function: ")
    except Exception as error:  # whatever an engine raises
        notes = " ".join(getattr(error, "__notes__", []))
        return "failed", f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''} {notes}".strip()
    found = [np.asarray(g, float) for g in gradients if g is not None]
    if not np.allclose(value, wanted.value, rtol=1e-8, atol=1e-9):
        return "wrong", f"the value is {value}, NumPy's {wanted.value}"
    scale: float = np.max(np.abs([1.0, wanted.value, *(x for w in wanted.gradients for x in np.ravel(w))]))
    for a, b, doubt in zip(found, wanted.gradients, wanted.doubts, strict=True):
        if not np.all(np.abs(a - b) <= 2e-5 * np.abs(b) + 1e-6 * scale + 3 * doubt):
            return "wrong", f"the gradient is {_short(a)}, by differences {_short(b)}"
    return "right", ""


def _short(x: np.ndarray[Any, Any]) -> str:
    return np.array2string(np.ravel(x)[:6], precision=6)


@contextlib.contextmanager
def quiet() -> Any:
    """Without warnings, which packages are free to give."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
