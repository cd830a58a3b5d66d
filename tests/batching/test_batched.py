"""`batched`: every operator gives what a loop over the entries gives, stacked."""

import copy
import pickle

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_told, assert_tree, each_backend, rtol_of
from torch import nn

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    Duplicated,
    Each,
    NotDifferentiableError,
    OutputError,
    TreeError,
    array_namespace,
    batched,
    derivative,
    gradient,
    gradient_and_hvp,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    value_and_gradient,
)

W = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
X = np.array([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0], [2.0, 1.0, 0.0], [-1.0, 0.5, 0.75]])
Y = np.array([[1.0, 0.0], [0.5, -1.0], [2.0, 0.5], [0.25, 1.0]])


def loss(w, x, y):
    xp = array_namespace(x)
    return xp.sum((xp.tanh(w @ x) - y) ** 2)


def stacked(results):
    """The results of a loop as one: each array a stack, what is no array from the first."""
    first = results[0]
    if isinstance(first, tuple):
        parts = [stacked(column) for column in zip(*results)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if isinstance(first, dict):
        return {key: stacked([result[key] for result in results]) for key in first}
    if isinstance(first, (float, np.ndarray, np.generic)):
        return np.stack(results)
    return (
        torch.stack(results)
        if isinstance(first, torch.Tensor)
        else jnp.stack(results)
        if first is not None
        else None
    )


def second(backend):
    """The tolerance of second derivatives."""
    return 1e-4 if isinstance(backend, AutoFiniteDifferences) else 1e-9


@each_backend
@pytest.mark.parametrize("which", ["both", "x", "v"])
def test_products_along_directions_of_each_entry_or_of_all(backend, which):
    def f(x):
        xp = array_namespace(x)
        return xp.sum(xp.tanh(x) ** 2) + x[0] * x[1]

    x, v = X[0], Y[0, 0] + X[1]
    args = {"both": (Each(X), Each(X[::-1].copy())), "x": (Each(X), v), "v": (x, Each(X))}[which]
    rows = {
        "both": list(zip(X, X[::-1])),
        "x": [(row, v) for row in X],
        "v": [(x, row) for row in X],
    }[which]
    for operator in (hvp, gradient_and_hvp):
        wanted = stacked([operator(f, backend, *row) for row in rows])
        assert_tree(batched(operator, f, backend, *args), wanted, second(backend))
    prepared = prepare(batched, hvp, f, backend, *args)
    assert_tree(prepared(*args), stacked([hvp(f, backend, *row) for row in rows]), second(backend))


@each_backend
@pytest.mark.parametrize("prepared", [False, True], ids=["once", "prepared"])
def test_maps_of_each_entry(backend, prepared):
    def f(w, x):
        return w @ x

    def call(operator):
        if prepared:
            return prepare(batched, operator, f, backend, W, Each(X))(W, Each(X))
        return batched(operator, f, backend, W, Each(X))

    value, back = call(pullback)
    pairs = [pullback(f, backend, W, x) for x in X]
    assert_tree(value, np.stack([pair.value for pair in pairs]), rtol_of(backend))
    assert_tree(back(Y), stacked([pair.back(y) for pair, y in zip(pairs, Y)]), rtol_of(backend))
    assert_tree(
        back.stacked(np.stack([Y, 2 * Y])), stacked([back(Y), back(2 * Y)]), rtol_of(backend)
    )

    push = call(linearize).push
    pushes = [linearize(f, backend, W, x).push for x in X]
    ways = np.arange(float(len(X) * W.size)).reshape(
        len(X), *W.shape
    )  # of the shared argument, for which back gives a stack, too
    for w, v in ((None, X), (ways, X), (ways, None), (None, X.tolist())):
        rows = [[None] * len(X) if stack is None else stack for stack in (w, v)]
        assert_tree(
            push(w, v),
            stacked([one(*row) for one, row in zip(pushes, zip(*rows))]),
            rtol_of(backend),
        )
    assert_tree(push(None, None), 0 * Y, rtol_of(backend))
    # <push(v), y> = <v, back(y)>, with one convention for both stacks
    by_w, by_x = back(Y)
    assert np.vdot(push(ways, X), Y) == pytest.approx(
        np.vdot(ways, by_w) + np.vdot(X, by_x), rel=rtol_of(backend)
    )


@each_backend
def test_each_stands_anywhere(backend):
    def f(model):
        return model["w"] @ model["x"] + model["frozen"]

    w, x = X[0], X
    model = {"w": w, "x": Each(x), "frozen": Constant(Each(Y[:, 0]))}
    got = batched(gradient, f, backend, model)[0]
    assert_tree(got, {"w": x, "x": np.stack([w] * 4), "frozen": None}, rtol_of(backend))
    around = batched(
        gradient, lambda m: m["w"] @ m["w"], backend, Each({"w": X, "frozen": Constant(Y)})
    )[0]
    assert_tree(around, {"w": 2 * X, "frozen": None}, rtol_of(backend))


@each_backend
def test_values_beside_the_scalar_gain_the_axis(backend):
    def f(x):
        return {"loss": (x * x).sum(), "x": x, "one": 1.0, "name": "f"}

    value, (got,) = batched(value_and_gradient, f, backend, Each(X))
    assert_tree(
        value, {"loss": (X * X).sum(1), "x": X, "one": np.ones(4), "name": "f"}, rtol_of(backend)
    )
    assert_tree(got, 2 * X, rtol_of(backend))


@each_backend
def test_no_entries_have_results_of_no_entries(backend):
    value, (got, none) = batched(
        value_and_gradient, lambda w, x: ((w @ x) ** 2).sum(), backend, W, Constant(Each(X[:0]))
    )
    assert_tree((value, got, none), (np.zeros(0), np.zeros((0, 2, 3)), None))


@pytest.mark.parametrize("size", [3, 1])
@pytest.mark.parametrize("auto", [AutoJax, AutoTorch])
def test_chunks_give_the_same(auto, size):
    backend = auto(chunk_size=size)
    wanted = 2 * (X @ W.T)[:, :, None] * X[:, None, :]

    def f(w, x):
        return ((w @ x) ** 2).sum(), {"x": x}

    args = (W, Constant(Each(X)))
    fast = prepare(batched, value_and_gradient, f, backend, *args)
    for value, got in (batched(value_and_gradient, f, backend, *args), fast(*args)):
        assert_tree(got, (wanted, None))
        assert_tree(value[1], {"x": X})


def test_the_budget_of_memory_makes_chunks(monkeypatch):
    seen = []
    # two entries of three numbers and six gradients
    monkeypatch.setattr("adinterface.batching.entries.SEED_BYTES", 8 * 2 * 9)

    def f(w, x):
        seen.append(x)
        return ((w @ x) ** 2).sum()

    batched(gradient, f, AutoTorch(), W, Constant(Each(X)))
    assert len(seen) == 2
    seen.clear()
    batched(gradient, f, AutoTorch(chunk_size=4), W, Constant(Each(X)))
    assert len(seen) == 1


def test_one_evaluation_on_engines_that_vectorize():
    calls = []

    def f(w, x):
        calls.append(x)
        return (w @ x).sum()

    for backend, count in ((AutoJax(), 1), (AutoTorch(), 1), (AutoAutograd(), 4)):
        calls.clear()
        batched(gradient, f, backend, W, Constant(Each(X)))
        assert len(calls) == count


# Engines' own arrays and modules
# ------------------------------------------------------------------------------------------


def test_a_module_of_nnx_that_f_changes_is_refused():
    from flax import nnx

    dropout, x = nnx.Dropout(0.5, rngs=nnx.Rngs(0)), Constant(Each(jnp.asarray(X, "float32")))

    def f(w, dropout, x):
        return (w * dropout(x)).sum()

    w = jnp.ones(3, "float32")
    with pytest.raises(
        ConversionError,
        match=r"batched\(gradient\): f changes args\[1\].rngs.count, which would be lost",
    ):
        batched(gradient, f, AutoJax(), w, Constant(dropout), x)
    dropout.eval()
    assert_tree(
        batched(gradient, f, AutoJax(), w, Constant(dropout), x)[0], jnp.asarray(X, "float32")
    )


def square(w, x):
    return (w * x).sum() ** 2


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3).double()

    def forward(self, x):
        return self.norm(x).square().sum()


