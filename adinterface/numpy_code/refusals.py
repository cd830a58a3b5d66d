"""Refusals of NumPy code that an engine cannot run: the user's expression, and what to write
instead.
"""

from __future__ import annotations

import contextlib
import dis
import itertools
import linecache
import re
import struct
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
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


NO_NUMBER = "Leave it an array, and write np.sin for math.sin"
#: What to write instead of an expression that would leave the engine, by how it looks.
_LEAVING = {
    r"(= \.\.\.|\.(fill|put|__setitem__)\(.*\))$": (
        "f itself has not made that array: write a = np.array(a) in f first"
    ),
    r"np\.(asarray|array|asanyarray)\([\[(]": "Write np.stack([...]) for a list of arrays",
    r"np\.(asarray|array|asanyarray|float64|float32)\(": "Leave it out: it is an array already",
    r"np\.full\(": "Write np.broadcast_to(value, shape)",
    r"np\.arange\(": "Write start + step * np.arange(n) with a number n, or np.linspace",
    r"np\.random\.|rng\.|default_rng": "Draw standard random numbers, then shift and scale them",
    r"\.tolist\(": "Write list(x) for a list of arrays",
    r"np\.vectorize\(": "Call the function on the whole array, with np.where for its branches",
    r"\]$": (
        "Pass the plain array to f as an argument, in Constant(...), so that the engine can"
        " index it"
    ),
}
_OF_MASKS = (
    "Engines have no masked arrays: write np.where(mask, 0.0, x), and divide sums by np.sum(~mask)"
)
#: The same for functions of SciPy, by how their calls look.
_OF_SCIPY = {
    r"\blogsumexp\(": "Write m + np.log(np.sum(np.exp(x - m))), where m = np.max(x)",
    r"\bsoftmax\(": "Write e / np.sum(e), where e = np.exp(x - np.max(x))",
    r"\bnorm\.cdf\(": "Write scipy.special.ndtr((x - mean) / deviation)",
    r"\bnorm\.logcdf\(": "Write scipy.special.log_ndtr((x - mean) / deviation)",
    r"\bnorm\.ppf\(": "Write scipy.special.ndtri(p)",
    r"\bnorm\.pdf\(": "Write np.exp(-x**2 / 2) / np.sqrt(2 * np.pi)",
    r"\bnorm\.logpdf\(": "Write -x**2 / 2 - np.log(2 * np.pi) / 2",
    r"\bcholesky\(": "Write np.linalg.cholesky, which gives the lower triangle",
    r"\b(solve|inv|det|pinv|lstsq)\(": r"Write np.linalg.\1",
    r"": (
        "The function needs plain NumPy arrays: write it with np, np.linalg or a ufunc of"
        " scipy.special, or use AutoFiniteDifferences()"
    ),
}


def instead_of_leaving(found: str, otherwise: str) -> str:
    """What to write instead of an expression that would leave the engine."""
    inner = list(itertools.takewhile(_is_not_the_users, _frames()))
    if not _in_scipy() and any(
        frame.f_globals.get("__name__") == "numpy.ma.core" for frame in inner
    ):
        return _OF_MASKS
    for look, text in (_OF_SCIPY if _in_scipy() else _LEAVING).items():
        match = re.search(look, found)
        if match:
            return match.expand(text)
    return otherwise


#: Expressions that keep the gradient in code in which NumPy's names mean ours.
_FOLLOWED = (
    r"(np|numpy)\.(asarray|array|asanyarray|float64|float32|full|arange|vectorize)\(|float\(|math\."
)


def where_deep_helps(found: str) -> str:
    """The note for a refusal that numpy_function(f, deep=True) may avoid: Python code needed a
    plain array.
    """
    if here.running:
        return _left_by_deep()
    return unless_deep(_AS_IT_IS) if _in_scipy() or re.match(_FOLLOWED, found) else ""


def unless_deep(advice: str, deep: bool | None = None) -> str:
    """A remedy: numpy_function(f, deep=True), and what it does; empty if that runs already."""
    return (
        ""
        if (here.running if deep is None else deep)
        else f" numpy_function(f, deep=True) {advice}"
    )


_AS_IT_IS = "runs most of such code as it is."


def _left_by_deep() -> str:
    """The note for code that runs unchanged under deep=True; empty for any other."""
    (frame, _), caller = _of_the_user(), innermost_copy()
    if frame is None or caller is None or caller is frame:
        return ""
    name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"
    return (
        f" deep=True does not reach {name}, which runs as it is. Write what it does as a plain"
        " function."
    )


def in_deep_code() -> bool:
    """Whether the innermost code of the user that runs is the copy of a function."""
    frame, _ = _of_the_user()
    return frame is None or getattr(frame.f_globals, "deep", False)


def _in_scipy() -> bool:
    """Whether a function of SciPy runs that the user's code has called."""
    return "scipy" in itertools.takewhile(_NOT_THE_USERS.__contains__, map(_package_of, _frames()))


def innermost_copy() -> FrameType | None:
    """The innermost frame of the copy of a function."""
    return next((frame for frame in _frames() if getattr(frame.f_globals, "deep", False)), None)


def _is_not_the_users(frame: FrameType) -> bool:
    return _package_of(frame) in _NOT_THE_USERS


