"""SciPy's functions on every engine, `adinterface.scipy`: values, both modes, second order; identities; what is refused."""

import math
import subprocess
import sys

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.spatial.distance
import scipy.special as special
import torch
from adinterface_jax import special as jax_special
from adinterface_jax.library import JAX
from adinterface_studies.functions import table
from adinterface_studies.functions.scipy_code import USES
from backends_table import each_backend, each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    NumpyCodeError,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    pushforward,
    second_derivative,
    value_and_gradient,
    value_derivative_and_second_derivative,
)
from adinterface import scipy as on_any_engine
from adinterface.core.contract.record import recording
from adinterface.numpy_code.engine import engine_of
from adinterface.scipy import ours
from adinterface.scipy.special.on_engines import Source, on_engine, source_of

linalg, signal, interpolate, integrate = (
    on_any_engine.linalg,
    on_any_engine.signal,
    on_any_engine.interpolate,
    on_any_engine.integrate,
)
RNG = np.random.default_rng(1)
S = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
B = np.array([0.5, -1.0, 2.0])
X = np.array([0.4, 1.3, 2.2])

#: One use of each function; what several have in common is tried with one of them in the modes that cost more.
FIRST = {use.name: use for use in reversed(USES)}
#: Second derivatives that take half a second.
SLOW_TWICE = [
    "scipy.integrate.dblquad", "scipy.linalg.lu", "scipy.linalg.solve_continuous_are", "scipy.linalg.solve_discrete_are",
]  # fmt: skip
#: JAX compiles each: one of each kind.
ON_JAX = [
    "scipy.linalg.expm", "scipy.linalg.lu", "scipy.linalg.solve_triangular", "scipy.special.stdtr", "scipy.special.jv",
    "scipy.signal.lfilter", "scipy.interpolate.CubicSpline", "scipy.fft.dct", "scipy.sparse: A @ x",
]  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize(
    ("auto", "modes"), [(AutoTorch, ("value", "reverse")), (AutoAutograd, ("value", "forward"))], ids=["torch", "autograd"]
)
def test_each_function(name, auto, modes):
    outcomes = table.run([FIRST[name]], auto(), modes=modes)
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    assert len(outcomes) == len(modes)


@pytest.mark.sweep
@pytest.mark.parametrize("use", USES, ids=[f"{n}-{use.name}" for n, use in enumerate(USES)])
def test_each_use_on_torch(use):
    second = use is FIRST[use.name] and use.name not in SLOW_TWICE
    modes = ("value", "reverse", "second order") if second else ("value", "reverse")
    outcomes = table.run([use], AutoTorch(), modes=modes)
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    assert len(outcomes) == len(modes)


@pytest.mark.sweep
@pytest.mark.parametrize("name", SLOW_TWICE)
def test_slow_second_derivatives_on_torch(name):
    (outcome,) = table.run([FIRST[name]], AutoTorch(), modes=("second order",))
    assert outcome.good, outcome


@pytest.mark.parametrize("name", ON_JAX)
def test_on_jax(name):
    outcomes = table.run([FIRST[name]], AutoJax(), modes=("value", "prepared"))
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    assert len(outcomes) == 2


# By whatever road a call comes ------------------------------------------------------------------------------------------


def log_likelihood(a, b):
    factor, lower = linalg.cho_factor(a @ a.T + np.eye(3))
    return b @ linalg.cho_solve((factor, lower), b) / 2 + np.sum(np.log(np.diag(factor)))


@each_backend
def test_inside_numpy_function(backend):
    a_bar, b_bar = gradient(numpy_function(log_likelihood), backend, S, B)
    matrix = S @ S.T + np.eye(3)
    weights = np.linalg.solve(matrix, B)
    tolerance = 1e-6 if isinstance(backend, AutoFiniteDifferences) else 1e-12
    np.testing.assert_allclose(b_bar, weights, rtol=tolerance)
    np.testing.assert_allclose(a_bar, (np.linalg.inv(matrix) - np.outer(weights, weights)) @ S, rtol=tolerance, atol=1e-9)


@each_backend
def test_on_an_engines_own_arrays(backend):
    found = gradient(lambda a, b: linalg.solve(a, b, assume_a="general").sum(), backend, S, B)[1]
    np.testing.assert_allclose(found, np.linalg.solve(S.T, np.ones(3)), rtol=1e-6)


def test_plain_arrays_go_to_scipy_itself():
    np.testing.assert_array_equal(linalg.solve(S, B, assume_a="sym"), scipy.linalg.solve(S, B, assume_a="sym"))
    assert on_any_engine.linalg.LinAlgError is scipy.linalg.LinAlgError
    assert on_any_engine.optimize is scipy.optimize
    assert on_any_engine.special.jv(0, 1.0) == special.jv(0, 1.0)
    np.testing.assert_array_equal(on_any_engine.linalg.schur(S)[0], scipy.linalg.schur(S)[0])
    spline = interpolate.CubicSpline(X, B)
    np.testing.assert_array_equal(spline(1.0), scipy.interpolate.CubicSpline(X, B)(1.0))


def test_a_tensor_gives_tensors():
    a = torch.tensor(S, requires_grad=True)
    found = linalg.expm(a)
    assert isinstance(found, torch.Tensor)
    found.sum().backward()
    np.testing.assert_allclose(a.grad, scipy.linalg.expm_frechet(S.T, np.ones((3, 3)))[1], rtol=1e-12)


