"""f at a point and around it, in the precision of its arguments or in double precision."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.contract.arrays import library_of_array
from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.library import Library, epsilon, width
from ..core.operators.pullback import pullback
from ..core.operators.second_order import first_order
from ..core.tree import Structure
from ..rules.fixed_values import Hold, nothing_fixed
from .evidence import Look, look_at
from .leaves import (
    differentiated_paths,
    in_double_precision,
    native_leaves,
    taken_apart,
    with_native_leaves,
)
from .numbers import Array, widened

#: A displacement of some leaves, by their number.
Direction = Mapping[int, Array]


class Probe:
    """f at a point and around it.

    It gets what `AutoFiniteDifferences(native=backend)` would hand it.
    """

    #: Evaluates f with ignored values fixed at the point.
    _hold: Hold

    def __init__(
        self,
        f: Callable[..., Any],
        auto: AutoBackend,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ):
        inner = first_order(auto).auto
        differences = (
            inner
            if isinstance(inner, AutoFiniteDifferences)
            else AutoFiniteDifferences(native=inner)
        )
        self.auto: AutoBackend = auto
        self.backend: AutoFiniteDifferences = differences
        self.f: Callable[..., Any] = f
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.structures: list[Structure] = taken_apart(args)[0]
        self.paths: list[str] = differentiated_paths(self.structures)
        self.points: list[Array] = []
        self.epsilon: float = 0.0
        self.value: Any = self.at({})

    def at(self, moved: Mapping[int, Array]) -> Any:
        """The value of f with these leaves in place of its own, in float64 or wider."""
        values: list[Any] = []

        def elsewhere(*args: Any, **keywords: Any) -> Any:
            leaves = native_leaves(self.structures, args)
            libraries = [library_of_array(leaf) for leaf in leaves]
            dtypes = [library.dtype(leaf) for library, leaf in zip(libraries, leaves)]
            if not self.points:
                self._start(libraries, dtypes, leaves)
            there = list(leaves)
            for n, array in moved.items():
                there[n] = libraries[n].asarray(array, dtype=dtypes[n], like=leaves[n])
            # A model whose state f changes is rebuilt, also at the point itself: the change is of
            # no interest here.
            inside = with_native_leaves(self.structures, args, there)
            if not moved:
                with nothing_fixed():
                    here = lambda: self.f(
                        *with_native_leaves(self.structures, args, leaves), **keywords
                    )
                    self._hold = Hold(here, ())
            output = self._hold(self.f, *inside, **keywords)
            if isinstance(output, (tuple, dict)):  # the scalar, followed by auxiliary values
                output = next(iter(output.values())) if isinstance(output, dict) else output[0]
            library = library_of_array(output)
            self.epsilon = max(self.epsilon, epsilon(library.dtype(output)))
            values.append(widened(library.to_numpy(output))[()])
            # The value does not matter, except that it has at least the precision of the arguments.
            return max(zip(dtypes, leaves), key=lambda leaf: width(leaf[0]))[1]

        pullback(elsewhere, self.backend, *self.args, **self.kwargs)
        return values[0]

    def _start(
        self, libraries: Sequence[Library], dtypes: Sequence[str], leaves: Sequence[Any]
    ) -> None:
        """Record the point: the leaves of the arguments as f gets them."""
        numbers = [library.to_numpy(leaf) for library, leaf in zip(libraries, leaves)]
        self.storage: list[Any] = [array.dtype for array in numbers]
        self.points = [widened(array) for array in numbers]
        self.epsilon = max(map(epsilon, dtypes))

    def look(self, direction: Direction, step: float, gradients: Mapping[int, Array]) -> Look:
        """Two evaluations, ahead and behind, with the slope by a gradient."""
        with np.errstate(all="ignore"):
            ahead, behind = (
                {n: (self.points[n] + h * d).astype(self.storage[n]) for n, d in direction.items()}
                for h in (step, -step)
            )
            values = float(self.at(behind)), float(self.value), float(self.at(ahead))
            # The gradient is multiplied by the step after rounding.
            slope = sum(
                [inner(gradients[n], widened(ahead[n]) - widened(behind[n])) for n in direction]
            ) / (2 * step)
            return look_at(values, step, slope, self.epsilon * max(map(abs, values)))

    def in_double_precision(self) -> Probe | None:
        """The same with all arrays in double precision, those that f captures included.

        None if f computes something else.
        """
        if self.epsilon < 1e-10 or not np.isfinite(self.value):
            return None
        # then the backend converts, in its own precision scope
        native = first_order(self.auto).library is not None
        # whatever keeps f from it, the given precision remains
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, kwargs = (
                in_double_precision(tree, as_numpy=native) for tree in (self.args, self.kwargs)
            )
            wide = Probe(in_double_precision(self.f), self.auto, args, kwargs)
            same = abs(wide.value - self.value) <= self.epsilon**0.5 * abs(self.value)
            if wide.epsilon < 1e-10 and wide.paths == self.paths and same:
                return wide
        return None


def counted(f: Callable[..., Any]) -> Any:
    """f, which counts its calls in its attribute `calls`."""

    @functools.wraps(f)
    def counting(*args: Any, **kwargs: Any) -> Any:
        result.calls += 1
        return f(*args, **kwargs)

    result: Any = counting
    result.calls = 0
    return result


def inner(a: Array, b: Array) -> float:
    """The real inner product."""
    if a.dtype.kind != "c" and b.dtype.kind != "c":
        return float(np.vdot(a, b))
    return float(np.real(np.vdot(a, b)))
