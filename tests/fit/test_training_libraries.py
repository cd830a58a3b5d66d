"""One small model of each camp, trained for twenty steps beside its own transform.

Each has what is easily lost: statistics of a batch norm, random keys of a dropout. Ours goes
through prepared calls with one-shot ones between them, or through `Training`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import linen, nnx
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    ConversionError,
    NotDifferentiableError,
    gradient,
    prepare,
    value_and_gradient,
)
from adinterface.fit import Training, from_optax, from_torch_optim, minimize

STEPS = 20
X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y = np.random.default_rng(1).normal(size=(8, 2)).astype("float32")
KEYS = jax.random.split(jax.random.key(0), STEPS)
ways = pytest.mark.parametrize("whole", [False, True], ids=["operators", "Training"])


def sgd():
    return optax.sgd(0.1, momentum=0.9)


def trained(loss, model, state, data, *, whole):
    """Losses, the model and its state after the steps.

    A state that the loss returns goes into the next call.
    """
    optimiser, losses = from_optax(sgd()), []
    training = Training(loss, AutoJax(), optimiser, model) if whole else None
    moments, fast = optimiser.init(model), None
    for n in range(STEPS):
        given = (*data(n), *([] if state is None else [state]))
        if training is not None:
            value, model = training(*given), training.model
        else:
            constants = [*map(Constant, given)]
            if fast is None:
                fast = prepare(value_and_gradient, loss, AutoJax(), model, *constants)
            value, slope = (
                fast(model, *constants)
                if n % 5
                else value_and_gradient(loss, AutoJax(), model, *constants)
            )
            assert slope[1:] == (None,) * len(given)
            model, moments = optimiser.step(slope, moments, model)
        if state is not None:
            value, state = value
        losses.append(float(value))
    return losses, model, state


def assert_alike(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
        assert len(ours) == len(theirs) > 0
        for a, b in zip(ours, theirs):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=2e-5)
    assert found[0][-1] < found[0][0]


# torch.nn
# ------------------------------------------------------------------------------------------------


def torch_net():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4, 2)
    )


def torch_loss(model, x, y):
    return ((model(x) - y) ** 2).mean()


def torch_own(model, loss, make, *data, **options):
    optimizer, losses = make(model.parameters(), **options), []
    for n in range(STEPS):
        torch.manual_seed(n)
        optimizer.zero_grad()
        value = loss(model, *data)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


@pytest.mark.parametrize("make", [torch.optim.Adam, torch.optim.SGD])
@ways
def test_torch(make, whole):
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    ours, theirs, losses = torch_net(), torch_net(), []
    optimiser = from_torch_optim(make, ours, lr=0.05)
    training = Training(torch_loss, AutoTorch(), optimiser)
    fast = prepare(
        value_and_gradient, torch_loss, AutoTorch(), torch_net(), Constant(x), Constant(y)
    )
    for n in range(STEPS):
        torch.manual_seed(n)
        if whole:
            value = training(x, y)
        else:
            constants = Constant(x), Constant(y)
            value, slope = (
                fast(ours, *constants)
                if n % 2
                else value_and_gradient(torch_loss, AutoTorch(), ours, *constants)
            )
            assert type(slope[0]) is nn.Sequential
            assert optimiser.step(slope) is ours
        losses.append(value.item())
    assert losses == torch_own(theirs, torch_loss, make, x, y, lr=0.05)
    for a, b in zip(ours.state_dict().values(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    assert ours[1].num_batches_tracked == STEPS


@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoTorch(mode="forward")], ids=["reverse", "forward"]
)
@pytest.mark.parametrize("place", [lambda m: m, lambda m: {"net": [m]}], ids=["module", "tree"])
def test_solvers_refuse_a_module_that_changes(place, backend):
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    network = torch_net()

    def loss(model, x, y):
        return torch_loss(model["net"][0] if isinstance(model, dict) else model, x, y)

    # torch's own, with a note
    refusal = ConversionError if backend == AutoTorch() else RuntimeError
    with pytest.raises(refusal, match=r"(?s)BatchNorm.*module\.eval\(\)"):
        minimize(loss, backend, place(network), x, y)
    assert network[1].num_batches_tracked == 0
    network.eval()
    if backend == AutoTorch():
        assert minimize(loss, backend, place(network), x, y, options={"maxiter": 2}).fun < loss(
            place(network), x, y
        )


PLACES = torch.tensor([[0, 2], [2, 5]])


def embedding_loss(model, places):
    return (model(places) ** 2).sum()


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoTorch(create_graph=True), AutoFiniteDifferences()]
)
def test_sparse_embeddings_have_dense_gradients(backend, kind):
    torch.manual_seed(0)
    model = kind(6, 2, sparse=True, dtype=torch.float64)
    embedding_loss(model, PLACES).backward()
    expected = model.weight.grad.to_dense()
    for call in (gradient, prepare(gradient, embedding_loss, backend, model, Constant(PLACES))):
        arguments = (embedding_loss, backend) if call is gradient else ()
        found, _ = call(*arguments, model, Constant(PLACES))
        assert found.weight.layout is torch.strided
        torch.testing.assert_close(found.weight.detach(), expected, rtol=1e-6, atol=1e-6)


def test_lazy_modules_are_taken_once_they_have_seen_an_example():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())
    x = torch.from_numpy(X)
    for taken in (
        lambda: gradient(lambda m, x: m(x).sum(), AutoTorch(), model, Constant(x)),
        lambda: from_torch_optim(torch.optim.SGD, model, lr=0.1),
    ):
        with pytest.raises(
            ConversionError, match=r"^A lazy module has parameters.*Call it once with an example"
        ):
            taken()
    model(x)
    found, _ = gradient(lambda m, x: (m(x) ** 2).sum(), AutoTorch(), model, Constant(x))
    assert type(found) is nn.Sequential
    assert found[0].weight.shape == (4, 3)


# Flax
# ------------------------------------------------------------------------------------------------


class NnxNet(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.first = nnx.Linear(3, 4, use_bias=False, rngs=rngs)
        self.norm, self.dropout = nnx.BatchNorm(4, rngs=rngs), nnx.Dropout(0.3, rngs=rngs)
        self.last = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.last(self.dropout(jnp.tanh(self.norm(self.first(x)))))


def nnx_loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def nnx_state(model):
    return nnx.state(model, nnx.Not(nnx.RngKey))


@pytest.fixture(scope="module")
def nnx_own():
    model, losses = NnxNet(), []
    optimizer = nnx.Optimizer(model, sgd(), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer):
        value, slope = nnx.value_and_grad(nnx_loss)(model, X, Y)
        optimizer.update(model, slope)
        return value

    for _ in range(STEPS):
        losses.append(float(step(model, optimizer)))
    return losses, nnx_state(model)


@ways
def test_flax_nnx(whole, nnx_own):
    losses, model, _ = trained(nnx_loss, NnxNet(), None, lambda n: (X, Y), whole=whole)
    assert type(model) is NnxNet
    assert model.dropout.rngs.count[...] == STEPS
    assert_alike((losses, nnx_state(model)), nnx_own)


def test_solvers_refuse_a_loss_that_changes_its_model():
    with pytest.raises(
        ConversionError,
        match=r"^solvers: f changes args\[0\]\.\S+, which would be lost.*evaluation mode",
    ):
        minimize(nnx_loss, AutoJax(), NnxNet(), X, Y)
    model = NnxNet()
    model.eval()
    assert minimize(nnx_loss, AutoJax(), model, X, Y, options={"maxiter": 2}).fun < float(
        nnx_loss(model, X, Y)
    )


class LinenNet(linen.Module):
    @linen.compact
    def __call__(self, x, train=True):
        x = jnp.tanh(
            linen.BatchNorm(use_running_average=not train)(linen.Dense(4, use_bias=False)(x))
        )
        return linen.Dense(2)(linen.Dropout(0.3, deterministic=not train)(x))


LINEN = LinenNet()


def test_a_bound_module_of_flax_is_refused_in_words():
    bound = LINEN.bind(LINEN.init(jax.random.key(0), X, train=False))
    with pytest.raises(
        NotDifferentiableError,
        match=r"bound\.unbind\(\)\. Differentiate a function of the variables",
    ):
        gradient(lambda m, x: jnp.sum(m(x, train=False)), AutoJax(), bound, Constant(X))


# Equinox
# ------------------------------------------------------------------------------------------------


class EquinoxNet(eqx.Module):
    first: eqx.nn.Linear
    norm: eqx.nn.BatchNorm
    dropout: eqx.nn.Dropout
    last: eqx.nn.Linear
    scale: float

    def __init__(self):
        keys = jax.random.split(jax.random.key(0))
        self.first, self.last = (
            eqx.nn.Linear(3, 4, use_bias=False, key=keys[0]),
            eqx.nn.Linear(4, 2, key=keys[1]),
        )
        self.norm, self.dropout = (
            eqx.nn.BatchNorm(4, axis_name="batch", mode="batch"),
            eqx.nn.Dropout(0.3),
        )
        self.scale = 2.0

    def __call__(self, x, state, key):
        x, state = self.norm(self.first(x), state)
        return self.scale * self.last(self.dropout(jnp.tanh(x), key=key)), state


def equinox_loss(model, x, y, key, state):
    keys = jax.random.split(key, len(x))
    found, state = jax.vmap(model, axis_name="batch", in_axes=(0, None, 0), out_axes=(0, None))(
        x, state, keys
    )
    return jnp.mean((found - y) ** 2), state


@pytest.fixture(scope="module")
def equinox_own():
    start, state = eqx.nn.make_with_state(EquinoxNet)()
    optimizer = sgd()

    @eqx.filter_jit
    def step(model, moments, key, state):
        (value, state), slope = eqx.filter_value_and_grad(equinox_loss, has_aux=True)(
            model, X, Y, key, state
        )
        updates, moments = optimizer.update(slope, moments)
        return eqx.apply_updates(model, updates), moments, state, value

    model, moments, losses, last = (
        start,
        optimizer.init(eqx.filter(start, eqx.is_inexact_array)),
        [],
        state,
    )
    for key in KEYS:
        model, moments, last, value = step(model, moments, key, last)
        losses.append(float(value))
    return start, state, (losses, eqx.filter(model, eqx.is_array), last)


@ways
def test_equinox(whole, equinox_own):
    start, state, expected = equinox_own
    losses, model, state = trained(
        equinox_loss, start, state, lambda n: (X, Y, KEYS[n]), whole=whole
    )
    assert (type(model), model.scale, model.dropout.p) == (EquinoxNet, 2.0, 0.3)
    assert type(state) is eqx.nn.State
    assert_alike((losses, eqx.filter(model, eqx.is_array), state), expected)
