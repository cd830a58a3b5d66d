"""The statements of random programs: lines with placeholders, and conditions for their use.

The conditions keep f away from kinks and poles, where engines may differ and differences fail.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from .judging import Switch

#: Which values an operand may have.
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


class Rule(NamedTuple):
    """One kind of statement: its lines, and what its operands must be, one by one and together.

    `{n}` is the name that it defines, `{0}`, `{1}`, ... are those that it uses.
    """

    text: str
    operands: tuple[Fits, ...]
    together: Callable[..., bool] = lambda *values: True


def _apart(*values: Any) -> bool:
    """No two numbers meet."""
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


def _alike(x: Any, y: Any) -> bool:
    """One shape and one dtype, as the cotangents of a rule and the values of a loop need."""
    return _same_shape(x, y) and _same_dtype(x, y)


def _small(x: Any, *others: Any) -> bool:
    return bool(np.all(np.abs(x) < 3))


def _sum_apart(x: Any, *others: Any) -> bool:
    return bool(abs(np.sum(x) - 0.25) > 0.1)


def _sums_apart(x: Any, *others: Any) -> bool:
    """Whether the sum stays apart from 0.25 while 0.1 is added to the elements twice."""
    return all(_sum_apart(x + 0.1 * n) for n in range(3))


RULES: tuple[Rule, ...] = (
    # element by element
    *[
        Rule("{n} = " + text, (every,), _small)
        for text in (
            "xp.sin({0})", "xp.cos({0} + 0.3)", "xp.exp({0} / 2)", "{0} ** 2", "{0} ** 3", "-{0}",
            "2.0 * {0}", "{0} - 0.5", "xp.square({0})", "{0} * {0}", "1 - {0}", "xp.sinh({0} / 2)",
            "{0} + xp.ones_like({0})",
        )
    ],
    *[
        Rule("{n} = " + text, (real,))
        for text in (
            "xp.tanh({0})", "xp.atan({0})", "xp.log(1.5 + {0} * {0})", "xp.sqrt(1.0 + {0} * {0})",
            "1.0 / (2.0 + {0} * {0})", "xp.asinh({0})", "xp.log1p({0} ** 2)", "xp.expm1({0} / 4)",
            "xp.exp(-{0} * {0})", "xp.acos(xp.sin({0}) / 2)", "(0.5 + {0} ** 2) ** 1.5",
            "xp.where(xp.isfinite({0}), {0}, xp.zeros_like({0}))", "xp.cosh({0} / 3)",
            "xp.reciprocal(1.5 + xp.sin({0}))", "xp.atanh({0} / (2 + {0} ** 2))",
            "2.0 ** xp.sin({0})",
        )
    ],
    Rule("{n} = xp.abs({0})", (filled,), _away_from(0.0)),
    Rule("{n} = xp.clip({0}, -0.5, 0.5)", (filled,), _away_from(-0.5, 0.5)),
    Rule("{n} = xp.maximum({0}, xp.zeros_like({0}))", (filled,), _away_from(0.0)),
    Rule("{n} = xp.sign({0}) * {0} ** 2", (filled,), _away_from(0.0)),
    Rule("{n} = xp.where({0} > 0, xp.sqrt(xp.where({0} > 0, {0}, xp.ones_like({0}))), {0} ** 2)", (filled,), _away_from(0.0)),
    Rule("{n} = xp.floor({0}) + {0} ** 2", (filled,), lambda x: bool(np.all(np.abs(x - np.round(x)) > 0.06))),
    Rule("{n} = xp.remainder({0}, 0.75)", (filled,), lambda x: bool(np.all(np.abs(x / 0.75 - np.round(x / 0.75)) > 0.1))),
    # complex numbers
    Rule("{n} = xp.real({0})", (complex_,)),
    Rule("{n} = xp.imag({0})", (complex_,)),
    Rule("{n} = xp.conj({0})", (complex_,)),
    Rule("{n} = xp.abs({0})", (complex_,), lambda z: bool(np.all(np.abs(z) > 0.1))),
    Rule("{n} = xp.real({0} * xp.conj({0}))", (complex_,)),
    Rule("{n} = {0} / (2.0 + {0} * xp.conj({0}))", (complex_,)),
    Rule("{n} = xp.exp(1j * {0})", (real,), _small),
    # two operands, with broadcasting
    *[Rule("{n} = " + text, (every, every)) for text in ("{0} + {1}", "{0} * {1}", "{0} - {1}", "2 * {0} - {1} / 3")],
    *[Rule("{n} = " + text, (every, python)) for text in ("{0} * {1}", "{1} - {0}", "({0} + {1}) * {1}")],
    *[
        Rule("{n} = " + text, (real, real))
        for text in (
            "{0} / (1.5 + {1} * {1})", "xp.hypot({0}, 1.0 + {1} * {1})", "xp.logaddexp({0}, {1})",
            "xp.atan2({0}, 1.5 + xp.sin({1}))", "(1.2 + xp.sin({0})) ** {1}",
            "xp.multiply({0}, {1})",
        )
    ],
    Rule("{n} = xp.maximum({0}, {1})", (filled, filled), _apart),
    Rule("{n} = xp.minimum({0}, {1})", (filled, filled), _apart),
    Rule("{n} = xp.where({0} > {1}, {0}, {1} ** 2)", (filled, filled), _apart),
    # indexing
    *[
        Rule("{n} = " + text, (rows,))
        for text in (
            "{0}[0]", "{0}[-1]", "{0}[1:]", "{0}[::2]", "{0}[..., 0]", "{0}[None, ...]",
            "{0}[..., None]", "{0}[:-1]", "xp.flip({0}, axis=0)", "xp.roll({0}, 1, axis=-1)",
            "xp.take({0}, xp.asarray([0, -1, 0]), axis=0)", "xp.repeat({0}, 2, axis=0)",
            "xp.tile({0}, (2, 1))",
        )
    ],
    *[Rule("{n} = " + text, (matrix,)) for text in ("{0}[:, 0]", "{0}[:, 1:]", "{0}[0, :]", "{0}[-1, -1]", "{0}[:, None, :]")],
    # reductions
    *[
        Rule("{n} = " + text, (rows,))
        for text in (
            "xp.sum({0}, axis=0)", "xp.sum({0}, axis=-1, keepdims=True)", "xp.mean({0})",
            "xp.mean({0}, axis=-1)", "xp.cumulative_sum({0}, axis=0)", "xp.sum({0})",
        )
    ],
    *[
        Rule("{n} = " + text, (real_rows,))
        for text in (
            "xp.var({0})", "xp.prod({0})", "xp.prod({0}, axis=-1)", "xp.linalg.vector_norm(xp.concat([xp.reshape({0}, (-1,)),"
            " xp.ones_like(xp.reshape({0}, (-1,)))]))", "xp.var({0}, axis=0, keepdims=True)",
            "xp.diff({0}, axis=0)", "xp.cumulative_prod({0}, axis=0)",
        )
    ],
    Rule("{n} = xp.std({0})", (real_rows,), lambda x: bool(np.std(x) > 0.1)),
    Rule("{n} = xp.max({0})", (real_rows,), _distinct),
    Rule("{n} = xp.min({0}, axis=0)", (real_rows,), _distinct),
    Rule("{n} = xp.max({0}, axis=-1, keepdims=True)", (real_rows,), _distinct),
    Rule("{n} = xp.sort({0}, axis=-1)", (real_rows,), _distinct),
    # shapes
    *[
        Rule("{n} = " + text, (rows,))
        for text in (
            "xp.reshape({0}, (-1,))", "xp.expand_dims({0}, axis=0)",
            "xp.broadcast_to({0}, (2, *{0}.shape))",
            "xp.stack([{0}[i] * (i + 1) for i in range({0}.shape[0])])",
            "sum([{0}[i] ** (i + 1) for i in range({0}.shape[0])])",
            "xp.moveaxis({0}[None, ...], 0, -1)", "xp.squeeze({0}[None, ...], axis=0)",
            "xp.concat(xp.unstack({0}[..., None]))",
        )
    ],
    *[
        Rule("{n} = " + text, (matrix,))
        for text in ("{0}.T", "xp.permute_dims({0}, (1, 0))", "xp.matrix_transpose({0})", "xp.tril({0})", "xp.triu({0}, k=1)")
    ],
    *[
        Rule("{n} = " + text, (rows, rows), _same_shape)
        for text in (
            "xp.stack([{0}, {1}])", "xp.concat([{0}, {1}])", "xp.stack([{0}, {1}], axis=-1)",
            "xp.concat([{1}, {0}], axis=-1)",
        )
    ],
    # linear algebra
    *[
        Rule("{n} = " + text, (matrix, every))
        for text in ("xp.tensordot({0}, {1}, axes=1)", "xp.matmul({0}.T, {1})")
    ],
    # The operator is the engine's own, and PyTorch's refuses two dtypes.
    Rule("{n} = {0} @ {1}", (matrix, every), _same_dtype),
    Rule("{n} = xp.vecdot({0}, {1})", (real_vector, real_vector)),
    Rule("{n} = {0} @ {1}", (vector, vector), _same_dtype),
    Rule("{n} = xp.linalg.outer({0}, {1})", (real_vector, real_vector)),
    Rule("{n} = xp.einsum('i,j->ij', {0}, {1})", (real_vector, real_vector)),
    Rule("{n} = xp.einsum('ij,ij->i', {0}, {1})", (real_matrix, real_matrix)),
    Rule("{n} = xp.linalg.trace({0})", (real_matrix,)),
    Rule("{n} = xp.linalg.diagonal({0})", (real_matrix,)),
    Rule("{n} = xp.linalg.matrix_norm({0} + 1.0)", (real_matrix,), lambda x: bool(np.sum(np.abs(x + 1)) > 0.1)),
    *[
        Rule("{n} = " + text, (square,), _small)
        for text in (
            "xp.linalg.inv({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype))",
            "xp.linalg.cholesky({0} @ {0}.T + xp.eye({0}.shape[0], dtype={0}.dtype))",
            "xp.linalg.slogdet({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype)).logabsdet",
            "xp.linalg.matrix_power({0}, 2)",
        )
    ],
    # autograd's derivative of a determinant inverts the matrix.
    Rule("{n} = xp.linalg.det({0})", (square,), lambda x: _small(x) and bool(abs(np.linalg.det(x)) > 0.05)),
    Rule(
        "{n} = xp.linalg.solve({0} / 4 + 2 * xp.eye({0}.shape[0], dtype={0}.dtype), {1})",
        (square, real_matrix), lambda a, b: len(a) == len(b) and _small(a),
    ),
    # Python: branches on values, loops, functions, containers
    Rule("if xp.sum({0}) > 0.25:\n    {n} = xp.sin({0})\nelse:\n    {n} = {0} * 2.0", (filled,), _sum_apart),
    Rule("{n} = {0}\nwhile xp.sum({n} * {n}) > 1.0:\n    {n} = {n} / 2", (filled,)),
    Rule("{n} = {0}\nfor k in range({1}):\n    {n} = xp.sin({n} + k)", (filled, integer)),
    Rule("{n} = {0} ** {1}", (filled, integer), lambda x, k: _small(x)),
    Rule("{n} = {0}[{1} - {1}]", (rows, integer)),
    Rule(
        "{n} = {0}\nfor _ in range(2):\n    {n} = xp.tanh({n} + {1})",
        (real, real), lambda x, y: np.shape(x + y) == np.shape(x),
    ),
    Rule("def step(y, scale=0.5):\n    return xp.cos(y * scale) + {1}\n{n} = step(step({0}), scale=1.5)", (real, real)),
    Rule("{n} = dict(x={0}, y=[{1}])\n{n} = {n}['x'] * {n}['y'][0]", (every, every)),
    Rule("{n} = sum(y * y for y in ({0}, {1}))", (real, real)),
    Rule("{n} = (lambda y: y * xp.sin(y))({0})", (real,)),
)  # fmt: skip

#: What may be added up to the scalar that f returns.
SCALARS: tuple[Rule, ...] = (
    *[Rule(text, (real,)) for text in ("xp.sum({0})", "xp.sum({0} ** 2)", "xp.sum(xp.sin({0}))")],
    Rule("xp.mean({0})", (filled,)),
    *[
        Rule(text, (complex_,))
        for text in (
            "xp.sum(xp.real({0}))",
            "xp.sum(xp.real({0} * xp.conj({0})))",
            "xp.sum(xp.imag({0}) ** 2 + xp.real({0}))",
        )
    ],
)

#: What a static value decides: which function, how often, which shape, which entries of a Jacobian.
STATIC: tuple[Rule, ...] = (
    *[
        Rule("{n} = " + text, (real, fits), together)
        for text, fits, together in (
            ("xp.sin({0}) if {1} == 'text' else {0} * 2.0", word, lambda *values: True),
            ("dict(text=xp.tanh, word=xp.cos).get({1}, xp.exp)({0})", word, _small),
            ("{0} ** 2 if {1} else xp.cos({0})", truth, _small),
            ("(xp.sin, xp.tanh, xp.cos)[{1} % 3]({0})", integer, lambda *values: True),
            ("{0} ** {1}.power", switch, _small),
            ("{1}({0})", method, _small),
            ("sum([xp.sin({0} + k) for k in range({1}.power)])", switch, lambda *values: True),
        )
    ],
    *[
        Rule("{n} = " + text, (real_rows, fits))
        for text, fits in (
            ("xp.flip({0}, axis=0) * {0} if {1} == 2 else {0} * {0}[0]", integer),
            ("{0}[-1] if {1} > 1 else xp.sum({0}, axis=0)", integer),
            # of one shape, which later statements need
            ("xp.reshape(xp.sum({0}, axis=0, keepdims={1}), (-1,))", truth),
            ("{0} * {0}[0] if {1} == 'text' else xp.cumulative_sum({0}, axis=0)", word),
        )
    ],
)

_ITERATE = "def iterate(g, y):\n    for _ in range(44):\n        y = g(y)\n    return y\n"
_NEWTON = (
    "def newton(g, y):\n    for _ in range(16):\n        y = y - {g} / (1 + 3 * y * y)\n   "
    " return y\n"
)
_CUBE = "{n} = root(lambda y, p: y + y ** 3 - p{captured}, xp.zeros_like({0}), {0}, solver=newton)"

#: Rules and loops, some of which capture what may be differentiated: right, or an error that says
#: so.
CAPTURED: tuple[Rule, ...] = (
    Rule("made = rule(lambda y: xp.sin(y))\nmade.pullback(lambda w, v, y: w * xp.cos(y))\n{n} = made({0})", (real,)),
    Rule("{n} = scalar_rule(lambda y: xp.sin(y), lambda v, y: xp.cos(y))({0})", (real,)),
    Rule("{n} = checkpoint(lambda y, p: xp.sin(y) * p)({0}, {1})", (real, real)),
    Rule(
        f"{_ITERATE}bent = lambda y, p: array_namespace(y, p).tanh(y / 3 + p)\n"
        "{n} = fixed_point(bent, xp.zeros_like({0}), {0}, solver=iterate)",
        (filled,),
    ),
    Rule(_NEWTON.replace("{g}", "g(y)") + _CUBE.replace("{captured}", ""), (filled,)),
    Rule("{n} = fori_loop(0, 3, lambda i, y: xp.tanh(y + {1}), {0})", (real, real), _alike),
    Rule("{n} = scan(lambda y, row: (xp.tanh(y + row * {1}), y), {0}[0], {0})[1]", (real_vector, number), _same_dtype),
    Rule(
        "{n} = cond(xp.sum({0}) > 0.25, lambda y: xp.sin(y), lambda y: y * {1}, {0})",
        (filled, real), lambda x, y: _alike(x, y) and _sum_apart(x),
    ),
    *[
        Rule(text, (real, real), _alike)
        for text in (
            "made = rule(lambda y: y * {1})\nmade.pullback(lambda w, v, y: w * {1})\n{n} = made({0})",
            "made = rule(lambda y: xp.sin(y) * {1})\n"
            "made.pushforward(lambda tangents, v, y: tangents[0] * xp.cos(y) * {1})\n{n} = made({0})",
            "made = rule(lambda y, p: y * p)\nmade.pullback(lambda w, v, y, p: (w * {1}, w * y))\n{n} = made({0}, {1})",
            "made = rule(lambda y, p: y * p)\n"
            "made.pushforward(lambda tangents, v, y, p: tangents[0] * {1} + tangents[1] * y)\n{n} = made({0}, {1})",
            "{n} = scalar_rule(lambda y: y * {1}, lambda v, y: {1} + 0.0 * y)({0})",
            "{n} = scalar_rule(lambda y: xp.sin(y), lambda v, y: xp.cos(y) * (1 + {1}) - xp.cos(y) * {1})({0})",
            "{n} = checkpoint(lambda y: xp.sin(y) * {1})({0})",
        )
    ],
    Rule(
        f"{_ITERATE}bent = lambda y, p: array_namespace(y, p).tanh(y / 3 + p) * {{1}} / 2\n"
        "{n} = fixed_point(bent, xp.zeros_like({0}), {0}, solver=iterate)",
        (filled, filled), lambda x, y: _alike(x, y) and bool(np.all(np.abs(y) < 2)),
    ),
    Rule(_NEWTON.replace("{g}", "g(y)") + _CUBE.replace("{captured}", " - {1}"), (filled, filled), _alike),
    Rule(_NEWTON.replace("{g}", "float(g(y))") + _CUBE.replace("{captured}", " - {1}"), (number, number), _alike),
)  # fmt: skip


def _log_range(x: Any, *others: Any) -> bool:
    return bool(abs(x) > 0.06 and abs(1500 * x - 709.78) > 90)


#: Exceptions of NumPy code that are caught: raised by its own hand, by a function that it calls, or
#: by Python itself.
CAUGHT: tuple[Rule, ...] = (
    *[
        Rule(text, (filled,), _sum_apart)
        for text in (
            "try:\n    if np.sum({0}) > 0.25:\n        raise ValueError('large')\n    {n} = np.sin({0})\n"
            "except ValueError:\n    {n} = {0} ** 2",
            "def check(y):\n    if np.sum(y) > 0.25:\n        raise ArithmeticError('large')\n    return np.tanh(y)\n"
            "try:\n    {n} = check({0})\nexcept ArithmeticError:\n    {n} = 2.0 * {0}",
            "try:\n    assert np.sum({0}) > 0.25\n    {n} = np.sin({0})\nexcept AssertionError:\n    {n} = {0} ** 3",
            "{n} = 2.0 * {0}\nwith contextlib.suppress(ValueError):\n    if np.sum({0}) > 0.25:\n        raise ValueError\n"
            "    {n} = np.sin({0})",
            "try:\n    if np.sum({0}) > 0.25:\n        raise KeyError('large')\n    {n} = np.sin({0})\n"
            "except LookupError as error:\n    {n} = {0} * len(error.args)\nelse:\n    {n} = {n} + {0}",
        )
    ],
    Rule(
        "{n} = {0}\nfor _ in range(3):\n    try:\n        if np.sum({n}) > 0.25:\n            raise ValueError\n"
        "        {n} = {n} + 0.1\n    except ValueError:\n        {n} = {n} / 2\n        break",
        (filled,), _sums_apart,
    ),
    *[
        Rule(text, (number,), _away_from(0.0))
        for text in (
            "try:\n    {n} = {0} + math.log({0})\nexcept ValueError:\n    {n} = 3.0 * {0}",
            "try:\n    y = math.sqrt({0})\nexcept ValueError:\n    y = {0} ** 2\nelse:\n    y = y + 1.0\n"
            "finally:\n    {n} = {0} * 0.5\n{n} = {n} * y",
            "try:\n    y = 1.0 / max(float({0}), 0.0)\nexcept ZeroDivisionError:\n    y = 2.0\n{n} = {0} ** 2 * y",
            "try:\n    y = [1.0, 2.0][int({0} > 0) * 2]\nexcept IndexError:\n    y = 0.5\n{n} = {0} * y",
        )
    ],
    Rule(
        "try:\n    y = math.exp(1500.0 * {0}) * 0.0\nexcept OverflowError:\n    y = 1.0\n{n} = np.sin({0}) * (2.0 + y)",
        (number,), _log_range,
    ),
)  # fmt: skip
