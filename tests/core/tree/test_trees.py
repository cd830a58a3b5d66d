"""Trees: every container comes apart into leaves and is built again as itself, with gradients in
the leaves' places.

Each row of a table is one structure, tested on every backend. The leaves of a structure are summed
by `total`, with the weights 1, 2, 3, ... and squared, so that a leaf's gradient tells its place:
leaf number k has gradient 2 k x.
"""

import collections
import dataclasses
import enum
import functools
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_tree, each_backend, rtol_of

from adinterface import Constant, gradient, prepare, register_node, tree

X = np.array([1.0, 2.0])
Y = np.array([[3.0, -1.0, 0.5]])


def total(*leaves):
    """The weighted sum of squares: the gradient of leaf k (from 1) is 2 k x."""
    return sum(
        k * (leaf * leaf).sum() if getattr(leaf, "shape", ()) else k * leaf * leaf
        for k, leaf in enumerate(leaves, 1)
    )


# Classes
# ------------------------------------------------------------------------------------------------


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Fraction(float, enum.Enum):
    HALF = 0.5


class Pair(collections.namedtuple("Pair", "first second")):
    __slots__ = ()


@dataclasses.dataclass
class Plain:
    w: object
    b: object = 1.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: object
    b: object = 1.0


@dataclasses.dataclass(slots=True)
class Slotted:
    w: object
    b: object = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlotted:
    w: object
    b: object = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Child(FrozenSlotted):
    c: object = 2.0


@dataclasses.dataclass
class KeywordOnly:
    w: object
    b: object = dataclasses.field(default=1.0, kw_only=True)


@dataclasses.dataclass
class Private:
    __w: object
    b: object = 1.0

    @property
    def w(self):
        return self.__w


@dataclasses.dataclass
class WithStatic:
    w: object
    shape: tuple = dataclasses.field(default=(3, 4), metadata={"static": True})
    table: object = dataclasses.field(default_factory=lambda: X, metadata={"static": True})
    rate: float = dataclasses.field(default=0.5, metadata={"static": True})


@dataclasses.dataclass
class Checked:
    w: object
    count: int = 3

    def __post_init__(self):
        if self.count is None or self.w.sum() != 3.0:
            raise ValueError("this is not a model but its gradient")


@dataclasses.dataclass
class Unset:
    w: object
    later: object = dataclasses.field(init=False)


@dataclasses.dataclass(slots=True)
class UnsetSlot:
    w: object
    later: object = dataclasses.field(init=False)


@attrs.frozen
class AttrsFrozen:
    w: object
    b: object = 1.0


@attrs.define
class AttrsSlots:
    w: object
    b: object = 1.0

    def __attrs_post_init__(self):
        if self.b is None or np.ndim(self.w) != 1:
            raise ValueError("this is not a model but its gradient")


@attrs.define(slots=False)
class AttrsDict:
    w: object
    b: object = 1.0


class Opaque:
    """Not a node: a plain class."""

    def __init__(self, w=None):
        self.w = w

    def method(self):
        return self.w


class OpaqueSlots:
    __slots__ = ("__secret", "w")

    def __init__(self, w=None, secret=None):
        self.w = w
        self.__secret = secret


class Registered:
    def __init__(self, w, name):
        self.w, self.name = w, name


register_node(
    Registered,
    lambda node: ((node.w,), node.name),
    lambda name, children: Registered(*children, name),
)


# What comes back
# ------------------------------------------------------------------------------------------------

