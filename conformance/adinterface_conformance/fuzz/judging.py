"""What is wrong with the results of a trial: against the reference along random directions, and against another engine."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from adinterface import BackendError, ConversionError, NumpyCodeError, PrecisionError, PrecisionWarning, RuleError
from adinterface.core.operators.facts import parts_of

from .. import laws
from ..accuracy import differentiates, tolerance
from ..case import Case
from ..checks import CHECKS
from ..trees import array_dtype_of, assert_close, floating, is_floating, is_number, leaves_inside, nodes, numbers_of
from .reference import NotSmooth, along
from .trial import Call, Trial

#: By bits: what an exact engine may be off, relative to the sizes that take part.
_EXACT = {64: 1e-8, 32: 4e-3, 16: 0.3}
#: What the reference must be good for.
_TRUST = 1e-10
_FORM = ("structure", "dtype", "memory")

#: Raises AssertionError where a result is not what the reference gives.
Comparison = Callable[[], None]


class Finding(NamedTuple):
    """Something that is wrong: in which respect, by a word that survives cutting the program down, and in full."""

    kind: str
    message: str

    @property
    def words(self) -> str:
        """Of an error its message without numbers, names and shapes."""
        return re.sub(r"[\d.,()\[\]' ]+", " ", self.message.partition("\n")[0])[:60] if self.kind.startswith("raises") else ""


class Judgement(NamedTuple):
    """What became of a trial on a backend: what is wrong, how many comparisons there were, and the results by part.

    refused: an error that is as documented came instead of results, or a warning that they are not exact.
    """

    findings: list[Finding]
    comparisons: int
    parts: dict[str, Any] | None
    refused: bool = False


def judge(trial: Trial, call: Call, other: dict[str, Any] | None = None) -> Judgement:
    """Call the operator and compare. other: the results of an engine to compare with, number by number.

    Raises NotSmooth where the reference itself is not to be trusted, TypeError for a part that it cannot compare.
    """
    try:
        case = trial.case(call)
    except PrecisionError:  # the engine has no arrays of a dtype of the trial
        return Judgement([], 0, None, refused=True)
    _require_known(case)
    trial_rtol = rtol(trial, call)
    references = expected(trial)
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
            for compare in COMPARISONS[part](Compared(trial, case, part, got, references, trial_rtol)):
                comparisons += 1
                error_text = _failed(compare)
                if error_text is not None:
                    findings.append(Finding(f"{part} is wrong", error_text))
        if other is not None and not findings:
            for part, got in parts.items():
                comparisons += 1
                scale = 1 + _size([got]) + _size([other[part]]) if part != "value" else 1 + _size([got])
                error_text = _failed(lambda: _alike(got, other[part], part, trial_rtol, scale))  # noqa: B023
                if error_text is not None:
                    findings.append(Finding(f"{part} differs", error_text))
    if findings and not _exact(call) and any(each.category is PrecisionWarning for each in told):
        return Judgement([], 0, None, refused=True)  # differences that say that they are not exact there
    return Judgement(findings, comparisons, parts)


def _documented(error: Exception, trial: Trial, call: Call) -> bool:
    """Whether a refusal is right: what it names cannot be differentiated, or not exactly, there."""
    if isinstance(error, PrecisionError):  # differences that say that they cannot, and engines without the dtype
        return not _exact(call) or "nothing is narrowed silently" in str(error)
    if isinstance(error, ConversionError):  # an engine without rules, and code outside of it
        return "no way to be told its derivative" in str(error)
    if isinstance(error, AttributeError):  # a function that the engine does not have
        return str(error).startswith("The namespace of ")
    if isinstance(error, BackendError):  # what the engine is known to get wrong
        return "/issues/" in str(error)
    if "captured" in trial.program.kinds:  # a constant of the engine in code of the host has a note of the engine
        notes = getattr(error, "__notes__", ())
        refused = isinstance(error, RuleError) or "RuleError: " in str(error)  # the second, where an engine calls back
        return (refused and "it captures" in str(error)) or any("capture" in note for note in notes)
    return isinstance(error, NumpyCodeError) and trial.program.deep


def _failed(compare: Callable[[], None]) -> str | None:
    try:
        compare()
    except AssertionError as error:
        return str(error).partition("\nassert ")[0]
    except Exception as error:  # a result of another form altogether
        return f"{type(error).__name__}: {error}"
    return None


def _exact(call: Call) -> bool:
    return differentiates(call.backend)


def rtol(trial: Trial, call: Call) -> float:
    """The relative tolerance: by the narrowest dtype that takes part."""
    everything = [leaf for _, leaf in leaves_inside((trial.program.args, dict(trial.program.kwargs)), "")]
    dtypes = [str(x.dtype) for x in trial.point] + [
        array_dtype_of(x) for x in everything if is_floating(x) and hasattr(x, "dtype")
    ]
    narrowest = min([np.finfo(dtype).bits for dtype in dtypes], default=64)
    return tolerance(call.backend, trial.operation.order, _EXACT[min(narrowest, 64)], dtypes)


# The reference -------------------------------------------------------------------------------------------------------


def expected(trial: Trial) -> dict[str, Any]:
    """Derivatives of the reference, by the name of their directions; computed once for all backends."""
    forms, order = set(trial.operation.forms), trial.operation.order
    tree = trial.operation.output == "tree"

    def of(name: str, direction: list[Any], order: int) -> list[Any]:
        key = "along", name, order, tree
        if key not in trial.known:
            trial.known[key] = along(trial.outputs, trial.point, direction, order, _TRUST)
        return trial.known[key]  # type: ignore[no-any-return]

    known: dict[str, Any] = {"value": trial.value}
    u, v, tangents = (trial.direction(name) for name in ("u", "v", "tangents"))
    if trial.operation.takes == "one number":
        one = [np.ones_like(x) for x in trial.point]
        known["one"] = of("one", one, 1)
        known["one one"] = of("one", one, 2) if order == 2 else None
        return known
    if forms & {"push", "tangent"} and order == 1:
        known["tangents"] = of("tangents", tangents, 1)
        return known
    if not forms.isdisjoint({"arguments", "back", "jacobian"}) or "gradient" in parts_of(trial.operation):
        known["u"], known["v"] = of("u", u, 1), of("v", v, 1)
    if order == 2:
        known["uu"] = of("u", u, 2)[0]
        for name, other in (("v", v), ("tangents", tangents)):  # u H other, by what the square of a sum says
            more = of(f"u+{name}", [x + y for x, y in zip(u, other)], 2)[0]
            less = of(f"u-{name}", [x - y for x, y in zip(u, other)], 2)[0]
            known[f"u{name[0]}"] = (more - less) / 4
        for n, unit in _units(trial):
            known[f"unit {n}"] = of(f"unit {n}", unit, 2)
    return known


def _units(trial: Trial) -> Iterator[tuple[int, list[Any]]]:
    """A direction along the last number of each leaf that has one."""
    for n, x in enumerate(trial.point):
        if x.size:
            unit = [np.zeros_like(y) for y in trial.point]
            unit[n][(-1,) * x.ndim] = 1
            yield n, unit


# Comparing -----------------------------------------------------------------------------------------------------------


def _size(trees: list[Any]) -> float:
    return max([float(np.max(np.abs(x), initial=0.0)) for tree in trees for x in floating(tree)], default=0.0)


def _equal(got: Any, wanted: Any, size: float, allowed: float, what: str) -> None:
    g, w = complex(got), complex(wanted)
    off = abs(g - w)
    limit = allowed * (1 + abs(w) + size)
    text = (g, w) if isinstance(got, complex) else (g.real, w.real)
    assert off <= limit, f"{what}: got {text[0]!r}, wanted {text[1]!r}, off by {off:.3g} where {limit:.3g} is allowed"


class Compared(NamedTuple):
    """One part of a result beside the reference, and how far they may be apart."""

    trial: Trial
    case: Case
    part: str
    got: Any
    known: dict[str, Any]
    allowed: float

    def numbers(self, name: str, compute: Callable[[], float], wanted: Any) -> Comparison:
        """Two numbers."""
        return lambda: _equal(compute(), wanted, _size([self.got]), self.allowed, f"{self.part} along {name}")

    def leaves(self, wanted: list[Any]) -> Comparison:
        """The leaves of the part, one by one."""
        scale = 1 + max([float(np.max(np.abs(x), initial=0.0)) for x in wanted], default=0.0)

        def compare() -> None:
            found = floating(self.got)
            assert len(found) == len(wanted), f"{self.part}: {len(found)} leaves, wanted {len(wanted)}"
            for n, (a, b) in enumerate(zip(found, wanted)):
                assert_close(a, numbers_of(np.asarray(b)), f"{self.part}, leaf {n}", self.allowed, scale)

        return compare


def _value(of: Compared) -> Iterator[Comparison]:
    yield lambda: _same_value(of.known["value"], of.got, max(of.allowed if of.allowed > 1e-6 else 1e-11, 1e-11))


def _derivative(of: Compared) -> Iterator[Comparison]:
    yield of.leaves(of.known["one"])


def _second_derivative(of: Compared) -> Iterator[Comparison]:
    yield of.leaves(of.known["one one"])


def _tangent(of: Compared) -> Iterator[Comparison]:
    yield of.leaves(of.known["tangents"])


def _weighted(of: Compared, weights: list[Any]) -> Iterator[Comparison]:
    for name in ("u", "v"):
        wanted = laws.inner([np.asarray(x) for x in of.known[name]], weights)
        yield of.numbers(name, functools.partial(_along, of.got, of.trial.direction(name)), wanted)


def _gradient(of: Compared) -> Iterator[Comparison]:
    return _weighted(of, [np.ones(())])


def _back(of: Compared) -> Iterator[Comparison]:
    return _weighted(of, of.trial.seed_leaves)


def _jacobian(of: Compared) -> Iterator[Comparison]:
    def compare(name: str, n: int) -> None:
        product = laws.jacobian_times(of.case, of.got, of.trial.direction(name))[n]
        wanted = numbers_of(np.asarray(of.known[name][n]))
        assert_close(product, wanted, f"{of.part} along {name}, leaf {n}", of.allowed, 1 + _size([of.got]))

    for name in ("u", "v"):
        for n in range(len(of.known[name])):
            yield functools.partial(compare, name, n)


def _hvp(of: Compared) -> Iterator[Comparison]:
    yield of.numbers("u", functools.partial(_along, of.got, of.trial.direction("u")), of.known["ut"])


def _hessian(of: Compared) -> Iterator[Comparison]:
    def product(a: str, b: str) -> float:
        left, right = (np.concatenate([np.ravel(x) for x in of.trial.direction(name)]) for name in (a, b))
        return float(left @ laws.hessian_matrix(of.case, of.got) @ right)

    for a, b in (("u", "u"), ("u", "v")):
        yield of.numbers(a + b, functools.partial(product, a, b), of.known[a + b])


def _diagonal(of: Compared) -> Iterator[Comparison]:
    for n, unit in _units(of.trial):
        yield of.numbers(f"leaf {n}", functools.partial(_along, of.got, unit), of.known[f"unit {n}"][0])


#: How each part of a result is compared, by the name of the part.
COMPARISONS: dict[str, Callable[[Compared], Iterator[Comparison]]] = {
    "value": _value,
    "gradient": _gradient,
    "back": _back,
    "tangent": _tangent,
    "push": _tangent,
    "jacobian": _jacobian,
    "derivative": _derivative,
    "second_derivative": _second_derivative,
    "hvp": _hvp,
    "hessian": _hessian,
    "diagonal_hessian": _diagonal,
}


def _require_known(case: Case) -> None:
    """Raise TypeError if a part of the result is one that the fuzz cannot compare."""
    for part in case.forms:
        if part not in COMPARISONS:
            raise TypeError(
                f"{case.name}: the fuzz cannot compare the part {part!r} of its result. Add the part to COMPARISONS in "
                f"conformance/adinterface_conformance/fuzz/judging.py."
            )


def _along(got: Any, direction: list[Any]) -> float:
    return laws.inner(floating(got), direction)


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


__all__ = ["Finding", "Judgement", "NotSmooth", "expected", "judge"]
