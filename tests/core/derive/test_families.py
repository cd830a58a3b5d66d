"""DifferentiationInterfaceTest's families of functions, whose derivatives are closed formulas."""

import numpy as np
import pytest
from backends_table import assert_tree

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_and_jacobian,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
)

BACKENDS = {
    "jax": AutoJax(),
    "jax forward": AutoJax(mode="forward"),
    "jax reverse": AutoJax(mode="reverse"),
    "torch": AutoTorch(),
    "torch forward": AutoTorch(mode="forward"),
    "torch reverse": AutoTorch(mode="reverse"),
    "autograd": AutoAutograd(),
    "autograd forward": AutoAutograd(mode="forward"),
    "autograd reverse": AutoAutograd(mode="reverse"),
    "finite": AutoFiniteDifferences(),
}
each_mode = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS.keys())


def first(backend):
    return 1e-7 if isinstance(backend, AutoFiniteDifferences) else 1e-10


def second(backend):
    return 2e-6 if isinstance(backend, AutoFiniteDifferences) else 1e-10


def some(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.3, 1.4, size=shape)


def complex_some(*shape, seed=0):
    return some(*shape, seed=seed) + 1j * some(*shape, seed=seed + 1)


def type_and_shape(x):
    return f"{type(x).__name__} {np.shape(x)}"


# Number to number ----------------------------------------------------------------------------------------------------


def sine(x):
    return array_namespace(x).sin(x)


@each_mode
@pytest.mark.parametrize("x", [0.7, np.array(0.7), np.float64(0.7)], ids=["float", "0-d array", "NumPy scalar"])
def test_number_to_number(x, backend):
    """sin, its derivative cos, and -sin; numbers come as the leaves that they belong to."""
    form = (lambda number: float(number)) if type(x) is float else np.asarray
    gradient_form = form if isinstance(x, np.ndarray) or type(x) is float else np.float64
    value, slope, curve = np.sin(0.7), np.cos(0.7), -np.sin(0.7)
    assert_tree(derivative(sine, backend, x), form(slope), first(backend))
    assert_tree(tuple(value_and_derivative(sine, backend, x)), (form(value), form(slope)), first(backend))
    assert_tree(second_derivative(sine, backend, x), form(curve), second(backend))
    triple = tuple(value_derivative_and_second_derivative(sine, backend, x))
    assert_tree(triple, (form(value), form(slope), form(curve)), second(backend))
    assert_tree(gradient(sine, backend, x), (gradient_form(slope),), first(backend))
    assert_tree(jacobian(sine, backend, x), (form(slope),), first(backend))
    assert_tree(hessian(sine, backend, x), form(curve), second(backend))
    assert_tree(hvp(sine, backend, x, 2.0), gradient_form(2 * curve), second(backend))
    assert_tree(diagonal_hessian(sine, backend, x), (gradient_form(curve),), second(backend))


# Number to array -----------------------------------------------------------------------------------------------------


@each_mode
@pytest.mark.parametrize("shape", [(3,), (0, 2)], ids=str)
def test_number_to_array(shape, backend):
    """sin(c x): c cos(c x), and -c^2 sin(c x)."""
    c, x = some(*shape), 0.7

    def f(x, c):
        return array_namespace(x, c).sin(c * x)

    value, slope, curve = (np.asarray(a) for a in (np.sin(c * x), c * np.cos(c * x), -(c**2) * np.sin(c * x)))
    assert_tree(derivative(f, backend, x, Constant(c)), slope, first(backend))
    assert_tree(second_derivative(f, backend, x, Constant(c)), curve, second(backend))
    triple = tuple(value_derivative_and_second_derivative(f, backend, x, Constant(c)))
    assert_tree(triple, (value, slope, curve), second(backend))
    assert_tree(jacobian(f, backend, x, Constant(c)), (slope, None), first(backend))
    assert_tree(pushforward(f, backend, (x, Constant(c)), (2.0, None)).tangent, 2 * slope, first(backend))
    _, back = pullback(f, backend, x, Constant(c))
    weights = some(*shape, seed=5)
    assert_tree(back(weights), (float(np.sum(weights * slope)), None), first(backend))