def test_ours_is_found_by_scipys_own():
    assert ours(scipy.linalg.solve) is linalg.solve
    assert ours(scipy.interpolate.CubicSpline) is interpolate.CubicSpline
    assert ours(scipy.spatial.distance.cdist) is on_any_engine.spatial.distance.cdist
    assert ours(scipy.integrate.quad) is integrate.quad
    assert [ours(f) for f in (scipy.linalg.schur, np.sum, len, special.jv, 3, [])] == [None] * 6


def test_it_is_loaded_when_asked_for():
    code = "import sys, adinterface; print([name for name in sys.modules if name.startswith(('scipy', 'adinterface.scipy.'))])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@each_engine
def test_other_precisions(backend):
    def f(a, b):
        return np.sum(linalg.lu_solve(linalg.lu_factor(a), b)) + np.sum(special.stdtr(2.5, b))

    value, gradients = value_and_gradient(numpy_function(f), backend, S.astype(np.float32), B.astype(np.float32))
    wanted = value_and_gradient(f, AutoFiniteDifferences(), S, B)
    assert [value.dtype, *[g.dtype for g in gradients]] == [np.float32] * 3
    np.testing.assert_allclose(gradients[0], wanted.gradient[0], atol=1e-4)
    np.testing.assert_allclose(gradients[1], wanted.gradient[1], atol=1e-4)


@each_engine
def test_complex_matrices(backend):
    a = S + 1j * RNG.normal(size=(3, 3))

    def f(a):
        return np.sum(np.abs(linalg.solve_triangular(a, B, trans="C", lower=True)) ** 2) + np.real(np.sum(linalg.expm(a / 9)))

    np.testing.assert_allclose(
        gradient(numpy_function(f), backend, a)[0], gradient(f, AutoFiniteDifferences(), a)[0], atol=1e-5
    )


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
def test_complex_filters_and_transforms(backend):
    x = X + 1j * B

    def f(x, a):
        y = signal.lfilter([1.0, 0.5j], a, x)
        return (
            np.sum(np.abs(y) ** 2) + np.sum(np.abs(signal.fftconvolve(x, x)) ** 2) + np.sum(np.real(on_any_engine.fft.ifft(x)))
        )

    found = gradient(numpy_function(f), backend, x, np.array([1.0, 0.3 - 0.2j]))
    for got, wanted in zip(found, gradient(f, AutoFiniteDifferences(), x, np.array([1.0, 0.3 - 0.2j]))):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


@each_engine
def test_batches_empty_arrays_and_numbers(backend):
    found = batched(gradient, numpy_function(lambda a: np.sum(linalg.inv(a))), backend, Each(np.stack([S, 2 * S])))[0]
    inverse = np.linalg.inv(S)
    wanted = -inverse.T @ np.ones((3, 3)) @ inverse.T
    np.testing.assert_allclose(found, np.stack([wanted, wanted / 4]), rtol=1e-10)
    empty = gradient(
        numpy_function(lambda a: np.sum(linalg.block_diag(a, np.zeros((0, 2)))) + 0 * np.sum(a)), backend, np.ones((2, 2))
    )
    np.testing.assert_array_equal(empty[0], np.ones((2, 2)))
    assert gradient(numpy_function(lambda x: special.kv(0.5, x)), backend, 1.5)[0] == pytest.approx(special.kvp(0.5, 1.5))


@pytest.mark.parametrize("cls", [AutoTorch, AutoAutograd])
def test_forward_and_second_order(cls):
    f = numpy_function(lambda x: np.sum(special.betainc(x[0], x[1], x[2])))
    x = np.array([1.5, 2.5, 0.3])
    slopes, curvatures = gradient(f, AutoFiniteDifferences(), x)[0], hessian(f, AutoFiniteDifferences(), x)
    np.testing.assert_allclose(hessian(f, cls(), x), curvatures, atol=1e-4)
    np.testing.assert_allclose(pushforward(f, cls(mode="forward"), (x,), (x,)).tangent, slopes @ x, atol=1e-7)


# Identities -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
def test_published_identities(backend):
    # Jacobi's formula: d det = det tr(A^-1 dA); d log det(expm A) = tr dA.
    f = numpy_function(lambda a: np.log(linalg.det(linalg.expm(a))))
    np.testing.assert_allclose(gradient(f, backend, S)[0], np.eye(3), atol=1e-10)
    # The inverse of a function has the inverse derivative.
    f = numpy_function(lambda a: linalg.logm(linalg.expm(a)))
    np.testing.assert_allclose(jacobian(f, backend, S / 3)[0].reshape(9, 9), np.eye(9), atol=1e-9)
    f = numpy_function(lambda p: special.stdtr(p[0], special.stdtrit(p[0], p[1])))
    np.testing.assert_allclose(gradient(f, backend, np.array([3.5, 0.2]))[0], [0.0, 1.0], atol=1e-9)
    # gammainc(a + 1, x) = gammainc(a, x) - x^a exp(-x) / gamma(a + 1), DLMF 8.8.5, differentiated by a.
    f = numpy_function(
        lambda a: (
            special.gammainc(a + 1, 2.2) - special.gammainc(a, 2.2) + np.exp(a * np.log(2.2) - 2.2 - special.gammaln(a + 1))
        )
    )
    assert abs(gradient(f, backend, 1.7)[0]) < 1e-12
    # Kummer's transformation, DLMF 13.2.39, differentiated by each argument.
    f = numpy_function(lambda t: special.hyp1f1(t[0], t[1], t[2]) - np.exp(t[2]) * special.hyp1f1(t[1] - t[0], t[1], -t[2]))
    np.testing.assert_allclose(gradient(f, backend, np.array([0.7, 2.2, 1.3]))[0], 0, atol=1e-12)
    # Legendre's relation, DLMF 19.7.1, holds for every m.
    first, second = special.ellipk, special.ellipe
    f = numpy_function(lambda m: second(m) * first(1 - m) + second(1 - m) * first(m) - first(m) * first(1 - m))
    assert abs(gradient(f, backend, 0.3)[0]) < 1e-12


