"""pymanopt: cost functions on manifolds, differentiated by any backend."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import TreeError
from ..core.contract.registry import find
from ..core.operators.gradient import GRADIENT
from ..core.operators.hessian import HVP
from ..core.operators.prepare import Prepared
from ..core.tree import handler_of
from ..fit.evaluate import EVALUATE
from .arguments import require_arguments
from .missing import raise_missing

try:
    from pymanopt.autodiff import Function
    from pymanopt.autodiff.backends._backend import Backend
    from pymanopt.manifolds.manifold import Manifold
    from pymanopt.tools import bisect_sequence
except ModuleNotFoundError as _error:
    raise_missing(_error, "pymanopt", "pymanopt")

#: A cost function as users write it.
Cost = Callable[..., Any]


def function(manifold: Manifold, backend: AutoBackend) -> Callable[[Cost], Function]:
    """A decorator that makes f a function of pymanopt on `manifold`.

    It is used as `pymanopt.function.jax(manifold)`.

        @function(manifold, AutoTorch())
        def cost(x): ...

        problem = pymanopt.Problem(manifold, cost)

    f takes one array for each value of a point, in the form of the backend, and returns a real
    scalar. The Euclidean gradient is the result of `gradient`: dL/dRe + i dL/dIm for complex
    points. Each derivative is prepared, so f must be pure where the engine compiles. A function for
    `euclidean_gradient=` or `euclidean_hessian=` may return arrays.

    Raises TypeError for a value that is no manifold or an f that cannot take a point. Raises
    BackendError for a value that is no backend, MissingEngineError without pymanopt or the engine.
    Calls raise the errors of `gradient` and `hvp`.
    """
    if not isinstance(manifold, Manifold):
        raise TypeError(
            f"function(manifold, backend): the first argument is {manifold!r}, not a manifold of"
            " pymanopt."
        )
    engine = EngineBackend(backend)

    def decorate(f: Cost) -> Function:
        require_arguments(f"function of pymanopt on {manifold}", f, manifold.num_values)
        return Function(function=f, manifold=manifold, backend=engine)

    return decorate


class EngineBackend(Backend):
    """A backend of pymanopt that differentiates by a backend of ours."""

    def __init__(self, auto: AutoBackend):
        find(auto)
        self.auto = auto
        super().__init__(repr(auto))

    @staticmethod
    def is_available() -> bool:
        """True: without its engine, a backend cannot be made."""
        return True

    def prepare_function(self, function: Cost) -> Callable[..., Any]:
        """f on NumPy arrays."""
        evaluate = Prepared(EVALUATE, self.auto, function)

        @functools.wraps(function)
        def value(*point: Any) -> Any:
            return _plain(evaluate(*point))

        return value

    def generate_gradient_operator(self, function: Cost, num_arguments: int) -> Callable[..., Any]:
        """The Euclidean gradient: an array, or a list of one for each argument."""
        fast = Prepared(GRADIENT, self.auto, function)

        def euclidean_gradient(*point: Any) -> Any:
            gradients = fast(*point)
            return gradients[0] if num_arguments == 1 else list(gradients)

        return euclidean_gradient

    def generate_hessian_operator(self, function: Cost, num_arguments: int) -> Callable[..., Any]:
        """The Hessian-vector product, of the values of the point and then of the vector."""

        def halves_to_value(halves: tuple[tuple[Any, ...], ...]) -> Any:
            return function(*[half[0] if len(half) == 1 else _joined(*half) for half in halves])

        fast = Prepared(HVP, self.auto, halves_to_value)

        def euclidean_hessian(*point_and_vector: Any) -> Any:
            point, vector = bisect_sequence(point_and_vector)
            halves = tuple([_halves(x) for x in point])
            products = fast(
                halves, tuple([_like(v, x) for v, x in zip(vector, halves, strict=True)])
            )
            joined = [half[0] if len(half) == 1 else _joined(*half) for half in products]
            return joined[0] if num_arguments == 1 else joined

        return euclidean_hessian


def _halves(x: Any) -> tuple[Any, ...]:
    """A real array, or the two parts of a complex one, because `hvp` takes real leaves."""
    return (x.real.copy(), x.imag.copy()) if np.iscomplexobj(x) else (x,)


def _joined(real: Any, imaginary: Any) -> Any:
    """The complex array of two halves of any library.

    Some have no sum of a real and a complex array.
    """
    library: Any = handler_of(real, scan=False)
    xp = library.namespace(real)
    dtype = xp.complex64 if real.dtype == xp.float32 else xp.complex128
    return xp.astype(real, dtype) + 1j * xp.astype(imaginary, dtype)


def _like(vector: Any, halves: tuple[Any, ...]) -> tuple[Any, ...]:
    """A vector in as many parts as its point."""
    if len(halves) == 1 and np.iscomplexobj(vector):
        raise TreeError(
            "the vector of a Hessian-vector product is complex, and its point real: take"
            " `vector.real`, or a complex point."
        )
    vector = np.asarray(vector)
    return (vector,) if len(halves) == 1 else (vector.real.copy(), vector.imag.copy())


def _plain(value: Any) -> Any:
    """What f returned; a number for a 0-d array, which line searches compare and print."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


__all__ = ["EngineBackend", "function"]
