"""The page "Errors and warnings": a call gives each message that it quotes, and its table of
classes is that of the package.
"""

import inspect
import re
import warnings
from pathlib import Path
from unittest.mock import patch

import autograd.numpy as anp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch
from adinterface_conformance.testing import assert_backends_agree

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    Constant,
    Each,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    pullback,
)
from adinterface.core.contract import errors, registry

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text()
JAX, TORCH, AUTOGRAD, FINITE = AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences()
X = np.array([1.0, 2.0])


def square(x):
    return (x * x).sum()


def fourth(x):
    return square(x) ** 2


def product(x, y):
    return (x * y).sum()


def writes(x):
    y = 1.0 * x
    y[0] = 1.0
    return y.sum()


def writes_into_x(x):
    x[0] = 1.0
    return x.sum()


def branches(x):
    return x**2 if x > 0 else x


class Mine:
    def __init__(self):
        self.w = X


class Unrecorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


reverse_alone = jax.custom_vjp(lambda x: x**2)
reverse_alone.defvjp(lambda x: (x**2, x), lambda x, g: (2 * x * g,))


def by_scipy():
    jac = lambda x: gradient(fourth, AUTOGRAD, x)
    scipy.optimize.minimize(fourth, np.ones(3), jac=jac)


def penalty(backend):
    net = torch.nn.Linear(2, 1, dtype=torch.float64)
    gradient(lambda x: net(x).sum() ** 2, backend, torch.ones(2, dtype=torch.float64))[
        0
    ].sum().backward()
    return net.weight.grad


def without_engine():
    missing = ModuleNotFoundError("No module named 'jax'", name="jax")
    with patch.object(registry, "backend_class", side_effect=missing):
        registry.backend_for.__wrapped__(JAX)


def with_pandas():
    # Not pandas itself: another page registers its Series for the whole process.
    array = lambda self, dtype=None, copy=None: X
    series = type("Series", (), {"__module__": "pandas", "dtype": X.dtype, "__array__": array})
    gradient(square, TORCH, series())


