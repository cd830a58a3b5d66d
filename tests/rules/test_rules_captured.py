"""What a rule captures is a constant: an error where it is differentiated."""

import re

import jax
import numpy as np
import pytest
import torch
from backends_table import assert_numbers, each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    RuleError,
    SecondOrder,
    array_namespace,
    gradient,
    hessian,
    hvp,
    jacobian,
    prepare,
    pushforward,
    rule,
)
from adinterface.rules import (
    checkpoint,
    fixed_point,
    ignore_derivatives,
    linear_solve,
    root,
    scalar_rule,
)

# torch's, of a tensor with NumPy
pytestmark = pytest.mark.filterwarnings("ignore:__array_wrap__ must accept:DeprecationWarning")

V, DIRECTION = np.array([4.0, 1.0]), np.array([1.0, 10.0])
CAPTURES = "it captures an array that is being differentiated, of which a rule gives no derivative"


def newton_of_numbers(g, x):
    """A solver that makes Python numbers of what it is given, as many of SciPy's do."""
    x = float(x)
    for _ in range(60):
        slope = (float(g(np.asarray(x + 1e-6))) - float(g(np.asarray(x - 1e-6)))) / 2e-6
        x -= float(g(np.asarray(x))) / slope
    return x


def newton_of_arrays(g, x):
    for _ in range(60):
        x = x - g(x) * 2e-6 / (g(x + 1e-6) - g(x - 1e-6))
    return x


def repeat(h, x):
    for _ in range(60):
        x = h(x)
    return x


def with_derivatives(f, back=None, push=None):
    made = rule(f)
    if back is not None:
        made.pullback(back)
    if push is not None:
        made.pushforward(push)
    return made


IN_PRIMALS = {
    "root, numbers": lambda a, x: (
        root(lambda y, c: c * y**2 - a, 1.0, x, solver=newton_of_numbers) * a
    ),
    "root, arrays": lambda a, x: (
        root(lambda y, c: c * y**2 - a, 1.0, x, solver=newton_of_arrays) * a
    ),
    "root without arguments": lambda a, x: (
        root(lambda y: y**2 - a, 1.0, solver=newton_of_numbers) * x
    ),
    "fixed point": lambda a, x: (
        fixed_point(lambda y, c: 0.5 * (y + a / (c * y)), 1.0, x, solver=repeat) * a
    ),
    "linear solve": lambda a, x: linear_solve(
        lambda y: a * y, x, solver=lambda product, b: b / product(np.asarray(1.0))
    ),
    "rule of a pullback": lambda a, x: with_derivatives(lambda y: y * a, lambda c, value, y: c * a)(
        x
    ),
    "rule of a pushforward": lambda a, x: with_derivatives(
        lambda y: y * a, None, lambda t, value, y: t[0] * a
    )(x),
    "rule of the host": lambda a, x: scalar_rule(
        lambda y: np.asarray(y) * a, lambda value, y: 1.0, host=True
    )(x),
}
IN_DERIVATIVES = {
    "pullback": lambda a, x: (
        with_derivatives(lambda y: y * y, lambda c, value, y: c * 2 * y * a)(x) * a
    ),
    "pushforward": lambda a, x: (
        with_derivatives(lambda y: y * y, None, lambda t, value, y: t[0] * 2 * y * a)(x) * a
    ),
    "both": lambda a, x: (
        with_derivatives(
            lambda y: y * y, lambda c, value, y: c * 2 * y * a, lambda t, value, y: t[0] * 2 * y * a
        )(x)
        * a
    ),
    "partials": lambda a, x: scalar_rule(lambda y: y * y, lambda value, y: 2 * y * a)(x) * a,
    "partials of the host": lambda a, x: (
        scalar_rule(lambda y: np.asarray(y) ** 2, lambda value, y: 2 * y * a, host=True)(x) * a
    ),
}


def inner(backend):
    return backend.inner if isinstance(backend, SecondOrder) else backend


def outer(backend):
    return backend.outer if isinstance(backend, SecondOrder) else backend


