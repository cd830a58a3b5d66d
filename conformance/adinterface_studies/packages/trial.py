"""One function on every engine, against differences of itself."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from adinterface import (  # fmt: skip
    AutoBackend,
    AutoFiniteDifferences,
    Constant,
    NumpyCodeError,
    gradient,
    numpy_function,
    prepare,
    value_and_gradient,
)

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Example:
    """A function, by where it is found, and arguments for it.

    Arrays of floats, and floats, are differentiated, all else is not; what is wrapped in Constant neither.

    use: calls the function in another way than with its arguments, to make an object of a class and call a method of it.
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    use: Callable[..., Any] | None = None

    @property
    def package(self) -> str:
        """The package, or the part of SciPy."""
        parts = self.name.split(".")
        return ".".join(parts[:2]) if parts[0] == "scipy" else parts[0]

    def scalar(self) -> Callable[..., Any]:
        """One number of all that the function gives. Raises ImportError or AttributeError where there is no such function."""
        found, use, keywords = found_at(self.name.partition(" ")[0]), self.use, dict(self.keywords)
        call: Callable[..., Any] = partial(found if use is None else partial(use, found), **keywords)
        return lambda *args: total(call(*args))

    def differentiated(self) -> tuple[Any, ...]:
        """The arguments as an operator takes them."""
        return tuple([x if _is_floating(x) or isinstance(x, Constant) else Constant(x) for x in self.arguments])


def _is_floating(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def found_at(name: str) -> Any:
    """A module, or what stands in one, by its full name."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(f"No module named {parts[0]!r}", name=parts[0])


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


class Unusable(Exception):
    """An example that says nothing: the function is not there, raises, gives no numbers, or differences of it do not settle."""


@dataclass(frozen=True)
class Reference:
    """What NumPy itself gives, and differences of it."""

    value: float
    gradients: tuple[Array, ...]
    #: How far two kinds of differences are apart.
    doubts: tuple[Array, ...]


def reference(example: Example) -> Reference:
    """Raises Unusable."""
    try:
        function = example.scalar()
    except Exception as error:  # it is not there, or whatever a package raises as it is imported
        raise Unusable(f"importing it raises {type(error).__name__}: {error}") from error
    try:
        with quiet():
            value = function(*_plain(example.arguments))
            if not np.isfinite(value):
                raise Unusable("its value is no finite number")
            adaptive = gradient(function, AutoFiniteDifferences(), *example.differentiated())
            # A fixed step, and not the same one: what does not settle differs.
            central = gradient(function, AutoFiniteDifferences(method="central", step=1e-5), *example.differentiated())
    except Unusable:
        raise
    except Exception as error:  # whatever the function raises
        raise Unusable(f"NumPy's own call raises {type(error).__name__}: {error}") from error
    found, again = ([np.asarray(g, float) for g in each if g is not None] for each in (adaptive, central))
    for a, b in zip(found, again, strict=True):
        if not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, abs(value))):
            raise Unusable("differences of two kinds do not agree on it")
    return Reference(float(value), tuple(found), tuple([np.abs(a - b) for a, b in zip(found, again)]))


def _plain(arguments: Sequence[Any]) -> list[Any]:
    """The arguments as plain code gets them."""
    values = [x.value if isinstance(x, Constant) else x for x in arguments]
    return [x.copy() if isinstance(x, np.ndarray) else x for x in values]


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


def run(example: Example, wanted: Reference, backend: AutoBackend, prepared: bool) -> Trial:
    """The function on an engine, by a plain call or by a prepared one."""
    status, reason = _outcome(numpy_function(example.scalar(), deep=True), backend, example.differentiated(), wanted, prepared)
    return Trial(example.name, example.package, type(backend).__name__, prepared, status, reason)


def _outcome(f: Any, backend: AutoBackend, args: tuple[Any, ...], wanted: Reference, prepared: bool) -> tuple[str, str]:
    try:
        with quiet():
            call = prepare(value_and_gradient, f, backend, *args) if prepared else None
            value, gradients = value_and_gradient(f, backend, *args) if call is None else call(*args)
    except NumpyCodeError as error:
        return "refused", str(error).removeprefix("numpy_function: ")
    except Exception as error:  # whatever an engine raises
        notes = " ".join(getattr(error, "__notes__", []))
        return "failed", f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''} {notes}".strip()
    if not np.allclose(value, wanted.value, rtol=1e-8, atol=1e-9):
        return "wrong", f"the value is {value}, NumPy's {wanted.value}"
    found = [np.asarray(g, float) for g in gradients if g is not None]
    scale: float = np.max(np.abs([1.0, wanted.value, *(x for w in wanted.gradients for x in np.ravel(w))]))
    for a, b, doubt in zip(found, wanted.gradients, wanted.doubts, strict=True):
        if not np.all(np.abs(a - b) <= 2e-5 * np.abs(b) + 1e-6 * scale + 3 * doubt):
            return "wrong", f"the gradient is {np.ravel(a)[:6]}, by differences {np.ravel(b)[:6]}"
    return "right", ""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings, which packages are free to give."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
