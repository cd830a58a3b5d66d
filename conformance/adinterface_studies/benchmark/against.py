"""The time of a call here and in another revision: a process for each, which measure in turn.

The process of the other revision imports everything but this file from there. So nothing here is
imported before it is known which revision the process measures.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).resolve().parents[3]
#: How often the two measure in turn.
ROUNDS = 10
#: Seconds of one run of short calls.
RUN = 1e-3


class RevisionError(Exception):
    """There is no such revision."""


def table(revision: str, argv: Sequence[str], seconds: float) -> Iterator[str]:
    """Lines: time here over time there, as median of the rounds with quartiles, and of the fastest
    runs.

    revision: of git, such as `main~3`, or the folder of another checkout. argv: options that choose
    rows. seconds: of each row.

    Raises RevisionError.
    """
    with ExitStack() as stack:
        there = stack.enter_context(_checkout(revision))
        both = [stack.enter_context(_process(folder, argv)) for folder in (HERE, there)]
        rows, others = ({tuple(row) for row in json.loads(_line(each))} for each in both)
        yield (
            f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'here':>9}"
            f" {'there':>9}  ratio"
        )
        for row in sorted(rows & others, key=str):
            pairs = []
            for turn in range(ROUNDS):
                pair = {}
                for each in both if turn % 2 else both[::-1]:
                    pair[each] = _ask(each, [row, seconds / (2 * ROUNDS)])
                pairs.append([pair[each] for each in both])
            yield _formatted(row, pairs)


def _formatted(row: Sequence[Any], pairs: Sequence[Sequence[tuple[float, float]]]) -> str:
    """pairs: for each round the median and the smallest time, here and there."""
    ratios = [here[0] / there[0] for here, there in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    here, there = (min(fastest for _, fastest in times) for times in zip(*pairs))
    cell, leaf, operator, backend, way, size = row
    return (
        f"{cell:18} {leaf:7} {operator:18} {backend:12} {way:8} {size:>8} {here * 1e6:>6.1f} us"
        f" {there * 1e6:>6.1f} us  {middle:.3f} ({low:.3f} to {high:.3f}), fastest"
        f" {here / there:.3f}"
    )


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision, which is removed afterwards unless it was there."""
    if (Path(revision) / "adinterface").is_dir():
        yield Path(revision).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["git", "archive", revision], cwd=HERE, capture_output=True, check=False
        )
        if packed.returncode:
            raise RevisionError(
                f"{revision}: git finds no such revision, and no checkout is there."
                f" {packed.stderr.decode()}"
            )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        yield Path(folder)


@contextmanager
def _process(folder: Path, argv: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that measures what it is asked for with the sources in a folder."""
    paths = [str(folder / part) for part in ("", "backends", "conformance")]
    command = [sys.executable, "-P", __file__, json.dumps(paths), *argv]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        _pipe(process.stdin).close()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _line(process: subprocess.Popen[str]) -> str:
    line = _pipe(process.stdout).readline()
    if not line:
        raise RevisionError(
            f"The process of a revision ended ({process.wait()}); its error is above."
        )
    return line


def _ask(process: subprocess.Popen[str], question: Any) -> Any:
    stdin = _pipe(process.stdin)
    stdin.write(json.dumps(question) + "\n")
    stdin.flush()
    return json.loads(_line(process))


def _serve(argv: Sequence[str]) -> None:
    """Write the rows, then answer each question, a row and seconds, with the median and the
    smallest time of a call.
    """
    report, timing = (
        import_module(f"adinterface_studies.benchmark.{name}") for name in ("report", "timing")
    )
    command = import_module("adinterface_studies.benchmark.command")
    rows = {}
    for row in command.wanted(command.parser().parse_args(argv)):
        cell, auto, operator, size, way = row
        rows[cell.name, cell.leaf, operator, report.short(repr(auto)), way, size] = row
    print(json.dumps(list(rows)), flush=True)
    current, call, repeats = None, None, 1
    for line in sys.stdin:
        key, seconds = json.loads(line)
        if key != current:
            current, call = key, timing.Calls(*rows[tuple(key)]).ours()
            for _ in range(3):  # compilers may look at a second call once more
                once = _timed(call, 1)
            repeats = max(1, min(200, round(RUN / once)))
        times, start = [_timed(call, repeats)], time.perf_counter()
        while time.perf_counter() - start < seconds:
            times.append(_timed(call, repeats))
        print(json.dumps([statistics.median(times), min(times)]), flush=True)


def _timed(call: Any, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


if __name__ == "__main__":
    sys.path[:0] = json.loads(sys.argv[1])
    _serve(sys.argv[2:])
