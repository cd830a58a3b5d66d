"""Classes with copied methods, and objects of them that share the state of the user's objects."""

from __future__ import annotations

import abc
import contextlib
import copy
import enum
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Generic

from ..array_like import protocols
from ..refusals import running
from .kept import MADE_BY_A_STATEMENT, note, slots_of
from .reach import reached
from .standing import Standing, real_of

Copy = Callable[[types.FunctionType], Any]

#: Methods that are not copied: the interpreter calls them where nothing is differentiated, or a
#: copy would only take time.
_LEFT = frozenset({
    "__class_getitem__", "__del__", "__dir__", "__eq__", "__format__", "__getattribute__",
    "__getnewargs__", "__getnewargs_ex__", "__getstate__", "__hash__", "__init_subclass__",
    "__reduce__", "__reduce_ex__", "__repr__", "__set_name__", "__setstate__", "__sizeof__",
    "__str__", "__subclasshook__",
})  # fmt: skip
#: Python's classes that a subclass cannot replace.
_UNLIKE = (BaseException, enum.Enum, tuple, str, bytes, int, float, complex, set, frozenset, type)
#: What holds more than a `__dict__`, so that an object of it cannot share its state.
_CONTAINERS = (dict, list)
#: The types of class members that run code.
_CODE = (
    types.FunctionType,
    staticmethod,
    classmethod,
    property,
    functools.cached_property,
    functools.partialmethod,
)


class Reached(Standing):
    """The metaclass of replaced classes: subclasses of the user's, equal to them, and unknown to
    their registries.

    Writes to such a class go to the user's. In the order of its bases each class directly follows
    its replacement, so that `super()` works as in the original.
    """

    def mro(cls) -> list[type]:
        body = vars(cls)
        if "_standing" not in body:
            return super().mro()
        order: list[type] = [cls, _Quiet]
        for base in body["_real"].__mro__:
            standing = body["_standing"].get(base)
            order += [base] if standing is None else [standing, base]
        return order

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        """Without the metaclass of the user's class, which may register what it makes."""
        return (abc.ABCMeta if issubclass(mcs, abc.ABCMeta) else type).__new__(
            mcs, name, bases, body
        )

    def __init__(cls, *args: Any):
        type.__init__(cls, *args)

    def __getattribute__(cls, name: str) -> Any:
        value = type.__getattribute__(cls, name)
        of = None if name[:2] == "__" else vars(cls).get("_replacement")
        return value if of is None else of(value)

    # Copied code uses the user's class; these are for other users of the class, such as the
    # registry of an ABC, which checks all subclasses, and would be checked in turn.

    def __instancecheck__(cls, instance: Any) -> bool:
        return vars(cls).get("_real", cls) in type(instance).__mro__

    def __subclasscheck__(cls, subclass: type) -> bool:
        return vars(cls).get("_real", cls) in getattr(subclass, "__mro__", ())

    def __setattr__(cls, name: str, value: Any) -> None:
        if "_real" in vars(cls) and not name.startswith("_abc_") and name != "__abstractmethods__":
            note(vars(cls)["_real"])
            setattr(vars(cls)["_real"], name, value)
            vars(cls)["_renew"]()
        else:
            super().__setattr__(name, value)


@functools.cache
def _reached(meta: type) -> Any:
    """The metaclass of replaced classes whose own one this is."""
    return Reached if meta is type else type("Reached", (Reached, meta), {})


class _Quiet:
    """The first base, so that no __init_subclass__ is called for a replaced class."""

    __slots__ = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        pass


def can_stand_for(cls: type) -> bool:
    """Whether a class can be replaced by a subclass, and needs to be."""
    return (
        (
            type(cls) in (type, abc.ABCMeta)
            or type(cls).__module__ == "typing"
            or reached(type(cls).__module__)
        )
        and bool(cls.__flags__ & MADE_BY_A_STATEMENT)
        and bool(cls.__flags__ & (1 << 10))  # may have subclasses
        and not issubclass(cls, _UNLIKE)
        and (runs_code(cls) or type(vars(cls).get("__init__")) is types.FunctionType)
    )


def runs_code(cls: type) -> bool:
    """Whether objects of a class have code.

    Those of any other class, such as sentinels, are not replaced.
    """
    return any(
        _is_code(member)
        for base in cls.__mro__
        for name, member in vars(base).items()
        if name not in _USUAL
    )


