"""Rules that people need: roots, fixed points, linear systems, hooks, recomputation, stand-ins for derivatives."""

import functools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import scipy.sparse.linalg
import scipy.special
import torch
from backends_table import assert_numbers, assert_tree, each_backend, each_engine, rtol_of

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
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    rule,
    second_derivative,
    value_and_gradient,
    value_and_jacobian,
)
from adinterface.rules import checkpoint, fixed_point, gradient_hook, linear_solve, root, scalar_rule, straight_through

pytestmark = pytest.mark.sweep  # test_rules.py runs with every change

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
    assert_tree(pushforward(solved, backend, (A,), (np.ones(2),)).tangent, exact_jacobian(A) @ np.ones(2), rtol)
    step = 1e-5
    second = [(exact_jacobian(A + step * e)[0] - exact_jacobian(A - step * e)[0]) / (2 * step) for e in np.eye(2)]
    assert_tree(hessian(lambda a: solved(a)[0], backend, A), np.array(second), 1e-4 if rtol > 1e-9 else 1e-7)
    assert_tree(prepare(jacobian, solved, backend, A)(A)[0], exact_jacobian(A), rtol)


@each_engine
def test_a_root_of_one_number_to_nine_digits(backend):
    def newton(g, x):
        return scipy.optimize.newton(g, x, tol=1e-15)

    def cube_root(a):
        return root(lambda x, a: x**3 - a, 1.0, a, solver=newton)

    assert gradient(cube_root, backend, 8.0)[0] == pytest.approx(1 / 12, rel=1e-9)
    assert hessian(cube_root, backend, 8.0) == pytest.approx(-2 / 9 * 8.0 ** (-5 / 3), rel=1e-9)


@each_engine
def test_a_fixed_point_with_constants_and_trees(backend):
    def iterate(h, x):
        for _ in range(200):
            x = h(x)
        return x

    def point(p, n):
        return fixed_point(lambda x, p, n: array_namespace(x).cos(p["scale"] * x) / n, np.zeros(2), p, n, solver=iterate)

    p = {"scale": np.array([0.5, 1.0])}
    x = point(p, 2)
    slope = -np.sin(p["scale"] * x) / 2
    found = gradient(lambda p, n: array_namespace(p["scale"]).sum(point(p, n)), backend, p, Constant(2))
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
    assert_tree(pushforward(solve, backend, *tangents), pushforward(plain, backend, *tangents), 1e-9)

    def energy(f):
        return lambda both: array_namespace(both[1]).sum(f(*both) ** 2)

    assert_tree(hessian(energy(solve), backend, (MATRIX, B)), hessian(energy(plain), backend, (MATRIX, B)), 1e-8)


COMPLEX = np.array([[3.0 + 1j, 0.5j], [1.0, 2.0 - 0.5j]])
Z = np.array([0.3 + 1.1j, 1.2 - 0.4j])


def distance(y):
    xp = array_namespace(y)
    return xp.sum(xp.real(y - 1) ** 2 + xp.imag(y - 1) ** 2)


def mirrored(x):
    """The conjugate, of which torch has no batching rule."""
    xp = array_namespace(x)
    return xp.real(x) - 1j * xp.imag(x)


def newton_in_the_plane(g, x):
    """For df = p dx + q conj(dx), each entry by itself."""
    for _ in range(60):
        value, right, up = g(x), g(x + 1e-6), g(x + 1e-6j)
        one, other = (right - value) / 1e-6, (up - value) / 1e-6j
        p, q = (one + other) / 2, (one - other) / 2
        x = x - (np.conj(p) * value - q * np.conj(value)) / (abs(p) ** 2 - abs(q) ** 2)
    return x


def by_columns(product, b):
    """As real pairs, since the product may conjugate."""
    units = [factor * unit for factor in (1, 1j) for unit in np.eye(len(b), dtype=b.dtype)]
    columns = [np.concatenate([product(unit).real, product(unit).imag]) for unit in units]
    parts = np.linalg.solve(np.stack(columns, 1), np.concatenate([b.real, b.imag]))
    return parts[: len(b)] + 1j * parts[len(b) :]


def fixed(h, x):
    for _ in range(200):
        x = h(x)
    return x


