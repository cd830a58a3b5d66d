"""Prepared `AutoSparse` calls with other static values, at other points, inside transformations:
right, or refused.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
import torch
from autograd import numpy as anp
from backends_table import BACKENDS, each_backend, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
    NotDifferentiableError,
    SecondOrder,
    SparsityError,
    array_namespace,
    gradient,
    hessian,
    jacobian,
    prepare,
    rule,
    value_and_jacobian,
    value_gradient_and_hessian,
)
from adinterface.rules import scalar_rule
from adinterface.sparse import SparsityPattern, sparsity

X = np.array([0.7, -1.3, 0.4, 2.1, 0.9, -0.6])
OPERATORS = (jacobian, value_and_jacobian, hessian, value_gradient_and_hessian)
each_operator = pytest.mark.parametrize(
    "operator", OPERATORS, ids=[operator.__name__ for operator in OPERATORS]
)


def second(backend):
    """What Hessians are taken by: differences of exact gradients where the backend measures."""
    return (
        SecondOrder(backend, AutoAutograd())
        if isinstance(backend, AutoFiniteDifferences)
        else backend
    )


def matrix_of(result):
    """The one matrix in the result of any of the operators, dense."""
    while isinstance(result, (tuple, dict)):
        result = (
            [part for part in result if part is not None][-1]
            if isinstance(result, tuple)
            else result["x"]
        )
    return result.toarray() if scipy.sparse.issparse(result) else np.asarray(result)


def close(found, expected, backend):
    expected = matrix_of(expected)
    tolerance = 100 * rtol_of(backend) * max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(matrix_of(found), expected, rtol=0, atol=tolerance)


def for_operator(operator, f):
    """f itself, or a scalar whose Hessian has the entries of f's Jacobian."""
    if operator in (jacobian, value_and_jacobian):
        return f

    def scalar(*args, **kwargs):
        y = f(*args, **kwargs)
        return array_namespace(y).sum(y * y)

    return scalar


# Static values
# ------------------------------------------------------------------------------------------------


def at_keyword(x, *, end):
    return x * x[end]


def at_name(x, end):
    return x * (x[0] if end == "first" else x[-1])


def at_tree(tree):
    return tree["x"] * tree["x"][tree["end"]]


#: f, and its arguments and keywords with two static values.
STATIC = {
    "keyword": (at_keyword, ((X,), {"end": 0}), ((X,), {"end": -1})),
    "list": (lambda x, *, end: x * x[end[0]], ((X,), {"end": [0]}), ((X,), {"end": [-1]})),
    "Constant name": (at_name, ((X, Constant("first")), {}), ((X, Constant("last")), {})),
    "nested Constant": (
        at_tree,
        (({"x": X, "end": Constant(0)},), {}),
        (({"x": X, "end": Constant(-1)},), {}),
    ),
    "integer in a tree": (at_tree, (({"x": X, "end": 0},), {}), (({"x": X, "end": -1},), {})),
}
each_static = pytest.mark.parametrize("name", STATIC)


@each_backend
@each_static
@each_operator
def test_a_new_static_value_takes_its_own_pattern(operator, name, backend):
    f, *calls = STATIC[name]
    f = for_operator(operator, f)
    backend = second(backend) if operator in (hessian, value_gradient_and_hessian) else backend
    fast = prepare(operator, f, AutoSparse(backend), *calls[0][0], **calls[0][1])
    for args, kwargs in (*calls, *calls):
        first = args[0]
        expected = operator(f, AutoSparse(AutoAutograd()), first, *args[1:], **kwargs)
        close(
            fast(*args, **kwargs),
            expected,
            BACKENDS["finite"] if "SecondOrder" in repr(backend) else backend,
        )
    assert fast.specializations == 2


# Other points
# ------------------------------------------------------------------------------------------------

POINTS = (X, X[::-1].copy(), 20 * X, -X, np.abs(X) + 11.0, X + 0.01)

VALUED = {
    "jax sort": (AutoJax(), lambda x: jnp.sort(x) ** 2),
    "jax branch": (AutoJax(jit=False), lambda x: jnp.asarray(x if x[0] > 0 else x[::-1]) ** 2),
    "torch sort": (AutoTorch(), lambda x: torch.sort(x).values ** 2),
    "torch branch": (AutoTorch(), lambda x: (x if float(x[0]) > 0 else x.flip(0)) ** 2),
    "autograd sort": (AutoAutograd(), lambda x: anp.sort(x) ** 2),
    "differences sort": (AutoFiniteDifferences(), lambda x: np.sort(x) ** 2),
    "differences branch": (AutoFiniteDifferences(), lambda x: (x if x[0] > 0 else x[::-1]) ** 2),
}
each_valued = pytest.mark.parametrize("name", VALUED)


def scalar_of(f):
    return lambda x: (f(x) * f(x)).sum()


def right_or_refused(call, dense, points, backend):
    """How many calls are right; all others end with a SparsityError."""
    right = 0
    for x in points:
        expected = dense(x)
        try:
            found = call(x)
        except SparsityError as error:
            assert "outside its pattern" in str(error)  # noqa: PT017 - it may also be right
            continue
        close(found, expected, backend)
        right += 1
    return right


