"""Whether an error in copied code may be caught, by its own code or by its callers."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FrameType
from typing import Any

from ...core.contract import tracing
from .reach import reached

#: Context managers that let every error pass; any other, as contextlib.suppress, may end it.
_PASSING = frozenset({"catch_warnings", "errstate", "nullcontext", "printoptions"})
#: Those that see the warnings of their block.
_SEEING_WARNINGS = frozenset({"catch_warnings"})
_NAMES = ("LOAD_ATTR", "LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME")
_ENDS_OF_STATEMENTS = ("JUMP", "NOP", "POP_JUMP", "POP_TOP", "RESUME", "RETURN", "STORE")


def caught_by_callers(frame: FrameType, *, warning: bool = False) -> bool:
    """Whether an error or a warning from a frame may be noticed between there and the engine.

    This includes frames of copies, and the user's frames between the first copy and the operator that runs f.
    """
    inside = True
    caller = frame.f_back
    while caller is not None:
        names: Any = caller.f_globals
        module = names.get("__name__") if type(names) is dict else None
        if getattr(names, "deep", False):
            counts = True
        else:
            if isinstance(module, str) and module.startswith("adinterface.") and not f"{module}.".startswith(_OURS):
                inside = inside and module == tracing.__name__  # anything else is the operator
            counts = inside and type(names) is dict and reached(module)
        if counts and catches(caller.f_code, caller.f_lasti, warning=warning):
            return True
        caller = caller.f_back
    return False


_OURS = __package__.rpartition(".")[0] + "."


@functools.lru_cache(4096)
def catches(code: CodeType, at: int, *, warning: bool = False) -> bool:
    """Whether an error that comes from this instruction may end inside of its function."""
    parsed: Any = dis.Bytecode(code)
    entries = parsed.exception_entries
    if not entries:
        return False
    instructions = list(parsed)
    places = {instruction.offset: n for n, instruction in enumerate(instructions)}
    seen: set[int] = set()
    raised = [at]
    while raised:
        offset = raised.pop()
        handler = next((entry.target for entry in entries if entry.start <= offset < entry.end), None)
        if handler is None or handler in seen:
            continue
        seen.add(handler)
        if instructions[places[handler] + 1].opname == "WITH_EXCEPT_START":
            start = min(entry.start for entry in entries if entry.target == handler)
            names = _manager(instructions, places[start])
            if names & _PASSING and not (warning and names & _SEEING_WARNINGS):
                raised.append(instructions[places[handler] + 1].offset)
                continue
        again = _raised_again(instructions, places, places[handler])
        if again is None:
            return True
        raised += again
    return False


def _raised_again(instructions: list[dis.Instruction], places: dict[int, int], handler: int) -> list[int] | None:
    """The places where the paths through a handler raise; None if one of them continues."""
    offsets: list[int] = []
    seen: set[int] = set()
    pending = [handler]
    while pending:
        n = pending.pop()
        if n in seen or n >= len(instructions):
            continue
        seen.add(n)
        instruction = instructions[n]
        name = instruction.opname
        if name in ("RERAISE", "RAISE_VARARGS"):
            offsets.append(instruction.offset)
            continue
        if name.startswith("RETURN") or (name == "POP_EXCEPT" and instructions[n + 1].opname != "RERAISE"):
            return None
        if "JUMP" in name or name in ("FOR_ITER", "SEND"):
            pending.append(places[instruction.argval])
        if "JUMP" not in name or "_IF_" in name:
            pending.append(n + 1)
    return offsets


def _manager(instructions: list[dis.Instruction], start: int) -> set[str]:
    """The names from which the context manager comes whose block starts here."""
    names: set[str] = set()
    for instruction in reversed(instructions[:start]):
        if instruction.opname.startswith(_ENDS_OF_STATEMENTS):
            break
        if instruction.opname.startswith(_NAMES):
            names.add(instruction.argval)
    return names
