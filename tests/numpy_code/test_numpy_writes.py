"""In-place NumPy code under `numpy_function`: classical programs, and each way to write, beside
NumPy itself.
"""

import numpy as np
import pytest
from backends_table import call_of, each_engine
from numpy_writing_programs import ARGUMENTS, PROGRAMS

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    gradient,
    hvp,
    numpy_function,
    prepare,
    pushforward,
    value_and_gradient,
)

EAGER = {"torch": AutoTorch(), "autograd": AutoAutograd()}
each_eager = pytest.mark.parametrize("backend", EAGER.values(), ids=EAGER)
each_program = pytest.mark.parametrize("name", PROGRAMS)
X = np.array([0.4, 1.3, 2.2, -0.7])


def directions(args):
    rng = np.random.default_rng(3)
    return tuple([rng.normal(size=np.shape(a)) if np.ndim(a) else rng.normal() for a in args])


def slope_of(f, args, tangents, step=1e-5):
    ahead, behind = (f(*[a + h * t for a, t in zip(args, tangents)]) for h in (step, -step))
    return (ahead - behind) / (2 * step)


def dot(a, b):
    return sum(float(np.sum(x * y)) for x, y in zip(a, b))


# Programs
# ------------------------------------------------------------------------------------------------


@each_eager
@each_program
def test_programs_backwards_forwards_and_twice(name, backend):
    plain, args = PROGRAMS[name], ARGUMENTS[name]
    f, tangents = numpy_function(plain), directions(args)
    value, slopes = value_and_gradient(f, backend, *args)
    assert float(value) == pytest.approx(plain(*args), rel=1e-12)
    wanted = slope_of(plain, args, tangents)
    assert dot(slopes, tangents) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    ahead = pushforward(f, backend, args, tangents)
    assert float(ahead.value) == pytest.approx(float(value), rel=1e-12)
    assert float(ahead.tangent) == pytest.approx(dot(slopes, tangents), rel=1e-9)
    curve = hvp(
        lambda first, *rest: f(first, *rest),
        backend,
        args[0],
        tangents[0],
        *map(Constant, args[1:]),
    )
    at = lambda h: gradient(f, backend, args[0] + h * tangents[0], *args[1:])[0]
    np.testing.assert_allclose(
        curve, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-4, atol=1e-5 * (1 + np.abs(curve).max())
    )


OUTS = {
    "einsum": lambda x, out: np.einsum("ij->i", x, out=out),
    "einsum of a diagonal": lambda x, out: np.einsum("ii->i", x, out=out),
    "einsum of two": lambda x, out: np.einsum("ij,j->i", x, x[0], out=out),
    "sum": lambda x, out: np.sum(x, axis=0, out=out),
    "compress": lambda x, out: x[0].compress([True, True, True], out=out),
    "take": lambda x, out: np.take(x, [0, 4, 8], None, out),
}


@each_engine
@pytest.mark.parametrize("name", OUTS)
def test_out_stays_the_view_that_it_is(name, backend):
    def f(x, first):
        table = np.zeros((2, 3))
        table[0] = first * x[0]
        row = table[1]
        OUTS[name](x, row)
        row[...] = row * x[0, 1]
        table *= 3
        return np.sum(table**2) + np.sum(row)

    x = np.arange(1.0, 10.0).reshape(3, 3)
    for first in (0.0, 1.0):
        wanted = gradient(f, AutoFiniteDifferences(method="central"), x, Constant(first))[0]
        slopes = gradient(numpy_function(f), backend, x, Constant(first))[0]
        np.testing.assert_allclose(slopes, wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["gauss", "gauss_seidel", "deposit"])
def test_programs_that_jax_compiles(name):
    """Those that write through views, and in places that a compiled program computes."""
    args = ARGUMENTS[name]
    value, slopes = prepare(value_and_gradient, numpy_function(PROGRAMS[name]), AutoJax(), *args)(
        *args
    )
    assert value == pytest.approx(PROGRAMS[name](*args), rel=1e-12)
    for found, wanted in zip(slopes, gradient(numpy_function(PROGRAMS[name]), AutoTorch(), *args)):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@each_engine
def test_complex_arrays_and_their_parts(backend):
    def f(z):
        y = np.zeros(3, dtype=complex)
        y[:2] = z[1:] ** 2
        y.real[2] = z[0].imag
        y.imag = y.imag * 2.0 + 1.0
        part = y[::-1].real
        part[0] += 0.5
        y[0] *= 1j
        return np.sum(np.abs(y) ** 2) + part[2]

    z = np.array([0.4 + 0.1j, 1.3 - 0.5j, -0.2 + 0.7j])
    slope = gradient(numpy_function(f), backend, z)[0]
    for direction in (
        np.array([1.0, 0, 0]),
        np.array([0.3, 1j, 0.2]),
        np.array([1j, 0.5, 1.0 + 1j]),
    ):
        wanted = (f(z + 1e-6 * direction) - f(z - 1e-6 * direction)) / 2e-6
        assert np.real(np.sum(np.conj(slope) * direction)) == pytest.approx(wanted, rel=1e-7)


