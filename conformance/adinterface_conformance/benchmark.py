"""`python -m adinterface_conformance benchmark`: what a call costs beside hand-written engine code.

Ours and hand-written code (`Backend.handwritten`) run interleaved in one process; a ratio is the median over pairs of
runs, its spread the quartiles. Peak memory is that of a fresh process each, since engines allocate outside Python.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoBackend, array_namespace, registry
from adinterface.backend import gives

from .scenario import Scenario

Build = Callable[[int], tuple[Callable[..., Any], tuple[Any, ...]]]


@dataclass(frozen=True)
class Cell:
    """One function at several sizes."""

    name: str
    operator: str
    build: Build
    sizes: tuple[int, ...]
    #: Sizes up to which an engine without reverse mode is asked, since it evaluates f once for each number.
    forward_limit: int = 1000
    #: How the operator is called on a function, where that takes more than the arguments.
    call: Callable[[AutoBackend, Callable[..., Any]], Any] | None = None


@dataclass(frozen=True)
class Timing:
    """One measured cell."""

    cell: str
    operator: str
    backend: str
    size: int
    #: Seconds of the first call, of later calls, of hand-written code; the ratio of the two with its quartiles.
    first: float
    ours: float
    handwritten: float | None
    ratio: float | None
    quartiles: tuple[float, float] | None
    #: Peak memory above that of the imports and arguments, in bytes; None unless asked for.
    memory: int | None = None
    handwritten_memory: int | None = None
    #: How often our call evaluates f.
    evaluations: int = 0


def _sum_of_sines(n: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def f(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.sum(xp.sin(x) * x**2)

    return f, (np.random.default_rng(0).normal(size=n),)


def _sum_of_sines_and_direction(n: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    f, (x,) = _sum_of_sines(n)
    return f, (x, np.random.default_rng(1).normal(size=n))


def _tree_of_six(n: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def f(tree: Any) -> Any:
        xp = array_namespace(*tree.values())
        return sum(xp.sum(xp.sin(leaf)) for leaf in tree.values())

    rng = np.random.default_rng(0)
    return f, ({name: rng.normal(size=n) for name in "abcdef"},)


def _layers(inputs: int, hidden: int, outputs: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    first = rng.normal(size=(hidden, inputs)) / inputs**0.5
    second = rng.normal(size=(outputs, hidden)) / hidden**0.5

    def f(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.tanh(xp.asarray(second) @ xp.tanh(xp.asarray(first) @ x))

    return f, (rng.normal(size=inputs),)


CELLS = (
    Cell("array", "gradient", _sum_of_sines, (10, 10_000, 1_000_000)),
    Cell("tree of six", "value_and_gradient", _tree_of_six, (10, 10_000), forward_limit=10),
    Cell("wide: R^n -> R^10", "jacobian", lambda n: _layers(n, 512, 10), (1000,)),
    Cell("tall: R^10 -> R^n", "jacobian", lambda n: _layers(10, 512, n), (1000,)),
    Cell("array", "hvp", _sum_of_sines_and_direction, (10, 10_000, 1_000_000), forward_limit=10),
    Cell("array", "hessian", _sum_of_sines, (10, 300), forward_limit=10),
)


def backends() -> list[AutoBackend]:
    """The built-in backends whose engine is installed."""
    found: list[AutoBackend] = []
    for cls in adinterface.auto.BUILT_IN:
        try:
            registry.find(cls())
        except adinterface.MissingEngineError:
            continue
        found.append(cls())
    return found


def cells_of(pattern: str) -> list[Cell]:
    """The scenarios of this name pattern as cells, each at the size that it has."""
    from .case import Case
    from .scenarios import SCENARIOS

    def build(scenario: Scenario) -> Build:
        # A scenario knows its seeds, tangents and keywords; hand-written code exists for plain calls only.
        plain = scenario.seed is None and scenario.tangents is None and not scenario.kwargs
        args = scenario.args if plain and all(isinstance(arg, np.ndarray) for arg in scenario.args) else ()
        return lambda n: (scenario.f, args)

    def call(scenario: Scenario) -> Callable[[AutoBackend, Callable[..., Any]], Any]:
        return lambda backend, f: Case(scenario, backend).apply(scenario.operator, f)

    return [
        Cell(scenario.name, scenario.operator.__name__, build(scenario), (_numbers(scenario.args),), call=call(scenario))
        for scenario in SCENARIOS
        if fnmatchcase(scenario.name, pattern)
    ]


def _numbers(tree: Any) -> int:
    """How many numbers an argument holds, as far as plain containers show."""
    if isinstance(tree, dict):
        return sum(_numbers(child) for child in tree.values())
    return sum(_numbers(child) for child in tree) if isinstance(tree, (tuple, list)) else int(np.size(tree))


def measure(cell: Cell, backend: AutoBackend, size: int, seconds: float) -> Timing:
    """Time one cell for about so many seconds."""
    f, args = cell.build(size)
    ours = _ours(cell, backend, f, args)
    handwritten = registry.backend_class(backend.name).handwritten(cell.operator, f, args) if args else None
    first = _time(ours)
    evaluations = _evaluations(cell, backend, f, args)
    if handwritten is not None:
        handwritten()
    pairs: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(pairs) < 5 or (time.perf_counter() - start < seconds and len(pairs) < 1000):
        pairs.append((_time(ours), _time(handwritten) if handwritten is not None else float("nan")))
    later = statistics.median(pair[0] for pair in pairs)
    if handwritten is None:
        return Timing(cell.name, cell.operator, repr(backend), size, first, later, None, None, None, evaluations=evaluations)
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    low, middle, high = statistics.quantiles(ratios, n=4)
    by_hand = statistics.median(pair[1] for pair in pairs)
    quartiles = (low, high)
    return Timing(
        cell.name, cell.operator, repr(backend), size, first, later, by_hand, middle, quartiles, evaluations=evaluations
    )


def _ours(cell: Cell, backend: AutoBackend, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any]:
    if cell.call is not None:
        call = cell.call
        return lambda: call(backend, f)
    operator = getattr(adinterface, cell.operator)
    return lambda: operator(f, backend, *args)


def _evaluations(cell: Cell, backend: AutoBackend, f: Callable[..., Any], args: tuple[Any, ...]) -> int:
    count = 0

    def counted(*inner: Any, **keywords: Any) -> Any:
        nonlocal count
        count += 1
        return f(*inner, **keywords)

    _ours(cell, backend, counted, args)()
    return count


def _time(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _peak(cell: Cell, backend: AutoBackend, size: int, ours: bool) -> int | None:
    """Bytes by which one call raises the peak memory of a fresh process; a small call has gone before."""
    arguments = [str(CELLS.index(cell)), type(backend).__name__, str(size), str(int(ours))]
    command = [sys.executable, "-m", "adinterface_conformance.benchmark", "--peak", *arguments]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return int(printed) if printed else None


def _print_peak(index: str, name: str, size: str, ours: str) -> None:
    cell, backend = CELLS[int(index)], getattr(adinterface, name)()

    def build(n: int) -> Callable[[], Any] | None:
        f, args = cell.build(n)
        if int(ours):
            return _ours(cell, backend, f, args)
        return registry.backend_class(backend.name).handwritten(cell.operator, f, args)

    small, call = build(10), build(int(size))
    if small is None or call is None:
        return
    small()
    before = _high_water()
    call()
    print(_high_water() - before)


def _high_water() -> int:
    """The peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux: `getrusage` would count the parent's memory, which survives fork and exec
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main(argv: list[str] | None = None) -> int:
    """Measure, print a table, and write JSON and a picture if asked."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["--peak"]:
        _print_peak(*argv[1:])
        return 0
    parser = argparse.ArgumentParser(prog="python -m adinterface_conformance benchmark", description=__doc__)
    parser.add_argument("--backend", action="append", help="a backend's class, by its name; by default all")
    parser.add_argument("--operator", action="append", help="an operator's name, such as hvp; all by default")
    parser.add_argument("--scenario", help="measure the scenarios of this name pattern (with *) instead of the cells")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to measure each cell (default: 1)")
    parser.add_argument("--max-size", type=int, default=1_000_000, help="leave out larger sizes")
    parser.add_argument("--memory", action="store_true", help="also measure peak memory, in two fresh processes a cell")
    parser.add_argument("--json", help="write the measurements to this file")
    parser.add_argument("--plot", help="draw time against size to this PNG file (needs matplotlib)")
    options = parser.parse_args(argv)
    timings: list[Timing] = []
    print(f"{'cell':20} {'operator':18} {'backend':24} {'n':>8} {'calls':>6} {'first':>10} {'ours':>10} {'by hand':>10}  ratio")
    for cell in cells_of(options.scenario) if options.scenario else CELLS:
        for backend in backends():
            name = type(backend).__name__
            if options.operator and cell.operator not in options.operator:
                continue
            if options.backend and name not in options.backend:
                continue
            reverse = cell.call is not None or gives(registry.find(backend), "pullback")
            for size in cell.sizes:
                if size > options.max_size or not (reverse or size <= cell.forward_limit):
                    continue
                timing = measure(cell, backend, size, options.seconds)
                if options.memory and cell in CELLS:
                    mine, by_hand = (_peak(cell, backend, size, ours) for ours in (True, False))
                    timing = replace(timing, memory=mine, handwritten_memory=by_hand)
                timings.append(timing)
                print(_row(cell, name, timing), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(timing) for timing in timings], file, indent=1)
    if options.plot:
        plot(timings, options.plot)
    return 0


def _row(cell: Cell, name: str, timing: Timing) -> str:
    by_hand = "-" if timing.handwritten is None else _duration(timing.handwritten)
    ratio = ""
    if timing.ratio is not None and timing.quartiles is not None:
        ratio = f"{timing.ratio:.2f} ({timing.quartiles[0]:.2f} to {timing.quartiles[1]:.2f})"
    if timing.memory is not None and timing.handwritten_memory:
        ratio += f", memory {timing.memory / 2**20:.0f} MiB, {timing.memory / timing.handwritten_memory:.2f} of by hand"
    return (
        f"{cell.name:20} {cell.operator:18} {name:24} {timing.size:>8} {timing.evaluations:>6} {_duration(timing.first):>10} "
        f"{_duration(timing.ours):>10} {by_hand:>10}  {ratio}"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def plot(timings: list[Timing], file: str) -> None:
    """Time against size on log axes, one panel for each cell with several sizes; hand-written code dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cells = dict.fromkeys((t.operator, t.cell) for t in timings)
    panels = [panel for panel in cells if len({t.size for t in timings if (t.operator, t.cell) == panel}) > 1]
    figure, axes = pyplot.subplots(1, max(1, len(panels)), figsize=(5.5 * max(1, len(panels)), 4.2), squeeze=False)
    for axis, panel in zip(axes[0], panels):
        shown = [t for t in timings if (t.operator, t.cell) == panel]
        names = list(dict.fromkeys(t.backend for t in shown))
        for color, name in zip(matplotlib.colormaps["tab10"].colors, names):  # type: ignore[attr-defined]
            mine = sorted((t for t in shown if t.backend == name), key=lambda t: t.size)
            axis.loglog([t.size for t in mine], [t.ours for t in mine], "o-", color=color, label=name.partition("(")[0])
            by_hand = [t for t in mine if t.handwritten is not None]
            axis.loglog([t.size for t in by_hand], [t.handwritten for t in by_hand], "x--", color=color)
        axis.set(title=": ".join(panel), xlabel="n", ylabel="seconds for one call")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(title="dashed: by hand", fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    sys.exit(main())
