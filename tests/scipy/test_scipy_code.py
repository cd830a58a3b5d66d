"""SciPy's functions on every engine, `adinterface.scipy`: values, both modes, second order.

Identities; what is refused.
"""

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
import scipy.stats
import torch
from adinterface_studies.functions import checks, table
from adinterface_studies.functions.scipy_code import ONCE, USES
from backends_table import each_backend, each_engine
from forked import printed

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    NumpyCodeError,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    prepare,
    pushforward,
    value_and_gradient,
)
from adinterface import scipy as on_any_engine

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

#: One use of each function; what several have in common is tried with one of them in the modes that
#: cost more.
FIRST = {use.name: use for use in reversed(USES)}
#: Second derivatives that take half a second.
SLOW_TWICE = [
    "scipy.integrate.dblquad", "scipy.linalg.lu", "scipy.linalg.solve_continuous_are",
    "scipy.linalg.solve_discrete_are",
]  # fmt: skip
#: JAX compiles each: one of each kind.
ON_JAX = [
    "scipy.linalg.expm", "scipy.linalg.lu", "scipy.linalg.solve_triangular", "scipy.special.stdtr",
    "scipy.special.jv", "scipy.signal.lfilter", "scipy.interpolate.CubicSpline", "scipy.fft.dct",
    "scipy.sparse: A @ x",
]  # fmt: skip


def assert_right(uses, backend, modes):
    outcomes = table.run(uses, backend, modes=modes)
    assert [str(outcome) for outcome in outcomes if not outcome.good] == []
    assert len(outcomes) == len(modes)


@pytest.mark.parametrize("name", FIRST)
def test_each_function_on_autograd(name):
    assert_right([FIRST[name]], AutoAutograd(), ("value", "forward"))


@pytest.mark.parametrize("use", USES, ids=[f"{n}-{use.name}" for n, use in enumerate(USES)])
def test_each_use_on_torch(use):
    second = use is FIRST[use.name] and use.kind != "once" and use.name not in SLOW_TWICE
    assert_right(
        [use], AutoTorch(), ("value", "reverse", "second order") if second else ("value", "reverse")
    )


@pytest.mark.parametrize("name", ON_JAX)
def test_on_jax(name):
    assert_right([FIRST[name]], AutoJax(), ("value", "prepared"))


# By whatever road a call comes
# ------------------------------------------------------------------------------------------


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
    np.testing.assert_allclose(
        a_bar, (np.linalg.inv(matrix) - np.outer(weights, weights)) @ S, rtol=tolerance, atol=1e-9
    )


def test_plain_arrays_go_to_scipy_itself():
    np.testing.assert_array_equal(
        linalg.solve(S, B, assume_a="sym"), scipy.linalg.solve(S, B, assume_a="sym")
    )
    assert on_any_engine.linalg.LinAlgError is scipy.linalg.LinAlgError
    assert on_any_engine.constants is scipy.constants
    assert on_any_engine.special.jv(0, 1.0) == special.jv(0, 1.0)
    np.testing.assert_array_equal(on_any_engine.linalg.schur(S)[0], scipy.linalg.schur(S)[0])
    spline = interpolate.CubicSpline(X, B)
    np.testing.assert_array_equal(spline(1.0), scipy.interpolate.CubicSpline(X, B)(1.0))


def test_it_is_loaded_when_asked_for():
    code = (
        "import sys, adinterface; print([name for name in sys.modules if name.startswith(('scipy',"
        " 'adinterface.scipy.'))])"
    )
    assert printed(code) == "[]"


@each_engine
def test_other_precisions(backend):
    def f(a, b):
        return np.sum(linalg.lu_solve(linalg.lu_factor(a), b)) + np.sum(special.stdtr(2.5, b))

    value, gradients = value_and_gradient(
        numpy_function(f), backend, S.astype(np.float32), B.astype(np.float32)
    )
    wanted = value_and_gradient(f, AutoFiniteDifferences(), S, B)
    assert [value.dtype, *[g.dtype for g in gradients]] == [np.float32] * 3
    np.testing.assert_allclose(gradients[0], wanted.gradient[0], atol=1e-4)
    np.testing.assert_allclose(gradients[1], wanted.gradient[1], atol=1e-4)


