"""Results as a flat tuple of arrays, for engines whose compiler or batching accepts nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .backend import Aux


class Packed:
    """A function of arrays with its results packed into a flat tuple of arrays; keeps the structure of its last results.

    compute: returns tuples and lists of arrays, None and `Aux`. A compiling engine calls this object while it traces;
    `unpacked` then restores the structure of compiled results.
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
        """A compiled form of this object, with nested results."""
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
