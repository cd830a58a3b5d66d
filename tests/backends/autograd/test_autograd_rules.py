"""autograd's rules, and ours where its own are wrong or fail: both modes against differences and
against each other, at both orders.
"""

from pathlib import Path

import autograd.numpy as anp
import autograd.scipy.linalg as spl
import autograd.scipy.special as special
import autograd.scipy.stats
import numpy as np
import pytest
from adinterface_autograd import namespace, repairs
from adinterface_autograd.repairs.forward import ForwardNode
from autograd.builtins import list as List
from autograd.builtins import tuple as Tuple
from autograd.core import primitive_jvps
from autograd.extend import primitive
from backends_table import assert_told
from forked import printed

from adinterface import (
    AutoAutograd,
    ConversionError,
    NotDifferentiableError,
    array_namespace,
    gradient,
    numpy_function,
    pullback,
    pushforward,
)
from adinterface.core.contract import library_of_array

FORWARD, REVERSE = AutoAutograd(mode="forward"), AutoAutograd(mode="reverse")


def draw(*shape, seed=0, low=0.2, imaginary=False):
    rng = np.random.default_rng((seed, *shape))
    x = rng.uniform(low, low + 0.7, shape)
    return np.asarray(x + 1j * rng.uniform(0.2, 0.9, shape) if imaginary else x)


def signed(*shape):
    return draw(*shape, low=-0.35)


def twin(*shape):
    return draw(*shape, seed=1)


def complex_(*shape):
    return draw(*shape, imaginary=True)


MASK = np.array([True, False, True])
SQUARE, OTHER, THIRD = draw(3, 3) + 2 * np.eye(3), twin(3, 3) + 2 * np.eye(3), signed(3, 3)
CASES = {}


def written_into(x):
    a = x.copy()
    a[1:] = a[:-1] * x[0]
    return a


def case(label, f, *args):
    assert label not in CASES
    CASES[label] = f, args


def over(label, f, x, axes, **options):
    """A reduction along each of some axes, which are kept or not."""
    for axis in axes:
        for keep in (False, True):
            reduce = lambda x, a=axis, k=keep: f(x, axis=a, keepdims=k, **options)
            case(f"{label} {axis} {keep}", reduce, x)


def symmetric(x):
    return anp.dot(x, x.T) + 3 * anp.eye(3)


# Element by element.
for name in [
    "abs", "fabs", "negative", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "arcsinh", "arctanh", "rad2deg", "degrees", "deg2rad", "radians", "square", "sinc", "real",
    "imag", "conj", "angle", "real_if_close", "nan_to_num", "absolute",
]:  # fmt: skip
    case(name, getattr(anp, name), draw(3))
    case(f"{name}, 0-d", getattr(anp, name), draw())
    if name not in ("fabs", "rad2deg", "degrees", "deg2rad", "radians", "nan_to_num"):
        case(f"{name}, complex", getattr(anp, name), complex_(2, 2))
case("arccosh", anp.arccosh, draw(3) + 1)
for name in [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "logaddexp",
    "logaddexp2", "mod", "remainder", "power", "arctan2", "hypot",
]:  # fmt: skip
    f = getattr(anp, name)
    for left, right in (((3,), (3,)), ((2, 1), (3,)), ((), (3,)), ((2, 3), ())):
        x, y = draw(*left), twin(*right)
        case(f"{name} {left} {right}", f, x, y)
        case(f"{name} {left} {right}, the first", lambda x, f=f, y=y: f(x, y), x)
        case(f"{name} {left} {right}, the second", lambda y, f=f, x=x: f(x, y), y)
    if name in ("add", "subtract", "multiply", "divide", "power"):
        case(f"{name}, complex and real", f, complex_(3), twin(2, 3))
        case(f"{name}, real by complex", lambda x, f=f: f(x, complex_(2, 3)), draw(3))
        case(f"{name}, complex by real", lambda x, f=f: f(complex_(2, 3), x), draw(3))
for exponent in (3, 2, 1, 0, -1, 0.5):
    case(f"power {exponent}", lambda x, n=exponent: x**n, draw(3))
