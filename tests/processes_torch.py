"""What a process of a group tests of torch's wrappers and tensors beside the set of the conformance
package.
"""

import copy
import traceback

import pytest
import torch
from adinterface_studies.distributed import torch_processes as yardstick
from adinterface_studies.distributed.checks import outcomes
from adinterface_torch.distributed import DTENSORS_ARE_RIGHT
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Duplicated,
    Each,
    batched,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    tree,
    value_and_gradient,
)
from adinterface.fit import Training, from_torch_optim, update

BACKEND = AutoTorch()


def loss(model, x, y):
    return ((model(x) - y) ** 2).mean()


class Here:
    """What the tests of a process have in common."""

    def __init__(self):
        self.rank, self.count = distributed.get_rank(), distributed.get_world_size()
        self.mesh = init_device_mesh("cpu", (self.count,))
        self.whole = tuple(map(Constant, yardstick._data()))
        self.mine = tuple(map(Constant, yardstick._mine()))

    def model(self):
        return yardstick._model()

    def wrapped(self, **options):
        return DistributedDataParallel(self.model(), **options)

    def sharded(self, **options):
        model = self.model()
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=self.mesh, **options)
        return fully_shard(model, mesh=self.mesh, **options)

    def expected(self, factor=1.0):
        model = self.model()
        (factor * loss(model, *[x.value for x in self.whole])).backward()
        return [p.grad for p in model.parameters()]


def parts(model):
    return [p.full_tensor() if isinstance(p, DTensor) else p.detach() for p in model.parameters()]


def close(found, expected, tolerance=1e-12):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


TESTS = {}


def test(function):
    TESTS[function.__name__] = function
    return function


# DistributedDataParallel
# ----------------------------------------------------------------------------------------------


@test
def what_stood_in_grad_stands_there_again(here):
    for options in ({}, {"gradient_as_bucket_view": True}):
        wrapped = here.wrapped(**options)
        loss(wrapped, *[x.value for x in here.mine]).backward()
        before = [p.grad for p in wrapped.parameters()]
        numbers = [grad.clone() for grad in before]
        close(parts(gradient(loss, BACKEND, wrapped, *here.mine)[0]), here.expected())
        # A wrapper whose `.grad` are views of its buckets gives new views of new buckets in its
        # second forward pass.
        assert options or all(p.grad is grad for p, grad in zip(wrapped.parameters(), before))
        close([p.grad for p in wrapped.parameters()], numbers, 0)


@test
def data_beside_a_wrapper_has_the_gradient_of_this_process(here):
    wrapped, (x, y) = here.wrapped(), here.mine
    model, of_x, none = gradient(loss, BACKEND, wrapped, x.value, y)
    assert none is None
    close(parts(model), here.expected())
    close(of_x, gradient(lambda x, y: loss(here.model(), x, y), BACKEND, x.value, y)[0])
    close(gradient(lambda x, y: loss(wrapped, x, y), BACKEND, x.value, y)[0], of_x)


@test
def inside_no_sync_gradients_are_of_this_process_and_add_up(here):
    wrapped, (x, y) = here.wrapped(), here.mine
    local = gradient(loss, BACKEND, here.model(), x, y)[0]
    with wrapped.no_sync():
        close(parts(gradient(loss, BACKEND, wrapped, x, y)[0]), parts(local))
        buffered = Duplicated(wrapped, accumulate=True)
        for half in (slice(0, 2), slice(2, 4)):
            gradient(loss, BACKEND, buffered, Constant(x.value[half]), Constant(y.value[half]))
    for part in buffered.gradient.parameters():
        distributed.all_reduce(part)
        part /= 2 * here.count
    close(parts(buffered.gradient), here.expected())


@test
def a_wrapper_with_frozen_parameters_and_a_batch_norm(here):
    def make():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).double()
        model[0].bias.requires_grad_(False)
        return DistributedDataParallel(model)

    by_hand, ours = make(), make()
    loss(by_hand, *[x.value for x in here.mine]).backward()
    found, *_ = gradient(loss, BACKEND, ours, *here.mine)
    expected = [torch.zeros_like(p) if p.grad is None else p.grad for p in by_hand.parameters()]
    close(parts(found), expected)
    close([*ours.buffers()], [*by_hand.buffers()])
    assert ours.module[1].num_batches_tracked == 1