@each_eager
def test_a_write_from_what_it_overlaps_is_as_from_a_copy(backend):
    """NumPy itself reads what it has just written where both have one axis that runs the same
    way.
    """

    def f(x, copied):
        a = 2 * x
        a[::2] = a[:3].copy() if copied else a[:3]
        return np.sum(a * weights)

    weights, x = np.arange(1.0, 7.0), np.arange(1.0, 7.0)
    assert f(x, False) != f(x, True)
    found = value_and_gradient(numpy_function(f), backend, x, Constant(False))
    assert found.value == f(x, True)
    np.testing.assert_array_equal(found.gradient[0], [2, 10, 10, 8, 0, 12])


#: What NumPy has of no axes, and whether that is an array, which `+=` changes for all who have it,
#: or a number.
OF_NO_AXES = {
    "np.full_like(x[..., 0], 0.75)": True,
    "np.zeros_like(x[0]) * 0 + x[0]": False,
    "np.array(x[0])": True,
    "np.asarray(x[0] * 1)": True,
    "x[0].copy()": False,
    "x[..., 0].copy()": True,
    "np.where(x[0] > 0, x[0], 0.0)": True,
    "np.piecewise(x[..., 0], [x[..., 0] > 0], [lambda t: 2 * t])": True,
    "np.tensordot(x, x, 1)": True,
    "np.einsum('i,i->', x, x)": False,
    "np.real(x[0])": False,
    "np.squeeze(x[0])": False,
    "x[0].T.copy()": False,
    "(1 * x)[0, ...]": True,
    "np.squeeze((1 * x)[:1])": True,
    "np.broadcast_to(x[0], ()).copy()": True,
    "np.full((), x[0])": True,
    "x[..., 0] * 1.0": False,
    "np.dot(x, x)": False,
    "np.clip(x[..., 0], 0, 1)": False,
    "np.cumsum(x)[-1]": False,
}


@each_engine
@pytest.mark.parametrize("made", OF_NO_AXES)
def test_what_has_no_axes_is_an_array_or_a_number_as_in_numpy(made, backend):
    lines = ["def f(x):", f"    a = {made}", "    b = a", "    a += x[1]", "    return a + 10 * b"]
    names = {"np": np}
    exec("\n".join(lines), names)
    f = names["f"]
    wanted = f(X.copy())
    a = eval(made, {"np": np, "x": X})
    assert isinstance(a, np.ndarray) == OF_NO_AXES[made]
    assert wanted == pytest.approx(
        (11 if OF_NO_AXES[made] else 1) * (a + X[1]) + (0 if OF_NO_AXES[made] else 10 * a)
    )
    found = value_and_gradient(numpy_function(f), backend, X)
    assert found.value == pytest.approx(wanted)
    (expected,) = gradient(f, AutoFiniteDifferences(), X)
    np.testing.assert_allclose(found.gradient[0], expected, rtol=1e-8, atol=1e-8)


def _added_in_place(x):
    y = x
    y += 1
    return x * y


def _reshaped_and_written(x):
    y = np.reshape(x, (1,))
    y[0] = 5.0
    return x * y[0]


def _added_to_a_view(x):
    y = x[...]
    y += 1
    return x * y


@each_engine
@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
def test_an_argument_of_no_axes_is_an_array_or_a_number_as_it_came(prepared, backend):
    def derivative_of(f, backend, x):
        return call_of(prepared, gradient, f, backend, x)(x)[0]

    for x in (2.0, np.float64(2.0)):
        for engine in (backend, AutoFiniteDifferences()):
            found = [
                derivative_of(numpy_function(f), engine, x)
                for f in (_added_in_place, _reshaped_and_written, _added_to_a_view)
            ]
            assert found == pytest.approx([5.0, 5.0, 5.0])
    for f in (_added_in_place, _reshaped_and_written, _added_to_a_view):
        with pytest.raises(
            NumpyCodeError,
            match=r"writes into an argument of f, [\w ]*\. Write x = x\.copy\(\) first",
        ):
            derivative_of(numpy_function(f), backend, np.array(2.0))
        with pytest.raises(NumpyCodeError, match="writes into an argument of f"):
            gradient(
                numpy_function(lambda d, f=f: f(d["a"]) + np.sum(d["b"])),
                backend,
                {"a": np.array(2.0), "b": X},
            )
    for f in (_added_in_place, _added_to_a_view):
        copied = numpy_function(lambda x, f=f: f(x.copy()))
        assert derivative_of(copied, backend, np.array(2.0)) == pytest.approx(
            derivative_of(copied, AutoFiniteDifferences(), np.array(2.0))
        )


