"""`rule`: the derivatives of a function are what every engine uses, at every order."""

import copy
import math
import pickle
from dataclasses import dataclass
from typing import Any

import autograd
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import (
    BACKENDS,
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
    RuleError,
    SecondOrder,
    array_namespace,
    derivative,
    gradient,
    hessian,
    hvp,
    jacobian,
    prepare,
    pullback,
    pushforward,
    rule,
    second_derivative,
    value_and_gradient,
)
from adinterface.loops import fori_loop, scan
from adinterface.rules import scalar_rule

X, Y = np.array([0.3, 1.2]), np.array([2.0, 0.5])


def sine(x, y):
    return array_namespace(x).sin(x) * y


def sine_pullback(cotangent, value, x, y):
    xp = array_namespace(x)
    return cotangent * y * xp.cos(x), cotangent * xp.sin(x)


def sine_pushforward(tangents, value, x, y):
    xp = array_namespace(x)
    return tangents[0] * y * xp.cos(x) + tangents[1] * xp.sin(x)


def ruled(f, back=None, push=None):
    made = rule(f)
    if back is not None:
        made.pullback(back)
    if push is not None:
        made.pushforward(push)
    return made


GIVEN = {
    "pullback": ruled(sine, sine_pullback),
    "pushforward": ruled(sine, None, sine_pushforward),
    "both": ruled(sine, sine_pullback, sine_pushforward),
}
each_rule = pytest.mark.parametrize("f", GIVEN.values(), ids=GIVEN.keys())


def energy(f):
    def of(x, y):
        z = f(x, y)
        return array_namespace(z).sum(z**2)

    return of


def of_both(f):
    return lambda both: energy(f)(*both)


@each_backend
@each_rule
def test_both_modes_and_second_derivatives_are_those_of_the_plain_function(f, backend):
    rtol = 100 * rtol_of(backend)
    assert_tree(gradient(energy(f), backend, X, Y), gradient(energy(sine), backend, X, Y), rtol)
    assert_tree(jacobian(f, backend, X, Y), jacobian(sine, backend, X, Y), rtol)
    assert_tree(
        pushforward(f, backend, (X, Y), (Y, X)), pushforward(sine, backend, (X, Y), (Y, X)), rtol
    )
    assert_tree(hessian(of_both(f), backend, (X, Y)), hessian(of_both(sine), backend, (X, Y)), rtol)
    assert_tree(
        hvp(of_both(f), backend, (X, Y), (Y, X)), hvp(of_both(sine), backend, (X, Y), (Y, X)), rtol
    )


# Trees, constants, defaults


@dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = "layer"


def apply_layer(layer, x, shift=1.0, *, power=1, scale=None):
    y = layer.weight @ x + layer.bias + shift
    return {"y": y**power, "norm": (array_namespace(y).sum(y * y), layer.name)}


@rule
def layer_rule(layer, x, shift=1.0, *, power=1, scale=None):
    return apply_layer(layer, x, shift, power=power)


@layer_rule.pullback
def _(cotangent, value, layer, x, shift, *, power, scale):
    xp = array_namespace(x)
    y = layer.weight @ x + layer.bias + shift
    assert cotangent["norm"][1] is None
    seed = power * y ** (power - 1) * cotangent["y"] + 2 * y * cotangent["norm"][0]
    return Layer(xp.reshape(seed, (-1, 1)) * x, seed), layer.weight.T @ seed, xp.sum(seed)


LAYER = Layer(np.array([[1.0, 2.0], [0.5, -1.0], [0.25, 3.0]]), np.array([0.1, 0.2, 0.3]))


def layer_loss(f):
    def loss(layer, x, *rest, **words):
        out = f(layer, x, *rest, **words)
        return array_namespace(out["y"]).sum(out["y"]) * out["norm"][0]

    return loss


@each_backend
@pytest.mark.parametrize(
    ("rest", "words"),
    [((), {}), ((2.0,), {}), ((2.0,), {"power": 2}), ((), {"power": 3, "scale": Y})],
    ids=["defaults", "a number", "a keyword", "an array as a keyword"],
)  # fmt: skip
def test_trees_defaults_and_keywords(rest, words, backend):
    found = value_and_gradient(layer_loss(layer_rule), backend, LAYER, X, *rest, **words)
    expected = value_and_gradient(layer_loss(apply_layer), backend, LAYER, X, *rest, **words)
    assert_tree(found, expected, 10 * rtol_of(backend))
    assert found.gradient[0].name is None


