"""Random programs: a strategy of Hypothesis draws the text of a scenario, which runs when it is
pasted.

A program has arguments of any structure, and an f of statements on their leaves. Statements have
inner functions, which are drawn in the same way.
"""

from __future__ import annotations

import dataclasses
import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance import CHECKS
from adinterface_conformance.arguments import Arguments
from adinterface_conformance.trees import has_derivative, leaves_inside
from hypothesis import strategies as st

from adinterface import AdinterfaceError, AutoAutograd, AutoBackend, AutoFiniteDifferences
from adinterface.core.operators.table import OperatorRow
from adinterface.tools.facts import operator_rows

from .vocabulary import ELEMENTWISE, PYTHON, SCALARS, VOCABULARY, Block, alike

PRELUDE = """
import contextlib
import math
from collections import OrderedDict, defaultdict
from dataclasses import dataclass

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
#: How NumPy says that shapes, dtypes or numbers do not go together, and autograd that it has no
#: such derivative.
_UNSUITABLE = (
    TypeError, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError, NotImplementedError,
    AdinterfaceError,
)  # fmt: skip
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
        call = f'law("{self.check}", scenario, backend)'
        if self.check in OWN:
            call = f"{self.check}(scenario, backend{f', {others}' if self.check == 'elsewhere' else ''})"
        narrow = any(dtype in arg for dtype in ("float32", "complex64") for arg in self.args)
        return (
            f"{PRELUDE.strip()}\n\n\nB = {inner_of(self.backend)!r}  # of operators inside f\n"
            f"backend = {self.backend!r}\n\n{self.setup}\n\n{self.f}\n\n"
            f'scenario = Scenario("fuzz/program", {self.operator}, f, {args}'
            f"{', rtol=1e-4' if narrow else ''})\n{call}\n"
        )

    __repr__ = __str__

    def run(self) -> None:
        """Raise what is wrong."""
        executed(str(self), {"__name__": "program"})


def executed(source: str, scope: dict[str, Any]) -> None:
    """Run code whose lines tracebacks and `inspect` find."""
    name = f"<fuzz {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec", dont_inherit=True), scope)


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


class Body:
    """The statements of a function so far, and the values of their names without an engine.

    known: the names of the function with their values; captured: those of the functions around it.
    scope: all that code sees. depth, order: how deep functions may be nested in this one, and how
    often differentiated.
    """

    def __init__(
        self, engine: str, numbers: Iterator[int], scope: dict[str, Any], depth: int, order: int
    ):
        self.engine, self.numbers, self.scope = engine, numbers, scope
        self.depth, self.order = depth, order
        self.known: dict[str, Any] = {}
        self.captured: dict[str, Any] = {}
        self.setups: list[str] = []
        self.lines: list[str] = []
        #: Whether the derivative is not that of the value.
        self.hooked = False
        #: Whether the numbers are known at which this is evaluated.
        self.at_one_point = True

    def takes(self, block: Block) -> bool:
        return (
            block.order <= self.order
            and (self.depth > 0 or not block.inner)
            and (self.at_one_point or block.apart is None)
        )

    def within(self, block: Block, x: Any) -> Body:
        """An inner function of a block, of a value like x, which may use names of this one."""
        depth = 0 if block.repeats else self.depth - 1
        order = self.order - block.order
        body = Body(self.engine, self.numbers, dict(self.scope), depth, order)
        body.at_one_point = False
        name = f"x{next(self.numbers)}"
        body.known[name] = body.scope[name] = x
        body.captured = {} if block.before else {**self.captured, **self.known}
        body.lines.append(f"xp = array_namespace({name})")
        return body

    def tried(self, lines: str, name: str, setups: Sequence[str]) -> bool:
        """Whether these lines run, and give moderate numbers. If so, they are kept."""
        scope = dict(self.scope)
        setups = [each for each in dict.fromkeys(setups) if each and each not in self.setups]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                executed("\n\n".join([*setups, lines]), scope)
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
        self.scope, self.known[name] = scope, value
        self.setups += setups
        self.lines.append(lines)
        return True


@st.composite
def statement(
    draw: st.DrawFn, body: Body, kinds: Mapping[str, Sequence[Block]], *, last: bool = False
) -> bool:
    """Add a statement that suits; False if none did. last: of the last value that it can take."""
    for _ in range(4):
        kind = draw(st.sampled_from(list(kinds)))
        block: Block = draw(st.sampled_from([*filter(body.takes, kinds[kind])] or ELEMENTWISE))
        reached = body.known
        if body.captured and draw(st.integers(0, 3)) == 3:
            reached = {**body.captured, **body.known}
        fitting = [
            [name for name, value in reached.items() if block.fits(value, place)][::-1]
            for place in range(len(block.operands))
        ]
        if not all(fitting):
            continue
        operands = [names[0] if last else draw(st.sampled_from(names)) for names in fitting]
        values = [reached[operand] for operand in operands]
        if not block.suits(values):
            continue
        inner = [draw(function(body.within(block, values[0]))) for _ in block.inner]
        name, x = f"t{next(body.numbers)}", values[0]
        setup, text = block.written(
            name, operands, [each.name for each in inner], array_text(x), body.engine
        )
        functions = [each.text for each in inner]
        setups = [each for one in inner for each in one.setups]
        lines = [text] if block.before else [*functions, text]
        setups += functions if block.before else []
        if body.tried("\n".join(lines), name, [*setups, setup]):
            body.hooked |= block.hooked or any(each.hooked for each in inner)
            return True
    return False


class Function(NamedTuple):
    """An inner function: its name, its text, and what stands before f."""

    name: str
    text: str
    setups: list[str]
    hooked: bool


@st.composite
def function(draw: st.DrawFn, body: Body) -> Function:
    """A function from a value like its parameter to another one."""
    ((parameter, x),) = body.known.items()
    for _ in range(draw(st.integers(1, 2))):
        draw(statement(body, VOCABULARY))
    returned = next(name for name, y in reversed(body.known.items()) if alike(x, y))
    name = f"f{next(body.numbers)}"
    text = f"def {name}({parameter}):\n{indented([*body.lines, f'return {returned}'])}"
    return Function(name, text, body.setups, body.hooked)


def indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))


def array_text(x: Any) -> str:
    """The code of an array."""
    x = np.asarray(x)
    return f"np.array({x.tolist()!r}, dtype={x.dtype.name!r})"


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
    values: dict[str, Any] = {"B": AutoAutograd()}
    exec(PRELUDE, values)
    point = [eval(arg.text, values) for arg in args]
    if not Arguments((point[0],), {}).leaves:
        return None
    names = [f"x{n}" for n in range(len(args))]
    body = Body(inner_of(backend).name, count(len(args)), values, depth=2, order=3)
    for name, arg in zip(names, point):
        _enter(body, name, arg)
    arrays = [name for name, x in body.known.items() if isinstance(x, (np.ndarray, np.generic))]
    body.lines.append(f"xp = array_namespace({', '.join(arrays)})")
    exec(body.lines[0], body.scope)
    for _ in range(draw(st.integers(1, 5))):
        draw(statement(body, VOCABULARY))
    returned = _returned(draw, body, row)
    if not returned:
        return None
    program = Program(
        backend, row.name, "", "\n\n".join(body.setups),
        f"def f({', '.join(names)}):\n{indented([*body.lines, f'return {returned}'])}",
        tuple(_with_direction(row, [arg.text for arg in args])),
        tuple(_with_direction(row, [arg.other for arg in args])),
    )  # fmt: skip
    laws = [*(OF_HOOKS if body.hooked else LAWS), *OWN]
    stays = [name for name in laws if name in OWN or _holds(CHECKS[name], row, backend)]
    return dataclasses.replace(program, check=draw(st.sampled_from(stays)))


def _enter(body: Body, name: str, arg: Any) -> None:
    """An argument of f, and its leaves."""
    arguments = Arguments((arg,), {})
    body.scope[name] = arguments.with_leaves(arguments.point)[0][0]
    for path, leaf in leaves_inside(arg, name):
        if has_derivative(leaf) or any(own(leaf) for own in PYTHON):
            body.known[path] = eval(path, body.scope)


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


def _returned(draw: Callable[..., Any], body: Body, row: OperatorRow) -> str:
    """What f returns: a scalar, perhaps with something auxiliary, or a tree."""
    names = [
        name for name, value in body.known.items() if isinstance(value, (np.ndarray, np.generic))
    ]
    if row.output == "tree":
        others = draw(st.lists(st.sampled_from(names), max_size=2))
        return f'{{"first": {names[-1]}, "rest": [{", ".join(others)}]}}' if others else names[-1]
    scalars = []
    for last in (True, False):
        if (last or draw(st.booleans())) and draw(statement(body, {"": SCALARS}, last=last)):
            scalars.append([*body.known][-1])
    returned = " + ".join(scalars)
    if returned and row.output == "scalar and aux" and draw(st.booleans()):
        return f'{returned}, {{"aux": {names[-1]}, "word": "text"}}'
    return returned


def _with_direction(row: OperatorRow, args: list[str]) -> list[str]:
    """The arguments of the operator: with a direction after the first, if it takes one."""
    return (
        [args[0], f"direction({args[0]})", *args[1:]]
        if row.directions == "second argument"
        else args
    )


__all__ = ["LAWS", "Program", "programs"]