@each_engine
def test_the_integral_of_a_derivative_is_the_function(backend):
    f = numpy_function(lambda b: integrate.quad(lambda x: np.exp(-x * x), 0.0, b)[0])
    assert gradient(f, backend, 0.7)[0] == pytest.approx(np.exp(-0.49), rel=1e-12)


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d", "correlate", "convolve"])
def test_complex_weights_of_filters_are_conjugated_as_scipy_does(name):
    weights = np.array([0.5 + 0.2j, -1.0, 0.3j])
    weights = weights if name.endswith("1d") else np.outer(weights, weights[:2])
    for image in (S, S + 1j * S.T):
        found = getattr(on_any_engine.ndimage, name)(torch.tensor(image), weights, mode="constant", cval=0.3)
        np.testing.assert_allclose(found, getattr(scipy.ndimage, name)(image, weights, mode="constant", cval=0.3), rtol=1e-12)


# Where a function is not defined ------------------------------------------------------------------------------------------


def masked(x, a):
    """Functions outside of their domains, and at its ends, in the branches that are not taken."""
    inside = (x > 0) & (x < 1)
    lower = np.where(x > 0, special.gammainc(a, x), special.gammaincc(a, -x))
    return np.sum(lower * np.where(inside, special.betaincinv(a, 1.5, x), 0.3) + np.where(x > 0, special.expi(x), x**2) * a)


AT = (np.array([0.5, -0.7, 1.2, -0.2]), 1.5)