def applied(x, a):
    return a @ x


#: Functions of complex numbers: of roots of an equation, holomorphic or not, and of linear systems.
COMPLEX_RULES = {
    "root": lambda z: root(lambda x, z: x * x - z, Z, z, solver=newton_in_the_plane),
    "root that is not holomorphic": lambda z: root(
        lambda x, z: x * x + 0.3 * mirrored(x) * z - z, Z, z, solver=newton_in_the_plane
    ),
    "fixed point": lambda z: fixed_point(
        lambda x, z: 0.2 * array_namespace(x).exp(x) * z + 0.1 * mirrored(x), 0 * Z, z, solver=fixed
    ),
    "matrix formed": lambda z: linear_solve(applied, z, _with(COMPLEX, z) * z, solver=by_columns),
    "transposed": lambda z: linear_solve(applied, z, _with(COMPLEX, z) * z, solver=by_columns, transposed=lambda x, a: a.T @ x),
    "product that conjugates": lambda z: linear_solve(
        lambda x, a: a @ x + 0.3 * mirrored(x), z, _with(COMPLEX, z) * z, solver=by_columns
    ),
}


def _with(a, beside):
    return array_namespace(beside).asarray(a)


@each_engine
@pytest.mark.parametrize("f", COMPLEX_RULES.values(), ids=COMPLEX_RULES)
def test_solutions_of_complex_numbers_in_both_modes_and_to_second_order(f, backend):
    differences = AutoFiniteDifferences()
    expected = gradient(lambda z: distance(f(z)), differences, Z)[0]
    for mode in ("forward", "reverse"):
        assert_tree(gradient(lambda z: distance(f(z)), type(backend)(mode=mode), Z)[0], expected, 1e-8)
    assert_tree(prepare(gradient, lambda z: distance(f(z)), backend, Z)(Z)[0], expected, 1e-8)
    cotangent, tangent = np.array([1.0 + 2j, -1j]), np.array([0.5j, 1.0 - 1j])
    pushed = pushforward(f, backend, (Z,), (tangent,)).tangent
    (pulled,) = pullback(f, backend, Z).back(cotangent)
    assert np.vdot(cotangent, pushed).real == pytest.approx(np.vdot(tangent, pulled).real, rel=1e-8)

    def of_parts(t):
        return distance(f(t[0] + 1j * t[1]))

    parts, direction = np.stack([Z.real, Z.imag]), np.stack([tangent.real, tangent.imag])
    assert_tree(hvp(of_parts, backend, parts, direction), hvp(of_parts, differences, parts, direction), 1e-5)


@each_engine
def test_a_complex_number_of_python_is_one_and_a_real_start_is_refused(backend):
    def square_root(z, start=1.0 + 0j):
        return root(lambda x, z: x * x - z, start, z, solver=newton_in_the_plane)

    z = 0.3 + 1.1j
    assert type(square_root(z)) is complex
    for call in (lambda z: gradient(lambda z: distance(square_root(z)), backend, z), None):
        call = call or prepare(gradient, lambda z: distance(square_root(z)), backend, z)
        assert call(z)[0] == pytest.approx((np.sqrt(z) - 1) / np.conj(np.sqrt(z)), rel=1e-8)
    with pytest.raises(
        RuleError, match=r"^root: its solver returned complex numbers, and x0 is real\. Give x0 a complex dtype\."
    ):
        gradient(lambda z: distance(square_root(z, 1.0)), backend, z)
    seen = r"It is complex and of shape \(\); x0 is real and of shape \(\)\."
    with pytest.raises(RuleError, match=rf"^root: f must return an array like x, and x is like x0\. {seen}"):
        gradient(lambda z: root(lambda x, z: x - z, 1.0, z, solver=lambda g, x: x), backend, z)
    with pytest.raises(
        RuleError, match=r"^linear_solve: its solver returned complex numbers, and b is real\. Give b a complex"
    ):
        gradient(lambda z: distance(linear_solve(lambda x, z: z * x, A, z, solver=lambda g, b: b * 1j)), backend, z)


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
        p = gradient_hook(p, lambda c: {"a": array_namespace(c["a"]).clip(c["a"], -1.0, 1.0), "n": None})
        return array_namespace(p["a"]).sum(p["a"] ** 2)

    p = {"a": np.array([0.2, 3.0]), "n": 3}
    assert_tree(gradient(loss, backend, p)[0], {"a": np.array([0.4, 1.0]), "n": None})
    forward = type(backend)(mode="forward")
    assert pushforward(lambda x: gradient_hook(x, lambda c: -c) ** 2, forward, (3.0,), (1.0,)).tangent == 6.0
    assert gradient(lambda x: gradient_hook(x, lambda c: seen.append(c)) ** 2, backend, 3.0) == (6.0,)
    assert len(seen) == 1
    assert gradient(lambda x: gradient_hook(x, lambda c: -c) ** 2, backend, 3.0) == (-6.0,)


