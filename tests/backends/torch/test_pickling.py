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

from adinterface import (
    AutoTorch,
    DisconnectedWarning,
    gradient,
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