@each_engine
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(
    "f",
    [lambda x: (x * 2, x, x), lambda x: (x * 2,) * 3, lambda x: (x, x, x * 1)],
    ids=["argument", "value", "both"],
)
def test_one_array_at_two_places_of_the_value(f, host, backend):
    """Each has its own cotangent."""

    @rule(host=host)
    def thrice(x):
        return f(x) if len({*map(id, f(x))}) > 1 else (x, *f(x)[:2])

    thrice.pullback(lambda c, value, x: c[0] + 10 * c[1] + 100 * c[2])

    def loss(x):
        a, b, c = thrice(x)
        return array_namespace(x).sum(a + 2 * b + 3 * c)

    assert_tree(gradient(loss, backend, X)[0], np.full(2, 321.0))
    assert_tree(hessian(lambda x: loss(x * x), backend, X), np.diag([642.0, 642.0]))
    assert_tree(prepare(gradient, loss, backend, X)(X)[0], np.full(2, 321.0))


@each_engine
def test_a_derivative_may_write_into_what_it_is_given(backend):
    """`c *= 3` changes no cotangent of others or of the caller, on any engine."""

    @rule
    def triple(x):
        return 3 * x

    @triple.pullback
    def _(cotangent, value, x):
        cotangent *= 3
        return cotangent

    @triple.pushforward
    def _(tangents, value, x):
        (tangent,) = tangents
        tangent *= 3
        return tangent

    def loss(x):
        return array_namespace(x).sum(x * x + triple(x * x * x))

    assert_tree(gradient(loss, backend, X)[0], 2 * X + 9 * X**2)
    assert_tree(hessian(loss, backend, X), np.diag(2 + 18 * X))
    given = Y.copy()
    back = pullback(triple, backend, X).back
    for _ in range(2):
        assert_tree(back(given)[0], 3 * Y)
    assert_tree(back.stacked(np.stack([given, given]))[0], np.stack([3 * Y, 3 * Y]))
    assert_tree(
        pushforward(lambda x: x + triple(x), type(backend)(mode="forward"), (X,), (given,)).tangent,
        4 * Y,
    )
    assert_numbers(given, Y)


@each_engine
def test_none_is_zero_at_any_place_and_a_dict_may_leave_entries_out(backend):
    @rule
    def first(p, x):
        return p["a"] * x

    first.pullback(lambda cotangent, value, p, x: ({"a": cotangent * x}, None))
    p = {"a": X, "b": Y, "c": (1.0, [Y])}
    found = gradient(lambda p, x: array_namespace(x).sum(first(p, x)), backend, p, Y)
    assert_tree(found, ({"a": Y, "b": 0 * Y, "c": (0.0, [0 * Y])}, 0 * Y))


@each_engine
def test_a_method_and_a_callable_object_are_the_first_argument_of_their_rule(backend):
    @dataclass
    class Adder:
        amount: Any

        @rule
        def __call__(self, x):
            return self.amount + x

    Adder.__call__.pullback(
        lambda cotangent, value, self, x: ({"amount": 3 * cotangent}, cotangent)
    )
    assert gradient(lambda adder, x: adder(x), backend, Adder(3.0), 4.0) == (Adder(3.0), 1.0)


# What is used, and how often


@each_engine
@pytest.mark.parametrize("what", ["pullback", "pushforward"])
def test_a_rule_that_is_wrong_on_purpose_is_what_every_engine_uses(what, backend):
    wrong = ruled(sine, sine_pullback, sine_pushforward)
    if what == "pullback":
        wrong.pullback(lambda cotangent, value, x, y: (7 * cotangent, None))
        found = gradient(lambda x, y: array_namespace(x).sum(wrong(x, y)), backend, X, Y)
        assert_tree(found, (np.array([7.0, 7.0]), np.zeros(2)))
    else:
        wrong.pushforward(lambda tangents, value, x, y: 7 * tangents[0])
        backend = type(backend)(mode="forward")
        assert_tree(pushforward(wrong, backend, (X, Y), (X, Y)).tangent, 7 * X)


@each_engine
def test_the_primal_runs_once_a_call_and_the_pullback_once_a_backward_pass(backend):
    calls = []

    @rule
    def counted(x):
        calls.append("value")
        return x * x

    @counted.pullback
    def _(cotangent, value, x):
        calls.append("back")
        return 2 * cotangent * x

    gradient(lambda x: array_namespace(x).sum(counted(x)), backend, X)
    assert calls == ["value", "back"]
    _, back = pullback(counted, backend, X)
    back(X)
    assert_tree(back(Y), (2 * X * Y,))
    assert calls == ["value", "back", "value", "back", "back"]


