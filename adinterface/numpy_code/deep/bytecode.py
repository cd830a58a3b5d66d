"""What the instructions of a function say about it: which names it assigns to, and whether it
writes to arrays.
"""

from __future__ import annotations

import dis
import functools
import opcode
from collections.abc import Iterator
from types import CodeType

#: What code names when it writes to an array by a function, a method or an attribute.
_WRITERS = frozenset({
    "at", "copyto", "fill", "fill_diagonal", "flat", "imag", "partition", "place", "put",
    "put_along_axis", "putmask", "real", "sort",
})  # fmt: skip


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


@functools.lru_cache(4096)
def assigns_to_globals(code: CodeType) -> bool:
    """Whether a function has a statement that assigns to a global name."""
    stores = opcode.opmap["STORE_GLOBAL"]
    return any(stores in part.co_code[::2] for part in nested_codes(code))


@functools.lru_cache(4096)
def assigned_free_variables(code: CodeType) -> frozenset[str]:
    """The variables of an outer function that this one assigns to."""
    if not code.co_freevars:
        return frozenset()
    return frozenset(
        instruction.argval
        for part in nested_codes(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
        and instruction.argval in part.co_freevars
    )


@functools.lru_cache(4096)
def writes_to_arrays(code: CodeType) -> bool:
    """Whether code names what writes to an array, among these the keyword out=, or has `x[i] = y`,
    `x += y` or the like.
    """
    names_one = not _WRITERS.isdisjoint(code.co_names) or any(
        type(each) is tuple and "out" in each for each in code.co_consts
    )
    return (
        names_one
        or not _STORES.isdisjoint(code.co_code[::2])
        or not _IN_PLACE.isdisjoint(_instructions(code))
    )


def _instructions(code: CodeType) -> Iterator[tuple[int, int]]:
    """The instructions, each with its number."""
    return zip(code.co_code[::2], code.co_code[1::2])


def _instructions_of(statement: str) -> set[tuple[int, int]]:
    return set(_instructions(compile(statement, "", "exec")))


#: The operations of `x += y` and the like; their numbers distinguish them from `x + y`.
_IN_PLACE = {
    instruction
    for symbol in ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
    for instruction in _instructions_of(f"a {symbol}= b") - _instructions_of(f"a {symbol} b; a = b")
    if instruction[0] == opcode.opmap["BINARY_OP"]
}
_STORES = {opcode.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opcode.opmap}