@test
def compiled_wrappers_and_wrapped_compiled_modules(here):
    whole, inside = torch.compile(here.wrapped(), backend="aot_eager"), here.model()
    inside.compile(backend="aot_eager")
    for model in (whole, DistributedDataParallel(inside)):
        fast = prepare(value_and_gradient, loss, BACKEND, model, *here.mine)
        for found in (
            gradient(loss, BACKEND, model, *here.mine),
            fast(model, *here.mine)[1],
            fast(model, *here.mine)[1],
        ):
            close(parts(found[0]), here.expected())
        assert all(p.grad is None for p in model.parameters())
    other = DistributedDataParallel(torch.compile(here.model(), backend="aot_eager"))
    with pytest.raises(
        TypeError, match=r"OptimizedModule wraps a .* Pass the inner module, model\._orig_mod"
    ):
        gradient(loss, BACKEND, other, *here.mine)


@test
def parameters_flattened_into_one_are_refused_by_name(here):
    flattened = FullyShardedDataParallel(here.model(), device_id=torch.device("cpu"))
    words = (
        "FullyShardedDataParallel spreads its parameters .* Shard the model with"
        " torch.distributed.fsdp.fully_shard"
    )
    with pytest.raises(TypeError, match=words):
        gradient(loss, BACKEND, flattened, *here.mine)


@test
def a_gradient_of_a_wrapper_is_no_member_of_its_group(here):
    wrapped = here.wrapped()
    found, *_ = gradient(loss, BACKEND, wrapped, *here.mine)
    assert type(found) is DistributedDataParallel
    assert [name for name, _ in found.named_parameters()] == [
        name for name, _ in wrapped.named_parameters()
    ]
    assert not hasattr(found, "reducer")
    doubled = tree.add(found, found)
    close(parts(doubled), here.expected(2.0))
    optimiser = torch.optim.SGD(wrapped.parameters(), lr=1.0)
    before = parts(copy.deepcopy(wrapped.module))
    for p, g in zip(wrapped.parameters(), found.parameters()):
        p.grad = g
    optimiser.step()
    close(parts(wrapped), [b - e for b, e in zip(before, here.expected())])


_AVERAGED = (
    "DistributedDataParallel exchanges gradients between processes in one backward pass for each"
    " evaluation of f, which gradient and value_and_gradient take. This derivative would be that of"
    " this process's data. Call the module that it wraps, or the wrapper inside its no_sync(), and"
    " average the result (torch.distributed.all_reduce)."
)
_SHARDED = (
    "fully_shard exchanges gradients between processes in one backward pass for each evaluation of"
    " f, which gradient and value_and_gradient take. This derivative would be that of this"
    " process's data. Take the model before it is sharded, and average the result"
    " (torch.distributed.all_reduce)."
)
_NO_COPY = (
    "{} belongs to a group of processes, and no copy of it around other values does, which this"
    " call needs: its derivatives would be those of this process's data. Take gradient or"
    " value_and_gradient with AutoTorch(), in reverse mode, and write new values into the"
    " parameters in place, as torch optimisers do; or pass the model before it was wrapped or"
    " sharded."
)


def _says(message, call, *args):
    with pytest.raises(TypeError) as caught:
        call(*args)
    assert str(caught.value) == message


