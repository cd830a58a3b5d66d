"""What is differentiated and pickled or copied inside f: right, or an error that names the remedy."""

import copy
import copyreg
import io
import pickle
import threading
import warnings
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
import torch
from autograd import numpy as anp
from backends_table import each_engine

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    ConversionError,
    DisconnectedWarning,
    gradient,
    hessian,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    value_and_gradient,
)

X = np.array([1.0, 2.0, 3.0])
BACKENDS = [
    AutoTorch(), AutoTorch(mode="forward"), AutoTorch(create_graph=True), AutoAutograd(), AutoAutograd(mode="forward"),
]  # fmt: skip
each_pickling = pytest.mark.parametrize("backend", BACKENDS, ids=repr)


def _saved(x):
    with io.BytesIO() as file:
        torch.save({"x": x}, file)
        file.seek(0)
        return torch.load(file, weights_only=False)["x"]


WAYS = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "protocol 2": lambda x: pickle.loads(pickle.dumps([x], 2))[0],
    "in Python": lambda x: pickle._loads(pickle._dumps(x)),
    "what is computed": lambda x: pickle.loads(pickle.dumps(x * 2.0)) / 2.0,
    "torch.save": _saved,
    "multiprocessing": lambda x: pickle.loads(ForkingPickler.dumps((x,)))[0],
    "multiprocessing, what is computed": lambda x: pickle.loads(ForkingPickler.dumps(x * 2.0)) / 2.0,
}


@each_pickling
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_pickled_inside_f_is_refused(way, backend):
    f = lambda x: (way(x) ** 2).sum() + x.sum()
    for code in (f, numpy_function(f), numpy_function(f, deep=True)):
        with pytest.raises(
            ConversionError, match=r"differentiated was pickled .*, which drops its gradient. Compute with it in"
        ):
            gradient(code, backend, X)


@pytest.mark.parametrize("operator", [gradient, value_and_gradient, hessian, jacobian])
def test_by_every_operator_and_prepared(operator):
    f = lambda x: (WAYS["pickle"](x) ** 2).sum()
    with pytest.raises(ConversionError, match="was pickled"):
        operator(f, AutoTorch(), X)
    switch = {"on": False}
    fast = prepare(operator, lambda x: (WAYS["pickle"](x) if switch["on"] else x).pow(2).sum(), AutoTorch(), X)
    fast(X)
    switch["on"] = True
    with pytest.raises(ConversionError, match="was pickled"):
        fast(X)


def test_second_order_and_tensors_of_the_user():
    f = lambda x: (WAYS["pickle"](x) ** 2).sum()
    with pytest.raises(ConversionError, match="was pickled"):
        hvp(f, AutoTorch(), X, X)
    with pytest.raises(ConversionError, match="was pickled"):
        gradient(f, AutoTorch(), torch.tensor(X))
    with pytest.raises(ConversionError, match="was pickled"):
        gradient(lambda p: f(p["w"]), AutoTorch(), {"w": torch.tensor(X), "b": 1.0})


def test_what_a_thread_of_a_pool_pickles_is_refused():
    def f(x):
        errors = []

        def work():
            try:
                pickle.dumps((x, x * 2.0))
            except ConversionError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        raise errors[0]

    with pytest.raises(ConversionError, match="was pickled"):
        gradient(f, AutoTorch(), X)


@each_pickling
def test_shallow_copies_keep_the_gradient(backend):
    for f in (lambda x: (copy.copy(x) ** 2).sum(), lambda x: (copy.copy(x * 2.0) ** 2).sum() / 4.0):
        for code in (f, numpy_function(f), numpy_function(f, deep=True)):
            np.testing.assert_allclose(torch.as_tensor(gradient(code, backend, X)[0]).detach(), 2 * X)


@each_engine
def test_deep_copies_are_right_or_refused(backend):
    f = lambda x: (copy.deepcopy([x])[0] ** 2).sum()
    for code in (numpy_function(f), numpy_function(f, deep=True)):
        np.testing.assert_allclose(gradient(code, backend, X)[0], 2 * X)
    if isinstance(backend, AutoTorch):
        with pytest.raises(ConversionError, match=r"copy.deepcopy of a tensor .* drops its gradient. Write x.clone\(\) for a"):
            gradient(f, backend, X)
    else:
        np.testing.assert_allclose(gradient(f, backend, X)[0], 2 * X)


