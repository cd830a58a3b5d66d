"""f's own code with our names for NumPy's functions that make arrays, where it writes to arrays.

`np.zeros(n)` asks no protocol, and a plain array cannot become an engine's. So an f that writes runs as a copy whose globals
are its own, looked up when they are asked for, save that `np` leads to `making`. Nothing of the user's is changed, and what
f calls in other modules runs as it is. An f that writes to nothing is not copied.
"""

from __future__ import annotations

import builtins
import functools
import opcode
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .made_array import captured
from .making import MAKERS

#: What code names when it writes to an array by a function, a method or an attribute.
_WRITERS = frozenset({
    "at", "copyto", "fill", "fill_diagonal", "flat", "imag", "partition", "place", "put", "put_along_axis", "putmask", "real",
    "sort",
})  # fmt: skip


@functools.cache
def _names() -> types.ModuleType:
    """NumPy, with our functions that make arrays."""
    module = types.ModuleType("numpy", np.__doc__)
    module.__dict__.update(vars(np))
    for name, value in vars(np).items():
        ours = MAKERS.get(value) if callable(value) and getattr(value, "__hash__", None) else None
        if ours is not None:
            setattr(module, name, ours)
    return module


def _ours(value: Any, home: dict[str, Any], known: dict[Any, Any]) -> Any:
    """What a value that f reaches by a name is in the copy; home: the globals of f, known: the copies that are being made."""
    if value is np:
        return _names()
    cls = type(value)
    if cls is np.ndarray:
        return captured(value)
    if cls in _FUNCTIONS:
        ours = MAKERS.get(value)
        if ours is not None:
            return ours
        if cls is types.FunctionType and value.__globals__ is home and _copyable(value.__code__):
            return _copied(value, known)
    return value


_FUNCTIONS = frozenset({types.FunctionType, types.BuiltinFunctionType, type(np.copy)})


class _Globals(dict[str, Any]):
    """The globals of a copy: those of f as they are when they are asked for."""

    def __init__(self, original: dict[str, Any]):
        super().__init__()
        self.original = original
        for name in ("__name__", "__package__", "__spec__", "__file__", "__loader__"):  # which tracebacks ask for
            if name in original:
                self[name] = original[name]
        self["__builtins__"] = _builtins()

    def __missing__(self, name: str) -> Any:
        try:
            value = self.original[name]  # which may be the globals of a copy, too, where f was made in one
        except KeyError:
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise  # Python makes a NameError of it
        ours = _ours(value, self.original, {})
        if ours is _names():
            self[name] = ours  # kept, because it is asked for so often
        return ours


@functools.cache
def _builtins() -> dict[str, Any]:
    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        return _ours(builtins.__import__(name, *args, **kwargs), {}, {})

    return vars(builtins) | {"__import__": importing}


_globals: dict[int, _Globals] = {}


def _globals_of(original: dict[str, Any]) -> _Globals:
    found = _globals.get(id(original))
    if found is None or found.original is not original:
        found = _globals[id(original)] = _Globals(original)
    return found


def with_own_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]] | None:
    """What gives the copy of f for a call; None where f's own code writes to nothing, or cannot be copied."""
    if type(f) is types.FunctionType:
        return (lambda: _copied(f, {})) if _copyable(f.__code__) and _writes(f, set()) else None
    if isinstance(f, types.MethodType):
        return _inside(f.__func__, lambda own: types.MethodType(own, f.__self__))
    if isinstance(f, functools.partial):
        return _inside(f.func, lambda own: functools.partial(own, *f.args, **f.keywords))
    call = vars(type(f)).get("__call__")
    return _inside(call, lambda own: types.MethodType(own, f)) if type(call) is types.FunctionType else None


def _inside(inner: Any, around: Callable[[Any], Callable[..., Any]]) -> Callable[[], Callable[..., Any]] | None:
    own = with_own_names(inner)
    return None if own is None else lambda: around(own())