@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoAutograd(), AutoJax(), AutoTorch(mode="forward"), AutoAutograd(mode="forward")], ids=repr
)
def test_zero_times_a_derivative_that_is_not_finite(backend):
    wanted = gradient(masked, AutoFiniteDifferences(), *AT)
    for found, by_differences in zip(gradient(numpy_function(masked), backend, *AT), wanted):
        np.testing.assert_allclose(found, by_differences, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of autograd, which computes with NumPy
@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
def test_the_same_in_second_order(backend):
    together = numpy_function(lambda args: masked(*args))
    direction = (np.array([1.0, 0.5, -0.3, 0.8]), -0.6)
    wanted = hvp(together, AutoFiniteDifferences(), AT, direction)
    for found, by_differences in zip(hvp(together, backend, AT, direction), wanted):
        np.testing.assert_allclose(found, by_differences, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of autograd, which computes with NumPy
def test_the_same_compiled():
    f = numpy_function(masked)
    for found, eager in zip(prepare(gradient, f, AutoJax(), *AT)(*AT), gradient(f, AutoTorch(), *AT)):
        np.testing.assert_allclose(found, eager, rtol=1e-9)
    # The derivative exp(x) / x, itself no rule, has an infinite derivative at zero, where the branch is not taken.
    edge = numpy_function(lambda x: np.sum(np.where(x > 0, special.expi(x), x * x)))
    at = np.array([0.0, 0.8])
    found = prepare(hessian, edge, AutoJax(), at)(at)
    np.testing.assert_allclose(found, np.diag([2.0, np.exp(0.8) * (1 / 0.8 - 1 / 0.64)]), rtol=1e-9)
    for backend in (AutoTorch(), AutoAutograd()):
        np.testing.assert_allclose(hessian(edge, backend, at), found, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of autograd, which computes with NumPy
@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd(), AutoJax()], ids=["torch", "autograd", "jax"])
def test_it_hides_nothing_that_is_infinite(backend):
    """Of a factor that is zero at the point alone the other's infinite derivative stays, along what changes the factor."""
    f = numpy_function(lambda x: special.gammainc(0.5, x) ** 2)
    assert not np.isfinite(hessian(f, backend, 0.0))
    g = numpy_function(lambda x, y: y * special.gammainc(0.5, x))
    found = hessian(numpy_function(lambda p: g(p[0], p[1])), backend, np.array([0.0, 0.0]))
    assert found[1, 1] == 0
    assert not np.isfinite(found[0, 1])


# What is refused --------------------------------------------------------------------------------------------------------


def words(option, function):
    return rf"{function}: {option} is not supported for an engine's arrays"


images, distances = on_any_engine.ndimage, on_any_engine.spatial.distance
REFUSED = {
    "an option": (lambda a: linalg.eigh(a, subset_by_value=[0, 1])[0], words("subset_by_value", "scipy.linalg.eigh")),
    "another type": (
        lambda a: linalg.eigh(a, a @ a.T, type=2)[0],
        words("type=2", "scipy.linalg.eigh") + ".* Write the problem",
    ),
    "the rest of Q": (lambda a: linalg.qr(a[:, :2])[1], "mode='full' for a matrix with more rows than .*mode='economic'"),
    "raw": (lambda a: linalg.qr(a, mode="raw")[1], words("mode='raw'", "scipy.linalg.qr")),
    "a function without": (lambda a: linalg.schur(a)[0], "scipy.linalg.schur has no derivative here, and takes plain NumPy"),
    "an order": (lambda a: special.yv(a, 1.0), "scipy.special.yv has no derivative here with respect to its order. Pass that"),
    "an order of complex functions": (lambda a: np.real(special.jv(a, 1 + 1j * a)), "here for real arguments alone. Pass"),
    "a metric": (
        lambda a: distances.pdist(a, "hamming"),
        words("metric='hamming'", "pdist") + ".* Those with a derivative are b",
    ),
    "a function": (lambda a: distances.cdist(a, a, lambda u, v: u @ v), words("a function for a metric", "cdist")),
    "cubic images": (
        lambda a: images.map_coordinates(a, [[0.5], [0.5]]),
        words("order=3", "map_coordinates") + ".* Write order=1",
    ),
    "output": (lambda a: images.gaussian_filter(a, 1.0, output=np.zeros((3, 3))), words("output=array", "gaussian_filter")),
    "a complex root": (lambda a: linalg.sqrtm(-a @ a.T), r"sqrtm of this real matrix is complex.*write sqrtm\(a \+ 0j\)"),
    "exact": (lambda a: on_any_engine.special.factorial(a, exact=True), words("exact", "factorial")),
    "weights": (lambda a: integrate.quad(lambda x: x * a[0, 0], 0, 1, weight="cos", wvar=2.0)[0], words("weight", "quad")),
    "an infinite limit": (
        lambda a: integrate.quad(lambda x: np.exp(-x), 0.0, a[0, 0] * np.inf)[0],
        "an infinite limit that is differentiated by is not supported. Write np.inf",
    ),
    "information": (lambda a: integrate.nquad(lambda x: a[0, 0], [(0, 1)], full_output=True)[0], words("full_output", "nquad")),
    "other ends": (
        lambda a: interpolate.make_interp_spline(np.arange(3.0), a, k=2, bc_type="clamped")(1.0),
        words("bc_type='clamped'", "make_interp_spline"),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_work_says_so(what):
    f, said = REFUSED[what]
    with pytest.raises(NumpyCodeError, match=said):
        gradient(numpy_function(lambda a: np.sum(f(a))), AutoTorch(), S)


def test_a_compiled_call_that_needs_numbers_says_so():
    f = numpy_function(lambda b: integrate.quad(np.sin, 0.0, b)[0])
    with pytest.raises(NumpyCodeError, match=r"scipy.integrate.quad needs the numbers of its .* backend with jit=False"):
        prepare(gradient, f, AutoJax(), 0.7)(0.7)
    assert prepare(gradient, f, AutoJax(jit=False), 0.7)(0.7)[0] == pytest.approx(np.sin(0.7))


def test_third_derivatives_by_a_parameter_are_refused():
    f = numpy_function(lambda a: special.gammainc(a, 2.0))
    second = lambda a: hessian(f, AutoTorch(), a)
    assert second(1.5) == pytest.approx(hessian(f, AutoFiniteDifferences(), 1.5), abs=1e-5)
    with pytest.raises(NumpyCodeError, match="gammainc, differentiated twice, has no further derivative here"):
        gradient(second, AutoTorch(), 1.5)


@each_engine
def test_what_scipy_refuses(backend):
    for f in (
        lambda x: linalg.solve(x, x, assume_a="nonsense"),
        lambda x: linalg.solve_triangular(S, x, trans="X"),
        lambda x: signal.convolve(x, x, "nonsense"),
        lambda x: integrate.romb(np.concatenate([x, x[:1]])),
        lambda x: interpolate.interp1d(X, x)(9.0),
        lambda x: A @ x[:2],
        lambda x: linalg.expm(x),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - each has SciPy's own words
            gradient(numpy_function(lambda x, f=f: np.sum(f(x))), backend, B)


# Sparse matrices --------------------------------------------------------------------------------------------------------

A = scipy.sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0]]))


@each_backend
def test_products_with_sparse_matrices(backend):
    f = numpy_function(lambda x: np.sum((A @ x) ** 2))
    np.testing.assert_allclose(gradient(f, backend, B)[0], 2 * A.T @ (A @ B), rtol=1e-7)
    if not isinstance(backend, AutoFiniteDifferences):
        np.testing.assert_allclose(hvp(f, backend, B, X), 2 * A.T @ (A @ X), rtol=1e-12)


def test_products_of_an_engines_own_arrays():
    x = torch.tensor(B, requires_grad=True)
    on_any_engine.sparse.product(A, x).sum().backward()
    np.testing.assert_array_equal(x.grad, A.T @ np.ones(2))
    np.testing.assert_array_equal(on_any_engine.sparse.product(A, B), A @ B)
    with pytest.raises(TypeError, match="product takes a SciPy sparse matrix first, not a ndarray"):
        on_any_engine.sparse.product(B, x)


