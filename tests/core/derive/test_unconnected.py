"""An engine gives None for what is not connected, and the core makes zeros of the right dtype and shape."""

import numpy as np
import pytest

from adinterface import AutoBackend
from adinterface.core import derive
from adinterface.core.contract import Backend
from adinterface.core.contract.backend import Aux, FlatFunction, Linearized, Pullback, Pushforward
from adinterface.core.contract.library import NUMPY


class AutoUnconnected(AutoBackend):
    name = "unconnected"


class Unconnected(Backend):
    """Its engines differentiate (x, y) -> (2 x, 1), and give None for what is not connected."""

    libraries = (NUMPY,)


class Forward(Unconnected):
    def pushforward(self, function, leaves, tangents, *, value=True):
        outputs, aux = function(*leaves)
        return Pushforward(outputs, (2 * tangents[0], None), aux)


class Linear(Forward):
    def linearize(self, function, leaves):
        outputs, aux = function(*leaves)
        push = lambda tangents: (2 * tangents[0], None)
        return Linearized(outputs, aux, push, push)


class Mapped(Linear):
    def jacobian(self, function, leaves, *, value=True):
        return self.linearize(function, leaves)


class Reverse(Unconnected):
    def pullback(self, function, leaves, *, differentiable=False):
        outputs, aux = function(*leaves)
        back = lambda cotangents: (2 * cotangents[0], None)
        return Pullback(outputs, aux, back, True, back)


class MappedReverse(Reverse):
    def jacobian(self, function, leaves, *, value=True):
        return self.pullback(function, leaves)


class Doubled(FlatFunction):
    def __call__(self, x, y):
        return (2 * x, np.ones(2, "float32")), Aux()


LEAVES = (np.array([1.0, 3.0, 5.0]), np.ones((2, 2), "float32"))
TANGENTS = (np.ones(3), np.ones((2, 2), "float32"))
COTANGENTS = (np.ones(3), np.ones(2, "float32"))


def same(found, expected):
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("engine", [Forward, Linear, Mapped, Reverse, MappedReverse])
def test_the_core_makes_zeros_of_what_is_not_connected(engine):
    backend = engine(AutoUnconnected())
    pushed = (2 * np.ones(3), np.zeros(2, "float32"))
    same(derive.pushforward(backend, Doubled(), LEAVES, TANGENTS).tangents, pushed)
    linear = derive.linearize(backend, Doubled(), LEAVES)
    same(linear.push(TANGENTS), pushed)
    stacks = tuple([np.stack([x, x]) for x in TANGENTS])
    same(derive.push_stacked(backend, linear)(stacks), [np.stack([x, x]) for x in pushed])
    pulled = derive.pullback(backend, Doubled(), LEAVES)
    gradients = (2 * np.ones(3), np.zeros((2, 2), "float32"))
    same(pulled.back(COTANGENTS), gradients)
    stacks = tuple([np.stack([x, x]) for x in COTANGENTS])
    same(derive.back_stacked(backend, pulled)(stacks), [np.stack([x, x]) for x in gradients])
    blocks = derive.jacobian(backend, Doubled(), LEAVES).blocks
    same(blocks[0], (2 * np.eye(3), np.zeros((3, 2, 2), "float32")))
    same(blocks[1], (np.zeros((2, 3)), np.zeros((2, 2, 2), "float32")))