#: name: (the argument, its leaves in order, its gradient). The scenarios of the kit have the plain
#: containers.
STRUCTURES = {
    "dict with mixed keys": (
        {"b": X, 3: Y, (1, "t"): 2.0, None: 4.0, True: X, Color.RED: 1.5, frozenset(): X},
        lambda m: [m["b"], m[3], m[(1, "t")], m[None], m[True], m[Color.RED], m[frozenset()]],
        {
            "b": 2 * X,
            3: 4 * Y,
            (1, "t"): 12.0,
            None: 32.0,
            True: 10 * X,
            Color.RED: 18.0,
            frozenset(): 14 * X,
        },
    ),
    "slotted dataclass": (Slotted(X, Y), lambda m: [m.w, m.b], Slotted(2 * X, 4 * Y)),
    "frozen slotted child": (
        Child(X, Y, 3.0),
        lambda m: [m.w, m.b, m.c],
        Child(2 * X, 4 * Y, 18.0),
    ),
    "keyword-only field": (KeywordOnly(X, b=Y), lambda m: [m.w, m.b], KeywordOnly(2 * X, b=4 * Y)),
    "nested": (
        {"layers": [Plain(X, Frozen(Y, 2.0)), (Slotted(X),)]},
        lambda m: [
            m["layers"][0].w,
            m["layers"][0].b.w,
            m["layers"][0].b.b,
            m["layers"][1][0].w,
            m["layers"][1][0].b,
        ],
        {"layers": [Plain(2 * X, Frozen(4 * Y, 12.0)), (Slotted(8 * X, 10.0),)]},
    ),
    "registered": (
        [Registered({"k": X}, "dense")],
        lambda m: [m[0].w["k"]],
        [Registered({"k": 2 * X}, "dense")],
    ),
}


@each_backend
@pytest.mark.parametrize("name", STRUCTURES)
def test_the_gradient_has_the_type_structure_and_order_of_its_argument(name, backend):
    argument, leaves, expected = STRUCTURES[name]
    (found,) = gradient(lambda m: total(*leaves(m)), backend, argument)
    if name == "registered":
        assert found[0].name == "dense"
        found, expected = found[0].w, expected[0].w
    assert_tree(found, expected, rtol_of(backend))


@each_backend
def test_a_private_field_is_found_under_its_mangled_name(backend):
    (found,) = gradient(lambda m: total(m.w, m.b), backend, Private(X, Y))
    assert type(found) is Private
    assert_tree((found.w, found.b), (2 * X, 4 * Y), rtol_of(backend))


# name: a value without a gradient
NO_GRADIENT = {
    "None": None,
    "str": "softmax",
    "bytes": b"x",
    "int": 3,
    "bool": True,
    "enum": Color.RED,
    "int enum": Level.LOW,
    "float enum": Fraction.HALF,
    "function": len,
    "lambda": lambda x: x,
    "class": Plain,
    "partial": functools.partial(max, X),
    "bound method": Opaque(X).method,
    "bound method of a dataclass": Plain(X).__init__,
    "ufunc": np.sin,
    "module": np,
    "integer array": np.arange(3),
    "bool array": np.array([True]),
    "string array": np.array(["a"]),
    "datetime array": np.array(["2024-01-01"], dtype="datetime64[D]"),
    "timedelta": np.timedelta64(3, "D"),
    "structured integers": np.zeros(2, dtype=[("a", "int32")]),
    "range": range(3),
    "set": {1, 2},
    "slice": slice(1, 2),
    "dtype": np.dtype("float32"),
    "opaque": Opaque(3),
    "opaque with integers": Opaque([np.arange(3), {"a": "s"}]),
    "opaque with slots": OpaqueSlots("s"),
    "random key": jax.random.key(0),
    "old random key": jax.random.PRNGKey(0),
    "integer tensor": torch.arange(3),
    "integer JAX array": jnp.arange(3),
}


# A bare integer argument is promoted to a float.
PROMOTED = ("int", "integer array", "integer tensor", "integer JAX array", "old random key")


@each_backend
@pytest.mark.parametrize("name", NO_GRADIENT)
def test_a_value_without_a_gradient_passes_untouched_and_its_gradient_is_none(name, backend):
    value = NO_GRADIENT[name]
    array = isinstance(value, (np.ndarray, np.generic, jax.Array, torch.Tensor))

    def f(m):
        if not array:  # integer arrays are carried into the engine's arrays
            assert m["value"] is value
            assert m["again"].b is value
        return total(m["x"])

    (found,) = gradient(f, backend, {"value": value, "x": X, "again": Plain(X, value)})
    assert_tree(found, {"value": None, "x": 2 * X, "again": Plain(0 * X, None)}, rtol_of(backend))
    if name not in PROMOTED:
        found = gradient(lambda x, value: total(x), backend, X, value)
        assert_tree(found, (2 * X, None), rtol_of(backend))


