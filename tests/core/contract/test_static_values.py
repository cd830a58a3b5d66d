"""Static values: two that f can tell apart never share a plan or compiled code, two that it cannot
tell do.
"""

import collections
import fractions
import pathlib
import types
import weakref
from dataclasses import dataclass, field

import equinox as eqx
import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import call_of, each_backend, rtol_of

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    prepare,
    pushforward,
)

X = np.array([1.0, 2.0])


class Coarse:
    """What `==` does not look at."""

    def __init__(self, name, number):
        self.name, self.number = name, number

    def __eq__(self, other):
        return isinstance(other, Coarse) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Locked(Coarse):
    """Equal by name, without a hash."""

    __hash__ = None


class Names(collections.UserList):
    pass


def test_an_object_that_changes_in_place_is_the_same():
    """As with `jax.jit`."""
    kept = types.SimpleNamespace(n=3)
    fast = prepare(gradient, lambda x, s: jnp.sum(x * s.n), AutoJax(), X, Constant(kept))
    assert fast(X, Constant(kept))[0][0] == 3.0
    kept.n = 7
    assert fast(X, Constant(kept))[0][0] == 3.0
    assert fast(X, Constant(types.SimpleNamespace(n=7)))[0][0] == 7.0


# In calls
# ------------------------------------------------------------------------------------------------


@dataclass
class Model:
    w: np.ndarray
    tag: object = field(metadata={"static": True})


class Layer(eqx.Module):
    w: jax.Array
    n: object = eqx.field(static=True)


@jax.tree_util.register_pytree_node_class
class Registered:
    """As in JAX's documentation: what is static stands in a dict."""

    def __init__(self, w, options):
        self.w, self.n = w, options["n"]

    def tree_flatten(self):
        return (self.w,), {"n": self.n}

    @classmethod
    def tree_unflatten(cls, options, children):
        return cls(*children, options)


@pytest.mark.parametrize(
    "make", [Layer, lambda w, n: Registered(w, {"n": n})], ids=["Equinox", "registered with JAX"]
)
@pytest.mark.parametrize("prepared", [False, True])
def test_static_fields_of_jax_classes_are_told_apart_by_type(make, prepared):
    def f(m):
        return jnp.sum(m.w) * {int: 100.0, bool: 10.0, float: 1.0}[type(m.n)] * m.n

    w = jnp.ones(2)
    call = call_of(prepared, gradient, f, AutoJax(), make(w, 1))
    for n, expected in ((1, 100.0), (1.0, 1.0), (True, 10.0), (1, 100.0), (4, 400.0), (4.0, 4.0)):
        (found,) = call(make(w, n))
        assert found.w[0] == expected
        assert (type(found.n), found.n) == (type(n), n)
    if prepared:
        assert call.specializations == 5


class Plain:
    """Equal to itself alone, as most classes have it."""

    def __init__(self, number):
        self.number = number

    def times(self, x):
        return self.number * x

    def __call__(self, x):
        return self.number * x


DIFFERENT = [
    ({1}, {True}),
    (Names([1]), Names([1.0])),
    (Locked("a", 1), Locked("a", 2)),
    (4, 4.0),
    (1, fractions.Fraction(1)),
    (({1: 2, 3: 4},), ({3: 4, 1: 2},)),
    (np.array([1, 2], dtype=object), np.array([1, 2.0], dtype=object)),
    (np.array(["a"]), np.array(["a"], dtype="U2")),
    (Locked("a", 1), Locked("a", 1)),
]
SAME = [
    lambda: [1, "a", {2, "b"}, float("nan")],
    lambda: pathlib.Path("a"),
    lambda: np.array(["NaT", "2020"], dtype="M8[D]"),
    lambda: np.array(["a", "bb"], dtype=np.dtypes.StringDType()),
    lambda: Coarse("a", 1),
    lambda: (abs, np.dtype("float32"), range(3)),
]


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT, *[(make(), make()) for make in SAME]])
def test_what_f_can_tell_apart_is_compiled_twice_and_what_it_cannot_once(one, other):
    fast = prepare(gradient, lambda x, s: jnp.sum(x), AutoJax(), X, Constant([one]))
    for value in (one, other, one, other):
        fast(X, Constant([value]))
    assert fast.specializations == 1 + any(pair[0] is one for pair in DIFFERENT)


