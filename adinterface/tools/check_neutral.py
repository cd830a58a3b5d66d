"""`check_neutral`: runs f on every engine, and finds the line that fails."""

from __future__ import annotations

import functools
import inspect
import linecache
import math
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Literal

import numpy as np

from ..core.call.messages import require_function
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import MissingEngineError
from ..core.contract.library import PYTHON, epsilon
from ..core.contract.registry import find
from ..core.operators.pullback import pullback
from ..core.tree import Constant, LeafSpec, Static, flatten
from .evidence import Outcome, decide
from .measured import installed, listed
from .numbers import Array, distances, largest_of
from .verdict import Verdict

Status = Literal["runs", "fails", "differs"]

#: What NumPy calls functions that the Array API standard has under another name.
_STANDARD_NAMES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "concatenate": "concat",
    "conjugate": "conj", "cumsum": "cumulative_sum", "cumprod": "cumulative_prod",
    "divmod": "floor_divide and xp.remainder", "dot": "matmul or xp.vecdot", "float_power": "pow",
    "hstack": "concat", "vstack": "concat", "invert": "bitwise_invert", "mod": "remainder",
    "power": "pow", "ravel": "reshape(x, (-1,))", "swapaxes": "permute_dims",
    "transpose": "permute_dims", "true_divide": "divide", "newaxis": "expand_dims",
}  # fmt: skip


@dataclass(frozen=True)
class NeutralFinding:
    """The result of f in one namespace.

    where: `"array_api_strict"`, or the backend.
    status: `"runs"`; `"fails"`, with the line of f and the error; `"differs"`: it runs, but returns
    other numbers than with NumPy.
    """

    where: str
    status: Status
    file: str = ""
    line: int = 0
    source: str = ""
    message: str = ""
    hint: str = ""

    def __str__(self) -> str:
        if self.status == "runs":
            return f"{self.where}: runs"
        place = f" at {Path(self.file).name}:{self.line}: {self.source}" if self.line else ""
        return f"{self.where}: {self.status}{place}\n    {self.message}" + (
            f"\n    {self.hint}" if self.hint else ""
        )


@dataclass(frozen=True, repr=False)
class NeutralCheck(Verdict):
    """The result of `check_neutral`.

    True if f runs everywhere and returns NumPy's numbers; prints as a page of text.
    """

    name: str
    results: tuple[NeutralFinding, ...]

    @property
    def findings(self) -> tuple[NeutralFinding, ...]:
        """Where f is not neutral."""
        return tuple([result for result in self.results if result.status != "runs"])

    @property
    def verdict(self) -> Outcome:
        return "wrong" if self.findings else "right"

    def __repr__(self) -> str:
        runs = (
            ", ".join(result.where for result in self.results if result.status == "runs")
            or "nothing"
        )
        verdict = "ok" if self.ok else "fails"
        lines = [
            f"check_neutral({self.name}): {verdict}; runs on {runs}",
            *[f"  {finding}" for finding in self.findings],
        ]
        return "\n".join(lines)


def check_neutral(
    f: Callable[..., Any],
    /,
    *args: Any,
    backends: Sequence[AutoBackend] | None = None,
    **kwargs: Any,
) -> NeutralCheck:
    """Run f on `array_api_strict`, and traced by every installed engine.

    array_api_strict has nothing but the Array API standard.

    f, args, kwargs: as for `gradient`; f may return any tree, and takes its functions from
        `array_namespace(x)`.
    backends: instead of all installed ones.

    Returns a `NeutralCheck`, true if f runs everywhere and returns the numbers that it returns with
    NumPy. Otherwise it names the line of f, the error and, if known, what to write. Later lines are
    not reached, so check again after a correction. Raises the errors of f with NumPy arrays, and
    MissingEngineError without the package array-api-strict.

    >>> import numpy as np
    >>> from adinterface import array_namespace
    >>> from adinterface.tools import check_neutral
    >>> def f(x):
    ...     xp = array_namespace(x)
    ...     return xp.sum(xp.concat([x, xp.sin(x)]))
    >>> check_neutral(f, np.ones(3), backends=[]).ok
    True
    """
    require_function("check_neutral", f)
    chosen = (
        installed()
        if backends is None
        else listed("check_neutral(f, *args, backends=...)", backends, empty=True)
    )
    structure, leaves = flatten(Constant((args, kwargs)), "an argument")
    arrays = [
        leaf.value if leaf.library is PYTHON else leaf.library.to_numpy(leaf.value)
        for leaf in leaves
    ]

    def called_with(convert: Callable[[Array], Any]) -> Any:
        inner, keywords = structure.build(
            iter([x if leaf.library is PYTHON else convert(x) for x, leaf in zip(arrays, leaves)])
        )
        return f(*inner, **keywords)

    wanted = _numbers(called_with(np.array))
    try:
        import array_api_strict as strict
    except ImportError as error:
        raise MissingEngineError(
            "check_neutral needs array_api_strict, which is not installed: pip install"
            " array-api-strict",
            name=error.name,
        ) from None
    runs: list[tuple[str, Callable[[], Any]]] = [
        ("array_api_strict", functools.partial(called_with, strict.asarray))
    ]
    for backend in chosen:
        find(backend)  # before f runs: a missing engine is not a fault of f
        name = type(backend).__name__ if backend == type(backend)() else repr(backend)
        runs.append((name, functools.partial(_traced, f, backend, args, kwargs)))
    called = getattr(f, "__name__", type(f).__name__)
    return NeutralCheck(called, tuple([_result(where, run, f, wanted) for where, run in runs]))


