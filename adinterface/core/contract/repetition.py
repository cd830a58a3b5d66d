"""Repeated evaluations of f: value and derivative come from the same arguments and the same random numbers.

The generators belong to the process. Threads that draw at the same time disturb one another.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import CellType, FunctionType
from typing import Any

import numpy as np

from .arrays import library_of
from .backend import Arrays, Aux, Backend, FlatFunction
from .library import Generator
from .registry import needed_libraries

_EMPTY = CellType()
#: Generators with their states.
States = Sequence[tuple[Generator, Any]]


def _pickled(get: Callable[[], Any], put: Callable[[Any], Any]) -> Generator:
    """Of states that are no values that compare by ==."""
    return Generator(lambda: pickle.dumps(get()), lambda state: put(pickle.loads(state)))


_NUMPY = _pickled(  # `np.random` is imported late
    lambda: np.random.get_state(legacy=False),  # noqa: NPY002 - f may use the legacy generator
    lambda state: np.random.set_state(state),  # noqa: NPY002
)


def of_engines(given: Sequence[Any] = ()) -> list[Generator]:
    """The generators of the engines that a call has needed, and those of the engines' classes among the values of a call."""
    return [generator for library in needed_libraries() for generator in library.generators(given)]


def of_python() -> list[Generator]:
    """The generators of NumPy and of Python."""
    own = sys.modules.get("random")  # imported only if f's code has imported it: the import is slow
    return [_NUMPY] if own is None else [_NUMPY, Generator(own.getstate, own.setstate)]


def of_values(values: Iterable[Any]) -> list[Generator]:
    """The generators of NumPy and of Python among the values that a call is given."""
    own = sys.modules.get("random")
    found = []
    for value in values:
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            found.append(_pickled(partial(getattr, bits, "state"), partial(setattr, bits, "state")))
        elif isinstance(value, np.random.RandomState):
            found.append(_pickled(value.get_state, value.set_state))
        elif own is not None and isinstance(value, own.Random):
            found.append(Generator(value.getstate, value.setstate))
    return found


def known_to(function: FlatFunction) -> list[Any]:
    """What a function is given, and what f's own code names: its closure and its globals, but not those of functions inside."""
    f = getattr(function, "f", None)
    if not isinstance(f, FunctionType):
        return [*function.given]
    cells = [cell.cell_contents for cell in f.__closure__ or () if cell != _EMPTY]
    return [*function.given, *cells, *[f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__]]


def states_of(generators: Sequence[Generator]) -> States:
    return [(generator, generator.get()) for generator in generators]


@contextmanager
def drawing_from(states: States) -> Iterator[None]:
    """Code that draws from these states; afterwards the generators have the states that they had before."""
    before = states_of([generator for generator, _ in states])
    try:
        for generator, state in states:
            generator.set(state)
        yield
    finally:
        for generator, state in before:
            generator.set(state)


def draws_undone(given: Sequence[Any] = ()) -> AbstractContextManager[None]:
    """A trial: code after which all generators, also those among what it is given, have the states that they had before."""
    return drawing_from(states_of([*of_values(given), *of_python(), *of_engines(given)]))


class Draws:
    """Evaluations that draw the same numbers: each starts from the states in which the first one finds the generators.

    The first evaluation leaves the generators where f leaves them, later ones leave them where they are.

    given: what the code reaches, generators perhaps. all_generators: also those of NumPy and of Python, whose states take some
    40 us to read.
    """

    __slots__ = ("_all", "_given", "states")

    def __init__(self, given: Sequence[Any] = (), *, all_generators: bool = True):
        self._given, self._all = given, all_generators
        #: The generators that the first evaluation has changed, as it found them; None before it.
        self.states: States | None = None

    def __call__(self, evaluate: Callable[..., Any], *args: Any) -> Any:
        if self.states is None:
            found = [*of_values(self._given), *(of_python() if self._all else ()), *of_engines(self._given)]
            self.states = states_of(found)
            result = evaluate(*args)
            self.states = [(generator, state) for generator, state in self.states if generator.get() != state]
            return result
        if not self.states:
            return evaluate(*args)
        with drawing_from(self.states):
            return evaluate(*args)


class Repeated(FlatFunction):
    """A flat function of which each evaluation draws the same random numbers, for an engine that needs several."""

    def __init__(self, function: FlatFunction, draws: Draws | None = None):
        self._function: FlatFunction = function
        self.draws: Draws = draws or Draws(known_to(function))
        self.owned: frozenset[int] = function.owned

    @property
    def given(self) -> Sequence[Any]:
        return self._function.given

    @property
    def shortest(self) -> FlatFunction:
        """The function itself as soon as it is known that it draws nothing."""
        return self._function if self.draws.states == [] else self

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        result: tuple[Arrays, Aux] = self.draws(self._function, *leaves)
        return result


def copies(backend: Backend, leaves: Arrays, owned: frozenset[int] = frozenset()) -> Arrays:
    """The leaves for an f that may write into them, but those that it reaches through an object."""
    return tuple([leaf if n in owned else _copy(backend, leaf) for n, leaf in enumerate(leaves)])


def _copy(backend: Backend, leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.copy("K") if isinstance(leaf, np.ndarray) else leaf
    library = library_of(backend, leaf)
    return leaf if not library.mutable or library.traced(leaf) else library.asarray(leaf, copy=True)


__all__ = [
    "Draws", "Repeated", "States", "copies", "drawing_from", "draws_undone", "known_to", "of_engines", "of_python", "states_of",
]  # fmt: skip
