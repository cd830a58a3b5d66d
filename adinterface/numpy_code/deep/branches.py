"""Branches on numbers that a compiled call does not know: those that only check, and those that SciPy masks."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..array import NumpyArray
from .catching import catches, caught_by_callers
from .plain import unknown

#: Methods of SciPy's distributions, which write values by a mask where it is true anywhere.
_MASKED = frozenset({"cdf", "isf", "logcdf", "logpdf", "logpmf", "logsf", "pdf", "pmf", "ppf", "sf", "stats"})
_DISTRIBUTIONS = "scipy.stats._distn_infrastructure"


def passing(frame: FrameType) -> bool | None:
    """The value of a condition with which the code continues without an error or a warning; None if both branches do.

    A compiled call, which does not know the numbers, skips checks of numbers. Numbers that a check would have refused are then
    computed with, as in NumPy, most often to nan. A check that may be caught decides the result: there both branches continue.
    """
    code = frame.f_code
    result, warns = _going_on(code, frame.f_lasti)
    if result is not None and caught_by_callers(frame, warning=warns):
        result = None
    if result is None and frame.f_globals.get("__name__") == _DISTRIBUTIONS and code.co_name in _MASKED:
        return True
    return result


@functools.lru_cache(4096)
def _going_on(code: CodeType, at: int) -> tuple[bool | None, bool]:
    """What the condition must be, as far as this function alone is concerned; and whether the other way only warns."""
    instructions = list(dis.get_instructions(code))
    places = {instruction.offset: n for n, instruction in enumerate(instructions)}
    n = places[at]
    if instructions[n].opname == "COMPARE_OP":  # which Python 3.13 lets make the truth value, too
        n += 1
    negated = False
    while not instructions[n].opname.startswith("POP_JUMP"):
        if instructions[n].opname == "UNARY_NOT":
            negated = not negated
        elif instructions[n].opname not in ("TO_BOOL", "COPY", "NOP", "CACHE"):
            return None, False
        n += 1
    jump = instructions[n]
    if "NONE" in jump.opname or jump.argval not in places:
        return None, False
    target = places[jump.argval]
    stops, elsewhere = _raises(code, instructions, n + 1), _raises(code, instructions, target)
    warns = stops == elsewhere
    if warns:
        if stops or target <= n or not _warns(instructions[n + 1 : target], instructions[:n] + instructions[target:]):
            return None, False
        if catches(code, at, warning=True):
            return None, False
        stops = True
    jumps = stops  # away from what raises
    when_true = "TRUE" in jump.opname
    return (when_true if jumps else not when_true) != negated, warns


def _raises(code: CodeType, instructions: list[dis.Instruction], n: int) -> bool:
    """Whether this way leaves the function by a raise statement, before it computes anything that lasts."""
    for instruction in instructions[n : n + 120]:
        name = instruction.opname
        if name == "RAISE_VARARGS":
            return not catches(code, instruction.offset)
        if name.startswith(("RETURN", "YIELD", "FOR_ITER", "STORE_ATTR", "STORE_SUBSCR", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")):
            return False
        if name.startswith(("POP_JUMP", "JUMP")):
            return False
    return False


def _warns(block: list[dis.Instruction], rest: list[dis.Instruction]) -> bool:
    """Whether statements do nothing but warn; `rest` is what may go on with their variables."""
    names = {instruction.argval for instruction in block if instruction.opname.startswith("LOAD")}
    texts = {instruction.argval for instruction in block if instruction.opname == "STORE_FAST"}
    if texts & {instruction.argval for instruction in rest if instruction.opname.startswith("LOAD_FAST")}:
        return False
    lasting = (
        "STORE_DEREF", "STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR", "RETURN", "YIELD", "RAISE", "POP_JUMP", "FOR_ITER",
        "DELETE",
    )  # fmt: skip
    return bool(names & {"warn", "warnings"}) and not any(instruction.opname.startswith(lasting) for instruction in block)


def _safely(mask: Any, arrays: Any) -> list[Any]:
    """Each array, with the first element that the mask selects in place of those that it does not.

    If it selects none, the result is not used, and may be anything: it is not differentiated.
    """
    flat = np.ravel(mask)
    if not flat.size:
        return list(arrays)
    first = np.arange(flat.size) == np.argmax(flat)
    result = []
    for array in arrays:
        line = np.ravel(array)
        picked = np.sum(np.where(first & flat, line, np.where(first, _still(line), 0)))
        result.append(np.reshape(np.where(flat, line, picked), np.shape(array)))
    return result


def _still(x: Any) -> Any:
    """x without a derivative."""
    return NumpyArray(x._engine.library.stopped(x._array), x._engine) if type(x) is NumpyArray else x


def argsreduce(real: Callable[..., Any]) -> Callable[..., Any]:
    """scipy.stats' choice of the arguments that a distribution takes: all of them, where the mask is not known."""

    @functools.wraps(real)
    def call(cond: Any, *args: Any) -> Any:
        if not unknown(cond):
            return real(cond, *args)
        mask = np.atleast_1d(cond)
        caller = sys._getframe(1)
        arrays = [np.broadcast_to(np.atleast_1d(_end_of_support(arg, caller)), mask.shape) for arg in args]
        return [np.ravel(a) for a in _safely(mask, arrays)]

    return call


