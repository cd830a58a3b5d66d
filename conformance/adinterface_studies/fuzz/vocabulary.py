"""The vocabulary of random programs: blocks, which are lines with placeholders, and conditions for
their use.

In a block, `{0}` and `{1}` are names that exist, and `{n}` is the one that it defines; a text
without `{n}` is the expression for it. `F0` and `F1` are inner functions, from a value like `{0}` to
another one. `B` is the backend of operators inside f. In what stands before f, `X` is a NumPy array
like `{0}`. f is also evaluated without an engine, on NumPy arrays, and must give the same value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MethodType
from typing import Any

import numpy as np

from .judging import Switch

#: Which values an operand may have, by type, dtype and shape.
Fits = Callable[[Any], bool]

every: Fits = lambda x: True
some: Fits = lambda x: bool(np.size(x))
real: Fits = lambda x: not np.iscomplexobj(x)
filled: Fits = lambda x: real(x) and some(x)
complex_: Fits = lambda x: not real(x) and some(x)
#: A real number, as an array without axes.
number: Fits = lambda x: real(x) and np.ndim(x) == 0
rows: Fits = lambda x: np.ndim(x) >= 1 and some(x)
real_rows: Fits = lambda x: rows(x) and real(x)
vector: Fits = lambda x: np.ndim(x) == 1 and some(x)
real_vector: Fits = lambda x: vector(x) and real(x)
#: What operators and loops take: `total` of the preamble wants an entry, and others want two.
list_: Fits = lambda x: vector(x) and len(x) > 1
real_list: Fits = lambda x: list_(x) and real(x)
complex_list: Fits = lambda x: list_(x) and not real(x)
matrix: Fits = lambda x: np.ndim(x) == 2 and some(x)
real_matrix: Fits = lambda x: matrix(x) and real(x)
square: Fits = lambda x: real_matrix(x) and len(x) == x.shape[1]
#: A Python float or complex, as f gets it from a Constant or a keyword.
python: Fits = lambda x: type(x) in (float, complex)
#: Static values; an integer of the structure is never an array.
integer: Fits = lambda x: type(x) is int
word: Fits = lambda x: type(x) is str
truth: Fits = lambda x: type(x) is bool
switch: Fits = lambda x: type(x) is Switch
method: Fits = lambda x: type(x) is MethodType
#: What asks for Python's own values: they are used only there, for a namespace's functions take
#: arrays.
PYTHON = (integer, python, word, truth, switch, method)


@dataclass(frozen=True, eq=False)
class Block:
    """One kind of statement.

    operands: what each must be. form: what their shapes and dtypes must be together.
    """

    text: str
    operands: tuple[Fits, ...] = (list_,)
    form: Callable[..., bool] = lambda *values: True
    #: What keeps the numbers away from kinks and poles, where engines may differ and differences
    #: fail. A block with it is not in inner functions, which are evaluated at other points too.
    apart: Callable[..., bool] | None = None
    #: What stands before f.
    setup: str = ""
    #: How often it differentiates.
    order: int = 0
    #: Whether the derivative is not that of the value.
    hooked: bool = False
    #: The text and setup in the words of an engine.
    engines: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def inner(self) -> list[str]:
        """The names of the inner functions."""
        return sorted(set(re.findall(r"\bF\d\b", f"{self.setup} {self.text}")))

    @property
    def before(self) -> bool:
        """Whether the inner functions stand before f."""
        return "F0" in self.setup

    @property
    def repeats(self) -> bool:
        """Whether inner functions are evaluated so often that theirs would take too long."""
        return "solver=" in self.text

    def fits(self, value: Any, place: int) -> bool:
        """Whether a value may be an operand."""
        fits = self.operands[place]
        return fits(value) and (fits in PYTHON or not any(own(value) for own in PYTHON))

    def suits(self, values: Sequence[Any]) -> bool:
        """Whether these values may be the operands together."""
        with np.errstate(all="ignore"):
            try:
                return self.form(*values) and (self.apart is None or self.apart(*values))
            except ValueError:  # shapes that do not go together
                return False

    def written(
        self, name: str, operands: Sequence[str], inner: Sequence[str], x: str, engine: str
    ) -> tuple[str, str]:
        """What stands before f, and the lines in it. x: the code of an array for `X`."""
        text, setup = self.engines.get(engine, (self.text, self.setup))
        if "{n} = " not in text:
            text = f"{{n}} = {text}"
        if self.order:  # derivatives grow
            text += "\n{n} = damped({n})"
        setup, text = (
            re.sub(r"\{(\d)\}", lambda found: operands[int(found[1])], each).replace("{n}", name)
            for each in (setup.strip("\n"), text.strip("\n"))
        )
        setup, text = (
            re.sub(r"\bF(\d)\b", lambda found: inner[int(found[1])], each) for each in (setup, text)
        )
        return re.sub(r"\bX\b", lambda found: x, setup), text


def each(texts: Sequence[str], *operands: Fits, **options: Any) -> list[Block]:
    """Blocks with the same operands."""
    return [Block(text, operands, **options) for text in texts]


# Conditions
# ------------------------------------------------------------------------------------------------


def _meet_nowhere(*values: Any) -> bool:
    a, b = np.broadcast_arrays(*values)
    return bool(np.all(np.abs(a - b) > 0.06))


def _away_from(*kinks: float) -> Callable[..., bool]:
    return lambda x, *others: bool(all(np.all(np.abs(x - kink) > 0.06) for kink in kinks))


def _distinct(x: Any, *others: Any) -> bool:
    """No two numbers along any axis are close to each other."""
    return bool(np.all(np.diff(np.sort(np.ravel(x))) > 0.06))


def _same_shape(x: Any, y: Any) -> bool:
    return bool(np.shape(x) == np.shape(y))


def _same_dtype(x: Any, y: Any) -> bool:
    return bool(np.asarray(x).dtype == np.asarray(y).dtype)


def alike(x: Any, y: Any) -> bool:
    """One shape and one dtype, as the cotangents of a rule and the values of a loop need."""
    return _same_shape(x, y) and _same_dtype(x, y)


def _small(x: Any, *others: Any) -> bool:
    return bool(np.all(np.abs(x) < 3))


def _sum_apart(x: Any, *others: Any) -> bool:
    return bool(abs(np.sum(x) - 0.25) > 0.1)


# Functions of arrays
# ------------------------------------------------------------------------------------------------

ELEMENTWISE = [
    *each([
        "xp.sin({0})", "xp.cos({0} + 0.3)", "xp.exp({0} / 2)", "{0} ** 2", "{0} ** 3", "-{0}",
        "2.0 * {0}", "{0} - 0.5", "xp.square({0})", "{0} * {0}", "1 - {0}", "xp.sinh({0} / 2)",
        "{0} + xp.ones_like({0})",
    ], every),
    *each([
        "xp.tanh({0})", "xp.atan({0})", "xp.log(1.5 + {0} * {0})", "xp.sqrt(1.0 + {0} * {0})",
        "1.0 / (2.0 + {0} * {0})", "xp.asinh({0})", "xp.log1p({0} ** 2)", "xp.expm1({0} / 4)",
        "xp.exp(-{0} * {0})", "xp.acos(xp.sin({0}) / 2)", "(0.5 + {0} ** 2) ** 1.5",
        "xp.where(xp.isfinite({0}), {0}, xp.zeros_like({0}))", "xp.cosh({0} / 3)",
        "xp.reciprocal(1.5 + xp.sin({0}))", "xp.atanh({0} / (2 + {0} ** 2))", "2.0 ** xp.sin({0})",
        "xp.exp(1j * {0})",
    ], real),
    *each(["xp.abs({0})", "xp.maximum({0}, xp.zeros_like({0}))", "xp.sign({0}) * {0} ** 2"], filled, apart=_away_from(0.0)),
    Block("xp.where({0} > 0, xp.sqrt(xp.where({0} > 0, {0}, xp.ones_like({0}))), {0} ** 2)", (filled,), apart=_away_from(0.0)),
    Block("xp.clip({0}, -0.5, 0.5)", (filled,), apart=_away_from(-0.5, 0.5)),
    Block("xp.floor({0}) + {0} ** 2", (filled,), apart=lambda x: bool(np.all(np.abs(x - np.round(x)) > 0.06))),
    Block("xp.remainder({0}, 0.75)", (filled,), apart=lambda x: bool(np.all(np.abs(x / 0.75 - np.round(x / 0.75)) > 0.1))),
    *each([
        "xp.real({0})", "xp.imag({0})", "xp.conj({0})", "xp.real({0} * xp.conj({0}))",
        "{0} / (2.0 + {0} * xp.conj({0}))", "xp.conj({0}) * xp.sum({0})",
    ], complex_),
    Block("xp.abs({0})", (complex_,), apart=lambda z: bool(np.all(np.abs(z) > 0.1))),
    *each(["{0} + {1}", "{0} * {1}", "{0} - {1}", "2 * {0} - {1} / 3"], every, every),
    *each(["{0} * {1}", "{1} - {0}", "({0} + {1}) * {1}"], every, python),
    *each([
        "{0} / (1.5 + {1} * {1})", "xp.hypot({0}, 1.0 + {1} * {1})", "xp.logaddexp({0}, {1})",
        "xp.atan2({0}, 1.5 + xp.sin({1}))", "(1.2 + xp.sin({0})) ** {1}", "xp.multiply({0}, {1})",
    ], real, real),
    *each(["xp.maximum({0}, {1})", "xp.minimum({0}, {1})", "xp.where({0} > {1}, {0}, {1} ** 2)"], filled, filled, apart=_meet_nowhere),
]  # fmt: skip

SHAPES = [
    *each([
        "{0}[0]", "{0}[-1]", "{0}[1:]", "{0}[::2]", "{0}[..., 0]", "{0}[None, ...]",
        "{0}[..., None]", "{0}[:-1]", "xp.flip({0}, axis=0)", "xp.roll({0}, 1, axis=-1)",
        "xp.flip({0}, axis=0) * {0}", "xp.take({0}, xp.asarray([0, -1, 0]), axis=0)",
        "xp.repeat({0}, 2, axis=0)", "xp.tile({0}, (2, 1))", "xp.reshape({0}, (-1,))",
        "xp.expand_dims({0}, axis=0)", "xp.broadcast_to({0}, (2, *{0}.shape))",
        "xp.stack([{0}[i] * (i + 1) for i in range({0}.shape[0])])",
        "xp.moveaxis({0}[None, ...], 0, -1)", "xp.squeeze({0}[None, ...], axis=0)",
        "xp.concat(xp.unstack({0}[..., None]))",
    ], rows),
    *each([
        "{0}[:, 0]", "{0}[:, 1:]", "{0}[0, :]", "{0}[-1, -1]", "{0}[:, None, :]", "{0}.T",
        "xp.permute_dims({0}, (1, 0))", "xp.matrix_transpose({0})", "xp.tril({0})",
        "xp.triu({0}, k=1)",
    ], matrix),
    *each([
        "xp.stack([{0}, {1}])", "xp.concat([{0}, {1}])", "xp.stack([{0}, {1}], axis=-1)",
        "xp.concat([{1}, {0}], axis=-1)",
    ], rows, rows, form=_same_shape),
]  # fmt: skip

REDUCTIONS = [
    *each([
        "xp.sum({0}, axis=0)", "xp.sum({0}, axis=-1, keepdims=True)", "xp.mean({0})",
        "xp.mean({0}, axis=-1)", "xp.cumulative_sum({0}, axis=0)", "xp.sum({0})",
        "{0} * xp.sum({0})", "sum([{0}[i] ** (i + 1) for i in range({0}.shape[0])])",
    ], rows),
    *each([
        "xp.var({0})", "xp.prod({0})", "xp.prod({0}, axis=-1)", "xp.var({0}, axis=0, keepdims=True)",
        "xp.linalg.vector_norm(xp.concat([xp.reshape({0}, (-1,)), xp.ones_like(xp.reshape({0}, (-1,)))]))",
        "xp.diff({0}, axis=0)", "xp.cumulative_prod({0}, axis=0)",
    ], real_rows),
    Block("xp.std({0})", (real_rows,), apart=lambda x: bool(np.std(x) > 0.1)),
    *each([
        "xp.max({0})", "xp.min({0}, axis=0)", "xp.max({0}, axis=-1, keepdims=True)",
        "xp.sort({0}, axis=-1)",
    ], real_rows, apart=_distinct),
]  # fmt: skip

LINEAR_ALGEBRA = [
    *each(["xp.tensordot({0}, {1}, axes=1)", "xp.matmul({0}.T, {1})"], matrix, every),
    # The operator is the engine's own, and PyTorch's refuses two dtypes.
    Block("{0} @ {1}", (matrix, every), _same_dtype),
    Block("{0} @ {1}", (vector, vector), _same_dtype),
    *each([
        "xp.vecdot({0}, {1})", "xp.linalg.outer({0}, {1})", "xp.einsum('i,j->ij', {0}, {1})",
    ], real_vector, real_vector),
    Block("xp.einsum('ij,ij->i', {0}, {1})", (real_matrix, real_matrix)),
    *each(["xp.linalg.trace({0})", "xp.linalg.diagonal({0})"], real_matrix),
    Block("xp.linalg.matrix_norm({0} + 1.0)", (real_matrix,), apart=lambda x: bool(np.sum(np.abs(x + 1)) > 0.1)),
    *each([
        "xp.linalg.inv({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype))",
        "xp.linalg.cholesky({0} @ {0}.T + xp.eye({0}.shape[0], dtype={0}.dtype))",
        "xp.linalg.slogdet({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype)).logabsdet",
        "xp.linalg.matrix_power({0}, 2)",
    ], square, apart=_small),
    # autograd's derivative of a determinant inverts the matrix.
    Block("xp.linalg.det({0})", (square,), apart=lambda x: _small(x) and bool(abs(np.linalg.det(x)) > 0.05)),
    Block(
        "xp.linalg.solve({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype), {1})",
        (square, real_matrix), lambda a, b: len(a) == len(b), _small,
    ),
]  # fmt: skip

#: What f returns of a real or a complex array.
SCALARS = [
    *each(["xp.sum({0})", "xp.sum({0} ** 2)", "xp.sum(xp.sin({0}))"], real),
    Block("xp.mean({0})", (filled,)),
    *each([
        "xp.sum(xp.real({0}))", "xp.sum(xp.real({0} * xp.conj({0})))",
        "xp.sum(xp.imag({0}) ** 2 + xp.real({0}))",
    ], complex_),
]  # fmt: skip

# Python: branches on values, loops, functions, containers, static values
# ------------------------------------------------------------------------------------------------

CODE = [
    Block("if xp.sum({0}) > 0.25:\n    {n} = xp.sin({0})\nelse:\n    {n} = {0} * 2.0", (filled,), apart=_sum_apart),
    Block("{n} = {0}\nwhile xp.sum({n} * {n}) > 1.0:\n    {n} = {n} / 2", (filled,), apart=lambda x: True),
    Block("{n} = {0}\nfor k in range({1}):\n    {n} = xp.sin({n} + k)", (filled, integer)),
    Block("{0} ** {1}", (filled, integer), apart=_small),
    Block("{0}[{1} - {1}]", (rows, integer)),
    Block("{n} = {0}\nfor _ in range(2):\n    {n} = xp.tanh({n} + {1})", (real, real), lambda x, y: np.shape(x + y) == np.shape(x)),
    Block("def step(y, scale=0.5):\n    return xp.cos(y * scale) + {1}\n{n} = step(step({0}), scale=1.5)", (real, real)),
    Block("{n} = dict(x={0}, y=[{1}])\n{n} = {n}['x'] * {n}['y'][0]", (every, every)),
    Block("sum(y * y for y in ({0}, {1}))", (real, real)),
    Block("(lambda y: y * xp.sin(y))({0})", (real,)),
    # what a static value decides: which function, how often, which shape
    *each(["xp.sin({0}) if {1} == 'text' else {0} * 2.0", "dict(text=xp.tanh, word=xp.cos).get({1}, xp.sin)({0})"], real, word),
    Block("{0} ** 2 if {1} else xp.cos({0})", (real, truth)),
    Block("(xp.sin, xp.tanh, xp.cos)[{1} % 3]({0})", (real, integer)),
    *each(["{0} ** {1}.power", "sum([xp.sin({0} + k) for k in range({1}.power)])"], real, switch),
    Block("{1}({0})", (real, method)),
    *each(["xp.flip({0}, axis=0) * {0} if {1} == 2 else {0} * {0}[0]", "{0}[-1] if {1} > 1 else xp.sum({0}, axis=0)"], real_rows, integer),
    # of one shape, which later statements need
    Block("xp.reshape(xp.sum({0}, axis=0, keepdims={1}), (-1,))", (real_rows, truth)),
    Block("{0} * {0}[0] if {1} == 'text' else xp.cumulative_sum({0}, axis=0)", (real_rows, word)),
]  # fmt: skip

# Operators
# ------------------------------------------------------------------------------------------------

#: What an operator differentiates, its arguments, and the result; `{c}` is the place of what is
#: constant.
OPERATORS = {
    "gradient": ("total(F0(t))", "{0}{c}", "r[0]"),
    "value_and_gradient": ("total(F0(t))", "{0}{c}", "r.gradient[0] * r.value"),
    "jacobian": ("F0(t)", "{0}{c}", "xp.sum(r[0], axis=0)"),
    "pullback": ("F0(t)", "{0}{c}", "r.back({0})[0]"),
    "pushforward": ("F0(t)", "({0}{c},), ({0}{none},)", "r.tangent"),
    "linearize": ("F0(t)", "{0}{c}", "r.push({0}{none})"),
    "derivative": ("F0({0} * t)", "0.7{c}", "r"),
    "second_derivative": ("F0({0} * t)", "0.7{c}", "r"),
    "hvp": ("total(F0(t))", "{0}, {0}{c}", "r"),
    "hessian": ("total(F0(t))", "{0}{c}", "xp.sum(r, axis=0)"),
    "diagonal_hessian": ("total(F0(t))", "{0}{c}", "r[0]"),
}
_SECOND = "second_derivative", "hvp", "hessian", "diagonal_hessian"
#: How what is constant shares with what is differentiated: the parameter, the factor in f, the
#: argument, the keyword.
SHARES = [
    ("", "", "", ""), (", c", " * c", "Constant({0})", ""), (", c", " * c", "Constant({0}[:])", ""),
    (", c", " * c", "Constant({0} * 0.5)", ""), (", c", " * c", "", "c={0}"), ("", " * {0}", "", ""),
]  # fmt: skip


def _operator(name: str, share: tuple[str, str, str, str], place: str) -> Block:
    """An operator in f: called there, prepared there, or called before f on other numbers."""
    f, args, result = OPERATORS[name]
    parameter, factor, constant, keyword = share
    for placed, text in (("{c}", constant), ("{none}", constant and "None")):
        args, result = (each.replace(placed, text and f", {text}") for each in (args, result))
    args += keyword and f", {keyword}"
    f = f"lambda t{parameter}: " + re.sub(r"(F0\([^()]*\))", rf"\1{factor}", f)
    fits = real_list if name in (*_SECOND, "jacobian", "derivative") else list_
    call = (
        f"prepare({name}, {f}, B, {args})({args})"
        if place == "prepared"
        else f"{name}({f}, B, {args})"
    )
    text, setup = f"r = {call}\n{{n}} = {result}", ""
    if place == "outside":
        text, setup = result.replace("r.", "made_{n}."), f"made_{{n}} = {call.replace('{0}', 'X')}"
    return Block(text, (fits,), setup=setup, order=2 if name in _SECOND else 1)


OPERATED = [
    *[
        _operator(name, share, place)
        for name, share, place in product(OPERATORS, SHARES, ("plain", "prepared", "outside"))
        if place != "outside" or name in ("pullback", "linearize")
    ],
    *each([
        "xp.sum(batched(gradient, lambda t: total(F0(t)), B, Each(xp.stack([{0}, {0} * 0.5])))[0], axis=0)",
        "xp.sum(batched(gradient, lambda t, c: total(F0(t * c)), B, {0}, Constant(Each(xp.stack([{0}, {0} * 0.5]))))[0], axis=0)",
        'gradient(lambda d: total(F0(d["a"]) * d["b"]), B, {"a": {0}, "b": Constant({0}), "name": "x"})[0]["a"]',
        "r = gradient(lambda d: total(F0(d[0]) * d[1]), B, [{0}, {0}])[0]\n{n} = r[0] - 0.5 * r[1]",
        "r = pullback(lambda p: Pair(F0(p.left) * p.right, p.right), B, Pair({0}, {0} * 0.5)).back(Pair({0}, None))[0]\n"
        "{n} = r.left + r.right",
        "gradient(lambda t: total(F0(t)), B, {0} * 1.0)[0] * total({0})",
    ], list_, order=1),
    *each([
        "back = pullback(F0, B, {0}).back\n{n} = gradient(lambda t: total(back(t)[0] * t), B, {0})[0]",
        "push = linearize(F0, B, {0}).push\n{n} = gradient(lambda t: total(push(t) * t), B, {0})[0]",
    ], list_, order=2),
]  # fmt: skip

# Rules
# ------------------------------------------------------------------------------------------------

RULES = [
    Block("scalar_rule(lambda y: xp.sin(y), lambda v, y: xp.cos(y))({0})", (real,)),
    Block("made = rule(lambda y: xp.sin(y))\nmade.pullback(lambda w, v, y: w * xp.cos(y))\n{n} = made({0})", (real,)),
    Block("curve({0})", setup="curve = scalar_rule(lambda x: x * x, lambda value, x: 2 * x)"),
    Block("host_sine({0})", setup="host_sine = scalar_rule(np.sin, lambda value, x: array_namespace(x).cos(x))"),
    Block("ruled({0})", setup="""