FIRST = {
    "gradient": lambda f, backend: gradient(f, backend, V),
    "pushforward": lambda f, backend: pushforward(f, backend, (V,), (DIRECTION,)),
}
SECOND = {
    "hessian": lambda f, backend: hessian(f, backend, V),
    "hvp": lambda f, backend: hvp(f, backend, V, DIRECTION),
    "gradient of a gradient": lambda f, backend: gradient(
        lambda v: gradient(f, inner(backend), v)[0][0], outer(backend), V
    ),
}
MODES = {
    "JAX": AutoJax(),
    "JAX forward": AutoJax(mode="forward"),
    "torch": AutoTorch(),
    "torch forward": AutoTorch(mode="forward"),
    "autograd": AutoAutograd(),
    "autograd forward": AutoAutograd(mode="forward"),
}
ORDERS = {
    "JAX": AutoJax(),
    "torch": AutoTorch(),
    "torch forward over reverse": SecondOrder(AutoTorch(mode="forward"), AutoTorch(mode="reverse")),
    "torch reverse over forward": SecondOrder(AutoTorch(mode="reverse"), AutoTorch(mode="forward")),
    "autograd": AutoAutograd(),
    "autograd reverse": SecondOrder(AutoAutograd(mode="reverse"), AutoAutograd(mode="reverse")),
}


def of_vector(f):
    return lambda v: f(v[0], v[1])


@pytest.mark.parametrize("backend", MODES.values(), ids=MODES)
@pytest.mark.parametrize("operator", FIRST.values(), ids=FIRST)
@pytest.mark.parametrize("f", IN_PRIMALS.values(), ids=IN_PRIMALS)
def test_a_primal_that_captures_what_is_differentiated_is_an_error_in_every_mode(
    f, operator, backend
):
    with pytest.raises(RuleError, match=CAPTURES):
        operator(of_vector(f), backend)