# Array to number -----------------------------------------------------------------------------------------------------


def powers(x):
    """The sum over i != j of x_i^4 x_j^6."""
    xp = array_namespace(x)
    x = xp.reshape(x, (-1,))
    n = x.shape[0]
    return xp.sum((x[:, None] ** 4) * (x[None, :] ** 6) * xp.asarray(1 - np.eye(n)))


def powers_gradient(x):
    """f = S4 S6 - S10, where Sp is the sum of the p-th powers."""
    s4, s6 = np.sum(x**4), np.sum(x**6)
    return 4 * x**3 * s6 + 6 * x**5 * s4 - 10 * x**9


def powers_hessian(x):
    shape, x = x.shape, x.reshape(-1)
    s4, s6 = np.sum(x**4), np.sum(x**6)
    mixed = 24 * (np.outer(x**3, x**5) + np.outer(x**5, x**3))
    return (mixed + np.diag(12 * x**2 * s6 + 30 * x**4 * s4 - 90 * x**8)).reshape(shape + shape)


def test_the_closed_formulas_of_the_powers_are_right():
    x = np.array([2.0, 3.0])  # f = 2^4 3^6 + 3^4 2^6, by hand
    assert powers(x) == 16 * 729 + 81 * 64
    assert np.array_equal(powers_gradient(x), [4 * 8 * 729 + 6 * 32 * 81, 4 * 27 * 64 + 6 * 243 * 16])
    mixed = 24 * (8 * 243 + 32 * 27)
    assert np.array_equal(powers_hessian(x), [[12 * 4 * 729 + 30 * 16 * 81, mixed], [mixed, 12 * 9 * 64 + 30 * 81 * 16]])


@each_mode
@pytest.mark.parametrize("shape", [(4,), (2, 3)], ids=str)
def test_array_to_number(shape, backend):
    x, v = some(*shape), some(*shape, seed=3)
    value, slope, curve = np.asarray(powers(x)), powers_gradient(x), powers_hessian(x)
    product = np.tensordot(curve, v, x.ndim)
    diagonal = np.diagonal(curve.reshape(x.size, x.size)).reshape(shape)
    assert_tree(tuple(value_and_gradient(powers, backend, x)), (value, (slope,)), first(backend))
    assert_tree(jacobian(powers, backend, x), (slope,), first(backend))
    assert_tree(hessian(powers, backend, x), curve, second(backend))
    triple = tuple(value_gradient_and_hessian(powers, backend, x))
    assert_tree(triple, (value, slope, curve), second(backend))
    assert_tree(tuple(gradient_and_hvp(powers, backend, x, v)), (slope, product), second(backend))
    assert_tree(diagonal_hessian(powers, backend, x), (diagonal,), second(backend))
    assert_tree(pushforward(powers, backend, (x,), (v,)).tangent, np.asarray(np.sum(slope * v)), first(backend))


# Array to array ------------------------------------------------------------------------------------------------------

SHAPES = {0: (), 1: (3,), 2: (2, 3)}


@each_mode
@pytest.mark.parametrize("rank_y", SHAPES)
@pytest.mark.parametrize("rank_x", SHAPES)
def test_array_to_array_of_every_pair_of_ranks(rank_x, rank_y, backend):
    """y = sin(A x) with A of shape y.shape + x.shape: the Jacobian is cos(A x) A."""
    shape_x, shape_y = SHAPES[rank_x], tuple(n + 1 for n in SHAPES[rank_y])
    a, x = some(*shape_y, *shape_x, seed=1) / 2, np.asarray(some(*shape_x))
    matrix = np.reshape(a, (-1, x.size))

    def f(x):
        xp = array_namespace(x)
        return xp.reshape(xp.sin(xp.asarray(matrix) @ xp.reshape(x, (-1,))), shape_y)

    y = np.tensordot(a, x, rank_x)
    expected = np.asarray(np.cos(y).reshape(shape_y + (1,) * rank_x) * a)
    assert expected.shape == shape_y + shape_x
    value, (jac,) = value_and_jacobian(f, backend, x)
    assert_tree(value, np.asarray(np.sin(y)), 1e-12)
    assert_tree(jac, expected, first(backend))
    v, w = np.asarray(some(*shape_x, seed=2)), np.asarray(some(*shape_y, seed=3))
    pushed = np.asarray(np.tensordot(expected, v, rank_x))
    assert_tree(pushforward(f, backend, (x,), (v,)).tangent, pushed, first(backend))
    assert_tree(linearize(f, backend, x).push(v), pushed, first(backend))
    pulled = np.asarray(np.tensordot(w, expected, rank_y))
    assert_tree(pullback(f, backend, x).back(w), (pulled,), first(backend))


