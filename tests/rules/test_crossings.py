"""`differentiate_with`: a function of one engine inside another, to second order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import (
    BACKENDS,
    ENGINES,
    assert_numbers,
    assert_told,
    assert_tree,
    each_engine,
    rtol_of,
)

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    Constant,
    RuleError,
    array_namespace,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    prepare,
    pushforward,
    rule,
    value_and_gradient,
)
from adinterface.rules import differentiate_with, scalar_rule

X, Y = np.array([0.3, 1.2]), np.array([2.0, 0.5])


def neutral(p, y, *, power=2):
    xp = array_namespace(y)
    return {"s": xp.sin(p["x"]) * xp.sum(y**power), "t": xp.cos(p["x"])}


#: The same for each engine in its own words.
NATIVE = {
    "jax": lambda p, y, *, power=2: {
        "s": jnp.sin(p["x"]) * jnp.sum(y**power),
        "t": jnp.cos(p["x"]),
    },
    "torch": lambda p, y, *, power=2: {
        "s": torch.sin(p["x"]) * torch.sum(y**power),
        "t": torch.cos(p["x"]),
    },
    "autograd": numpy_function(
        lambda p, y, *, power=2: {"s": np.sin(p["x"]) * np.sum(y**power), "t": np.cos(p["x"])}
    ),
    "finite": lambda p, y, *, power=2: {
        "s": np.sin(p["x"]) * np.sum(y**power),
        "t": np.cos(p["x"]),
    },
}
PAIRS = [(outer, inner) for outer in ENGINES for inner in BACKENDS if outer != inner]
each_pair = pytest.mark.parametrize(
    ("outer", "inner"), PAIRS, ids=[f"{inner} inside {outer}" for outer, inner in PAIRS]
)


def loss(f):
    def of(p, y):
        out = f(p, y)
        return array_namespace(out["s"]).sum(out["s"] ** 2 + out["s"] * out["t"])

    return of


@pytest.mark.parametrize("prepared", [False, True])
@each_pair
def test_a_crossing_is_right_in_both_modes_and_to_second_order(outer, inner, prepared):
    backend, rtol = ENGINES[outer], 100 * rtol_of(BACKENDS[inner])
    f = differentiate_with(NATIVE[inner], BACKENDS[inner], prepared=prepared)
    p = {"x": X}
    assert_tree(
        value_and_gradient(loss(f), backend, p, Y),
        value_and_gradient(loss(neutral), backend, p, Y),
        rtol,
    )
    assert_tree(jacobian(f, backend, p, Y), jacobian(neutral, backend, p, Y), rtol)
    for mode in (None, "forward"):
        found = pushforward(f, type(backend)(mode=mode), (p, Y), (p, X))
        assert_tree(found, pushforward(neutral, backend, (p, Y), (p, X)), rtol)
    second = hessian(lambda both: loss(f)(*both), backend, (p, Y))
    expected = hessian(lambda both: loss(neutral)(*both), backend, (p, Y))
    assert_tree(second, expected, 1e-4 if inner == "finite" else rtol)


@pytest.mark.parametrize("inner", ["torch", "finite"])
def test_a_crossing_inside_compiled_jax(inner):
    f = differentiate_with(NATIVE[inner], BACKENDS[inner])
    p, rtol = {"x": X}, 100 * rtol_of(BACKENDS[inner])
    fast = prepare(gradient, loss(f), AutoJax(), p, Y)
    assert_tree(fast(p, Y), gradient(loss(neutral), AutoJax(), p, Y), rtol)
    assert_tree(fast({"x": 2 * X}, Y), gradient(loss(neutral), AutoJax(), {"x": 2 * X}, Y), rtol)
    with jax.enable_x64(True):
        x, y = jnp.asarray(X), jnp.asarray(Y)

        def alone(f):
            return lambda x, y: loss(f)({"x": x}, y)

        def same(transformed, *args, rtol=rtol):
            expected, found = transformed(alone(neutral))(*args), transformed(alone(f))(*args)
            jax.tree.map(lambda a, b: assert_numbers(a, b, rtol), found, expected)

        same(lambda f: jax.jit(jax.grad(f, (0, 1))), x, y)
        same(lambda f: jax.jit(jax.vmap(jax.grad(f), (None, 0))), x, jnp.stack([y, 2 * y]))
        same(lambda f: jax.jit(lambda x, y: jax.jvp(f, (x, y), (y, x))), x, y)
        same(lambda f: jax.jit(jax.hessian(f)), x, y, rtol=1e-4 if inner == "finite" else rtol)


def test_what_cannot_run_at_ones_tells_its_shapes_otherwise():
    singular = differentiate_with(torch.linalg.inv, AutoTorch())
    a = np.array([[2.0, 1.0], [0.0, 4.0]])
    expected = gradient(
        lambda a: array_namespace(a).sum(array_namespace(a).linalg.inv(a)), AutoJax(), a
    )
    with pytest.raises(torch.linalg.LinAlgError):
        prepare(jacobian, singular, AutoJax(), a)(a)
    told = differentiate_with(torch.linalg.inv, AutoTorch(), like=lambda a: a)
    found = prepare(gradient, lambda a: array_namespace(a).sum(told(a)), AutoJax(), a)(a)
    assert_tree(found, expected)


@each_pair
def test_dtypes_libraries_and_numbers_are_the_callers(outer, inner):
    f = differentiate_with(lambda x, y: x * y, BACKENDS[inner])
    if inner != "finite":
        x = X.astype("float32")
        assert_tree(
            gradient(lambda x: array_namespace(x).sum(f(x, x)), ENGINES[outer], x)[0], 2 * x, 1e-5
        )
    rtol = 10 * rtol_of(BACKENDS[inner])
    value, slopes = value_and_gradient(f, ENGINES[outer], 2.0, 3.0)
    assert (type(value), value) == (float, 6.0)
    assert slopes == pytest.approx((3.0, 2.0), rel=rtol)


def test_the_engine_that_is_named_differentiates_f_as_it_is_written():
    calls = []
    f = differentiate_with(lambda x: calls.append(type(x)) or x * x, AutoTorch())
    assert gradient(f, AutoTorch(), 3.0) == (6.0,)
    assert len(calls) == 1
    assert f(torch.tensor(3.0, requires_grad=True)).grad_fn.name() == "MulBackward0"


# Code of the host


def test_host_code_in_batches_and_compiled():
    cube = rule(host=True)(lambda x: np.asarray(x) ** 3)
    cube.pullback(lambda c, value, x: 3 * c * x * x)
    both = torch.tensor(np.array([X, Y]))
    assert_numbers(torch.func.vmap(torch.func.grad(lambda x: cube(x).sum()))(both), 3 * both**2)
    assert_numbers(
        torch.func.vmap(torch.func.hessian(lambda x: cube(x).sum()))(torch.tensor(X[None]))[0],
        np.diag(6 * X),
    )
    with jax.enable_x64(True):
        batch = jnp.asarray([X, Y])
        assert_numbers(
            jax.jit(jax.vmap(jax.grad(lambda x: cube(x).sum())))(batch), 3 * np.array([X, Y]) ** 2
        )
        assert_numbers(jax.vmap(cube)(batch), np.array([X, Y]) ** 3)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_compiled_jax_calls_back_in_full_precision_from_any_thread(dtype):
    """For larger arrays from a thread of its own, in which a scoped precision does not hold."""
    seen = []

    @rule(host=lambda x, n: (x, n))
    def same(x, n):
        seen.append((x.dtype.name, n.dtype.name))
        return x, n

    same.pullback(lambda c, value, x, n: (c[0], None))
    number = np.arange(200_000) / 7 if dtype != "int64" else np.ones(200_000)
    x = (
        (number + 1j).astype(dtype)
        if dtype.startswith("complex")
        else number.astype("float64" if dtype == "int64" else dtype)
    )
    n = np.arange(5) + 2**40 if dtype in ("float64", "int64") else np.arange(5, dtype="int32")

    def loss(x, n):
        y, m = same(x, n)
        return array_namespace(x).sum(array_namespace(x).real(y * y)) + 0.0 * m[0]

    found = prepare(gradient, loss, AutoJax(), x, Constant(n))(x, Constant(n))[0]
    assert_tree(found, np.conj(2 * x) if dtype.startswith("complex") else 2 * x, 1e-6)
    assert set(seen) == {(x.dtype.name, n.dtype.name)}


OTHERWISE_AT_ONES = {
    "truncated": (lambda x: np.array([1, 1]) if (x == 1).all() else x * x, lambda y, x: y.sum() + x.sum() * 0, "dtype float64"),
    "complex": (lambda x: x * x * (1 if x[0] == 1 else 1j), lambda y, x: (y * y).real.sum(), "dtype complex128"),
    "empty": (lambda x: x[x > 1.2], lambda y, x: y.sum(), r"shape \(2,\)"),
    "int": (lambda x: (x * x, int(x[0] * 10)), lambda y, x: y[0].sum() * y[1], r"its value\[1\] is 15, and was 10"),
    "int alone": (lambda x: (x * x, int(x[0] * 10)), lambda y, x: x.sum() * y[1], r"its value\[1\] is 15, and was 10"),
    "bool": (lambda x: {"x": x * x, "done": bool(x[0] > 1.2)}, lambda y, x: y["x"].sum() * y["done"], "is True, and was False"),
    "string": (lambda x: (x * x, "ab"[int(x[0] > 1.2)]), lambda y, x: y[0].sum() * (1 + (y[1] == "b")), "'b', and was 'a'"),
    "tuple": (lambda x: (x, x) if x[0] > 1.2 else x, lambda y, x: y[0].sum(), "is a tuple, and was an array or a float"),
    "keys": (lambda x: {"a": x} if x[0] > 1.2 else {"b": x}, lambda y, x: sum(y.values()).sum(), r"and was a dict of \['b'\]"),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERWISE_AT_ONES.values(), ids=OTHERWISE_AT_ONES)
@pytest.mark.parametrize("crosses", [False, True], ids=["rule", "crossing"])
def test_compiled_jax_takes_nothing_but_numbers_from_a_run_at_ones(crosses, case):
    f, loss, words = case
    if crosses and words in ("dtype float64", r"shape \(2,\)"):
        # another error comes first: f has no derivative at ones, the cotangent has another shape
        # than its value
        return
    if crosses:
        made = differentiate_with(f, AutoAutograd())
    else:
        made = rule(host=True)(f)
        made.pullback(lambda c, value, x: 0 * x)
    x = np.array([1.5, 2.25])
    fast = prepare(value_and_gradient, lambda x: loss(made(x), x), AutoJax(), x)
    with pytest.raises(jax.errors.JaxRuntimeError, match=words) as caught:
        fast(x)
    assert "@rule(host=like)" in str(caught.value)
    assert "differentiate_with(like=like)" in str(caught.value)
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError, match=words):
        jax.jit(lambda x: loss(made(x), x))(jnp.asarray(x)).block_until_ready()


@pytest.mark.parametrize("transformed", [torch.func.vmap, jax.vmap], ids=["torch", "jax"])
def test_python_values_that_differ_within_a_batch_are_an_error(transformed):
    count = rule(host=True)(lambda x: (x, int(x.sum())))
    count.pullback(lambda c, value, x: c[0])
    batch = np.array([[1.0, 1.0], [3.0, 4.0]])
    words = "...its value[1] is 7, and was 2 in its first run..."
    assert_told(
        lambda: transformed(lambda x: count(x)[0])(
            torch.tensor(batch) if transformed is torch.func.vmap else jnp.asarray(batch)
        ),
        (RuleError, jax.errors.JaxRuntimeError),
        words,
    )


def test_scalar_rules_broadcast_and_refuse_a_wrong_number():
    product = scalar_rule(lambda x, y: x * y, lambda value, x, y: (y, x))
    matrix = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for backend in ENGINES.values():
        for x, y in (
            (2.0, matrix),
            (matrix, np.array([1.0, 2.0, 3.0])),
            (matrix, np.array([[1.0], [2.0]])),
            (matrix, matrix),
        ):
            total = [
                lambda x, y, f=f: array_namespace(x, y).sum(f(x, y) ** 2)
                for f in (product, product.__wrapped__)
            ]
            assert_tree(gradient(total[0], backend, x, y), gradient(total[1], backend, x, y))
            found = pushforward(product, type(backend)(mode="forward"), (x, y), (x, y))
            assert_tree(found.tangent, 2 * np.asarray(x * y))
        both = scalar_rule(
            lambda x: (array_namespace(x).sin(x), array_namespace(x).cos(x)),
            lambda v, x: ((v[1],), (-v[0],)),
        )
        assert jacobian(both, backend, 0.7)[1][0] == pytest.approx(-np.sin(0.7))
        with pytest.raises(
            RuleError,
            match=r"<lambda>: it has 1 partial derivative for 2 arguments\. There must be one for",
        ):
            gradient(scalar_rule(lambda x, y: x * y, lambda value, x, y: y), backend, 2.0, 3.0)
        with pytest.raises(
            RuleError,
            match=r"<lambda>: it returns 2 values, so there must be as many tuples of partial",
        ):
            gradient(lambda x: scalar_rule(lambda x: (x, x), lambda v, x: 1.0)(x)[0], backend, 2.0)


@each_engine
def test_its_own_engine_gives_it_arrays_that_the_engine_takes(backend):
    """f is differentiated as it is written there, beside NumPy arrays and numbers.

    Torch takes tensors alone.
    """
    seen = []

    def f(x, w, *, v):
        seen.append([type(part) for part in (w, v)])
        assert not isinstance(x["b"], float)
        return (x["a"] * w * v * x["b"]).sum()

    inside = differentiate_with(f, backend)
    w, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    wanted = w * v * 0.5
    assert_tree(
        gradient(lambda x: inside({"a": x, "b": 0.5}, w, v=v), backend, np.ones(2))[0], wanted
    )
    fast = prepare(gradient, lambda x: inside({"a": x, "b": 0.5}, w, v=v), backend, np.ones(2))
    assert_tree(fast(np.ones(2))[0], wanted)
    if isinstance(backend, AutoTorch):
        assert all(kinds == [torch.Tensor] * 2 for kinds in seen)