def _refused(model, beyond, here):
    found, *_ = gradient(loss, BACKEND, model, *here.mine)
    for call in (
        lambda: hessian(loss, BACKEND, model, *here.mine),
        lambda: hvp(loss, BACKEND, model, found, *here.mine),
        lambda: hvp(loss, AutoTorch(mode="reverse"), model, found, *here.mine),
        lambda: diagonal_hessian(loss, BACKEND, model, *here.mine),
        lambda: jacobian(loss, BACKEND, model, *here.mine),
        lambda: pullback(loss, BACKEND, model, *here.mine),
        lambda: pushforward(loss, BACKEND, (model, *here.mine), (found, None, None)),
        lambda: linearize(loss, BACKEND, model, *here.mine),
        lambda: prepare(pullback, loss, BACKEND, model, *here.mine)(model, *here.mine),
        lambda: gradient(loss, AutoTorch(create_graph=True), model, *here.mine),
        lambda: gradient(
            lambda s: s * tree.norm(gradient(loss, BACKEND, model, *here.mine)[0]),
            BACKEND,
            torch.ones(()),
        ),
    ):
        _says(beyond, call)
    close(parts(gradient(loss, BACKEND, model, *here.mine)[0]), here.expected())


@test
def derivatives_beyond_the_gradient_are_refused_by_the_wrappers_name(here):
    wrapped = here.wrapped()
    _refused(wrapped, _AVERAGED, here)
    _says(_AVERAGED, lambda: gradient(loss, AutoTorch(mode="forward"), wrapped, *here.mine))
    for call in (
        lambda: gradient(loss, AutoFiniteDifferences(), wrapped, *here.mine),
        lambda: gradient(loss, AutoFiniteDifferences(native=AutoTorch()), wrapped, *here.mine),
        lambda: update(wrapped, gradient(loss, BACKEND, wrapped, *here.mine)[0], 0.1),
    ):
        _says(_NO_COPY.format("DistributedDataParallel"), call)


# fully_shard
# ------------------------------------------------------------------------------------------------


@test
def sharded_models_refuse_the_same(here):
    sharded = here.sharded()
    _refused(sharded, _SHARDED, here)
    _says(_NO_COPY.format("fully_shard(Sequential)"), lambda: update(sharded, sharded, 0.1))


@test
def sharded_gradients_are_not_kept_back(here):
    if not DTENSORS_ARE_RIGHT:
        return  # refused in other words
    sharded = here.sharded()
    sharded.set_requires_gradient_sync(False)
    _says(
        "A model of fully_shard was told to keep gradients back"
        " (set_requires_gradient_sync(False)), so there would be none to return. Let it exchange"
        " them in every call, and add gradients up with Duplicated(model, accumulate=True).",
        lambda: gradient(loss, BACKEND, sharded, *here.mine),
    )
    sharded.set_requires_gradient_sync(True)
    close(parts(gradient(loss, BACKEND, sharded, *here.mine)[0]), here.expected())


@test
def mixed_precision_is_that_of_the_model(here):
    policy = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float64)
    by_hand, ours = here.sharded(mp_policy=policy), here.sharded(mp_policy=policy)
    loss(by_hand, *[x.value for x in here.mine]).backward()
    found, *_ = gradient(loss, BACKEND, ours, *here.mine)
    assert {p.dtype for p in found.parameters()} == {torch.float64}
    close(parts(found), [p.grad.full_tensor() for p in by_hand.parameters()], 0)
    close(parts(found), here.expected(), 1e-5)


# DTensor
# ------------------------------------------------------------------------------------------------


def cubed(x):
    return (x**3).sum()


def squares(x):
    return x * x


@test
def every_operator_keeps_the_placements_of_a_dtensor(here):
    plain = torch.arange(1.0, 9.0, dtype=torch.float64)
    x = distribute_tensor(plain, here.mesh, [Shard(0)])
    diagonal = torch.diag(2 * plain)
    for found, expected in (
        (gradient(cubed, BACKEND, x)[0], 3 * plain**2),
        (gradient(cubed, AutoTorch(create_graph=True), x)[0].detach(), 3 * plain**2),
        (prepare(gradient, cubed, BACKEND, x)(x)[0], 3 * plain**2),
        (gradient(lambda x: (x.full_tensor() ** 3).sum(), BACKEND, x)[0], 3 * plain**2),
        (gradient(lambda x, z: (z * z).sum(), BACKEND, x, plain)[0], 0 * plain),
        (hvp(cubed, BACKEND, x, x), 6 * plain**2),
        (hvp(cubed, BACKEND, x, plain), 6 * plain**2),
        (diagonal_hessian(cubed, BACKEND, x)[0], 6 * plain),
        (pullback(squares, BACKEND, x)[1](x)[0], 2 * plain**2),
        (pullback(squares, BACKEND, x)[1](plain)[0], 2 * plain**2),
        (pushforward(squares, BACKEND, (x,), (x,))[1], 2 * plain**2),
        (linearize(squares, BACKEND, x)[1](x), 2 * plain**2),
    ):
        assert isinstance(found, DTensor)
        assert found.placements == x.placements
        close(found.full_tensor(), expected)
    for found, expected in (
        (jacobian(squares, BACKEND, x)[0], diagonal),
        (hessian(cubed, BACKEND, x), 3 * diagonal),
    ):
        assert isinstance(found, DTensor)
        close(found.full_tensor(), expected)


