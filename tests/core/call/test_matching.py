"""What operators say of cotangents, tangents and arguments that do not fit: one table of messages, word for word."""

from collections import OrderedDict
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend, global_state

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    NotDifferentiableError,
    OutputError,
    TreeError,
    array_namespace,
    derivative,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_jacobian,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
)

X = np.array([0.3, 0.7, 1.1])


@dataclass
class Point:
    x: object
    y: object


def forms(x, s):
    """A value with a dict, a tuple, a list, a dataclass, an integer array and a name."""
    xp = array_namespace(x)
    return {"y": x * s, "pair": (x[0], [x * 2.0]), "point": Point(s * 1.0, x), "n": xp.arange(2), "name": "f"}


ONES = np.ones(3)


def cotangent(**changes):
    full = {"y": ONES, "pair": (1.0, [ONES]), "point": Point(1.0, ONES), "n": None, "name": None}
    return full | changes


def without(*keys):
    return {key: value for key, value in cotangent().items() if key not in keys}


COTANGENTS = {
    "a missing key": (without("y"), "cotangent has another structure than the cotangent must have: ['y'] missing."),
    "an extra key": (cotangent(z=1.0), "cotangent has another structure than the cotangent must have: ['z'] not expected."),
    "a missing and an extra key": (
        without("y", "name") | {"Y": ONES},
        "cotangent has another structure than the cotangent must have: ['y'], ['name'] missing; ['Y'] not expected.",
    ),
    "an array for a dict": (ONES, "cotangent must be a dict, or None for zero, not a ndarray."),
    "a list for a tuple": (cotangent(pair=[1.0, [ONES]]), "cotangent['pair'] must be a tuple, or None for zero, not a list."),
    "a tuple for a list": (
        cotangent(pair=(1.0, (ONES,))),
        "cotangent['pair'][1] must be a list, or None for zero, not a tuple.",
    ),
    "a dict for a dataclass": (
        cotangent(point={"x": 1.0, "y": ONES}),
        "cotangent['point'] must be a Point, or None for zero, not a dict.",
    ),
    "a short tuple": (
        cotangent(pair=(1.0,)),
        "cotangent['pair'] has another structure than the cotangent must have: [1] missing.",
    ),
    "a long list": (
        cotangent(pair=(1.0, [ONES, ONES])),
        "cotangent['pair'][1] has another structure than the cotangent must have: [1] not expected.",
    ),
    "a wrong shape": (cotangent(y=np.ones(2)), "cotangent['y'] must have shape (3,), not (2,)."),
    "a number for an array": (cotangent(y=1.0), "cotangent['y'] must have shape (3,), not ()."),
    "an array for a number": (cotangent(pair=(np.ones(1), [ONES])), "cotangent['pair'][0] must have shape (), not (1,)."),
    "a wrong shape in a dataclass": (
        cotangent(point=Point(1.0, np.ones((3, 1)))),
        "cotangent['point'].y must have shape (3,), not (3, 1).",
    ),
    "a complex array for a real one": (
        cotangent(y=ONES * 1j),
        "cotangent['y'] must be real (dtype float64), not complex128.",
    ),
    "a complex number for a real one": (
        cotangent(pair=(1j, [ONES])),
        "cotangent['pair'][0] must be real (dtype float64), not complex.",
    ),
    "a string for an array": (
        cotangent(y="ones"),
        "cotangent['y'] must be an array of shape (3,), or None for zero, not a str.",
    ),
    "a dict for an array": (
        cotangent(y={"a": ONES}),
        "cotangent['y'] must be an array of shape (3,), or None for zero, not a dict.",
    ),
    "an array for an integer array": (
        cotangent(n=np.ones(2)),
        "cotangent['n'] has no derivative, so the cotangent must be None there, not a numpy array of dtype float64 and "
        "shape (2,).",
    ),
    "a number for a string": (
        cotangent(name=1.0),
        "cotangent['name'] has no derivative, so the cotangent must be None there, not the float 1.0.",
    ),
}


