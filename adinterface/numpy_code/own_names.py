"""f's own code with our names for NumPy's functions that make arrays, where it writes to arrays.

`np.zeros(n)` asks no protocol, and a plain array cannot become an engine's. So an f that writes runs as a copy whose globals
are its own, looked up when they are asked for, save that `np` leads to `making`. Nothing of the user's is changed, and what
f calls runs as it is. An f that writes to nothing is not copied.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .made import captured
from .making import MAKERS

#: What code names when it writes to an array by a function, a method or an attribute.
_WRITERS = frozenset({
    "at", "copyto", "fill", "fill_diagonal", "flat", "partition", "place", "put", "put_along_axis", "putmask", "sort",
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


def _ours(value: Any) -> Any:
    """What a name of f's stands for in the copy."""
    if value is np:
        return _names()
    cls = type(value)
    if cls is np.ndarray:
        return captured(value)
    if (cls is types.BuiltinFunctionType or cls is types.FunctionType or cls is _DISPATCHED) and value in MAKERS:
        return MAKERS[value]
    return value


_DISPATCHED = type(np.copy)


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
        if name in self.original:
            value = self.original[name]
            if value is np:
                self[name] = _names()  # kept, because it is asked for so often
            return _ours(value)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise KeyError(name)  # of which Python makes a NameError


@functools.cache
def _builtins() -> dict[str, Any]:
    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        return _ours(builtins.__import__(name, *args, **kwargs))

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
        return functools.partial(_copied, f) if _writes(f.__code__) else None
    if isinstance(f, types.MethodType):
        return _inside(f.__func__, lambda own: types.MethodType(own, f.__self__))
    if isinstance(f, functools.partial):
        return _inside(f.func, lambda own: functools.partial(own, *f.args, **f.keywords))
    call = vars(type(f)).get("__call__")
    return _inside(call, lambda own: types.MethodType(own, f)) if type(call) is types.FunctionType else None


def _inside(inner: Any, around: Callable[[Any], Callable[..., Any]]) -> Callable[[], Callable[..., Any]] | None:
    own = with_own_names(inner)
    return None if own is None else lambda: around(own())


def _copied(f: types.FunctionType) -> Callable[..., Any]:
    cells = f.__closure__
    if cells is not None:
        cells = tuple([_own_cell(cell) for cell in cells])
    copy = types.FunctionType(f.__code__, _globals_of(f.__globals__), f.__name__, f.__defaults__, cells)
    if f.__defaults__:
        copy.__defaults__ = tuple([_ours(value) for value in f.__defaults__])
    if f.__kwdefaults__:
        copy.__kwdefaults__ = {name: _ours(value) for name, value in f.__kwdefaults__.items()}
    copy.__qualname__ = f.__qualname__
    return copy


def _own_cell(cell: types.CellType) -> types.CellType:
    """The cell itself, unless what it holds now has another meaning in the copy."""
    try:
        value = cell.cell_contents
    except ValueError:  # empty as yet
        return cell
    ours = _ours(value)
    return cell if ours is value else types.CellType(ours)


def _writes(code: types.CodeType) -> bool:
    """Whether code, or a function defined in it, may write to an array, and leaves the globals alone."""
    instructions = [instruction for each in _codes(code) for instruction in dis.get_instructions(each)]
    if any(instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for instruction in instructions):
        return False  # which would be the copy's
    return any(map(_writing, instructions)) or any(map(_names_a_writer, _codes(code)))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names_a_writer(code: types.CodeType) -> bool:
    """Whether code names what writes to an array, among these the keyword out=."""
    return not _WRITERS.isdisjoint(code.co_names) or any(type(each) is tuple and "out" in each for each in code.co_consts)


def _writing(instruction: dis.Instruction) -> bool:
    """Whether an instruction is `x[i] = y`, `x += y`, `x.real = y` or `x.imag = y`."""
    name = instruction.opname
    return (
        name in ("STORE_SUBSCR", "STORE_SLICE")
        or (name == "BINARY_OP" and instruction.argrepr.endswith("="))
        or (name == "STORE_ATTR" and instruction.argval in ("real", "imag"))
    )