def _end_of_support(x: Any, caller: FrameType) -> Any:
    """x. An end of the support that a distribution computes as `_a * scale + loc` has no derivative where it is infinite: it is
    masked where it is not used, but zero times infinity is nan."""
    names = caller.f_locals
    for bound, standard in (("lower_bound", "_a"), ("upper_bound", "_b")):
        end = names.get(standard)
        if type(x) is NumpyArray and end is not None and x is names.get(bound):
            finite = np.isfinite(end)
            moved = np.where(finite, end, 0.0) * names["scale"] + names["loc"]
            return np.where(finite, moved, _still(x))
    return x


def apply_where(real: Callable[..., Any]) -> Callable[..., Any]:
    """array_api_extra's choice between two functions: both are called if the mask is unknown."""

    @functools.wraps(real)
    def call(cond: Any, f1: Any, f2: Any, fill_value: Any, *args: Any, **more: Any) -> Any:
        if not unknown(cond):
            return real(cond, f1, f2, fill_value, *args, **more)
        names = more.get("kwkeys", ())  # of the last of the arguments, from SciPy 1.18 on
        first = len(args) - len(names)
        arrays = [np.broadcast_to(a, np.shape(cond)) for a in args]

        def asked(f: Any, where: Any) -> Any:
            safe = _safely(where, arrays)
            return f(*safe[:first], **dict(zip(names, safe[first:])))

        return np.where(cond, asked(f1, cond), fill_value if f2 is None else asked(f2, ~cond))

    return call


def contains_nan(real: Callable[..., Any]) -> Callable[..., Any]:
    """The search for nan in SciPy, whose result does not matter if nan propagates."""

    @functools.wraps(real)
    def call(a: Any, nan_policy: str = "propagate", **keywords: Any) -> Any:
        return False if nan_policy == "propagate" and unknown(a) else real(a, nan_policy, **keywords)

    return call


def first_moments(real: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn's mean and variance of the old and the new data; of the new data alone if there is no old.

    There scikit-learn divides zero by zero, and replaces the result.
    """

    @functools.wraps(real)
    def call(X: Any, last_mean: Any, last_variance: Any, last_sample_count: Any, sample_weight: Any = None) -> Any:
        mean, variance, count = real(X, last_mean, last_variance, last_sample_count, sample_weight)
        if variance is None or not isinstance(X, NumpyArray) or unknown(last_sample_count) or np.any(last_sample_count != 0):
            return mean, variance, count
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        distances = np.where(np.isnan(X), 0.0, X - mean)
        return mean, (weights @ distances**2 - (weights @ distances) ** 2 / count) / count, count

    return call


def all_finite(real: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn's check of an array, which only raises."""

    @functools.wraps(real)
    def call(x: Any, *args: Any, **keywords: Any) -> None:
        if not unknown(x):
            real(x, *args, **keywords)

    return call


def place(real: Callable[..., Any], caller: FrameType, arr: Any, mask: Any, values: Any) -> bool:
    """Writes a SciPy distribution's values, computed everywhere, where they are used."""
    if not unknown(mask) or (np.size(values) != 1 and caller.f_globals.get("__name__") != _DISTRIBUTIONS):
        return False
    values = np.reshape(values, ()) if np.size(values) == 1 else np.reshape(values, np.shape(mask))
    arr[...] = np.where(mask, values, arr)
    return True
