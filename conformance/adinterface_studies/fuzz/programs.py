"""Random programs: a strategy of Hypothesis draws the text of a scenario, which runs when it is
pasted.

A program has arguments of any structure, statements on their leaves, and compositions: chains of
blocks that change a vector.
"""

from __future__ import annotations

import dataclasses
import linecache
import re
import types
import warnings
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance import CHECKS, Scenario
from adinterface_conformance.arguments import Arguments
from adinterface_conformance.trees import has_derivative, leaves_inside
from hypothesis import strategies as st

from adinterface import AutoAutograd, AutoBackend, AutoFiniteDifferences
from adinterface.core.operators.table import OperatorRow
from adinterface.tools.facts import operator_rows

from .blocks import BLOCKS, OPERATORS, Block, operator_text
from .statements import (
    CAPTURED,
    CAUGHT,
    RULES,
    SCALARS,
    STATIC,
    Fits,
    Rule,
    complex_,
    integer,
    method,
    python,
    real,
    switch,
    truth,
    word,
)  # fmt: skip

PRELUDE = """
import contextlib
import math
from collections import OrderedDict, defaultdict
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread

import numpy as np
from adinterface_conformance import Scenario
from adinterface_studies.fuzz.judging import *

from adinterface import *
from adinterface.loops import *
from adinterface.rules import *


def total(y):
    xp = array_namespace(y)
    return xp.real(xp.sum(y * y) + y[0] * (0.5 + 0.3j)) if "complex" in str(y.dtype) else xp.sum(y * y) + 0.5 * y[0]


def damped(x):
    xp = array_namespace(x)
    return x / (1.0 + (xp.real(x) ** 2 + xp.imag(x) ** 2 if "complex" in str(x.dtype) else x * x))


def conj(x):
    return array_namespace(x).conj(x) if "complex" in str(x.dtype) else x
"""
#: Nothing in a program may be larger.
LARGEST = 40.0
_SHAPES = ((), (3,), (2,), (2, 3), (3, 3), (2, 2), (1, 3), (3, 1), (2, 3, 2), (1,), (0,), (0, 2))
#: Checks of the kit on random programs; those of hooks leave out what compares the derivative with
#: the value.
LAWS = (
    "value", "companion", "structure", "dtype", "memory", "adjointness", "consistency", "linearity",
    "stacks", "symmetry", "taylor", "constants", "outer", "maps_outside", "identity", "evaluations",
    "arguments_untouched", "received", "own_arrays", "prepared", "batched", "snapshot", "sparse",
)  # fmt: skip
OF_HOOKS = ("structure", "dtype", "memory", "linearity", "stacks", "prepared", "own_arrays")
#: What is compared beside the laws: with another engine; a call that was prepared for other numbers
#: and static values.
OWN = ("agreement", "elsewhere")
#: How NumPy says that shapes, dtypes or numbers do not go together.
_UNSUITABLE = (TypeError, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError)
_numbers = count()


@dataclasses.dataclass(frozen=True)
class Program:
    """A scenario as text, a backend, and the check that is tried."""

    backend: AutoBackend
    operator: str
    check: str
    setup: str
    f: str
    args: tuple[str, ...]
    others: tuple[str, ...]

    def __str__(self) -> str:
        """The program, as one pastes it."""
        args, others = (f"({', '.join(each)},)" for each in (self.args, self.others))
        scenario = f'scenario = Scenario("fuzz/program", {self.operator}, f, {args}'
        if self.check == "elsewhere":
            call = f"elsewhere(scenario, B, {others})"
        elif self.check == "agreement":
            call = "agreement(scenario, B)"
        else:
            call = f'law("{self.check}", scenario, B)'
        inner = inner_of(self.backend)
        made = (
            f"B = {inner!r}\n\n{self.setup}\n\n{self.f}\n\nB = {self.backend!r}\n"
            if inner != self.backend
            else ""
        )
        made = made or f"B = {self.backend!r}\n\n{self.setup}\n\n{self.f}\n\n"
        narrow = any(dtype in arg for dtype in ("float32", "complex64") for arg in self.args)
        return (
            f"{PRELUDE.strip()}\n\n\n{made}{scenario}{', rtol=1e-4' if narrow else ''})\n{call}\n"
        )

    __repr__ = __str__

    def run(self) -> None:
        """Raise what is wrong."""
        source, name = str(self), f"<fuzz {next(_numbers)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        module = types.ModuleType("program")
        exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)


def inner_of(backend: AutoBackend) -> AutoBackend:
    """The backend of the operators inside f: differences have another one, for they are noise
    inside themselves.
    """
    return AutoAutograd() if isinstance(backend, AutoFiniteDifferences) else backend


