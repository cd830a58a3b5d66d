"""Processes that run scenarios for the runner.

One that crashes, or takes too long, costs its own scenario alone.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class EndedError(Exception):
    """The process of a piece of work ended, or was ended, before it had a result."""


def results_of(
    pieces: Sequence[T], work: Callable[[T], R], jobs: int, limit: float | None
) -> Iterator[tuple[T, R | EndedError | BaseException]]:
    """Each piece with its result, or with the error that it raised, as they come.

    work: a function that can be pickled. jobs: how many processes. limit: the seconds after which a
    piece is given up.
    """
    waiting: queue.SimpleQueue[T] = queue.SimpleQueue()
    for piece in pieces:
        waiting.put(piece)
    finished: queue.SimpleQueue[tuple[T, Any]] = queue.SimpleQueue()
    processes = [_Process(work) for _ in range(min(jobs, len(pieces)))]
    threads = [
        threading.Thread(target=_serve, args=(each, waiting, finished, limit), daemon=True)
        for each in processes
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in pieces:
            yield finished.get()
    finally:  # also where an error, or the user, ends the run
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        for process in processes:
            process.end()
        for thread in threads:
            thread.join()


def _serve(
    process: _Process,
    waiting: queue.SimpleQueue[T],
    finished: queue.SimpleQueue[Any],
    limit: float | None,
) -> None:
    """Hand pieces to a process, one after the other."""
    with contextlib.suppress(queue.Empty):
        while True:
            piece = waiting.get_nowait()
            try:
                finished.put((piece, process.result(piece, limit)))
            except Exception as error:
                # the piece cannot be pickled, say; raised again by the runner
                finished.put((piece, error))


class _Process:
    """A process that is started when it is needed, and again where it has ended."""

    def __init__(self, work: Callable[[Any], Any]):
        self._work = work
        self._process: Any = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_run, args=(there, self._work), daemon=True)
        self._process.start()
        there.close()

    def result(self, piece: Any, limit: float | None) -> Any:
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            self._here.send(piece)
            if self._here.poll(limit):
                return self._here.recv()
            self.end()
            return EndedError(f"took longer than {limit:g} s, and was ended")
        except (EOFError, OSError):
            self._process.join()
            return EndedError(
                f"the process ended with exit code {self._process.exitcode}, without a Python error"
            )

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()


def _run(there: Connection, work: Callable[[Any], Any]) -> None:
    while True:
        piece = there.recv()
        try:
            result = work(piece)
        except Exception as error:  # raised again in the process of the runner
            result = error
        there.send(result)