#: What every sentinel has; one that is compared by `is` must stay the one object.
_USUAL = _LEFT | {
    "__new__",
    "__bool__",
    "__copy__",
    "__deepcopy__",
    "__init__",
    "__set__",
    "__slots__",
}


def class_for(cls: type, of: Callable[[Any], Any], renew: Callable[[], None]) -> Any:
    """A subclass that replaces a class, without copies of methods yet.

    of: the replacement of a value. renew: called when copied code has written to the class. None if
    there can be no such subclass.
    """
    body: dict[str, Any] = {
        "_real": cls,
        "_replacement": of,
        "_renew": renew,
        "_standing": {
            base: standing for base in cls.__mro__[1:] if isinstance(standing := of(base), Reached)
        },
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__slots__": (),
        **_slots(cls),
        **protocols(cls),
        "__init_subclass__": classmethod(lambda sub, **keywords: None),
    }
    if all("__eq__" not in vars(base) for base in cls.__mro__[:-1]):
        body["__eq__"], body["__hash__"] = _same, _hash
    if all("__getattribute__" not in vars(base) for base in cls.__mro__[:-1]):
        body["__getattribute__"] = reading(of)
    if issubclass(cls, Generic):
        # typing would return the alias of the original
        body["__class_getitem__"] = classmethod(lambda made, item: made)
    try:
        return _reached(type(cls))(cls.__name__, (_Quiet, cls), body)
    except TypeError:  # a layout, or an order of bases, that no subclass can have
        return None


def members_of(cls: type) -> dict[str, tuple[Any, Any]]:
    """The members of a class, each with its code, which autoreload replaces."""
    return {name: (member, getattr(member, "__code__", None)) for name, member in vars(cls).items()}


def renewed(made: Any, cls: type, known: dict[str, tuple[Any, Any]], copy: Copy) -> None:
    """Bring a replaced class up to date, and `known`, its members when that was done last."""
    for name, (member, code) in members_of(cls).items():
        before = known.get(name)
        if before is None or before[0] is not member or before[1] is not code:
            known[name] = member, code
            fill(made, {name: member}, copy)
    for name in known.keys() - vars(cls).keys():
        del known[name]
        fill(made, {name: None}, copy)


def fill(made: Any, members: Mapping[str, Any], copy: Copy) -> None:
    """Add the copies of methods to a replaced class."""

    def again(function: Any) -> Any:
        return copy(function) if type(function) is types.FunctionType else function

    cls = vars(made).get("_real", object)
    for base in inspect.getmro(type(cls))[-3::-1]:  # of the metaclass
        for name, member in vars(base).items():
            if type(member) is types.FunctionType and name not in _LEFT | vars(Reached).keys():
                setattr(type(made), name, again(member))
    for name, member in members.items():
        if name in _LEFT:
            continue
        kind = type(member)
        if kind is types.FunctionType:
            standing: Any = again(member)
        elif kind is property:
            standing = property(
                again(member.fget), again(member.fset), again(member.fdel), member.__doc__
            )
        elif (standing := _descriptor(member, again)) is None:
            if _is_code(vars(made).get(name)):  # of a method that there was
                type.__delattr__(made, name)
            continue
        with contextlib.suppress(AttributeError):  # a property of the metaclass has this name
            type.__setattr__(made, name, standing)
    abstract = getattr(cls, "__abstractmethods__", None)
    if abstract is not None:
        type.__setattr__(made, "__abstractmethods__", frozenset(abstract))


#: Where methods and properties keep their function, also those of pandas and others that cache
#: results.
_FUNCTIONS = ("func", "__func__", "fget", "function", "fn")


def _is_code(member: Any) -> bool:
    return isinstance(member, _CODE) or _descriptor(member, lambda function: function) is not None


def _descriptor(member: Any, again: Callable[[Any], Any]) -> Any:
    """The same property with the copy of its function; None for anything else."""
    kind = type(member)
    if not hasattr(kind, "__get__") or isinstance(member, type):
        return None
    for name in _FUNCTIONS:
        function = getattr(member, name, None)
        if type(function) is types.FunctionType:
            # a compiled class may refuse to be copied, or written to
            with contextlib.suppress(TypeError, AttributeError):
                made = copy.copy(member)
                setattr(made, name, again(function))
                return made
            with contextlib.suppress(TypeError):  # which takes more than the function
                return kind(again(function))
    return None