def test_statistics_in_training_mode_are_refused():
    groups = Each(torch.tensor(np.stack([X, X + 1])))
    model = Normed()
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(RuntimeError) as caught:
        batched(gradient, lambda m, x: m(x), AutoTorch(), model, Constant(groups))
    assert (
        "BatchNorm writes its statistics in training mode: module.eval()"
        in caught.value.__notes__[0]
    )
    assert all(torch.equal(a, b) for a, b in zip(before.values(), model.state_dict().values()))
    assert batched(gradient, lambda m, x: m(x), AutoTorch(), model.eval(), Constant(groups))[
        0
    ].norm.weight.shape == (2, 3)
    # One entry after another, each updates them.
    batched(gradient, lambda m, x: m(x), AutoTorch(chunk_size=1), model.train(), Constant(groups))
    assert model.norm.num_batches_tracked == 2


def test_random_numbers_are_refused_unless_told():
    def f(w, x):
        return (w * torch.nn.functional.dropout(x, 0.5)).sum()

    w, x = torch.ones(64), Constant(Each(torch.ones(8, 64)))
    with pytest.raises(RuntimeError) as caught:
        batched(gradient, f, AutoTorch(), w, x)
    assert "batched(..., randomness='different')" in caught.value.__notes__[0]
    torch.manual_seed(0)
    same = batched(gradient, f, AutoTorch(), w, x, randomness="same")[0]
    assert torch.all(same == same[0])
    for call in (
        batched,
        lambda operator, f, backend, *args, **kw: prepare(
            batched, operator, f, backend, *args, **kw
        )(*args),
    ):
        different = call(gradient, f, AutoTorch(), w, x, randomness="different")[0]
        assert not torch.all(different == different[0])
    # A loop draws anew each time.
    with pytest.raises(
        BackendError, match=r"takes one entry after another, .* or write randomness='different'"
    ):
        batched(gradient, f, AutoTorch(chunk_size=1), w, x, randomness="same")