def test_products_of_matrices_with_integers_and_complex_numbers():
    f = numpy_function(lambda x: np.sum(np.abs((A.astype(complex) * 1j) @ x) ** 2) + np.sum(A.astype(int) @ x))
    np.testing.assert_allclose(gradient(f, AutoTorch(), B)[0], 2 * A.T @ (A @ B) + A.T @ np.ones(2), rtol=1e-12)


# Special functions ------------------------------------------------------------------------------------------------------


@each_engine
def test_parameters_in_constants_cost_nothing_but_the_value(backend, monkeypatch):
    from adinterface.scipy.special import parameter_jets as jets

    monkeypatch.setattr(jets, "_sum", lambda *args: 1 / 0)
    found = gradient(numpy_function(lambda a, x: special.gammainc(a, x)), backend, Constant(2.0), 0.5)[1]
    assert found == pytest.approx(0.5 * np.exp(-0.5))


@pytest.mark.parametrize("backend", [AutoTorch(), AutoAutograd()], ids=["torch", "autograd"])
def test_mixed_precision_and_broadcasting(backend):
    f = numpy_function(lambda a, x: np.sum(special.gammainc(a[:, None], x)))
    a_bar, x_bar = gradient(f, backend, np.array([1.5, 2.5], np.float32), X)
    wanted = gradient(f, AutoFiniteDifferences(), np.array([1.5, 2.5]), X)
    assert (a_bar.dtype, x_bar.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(a_bar, wanted[0], rtol=1e-5)
    np.testing.assert_allclose(x_bar, wanted[1], rtol=1e-5)


@each_engine
def test_corners_of_dtypes_and_sizes(backend):
    f = numpy_function(lambda x: np.sum(special.stdtr(2.5, x)) + np.sum(signal.lfilter([1.0], [1.0, -0.3], x)))
    (found,) = gradient(f, backend, X.astype(np.float32))  # beside constants of float64
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, gradient(f, AutoFiniteDifferences(), X)[0], rtol=1e-4)
    (found,) = gradient(numpy_function(lambda x: np.sum(special.jv(0.5, x))), backend, X.astype(np.float16))
    np.testing.assert_allclose(found, special.jvp(0.5, X), rtol=5e-3, atol=5e-3)
    (found,) = gradient(numpy_function(lambda z: np.abs(special.jv(0.5, z)) ** 2), backend, 1.2 + 0.3j)
    assert found == pytest.approx(2 * special.jv(0.5, 1.2 + 0.3j) * np.conj(special.jvp(0.5, 1.2 + 0.3j)), rel=1e-12)
    f = numpy_function(lambda x: np.sum(x) + np.sum(signal.lfilter([1.0], [1.0, 0.2], x)) + np.sum(special.gammainc(x, x)))
    assert gradient(f, backend, np.zeros(0))[0].shape == (0,)
    f = numpy_function(lambda x: np.sum(linalg.expm(x)) + np.sum(on_any_engine.spatial.distance.pdist(x)))
    assert gradient(f, backend, np.zeros((0, 0)))[0].shape == (0, 0)


@each_engine
def test_rules_in_batches_and_nested(backend):
    stack = np.stack([S, S / 2])
    f = numpy_function(lambda a: np.sum(linalg.expm(a)) + np.sum((A @ a) ** 2))
    found = batched(gradient, f, backend, Each(stack))[0]
    np.testing.assert_allclose(found, np.stack([gradient(f, backend, a)[0] for a in stack]), rtol=1e-12)
    slope = numpy_function(lambda x: special.kv(0.5, x))
    nested = gradient(lambda x: gradient(slope, backend, x)[0], backend, 1.2)[0]
    assert nested == pytest.approx(special.kvp(0.5, 1.2, 2), rel=1e-12)


#: A function of its last argument, and what stands before it: degrees that are no integers, or negative; counts of which SciPy
#: takes the integer part; orders where a gamma function is negative.
ODD_PARAMETERS = {
    "eval_legendre": [(0.7,), (-1.3,), (-3,), (-1.0,), (0.0,)],
    "eval_sh_legendre": [(0.7,), (-3,)],
    "eval_chebyt": [(0.7,), (-1.3,), (-3,), (0,)],
    "eval_sh_chebyt": [(1.6,), (-3.0,)],
    "eval_chebyu": [(0.7,), (-1.3,), (-3,), (-1,), (-2.0,)],
    "eval_sh_chebyu": [(3,), (-2.5,)],
    "eval_chebyc": [(3,), (-1.3,), (0,)],
    "eval_chebys": [(3,), (-2.5,), (-1,)],
    "eval_sh_jacobi": [(3, 2.4, 1.2), (0.7, 2.4, 1.2), (0, 2.4, 1.2)],
    "eval_gegenbauer": [(0.7, 0.4), (-1.3, 0.4), (0, 0.4)],
    "eval_jacobi": [(0.7, 0.4, 1.2), (-1.3, 0.4, 1.2), (0, 0.4, 1.2)],
    "eval_laguerre": [(0.7,), (-1.3,), (0,)],
    "eval_genlaguerre": [(0.7, 0.4), (-1.3, 0.4), (0, 0.4)],
    "kn": [(2.7,), (-2.7,)],
    "yn": [(2.7,), (-1.3,)],
    "expn": [(1.7,), (0.7,)],
    "bdtr": [(0.7, 3.6)],
    "bdtrc": [(0.7, 3.6), (-1.3, 5.0)],
    "hyp1f1": [(-1.0, -1.0), (-1.0, 2.5), (-2.0, -2.0)],
    "nbdtr": [(-0.5, 3.6)],
    "nbdtrc": [(1.5, 3.6)],
    "struve": [(-2.3,), (0.4,)],
    "modstruve": [(-2.3,)],
}