def reading(of: Callable[[Any], Any]) -> Callable[[Any, str], Any]:
    def __getattribute__(self: Any, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if (
            name[:2] == "__"
            or not running()
            or (type(value) is types.MethodType and value.__self__ is self)
        ):
            return value
        return of(value)

    return __getattribute__


#: Of an object that shares the state of another, by its identity: itself, and the other.
_ORIGINALS: dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]] = {}


def shares_slots(x: Any) -> bool:
    """Whether x has the slots of another object, which it then keeps."""
    return _owner_of_slots(x) is not x


def original_of(x: Any) -> Any:
    """The user's object, for one that shares its state; anything else unchanged."""
    if not isinstance(type(x), Reached):
        return x
    entry = _ORIGINALS.get(id(x))
    original = _owner_of_slots(x) if entry is None else entry[1]()
    return x if original is None else original


def _same(self: Any, other: Any) -> Any:
    return True if original_of(self) is original_of(other) else NotImplemented


def _hash(self: Any) -> int:
    return object.__hash__(original_of(self))


def object_for(value: Any, cls: Any) -> Any:
    """An object of the replaced class that shares the state of the value.

    None if that is impossible.
    """
    if isinstance(value, _CONTAINERS):
        return None
    if (slot := vars(cls).get(_OWNER)) is not None:
        made = object.__new__(cls)
        slot.__set__(made, _Owner(value))
        if cls.__dictoffset__:
            object.__setattr__(made, "__dict__", value.__dict__)
        return made
    if not cls.__dictoffset__ or not cls.__weakrefoffset__:
        return None
    made = object.__new__(cls)
    object.__setattr__(made, "__dict__", value.__dict__)
    for slot in slots_of(type(value)).values():
        with contextlib.suppress(AttributeError):  # it is empty
            slot.__set__(made, slot.__get__(value))
    key = id(made)
    _ORIGINALS[key] = (
        weakref.ref(made, lambda reference: _ORIGINALS.pop(key, None)),
        weakref.ref(value),
    )
    return made


#: In a replaced class with slots: the slot that holds the object whose slots are shared.
_OWNER = "_slot_of_owner"


class _Owner:
    """The value of that slot."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


def _slots(cls: type) -> dict[str, Any]:
    """The further members of a replaced class with slots: each slot is that of the object whose
    state is shared.
    """
    members = slots_of(cls)
    body: dict[str, Any] = {name: _SharedSlot(member) for name, member in members.items()}
    return {_OWNER: next(iter(members.values())), **body} if members else {}


def _owner_of_slots(x: Any) -> Any:
    """The object whose slots x has: itself, if copied code has made it."""
    slot = vars(type(x)).get(_OWNER)
    try:
        content = None if slot is None else slot.__get__(x)
    except AttributeError:  # it is empty
        return x
    return content.value if type(content) is _Owner else x


class _SharedSlot:
    """A slot of an object that may share the slots of another."""

    def __init__(self, member: types.MemberDescriptorType):
        self._member = member

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._member if instance is None else self._member.__get__(_owner_of_slots(instance))

    def __set__(self, instance: Any, value: Any) -> None:
        self._member.__set__(_owner_of_slots(instance), value)

    def __delete__(self, instance: Any) -> None:
        self._member.__delete__(_owner_of_slots(instance))


def landed(x: Any) -> Any:
    """The user's object, of the user's class, for one that copied code made or was given."""
    original = original_of(x)
    if original is not x or not isinstance(type(x), Reached):
        return original
    real = real_of(type(x))
    made: Any = next((base for base in _CONTAINERS if isinstance(x, base)), object).__new__(real)
    if isinstance(made, dict):
        dict.update(made, x)
    elif isinstance(made, list):
        list.extend(made, x)
    if type(made).__dictoffset__:
        object.__setattr__(made, "__dict__", x.__dict__)
    for base in type(made).__mro__:
        for member in vars(base).values():
            if isinstance(member, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # a slot that is empty
                    member.__set__(made, member.__get__(x))
    return made