@each_mode
def test_vector_to_matrix_of_outer_products(backend):
    """y_ij = sin(x_i) cos(x_j)."""
    x = some(3)

    def f(x):
        xp = array_namespace(x)
        return xp.sin(x)[:, None] * xp.cos(x)[None, :]

    eye, sin, cos = np.eye(3), np.sin(x), np.cos(x)
    expected = np.einsum("ik,i,j->ijk", eye, cos, cos) - np.einsum("jk,i,j->ijk", eye, sin, sin)
    assert_tree(jacobian(f, backend, x), (expected,), first(backend))


@each_mode
def test_matrix_to_matrix_product(backend):
    """Y = X X: dY_ij / dX_kl = delta_ik X_lj + X_ik delta_jl, row-major."""
    x, eye = some(3, 3), np.eye(3)
    expected = np.einsum("ik,lj->ijkl", eye, x) + np.einsum("ik,jl->ijkl", x, eye)
    assert_tree(jacobian(lambda x: x @ x, backend, x), (expected,), first(backend))


# Constants -----------------------------------------------------------------------------------------------------------


@each_mode
def test_constants_take_part_and_are_not_differentiated(backend):
    """a sin(x) + b x^p, with a and b Constants, p a static one, and the keyword scale."""
    x, a, b = some(3), Constant(some(3, seed=1)), Constant(2.0)

    def f(x, a, b, p, *, scale):
        return scale * (a * array_namespace(x).sin(x) + b * x**p)

    slope = 3 * (a.value * np.cos(x) + 2 * 3 * x**2)
    curve = np.diag(3 * (-a.value * np.sin(x) + 2 * 6 * x))

    def total(*args, **kwargs):
        y = f(*args, **kwargs)
        return array_namespace(y).sum(y)

    rest, nones = (a, b, Constant(3)), (None, None, None)
    assert_tree(jacobian(f, backend, x, *rest, scale=3.0), (np.diag(slope), *nones), first(backend))
    assert_tree(gradient(total, backend, x, *rest, scale=3.0), (slope, *nones), first(backend))
    assert_tree(hessian(total, backend, x, *rest, scale=3.0), curve, second(backend))
    assert_tree(hvp(total, backend, x, x, *rest, scale=3.0), curve @ x, second(backend))
    assert_tree(diagonal_hessian(total, backend, x, *rest, scale=3.0), (np.diagonal(curve).copy(), *nones), second(backend))
    pushed = pushforward(f, backend, (x, *rest), (x, *nones), scale=3.0).tangent
    assert_tree(pushed, slope * x, first(backend))
    assert_tree(linearize(f, backend, x, *rest, scale=3.0).push(x, *nones), slope * x, first(backend))
    assert_tree(pullback(f, backend, x, *rest, scale=3.0).back(x), (slope * x, *nones), first(backend))
    y = derivative(f, backend, 0.7, b, Constant(0.5), Constant(3), scale=3.0)
    assert_tree(y, float(3 * (2 * np.cos(0.7) + 0.5 * 3 * 0.49)), first(backend))


# Empty and 0-d arrays ------------------------------------------------------------------------------------------------


@each_mode
@pytest.mark.parametrize("shape", [(0,), (2, 0)], ids=str)
def test_empty_arguments_have_empty_derivatives(shape, backend):
    x = np.zeros(shape)

    def total(x):
        xp = array_namespace(x)
        return xp.sum(xp.sin(x)) + 1.0

    assert_tree(gradient(total, backend, x), (x,))
    assert_tree(hessian(total, backend, x), np.zeros(shape + shape))
    assert_tree(hvp(total, backend, x, x), x)
    assert_tree(diagonal_hessian(total, backend, x), (x,))
    assert_tree(jacobian(sine, backend, x), (np.zeros(shape + shape),))
    assert_tree(pushforward(sine, backend, (x,), (x,)).tangent, x)
    assert_tree(pullback(sine, backend, x).back(x), (x,))