# The very objects
# ------------------------------------------------------------------------------------------------


class FlaxModel(flax.struct.PyTreeNode):
    w: object
    tag: object = flax.struct.field(pytree_node=False)


class EquinoxModel(eqx.Module):
    w: object
    tag: object = eqx.field(static=True)


@dataclass
class Open:
    """Without a hash, so it is compared by its contents."""

    part: object


@dataclass(frozen=True)
class Frozen:
    """Equal to others."""

    part: object = None


MARK = Plain(3)
#: Values that hold this object, and what finds it there. The law `identity` has lists, dicts and sets.
HOLDING = {
    "keys": (lambda: {MARK: 1}, lambda c: next(iter(c))),
    "frozenset": (lambda: frozenset({MARK}), lambda c: next(iter(c))),
    "deque": (lambda: collections.deque([MARK]), lambda c: c[0]),
    "class of a list": (lambda: Names([MARK]), lambda c: c[0]),
    "unhashable object": (lambda: Open([MARK]), lambda c: c.part[0]),
    "frozen object": (lambda: Frozen(MARK), lambda c: c.part),
    "weak reference": (lambda: [weakref.ref(MARK)], lambda c: c[0]()),
    "bound method": (lambda: {"k": MARK.times}, lambda c: c["k"].__self__),
}
each_holding = pytest.mark.parametrize(("make", "find"), HOLDING.values(), ids=HOLDING)
each_way = pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])


def second_gradient(f, backend, prepared, *args, **kwargs):
    """Of the first argument, in a second call with the same arguments."""
    call = call_of(prepared, gradient, f, backend, *args, **kwargs)
    call(*args, **kwargs)
    return call(*args, **kwargs)[0]


@each_holding
@each_way
@pytest.mark.parametrize(
    ("backend", "cls"),
    [
        (AutoJax(), Model),
        (AutoJax(), FlaxModel),
        (AutoJax(), EquinoxModel),
        (AutoTorch(), Model),
        (AutoAutograd(), Model),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_f_finds_the_very_objects_in_static_fields(make, find, prepared, backend, cls):
    model, constant = cls(X, make()), cls(X, make())

    def f(m, c):
        return (
            m.w
            * (
                10.0
                if find(m.tag) is MARK and m.tag is model.tag and c.tag is constant.tag
                else 1.0
            )
        ).sum()

    result = second_gradient(f, backend, prepared, model, Constant(constant))
    np.testing.assert_allclose(result.w, [10.0, 10.0], rtol=rtol_of(backend))
    assert result.tag is model.tag


@each_backend
def test_f_gets_the_keys_of_the_call_of_two_equal_dicts(backend):
    first, second = Frozen(), Frozen()

    def f(d):
        return sum((x * (10.0 if key is second else 1.0)).sum() for key, x in d.items())

    for key, expected in ((first, 1.0), (second, 10.0)):
        (result,) = gradient(f, backend, {key: X})
        np.testing.assert_allclose(result[key], [expected, expected], rtol=rtol_of(backend))
        assert next(iter(result)) is key


@each_way
def test_the_objects_of_tangents_and_entries_are_the_callers(prepared):
    def f(m):
        return jnp.sum(m.w**2 * (10.0 if m.tag[0] is MARK else 1.0))

    model, stack = FlaxModel(X, [MARK]), FlaxModel(np.stack([X, X]), [MARK])
    for operator, args in (
        (pushforward, ((model,), (FlaxModel(X, [MARK]),))),
        (hvp, (model, FlaxModel(X, [MARK]))),
        (jacobian, (model,)),
        (hessian, (model,)),
    ):
        leaf = jax.tree.leaves(call_of(prepared, operator, f, AutoJax(), *args)(*args))[-1]
        assert (
            float(jnp.max(leaf))
            == {pushforward: 100.0, hvp: 40.0, jacobian: 40.0, hessian: 20.0}[operator]
        )
    entries = batched(gradient, f, AutoJax(), Each(stack))[0]
    np.testing.assert_allclose(entries.w, [[20.0, 40.0], [20.0, 40.0]])