#: In the order of the page: the words of a message, and what gives it.
CALLS = {
    "The argument 'backend' must be a backend, not ...": lambda: gradient(square, X, AUTOGRAD),
    "f must be a function, but is ...": lambda: gradient(square(X), AUTOGRAD, X),
    "gradient: no argument has a gradient.": lambda: gradient(square, AUTOGRAD, x=X),
    "Keyword arguments go to f, argnums too.": lambda: gradient(square, AUTOGRAD, X, argnums=0),
    "... differentiates exactly one argument, the first, but args[1] would be, too.": lambda: hvp(
        product, AUTOGRAD, X, X, X
    ),
    "argument 0 is a list, which reaches f as a list of its entries.": lambda: gradient(
        square, AUTOGRAD, [1.0, 2.0]
    ),
    "argument 1 was an integer, so it was promoted to a float and differentiated": lambda: gradient(
        lambda x, axis: x.sum(axis), JAX, X, 0
    ),
    "a prepared call takes the arguments of f alone, fast(x).": lambda: prepare(
        gradient, square, AUTOGRAD, X
    )(square, AUTOGRAD, X),
    "'tuple' object has no attribute 'shape'": lambda: jacobian(lambda x: x, AUTOGRAD, X).shape,
    "can't multiply sequence by non-int of type 'float'": lambda: (
        X - 0.1 * gradient(square, AUTOGRAD, X)
    ),
    "shapes (3,3) and (1,3) not aligned": by_scipy,
    "pullback returns (value, back)": lambda: pullback(square, AUTOGRAD, X)(1.0),
    "f must return a real scalar, but returned ... shape (2,). Reduce it to a scalar": lambda: (
        gradient(lambda x: x, AUTOGRAD, X)
    ),
    "f must return a real scalar, but returned None. Does it lack a return statement?": lambda: (
        gradient(lambda x: None, AUTOGRAD, X)
    ),
    "f must return a real scalar, but returned a tuple.": lambda: gradient(
        lambda x: (x.sum(), x), AUTOGRAD, X
    ),
    "f must return a real scalar, but returned ... complex128": lambda: gradient(
        lambda x: 1j * x.sum(), AUTOGRAD, X
    ),
    "Return a float; counts and tests have no derivative.": lambda: gradient(
        lambda x: 3, AUTOGRAD, X
    ),
    "cotangent must have shape (2,), not (3,).": (
        lambda: pullback(lambda x: x, AUTOGRAD, X).back(np.ones(3))
    ),
    "The numpy.ndarray conversion method __array__() was called on traced array": lambda: gradient(
        lambda x: np.sin(x).sum(), JAX, X
    ),
    "Can't call numpy() on Tensor that requires grad": lambda: gradient(
        lambda x: np.sin(x).sum(), TORCH, X
    ),
    "A NumPy array met a tensor.": lambda: gradient(
        lambda x: (X.astype("float32") @ x).sum(), TORCH, X
    ),
    "A JAX function got a tensor.": lambda: gradient(lambda x: jnp.sin(x).sum(), TORCH, X),
    "A torch function got a JAX array.": lambda: gradient(lambda x: torch.sin(x).sum(), JAX, X),
    "autograd has no reverse rule for ...": lambda: gradient(
        lambda x: anp.nextafter(x, 1.0).sum(), AUTOGRAD, X
    ),
    "A leaf is traced by autograd (Box), and AutoTorch cannot see through that trace.": lambda: (
        gradient(lambda x: gradient(square, TORCH, x)[0].sum(), AUTOGRAD, X)
    ),
    "JAX arrays cannot be written to.": lambda: gradient(writes, JAX, X),
    "autograd cannot differentiate item assignment.": lambda: gradient(writes, AUTOGRAD, X),
    "f writes into its own argument, which torch cannot differentiate.": lambda: gradient(
        writes_into_x, TORCH, X
    ),
    "Attempted boolean conversion of traced array": lambda: prepare(gradient, branches, JAX, 1.0)(
        1.0
    ),
    "Abstract tracer value encountered where concrete value is expected": lambda: gradient(
        lambda x: float(x), JAX, 1.0
    ),
    "mat1 and mat2 must have the same dtype": lambda: gradient(
        lambda m, x: m(x).sum(), TORCH, torch.nn.Linear(2, 1), Constant(X)
    ),
    "torch.vmap cannot do this for all entries of a batched call at once": lambda: batched(
        gradient, branches, TORCH, Each(X)
    ),
    "vmap: called random operation while in randomness error mode": lambda: batched(
        gradient, lambda x: torch.nn.functional.dropout(x).sum(), TORCH, Each(np.ones((3, 2)))
    ),
    "can't apply forward-mode autodiff (jvp) to a custom_vjp function.": lambda: jacobian(
        lambda x: reverse_alone(x) * jnp.ones(3), JAX, 1.0
    ),
    "f applies ..., a torch.autograd.Function whose backward torch did not record": lambda: hessian(
        lambda x: Unrecorded.apply(x).sum(), TORCH, X
    ),
    "element 0 of tensors does not require grad": lambda: penalty(TORCH),
    "AutoJax needs jax, which is not installed": without_engine,
    "which adinterface cannot look into, but args[0].w is a floating array": lambda: gradient(
        square, AUTOGRAD, Mine()
    ),
    "is a pandas.Series. Pass x.to_numpy(), in Constant(...) if it is not differentiated.": (
        with_pandas
    ),
    "JAX has no float128, and nothing is narrowed silently.": lambda: gradient(
        square, JAX, X.astype(np.longdouble)
    ),
    "f returned float32 for arguments of 64 bits": lambda: gradient(
        lambda x: np.sum(x.astype("float32")), FINITE, X
    ),
    "hessian is taken with respect to real arguments only": lambda: hessian(square, AUTOGRAD, 1j),
    "the derivative has entries outside its pattern": lambda: jacobian(
        lambda x: x * x[::-1], AutoSparse(AUTOGRAD, pattern=np.eye(2)), X
    ),
    "DisconnectedWarning: ... the value of f depends on none of its differentiated arguments": (
        lambda: gradient(lambda x: 1.0 * x.detach().sum(), TORCH, X)
    ),
    "PrecisionWarning: ... the estimated relative error is large in the derivative by ...": (
        lambda: gradient(
            lambda x: np.sum(x) + 1e-3 * np.random.default_rng(int(abs(x.sum()) * 1e9)).normal(),
            FINITE,
            X,
        )
    ),
    "DenseJacobianWarning: jacobian: of a dense Jacobian with ... entries": lambda: jacobian(
        lambda x: x**2, AUTOGRAD, np.ones(400)
    ),
    "ClosedFormWarning: numpy_function: ... finds a minimum by comparisons alone": lambda: gradient(
        numpy_function(
            lambda c: (
                scipy.optimize.minimize(lambda x: (x[0] - c) ** 2, [0.3], method="Nelder-Mead").fun
            ),
            deep=True,
        ),
        AUTOGRAD,
        0.0,
    ),
    "KinkWarning: ...": lambda: assert_backends_agree(lambda x: abs(x), 0.0, backends=[TORCH, JAX]),
}


def quoted():
    """The first cell of each row in a table of messages."""
    return re.findall(r"^\| `((?:\w+Warning: )?[^`]+)` \| [^|]* \|$", PAGE, re.M)


def told(call):
    """What the call says: the classes, messages and notes of its error and warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:  # any: the words are compared
            return "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    return "\n".join(f"{found.category.__name__}: {found.message}" for found in caught)


def test_each_message_of_the_page_is_tried():
    assert quoted() == list(CALLS)


@pytest.mark.parametrize("words", CALLS)
def test_a_call_gives_the_words_of_the_page(words, monkeypatch):
    monkeypatch.setattr("adinterface.core.call.messages.LARGE", 10**5)
    pattern = re.escape(words.replace("'backend'", "`backend`")).replace(r"\.\.\.", ".*")
    assert re.search(pattern, told(CALLS[words])), told(CALLS[words])


def test_the_table_of_classes_is_that_of_the_package():
    rows = re.findall(r"^\| `(\w+Error)` \| `(\w+)` \|", PAGE, re.M)
    classes = [
        cls
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.AdinterfaceError)
    ]
    bases = {
        cls.__name__: cls.__bases__[-1].__name__
        for cls in classes
        if cls is not errors.AdinterfaceError
    }
    assert dict(rows) == bases
    warned = {
        cls.__name__
        for _, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, Warning)
    }
    assert warned <= {words.partition(":")[0] for words in CALLS}