def test_finite_differences_use_the_primal_alone_and_numbers_call_f_itself():
    @rule
    def silent(x):
        return x * x

    silent.pullback(lambda *_: pytest.fail("differences need no pullback"))
    assert gradient(silent, BACKENDS["finite"], 3.0)[0] == pytest.approx(6.0)
    assert silent(3.0) == 9.0
    assert type(silent(3.0)) is float


# Composition


@each_rule
def test_jax_transforms_of_the_users_own(f):
    def same(transformed, *args):
        expected, found = transformed(sine)(*args), transformed(f)(*args)
        jax.tree.map(lambda a, b: assert_numbers(a, b, 1e-12), found, expected)

    with jax.enable_x64(True):
        x, y = jnp.asarray(X), jnp.asarray(Y)
        same(lambda f: jax.jit(jax.hessian(energy(f), (0, 1))), x, y)
        same(lambda f: jax.vmap(jax.grad(energy(f), (0, 1)), (0, None)), x, y[0])
        same(lambda f: jax.vmap(jax.hessian(energy(f)), (None, 0)), x[0], y)
        same(lambda f: jax.jacrev(jax.jacfwd(f)), x, y)
        same(lambda f: jax.jacrev(jax.jacrev(f, 1)), x, y)
        same(lambda f: jax.linearize(f, x, y)[1], y, x)
        same(lambda f: jax.vmap(jax.linearize(f, x, y)[1]), jnp.eye(2), jnp.eye(2))
        same(lambda f: jax.grad(lambda x: jax.checkpoint(energy(f))(x, y)), x)
        same(
            lambda f: jax.grad(
                lambda x: jax.lax.scan(lambda c, _: (f(c, y), None), x, None, length=3)[0].sum()
            ),
            x,
        )


@each_rule
def test_torch_transforms_of_the_users_own(f):
    from torch.func import grad, jacfwd, jacrev, vmap

    def same(transformed, *args):
        expected, found = transformed(sine)(*args), transformed(f)(*args)
        for a, b in zip(found, expected):
            assert_numbers(a, b, 1e-12)

    x, y = torch.tensor(X), torch.tensor(Y)
    same(lambda f: vmap(grad(energy(f), (0, 1)), (0, None)), x, y[0])
    same(lambda f: torch.func.hessian(energy(f)), x, y)
    same(lambda f: jacrev(jacfwd(f)), x, y)
    same(lambda f: jacrev(jacrev(f)), x, y)
    leaf = [x.clone().requires_grad_() for _ in range(2)]
    energy(f)(leaf[0], y).backward()
    energy(sine)(leaf[1], y).backward()
    assert_numbers(leaf[0].grad, leaf[1].grad)
    inputs = (x.clone().requires_grad_(), y.clone().requires_grad_())
    assert torch.autograd.gradcheck(f, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, inputs)


@each_rule
def test_autograds_operators_of_the_users_own(f):
    def loss(f):
        return lambda x: energy(f)(x, Y)

    plain = loss(lambda x, y: autograd.numpy.sin(x) * y)
    assert_numbers(autograd.grad(loss(f))(X), autograd.grad(plain)(X))
    assert_numbers(autograd.hessian(loss(f))(X), autograd.hessian(plain)(X))
    assert_numbers(autograd.make_jvp(loss(f))(X)(Y)[1], autograd.grad(plain)(X) @ Y)


@each_rule
def test_torch_refuses_forward_over_forward_which_it_gets_wrong(f):
    message = r"the rule sine inside a forward derivative of a forward derivative.*197867"
    with pytest.raises(BackendError, match=message):
        second_derivative(lambda t: f(t * t, t), AutoTorch(mode="forward"), 0.7)
    with pytest.raises(BackendError, match=message):
        torch.func.jacfwd(torch.func.jacfwd(f))(torch.tensor(X), torch.tensor(Y))
    # A rule of which only the inner level moves an argument is right.
    outer = torch.func.jacfwd(lambda t: t * torch.func.jacfwd(f)(torch.tensor(X), torch.tensor(Y)))(
        torch.tensor(2.0)
    )
    assert_numbers(outer, np.diag(np.cos(X) * Y))