@pytest.mark.parametrize("backend", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("operator", SECOND.values(), ids=SECOND)
@pytest.mark.parametrize("f", IN_DERIVATIVES.values(), ids=IN_DERIVATIVES)
def test_a_derivative_that_captures_what_is_differentiated_is_an_error_at_the_second_order(
    f, operator, backend
):
    with pytest.raises(RuleError, match=CAPTURES):
        operator(of_vector(f), backend)


@pytest.mark.parametrize("backend", MODES.values(), ids=MODES)
@pytest.mark.parametrize(
    "f", [*IN_PRIMALS.values(), *IN_DERIVATIVES.values()], ids=[*IN_PRIMALS, *IN_DERIVATIVES]
)
def test_prepared_it_is_an_error_that_names_the_rule_and_the_remedy(f, backend):
    fast = prepare(gradient, of_vector(f), backend, V)
    with pytest.raises((RuleError, TypeError, jax.errors.JaxRuntimeError)) as caught:
        fast(V)
    # host code in compiled code: JAX quotes the error
    if isinstance(caught.value, jax.errors.JaxRuntimeError):
        assert CAPTURES in str(caught.value)
    elif isinstance(caught.value, RuleError):
        assert re.match(
            rf"^(root|fixed_point|linear_solve|<lambda>): {CAPTURES}.*ignore_derivatives",
            str(caught.value),
        )
    else:  # JAX compiles the derivative, and finds then that it cannot
        assert isinstance(backend, AutoJax)
        assert (
            "Make it a positional parameter, or pass it through ignore_derivatives"
            in caught.value.__notes__[-1]
        )


@each_engine
def test_what_is_ignored_outside_of_the_rule_may_be_captured(backend):
    def f(a, x):
        fixed = ignore_derivatives(a)
        return IN_DERIVATIVES["both"](fixed, x) * a

    assert_numbers(gradient(of_vector(f), backend, V)[0], np.array([4.0, 128.0]))
    other = type(backend)(mode="forward")
    assert_numbers(pushforward(of_vector(f), other, (V,), (DIRECTION,)).tangent, 4.0 + 1280.0)


def test_a_second_derivative_of_a_root_beside_constants_is_no_capture():
    """The derivatives of the rule differentiate by copies of arguments."""

    def f(v):
        constant = array_namespace(v).asarray([3.0])
        found = root(lambda y, c, d: c * y**2 - d[0], 1.0, v[1], constant, solver=newton_of_numbers)
        return found * v[0]

    expected = hessian(f, AutoFiniteDifferences(), V)
    for backend in ORDERS.values():
        assert_numbers(hessian(f, backend, V), expected, rtol=1e-4)


def test_what_a_differentiated_module_computes_in_a_derivative_is_found_too():
    """A parameter is a leaf of torch's graph itself, not something computed from one."""
    f = IN_DERIVATIVES["pullback"]
    with pytest.raises(RuleError, match=CAPTURES):
        hessian(
            lambda given: f(given["a"], given["x"]),
            AutoTorch(),
            {"a": np.array(4.0), "x": np.array(1.0)},
        )


@pytest.mark.parametrize(
    "backend",
    [AutoTorch(), AutoTorch(mode="forward"), AutoAutograd(), AutoAutograd(mode="forward")],
    ids=str,
)
def test_a_checkpoint_differentiates_what_it_captures(backend):
    f = of_vector(lambda a, x: checkpoint(lambda y: y * y * a)(x))
    plain = of_vector(lambda a, x: x * x * a)
    np.testing.assert_allclose(
        gradient(f, backend, V)[0], gradient(plain, backend, V)[0], rtol=1e-12
    )


def by_torch(g):
    return torch.func.grad(lambda y: g(y).sum())


def by_adinterface(g):
    return lambda y: gradient(lambda y: g(y).sum(), AutoTorch(), y)[0]


def slope(derivative, g, ended=lambda y: y):
    """A rule whose primal is a derivative itself."""
    return with_derivatives(
        lambda y: ended(derivative(g)(y)), lambda c, value, y: c * derivative(derivative(g))(y)
    )


TORCH_MODES = {name: MODES[name] for name in ("torch", "torch forward")}
each_torch_mode = pytest.mark.parametrize("backend", TORCH_MODES.values(), ids=TORCH_MODES)
each_derivative = pytest.mark.parametrize("derivative", [by_torch, by_adinterface])


@each_torch_mode
@each_derivative
def test_a_primal_may_take_derivatives_of_its_own(derivative, backend):
    """Their levels have the numbers of those at which the rule was called."""
    fixed = torch.tensor(2.0, dtype=torch.float64)
    g = slope(
        derivative, lambda y: fixed * y**3 * torch.eye(1, dtype=y.dtype)[0, 0], ignore_derivatives
    )
    for operator in FIRST.values():
        expected = operator(lambda v: 6 * v[1] ** 2 * v[0], AutoJax())
        assert_numbers(operator(lambda v: g(v[1]) * v[0], backend), expected)
    rows = jacobian(lambda v: g(v) * v[0], backend, V)[0]
    assert_numbers(rows, np.array([[6.0 * 3 * 16, 0.0], [6.0, 12.0 * 4]]))


@each_torch_mode
@each_derivative
def test_what_such_a_derivative_captures_is_found_too(derivative, backend):
    in_it = lambda v: slope(derivative, lambda y: v[0] * y**3)(v[1]) * v[0]
    at_it = lambda v: with_derivatives(
        lambda y: y * derivative(lambda b: b**3)(v[0]), lambda c, value, y: c
    )(v[1])
    # forward, torch drops the tangent of the second
    for f in (in_it, at_it) if backend.mode is None else (in_it,):
        for operator in FIRST.values():
            with pytest.raises(RuleError, match=CAPTURES):
                operator(f, backend)
        with pytest.raises(RuleError, match=CAPTURES):
            jacobian(lambda v, f=f: f(v) * v, backend, V)


@pytest.mark.parametrize("inner", [AutoTorch(), AutoTorch(mode="forward")], ids=repr)
def test_a_derivative_inside_a_derivative_stays_in_a_graph_of_torch(inner):
    """It captures what the derivative is given, in a backward pass outside of all calls."""
    square = rule(lambda x: x**2)
    square.pullback(
        lambda c, value, x: (
            c * gradient(lambda one: (one * 2 * x).sum(), inner, torch.ones_like(x))[0]
        )
    )
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    for slope in (
        lambda f: torch.autograd.grad(f(x), x, create_graph=True)[0],
        lambda f: gradient(f, AutoTorch(), x * 1.0)[0],
        lambda f: gradient(f, AutoTorch(create_graph=True), x)[0],
    ):
        (curve,) = torch.autograd.grad(slope(lambda x: (square(x) * x).sum()).sum(), x)
        assert_numbers(curve, 6 * x.detach(), 1e-6)