ODD = (-2.7, -1.3, -1.0, -0.5, 0.3, 0.5, 0.7, 1.0, 1.6, 3.0, 5.2)
#: Where numbers cannot judge.
UNTOLD = {
    "gdtrix": "SciPy has values for probabilities outside of [0, 1]",
    "tklmbda": "the ends of its support are among these",
}


def numbers_of(ufunc):
    """For each argument "d" or the letter of an integer; None for a function without a real result."""
    kinds = [kind.split("->")[0] for kind in ufunc.types if kind.endswith("->d") and set(kind) <= set("dlLp->")]
    return kinds[-1] if ufunc.nout == 1 and kinds else None


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
def test_no_slope_of_special_functions_is_wrong_at_parameters_that_nobody_has_in_mind():
    """Each at ten points of odd numbers, by each of its arguments; NaN, and what is refused, says that there is none."""
    random, seen, wrong = np.random.default_rng(5), 0, []
    functions = {name: function for name in dir(special) if isinstance(function := getattr(special, name), np.ufunc)}
    for name, function in functions.items():
        kinds = "" if name in UNTOLD else numbers_of(function) or ""
        for _ in range(10 if kinds else 0):
            args = [float(random.choice(ODD)) if kind == "d" else int(random.integers(-2, 4)) for kind in kinds]
            for place in [n for n, kind in enumerate(kinds) if kind == "d" and np.isfinite(function(*args))]:
                f = lambda x, function=function, args=args, n=place: function(*args[:n], x, *args[n + 1 :])
                try:
                    found = gradient(numpy_function(f), AutoTorch(), args[place])[0]
                except NumpyCodeError:
                    continue
                with recording() as record:
                    wanted = gradient(f, AutoFiniteDifferences(), args[place])[0]
                (accuracy,) = record.accuracies
                if np.isfinite(wanted) and accuracy.leaves[0].relative < 1e-7 and not np.isnan(found):
                    seen += 1
                    if not np.isclose(found, wanted, rtol=1e-5, atol=1e-9):
                        wrong.append((name, args, place, found, wanted))
    assert wrong == []
    assert seen > 1000


def per_entry(function, *before):
    return lambda x: np.sum(function(*before, x))


@pytest.mark.filterwarnings("ignore:floating point number truncated", "ignore:non-integer arg n:DeprecationWarning")
@pytest.mark.parametrize("name", ODD_PARAMETERS)
@each_engine
def test_parameters_that_are_no_integers_or_negative(name, backend):
    x = np.array([0.3, 0.6])
    for before in ODD_PARAMETERS[name]:
        f = per_entry(getattr(special, name), *before)
        found = value_and_gradient(numpy_function(f), backend, x)
        np.testing.assert_allclose(found.value, f(x), rtol=1e-12)
        np.testing.assert_allclose(found.gradient[0], gradient(f, AutoFiniteDifferences(), x)[0], rtol=1e-7, atol=1e-12)


@pytest.mark.filterwarnings("ignore::adinterface.DisconnectedWarning")
@pytest.mark.parametrize("function", [special.bdtr, special.nbdtr], ids=lambda function: function.__name__)
@each_engine
def test_counts_of_which_scipy_takes_the_integer_have_no_derivative(function, backend):
    assert gradient(numpy_function(lambda n: function(1.0, n, 0.3)), backend, 3.6) == (0.0,)


@pytest.mark.parametrize("function", [special.jv, special.iv], ids=lambda function: function.__name__)
@each_engine
def test_orders_where_the_gamma_function_is_negative(function, backend):
    f = lambda v: function(v, 0.5)
    found = gradient(numpy_function(f), backend, -1.3)[0]
    assert found == pytest.approx(gradient(f, AutoFiniteDifferences(), -1.3)[0], rel=1e-7)


@pytest.mark.parametrize("order", [-1.0, -2.0, -3.0])
@pytest.mark.parametrize("name", ["iv", "ive"])
@each_engine
def test_orders_that_are_negative_integers(name, order, backend):
    """The power series has a pole there, the function has none."""
    at = {"iv": mpmath.besseli, "ive": lambda v, z: mpmath.besseli(v, z) * mpmath.exp(-z)}[name]
    for z in (0.5, 3.3):
        found = gradient(numpy_function(lambda v, z=z: getattr(special, name)(v, z)), backend, order)[0]
        assert found == pytest.approx(float(mpmath.diff(lambda v, z=z: at(v, z), order)), rel=1e-11)
        bend = second_derivative(numpy_function(lambda v, z=z: getattr(special, name)(v, z)), backend, order)
        assert bend == pytest.approx(float(mpmath.diff(lambda v, z=z: at(v, z), order, 2)), rel=1e-7)