@each_mode
def test_an_empty_argument_beside_a_full_one(backend):
    x, empty = some(2), np.zeros((0, 3))

    def f(x, empty):
        xp = array_namespace(x, empty)
        return {"y": xp.sin(x) * (1.0 + xp.sum(empty)), "e": empty * 2.0}

    jac = jacobian(f, backend, x, empty)
    assert_tree(jac["y"], (np.diag(np.cos(x)), np.zeros((2, 0, 3))), first(backend))
    assert_tree(jac["e"], (np.zeros((0, 3, 2)), np.zeros((0, 3, 0, 3))))
    assert_tree(pullback(f, backend, x, empty).back({"y": x, "e": empty}), (np.cos(x) * x, empty), first(backend))
    tangent = pushforward(f, backend, (x, empty), (x, empty)).tangent
    assert_tree(tangent, {"y": np.cos(x) * x, "e": empty}, first(backend))


@each_mode
def test_an_empty_value_has_an_empty_jacobian(backend):
    x = some(3)
    assert_tree(jacobian(lambda x: x[:0] ** 2, backend, x), (np.zeros((0, 3)),))
    assert_tree(pullback(lambda x: x[:0] ** 2, backend, x).back(np.zeros(0)), (np.zeros(3),))
    assert_tree(pushforward(lambda x: x[:0] ** 2, backend, (x,), (x,)).tangent, np.zeros(0))


@each_mode
def test_0d_arrays_stay_0d(backend):
    a, b = np.array(0.7), np.array(1.2)

    def f(a, b):
        return array_namespace(a, b).sin(a) * b

    slopes = (np.array(np.cos(0.7) * 1.2), np.array(np.sin(0.7)))
    assert_tree(gradient(f, backend, a, b), slopes, first(backend))
    assert_tree(jacobian(f, backend, a, b), slopes, first(backend))
    assert_tree(pullback(f, backend, a, b).back(np.array(1.0)), slopes, first(backend))
    assert_tree(diagonal_hessian(f, backend, a, b), (np.array(-np.sin(0.7) * 1.2), np.array(0.0)), second(backend))
    curve = hessian(lambda t: f(*t), backend, (a, b))
    expected = ((np.array(-np.sin(0.7) * 1.2), np.array(np.cos(0.7))), (np.array(np.cos(0.7)), np.array(0.0)))
    assert_tree(curve[0], expected[0], second(backend))
    assert_tree(curve[1][0], expected[1][0], second(backend))
    assert abs(curve[1][1]) < 2e-6


# Complex -------------------------------------------------------------------------------------------------------------


def squared_modulus(z):
    xp = array_namespace(z)
    return xp.sum(xp.real(z) ** 2 + xp.imag(z) ** 2)


@each_mode
@pytest.mark.parametrize("z", [1.5 - 0.5j, np.array(1.5 - 0.5j), complex_some(3), complex_some(2, 2)], ids=type_and_shape)
def test_squared_modulus_has_the_gradient_2z(z, backend):
    assert_tree(gradient(squared_modulus, backend, z), (2 * z if type(z) is complex else np.asarray(2 * z),), first(backend))
    assert_tree(jacobian(squared_modulus, backend, z), (2 * z if type(z) is complex else np.asarray(2 * z),), first(backend))


@each_mode
@pytest.mark.parametrize("z", [1.5 - 0.5j, np.array(1.5 - 0.5j), complex_some(3)], ids=type_and_shape)
def test_the_pullback_of_1_through_a_square_is_twice_the_conjugate(z, backend):
    value, back = pullback(lambda z: z**2, backend, z)
    one = 1.0 if type(z) is complex else np.ones(np.shape(z))
    conjugate = 2 * z.conjugate()
    assert_tree(back(one), (conjugate if type(z) is complex else np.asarray(conjugate),), first(backend))
    assert_tree(value, z**2 if type(z) is complex else np.asarray(z**2), 1e-12)


