"""Tasks on the workers of an executor: threads, processes, or machines.

Every evaluation of f is one task, so that results do not depend on the number of workers. A task
holds f itself and its arguments, and a process needs to unpickle only these.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Context, ContextVar, copy_context
from operator import call
from types import MappingProxyType
from typing import Any, NamedTuple

from ..core.contract.errors import PrecisionError
from ..core.support.ambient import within

#: What Python code raises where arrays would be NaN: `math.log(-1.0)`, `1 / 0.0`, a matrix without
#: a Cholesky factor; and
#: NumPy warnings that are errors.
OUTSIDE = (ArithmeticError, ValueError, RuntimeWarning)

#: The largest number of pieces per round of evaluations; few evaluations are sent one by one.
PIECES = 64


#: The `id` of each executor whose worker waits for the running code.
_waiting: ContextVar[frozenset[int]] = ContextVar("adinterface.workers", default=frozenset())


class Task(NamedTuple):
    """A function and its arguments, for a worker."""

    call: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any] = MappingProxyType({})


class Outside(NamedTuple):
    """Replaces a result: f raised an error that may mean that it left its domain."""

    error: Exception


def run_all(executor: Any, tasks: Sequence[Task]) -> Iterator[Any]:
    """The results, in the order of the tasks.

    Raises what a task raises, and cancels the tasks that have not begun.
    """
    from concurrent.futures import ThreadPoolExecutor  # here, because it loads six modules

    size = max(1, -(-len(tasks) // PIECES))
    stays, busy = isinstance(executor, ThreadPoolExecutor), _waiting.get() | {id(executor)}
    pieces = [
        _Piece(tasks[start : start + size], stays, busy) for start in range(0, len(tasks), size)
    ]
    if busy == _waiting.get() or _is_thread_of(executor):
        # A worker of this executor waits for the results. If all workers wait, no task can begin,
        # so the task runs here.
        for piece in pieces:
            yield from piece.results()
        return
    for results, dtypes in _mapped(executor, pieces):
        _require_dtypes(results, dtypes)
        yield from results


def _is_thread_of(executor: Any) -> bool:
    """Whether this is a thread of the executor.

    Found by the thread's name: the executor records a thread a little after the thread begins to
    work.
    """
    prefix = getattr(executor, "_thread_name_prefix", None)
    return bool(prefix) and threading.current_thread().name.startswith(f"{prefix}_")


class _Piece:
    """Tasks that a worker runs one after the other."""

    def __init__(self, tasks: Sequence[Task], stays: bool, busy: frozenset[int]):
        #: The executors that wait for these tasks, including the one that runs them.
        self.busy = busy
        self.tasks = [(task.call, tuple(task.args), dict(task.kwargs)) for task in tasks]
        self.dtypes = None if stays else _dtypes(self.tasks)
        #: The context of the call, in which a thread runs the tasks: it may be inside f of another
        #: call.
        self.context: Context | None = copy_context()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"context": None}

    def __call__(self) -> tuple[list[Any], list[str] | None]:
        """On a worker: the results, and their dtypes if they go to another process."""
        _require_dtypes(self.tasks, self.dtypes)
        results = self._waited() if self.context is None else self.context.run(self._waited)
        return results, None if self.dtypes is None else _dtypes(results)

    def _waited(self) -> list[Any]:
        with within(_waiting, _waiting.get() | self.busy):
            return self.results()

    def results(self) -> list[Any]:
        results: list[Any] = []
        for function, args, kwargs in self.tasks:
            try:
                results.append(function(*args, **kwargs))
            except OUTSIDE as error:
                results.append(Outside(error))
        return results


def _dtypes(x: Any) -> list[str]:
    """The dtypes of all arrays in x, as far as they can be found without a plan."""
    if isinstance(x, (tuple, list)):
        return [dtype for part in x for dtype in _dtypes(part)]
    if isinstance(x, dict):
        return _dtypes([*x.values()])
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return _dtypes([getattr(x, field.name, None) for field in dataclasses.fields(x)])
    return [str(x.dtype)] if hasattr(x, "dtype") and not isinstance(x, type) else []


def _require_dtypes(x: Any, sent: list[str] | None) -> None:
    """Refuse arrays that another process reads in another precision."""
    if sent is not None and (read := _dtypes(x)) != sent:
        before, after = next((pair for pair in zip(sent, read) if pair[0] != pair[1]), (sent, read))
        raise PrecisionError(
            f"An array of dtype {before} went to another process, or came from it, which reads it"
            f" as {after}, as an engine does whose 64 bits are switched off there. Switch them on,"
            " here and for the workers, or pass NumPy arrays."
        )


def _mapped(executor: Any, packed: list[_Piece]) -> Iterator[tuple[list[Any], list[str] | None]]:
    # a dask client, which caches its own futures by their computation
    if hasattr(executor, "get_executor"):
        executor = executor.get_executor(pure=False)
    if hasattr(executor, "submit"):
        futures = [executor.submit(call, piece) for piece in packed]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
    elif hasattr(executor, "n_jobs"):  # joblib.Parallel takes functions with their arguments
        yield from executor((call, (piece,), {}) for piece in packed)
    else:
        mapping = executor.map if hasattr(executor, "map") else executor
        yield from mapping(call, packed)
