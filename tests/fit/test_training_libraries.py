"""One small model of each camp, trained for twenty steps beside the camp's own transform: losses, model and state agree.

Each has what is easily lost: statistics of a batch norm, random keys of a dropout. Ours goes through prepared calls with
one-shot ones between them, or through `Training`.
"""

import importlib.util
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import linen, nnx
from flax.training import train_state
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    ConversionError,
    NotDifferentiableError,
    gradient,
    jacobian,
    prepare,
    pushforward,
    value_and_gradient,
)
from adinterface.fit import Training, from_optax, from_torch_optim, minimize

pytestmark = pytest.mark.sweep  # test_fit.py runs with every change

STEPS = 20
X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y = np.random.default_rng(1).normal(size=(8, 2)).astype("float32")
KEYS = jax.random.split(jax.random.key(0), STEPS)
ways = pytest.mark.parametrize("whole", [False, True], ids=["operators", "Training"])


def sgd():
    return optax.sgd(0.1, momentum=0.9)


def trained(loss, model, state, data, *, whole):
    """Losses, the model and its state after the steps; a state that the loss returns goes into the next call."""
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
            value, slope = fast(model, *constants) if n % 5 else value_and_gradient(loss, AutoJax(), model, *constants)
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


# torch.nn ---------------------------------------------------------------------------------------------------------------


def torch_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4, 2))


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
    fast = prepare(value_and_gradient, torch_loss, AutoTorch(), torch_net(), Constant(x), Constant(y))
    for n in range(STEPS):
        torch.manual_seed(n)
        if whole:
            value = training(x, y)
        else:
            constants = Constant(x), Constant(y)
            value, slope = fast(ours, *constants) if n % 2 else value_and_gradient(torch_loss, AutoTorch(), ours, *constants)
            assert type(slope[0]) is nn.Sequential
            assert optimiser.step(slope) is ours
        losses.append(value.item())
    assert losses == torch_own(theirs, torch_loss, make, x, y, lr=0.05)
    for a, b in zip(ours.state_dict().values(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    assert ours[1].num_batches_tracked == STEPS


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(mode="forward")], ids=["reverse", "forward"])
@pytest.mark.parametrize("place", [lambda m: m, lambda m: {"net": [m]}], ids=["module", "tree"])
def test_solvers_refuse_a_module_that_changes(place, backend):
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    network = torch_net()

    def loss(model, x, y):
        return torch_loss(model["net"][0] if isinstance(model, dict) else model, x, y)

    refusal = ConversionError if backend == AutoTorch() else RuntimeError  # torch's own, with a note
    with pytest.raises(refusal, match=r"(?s)BatchNorm.*module\.eval\(\)"):
        minimize(loss, backend, place(network), x, y)
    assert network[1].num_batches_tracked == 0
    network.eval()
    if backend == AutoTorch():
        assert minimize(loss, backend, place(network), x, y, options={"maxiter": 2}).fun < loss(place(network), x, y)


PLACES = torch.tensor([[0, 2], [2, 5]])


def embedding_loss(model, places):
    return (model(places) ** 2).sum()


@pytest.mark.parametrize("kind", [nn.Embedding, nn.EmbeddingBag])
@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(create_graph=True), AutoFiniteDifferences()])
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


def test_sparse_embeddings_in_other_operators_and_with_sparse_optimisers():
    torch.manual_seed(0)
    model, theirs = nn.Embedding(6, 2, sparse=True), nn.Embedding(6, 2, sparse=True)
    theirs.load_state_dict(model.state_dict())
    training = Training(embedding_loss, AutoTorch(), from_torch_optim(torch.optim.SparseAdam, model, lr=0.05))
    losses = [training(PLACES).item() for _ in range(STEPS)]
    assert losses == torch_own(theirs, embedding_loss, torch.optim.SparseAdam, PLACES, lr=0.05)
    with pytest.raises(NotImplementedError) as caught:
        jacobian(lambda m, at: m(at), AutoTorch(), model, Constant(PLACES))
    assert any("sparse=False" in note and "AutoTorch(chunk_size=1)" in note for note in caught.value.__notes__)
    rows, _ = jacobian(lambda m, at: m(at), AutoTorch(chunk_size=1), model, Constant(PLACES))
    assert rows.weight.sum() == PLACES.numel() * 2