@pytest.mark.parametrize("phi", [0.5, -1.3, 1.5])
@each_engine
def test_the_incomplete_elliptic_integral_where_the_parameter_is_one(phi, backend):
    """F has no singularity there before a quarter period, but the closed form of its derivative is 0 / 0."""
    rise = 1 / math.cos(phi) * math.tan(phi)
    wanted = (rise - math.asinh(math.tan(phi))) / 4
    for m, rtol in ((1.0, 1e-12), (1 - 1e-12, 1e-9)):
        found = gradient(numpy_function(lambda m: special.ellipkinc(phi, m)), backend, m)[0]
        assert found == pytest.approx(wanted, rel=rtol)


@each_engine
def test_elliptic_integrals_where_closed_forms_are_zero_by_zero(backend):
    """Carlson's integral of equal arguments, and the curvature of Legendre's where m is zero or the amplitude is."""
    f = numpy_function(lambda p: special.elliprd(p[0], p[1], p[2]))
    integrand = lambda t, n: -1.5 * (0.5, 0.5, 1.5)[n] * (t + 0.7) ** -3.5
    wanted = [float(mpmath.quad(lambda t, n=n: integrand(t, n), [0, 1, mpmath.inf])) for n in range(3)]
    np.testing.assert_allclose(gradient(f, backend, np.full(3, 0.7))[0], wanted, rtol=1e-12)
    for function, exact in ((special.ellipkinc, mpmath.ellipf), (special.ellipeinc, mpmath.ellipe)):
        for at in ((0.5, 0.0), (0.0, 0.3), (4.0, 1e-9)):
            found = hessian(numpy_function(lambda p, function=function: function(p[0], p[1])), backend, np.array(at))
            orders = ((2, 0), (1, 1), (0, 2))
            wanted = [float(mpmath.re(mpmath.diff(exact, at, order))) for order in orders]
            np.testing.assert_allclose([found[0, 0], found[0, 1], found[1, 1]], wanted, rtol=1e-7, atol=1e-10)


@each_engine
def test_second_derivatives_where_a_first_one_is_a_special_case(backend):
    f = numpy_function(lambda a, x: special.hyp1f1(a, 2.5, x))
    mixed = hessian(lambda p: f(p[0], p[1]), backend, np.array([-1.0, 0.7]))[0, 1]
    exact = mpmath.diff(lambda a, x: mpmath.hyp1f1(a, 2.5, x), (-1.0, 0.7), (1, 1))
    assert mixed == pytest.approx(float(exact), rel=1e-8)
    bend = second_derivative(numpy_function(lambda m: special.ellipkinc(0.5, m)), backend, 1.0)
    integrand = lambda t: 3 * mpmath.sin(t) ** 4 / (4 * mpmath.cos(t) ** 5)
    assert bend == pytest.approx(float(mpmath.quad(integrand, [0, 0.5])), rel=1e-10)


@each_engine
def test_powers_of_negative_numbers_less_one(backend):
    assert gradient(numpy_function(lambda x: special.powm1(x, -1.0)), backend, -2.7)[0] == pytest.approx(-(2.7**-2))


