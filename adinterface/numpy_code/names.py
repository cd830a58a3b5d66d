"""NumPy's functions by name, and what to write where one of them cannot work."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from .functions import named

#: The modules whose functions reach the wrappers through NumPy's protocols, by the prefix of their
#: names here.
_MODULES = {"": np, "linalg.": np.linalg, "fft.": np.fft}

#: Functions of NumPy that are also in scipy.special, under another name: an engine with one has the
#: other.
_OF_SPECIAL: dict[Any, str] = {np.i0: "special.i0"}


@functools.cache
def names_of() -> dict[Any, tuple[str, ...]]:
    """The names of each public function of NumPy: `np.abs` is `absolute`, then `abs`."""
    known: dict[Any, list[str]] = {}
    for prefix, module in _MODULES.items():
        for attribute in dir(module):
            function = getattr(module, attribute)
            if attribute.startswith("_") or not callable(function) or isinstance(function, type):
                continue
            names = known.setdefault(function, [])
            canonical = attribute == getattr(function, "__name__", "")
            names.insert(0 if canonical else len(names), prefix + attribute)
    return {function: tuple(names) for function, names in known.items()}


def names(function: Any) -> tuple[str, ...]:
    """The names under which an engine may offer a function, the canonical one first.

    None for a function of another module than those, which may only be called as one of them is:
    `np.emath.log` is complex where `np.log` is nan.
    """
    if function in _OF_SPECIAL:
        return (_OF_SPECIAL[function],)
    known = names_of().get(function)
    if known is not None:
        return known
    return (f"special.{function.__name__}",) if _special(function) else ()


def _special(function: Any) -> bool:
    if not isinstance(function, np.ufunc):
        return False
    # If f has one of these functions, its module is imported. Some are for scipy.stats alone.
    modules = (sys.modules.get("scipy.special"), sys.modules.get("scipy.special._ufuncs"))
    return any(getattr(module, function.__name__, None) is function for module in modules)


def spelled(function: Any) -> str:
    """How a user writes the function."""
    known = names_of().get(function)
    if known is not None:
        return f"np.{known[0]}"
    if _special(function):
        return f"scipy.special.{function.__name__}"
    name = getattr(function, "__name__", str(function))
    if getattr(np.emath, name, None) is function:  # which says that it is of numpy.lib.scimath
        return f"np.emath.{name}"
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


#: Parameters that are counts or axes. NumPy accepts its own integers there, engines may need
#: Python's.
COUNTS = frozenset({
    "N", "M", "axes", "axis", "axis1", "axis2", "axisa", "axisb", "axisc", "correction", "ddof",
    "decimals", "deg", "destination", "indices_or_sections", "k", "kth", "m", "minlength", "n",
    "num", "offset", "ord", "pad_width", "repeats", "reps", "s", "shape", "shift", "source",
    "start",
})  # fmt: skip

#: Parameters that are several axes or lengths: any sequence for NumPy, a tuple for engines.
TUPLES = frozenset(
    {
        "axes",
        "axis",
        "destination",
        "indices_or_sections",
        "new_shape",
        "reps",
        "s",
        "shape",
        "source",
    }
)

#: Functions that move elements, for integer arrays: NumPy computes where each element goes.
PLAIN = frozenset({"obj", "pad_width", "repeats", "shift"})


@functools.cache
def _parameter(function: Callable[..., Any], place: int | str) -> str:
    """The name of the parameter at this position, "" where it is not known."""
    if isinstance(place, str):
        return place
    try:
        parameters = list(inspect.signature(function).parameters)
    except ValueError:  # older versions of NumPy have no signatures of C functions
        return ""
    return parameters[place] if place < len(parameters) else ""


def counts(function: Callable[..., Any], place: int | str) -> bool:
    """Whether the argument at this position, or of this name, counts or chooses axes."""
    return _parameter(function, place) in COUNTS


#: Functions with a sequence of arrays, its position, and the names of such parameters: elsewhere a
#: sequence is one array.
SEVERAL: dict[Any, tuple[int | str, ...]] = {
    np.concatenate: (0, "arrays"), np.stack: (0, "arrays"), np.vstack: (0, "tup"),
    np.hstack: (0, "tup"), np.dstack: (0, "tup"), np.column_stack: (0, "tup"),
    np.block: (0, "arrays"), np.linalg.multi_dot: (0, "arrays"), np.lexsort: (0, "keys"),
    np.select: (0, 1, "condlist", "choicelist"), np.choose: (1, "choices"),
}  # fmt: skip


def takes_axes(function: Callable[..., Any], place: int | str) -> bool:
    """Whether the argument at this position, or of this name, is some axes or lengths, of which f
    may have computed one.
    """
    return _parameter(function, place) in TUPLES


def for_numpy(function: Callable[..., Any], place: int | str, value: Any) -> Any:
    """A sequence, or an array of integers, as NumPy's answer and the engines' functions take it in
    such a place; else None.
    """
    name = _parameter(function, place)
    if name in TUPLES:
        return (
            tuple(value)
            if isinstance(value, (list, range))
            else tuple(value.tolist())
            if value.ndim
            else value.tolist()
        )
    plain = name in PLAIN and not isinstance(value, list) and np.asarray(value).dtype.kind in "iub"
    return np.asarray(value) if plain else None


@functools.cache
def place_of_out(function: Callable[..., Any]) -> int | None:
    """Where a function takes out= by position; None where it does not."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return None
    by_position = [
        name
        for name, parameter in parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return by_position.index("out") if "out" in by_position else None


#: Methods of ndarray that change its memory, and what to write instead.
WRITING = {
    "resize": "np.resize(x, shape)",
    "setfield": "np.where(condition, a, b)",
    "setflags": "nothing: whether these arrays can be written to is settled",
    "byteswap": "x.astype(dtype)",
}

#: Functions that write to an argument, or need NumPy's memory, and what to write instead.
INSTEAD = {
    "apply_along_axis": "the function's own axis argument, or np.stack over a loop",
    "apply_over_axes": "the function's own axis argument",
    "histogram_bin_edges": "np.linspace(np.min(x), np.max(x), bins + 1)",
    **dict.fromkeys(
        ("histogram", "histogram2d", "histogramdd"),
        "np.searchsorted and comparisons; a histogram has no derivative",
    ),
    **dict.fromkeys(
        ("save", "savetxt", "savez"), "f that returns the array, and save what the operator returns"
    ),
    **dict.fromkeys(("array2string", "array_repr", "array_str"), "f'{x}' to look at the numbers"),
    "spacing": "x * np.finfo(float).eps",
    "poly": "a product of linear factors by np.convolve",
    "polydiv": "np.linalg.lstsq on the matrix of the convolution",
    "trim_zeros": "a slice of known length",
    "real_if_close": "np.real",
    "setdiff1d": "x[~np.isin(x, y)]",
    "setxor1d": "comparisons with np.isin",
    "intersect1d": "x[np.isin(x, y)]",
    "ravel_multi_index": "sums of indices times strides",
    "ix_": "x[rows[:, None], columns[None, :]]",
    **dict.fromkeys(
        ("may_share_memory", "shares_memory"),
        "nothing: what shares memory is NumPy's answer for NumPy's arrays alone",
    ),
    "roots": "np.linalg.eigvals of the companion matrix",
}


def instead_of(function: Any) -> str | None:
    """What to write instead of a function that works on no engine."""
    known = names_of().get(function)
    if known is not None:
        return INSTEAD.get(known[0])
    name = getattr(function, "__name__", "")
    return (
        f"np.{name}(x + 0j)"
        if getattr(np.emath, name, None) is function and hasattr(np, name)
        else None
    )


def by_columns(order: str | None, shape: Sequence[int]) -> bool:
    """Whether `order` is Fortran order.

    Two of NumPy's four values depend on the memory layout, which engines do not have.
    """
    kind = (order or "C")[:1].upper()
    if kind in "AK" and sum(length != 1 for length in shape) < 2:
        return False  # one line has one order
    if kind in "AK":
        raise NumpyCodeError(
            f"numpy_function: order={order!r} depends on how an array lies in memory, which an"
            " engine's array does not tell. Write order='C' or order='F'."
        )
    if kind not in "CF":
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return kind == "F"


#: The ufunc of each operator, by the name of its method.
ARITHMETIC: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "matmul": np.matmul,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift,
}  # fmt: skip

#: A ufunc's reduction and accumulation, as functions.
REDUCE: dict[np.ufunc, Callable[..., Any]] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip
ACCUMULATE: dict[np.ufunc, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}


def _with(word: str) -> frozenset[Any]:
    """NumPy's functions for which a word of the table holds."""
    modules = (np, np.linalg)
    return frozenset(getattr(m, name) for m in modules for name in named(word) if hasattr(m, name))


NUMBERS, MAKING_ARRAYS = _with("view-or-number"), _with("view-array")
#: The functions whose result may share the memory of an argument.
VIEWS = _with("view") | NUMBERS | MAKING_ARRAYS
#: The functions whose results without axes are not always numbers.
NOTED = VIEWS | _with("array")