case("clip", lambda x: anp.clip(x, np.array([-0.2, 0.0, 0.1]), 0.5), signed(2, 3))
case("where", lambda x, y: anp.where(MASK, x, y), draw(3), twin(3))
case("a write into a copy", numpy_function(written_into), draw(3))
case("where, complex", lambda x, y: anp.where(MASK, x, y), complex_(3), draw(3))
for name in [
    "gamma", "gammaln", "erf", "erfc", "psi", "i0", "i1", "j0", "j1", "y0", "y1", "rgamma", "expit",
    "logit", "erfinv", "erfcinv",
]:  # fmt: skip
    case(f"special.{name}", getattr(special, name), draw(3))
for name in ["beta", "betaln"]:
    case(f"special.{name}", getattr(special, name), draw(3), twin(2, 1))
    f = getattr(special, name)
    case(f"special.{name} of one", lambda x, f=f: f(x, x), draw(3))
case("special.iv", lambda x: special.iv(2, x), draw(3))
case("special.gammainc", lambda x: special.gammainc(np.array([[0.5], [1.0]]), x), draw(3))

# Shapes and parts.
for name in ["ravel", "squeeze", "transpose", "flipud", "fliplr", "rot90", "triu", "tril", "trace"]:
    case(name, getattr(anp, name), complex_(2, 3))
for label, f, shape in (
    ("getitem", lambda x: x[1], (3,)),
    ("getitem, many", lambda x: x[[0, 0, 2]], (3,)),
    ("getitem, slices", lambda x: x[::-1, 1:, None], (2, 3)),
    ("array", lambda x: anp.array([[x, 1.0], [x * x, x]]), ()),
    ("reshape", lambda x: anp.reshape(x, (3, 2), order="F"), (2, 3)),
    ("transpose axes", lambda x: anp.transpose(x, (2, 0, 1)), (2, 3, 4)),
    ("diag", anp.diag, (3,)),
    ("diagonal", lambda x: anp.diagonal(x, 0, -1, -2), (2, 3, 3)),
    ("make_diagonal", lambda x: anp.make_diagonal(x, axis1=-1, axis2=-2), (2, 3)),
    ("expand_dims", lambda x: anp.expand_dims(x, 1), (2, 3)),
    ("swapaxes", lambda x: anp.swapaxes(x, 0, 2), (2, 3, 4)),
    ("rollaxis", lambda x: anp.rollaxis(x, 2), (2, 3, 4)),
    ("moveaxis", lambda x: anp.moveaxis(x, (0, 1), (-1, 0)), (2, 3, 4)),
    ("roll", lambda x: anp.roll(x, 1, axis=1), (2, 3)),
    ("broadcast_to", lambda x: anp.broadcast_to(x, (2, 3)), (2, 1)),
    ("full", lambda x: anp.full((2, 3), x), ()),
    ("repeat", lambda x: anp.repeat(x, 2, axis=1), (2, 3)),
    ("diff", lambda x: anp.diff(x, n=2, axis=0), (4, 2)),
    ("gradient", anp.gradient, (6,)),
    ("cumsum", lambda x: anp.cumsum(x, 1), (2, 3)),
    ("atleast_1d", anp.atleast_1d, ()),
    ("atleast_2d", anp.atleast_2d, (2,)),
    ("atleast_3d", anp.atleast_3d, (2,)),
    ("split", lambda x: anp.split(x, [1, 3])[1], (5,)),
    ("array_split", lambda x: anp.array_split(x, 3)[0], (5,)),
    ("vsplit", lambda x: anp.vsplit(x, 2)[0] * anp.vsplit(x, 2)[1], (2, 4)),
    ("hsplit", lambda x: anp.hsplit(x, 2)[1], (2, 4)),
    ("dsplit", lambda x: anp.dsplit(x, 2)[1], (2, 2, 4)),
    ("pad", lambda x: anp.pad(x, ((1, 2),), "constant", constant_values=2.0), (4,)),
    ("astype", lambda x: x.astype(np.complex128), (3,)),
    ("sort, 1-d", anp.sort, (5,)),
    ("partition, 1-d", lambda x: anp.partition(x, 2), (5,)),
):
    case(label, f, signed(*shape))
