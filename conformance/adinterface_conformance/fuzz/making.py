"""Random programs: arguments of any structure, and statements that fit the values before them."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any, Literal

import numpy as np

from adinterface import Constant

from ..arguments import Arguments, unwrapped
from ..trees import has_derivative, leaves_inside, mapped
from .nodes import Layer, Pair, Switch
from .program import NAMES, Program, ResultForm, Statement
from .reference import reference_names, reference_namespace
from .rules import CAPTURED, CAUGHT, RULES, SCALARS, STATIC, Fits, Rule, integer, method, python, switch, truth, word

#: Nothing in a program may be larger.
LARGEST = 40.0

_SHAPES: tuple[tuple[int, ...], ...] = (
    (),
    (3,),
    (3,),
    (2,),
    (2, 3),
    (3, 3),
    (3, 3),
    (2, 2),
    (1, 3),
    (3, 1),
    (2, 3, 2),
    (1,),
    (0,),
    (0, 2),
)
#: Float64 twice as often as everything else together.
_DTYPES = ("float64",) * 8 + ("float32", "float32", "complex128", "complex64")


#: What a program is about, and the statements that it has more than others. Those about exceptions are NumPy code.
Theme = Literal["plain", "static", "captured", "caught"]
THEMES: dict[Theme, tuple[Rule, ...]] = {"plain": (), "static": STATIC, "captured": CAPTURED, "caught": CAUGHT}


@dataclass(frozen=True)
class Wanted:
    """The requirements on a program: its result; whether one argument alone is differentiated, is a number, is all real."""

    form: ResultForm
    one: bool = False
    number: bool = False
    real: bool = False
    theme: Theme = "plain"


class Impossible(Exception):
    """No program came of these draws."""


def program(rng: np.random.Generator, wanted: Wanted) -> Program:
    """A random program."""
    dtype = str(rng.choice(_DTYPES))
    if wanted.real:
        dtype = dtype.replace("complex128", "float64").replace("complex64", "float32")
    args = [_number(rng, dtype) if wanted.number else _tree(rng, dtype, 2)]
    for _ in range(int(rng.integers(0, 3))):
        arg = _tree(rng, dtype, 1)
        args.append(Constant(_opened(arg)) if wanted.one or rng.random() < 0.25 else arg)
    if rng.random() < 0.06 and not wanted.number:
        args[0] = int(rng.integers(1, 3))  # promoted to a float
    kwargs: dict[str, Any] = {}
    if rng.random() < 0.25:
        kwargs["steps"] = int(rng.integers(1, 4))
    if rng.random() < 0.15:
        kwargs["scale"] = _leaf(rng, dtype)
    if not Arguments(tuple(args), kwargs).leaves:
        args[0] = _leaf(rng, dtype)
    if wanted.theme == "static":
        values = _static(rng)
        args += map(Constant, values[: min(4 - len(args), int(rng.integers(1, 3)))])
        kwargs.update(zip(("mode", "choice"), values[-int(rng.integers(1, 3)) :]))
    if wanted.theme == "captured" and not wanted.number and type(args[0]) is not int:
        args[0] = _with_its_like(rng, args[0], Arguments(tuple(args), kwargs))
    if wanted.theme == "caught" and not wanted.number and len(args) < 4:
        number = _number(rng, np.finfo(dtype).dtype.name)
        args.append(Constant(number) if wanted.one else number)
    empty = Program(tuple(args), kwargs, (), (), wanted.form, deep=wanted.theme == "caught")
    return _with_statements(rng, empty, THEMES[wanted.theme])


def _with_its_like(rng: np.random.Generator, arg: Any, arguments: Arguments) -> Any:
    """The first argument with one more leaf like its first: a rule needs a captured array like its argument."""
    like = [x for path, x in zip(arguments.paths, arguments.point) if path.startswith("args[0]")]
    return {"x": arg, "y": numbers(rng, like[0].shape, like[0].dtype.name)} if like else arg


def _static(rng: np.random.Generator) -> list[Any]:
    """Static values of every kind, in any order."""
    switch = Switch(int(rng.integers(1, 4)))
    values = [("text", "word")[int(rng.integers(2))], bool(rng.integers(2)), int(rng.integers(1, 4)), switch, switch.raised]
    return [values[int(n)] for n in rng.permutation(len(values))]


def _opened(tree: Any) -> Any:
    """A tree in which nothing is wrapped in Constant."""
    return mapped(lambda leaf: unwrapped(leaf) if isinstance(leaf, Constant) else leaf, tree)


# Arguments -----------------------------------------------------------------------------------------------------------


def rounded(x: Any) -> Any:
    """Numbers that are short to write."""
    return np.round(x, 2)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Random numbers, some distance from zero."""
    values = rounded(rng.uniform(0.1, 1.4, shape) * rng.choice([-1, 1], shape))
    if dtype.startswith("complex"):
        values = values + 1j * rounded(rng.uniform(-1, 1, shape))
    return np.asarray(values, dtype=dtype)


