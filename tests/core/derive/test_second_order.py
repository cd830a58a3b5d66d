"""Which pairs of backends give a second derivative, which is the default, and what is refused."""

import numpy as np
import pytest
from backends_table import BACKENDS, assert_tree, each_backend

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    SecondOrder,
    array_namespace,
    batched,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    prepare,
    pullback,
    second_derivative,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
)

ENGINES = {"jax": AutoJax, "torch": AutoTorch, "autograd": AutoAutograd}
MODES = (None, "forward", "reverse")
DIFFERENCES = AutoFiniteDifferences()

X = {"m": np.array([[0.4, 0.9], [0.8, 0.3]]), "s": 1.5}
V = {"m": np.array([[1.0, -0.5], [0.25, 2.0]]), "s": 0.5}
C = np.array([1.0, 2.0])


def f(x, c):
    """(c^T m c)^2 s^3, whose derivatives are closed formulas."""
    return (c @ x["m"] @ c) ** 2 * x["s"] ** 3


Q = float(C @ X["m"] @ C)
CC = np.outer(C, C)
VALUE = Q**2 * 1.5**3
GRADIENT = {"m": 2 * Q * CC * 1.5**3, "s": 3 * Q**2 * 1.5**2}
MM, MS, SS = 2 * np.multiply.outer(CC, CC) * 1.5**3, 6 * Q * CC * 1.5**2, 6 * Q**2 * 1.5
HESSIAN = {"m": {"m": MM, "s": MS}, "s": {"m": MS, "s": np.asarray(SS)}}
HVP = {
    "m": np.tensordot(MM, V["m"], 2) + MS * V["s"],
    "s": float(np.sum(MS * V["m"]) + SS * V["s"]),
}
DIAGONAL = {"m": 2 * CC**2 * 1.5**3, "s": float(SS)}


def curve(t):
    xp = array_namespace(t)
    return {"sin": xp.sin(t), "powers": xp.stack([t**2, t**4])}


def check_all(backend, rtol):
    """Every second-order operator against the formulas."""
    constant = Constant(C)
    triple = value_gradient_and_hessian(f, backend, X, constant)
    assert_tree(tuple(triple), (np.asarray(VALUE), GRADIENT, HESSIAN), rtol)
    assert_tree(hessian(f, backend, X, constant), HESSIAN, rtol)
    assert_tree(tuple(gradient_and_hvp(f, backend, X, V, constant)), (GRADIENT, HVP), rtol)
    assert_tree(hvp(f, backend, X, V, constant), HVP, rtol)
    assert_tree(diagonal_hessian(f, backend, X, constant), (DIAGONAL, None), rtol)
    second = {"sin": -float(np.sin(0.7)), "powers": np.array([2.0, 12 * 0.49])}
    assert_tree(second_derivative(curve, backend, 0.7), second, rtol)
    value, first, again = value_derivative_and_second_derivative(curve, backend, 0.7)
    assert_tree(value, {"sin": float(np.sin(0.7)), "powers": np.array([0.49, 0.7**4])}, 1e-13)
    assert_tree(first, {"sin": float(np.cos(0.7)), "powers": np.array([1.4, 4 * 0.7**3])}, rtol)
    assert_tree(again, second, rtol)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_pair_of_modes_works_on_each_engine(engine, outer, inner):
    auto = ENGINES[engine]
    check_all(SecondOrder(auto(mode=outer), auto(mode=inner)), 1e-10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ENGINES)
def test_differences_go_over_each_engine(engine, mode):
    check_all(SecondOrder(DIFFERENCES, ENGINES[engine](mode=mode)), 1e-7)


@pytest.mark.parametrize(
    "backend", [DIFFERENCES, SecondOrder(DIFFERENCES, DIFFERENCES)], ids=["plain", "pair"]
)
def test_differences_go_over_differences_with_wider_steps(backend):
    check_all(backend, 2e-6)


AT_AN_EDGE = np.array([0.0, 1.0, 4.0])


def roots(x):
    return array_namespace(x).sum(array_namespace(x).sqrt(x))


