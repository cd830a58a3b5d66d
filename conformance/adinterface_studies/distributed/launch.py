"""Processes of one program on this machine, bounded in time: none outlives the call, whatever
happens to the others.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import socket
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

#: How long the others may take to notice that one of them is gone.
GRACE = 20.0


class Member(NamedTuple):
    """One process of a group, as its program sees itself."""

    rank: int
    size: int
    #: Where the group meets: a free port on the loopback device.
    address: str


class Report(NamedTuple):
    """What became of one process: the result of its program, or why there is none."""

    rank: int
    result: Any = None
    error: str = ""


def together(
    program: Callable[..., Any],
    count: int,
    *args: Any,
    seconds: float = 60.0,
    imported: Sequence[str] = (),
) -> list[Report]:
    """Run `program(member, *args)` in `count` processes, and report on each, in the order of ranks.

    program: a function of a module. seconds: when it is over for all. imported: modules that are
    imported once, for all processes together, where the system can fork; they must start no
    threads.
    """
    shared = bool(imported) and "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if shared else "spawn")
    if shared:
        context.set_forkserver_preload([*imported])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    deadline = time.monotonic() + seconds
    members: list[tuple[Any, Connection]] = []
    try:
        for rank in range(count):
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(  # type: ignore[attr-defined]
                target=_run, args=(program, Member(rank, count, address), args, theirs), daemon=True
            )
            process.start()
            theirs.close()
            members.append((process, mine))
        return _collected(members, deadline)
    finally:
        for process, mine in members:
            process.kill()
            process.join()
            mine.close()


def _collected(members: Sequence[tuple[Any, Connection]], deadline: float) -> list[Report]:
    found: dict[int, Report] = {}
    while len(found) < len(members) and (left := deadline - time.monotonic()) > 0:
        waiting: dict[Any, int] = {
            mine: rank for rank, (_, mine) in enumerate(members) if rank not in found
        }
        for ready in wait(list(waiting), timeout=left):
            rank = waiting[ready]
            try:
                found[rank] = members[rank][1].recv()
            except EOFError:
                process = members[rank][0]
                process.join()
                found[rank] = Report(
                    rank, error=f"The process ended by itself, with exit code {process.exitcode}."
                )
                deadline = min(deadline, time.monotonic() + GRACE)
    late = "The process did not end in time, and was killed."
    return [found.get(rank, Report(rank, error=late)) for rank in range(len(members))]


def _run(
    program: Callable[..., Any], member: Member, args: tuple[Any, ...], results: Connection
) -> None:
    threading.Thread(
        target=_end_with, args=(multiprocessing.parent_process(),), daemon=True
    ).start()
    try:
        report = Report(member.rank, program(member, *args))
    except Exception:
        report = Report(member.rank, error=traceback.format_exc())
    with contextlib.suppress(BrokenPipeError):
        results.send(report)
    results.close()


def _end_with(parent: Any) -> None:
    """A process whose parent was killed ends, too."""
    wait([parent.sentinel])
    os._exit(1)


__all__ = ["Member", "Report", "together"]
