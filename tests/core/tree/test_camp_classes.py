"""Classes that hold numbers: of attrs, chex and Flax, and in the manner of scikit-learn.

The page on models has pydantic, pandas and xarray.
"""

import attrs
import numpy as np
import pytest
from backends_table import each_engine
from flax import struct

from adinterface import Constant, gradient, prepare, register_node, tree

X = np.random.default_rng(0).normal(size=(8, 3))
Y = np.random.default_rng(1).normal(size=8)


class Estimator:
    """Settings from `__init__`; what was fitted ends with an underscore."""

    def __init__(self, alpha=0.25):
        self.alpha = alpha
        self.w_, self.b_, self.names_ = np.zeros(3), 0.5, ["a", "b"]

    @property
    def seen(self):
        return self.w_


register_node(Estimator, fields=["w_", "b_"])


@attrs.frozen
class Attrs:
    w_: np.ndarray = attrs.field(validator=attrs.validators.instance_of(np.ndarray))
    b_: float = attrs.field(converter=float)
    kind: str = attrs.field(default="attrs", metadata={"static": True})


@struct.dataclass
class Struct:
    w_: np.ndarray
    b_: float
    kind: str = struct.field(pytree_node=False, default="struct")


def made_by_chex():
    chex = pytest.importorskip("chex")

    @chex.dataclass
    class Chex:
        w_: np.ndarray
        b_: float

    return Chex(w_=np.zeros(3), b_=0.5)


MODELS = {
    "attrs": lambda: Attrs(np.zeros(3), 0.5),
    "flax.struct": lambda: Struct(np.zeros(3), 0.5),
    "chex": made_by_chex,
    "registered": Estimator,
}


def line_loss(model, x, y):
    return ((x @ model.w_ + model.b_ - y) ** 2).mean()


@each_engine
@pytest.mark.parametrize("name", MODELS)
def test_gradients_of_a_class_are_in_its_fields(name, backend):
    model = MODELS[name]()
    rest = X @ model.w_ + model.b_ - Y
    fast = prepare(gradient, line_loss, backend, model, Constant(X), Constant(Y))
    for call in (fast, lambda *args: gradient(line_loss, backend, *args)):
        found, *_ = call(model, Constant(X), Constant(Y))
        assert (type(found), type(found.w_), type(found.b_)) == (type(model), np.ndarray, float)
        assert getattr(found, "kind", None) == getattr(model, "kind", None)
        np.testing.assert_allclose(found.w_, 2 * X.T @ rest / 8, rtol=1e-10)
        np.testing.assert_allclose(found.b_, 2 * rest.mean(), rtol=1e-10)
    assert fast.specializations == 1


@each_engine
def test_other_attributes_of_a_registered_class_are_kept_and_not_differentiated(backend):
    def ridge(model, x, y):
        return line_loss(model, x, y) + model.alpha * (model.w_**2).sum()

    model, given = Estimator(), (Constant(X), Constant(Y))
    call = prepare(gradient, ridge, backend, model, *given)
    for alpha in (0.25, 0.5):
        model.alpha, model.w_ = alpha, np.ones(3)
        slope, again = call(model, *given)[0], gradient(ridge, backend, model, *given)[0]
        np.testing.assert_allclose(slope.w_, again.w_, rtol=1e-12)
        assert (slope.alpha, slope.names_) == (None, None)
    assert call.specializations == 1
    doubled = tree.map(lambda leaf: 2 * leaf, model)
    assert (doubled.alpha, doubled.names_, doubled.w_.tolist()) == (0.5, ["a", "b"], [2.0] * 3)