@pytest.mark.parametrize("cls", [AutoTorch, AutoAutograd])
def test_forward_and_second_order(cls):
    f = numpy_function(lambda x: np.sum(special.betainc(x[0], x[1], x[2])))
    x = np.array([1.5, 2.5, 0.3])
    slopes, curvatures = (
        gradient(f, AutoFiniteDifferences(), x)[0],
        hessian(f, AutoFiniteDifferences(), x),
    )
    np.testing.assert_allclose(hessian(f, cls(), x), curvatures, atol=1e-4)
    np.testing.assert_allclose(
        pushforward(f, cls(mode="forward"), (x,), (x,)).tangent, slopes @ x, atol=1e-7
    )


# Where a function is not defined
# ------------------------------------------------------------------------------------------


def masked(x, a):
    """Functions outside of their domains, and at its ends, in the branches that are not taken."""
    inside = (x > 0) & (x < 1)
    lower = np.where(x > 0, special.gammainc(a, x), special.gammaincc(a, -x))
    return np.sum(
        lower * np.where(inside, special.betaincinv(a, 1.5, x), 0.3)
        + np.where(x > 0, special.expi(x), x**2) * a
    )


AT = (np.array([0.5, -0.7, 1.2, -0.2]), 1.5)


@pytest.mark.parametrize(
    "backend",
    [
        AutoTorch(),
        AutoAutograd(),
        AutoJax(),
        AutoTorch(mode="forward"),
        AutoAutograd(mode="forward"),
    ],
    ids=repr,
)
def test_zero_times_a_derivative_that_is_not_finite(backend):
    wanted = gradient(masked, AutoFiniteDifferences(), *AT)
    for found, by_differences in zip(gradient(numpy_function(masked), backend, *AT), wanted):
        np.testing.assert_allclose(found, by_differences, rtol=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of autograd, which computes with NumPy
@pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoAutograd(), AutoJax()], ids=["torch", "autograd", "jax"]
)
def test_it_hides_nothing_that_is_infinite(backend):
    """Of a factor that is zero at the point alone the other's infinite derivative stays, along what
    changes the factor.
    """
    f = numpy_function(lambda x: special.gammainc(0.5, x) ** 2)
    assert not np.isfinite(hessian(f, backend, 0.0))
    g = numpy_function(lambda x, y: y * special.gammainc(0.5, x))
    found = hessian(numpy_function(lambda p: g(p[0], p[1])), backend, np.array([0.0, 0.0]))
    assert found[1, 1] == 0
    assert not np.isfinite(found[0, 1])


# What is refused
# ------------------------------------------------------------------------------------------------


def words(option, function):
    return rf"{function}: {option} is not supported for an engine's arrays"