ruled = rule(lambda x: array_namespace(x).sin(x))
ruled.pullback(lambda cotangent, value, x: cotangent * conj(array_namespace(x).cos(x)))
"""),
    Block("pushed({0})", setup="""
pushed = rule(lambda x: x * x)
pushed.pushforward(lambda tangents, value, x: 2 * x * tangents[0])
"""),
    Block("hosted({0})", setup="""
@rule(host=True)
def hosted(x):
    x *= 2.0  # code of the host may use its argument as work space
    return np.cos(x)
hosted.pullback(lambda cotangent, value, x: -2.0 * cotangent * conj(array_namespace(x).sin(2.0 * x)))
"""),
    Block("a, b = twice({0}, {0} * 0.5)\n{n} = a - b", setup="""
@rule
def twice(x, y):
    z = x * y
    return z, z
@twice.pullback
def _(cotangent, value, x, y):
    c = cotangent[0] + cotangent[1]
    return c * conj(y), c * conj(x)
"""),
    Block("differentiate_with(F0, B)({0})"),
    Block("checkpoint(F0)({0})"),
    Block("checkpoint(lambda y, p: xp.sin(y) * p)({0}, {1})", (real, real)),
    Block("ignore_derivatives({0}) * F0({0})", hooked=True),
    # These capture what may be differentiated: right, or an error that says so.
    *each([
        "made = rule(lambda y: y * {1})\nmade.pullback(lambda w, v, y: w * {1})\n{n} = made({0})",
        "made = rule(lambda y: xp.sin(y) * {1})\n"
        "made.pushforward(lambda tangents, v, y: tangents[0] * xp.cos(y) * {1})\n{n} = made({0})",
        "made = rule(lambda y, p: y * p)\nmade.pullback(lambda w, v, y, p: (w * {1}, w * y))\n{n} = made({0}, {1})",
        "made = rule(lambda y, p: y * p)\n"
        "made.pushforward(lambda tangents, v, y, p: tangents[0] * {1} + tangents[1] * y)\n{n} = made({0}, {1})",
        "scalar_rule(lambda y: y * {1}, lambda v, y: {1} + 0.0 * y)({0})",
        "scalar_rule(lambda y: xp.sin(y), lambda v, y: xp.cos(y) * (1 + {1}) - xp.cos(y) * {1})({0})",
        "checkpoint(lambda y: xp.sin(y) * {1})({0})",
    ], real, real, form=alike),
]  # fmt: skip

# Loops and equations
# ------------------------------------------------------------------------------------------------

ITERATE = """
def iterate(g, y):
    for _ in range(18):
        y = g(y)
    return y