@each_backend
def test_a_stand_in_for_a_derivative(backend):
    rounded = straight_through(lambda x: array_namespace(x).round(x))
    step = straight_through(lambda x: array_namespace(x).sign(x), lambda x: array_namespace(x).tanh(x))
    x = np.array([0.3, 1.7])
    value, (slopes,) = value_and_gradient(lambda x: array_namespace(x).sum(rounded(x) ** 2), backend, x)
    assert float(value) == 4.0
    assert_tree(slopes, 2 * np.round(x), 10 * rtol_of(backend))
    assert_tree(jacobian(step, backend, x)[0], np.diag(1 - np.tanh(x) ** 2), 100 * rtol_of(backend))


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
    if not isinstance(backend, (AutoFiniteDifferences, AutoJax)):  # JAX evaluates again what it has traced
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


@each_backend
def test_a_checkpointed_function_gets_and_gives_other_values_as_they_are(backend):
    def block(x, number, array, *, name, y):
        assert (type(number), type(array), name) == (float, np.ndarray, "block")
        return {"x": x * number + y, "number": number, "array": array, "name": name, "sum": array_namespace(x).sum(x)}

    def loss(f, x, y):
        result = f(x, 2.0, np.ones(2), name="block", y=y)
        assert (type(result["number"]), type(result["array"]), result["name"]) == (float, np.ndarray, "block")
        return array_namespace(x).sum(result["x"]) * result["sum"]

    slopes = [gradient(functools.partial(loss, f), backend, B, 2 * B) for f in (checkpoint(block), block)]
    assert_tree(*slopes, 10 * rtol_of(backend))


def test_checkpoint_keeps_little_for_the_way_back():
    """What torch saves, counted: the arguments, and not what each step computes."""
    saved = []
    x = torch.ones(100, requires_grad=True, dtype=torch.float64)

    def chain(x):
        for _ in range(50):
            x = torch.sin(x)
        return x

    for f, most in ((chain, 10**9), (checkpoint(chain), 100 * 8)):
        saved.clear()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.numel() * 8) or t, lambda t: t):
            f(x).sum()
        assert sum(saved) <= most
    w = torch.ones(3, requires_grad=True)
    checkpoint(lambda x: x * w)(torch.ones(3)).sum().backward()  # what is captured, too
    assert_numbers(w.grad, np.ones(3))


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
        return root(lambda y, a: y * y - root(lambda z, b: z * z - b, 1.0, a * y, solver=newton), 1.0, a, solver=newton)

    def bent(a):
        return second_derivative(nested, backend, a)

    exact = -2 / 9 * 3.0 ** (-5 / 3)
    assert_numbers(hessian(nested, backend, 3.0), exact, 1e-8)
    assert_numbers(bent(3.0), exact, 1e-8)
    assert_numbers(prepare(hessian, nested, backend, 2.0)(3.0), exact, 1e-8)
    assert_numbers(gradient(bent, backend, 3.0)[0], 10 / 27 * 3.0 ** (-8 / 3), 1e-8)


