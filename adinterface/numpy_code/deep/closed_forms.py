"""Tests of a parameter for one value, at which code may compute what does not depend on it: a closed form, a result it kept."""

from __future__ import annotations

import ast
import dis
import functools
import warnings
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...core.contract.errors import ClosedFormWarning, levels_to_the_user
from ..array import NumpyArray, known_numbers
from ..made_array import plain
from ..refusals import source_at

#: What code calls "as good as equal": the largest distance from zero.
_CLOSE = 1e-4
_ABSOLUTE = frozenset({"abs", "absolute", "fabs"})
#: Functions that ask whether all elements are equal.
EQUALITIES = frozenset({"allclose", "array_equal", "array_equiv"})


def compared(frame: FrameType, x: Any, other: Any) -> bool | None:
    """The result of a comparison of two keys; None for any other comparison.

    A result that code kept for equal numbers does not depend on what is differentiated now. So a number that is followed is
    equal in a key only to itself. Warns if copied code has compared a differentiated parameter with its own value. In a
    compiled or batched call unknown numbers show nothing.
    """
    code = frame.f_code
    if x.dtype.kind not in "fc" or not x._traced():
        return None
    for side in _keys(code, frame.f_lasti, code.co_filename):
        key = frame.f_locals.get(_name(side))
        if type(side) is ast.Tuple or (type(key) is tuple and any(part is x or part is other for part in key)):
            return type(other) is NumpyArray and other._array is x._array
    if type(other) is not NumpyArray and isinstance(other := plain(other), (int, float, complex, np.ndarray)):
        _warn_of_closed_form(code, frame.f_lasti, x, other)
    return None


@functools.lru_cache(4096)
def _keys(code: CodeType, at: int, file: str) -> tuple[ast.expr, ...]:
    """The tuples, and the names, in a test for equality of two values that are not written there."""
    comparison = _comparison(source_at(code, at, file))
    if comparison is None or not isinstance(comparison.ops[0], (ast.Eq, ast.NotEq)):
        return ()
    sides = (comparison.left, comparison.comparators[0])
    written = any(isinstance(node, ast.Constant) for side in sides for node in ast.walk(side))
    return () if written else tuple([side for side in sides if isinstance(side, (ast.Name, ast.Tuple))])


def _warn_of_closed_form(code: CodeType, at: int, x: Any, other: Any) -> None:
    test = _test(code, at, code.co_filename, code.co_name)
    if test is None or (numbers := known_numbers(x)) is None:
        return
    distance = np.abs(numbers - other) if test.equality else np.where(np.abs(other) <= _CLOSE, numbers - np.abs(other), np.inf)
    near = distance == 0 if test.equality else distance <= 0
    if near.all() if np.ndim(other) else near.any():  # an array that was kept, or one value
        warnings.warn(
            f"numpy_function: {test.text} in {code.co_name} tests a number that is differentiated for one value, which it has. "
            f"What the code computes there instead may not depend on {test.name}, and then the derivative by it is zero. Move "
            f"{test.name} off that value by 1e-6, or use AutoFiniteDifferences().",
            ClosedFormWarning,
            stacklevel=levels_to_the_user("numpy", "scipy"),
        )


class _Test:
    """A comparison in the source of a function."""

    def __init__(self, text: str, name: str, equality: bool):
        self.text, self.name, self.equality = text, name, equality


@functools.lru_cache(4096)
def _test(code: CodeType, at: int, file: str, function: str) -> _Test | None:
    """The comparison that an instruction does, if it is one of a parameter of the function that could hide the parameter."""
    text = source_at(code, at, file)
    expression = _comparison(text)
    if expression is None:
        return None
    equality = isinstance(expression.ops[0], (ast.Eq, ast.NotEq))
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for side in (expression.left, expression.comparators[0]):
        name = _name(side if equality else _inside_of_abs(side))
        if name in parameters and not (equality and _used_where_equal(code, at, name, isinstance(expression.ops[0], ast.Eq))):
            return _Test(text, name, equality)
    return None


def _comparison(text: str) -> ast.Compare | None:
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if isinstance(expression, ast.Call) and len(expression.args) > 1 and _called(expression) in EQUALITIES:
        return ast.Compare(expression.args[0], [ast.Eq()], [expression.args[1]])
    return expression if isinstance(expression, ast.Compare) and len(expression.ops) == 1 else None


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else _name(call.func)


def _name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _inside_of_abs(node: ast.expr) -> ast.expr | None:
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return None
    return node.args[0] if _called(node) in _ABSOLUTE else None


def _used_where_equal(code: CodeType, at: int, name: str, when_true: bool) -> bool:
    """Whether the branch that is taken where both are equal names the parameter, or raises; False of a mask."""
    instructions = list(dis.get_instructions(code))
    places = {instruction.offset: n for n, instruction in enumerate(instructions)}
    n = sum(instruction.offset <= at for instruction in instructions)  # after a call, `at` is behind its start
    while instructions[n].opname in ("CACHE", "TO_BOOL"):
        n += 1
    jump = instructions[n]
    if not jump.opname.startswith("POP_JUMP") or jump.argval not in places:
        return False
    jumps = ("TRUE" in jump.opname) == when_true
    start, end = (places[jump.argval], len(instructions)) if jumps else (n + 1, places[jump.argval])
    for instruction in instructions[start:end]:
        if instruction.opname.startswith("RAISE") or (
            instruction.opname.startswith("LOAD_FAST") and name in str(instruction.argval)
        ):
            return True
        if instruction.opname.startswith(("RETURN", "JUMP")):
            return False
    return False
