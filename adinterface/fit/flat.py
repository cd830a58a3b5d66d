"""f of a nested model as functions of one vector: what solvers and samplers call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._trees import flatten_tree
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import ConversionError
from ..core.contract.nodes import NodeType
from ..core.contract.tracing import untraced
from ..core.operators.gradient import value_and_gradient
from ..core.operators.hessian import hessian, hvp
from ..core.operators.jacobian import value_and_jacobian
from ..core.operators.prepare import Prepared, prepare
from ..core.operators.run import resolved
from ..core.support.ambient import CORE, Doubt, now, within
from ..core.tree import handler_of
from ..core.tree.structures import Constant
from ..sparse.auto import AutoSparse
from .evaluate import AT_EACH_POINT, EVALUATE
from .packing import Packing, Rows, Vector, pack
from .parameters import require_floats, stateful_type

#: From this fraction of the largest derivative so far on, an estimated error causes a warning.
DOUBTFUL = 1e-4


class Flat:
    """A function of a nested model as functions of one float64 vector of shape `(n,)`.

    Made by `flat`.

    Each is prepared at its first call. Value and derivative at one point come from one call of the
    operator; `evaluations` counts the calls that evaluate f.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        backend: AutoBackend,
        start: Any,
        constants: tuple[Any, ...],
        kwargs: dict[str, Any],
        prepared: dict[Any, Prepared] | None = None,
    ):
        self.f: Callable[..., Any] = f
        self._kwargs = kwargs
        resolved(AT_EACH_POINT, backend)  # which says what is no backend
        # Solvers do not take the matrices of an engine.
        if isinstance(backend, AutoSparse) and backend.format == "native":
            backend = replace(backend, format="csr")
        self.backend = backend
        require_floats(start)
        self.packing: Packing = Packing(start)
        self._holds = bool(_module_state(start))
        #: The further arguments of f, whose numbers may be set anew before a call.
        self.constants: tuple[Constant, ...] = tuple(
            [part if type(part) is Constant else Constant(part) for part in constants]
        )
        writes = stateful_type(
            flatten_tree([Constant(start), *self.constants, Constant(kwargs)])[0]
        )
        # Each point has its own model, so f's changes in one would not reach another.
        around: Any = writes and writes.around(AT_EACH_POINT, None)
        self._pure = around.tracking(f) if around else f
        #: The start as a vector.
        self.x0: Vector = self.packing.start()
        #: How often f was evaluated for its value, its gradient or its Jacobian, and how often for
        #: second derivatives.
        self.evaluations: int = 0
        self._prepared: dict[Any, Prepared] = {} if prepared is None else prepared
        #: The structure and the order of f's value; None: any.
        self.rows: Rows | None = None
        #: The largest derivative so far.
        self._steepest = 0.0
        #: The last point, and value and gradient there.
        self._last: tuple[bytes, float, Vector] | None = None

    def at(self, start: Any) -> Flat:
        """The same from another start, a tree like the first.

        What was prepared, and compiled, serves both.
        """
        return Flat(self.f, self.backend, start, self.constants, self._kwargs, self._prepared)

    def unravel(self, x: Any) -> Any:
        """The model with these numbers, each leaf with its type, library, dtype and device."""
        return self.packing.unpacked(_vector(x, self.packing.size))

    def ravel(self, model: Any) -> Vector:
        """A tree like the start, such as a gradient, as a vector."""
        return self.packing.gradient(model)

    def fun(self, x: Any) -> float:
        """The value of f, without a derivative unless it is known already."""
        known = self._last
        if known is not None and known[0] == _key(x):
            return known[1]
        return _number(self.value(x))

    def jac(self, x: Any) -> Vector:
        """The gradient as a vector of shape `(n,)`."""
        return self.fun_and_jac(x)[1]

    def fun_and_jac(self, x: Any) -> tuple[float, Vector]:
        """Value and gradient, from one call of `value_and_gradient`."""
        _, value, gradient = self._at(x)
        return value, gradient.copy()

    def _at(self, x: Any) -> tuple[bytes, float, Vector]:
        key, known = _key(x), self._last
        if known is None or known[0] != key:
            self.evaluations += 1
            doubts: list[Doubt] = []
            with within(CORE, now()._replace(doubts=doubts)):
                value, gradient = self._call(value_and_gradient, self.unravel(x))
            known = self._last = key, _number(value), self.packing.gradient(gradient[0])
            size = float(np.maximum.reduce(np.abs(known[2]), initial=0.0))
            self._steepest = max(self._steepest, size)
            for relative, tell in doubts:
                # At a solver's solution the gradient vanishes, so any error is relatively large.
                if relative * size > DOUBTFUL * self._steepest:
                    tell()
        return known

    def hess(self, x: Any) -> Any:
        """The Hessian as a matrix of shape `(n, n)`.

        A SciPy sparse matrix if the backend is `AutoSparse`.
        """
        return self.packing.hessian(self._call(hessian, self.unravel(x)))

    def hessp(self, x: Any, p: Any) -> Vector:
        """The Hessian times a vector, without forming it."""
        return self.packing.gradient(self._call(hvp, self.unravel(x), self.packing.tangent(p)))

    def value(self, x: Any) -> Any:
        """What f returns."""
        self.evaluations += 1
        return self._call(EVALUATE, self.unravel(x))

    def residuals(self, x: Any) -> Vector:
        """The value of an f that returns a tree of arrays, as a vector of shape `(m,)`."""
        value = self.value(x)
        return pack(value, "residuals") if self.rows is None else self.rows.pack(value, "residuals")

    def jacobian(self, x: Any) -> Any:
        """The Jacobian of such an f as a matrix of shape `(m, n)`.

        A SciPy sparse matrix if the backend is `AutoSparse`.
        """
        self.packing.require_real("jacobian")
        self.evaluations += 1
        value, blocks = self._call(value_and_jacobian, self.unravel(x))
        pack(value, "jacobian")  # which refuses complex values
        if self.rows is not None and self.rows.matches(value, "what f returned"):
            value = self.rows.example
        return self.packing.jacobian(blocks, value, self.constants)

    def _call(self, operator: Any, *args: Any) -> Any:
        fast = self._prepared.get(operator)
        if fast is None:
            if operator is EVALUATE:
                fast = Prepared(EVALUATE, self.backend, self._pure)
            else:
                fast = prepare(
                    operator, self._pure, self.backend, *args, *self.constants, **self._kwargs
                )
            self._prepared[operator] = fast
        before = _module_state(args[0]) if self._holds else ()
        result = fast(*args, *self.constants, **self._kwargs)
        if before and _module_state(args[0]) != before:
            raise ConversionError(
                f"solvers: f changes buffers of the {type(self.packing.model).__name__}, as a"
                " BatchNorm does in training mode. Each point has a model of its own, so that what"
                " is counted there would be lost. Put the model into evaluation mode,"
                " module.eval()."
            )
        return result

    def __repr__(self) -> str:
        return (
            f"<{getattr(self.f, '__name__', self.f)} of a vector of shape {self.x0.shape} on"
            f" {self.backend!r}>"
        )