@test
def other_engines_refuse_a_dtensor(here):
    if not DTENSORS_ARE_RIGHT:
        return  # with words of its own
    x = distribute_tensor(torch.ones(8), here.mesh, [Shard(0)])
    message = (
        "A torch tensor is spread over processes (a DTensor), of whose numbers this one has a part,"
        " so only AutoTorch() takes it. Gather them first, x.full_tensor(), or wrap it in"
        " Constant(...)."
    )
    for backend in (AutoFiniteDifferences(), AutoFiniteDifferences(native=AutoTorch()), AutoJax()):
        _says(message, gradient, cubed, backend, x)


@test
def derivatives_of_layers_by_parts(here):
    model, plain = yardstick._by_parts(here.model(), here.mesh), here.model()
    tangent = gradient(loss, BACKEND, plain, *here.whole)[0]
    found = hvp(loss, BACKEND, model, gradient(loss, BACKEND, model, *here.whole)[0], *here.whole)
    close(parts(found), parts(hvp(loss, BACKEND, plain, tangent, *here.whole)))
    assert yardstick.placements(found) == yardstick.placements(model)
    moved = update(model, gradient(loss, BACKEND, model, *here.whole)[0], 0.5)
    close(parts(moved), [p - 0.5 * g for p, g in zip(parts(model), here.expected())])
    close(moved(here.whole[0].value), update(plain, tangent, 0.5)(here.whole[0].value))
    with pytest.raises(RuntimeError) as caught:
        gradient(loss, AutoTorch(mode="forward"), model, *here.whole)
    assert caught.value.__notes__ == [
        "f contains an old-style autograd.Function, as DTensor's collectives are, which torch's"
        " forward mode and vmap cannot go through. Use AutoTorch(), without mode='forward' and"
        " outside of batched."
    ]


# Everything
# ------------------------------------------------------------------------------------------------


@test
def plain_calls_beside_a_group_are_what_they_are_without(here):
    x = torch.arange(3.0, dtype=torch.float64)
    close(gradient(cubed, BACKEND, x)[0], 3 * x**2)
    close(hessian(cubed, BACKEND, x), torch.diag(6 * x))
    close(derivative(lambda t: t**3, BACKEND, 2.0), 12.0)
    close(
        batched(gradient, cubed, BACKEND, Each(torch.stack([x, x])))[0], torch.stack([3 * x**2] * 2)
    )
    with torch.no_grad():
        found, *_ = gradient(loss, BACKEND, here.model(), *here.whole)
    close(parts(found), here.expected())
    close(torch.func.grad(lambda x: gradient(cubed, BACKEND, x)[0].sum())(x), 6 * x)


@test
def training_writes_no_grads(here):
    for model in (here.wrapped(), here.sharded()):
        steps = Training(loss, BACKEND, from_torch_optim(torch.optim.SGD, model, lr=0.1))
        steps(*[x.value for x in here.mine])
        assert all(p.grad is None for p in model.parameters())


def program(member):
    """The error of every test, by its name."""
    found = {}
    with yardstick.group(member, 60):
        here = Here()
        for name, function in TESTS.items():
            try:
                function(here)
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
        for outcome in outcomes(BACKEND, yardstick):
            found[f"the set: {outcome.setting}: {outcome.check}"] = outcome.error
    return found
