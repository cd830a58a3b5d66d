"""Compares the results of a trial with the reference along random directions, and with another engine."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from adinterface import BackendError, ConversionError, NumpyCodeError, PrecisionError, PrecisionWarning, RuleError

from .. import laws
from ..accuracy import differentiates, tolerance
from ..case import Case
from ..checks import CHECKS
from ..laws import Models
from ..trees import array_dtype_of, assert_close, floating, has_derivative, is_number, leaves_inside, nodes, numbers_of
from .reference import NotSmooth, along
from .trial import Call, Trial, native_library

#: By bits: what an exact engine may be off, relative to the sizes that take part.
_EXACT = {64: 1e-8, 32: 4e-3, 16: 0.3}
#: What the reference must be good for.
_TRUST = 1e-10
_FORM = ("structure", "dtype", "memory")

#: Raises AssertionError where a result is not what the reference gives.
Comparison = Callable[[], None]


class Finding(NamedTuple):
    """An error: its kind, by a word that stays the same while the program shrinks, and its description."""

    kind: str
    message: str

    @property
    def words(self) -> str:
        """Of an error its message without numbers, names and shapes."""
        return re.sub(r"[\d.,()\[\]' ]+", " ", self.message.partition("\n")[0])[:60] if self.kind.startswith("raises") else ""


class Judgement(NamedTuple):
    """The outcome of a trial on a backend: the errors, the number of comparisons, and the results by part.

    refused: the call raised a documented error, or warned that results are not exact.
    """

    findings: list[Finding]
    comparisons: int
    parts: dict[str, Any] | None
    refused: bool = False


def judge(trial: Trial, call: Call, other: dict[str, Any] | None = None) -> Judgement:
    """Call the operator and compare. other: the results of an engine to compare with, number by number.

    Raises NotSmooth where the reference is not reliable, TypeError for a part that it cannot compare.
    """
    try:
        case = trial.case(call)
    except PrecisionError:
        if not _lacks(call, _dtypes(trial)):
            raise
        return Judgement([], 0, None, refused=True)
    if any("1j" in statement.text for statement in trial.program.statements) and _lacks(call, ["complex128"]):
        return Judgement([], 0, None, refused=True)  # the engine would narrow the numbers
    models = {part: laws.models_of(case, part) for part in case.forms}
    allowed = rtol(trial, call)
    for order in range(1, trial.operation.order + 1):
        _reference(trial, trial.direction("u"), order)
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", PrecisionWarning)
        try:
            parts = case.run()
        except Exception as error:
            if _documented(error, trial, call):
                return Judgement([], 0, None, refused=True)
            return Judgement([Finding(f"raises {type(error).__name__}", f"{type(error).__name__}: {error}")], 1, None)
        findings: list[Finding] = []
        comparisons = 0
        for name in _FORM:
            error_text = _failed(lambda name=name: CHECKS[name].law(case))  # type: ignore[misc]
            if error_text is not None:
                findings.append(Finding(name, error_text))
        for part, got in parts.items():
            for compare in _comparisons(trial, case, part, got, models[part], allowed):
                comparisons += 1
                error_text = _failed(compare)
                if error_text is not None:
                    findings.append(Finding(f"{part} is wrong", error_text))
        if other is not None and not findings:
            for part, got in parts.items():
                comparisons += 1
                scale = 1 + _size([got]) + _size([other[part]]) if part != "value" else 1 + _size([got])
                error_text = _failed(lambda: _alike(got, other[part], part, allowed, scale))  # noqa: B023
                if error_text is not None:
                    findings.append(Finding(f"{part} differs", error_text))
    if findings and not _exact(call) and any(each.category is PrecisionWarning for each in told):
        return Judgement([], 0, None, refused=True)  # differences that say that they are not exact there
    return Judgement(findings, comparisons, parts)


def _documented(error: Exception, trial: Trial, call: Call) -> bool:
    """Whether a refusal is right: the engine cannot differentiate the named function there, or not exactly."""
    if isinstance(error, PrecisionError):  # differences that say that they cannot, and engines without the dtype
        return not _exact(call) or _lacks(call, _dtypes(trial))
    if isinstance(error, ConversionError):  # an engine without rules, and code outside of it
        return "`Library.custom`" in str(error)
    if isinstance(error, AttributeError):  # a function that the engine does not have
        return str(error).startswith("The namespace of ")
    if isinstance(error, BackendError):  # what the engine is known to get wrong, or a branch of which it cannot compile
        return "/issues/" in str(error) or (call.prepared and "(`Library.loops`)" in str(error))
    if "captured" in trial.program.kinds:  # a constant of the engine in code of the host has a note of the engine
        notes = getattr(error, "__notes__", ())
        refused = isinstance(error, RuleError) or "RuleError: " in str(error)  # the second, where an engine calls back
        return (refused and "it captures" in str(error)) or any("capture" in note for note in notes)
    return isinstance(error, NumpyCodeError) and trial.program.deep


def _lacks(call: Call, dtypes: Sequence[str]) -> bool:
    """Whether the engine has no arrays of one of these dtypes: an empty array of it is refused, too."""
    library = native_library(call.backend)
    if library is None:
        return False
    try:
        for dtype in set(dtypes):
            library.asarray(np.zeros(0, dtype))
    except PrecisionError:
        return True
    return False


def _failed(compare: Callable[[], None]) -> str | None:
    try:
        compare()
    except NotSmooth:
        raise
    except AssertionError as error:
        return str(error).partition("\nassert ")[0]
    except Exception as error:  # a result of another form altogether
        return f"{type(error).__name__}: {error}"
    return None


def _exact(call: Call) -> bool:
    return differentiates(call.backend)


def rtol(trial: Trial, call: Call) -> float:
    """The relative tolerance: by the narrowest dtype that takes part."""
    dtypes = _dtypes(trial)
    narrowest = min([np.finfo(dtype).bits for dtype in dtypes], default=64)
    return tolerance(call.backend, trial.operation.order, _EXACT[min(narrowest, 64)], dtypes)


def _dtypes(trial: Trial) -> list[str]:
    everything = [leaf for _, leaf in leaves_inside((trial.program.args, dict(trial.program.kwargs)), "")]
    return [str(x.dtype) for x in trial.point] + [
        array_dtype_of(x) for x in everything if has_derivative(x) and hasattr(x, "dtype")
    ]


# Comparing -----------------------------------------------------------------------------------------------------------


def _comparisons(trial: Trial, case: Case, part: str, got: Any, models: Models, allowed: float) -> Iterator[Comparison]:
    """Compares a part with f along two random directions, or along the directions of the call."""
    if part == "value":
        yield lambda: _same_value(trial.value, got, max(allowed if allowed > 1e-6 else 1e-11, 1e-11))
        return
    for name in ("u", "v"):
        yield functools.partial(_compare, trial, case, part, got, models, name, allowed)


def _compare(trial: Trial, case: Case, part: str, got: Any, models: Models, name: str, allowed: float) -> None:
    for model in models(case, got, name):
        changes = [[weight * y for y in _reference(trial, v, model.order)] for weight, v in model.directions]
        wanted = model.seen([sum(column[1:], column[0]) for column in zip(*changes)])
        what = f"{part} along {model.along}" if model.along else part
        assert len(model.derivative) == len(wanted), f"{what}: {len(model.derivative)} leaves, wanted {len(wanted)}"
        scale = 1 + max([_size([got]), *[float(np.max(np.abs(y), initial=0.0)) for y in wanted]])
        for n, (a, b) in enumerate(zip(model.derivative, wanted)):
            assert_close(a, numbers_of(np.asarray(b)), f"{what}, leaf {n}", allowed, scale)


def _reference(trial: Trial, direction: list[Any], order: int) -> list[Any]:
    """The derivative of the reference along a direction; computed once for all backends."""
    key = "along", order, trial.operation.output == "tree", *[x.tobytes() for x in map(np.asarray, direction)]
    if key not in trial.known:
        trial.known[key] = along(trial.outputs, trial.point, direction, order, _TRUST)
    return trial.known[key]  # type: ignore[no-any-return]


def _size(trees: list[Any]) -> float:
    return max([float(np.max(np.abs(x), initial=0.0)) for tree in trees for x in floating(tree)], default=0.0)


def _alike(got: Any, wanted: Any, part: str, allowed: float, scale: float) -> None:
    """Two engines' results, number by number."""
    pairs = list(zip(floating(got), floating(wanted), strict=True))
    for n, (a, b) in enumerate(pairs):
        assert_close(a, b, f"{part}, leaf {n}, beside another engine", 2 * allowed, scale)


def _same_value(template: Any, got: Any, allowed: float) -> None:
    for wanted, found, path in nodes(template, got, "value"):
        if is_number(wanted) and is_number(found):
            assert_close(found, np.asarray(wanted), path, allowed, 1 + float(np.max(np.abs(wanted), initial=0.0)))
        else:
            assert found == wanted, f"{path}: got {found!r}, wanted {wanted!r}"


__all__ = ["Finding", "Judgement", "NotSmooth", "judge"]
