"""What no engine can differentiate is never silently without a gradient: floats in objects of other people."""

import array
import collections
import ctypes
import decimal
import enum
import fractions
import re
import sys
import types
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import each_backend

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    Constant,
    NotDifferentiableError,
    gradient,
    prepare,
    register_node,
)
from adinterface.core.tree import handler_of, recognition

X = np.array([1.0, 2.0])


class Meters(float):
    pass


class Phase(complex):
    pass


class Half(float, enum.Enum):
    HALF = 0.5


class Settings(dict):
    pass


class Row(list):
    pass


class Rate:
    def __init__(self, value):
        self.value = value


class Column:
    """A table's column, as pandas has it: its numbers are C's, and it makes an array of itself."""

    __slots__ = ("__weakref__", "dtype", "entries")

    def __init__(self, entries, dtype):
        self.entries, self.dtype = (lambda: entries), np.dtype(dtype)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.entries(), dtype=self.dtype)


class OnDisk(Column):
    def __array__(self, dtype=None, copy=None):
        raise AssertionError("all of the file was read to ask for its dtype")


#: What holds floating arrays, or is a float that no engine knows: refused wherever it stands.
REFUSED = {
    "array.array": array.array("d", [1.0]),
    "memoryview": memoryview(X),
    "ctypes array": (ctypes.c_double * 2)(1.0, 2.0),
    "column": Column([1.0, 2.0], "float64"),
    "column of nullable floats": Column([1.0, None], object),
    "on disk": OnDisk([], "float32"),
    "read-only dict of arrays": types.MappingProxyType({"a": X}),
    "view of a dict": {"a": X}.values(),
    "float's subclass": Meters(2.5),
    "complex's subclass": Phase(2.5j),
}
#: What holds Python floats: refused as an argument of its own, structure inside a tree.
REFUSED_ALONE = {
    "SimpleNamespace": (types.SimpleNamespace(a=2.5), ".a"),
    "class": (Rate(2.5), ".value"),
    "list in a class": (Rate([0, 2.5]), ".value[1]"),
    "NumPy number": (Rate(np.float32(2.5)), ".value"),
    "Counter": (collections.Counter(a=2.5), "['a']"),
    "dict's subclass": (Settings(a=2.5), "['a']"),
    "list's subclass": (Row([2.5]), "[0]"),
    "read-only dict": (types.MappingProxyType({"a": 2.5}), "['a']"),
    "set": ({2.5}, "[0]"),
    "deque": (collections.deque([1, 2.5]), "[1]"),
    "UserDict": (collections.UserDict(a=2.5), ".data['a']"),
}
STRUCTURE = {
    "column of strings": Column(["a", None, float("nan")], object),
    "column of integers": Column([1, 2], "int64"),
    "array.array of integers": array.array("i", [1]),
    "bytearray": bytearray(b"ab"),
    "memoryview of bytes": memoryview(b"ab"),
    "Counter of integers": collections.Counter(a=2),
    "float enum": Half.HALF,
    "object in an object": Rate(Rate(2.5)),
    "iterator": iter([1]),
    "generator": (n for n in [1]),
    "random generator": np.random.default_rng(0),
}


def places(value):
    return {"args[1]": (X, value), "args[1][0]": (X, [value]), "args[0]['o']": ({"x": X, "o": value},)}


def first(x, *others):
    return (x["x"] if isinstance(x, dict) else x).sum()


@each_backend
@pytest.mark.parametrize("name", REFUSED)
def test_what_holds_floating_arrays_is_refused_wherever_it_stands(name, backend):
    for path, args in places(REFUSED[name]).items():
        with pytest.raises(
            NotDifferentiableError, match=f"^{re.escape(path)} is an? .*would silently have no gradient"
        ) as caught:
            gradient(first, backend, *args)
        assert "Constant(...)" in str(caught.value)
    for held in (types.SimpleNamespace(a=REFUSED[name]), [Rate(REFUSED[name])]):
        if not isinstance(REFUSED[name], (float, complex)):
            with pytest.raises(NotDifferentiableError, match="is a floating array"):
                gradient(first, backend, X, held)
    gradients = gradient(first, backend, X, Constant(REFUSED[name]))
    assert gradients[1] is None


@each_backend
@pytest.mark.parametrize("name", REFUSED_ALONE)
def test_what_holds_numbers_is_refused_as_an_argument_and_structure_in_a_tree(name, backend):
    value, inner = REFUSED_ALONE[name]
    message = (
        f"args[1] is a {type(value).__module__}.{type(value).__qualname__}, which adinterface cannot look into, but "
        f"args[1]{inner} is a number: it would silently have no gradient."
    )
    with pytest.raises(NotDifferentiableError, match=f"^{re.escape(message)}"):
        gradient(first, backend, X, value)
    for args in list(places(value).values())[1:]:
        found = gradient(first, backend, *args)
        assert (found[1] == [None]) if len(found) == 2 else (found[0]["o"] is None)
    assert gradient(first, backend, X, Constant(value))[1] is None