def _frames() -> Iterator[FrameType]:
    """The frames that run, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _package_of(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


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
    deep = unless_deep("follows what the code that f calls makes, too.")
    return (
        f"numpy_function: {function} would write its result into a plain NumPy array (out=, or an"
        " operator such as +=), which would drop its gradient: f itself has not made that array."
        f" Write a = np.array(a) in f first, and pass that to code that you cannot change.{deep}"
    )


def of_subclass(cls: type, instead: str) -> str:
    deep = unless_deep("runs most classes that add methods and attributes.")
    return (
        f"numpy_function: {expression() or 'this'} makes an object of"
        f" {cls.__module__}.{cls.__qualname__}, a subclass of numpy.ndarray, which an engine's"
        f" array cannot be. {instead}.{deep}"
    )


def outside_remedies(error: BaseException, deep: bool) -> str | None:
    """The remedies for a refusal of code in an installed package."""
    frame, _ = _raising(error, _NOT_THE_USERS | ENGINES)
    if frame is None or not frame.f_code.co_filename.startswith(_INSTALLED):
        return None
    return (
        f"This is code of {_package_of(frame) or 'a package'}, which need not be"
        f" changed.{unless_deep(_AS_IT_IS, deep)} Where it writes into its argument, pass it"
        " x.copy(). adinterface.rules.differentiate_with gives the function that calls it a"
        " derivative, and AutoFiniteDifferences() takes it as it is."
    )


#: The folders of installed packages, and of Python's own.
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")})


def expression() -> str:
    """The expression of the user's code that runs, from the positions that Python keeps; empty if
    it has no source.
    """
    return _expression_at(*_of_the_user())


def expression_of(error: BaseException) -> str:
    """The expression of the user's code from which an error came that NumPy itself raised."""
    return _expression_at(*_raising(error, _NOT_THE_USERS))


def _of_the_user() -> tuple[FrameType | None, int]:
    """The innermost frame of the user's code, and its instruction."""
    frame = next((frame for frame in _frames() if _package_of(frame) not in _NOT_THE_USERS), None)
    return frame, 0 if frame is None else frame.f_lasti


def _raising(error: BaseException, others: frozenset[str]) -> tuple[FrameType | None, int]:
    """The innermost frame from which an error came that is of no other package, and its
    instruction.
    """
    trace, frame, at = error.__traceback__, None, 0
    while trace is not None:
        if _package_of(trace.tb_frame) not in others:
            frame, at = trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next
    return frame, at


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


_BEFORE = (
    "Compute what is constant before the call, and pass it to f; give the function a derivative"
    " with adinterface.rules.differentiate_with, or use AutoFiniteDifferences()"
)
_EARLIER = "Make keys and bytes before the call, of the plain numbers, and pass them to f"
_BASE = "Call the method of the array itself, and np.zeros for the constructor"
#: Remedies for errors that C code and Python raise for an object that is no plain array or number,
#: by a pattern of the error.
_NO_ARRAYS = {
    r"object __array__ method not producing an array": "Call the object's __array__() instead",
    r"requires a 'numpy\.ndarray' object but|'numpy\.ndarray' objects doesn't apply|is not a subtype of numpy\.ndarray": (  # noqa: E501
        _BASE
    ),
    r"^object supporting the buffer API required$|a bytes-like object is required, not '(NumpyArray|MadeArray)'": (  # noqa: E501
        _EARLIER
    ),
    r"^required argument is not an? (float|integer)$": _EARLIER,
    r"^Derivatives of non-symmetric eigenvectors": (
        "np.linalg.eigvals has one, and np.linalg.eigh, also of its vectors"
    ),
    r"incompatible function arguments": _BEFORE,
    r"^(Function call with ambiguous argument types|argument should be a string or a Rational instance)$": (  # noqa: E501
        _BEFORE
    ),
    r"^(?!.*(unsupported operand|not supported between|object is not |object does not )).*(NumpyArray|MadeArray)": (  # noqa: E501
        _BEFORE
    ),
}


def of_others(error: BaseException, deep: bool) -> str | None:
    """The refusal in place of the error that other code raises for an engine's array; None for any
    other error.
    """
    said = str(error)
    instead = next(
        (text for look, text in _NO_ARRAYS.items() if re.search(look, said, re.DOTALL)), None
    )
    if instead is None or not isinstance(
        error, (TypeError, ValueError, NotImplementedError, struct.error)
    ):
        return None
    said = re.sub(
        "NumpyArray|MadeArray", "array", re.split(r"\n| are only valid|\. The following", said)[0]
    )
    lacks = isinstance(error, NotImplementedError)
    why = (
        "has no derivative on this engine"
        if lacks
        else "needs plain arrays or numbers of Python, which those here are not"
    )
    advice = "" if lacks else unless_deep(_AS_IT_IS, deep)
    return f"numpy_function: {expression_of(error) or 'this'} {why} ({said}). {instead}.{advice}"


def _expression_at(frame: FrameType | None, instruction: int) -> str:
    if frame is None:
        return ""
    code = frame.f_code
    source = source_at(code, instruction, code.co_filename, frame.f_globals)
    # the second from Python 3.12 on
    writes = dis.opname[code.co_code[instruction]] in ("STORE_SUBSCR", "STORE_SLICE")
    return source + (" = ..." if source and writes else "")


def source_at(
    code: CodeType, instruction: int, file: str, names: dict[str, Any] | None = None
) -> str:
    """The source of an instruction; empty if it is not known, or has several lines."""
    line, end_line, column, end_column = list(code.co_positions())[instruction // 2]
    # Python 3.13 knows the source of `python -c`, which has the name of what eval and exec run.
    source = linecache.getline(file, line, names) if line and file != "<string>" else ""
    if not source or line != end_line or column is None or end_column is None:
        return ""
    return source.encode()[column:end_column].decode()


_NOT_THE_USERS = frozenset({__package__.partition(".")[0], "numpy", "scipy"})
#: The packages of the engines, with their import names, and ours.
ENGINES = frozenset(name for auto in BUILT_IN for name in (auto.name, f"adinterface_{auto.name}"))
