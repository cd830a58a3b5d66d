"""An engine gives None for what is not connected, and the core makes zeros of the right dtype and
shape.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from backends_table import assert_tree

from adinterface import AutoBackend, jacobian, linearize, pullback, pushforward
from adinterface.core.contract import Backend, registry
from adinterface.core.contract.backend import Linearized, Pullback, Pushforward
from adinterface.core.contract.library import NUMPY


class AutoUnconnected(AutoBackend):
    name = "unconnected"


class Forward(Backend):
    """These engines differentiate (x, y) -> (2 x, 1), and give None for what is not connected."""

    libraries = (NUMPY,)

    def pushforward(self, function, leaves, tangents, *, value=True):
        outputs, aux = function(*leaves)
        return Pushforward(outputs, (2 * tangents[0], None), aux)


class Linear(Forward):
    def linearize(self, function, leaves):
        outputs, aux = function(*leaves)
        push = lambda tangents: (2 * tangents[0], None)
        return Linearized(outputs, aux, push, push)


class Reverse(Backend):
    libraries = (NUMPY,)

    def pullback(self, function, leaves, *, differentiable=False):
        outputs, aux = function(*leaves)
        back = lambda cotangents: (2 * cotangents[0], None)
        return Pullback(outputs, aux, back, True, back)


def doubled(x, y):
    return 2 * x, np.ones(2, "float32")


X, Y, V = (
    np.array([1.0, 3.0, 5.0]),
    np.ones((2, 2), "float32"),
    (np.ones(3), np.ones((2, 2), "float32")),
)
PUSHED, PULLED = (
    (2 * np.ones(3), np.zeros(2, "float32")),
    (2 * np.ones(3), np.zeros((2, 2), "float32")),
)


def two(leaves):
    return tuple([np.stack([leaf, leaf]) for leaf in leaves])


@pytest.mark.parametrize("engine", [Forward, Linear, Reverse])
def test_the_core_makes_zeros_of_what_is_not_connected(engine, monkeypatch):
    point = SimpleNamespace(name="unconnected", value="here:Engine", dist=None, load=lambda: engine)
    points = registry._entry_points()
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "unconnected": [point]})
    monkeypatch.delitem(registry.REGISTRY.backends, "unconnected", raising=False)
    backend = AutoUnconnected()
    registry.backend_for.cache_clear()
    assert_tree(pushforward(doubled, backend, (X, Y), V).tangent, PUSHED)
    push = linearize(doubled, backend, X, Y).push
    assert_tree(push(*V), PUSHED)
    assert_tree(push.stacked(*two(V)), two(PUSHED))
    back, w = pullback(doubled, backend, X, Y).back, (np.ones(3), np.ones(2, "float32"))
    assert_tree(back(w), PULLED)
    assert_tree(back.stacked(two(w)), two(PULLED))
    blocks = jacobian(doubled, backend, X, Y)
    assert_tree(blocks[0], (2 * np.eye(3), np.zeros((3, 2, 2), "float32")))
    assert_tree(blocks[1], (np.zeros((2, 3)), np.zeros((2, 2, 2), "float32")))
    registry.backend_for.cache_clear()