case(
    "concatenate",
    lambda x, y: anp.concatenate([x, np.ones((2, 1)), y, x], axis=1),
    draw(2, 3),
    twin(2, 2),
)
case("concatenate, complex", lambda x, y: anp.concatenate([x, y], -1), complex_(2, 3), draw(2, 2))
case("stack", lambda x, y: anp.stack([x, y], axis=1), draw(3), twin(3))
case("array of two", lambda x, y: anp.array([x, y, x]), draw(2), twin(2))
case("linspace", lambda x, y: anp.linspace(x, y, 4), draw(), twin())
case("tuples", lambda x, y: Tuple((x, y, x * y))[2] * List([x, y])[0], draw(3), twin(3))
case(
    "tuples joined",
    lambda x, y: (Tuple((x,)) + (y, x))[1] * ((y,) + Tuple((x,)))[0],
    draw(3),
    twin(3),
)

# Reductions.
AXES = (None, 1, (0, -1), (-3, 1))
for name in ["sum", "mean", "max", "min", "amax", "amin", "var", "std"]:
    reduce = getattr(anp, name)
    over(name, reduce, draw(2, 3, 2), AXES)
    case(f"{name}, a NumPy axis", lambda x, f=reduce: f(x, axis=np.int64(1)), draw(2, 3))
for name in ["sum", "mean", "var", "std"]:
    reduce = getattr(anp, name)
    case(f"{name}, complex", lambda x, f=reduce: f(x, axis=0), complex_(2, 3))
case("max of ties", lambda x: anp.max(anp.concatenate([x, x])), draw(3))
case("prod", lambda x: anp.prod(x, axis=1), draw(2, 3))
case("var ddof", lambda x: anp.var(x, axis=0, ddof=1), draw(4, 2))
for axis in AXES[:-1]:
    case(f"logsumexp {axis}", lambda x, a=axis: special.logsumexp(x, axis=a), draw(2, 3, 2))
for order in (None, 2, 3):
    case(f"norm {order}", lambda x, o=order: anp.linalg.norm(x, o, axis=1), draw(3, 4))
    case(f"norm {order}, complex", lambda x, o=order: anp.linalg.norm(x, o), complex_(4))
for order in ("fro", "nuc"):
    case(f"norm {order}", lambda x, o=order: anp.linalg.norm(x, o, axis=(0, 2)), draw(3, 2, 4))
    case(f"norm {order}, complex", lambda x, o=order: anp.linalg.norm(x, o), complex_(3, 4))

# Products and matrices.
for left, right in (((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))):
    case(f"matmul {left} {right}", anp.matmul, draw(*left), twin(*right))
    case(f"dot {left} {right}", anp.dot, draw(*left), twin(*right))
for name in ["matmul", "dot"]:
    case(f"{name}, complex", getattr(anp, name), complex_(2, 3), complex_(3, 2))
case("inner", anp.inner, draw(2, 3), twin(4, 3))
case("outer, complex", anp.outer, complex_(2), twin(3))
case("cross", lambda x, y: anp.cross(x, y, axis=0), draw(3, 2), twin(3, 2))
case("tensordot", lambda x, y: anp.tensordot(x, y, ([0, 2], [1, 0])), draw(2, 3, 4), twin(4, 2))
case("einsum", lambda x, y: anp.einsum("...j,jk,j->...k", x, y, y[:, 0]), draw(2, 2, 3), twin(3, 2))
for name in ["inv", "det", "pinv"]:
    case(name, getattr(anp.linalg, name), SQUARE)
