"""What copied code keeps in the user's objects: numbers in place of an engine's arrays, once the
outermost call has ended.

An array of an engine would keep its graph alive, or be a tracer that is of no use after the call.
`type` finds the class of an object here, because isinstance would call code of the object, and
there are many.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..._closures import is_filled
from ..array import NumpyArray, as_plain, known_numbers
from ..array_like import ArrayHolder, with_each
from ..made_array import MadeArray
from ..refusals import KEPT, here
from ..storage import is_emptied
from .plain import PLAIN

#: Of longer lists and dicts, the containers that were there before are not searched.
LONGEST = 200
NOT_THE_USERS = -1
_SEQUENCES = (list, collections.deque)
_CONTAINERS = (*_SEQUENCES, dict, tuple)
_NO_HOLDERS = (np.ndarray, type, types.ModuleType)


def note(holder: Any) -> None:
    """Record that copied code has reached this object; with it, what it has then been given for
    good: see `_parts`.
    """
    if here.call is not None and id(holder) not in (reached := here.call.reached):
        reached[id(holder)] = (
            holder,
            len(holder) if issubclass(type(holder), _CONTAINERS) else 0,
        )
        # an argument of f, or made by f
        if any(
            type(part) is NumpyArray and not is_emptied(part)
            for part in _entries(holder, type(holder))[1]
        ):
            reached[id(holder)] = holder, NOT_THE_USERS
        for part in _parts(holder, type(holder)):
            if type(part) not in PLAIN and not issubclass(type(part), _NO_HOLDERS):
                note(part)


def _parts(holder: Any, cls: type) -> Iterable[Any]:
    """What a copy of a function holds, which is looked up once."""
    if cls is types.FunctionType:
        return (
            *(holder.__closure__ or ()),
            *(holder.__defaults__ or ()),
            *(holder.__kwdefaults__ or {}).values(),
        )
    if cls is types.CellType:
        return (holder.cell_contents,) if is_filled(holder) else ()
    if cls is types.MethodType:
        return holder.__func__, holder.__self__
    if cls is functools.partial:
        return holder.func, *holder.args, *holder.keywords.values()
    if issubclass(cls, _CONTAINERS) and len(holder) <= LONGEST:
        return list(holder.values() if issubclass(cls, dict) else holder)
    return ()


def with_numbers(reached: dict[int, tuple[Any, int]]) -> str | None:
    """Puts the numbers in place of arrays of engines; returns a refusal if some are unknown."""
    search = _Search(reached)
    for holder, length in reached.values():
        if length != NOT_THE_USERS:
            search.inside(holder, length if length > LONGEST else 0)
    return search.refusal


class _Search:
    """A search for arrays of engines in what the user's objects hold."""

    def __init__(self, reached: dict[int, tuple[Any, int]]):
        self._reached = reached
        self._done = {key for key, (_, length) in reached.items() if length != NOT_THE_USERS}
        self.refusal: str | None = None

    def inside(self, holder: Any, start: int = 0) -> None:
        """Replaces arrays in a holder.

        start: where the entries begin that may be containers with arrays.
        """
        keys, values, assign = _entries(holder, type(holder))
        if not any(map(_may_hold, set(map(type, values)))):
            return
        for n, (key, value) in enumerate(zip(keys, values)):
            if n >= start or type(value) in (NumpyArray, MadeArray):
                number = self._replaced(value, holder)
                if number is not value:
                    assign(holder, key, number)

    def _replaced(self, value: Any, holder: Any) -> Any:
        cls = type(value)
        if cls is MadeArray:
            return value.native
        if cls is NumpyArray:
            return value if is_emptied(value) else self._number(value, holder)
        if issubclass(cls, ArrayHolder):
            numbers = self._replaced(value._inner, holder)
            value = of_subclass(value, numbers) if isinstance(numbers, np.ndarray) else numbers
            cls = type(value)
        if issubclass(cls, tuple):
            return with_each(lambda part: self._replaced(part, holder), value)
        if _may_hold(cls) and id(value) not in self._done:
            self._done.add(id(value))
            self.inside(value)
        return value

    def _number(self, value: NumpyArray, holder: Any) -> Any:
        """The number of an engine's array.

        Itself, emptied, if that is unknown: any use of it is refused.
        """
        # of an engine, where it belongs to an inner derivative
        with contextlib.suppress(TypeError, RuntimeError):
            if (numbers := known_numbers(value)) is not None:
                return as_plain(value, numbers)
        length = self._reached.get(id(holder), (holder, 0))[1]
        # a record; an attribute may be a cache
        if issubclass(type(holder), _SEQUENCES) and length != NOT_THE_USERS:
            self.refusal = KEPT
        value._view = None
        del value.native
        return value


def _entries(holder: Any, cls: type) -> tuple[Iterable[Any], list[Any], Callable[..., None]]:
    """The keys, the values, and what assigns to a key."""
    if issubclass(cls, _SEQUENCES):
        return range(len(holder)), list(holder), operator.setitem
    if issubclass(cls, dict):
        return list(holder), list(holder.values()), dict.__setitem__
    if cls is types.CellType:
        return ("cell_contents",), [holder.cell_contents] if is_filled(holder) else [], setattr
    if issubclass(cls, type):
        found = dict(type.__getattribute__(holder, "__dict__"))
        return list(found), list(found.values()), type.__setattr__
    found = dict(holder.__dict__) if cls.__dictoffset__ else {}
    for name, member in slots_of(cls).items():
        with contextlib.suppress(AttributeError):  # it is empty
            found[name] = member.__get__(holder)
    return list(found), list(found.values()), object.__setattr__


def slots_of(cls: type) -> dict[str, Any]:
    """The slots of a class and of its bases, by name."""
    bases = [
        base
        for base in reversed(cls.__mro__)
        if "__slots__" in vars(base) and base.__flags__ & MADE_BY_A_STATEMENT
    ]
    members = [member for base in bases for member in vars(base).items()]
    return {name: member for name, member in members if type(member) is types.MemberDescriptorType}


MADE_BY_A_STATEMENT = 1 << 9


def of_subclass(holder: Any, numbers: np.ndarray[Any, Any]) -> Any:
    """The object of the user's subclass of ndarray that a holder represents, with these numbers."""
    made = numbers.view(type(holder)._real)
    if hasattr(made, "__dict__"):
        made.__dict__.update(holder.__dict__)
    return made


#: Of SciPy's classes for engines, such as splines.
_OURS = __package__.partition(".")[0] + ".scipy."


def _may_hold(cls: type) -> bool:
    """Whether it is an array, or may hold one, as an object that copied code has made."""
    return (
        issubclass(cls, (NumpyArray, ArrayHolder, *_CONTAINERS))
        or hasattr(cls, "_real")
        or cls.__module__.startswith(_OURS)
    )