"""
NEWTON = """
def newton(g, y):
    for _ in range(16):
        y = y - {g} / (1 + 3 * y * y)
    return y
"""
_CUBE = "root(lambda y, p: y + y ** 3 - p{captured}, xp.zeros_like({0}), {0}, solver=newton)"

LOOPS = [
    *each([
        "scan(lambda c, s: (F0(c), None), {0}, None, length=2)[0]",
        "c, y = scan(lambda c, s: (F0(c) + s * 0.5, c * s), {0}, xp.stack([{0}, {0} * 0.5]))\n{n} = c + y[1]",
        "scan(lambda c, s: (F0(c), None), {0}, None, length=3, checkpoint=1)[0]",
        "fori_loop(0, 2, lambda i, c: F0(c), {0})",
        "while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, F0(c[1])), (0, {0}))[1]",
        "cond(xp.sum(xp.abs({0}) ** 2) < 100.0, F0, F1, {0})",
    ], list_),
    Block("c, y = scan(writing, {0}, None, length=2)\n{n} = {0} * c + y[0]", setup="""
def writing(c, s):
    c *= 0.5
    return c, c
"""),
    Block("fori_loop(0, 3, lambda i, y: xp.tanh(y + {1}), {0})", (real, real), alike),
    Block("scan(lambda y, row: (xp.tanh(y + row * {1}), y), {0}[0], {0})[1]", (real_vector, number), _same_dtype),
    Block("cond(xp.sum({0}) > 0.25, lambda y: xp.sin(y), lambda y: y * {1}, {0})", (filled, real), alike, _sum_apart),
    Block(
        "root(lambda y, a: y + 0.1 * array_namespace(y).sin(y) - damped(F0(a)), {0} * 0, {0},"
        " solver=lambda g, y: iterate(lambda y: y - g(y), y))", setup=ITERATE, order=1,
    ),
    Block(
        "fixed_point(lambda y, a: 0.1 * array_namespace(y).sin(y) + damped(F0(a)), {0} * 0, {0}, solver=iterate)",
        setup=ITERATE, order=1,
    ),
    Block(
        "linear_solve(lambda v, a: v * (3.0 + a) + 0.1 * array_namespace(v).flip(v), F0({0}), {0}, solver=solved)",
        setup="""
