"""Arguments at the edges: trees without an end, f's own keywords, what is registered, arrays that
are gone, many classes.
"""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import each_backend
from example_calls import example_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    OutputError,
    TreeError,
    compare,
    explain,
    gradient,
    prepare,
    pullback,
    tree,
    value_and_gradient,
)
from adinterface.fit import minimize
from adinterface.tools.facts import operations

X = np.array([1.0, 2.0])

# Trees without an end
# -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Linked:
    w: object
    next: object = None


def _knots():
    own = {"w": 1.0}
    own["me"] = own
    row = [X, (2.0,)]
    row[1] = (2.0, {"back": row[1], "row": row})
    linked = Linked(X)
    linked.next = Linked(X, [linked])
    return {
        "dict": (own, "args[0]['me'] is args[0] itself"),
        "list": (row, "args[0][1][1]['row'] is args[0] itself"),
        "dataclass": (linked, "args[0].next.next[0] is args[0] itself"),
        "further in": ({"a": 1.0, "b": [own]}, "args[0]['b'][0]['me'] is args[0]['b'][0] itself"),
    }


def _deep(levels):
    nested = 1.0
    for _ in range(levels):
        nested = [nested]
    return nested


@each_backend
@pytest.mark.parametrize("name", _knots())
def test_a_tree_that_holds_itself_is_an_error_that_names_the_place(name, backend):
    value, words = _knots()[name]
    message = (
        f"^{re.escape(words)}, so there is no end to it\\. Leave such a reference out, or hold a"
        " weakref\\.ref\\.$"
    )
    for call in (
        lambda: gradient(len, backend, value),
        lambda: prepare(gradient, len, backend, value),
    ):
        with pytest.raises(TreeError, match=message):
            call()
    with pytest.raises(TreeError, match=r"^args\[1\].* is args\[1\].* itself"):
        gradient(lambda x, c: x, backend, 1.0, Constant(value))
    with pytest.raises(TreeError, match=r"^k.* is k.* itself"):
        gradient(lambda x, k: x, backend, 1.0, k=value)
    with pytest.raises(TreeError, match=r"^the result of f.* is the result of f.* itself"):
        pullback(lambda x: [x, value], backend, 1.0)
    back = pullback(lambda x: [x, x], backend, X).back
    row = [X]
    row.append(row)
    with pytest.raises(
        TreeError, match=r"^cotangent\[1\]\[1\] is cotangent\[1\] itself, so there is no end"
    ):
        back(row)


@pytest.mark.parametrize(
    "call",
    [
        lambda value: tree.map(abs, value),
        lambda value: tree.norm(value),
        lambda value: tree.zeros_like(value),
        lambda value: tree.ravel(value),
        lambda value: minimize(len, AutoTorch(), value),
    ],
    ids=["map", "norm", "zeros_like", "ravel", "minimize"],
)
def test_a_function_on_trees_names_the_place_where_a_tree_holds_itself(call):
    for value, words in _knots().values():
        message = f"^{re.escape(words.replace('args[0]', 'the tree'))}, so there is no end to it\\."
        with pytest.raises(TreeError, match=message):
            call(value)


def test_a_tree_that_is_too_deep_is_an_error_that_says_so():
    backend = AutoFiniteDifferences()
    words = (
        "is nested 20,000 levels deep, deeper than Python's recursion limit lets it be taken apart"
    )
    for place, args in {
        "args[0]": (_deep(20_000),),
        "args[1]": (1.0, Constant(_deep(20_000))),
    }.items():
        for call in (
            lambda args=args: gradient(len, backend, *args),
            lambda args=args: prepare(gradient, len, backend, *args),
        ):
            with pytest.raises(TreeError, match=f"^{re.escape(place)} {words}"):
                call()
    with pytest.raises(TreeError, match=r"^the result of f is nested 20,001 levels deep"):
        pullback(lambda x: [_deep(20_000)], backend, 1.0)


def test_a_recursion_of_f_stays_its_own():
    def f(x):
        return f(x)

    with pytest.raises(RecursionError):
        gradient(f, AutoFiniteDifferences(), 1.0)


# Keywords
# ------------------------------------------------------------------------------------------------

