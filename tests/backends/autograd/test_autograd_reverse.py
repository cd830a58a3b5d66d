"""autograd's reverse mode where its own rules are wrong or fail: against differences, in both modes
and at second order.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import autograd.numpy as anp
import autograd.scipy.linalg as scipy_linalg
import autograd.scipy.stats
import numpy as np
import pytest
from adinterface_autograd import repairs

from adinterface import (
    AutoAutograd,
    ConversionError,
    NotDifferentiableError,
    array_namespace,
    gradient,
    hvp,
    pullback,
    pushforward,
)
from adinterface.core.contract import library_of_array

FORWARD, REVERSE = AutoAutograd(mode="forward"), AutoAutograd(mode="reverse")
CASES = {}


def draw(*shape, seed=0):
    return np.asarray(np.random.default_rng((seed, *shape)).uniform(-1, 1, shape))


def complex_(*shape):
    return draw(*shape) + 1j * draw(*shape, seed=1)


def case(label, f, *args):
    assert label not in CASES
    CASES[label] = f, args


A, B, C = draw(2, 3, 4), draw(3, 3), complex_(3, 3)
MASK = np.random.default_rng(0).random((2, 3, 4)) > 0.3

for axis in (None, 0, 1, (0, 1), (-2, -1), (-1, 0)):
    for keepdims in (False, True):
        label = f"axis={axis}, keepdims={keepdims}"
        case(
            f"norm, square, {label}",
            lambda x, a=axis, k=keepdims: anp.linalg.norm(x, axis=a, keepdims=k),
            B,
        )
        case(
            f"norm, complex, {label}",
            lambda x, a=axis, k=keepdims: anp.linalg.norm(x, axis=a, keepdims=k),
            C,
        )
        if not isinstance(axis, tuple):
            for ord in (3, np.inf):
                if axis is not None:
                    case(
                        f"norm, {ord}, {label}",
                        lambda x, a=axis, k=keepdims, o=ord: anp.linalg.norm(x, o, a, k),
                        B,
                    )
for axis in (None, 0, (0, 2), (-1, 0)):
    for keepdims in (False, True):
        label = f"axis={axis}, keepdims={keepdims}"
        case(
            f"sum, where, {label}",
            lambda x, a=axis, k=keepdims: anp.sum(x, axis=a, keepdims=k, where=MASK),
            A,
        )
        case(
            f"prod, where, {label}",
            lambda x, a=axis, k=keepdims: anp.prod(x, axis=a, keepdims=k, where=MASK),
            A,
        )
        case(f"prod, {label}", lambda x, a=axis, k=keepdims: anp.prod(x, axis=a, keepdims=k), A)
        case(
            f"var, correction, {label}",
            lambda x, a=axis, k=keepdims: anp.var(x, axis=a, keepdims=k, correction=1),
            A,
        )
        case(
            f"std, correction, {label}",
            lambda x, a=axis, k=keepdims: anp.std(x, axis=a, keepdims=k, correction=1),
            A,
        )
case("mean, all positional", lambda x: anp.mean(x, 0, None, None, True), A)
case("max, where", lambda x: anp.max(x, where=MASK, initial=-5.0), A)
for condition, left, right in (
    ((3,), (2, 1), (3,)), ((), (2, 1), (3,)), ((2, 3), (3,), ()), ((), (2, 3), (2, 3)),
    ((2, 3), (2, 3), (1, 3)),
):  # fmt: skip
    mask = np.random.default_rng(1).random(condition) > 0.5
    case(
        f"where {condition} {left} {right}",
        lambda x, y, m=mask: anp.where(m, x, y),
        draw(*left),
        draw(*right, seed=1),
    )
case("full_like", lambda x: anp.full_like(A, x[0]), draw(3))
case("index by a list of booleans", lambda x: x[[True, False, True]], B)
case("transpose, negative axes", lambda x: anp.transpose(x, (-1, 0, 1)), A)
case("diagonal, negative axes", lambda x: anp.diagonal(x, axis1=-1, axis2=-2), A)
case("diagonal, first axes", lambda x: anp.diagonal(x), A)
case("diag, wide", lambda x: anp.diag(x, 1), draw(2, 3))
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
case("partition", lambda x: anp.partition(x, 1), A)
case("partition, complex", lambda x: anp.partition(x, 1), complex_(2, 4))
for mode in ("reflect", "maximum", "minimum", "median"):
    case(f"pad, {mode}", lambda x, m=mode: anp.pad(x, 1, m), A)
for ord in (1, -1, np.inf):
    case(f"norm, {ord}, of a vector", lambda x, o=ord: anp.linalg.norm(x, o), draw(4))
case("gradient, axis", lambda x: anp.gradient(x, axis=1), A)
case(
    "clip, bounds",
    lambda x, low, high: anp.clip(x, low - 0.5, high + 0.5),
    B,
    0.1 * draw(3),
    0.1 * draw(3, 1),
)
case("kron", anp.kron, draw(4, 2, 3), draw(4, 3, 2))
case("outer", anp.outer, draw(3), draw(3, 2))
case("outer of matrices", anp.outer, draw(2, 3), draw(3, 2))
case("cross, stacked", anp.cross, draw(2, 3), draw(3))
case("einsum, diagonal", lambda x: anp.einsum("ii->i", x), B)
case("einsum, axes of length 1", lambda x, y: anp.einsum("ij,ij->i", x, y), draw(2, 1), draw(2, 3))
case("einsum, trace", lambda x: anp.einsum("ii", x), B)
for n in (3, 4, 6, 7):
    for norm in (None, "ortho", "forward"):
        case(f"rfft, {n}, {norm}", lambda x, n=n, norm=norm: anp.fft.rfft(x, n, norm=norm), draw(4))
        case(
            f"irfft, {n}, {norm}",
            lambda x, n=n, norm=norm: anp.fft.irfft(x, n, norm=norm),
            complex_(4),
        )
case("rfft2, odd", lambda x: anp.fft.rfft2(x), draw(3, 5))
case("irfftn, odd", lambda x: anp.fft.irfftn(x, (3, 3), (0, 1)), complex_(3, 3))


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
case("slogdet, complex, stacked", lambda x: anp.linalg.slogdet(x)[0], complex_(2, 3, 3))
for unit in (False, True):
    case(
        f"solve_triangular, unit_diagonal={unit}",
        lambda a, b, u=unit: scipy_linalg.solve_triangular(a, b, lower=True, unit_diagonal=u),
        B + 3 * np.eye(3),
        draw(3, 2),
    )


def differences(f, args, tangents):
    """The derivative in one direction, by differences of fourth order."""

    def at(h):
        return np.asarray(f(*[x + h * t for x, t in zip(args, tangents)]))

    h = 1e-3
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)


def direction(x, seed):
    t = draw(*np.shape(x), seed=seed)
    return t + 1j * draw(*np.shape(x), seed=seed + 1) if np.iscomplexobj(x) else t


@pytest.mark.parametrize("name", CASES)
def test_both_modes_agree_with_differences(name):
    f, args = CASES[name]
    tangents = tuple(direction(x, 5) for x in args)
    wanted = differences(f, args, tangents)
    tolerance = {"rtol": 1e-7, "atol": 1e-8 * max(1.0, np.max(np.abs(wanted)))}
    for backend in (FORWARD, REVERSE):
        np.testing.assert_allclose(
            pushforward(f, backend, args, tangents).tangent, wanted, **tolerance
        )
    value, back = pullback(f, REVERSE, *args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    cotangent = direction(value, 7)
    product = sum(np.vdot(g, t).real for g, t in zip(back(cotangent), tangents))
    np.testing.assert_allclose(product, np.vdot(cotangent, wanted).real, **tolerance)


@pytest.mark.parametrize(
    "name",
    [name for name, (_, args) in CASES.items() if len(args) == 1 and not np.iscomplexobj(args[0])],
)
def test_second_derivatives_are_right_too(name):
    f, (x,) = CASES[name]
    weights = direction(np.asarray(f(x)), 9)

    def energy(x):
        return anp.sum(anp.real(anp.conj(weights) * f(x) ** 2))

    v = direction(x, 5)
    wanted = differences(lambda x: gradient(energy, REVERSE, x)[0], (x,), (v,))
    found = hvp(energy, REVERSE, x, v)
    np.testing.assert_allclose(
        found, wanted, rtol=1e-6, atol=1e-7 * max(1.0, np.max(np.abs(wanted)))
    )


def test_an_array_that_no_library_knows_is_named():
    with pytest.raises(
        ConversionError,
        match=r"^A builtins\.object stands where an engine has its arrays, and no library",
    ):
        library_of_array(object())


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
    environment = {**os.environ, "PYTHONPATH": str(Path(repairs.__file__).parents[1])}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines() == [
        "6.0 4.0 0.0",
        "0.0 1.0 1.0",
        "0.0 0.5 1.0",
        "0.5 0.0 0.0",
        "float() argument must be a string or a real number, not 'Box'",
    ]