@each_backend
def test_static_fields_are_kept_in_the_gradient_and_never_differentiated(backend):
    model = WithStatic(X)

    def f(m):
        assert m.table is X
        assert m.rate is model.rate
        assert m.shape is model.shape
        return total(m.w)

    (found,) = gradient(f, backend, model)
    assert found.shape == (3, 4)
    assert found.table is X
    assert found.rate == 0.5
    assert_tree(found.w, 2 * X, rtol_of(backend))


@each_backend
@pytest.mark.parametrize(
    "model",
    [
        Checked(X),
        Unset(X),
        UnsetSlot(X),
        AttrsFrozen(X, "name"),
        AttrsSlots(X, "name"),
        AttrsDict(X, "name"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_class_is_built_without_its_init_and_an_unset_field_stays_unset(model, backend):
    def f(m):
        assert not hasattr(m, "later")
        return total(m.w)

    (found,) = gradient(f, backend, model)
    assert type(found) is type(model)
    assert not hasattr(found, "later")
    assert getattr(found, "b", None) is getattr(found, "count", None) is None
    assert_tree(found.w, 2 * X, rtol_of(backend))


def test_registration_precedes_every_other_way_of_recognising_a_class():
    @dataclasses.dataclass
    class Both:
        w: object
        b: object

    register_node(Both, lambda node: ((node.w,), node.b), lambda b, children: Both(*children, b))
    (found,) = gradient(lambda m: total(m.w), next(iter(each_backend.args[1])), Both(X, X))
    assert found.b is X


class Estimator:
    """Settings from `__init__`; what was fitted ends with an underscore."""

    def __init__(self, alpha=0.25):
        self.alpha = alpha
        self.w_, self.b_, self.names_ = np.zeros(2), 0.5, ["a", "b"]

    @property
    def seen(self):
        return self.w_


register_node(Estimator, fields=["w_", "b_"])


@each_backend
def test_other_attributes_of_a_registered_class_are_kept_and_not_differentiated(backend):
    def ridge(model, x):
        return (model.w_ * x).sum() * model.b_ + model.alpha * (model.w_**2).sum()

    model = Estimator()
    call = prepare(gradient, ridge, backend, model, Constant(X))
    for alpha in (0.25, 0.5):
        model.alpha, model.w_ = alpha, np.ones(2)
        slope, again = call(model, Constant(X))[0], gradient(ridge, backend, model, Constant(X))[0]
        assert_tree((slope.w_, slope.b_), (again.w_, again.b_), rtol_of(backend))
        np.testing.assert_allclose(slope.w_, 0.5 * X + 2 * alpha, rtol=1e-5)
        assert type(slope) is Estimator
        assert (type(slope.b_), slope.alpha, slope.names_) == (float, None, None)
    assert call.specializations == 1
    doubled = tree.map(lambda leaf: 2 * leaf, model)
    assert (doubled.alpha, doubled.names_, doubled.w_.tolist()) == (0.5, ["a", "b"], [2.0] * 2)


# Constant
# ------------------------------------------------------------------------------------------------

#: name: what stands in the Constant
CONSTANTS = {
    "array": X,
    "float": 2.0,
    "str": "text",
    "tree": {"a": [X, 1.5, "s", None, 3], "b": Pair(X, Plain(X))},
    "Constant": Constant(X),
    "opaque object with arrays": Opaque(X),
    "slotted opaque object with arrays": OpaqueSlots(X),
    "list of opaque objects": [Opaque(X)],
    "masked array": np.ma.array(X),
    "object array": np.array([1, None]),
    "dataclass with a hidden array": None,  # set below
    "module": torch.nn.Linear(2, 2),
    "partial": functools.partial(max, X),
}
CONSTANTS["dataclass with a hidden array"] = Plain(X)
CONSTANTS["dataclass with a hidden array"].hidden = Y


@each_backend
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_may_stand_at_any_node_and_its_gradient_is_none(name, backend):
    constant = Constant(CONSTANTS[name])
    inner = constant.value.value if name == "Constant" else constant.value

    def f(m, d, p, x):
        for seen in (m, d["k"], p.b):
            assert not isinstance(seen, Constant)
            assert type(seen) is type(inner) or isinstance(inner, np.ndarray)
            if type(inner) in (str, Opaque, OpaqueSlots):
                assert seen is inner
        return total(x)

    found = gradient(f, backend, constant, {"k": constant}, Plain(X, constant), X)
    assert_tree(found, (None, {"k": None}, Plain(0 * X, None), 2 * X), rtol_of(backend))


# tree.sum_shared
# ------------------------------------------------------------------------------------------------


@each_backend
def test_sum_shared_gives_what_is_one_array_the_sum_at_each_of_its_places(backend):
    model = {"a": X, "b": [Frozen(X, 3.0)], "c": X.copy(), "s": "text"}
    grads = gradient(lambda m: total(m["a"], m["b"][0].w, m["c"], m["b"][0].b), backend, model)
    (found,) = (tree.sum_shared(model, grads[0]),)
    expected = {"a": 6 * X, "b": [Frozen(6 * X, 24.0)], "c": 6 * X, "s": None}
    assert_tree(found, expected, rtol_of(backend))
    assert not np.shares_memory(found["a"], found["b"][0].w)
    assert_tree(tree.sum_shared((model,), grads), (expected,), rtol_of(backend))


# What a plan must tell apart
# -----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Signed:
    w: Any
    s: Any = dataclasses.field(default=None, metadata={"static": True})


@dataclasses.dataclass(frozen=True)
class Scale:
    number: float = dataclasses.field(compare=False)


class Locked(Scale):
    """Equal to others, without a hash."""

    __hash__ = None


STATIC = {
    "sign of zero": (lambda s: np.copysign(1.0, s), (0.0, -0.0)),
    "inside tuples": (
        lambda s: {int: 3.0, float: 3.5, complex: 4.0}[type(s[0][0])],
        (((2,),), ((2.0,),), ((2 + 0j,),)),
    ),
    "inside frozensets": (
        lambda s: 3.0 if isinstance(min(s), int) else 3.5,
        (frozenset({2}), frozenset({2.0})),
    ),
    "left out of ==": (lambda s: s.number, (Scale(1.0), Scale(5.0))),
    "without a hash": (lambda s: s.number, (Locked(1.0), Locked(5.0))),
}


@each_backend
@pytest.mark.parametrize("name", STATIC)
def test_static_values_that_are_equal_but_not_the_same(name, backend):
    number, values = STATIC[name]
    f = lambda m: (m.w * number(m.s)).sum()
    calls = [lambda m: gradient(f, backend, m)]
    if name != "left out of ==":  # as with `jax.jit`
        calls.append(prepare(gradient, f, backend, Signed(X, values[0])))
    for call in calls:
        for value in (*values, *values):
            (found,) = call(Signed(X, value))
            np.testing.assert_allclose(found.w, np.full(2, number(value)), rtol=1e-5)
            assert repr(found.s) == repr(value)


@dataclasses.dataclass
class Cached:
    w: Any
    k: float

    @functools.cached_property
    def square(self):
        return self.k * self.k


class CachedByNames(Cached):
    """The same, registered by the names of its attributes."""


register_node(CachedByNames, fields=["w", "k"])


@each_backend
@pytest.mark.parametrize("cls", [Cached, CachedByNames])
def test_a_cached_property_is_computed_from_what_is_differentiated(cls, backend):
    model = cls(np.array([1.0, 2.0]), 3.0)
    for _ in range(2):
        (found,) = gradient(lambda m: m.w.sum() * m.square, backend, model)
        np.testing.assert_allclose(found.k, 18.0, rtol=1e-4)
        assert model.square == 9.0
        assert "square" not in vars(found)


@dataclasses.dataclass
class Late:
    w: Any
    s: float = dataclasses.field(default=2.0, init=False)


@each_backend
def test_a_field_that_only_its_class_has_is_differentiated(backend):
    model = Late(X)
    for _ in range(2):
        (found,) = gradient(lambda m: (m.w * m.s).sum(), backend, model)
        np.testing.assert_allclose(found.s, 3.0, rtol=1e-5)
        np.testing.assert_allclose(found.w, np.full(2, model.s), rtol=1e-5)
        model.s = 3.0