case("inv, complex", anp.linalg.inv, complex_(3, 3) + 2 * np.eye(3))
case("solve", anp.linalg.solve, SQUARE, twin(3, 2))
case("solve of ours", namespace.linalg.solve, SQUARE + 0.3j, complex_(3, 2))
case("cholesky", lambda x: anp.linalg.cholesky(symmetric(x)), SQUARE)
case("slogdet", lambda x: anp.linalg.slogdet(x)[1], SQUARE)
case("eigh", lambda x: anp.linalg.eigh(symmetric(x))[1] ** 2, signed(3, 3))
case("svd", lambda x: anp.linalg.svd(x, full_matrices=False)[1], signed(3, 3))
case("qr of ours", lambda x: namespace.linalg.qr(x).R, SQUARE)
case("sqrtm", lambda x: spl.sqrtm(symmetric(x)), signed(3, 3))
case("solve_sylvester", spl.solve_sylvester, SQUARE, OTHER, THIRD)
case("solve_sylvester, the first", lambda x: spl.solve_sylvester(x, OTHER, THIRD), SQUARE)
case("solve_triangular", lambda x, y: spl.solve_triangular(x, y, lower=True), SQUARE, twin(3, 2))
case("fft", anp.fft.fft, complex_(4))
case("rfft", anp.fft.rfft, draw(4))
case("fft of ours", namespace.fft.fft, complex_(4))
case("stack of ours", lambda x, y: namespace.stack([x, np.ones(3), y], axis=1), draw(3), twin(3))
case("where of ours", lambda x: namespace.where(MASK, 1.0, x), draw(2, 1))
case("hypot of ours", namespace.hypot, draw(3), twin(2, 1))

# Where autograd has no rule, or a wrong one.
for label, (f, *args) in {
    "where, the constant broadcast": (lambda x: anp.where(MASK, draw(2, 3), x), twin(3)),
    "sort, 2-d": (anp.sort, signed(3, 4)),
    "sort, no axis": (lambda x: anp.sort(x, None), signed(3, 4)),
    "sort, stable": (lambda x: anp.sort(x, stable=True), signed(4)),
    "partition, 2-d": (lambda x: anp.partition(x, 2), signed(3, 5)),
    "partition, axis 0": (lambda x: anp.partition(x, (1, 2), axis=0), signed(4, 3)),
    "norm fro, keepdims": (
        lambda x: anp.linalg.norm(x, "fro", axis=(0, 2), keepdims=True),
        draw(3, 2, 3),
    ),
    "norm nuc, keepdims": (
        lambda x: anp.linalg.norm(x, "nuc", axis=(0, -1), keepdims=True),
        draw(3, 2, 3),
    ),
    "pad, edge": (lambda x: anp.pad(x, 2, "edge"), signed(4)),
    "pad, mean": (lambda x: anp.pad(x, 2, mode="mean", stat_length=2), signed(4)),
    "pad, ramp": (lambda x: anp.pad(x, 2, "linear_ramp", end_values=2.0), signed(4)),
    "pad, by default": (lambda x: anp.pad(x, 1), signed(2, 2)),
}.items():
    case(label, f, *args)

# Where autograd's reverse rule is wrong, or fails.


def uniform(*shape, seed=0):
    return np.asarray(np.random.default_rng((seed, *shape)).uniform(-1, 1, shape))


def uniform_complex(*shape):
    return uniform(*shape) + 1j * uniform(*shape, seed=1)


A, B, C = uniform(2, 3, 4), uniform(3, 3), uniform_complex(3, 3)
SOME = np.random.default_rng(0).random((2, 3, 4)) > 0.3

for label, x in (("square", B), ("complex", C)):
    over(f"norm, {label}", anp.linalg.norm, x, (None, 0, 1, (0, 1), (-2, -1), (-1, 0)))
for ord in (3, np.inf):
    over(f"norm, {ord}", anp.linalg.norm, B, (0, 1), ord=ord)
for label, f, options in (
    ("sum, where", anp.sum, {"where": SOME}),
    ("prod, where", anp.prod, {"where": SOME}),
    ("prod", anp.prod, {}),
    ("var, correction", anp.var, {"correction": 1}),
    ("std, correction", anp.std, {"correction": 1}),
):
    over(label, f, A, (None, 0, (0, 2), (-1, 0)), **options)
case("mean, all positional", lambda x: anp.mean(x, 0, None, None, True), A)
case("max, where", lambda x: anp.max(x, where=SOME, initial=-5.0), A)
for condition, left, right in (
    ((3,), (2, 1), (3,)), ((), (2, 1), (3,)), ((2, 3), (3,), ()), ((), (2, 3), (2, 3)),
    ((2, 3), (2, 3), (1, 3)),
):  # fmt: skip
    mask = np.random.default_rng(1).random(condition) > 0.5
    case(
        f"where {condition} {left} {right}",
        lambda x, y, m=mask: anp.where(m, x, y),
        uniform(*left),
        uniform(*right, seed=1),
    )