@each_valued
@each_operator
def test_a_probed_pattern_is_checked_in_every_call(operator, name):
    backend, f = VALUED[name]
    if operator in (hessian, value_gradient_and_hessian):
        f, backend = (
            scalar_of(f),
            SecondOrder(backend, AutoAutograd()) if name.startswith("differences") else backend,
        )
        if name.startswith("differences"):
            f = {"differences sort": lambda x: anp.sum(anp.sort(x) ** 4), "differences branch": f}[
                name
            ]
    loose = BACKENDS["finite"] if name.startswith("differences") else backend
    fast = prepare(operator, f, AutoSparse(backend, detect="probe"), X)
    right = right_or_refused(fast, lambda x: operator(f, backend, x), POINTS, loose)
    assert right >= 1
    if name.startswith(("jax", "torch")):
        assert right < len(POINTS) or operator in (hessian, value_gradient_and_hessian)


@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoAutograd(), AutoFiniteDifferences(), AutoJax(jit=False)], ids=repr
)
def test_a_pattern_of_one_branch_is_checked_when_it_is_passed_on(backend, tmp_path):
    def f(x):
        return x * x if x[0] > 0 else x * x[0]

    pattern = sparsity(jacobian, f, AutoSparse(backend), X)
    pattern.save(tmp_path / "pattern.npz")
    for kept in (pattern, SparsityPattern.load(tmp_path / "pattern.npz"), pickle_of(pattern)):
        fast = prepare(jacobian, f, AutoSparse(backend, pattern=kept), X)
        close(fast(X), np.diag(2 * X), backend)
        with pytest.raises(SparsityError, match="outside its pattern") as refused:
            fast(-X)
        assert str(refused.value).endswith(
            "sparsity(...) has found it for other values, and these lead another way: find it anew,"
            " or pass a pattern=... that holds everywhere."
        )
    trusted = prepare(jacobian, f, AutoSparse(backend, pattern=pattern, check=False), X)
    assert trusted(-X)[0].nnz == 6


def pickle_of(value):
    import pickle

    return pickle.loads(pickle.dumps(value))


# Results that change
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoAutograd(), AutoFiniteDifferences(), AutoJax(jit=False)], ids=repr
)
@pytest.mark.parametrize("check", ["first", False])
def test_a_result_of_another_size_is_refused(check, backend):
    def f(x):
        return x[x > 0] * x[0]

    fast = prepare(jacobian, f, AutoSparse(backend, check=check), X)
    close(fast(X), jacobian(f, backend, X), backend)
    for x in (np.abs(X), -X):
        if (x > 0).sum() != (X > 0).sum():
            with pytest.raises(SparsityError) as refused:
                fast(x)
            assert (
                str(refused.value)
                == f"jacobian: f gives {int((x > 0).sum())} numbers of float64 for these values,"
                " but 4 numbers of float64 when its pattern was found. Make the call without"
                " prepare, or let the result of f have the same shapes and dtypes for all"
                " values."
            )


# Inside transformations
# ------------------------------------------------------------------------------------------------


NATIVE = {
    "jax": AutoSparse(AutoJax(), format="native"),
    "torch": AutoSparse(AutoTorch(), format="native"),
}


#: What differentiates a call. PyTorch's sparse tensors have no forward mode.
OUTER = {
    "jax forward": AutoJax(mode="forward"),
    "jax reverse": AutoJax(mode="reverse"),
    "torch": AutoTorch(mode="reverse"),
}
each_outer = pytest.mark.parametrize("outer", OUTER.values(), ids=OUTER)


def total(matrix):
    return matrix.to_dense().sum() if isinstance(matrix, torch.Tensor) else matrix.todense().sum()


@each_outer
def test_a_derivative_of_a_sparse_jacobian_by_its_argument(outer):
    sparse = NATIVE[outer.name]

    def entries(x):
        return total(jacobian(lambda x: x[1:] * x[:-1] ** 2, sparse, x)[0])

    def exact(x):
        return anp.sum(x[:-1] ** 2) + anp.sum(2 * x[1:] * x[:-1])

    found = gradient(entries, outer, X)[0]
    np.testing.assert_allclose(found, gradient(exact, AutoAutograd(), X)[0], rtol=1e-10)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_where_torch_makes_no_sparse_tensors_it_says_so():
    def entries(a):
        return total(jacobian(lambda x: a * x * x, NATIVE["torch"], X)[0])

    for call in (
        lambda: gradient(entries, AutoTorch(mode="forward"), 2.0),
        lambda: torch.func.vmap(entries)(torch.tensor([2.0, 3.0], dtype=torch.float64)),
    ):
        with pytest.raises(NotDifferentiableError) as refused:
            call()
        assert (
            str(refused.value)
            == "PyTorch has neither forward mode nor vmap for sparse tensors. Differentiate what"
            ' holds this sparse derivative in reverse, AutoTorch(mode="reverse"), or take it'
            " without AutoSparse."
        )


