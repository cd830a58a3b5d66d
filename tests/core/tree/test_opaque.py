"""What no engine can differentiate is never silently without a gradient: floats in objects of other
people.
"""

import array
import collections
import ctypes
import dataclasses
import decimal
import enum
import fractions
import types

import numpy as np
import pytest
from backends_table import assert_told, call_of, each_backend

from adinterface import (
    AutoFiniteDifferences,
    Constant,
    NotDifferentiableError,
    gradient,
    register_node,
)

X = np.array([1.0, 2.0])


class Meters(float):
    pass


class Phase(complex):
    pass


class Half(float, enum.Enum):
    HALF = 0.5


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


#: Refused wherever it stands, with these words: it holds floating arrays, or is a float that no
#: engine knows.
REFUSED = {
    "array.array": (array.array("d", [1.0]), "is an array.array. Pass numpy.asarray(x) or ..."),
    "memoryview": (memoryview(X), "is a ..."),
    "memoryview of NaN": (memoryview(np.full(2, np.nan)), "is a ..."),
    "ctypes array": ((ctypes.c_double * 2)(1.0, 2.0), "is a ..."),
    "column": (Column([1.0, 2.0], "float64"), "is a ..."),
    "column of nullable floats": (Column([1.0, None], object), "is a ..."),
    "on disk": (OnDisk([], "float32"), "is a ..."),
    "read-only dict of arrays": (types.MappingProxyType({"a": X}), "is a ..."),
    "view of a dict": ({"a": X}.values(), "is a ..."),
    "float's subclass": (
        Meters(2.5),
        "is a ....Meters, a number that no engine ... Pass float(x), or wrap...",
    ),
    "complex's subclass": (
        Phase(2.5j),
        "is a ....Phase, a number that no engine ... Pass complex(x), or wrap...",
    ),
}
_LOOK = (
    "is a ..., which adinterface cannot look into, but args[1]{} is a number: it would silently"
    " have no gradient...."
)
#: Refused as an argument of its own, structure inside a tree: it holds Python floats.
REFUSED_ALONE = {
    "SimpleNamespace": (types.SimpleNamespace(a=2.5), _LOOK.format(".a")),
    "class": (Rate(2.5), _LOOK.format(".value")),
    "list in a class": (Rate([0, 2.5]), _LOOK.format(".value[1]")),
    "NumPy number": (Rate(np.float32(2.5)), _LOOK.format(".value")),
    "Counter": (collections.Counter(a=2.5), _LOOK.format("['a']")),
    "list's subclass": (Row([2.5]), _LOOK.format("[0]")),
    "read-only dict": (types.MappingProxyType({"a": 2.5}), _LOOK.format("['a']")),
    "set": ({2.5}, _LOOK.format("[0]")),
    "deque": (collections.deque([1, 2.5]), _LOOK.format("[1]")),
    "UserDict": (collections.UserDict(a=2.5), _LOOK.format(".data['a']")),
    "Decimal": (decimal.Decimal("2.5"), "is a ... Pass float(x), or wrap it in Constant..."),
    "Fraction": (fractions.Fraction(5, 2), "is a ... Pass float(x), or wrap it in Constant..."),
}
STRUCTURE = {
    "column of strings": Column(["a", None, float("nan")], object),
    "column of integers": Column([1, 2], "int64"),
    "array.array of integers": array.array("i", [1]),
    "bytes": (bytearray(b"ab"), memoryview(b"ab")),
    "Counter of integers": collections.Counter(a=2),
    "float enum": Half.HALF,
    "object in an object": Rate(Rate(2.5)),
    "iterators": (iter([1]), (n for n in [1])),
    "random generator": np.random.default_rng(0),
}


def places(value):
    return {
        "args[1]": (X, value),
        "args[1][0]": (X, [value]),
        "args[0]['o']": ({"x": X, "o": value},),
    }


def first(x, *others):
    return (x["x"] if isinstance(x, dict) else x).sum()


@each_backend
@pytest.mark.parametrize("name", {**REFUSED, **REFUSED_ALONE})
def test_what_holds_floats_is_refused(name, backend):
    value, words = (REFUSED | REFUSED_ALONE)[name]
    for path, args in places(value).items():
        if name in REFUSED or path == "args[1]":
            call = lambda args=args: gradient(first, backend, *args)
            assert_told(call, NotDifferentiableError, f"{path} {words}")
        else:
            found = gradient(first, backend, *args)
            assert (found[1] == [None]) if len(found) == 2 else (found[0]["o"] is None)
    if name in REFUSED and not isinstance(value, (float, complex)):
        for held in (types.SimpleNamespace(a=value), [Rate(value)]):
            call = lambda held=held: gradient(first, backend, X, held)
            assert_told(call, NotDifferentiableError, "...is a floating array...")
    assert gradient(first, backend, X, Constant(value))[1] is None


@each_backend
@pytest.mark.parametrize("name", STRUCTURE)
def test_what_holds_no_floats_is_structure(name, backend):
    for args in places(STRUCTURE[name]).values():
        gradient(first, backend, *args)


@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
def test_an_attribute_beside_the_fields_is_looked_at_in_a_later_call_too(prepared):
    @dataclasses.dataclass
    class Model:
        w: np.ndarray

    model, f = Model(X), lambda m: m.w.sum()
    model.cache = [1]  # no key is made of it, so the plan takes it from each call
    call = call_of(prepared, gradient, f, AutoFiniteDifferences(), model)
    call(model)
    model.cache = array.array("d", [1.0])
    assert_told(
        lambda: call(model),
        NotDifferentiableError,
        "...Model.cache is an attribute that is not a field but holds...",
    )


def test_a_class_that_was_refused_can_be_registered():
    class Refused(dict):
        pass

    register_node(
        Refused,
        lambda r: (list(r.values()), tuple(r)),
        lambda keys, values: Refused(zip(keys, values)),
    )
    (found,) = gradient(lambda r: r["a"] * 3.0, AutoFiniteDifferences(), Refused(a=2.0))
    assert (type(found), found["a"]) == (Refused, pytest.approx(3.0))