@pytest.mark.parametrize("chunk", [None, 1])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_infinite_entry_leaves_the_rest_of_a_diagonal_alone(engine, chunk):
    backend = ENGINES[engine]() if engine == "autograd" else ENGINES[engine](chunk_size=chunk)
    expected = np.array([-np.inf, -0.25, -0.03125])
    with np.errstate(all="ignore"):
        assert_tree(diagonal_hessian(roots, backend, AT_AN_EDGE), (expected,), 1e-14)
        assert_tree(
            diagonal_hessian(lambda a: roots(a[0]) * 2, backend, [AT_AN_EDGE]),
            ([2 * expected],),
            1e-14,
        )
        assert_tree(
            prepare(diagonal_hessian, roots, backend, AT_AN_EDGE)(AT_AN_EDGE), (expected,), 1e-14
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_an_infinite_entry_has_no_part_in_a_pullback_whose_cotangent_is_zero_there(engine):
    backend = ENGINES[engine](mode="forward")
    back = pullback(lambda x: array_namespace(x).sqrt(x), backend, AT_AN_EDGE).back
    with np.errstate(all="ignore"):
        assert_tree(back(np.array([0.0, 1.0, 2.0])), (np.array([0.0, 0.5, 0.5]),), 1e-14)
    # The derivative by a cotangent of zero is not lost.
    x, w = AT_AN_EDGE + 1, np.array([0.0, 1.0, 0.0])

    def of_cotangent(w, x):
        return pullback(lambda x: array_namespace(x).sqrt(x), backend, x).back(w)[0]

    found = jacobian(of_cotangent, backend, w, Constant(x))[0]
    assert_tree(found, np.diag(0.5 / np.sqrt(x)), 1e-14)


# Defaults
# ------------------------------------------------------------------------------------------------


@each_backend
def test_first_order_operators_use_the_inner_backend(backend):
    pair = SecondOrder(DIFFERENCES, backend)
    x = np.array([0.3, 0.7])
    assert_tree(
        gradient(lambda x: (x**3).sum(), pair, x), gradient(lambda x: (x**3).sum(), backend, x), 0
    )
    assert_tree(jacobian(lambda x: x**3, pair, x), jacobian(lambda x: x**3, backend, x), 0)


# What cannot work
# ------------------------------------------------------------------------------------------------


def of_complex(z):
    """No holomorphic function, and none of the modulus alone."""
    xp = array_namespace(z)
    return (
        xp.sum(xp.real(xp.sin(z) * z) * xp.imag(z) ** 2)
        + xp.sum(xp.abs(z) ** 4)
        + xp.real(xp.sum(z**3))
    )


Z, ALONG = np.array([0.4 + 1.1j, -1.3 + 0.2j, 0.7 - 0.6j]), np.array([1.0 - 0.5j, 2.0j, -0.3])


def _split():
    """The gradient and the product by the two parts as real arrays, in the convention of complex
    gradients.
    """
    parts, along = (np.stack([x.real, x.imag]) for x in (Z, ALONG))
    both = gradient_and_hvp(lambda r: of_complex(r[0] + 1j * r[1]), AutoJax(), parts, along)
    return [part[0] + 1j * part[1] for part in both]


@pytest.mark.parametrize(
    "backend",
    [
        *BACKENDS.values(),
        *[
            SecondOrder(auto(mode=outer), auto(mode=inner))
            for auto in ENGINES.values()
            for outer in ("forward", "reverse")
            for inner in ("forward", "reverse")
        ],
        *[SecondOrder(DIFFERENCES, auto()) for auto in ENGINES.values()],
        AutoFiniteDifferences(native=AutoTorch()),
    ],
    ids=repr,
)
def test_hvp_by_complex_numbers_is_the_derivative_of_the_gradient(backend):
    first, second = _split()
    rtol = 1e-5 if "FiniteDifferences" in repr(backend) else 1e-11
    gradients, products = prepare(gradient_and_hvp, of_complex, backend, Z, ALONG)(Z, ALONG)
    for found, wanted in (
        (hvp(of_complex, backend, Z, ALONG), second),
        (gradients, first),
        (products, second),
        (hvp(of_complex, backend, Z, ALONG.real + 0j), hvp(of_complex, backend, Z, ALONG.real)),
        (hvp(of_complex, backend, Z, None), np.zeros(3)),
    ):
        assert found.dtype == np.complex128
        np.testing.assert_allclose(found, wanted, rtol=rtol)


@each_backend
def test_hvp_by_complex_numbers_in_other_forms(backend):
    """A number, in single precision, in a batch, and beside real leaves of a tree."""
    number = hvp(lambda z: of_complex(array_namespace(z).reshape(z, (1,))), backend, Z[0], ALONG[0])
    np.testing.assert_allclose(number, _split()[1][0], rtol=1e-5)
    single = hvp(of_complex, backend, Z.astype(np.complex64), ALONG.astype(np.complex64))
    assert single.dtype == np.complex64
    rtol = 2e-2 if backend == DIFFERENCES else 1e-5
    np.testing.assert_allclose(single, _split()[1], rtol=rtol)
    stack = np.stack([ALONG, 1j * ALONG])
    each = batched(hvp, of_complex, backend, Z, Each(stack))
    np.testing.assert_allclose(each, [hvp(of_complex, backend, Z, v) for v in stack], rtol=1e-5)

    def f(t):
        xp = array_namespace(t["w"], t["c"])
        real = xp.real(xp.sum(t["w"] ** 2 * t["s"])) * xp.sum(t["r"])
        return real + xp.real(t["c"] * xp.conj(t["c"])) * t["s"] ** 2

    x = {"w": Z, "s": 1.3, "r": Z.real, "c": 0.3 - 0.4j}
    v = {"w": ALONG, "s": 0.2, "r": ALONG.imag, "c": 1 + 1j}
    found, wanted = hvp(f, backend, x, v), hvp(f, AutoJax(), x, v)
    assert [type(found[name]) for name in x] == [np.ndarray, float, np.ndarray, complex]
    for name in x:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "pair", [(AutoJax(jit=False), AutoJax()), (AutoJax(), AutoJax(jit=False))], ids=repr
)
def test_a_pair_of_which_one_does_not_compile_is_not_compiled(pair):
    calls = []
    fast = prepare(hessian, lambda x: (calls.append(1), x * x)[1], SecondOrder(*pair), 2.0)
    for count in (1, 2):
        assert fast(2.0) == 2.0
        assert len(calls) == count