NAMES = ["x", "v", "self", "f", "backend", "args", "operator", "tangents", "kwargs", "values"]


def scaled(x, /, **keywords):
    return (
        (x * x).sum() * sum(keywords.values())
        if np.shape(getattr(x, "_value", x))
        else x * x * sum(keywords.values())
    )


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_fs_keywords_may_have_any_name(operation):
    operator, _, args = example_of(operation)
    backend, words = AutoAutograd(), dict.fromkeys(NAMES, 0.25)
    operator(scaled, backend, *args, **words)
    prepare(operator, scaled, backend, *args, **words)(*args, **words)
    explain(operator, scaled, backend, *args, **words)
    compare(operator, scaled, [backend], *args, **words)


# Words
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [AutoJax(), AutoFiniteDifferences()], ids=["jax", "finite"])
def test_a_deleted_array_is_explained(backend):
    gone = jnp.ones(3)
    gone.delete()

    def f(x, c=1.0):
        return (x * x * c).sum()

    fast = prepare(gradient, f, backend, jnp.ones(3))
    for call in (
        lambda: gradient(f, backend, gone),
        lambda: fast(gone),
        lambda: gradient(f, backend, jnp.ones(3), Constant(gone)),
        lambda: gradient(lambda t: f(t["a"]), backend, {"a": gone}),
    ):
        with pytest.raises(RuntimeError, match="has been deleted") as caught:
            call()
        notes = [
            note
            for note in getattr(caught.value, "__notes__", [])
            if "donate_argnums has taken them" in note
        ]
        assert len(notes) == (1 if isinstance(backend, AutoJax) else 0)


@dataclasses.dataclass
class Result:
    loss: object
    aux: object


@each_backend
def test_a_dataclass_carries_auxiliary_results(backend):
    value, (slope,) = value_and_gradient(lambda x: Result((x * x).sum(), 2 * x), backend, X)
    assert type(value) is Result
    np.testing.assert_allclose(value.loss, (X * X).sum())
    np.testing.assert_allclose(value.aux, 2 * X)
    np.testing.assert_allclose(slope, 2 * X, rtol=1e-6)
    fast = prepare(value_and_gradient, lambda x: Result((x * x).sum(), 2 * x), backend, X)
    np.testing.assert_allclose(fast(X).gradient[0], 2 * X, rtol=1e-6)
    with pytest.raises(
        OutputError, match=r"f must return a real scalar, but returned an? .* array of dtype"
    ):
        value_and_gradient(lambda x: Result(2 * x, x.sum()), backend, X)


def test_the_scalar_of_a_registered_dataclass_is_its_first_leaf():
    @dataclasses.dataclass
    class Registered:
        aux: object
        loss: object

    jax.tree_util.register_dataclass(Registered, data_fields=["loss", "aux"], meta_fields=[])
    value, (slope,) = value_and_gradient(
        lambda x: Registered(aux=2 * x, loss=(x * x).sum()), AutoJax(), X
    )
    np.testing.assert_allclose(value.aux, 2 * X)
    np.testing.assert_allclose(slope, 2 * X)


# Arrays of JAX's rules, lists in NumPy code
# ---------------------------------------------------------------------------


ROWS = {
    "append a list": lambda x: np.append(x, [1.0, x[0]]) @ np.arange(4.0),
    "append to a list": lambda x: np.append([x[0]], x) @ np.arange(3.0),
    "append numbers": lambda x: np.append([1.0, 2.0], x) @ np.arange(4.0),
    "append along an axis": (
        lambda x: (np.append(x[None], [[1.0, 2.0]], axis=0) * np.arange(4.0).reshape(2, 2)).sum()
    ),
    "rows": lambda x: (np.vstack([x, [1.0, 2.0], 2 * x]) * np.arange(6.0).reshape(3, 2)).sum(),
    "rows of a dtype": (
        lambda x: (np.vstack([x, x], dtype="float64") * np.arange(4.0).reshape(2, 2)).sum()
    ),
}
_row_stack = getattr(np, "row_stack", None)  # gone in newer versions of NumPy
if _row_stack:
    ROWS["row_stack"] = lambda x: (_row_stack([x, [1.0, 2.0]]) * np.arange(4.0).reshape(2, 2)).sum()
