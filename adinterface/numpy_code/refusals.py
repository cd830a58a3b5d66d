"""Refusals of NumPy code that an engine cannot run: the user's expression, and what to write
instead.
"""

from __future__ import annotations

import contextlib
import dis
import linecache
import re
import struct
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..core.contract.auto import BUILT_IN


class Ambient(threading.local):
    """What is true of NumPy code that runs in this thread."""

    #: The last refusal: C code may replace its error by another that says nothing of it.
    refused: str | None = None
    #: By identity, the user's objects that copied code has reached in this call, and their length
    #: then; None outside of calls.
    reached: dict[int, tuple[Any, int]] | None = None
    #: Whether this call has computed with plain data that are NaN (`gaps`).
    gaps = False
    #: Whether a copy of a function runs (`telling_unknown`), and the first error in it that says
    #: that numbers are not known.
    running = False
    unknown: BaseException | None = None


here: Ambient = Ambient()


def forget() -> None:
    """Forget what was refused before."""
    here.refused = None


def note_unknown(error: BaseException) -> None:
    """Record an error that occurs because numbers are unknown: an `except` may treat it as the
    code's own.
    """
    if here.running and here.unknown is None:
        here.unknown = error


@contextlib.contextmanager
def telling_unknown() -> Iterator[None]:
    """Raises a recorded error that the code has caught, since it would continue with a false
    assumption.
    """
    outermost, here.running = not here.running, True
    try:
        yield
        if here.unknown is not None:
            raise here.unknown
    finally:
        if outermost:
            here.running, here.unknown = False, None


#: What to write instead of code that would leave the engine.
_LEAVING = (
    "Leave it an array: np and adinterface.scipy have functions for it, np.ma has none. Write"
    " np.stack([...]) for a list of arrays, np.sin for math.sin, and a = np.array(a) in f before"
    " a[0] = x[0]."
)


def of_leaving(what: str) -> str:
    """A conversion that would leave the engine."""
    return (
        f"numpy_function: {expression() or 'this'} {what}, which would drop its gradient."
        f" {_LEAVING}{remedies(here.running)}{_left_by_deep()}"
    )


def remedies(deep: bool) -> str:
    """What there is for code that the user cannot change.

    deep: whether deep=True is among the options already.
    """
    first = "" if deep else "numpy_function(f, deep=True), "
    return (
        f" For code that you cannot change there are {first}adinterface.rules.differentiate_with"
        " and AutoFiniteDifferences()."
    )


def _left_by_deep() -> str:
    """The sentence for code that runs unchanged under deep=True; empty for any other."""
    frame = _of_the_user() if here.running else None
    if frame is None or getattr(frame.f_globals, "deep", False):
        return ""
    name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
    return f" deep=True does not reach {name}."


def in_deep_code() -> bool:
    """Whether the innermost code of the user that runs is the copy of a function."""
    frame = _of_the_user()
    return frame is None or getattr(frame.f_globals, "deep", False)


