"""What a recognizer takes for arguments like those of its plan, and what it must not."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from backends_table import assert_tree, each_backend

from adinterface import (
    AutoAutograd,
    Constant,
    NotDifferentiableError,
    TreeError,
    array_namespace,
    gradient,
    hvp,
    prepare,
    pushforward,
)
from adinterface.core.operators.operation import OPERATIONS, operation_of

X = np.linspace(0.5, 1.5, 4)
Y = np.linspace(-1.0, 2.0, 4)


def bend(x):
    return x**2 * x[0]


@dataclass
class Layer:
    weight: np.ndarray
    scale: float
    size: int
    note: Any = field(default=None, metadata={"static": True})


def test_a_recognizer_takes_what_is_like_its_plan_and_nothing_else():
    def call(*args, **kwargs):
        operation = operation_of(OPERATIONS[gradient], AutoAutograd())
        plan, _, _ = operation.plans.find(args, kwargs)
        assert plan.recognize is not None
        return plan.recognize

    w = np.ones((2, 2))
    recognize = call({"a": w, "b": [w, 2.0], "n": 3, "s": "text"}, Constant(w), k=1.5)
    like = ({"a": 2 * w, "b": [w, 7.0], "n": 4, "s": "other"}, Constant(-w))
    assert len(recognize(like, {"k": 2.5})) == 7
    tree, constant = like
    for args, kwargs in [
        ((tree,), {"k": 1.0}),
        (like, {}),
        (like, {"j": 1.0}),
        (like, {"k": 1}),
        ((tree, w), {"k": 1.0}),
        ((tree, Constant(w[0])), {"k": 1.0}),
        (({**tree, "a": w[0]}, constant), {"k": 1.0}),
        (({**tree, "a": w.astype("float32")}, constant), {"k": 1.0}),
        (({**tree, "a": w.astype(">f8")}, constant), {"k": 1.0}),
        (({**tree, "a": 1.0}, constant), {"k": 1.0}),
        (({**tree, "b": (w, 2.0)}, constant), {"k": 1.0}),
        (({**tree, "b": [w, 2]}, constant), {"k": 1.0}),
        (({**tree, "n": True}, constant), {"k": 1.0}),
        (({**tree, "s": None}, constant), {"k": 1.0}),
        (({**tree, "more": 1}, constant), {"k": 1.0}),
        ((dict(reversed(tree.items())), constant), {"k": 1.0}),
        (([tree], constant), {"k": 1.0}),
    ]:
        assert recognize(args, kwargs) is None

    recognize = call(Layer(w, 1.0, 2))
    assert len(recognize((Layer(w, 3.0, 5),), {})) == 3
    assert recognize((Layer(w, 3.0, 5, note="other"),), {}) is None
    assert recognize((Layer(w, 3.0, 5, note=[]),), {}) is None
    assert len(call(Layer(w, 1.0, 2, note=1))((Layer(w, 1.0, 2, note=1),), {})) == 3
    assert call(Layer(w, 1.0, 2, note=1))((Layer(w, 1.0, 2, note=True),), {}) is None

    recognize = call([w, w], np.float64(2.0), 3)
    assert len(recognize(([w, 2 * w], np.float64(5.0), 4), {})) == 4
    assert recognize(([w, w, w], np.float64(2.0), 3), {}) is None
    assert recognize(([w, w[0]], np.float64(2.0), 3), {}) is None
    assert recognize(([w, 1.0], np.float64(2.0), 3), {}) is None
    assert recognize(([w, w], np.float32(2.0), 3), {}) is None
    assert recognize(([w, w], np.float64(2.0), 3.0), {}) is None
    assert recognize(((w, w), np.float64(2.0), 3), {}) is None


def test_what_cannot_be_told_at_sight_is_not_recognized():
    class Plain:
        pass

    operation = operation_of(OPERATIONS[gradient], AutoAutograd())
    for args in [({"x": X, "o": Plain()},), (X, Constant(Plain())), (X, Constant(np.array(["a"])))]:
        assert operation.plans.find(args, {})[0].recognize is None


def test_a_new_kind_of_value_in_a_place_is_looked_into():
    """A plan for a string in some place is not taken for an object with arrays there."""

    class Hiding:
        def __init__(self):
            self.array = np.ones(2)

    gradient(lambda p: (p["x"] ** 2).sum(), AutoAutograd(), {"x": X, "o": "text"})
    with pytest.raises(NotDifferentiableError, match="cannot look into"):
        gradient(lambda p: (p["x"] ** 2).sum(), AutoAutograd(), {"x": X, "o": Hiding()})


@each_backend
def test_tangents_of_every_form(backend):
    """Arrays like the argument take the short way, everything else the long one, to the same result."""
    tree = {"a": X, "b": Y}
    f = lambda p: array_namespace(p["a"]).sum(p["a"] ** 3 * p["b"])
    v = {"a": np.ones(4), "b": np.full(4, 0.5)}
    fast = prepare(hvp, f, backend, tree, v)
    wanted = {"a": 6 * X * Y * v["a"] + 3 * X**2 * v["b"], "b": 3 * X**2 * v["a"]}
    for given in (v, {"a": [1.0] * 4, "b": v["b"]}, {"b": v["b"], "a": v["a"]}):
        for found in (hvp(f, backend, tree, given), fast(tree, given)) if type(given["a"]) is np.ndarray else ():
            for name in wanted:
                np.testing.assert_allclose(found[name], wanted[name], rtol=1e-5, atol=1e-5)
    none = fast(tree, {"a": v["a"], "b": None})
    np.testing.assert_allclose(none["b"], 3 * X**2, rtol=1e-5, atol=1e-5)
    with pytest.raises(TreeError, match=r"v\['a'\]"):
        fast(tree, {"a": np.ones(3), "b": v["b"]})
    value, tangent = prepare(pushforward, bend, backend, (X,), (Y,))((X,), (Y,))
    assert_tree((value, tangent), tuple(pushforward(bend, backend, (X,), (Y,))), 1e-12)
    kept = prepare(hvp, lambda x, c: array_namespace(x).sum(x**3 * c), backend, X, Y, Constant(Y))
    np.testing.assert_allclose(kept(X, Y, Constant(Y)), 6 * X * Y * Y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(kept(X, Y, Constant(X)), 6 * X * Y * X, rtol=1e-5, atol=1e-5)