@each_engine
def test_a_number_is_not_written_to(backend):
    def f(x):
        s = x * 2
        s[()] = 3.0
        return s

    with pytest.raises(TypeError, match="object does not support item assignment"):
        gradient(numpy_function(f), backend, 2.0)


@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoAutograd(), AutoJax(), AutoFiniteDifferences()], ids=str
)
def test_a_row_by_a_computed_number_is_a_view(backend):
    def f(x):
        rows = np.full((6, 2), x[1])
        row = rows[np.argmax(x)]
        row[:] = x[:2] * 10
        pairs = (x * 1.0).reshape(3, 2)
        pair = pairs[np.argmax(x) // 3, ...]
        pairs *= 2
        return np.sum(rows * table) + np.sum(pair * x[:2])

    table, x = np.arange(12.0).reshape(6, 2), np.array([1.0, 2, 6, 4, 5, 3])
    found = value_and_gradient(numpy_function(f), backend, x)
    assert found.value == pytest.approx(f(x))
    np.testing.assert_allclose(
        found.gradient[0], gradient(f, AutoFiniteDifferences(), x)[0], rtol=1e-9
    )


# What f's own code may and may not
# ------------------------------------------------------------------------------------

TABLE = np.arange(4.0)


def test_plain_arrays_stay_numpys_until_something_traced_is_written():
    seen = []

    def f(x):
        counts = np.zeros(3, dtype=int)
        counts[1] += 2
        counts[counts > 1] = 7
        grid = np.linspace(0.0, 1.0, 4) ** 2
        grid[0] = 0.5
        seen.extend(
            [
                counts,
                grid.sum(),
                grid[1:].mean(),
                np.asarray(counts).dtype,
                grid.tolist(),
                f"{grid[0]:.1f}",
                repr(counts),
            ]
        )
        seen.extend(
            [
                float(grid[0]),
                int(counts[1]),
                bool(grid[0] > 0),
                [10, 20, 30, 40, 50, 60, 70, 80][counts[1]],
                counts.item(1),
            ]
        )
        return np.sum(x[: len(grid)] * grid) * counts[1]

    (found,) = gradient(numpy_function(f), AutoTorch(), X)
    grid = np.linspace(0.0, 1.0, 4) ** 2
    grid[0] = 0.5
    np.testing.assert_allclose(found, 7 * grid)
    assert seen[1:] == [
        grid.sum(),
        grid[1:].mean(),
        np.int64,
        grid.tolist(),
        "0.5",
        "array([0, 7, 0])",
        0.5,
        7,
        True,
        80,
        7,
    ]
    np.testing.assert_array_equal(seen[0], [0, 7, 0])


@each_eager
def test_what_numpy_refuses_is_refused(backend):
    def shape(x):
        y = x * 1.0
        y[:2] = x
        return np.sum(y)

    def read_only(x):
        y = np.broadcast_to(x * 1.0, (2, 4))
        y[0] = x
        return np.sum(y)

    def diagonal(x):
        y = np.diagonal(np.outer(x, x))
        y[0] = 1.0
        return np.sum(y)

    def outside(x):
        y = np.zeros(3)
        y[3] = x[0]
        return np.sum(y)

    def number(x):
        y = np.zeros(3)
        y[0] = x[0] * 1j
        return np.sum(y)

    def casting(x):
        y = np.zeros(4, dtype=int)
        np.add(x, 1.0, out=y)
        return np.sum(y)

    def too_wide(x):
        y = np.zeros(4)
        np.add(x, np.ones((2, 4)), out=y)
        return np.sum(y)

    for f, error in (
        (shape, ValueError), (read_only, ValueError), (diagonal, ValueError), (outside, IndexError),
        (casting, TypeError), (too_wide, ValueError), (number, np.exceptions.ComplexWarning),
    ):  # fmt: skip
        with pytest.raises(error) as wanted:
            f(X.copy())
        with pytest.raises(error) as found:
            gradient(numpy_function(f), backend, X)
        assert str(found.value)[:35] == str(wanted.value)[:35]


def test_masks_that_jax_does_not_know_yet():
    def one_value(x):
        y = x * 2.0
        y[y > 1.0] = x[0]
        return np.sum(y * TABLE)

    def several(x):
        y = np.zeros(4)
        y[x > 1.0] = x[:2]
        return np.sum(y)

    fast = prepare(gradient, numpy_function(one_value), AutoJax(), X)
    np.testing.assert_allclose(fast(X)[0], gradient(numpy_function(one_value), AutoTorch(), X)[0])
    with pytest.raises(NumpyCodeError) as caught:
        prepare(gradient, numpy_function(several), AutoJax(), X)(X)
    assert (
        str(caught.value)
        == "numpy_function: this code writes to elements that are not known yet, because the"
        " index is computed from what is compiled or batched. Write x = np.where(condition,"
        " value, x), or call f without compiling it."
    )