@each_backend
@pytest.mark.parametrize("case", COTANGENTS)
def test_a_cotangent_that_does_not_match_is_an_error_that_names_the_path(case, backend):
    wrong, message = COTANGENTS[case]
    back = pullback(forms, backend, X, 2.0).back
    with pytest.raises(TreeError) as caught:
        back(wrong)
    assert str(caught.value) == message


@each_backend
def test_back_works_after_a_wrong_cotangent(backend):
    back = pullback(forms, backend, X, 2.0).back
    before = back(cotangent())
    with pytest.raises(TreeError):
        back(ONES)
    np.testing.assert_array_equal(back(cotangent())[0], before[0])


@each_backend
def test_keys_may_come_in_any_order(backend):
    back = pullback(lambda x: {"a": x, "b": 2.0 * x}, backend, X).back
    np.testing.assert_allclose(back({"b": ONES, "a": None})[0], 2.0 * ONES)
    np.testing.assert_allclose(back(OrderedDict(b=ONES, a=ONES))[0], 3.0 * ONES)


NARROW = {
    "numpy": (X.astype("float32"), ONES, "float64"),
    "torch": (torch.tensor(X, dtype=torch.float32), torch.ones(3, dtype=torch.float64), "float64"),
    "jax": (jnp.asarray(X, dtype="float32"), ONES, "float64"),
}


@each_backend
@pytest.mark.parametrize("library", NARROW)
def test_a_wider_cotangent_or_tangent_is_never_narrowed(library, backend):
    x, wide, dtype = NARROW[library]

    def f(x):
        return array_namespace(x).sin(x)

    with pytest.raises(TreeError) as caught:
        pullback(f, backend, x).back(wide)
    assert str(caught.value) == f"cotangent must have dtype float32, not {dtype}, which would be narrowed."
    for call in (lambda: pushforward(f, backend, (x,), (wide,)), lambda: linearize(f, backend, x).push(wide)):
        with pytest.raises(TreeError) as caught:
            call()
        assert str(caught.value) == f"tangents[0] must have dtype float32, not {dtype}, which would be narrowed."


@each_backend
def test_python_numbers_and_narrower_arrays_take_the_dtype(backend):
    x = X.astype("float32")
    back = pullback(lambda x: x * 2, backend, x).back
    for seed in ([1.0, 1.0, 1.0], np.ones(3, "float16"), np.ones(3, int), [1, None, 1.0]):
        assert back(seed)[0].dtype == "float32"
    assert pullback(lambda x: x[0] * 2, backend, x).back(1.0)[0].dtype == "float32"


def model():
    return {"w": X, "b": (0.5, 3), "frozen": Constant(X), "name": "layer"}


def loss(p):
    return array_namespace(p["w"]).sum(p["w"] ** 2 * p["b"][0])


TANGENTS = {
    "a missing key": (
        {"w": X, "b": None, "frozen": None},
        "{} has another structure than the tangent must have: ['name'] missing.",
    ),
    "a wrong container": (
        {"w": X, "b": [1.0, None], "frozen": None, "name": None},
        "{}['b'] must be a tuple, or None for zero, not a list.",
    ),
    "a wrong shape": (
        {"w": np.ones((3, 1)), "b": None, "frozen": None, "name": None},
        "{}['w'] must have shape (3,), not (3, 1).",
    ),
    "a complex direction": (
        {"w": X * 1j, "b": None, "frozen": None, "name": None},
        "{}['w'] must be real (dtype float64), not complex128.",
    ),
    "a direction for an integer": (
        {"w": X, "b": (1.0, 1.0), "frozen": None, "name": None},
        "{}['b'][1] has no derivative, so the tangent must be None there, not the float 1.0.",
    ),
    "a direction for a Constant": (
        {"w": X, "b": (1.0, None), "frozen": X, "name": None},
        "{}['frozen'] is a Constant, so the tangent must be None there, not a numpy array of dtype float64 and shape (3,).",
    ),
}