# of what Dynamo looks at
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_a_rule_runs_uncompiled_inside_torch_compile():
    f = GIVEN["pullback"]
    # which loads the backend: Dynamo warns of what it meets on that way
    expected = gradient(energy(f), AutoTorch(), X, Y)[0]
    compiled = torch.compile(energy(f), backend="eager")
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y)
    compiled(x, y).backward()
    assert_numbers(x.grad, expected)


@pytest.mark.parametrize("loop", [lambda f, x: fori_loop(0, 1, lambda i, c: f(c), x), lambda f, x: scan(
    lambda c, _: (f(c), None), x, None, length=1)[0]], ids=["fori_loop", "scan"])  # fmt: skip
@pytest.mark.parametrize("f", [scalar_rule(np.exp, lambda value, x: value), scalar_rule(
    lambda x: array_namespace(x).exp(x), lambda value, x: value)], ids=["host", "neutral"])  # fmt: skip
@pytest.mark.parametrize(
    "modes", [("forward", "reverse"), ("reverse", "reverse"), ("forward", "forward")], ids="-".join
)
@each_engine
def test_second_derivatives_of_a_rule_in_a_loop(modes, f, loop, backend):
    outer, inner = (type(backend)(mode=mode) for mode in modes)
    if modes == ("forward", "forward") and isinstance(backend, AutoTorch):
        return  # refused, see test_torch_refuses_forward_over_forward_which_it_gets_wrong
    pair = SecondOrder(outer, inner)
    for operator in (hessian, second_derivative):
        assert_numbers(operator(lambda x: loop(f, x), pair, 0.7), math.exp(0.7), 1e-12)
        assert_numbers(
            prepare(operator, lambda x: loop(f, x), pair, 0.5)(0.7), math.exp(0.7), 1e-12
        )
    assert_numbers(hvp(lambda x: loop(f, x), pair, 0.7, 1.0), math.exp(0.7), 1e-12)


@each_engine
def test_a_rule_of_a_host_function_without_a_derivative_is_named(backend):
    @rule(host=True)
    def cube(x):
        return np.asarray(x) ** 3

    message = (
        "cube has no derivative: it is a rule without a pullback and without a pushforward."
        " Decorate one with cube.pullback, "
        r"or take finite differences with differentiate_with\(cube, AutoFiniteDifferences\(\)\)\."
    )
    for mode in ("forward", "reverse"):
        with pytest.raises(RuleError, match=message):
            gradient(lambda x: cube(x) * x, type(backend)(mode=mode), 2.0)
    assert gradient(cube, AutoFiniteDifferences(), 2.0)[0] == pytest.approx(12.0)


def test_jax_goes_back_through_a_pullback_with_a_loop_and_says_why_it_cannot_go_forward():
    @rule
    def cube(x):
        return x**3

    @cube.pullback
    def _(cotangent, value, x):
        return jax.lax.while_loop(
            lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * x), (0, 3 * cotangent)
        )[1]

    assert gradient(cube, AutoJax(), 2.0) == (12.0,)
    words = (
        "...cube: its pushforward is derived by transposing its pullback, which is not linear..."
    )
    assert_told(lambda: derivative(cube, AutoJax(), 2.0), RuleError, words)


# Mistakes: one error, the same on every engine


def _add(a, b):
    return a + b


def _dict_of(p):
    return {"s": p["a"] * 2.0}