@pytest.mark.parametrize("number", [decimal.Decimal("2.5"), fractions.Fraction(5, 2)], ids=["Decimal", "Fraction"])
@each_backend
def test_an_exact_number_is_refused_as_an_argument_and_structure_in_a_tree(number, backend):
    with pytest.raises(NotDifferentiableError, match=r"^args\[1\] is a .* Pass float\(x\), or wrap it in Constant"):
        gradient(first, backend, X, number)
    assert gradient(first, backend, X, [number])[1] == [None]


@each_backend
@pytest.mark.parametrize("name", STRUCTURE)
def test_what_holds_no_floats_is_structure(name, backend):
    for args in places(STRUCTURE[name]).values():
        gradient(first, backend, *args)


def test_the_remedy_for_a_float_and_for_a_buffer_is_another_value():
    with pytest.raises(NotDifferentiableError, match=r"Meters, a number that no engine .* Pass float\(x\), or wrap"):
        gradient(first, AutoFiniteDifferences(), X, Meters(2.5))
    with pytest.raises(NotDifferentiableError, match=r"Phase, a number that no engine .* Pass complex\(x\), or wrap"):
        gradient(first, AutoFiniteDifferences(), X, Phase(2.5))
    with pytest.raises(NotDifferentiableError, match=r"is an array\.array\. Pass numpy\.asarray\(x\) or"):
        gradient(first, AutoFiniteDifferences(), X, array.array("d", [1.0]))


def test_an_attribute_beside_the_fields_must_not_hold_a_buffer():
    import dataclasses

    @dataclasses.dataclass
    class Model:
        w: np.ndarray

    model = Model(X)
    model.cache = array.array("d", [1.0])
    with pytest.raises(NotDifferentiableError, match=r"Model\.cache is an attribute that is not a field but holds"):
        gradient(lambda m: m.w.sum(), AutoFiniteDifferences(), model)


@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
def test_such_an_attribute_is_refused_in_a_later_call_too(prepared):
    import dataclasses

    @dataclasses.dataclass
    class Model:
        w: np.ndarray

    model = Model(X)
    model.cache = [1]  # no key is made of it, so the plan takes it from each call
    call = partial(gradient, lambda m: m.w.sum(), AutoFiniteDifferences())
    if prepared:
        call = prepare(gradient, lambda m: m.w.sum(), AutoFiniteDifferences(), model)
    call(model)
    model.cache = array.array("d", [1.0])
    with pytest.raises(NotDifferentiableError, match=r"Model\.cache is an attribute that is not a field but holds"):
        call(model)


def test_a_class_that_was_refused_can_be_registered():
    class Refused(dict):
        pass

    register_node(Refused, lambda r: (list(r.values()), tuple(r)), lambda keys, values: Refused(zip(keys, values)))
    (found,) = gradient(lambda r: r["a"] * 3.0, AutoFiniteDifferences(), Refused(a=2.0))
    assert type(found) is Refused
    assert found["a"] == pytest.approx(3.0)


@pytest.mark.parametrize("backend", [AutoJax(), AutoAutograd(), AutoFiniteDifferences()], ids=repr)
def test_a_keras_model_names_stateless_call(monkeypatch, backend):
    keras = types.ModuleType("keras")
    monkeypatch.setitem(sys.modules, "keras", keras)

    class Model:
        __module__ = "keras.src.models.model"

        def __init__(self):
            self._variables = [types.SimpleNamespace(_value=np.ones(2))]

        def stateless_call(self, trainable, non_trainable, x):
            raise NotImplementedError

    class Mine(Model):
        __module__ = "mine"

    for model in (Model(), Mine()):
        with pytest.raises(
            NotDifferentiableError, match=r"model\.stateless_call\(trainable, non_trainable, x\), with trainable"
        ):
            gradient(lambda m, x: x.sum(), backend, model, X)


@pytest.mark.parametrize("function", [jax.jit(jnp.sin), jax.nn.relu], ids=lambda f: type(f).__name__)
def test_a_compiled_function_is_searched_for_arrays_at_most_once(function, monkeypatch):
    """Each search takes a millisecond or more."""
    handler_of(function)
    monkeypatch.setattr(recognition, "_check_opaque", lambda *args: pytest.fail("searched again"))
    assert handler_of(function) is None
