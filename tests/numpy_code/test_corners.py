"""NumPy code at corners: zero variance, powers of zero, infinities, singular and triangular
matrices. No NaN where there is a limit, and on every engine the same number.
"""

import numpy as np
import pytest
import scipy.special as special

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoTorch,
    gradient,
    hessian,
    numpy_function,
    pushforward,
    value_and_gradient,
)

INF = np.inf
ENGINES = {"torch": AutoTorch, "autograd": AutoAutograd, "jax": AutoJax}
each_engine = pytest.mark.parametrize("auto", ENGINES.values(), ids=ENGINES)

#: A function, where, and its gradient there.
GRADIENTS = {
    "std of one": (np.std, ([3.0],), ([0.0],)),
    "std of equals": (np.std, ([2.0, 2.0],), ([0.0, 0.0],)),
    "std along an axis": (
        lambda x: np.sum(np.std(x, axis=0)),
        ([[2.0, 1.0], [2.0, 4.0]],),
        ([[0.0, -0.5], [0.0, 0.5]],),
    ),
    "nanstd": (np.nanstd, ([3.0, np.nan],), ([0.0, 0.0],)),
    "norm": (np.linalg.norm, ([0.0, 0.0],), ([0.0, 0.0],)),
    "norm of rows": (
        lambda x: np.sum(np.linalg.norm(x, axis=1)),
        ([[0.0, 0.0], [3.0, 4.0]],),
        ([[0.0, 0.0], [0.6, 0.8]],),
    ),
    "norm of order 3": (lambda x: np.linalg.norm(x, 3), ([0.0, 0.0],), ([0.0, 0.0],)),
    "xlogy": (special.xlogy, (0.0, 0.0), (0.0, 0.0)),
    "xlogy of a zero": (special.xlogy, (0.0, 2.0), (np.log(2.0), 0.0)),
    "xlog1py": (special.xlog1py, (0.0, -1.0), (0.0, 0.0)),
    "entr": (special.entr, (0.0,), (INF,)),
    "cbrt": (np.cbrt, (0.0,), (INF,)),
    "0 ** 0": (np.power, (0.0, 0.0), (0.0, 0.0)),
    "0 ** 1": (np.power, (0.0, 1.0), (1.0, 0.0)),
    "x ** 0.0": (lambda x: x**0.0, (0.0,), (0.0,)),
    "x ** many": (lambda x: np.sum(x ** np.arange(4.0)), ([0.0] * 4,), ([0.0, 1.0, 0.0, 0.0],)),
    "logaddexp of nothing": (np.logaddexp, (-INF, -INF), (0.5, 0.5)),
    "logaddexp with nothing": (np.logaddexp, (-INF, 1.0), (0.0, 1.0)),
    "logaddexp with infinity": (np.logaddexp, (INF, 1.0), (1.0, 0.0)),
    "logaddexp2": (np.logaddexp2, (-INF, 1.0), (0.0, 1.0)),
    "prod of two zeros": (np.prod, ([2.0, 0.0, 0.0],), ([0.0, 0.0, 0.0],)),
    "cumprod": (lambda x: np.sum(np.cumprod(x)), ([2.0, 0.0, 3.0, 4.0],), ([1.0, 32.0, 0.0, 0.0],)),
    "median of ties": (np.median, ([1.0, 2.0, 2.0, 3.0],), ([0.0, 0.5, 0.5, 0.0],)),
    "sinc": (np.sinc, (0.0,), (0.0,)),
    "gammainc": (lambda x: special.gammainc(1.0, x), (0.0,), (1.0,)),
}
#: The second derivative by the last argument.
SECOND = {
    "0 ** y": (lambda y: 0.0**y, 2.0, 0.0),
    "0 ** y, power": (lambda y: np.power(np.zeros(()), y), 0.5, 0.0),
    "0 ** y, float_power": (lambda y: np.float_power(0.0, y), 2.0, 0.0),
    "x ** 1": (lambda x: x**1.0, 0.0, 0.0),
    "x ** 0": (lambda x: x ** np.zeros(()), 0.0, 0.0),
    "x ** 2": (lambda x: x ** np.full((), 2.0), 0.0, 2.0),
    "std of one": (lambda x: np.std(np.stack([x])), 3.0, 0.0),
    "logaddexp": (lambda x: np.logaddexp(x, 1.0), -INF, 0.0),
    "sinc": (np.sinc, 0.0, -(np.pi**2) / 3),
}