def test_what_vmap_cannot_do_has_a_remedy():
    def f(x):
        return (x * x).sum() if x.sum() > 0 else x.sum()

    wanted = np.stack([2 * x if x.sum() > 0 else np.ones(3) for x in -X])
    for backend in (AutoTorch(), AutoJax()):
        with pytest.raises(Exception, match=r"vmap|Tracer|traced") as caught:
            batched(gradient, f, backend, Each(-X))
        assert any("chunk_size=1" in note for note in caught.value.__notes__)
    for backend in (AutoTorch(chunk_size=1), AutoJax(chunk_size=1), AutoAutograd()):
        assert_tree(batched(gradient, f, backend, Each(-X))[0], wanted)


# Errors
# ------------------------------------------------------------------------------------------------


def of_x(x):
    return (x * x).sum()


def gradients(*args):
    return batched(gradient, lambda *args: args[0].sum(), AutoTorch(), *args)


UP_OR_DOWN = Each(np.array([1.0, 2.0]))
#: A call that is refused: the class of the error, and its words.
WRONG = {
    "lengths": (lambda: gradients(Each(X), Constant(Each(Y[:3]))), TreeError,
     "...must have the same leading axis, but that of args[1] has length 3, and that of args[0] 4..."),
    "0-d": (lambda: gradients({"a": Each(np.array(1.0))}, Each(X)), TreeError, "...args[0]['a'] is 0-d and has no leading axis..."),
    "a float": (lambda: gradients(Each({"a": X, "b": 1.5})), TreeError,
     "...args[0]['b'] is the float 1.5, which has no leading axis..."),
    "none": (lambda: gradients(X), TypeError, "batched(gradient, f, backend, ...): nothing is marked with Each..."),
    "none of two": (lambda: batched(hvp, of_x, AutoTorch(), X[0], X[0]), TypeError,
     "batched(hvp, f, backend, ...): nothing is marked with Each..."),
    "nested": (lambda: gradients(Each([Each(X)])), TreeError, "...args[0][0] is an Each inside an Each..."),
    "nested direction": (lambda: batched(hvp, of_x, AutoTorch(), Each(X), Each(Each(X))), TreeError,
     "...v is an Each inside an Each..."),
    "a module": (lambda: gradients(Each(nn.Linear(2, 2))), TreeError,
     "...args[0] is an object whose code computes with one set of parameters..."),
    "nothing": (lambda: gradients(Constant(Each(X))), NotDifferentiableError, "...no argument has a gradient..."),
    "strings": (lambda: gradients(X, Constant(Each("text"))), TypeError, "...nothing is marked with Each..."),
    "buffers": (lambda: gradients(Duplicated(X), Constant(Each(X))), TypeError,
     "...has room for one gradient, not for one of each entry..."),
    "not batched": (lambda: gradient(of_x, AutoTorch(), Each(X)), TypeError,
     "gradient: Each... marks a leading axis for batched alone. Call batched(gradient, f..."),
    "itself": (lambda: batched(batched, gradient, of_x, AutoTorch(), Each(X)), TypeError, "...operator is batched itself..."),
    "order": (lambda: batched(of_x, gradient, AutoTorch(), Each(X)), TypeError,
     "batched(operator, f, backend, ...): operator must be one of..."),
    "prepared": (lambda: prepare(batched, of_x, AutoTorch(), Each(X)), TypeError,
     "prepare(batched, operator, f, backend, ...): operator must be one of..."),
    "randomness": (lambda: batched(gradient, of_x, AutoTorch(), Each(X), randomness="yes"), ValueError,
     "...randomness must be one of 'error', 'different', 'same', not 'yes'..."),
    "direction": (lambda: batched(hvp, of_x, AutoTorch(), Each(X), Each(X[:2])), TreeError,
     "...v must be a stack of shape (4, 3), not (2, 3)..."),
    "sparse": (lambda: batched(jacobian, of_x, AutoSparse(AutoTorch()), Each(X)), TypeError,
     "...AutoSparse gives results that are no arrays... Pass the backend inside it..."),
    "second axis": (lambda: batched(linearize, of_x, AutoTorch(), Each(X)).push.stacked(X), TypeError,
     "...push.stacked has no place for a second axis..."),
    "one number": (lambda: batched(derivative, lambda x: x * x, AutoTorch(), Each(X)), NotDifferentiableError,
     "...differentiates with respect to one real number..."),
    "values": (lambda: batched(value_and_gradient, lambda x: (x * x, "up" if x > 1 else "down"), AutoAutograd(), UP_OR_DOWN),
     OutputError, "...entry 1 than for entry 0..."),
    "no scalar": (lambda: batched(gradient, lambda x: x * x, AutoJax(), Each(X)), OutputError,
     "gradient: f must return a real scalar..."),
    "push of an Each": (lambda: batched(linearize, of_x, AutoTorch(), Each(X)).push(Each(X)), TreeError,
     "...tangents[0] is an Each, but push takes stacks as back does. Pass the array itself..."),
    "push of one": (lambda: batched(linearize, of_x, AutoTorch(), Each(X)).push(X[0]), TreeError,
     "...tangents[0] must be a stack of shape..."),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)


@pytest.mark.parametrize(
    "call", [batched, lambda *args, **words: prepare(batched, *args, **words)(*args[3:])]
)
def test_a_keyword_of_f_that_is_named_as_the_option_is_not_taken_from_it(call):
    def f(x, *, randomness="none"):
        assert randomness == "none"
        return (x * x).sum()

    np.testing.assert_allclose(call(gradient, f, AutoTorch(), Each(X))[0], 2 * X)
    for value in ("error", "same", "mine"):
        with pytest.raises(
            TypeError, match="f takes a keyword named randomness, as batched does"
        ) as caught:
            call(gradient, f, AutoTorch(), Each(X), randomness=value)
        assert str(caught.value).endswith(f"lambda x: f(x, randomness={value!r}).")


def test_prepared_calls_are_specialised_by_the_axis_and_can_be_sent():
    fast = prepare(batched, gradient, of_x, AutoTorch(), Each(X))
    assert_tree(fast(Each(X[:2]))[0], 2 * X[:2])
    assert fast.specializations == 2
    again = pickle.loads(pickle.dumps(fast))
    assert_tree(again(Each(X))[0], 2 * X)
    assert repr(Each(1)) == "Each(1)"
