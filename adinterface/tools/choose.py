"""`choose`: the backend to use for a function, by what each one does with it here."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.errors import BackendError
from ..core.operators.prepare import prepare
from ..core.operators.table import require_operator
from .compare import compare
from .compare_table import seconds
from .comparison import Comparison, takes_differences
from .facts import arguments_of
from .leaves import taken_apart
from .measured import Measured, installed, label

#: With more numbers to differentiate, finite differences are not tried unless they are asked for.
_MANY = 1000
#: With so few numbers, central differences may take less time than an engine.
_FEW = 5


@dataclass(frozen=True, repr=False, eq=False)
class Choice:
    """What `choose` found.

    Prints as the table of `compare`, with a recommendation below.

    backend: the backend value to use; None if none ran, or if they disagree and it is unknown which
        is right.
    reason: why, in words, and what else to consider.
    comparison: what each backend did: its first prepared call, later ones, its result,
        its error.
    agreeing: the backends that ran and agree, engines with the shortest prepared calls first,
        finite differences last.
    """

    backend: AutoBackend | None
    reason: str
    comparison: Comparison
    agreeing: tuple[AutoBackend, ...]

    def __repr__(self) -> str:
        return f"{self.comparison}\n\n{self.reason}"


def choose(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    /,
    *args: Any,
    backends: Iterable[AutoBackend] | None = None,
    **kwargs: Any,
) -> Choice:
    """Try backends on a function, and recommend one.

    The result says which of them run the function here, agree with each other, and how fast they
    are.

    Prepares the operator for each backend and calls it twice or more, as `compare` does, so f
    should be pure. The first call includes the preparation and whatever the engine compiles.

    operator: one of this package's operators. args, kwargs: the operator's arguments after the
        backend.
    backends: a list of backend values. None takes all that are installed, finite differences for at
        most 1,000 numbers, and central ones for at most five.

    Returns a `Choice`. Its `backend` has the shortest prepared call of those that agree; finite
    differences are recommended only where no engine runs. If results differ by more than rounding
    or a kink explains, finite differences decide: those that agree with them, and with one another,
    are right. Without them, or if they confirm no engine, the backend is None.

    Raises TypeError for anything but an operator, and BackendError if `backends` is not a list of
    backend values, or if they are passed by position.

    >>> from adinterface import AutoAutograd, AutoFiniteDifferences, derivative
    >>> from adinterface.tools import choose
    >>> choose(derivative, lambda x: x**3, 2.0, backends=[AutoAutograd(),
    ...     AutoFiniteDifferences()]).backend
    AutoAutograd()
    """
    call = "choose(operator, f, *args)"
    row = require_operator(call, operator)
    listed = args[0] if args and isinstance(args[0], (list, tuple)) else args[:1]
    if listed and all(isinstance(each, AutoBackend) for each in listed):
        raise BackendError(
            f"{call}: backends are a keyword. Write backends=[{', '.join(map(label, listed))}]."
        )
    if backends is None:
        leaves = taken_apart(arguments_of(row, args))[1]
        count = sum(
            [math.prod(leaf.library.shape(leaf.value)) for leaf in leaves if leaf.differentiated]
        )
        backends = [*installed(), *[AutoFiniteDifferences()] * (count <= _MANY)]
        backends += [AutoFiniteDifferences(method="central")] * (count <= _FEW)
    report = compare(_Prepared(operator), f, backends, *args, **kwargs)
    report = replace(report, operator=f"prepared {report.operator}")
    agreeing = sorted(
        _agreeing(report), key=lambda m: (takes_differences(m.backend), m.later_seconds)
    )
    best = agreeing[0].backend if agreeing else None
    return Choice(best, _reason(report, agreeing), report, tuple([m.backend for m in agreeing]))


class _Prepared:
    """The operator, prepared once for each backend and f."""

    def __init__(self, operator: Callable[..., Any]):
        functools.update_wrapper(self, operator)
        self._operator = operator
        self._known: dict[
            tuple[AutoBackend, int], tuple[Callable[..., Any], Callable[..., Any]]
        ] = {}

    def __call__(
        self, f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
    ) -> Any:
        key = backend, id(f)
        if key not in self._known:
            # f is kept, so that no other one gets its id.
            self._known[key] = prepare(self._operator, f, backend, *args, **kwargs), f
        return self._known[key][0](*args, **kwargs)


def _agreeing(report: Comparison) -> list[Measured]:
    """All that ran, if they agree.

    Otherwise the engines that finite differences confirm, if these agree.
    """
    ran = [m for m in report.backends if m.error is None]
    if report.note:  # f does not repeat its value
        return []
    if not _apart(report, ran):
        return ran
    judge = next((m for m in ran if takes_differences(m.backend)), None)
    if judge is None:
        return []
    wrong = _apart(report.against(judge.backend), ran)
    confirmed = [m for m in ran if m.backend not in wrong]
    mutual = not any(_apart(report.against(m.backend), confirmed) for m in confirmed)
    return confirmed if mutual and not all(takes_differences(m.backend) for m in confirmed) else []


def _apart(report: Comparison, among: Iterable[Measured]) -> set[AutoBackend]:
    """Those that differ from the reference by more than rounding explains."""
    differ = {m.backend for m, difference, _ in report.disagreements() if not difference.undecided}
    return differ & {m.backend for m in among}


def _reason(report: Comparison, agreeing: list[Measured]) -> str:
    ran = [m for m in report.backends if m.error is None]
    if not ran:
        first = report.backends[0]
        said = "\n".join([str(first.error), *getattr(first.error, "__notes__", [])])
        return f"No backend ran. {first.name} raised {type(first.error).__name__}: {said}"
    if report.note:
        return "No backend can be recommended: the results do not repeat themselves."
    if not agreeing:
        remedy = "`check_gradient` tells it of a gradient."
        if not any(takes_differences(m.backend) for m in ran):
            remedy = f"Add {AutoFiniteDifferences.__name__}() to the backends. {remedy}"
        return (
            "No backend can be recommended: they disagree, and it is not known which is right."
            f" {remedy}"
        )
    best, *others = agreeing
    lines = [f"Use {best.name}: its prepared call takes {seconds(best.later_seconds)}."]
    excluded = [m.name for m in ran if m not in agreeing]
    if excluded:
        lines.append(f"Finite differences contradict {' and '.join(excluded)}.")
    elif takes_differences(best.backend):
        lines.append("No engine ran.")
    elif not others:
        lines.append("No other backend ran, so that nothing confirms it. `check_gradient` does.")
    engines = [m for m in others if not takes_differences(m.backend)]
    sooner = min(engines, key=lambda m: m.first_seconds, default=best)
    differences = [m for m in others if m not in engines]
    plain = min(differences, key=lambda m: m.later_seconds, default=best)
    if plain.later_seconds < best.later_seconds:
        lines.append(f"{plain.name} takes {seconds(plain.later_seconds)}, to fewer digits.")
    for other, digits in ((sooner, ""), (plain, ", to fewer digits")):
        saved = best.first_seconds - other.first_seconds
        lost = other.later_seconds - best.later_seconds
        if saved > 0 and lost > 0:
            lines.append(
                f"For fewer than {1 + saved / lost:,.0f} calls {other.name} takes less time in"
                f" all{digits}."
            )
    return " ".join(lines)


__all__ = ["Choice", "choose"]