WITH_TANGENTS = {
    "pushforward": lambda b, v: pushforward(loss, b, (model(),), (v,)),
    "linearize": lambda b, v: linearize(loss, b, model()).push(v),
    "hvp": lambda b, v: hvp(loss, b, model(), v),
    "gradient_and_hvp": lambda b, v: gradient_and_hvp(loss, b, model(), v),
}


@each_backend
@pytest.mark.parametrize("operator", WITH_TANGENTS)
@pytest.mark.parametrize("case", TANGENTS)
def test_a_tangent_that_does_not_match_is_an_error_that_names_the_path(case, operator, backend):
    wrong, message = TANGENTS[case]
    with pytest.raises(TreeError) as caught:
        WITH_TANGENTS[operator](backend, wrong)
    assert str(caught.value) == message.format("v" if "hvp" in operator else "tangents[0]")


CONSTANTS = {
    "an array": (X, X, "a numpy array of dtype float64 and shape (3,)"),
    "a number": (2.0, 1.0, "the float 1.0"),
    "an int": (2, 1.0, "the float 1.0"),
    "a tree": ({"a": X}, {"a": X}, "a dict"),
}


@each_backend
@pytest.mark.parametrize("case", CONSTANTS)
def test_a_constant_has_no_tangent(case, backend):
    value, tangent, seen = CONSTANTS[case]
    message = f"tangents[1] is a Constant, so the tangent must be None there, not {seen}."
    for call in (
        lambda: pushforward(lambda x, c: x * 2.0, backend, (X, Constant(value)), (X, tangent)),
        lambda: linearize(lambda x, c: x * 2.0, backend, X, Constant(value)).push(X, tangent),
    ):
        with pytest.raises(TreeError) as caught:
            call()
        assert str(caught.value) == message


COUNTS = {
    "too few": ((X,), "there are 2 arguments, so there must be as many tangents, not 1"),
    "too many": ((X, None, X), "there are 2 arguments, so there must be as many tangents, not 3"),
    "none": ((), "there are 2 arguments, so there must be as many tangents, not 0"),
}


@each_backend
@pytest.mark.parametrize("case", COUNTS)
def test_there_are_as_many_tangents_as_arguments(case, backend):
    tangents, message = COUNTS[case]

    def f(x, c):
        return x * c

    for name, call in {
        "pushforward": lambda: pushforward(f, backend, (X, Constant(X)), tangents),
        "linearize": lambda: linearize(f, backend, X, Constant(X)).push(*tangents),
    }.items():
        with pytest.raises(TreeError) as caught:
            call()
        assert str(caught.value) == f"{name}: {message}; None is the tangent of a Constant."


@pytest.mark.parametrize(
    ("args", "tangents", "name", "seen"),
    [
        (X, (X,), "args", "ndarray"),
        ((X,), X, "tangents", "ndarray"),
        ([X], (X,), "args", "list"),
        ((X,), [X], "tangents", "list"),
    ],
    ids=["args an array", "tangents an array", "args a list", "tangents a list"],
)
def test_pushforward_takes_tuples(args, tangents, name, seen):
    with pytest.raises(TypeError) as caught:
        pushforward(lambda x: x, AutoFiniteDifferences(), args, tangents)
    assert str(caught.value) == (
        f"pushforward(f, backend, args, tangents): {name} must be a tuple with one entry for each argument of f, not a {seen}."
    )


@each_backend
def test_a_tangent_is_checked_before_f_is_called(backend):
    def never(*args):
        raise AssertionError("f was called")

    for call in (
        lambda: pushforward(never, backend, (X,), (np.ones(2),)),
        lambda: hvp(never, backend, X, np.ones(2)),
    ):
        with pytest.raises(TreeError):
            call()


# Stacks --------------------------------------------------------------------------------------------------------------

