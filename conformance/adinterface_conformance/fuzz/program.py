"""A program: statements over the leaves of its arguments, as data that can be written, run and shrunk."""

from __future__ import annotations

import contextlib
import functools
import linecache
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from types import MethodType
from typing import Any, Literal

import numpy as np

import adinterface
from adinterface import Constant
from adinterface.core.contract.library import PYTHON, Library
from adinterface.core.contract.nodes import NodeType
from adinterface.core.tree import handler_of

from ..arguments import Arguments
from .nodes import Switch

#: What f returns: a scalar; a scalar with something auxiliary; an array or a tree of arrays.
ResultForm = Literal["scalar", "auxiliary", "tree"]

#: What is special about a statement: a branch on a value; something decided by a static value; a rule that captures what may be
#: differentiated; an exception of NumPy code that is caught. A branch cannot be compiled, unless NumPy code is copied.
Kind = Literal["", "branch", "static", "captured", "caught"]

#: What a program may name. The reference has others in their place.
NAMES: Mapping[str, Any] = {
    "np": np,
    "math": math,
    "contextlib": contextlib,
    "numpy_function": adinterface.numpy_function,
    **{name: getattr(adinterface.rules, name) for name in ("rule", "scalar_rule", "root", "fixed_point", "checkpoint")},
    **{name: getattr(adinterface.loops, name) for name in ("fori_loop", "scan", "cond")},
}

_numbers = count()


@dataclass(frozen=True)
class Statement:
    """Some lines of code, in which `{n}` is the name that they define and `{0}`, `{1}`, ... are those that they use."""

    name: str
    text: str
    operands: tuple[str, ...] = ()
    kind: Kind = ""

    def lines(self) -> list[str]:
        return self.text.format(*self.operands, n=self.name).split("\n")

    def renamed(self, names: Mapping[str, str]) -> Statement:
        return replace(self, operands=tuple([names.get(operand, operand) for operand in self.operands]))


@dataclass(frozen=True)
class Program:
    """A function of some arguments and keywords.

    args, kwargs: values as a caller passes them, with NumPy leaves. results: the expressions that it returns, or adds for a
    scalar; if `auxiliary`, the last is auxiliary. deep: it is NumPy code, which runs as a copy.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    statements: tuple[Statement, ...]
    results: tuple[Statement, ...]
    form: ResultForm
    deep: bool = False

    @property
    def names(self) -> list[str]:
        return ["a", "b", "c", "d"][: len(self.args)]

    @property
    def kinds(self) -> set[Kind]:
        return {statement.kind for statement in self.statements}

    @functools.cached_property
    def arguments(self) -> Arguments:
        return Arguments(self.args, self.kwargs)

    def place(self, path: str) -> str:
        """A path of `Arguments` in the words of the program."""
        number, _, rest = path.removeprefix("args[").partition("]")
        return self.names[int(number)] + rest

    def source(self) -> str:
        """The function `f`, as text; it wants `array_namespace` and some of NAMES."""
        lines = ["@numpy_function(deep=True)"] if self.deep else []
        lines.append(f"def f({', '.join([*self.names, *self.kwargs])}):")
        lines.append("    xp = np" if self.deep else f"    xp = array_namespace({self.place(self.arguments.paths[0])})")
        lines += [f"    {line}" for statement in self.statements for line in statement.lines()]
        lines.append(f"    return {self._returned()}")
        return "\n".join(lines) + "\n"

    def _returned(self) -> str:
        results = [result.text.format(*result.operands) for result in self.results]
        if self.form == "scalar":
            return " + ".join(results)
        if self.form == "auxiliary":
            return f'{" + ".join(results[:-1])}, {{"aux": {results[-1]}, "word": "text"}}'
        if len(results) == 1:
            return results[0]
        return f'{{"first": {results[0]}, "rest": [{", ".join(results[1:])}]}}'

    def function(self, array_namespace: Callable[..., Any], **names: Any) -> Callable[..., Any]:
        """The function, with this `array_namespace`, and other values for the given names of NAMES."""
        source, name = self.source(), f"<fuzz {next(_numbers)}>"
        scope: dict[str, Any] = {**NAMES, **names, "array_namespace": array_namespace}
        exec(compile(source, name, "exec"), scope)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        f: Callable[..., Any] = scope["f"]
        return f

    def used(self) -> set[str]:
        """All operands of all statements."""
        return {operand for each in (*self.statements, *self.results) for operand in each.operands}

    def without_dead_code(self) -> Program:
        """The program without statements that nothing uses."""
        wanted, kept = {operand for result in self.results for operand in result.operands}, []
        for statement in reversed(self.statements):
            if statement.name in wanted:
                kept.append(statement)
                wanted.update(statement.operands)
        return replace(self, statements=tuple(reversed(kept)))


# Values as text ------------------------------------------------------------------------------------------------------


def written(value: Any, native: Callable[[str], bool] = lambda path: False, path: str = "") -> str:
    """A value as Python code; leaves for whose path `native` holds are written `native(...)`."""
    if isinstance(value, Switch):
        return "setting"  # by name, for it is turned
    if isinstance(value, MethodType):
        return f"{written(value.__self__)}.{value.__name__}"
    if isinstance(value, Constant):
        return f"Constant({written(value.value, native, path)})"
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType):
        children, data = handler.flatten(value)
        texts = [written(child, native, path + key) for child, key in zip(children, handler.paths(data, len(children)))]
        return _node(value, texts)
    if isinstance(handler, Library) and handler is not PYTHON:
        text = _array(value)
        return f"native({text})" if native(path) else text
    return repr(value)


def _node(value: Any, texts: Iterable[str]) -> str:
    cls = type(value)
    if isinstance(value, dict):
        inside = "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(value, texts)) + "}"
        if cls is dict:
            return inside
        if isinstance(value, defaultdict):
            return f"defaultdict({getattr(value.default_factory, '__name__', None)}, {inside})"
        return f"OrderedDict({inside})"
    if cls is list:
        return f"[{', '.join(texts)}]"
    if cls is tuple:
        return f"({', '.join(texts)}{',' if len(value) == 1 else ''})"
    return f"{cls.__name__}({', '.join(texts)})"


def _array(value: Any) -> str:
    numbers = repr(_plain(value))
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({numbers})"
    dtype = "" if value.dtype.name in ("float64", "complex128") and value.size else f", dtype={value.dtype.str!r}"
    shape = f".reshape({value.shape})" if not value.size else ""
    return f"np.array({numbers}{dtype}){shape}"


def _plain(value: Any) -> Any:
    """The numbers as nested lists, each with the digits that its dtype has."""
    if np.ndim(value):
        return [_plain(row) for row in value]
    number = value.item()
    return type(number)(str(value[()])) if isinstance(number, (float, complex)) else number