def _of_the_user() -> FrameType | None:
    """The innermost frame of the user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _package_of(frame) in _NOT_THE_USERS:
        frame = frame.f_back
    return frame


def _package_of(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def expression() -> str:
    """The expression of the user's code that runs, from the positions that Python keeps.

    Empty if it has no source, or several lines.
    """
    frame = _of_the_user()
    return "" if frame is None else _expression_at(frame, frame.f_lasti)


def _expression_at(frame: FrameType, instruction: int) -> str:
    code = frame.f_code
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    # Python 3.13 knows the source of `python -c`, which has the name of what eval and exec run.
    known = line and code.co_filename != "<string>"
    source = linecache.getline(code.co_filename, line, frame.f_globals) if line and known else ""
    if not source or line != end_line or column is None or end_column is None:
        return ""
    # the second from Python 3.12 on
    writes = dis.opname[code.co_code[instruction]] in ("STORE_SUBSCR", "STORE_SLICE")
    return source.encode()[column:end_column].decode() + (" = ..." if writes else "")


#: What a refused write writes to, and what to write instead.
INTO_ARGUMENT = "into an argument of f, which belongs to the caller. Write x = x.copy() first."
INTO_CAPTURED = (
    "what is differentiated into an array that f captures or gets in a Constant, which outlives the"
    " call. Write x = x.copy() in f first."
)
INTO_SHARED = (
    "what is differentiated into memory that a plain NumPy array shares, such as np.asarray of it"
    " in a function that f calls, which would not see it. Write x = x.copy() first."
)
INTO_UNKNOWN_MEMORY = (
    "where a reshape or ravel may look on or not: that depends on how its argument lies in memory,"
    " which an engine's array does not tell. Write x = x.copy() before the reshape or ravel."
)
INTO_UNKNOWN_ELEMENTS = (
    "to elements that are not known yet, because the index is computed from what is compiled or"
    " batched. Write x = np.where(condition, value, x), or call f without compiling it."
)


def of_write(what: str) -> str:
    return f"numpy_function: {expression() or 'x[index] = ...'} writes {what}"


def into_plain(function: str) -> str:
    return (
        f"numpy_function: {function} would write its result into a plain NumPy array (out=, or an"
        " operator such as +=), which would drop its gradient: f itself has not made that array."
        f" Write a = np.array(a) in f first, and pass that to the code.{remedies(here.running)}"
    )


def of_subclass(cls: type) -> str:
    return (
        f"numpy_function: {expression() or 'this'} makes an object of"
        f" {cls.__module__}.{cls.__qualname__}, a subclass of numpy.ndarray, which an engine's"
        f" array cannot be. Write np.asarray(x) for it.{remedies(here.running)}"
    )


def of_key(what: str) -> str:
    return (
        f"numpy_function: {what} makes text, bytes or a key of what is differentiated, which have"
        " no derivative. Make them before the call, of the plain numbers, and pass them to f."
        " print(x) shows numbers."
    )


#: What f has left in an object of the user's.
KEPT = (
    "numpy_function: f keeps what it computes in an object that outlives the call, and a compiled"
    " or batched call does not know the numbers. Return it beside the value, or call f without"
    " preparing it."
)


#: Errors that C code and Python raise for an object that is no plain array or number.
_NO_ARRAYS = re.compile(
    r"object __array__ method not producing an array|requires a 'numpy\.ndarray' object but"
    r"|'numpy\.ndarray' objects doesn't apply|is not a subtype of numpy\.ndarray"
    r"|buffer API required|incompatible function arguments|^required argument is not an?"
    r"|^Function call with ambiguous argument types|a string or a Rational instance$"
    r"|^(?!.*(unsupported operand|not supported between|object is not |object does not ))"
    r".*(NumpyArray|MadeArray)",
    re.DOTALL,
)


def of_others(error: BaseException, deep: bool) -> str | None:
    """The refusal in place of the error that other code raises for an engine's array.

    None for any other error.
    """
    said = str(error)
    if not isinstance(error, (TypeError, ValueError, struct.error)) or not _NO_ARRAYS.search(said):
        return None
    said = re.sub("NumpyArray|MadeArray", "array", re.split(r"\n|\. The following", said)[0])
    trace, found = error.__traceback__, ""
    while trace is not None:
        if _package_of(trace.tb_frame) not in _NOT_THE_USERS:
            found = _expression_at(trace.tb_frame, trace.tb_lasti)
        trace = trace.tb_next
    return (
        f"numpy_function: {found or 'this'} needs plain arrays or numbers of Python, which those"
        f" here are not ({said}). Compute what is constant before the call, and pass it to"
        f" f.{remedies(deep)}"
    )


_NOT_THE_USERS = frozenset({__package__.partition(".")[0], "numpy", "scipy"})
#: The packages of the engines, with their import names, and ours.
ENGINES = frozenset(name for auto in BUILT_IN for name in (auto.name, f"adinterface_{auto.name}"))