case("full_like", lambda x: anp.full_like(A, x[0]), uniform(3))
case("index by a list of booleans", lambda x: x[[True, False, True]], B)
case("transpose, negative axes", lambda x: anp.transpose(x, (-1, 0, 1)), A)
case("diagonal, negative axes", lambda x: anp.diagonal(x, axis1=-1, axis2=-2), A)
case("diagonal, first axes", lambda x: anp.diagonal(x), A)
case("diag, wide", lambda x: anp.diag(x, 1), uniform(2, 3))
case("trace, axes", lambda x: anp.trace(x, 1, 1, 2), A)
case("repeat, last axis", lambda x: anp.repeat(x, 2, axis=-1), A)
case("repeat, counts", lambda x: anp.repeat(x, [1, 2, 0], axis=1), A)
case("tile, fewer", lambda x: anp.tile(x, 2), A)
case("tile", lambda x: anp.tile(x, (2, 3)), A)
case("roll, several axes", lambda x: anp.roll(x, (1, 2), axis=(0, 2)), A)
case("rot90, axes", lambda x: anp.rot90(x, 3, (1, 2)), A)
case("broadcast_to, new axes", lambda x: anp.broadcast_to(x, (5, 2, 3, 4)), A)
case("concatenate, no axis", lambda x: anp.concatenate([x, 2 * x], axis=None), A)
case("array, ndmin", lambda x: anp.array([x[0], x[1]], ndmin=5), A)
case("sort", lambda x: anp.sort(x, axis=0), A)
case("partition, complex", lambda x: anp.partition(x, 1), uniform_complex(2, 4))
for mode in ("reflect", "maximum", "minimum", "median"):
    case(f"pad, {mode}", lambda x, m=mode: anp.pad(x, 1, m), A)
for ord in (1, -1, np.inf):
    case(f"norm, {ord}, of a vector", lambda x, o=ord: anp.linalg.norm(x, o), uniform(4))
case("gradient, axis", lambda x: anp.gradient(x, axis=1), A)
case(
    "clip, bounds",
    lambda x, low, high: anp.clip(x, low - 0.5, high + 0.5),
    B,
    0.1 * uniform(3),
    0.1 * uniform(3, 1),
)
case("kron", anp.kron, uniform(4, 2, 3), uniform(4, 3, 2))
case("outer", anp.outer, uniform(3), uniform(3, 2))
case("outer of matrices", anp.outer, uniform(2, 3), uniform(3, 2))
case("cross, stacked", anp.cross, uniform(2, 3), uniform(3))
case("einsum, diagonal", lambda x: anp.einsum("ii->i", x), B)
case(
    "einsum, axes of length 1",
    lambda x, y: anp.einsum("ij,ij->i", x, y),
    uniform(2, 1),
    uniform(2, 3),
)
case("einsum, trace", lambda x: anp.einsum("ii", x), B)
for n in (3, 4, 6, 7):
    for norm in (None, "ortho", "forward"):
        case(
            f"rfft, {n}, {norm}",
            lambda x, n=n, norm=norm: anp.fft.rfft(x, n, norm=norm),
            uniform(4),
        )
        case(
            f"irfft, {n}, {norm}",
            lambda x, n=n, norm=norm: anp.fft.irfft(x, n, norm=norm),
            uniform_complex(4),
        )
case("rfft2, odd", lambda x: anp.fft.rfft2(x), uniform(3, 5))
case("irfftn, odd", lambda x: anp.fft.irfftn(x, (3, 3), (0, 1)), uniform_complex(3, 3))


def _hermitian(x):
    return x @ anp.conj(x.T) + 3 * np.eye(3)


case("cholesky, complex", lambda x: anp.linalg.cholesky(_hermitian(x)), C)
case(
    "cholesky, complex, of the namespace",
    lambda x: array_namespace(x).linalg.cholesky(_hermitian(x)),
    C,
)
case("slogdet, complex", lambda x: anp.linalg.slogdet(x)[0], C)
case("slogdet, complex, its logarithm", lambda x: anp.linalg.slogdet(x)[1], C)
case("slogdet, complex, stacked", lambda x: anp.linalg.slogdet(x)[0], uniform_complex(2, 3, 3))
for unit in (False, True):
    case(
        f"solve_triangular, unit_diagonal={unit}",
        lambda a, b, u=unit: spl.solve_triangular(a, b, lower=True, unit_diagonal=u),
        B + 3 * np.eye(3),
        uniform(3, 2),
    )


