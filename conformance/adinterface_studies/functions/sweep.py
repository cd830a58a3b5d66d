"""`python -m adinterface_studies functions --sweep`: special functions over their whole domain,
against mpmath.

What an engine gives is right if it is as near to the exact number as float64 allows: to 1e-9 of it,
beyond what a rounding of the arguments does to it, and beyond what no rounding of the value would
show. The last is an error that changes the value by less than 64 units in the last place for an
argument that is doubled. Where SciPy's own value is not the exact one, SciPy's is right: it is what
NumPy code means. In float32 the arguments are rounded first, and 1e-4 counts.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance.use import Array
from mpmath import mp, mpf
from scipy import special

from adinterface import (
    AutoBackend,
    Constant,
    NumpyCodeError,
    numpy_function,
    prepare,
    value_and_gradient,
)
from adinterface.core.contract.registry import find
from adinterface.numpy_code.engine import engine_of

from ..progress import steps
from .exact import FUNCTIONS, GROUPS, Undefined
from .points import points

TOLERANCE = 1e-9


class Precision(NamedTuple):
    """What counts as right in a dtype."""

    epsilon: float
    tolerance: float
    #: Numbers that it holds in full, and the largest; what is half as large in digits may be
    #: infinite.
    tiny: float
    huge: float
    enough: float


PRECISIONS = {
    "float64": Precision(2.0**-52, TOLERANCE, 1e-290, 1.7e308, 1e300),
    "float32": Precision(2.0**-23, 1e-4, 1e-32, 3.4e38, 1e36),
}

#: An exact number and how far a rounding of the arguments moves it; None where there is none.
Reference = tuple[Any, Any] | None


@dataclass
class Finding:
    """What one engine made of one function, in its value (`by` is -1) or in its derivative by one
    argument.
    """

    name: str
    backend: str
    by: int
    right: int = 0
    #: Where the engine raised an error or gave NaN for a number, which cannot be mistaken for an
    #: answer.
    refused: int = 0
    worst: float = 0.0
    wrong: list[str] = field(default_factory=list)
    #: The words of the first refusal.
    words: str = ""
    dtype: str = "float64"

    def __str__(self) -> str:
        what = "its value" if self.by < 0 else f"its derivative by argument {self.by}"
        return (
            f"{self.name} on {self.backend} in {self.dtype}, {what}: wrong at"
            f" {'; '.join(self.wrong[:3])}"
        )


@functools.cache
def references(
    name: str, args: tuple[float, ...], epsilon: float = PRECISIONS["float64"].epsilon
) -> tuple[Reference, ...]:
    """The exact value and derivatives at a point, and what a rounding of the arguments does to
    them.
    """
    exact = FUNCTIONS[name]
    with mp.workdps(exact.digits):
        point = [mpf(x) for x in args]
        return tuple([f and _reference(f, point, epsilon) for f in (exact.value, *exact.slopes)])


def _reference(f: Callable[..., Any], point: list[Any], epsilon: float) -> Reference:
    wanted = _number(f, *point)
    if wanted is None:
        return None
    spread = mpf(0)
    for n, x in enumerate(point):
        for sign in (1, -1) if x else ():
            moved = _number(f, *point[:n], x * (1 + sign * mpf(epsilon)), *point[n + 1 :])
            if moved is not None and not mp.isinf(moved) and not mp.isinf(wanted):
                spread = max(spread, abs(moved - wanted))
    return wanted, spread


def _number(f: Callable[..., Any], *args: Any) -> Any:
    try:
        found = f(*args)
    except (Undefined, ZeroDivisionError, ValueError, OverflowError, mp.NoConvergence):
        return None
    return None if mp.isnan(found) or mp.im(found) != 0 else mp.re(found)


def error(
    got: float,
    reference: Reference,
    slack: float = 0.0,
    precision: Precision = PRECISIONS["float64"],
) -> float:
    """How wrong a number is, relative to the exact one: 0 where it is as good as its dtype allows,
    inf where it is none.
    """
    if reference is None:
        return 0.0
    wanted, spread = reference
    if abs(wanted) + 8 * spread > precision.huge:
        if not np.isfinite(got) or abs(got) > precision.enough:
            return 0.0
        distance = abs(mpf(float(got)) / wanted - 1) if wanted else mpf(abs(got))
        return float(distance) if distance <= precision.tolerance else np.inf
    if not np.isfinite(got):
        return np.inf
    distance = abs(mpf(float(got)) - wanted) - 8 * spread - slack
    return (
        float(distance / max(abs(wanted), mpf(precision.tiny)))
        if distance > precision.tiny
        else 0.0
    )


def numpy_code(name: str) -> Callable[..., Any]:
    """The function as a user writes it; `special.sici[0]` is the first of the two that it gives."""
    f, part = _function(name), name.partition("[")[2]
    return (lambda *args: f(*args)[int(part[0])]) if part else f


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition("[")[0].partition(".")
    found: Callable[..., Any] = getattr(np if module == "np" else special, attribute)
    return found


def _evaluated(
    name: str, backend: AutoBackend, columns: Sequence[Array], by: Sequence[int], prepared: bool
) -> Any:
    """The engine's values and its derivatives by these arguments."""
    if prepared:
        count = len(columns[0])
        size = -(-count // _PADDED) * _PADDED
        columns = [np.resize(column, size) for column in columns]
        args = _marked(columns, by)
        (_, values), gradient = _compiled(name, backend, columns[0].dtype.name, tuple(by), size)(
            *args
        )
        return [part[:count] for part in (np.asarray(values), *[gradient[n] for n in by])]
    args = _marked(columns, by)
    (_, values), gradient = value_and_gradient(numpy_function(_summed(name)), backend, *args)
    return [np.asarray(values), *[gradient[n] for n in by]]


def _summed(name: str) -> Callable[..., Any]:
    f = numpy_code(name)

    def summed(*args: Any) -> Any:
        values = f(*args)
        return np.sum(values), values

    return summed


def _marked(columns: Sequence[Array], by: Sequence[int]) -> list[Any]:
    return [column if n in by else Constant(column) for n, column in enumerate(columns)]


#: A compiled call has a multiple of so many numbers, so that it is compiled once for all that is
#: asked of a function.
_PADDED = 256


@functools.lru_cache(4)
def _compiled(
    name: str, backend: AutoBackend, dtype: str, by: tuple[int, ...], size: int
) -> Callable[..., Any]:
    """The engine's program of a function and a dtype for so many numbers."""
    columns = [np.ones(size, dtype) for _ in FUNCTIONS[name].axes]
    call: Callable[..., Any] = prepare(
        value_and_gradient, numpy_function(_summed(name)), backend, *_marked(columns, by)
    )
    return call


def _at_each_point(
    name: str, backend: AutoBackend, columns: Sequence[Array], by: Sequence[int], prepared: bool
) -> Any:
    """As `_evaluated`.

    NaN where the engine refuses, which may be because of one point alone; and the words of a
    refusal.
    """
    try:
        return _evaluated(name, backend, columns, by, prepared), ""
    except (NumpyCodeError, NotImplementedError, ValueError) as refusal:
        words = str(refusal)
    count = len(columns[0])
    # A compiled call is refused before its numbers are known, whatever they are, and each half
    # would be compiled anew.
    if prepared or count == 1 or ("derivative" in words and "for" not in words):
        return [np.full(count, np.nan) for _ in range(len(by) + 1)], words
    halves = [
        [column[part] for column in columns]
        for part in (slice(None, count // 2), slice(count // 2, None))
    ]
    (first, _), (second, _) = (_at_each_point(name, backend, half, by, prepared) for half in halves)
    return [np.concatenate(pair) for pair in zip(first, second)], words


def rounded(columns: Sequence[Array], dtype: str) -> list[Array]:
    """The points in a dtype, without those whose square it cannot hold."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = [column.astype(dtype) for column in columns]
        squares = [there * there for there in narrow]
    held = [
        np.isfinite(square) & ((square != 0) | (column == 0))
        for square, column in zip(squares, columns)
    ]
    return [there[np.logical_and.reduce(held)] for there in narrow]


def sweep(name: str, backend: AutoBackend, limit: int, dtype: str = "float64") -> list[Finding]:
    """Compare at most so many points of a function."""
    exact = FUNCTIONS[name]
    columns = rounded(points(name, exact.axes, limit), dtype)
    places = [n for n, slope in enumerate(exact.slopes) if slope is not None]
    # an engine that compiles would take every step of every function by itself
    prepared = hasattr(backend, "jit")
    findings = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = np.asarray(numpy_code(name)(*columns), dtype=float)
        results, words = _at_each_point(name, backend, columns, places, prepared)
        values = results[0]
        for place, result in zip(places, results[1:]):
            # perhaps because of another argument
            if words and len(places) > 1 and np.all(np.isnan(result)):
                (alone, result), words = _at_each_point(name, backend, columns, [place], prepared)
                values = alone if np.all(np.isnan(values)) else values
            findings.append(_compared(name, backend, place, columns, result, plain, words))
        return [_compared(name, backend, -1, columns, values, plain, words), *findings]


def _compared(
    name: str,
    backend: AutoBackend,
    by: int,
    columns: Sequence[Array],
    result: Array,
    plain: Array,
    words: str,
) -> Finding:
    dtype = columns[0].dtype.name
    precision = PRECISIONS[dtype]
    finding = Finding(name, type(backend).__name__, by, words=words, dtype=dtype)
    rows = zip(*[column.tolist() for column in columns])
    for args, got, value in zip(rows, result.tolist(), plain.tolist()):
        exact, *slopes = references(name, args, precision.epsilon)
        reference = exact if by < 0 else slopes[by]
        if by < 0:
            near = abs(got - value) <= precision.tolerance * abs(value)
            same = got == value or near or (np.isnan(got) and np.isnan(value))
            wrong = np.inf if reference is None else error(got, reference, 0.0, precision)
            wrong = 0.0 if same else wrong
        elif exact is None or not np.isfinite(value):
            continue  # no derivative either
        else:
            size = float(min(abs(exact[0]), mpf(precision.huge)))
            slack = 64 * precision.epsilon * size / max(1.0, abs(args[by]))
            wrong = error(got, reference, slack, precision)
        if wrong <= precision.tolerance:
            finding.right += 1
            finding.worst = max(finding.worst, wrong)
        elif np.isnan(got):
            finding.refused += 1
        else:
            wanted = value if reference is None else float(reference[0])
            point = ", ".join(f"{x:.6g}" for x in args)
            finding.wrong.append(f"({point}): {got!r}, wanted {wanted!r}")
    return finding


def offered(name: str, backend: AutoBackend) -> bool:
    """Whether the engine has the function at all."""
    library = find(backend).library
    if library is None:
        return True
    try:
        return engine_of(library).functions[_function(name)] is not None
    except NumpyCodeError:
        return False


def run(
    names: Sequence[str],
    backends: Sequence[AutoBackend],
    limit: int,
    *,
    dtypes: Sequence[str] = ("float64",),
) -> list[Finding]:
    """Every function on every backend that offers it."""
    found: list[Finding] = []
    with steps(len(names), "special functions") as advance:
        for name in names:
            for backend in backends:
                for dtype in dtypes if offered(name, backend) else ():
                    found += sweep(name, backend, limit, dtype)
            advance(name)
    return found


# The table
# ------------------------------------------------------------------------------------------------


def markdown(findings: Sequence[Finding]) -> str:
    """A table for each group of functions: a row for each of them, a column for each backend."""
    backends = list(dict.fromkeys(finding.backend for finding in findings))
    cells: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        cells.setdefault((finding.name, finding.backend), []).append(finding)
    groups: dict[str, list[str]] = {}
    title = ""
    for name in FUNCTIONS:
        title = GROUPS.get(name, title)
        if any((name, backend) in cells for backend in backends):
            groups.setdefault(title, []).append(name)
    parts = []
    for title, names in groups.items():
        lines = [
            f"**{title}**",
            "",
            "| function | " + " | ".join(backends) + " |",
            "| --- |" + " --- |" * len(backends),
        ]
        for name in names:
            row = [
                _cell(cells[name, backend]) if (name, backend) in cells else ""
                for backend in backends
            ]
            lines.append(f"| `{name}` | " + " | ".join(row) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _cell(findings: Sequence[Finding]) -> str:
    """What a backend makes of a function in each dtype."""
    of_dtypes: dict[str, list[Finding]] = {}
    for finding in findings:
        of_dtypes.setdefault(finding.dtype, []).append(finding)
    return "; ".join([_in_words(dtype, own) for dtype, own in of_dtypes.items()])


def _in_words(dtype: str, findings: Sequence[Finding]) -> str:
    """The largest error of the value and the derivatives, and how much is refused."""
    wrong, right = (
        sum(len(finding.wrong) for finding in findings),
        sum(finding.right for finding in findings),
    )
    if wrong:
        return f"wrong at {wrong}"
    if not right:
        return "refused"
    worst = max(finding.worst for finding in findings)
    refused = sum(finding.refused for finding in findings) / (
        right + sum(finding.refused for finding in findings)
    )
    size = "✓" if worst < PRECISIONS[dtype].epsilon else f"{worst:.0e}"
    return size + (f" ({max(refused, 0.01):.0%} refused)" if refused else "")