images, distances = on_any_engine.ndimage, on_any_engine.spatial.distance
REFUSED = {
    "an option": (
        lambda a: linalg.eigh(a, subset_by_value=[0, 1])[0],
        words("subset_by_value", "scipy.linalg.eigh"),
    ),
    "another type": (
        lambda a: linalg.eigh(a, a @ a.T, type=2)[0],
        words("type=2", "scipy.linalg.eigh") + ".* Write the problem",
    ),
    "the rest of Q": (
        lambda a: linalg.qr(a[:, :2])[1],
        "mode='full' for a matrix with more rows than .*mode='economic'",
    ),
    "raw": (lambda a: linalg.qr(a, mode="raw")[1], words("mode='raw'", "scipy.linalg.qr")),
    "a function without": (
        lambda a: linalg.schur(a)[0],
        "scipy.linalg.schur has no derivative here, and takes plain NumPy",
    ),
    "an order": (
        lambda a: special.yv(a, 1.0),
        "scipy.special.yv has no derivative here with respect to its order. Pass that",
    ),
    "an order of complex functions": (
        lambda a: np.real(special.jv(a, 1 + 1j * a)),
        "here for real arguments alone. Pass",
    ),
    "a metric": (
        lambda a: distances.pdist(a, "hamming"),
        words("metric='hamming'", "pdist") + ".* Those with a derivative are b",
    ),
    "a function": (
        lambda a: distances.cdist(a, a, lambda u, v: u @ v),
        words("a function for a metric", "cdist"),
    ),
    "cubic images": (
        lambda a: images.map_coordinates(a, [[0.5], [0.5]]),
        words("order=3", "map_coordinates") + ".* Write order=1",
    ),
    "ends of images": (
        lambda a: images.map_coordinates(a, [[0.5], [0.5]], order=1, mode="mirror"),
        words("mode='mirror'", "map_coordinates") + ".* Write mode='constant' or mode='nearest'",
    ),
    "complex logarithms": (
        lambda a: np.real(on_any_engine.special.logsumexp(a + 1j)),
        words("a complex argument", "logsumexp") + r".* Write np.log\(np.sum\(np.exp\(a\)\)\)",
    ),
    "a tolerance": (
        lambda a: linalg.pinv(a, atol=0.1),
        words("atol", "scipy.linalg.pinv") + ".* Write rtol",
    ),
    "the transposed of a structure": (
        lambda a: np.real(linalg.solve(a + 1j, B, assume_a="her", transposed=True)),
        words("transposed=True for a complex", "scipy.linalg.solve").partition(" is not")[0],
    ),
    "output": (
        lambda a: images.gaussian_filter(a, 1.0, output=np.zeros((3, 3))),
        words("output=array", "gaussian_filter"),
    ),
    "a complex root": (
        lambda a: linalg.sqrtm(-a @ a.T),
        r"sqrtm of this real matrix is complex.*write sqrtm\(a \+ 0j\)",
    ),
    "exact": (
        lambda a: on_any_engine.special.factorial(a, exact=True),
        words("exact", "factorial"),
    ),
    "weights": (
        lambda a: integrate.quad(lambda x: x * a[0, 0], 0, 1, weight="cos", wvar=2.0)[0],
        words("weight", "quad"),
    ),
    "an infinite limit": (
        lambda a: integrate.quad(lambda x: np.exp(-x), 0.0, a[0, 0] * np.inf)[0],
        "an infinite limit that is differentiated by is not supported. Write np.inf",
    ),
    "information": (
        lambda a: integrate.nquad(lambda x: a[0, 0], [(0, 1)], full_output=True)[0],
        words("full_output", "nquad"),
    ),
    "roots": (
        lambda a: interpolate.CubicSpline(np.arange(3.0), a[0]).roots()[0],
        words("roots", "scipy.interpolate.CubicSpline"),
    ),
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
    with pytest.raises(
        NumpyCodeError,
        match=r"scipy.integrate.quad needs the numbers of its .* backend with jit=False",
    ):
        prepare(gradient, f, AutoJax(), 0.7)(0.7)
    assert prepare(gradient, f, AutoJax(jit=False), 0.7)(0.7)[0] == pytest.approx(np.sin(0.7))


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


# Sparse matrices
# ------------------------------------------------------------------------------------------------

A = scipy.sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.0]]))


def test_products_of_an_engines_own_arrays():
    x = torch.tensor(B, requires_grad=True)
    on_any_engine.sparse.product(A, x).sum().backward()
    np.testing.assert_array_equal(x.grad, A.T @ np.ones(2))
    np.testing.assert_array_equal(on_any_engine.sparse.product(A, B), A @ B)
    with pytest.raises(TypeError, match="product takes a SciPy sparse matrix first, not a ndarray"):
        on_any_engine.sparse.product(B, x)