def square_and_exponential(z):
    xp = array_namespace(z)
    return xp.stack([xp.sum(z**2), xp.exp(z[0] * z[1])])


@each_mode
def test_a_complex_function_of_complex_numbers_has_its_holomorphic_jacobian(backend):
    z = complex_some(3)
    e = np.exp(z[0] * z[1])
    expected = np.array([2 * z, [z[1] * e, z[0] * e, 0]])
    assert_tree(jacobian(square_and_exponential, backend, z), (expected,), first(backend))
    v, w = complex_some(3, seed=3), complex_some(2, seed=5)
    assert_tree(pushforward(square_and_exponential, backend, (z,), (v,)).tangent, expected @ v, first(backend))
    assert_tree(pullback(square_and_exponential, backend, z).back(w), (expected.conj().T @ w,), first(backend))


def conjugates(z):
    xp = array_namespace(z)
    return (1 + 2j) * z + (3 - 1j) * xp.conj(z) * z[0]


@each_mode
@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("shape", ["square", "wide", "tall", "beside real"])
def test_the_jacobian_of_any_complex_function_is_the_derivative_by_the_real_part(shape, backend):
    """By rows and by columns alike: for a function that is not holomorphic the two went apart."""

    def f(z):
        xp, y = array_namespace(z), conjugates(z)
        if shape == "beside real":
            return {"y": y, "size": xp.real(z) ** 2}
        return y if shape == "square" else y[:1] if shape == "wide" else xp.concat([y, y * y])

    z = complex_some(3)
    unit = np.eye(3)
    slope = (1 + 2j) * unit + (3 - 1j) * (z[0] * unit + np.outer(np.conj(z), unit[0]))
    expected = slope[:1] if shape == "wide" else slope
    if shape == "tall":
        expected = np.concatenate([slope, 2 * conjugates(z)[:, None] * slope])
    both = jacobian(f, backend, z), prepare(jacobian, f, backend, z)(z)
    for found in both:
        if shape == "beside real":
            assert_tree(found["size"], (np.diag(2 * np.real(z)).astype(complex),), first(backend))
            found = found["y"]
        assert_tree(found, (expected,), first(backend))
    pushed = pushforward(f, backend, (z,), (np.array([0, 1, 0], complex),)).tangent
    assert_tree(pushed["y"] if shape == "beside real" else pushed, expected[:, 1], first(backend))


@each_mode
@pytest.mark.parametrize("x", [0.7, np.array(0.7), some(3)], ids=["float", "0-d", "vector"])
def test_a_complex_function_of_real_numbers_has_a_complex_jacobian(x, backend):
    """exp(2ix): the derivative is 2i exp(2ix); a real leaf has a real gradient."""

    def f(x):
        return array_namespace(x).exp(2j * x)

    slope = 2j * np.exp(2j * np.asarray(x))
    expected = np.diag(slope) if np.ndim(x) else complex(slope) if type(x) is float else np.asarray(slope)
    assert_tree(jacobian(f, backend, x), (expected,), first(backend))
    w = complex_some(*np.shape(x), seed=3)
    pulled = np.real(np.conj(w) * slope)
    assert_tree(pullback(f, backend, x).back(w), (float(pulled) if type(x) is float else np.asarray(pulled),), first(backend))
    if not np.ndim(x):
        assert_tree(derivative(f, backend, x), expected, first(backend))
        curve = expected * 2j if type(x) is float else np.asarray(expected * 2j)
        assert_tree(second_derivative(f, backend, x), curve, second(backend))


@each_mode
def test_real_and_complex_arguments_together_have_each_its_own_jacobian(backend):
    """y = x^2 z, complex; r = x |z|^2, real."""
    x, z = 0.7, 1.5 - 0.5j

    def f(x, z):
        xp = array_namespace(x, z)
        return {"y": x**2 * z, "r": x * (xp.real(z) ** 2 + xp.imag(z) ** 2)}

    jac = jacobian(f, backend, x, z)
    assert_tree(jac["y"], (2 * x * z, complex(x**2)), first(backend))
    assert_tree(jac["r"], (abs(z) ** 2, 2 * x * z), first(backend))
