"""The time of a call here and in another revision: a process for each, which measure in turn.

Both processes run the benchmark of this checkout, on the library of their own revision.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .timing import HEAD, Calls, Row, repeats_of, seconds_of, words

HERE = Path(__file__).resolve().parents[3]
#: How often the two measure in turn.
ROUNDS = 10


class RevisionError(Exception):
    """There is no such revision, or it does not start."""


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
        rows, others = (json.loads(_line(each)) for each in both)
        yield f"{HEAD.partition(' calls')[0].rstrip()} {'here':>9} {'there':>9}  ratio"
        for row in rows:
            if row not in others:
                continue
            rounds = []
            for turn in range(ROUNDS):
                order = -1 if turn % 2 else 1
                question = [row, seconds / (2 * ROUNDS)]
                rounds.append([_ask(each, question) for each in both[::order]][::order])
            ratios = [here[0] / there[0] for here, there in rounds]
            low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
            best, other = (min(fastest for _, fastest in times) for times in zip(*rounds))
            yield (
                f"{row} {best * 1e6:>6.1f} us {other * 1e6:>6.1f} us  {middle:.3f}"
                f" ({low:.3f} to {high:.3f}), fastest {best / other:.3f}"
            )


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision, which is removed afterwards unless it was there."""
    if (Path(revision) / "adinterface").is_dir():
        yield Path(revision).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "archive", revision]
        packed = subprocess.run(command, cwd=HERE, capture_output=True, check=False)
        if packed.returncode:
            raise RevisionError(
                f"{revision}: git finds no such revision, and no checkout is there."
                f" {packed.stderr.decode()}"
            )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        yield Path(folder)


@contextmanager
def _process(folder: Path, argv: Sequence[str]) -> Iterator[Any]:
    """A process that measures what it is asked for with the library in a folder."""
    paths = [folder, folder / "backends", HERE / "conformance"]
    command = [sys.executable, "-P", "-m", "adinterface_studies", "benchmark", "--serve", *argv]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _line(process: Any) -> str:
    line: str = process.stdout.readline()
    if not line:
        ended = process.wait()
        raise RevisionError(f"The process of a revision ended ({ended}); its error is above.")
    return line


def _ask(process: Any, question: Any) -> Any:
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    return json.loads(_line(process))


def serve(wanted: Iterable[Row]) -> None:
    """Write the rows, then answer each question, a row and seconds, with the median and the
    smallest time of a call.
    """
    rows = {words(row): row for row in wanted}
    print(json.dumps([*rows]), flush=True)
    current, call, repeats = None, None, 1
    for line in sys.stdin:
        key, seconds = json.loads(line)
        if key != current:
            current, call = key, Calls(*rows[key]).ours()
            for _ in range(3):  # compilers may look at a second call once more
                once = seconds_of(call, 1)
            repeats = repeats_of(once)
        assert call is not None
        times, start = [seconds_of(call, repeats)], time.perf_counter()
        while time.perf_counter() - start < seconds:
            times.append(seconds_of(call, repeats))
        print(json.dumps([statistics.median(times), min(times)]), flush=True)
