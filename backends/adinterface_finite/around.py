"""Evaluations of a flat function around a point, with what f ignores and draws fixed there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from adinterface.core.contract import Arrays, Aux, Backend, Draws, Repeated, copies, function_of_extension, known_to

from .differences import OUTSIDE, Level, below


class _NothingIgnored:
    """In place of the `Hold` of `adinterface.rules`, without which f can ignore nothing."""

    record = None

    def __init__(self, *point: Any):
        self.place = 0

    def __call__(self, f: Callable[..., Any], *args: Any) -> Any:
        return f(*args)

    def steadily(self) -> AbstractContextManager[None]:
        return nullcontext()


class Around:
    """Evaluations of a flat function in which ignored values and random numbers are those at the point."""

    def __init__(self, function: Any, backend: Backend, leaves: Arrays):
        self._backend, self._leaves, self._source = backend, leaves, function.elsewhere
        self._draws = draws = Draws(known_to(function), all_generators=False)
        self._here, self._elsewhere = Repeated(function, draws), Repeated(self._source, draws)
        hold = function_of_extension("Hold") or _NothingIgnored
        #: Evaluates f with the values that it ignores.
        self._hold: Any = hold(self._elsewhere, leaves, lambda: below(Level()))  # no other evaluation may notice it

    def copies(self) -> Arrays:
        """The leaves for an f that may write into them."""
        return copies(self._backend, self._leaves)

    def at_the_point(self) -> tuple[Arrays, Aux]:
        """f at the point: the evaluation whose value and side effects count."""
        found: tuple[Arrays, Aux] = self._hold(self._here, *copies(self._backend, self._leaves, self._here.owned))
        return found

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        """f elsewhere. Its aux has no numbers."""
        found: tuple[Arrays, Aux] = self._hold(self._elsewhere, *leaves)
        return found

    def unchecked(self, *leaves: Any) -> tuple[Arrays, Aux] | None:
        """f at leaves of other dtypes; None if it cannot be evaluated there."""
        function = self._source.unchecked
        return None if function is None else self._hold(Repeated(function, self._draws), *leaves)

    def many(
        self, points: Iterable[Sequence[Any]], take: Callable[[Arrays, Aux], Any], outside: Callable[[Exception], Any]
    ) -> list[Any]:
        """f at these points, one after another: what `take` makes of its value, or `outside` of an error outside its domain."""
        found, hold, function = [], self._hold, self._elsewhere.shortest
        with hold.steadily():  # once: to enter it for each point takes longer than many an f
            for leaves in points:
                hold.place = 0
                try:
                    result = function(*leaves)
                except OUTSIDE as error:
                    found.append(outside(error))
                    continue
                if function is self._elsewhere:
                    function = function.shortest
                found.append(take(*result))
        return found

    def on_workers(
        self, executor: Any, points: Iterable[Sequence[Any]], run: Callable[..., tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """f at these points, on the workers of an executor, which call `run(f, args, kwargs)`.

        It returns a tuple that begins with a value of f. Yields this tuple, with outputs and aux in place of the value; or
        an error alone, outside the domain of f.
        """
        from concurrent.futures import ThreadPoolExecutor  # late: a program without an executor need not load these

        from adinterface.batching.for_engines import Outside, Task, run_all

        here, tasks = [], []
        for leaves in points:
            here.append(Task(run, (self, leaves, {})))
            tasks.append(Task(run, self._source.task(leaves)))
        # Other processes cannot take a derivative of f as a function; its own evaluations of f go to the workers.
        sent = all(task.args[0] is not self._source for task in tasks) or isinstance(executor, ThreadPoolExecutor)
        if self._hold.record is not None or self._draws.states or not sent:  # workers do not have the values at the point
            yield from run_all(map, here)
            return
        for found in run_all(executor, tasks):
            yield found if type(found) is Outside else (self._source.received(found[0]), *found[1:])


__all__ = ["Around"]