# Special functions
# ------------------------------------------------------------------------------------------------


@each_engine
@pytest.mark.parametrize(("name", "part"), [("jv", "imag"), ("yv", "imag"), ("iv", "real")])
def test_scaled_bessel_functions_of_complex_numbers_are_refused(name, part, backend):
    """By |Im z| and |Re z| there are no complex derivatives: what is written instead has those of
    its parts.
    """
    scaled = getattr(special, f"{name}e")
    said = (
        rf"{name}e of complex numbers has no complex derivative: it is {name} times"
        rf" np.exp\(-np.abs\(np.{part}\(z\)\)\)"
    )
    with pytest.raises(NumpyCodeError, match=said):
        gradient(numpy_function(lambda x: np.real(scaled(0.5, x + 0.3j))), backend, 0.7)

    def written(x, y):
        z = x + 1j * y
        return np.real(getattr(special, name)(0.5, z) * np.exp(-np.abs(getattr(np, part)(z))))

    wanted = gradient(
        lambda x, y: np.real(scaled(0.5, x + 1j * y)), AutoFiniteDifferences(), 0.7, 0.3
    )
    np.testing.assert_allclose(
        gradient(numpy_function(written), backend, 0.7, 0.3), wanted, rtol=1e-6
    )


@pytest.mark.parametrize("name", sorted(ONCE))
def test_a_second_derivative_of_differences_is_refused(name):
    words = r"differentiated by argument \d, has no further derivative here\. Pass its parameters"
    use = [use for use in USES if use.name == f"scipy.special.{name}"][-1]
    with pytest.raises(NumpyCodeError, match=words):
        checks.judge(use, AutoTorch(), "second order")


BY_THE_ARGUMENT = {
    "jv": lambda x: special.jv(1.5, x), "kve": lambda x: special.kve(0.3, x),
    "hyp2f1": lambda x: special.hyp2f1(0.3, 1.2, 2.0, x / 9),
    "chndtr": lambda x: special.chndtr(x, 2.5, x), "ncfdtr": lambda x: special.ncfdtr(3, 4, x, x),
    "nctdtr": lambda x: special.nctdtr(2.5, 0.3, x), "zeta": lambda x: on_any_engine.special.zeta(2.5, x),
}  # fmt: skip


@each_engine
@pytest.mark.parametrize("name", BY_THE_ARGUMENT)
def test_second_derivatives_by_the_other_arguments(name, backend):
    f = BY_THE_ARGUMENT[name]
    wanted = hessian(f, AutoFiniteDifferences(), 1.3)
    np.testing.assert_allclose(hessian(numpy_function(f), backend, 1.3), wanted, rtol=1e-4)


OF_COMPLEX = [
    "erf",
    "erfc",
    "erfcx",
    "log_ndtr",
    "ndtr",
    "gamma",
    "loggamma",
    "rgamma",
    "dawsn",
    "spence",
    "wofz",
    "jv",
]


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
    """Which engines have for real numbers alone, or not at all.

    By the real and by the imaginary part.
    """
    f, x, y = of_both_parts(name), np.array([0.6, 1.4]), np.array([0.3, -0.2])
    found, wanted = (
        value_and_gradient(numpy_function(f), backend, x, y),
        gradient(f, AutoFiniteDifferences(), x, y),
    )
    np.testing.assert_allclose(found.value, f(x, y), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, wanted, rtol=1e-7)
    np.testing.assert_allclose(
        prepare(gradient, numpy_function(f), backend, x, y)(x, y), wanted, rtol=1e-7
    )
    direction = (np.ones(2), np.zeros(2))
    tangent = pushforward(numpy_function(f), backend, (x, y), direction).tangent
    np.testing.assert_allclose(tangent, np.sum(wanted[0]), rtol=1e-7)


