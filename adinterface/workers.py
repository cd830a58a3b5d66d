"""Tasks on the workers of an executor: threads, processes, or machines.

Every evaluation of f, or every part of a derivative, is a task of its own kind, so that results do not depend on how many
workers there are. A task holds f itself and its arguments, which is all that a process must be able to unpickle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

#: What code in Python raises where arrays would be NaN: `math.log(-1.0)`, `1 / 0.0`, a matrix that has no Cholesky
#: factor; NumPy's own warnings where they are errors.
OUTSIDE = (ArithmeticError, ValueError, RuntimeWarning)

#: In how many pieces the evaluations of one round are handed out at most; few evaluations go one by one.
PIECES = 64


class Task(NamedTuple):
    """What a worker calls."""

    call: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any] = MappingProxyType({})


class Outside(NamedTuple):
    """In place of a result: f raised an error that it may raise outside its domain."""

    error: Exception


def run_all(executor: Any, tasks: Sequence[Task]) -> Iterator[Any]:
    """The results, in the order of the tasks. What a task raises is raised, and what has not begun is cancelled."""
    size = max(1, -(-len(tasks) // PIECES))
    pieces = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    packed = [[(task.call, tuple(task.args), dict(task.kwargs)) for task in piece] for piece in pieces]
    for results in _mapped(executor, packed):
        yield from results


def _run(piece: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]) -> list[Any]:
    """On a worker."""
    results: list[Any] = []
    for call, args, kwargs in piece:
        try:
            results.append(call(*args, **kwargs))
        except OUTSIDE as error:
            results.append(Outside(error))
    return results


def _mapped(executor: Any, packed: list[Any]) -> Iterator[list[Any]]:
    if hasattr(executor, "get_executor"):  # a dask client, whose own futures are remembered by what they compute
        executor = executor.get_executor(pure=False)
    if hasattr(executor, "submit"):
        futures = [executor.submit(_run, piece) for piece in packed]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
    elif hasattr(executor, "n_jobs"):  # joblib's Parallel takes functions with their arguments
        yield from executor((_run, (piece,), {}) for piece in packed)
    else:
        mapping = executor.map if hasattr(executor, "map") else executor
        yield from mapping(_run, packed)