# Arguments
# ------------------------------------------------------------------------------------------------


class Texts(NamedTuple):
    """A value as code, and another one like it, for which a call may be prepared."""

    text: str
    other: str


@st.composite
def numbers(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> Texts:
    """Numbers some distance from zero."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    values: Any = np.round(rng.uniform(0.1, 1.4, shape) * rng.choice([-1, 1], shape), 2)
    if dtype.startswith("complex"):
        values = values + 1j * np.round(rng.uniform(-1, 1, shape), 2)
    texts = [
        f"np.array({each.tolist()!r}, dtype={dtype!r})"
        for each in map(np.asarray, (values, -values))
    ]
    return Texts(*[f"{text}.reshape({shape})" if 0 in shape else text for text in texts])


@st.composite
def leaves(draw: st.DrawFn, dtype: str) -> Texts:
    """An array, a NumPy scalar or a Python number."""
    kind = draw(st.sampled_from(["array"] * 8 + ["python", "scalar"]))
    if kind == "python":
        text, other = draw(numbers((), "float64"))
        return Texts(f"float({text})", f"float({other})")
    if kind == "scalar":
        text, other = draw(numbers((), dtype))
        return Texts(f"{text}[()]", f"{other}[()]")
    if dtype.startswith("complex") and draw(st.booleans()):
        dtype = "float64" if dtype == "complex128" else "float32"
    return draw(numbers(draw(st.sampled_from(_SHAPES)), dtype))


@st.composite
def trees(draw: st.DrawFn, dtype: str, depth: int) -> Texts:
    """A leaf, or a container of some."""
    if not depth or not draw(st.integers(0, 2)):
        return draw(leaves(dtype))
    children = [draw(_children(dtype, depth - 1)) for _ in range(draw(st.integers(1, 3)))]
    form = draw(
        st.sampled_from(["dict", "list", "tuple", "Pair", "Layer", "OrderedDict", "defaultdict"])
    )
    both = []
    for texts in zip(*children):
        named = "{" + ", ".join(f"{name!r}: {text}" for name, text in zip("xyz", texts)) + "}"
        pair = ", ".join([*texts, "None"][:2])
        both.append({
            "dict": named, "list": f"[{', '.join(texts)}]", "tuple": f"({', '.join(texts)},)",
            "Pair": f"Pair({pair})", "Layer": f"Layer({pair})",
            "OrderedDict": f"OrderedDict({named})", "defaultdict": f"defaultdict(list, {named})",
        }[form])  # fmt: skip
    return Texts(*both)


@st.composite
def _children(draw: st.DrawFn, dtype: str, depth: int) -> Texts:
    kind = draw(st.sampled_from(["tree"] * 8 + ["constant", "static"]))
    if kind == "constant":
        return constant(draw(leaves(dtype)))
    if kind == "static":
        return draw(
            st.sampled_from([Texts(text, text) for text in ("None", "'text'", "2", "True")])
        )
    return draw(trees(dtype, depth))


def constant(value: Texts) -> Texts:
    return Texts(*[f"Constant({text})" for text in value])


#: Static values of every kind, which decide what f does.
_STATIC = [
    Texts("'text'", "'word'"), Texts("True", "False"), Texts("2", "3"),
    Texts("Switch(2)", "Switch(3)"), Texts("Switch(2).raised", "Switch(3).raised"),
]  # fmt: skip


# Statements
# ------------------------------------------------------------------------------------------------


class Scope:
    """The statements so far, and the values of their names without an engine."""

    def __init__(self, backend: AutoBackend, args: Sequence[Any]):
        self.backend = backend
        self.setups: list[str] = []
        self.lines: list[str] = []
        #: Whether the derivative is not that of the value.
        self.hooked = False
        self.values: dict[str, Any] = {"B": AutoAutograd()}
        exec(PRELUDE, self.values)
        self.known: dict[str, Any] = {}
        for name, arg in zip("abcd", args):
            arguments = Arguments((arg,), {})
            inside = arguments.with_leaves(arguments.point)[0][0]
            self.values[name] = inside
            for path, leaf in leaves_inside(arg, name):
                if has_derivative(leaf) or any(own(leaf) for own in _OWN):
                    self.known[path] = eval(path, self.values)
        first = next(
            path
            for path, value in self.known.items()
            if isinstance(value, (np.ndarray, np.generic))
        )
        self.lines.append(f"xp = array_namespace({first})")
        exec(self.lines[0], self.values)

    def tried(self, lines: str, name: str, setup: str = "") -> bool:
        """Whether these lines run, and give moderate numbers. If so, they are kept."""
        scope = dict(self.values)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                exec(setup, scope)
                exec(lines, scope)
            except _UNSUITABLE:
                return False
        value = scope[name]
        if (
            not isinstance(value, (np.ndarray, np.generic))
            or value.dtype.kind not in "fc"
            or value.size > 64
        ):
            return False
        if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0.0) >= LARGEST:
            return False
        self.values, self.known[name] = scope, value
        self.lines.append(lines)
        return True


#: What asks for Python's own values: they are used only there, for a namespace's functions take
#: arrays.
_OWN = (integer, python, word, truth, switch, method)


def _fits(fits: Fits, value: Any) -> bool:
    return fits(value) and (fits in _OWN or not any(own(value) for own in _OWN))


@st.composite
def statement(
    draw: st.DrawFn, scope: Scope, name: str, rules: Sequence[Rule], *, last: bool = False
) -> bool:
    """Add a statement that suits; False if none did."""
    for _ in range(4):
        rule = draw(st.sampled_from(rules))
        fitting = [
            [each for each, value in scope.known.items() if _fits(fits, value)]
            for fits in rule.operands
        ]
        if not all(fitting):
            continue
        operands = [names[-1] if last else draw(st.sampled_from(names[::-1])) for names in fitting]
        with np.errstate(all="ignore"):
            suits = rule.together(*[scope.known[operand] for operand in operands])
        text = rule.text if "{n}" in rule.text else f"{{n}} = {rule.text}"
        if suits and scope.tried(text.format(*operands, n=name), name):
            return True
    return False


@st.composite
def composition(draw: st.DrawFn, scope: Scope, name: str) -> bool:
    """Add a chain of blocks on a vector."""
    vectors = [
        each for each, x in scope.known.items()
        if isinstance(x, np.ndarray) and x.ndim == 1 and len(x) > 1 and (real(x) or complex_(x)) and x.dtype.kind in "fc"
    ]  # fmt: skip
    if not vectors:
        return False
    operand = draw(st.sampled_from(vectors[::-1]))
    x = scope.known[operand]
    written = _Chain(scope, name, x.dtype.kind)
    outermost = draw(written.chain(2, 3))
    text = "\n\n".join(
        [
            f"X = np.array({x.tolist()!r}, dtype={x.dtype.name!r})",
            *written.setups,
            *written.functions,
        ]
    )
    text = re.sub(r"\b(X|layer|layer_of_x)\b", rf"\1_{name}", text)
    if not scope.tried(f"{name} = {outermost}({operand})", name, text):
        return False
    scope.setups.append(text)
    scope.hooked |= written.hooked
    return True


class _Chain:
    """Writes chains of blocks as functions of a module."""

    def __init__(self, scope: Scope, name: str, kind: str):
        self.engine, self.name, self.kind = inner_of(scope.backend).name, name, kind
        self.setups: list[str] = []
        self.functions: list[str] = []
        self.hooked = False

    def chain(self, depth: int, order: int) -> st.SearchStrategy[str]:
        """The name of a function of one or two blocks."""

        @st.composite
        def drawn(draw: st.DrawFn) -> str:
            texts = [
                draw(self.block(depth if n == 0 else 0, order))
                for n in range(draw(st.integers(1, 2)))
            ]
            name = f"{self.name}_{len(self.functions)}"
            body = "\n".join(["xp = array_namespace(x)", *texts, "return x"])
            self.functions.append(
                f"def {name}(x):\n" + "\n".join(f"    {line}" for line in body.split("\n"))
            )
            return name

        return drawn()

    def block(self, depth: int, order: int) -> st.SearchStrategy[str]:
        """The text of a block; the functions that it needs are written before."""
        fitting = [
            each for each in BLOCKS.values()
            if self.kind in each.kinds and each.order <= order and (depth or not each.bodies)
        ]  # fmt: skip

        @st.composite
        def drawn(draw: st.DrawFn) -> str:
            block: Block = draw(st.sampled_from(fitting))
            self.hooked |= block.hooked
            names = [draw(self.chain(depth - 1, order - block.order)) for _ in range(block.bodies)]
            setup = ""
            if block.name in OPERATORS:
                text, made = draw(operator_text(block.name))
                own = f"made_{self.name}_{len(self.functions)}"
                text, made = (re.sub(r"\bmade\b", own, each) for each in (text, made))
            else:
                (text, setup), made = block.engines.get(self.engine, (block.text, block.setup)), ""
            text, made = (
                re.sub(r"\bF(\d)\b", lambda found: names[int(found[1])], each)
                for each in (text, made)
            )
            if setup and setup not in self.setups:
                self.setups.append(setup)
            if made:  # it needs the functions before it
                self.functions.append(made)
            return f"{text}\nx = damped(x)" if block.order else text

        return drawn()


# Programs
# ------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn, backends: Sequence[AutoBackend]) -> Program | None:
    """A program; None if nothing came of the draws."""
    backend = draw(st.sampled_from(backends))
    if any(field.name == "mode" for field in dataclasses.fields(backend)):
        backend = dataclasses.replace(
            backend, mode=draw(st.sampled_from([None, "forward", "reverse"]))
        )  # type: ignore[call-arg]
    row = draw(st.sampled_from(operator_rows()))
    args = draw(_arguments(row))
    values: dict[str, Any] = {}
    exec(PRELUDE, values)
    point = [eval(arg.text, values) for arg in args]
    if not Arguments((point[0],), {}).leaves:
        return None
    scope = Scope(backend, point)
    theme = draw(
        st.sampled_from([RULES, RULES, (*RULES, *STATIC * 3), (*RULES, *CAPTURED * 3), CAUGHT])
    )
    deep = theme is CAUGHT
    for n in range(draw(st.integers(1, 5))):
        woven = not deep and draw(st.integers(0, 2)) == 0
        draw(composition(scope, f"t{n}") if woven else statement(scope, f"t{n}", theme))
    returned = _returned(draw, scope, row)
    if not returned:
        return None
    source = "\n".join([*scope.lines, f"return {returned}"])
    source = f"def f({', '.join('abcd'[: len(args)])}):\n" + "\n".join(
        f"    {line}" for line in source.split("\n")
    )
    if deep:
        source = "@numpy_function(deep=True)\n" + source.replace(scope.lines[0], "xp = np")
    program = Program(
        backend, row.name, "", "\n\n".join(scope.setups), source,
        tuple(_with_direction(row, [arg.text for arg in args])),
        tuple(_with_direction(row, [arg.other for arg in args])),
    )  # fmt: skip
    laws = [*(OF_HOOKS if scope.hooked else LAWS), *OWN]
    stays = [name for name in laws if name in OWN or _holds(CHECKS[name], row, backend)]
    return dataclasses.replace(program, check=draw(st.sampled_from(stays)))


def _holds(check: Any, row: OperatorRow, backend: AutoBackend) -> bool:
    return check.operators(row) and not check.unasked(backend)


@st.composite
def _arguments(draw: st.DrawFn, row: OperatorRow) -> list[Texts]:
    needs_real = (
        row.order == 2
        or bool({"jacobian", "hessian"} & set(row.forms))
        or row.takes == "one number"
    )
    dtype = draw(
        st.sampled_from(
            ["float64"] * 6 + ["float32"] + ([] if needs_real else ["complex128", "complex64"])
        )
    )
    one = row.takes != "arguments"
    args = [draw(numbers((), dtype) if row.takes == "one number" else trees(dtype, 2))]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["tree", "constant", "static"]))
        if kind == "static":
            args.append(constant(draw(st.sampled_from(_STATIC))))
        else:
            args.append(
                constant(draw(leaves(dtype)))
                if one or kind == "constant"
                else draw(trees(dtype, 1))
            )
    return args


def _returned(draw: Callable[..., Any], scope: Scope, row: OperatorRow) -> str:
    """What f returns: a scalar, perhaps with something auxiliary, or a tree."""
    names = [
        name for name, value in scope.known.items() if isinstance(value, (np.ndarray, np.generic))
    ]
    if row.output == "tree":
        chosen = [names[-1], *draw(st.lists(st.sampled_from(names), max_size=2))]
        return (
            chosen[0]
            if len(chosen) == 1
            else f'{{"first": {chosen[0]}, "rest": [{", ".join(chosen[1:])}]}}'
        )
    if not draw(statement(scope, "s0", SCALARS, last=True)):
        return ""
    other = draw(st.booleans()) and draw(statement(scope, "s1", SCALARS))
    scalar = "s0 + s1" if other else "s0"
    if row.output == "scalar and aux" and draw(st.booleans()):
        return f'{scalar}, {{"aux": {names[-1]}, "word": "text"}}'
    return scalar


def _with_direction(row: OperatorRow, args: list[str]) -> list[str]:
    """The arguments of the operator: with a direction after the first, if it takes one."""
    return (
        [args[0], f"direction({args[0]})", *args[1:]]
        if row.directions == "second argument"
        else args
    )


__all__ = ["LAWS", "Program", "Scenario", "programs"]
