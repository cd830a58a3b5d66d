"""`ComposedNamespace`: the standard, composed of few functions."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from adinterface_conformance.uses import USES
from backends_table import assert_told

from adinterface import array_namespace
from adinterface.core.contract.library import NUMPY
from adinterface.namespaces import ComposedNamespace

FUNCTIONS = ["reshape", "transpose", "concatenate", "where", "take", "matmul"]
ELEMENTWISE = ["exp", "log", "sqrt", "sin", "cos", "arcsin", "floor"]
PRIMITIVES = [
    *FUNCTIONS,
    *ELEMENTWISE,
    "bool_",
    "int32",
    "int64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
LINALG = SimpleNamespace(
    **{name: getattr(np.linalg, name) for name in ("inv", "det", "cholesky", "eigh", "qr", "svd")}
)
#: What no composition can make: the standard's own number formats, and sums of products by name.
NEEDED = {"nextafter", "einsum"}
NAMES = [
    name
    for name in dict.fromkeys(use.name for use in USES)
    if not name.startswith(("x", "-", "+", "abs(", "if", "int("))
]


def module(**functions):
    return SimpleNamespace(
        **{name: getattr(np, name) for name in PRIMITIVES}, linalg=LINALG, **functions
    )


@pytest.fixture(scope="module")
def few():
    own = {
        "real": np.real,
        "imag": np.imag,
        "conj": np.conj,
        "astype": lambda x, dtype: np.asarray(x).astype(dtype),
    }
    return ComposedNamespace(NUMPY, module(), own)


@pytest.mark.parametrize("name", NAMES)
def test_the_standard_is_composed_of_few_functions(few, name):
    right = [use for use in USES if use.name == name]
    if name in NEEDED:
        with pytest.raises(AttributeError, match=rf"^The namespace of numpy has no {name}\.$"):
            right[0].f(few, *right[0].arrays)
        return
    for use in right:
        wanted, got = use.f(array_namespace(use.arrays[0]), *use.arrays), use.f(few, *use.arrays)
        for mine, theirs in zip(
            *[part if isinstance(part, (tuple, list)) else (part,) for part in (got, wanted)],
            strict=True,
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
            assert np.shape(mine) == np.shape(theirs)


A, EMPTY, COMPLEX = np.ones((2, 2)), np.zeros((0, 2)), np.ones(2) * 1j
REFUSED = [
    (lambda xp: xp.meshgrid(A[0], indexing="x"), ValueError, "meshgrid: indexing is 'xy' or 'ij'."),
    (lambda xp: xp.take(A, np.array([0])), ValueError, "take needs an axis for an array of more than one dimension."),
    (lambda xp: xp.max(EMPTY), ValueError, "max of an empty array has no value."),
    (lambda xp: xp.real(COMPLEX), TypeError, "The engine has no real() of complex arrays."),
    (lambda xp: xp.imag(COMPLEX), TypeError, "The engine has no imag() of complex arrays."),
    (lambda xp: xp.conj(COMPLEX), TypeError, "The engine has no conj() of complex arrays."),
    (lambda xp: xp.linalg.qr(A, mode="complete"), TypeError, "linalg.qr: the composition has reduced factors only."),
    (lambda xp: xp.linalg.pinv(A, rtol=0.1), TypeError,
     "linalg.pinv: the composition takes matrices of full rank, without rtol."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "cls", "words"), REFUSED)
def test_what_a_composition_does_not_take_is_refused(call, cls, words):
    few = ComposedNamespace(NUMPY, module(), {"take": None, "linalg.qr": None})
    assert_told(lambda: call(few), cls, words)


def test_functions_that_are_composed_of_each_other_are_missed_together():
    xp = ComposedNamespace(NUMPY, SimpleNamespace())
    for name, other in (("inv", "solve"), ("solve", "inv"), ("det", "slogdet")):
        words = rf"^The namespace of numpy has no linalg\.{name} and no linalg\.{other}\.$"
        with pytest.raises(AttributeError, match=words):
            getattr(xp.linalg, name)


def test_a_wrong_function_of_the_module_is_passed_over():
    wrong = module(flip=lambda x, axis=None: x)
    assert ComposedNamespace(NUMPY, wrong).flip(np.arange(3.0))[0] == 0.0
    assert ComposedNamespace(NUMPY, wrong, {"flip": None}).flip(np.arange(3.0))[0] == 2.0


def test_dtypes_are_those_of_the_module():
    namespace = ComposedNamespace(NUMPY, module())
    assert namespace.result_type(np.zeros(2, "float32"), np.float64) is np.float64
    assert namespace.isdtype(np.float32, "real floating")
    assert namespace.isdtype(np.float32, (np.float64, "integral")) is False
    assert namespace.finfo(np.float32).eps == np.finfo("float32").eps
    assert namespace.iinfo(np.int64).max == 2**63 - 1
    assert namespace.can_cast(np.float32, np.float64)
    assert namespace.asarray([np.zeros(2), np.ones(2)]).shape == (2, 2)
    with pytest.raises(AttributeError):
        _ = namespace.__wrapped__


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,ij->i", [(3, 1), (3, 2)]),
        ("ij,jk", [(2, 3), (1, 4)]),
        ("ij,ij", [(1, 3), (2, 1)]),
        ("ba,a", [(2, 3), (1,)]),
    ],
)
def test_einsum_stretches_axes_for_an_engine_that_does_not(subscripts, shapes):
    def strict(subscripts, *arrays):
        for x in arrays:
            assert 1 not in x.shape
        return np.einsum(subscripts, *arrays)

    arrays = [np.random.default_rng(0).normal(size=shape) for shape in shapes]
    namespace = ComposedNamespace(NUMPY, module(einsum=strict), {"einsum": None})
    np.testing.assert_allclose(
        namespace.einsum(subscripts, *arrays), np.einsum(subscripts, *arrays)
    )


EXACT = [
    (name, dtype)
    for name in ("all", "any", "prod", "sum")
    for dtype in ("float32", "int32", "bool")
]


@pytest.mark.parametrize(
    ("name", "dtype"), [*EXACT, ("mean", "float32"), ("std", "float64"), ("var", "float32")]
)
def test_reductions_of_empty_arrays_are_not_left_to_the_engine(name, dtype):
    """MLX may never return from one."""

    def function(x, **options):
        assert x.size
        return getattr(np, name)(x, **options)

    namespace = ComposedNamespace(NUMPY, module(**{name: function}))
    x = np.zeros((2, 0, 3), dtype)
    for options in [{}, {"axis": 0}, {"axis": 1, "keepdims": True}]:
        got = getattr(namespace, name)(x, **options)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = np.asarray(getattr(np, name)(x, **options))
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype
    if name in ("prod", "sum"):
        assert getattr(namespace, name)(x, dtype=None).dtype == wanted.dtype
        assert getattr(namespace, name)(x, dtype=np.float64).dtype == np.float64
