"""Numbers: each leaf keeps its library, dtype, shape and device.

One complex convention; nothing narrowed silently.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from backends_table import (
    BACKENDS,
    ENGINES,
    as_wide,
    assert_numbers,
    assert_tree,
    each_backend,
    rtol_of,
)

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    PrecisionError,
    array_namespace,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)
from adinterface.core.contract.library import epsilon

# Leaves: how to make an array of each library
# ------------------------------------------------------------------------


def to_numpy(numbers):
    return np.array(numbers)


def to_jax(numbers):
    with jax.enable_x64(True):
        return jnp.array(numbers)


def to_torch(numbers):
    return torch.from_numpy(np.array(numbers))


WHOLE, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
ARRAYS = {"numpy": to_numpy, "jax": to_jax, "torch": to_torch}

# Precision
# ------------------------------------------------------------------------------------------------


single, double = np.ones(2, dtype="float32"), np.ones(2, dtype="float64")


#: What is beside a Python number, and the dtype that the number takes.
BESIDE = {
    "alone": ((), {}, "float64"),
    "f4": ((single,), {}, "float32"),
    "f4 f8": ((single, double), {}, "float64"),
    "c8": ((np.ones(2, dtype="complex64"),), {}, "float32"),
    "f4 Constant(f8)": ((single, Constant(double)), {}, "float64"),
    "f4 keyword f8": ((single,), {"data": double}, "float64"),
    "Constant(f4)": ((Constant(single),), {}, "float32"),
    "Constant(i8)": ((Constant(np.arange(2)),), {}, "float64"),
}


@each_backend
@pytest.mark.parametrize(("others", "keywords", "dtype"), BESIDE.values(), ids=BESIDE)
def test_a_python_float_takes_the_widest_dtype_of_the_call(others, keywords, dtype, backend):
    seen = set()

    def f(*args, **kwargs):
        number = args[-1]
        xp = array_namespace(number)
        seen.add(str(number.dtype).removeprefix("torch."))
        total = number * number
        for other in args[:-1]:
            total = total + xp.sum(xp.abs(other) ** 2)
        return total

    *_, result = gradient(f, backend, *others, 1.5, **keywords)
    assert_tree(result, 3.0, rtol_of(backend, dtype))
    assert seen == {dtype}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("x", [single, double], ids=["f4", "f8"])
def test_an_array_of_floats_made_in_f_takes_the_default_dtype_of_torch(x, mode):
    made = lambda xp: (
        xp.asarray(0.5),
        xp.zeros(2),
        xp.full(2, 0.5),
        xp.linspace(0.0, 1.0, 2),
        xp.arange(0.5, 2.0),
    )
    seen = set()

    def f(x):
        seen.update(array.dtype for array in made(array_namespace(x)))
        return (x * x).sum()

    assert_tree(gradient(f, AutoTorch(mode=mode), x), (2 * x,))
    assert seen == {torch.get_default_dtype()} == {torch.float32}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3"])
def test_the_distance_of_1_to_the_next_number(dtype):
    assert epsilon(dtype) == ml_dtypes.finfo(dtype).eps
    assert epsilon("float") == 2.0**-52


# Integers
# ------------------------------------------------------------------------------------------------


def squares(*leaves):
    return sum(array_namespace(x).sum(x * x) for x in leaves)


INTEGERS = [
    pytest.param((np.array([1, 2], dtype="uint8"),), (np.array([2.0, 4.0]),), id="uint8 array"),
    pytest.param((np.int64(3),), (np.float64(6.0),), id="NumPy int"),
    pytest.param(
        (torch.tensor([1, 2]),), (torch.tensor([2.0, 4.0], dtype=torch.float64),), id="torch int64"
    ),
    pytest.param((jnp.array([1, 2]),), (to_jax([2.0, 4.0]),), id="JAX int32"),
    pytest.param((single, 3), (2 * single, 6.0), id="Python int beside float32"),
    pytest.param(
        (single, np.array([1, 2])),
        (2 * single, np.array([2, 4], dtype="float32")),
        id="int64 array beside float32",
    ),
    pytest.param(
        (double, np.array([1, 2])),
        (2 * double, np.array([2.0, 4.0])),
        id="int64 array beside float64",
    ),
]


@each_backend
@pytest.mark.parametrize(("args", "expected"), INTEGERS)
def test_a_bare_integer_is_promoted_to_what_a_python_float_would_take(args, expected, backend):
    dtype = "float32" if args[0] is single else "float64"
    assert_tree(gradient(squares, backend, *args), expected, rtol_of(backend, dtype))


# The table of special leaves: kept, or an error
# ----------------------------------------------------------------------


@dataclass(frozen=True)
class Special:
    name: str
    leaf: Any
    #: The backends that refuse the leaf with PrecisionError; all others keep it.
    refused: tuple[str, ...] = ()


_base = np.linspace(0.5, 1.5, 12)
_frozen = _base.copy()
_frozen.flags.writeable = False
_torch = torch.from_numpy(_base.copy())

#: What the scenarios of the kit do not have.
SPECIAL = [
    *[
        Special(f"{library} {dtype}", make(_base.astype(dtype)))
        for library, make in (("jax", to_jax), ("torch", to_torch))
        for dtype in WHOLE
    ],
    *[
        Special(f"{library} {dtype}", make((_base - 1j).astype(dtype)))
        for library, make in (("jax", to_jax), ("torch", to_torch))
        for dtype in COMPLEX
    ],
    *[Special(f"numpy scalar {dtype}", np.dtype(dtype).type(1.25)) for dtype in COMPLEX],
    Special("jax float16", jnp.asarray(_base, dtype="float16")),
    Special("torch float16", _torch.to(torch.float16)),
    Special("numpy bfloat16", _base.astype(ml_dtypes.bfloat16), refused=("autograd",)),
    Special("jax bfloat16", jnp.asarray(_base, dtype="bfloat16"), refused=("autograd",)),
    Special("torch bfloat16", _torch.to(torch.bfloat16), refused=("autograd",)),
    Special("longdouble", _base.astype("longdouble"), refused=("jax", "torch")),
    Special("longdouble scalar", np.longdouble(1.5), refused=("jax", "torch")),
    Special("clongdouble", _base.astype("clongdouble") * (1 + 1j), refused=("jax", "torch")),
    Special("big-endian complex128", _base.astype(">c16") * (1 + 1j)),
    Special("negative strides", _base[::-1]),
    Special("a negative stride along an axis of one", _base.reshape(12, 1)[:, ::-1]),
    Special("negative strides, two axes", _base.reshape(3, 4)[::-1, ::-2]),
    Special("read-only", _frozen),
    Special("numpy 0-d", np.array(1.5)),
    Special("jax 0-d", to_jax(1.5)),
    Special("torch 0-d", torch.tensor(1.5)),
    Special("numpy (0,)", np.zeros(0)),
    Special("numpy (0, 3)", np.zeros((0, 3), dtype="float32")),
    Special("jax (0, 3)", jnp.zeros((0, 3))),
    Special("torch (0, 3)", torch.zeros(0, 3)),
    Special("numpy every second", _base[::2]),
    Special("numpy Fortran order", np.asfortranarray(_base.reshape(3, 4))),
    Special("numpy transposed", _base.reshape(3, 4).T),
    Special("torch every second", _torch[::2]),
    Special("torch transposed", _torch.reshape(3, 4).T),
    Special("torch stride 0", _torch[:3].expand(2, 3)),
    Special("torch conjugate view", torch.complex(_torch, _torch).conj()),
    Special("torch negative view", torch.complex(_torch, _torch).conj().imag),
    Special("torch requiring grad", _torch.clone().requires_grad_()),
    Special("torch Parameter", torch.nn.Parameter(_torch.clone())),
]
TABLE = [
    pytest.param(special, backend, name in special.refused, id=f"{special.name}-{name}")
    for special in SPECIAL
    for name, backend in BACKENDS.items()
]


def sum_of_squares(x):
    xp = array_namespace(x)
    return xp.sum(xp.real(x * xp.conj(x)) if np.iscomplexobj(as_numpy(x)) else x * x)


def as_numpy(x):
    """Something that knows whether x is complex."""
    return np.zeros(
        (), dtype=str(x.dtype).removeprefix("torch.") if "complex" in str(x.dtype) else "float64"
    )


@pytest.mark.parametrize(("special", "backend", "refused"), TABLE)
def test_a_special_leaf_is_kept_or_refused_never_narrowed(special, backend, refused):
    leaf = special.leaf
    if refused:
        with pytest.raises(PrecisionError, match="Convert the leaf") as info:
            gradient(sum_of_squares, backend, leaf)
        assert str(leaf.dtype).removeprefix("torch.") in str(info.value)
        assert "AutoFiniteDifferences()" in str(info.value)
        return
    (result,) = gradient(sum_of_squares, backend, leaf)
    assert isinstance(result, type(leaf)) or isinstance(leaf, (jax.Array, torch.nn.Parameter))
    assert result.dtype == leaf.dtype
    assert result.shape == leaf.shape
    assert_numbers(result, 2 * as_wide(leaf), rtol_of(backend, leaf.dtype))


@pytest.mark.parametrize(("name", "rtol"), [("autograd", 1e-18), ("finite", 1e-11)])
def test_longdouble_keeps_its_precision(name, rtol):
    leaf = np.array([1, 2, 3], dtype="longdouble") / 3
    large = np.longdouble(2**63)
    value, _ = value_and_gradient(
        lambda n, x: n * 1 - large, AutoFiniteDifferences(), 2**63 + 1, leaf
    )
    assert value == 1
    (result,) = gradient(lambda x: array_namespace(x).sum(x**3), BACKENDS[name], leaf)
    assert_tree(result, 3 * leaf**2, rtol)


# One complex convention
# ------------------------------------------------------------------------------------------------


def conjugates(z):
    xp = array_namespace(z)
    return (1 + 2j) * z + (3 - 1j) * xp.conj(z) * z[0]


@pytest.mark.parametrize(
    "backend",
    [
        *BACKENDS.values(),
        *[type(each)(mode=mode) for each in ENGINES.values() for mode in ("forward", "reverse")],
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("shape", ["square", "wide", "tall", "beside real"])
def test_the_jacobian_of_any_complex_function_is_the_derivative_by_the_real_part(shape, backend):
    """By rows and by columns alike: for a function that is not holomorphic the two went apart."""

    def f(z):
        xp, y = array_namespace(z), conjugates(z)
        if shape == "beside real":
            return {"y": y, "size": xp.real(z) ** 2}
        return y if shape == "square" else y[:1] if shape == "wide" else xp.concat([y, y * y])

    z = np.array([0.7 + 0.4j, 1.1 - 0.6j, 0.5 + 1.2j])
    unit = np.eye(3)
    slope = (1 + 2j) * unit + (3 - 1j) * (z[0] * unit + np.outer(np.conj(z), unit[0]))
    expected = slope[:1] if shape == "wide" else slope
    if shape == "tall":
        expected = np.concatenate([slope, 2 * conjugates(z)[:, None] * slope])
    both = jacobian(f, backend, z), prepare(jacobian, f, backend, z)(z)
    for found in both:
        if shape == "beside real":
            assert_tree(found["size"], (np.diag(2 * np.real(z)).astype(complex),), rtol_of(backend))
            found = found["y"]
        assert_tree(found, (expected,), rtol_of(backend))
    pushed = pushforward(f, backend, (z,), (np.array([0, 1, 0], complex),)).tangent
    assert_tree(pushed["y"] if shape == "beside real" else pushed, expected[:, 1], rtol_of(backend))


# Leaves of several dtypes in one call
# ----------------------------------------------------------------------------------

FIRST_ORDER = (
    BACKENDS
    | {
        f"{name}-{mode}": type(backend)(mode=mode)
        for name, backend in ENGINES.items()
        for mode in ("forward", "reverse")
    }
    | {f"finite-{name}": AutoFiniteDifferences(native=backend) for name, backend in ENGINES.items()}
)


def sums_multiplied(leaves):
    """A product that meets every leaf, so that its dtype is the widest.

    The leaf of no elements is in it, too.
    """
    a, b, empty = leaves
    xp = array_namespace(a)
    return xp.sum(a * a) * xp.sum(b * b * b) + xp.sum(empty)


def leaves_of(library, narrow, wide):
    make_one = ARRAYS[library]
    return [
        make_one(np.array([0.5, 1.5], narrow)),
        make_one(np.array([1.0, 2.0, 0.5], wide)),
        make_one(np.zeros(0, narrow)),
    ]


def dtype_of(x):
    return str(x.dtype).removeprefix("torch.")


MIXED = pytest.mark.parametrize(
    ("narrow", "wide"), [("float32", "float64"), ("float16", "float32"), ("complex64", "float64")]
)


@MIXED
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("backend", FIRST_ORDER.values(), ids=FIRST_ORDER.keys())
def test_each_leaf_keeps_its_dtype_beside_others(backend, library, narrow, wide):
    def f(leaves):
        a, *others = leaves
        return sums_multiplied(
            [array_namespace(a).real(a) if narrow == "complex64" else a, *others]
        )

    leaves = leaves_of(library, narrow, wide)
    # of the empty leaf only a number of elements is asked, and a complex one would make f complex
    if narrow == "complex64":
        leaves[2] = leaves[2].real
    wanted = [np.array([9.125, 27.375]), np.array([7.5, 30.0, 1.875]), np.zeros(0)]
    value, back = pullback(f, backend, leaves)
    results = [
        gradient(f, backend, leaves)[0],
        value_and_gradient(f, backend, leaves).gradient[0],
        back(value / value)[0],
    ]
    results.append(jacobian(f, backend, leaves)[0])
    for result in results:
        assert [dtype_of(x) for x in result] == [dtype_of(x) for x in leaves]
        for found, expected, leaf in zip(result, wanted, leaves):
            assert found.shape == leaf.shape
            assert_numbers(found, expected, rtol_of(backend, narrow))
    pushed = pushforward(f, backend, (leaves,), (leaves,))
    assert dtype_of(pushed.tangent) == dtype_of(pushed.value) == wide
    value, push = linearize(f, backend, leaves)
    assert dtype_of(push(leaves)) == dtype_of(value) == wide


@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch()], ids=["jax", "torch"])
@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_floats_of_eight_bits_are_kept(library, backend):
    """Of other engines `test_wrong_calls.py` has the words."""
    numbers = np.array([0.5, 1.5], ml_dtypes.float8_e4m3fn)
    x = {
        "numpy": lambda: numbers,
        "jax": lambda: jnp.array(numbers),
        "torch": lambda: torch.tensor([0.5, 1.5]).to(torch.float8_e4m3fn),
    }[library]()
    wide = lambda x: x.to(torch.float32) if isinstance(x, torch.Tensor) else x.astype("float32")
    square = lambda x: (wide(x) ** 2).sum()
    for found in (gradient(square, backend, x)[0], prepare(gradient, square, backend, x)(x)[0]):
        assert (type(found), found.dtype) == (type(x), x.dtype)
        np.testing.assert_array_equal(np.asarray(wide(found)), [1.0, 3.0])
    found, _ = gradient(lambda y, x: y * square(x), backend, 2.0, Constant(x))
    np.testing.assert_allclose(found, 2.5, rtol=1e-6)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize(
    "x", [0.75, np.array(0.75), torch.tensor(0.75)], ids=["python", "numpy", "torch"]
)
@pytest.mark.parametrize("operator", [hessian, second_derivative, diagonal_hessian, hvp])
def test_a_second_derivative_that_torch_gives_without_memory_is_zero(operator, x, mode):
    """A zero tensor, as torch has it for abs and for anything linear."""
    for f in (abs, lambda x: x * 2.0):
        result = operator(f, AutoTorch(mode=mode), x, *([x] if operator is hvp else []))
        result = result[0] if operator is diagonal_hessian else result
        assert type(result) is type(x)
        assert result == 0.0