STACKS = {
    "unequal lengths": (
        {"a": np.ones((2, 3)), "b": np.ones(3)},
        "cotangent['b'] must be a stack of shape (2,), not (3,).",
    ),
    "no leading axis": ({"a": np.ones(3), "b": None}, "cotangent['a'] must be a stack of shape (n, 3), not (3,)."),
    "no axis for a number": ({"a": None, "b": 1.0}, "cotangent['b'] must be a stack of shape (n,), not ()."),
    "a wrong shape behind it": (
        {"a": np.ones((2, 4)), "b": None},
        "cotangent['a'] must be a stack of shape (n, 3), not (2, 4).",
    ),
    "nothing at all": (None, "the cotangent: a stack needs at least one array with a leading axis."),
    "None everywhere": ({"a": None, "b": None}, "the cotangent: a stack needs at least one array with a leading axis."),
}


@each_backend
@pytest.mark.parametrize("case", STACKS)
def test_a_stack_of_cotangents_has_one_length(case, backend):
    wrong, message = STACKS[case]
    back = pullback(lambda x: {"a": x, "b": x[0]}, backend, X).back
    with pytest.raises(TreeError) as caught:
        back.stacked(wrong)
    assert str(caught.value) == message


@each_backend
def test_a_stack_of_tangents_has_one_length(backend):
    push = linearize(lambda x, y: x * y, backend, X, 2.0).push
    with pytest.raises(TreeError) as caught:
        push.stacked(np.ones((2, 3)), np.ones(4))
    assert str(caught.value) == "tangents[1] must be a stack of shape (2,), not (4,)."
    with pytest.raises(TreeError) as caught:
        push.stacked(None, None)
    assert str(caught.value) == "the tangent: a stack needs at least one array with a leading axis."


# One argument, one number, one scalar --------------------------------------------------------------------------------

ONE_ARGUMENT = {
    "hessian": lambda b, f, x, *rest: hessian(f, b, x, *rest),
    "value_gradient_and_hessian": lambda b, f, x, *rest: value_gradient_and_hessian(f, b, x, *rest),
    "hvp": lambda b, f, x, *rest: hvp(f, b, x, x, *rest),
    "gradient_and_hvp": lambda b, f, x, *rest: gradient_and_hvp(f, b, x, x, *rest),
    "derivative": lambda b, f, x, *rest: derivative(f, b, x, *rest),
    "value_and_derivative": lambda b, f, x, *rest: value_and_derivative(f, b, x, *rest),
    "second_derivative": lambda b, f, x, *rest: second_derivative(f, b, x, *rest),
    "value_derivative_and_second_derivative": lambda b, f, x, *rest: value_derivative_and_second_derivative(f, b, x, *rest),
}

REST = {
    "a number": ((1.0, 2.0), "but args[1] would be, too"),
    "an int": ((1.0, 2), "but args[1] would be, too"),
    "two": ((1.0, Constant(1.0), 2.0, {"a": X}), "but args[2], args[3] would be, too"),
    "the first is none": ((Constant(1.0), 2.0), "but args[0] has no gradient"),
    "a tree of constants first": (({"a": Constant(X), "n": 3}, 2.0), "but args[0] has no gradient"),
}


def never(*args):
    raise AssertionError("f was called")


@pytest.mark.parametrize("operator", ONE_ARGUMENT)
@pytest.mark.parametrize("case", REST)
def test_second_order_operators_and_derivatives_take_one_argument(case, operator):
    args, problem = REST[case]
    with pytest.raises(NotDifferentiableError) as caught:
        ONE_ARGUMENT[operator](AutoFiniteDifferences(), never, *args)
    assert str(caught.value) == (
        f"{operator} differentiates exactly one argument, the first, {problem}. Wrap every further argument in "
        f"Constant(...), or pass one tuple or dict that holds them all."
    )
    assert isinstance(caught.value, TypeError)


