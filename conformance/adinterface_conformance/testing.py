"""`assert_backends_agree`, for tests that compare several backends."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from adinterface import AutoBackend, gradient
from adinterface.tools.compare import compare
from adinterface.tools.comparison import Comparison
from adinterface.tools.measured import LeafDifference, Measured
from adinterface.tools.numbers import distances

from .installed import installed_backends

#: How many numbers of a leaf, and how many leaves, a failure shows.
_NUMBERS, _LEAVES = 6, 8


class KinkWarning(UserWarning):
    """Backends differ at a kink of f.

    None is wrong, but f has no derivative at the point of the test.
    """


# Agreement
# ------------------------------------------------------------------------------------------------


def assert_backends_agree(
    f: Callable[..., Any] | Mapping[AutoBackend, Callable[..., Any]],
    /,
    *args: Any,
    backends: Iterable[AutoBackend] | None = None,
    operator: Callable[..., Any] = gradient,
    rtol: float | None = None,
    atol: float | None = None,
    **kwargs: Any,
) -> Comparison:
    """Assert that several backends return the same, and return the report of `compare`.

    f: the function, or a dict of one for each backend, such as `{AutoTorch(): f, AutoJax(): g}`.
    backends: by default all that are installed, or selected by `--adinterface-backends`.
    args, kwargs: the arguments of the operator after the backend. Wrap an f with a keyword named as
        above.
    rtol, atol: see `Comparison.agree`.

    Raises AssertionError, with the differing leaves side by side, if a backend raised an error or
    two backends differ. Warns with KinkWarning where they differ because f has a kink there and
    each answer is one of its slopes or their mean.
    """
    __tracebackhide__ = True
    if isinstance(f, Mapping):
        report = compare(operator, f, *args, **kwargs)
    else:
        report = compare(
            operator, f, installed_backends() if backends is None else backends, *args, **kwargs
        )
    kinks = sorted({d.path for m in report.backends for d in m.differences if d.kink})
    if kinks:
        warnings.warn(
            f"{report.operator}: f has a kink at this point, where backends may differ:"
            f" {', '.join(kinks)}. Choose another point to compare them.",
            KinkWarning,
            stacklevel=2,
        )
    if not report.agree(rtol=rtol, atol=atol):
        errors = [m.error for m in report.backends if m.error is not None]
        raise AssertionError(disagreement(report, rtol=rtol, atol=atol)) from (
            errors[0] if errors else None
        )
    return report


def disagreement(
    report: Comparison, *, rtol: float | None = None, atol: float | None = None
) -> str:
    """The leaves that disagree, with the numbers of each backend side by side."""
    disagreements = list(report.disagreements(rtol=rtol, atol=atol))
    paths = list(dict.fromkeys(difference.path for _, difference, _ in disagreements))
    failed = [m for m in report.backends if m.error is not None]
    lines = [_headline(report, disagreements, failed)]
    for measured in failed:
        lines.append(f"  {measured.name} raised {type(measured.error).__name__}: {measured.error}")
    for path in paths[:_LEAVES]:
        lines.extend(_leaf(report, path, [each for each in disagreements if each[1].path == path]))
    if len(paths) > _LEAVES:
        lines.append(f"  ... and {len(paths) - _LEAVES} more leaves")
    if report.advice:
        lines.append(report.advice)
    elif disagreements:
        lines.append(
            "If the engines are this accurate and no more, pass rtol=... or atol=...;"
            " check_gradient tells which is wrong."
        )
    return "\n".join(lines)


#: A backend, a leaf of its result that differs, and by how much it might.
Disagreement = tuple[Measured, LeafDifference, float]


def _headline(report: Comparison, disagreements: list[Disagreement], failed: list[Measured]) -> str:
    names = list(dict.fromkeys(measured.name for measured, _, _ in disagreements))
    parts = (
        [f"{', '.join(names)} and {report.reference.name} disagree"]
        if names and report.reference
        else []
    )
    parts += [f"{', '.join(m.name for m in failed)} failed"] * bool(failed)
    return f"{report.operator}: {'; '.join(parts)}"


def _leaf(report: Comparison, path: str, disagreements: list[Disagreement]) -> Iterator[str]:
    assert report.reference is not None
    reference = report.reference.leaves.get(path)
    shape = "" if reference is None or reference.shape == () else f", shape {reference.shape}"
    yield f"  {path}{shape}"
    for measured, difference, allowed in disagreements:
        if difference.note:
            yield f"    {measured.name}: {difference.note}"
        else:
            amount = f"largest difference {difference.absolute:.3g}, allowed {allowed:.3g}"
            yield f"    {measured.name}: {amount}, relative {difference.relative:.3g}"
    comparable = [m for m in report.backends if reference is not None and _fits(m, path, reference)]
    if reference is None or len(comparable) < 2:
        return
    worst = _worst(np.stack([distances(m.leaves[path], reference) for m in comparable]).max(axis=0))
    rows = [
        [_index(index), *(_number(m.leaves[path][index]) for m in comparable)] for index in worst
    ]
    rows.insert(0, ["", *(m.name for m in comparable)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    yield from (
        "    " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip()
        for row in rows
    )
    if reference.size > len(worst):
        yield f"    (the {len(worst)} of {reference.size} numbers that differ most)"


def _fits(measured: Measured, path: str, reference: np.ndarray[Any, Any]) -> bool:
    return path in measured.leaves and measured.leaves[path].shape == reference.shape


def _worst(apart: np.ndarray[Any, Any]) -> list[tuple[int, ...]]:
    """The indices of the numbers that differ most, in their own order."""
    flat = np.sort(np.argsort(-apart, axis=None, kind="stable")[:_NUMBERS])
    return [tuple(int(i) for i in np.unravel_index(n, apart.shape)) for n in flat]


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""


def _number(value: Any) -> str:
    return f"{value:.10g}"


__all__ = ["KinkWarning", "assert_backends_agree", "installed_backends"]
