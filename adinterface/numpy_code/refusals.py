"""What NumPy code reads when an engine cannot run it: the expression of its own that led there, and what to write instead."""

from __future__ import annotations

import dis
import linecache
import re
import sys
from types import FrameType

NO_NUMBER = "Leave it an array, and write np.sin for math.sin"
#: What to write instead of an expression that would leave the engine, by how it looks.
_LEAVING = {
    r"= \.\.\.$": "Collect the elements in a list and np.stack it, or use np.where",
    r"np\.(asarray|array|asanyarray)\(\[": "Write np.stack([...]) for a list of arrays",
    r"np\.(asarray|array|asanyarray|float64|float32)\(": "Leave it out: it is an array already",
    r"np\.full\(": "Write np.broadcast_to(value, shape)",
    r"np\.arange\(": "Write start + step * np.arange(n) with a number n, or np.linspace",
    r"np\.random\.|rng\.|default_rng": "Draw standard random numbers, then shift and scale them",
    r"\.tolist\(": "Write list(x) for a list of arrays",
    r"np\.vectorize\(": "Call the function on the whole array, with np.where for its branches",
    r"\]$": "Pass the plain array to f as an argument, in Constant(...), so that the engine can index it",
    r"scipy\.": "The function needs plain NumPy arrays: write it with np, np.linalg or a ufunc of scipy.special",
}


def instead_of_leaving(found: str, otherwise: str) -> str:
    """What to write instead of an expression that would leave the engine."""
    return next((text for look, text in _LEAVING.items() if re.search(look, found)), otherwise)


def no_out(function: str) -> str:
    return (
        f"numpy_function: {function} cannot write to out=, because engines cannot differentiate that. Use what it returns; "
        f"for x += y write x = x + y."
    )


def into_plain(function: str) -> str:
    return (
        f"numpy_function: {function} would write its result into a plain NumPy array (out=, or an operator such as +=), which "
        f"would drop its gradient. Use what it returns; for x += y write x = x + y."
    )


def expression() -> str:
    """The expression of the user's code that led here, from the positions that Python keeps; empty if it has no source."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame = frame.f_back
    if frame is None:
        return ""
    code = frame.f_code
    line, end_line, column, end_column = list(code.co_positions())[frame.f_lasti // 2]
    source = linecache.getline(code.co_filename, line, frame.f_globals) if line else ""
    if not source or line != end_line or column is None or end_column is None:
        return ""
    writes = dis.opname[code.co_code[frame.f_lasti]] in ("STORE_SUBSCR", "STORE_SLICE")  # the second from Python 3.12 on
    return source.encode()[column:end_column].decode() + (" = ..." if writes else "")


_NOT_THE_USERS = frozenset({__package__.partition(".")[0], "numpy", "scipy"})