def test_lazy_modules_are_taken_once_they_have_seen_an_example():
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d())
    x = torch.from_numpy(X)
    for taken in (
        lambda: gradient(lambda m, x: m(x).sum(), AutoTorch(), model, Constant(x)),
        lambda: from_torch_optim(torch.optim.SGD, model, lr=0.1),
    ):
        with pytest.raises(ConversionError, match=r"^A lazy module has parameters.*Call it once with an example"):
            taken()
    model(x)
    found, _ = gradient(lambda m, x: (m(x) ** 2).sum(), AutoTorch(), model, Constant(x))
    assert type(found) is nn.Sequential
    assert found[0].weight.shape == (4, 3)


def test_a_module_may_be_compiled_in_place():
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    model, plain = torch_net().eval(), torch_net().eval()
    model.compile(backend="eager")
    for ours, theirs in zip(
        gradient(torch_loss, AutoTorch(), model, Constant(x), Constant(y))[0].parameters(),
        gradient(torch_loss, AutoTorch(), plain, Constant(x), Constant(y))[0].parameters(),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs)


class Remade(nn.Linear):
    """A module that pickle and deepcopy make anew, as Keras does it: around parameters of its own."""

    def __reduce__(self):
        return Remade, (self.in_features, self.out_features)


def test_a_module_that_copies_itself_around_parameters_of_its_own():
    """Neither the gradient nor a private copy is made that way."""
    model, x = Remade(3, 2), torch.from_numpy(X)
    for backend in (AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()):
        found, _ = gradient(lambda m, x: m(x).sum(), backend, model, Constant(x))
        assert type(found) is Remade
        torch.testing.assert_close(found.bias.data, torch.full((2,), 8.0), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(found.weight.data, x.sum(0).expand(2, 3), rtol=1e-3, atol=1e-3)


# Flax -------------------------------------------------------------------------------------------------------------------


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


@ways
def test_flax_nnx_beside_a_constant(whole, nnx_own):
    """The state of the module is written, and the Constant is neither moved nor decayed."""
    model = {"net": NnxNet(), "factor": Constant(1.0)}
    f = lambda m, x, y: m["factor"] * nnx_loss(m["net"], x, y)
    losses, model, _ = trained(f, model, None, lambda n: (X, Y), whole=whole)
    assert model["factor"].value == 1.0
    assert_alike((losses, nnx_state(model["net"])), nnx_own)


def test_flax_nnx_with_its_own_optimizer(nnx_own):
    model = NnxNet()
    optimizer = nnx.Optimizer(model, sgd(), wrt=nnx.Param)
    call, losses = prepare(value_and_gradient, nnx_loss, AutoJax(), model, Constant(X), Constant(Y)), []
    for _ in range(STEPS):
        value, slope = call(model, Constant(X), Constant(Y))
        optimizer.update(model, nnx.state(slope[0], nnx.Param))
        losses.append(float(value))
    assert_alike((losses, nnx_state(model)), nnx_own)


def test_flax_nnx_with_an_optimiser_of_torch(nnx_own):
    """The state of the model goes through the steps of an optimiser that holds it."""
    optimiser = from_torch_optim(torch.optim.SGD, NnxNet(), lr=0.1, momentum=0.9)
    training = Training(nnx_loss, AutoJax(), optimiser)
    losses = [float(training(X, Y)) for _ in range(STEPS)]
    assert optimiser.model.dropout.rngs.count[...] == STEPS
    assert_alike((losses, nnx_state(training.model)), nnx_own)


def test_what_a_loss_changes_in_the_data_of_a_training_is_written_too():
    """A teacher that is not trained, but draws a mask in each step."""
    teacher, student = NnxNet(), {"w": jnp.zeros((3, 2))}
    training = Training(lambda m, t, x: jnp.mean((x @ m["w"] - t(x)) ** 2), AutoJax(), from_optax(sgd()), student)
    for _ in range(3):
        training(teacher, jnp.asarray(X))
    assert teacher.dropout.rngs.count[...] == 3
    assert np.any(np.asarray(teacher.norm.mean[...]) != 0)


def test_solvers_refuse_a_loss_that_changes_its_model():
    with pytest.raises(ConversionError, match=r"^solvers: f changes args\[0\]\.\S+, which would be lost.*evaluation mode"):
        minimize(nnx_loss, AutoJax(), NnxNet(), X, Y)
    model = NnxNet()
    model.eval()
    assert minimize(nnx_loss, AutoJax(), model, X, Y, options={"maxiter": 2}).fun < float(nnx_loss(model, X, Y))


class LinenNet(linen.Module):
    @linen.compact
    def __call__(self, x, train=True):
        x = jnp.tanh(linen.BatchNorm(use_running_average=not train)(linen.Dense(4, use_bias=False)(x)))
        return linen.Dense(2)(linen.Dropout(0.3, deterministic=not train)(x))


LINEN = LinenNet()


def linen_loss(params, x, y, key, stats):
    variables = {"params": params, "batch_stats": stats}
    found, changed = LINEN.apply(variables, x, rngs={"dropout": key}, mutable=["batch_stats"])
    return jnp.mean((found - y) ** 2), changed["batch_stats"]


class State(train_state.TrainState):
    stats: object


@pytest.fixture(scope="module")
def linen_own():
    variables = LINEN.init(jax.random.key(0), X, train=False)
    start = State.create(apply_fn=LINEN.apply, params=variables["params"], tx=sgd(), stats=variables["batch_stats"])

    @jax.jit
    def step(state, key):
        (value, stats), slope = jax.value_and_grad(linen_loss, has_aux=True)(state.params, X, Y, key, state.stats)
        return state.apply_gradients(grads=slope, stats=stats), value

    state, losses = start, []
    for key in KEYS:
        state, value = step(state, key)
        losses.append(float(value))
    return start, (losses, state.params, state.stats)


@ways
def test_flax_linen(whole, linen_own):
    start, expected = linen_own
    assert_alike(trained(linen_loss, start.params, start.stats, lambda n: (X, Y, KEYS[n]), whole=whole), expected)


def test_flax_linen_in_a_train_state(linen_own):
    state, expected = linen_own
    call, losses = None, []
    for key in KEYS:
        constants = [Constant(part) for part in (X, Y, key, state.stats)]
        call = call or prepare(value_and_gradient, linen_loss, AutoJax(), state.params, *constants)
        (value, stats), slope = call(state.params, *constants)
        state = state.apply_gradients(grads=slope[0], stats=stats)
        losses.append(float(value))
    assert call.specializations <= 2  # JAX sorts the keys of a dict after the first step
    assert_alike((losses, state.params, state.stats), expected)
    whole, *_ = gradient(lambda s, *data: linen_loss(s.params, *data)[0], AutoJax(), state, *constants)
    assert type(whole) is State
    assert jax.tree.structure(whole.params) == jax.tree.structure(state.params)


def test_a_bound_module_of_flax_is_refused_in_words():
    bound = LINEN.bind(LINEN.init(jax.random.key(0), X, train=False))
    with pytest.raises(NotDifferentiableError, match=r"bound\.unbind\(\)\. Differentiate a function of the variables"):
        gradient(lambda m, x: jnp.sum(m(x, train=False)), AutoJax(), bound, Constant(X))


# Equinox ----------------------------------------------------------------------------------------------------------------


class EquinoxNet(eqx.Module):
    first: eqx.nn.Linear
    norm: eqx.nn.BatchNorm
    dropout: eqx.nn.Dropout
    last: eqx.nn.Linear
    scale: float

    def __init__(self):
        keys = jax.random.split(jax.random.key(0))
        self.first, self.last = eqx.nn.Linear(3, 4, use_bias=False, key=keys[0]), eqx.nn.Linear(4, 2, key=keys[1])
        self.norm, self.dropout = eqx.nn.BatchNorm(4, axis_name="batch", mode="batch"), eqx.nn.Dropout(0.3)
        self.scale = 2.0

    def __call__(self, x, state, key):
        x, state = self.norm(self.first(x), state)
        return self.scale * self.last(self.dropout(jnp.tanh(x), key=key)), state


def equinox_loss(model, x, y, key, state):
    keys = jax.random.split(key, len(x))
    found, state = jax.vmap(model, axis_name="batch", in_axes=(0, None, 0), out_axes=(0, None))(x, state, keys)
    return jnp.mean((found - y) ** 2), state


@pytest.fixture(scope="module")
def equinox_own():
    start, state = eqx.nn.make_with_state(EquinoxNet)()
    optimizer = sgd()

    @eqx.filter_jit
    def step(model, moments, key, state):
        (value, state), slope = eqx.filter_value_and_grad(equinox_loss, has_aux=True)(model, X, Y, key, state)
        updates, moments = optimizer.update(slope, moments)
        return eqx.apply_updates(model, updates), moments, state, value

    model, moments, losses, last = start, optimizer.init(eqx.filter(start, eqx.is_inexact_array)), [], state
    for key in KEYS:
        model, moments, last, value = step(model, moments, key, last)
        losses.append(float(value))
    return start, state, (losses, eqx.filter(model, eqx.is_array), last)


@ways
def test_equinox(whole, equinox_own):
    start, state, expected = equinox_own
    losses, model, state = trained(equinox_loss, start, state, lambda n: (X, Y, KEYS[n]), whole=whole)
    assert (type(model), model.scale, model.dropout.p) == (EquinoxNet, 2.0, 0.3)
    assert type(state) is eqx.nn.State
    assert_alike((losses, eqx.filter(model, eqx.is_array), state), expected)


def test_equinox_with_optax_by_its_own_recipe(equinox_own):
    model, state, expected = equinox_own
    optimizer, losses = sgd(), []
    moments = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    assert jax.tree.structure(moments) == jax.tree.structure(from_optax(optimizer).init(model))
    data = lambda key, state: [Constant(part) for part in (X, Y, key, state)]
    call = prepare(value_and_gradient, equinox_loss, AutoJax(), model, *data(KEYS[0], state))
    for key in KEYS:
        (value, state), slope = call(model, *data(key, state))
        updates, moments = optimizer.update(slope[0], moments)
        model = eqx.apply_updates(model, updates)
        losses.append(float(value))
    assert_alike((losses, eqx.filter(model, eqx.is_array), state), expected)


# Keras ------------------------------------------------------------------------------------------------------------------

#: The same on both of Keras's backends; each program has one.
KERAS = """
import os, sys
os.environ["KERAS_BACKEND"] = sys.argv[1]
import keras, numpy as np
from adinterface import *
from adinterface.fit import *

x, y = (np.random.default_rng(n).normal(size=(8, size)).astype("float32") for n, size in ((0, 3), (1, 2)))
keras.utils.set_random_seed(0)
model = keras.Sequential([
    keras.layers.Input((3,)), keras.layers.Dense(4, use_bias=False), keras.layers.BatchNormalization(),
    keras.layers.Activation("tanh"), keras.layers.Dropout(0.3), keras.layers.Dense(2),
])
trainable, others = ([v.value for v in vs] for vs in (model.trainable_variables, model.non_trainable_variables))

def loss(trainable, x, y, others):
    found, others = model.stateless_call(trainable, others, x, training=True)
    return ((found - y) ** 2).mean(), others

if sys.argv[1] == "jax":
    import jax, jax.numpy as jnp, optax as optax
    x, y, backend, optimizer = jnp.asarray(x), jnp.asarray(y), AutoJax(), optax.sgd(0.1, momentum=0.9)
    optimiser = from_optax(optimizer)
    own = jax.jit(jax.value_and_grad(loss, has_aux=True))
    theirs, state, moments, expected = trainable, others, optimizer.init(trainable), []
    for n in range(20):
        (value, state), slope = own(theirs, x, y, state)
        updates, moments = optimizer.update(slope, moments)
        theirs = optax.apply_updates(theirs, updates)
        expected.append(float(value))
else:
    import torch
    trainable = [v.detach() for v in trainable]
    x, y, backend = torch.from_numpy(x), torch.from_numpy(y), AutoTorch()
    theirs, state, expected = [torch.nn.Parameter(v.clone()) for v in trainable], [v.clone() for v in others], []
    optimizer = torch.optim.SGD(theirs, lr=0.1, momentum=0.9)
    optimiser = from_torch_optim(torch.optim.SGD, trainable, lr=0.1, momentum=0.9)
    for n in range(20):
        torch.manual_seed(n)  # from which Keras draws its masks here
        optimizer.zero_grad()
        value, state = loss(theirs, x, y, state)
        value.backward()
        optimizer.step()
        state = [v.detach() for v in state]
        expected.append(value.item())

training = Training(loss, backend, optimiser, *([trainable] if backend == AutoJax() else []))
ours, found = others, []
for n in range(20):
    if backend == AutoTorch():
        torch.manual_seed(n)
    value, ours = training(x, y, ours)
    found.append(float(value))
np.testing.assert_allclose(found, expected, rtol=1e-4)
for a, b in zip((*training.model, *ours), (*theirs, *state), strict=True):
    np.testing.assert_allclose(np.asarray(a), b.detach() if hasattr(b, "detach") else b, rtol=1e-3, atol=1e-5)
assert found[-1] < found[0]

fast = prepare(value_and_gradient, loss, backend, trainable, Constant(x), Constant(y), Constant(others))
results = []
for call in (fast, lambda *args: value_and_gradient(loss, backend, *args)):
    keras.utils.set_random_seed(0)
    (value, state), (slope, *_) = call(trainable, Constant(x), Constant(y), Constant(others))
    results.append([value, *slope, *state])
for a, b in zip(*results, strict=True):
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)

for bare in (lambda: gradient(lambda m, x: m(x).mean(), backend, model, Constant(x)),
             lambda: gradient(lambda m, x: m["net"](x).mean(), AutoFiniteDifferences(), {"net": model}, Constant(x))):
    try:
        bare()
    except (ConversionError, NotDifferentiableError) as error:
        assert "calls model.stateless_call(trainable, non_trainable, x)" in str(error), error
    else:
        raise AssertionError("a bare model was taken")
if sys.argv[1] == "jax":
    try:
        gradient(lambda v: (v.value**2).sum(), backend, model.trainable_variables[0])
    except NotDifferentiableError as error:
        assert "Pass the value of a Keras variable, variable.value." in str(error), error
print("done")
"""


@pytest.mark.sweep  # docs/models.md trains a model of Keras, too
@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="Keras is not installed")
@pytest.mark.parametrize("engine", ["jax", "torch"])
def test_keras(engine, tmp_path):
    script = tmp_path / "keras_camp.py"
    script.write_text(KERAS)
    found = subprocess.run([sys.executable, str(script), engine], capture_output=True, text=True, timeout=600)
    assert (found.returncode, found.stdout.strip()) == (0, "done"), found.stderr