def test_functions_of_autograd_give_boxes_that_are_copied_too():
    f = lambda x: anp.sum(copy.deepcopy(anp.sin(x)) + copy.copy(anp.sin(x)))
    np.testing.assert_allclose(gradient(f, AutoAutograd(), X)[0], 2 * np.cos(X))
    with pytest.raises(ConversionError, match="was pickled"):
        gradient(lambda x: anp.sum(pickle.loads(pickle.dumps(anp.sin(x)))), AutoAutograd(), X)


def test_constants_are_pickled_inside_f():
    weights = torch.tensor(X, requires_grad=True)

    def f(x):
        assert torch.equal(pickle.loads(pickle.dumps(x.detach())), x.detach())
        assert pickle.loads(pickle.dumps(weights)).requires_grad
        assert copy.deepcopy(weights).requires_grad
        return (x * copy.copy(weights)).sum()

    np.testing.assert_allclose(gradient(f, AutoTorch(), X)[0], X)


def test_outside_of_f_tensors_are_pickled_as_torch_does():
    leaf = torch.tensor(X, requires_grad=True)
    module = torch.nn.Linear(3, 2)
    kept = []
    gradient(lambda x: (kept.append(x), (x * x).sum())[1], AutoTorch(), X)
    for x in (leaf, leaf * 2, leaf.detach(), kept[0], kept[0] * 2):
        for found in (pickle.loads(pickle.dumps(x)), _saved(x), copy.copy(x)):
            assert torch.equal(found, x)
            assert found.requires_grad == x.requires_grad
    assert torch.equal(copy.deepcopy(kept[0]), kept[0])
    assert b"adinterface" not in pickle.dumps(kept)
    assert torch.equal(copy.deepcopy(module).weight, module.weight)
    assert torch.equal(pickle.loads(pickle.dumps(module)).weight, module.weight)


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(create_graph=True), AutoTorch(mode="forward")], ids=repr)
@pytest.mark.parametrize("operator", [gradient, jacobian, hessian])
def test_the_registries_have_an_entry_while_f_runs_in_some_thread(operator, backend):
    inside, outside = threading.Event(), threading.Event()

    def entries():
        return copyreg.dispatch_table.get(torch.Tensor), ForkingPickler._extra_reducers.get(torch.Tensor)

    def f(x):
        assert entries() != before
        inside.set()
        assert outside.wait(60)
        with pytest.raises(ConversionError, match="was pickled"):
            pickle.dumps(x)
        return (x * x).sum()

    before = entries()
    thread = threading.Thread(target=operator, args=(f, backend, X))
    thread.start()
    assert inside.wait(60)
    gradient(lambda x: (x * x).sum(), AutoTorch(), X)  # which ends before the other
    graph = torch.ones(3, requires_grad=True) * 2.0
    assert pickle.loads(pickle.dumps(graph)).requires_grad  # of another thread, and so not f's
    outside.set()
    thread.join()
    assert entries() == before
    with pytest.raises(ZeroDivisionError):
        operator(lambda x: 1 / 0, backend, X)
    assert entries() == before


def test_a_module_that_is_pickled_or_copied_inside_f_warns_that_nothing_is_connected():
    model = torch.nn.Linear(3, 1)
    for way in (copy.deepcopy, WAYS["pickle"]):
        f = lambda m, way=way: way(m)(torch.ones(3)).sum()
        for call in (lambda f=f: gradient(f, AutoTorch(), model), lambda f=f: gradient(f, AutoTorch(create_graph=True), model)):
            with pytest.warns(DisconnectedWarning, match="so is what was pickled or copied by copy.deepcopy"):
                found = call()
            assert not found[0].weight.any()


def test_a_value_that_depends_on_captured_parameters_alone_warns():
    weights = torch.tensor(X, requires_grad=True)
    with pytest.warns(DisconnectedWarning, match="depends on none of its differentiated arguments"):
        gradient(lambda x: (weights * weights).sum(), AutoTorch(), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(lambda x, y: (weights * y).sum(), AutoTorch(), X, X)


def test_jax_refuses_by_itself():
    for f in (WAYS["pickle"], WAYS["multiprocessing"]):
        with pytest.raises(Exception, match=r"(?i)tracer|pickle"):
            gradient(lambda x, f=f: (f(x) ** 2).sum(), AutoJax(), X)