NOT_ONE_NUMBER = {
    "a vector": (X, "an array of shape (3,)"),
    "a vector of one": (np.ones(1), "an array of shape (1,)"),
    "two numbers": ((1.0, 2.0), "2 arrays"),
    "a dict of arrays": ({"a": X, "b": 1.0}, "2 arrays"),
}


@pytest.mark.parametrize("operator", [name for name in ONE_ARGUMENT if "derivative" in name])
@pytest.mark.parametrize("case", NOT_ONE_NUMBER)
def test_derivatives_are_of_one_number(case, operator):
    x, seen = NOT_ONE_NUMBER[case]
    with pytest.raises(NotDifferentiableError) as caught:
        ONE_ARGUMENT[operator](AutoFiniteDifferences(), never, x)
    assert str(caught.value) == (
        f"{operator} differentiates with respect to one real number, but args[0] holds {seen}. "
        f"Use jacobian, or pushforward for the derivative in one direction."
    )


@pytest.mark.parametrize("operator", [name for name in ONE_ARGUMENT if "derivative" in name])
@pytest.mark.parametrize("x", [1 + 2j, np.array(1 + 2j)], ids=["number", "0-d array"])
def test_derivatives_are_of_a_real_number(x, operator):
    with pytest.raises(NotDifferentiableError) as caught:
        ONE_ARGUMENT[operator](AutoFiniteDifferences(), never, x)
    assert str(caught.value) == (
        f"{operator} is taken with respect to real arguments only, but args[0] is complex. A holomorphic derivative is a "
        f"jacobian; otherwise pass the real and imaginary parts as two real arguments."
    )


NOT_SCALAR = {
    "an array": (
        lambda x: x * 2.0,
        "{library} array of dtype float64 and shape (3,). Reduce it to a scalar (a sum or a mean), or use jacobian.",
    ),
    "an array of one": (
        lambda x: x[:1],
        "{library} array of dtype float64 and shape (1,). Index it or take its sum to get a 0-d result, or use jacobian.",
    ),
    "a complex number": (
        lambda x: x[0] * 1j,
        "{library} array of dtype complex128 and shape (). Return its real part or its squared modulus, or use jacobian "
        "for the derivative of a complex function.",
    ),
    "an int": (lambda x: 3, "the int 3. Return a float; counts and tests have no derivative."),
    "nothing": (lambda x: None, "None. Does it lack a return statement?"),
    "a tuple": (
        lambda x: (x[0], x),
        "a tuple. For auxiliary results after the scalar use value_and_gradient, with the scalar first; for a tree of "
        "arrays use jacobian or pullback.",
    ),
}
BACKENDS = {
    "a jax": AutoJax(),
    "a torch": AutoTorch(),
    "an autograd": AutoAutograd(),
    "a numpy": AutoFiniteDifferences(),
}


@pytest.mark.parametrize("operator", [name for name in ONE_ARGUMENT if "derivative" not in name])
@pytest.mark.parametrize("case", NOT_SCALAR)
@pytest.mark.parametrize("library", BACKENDS)
def test_second_order_operators_need_a_real_scalar(library, case, operator):
    f, returned = NOT_SCALAR[case]
    before = global_state()
    with pytest.raises(OutputError) as caught:
        ONE_ARGUMENT[operator](BACKENDS[library], f, X)
    assert str(caught.value) == f"{operator}: f must return a real scalar, but returned {returned.format(library=library)}"
    assert global_state() == before


NO_DERIVATIVE = {
    "an int": (lambda x: 3, "the int 3"),
    "nothing": (lambda x: None, "a NoneType"),
    "a dict of names": (lambda x: {"a": "b"}, "a dict"),
    "an empty tuple": (lambda x: (), "a tuple"),
}


