"""What copied code keeps in the user's objects: numbers in place of an engine's arrays, once the outermost call has ended.

An array of an engine would keep its graph alive, or be a tracer that is of no use after the call. `type` finds the
class of an object here, because isinstance would call code of the object, and there are many.
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

from ...core.contract.errors import NumpyCodeError
from ..array import COMPARISONS, SIGNS, NumpyArray, as_plain, known_numbers
from ..array_like import with_each
from ..made_array import MadeArray
from ..names import ARITHMETIC
from ..refusals import here
from .copier import is_filled
from .plain import PLAIN

#: Of longer lists and dicts, the containers that were there before are not searched.
LONGEST = 200
NOT_THE_USERS = -1
_SEQUENCES = (list, collections.deque)
_CONTAINERS = (*_SEQUENCES, dict, tuple)
_NO_HOLDERS = (np.ndarray, type, types.ModuleType)


def note(holder: Any) -> None:
    """Record that copied code has reached this object; with it, what it has then been given for good: see `_parts`."""
    if here.reached is not None and id(holder) not in here.reached:
        here.reached[id(holder)] = holder, len(holder) if issubclass(type(holder), _CONTAINERS) else 0
        if any(type(part) is NumpyArray for part in _entries(holder, type(holder))[1]):  # an argument of f, or made by f
            here.reached[id(holder)] = holder, NOT_THE_USERS
        for part in _parts(holder, type(holder)):
            if type(part) not in PLAIN and not issubclass(type(part), _NO_HOLDERS):
                note(part)


def _parts(holder: Any, cls: type) -> Iterable[Any]:
    """What a copy of a function holds, which is looked up once."""
    if cls is types.FunctionType:
        return (*(holder.__closure__ or ()), *(holder.__defaults__ or ()), *(holder.__kwdefaults__ or {}).values())
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
    """Through what the user's objects hold."""

    def __init__(self, done: Iterable[int]):
        self._done = set(done)
        self.refusal: str | None = None

    def inside(self, holder: Any, start: int = 0) -> None:
        """Replaces arrays in a holder. start: where the entries begin that may be containers with arrays."""
        keys, values, assign = _entries(holder, type(holder))
        if not any(map(_may_hold, set(map(type, values)))):
            return
        for n, (key, value) in enumerate(zip(keys, values)):
            if n >= start or type(value) in (NumpyArray, MadeArray):
                number = self._replaced(value, holder, key)
                if number is not value:
                    assign(holder, key, number)

    def _replaced(self, value: Any, holder: Any, key: Any) -> Any:
        cls = type(value)
        if cls is MadeArray:
            return value._array
        if cls is NumpyArray:
            numbers = None
            with contextlib.suppress(TypeError, RuntimeError):  # of an engine, where it belongs to an inner derivative
                numbers = known_numbers(value)
            if numbers is not None:
                return as_plain(value, numbers)
            owner = f"class {holder.__qualname__}" if isinstance(holder, type) else type(holder).__qualname__
            refusal = (
                f"numpy_function: f keeps what it computes in {key!r} of the {owner}, which outlives the call, and a compiled "
                f"or batched call does not know the numbers. Return it beside the value, or call f without preparing it."
            )
            if issubclass(type(holder), _SEQUENCES):  # a record for the user; an attribute may be a cache
                self.refusal = refusal
            return Unknown(refusal)
        if issubclass(cls, tuple):
            return with_each(lambda part: self._replaced(part, holder, key), value)
        if _may_hold(cls) and id(value) not in self._done:
            self._done.add(id(value))
            self.inside(value)
        return value


def _entries(holder: Any, cls: type) -> tuple[Iterable[Any], list[Any], Callable[..., None]]:
    """The keys, the values, and what assigns to a key."""
    if issubclass(cls, _SEQUENCES):
        return range(len(holder)), list(holder), operator.setitem
    if issubclass(cls, dict):
        return list(holder), list(holder.values()), dict.__setitem__
    if cls is types.CellType:
        return ("cell_contents",), [holder.cell_contents] if is_filled(holder) else [], setattr
    if cls.__dictoffset__ or issubclass(cls, type):
        found = dict(type.__getattribute__(holder, "__dict__") if issubclass(cls, type) else holder.__dict__)
        return list(found), list(found.values()), type.__setattr__ if issubclass(cls, type) else object.__setattr__
    slots = {}
    for name, member in [member for base in cls.__mro__ for member in vars(base).items()]:
        if type(member) is types.MemberDescriptorType:
            with contextlib.suppress(AttributeError):  # it is empty
                slots[name] = member.__get__(holder)
    return list(slots), list(slots.values()), object.__setattr__


class Unknown:
    """A number that a compiled call has left in an object: any use is refused."""

    def __init__(self, refusal: str):
        self._refusal = refusal

    def _refuse(self, *args: Any) -> Any:
        raise NumpyCodeError(self._refusal)


for _name in (*ARITHMETIC, *COMPARISONS, *SIGNS, "float", "bool", "array", "len", "iter", "getitem"):
    setattr(Unknown, f"__{_name}__", Unknown._refuse)
for _name in ARITHMETIC:
    setattr(Unknown, f"__r{_name}__", Unknown._refuse)


def _may_hold(cls: type) -> bool:
    return issubclass(cls, (NumpyArray, *_CONTAINERS)) or hasattr(cls, "_reached")  # an object that copied code has made