MISTAKES = {
    "too few": (
        _add, "pullback", lambda c, v, a, b: (c,), (X, Y),
        r"_add: its pullback returned 1 cotangent for 2 arguments\. There must be one for each positional argument; None is",
    ),
    "no tuple": (
        _add, "pullback", lambda c, v, a, b: c, (X, Y),
        r"_add: its pullback returned a \w+, where it must return a tuple with one cotangent for each of its 2 arguments;",
    ),
    "wrong shape": (
        _add, "pullback", lambda c, v, a, b: (c, c), (X, 1.0),
        r"_add: its pullback gave an array of shape \(2,\) for b, which has shape \(\)\. Take the sum over the axes along",
    ),
    "wrong structure": (
        _dict_of, "pullback", lambda c, v, p: ([c["s"]],), ({"a": X},),
        r"_dict_of: its pullback gave a list for p, which is a dict\.",
    ),
    "unknown key": (
        _dict_of, "pullback", lambda c, v, p: ({"b": c["s"]},), ({"a": X},),
        r"_dict_of: its pullback gave another structure for p than it has: \['b'\] not expected\.",
    ),
    "no array": (
        _dict_of, "pullback", lambda c, v, p: ({"a": "zero"},), ({"a": X},),
        r"_dict_of: its pullback gave a str for p\['a'\], where it must give an array of shape \(2,\) and dtype float64",
    ),
    "wrong dtype": (
        _add, "pullback",
        lambda c, v, a, b: (array_namespace(c).astype(c, array_namespace(c).float32), c), (X, Y),
        r"_add: its pullback gave an array of dtype float32 for a, which has dtype float64\. Convert it, or what it",
    ),
    "complex": (
        _add, "pullback", lambda c, v, a, b: (c * 1j, c), (X, Y),
        r"_add: its pullback gave an array of dtype complex128 for a, which has dtype float64\. Take its real part\.",
    ),
    "a derivative of what has none": (
        lambda x, name: x * 2.0, "pullback", lambda c, v, x, name: (c, c), (X, Constant("n")),
        r"<lambda>: its pullback gave an array of shape \(2,\) and dtype float64 for name, which has no derivative\. It",
    ),
    "tangent of a wrong shape": (
        _add, "pushforward", lambda t, v, a, b: t[1], (X, 1.0),
        r"_add: its pushforward gave an array of shape \(\) for value, which has shape \(2,\)\.",
    ),
    "tangent of a wrong structure": (
        _dict_of, "pushforward", lambda t, v, p: t[0]["a"], ({"a": X},),
        r"_dict_of: its pushforward gave a \w+ for value, which is a dict\.",
    ),
}  # fmt: skip


def total(tree):
    leaf = tree["s"] if isinstance(tree, dict) else tree
    return array_namespace(leaf).sum(leaf)


@each_engine
@pytest.mark.parametrize("case", MISTAKES.values(), ids=MISTAKES.keys())
def test_what_does_not_fit_is_one_error_that_names_the_rule(case, backend):
    f, what, mistaken, args, message = case
    wrong = ruled(f, **{{"pullback": "back", "pushforward": "push"}[what]: mistaken})
    with pytest.raises(RuleError, match=f"^{message}"):
        gradient(lambda *args: total(wrong(*args)), backend, *args)


NONLINEAR = {
    "pullback": ruled(sine, lambda c, v, x, y: (c * c * y, None)),
    "pushforward": ruled(sine, None, lambda t, v, x, y: t[0] * t[0] * y),
}


@each_engine
@pytest.mark.parametrize("given", NONLINEAR)
def test_a_derivative_that_is_not_linear_is_found_where_it_is_transposed(given, backend):
    other = "pushforward" if given == "pullback" else "pullback"
    message = (
        rf"^sine: its {other} is derived by transposing its {given}, which is not linear in the"
    )
    f = NONLINEAR[given]
    if given == "pullback":
        with pytest.raises(RuleError, match=message):
            pushforward(f, type(backend)(mode="forward"), (X, Y), (X, Y))
    else:
        with pytest.raises(RuleError, match=message):
            gradient(lambda x: array_namespace(x).sum(f(x, x)), backend, X)


@each_engine
def test_a_keyword_that_is_being_differentiated_is_an_error(backend):
    @rule
    def power(x, *, n):
        return x * n

    power.pullback(lambda c, value, x, *, n: (c * n,))
    assert gradient(lambda x: power(x, n=2.0), backend, 3.0) == (2.0,)
    assert (
        prepare(gradient, lambda x, n: power(x, n=n), backend, 3.0, Constant(2.0))(
            3.0, Constant(2.0)
        )[0]
        == 2.0
    )
    message = (
        r"^power: a keyword of it \(n\) is being differentiated, but a rule's keywords are"
        r" constants\. Make it"
    )
    with pytest.raises(RuleError, match=message):
        gradient(lambda x, n: power(x, n=n), backend, 3.0, 2.0)


def test_arguments_that_two_engines_follow_are_refused():
    f = GIVEN["pullback"]
    with pytest.raises(
        RuleError, match=r"sine: its arguments are followed by autograd and torch at once"
    ):
        gradient(lambda x: f(x, torch.ones(2, requires_grad=True) * 2), AutoAutograd(), X)


def test_a_rule_is_copied_pickled_and_shown():
    assert pickle.loads(pickle.dumps(layer_rule)) is layer_rule
    assert copy.deepcopy(layer_rule) is layer_rule
    assert repr(layer_rule) == "<rule layer_rule: pullback>"
    assert repr(rule(sine)) == "<rule sine: no derivative yet>"
    assert layer_rule.__doc__ is None
    assert rule(sine).__wrapped__ is sine
