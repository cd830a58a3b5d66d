"""Static values: two that f can tell apart never share a plan or compiled code, two that it cannot tell do."""

import collections
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import logging
import math
import pathlib
import re
import threading
import types
import weakref
from dataclasses import dataclass, field

import equinox as eqx
import flax.struct
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend, rtol_of

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    Each,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
)
from adinterface.core.contract.static_values import Unkeyed, key_of

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
    """Equal by name, and nothing that pickle could write."""

    def __init__(self, name, number):
        super().__init__(name, number)
        self.lock = threading.Lock()

    def __reduce__(self):
        raise TypeError("it holds a lock")


class Flags(enum.IntFlag):
    ONE = 1


class Names(collections.UserList):
    pass


_itself = [1]
_itself.append(_itself)

DIFFERENT = [
    (4, 4.0),
    (1, True),
    (1, Flags.ONE),
    (1, fractions.Fraction(1)),
    (0.0, -0.0),
    ((1,), (True,)),
    (frozenset([1]), frozenset([1.0])),
    ({1}, {True}),
    ([1], [1.0]),
    ({1: 2, 3: 4}, {3: 4, 1: 2}),
    (types.SimpleNamespace(n=1), types.SimpleNamespace(n=True)),
    (types.SimpleNamespace(n=[1]), types.SimpleNamespace(n=[True])),
    (collections.UserList([1]), collections.UserList([1.0])),
    (collections.UserList([1]), Names([1])),
    (collections.deque([1]), collections.deque([True])),
    (collections.deque([1]), collections.deque([1], maxlen=3)),
    (collections.Counter(a=1), collections.Counter(a=True)),
    (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    (datetime.datetime(2020, 1, 1, fold=0), datetime.datetime(2020, 1, 1, fold=1)),
    (range(0), range(1, 1)),
    (slice(1, 2), slice(True, 2)),
    (np.float64(0.0), np.float64(-0.0)),
    (np.int64(1), np.int32(1)),
    (np.array([1, 2], dtype=object), np.array([1, 2.0], dtype=object)),
    (np.array(["a"]), np.array(["a"], dtype="U2")),
    (types.MappingProxyType({1: 2}), types.MappingProxyType({1: 2.0})),
    (bytearray(b"a"), bytearray(b"b")),
    (memoryview(b"a"), memoryview(b"b")),
    (Coarse("a", 1), Coarse("a", 2)),
    (Locked("a", 1), Locked("a", 1)),
]
SAME = [
    lambda: 4,
    lambda: float("nan"),
    lambda: range(3),
    lambda: pathlib.Path("a"),
    lambda: types.SimpleNamespace(n=[1, 2]),
    lambda: np.array([1, float("nan")], dtype=object),
    lambda: np.array(["NaT", "2020"], dtype="M8[D]"),
    lambda: np.datetime64("NaT", "D"),
    lambda: np.array(["a", "bb"], dtype=np.dtypes.StringDType()),
    lambda: collections.deque([1]),
    lambda: {"a", 1},
    lambda: frozenset({"a", 1}),
    lambda: jax.sharding.PartitionSpec("x"),
    lambda: jax.tree.structure({"a": 1}),
    lambda: Coarse("a", 1),
    lambda: abs,
    lambda: np.dtype("float32"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda value: re.sub(" at 0x[0-9a-f]*", "", repr(value)))
def test_what_f_can_tell_apart_has_different_keys(one, other):
    assert key_of(one) != key_of(other)
    assert key_of(one) == key_of(one)
    hash(key_of(one))


@pytest.mark.parametrize("make", SAME)
def test_what_f_cannot_tell_apart_has_one_key(make):
    assert key_of(make()) == key_of(make())
    assert hash(key_of(make())) == hash(key_of(make()))


def test_an_object_that_fills_its_caches_keeps_its_key():
    import functools

    class Grid(Coarse):
        @functools.cached_property
        def size(self):
            return 3

    grid = Grid("a", 1)
    before = key_of(grid)
    assert grid.size == 3
    assert key_of(grid) == before


def test_what_may_change_has_a_key_by_its_contents_alone():
    with pytest.raises(Unkeyed):
        key_of([1], fixed=True)
    assert key_of(_itself) == key_of(_itself)  # which ends


def test_what_is_too_deep_has_no_key():
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    for fixed in (True, False):
        with pytest.raises(Unkeyed):
            key_of(deep, fixed)


# In calls -------------------------------------------------------------------------------------------------------------


def number_of(value):
    """What f makes of a static value: a number that tells it from the others."""
    if isinstance(value, (Coarse, Locked)):
        return float(value.number)
    parts = vars(value).values() if isinstance(value, types.SimpleNamespace) else value
    (inner,) = parts
    return 3.0 if type(inner) is int else 7.0


@pytest.mark.parametrize(
    "values",
    [
        (types.SimpleNamespace(n=1), types.SimpleNamespace(n=True)),
        ({1}, {True}),
        (collections.UserList([1]), collections.UserList([1.0])),
        (collections.deque([1]), collections.deque([1.0])),
        (np.array([1], dtype=object), np.array([1.0], dtype=object)),
        (Coarse("a", 1), Coarse("a", 2)),
        (Locked("a", 1), Locked("a", 2)),
    ],
    ids=lambda values: type(values[0]).__name__,
)
@each_backend
def test_a_prepared_call_tells_static_values_apart(values, backend):
    fast = prepare(
        gradient, lambda x, s, *, k: (x * number_of(s) * number_of(k)).sum(), backend, X, Constant(values[0]), k=values[0]
    )
    for s in (*values, *values):
        for k in (*values, *values):
            expected = np.full(2, number_of(s) * number_of(k))
            np.testing.assert_allclose(fast(X, Constant(s), k=k)[0], expected, rtol=rtol_of(backend))
    assert fast.specializations == (4 if isinstance(backend, AutoJax) else 1)


def test_what_changes_between_two_calls_is_seen():
    kept = types.SimpleNamespace(n=1)
    fast = prepare(gradient, lambda x, s: jnp.sum(x * number_of(s)), AutoJax(), X, Constant(kept))
    for n, expected in ((1, 3.0), (True, 7.0), (1, 3.0)):
        kept.n = n
        assert fast(X, Constant(kept))[0][0] == expected
    assert fast.specializations == 2


@pytest.mark.parametrize("make", [lambda: np.array([2.0, np.nan], dtype=object), lambda: np.array(["NaT"], dtype="M8[D]")])
def test_what_is_not_equal_to_itself_is_specialised_once(make):
    fast = prepare(gradient, lambda x, s: jnp.sum(x), AutoJax(), X, Constant(make()))
    for _ in range(3):
        fast(X, Constant(make()))
    assert fast.specializations == 1


class Indivisible:
    """Nothing tells whether it has changed."""

    __hash__ = None

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Indivisible)

    def __reduce__(self):
        raise TypeError("no")


def test_what_cannot_be_told_apart_is_computed_anew_in_each_call():
    fast = prepare(gradient, lambda x, s: jnp.sum(x * s.number), AutoJax(), X, Constant(Indivisible(1.0)))
    assert [float(fast(X, Constant(Indivisible(n)))[0][0]) for n in (1.0, 2.0, 1.0)] == [1.0, 2.0, 1.0]
    assert fast.specializations == 0


@dataclass
class Model:
    w: np.ndarray
    tag: object = field(metadata={"static": True})


@each_backend
def test_a_plan_hands_f_the_static_value_of_the_call(backend):
    for prepared in (False, True):

        def f(m):
            return (m.w * m.tag.number).sum()

        call = prepare(gradient, f, backend, Model(X, Coarse("a", 1))) if prepared else lambda m, f=f: gradient(f, backend, m)
        for number in (1, 2, 1):
            (found,) = call(Model(X, Coarse("a", number)))
            np.testing.assert_allclose(found.w, np.full(2, float(number)), rtol=rtol_of(backend))
            assert found.tag.number == number


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


@pytest.mark.parametrize("make", [Layer, lambda w, n: Registered(w, {"n": n})], ids=["Equinox", "registered with JAX"])
@pytest.mark.parametrize("prepared", [False, True])
def test_static_fields_of_jax_classes_are_told_apart_by_type(make, prepared):
    def f(m):
        return jnp.sum(m.w) * {int: 100.0, bool: 10.0, float: 1.0}[type(m.n)] * m.n

    w = jnp.ones(2)
    call = prepare(gradient, f, AutoJax(), make(w, 1)) if prepared else lambda m: gradient(f, AutoJax(), m)
    for n, expected in ((1, 100.0), (1.0, 1.0), (True, 10.0), (1, 100.0), (4, 400.0), (4.0, 4.0)):
        (found,) = call(make(w, n))
        assert found.w[0] == expected
        assert (type(found.n), found.n) == (type(n), n)
    if prepared:
        assert call.specializations == 5


def test_a_plan_does_not_see_what_becomes_of_the_first_calls_options():
    class Optioned(Registered):
        def __init__(self, w, options):
            self.w, self.options = w, options

        def tree_flatten(self):
            return (self.w,), self.options

    jax.tree_util.register_pytree_node(Optioned, Optioned.tree_flatten, Optioned.tree_unflatten)
    first = {"n": [2.0]}
    fast = prepare(gradient, lambda m: jnp.sum(m.w) * m.options["n"][0], AutoJax(), Optioned(jnp.ones(2), first))
    assert fast(Optioned(jnp.ones(2), first))[0].w[0] == 2.0
    first["n"][0] = 5.0
    assert fast(Optioned(jnp.ones(2), first))[0].w[0] == 5.0
    (found,) = fast(Optioned(jnp.ones(2), {"n": [2.0]}))
    assert found.w[0] == 2.0
    assert found.options == {"n": [2.0]}


@pytest.mark.parametrize("place", ["constant", "keyword", "list"])
def test_an_int_is_never_served_with_a_floats_specialization(place):
    def f(x, n=None, *, k=None):
        n = n[0] if isinstance(n, list) else k if n is None else n
        return jnp.sum(x) * (len(range(n)) if isinstance(n, int) else 100.0 * n)

    def arguments(n):
        return ((X,), {"k": n}) if place == "keyword" else ((X, Constant([n] if place == "list" else n)), {})

    args, kwargs = arguments(4)
    fast = prepare(gradient, f, AutoJax(), *args, **kwargs)
    for n, expected in ((4, 4.0), (2.0, 200.0), (4, 4.0)):
        args, kwargs = arguments(n)
        assert fast(*args, **kwargs)[0][0] == expected


# Objects that change ------------------------------------------------------------------------------------------------------


class Plain:
    """Equal to itself alone, as most classes have it."""

    def __init__(self, number):
        self.number = number

    def times(self, x):
        return self.number * x

    def __call__(self, x):
        return self.number * x


class Slotted:
    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


class Unwritable(Plain):
    """Pickle is of no help with it."""

    def __init__(self, number):
        super().__init__(number)
        self.lock, self.itself, self.log = threading.Lock(), self, logging.getLogger("adinterface.tests")

    def __getstate__(self):
        raise TypeError("no")


class Caching(Plain):
    """It keeps what it has computed."""

    double = None

    def times(self, x):
        if self.double is None:
            self.double = 2 * self.number
        return self.double * x / 2


class Counting(Plain):
    calls = 0

    def times(self, x):
        self.calls += 1
        return self.number * x


def attribute(c, x):
    return c.number * x


def set_number(c):
    c.number = 11


def scaled(numbers, x, k=1):
    return numbers["k"] * x * k


#: From a name to: what makes the object, what changes it so that 3 becomes 11, what f makes of it.
CHANGING = {
    "object": (lambda: Plain(3), set_number, attribute),
    "object with an array": (lambda: Plain(np.full(1, 3.0)), lambda c: c.number.fill(11.0), lambda c, x: c.number[0] * x),
    "object with a tensor": (
        lambda: Plain(torch.full((1,), 3.0)),
        lambda c: c.number.fill_(11),
        lambda c, x: float(c.number) * x,
    ),
    "object with a list": (lambda: Plain([3]), lambda c: c.number.append(11), lambda c, x: c.number[-1] * x),
    "object in an object": (lambda: Plain(Plain(3)), lambda c: set_number(c.number), lambda c, x: c.number.number * x),
    "objects in a dict": (lambda: {"k": Plain(3)}, lambda c: set_number(c["k"]), lambda c, x: c["k"].number * x),
    "objects in a set": (lambda: {Plain(3)}, lambda c: [set_number(each) for each in c], lambda c, x: next(iter(c)).number * x),
    "object in a namespace": (
        lambda: types.SimpleNamespace(o=Plain(3)),
        lambda c: set_number(c.o),
        lambda c, x: c.o.number * x,
    ),
    "slots": (lambda: Slotted(3), set_number, attribute),
    "what pickle does not take": (lambda: Unwritable(3), set_number, attribute),
    "object that is called": (lambda: Plain(3), set_number, lambda c, x: c(x)),
    "bound method": (lambda: Plain(3).times, lambda c: set_number(c.__self__), lambda c, x: c(x)),
    "bound method of a list": (lambda: [3].__getitem__, lambda c: c.__self__.insert(0, 11), lambda c, x: c(0) * x),
    "bound method of a dict": (lambda: {"k": 3}.get, lambda c: c.__self__.update(k=11), lambda c, x: c("k") * x),
    "partial": (lambda: functools.partial(scaled, {"k": 3}), lambda c: c.args[0].update(k=11), lambda c, x: c(x)),
    "partial with keywords": (
        lambda: functools.partial(scaled, {"k": 1}, k=Each([3])),
        lambda c: c.keywords["k"].value.insert(0, 11),
        lambda c, x: c.func(c.args[0], x, c.keywords["k"].value[0]),
    ),
    "partial of an object": (
        lambda: functools.partial(attribute, Plain(3)),
        lambda c: set_number(c.args[0]),
        lambda c, x: c(x),
    ),
}
each_change = pytest.mark.parametrize(("make", "change", "use"), CHANGING.values(), ids=CHANGING)


@each_change
@pytest.mark.parametrize("place", ["constant", "keyword"])
@each_backend
def test_an_object_that_changed_is_seen_by_a_prepared_call(make, change, use, place, backend):
    value = make()
    if place == "constant":
        fast = prepare(gradient, lambda x, c: use(c, x), backend, 2.0, Constant(value))
        calls = lambda: fast(2.0, Constant(value))[0]
    else:
        fast = prepare(gradient, lambda x, *, c: use(c, x), backend, 2.0, c=value)
        calls = lambda: fast(2.0, c=value)[0]
    assert [calls() for _ in range(3)] == [pytest.approx(3.0)] * 3
    assert fast.specializations == 1
    change(value)
    assert [calls() for _ in range(3)] == [pytest.approx(11.0)] * 3
    assert fast.specializations == (2 if isinstance(backend, AutoJax) else 1)


@each_change
def test_the_key_of_an_object_changes_with_it(make, change, use):
    value = make()
    before = key_of(value)
    assert key_of(value) == before
    hash(before)
    change(value)
    assert key_of(value) != before


@each_backend
def test_an_object_in_a_static_field_that_changed_is_seen(backend):
    model = Model(X, Plain(3))
    fast = prepare(gradient, lambda m: (m.w * m.tag.number).sum(), backend, model)
    np.testing.assert_allclose(fast(model)[0].w, [3.0, 3.0], rtol=rtol_of(backend))
    model.tag.number = 11
    (found,) = fast(model)
    np.testing.assert_allclose(found.w, [11.0, 11.0], rtol=rtol_of(backend))
    assert found.tag is model.tag


@pytest.mark.parametrize("make", [Layer, lambda w, n: Registered(w, {"n": n})], ids=["Equinox", "registered with JAX"])
def test_an_object_in_a_static_field_of_jax_that_changed_is_seen(make):
    model = make(jnp.ones(2), Plain(3.0))
    fast = prepare(gradient, lambda m: jnp.sum(m.w) * m.n.number, AutoJax(), model)
    assert fast(model)[0].w[0] == 3.0
    model.n.number = 11.0
    assert fast(model)[0].w[0] == 11.0


def times(x, c):
    return (c.times(x)).sum()


def test_f_that_changes_a_static_value_while_it_is_compiled_is_refused():
    counting, caching = Counting(3), Caching(3)
    message = (
        "gradient: f changes a Counting of its arguments while it is compiled, and compiled code would not repeat the change."
    )
    for _ in range(2):
        with pytest.raises(BackendError, match=re.escape(message)):
            prepare(gradient, times, AutoJax(), X, Constant(counting))(X, Constant(counting))
    fast = prepare(gradient, times, AutoJax(), X, Constant(caching))
    with pytest.raises(BackendError, match="If it is a cache that f fills, call f once before"):
        fast(X, Constant(caching))
    gradient(times, AutoJax(), X, Constant(Caching(3)))
    for x in (X, np.ones(3), X):
        assert fast(x, Constant(caching))[0][0] == 3.0


@pytest.mark.parametrize("backend", [AutoJax(jit=False), AutoTorch(), AutoAutograd()], ids=repr)
def test_f_may_change_a_static_value_where_nothing_is_compiled(backend):
    counting = Counting(3)
    fast = prepare(gradient, times, backend, X, Constant(counting))
    for _ in range(3):
        np.testing.assert_array_equal(fast(X, Constant(counting))[0], [3.0, 3.0])
    assert (counting.calls, fast.specializations) == (3, 1)


def test_two_objects_are_two_values():
    fast = prepare(gradient, lambda x, c: jnp.sum(x * c.number), AutoJax(), X, Constant(Plain(3)))
    assert [float(fast(X, Constant(each))[0][0]) for each in (Plain(3), Plain(4), Plain(3))] == [3.0, 4.0, 3.0]


def test_objects_that_hold_one_another_are_looked_into_once():
    """A walk along every path would not end."""
    parts = [Plain(n) for n in range(50)]
    for part in parts:
        part.parts = parts
    before = key_of(parts[0])
    parts[-1].number = 100
    assert key_of(parts[0]) != before


def test_functions_classes_and_modules_are_told_by_themselves(monkeypatch):
    def decorated(x):
        return x

    for value in (
        decorated,
        jax.jit(decorated),
        functools.lru_cache(decorated),
        Plain,
        math,
        jax.nn.relu,
        logging.getLogger("a"),
    ):
        key = key_of(value)
        monkeypatch.setattr(value, "noted", 1, raising=False)
        assert key_of(value) == key


def test_an_object_may_be_written_to_while_other_threads_compare_it():
    """A loop over its attributes would end in an error: the dict changed its size."""
    shared, stop, errors = Plain({1: 2}), threading.Event(), []

    def write():
        for n in itertools.cycle(range(1000)):
            if stop.is_set():
                return
            setattr(shared, f"extra{n % 50}", n)
            shared.number[n] = n
            if n % 50 == 49:
                for k in range(50):
                    delattr(shared, f"extra{k}")
                shared.number.clear()

    def read():
        try:
            for _ in range(500):
                key_of(shared)
        except Exception as error:
            errors.append(error)

    writer, readers = threading.Thread(target=write), [threading.Thread(target=read) for _ in range(4)]
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    writer.join()
    assert errors == []


# The very objects ---------------------------------------------------------------------------------------------------------


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
#: Values that hold this object, and what finds it there.
HOLDING = {
    "the object": (lambda: MARK, lambda c: c),
    "list": (lambda: [MARK], lambda c: c[0]),
    "tuple": (lambda: (1, [MARK]), lambda c: c[1][0]),
    "dict": (lambda: {"k": {MARK}}, lambda c: next(iter(c["k"]))),
    "keys": (lambda: {MARK: 1}, lambda c: next(iter(c))),
    "set": (lambda: {MARK, 1}, lambda c: next(each for each in c if each != 1)),
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
    call = prepare(gradient, f, backend, *args, **kwargs) if prepared else functools.partial(gradient, f, backend)
    call(*args, **kwargs)
    return call(*args, **kwargs)[0]


@each_holding
@each_way
@each_backend
def test_f_finds_the_very_objects_in_constants_and_keywords(make, find, prepared, backend):
    def f(x, c, *, k):
        return (x * (10.0 if find(c) is MARK and find(k) is MARK else 1.0)).sum()

    result = second_gradient(f, backend, prepared, X, Constant(make()), k=make())
    np.testing.assert_allclose(result, [10.0, 10.0], rtol=rtol_of(backend))


@each_holding
@each_way
@pytest.mark.parametrize(
    ("backend", "cls"),
    [(AutoJax(), Model), (AutoJax(), FlaxModel), (AutoJax(), EquinoxModel), (AutoTorch(), Model), (AutoAutograd(), Model)],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_f_finds_the_very_objects_in_static_fields(make, find, prepared, backend, cls):
    model, constant = cls(X, make()), cls(X, make())

    def f(m, c):
        return (m.w * (10.0 if find(m.tag) is MARK and m.tag is model.tag and c.tag is constant.tag else 1.0)).sum()

    result = second_gradient(f, backend, prepared, model, Constant(constant))
    np.testing.assert_allclose(result.w, [10.0, 10.0], rtol=rtol_of(backend))
    assert result.tag is model.tag


@pytest.mark.parametrize("make", [Frozen, lambda: [1], lambda: decimal.Decimal("1.5")], ids=["frozen", "list", "Decimal"])
@pytest.mark.parametrize("cls", [Model, FlaxModel])
def test_f_gets_the_object_of_the_call_of_two_equal_ones(make, cls):
    first, second = make(), make()

    def f(m):
        return jnp.sum(m.w * (10.0 if m.tag is second else 1.0))

    for tag, expected in ((first, 1.0), (second, 10.0), (first, 1.0)):
        (result,) = gradient(f, AutoJax(), cls(X, tag))
        assert (result.w[0], result.tag is tag) == (expected, True)


@each_backend
def test_f_gets_the_keys_of_the_call_of_two_equal_dicts(backend):
    first, second = Frozen(), Frozen()

    def f(d):
        return sum((x * (10.0 if key is second else 1.0)).sum() for key, x in d.items())

    for key, expected in ((first, 1.0), (second, 10.0)):
        (result,) = gradient(f, backend, {key: X})
        np.testing.assert_allclose(result[key], [expected, expected], rtol=rtol_of(backend))
        assert next(iter(result)) is key


def test_equal_static_values_share_compiled_code():
    fast = prepare(gradient, lambda m: jnp.sum(m.w) * len(m.tag), AutoJax(), FlaxModel(X, [1, 2]))
    for tag, expected in (([1, 2], 2.0), ([1, 2, 3], 3.0), ([1, 2], 2.0)):
        assert fast(FlaxModel(X, tag))[0].w[0] == expected
    assert fast.specializations == 2


@pytest.mark.parametrize("same", [False, True])
def test_a_value_that_f_writes_into_is_compiled_once(same):
    def f(x, scratch):
        scratch.part.append(1)
        return jnp.sum(2 * x)

    kept = Open([])
    fast = prepare(gradient, f, AutoJax(), X, Constant(kept))
    for _ in range(4):
        assert fast(X, Constant(kept if same else Open([])))[0][0] == 2.0
    assert fast.specializations == 1


@pytest.mark.parametrize("operator", [pullback, linearize])
def test_a_value_that_changes_before_the_map_is_compiled_is_refused(operator):
    kept = Plain(3.0)
    fast = prepare(operator, lambda x, c: x * c.number, AutoJax(), 2.0, Constant(kept))
    value, map_ = fast(2.0, Constant(kept))
    kept.number = 5.0
    arguments = (1.0,) if operator is pullback else (1.0, None)
    with pytest.raises(BackendError, match=f"{operator.__name__}: a list, a dict or an object that f gets has changed"):
        map_(*arguments)
    kept.number = 3.0
    result = map_(*arguments)
    assert (value, result[0] if operator is pullback else result) == (6.0, 3.0)
    kept.number = 5.0
    assert map_(*arguments) == result


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
        call = prepare(operator, f, AutoJax(), *args) if prepared else functools.partial(operator, f, AutoJax())
        leaf = jax.tree.leaves(call(*args))[-1]
        assert float(jnp.max(leaf)) == {pushforward: 100.0, hvp: 40.0, jacobian: 40.0, hessian: 20.0}[operator]
    entries = batched(gradient, f, AutoJax(), Each(stack))[0]
    np.testing.assert_allclose(entries.w, [[20.0, 40.0], [20.0, 40.0]])


def test_the_manifest_of_an_export_shows_no_static_data(tmp_path):
    model = FlaxModel(X, [1, 2])
    fast = prepare(gradient, lambda m: jnp.sum(m.w) * len(m.tag), AutoJax(), model)
    manifest = fast.export(str(tmp_path / "written"))
    (argument,) = manifest["arguments"]["args"]
    assert argument["children"] == {".w": {"input": 0}}
    assert [each["path"] for each in manifest["inputs"]] == ["args[0].w"]


# The bound ------------------------------------------------------------------------------------------------------------------

#: From a name to: how to make a container, and how to change it while it keeps its length.
LARGE = {
    "list of floats": (lambda: [1.0] * 10**6, lambda c: c.__setitem__(0, 2.0)),
    "list of lists": (lambda: [[1.0, 2]] * 10**4, lambda c: c.__setitem__(0, [2.0, 2])),
    "dict": (lambda: dict.fromkeys(range(10**6), 1.0), lambda c: c.__setitem__(0, 2.0)),
    "set": (lambda: set(range(2000)), lambda c: c.add(c.pop() - 10**6)),
    "deque": (lambda: collections.deque([1.0] * 2000), lambda c: c.__setitem__(0, 2.0)),
    "Counter": (lambda: collections.Counter(range(2000)), lambda c: c.update([0])),
    "tuple": (lambda: (1,) * 10**6, None),
    "bytearray": (lambda: bytearray(2 * 10**6), lambda c: c.__setitem__(0, 1)),
    "NumPy array": (lambda: np.zeros(10**6), lambda c: c.__setitem__(0, 1.0)),
    "array of objects": (lambda: np.array([1.0, 2] * 10**4, dtype=object), lambda c: c.__setitem__(0, 2.0)),
    "tensor": (lambda: torch.zeros(10**6), lambda c: c.__setitem__(0, 1.0)),
    "object": (lambda: types.SimpleNamespace(**{f"a{n}": (n, 1.0) for n in range(2000)}), None),
}


@pytest.mark.parametrize(("make", "change"), LARGE.values(), ids=LARGE)
def test_what_is_large_is_known_by_its_identity_and_length(make, change):
    large = make()
    for value in (large, [1, large], Plain(large)):
        before = key_of(value)
        assert key_of(value) == before
        assert hash(key_of(value)) == hash(before)
        if change is not None:
            change(large)
            assert key_of(value) == before
    assert key_of(large) != key_of(make())


def test_what_is_beside_a_large_container_is_compared_by_content():
    config = types.SimpleNamespace(table=[1.0] * 10**6, number=3)
    fast = prepare(gradient, lambda x, c: jnp.sum(x) * c.number * len(c.table), AutoJax(), X, Constant(config))
    assert fast(X, Constant(config))[0][0] == 3e6
    config.number = 11
    assert fast(X, Constant(config))[0][0] == 11e6
    config.table.append(1.0)
    assert fast(X, Constant(config))[0][0] == 11 * (10**6 + 1)
    assert fast.specializations == 3


def test_a_small_container_in_a_large_value_is_compared_by_content_up_to_the_bound():
    config = {n: {"k": [n, 1.0]} for n in range(400)}
    before = key_of(config)
    assert key_of({n: {"k": [n, 1.0]} for n in range(400)}) != before  # the last ones by identity
    config[0]["k"][0] = 2
    changed = key_of(config)
    assert changed != before
    config[399]["k"][0] = 2
    assert key_of(config) == changed


def test_the_keys_of_a_tree_have_one_plan_however_many_they_are():
    tree = dict.fromkeys(range(2000), 1.0)
    fast = prepare(gradient, lambda tree: tree[0] ** 2, AutoAutograd(), tree)
    assert fast(dict(tree))[0][0] == 2.0
    assert fast.specializations == 1