def solved(matvec, b):
    return np.linalg.solve(np.stack([matvec(e) for e in np.eye(b.size, dtype=b.dtype)], axis=1), b)
""", order=1,
    ),
    Block(_CUBE.replace("{captured}", ""), (filled,), setup=NEWTON.replace("{g}", "g(y)")),
    Block(_CUBE.replace("{captured}", " - {1}"), (filled, filled), alike, setup=NEWTON.replace("{g}", "g(y)")),
    Block(
        _CUBE.replace("{captured}", " - {1}").replace("newton", "host_newton"), (number, number), alike,
        setup=NEWTON.replace("newton", "host_newton").replace("{g}", "float(g(y))"),
    ),
    Block(
        "fixed_point(lambda y, p: array_namespace(y, p).tanh(y / 9 + p) * {1} / 2, xp.zeros_like({0}), {0}, solver=iterate)",
        (filled, filled), alike, lambda x, y: bool(np.all(np.abs(y) < 2)), ITERATE,
    ),
]  # fmt: skip

# NumPy code, writes
# ------------------------------------------------------------------------------------------------

NUMPY_CODE = [
    Block("y = {0} * 1.0\ny[0] = {0}[1] * {0}[0]\n{n} = y"),
    Block("scaled({0})", setup="""
@numpy_function
def scaled(x):
    y = np.zeros_like(x)
    y[:] = np.cos(x)
    y[0] *= x[1]
    return y