def test_a_call_that_cannot_be_checked_is_refused():
    factor = [1.0]

    def f(x):
        return jnp.sort(factor[0] * x) ** 2

    def entries(a, fast):
        factor[0] = a
        return total(fast(X)[0])

    eager = AutoJax(jit=False)
    fast, trusted = [
        prepare(jacobian, f, AutoSparse(eager, format="native", detect="probe", check=check), X)
        for check in ("first", False)
    ]
    always = prepare(
        jacobian, f, AutoSparse(eager, format="native", pattern=np.ones((6, 6)), check="always"), X
    )
    with jax.enable_x64(True):
        for call, how in ((fast, "probed"), (always, "given")):
            with pytest.raises(SparsityError) as refused:
                jax.jit(lambda a, call=call: entries(a, call))(1.0)
            assert (
                str(refused.value)
                == f"jacobian: its pattern ({how}) is checked in every call, but inside this"
                " transformation of the engine there are no numbers to check it with. Pass a"
                " pattern=... that holds everywhere, or take AutoSparse(..., check=False)."
            )
        np.testing.assert_allclose(jax.jit(lambda a: entries(a, trusted))(2.0), 8 * X.sum())
        np.testing.assert_allclose(jax.grad(lambda a: entries(a, fast))(2.0), 8 * X.sum())
        with pytest.raises(SparsityError, match="outside its pattern"):
            jax.grad(lambda a: entries(a, fast))(-2.0)


each_uncompiled = pytest.mark.parametrize(
    "backend",
    [
        *(
            AutoTorch(),
            AutoTorch(mode="forward"),
            AutoTorch(mode="reverse"),
            AutoTorch(chunk_size=1),
        ),
        *(
            AutoAutograd(),
            AutoAutograd(mode="reverse"),
            AutoFiniteDifferences(),
            AutoJax(jit=False),
        ),
    ],
    ids=repr,
)


@each_uncompiled
def test_what_f_captures_is_fixed_and_a_constant_is_not(backend):
    """The pattern follows from captured numbers: what another matrix gives is refused, a Constant
    is right.
    """
    factors = {"matrix": np.diag([1.0, 2.0, 3.0])}
    x = np.array([0.5, -0.7, 20.0])

    def captured(x):
        xp = array_namespace(x)
        return xp.asarray(factors["matrix"]) @ x**2

    def given(x, matrix):
        return matrix @ x**2

    fast, native = [
        prepare(jacobian, captured, AutoSparse(backend, format=format), x)
        for format in ("csr", "native")
    ]
    right = prepare(jacobian, given, AutoSparse(backend), x, Constant(factors["matrix"]))
    for factor in (1.0, 2.0):  # other numbers at the same places
        factors["matrix"] *= factor
        close(fast(x), jacobian(captured, backend, x), backend)
        native(x)
    factors["matrix"] = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    with pytest.raises(SparsityError) as raised:
        fast(x)
    assert "the derivative has entries outside its pattern (trace" in str(raised.value)
    assert str(raised.value).endswith(
        "If f captures what has changed, prepare the call anew, or pass that as an argument, such"
        " as Constant(c). Otherwise pass a pattern=... that holds everywhere."
    )
    with pytest.raises(SparsityError, match="prepare the call anew"):
        native(x)
    close(right(x, Constant(factors["matrix"])), jacobian(captured, backend, x), backend)
    again = prepare(jacobian, captured, AutoSparse(backend), x)
    close(again(x), jacobian(captured, backend, x), backend)


# Rules
# ------------------------------------------------------------------------------------------------


@rule
def through(x):
    """A sign, with the derivative of the identity: that of its code is zero."""
    return array_namespace(x).sign(x)


@through.pullback
def _(cotangent, value, x):
    return cotangent


@rule
def exchanged(x):
    """Depends on x element by element, and its derivative on other elements."""
    return x + 0.0


@exchanged.pushforward
def _(tangents, value, x):
    return array_namespace(x).roll(tangents[0], 1)


cubed = scalar_rule(lambda x: x**2, lambda value, x: 3 * x**2)


@each_backend
@each_operator
@pytest.mark.parametrize(
    "code", [through, exchanged, cubed], ids=["another value", "other places", "by elements"]
)
def test_the_pattern_is_that_of_the_derivative_of_a_rule(code, operator, backend):
    if isinstance(backend, AutoFiniteDifferences):
        pytest.skip("differences are of the code of a rule")

    def f(x):
        xp = array_namespace(x)
        y = code(x) * xp.sin(x)
        return xp.sum(y * y) if operator in (hessian, value_gradient_and_hessian) else y

    expected = operator(f, backend, X)
    close(operator(f, AutoSparse(backend), X), expected, backend)
    fast = prepare(operator, f, AutoSparse(backend), X)
    close(fast(X), expected, backend)
    close(fast(X + 0.25), operator(f, backend, X + 0.25), backend)


def test_a_rule_is_not_traced_and_says_so():
    with pytest.raises(
        SparsityError,
        match=r"cannot be traced for its pattern \(Untraceable: the rule through, whose derivat",
    ):
        jacobian(through, AutoSparse(AutoAutograd(), detect="trace"), X)
