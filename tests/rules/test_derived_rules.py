"""Rules made of operators: roots, fixed points, linear systems, hooks, recomputation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import scipy.special
import torch
from backends_table import (
    assert_numbers,
    assert_told,
    assert_tree,
    each_backend,
    each_engine,
    rtol_of,
)

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    Each,
    RuleError,
    SecondOrder,
    array_namespace,
    batched,
    derivative,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pushforward,
    second_derivative,
)
from adinterface.rules import checkpoint, fixed_point, gradient_hook, linear_solve, root

A = np.array([2.0, 5.0])


def system(x, a):
    """Two equations whose solution has no simple form."""
    xp = array_namespace(x, a)
    return xp.stack([x[0] ** 3 + x[0] * x[1] - a[0], xp.exp(0.1 * x[1]) * x[1] + x[0] - a[1]])


def powell(g, x0):
    return scipy.optimize.root(g, x0, tol=1e-13, options={"xtol": 1e-14}).x


def solved(a):
    return root(system, np.ones(2), a, solver=powell)


def exact_jacobian(a):
    x = powell(lambda x: system(x, a), np.ones(2))
    inner = np.array([[3 * x[0] ** 2 + x[1], x[0]], [1.0, np.exp(0.1 * x[1]) * (1 + 0.1 * x[1])]])
    return np.linalg.inv(inner)


@each_backend
def test_a_root_in_both_modes_and_to_second_order(backend):
    rtol = 1e-6 if isinstance(backend, AutoFiniteDifferences) else 1e-9
    assert_tree(jacobian(solved, backend, A)[0], exact_jacobian(A), rtol)
    assert_tree(
        pushforward(solved, backend, (A,), (np.ones(2),)).tangent,
        exact_jacobian(A) @ np.ones(2),
        rtol,
    )
    step = 1e-5
    second = [
        (exact_jacobian(A + step * e)[0] - exact_jacobian(A - step * e)[0]) / (2 * step)
        for e in np.eye(2)
    ]
    assert_tree(
        hessian(lambda a: solved(a)[0], backend, A), np.array(second), 1e-4 if rtol > 1e-9 else 1e-7
    )
    assert_tree(prepare(jacobian, solved, backend, A)(A)[0], exact_jacobian(A), rtol)


@each_engine
def test_a_fixed_point_with_constants_and_trees(backend):
    def iterate(h, x):
        for _ in range(200):
            x = h(x)
        return x

    def point(p, n):
        return fixed_point(
            lambda x, p, n: array_namespace(x).cos(p["scale"] * x) / n,
            np.zeros(2),
            p,
            n,
            solver=iterate,
        )

    p = {"scale": np.array([0.5, 1.0])}
    x = point(p, 2)
    slope = -np.sin(p["scale"] * x) / 2
    found = gradient(
        lambda p, n: array_namespace(p["scale"]).sum(point(p, n)), backend, p, Constant(2)
    )
    assert_tree(found, ({"scale": slope * x / (1 - slope * p["scale"])}, None), 1e-9)


MATRIX, B = np.array([[4.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, 0.0, 5.0]]), np.array([1.0, 2.0, 3.0])


def gmres(product, b):
    operator = scipy.sparse.linalg.LinearOperator((len(b), len(b)), product, dtype=b.dtype)
    return scipy.sparse.linalg.gmres(operator, b, rtol=1e-14, atol=0.0)[0]


@each_engine
@pytest.mark.parametrize("transposed", [None, lambda x, a: a.T @ x], ids=["formed", "given"])
def test_a_linear_system_by_its_products(transposed, backend):
    def solve(a, b):
        return linear_solve(lambda x, a: a @ x, b, a, solver=gmres, transposed=transposed)

    def plain(a, b):
        return array_namespace(a).linalg.solve(a, b)

    assert_tree(jacobian(solve, backend, MATRIX, B), jacobian(plain, backend, MATRIX, B), 1e-9)
    tangents = ((MATRIX, B), (np.eye(3), np.ones(3)))
    assert_tree(
        pushforward(solve, backend, *tangents), pushforward(plain, backend, *tangents), 1e-9
    )

    def energy(f):
        return lambda both: array_namespace(both[1]).sum(f(*both) ** 2)

    assert_tree(
        hessian(energy(solve), backend, (MATRIX, B)),
        hessian(energy(plain), backend, (MATRIX, B)),
        1e-8,
    )


def distance(y):
    xp = array_namespace(y)
    return xp.sum(xp.real(y - 1) ** 2 + xp.imag(y - 1) ** 2)


def newton_in_the_plane(g, x):
    """For df = p dx + q conj(dx), each entry by itself."""
    for _ in range(60):
        value, right, up = g(x), g(x + 1e-6), g(x + 1e-6j)
        one, other = (right - value) / 1e-6, (up - value) / 1e-6j
        p, q = (one + other) / 2, (one - other) / 2
        x = x - (np.conj(p) * value - q * np.conj(value)) / (abs(p) ** 2 - abs(q) ** 2)
    return x


@each_engine
def test_a_complex_number_of_python_is_one_and_a_real_start_is_refused(backend):
    def square_root(z, start=1.0 + 0j):
        return root(lambda x, z: x * x - z, start, z, solver=newton_in_the_plane)

    z = 0.3 + 1.1j
    assert type(square_root(z)) is complex
    for call in (lambda z: gradient(lambda z: distance(square_root(z)), backend, z), None):
        call = call or prepare(gradient, lambda z: distance(square_root(z)), backend, z)
        assert call(z)[0] == pytest.approx((np.sqrt(z) - 1) / np.conj(np.sqrt(z)), rel=1e-8)
    words = "root: its solver returned complex numbers, and x0 is real. Give x0 a complex dtype...."
    assert_told(
        lambda: gradient(lambda z: distance(square_root(z, 1.0)), backend, z), RuleError, words
    )
    seen = r"It is complex and of shape \(\); x0 is real and of shape \(\)\."
    with pytest.raises(
        RuleError, match=rf"^root: f must return an array like x, and x is like x0\. {seen}"
    ):
        gradient(lambda z: root(lambda x, z: x - z, 1.0, z, solver=lambda g, x: x), backend, z)
    words = "linear_solve: its solver returned complex numbers, and b is real. Give b a complex..."
    assert_told(
        lambda: gradient(
            lambda z: distance(linear_solve(lambda x, z: z * x, A, z, solver=lambda g, b: b * 1j)),
            backend,
            z,
        ),
        RuleError,
        words,
    )


def test_solvers_inside_compiled_jax():
    assert_tree(prepare(jacobian, solved, AutoJax(), A)(A)[0], exact_jacobian(A), 1e-9)
    with jax.enable_x64(True):
        assert_numbers(jax.jit(jax.jacfwd(solved))(jnp.asarray(A)), exact_jacobian(A), 1e-9)
        rows = jax.jit(jax.vmap(jax.jacrev(solved)))(jnp.asarray([A, 1.1 * A]))
    assert_numbers(rows[1], exact_jacobian(1.1 * A), 1e-9)


@each_engine
def test_a_hook_changes_the_cotangent_alone(backend):
    seen = []

    def loss(p):
        p = gradient_hook(
            p, lambda c: {"a": array_namespace(c["a"]).clip(c["a"], -1.0, 1.0), "n": None}
        )
        return array_namespace(p["a"]).sum(p["a"] ** 2)

    p = {"a": np.array([0.2, 3.0]), "n": 3}
    assert_tree(gradient(loss, backend, p)[0], {"a": np.array([0.4, 1.0]), "n": None})
    forward = type(backend)(mode="forward")
    assert (
        pushforward(lambda x: gradient_hook(x, lambda c: -c) ** 2, forward, (3.0,), (1.0,)).tangent
        == 6.0
    )
    assert gradient(lambda x: gradient_hook(x, lambda c: seen.append(c)) ** 2, backend, 3.0) == (
        6.0,
    )
    assert len(seen) == 1
    assert gradient(lambda x: gradient_hook(x, lambda c: -c) ** 2, backend, 3.0) == (-6.0,)


@each_backend
def test_a_checkpointed_function_is_evaluated_again_and_gives_the_same(backend):
    calls = []

    def block(p, x, *, n=1):
        calls.append(1)
        for _ in range(n):
            x = array_namespace(x).tanh(p["w"] @ x)
        return {"x": x, "n": n}

    again = checkpoint(block)

    def loss(f):
        return lambda p, x: array_namespace(x).sum(f(p, f(p, x, n=2)["x"])["x"])

    p, x = {"w": MATRIX / 4}, B
    expected = gradient(loss(block), backend, p, x)
    calls.clear()
    assert_tree(gradient(loss(again), backend, p, x), expected, 10 * rtol_of(backend))
    # JAX evaluates again what it has traced
    if not isinstance(backend, (AutoFiniteDifferences, AutoJax)):
        assert len(calls) == 4
    tangents = ((p, x), (p, x))
    pushed = [pushforward(loss(f), backend, *tangents) for f in (again, block)]
    assert_tree(*pushed, 10 * rtol_of(backend))
    second = [hessian(lambda x, f=f: loss(f)(_as(p, x), x), backend, x) for f in (again, block)]
    assert_tree(*second, 100 * rtol_of(backend))


def _as(p, beside):
    if isinstance(beside, torch.Tensor):
        return {"w": torch.tensor(p["w"])}
    return {"w": jnp.asarray(p["w"])} if isinstance(beside, jax.Array) else p


@each_engine
def test_derived_rules_inside_numpy_code(backend):
    @numpy_function
    def loss(a):
        x = root(lambda x, a: x * x - a, np.ones(2), np.exp(a), solver=powell)
        return np.sum(gradient_hook(x, lambda c: 2 * c) * np.sqrt(2.0))

    a = np.array([0.1, 0.2])
    assert_tree(gradient(loss, backend, a)[0], np.sqrt(2.0) * np.exp(a / 2), 1e-9)


def newton(g, x):
    for _ in range(50):
        x = x - g(x) * 1e-6 / (g(x + 1e-6) - g(x))
    return x


@pytest.mark.parametrize(
    "backend",
    [
        AutoJax(),
        AutoAutograd(),
        AutoTorch(),
    ],
    ids=["jax", "autograd", "torch"],
)
def test_a_root_in_whose_equation_a_root_stands_to_third_order(backend):
    """y^2 = sqrt(a y) is y = a^(1/3)."""

    def nested(a):
        return root(
            lambda y, a: y * y - root(lambda z, b: z * z - b, 1.0, a * y, solver=newton),
            1.0,
            a,
            solver=newton,
        )

    def bent(a):
        return second_derivative(nested, backend, a)

    exact = -2 / 9 * 3.0 ** (-5 / 3)
    assert_numbers(hessian(nested, backend, 3.0), exact, 1e-8)
    assert_numbers(gradient(bent, backend, 3.0)[0], 10 / 27 * 3.0 ** (-8 / 3), 1e-8)


def reversed_inside(x):
    """x^3 by a product, one factor of which has a reversed gradient: -2 x^2 + x^2."""
    return gradient_hook(x * x, lambda c: -c) * x


HOOKS = [
    (AutoJax(), -2.0),
    (AutoAutograd(mode="reverse"), -2.0),
    (SecondOrder(AutoTorch(mode="forward"), AutoTorch()), -2.0),
    (AutoTorch(mode="forward"), 6.0),
    (AutoFiniteDifferences(), 6.0),
    (SecondOrder(AutoJax(mode="reverse"), AutoJax(mode="forward")), 6.0),
]


@pytest.mark.parametrize(("backend", "slope"), HOOKS, ids=str)
def test_second_derivatives_through_a_hook_are_those_of_the_gradient(backend, slope):
    """In reverse of -x^2, in forward mode, which hooks do not affect, of 3 x^2."""
    expected, rtol = slope * 1.3, 1e-5
    assert_numbers(hessian(reversed_inside, backend, 1.3), expected, rtol)
    assert_numbers(hvp(reversed_inside, backend, 1.3, 2.0), 2 * expected, rtol)
    assert_numbers(second_derivative(reversed_inside, backend, 1.3), expected, rtol)
    assert_numbers(prepare(hessian, reversed_inside, backend, 1.3)(1.3), expected, rtol)


@each_engine
def test_a_hook_that_is_not_linear_is_never_transposed(backend):
    """In reverse, f has the gradient 9 x^4 + cos x.

    Three such numbers have a Jacobian of three such rows.
    """
    point, backend = 0.7, type(backend)(mode="reverse")

    def f(x):
        return gradient_hook(x, lambda c: c * c) ** 3 + array_namespace(x).sin(x)

    def three(x):
        return f(x) * array_namespace(x).ones(3, dtype=x.dtype)

    slope = 9 * point**4 + np.cos(point)
    assert_numbers(derivative(f, backend, point), slope)
    assert_numbers(jacobian(three, backend, point)[0], np.full(3, slope))
    assert_numbers(pushforward(three, backend, (point,), (2.0,)).tangent, np.full(3, 2 * slope))
    assert_numbers(linearize(three, backend, point).push(2.0), np.full(3, 2 * slope))
    assert_numbers(
        prepare(pushforward, three, backend, (point,), (2.0,))((point,), (2.0,)).tangent,
        np.full(3, 2 * slope),
    )
    if not isinstance(backend, AutoTorch):  # which refuses it, see below
        assert_numbers(hessian(f, backend, point), 36 * point**3 - np.sin(point), 1e-5)


def test_torch_refuses_a_hook_in_a_backward_pass_through_a_backward_pass():
    calls = (
        lambda: hessian(reversed_inside, AutoTorch(), 1.3),
        lambda: hvp(reversed_inside, AutoTorch(), 1.3, 1.0),
        lambda: batched(hessian, reversed_inside, AutoTorch(), Each(np.array([1.3]))),
        lambda: gradient(lambda x: gradient(reversed_inside, AutoTorch(), x)[0], AutoTorch(), 1.3),
    )
    for call in calls:
        with pytest.raises(
            BackendError,
            match=r"f applies gradient_hook in a backward pass through a backward pass\. torch",
        ):
            call()
    assert hessian(lambda x: gradient_hook(x, lambda c: -c) * 3.0, AutoTorch(), 1.3) == 0.0