@pytest.mark.parametrize("order", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("function", [special.struve, special.modstruve], ids=lambda function: function.__name__)
@each_engine
def test_struve_functions_below_zero(function, order, backend):
    f = lambda x: function(order, x)
    found = gradient(numpy_function(f), backend, -2.7)[0]
    assert found == pytest.approx(gradient(f, AutoFiniteDifferences(), -2.7)[0], rel=1e-7)


@each_engine
@pytest.mark.parametrize(("name", "part"), [("jv", "imag"), ("yv", "imag"), ("iv", "real")])
def test_scaled_bessel_functions_of_complex_numbers_are_refused(name, part, backend):
    """By |Im z| and |Re z| there are no complex derivatives: what is written instead has those of its parts."""
    scaled = getattr(special, f"{name}e")
    said = rf"{name}e of complex numbers has no complex derivative: it is {name} times np.exp\(-np.abs\(np.{part}\(z\)\)\)"
    with pytest.raises(NumpyCodeError, match=said):
        gradient(numpy_function(lambda x: np.real(scaled(0.5, x + 0.3j))), backend, 0.7)

    def written(x, y):
        z = x + 1j * y
        return np.real(getattr(special, name)(0.5, z) * np.exp(-np.abs(getattr(np, part)(z))))

    wanted = gradient(lambda x, y: np.real(scaled(0.5, x + 1j * y)), AutoFiniteDifferences(), 0.7, 0.3)
    np.testing.assert_allclose(gradient(numpy_function(written), backend, 0.7, 0.3), wanted, rtol=1e-6)


OF_REALS = {
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "dawsn": lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
    "log_ndtr": lambda x: mpmath.log(mpmath.ncdf(x)),
}


@pytest.mark.parametrize("name", OF_REALS)
def test_before_jax_0_10_2_some_functions_are_scipy_s(name, monkeypatch):
    for part in ("erfcx", "dawsn"):
        monkeypatch.delitem(jax_special.PARTS, part, raising=False)
    assert source_of(name, JAX) is Source.SCIPY
    function = on_engine(name, engine_of(JAX))
    for x in (-3.0, -0.7, 0.4, 5.0, 13.0, 150.0):
        with mpmath.workdps(600):
            value, first, second = [float(mpmath.diff(OF_REALS[name], mpmath.mpf(x), n)) for n in range(3)]
        found = value_derivative_and_second_derivative(function, AutoJax(), x)
        assert found == pytest.approx((value, first, second), rel=1e-9, abs=1e-300)


OF_COMPLEX = ["erf", "erfc", "erfcx", "log_ndtr", "ndtr", "gamma", "loggamma", "rgamma", "dawsn", "spence", "wofz", "jv"]


def of_both_parts(name):
    function = getattr(special, name)
    order = [0.5] if name == "jv" else []

    def f(x, y):
        z = function(*order, x + 1j * y)
        return np.sum(np.real(z) * 1.3 + np.imag(z))

    return f


@pytest.mark.parametrize("name", OF_COMPLEX)
@each_engine
def test_functions_of_complex_numbers(name, backend):
    """Which engines have for real numbers alone, or not at all; by the real and by the imaginary part."""
    f, x, y = of_both_parts(name), np.array([0.6, 1.4]), np.array([0.3, -0.2])
    found, wanted = value_and_gradient(numpy_function(f), backend, x, y), gradient(f, AutoFiniteDifferences(), x, y)
    np.testing.assert_allclose(found.value, f(x, y), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, wanted, rtol=1e-7)
    np.testing.assert_allclose(prepare(gradient, numpy_function(f), backend, x, y)(x, y), wanted, rtol=1e-7)
    direction = (np.ones(2), np.zeros(2))
    tangent = pushforward(numpy_function(f), backend, (x, y), direction).tangent
    np.testing.assert_allclose(tangent, np.sum(wanted[0]), rtol=1e-7)


@each_engine
def test_logarithms_of_complex_numbers_times_a_factor(backend):
    for function in (special.xlogy, special.xlog1py):
        f = lambda x, y, function=function: np.real(function(x + 0.2j, y + 0.3j))
        wanted = gradient(f, AutoFiniteDifferences(), 0.7, 0.4)
        np.testing.assert_allclose(gradient(numpy_function(f), backend, 0.7, 0.4), wanted, rtol=1e-7)


@each_engine
def test_the_digamma_function_of_complex_numbers_has_no_derivative_in_scipy(backend):
    with pytest.raises(NumpyCodeError, match=r"scipy\.special\.psi has no further derivative here"):
        gradient(numpy_function(lambda x: np.real(special.digamma(x + 0.5j))), backend, 0.7)


NEAR = [
    (lambda x: special.agm(x, 1.0), lambda x: mpmath.agm(x, 1), (1e-18, 1e-12, 0.3)),
    (lambda x: special.inv_boxcox1p(x, 0.5), lambda x: x + x * x / 4, (1e-300, 1e-17, -1e-17, 1e-10, -1.9999, 3.0)),
    (lambda x: special.powm1(x, 2.0), lambda x: x**2 - 1, (0.0,)),
    (lambda y: special.powm1(0.0, y), lambda y: mpmath.mpf(-1), (0.5, 2.0)),
    (lambda x: special.shichi(x)[0], mpmath.shi, (1e-9, 1e-3, 0.999, 1.001, 5.0)),
    (lambda x: special.sici(x)[0], mpmath.si, (1e-9, 1e-3, 0.999, 1.001, 5.0)),
    (special.i1e, lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), (1e-9, -1e-3, 0.499, 0.501, 3.0)),
]


@each_engine
@pytest.mark.parametrize("n", range(len(NEAR)))
def test_special_functions_near_zero(backend, n):
    """Value, slope and second derivative where a formula of differences loses its digits; SciPy's value too."""
    code, exact, points = NEAR[n]
    for x in points:
        with mpmath.workdps(700):
            size = mpmath.mpf(10) ** -20 * abs(mpmath.mpf(x) or 1)
            wanted = [exact(mpmath.mpf(x)), *[mpmath.diff(exact, mpmath.mpf(x), k, h=size) for k in (1, 2)]]
        found = value_derivative_and_second_derivative(numpy_function(code), backend, x)
        assert found.value == pytest.approx(float(code(x)), rel=1e-12, abs=0)
        for got, number in zip(found, wanted):
            assert got == pytest.approx(float(number), rel=1e-11, abs=1e-15 * abs(float(wanted[1])))


COMPLEX64 = """
    wrightomega(z); erf(z); erfcx(z); wofz(z); fresnel(z)[0]; sici(z)[0]; exp1(z); spence(z); gamma(z); jv(0.5, z); airy(z)[0];
    hyp0f1(0.5, z); hyp1f1(0.5, 1.5, z); hyp2f1(0.5, 1.5, 2.25, z); eval_legendre(2.0, z); elliprc(0.5, z); xlogy(0.5, z)
"""


@each_engine
@pytest.mark.parametrize("use", [use.strip() for use in COMPLEX64.split(";")])
def test_complex_numbers_keep_their_precision(backend, use):
    f = lambda z: np.abs(eval(use, vars(special), {"z": z}))
    z = np.array(0.3 + 0.2j)
    wide, narrow = [value_and_gradient(numpy_function(f), backend, z.astype(dtype)) for dtype in (complex, np.complex64)]
    assert (wide.gradient[0].dtype, narrow.gradient[0].dtype) == (np.complex128, np.complex64)
    assert wide.value == pytest.approx(f(z))
    assert narrow.value == pytest.approx(f(z), rel=2e-6)
    assert narrow.gradient[0] == pytest.approx(wide.gradient[0], rel=1e-5)