@each_engine
def test_a_batch_in_the_equation_of_a_root(backend):
    """y = 3 a, since the gradients of the sum of squares at a and a / 2 are 2 a and a."""

    def equation(y, a):
        batch = Each(array_namespace(a).stack([a, a / 2]))
        slopes = batched(gradient, lambda t: array_namespace(t).sum(t * t), backend, batch)[0]
        return y - slopes[0] - slopes[1]

    def energy(x):
        found = root(equation, np.zeros(2), x, solver=lambda g, y: y - g(y))
        return array_namespace(found).sum(found * found * found)

    assert_tree(gradient(energy, backend, A)[0], 81 * A**2, 1e-12)
    assert_tree(hessian(energy, backend, A), np.diag(162 * A), 1e-12)
    moved = pushforward(lambda x: gradient(energy, backend, x)[0], backend, (A,), (np.ones(2),)).tangent
    assert_tree(moved, 162 * A, 1e-12)


def test_what_is_no_function_is_refused():
    for call, message in (
        (lambda: root(3.0, 1.0, solver=powell), "root: f must be a function, not a float"),
        (lambda: root(abs, 1.0, solver="newton"), "root: solver must be a function, not a str"),
        (lambda: fixed_point(abs, 1.0, solver=None), "fixed_point: solver must be a function, it is missing. Write, for"),
        (lambda: root(abs, 1.0), "root: solver must be a function, it is missing. Write, for example, solver=lambda g, x0:"),
        (lambda: linear_solve(MATRIX, B, solver=gmres), "linear_solve: matvec must be a function, not a ndarray"),
        (lambda: gradient_hook(1.0, 2.0), "gradient_hook takes a value and a function of its cotangent, not a float"),
        (lambda: straight_through(1.0), r"straight_through takes functions, straight_through\(f, surrogate\), not a float"),
        (lambda: checkpoint(1.0), "checkpoint takes a function, not a float: write @checkpoint above its definition"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


# Functions of the host with rules, to what their exact derivatives are --------------------------------------------------

ERF = scalar_rule(scipy.special.erf, lambda value, x: 2 / np.pi**0.5 * array_namespace(x).exp(-x * x))


@rule(host=lambda x: x[0])
def middle(x):
    return np.median(x)


@middle.pullback
def _(cotangent, value, x):
    xp = array_namespace(x)
    return (xp.where(x == value, cotangent + 0 * x, 0 * x),)


@rule(host=lambda a: a)
def expm(a):
    return scipy.linalg.expm(a)


def _along(a, direction):
    xp, n = array_namespace(a, direction), a.shape[0]
    rows = xp.concat([a, direction], axis=1), xp.concat([0 * a, a], axis=1)
    return expm(xp.concat(rows, axis=0))[:n, n:]


expm.pushforward(lambda tangents, value, a: _along(a, tangents[0]))
expm.pullback(lambda cotangent, value, a: _along(a.T, cotangent))

X = np.array([0.3, -0.7, 1.1])
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])  # expm(t TURN) is a rotation by t
#: f, the point, its gradient and its Hessian there.
HOSTS = {
    "erf": (
        lambda x: array_namespace(x).sum(ERF(x)), X, 2 / np.pi**0.5 * np.exp(-(X**2)),
        np.diag(-4 * X / np.pi**0.5 * np.exp(-(X**2))),
    ),
    "median": (lambda x: middle(x) ** 2, X, np.array([0.6, 0.0, 0.0]), np.diag([2.0, 0.0, 0.0])),
    "expm": (
        lambda x: expm(x[0] * array_namespace(x).asarray(TURN))[0, 1], X[:1], np.cos(X[:1]), -np.sin(X[:1])[:, None],
    ),
}  # fmt: skip


@each_backend
@pytest.mark.parametrize("name", HOSTS)
def test_functions_of_the_host_have_exact_derivatives_in_both_modes(name, backend):
    f, x, slope, curvature = HOSTS[name]
    differences = isinstance(backend, AutoFiniteDifferences)
    assert_tree(gradient(f, backend, x)[0], slope, 1e-9)
    assert_tree(pushforward(f, backend, (x,), (np.ones_like(x),)).tangent, np.asarray(slope.sum()), 1e-9)
    assert_tree(hessian(f, backend, x), curvature, 1e-7 if differences else 1e-9)
    if not differences:
        forward = pushforward(f, replace(backend, mode="forward"), (x,), (np.ones_like(x),))
        assert_tree(forward.tangent, np.asarray(slope.sum()), 1e-9)