@each_engine
def test_the_digamma_function_of_complex_numbers_has_no_derivative_in_scipy(backend):
    with pytest.raises(NumpyCodeError, match=r"scipy\.special\.psi has no further derivative here"):
        gradient(numpy_function(lambda x: np.real(special.digamma(x + 0.5j))), backend, 0.7)


@each_engine
@pytest.mark.parametrize("method", ["evaluate", "logpdf"])
def test_a_captured_density_estimate(method, backend):
    estimate = getattr(
        scipy.stats.gaussian_kde(np.array([[0.3, 1.1, 2.0], [0.5, 0.2, 1.7]])), method
    )
    f = lambda x: np.sum(estimate(np.reshape(x, (2, 2))))
    x = np.array([0.6, 1.0, 0.9, 0.1])
    found = gradient(numpy_function(f, deep=True), backend, x)[0]
    np.testing.assert_allclose(found, gradient(f, AutoFiniteDifferences(), x)[0], rtol=1e-6)


@pytest.mark.parametrize("name", ["brentq", "brenth", "bisect", "ridder", "toms748"])
def test_a_root_has_the_derivatives_of_the_implicit_function(name):
    find = getattr(on_any_engine.optimize, name)
    f = lambda p: find(lambda t, scale: scale * t**3 - p, 0.0, 3.0, (2.0,))
    assert f(1.4) == pytest.approx(0.7 ** (1 / 3))
    for backend in AutoTorch(), AutoAutograd(), AutoJax():
        slope = lambda p, backend=backend: gradient(numpy_function(f), backend, p)[0]
        assert slope(1.4) == pytest.approx(0.7 ** (1 / 3) / 4.2)
        (second,) = gradient(slope, backend, 1.4)
        assert second == pytest.approx(-2 / 9 * 0.7 ** (1 / 3) / 1.4**2)
        with pytest.raises(NumpyCodeError, match=f"optimize.{name} takes NumPy code"):
            gradient(f, backend, 1.4)


@pytest.mark.parametrize("options", [{}, {"bounds": (0, 9)}, {"method": "lm"}], ids=str)
@each_engine
def test_least_squares_has_the_derivative_of_the_implicit_function(backend, options):
    """Its Jacobian may have equal singular values, whose vectors have no derivative."""
    data = np.array([0.1, -0.2, 0.3])

    @numpy_function(deep=True)
    def f(p):
        rows = lambda x: np.stack([x[0] - p[0], x[1] - p[0] * p[1], x[0] + data[2]])
        return np.sum(scipy.optimize.least_squares(rows, np.ones(2), **options).x ** 2)

    # x = ((p0 - 0.3) / 2, p0 p1)
    p = np.array([1.5, 0.7])
    wanted = [(p[0] - 0.3) / 2 + 2 * p[0] * p[1] ** 2, 2 * p[0] ** 2 * p[1]]
    np.testing.assert_allclose(gradient(f, backend, p)[0], wanted, rtol=1e-7)


def written(x, a):
    rows = 0.0 * x
    rows[0], rows[1] = x[0] - a[0] ** 2, x[1] - a[1]
    return rows


def solved(f, *args, **options):
    return scipy.optimize.least_squares(f, *args, **options).x


def written_solution(a):
    x = solved(lambda x: x - np.ones(2), np.zeros(2))
    x[0] = a[0] ** 2
    return x