# Copies --------------------------------------------------------------------------------------------------------------


def _copied(f: types.FunctionType, known: dict[Any, Any]) -> Callable[..., Any]:
    """The copy of a function. It shares the cells whose contents are the same in it."""
    if f in known:
        return known[f]  # type: ignore[no-any-return]
    home = f.__globals__
    contents = [_contents(cell) for cell in f.__closure__ or ()]
    cells = tuple([types.CellType() if _differs(value, home) else cell for cell, value in zip(f.__closure__ or (), contents)])
    copy = known[f] = types.FunctionType(f.__code__, _globals_of(home), f.__name__, f.__defaults__, cells or None)
    for ours, theirs, value in zip(cells, f.__closure__ or (), contents):
        if ours is not theirs:
            ours.cell_contents = _ours(value, home, known)
    if f.__defaults__:
        copy.__defaults__ = tuple([_ours(value, home, known) for value in f.__defaults__])
    if f.__kwdefaults__:
        copy.__kwdefaults__ = {name: _ours(value, home, known) for name, value in f.__kwdefaults__.items()}
    copy.__qualname__ = f.__qualname__
    copy.__dict__.update(f.__dict__)
    return copy


def _contents(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty as yet
        return None


def _differs(value: Any, home: dict[str, Any]) -> bool:
    """Whether a value is another one in a copy."""
    if type(value) is types.FunctionType:
        return value in MAKERS or (value.__globals__ is home and _copyable(value.__code__))
    return value is np or type(value) is np.ndarray or (type(value) in _FUNCTIONS and value in MAKERS)


# What code does -------------------------------------------------------------------------------------------------------


def _writes(f: types.FunctionType, seen: set[Any]) -> bool:
    """Whether f, or a function of its module that it reaches by a name, may write to an array."""
    seen.add(f)
    codes = list(_codes(f.__code__))
    if any(_writes_itself(code) for code in codes):
        return True
    named = [f.__globals__.get(name) for code in codes for name in code.co_names]
    reached = [value for value in (*named, *map(_contents, f.__closure__ or ())) if type(value) is types.FunctionType]
    own = [g for g in reached if g.__globals__ is f.__globals__ and _copyable(g.__code__)]
    return any(_writes(g, seen) for g in own if g not in seen)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and that of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _operations(source: str) -> set[tuple[int, int]]:
    """The instructions, each with its number, of which Python makes a statement."""
    return set(_instructions(compile(source, "", "exec")))


def _instructions(code: types.CodeType) -> Iterator[tuple[int, int]]:
    return zip(code.co_code[::2], code.co_code[1::2])


#: Of `x += y` and the like. Their number tells them from `x + y`.
_IN_PLACE = {
    pair
    for symbol in ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
    for pair in _operations(f"a {symbol}= b") - _operations(f"a {symbol} b; a = b")
    if pair[0] == opcode.opmap["BINARY_OP"]
}
_STORES = {opcode.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opcode.opmap}
_GLOBALS = {opcode.opmap["STORE_GLOBAL"], opcode.opmap["DELETE_GLOBAL"]}


@functools.lru_cache(maxsize=4096)
def _copyable(code: types.CodeType) -> bool:
    """Whether code leaves the globals alone: a copy would set its own."""
    return all(_GLOBALS.isdisjoint(part.co_code[::2]) for part in _codes(code))


@functools.lru_cache(maxsize=4096)
def _writes_itself(code: types.CodeType) -> bool:
    """Whether code names what writes to an array, among these the keyword out=, or has `x[i] = y`, `x += y` or the like."""
    names_one = not _WRITERS.isdisjoint(code.co_names) or any(type(each) is tuple and "out" in each for each in code.co_consts)
    return names_one or not _STORES.isdisjoint(code.co_code[::2]) or not _IN_PLACE.isdisjoint(_instructions(code))