@each_engine
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_stand_in_is_right_where_its_surrogate_is_infinite(mode, backend):
    backend = type(backend)(mode=mode)
    x = np.array([np.inf, -np.inf, 2.0])
    sign = straight_through(lambda x: array_namespace(x).sign(x))
    saturated = straight_through(lambda x: array_namespace(x).sign(x), lambda x: array_namespace(x).tanh(x))
    for call in (value_and_jacobian, prepare(value_and_jacobian, sign, backend, x)):
        value, jacobians = call(x) if call is not value_and_jacobian else call(sign, backend, x)
        assert_tree(value, np.array([1.0, -1.0, 1.0]))
        assert_tree(jacobians[0], np.eye(3))
    assert_numbers(jacobian(saturated, backend, x)[0], np.diag(1 - np.tanh(x) ** 2))
    assert value_and_gradient(sign, backend, np.inf) == (1.0, (1.0,))
    assert value_and_gradient(sign, AutoFiniteDifferences(), np.inf)[0] == 1.0
    assert sign(np.float64(np.inf)) == 1.0
    narrow = straight_through(lambda x: x > 1.0, lambda x: x * x)
    given = np.array([0.5, 2.0], "float32")
    value, jacobians = value_and_jacobian(narrow, backend, given)
    assert value.dtype == jacobians[0].dtype == np.float32
    assert_numbers(jacobians[0], np.diag(2 * given))


def reversed_inside(x):
    """x^3 by a product of which one factor has a reversed gradient: its gradient is -2 x^2 + x^2."""
    return gradient_hook(x * x, lambda c: -c) * x


INNER_REVERSE = [
    AutoJax(),
    AutoJax(mode="reverse"),
    AutoAutograd(),
    AutoAutograd(mode="reverse"),
    SecondOrder(AutoTorch(mode="forward"), AutoTorch()),
    SecondOrder(AutoFiniteDifferences(), AutoTorch()),
]
INNER_FORWARD = [
    AutoJax(mode="forward"),
    AutoTorch(mode="forward"),
    AutoAutograd(mode="forward"),
    AutoFiniteDifferences(),
    SecondOrder(AutoJax(mode="reverse"), AutoJax(mode="forward")),
    SecondOrder(AutoTorch(), AutoTorch(mode="forward")),
]


@pytest.mark.parametrize(
    ("backend", "slope"), [*[(b, -2.0) for b in INNER_REVERSE], *[(b, 6.0) for b in INNER_FORWARD]], ids=str
)
def test_second_derivatives_through_a_hook_are_those_of_the_gradient(backend, slope):
    """In reverse of -x^2, in forward mode, which hooks do not affect, of 3 x^2."""
    expected, rtol = slope * 1.3, 1e-5
    assert_numbers(hessian(reversed_inside, backend, 1.3), expected, rtol)
    assert_numbers(hvp(reversed_inside, backend, 1.3, 2.0), 2 * expected, rtol)
    assert_numbers(second_derivative(reversed_inside, backend, 1.3), expected, rtol)
    assert_numbers(prepare(hessian, reversed_inside, backend, 1.3)(1.3), expected, rtol)
    assert_numbers(diagonal_hessian(reversed_inside, backend, 1.3)[0], expected, rtol)
    if isinstance(backend, (AutoJax, AutoAutograd)):
        assert_numbers(gradient(lambda x: gradient(reversed_inside, backend, x)[0], backend, 1.3)[0], expected, rtol)
        assert_numbers(batched(hessian, reversed_inside, backend, Each(np.array([1.3]))), [expected], rtol)


