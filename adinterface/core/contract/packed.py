"""Results as a flat tuple of arrays, for engines whose compiler or whose batching takes nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .backend import Aux


class Packed:
    """A function of arrays whose results are a flat tuple of arrays, and the structure of the results of its last call.

    compute: returns tuples and lists of arrays, of None, and of `Aux`. An engine that compiles calls this object while it
    traces; `unpacked` then gives compiled results the structure that was seen.
    """

    def __init__(self, compute: Callable[..., Any]):
        self._compute = compute
        self._structure: Any = None

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        flat: list[Any] = []
        self._structure = _taken_apart(self._compute(*arrays), flat)
        return tuple(flat)

    def unpacked(self, arrays: tuple[Any, ...]) -> Any:
        return _built(self._structure, iter(arrays))

    def around(self, compiled: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
        """What the engine made of this object, with nested results."""
        return lambda *arrays: self.unpacked(tuple(compiled(*arrays)))


_ARRAY = object()


def _taken_apart(results: Any, flat: list[Any]) -> Any:
    if results is None:
        return None
    if isinstance(results, Aux):
        flat.extend(results.arrays)
        return Aux(tuple([_ARRAY] * len(results.arrays)), results.form)
    if isinstance(results, (tuple, list)):
        parts = [_taken_apart(part, flat) for part in results]
        return type(results)(*parts) if hasattr(results, "_fields") else type(results)(parts)
    flat.append(results)
    return _ARRAY


def _built(structure: Any, arrays: Iterator[Any]) -> Any:
    if structure is None:
        return None
    if structure is _ARRAY:
        return next(arrays)
    if isinstance(structure, Aux):
        return structure.map(lambda _: next(arrays))
    parts = [_built(part, arrays) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)


__all__ = ["Packed"]