def _module_state(value: Any) -> tuple[Any, ...]:
    """The content of the objects in a tree that hold leaves, to compare it after f."""
    handler = handler_of(value, scan=False)
    if not isinstance(handler, NodeType):
        return ()
    if handler.is_owner:
        return handler.state(value)
    return tuple([part for child in handler.flatten(value)[0] for part in _module_state(child)])


@untraced
def flat(
    f: Callable[..., Any], backend: AutoBackend, start: Any, /, *constants: Any, **kwargs: Any
) -> Flat:
    """f of a nested model as functions of one vector, for any solver or sampler.

    start: any tree; `x0` is its vector, in the order of `tree.ravel` (complex leaves as their real,
    then their imaginary parts; an array at several places once), and `unravel(x)` a tree like it.
    constants, kwargs: further arguments of f, never differentiated; `Constant` may be left out.

    For `fun`, `jac`, `fun_and_jac`, `hess` and `hessp`, f returns a real scalar, or a tuple or dict
    that begins with it. For `residuals` and `jacobian` it returns an array or a tree of arrays. All
    are functions from NumPy vectors in 64 bits to NumPy arrays, as SciPy needs. With `AutoSparse`,
    `hess` and `jacobian` return one SciPy sparse matrix for all leaves.


    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences
    >>> from adinterface.fit import flat
    >>> problem = flat(lambda m: m["a"] ** 2 + (m["b"] ** 2).sum(), AutoFiniteDifferences(),
    ...     {"a": 1.0, "b": np.ones(2)})
    >>> problem.x0, problem.jac(problem.x0).round(6)
    (array([1., 1., 1.]), array([2., 2., 2.]))
    """
    return Flat(f, backend, start, constants, kwargs)


def problem_of(f: Any, backend: Any, start: Any, constants: tuple[Any, ...], caller: str) -> Flat:
    """The problem of a solver's call: f, a backend and a start; or one that `flat` has made."""
    if not isinstance(f, Flat):
        if backend is None or start is None:
            raise TypeError(
                f"{caller} takes f, a backend and a start: {caller}(f, backend, start, *constants)."
            )
        return Flat(f, backend, start, constants, {})
    if backend is not None or start is not None or constants:
        raise TypeError(
            f"{caller}: the problem has its backend and its start already. From another one:"
            f" {caller}(problem.at(start))."
        )
    return f


def _key(x: Any) -> bytes:
    return np.asarray(x, dtype=np.float64).tobytes()


def _vector(x: Any, size: int) -> Vector:
    vector = np.asarray(x, dtype=np.float64)
    if vector.shape != (size,):
        raise ValueError(
            f"flat: the vector has shape {vector.shape}, but the start has {size} numbers:"
            f" ({size},)."
        )
    return vector


def first(value: Any) -> Any:
    """The scalar of f's value, which may be a tuple or dict that begins with it."""
    if isinstance(value, dict):
        value = next(iter(value.values()))
    elif isinstance(value, tuple):
        value = value[0]
    return value


def _number(value: Any) -> float:
    scalar = first(value)
    # A tensor that records a graph would say so.
    return float(scalar.detach() if hasattr(scalar, "detach") else scalar)


__all__ = ["Flat", "first", "flat", "problem_of"]