@each_backend
@pytest.mark.parametrize("case", NO_DERIVATIVE)
def test_a_value_in_which_nothing_has_a_derivative_is_an_error(case, backend):
    f, returned = NO_DERIVATIVE[case]
    for name, call in {
        "jacobian": lambda: jacobian(f, backend, X),
        "value_and_jacobian": lambda: value_and_jacobian(f, backend, X),
        "pullback": lambda: pullback(f, backend, X),
        "linearize": lambda: linearize(f, backend, X),
        "pushforward": lambda: pushforward(f, backend, (X,), (X,)),
        "derivative": lambda: derivative(f, backend, 1.0),
    }.items():
        with pytest.raises(OutputError) as caught:
            call()
        assert (
            str(caught.value)
            == f"{name}: f returned {returned}, in which nothing has a derivative. Return floating numbers or arrays."
        )


# Options -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auto", [AutoJax, AutoTorch, AutoAutograd])
def test_a_mode_that_does_not_exist_is_an_error(auto):
    with pytest.raises(ValueError, match="mode") as caught:
        auto(mode="backward")
    assert str(caught.value) == f"{auto.__name__}: mode must be 'forward', 'reverse' or None, not 'backward'."


@pytest.mark.parametrize(
    ("size", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)]
)
@pytest.mark.parametrize("auto", [AutoJax, AutoTorch])
def test_a_chunk_size_that_is_no_size_is_an_error(auto, size, error):
    with pytest.raises(error, match="chunk_size") as caught:
        auto(chunk_size=size)
    assert str(caught.value) == f"{auto.__name__}: chunk_size must be a positive int or None, not {size!r}."


@pytest.mark.parametrize("option", ["mode", "chunk_size"])
def test_finite_differences_have_neither_modes_nor_chunks(option):
    with pytest.raises(TypeError, match=f"AutoFiniteDifferences has no option '{option}'"):
        AutoFiniteDifferences(**{option: None})


# Tangents that have the signature of the arguments are not walked again.


def curved(tree, s):
    return (tree["w"] ** 3).sum() * tree["b"][0] + (s * tree["w"]).sum() ** 2


def as_lists(tree):
    """The same tangent in a form that has to be walked: lists of numbers for arrays, keys in another order."""
    return {"b": [tree["b"][0]], "w": tree["w"].tolist()}


@pytest.mark.parametrize("prepared", [False, True])
@each_backend
def test_a_tangent_like_the_argument_gives_what_one_gives_that_is_walked(backend, prepared):
    x, s = {"w": X, "b": [2.0]}, Constant(np.array([1.0, 2.0, 3.0]))
    v = {"w": np.array([0.5, -1.0, 2.0]), "b": [0.25]}
    take = prepare(hvp, curved, backend, x, v, s) if prepared else lambda *args: hvp(curved, backend, *args)
    plain, walked = take(x, v, s), take(x, as_lists(v), s)
    np.testing.assert_allclose(plain["w"], walked["w"], rtol=1e-12)
    assert plain["b"][0] == pytest.approx(walked["b"][0], rel=1e-12)
    assert [*plain] == [*walked] == ["w", "b"]


@each_backend
def test_results_do_not_overlap_a_tangent_like_the_argument(backend):
    v = {"w": np.ones(3)}
    product = hvp(lambda tree: 0.5 * (tree["w"] * tree["w"]).sum(), backend, {"w": X}, v)["w"]
    assert not np.shares_memory(product, v["w"])
    np.testing.assert_allclose(product, v["w"], atol=1e-6)
    _, push = linearize(lambda tree: 1.0 * tree["w"], backend, {"w": X})
    assert not np.shares_memory(push(v), v["w"])


@each_backend
def test_a_tangent_of_another_byte_order_or_with_a_tangent_for_a_constant_is_looked_at(backend):
    v = {"w": np.ones(3).astype(">f8")}
    product = hvp(lambda tree, s: s * (tree["w"] ** 2).sum(), backend, {"w": X}, v, Constant(2.0))["w"]
    np.testing.assert_allclose(product, [4.0, 4.0, 4.0], atol=1e-4)
    with pytest.raises(TreeError, match="is a Constant"):
        pushforward(lambda tree, s: s * tree["w"], backend, ({"w": X}, Constant(2.0)), ({"w": X}, 1.0))
