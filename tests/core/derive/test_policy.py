"""Which way a derivative goes, as a table over what an engine gives and the mode."""

import numpy as np
import pytest

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch
from adinterface.core.contract.backend import Aux, Backend, Linearized, Pullback
from adinterface.core.contract.registry import find
from adinterface.core.derive import policy
from adinterface.core.derive.primitives import pushforward

# For each backend: pullbacks, pushforwards, maps that evaluate f once, products of a Hessian, such maps, cheap directions.
TABLE = [
    (AutoJax(), (True, True, True, False, False, (True, True))),
    (AutoJax(mode="forward"), (False, True, True, False, False, (True, False))),
    (AutoJax(mode="reverse"), (True, False, False, True, True, (False, True))),
    (AutoTorch(), (True, False, False, True, True, (True, True))),
    (AutoTorch(mode="forward"), (False, True, True, False, False, (True, False))),
    (AutoTorch(mode="reverse"), (True, False, False, True, True, (False, True))),
    (AutoAutograd(), (True, True, False, False, True, (True, True))),
    (AutoAutograd(mode="forward"), (False, True, True, False, False, (True, False))),
    (AutoAutograd(mode="reverse"), (True, False, False, True, True, (False, True))),
    (AutoFiniteDifferences(), (False, True, True, False, False, (True, False))),
]


@pytest.mark.parametrize(("auto", "expected"), TABLE, ids=repr)
def test_the_engines(auto, expected):
    backend = find(auto)
    assert (
        policy.in_reverse(backend), policy.in_forward(backend), policy.in_forward(backend, once=True),
        policy.by_symmetry(backend), policy.by_symmetry(backend, once=True), policy.directions(backend),
    ) == expected  # fmt: skip


@pytest.mark.parametrize(
    ("auto", "by_columns"),
    [
        (AutoJax(), {(2, 3): True, (3, 3): False, (4, 3): False}),
        (AutoJax(mode="forward"), {(2, 3): True, (4, 3): True}),
        (AutoTorch(mode="reverse"), {(2, 3): False, (4, 3): False}),
        (AutoFiniteDifferences(), {(2, 3): True, (4, 3): True}),
    ],
    ids=repr,
)
def test_rows_or_columns(auto, by_columns):
    assert {sizes: policy.by_columns(find(auto), *sizes) for sizes in by_columns} == by_columns


class Pullbacks(Backend):
    """An engine with nothing but a pullback."""

    def pullback(self, function, leaves, *, differentiable=False):
        raise NotImplementedError


def test_an_engine_of_pullbacks_alone():
    backend = Pullbacks(AutoTorch())
    assert policy.in_reverse(backend)
    assert not policy.in_forward(backend)
    assert policy.directions(backend) == (False, True)
    assert not policy.by_columns(backend, 1, 100)
    assert not policy.by_columns(backend, 2, 1)
    backend.transposes = True
    assert policy.directions(backend) == (True, True)
    assert policy.by_columns(backend, 1, 100)
    assert policy.in_one_batch(backend, policy.FEW_INPUTS)
    assert not policy.in_one_batch(backend, policy.FEW_INPUTS + 1)
    backend.transposes = "always"
    assert not policy.in_one_batch(backend, 1)


class LinearMaps(Pullbacks):
    """An engine with a linear map after one evaluation, and no pushforward."""

    def linearize(self, function, leaves):
        outputs, aux = function(*leaves)
        return Linearized(outputs, aux, lambda tangents: (3.0 * tangents[0],))


def test_a_linear_map_serves_pushforwards_too():
    backend = LinearMaps(AutoTorch())
    assert (policy.in_forward(backend), policy.in_forward(backend, once=True)) == (False, True)
    assert policy.directions(backend) == (True, True)
    x = np.ones(2)
    assert pushforward(backend, lambda x: ((3.0 * x,), Aux()), (x,), (x,)).tangents[0].tolist() == [3.0, 3.0]


class SomeLinearMaps(LinearMaps):
    """An engine that has a linear map for some functions alone."""

    def linearize(self, function, leaves):
        return None

    def pullback(self, function, leaves, *, differentiable=False):
        outputs, aux = function(*leaves)
        return Pullback(outputs, aux, lambda cotangents: (3.0 * cotangents[0],))


def test_without_a_linear_map_an_engine_of_pullbacks_goes_row_by_row():
    backend, x = SomeLinearMaps(AutoAutograd()), np.ones(2)
    backend.library = find(AutoAutograd()).library
    assert pushforward(backend, lambda x: ((3.0 * x,), Aux()), (x,), (x,)).tangents[0].tolist() == [3.0, 3.0]
