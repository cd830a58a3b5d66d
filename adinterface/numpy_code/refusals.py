"""Refusals of NumPy code that an engine cannot run, and what to write instead.

Python underlines the expression in the traceback.
"""

from __future__ import annotations

import contextlib
import re
import struct
import threading
from collections.abc import Iterator
from typing import Any


class Call:
    """What is true of a call of NumPy code, and of the calls in it."""

    def __init__(self) -> None:
        #: The last refusal: C code may replace its error by another that says nothing of it.
        self.refused: str | None = None
        #: By identity, the user's objects that copied code has reached, and their length then.
        self.reached: dict[int, tuple[Any, int]] = {}
        #: Whether it has computed with plain data that are NaN (`gaps`).
        self.gaps = False
        #: Whether a copy of a function runs (`telling_unknown`), and the first error in it that
        #: says that numbers are not known.
        self.running = False
        self.unknown: BaseException | None = None

    def forget(self) -> None:
        """Forget what was refused before."""
        self.refused = None


class _Here(threading.local):
    call: Call | None = None


#: The call that runs in this thread.
here: _Here = _Here()


def running() -> bool:
    """Whether a copy of a function runs, as with deep=True."""
    return here.call is not None and here.call.running


@contextlib.contextmanager
def the_call() -> Iterator[tuple[Call, bool]]:
    """The call that runs, else a new one; and whether it is new."""
    known = here.call
    call = here.call = known or Call()
    try:
        yield call, known is None
    finally:
        here.call = known


def note_unknown(error: BaseException) -> None:
    """Record an error that occurs because numbers are unknown: an `except` may treat it as the
    code's own.
    """
    call = here.call
    if call is not None and call.running and call.unknown is None:
        call.unknown = error


@contextlib.contextmanager
def telling_unknown() -> Iterator[bool]:
    """Raises a recorded error that the code has caught, since it would continue with a false
    assumption.

    Gives whether no other copy runs.
    """
    with the_call() as (call, _):
        outermost, call.running = not call.running, True
        try:
            yield outermost
            if call.unknown is not None:
                raise call.unknown
        finally:
            if outermost:
                call.running, call.unknown = False, None


#: What to write instead of code that would leave the engine.
_LEAVING = (
    "Leave it an array: np and adinterface.scipy have functions for it, np.ma has none. Write"
    " np.stack([...]) for a list of arrays, np.sin for math.sin, and a = np.array(a) in f before"
    " a[0] = x[0]."
)


def of_leaving(made: str) -> str:
    """A conversion that would leave the engine."""
    return (
        f"numpy_function: this code makes {made} of what is differentiated, which would drop its"
        f" gradient. {_LEAVING}{remedies(running())}"
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
    return f"numpy_function: this code writes {what}"


def into_plain(function: str) -> str:
    return (
        f"numpy_function: {function} would write its result into a plain NumPy array (out=, or an"
        " operator such as +=), which would drop its gradient: f itself has not made that array."
        f" Write a = np.array(a) in f first, and pass that to the code.{remedies(running())}"
    )


def of_subclass(cls: type) -> str:
    return (
        f"numpy_function: this code makes an object of"
        f" {cls.__module__}.{cls.__qualname__}, a subclass of numpy.ndarray, which an engine's"
        f" array cannot be. Write np.asarray(x) for it.{remedies(running())}"
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
    return (
        "numpy_function: this code needs plain arrays or numbers of Python, which those here are"
        f" not ({said}). Compute what is constant before the call, and pass it to"
        f" f.{remedies(deep)}"
    )