@each_engine
@pytest.mark.filterwarnings(
    "ignore:.*encountered in:RuntimeWarning", "ignore::adinterface.DisconnectedWarning"
)
@pytest.mark.parametrize("name", GRADIENTS)
def test_a_corner_has_the_same_gradient_everywhere(name, auto):
    f, args, wanted = GRADIENTS[name]
    if name == "gammainc" and auto is not AutoAutograd:
        pytest.skip("the engine's own rule is NaN at the edge of the domain")
    args = [np.array(x) for x in args]
    on_engine = numpy_function(lambda *x: np.sum(f(*x)))
    for found, expected in zip(gradient(on_engine, auto(), *args), wanted):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    if auto is not AutoJax and not any(np.isinf(x).any() for x in (*args, *map(np.array, wanted))):
        tangent = pushforward(
            on_engine, auto(mode="forward"), tuple(args), tuple(map(np.ones_like, args))
        ).tangent
        np.testing.assert_allclose(tangent, sum(np.sum(x) for x in wanted), atol=1e-12)


@each_engine
@pytest.mark.filterwarnings(
    "ignore:.*encountered in:RuntimeWarning", "ignore::adinterface.DisconnectedWarning"
)
@pytest.mark.parametrize("name", SECOND)
def test_a_corner_has_a_second_derivative(name, auto):
    f, x, wanted = SECOND[name]
    np.testing.assert_allclose(hessian(numpy_function(f), auto(), np.array(x)), wanted, atol=1e-12)


@pytest.mark.parametrize("auto", [AutoTorch, AutoJax], ids=["torch", "jax"])
def test_the_determinant_of_a_singular_matrix_has_its_gradient(auto):
    for matrix, wanted in [
        ([[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]]),
        ([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]),
        ([[1.0, 2.0], [3.0, 4.0]], [[4.0, -3.0], [-2.0, 1.0]]),
    ]:
        value, (found,) = value_and_gradient(
            numpy_function(np.linalg.det), auto(), np.array(matrix)
        )
        assert value == pytest.approx(np.linalg.det(matrix))
        np.testing.assert_allclose(found, wanted, atol=1e-12)


# One triangle
# ------------------------------------------------------------------------------------------------

_random = np.random.default_rng(0)
REAL = _random.normal(size=(3, 3)) + 4 * np.eye(3)
STACK = _random.normal(size=(2, 3, 3)) + 4 * np.eye(3)
MATRICES = {"real": REAL, "stack": STACK, "complex": REAL + 0.3j * _random.normal(size=(3, 3))}
WEIGHTS = _random.normal(size=(3, 3))
OF_A_TRIANGLE = {
    "eigvalsh": lambda x: np.linalg.eigvalsh(x) * WEIGHTS[0],
    "eigvalsh of U": lambda x: np.linalg.eigvalsh(x, "u") * WEIGHTS[0],
    "eigh": lambda x: np.abs(np.linalg.eigh(x).eigenvectors) ** 2 * WEIGHTS,
    "eigh of U": lambda x: np.linalg.eigh(x, UPLO="U")[0] * WEIGHTS[0],
    "cholesky": lambda x: np.real(np.linalg.cholesky(x) * (1 + 0.5j)) * WEIGHTS,
    "cholesky of U": lambda x: np.real(np.linalg.cholesky(x, upper=True) * (1 + 0.5j)) * WEIGHTS,
    "svd": lambda x: np.linalg.svd(x, hermitian=True, compute_uv=False) * WEIGHTS[0],
    "pinv": lambda x: np.real(np.linalg.pinv(x, hermitian=True)) * WEIGHTS,
}


def differences(f, x, step=1e-6):
    """The gradient as everywhere here: with respect to the real part, and i times that with respect
    to the imaginary one.
    """
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
            moved = np.zeros_like(x)
            moved[place] = step * unit
            found[place] += unit * (f(x + moved) - f(x - moved)) / (2 * step)
    return found


@each_engine
@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("name", OF_A_TRIANGLE)
def test_what_numpy_reads_of_a_matrix_is_what_the_gradient_is_by(name, kind, auto):
    if auto is AutoJax and (kind == "stack" or name in ("eigvalsh", "eigh of U", "cholesky of U")):
        pytest.skip("as the others, and JAX compiles each step by itself")
    f, x = lambda x: np.sum(OF_A_TRIANGLE[name](x)), MATRICES[kind]
    value, (found,) = value_and_gradient(numpy_function(f), auto(), x)
    wanted = differences(f, x)
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    unread = np.tril(np.ones((3, 3)), -1) if "U" in name else np.triu(np.ones((3, 3)), 1)
    assert not (found * unread).any()


@each_engine
def test_another_triangle_than_the_two_is_refused(auto):
    with pytest.raises(ValueError, match="UPLO argument must be 'L' or 'U'"):
        gradient(numpy_function(lambda x: np.sum(np.linalg.eigvalsh(x, "X"))), auto(), REAL)