"""),
    Block("viewed({0})", setup="""
@numpy_function
def viewed(x):
    y = np.stack([x, 0.5 * x])
    columns, tail = y.T, y[1, 1:]
    tail *= x[0]
    columns[0] += np.cos(x[-1])
    y[::-1][0] -= y[0]
    return y[0] + y[1]
"""),
]  # fmt: skip


def _caught(code: str, fits: Fits, apart: Callable[..., bool]) -> Block:
    """NumPy code from x to y that catches exceptions."""
    lines = "\n".join(f"    {line}" for line in f"{code}\nreturn y".split("\n"))
    return Block(
        "code_{n}({0})", (fits,), apart=apart,
        setup=f"@numpy_function(deep=True)\ndef code_{{n}}(x):\n{lines}",
    )  # fmt: skip


#: Exceptions of NumPy code that are caught: raised by its own hand, by a function that it calls, or
#: by Python itself.
CAUGHT = [
    *[
        _caught(code, filled, _sum_apart)
        for code in (
            "try:\n    if np.sum(x) > 0.25:\n        raise ValueError('large')\n    y = np.sin(x)\n"
            "except ValueError:\n    y = x ** 2",
            "def check(y):\n    if np.sum(y) > 0.25:\n        raise ArithmeticError('large')\n    return np.tanh(y)\n"
            "try:\n    y = check(x)\nexcept ArithmeticError:\n    y = 2.0 * x",
            "try:\n    assert np.sum(x) > 0.25\n    y = np.sin(x)\nexcept AssertionError:\n    y = x ** 3",
            "y = 2.0 * x\nwith contextlib.suppress(ValueError):\n    if np.sum(x) > 0.25:\n        raise ValueError\n"
            "    y = np.sin(x)",
            "try:\n    if np.sum(x) > 0.25:\n        raise KeyError('large')\n    y = np.sin(x)\n"
            "except LookupError as error:\n    y = x * len(error.args)\nelse:\n    y = y + x",
        )
    ],
    _caught(
        "y = x\nfor _ in range(3):\n    try:\n        if np.sum(y) > 0.25:\n            raise ValueError\n"
        "        y = y + 0.1\n    except ValueError:\n        y = y / 2\n        break",
        filled, lambda x: all(_sum_apart(x + 0.1 * n) for n in range(3)),
    ),
    *[
        _caught(code, number, _away_from(0.0))
        for code in (
            "try:\n    y = x + math.log(x)\nexcept ValueError:\n    y = 3.0 * x",
            "try:\n    y = math.sqrt(x)\nexcept ValueError:\n    y = x ** 2\nelse:\n    y = y + 1.0\n"
            "finally:\n    z = x * 0.5\ny = z * y",
            "try:\n    y = 1.0 / max(float(x), 0.0)\nexcept ZeroDivisionError:\n    y = 2.0\ny = x ** 2 * y",
            "try:\n    y = [1.0, 2.0][int(x > 0) * 2]\nexcept IndexError:\n    y = 0.5\ny = x * y",
        )
    ],
    _caught(
        "try:\n    y = math.exp(1500.0 * x) * 0.0\nexcept OverflowError:\n    y = 1.0\ny = np.sin(x) * (2.0 + y)",
        number, lambda x: bool(abs(x) > 0.06 and abs(1500 * x - 709.78) > 90),
    ),
]  # fmt: skip

# In the words of engines
# ------------------------------------------------------------------------------------------------

_LAYER = """
import torch
class Linear(torch.nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = torch.nn.Parameter(torch.as_tensor(a)), torch.nn.Parameter(torch.as_tensor(b))
        self.tied = self.a
    def forward(self, x):
        return 0.5 * (self.a + self.tied) * x + self.b
"""
_OF_LAYER = 'gradient(lambda m: total(F0(m["a"] * {0} + m["b"])), B, {"a": X_{n} * 0.5, "b": X_{n} * 1.0})[0]["a"]'

OF_ENGINES = [
    Block("xp.sin({0})", engines={
        "torch": ("Sine.apply({0}) if isinstance({0}, torch.Tensor) else xp.sin({0})", """
import torch
class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)
    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * torch.cos(ctx.saved_tensors[0]).conj()