#: Of which second derivatives are compared: real ones, without forms that differ in a shape alone.
TWICE = [
    label
    for label, (_, args) in CASES.items()
    if not any(map(np.iscomplexobj, args))
    and not label.endswith((", 0-d", ", the first", ", the second", " True"))
]


def directions(arrays, seed=3):
    rng = np.random.default_rng(seed)

    def direction(x):
        v = rng.normal(size=np.shape(x))
        return np.asarray(v + 1j * rng.normal(size=np.shape(x)) if np.iscomplexobj(x) else v)

    return tuple(direction(x) for x in arrays)


def differences(f, args, tangents):
    """The derivative in one direction, by differences of fourth order."""
    h = 3e-5
    at = lambda h: np.asarray(f(*[x + h * v for x, v in zip(args, tangents)]))
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


@pytest.mark.parametrize("label", CASES)
def test_a_rule_agrees_with_differences_in_both_modes(label):
    f, args = CASES[label]
    tangents = directions(args)
    wanted = differences(f, args, tangents)
    close = {"rtol": 1e-6, "atol": 1e-7 * max(1.0, np.max(np.abs(wanted), initial=0.0))}
    for backend in (FORWARD, REVERSE):
        value, tangent = pushforward(f, backend, args, tangents)
        assert np.shape(tangent) == np.shape(value)
        assert np.asarray(tangent).dtype == np.asarray(value).dtype
        np.testing.assert_allclose(tangent, wanted, **close)
    value, back = pullback(f, REVERSE, *args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    (cotangent,) = directions([value], seed=4)
    along = sum(np.real(np.vdot(g, v)) for g, v in zip(back(cotangent), tangents))
    np.testing.assert_allclose(np.real(np.vdot(tangent, cotangent)), along, rtol=1e-9, atol=1e-12)


# the slope of what is linear is constant
@pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")
@pytest.mark.parametrize("label", TWICE)
def test_a_rule_can_be_differentiated_in_both_modes(label):
    f, args = CASES[label]
    tangents, others = directions(args), directions(args, seed=5)
    weights = directions([f(*args)])[0].conj()

    def scalar(*args):
        return anp.sum(anp.real(f(*args) * weights))

    def forward(*args):
        return pushforward(scalar, FORWARD, args, tangents).tangent

    def reverse(*args):
        return sum(anp.sum(g * v) for g, v in zip(gradient(scalar, REVERSE, *args), tangents))

    by_differences = differences(reverse, args, others)
    expected = sum(np.sum(g * v) for g, v in zip(gradient(reverse, REVERSE, *args), others))
    scale = max(1.0, abs(expected))
    np.testing.assert_allclose(expected, by_differences, rtol=1e-5, atol=1e-5 * scale)
    found = [pushforward(inner, FORWARD, args, others).tangent for inner in (forward, reverse)]
    found.append(sum(np.sum(g * v) for g, v in zip(gradient(forward, REVERSE, *args), others)))
    np.testing.assert_allclose(found, [expected] * 3, rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")
def test_every_primitive_with_a_forward_rule_of_autograds_is_compared(monkeypatch):
    met = set()
    right = ForwardNode.__init__

    def watched(self, answer, fun, *rest):
        met.add(fun)
        right(self, answer, fun, *rest)

    monkeypatch.setattr(ForwardNode, "__init__", watched)
    for f, args in CASES.values():
        pushforward(f, AutoAutograd(), args, args)
        # what only reverse rules call is met at second order
        if not any(np.iscomplexobj(x) for x in args):
            pushforward(
                lambda *args, f=f: gradient(
                    lambda *args: anp.sum(anp.real(f(*args))), REVERSE, *args
                ),
                FORWARD,
                args,
                args,
            )
    missed = {getattr(fun, "__name__", str(fun)) for fun in primitive_jvps if fun not in met}
    # Arithmetic of autograd's vector spaces, of which only a sum is ever asked for here.
    assert missed <= {
        "covector",
        "inner_prod",
        "scalar_mul",
        "sparse_add",
        "mut_add",
        "container_untake",
        "untake",
        "add",
    }


# What has no forward rule
# --------------------------------------------------------------------------------------------


@primitive
def without_rules(x):
    return x * x


@pytest.mark.parametrize("mode", [None, "forward"])
def test_a_primitive_with_no_rule_at_all_is_named(mode):
    with pytest.raises(
        NotImplementedError,
        match="autograd has neither a forward nor a reverse rule for without_rules",
    ):
        pushforward(without_rules, AutoAutograd(mode=mode), (2.0,), (1.0,))


def test_an_array_that_no_library_knows_is_named():
    words = "A builtins.object stands where an engine has its arrays, and no library..."
    assert_told(lambda: library_of_array(object()), ConversionError, words)


def test_an_argument_without_a_rule_is_named():
    cdf = autograd.scipy.stats.t.cdf
    with pytest.raises(
        NotImplementedError,
        match=r"^autograd has no reverse rule for cdf with respect to its argument 3$",
    ):
        gradient(lambda x, loc, scale: cdf(x, 2.0, loc, scale), REVERSE, 0.3, 0.1, 1.5)


@pytest.mark.parametrize(
    "backend", [AutoAutograd(), FORWARD, REVERSE], ids=["reverse", "forward", "told"]
)
@pytest.mark.parametrize(
    "f",
    [
        lambda a, x: anp.sum(anp.where(x > 0, [a, a], x)),
        lambda a, x: anp.sum(anp.concatenate([[a], x])),
        lambda a, x: anp.sum(anp.maximum([2 * a, 2 * a], x)),
        lambda a, x: (
            (anp.sum(x), anp.vstack([x, [a, 1.0]]))[0] + anp.sum(anp.vstack([x, [a, 1.0]]))
        ),
    ],
    ids=["where", "concatenate", "maximum", "vstack"],
)
def test_a_list_of_what_is_differentiated_is_refused_where_its_gradient_would_be_lost(f, backend):
    with pytest.raises(NotDifferentiableError) as caught:
        gradient(f, backend, 0.7, np.ones(2))
    assert (
        str(caught.value)
        == "A list of what is differentiated stands where one of autograd's functions takes an"
        " array, and its gradient would be lost. Write xp.stack([...]) for the list (xp ="
        " adinterface.array_namespace(x)), or decorate f with adinterface.numpy_function, for"
        " NumPy's own functions."
    )


def test_a_list_of_what_is_differentiated_is_followed_where_autograd_makes_an_array_of_it():
    for f in (
        lambda a, x: anp.sum(anp.stack([[a, a], x])),
        lambda a, x: anp.sum(2 * anp.array([a, 3.0]) * x),
    ):
        for backend in (FORWARD, REVERSE):
            assert gradient(f, backend, 0.7, np.ones(2))[0] == 2.0


def test_the_repairs_work_without_adinterface():
    program = """
        import sys
        import numpy as np
        sys.modules["adinterface"] = None
        import autograd.numpy as anp
        from repairs import functions, linalg
        from repairs.box import Box
        from repairs.reverse import ReverseNode
        from repairs.traces import backward, new_trace, node_of
        x = np.array([0.0, 2.0, 3.0])
        for f in (
            lambda x: anp.sum(functions.flip(x) * x),
            lambda x: anp.sum(functions.hypot(x, 0.0 * x)),
            lambda x: anp.sum(anp.maximum(x, 2.0)),
            lambda x: linalg.solve(2.0 * np.eye(3), x)[0],
        ):
            root = ReverseNode.root_of(x)
            with new_trace() as trace:
                end = node_of(f(Box(x, trace, root)), trace)
            print(*backward([(end, np.ones(()))])[root])
        try:
            float(Box(x, 0, root))
        except TypeError as error:
            print(error)
    """
    assert printed(program, path=Path(repairs.__file__).parents[1]).splitlines() == [
        "6.0 4.0 0.0",
        "0.0 1.0 1.0",
        "0.0 0.5 1.0",
        "0.5 0.0 0.0",
        "float() argument must be a string or a real number, not 'Box'",
    ]
