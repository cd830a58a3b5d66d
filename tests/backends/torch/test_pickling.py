"""What is differentiated and pickled or copied inside f: right, or an error that names the
remedy.
"""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
import torch
from backends_table import each_engine

from adinterface import (
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


def _saved(x):
    with io.BytesIO() as file:
        torch.save({"x": x}, file)
        file.seek(0)
        return torch.load(file, weights_only=False)["x"]


WAYS = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "protocol 2": lambda x: pickle.loads(pickle.dumps([x], 2))[0],
    "in Python": lambda x: pickle._loads(pickle._dumps(x)),
    "torch.save": _saved,
    "copy": copy.copy,
    "deepcopy": lambda x: copy.deepcopy([x])[0],
}
REFUSED = (
    r"^A tensor that is being differentiated was pickled or copied .* drops its gradient\. Compute"
    r" with it in this"
)


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(create_graph=True)], ids=repr)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_leaf_that_is_pickled_or_copied_inside_f_is_refused(way, backend):
    f = lambda x: (way(x) ** 2).sum() + x.sum()
    for call in (
        lambda: gradient(f, backend, X),
        lambda: gradient(f, backend, torch.tensor(X)),
        lambda: gradient(lambda p: f(p["w"]), backend, {"w": torch.tensor(X), "b": 1.0}),
        lambda: hvp(f, backend, X, X),
        lambda: prepare(gradient, f, backend, X)(X),
        *[
            lambda operator=operator: operator(f, backend, X)
            for operator in (value_and_gradient, hessian, jacobian)
        ],
    ):
        with pytest.raises(
            (ConversionError, RuntimeError),
            match=REFUSED + "|Only Tensors created explicitly by the user",
        ):
            call()


@each_engine
def test_deep_copies_in_numpy_code_are_right(backend):
    f = lambda x: (copy.deepcopy([x])[0] ** 2).sum()
    for code in (numpy_function(f), numpy_function(f, deep=True)):
        np.testing.assert_allclose(gradient(code, backend, X)[0], 2 * X)
    if not isinstance(backend, AutoTorch):
        np.testing.assert_allclose(gradient(f, backend, X)[0], 2 * X)


def test_a_module_that_is_pickled_or_copied_inside_f_warns_that_nothing_is_connected():
    model = torch.nn.Linear(3, 1)
    for way in (copy.deepcopy, WAYS["pickle"]):
        f = lambda m, way=way: way(m)(torch.ones(3)).sum()
        for call in (
            lambda f=f: gradient(f, AutoTorch(), model),
            lambda f=f: gradient(f, AutoTorch(create_graph=True), model),
        ):
            with pytest.warns(
                DisconnectedWarning, match="so is what was pickled or copied by copy.deepcopy"
            ):
                found = call()
            assert not found[0].weight.any()


def test_a_value_that_depends_on_captured_parameters_alone_warns():
    weights = torch.tensor(X, requires_grad=True)
    with pytest.warns(DisconnectedWarning, match="depends on none of its differentiated arguments"):
        gradient(lambda x: (weights * weights).sum(), AutoTorch(), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(lambda x, y: (weights * y).sum(), AutoTorch(), X, X)