def _traced(
    f: Callable[..., Any], backend: AutoBackend, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    value, _ = pullback(f, backend, *args, **kwargs)
    return value


def _result(
    where: str, run: Callable[[], Any], f: Callable[..., Any], wanted: list[Array]
) -> NeutralFinding:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbers = _numbers(run())
    except Exception as error:  # any error of f is a result
        file, line, source = _line_of(f, error.__traceback__)
        message = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return NeutralFinding(where, "fails", file, line, source, message, _hint(error))
    difference = _difference(numbers, wanted)
    return NeutralFinding(where, "differs" if difference else "runs", message=difference)


def _numbers(result: Any) -> list[Array]:
    """The numbers in a result, in the order of its tree."""
    structure, leaves = flatten(Constant(result), "the result")
    values = iter([leaf.library.to_numpy(leaf.value) for leaf in leaves])
    computed: list[Array] = []

    def collect(place: LeafSpec) -> None:
        if not isinstance(place, Static):
            computed.append(np.asarray(next(values)))
        elif isinstance(place.value, (bool, int, float, complex)):
            computed.append(np.asarray(place.value))
        # Such as an array that only array-api-compat knows.
        elif hasattr(place.value, "__dlpack__"):
            computed.append(np.from_dlpack(place.value))

    structure.fold(collect, lambda node, children: None)
    return computed


def _difference(numbers: list[Array], wanted: list[Array]) -> str:
    if len(numbers) != len(wanted):
        return f"{len(numbers)} arrays come back, {len(wanted)} with NumPy"
    for got, expected in zip(numbers, wanted):
        if got.shape != expected.shape:
            return f"the shape is {got.shape}, with NumPy {expected.shape}"
        inexact = [x.dtype for x in (got, expected) if x.dtype.kind in "fc"]
        rtol = max([math.sqrt(epsilon(dtype.name)) for dtype in inexact], default=0.0)
        scale = largest_of(np.where(np.isfinite(expected), expected, 0)) if inexact else 0.0
        if decide(largest_of(distances(got, expected)), 0.0, scale, rtol) == "wrong":
            return f"{got.ravel()[:3]} comes back, with NumPy {expected.ravel()[:3]}"
        if len(inexact) == 2 and epsilon(got.dtype.name) > epsilon(expected.dtype.name):
            return f"an array of {got.dtype} comes back, with NumPy of {expected.dtype}"
    return ""


# The line
# ------------------------------------------------------------------------------------------------


def _line_of(f: Callable[..., Any], trace: TracebackType | None) -> tuple[str, int, str]:
    """File, number and code of the innermost line in the file of f.

    If there is none, of the innermost outside packages.
    """
    frames = traceback.extract_tb(trace)
    inner = inspect.unwrap(getattr(f, "func", f))
    code = getattr(inner, "__code__", getattr(type(inner).__call__, "__code__", None))
    file = None if code is None else code.co_filename
    own = [frame for frame in frames if frame.filename == file]
    own = own or [
        frame
        for frame in frames
        if "site-packages" not in frame.filename and not _is_ours(frame.filename)
    ]
    if not own:
        return "", 0, ""
    number = own[-1].lineno or 0
    return own[-1].filename, number, linecache.getline(own[-1].filename, number).strip()


def _is_ours(filename: str) -> bool:
    return Path(filename).is_relative_to(Path(__file__).parent)


def _hint(error: Exception) -> str:
    """What to write instead, as far as it is known; else empty."""
    name = getattr(error, "name", None)
    if isinstance(error, AttributeError) and isinstance(name, str):
        if isinstance(error.obj, ModuleType):
            standard = _STANDARD_NAMES.get(name)
            return (
                f"The standard calls it xp.{standard}."
                if standard
                else f"The standard has no {name}."
            )
        return (
            "The standard has functions in place of methods: write"
            f" xp.{_STANDARD_NAMES.get(name, name)}(x)."
        )
    # What the engine says of it in any call.
    return next((note for note in getattr(error, "__notes__", ()) if note[:1] != "-"), "")