#: Solutions, by what is differentiated in them, each with its value.
LEAST_SQUARES = {
    "args": (
        lambda a: solved(lambda x, u: x - u * np.array([1.0, 2.0]), np.ones(2), args=(a[0],)),
        lambda a: a[0] * np.array([1.0, 2.0]),
    ),
    "kwargs": (
        lambda a: solved(lambda x, u: x - u * np.ones(2), np.ones(2), kwargs={"u": a[1]}),
        lambda a: a[1] * np.ones(2),
    ),
    "x0": (lambda a: solved(lambda x: x - a**2, 2 * a), lambda a: a**2),
    "a list x0": (lambda a: solved(lambda x: x - a**2, [a[0], 1.0]), lambda a: a**2),
    "x0 alone": (lambda a: a * solved(lambda x: x - np.array([1.0, 2.0]), a), lambda a: a * [1, 2]),
    "nothing": (
        lambda a: a * solved(lambda x: x - np.array([1.0, 2.0]), np.zeros(2)),
        lambda a: a * [1, 2],
    ),
    "a list": (
        lambda a: solved(lambda x: [x[0] - a[0] * a[1], x[1] - 2.0], np.zeros(2)),
        lambda a: np.stack([a[0] * a[1], 2.0]),
    ),
    "what f writes": (
        lambda a: solved(written, np.zeros(2), args=(a,)),
        lambda a: np.stack([a[0] ** 2, a[1]]),
    ),
    "made bounds": (
        lambda a: solved(lambda x: x - a**2, np.ones(2), bounds=(np.zeros(2), np.full(2, 9.0))),
        lambda a: a**2,
    ),
    "the solution": (written_solution, lambda a: np.stack([a[0] ** 2, 1.0])),
}


@pytest.mark.parametrize("name", LEAST_SQUARES)
@each_engine
def test_what_is_differentiated_in_least_squares(name, backend):
    solution, wanted = (numpy_function(f, deep=True) for f in LEAST_SQUARES[name])
    a = np.array([1.3, 0.7])
    (once,) = jacobian(solution, backend, a)
    (right,) = jacobian(wanted, backend, a)
    np.testing.assert_allclose(once, right, rtol=1e-6, atol=1e-9)
    if not isinstance(backend, AutoJax):  # whose compiled calls do not know the numbers
        (again,) = prepare(jacobian, solution, backend, a)(a)
        np.testing.assert_allclose(again, right, rtol=1e-6, atol=1e-9)


def test_least_squares_with_several_solutions_is_refused():
    @numpy_function(deep=True)
    def f(p):
        return scipy.optimize.least_squares(lambda x: x[:1] + x[1:] - p, np.ones(2)).x[0]

    with pytest.raises(NumpyCodeError, match="the solution is not the only one nearby"):
        gradient(f, AutoTorch(), np.ones(1))


@each_engine
@pytest.mark.parametrize(
    "options",
    [
        {"mode": "wrap"},
        {"mode": "nearest", "deriv": 1, "delta": 0.5},
        {"mode": "mirror", "polyorder": 3},
        {"mode": "constant", "cval": 1.0},
        {"mode": "constant", "window_length": 11},
        {"mode": "wrap", "window_length": 4},
        {"window_length": 4},
        {"window_length": 7, "deriv": 2},
        {"window_length": 1, "polyorder": 0},
        {"deriv": 3},
    ],
    ids=str,
)
def test_savgol_filter_beyond_the_ends(options, backend):
    options = {"window_length": 5, "polyorder": 2} | options
    x = np.random.default_rng(3).normal(size=(9, 2))

    def f(x):
        along = scipy.signal.savgol_filter(x, axis=0, **options)
        return np.sum(along**3) + np.sum(scipy.signal.savgol_filter(x[:, 0], **options) ** 2)

    value, (slopes,) = value_and_gradient(numpy_function(f, deep=True), backend, x)
    assert value == pytest.approx(f(x), rel=1e-10, abs=1e-20)
    (wanted,) = gradient(f, AutoFiniteDifferences(), x)
    np.testing.assert_allclose(slopes, wanted, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("options", [{"mode": "other"}, {"window_length": 11}], ids=str)
def test_savgol_filter_raises_what_scipys_does(options):
    options = {"window_length": 5, "polyorder": 2} | options
    f = numpy_function(lambda x: np.sum(signal.savgol_filter(x, **options)))
    with pytest.raises(ValueError, match="mode"):
        gradient(f, AutoTorch(), np.arange(9.0))
