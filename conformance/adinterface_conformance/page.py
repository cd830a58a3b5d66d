"""The support matrix as one HTML page: backend by operator by family; cells that are not green give the reason."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date
from html import escape

from adinterface.tools.facts import operations

from .checks import CHECKS
from .outcome import Outcome
from .runner import Run

_MARKS = {"passed": "✓", "known": "!", "failed": "✗", "unexpected": "?"}
_WORDS = {
    "passed": "every check passes",
    "known": "fails as the backend says it does",
    "failed": "fails",
    "unexpected": "is listed as a known failure, but passes",
}
#: The worst first.
_ORDER = ("failed", "unexpected", "known", "passed")


def page(run: Run) -> str:
    """The page as text."""
    body = [_head(run), _summary(run), _matrix(run), _checks(run)]
    title = "adinterface conformance"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n"
    )


def _head(run: Run) -> str:
    versions = " · ".join(f"{escape(name)} {escape(version)}" for name, version in run.versions.items())
    legend = "".join(f'<li><i class="{status}">{_MARKS[status]}</i> {words}</li>' for status, words in _WORDS.items())
    return (
        f"<header><h1>What each engine can do</h1>\n"
        f"<p>{len(run.outcomes):,} checks of {run.scenarios} scenarios on {len(run.backends)} backends in {run.seconds:.0f} "
        f"seconds, {date.today():%d %B %Y}.</p>\n<p class=dim>{versions}</p>\n<ul class=legend>{legend}</ul></header>"
    )


def _summary(run: Run) -> str:
    cards = []
    for backend in run.backends:
        counts = run.counts(backend)
        total = sum(counts.values())
        bar = "".join(
            f'<span class="{status}" style="flex:{counts[status]}"></span>' for status in reversed(_ORDER) if counts[status]
        )
        words = ", ".join(f"{counts[status]:,} {status}" for status in reversed(_ORDER) if counts[status])
        green = math.floor(1000 * counts["passed"] / max(total, 1)) / 10
        seconds = sum(outcome.seconds for outcome in run.outcomes if outcome.backend == backend)
        cards.append(
            f"<section><h2>{escape(backend)}</h2><p><b>{green} %</b> green</p>"
            f"<div class=bar>{bar}</div><p class=dim>{words}<br>{seconds:.0f} seconds</p></section>"
        )
    return f"<div class=cards>{''.join(cards)}</div>"


def _matrix(run: Run) -> str:
    cells: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in run.outcomes:
        cells.setdefault((outcome.family, outcome.operator, outcome.backend), []).append(outcome)
    families = list(dict.fromkeys(outcome.family for outcome in run.outcomes))
    heads = "".join(f"<th scope=col>{escape(backend)}</th>" for backend in run.backends)
    names = [operation.name for operation in operations()]
    groups = []
    for family in families:
        operators = [name for name in names if any((family, name, backend) in cells for backend in run.backends)]
        rows = []
        for n, operator in enumerate(operators):
            first = f'<th scope=rowgroup rowspan="{len(operators)}">{escape(family)}</th>' if n == 0 else ""
            inside = "".join(_cell(cells.get((family, operator, backend), [])) for backend in run.backends)
            rows.append(f"<tr>{first}<th scope=row><code>{operator}</code></th>{inside}</tr>")
        groups.append(f"<tbody>{''.join(rows)}</tbody>")
    return (
        f"<h2>By family and operator</h2>\n<p class=dim>A number is that of the scenarios in which every check passes.</p>\n"
        f"<table class=matrix><thead><tr><th scope=col>family</th><th scope=col>operator</th>{heads}</tr></thead>\n"
        + "\n".join(groups)
        + "</table>"
    )


def _cell(outcomes: list[Outcome]) -> str:
    if not outcomes:
        return '<td class="none">&mdash;</td>'
    worst = next(status for status in _ORDER if any(outcome.status == status for outcome in outcomes))
    scenarios = {outcome.scenario for outcome in outcomes}
    broken = {outcome.scenario for outcome in outcomes if outcome.status != "passed"}
    count = f"{len(scenarios)}" if not broken else f"{len(scenarios) - len(broken)} of {len(scenarios)}"
    return f'<td class="{worst}"><i>{_MARKS[worst]}</i> {count}{_reasons(outcomes)}</td>'


def _reasons(outcomes: list[Outcome]) -> str:
    """Why a cell is not green: each reason once, with the scenarios and checks that it concerns."""
    concerning: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status != "passed":
            text = outcome.reason if outcome.status != "failed" else outcome.message
            concerning.setdefault((outcome.status, text, outcome.link), []).append(outcome)
    items = []
    for (status, text, link), concerned in concerning.items():
        names = sorted({outcome.scenario.partition("/")[2] for outcome in concerned})
        checks = Counter(outcome.check for outcome in concerned)
        where = escape(", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else ""))
        shown = escape(text if len(text) <= 240 else f"{text[:237]}...")
        source = f' <a href="{escape(link, quote=True)}">source</a>' if link.startswith(("http://", "https://")) else ""
        hint = escape(", ".join(f"{check} ({count})" if count > 1 else check for check, count in checks.items()), quote=True)
        items.append(f'<li class="{status}" title="{hint}">{shown}{source}<small>{where}</small></li>')
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _checks(run: Run) -> str:
    heads = "".join(f"<th scope=col>{escape(backend)}</th>" for backend in run.backends)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for outcome in run.outcomes:
        counts.setdefault((outcome.check, outcome.backend), Counter())[outcome.status] += 1
    rows = []
    for name, check in CHECKS.items():
        cells = []
        for backend in run.backends:
            count = counts.get((name, backend), Counter())
            worst = next((status for status in _ORDER if count[status]), "none")
            cells.append(f'<td class="{worst}">{_count(count)}</td>')
        rows.append(f"<tr><th scope=row><code>{name}</code><small>{escape(check.summary)}</small></th>{''.join(cells)}</tr>")
    return (
        f"<h2>By check</h2>\n<table class=matrix><thead><tr><th scope=col>check</th>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _count(count: Counter[str]) -> str:
    total = sum(count.values())
    if not total:
        return "&mdash;"
    return f"{total:,}" if count["passed"] == total else f"{count['passed']:,} of {total:,}"


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --dim: #667085; --paper: #fff; --line: #e4e7ec; --wash: #f7f8fa;
  --passed: #e7f6ec; --passed-ink: #17703b; --known: #fff4dc; --known-ink: #8a5a00; --failed: #fde8e6;
  --failed-ink: #b3261e; --unexpected: #f3e8fd; --unexpected-ink: #6b2fa0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --dim: #98a2b3; --paper: #14171d; --line: #2b313b;
  --wash: #1b1f27; --passed: #14301f; --passed-ink: #7fd6a0; --known: #38290c; --known-ink: #f2c46d; --failed: #3d1816;
  --failed-ink: #ff9d94; --unexpected: #2e1a40; --unexpected-ink: #d3a8f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.02em; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .4rem; }
p { margin: .2rem 0; } a { color: inherit; }
.dim, small { color: var(--dim); } small { display: block; font-size: .8rem; font-weight: 400; }
code { font: .86em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; padding: 0; margin: 1rem 0 0; font-size: .9rem; }
i { font-style: normal; font-weight: 700; } .legend i { display: inline-block; width: 1.5rem; height: 1.5rem;
  line-height: 1.5rem; text-align: center; border-radius: 4px; margin-right: .3rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 1rem; margin-top: 1.6rem; }
.cards section { border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.1rem; background: var(--wash); }
.cards h2 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; } .cards b { font-size: 1.5rem; }
.bar { display: flex; height: 6px; border-radius: 3px; overflow: hidden; margin: .4rem 0; gap: 2px; }
.bar span { min-width: 4px; background: currentColor; }
.matrix { border-collapse: collapse; width: 100%; margin-top: .8rem; font-size: .9rem; }
.matrix th, .matrix td { border-bottom: 1px solid var(--line); padding: .35rem .7rem; text-align: left; vertical-align: top; }
.matrix thead th { position: sticky; top: 0; background: var(--paper); border-bottom: 2px solid var(--line); z-index: 1; }
.matrix tbody th { font-weight: 500; } .matrix tbody th[scope=rowgroup] { font-weight: 650; }
.matrix tbody { border-top: 2px solid var(--line); } .matrix td { min-width: 9rem; }
.matrix ul { list-style: none; margin: .3rem 0 .2rem; padding: 0; font-size: .84rem; }
.matrix li { margin: .3rem 0; overflow-wrap: anywhere; }
.passed { background: var(--passed); color: var(--passed-ink); } .known { background: var(--known); color: var(--known-ink); }
.failed { background: var(--failed); color: var(--failed-ink); } .none { color: var(--dim); }
.unexpected { background: var(--unexpected); color: var(--unexpected-ink); }
li.failed, li.known, li.unexpected { background: none; }
.bar .passed { background: var(--passed-ink); } .bar .known { background: var(--known-ink); }
.bar .failed { background: var(--failed-ink); } .bar .unexpected { background: var(--unexpected-ink); }
@media (max-width: 700px) { main { padding: 1.2rem .6rem; } .matrix { display: block; overflow-x: auto; } }
@media print { .matrix thead th { position: static; } }
"""