def _number(rng: np.random.Generator, dtype: str) -> Any:
    """One real number, as Python's, a 0-d array or a NumPy scalar."""
    x = numbers(rng, (), dtype)
    return (float(x), x, x[()])[int(rng.integers(3))]


def _leaf(rng: np.random.Generator, dtype: str) -> Any:
    """A leaf: an array, a NumPy scalar or a Python number."""
    draw = rng.random()
    if draw < 0.15:
        x = numbers(rng, (), "float64")
        return float(x)
    if draw < 0.2:
        return complex(numbers(rng, (), dtype)) if dtype.startswith("complex") else numbers(rng, (), dtype)[()]
    own = dtype
    if dtype.startswith("complex") and rng.random() < 0.5:
        own = "float64" if dtype == "complex128" else "float32"
    return numbers(rng, _SHAPES[int(rng.integers(len(_SHAPES)))], own)


def _tree(rng: np.random.Generator, dtype: str, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return _leaf(rng, dtype)
    children = [_child(rng, dtype, depth - 1) for _ in range(int(rng.integers(1, 4)))]
    kind = int(rng.integers(8))
    names = ["x", "y", "z"][: len(children)]
    if kind == 0:
        return children
    if kind == 1:
        return tuple(children)
    if kind == 2:
        return Pair(children[0], children[-1] if len(children) > 1 else None)
    if kind == 3:
        return Layer(children[0], children[-1] if len(children) > 1 else None)
    if kind == 4:
        return OrderedDict(zip(reversed(names), children))
    if kind == 5:
        return defaultdict(list, zip(names, children))
    return dict(zip(names, children))


def _child(rng: np.random.Generator, dtype: str, depth: int) -> Any:
    draw = rng.random()
    if draw < 0.08:
        return Constant(_leaf(rng, dtype))
    if draw < 0.18:
        return (None, "text", 2, True)[int(rng.integers(4))]
    return _tree(rng, dtype, depth)


# Statements ----------------------------------------------------------------------------------------------------------


class Scope:
    """The statements of a program so far, and its values, computed like the reference."""

    def __init__(self, program: Program):
        self.program = program
        point = [np.asarray(x) for x in program.arguments.point]
        args, kwargs = program.arguments.with_leaves(point)
        names = {**NAMES, **reference_names(), "array_namespace": reference_namespace, "xp": reference_namespace()}
        self.values: dict[str, Any] = {**names, **dict(zip(program.names, args)), **kwargs}
        self.known: dict[str, Any] = {}
        for path, leaf in leaves_inside((*program.args,), "args"):
            place = program.place(path)
            if has_derivative(leaf) or type(leaf) in (int, str, bool, Switch, MethodType):
                self.known[place] = eval(place, dict(self.values))
        for name, value in program.kwargs.items():
            self.known[name] = value

    def value(self, text: str) -> Any:
        """The value of an expression, or of a statement that defines `{n}`. Raises its errors."""
        return eval(text, dict(self.values))

    def run(self, statement: Statement) -> Any:
        """Run a statement; what it defines stays known."""
        scope = dict(self.values)
        exec("\n".join(statement.lines()), scope)
        self.values[statement.name] = self.known[statement.name] = scope[statement.name]
        return scope[statement.name]


def suitable(value: Any) -> bool:
    """Whether a value may be used in a program: an array of finite and moderate numbers."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
        return False
    return bool(np.all(np.isfinite(value)) and np.max(np.abs(value), initial=0.0) < LARGEST and value.size <= 64)


def _with_statements(rng: np.random.Generator, program: Program, theme: tuple[Rule, ...]) -> Program:
    scope = Scope(program)
    statements: list[Statement] = []
    for n in range(int(rng.integers(1, 9))):
        statement = _statement(rng, scope, f"t{n}", theme if theme and rng.random() < 0.6 else RULES)
        if statement is not None:
            statements.append(statement)
    count = {"scalar": (1, 3), "auxiliary": (2, 4), "tree": (1, 4)}[program.form]
    results: list[Statement] = []
    wanted = int(rng.integers(*count))
    candidates = [name for name, value in scope.known.items() if isinstance(value, (np.ndarray, np.generic))]
    if not candidates:
        raise Impossible
    for n in range(wanted):
        if program.form == "tree" or (program.form == "auxiliary" and n == wanted - 1):
            name = candidates[-1] if n == 0 else str(rng.choice(candidates))
            results.append(Statement(f"r{n}", "{0}", (name,)))
        else:
            result = _statement(rng, scope, f"r{n}", SCALARS, last=n == 0)
            if result is not None:
                results.append(result)
    if len(results) < count[0]:
        raise Impossible
    return replace(program, statements=tuple(statements), results=tuple(results)).without_dead_code()


#: How NumPy says that shapes, dtypes or numbers do not go together.
_UNSUITABLE = (TypeError, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError)


def _statement(
    rng: np.random.Generator, scope: Scope, name: str, rules: tuple[Rule, ...], last: bool = False
) -> Statement | None:
    """A statement that suits; None after a number of misses."""
    for _ in range(30):
        rule = rules[int(rng.integers(len(rules)))]
        operands = _operands(rng, scope, rule, last)
        if operands is None:
            continue
        statement = Statement(name, rule.text, operands, rule.kind)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                if not rule.together(*[scope.known[operand] for operand in operands]):
                    continue
                if rules is SCALARS:
                    value = np.asarray(scope.value(rule.text.format(*operands)))
                else:
                    value = scope.run(statement)
            except _UNSUITABLE:  # another draw may fit
                continue
        if suitable(value):
            return statement
        scope.known.pop(name, None)
    return None


def _operands(rng: np.random.Generator, scope: Scope, rule: Rule, last: bool) -> tuple[str, ...] | None:
    """Names that suit a rule one by one, most often late ones; the last that suits if it is asked for."""
    operands = []
    for fits in rule.operands:
        names = [name for name, value in scope.known.items() if _fits(fits, value)]
        if not names:
            return None
        late = len(names) - 1 - int(min(rng.geometric(0.45) - 1, len(names) - 1))
        operands.append(names[-1] if last else names[late] if rng.random() < 0.7 else str(rng.choice(names)))
    return tuple(operands)


_STATIC: dict[type, Fits] = {
    int: integer, float: python, complex: python, str: word, bool: truth, Switch: switch, MethodType: method,
}  # fmt: skip


def _fits(fits: Fits, value: Any) -> bool:
    """Python numbers are used only where they are required: a namespace's functions take arrays."""
    asked = _STATIC.get(type(value))
    if asked is not None:
        return fits is asked
    return fits not in _STATIC.values() and fits(value)