@pytest.mark.parametrize("backend", [*INNER_REVERSE, AutoTorch()], ids=str)
def test_a_hook_that_is_not_linear_is_never_transposed(backend):
    """In reverse, f has the gradient 9 x^4 + cos x; three such numbers have a Jacobian of three such rows."""
    point, inner = 0.7, backend.inner if isinstance(backend, SecondOrder) else backend
    inner = type(inner)(mode="reverse")

    def f(x):
        return gradient_hook(x, lambda c: c * c) ** 3 + array_namespace(x).sin(x)

    def three(x):
        return f(x) * array_namespace(x).ones(3, dtype=x.dtype)

    slope = 9 * point**4 + np.cos(point)
    assert_numbers(gradient(f, inner, point)[0], slope)
    assert_numbers(derivative(f, inner, point), slope)
    assert_numbers(prepare(derivative, f, inner, point)(point), slope)
    assert_numbers(jacobian(three, inner, point)[0], np.full(3, slope))
    assert_numbers(pushforward(three, inner, (point,), (2.0,)).tangent, np.full(3, 2 * slope))
    assert_numbers(linearize(three, inner, point).push(2.0), np.full(3, 2 * slope))
    assert_numbers(prepare(pushforward, three, inner, (point,), (2.0,))((point,), (2.0,)).tangent, np.full(3, 2 * slope))
    if backend == AutoTorch():
        return  # refused at the second order, see below
    expected = 36 * point**3 - np.sin(point)
    for operator in (second_derivative, hessian):
        assert_numbers(operator(f, backend, point), expected, 1e-5)
        assert_numbers(prepare(operator, f, backend, point)(point), expected, 1e-5)
    assert_numbers(hvp(f, backend, point, 2.0), 2 * expected, 1e-5)


def test_torch_refuses_a_hook_in_a_backward_pass_through_a_backward_pass():
    calls = (
        lambda: hessian(reversed_inside, AutoTorch(), 1.3),
        lambda: hvp(reversed_inside, AutoTorch(), 1.3, 1.0),
        lambda: batched(hessian, reversed_inside, AutoTorch(), Each(np.array([1.3]))),
        lambda: gradient(lambda x: gradient(reversed_inside, AutoTorch(), x)[0], AutoTorch(), 1.3),
    )
    for call in calls:
        with pytest.raises(BackendError, match=r"f applies gradient_hook in a backward pass through a backward pass\. torch"):
            call()
    assert hessian(lambda x: gradient_hook(x, lambda c: -c) * 3.0, AutoTorch(), 1.3) == 0.0


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_small_rules_go_where_torch_cannot_take_a_rule(mode):
    """Forward inside forward: what a stand-in, a hook and a checkpoint are as they are written is right there."""
    backend = AutoTorch(mode=mode)
    rounded = straight_through(lambda x: array_namespace(x).round(x), lambda x: x**3)
    assert hessian(lambda x: rounded(x) * 2.0, backend, 1.5) == 18.0
    assert hessian(lambda x: gradient_hook(x, lambda c: c) ** 3, backend, 2.0) == 12.0
    assert hessian(checkpoint(lambda x: x**3), backend, 2.0) == 12.0


THREE_ROOTS = [
    AutoTorch(),
    SecondOrder(AutoTorch(mode="forward"), AutoTorch()),
    SecondOrder(AutoTorch(), AutoTorch(mode="forward")),
]


@pytest.mark.parametrize("backend", THREE_ROOTS, ids=str)
def test_a_root_in_the_equation_of_a_root_in_that_of_a_root(backend):
    """Each is a power of a: y^2 = a, y^2 = (a y)^(1/2), y^2 = (a y)^(1/3)."""

    def newton(g, x):
        for _ in range(6):
            x = x - g(x) * 2e-4 / (g(x + 1e-4) - g(x - 1e-4))
        return x

    one = lambda a: root(lambda y, a: y**2 - a, 1.0, a, solver=newton)
    two = lambda a: root(lambda y, a: y**2 - one(a * y), 1.0, a, solver=newton)
    three = lambda a: root(lambda y, a: y**2 - two(a * y), 1.0, a, solver=newton)
    power = 1 / 5
    expected = power * (power - 1) * 1.7 ** (power - 2)
    assert_numbers(hessian(three, backend, 1.7), expected, 1e-6)
    assert_numbers(hvp(three, backend, 1.7, 2.0), 2 * expected, 1e-6)
    captured = lambda a: root(lambda y, a: y**2 - root(lambda z: z**2 - two(a * y), 1.0, solver=newton), 1.0, a, solver=newton)
    with pytest.raises(RuleError, match=r"^root: it captures an array that is being differentiated"):
        hessian(captured, backend, 1.7)