"""),
        "jax": ("jax_sine({0}) if isinstance({0}, jax.Array) else xp.sin({0})", """
import jax
@jax.custom_jvp
def jax_sine(x):
    return jax.numpy.sin(x)
jax_sine.defjvps(lambda tangent, value, x: tangent * jax.numpy.cos(x))
"""),
        "autograd": ("own_sine({0})", """
import autograd
own_sine = autograd.extend.primitive(np.sin)
autograd.extend.defvjp(own_sine, lambda value, x: lambda cotangent: cotangent * autograd.numpy.cos(x))
"""),
    }),
    Block("{0} * {0}", engines={
        "torch": ("Square.apply({0}) if isinstance({0}, torch.Tensor) else {0} * {0}", """
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, cotangent):
        return 2 * cotangent * ctx.saved_tensors[0].conj()
"""),
        "jax": ("jax_square({0}) if isinstance({0}, jax.Array) else {0} * {0}", """
import jax
@jax.custom_vjp
def jax_square(x):
    return x * x
jax_square.defvjp(lambda x: (x * x, x), lambda x, cotangent: (2 * x * cotangent,))
"""),
    }),
    Block("F0({0})", engines={
        "torch": ('torch.compile(F0, backend="aot_eager")({0}) if isinstance({0}, torch.Tensor) else F0({0})', "import torch"),
        "jax": ("jax.jit(F0)({0}) if isinstance({0}, jax.Array) else F0({0})", "import jax"),
    }),
    Block('layer_{n}["a"] * {0} + layer_{n}["b"]', setup='layer_{n} = {"a": 0.8, "b": 0.3}', engines={
        "torch": (
            "layer_{n}({0}) if isinstance({0}, torch.Tensor) else 0.8 * {0} + 0.3",
            f"{_LAYER}layer_{{n}} = Linear(X.real * 0 + 0.8, X.real * 0 + 0.3)",
        ),
    }),
    Block(_OF_LAYER, setup="X_{n} = X", order=1, engines={
        "torch": (
            "if isinstance({0}, torch.Tensor):\n    {n} = gradient(lambda m: total(F0(m({0}))), B, layer_{n})[0].a\n"
            f"else:\n    {{n}} = {_OF_LAYER}",
            f"{_LAYER}X_{{n}} = X\nlayer_{{n}} = Linear(X_{{n}} * 0.5, X_{{n}} * 1.0)",
        ),
    }),
]  # fmt: skip

#: The blocks by kind, simple ones first: Hypothesis shrinks towards them.
VOCABULARY: dict[str, list[Block]] = {
    "elementwise": ELEMENTWISE, "shapes": SHAPES, "reductions": REDUCTIONS,
    "linear algebra": LINEAR_ALGEBRA, "code": CODE, "rules": RULES, "loops": LOOPS,
    "NumPy code": NUMPY_CODE, "caught": CAUGHT, "of engines": OF_ENGINES, "operators": OPERATED,
}  # fmt: skip
