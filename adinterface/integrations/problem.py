"""A constrained problem for SciPy, optimagic, cyipopt and pounce.

minimize f(model) subject to lower <= g(model) <= upper and bounds on the model
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import BackendError
from ..fit.entries import Entries
from ..fit.flat import Flat
from ..fit.lagrangian import Lagrangian
from ..fit.packing import Rows, Vector
from ..fit.solvers import scipy
from ..sparse.auto import AutoSparse


class Problem:
    """f and g of a nested model as functions of one float64 vector, with sparse derivatives.

    f: a real scalar of the model and the constants. backend: `AutoSparse`, or a backend for it to
    wrap. constraint: g of the model, an array or a tree of m numbers. lower, upper: a number, None,
    or a tree like the value of g. Both are 0.0 by default, which is g(model) = 0. bounds: `(lower,
    upper)`, each a tree like the start, a number, or None.

    The methods that Ipopt calls (`objective`, `gradient`, `constraints`, `jacobian`, `hessian` and
    the two structures) have the names and arguments of cyipopt; `limits` are the other arguments of
    `cyipopt.Problem`. `for_scipy(method)` gives the arguments of `scipy.optimize.minimize`.
    `unravel(x)` is the model again.

    Calls f once. Raises BackendError for an `AutoSparse` with a pattern, TreeError for limits of
    another structure or shape, NotDifferentiableError for complex leaves, and the errors of
    `value_and_gradient`.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        backend: AutoBackend,
        start: Any,
        /,
        *constants: Any,
        constraint: Callable[[Any], Any] | None = None,
        lower: Any = 0.0,
        upper: Any = 0.0,
        bounds: tuple[Any, Any] | None = None,
    ):
        auto = backend if isinstance(backend, AutoSparse) else AutoSparse(backend)
        if auto.pattern is not None:
            raise BackendError(
                "Problem: the Jacobian and the Hessian have a pattern each: leave pattern= out of"
                " AutoSparse."
            )
        auto = replace(auto, format="csr")
        self._objective = Flat(f, auto, start, constants, {})
        packing = self._objective.packing
        packing.require_real("Problem")
        self.x0: Vector = self._objective.x0
        below, above = (None, None) if bounds is None else bounds
        self.lb: Vector = packing.like(below, "the lower bound", -np.inf)
        self.ub: Vector = packing.like(above, "the upper bound", np.inf)
        self._objective.fun_and_jac(self.x0)
        self.cl: Vector = np.zeros(0)
        self.cu: Vector = np.zeros(0)
        value, self._constraint = (), None
        if constraint is not None:
            self._constraint = Flat(constraint, auto, start, (), {})
            value = self._constraint.value(self.x0)
            rows = Rows(value, "the constraint")
            self.cl = rows.like(lower, "the lower limit", -np.inf)
            self.cu = rows.like(upper, "the upper limit", np.inf)
        self.n: int = len(self.x0)
        self.m: int = len(self.cl)
        self._lagrangian = Lagrangian(f, constraint, auto, start, constants, value)

    def unravel(self, x: Any) -> Any:
        """The model with these numbers."""
        return self._objective.unravel(x)

    @property
    def limits(self) -> dict[str, Any]:
        """`n`, `m`, `lb`, `ub`, `cl`, `cu`: what `cyipopt.Problem` takes besides the problem."""
        return {name: getattr(self, name) for name in ("n", "m", "lb", "ub", "cl", "cu")}

    def objective(self, x: Vector) -> float:
        # with the gradient, which solvers ask for at nearly every point
        return self._objective.fun_and_jac(x)[0]

    def gradient(self, x: Vector) -> Vector:
        return self._objective.jac(x)

    def constraints(self, x: Vector) -> Vector:
        return np.zeros(0) if self._constraint is None else self._constraint.residuals(x)

    def jacobian(self, x: Vector) -> Vector:
        """The entries of the Jacobian of g, in the order of `jacobianstructure`."""
        return (
            np.zeros(0)
            if self._constraint is None
            else self._jacobian_entries.of(self._constraint.jacobian(x))
        )

    def jacobianstructure(self) -> tuple[Any, Any]:
        return self._jacobian_entries.rows, self._jacobian_entries.columns

    def hessian(self, x: Vector, lagrange: Vector, obj_factor: float) -> Vector:
        """The entries of `hessian_matrix` in the order of `hessianstructure`."""
        return self._hessian_entries.of(self.hessian_matrix(x, lagrange, obj_factor))

    def hessianstructure(self) -> tuple[Any, Any]:
        return self._hessian_entries.rows, self._hessian_entries.columns

    @cached_property
    def _jacobian_entries(self) -> Entries:
        return Entries(self.jacobian_matrix(self.x0), lower=False)

    @cached_property
    def _hessian_entries(self) -> Entries:
        return Entries(self.hessian_matrix(self.x0, np.zeros(self.m)), lower=True)

    def jacobian_matrix(self, x: Vector) -> Any:
        """The Jacobian of g, of shape `(m, n)`, as a csr_array."""
        if self._constraint is None:
            return scipy("sparse", "Problem").csr_array((0, self.n))
        return self._constraint.jacobian(x)

    def hessian_matrix(self, x: Vector, lagrange: Vector, obj_factor: float = 1.0) -> Any:
        """The Hessian of `obj_factor * f + lagrange @ g`, of shape `(n, n)`, as a csr_array."""
        return self._lagrangian.hessian(x, lagrange, obj_factor)

    def for_scipy(self, method: str) -> dict[str, Any]:
        """The arguments of `scipy.optimize.minimize`.

        `trust-constr` gets sparse matrices, other methods dense Jacobians.
        """
        optimize, sparse = scipy("optimize", "Problem"), method.lower() == "trust-constr"
        arguments: dict[str, Any] = {
            "fun": self._objective.fun_and_jac,
            "x0": self.x0,
            "jac": True,
            "method": method,
        }
        if sparse:
            arguments["hess"] = lambda x: self.hessian_matrix(x, np.zeros(self.m))
        if np.isfinite([self.lb, self.ub]).any():
            arguments["bounds"] = optimize.Bounds(self.lb, self.ub)
        equal = self.cl == self.cu
        # SLSQP wants equations apart.
        parts = [np.arange(self.m)] if sparse else [np.flatnonzero(equal), np.flatnonzero(~equal)]
        arguments["constraints"] = [self._part(rows, sparse) for rows in parts if rows.size]
        return arguments

    def _part(self, rows: Any, sparse: bool) -> Any:
        optimize = scipy("optimize", "Problem")

        def jac(x: Vector) -> Any:
            matrix = self.jacobian_matrix(x)[rows]
            return matrix if sparse else matrix.toarray()

        hess = (lambda x, v: self.hessian_matrix(x, v, 0.0)) if sparse else optimize.BFGS()
        return optimize.NonlinearConstraint(
            lambda x: self.constraints(x)[rows], self.cl[rows], self.cu[rows], jac, hess
        )


__all__ = ["Problem"]