# Functions of JAX -------------------------------------------------------------------------------------------------------


@pytest.mark.sweep  # functions of dicts, as those of Flax
@ways
def test_haiku(whole):
    hk = pytest.importorskip("haiku")

    def forward(x):
        x = jnp.tanh(hk.BatchNorm(True, True, 0.9)(hk.Linear(4, with_bias=False)(x), True))
        return hk.Linear(2)(hk.dropout(hk.next_rng_key(), 0.3, x))

    net = hk.transform_with_state(forward)
    start, state = net.init(jax.random.key(0), X)

    def loss(params, x, y, key, state):
        found, state = net.apply(params, state, key, x)
        return jnp.mean((found - y) ** 2), state

    optimizer, own = sgd(), jax.jit(jax.value_and_grad(loss, has_aux=True))
    params, moments, last, losses = start, optimizer.init(start), state, []
    for key in KEYS:
        (value, last), slope = own(params, X, Y, key, last)
        updates, moments = optimizer.update(slope, moments)
        params = optax.apply_updates(params, updates)
        losses.append(float(value))
    assert_alike(trained(loss, start, state, lambda n: (X, Y, KEYS[n]), whole=whole), (losses, params, last))


@pytest.mark.sweep  # docs/models.md has the same model
@ways
def test_numpyro(whole):
    """The potential of a model is a function of a dict: a mode by descent, as any other loss."""
    numpyro = pytest.importorskip("numpyro")
    from numpyro import distributions

    def model(x, y):
        weights = numpyro.sample("weights", distributions.Normal(jnp.zeros(3), 1.0).to_event(1))
        scale = numpyro.sample("scale", distributions.HalfNormal(1.0))
        numpyro.sample("y", distributions.Normal(x @ weights, scale), obs=y)

    info = numpyro.infer.util.initialize_model(jax.random.key(0), model, model_args=(X, Y[:, 0]))
    start, potential = info.param_info.z, info.potential_fn
    for call in (gradient(potential, AutoJax(), start), prepare(gradient, potential, AutoJax(), start)(start)):
        for name, expected in jax.grad(potential)(start).items():
            np.testing.assert_allclose(call[0][name], expected, rtol=1e-5)
    optimiser = from_optax(optax.adam(0.1))
    params, state, own = start, optax.adam(0.1).init(start), jax.jit(jax.value_and_grad(potential))
    training, moments = Training(potential, AutoJax(), optimiser, start), optimiser.init(start)
    ours = start
    for _ in range(STEPS):
        expected, slope = own(params)
        updates, state = optax.adam(0.1).update(slope, state)
        params = optax.apply_updates(params, updates)
        if whole:
            value, ours = training(), training.model
        else:
            value, slope = value_and_gradient(potential, AutoJax(), ours)
            ours, moments = optimiser.step(slope, moments, ours)
        np.testing.assert_allclose(value, expected, rtol=1e-4)
    for name, expected in params.items():
        np.testing.assert_allclose(ours[name], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.sweep  # seconds of compiling
def test_diffrax_and_optimistix():
    """A rate is fitted through a solver of differential equations, in reverse and forward; and a root is differentiated."""
    diffrax, optimistix = pytest.importorskip("diffrax"), pytest.importorskip("optimistix")
    times = jnp.linspace(0.0, 1.0, 5)

    def solve(p, adjoint):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, rate: -rate * y), diffrax.Euler(), 0.0, 1.0, 0.25, p["start"], args=p["rate"],
            saveat=diffrax.SaveAt(ts=times), adjoint=adjoint,
        ).ys  # fmt: skip

    def loss(p):
        return jnp.mean((solve(p, diffrax.RecursiveCheckpointAdjoint()) - 2.0 * jnp.exp(-0.7 * times)) ** 2)

    start = {"start": jnp.asarray(1.5), "rate": jnp.asarray(0.4)}
    optimizer, own = sgd(), jax.jit(jax.value_and_grad(loss))
    params, moments, losses = start, optimizer.init(start), []
    for _ in range(STEPS):
        value, slope = own(params)
        updates, moments = optimizer.update(slope, moments)
        params = optax.apply_updates(params, updates)
        losses.append(float(value))
    assert_alike(trained(loss, start, None, lambda n: (), whole=True)[:2], (losses, params))
    _, forward = pushforward(solve, AutoJax(), (start, Constant(diffrax.ForwardMode())), (start, None))
    np.testing.assert_allclose(forward[0], start["start"], rtol=1e-5)
    with pytest.raises(TypeError, match="forward-mode") as caught:
        jacobian(solve, AutoJax(mode="forward"), start, Constant(diffrax.RecursiveCheckpointAdjoint()))
    assert any("adjoint=diffrax.ForwardMode()" in note for note in caught.value.__notes__)

    def root(a):
        return optimistix.root_find(lambda y, a: y * y - a, optimistix.Newton(1e-6, 1e-6), jnp.asarray(1.0), args=a).value

    for call in (gradient(root, AutoJax(), 2.0), prepare(gradient, root, AutoJax(), 2.0)(2.0)):
        assert call[0] == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-5)
