"""SciPy's solvers on nested starts: derivatives from any backend, results as the model."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import BackendError, MissingEngineError, TreeError
from ..core.contract.library import Library
from ..core.contract.tracing import untraced
from ..core.tree import handler_of
from ..sparse.auto import AutoSparse
from .flat import Flat, problem_of
from .packing import Rows, Vector
from .parameters import as_floats

#: SciPy's methods of `minimize` that take no derivative, those that need a whole Hessian, and those
#: that take products.
_WITHOUT = ("nelder-mead", "powell", "cobyla", "cobyqa")
_DENSE = ("dogleg", "trust-exact")
_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
#: Methods that take no sparse Hessian, and methods that take no sparse Jacobian of a constraint.
_NO_SPARSE_HESSIAN = ("dogleg", "trust-exact", "trust-ncg", "trust-krylov")
_NO_SPARSE_CONSTRAINT = (None, "slsqp")


def scipy(module: str, caller: str) -> Any:
    """A module of SciPy, which few programs need.

    Raises MissingEngineError, which names the extra.
    """
    try:
        return importlib.import_module(f"scipy.{module}")
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "scipy":
            raise
        remedy = "pip install 'adinterface[scipy]'"
        raise MissingEngineError(
            f"{caller} needs SciPy, which is not installed: {remedy}", name="scipy"
        ) from None


@untraced
def minimize(
    f: Callable[..., Any] | Flat,
    backend: AutoBackend | None = None,
    start: Any = None,
    /,
    *constants: Any,
    method: Any = None,
    hessian: Literal["matrix", "product"] | None = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.minimize` of a function of a nested model.

    Value and gradient come from one call of the backend.

    A problem from `flat`, with its prepared and compiled functions, may replace f, backend and
    start. The start is any tree; its floating-point leaves are optimised, and an integer among them
    is refused by name. constants are further arguments of f (`Constant` may be left out).

    `method` is SciPy's. Methods with second derivatives get them from the backend, as
    Hessian-vector products where possible; `hessian="matrix"` or `"product"` chooses. `bounds` is
    `(lower, upper)`, each a tree like the start, a number, or None, also within the trees; or
    SciPy's form (pairs, `Bounds`), in the order of `tree.ravel`. `constraints` are dicts `{"type":
    "eq", "fun": g}` or `NonlinearConstraint(g, lower, upper)`, with g of the nested model, whose
    Jacobian the backend computes, or `LinearConstraint` in the order of `tree.ravel`. With
    `AutoSparse`, SciPy gets sparse Jacobians of constraints (`trust-constr`) and, with
    `hessian="matrix"`, a sparse Hessian (`trust-constr`, `Newton-CG`). `callback` gets the model,
    or, if its parameter is named `intermediate_result`, SciPy's result, whose `x` is the model.
    `options` are SciPy's other
    arguments: `tol`, `options`.

    Returns SciPy's result: `x` is the model, `vector` the same as one vector; `jac`, `hess_inv` and
    other arrays are in the order of that vector.

    Raises TypeError for `jac=`, `hess=`, `hessp=` and `args=`, which are not needed, and
    MissingEngineError without SciPy. Raises BackendError for `AutoSparse` where the method takes a
    dense matrix, and the errors of `value_and_gradient`.

    >>> from adinterface import AutoFiniteDifferences
    >>> from adinterface.fit import minimize
    >>> bowl = lambda m: (m["a"] - 1) ** 2 + (m["b"] + 2) ** 2
    >>> {name: round(x, 3) for name, x in minimize(bowl, AutoFiniteDifferences(), {"a": 0.0,
    ...     "b": 0.0}).x.items()}
    {'a': 1.0, 'b': -2.0}
    """
    _refuse("minimize", options, "jac hess hessp args fun x0")
    if hessian not in (None, "matrix", "product"):
        raise ValueError(f"minimize: hessian must be 'matrix', 'product' or None, not {hessian!r}.")
    optimize = scipy("optimize", "minimize")
    problem = problem_of(f, backend, start, constants, "minimize")
    name = method.lower() if isinstance(method, str) else None
    if name in _WITHOUT:
        derivatives: dict[str, Any] = {}
        fun: Callable[..., Any] = problem.fun
    else:
        fun, derivatives = problem.fun_and_jac, {"jac": True}
    if hessian == "matrix" or (hessian is None and name in _DENSE):
        if name in _NO_SPARSE_HESSIAN:
            remedy = "choose 'trust-constr' or 'Newton-CG' with hessian='matrix'"
            require_dense(
                problem.backend, "minimize", f"the method {method!r} takes a dense Hessian", remedy
            )
        derivatives["hess"] = problem.hess
    elif hessian == "product" or (hessian is None and name in _PRODUCTS):
        derivatives["hessp"] = problem.hessp
    if bounds is not None:
        own = _are_trees(bounds) and not _are_pairs(bounds, problem)
        derivatives["bounds"] = optimize.Bounds(*_bounds(problem, bounds)) if own else bounds
    made = [_constraint(part, problem, optimize) for part in _several(constraints)]
    if (
        any(own is not part for own, part in zip(made, _several(constraints)))
        and name in _NO_SPARSE_CONSTRAINT
    ):
        require_dense(
            problem.backend,
            "minimize",
            "the method 'SLSQP' takes a dense Jacobian of a constraint",
            "choose 'trust-constr'",
        )
    result = optimize.minimize(
        fun,
        problem.x0,
        method=method,
        constraints=made,
        callback=None if callback is None else _callback(callback, problem),
        **derivatives,
        **options,
    )
    return _nested(result, problem)


@untraced
def least_squares(
    f: Callable[..., Any] | Flat,
    backend: AutoBackend | None = None,
    start: Any = None,
    /,
    *constants: Any,
    bounds: Any = None,
    x_scale: Any = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.least_squares` for residuals of a nested model.

    f returns an array or a tree of them.

    The Jacobian is the backend's, as one matrix: a sparse one with `AutoSparse`, which `lm` does
    not take. bounds, constants: as for `minimize`, but SciPy's form of bounds is two rows of
    numbers; x_scale: a tree like the start, too, or SciPy's. Returns SciPy's result: `x` is the
    model, `vector` the same as one vector, in whose order `jac` and `grad` are. Raises TypeError
    for `jac=` and `args=`, BackendError for `AutoSparse` where SciPy takes a dense matrix, and what
    `jacobian` raises.
    """
    _refuse("least_squares", options, "jac args kwargs")
    optimize = scipy("optimize", "least_squares")
    problem = problem_of(f, backend, start, constants, "least_squares")
    problem.packing.require_real("least_squares")
    for option, value in (("method", "lm"), ("tr_solver", "exact")):
        if options.get(option) == value:
            require_dense(
                problem.backend,
                "least_squares",
                f"{option}={value!r} takes a dense Jacobian",
                f"leave {option}= out",
            )
    if bounds is not None:
        options["bounds"] = _bounds(problem, bounds, rows=True) if _are_trees(bounds) else bounds
    if x_scale is not None:
        vector = isinstance(x_scale, (str, np.ndarray))
        options["x_scale"] = x_scale if vector else problem.packing.like(x_scale, "x_scale", 1.0)
    if options.get("callback") is not None:
        options["callback"] = _callback(options["callback"], problem)
    return _nested(
        optimize.least_squares(problem.residuals, problem.x0, problem.jacobian, **options), problem
    )


@untraced
def find_root(
    f: Callable[..., Any] | Flat,
    backend: AutoBackend | None = None,
    start: Any = None,
    /,
    *constants: Any,
    method: str = "hybr",
    callback: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.root` for an f of a nested model.

    f returns as many numbers as the model has, in any tree.

    The methods `hybr` and `lm` get the backend's Jacobian; the others take none. With `AutoSparse`,
    `krylov` gets the factors of the sparse Jacobian as its preconditioner. Returns SciPy's result:
    `x` is the model, `vector` the same as one vector. Raises TypeError for `jac=` and `args=`,
    BackendError for `AutoSparse` with `hybr` and `lm`, whose Jacobian is dense, and what `jacobian`
    raises.
    """
    _refuse("find_root", options, "jac args")
    optimize = scipy("optimize", "find_root")
    problem = problem_of(f, backend, start, constants, "find_root")
    problem.packing.require_real("find_root")
    jac = {"jac": problem.jacobian} if method in ("hybr", "lm") else {}
    if jac:
        require_dense(
            problem.backend,
            "find_root",
            f"the method {method!r} takes a dense Jacobian",
            "choose method='krylov'",
        )
    elif method == "krylov" and isinstance(problem.backend, AutoSparse):
        options["options"] = _preconditioned(options.get("options"), problem)
    if callback is not None:
        options["callback"] = _callback(callback, problem)
    return _nested(
        optimize.root(problem.residuals, problem.x0, method=method, **jac, **options), problem
    )


@untraced
def curve_fit(
    f: Callable[..., Any],
    backend: AutoBackend,
    x: Any = None,
    y: Any = None,
    start: Any = None,
    /,
    *,
    bounds: Any = None,
    **options: Any,
) -> tuple[Any, Vector]:
    """`scipy.optimize.curve_fit` of `f(model, x)` to data y.

    Returns the fitted model, and the covariance of its numbers, of shape `(n, n)`.

    x: the last argument of f; y: an array, or a tree of arrays, like f's value. options: SciPy's,
    such as `sigma` (also a tree like y) and `absolute_sigma`. The covariance is in the order of
    `tree.ravel`; with `full_output=True` SciPy's three further results follow. Raises TreeError,
    with the path, where f's value differs from the data in structure or shape. Raises TypeError for
    `jac=` and `p0=`, and the errors of `jacobian`.
    """
    _refuse("curve_fit", options, "jac p0")
    if start is None or isinstance(start, AutoBackend) or not _takes(f, start, x):
        raise TypeError(
            "curve_fit takes a function f(model, x), a backend, the data and a start: curve_fit(f,"
            " backend, x, y, start). In SciPy's order x is the first argument of f, and the data"
            " follow f."
        )
    optimize = scipy("optimize", "curve_fit")
    problem = Flat(f, backend, start, (x,), {})
    problem.packing.require_real("curve_fit")
    require_dense(
        problem.backend,
        "curve_fit",
        "SciPy computes the covariance from a dense Jacobian",
        "call least_squares",
    )
    y = as_floats(y)
    rows = problem.rows = Rows(y, "the data")
    if bounds is not None:
        options["bounds"] = _bounds(problem, bounds, rows=True) if _are_trees(bounds) else bounds
    sigma = options.get("sigma")
    if sigma is not None and not (isinstance(sigma, np.ndarray) and sigma.ndim in (1, 2)):
        options["sigma"] = rows.pack(as_floats(sigma), "curve_fit", "sigma")
    numbers = rows.pack(y, "curve_fit")
    # f has x already. SciPy gets the numbers of the data in its place, and leaves some out with
    # nan_policy="omit".
    best, *others = optimize.curve_fit(
        lambda kept, *at: _kept(problem.residuals(at), kept),
        _numbered(x, numbers.size),
        numbers,
        problem.x0,
        jac=lambda kept, *at: _kept(problem.jacobian(at), kept),
        **options,
    )
    return problem.unravel(best), *others


def _takes(f: Any, *args: Any) -> bool:
    """Whether f can be called with so many arguments; True if it does not say."""
    try:
        inspect.signature(f).bind(*args)
    except TypeError:
        return False
    except ValueError:  # it has no signature
        pass
    return True


def _numbered(x: Any, count: int) -> Vector:
    """The numbers of the data, NaN where x is, if x is an array with an entry for each."""
    numbers = np.arange(float(count))
    library = handler_of(x, scan=False)
    if (
        isinstance(library, Library)
        and library.shape(x)[-1:] == (count,)
        and library.is_floating(x)
    ):
        numbers[np.isnan(library.to_numpy(x)).reshape(-1, count).any(axis=0)] = np.nan
    return numbers


def _kept(rows: Any, kept: Vector) -> Any:
    return rows if len(rows) == len(kept) else rows[kept.astype(int)]


# Conversions for SciPy
# ------------------------------------------------------------------------------------------------


def _refuse(caller: str, options: Mapping[str, Any], names: str) -> None:
    """Raises TypeError for those of SciPy's arguments that are not needed here."""
    for name in names.split():
        if name in options:
            remedy = _REMEDIES.get(name, "").format(caller=caller) or (
                " The backend gives the derivatives; to give SciPy your own, call it with"
                " flat(f, backend, start)."
            )
            raise TypeError(f"{caller}: leave {name}= out.{remedy}")


_REMEDIES = {
    **dict.fromkeys(
        ("args", "kwargs"),
        " Further arguments of f follow the start: {caller}(f, backend, start, *constants).",
    ),
    "p0": " The start follows the data: {caller}(f, backend, x, y, start).",
}


def require_dense(backend: AutoBackend, caller: str, why: str, remedy: str = "") -> None:
    """Raises BackendError for `AutoSparse`: SciPy takes a dense matrix there."""
    if isinstance(backend, AutoSparse):
        raise BackendError(
            f"{caller}: {why}, but AutoSparse gives a sparse one. Pass the backend inside it,"
            f" {backend.backend!r}{remedy and ', or '}{remedy}."
        )


class _Factors:
    """The factored sparse Jacobian at the last point, as preconditioner of `krylov`.

    If the Jacobian is singular, the factors of the previous point are kept: any preconditioner
    leads to the same root.
    """

    def __init__(self, problem: Flat):
        self.problem, self.linalg = problem, scipy("sparse.linalg", "find_root")
        self.shape, self.dtype, self.solve = (len(problem.x0),) * 2, np.dtype(np.float64), np.copy
        self.update(problem.x0, None)

    def update(self, x: Vector, _: Any) -> None:
        matrix = self.problem.jacobian(x).tocsc()
        if matrix.shape != self.shape:
            return  # SciPy raises: it compares the value with the start
        try:
            self.solve = self.linalg.splu(matrix).solve
        except RuntimeError as error:
            if "singular" not in str(error):
                raise

    def matvec(self, vector: Vector) -> Vector:
        return self.solve(vector)


def _preconditioned(given: Mapping[str, Any] | None, problem: Flat) -> dict[str, Any]:
    options = dict(given or {})
    options["jac_options"] = {"inner_M": _Factors(problem)} | options.get("jac_options", {})
    return options


def _are_trees(bounds: Any) -> bool:
    return isinstance(bounds, tuple) and not hasattr(bounds, "_fields") and len(bounds) == 2


def _are_pairs(bounds: tuple[Any, Any], problem: Flat) -> bool:
    """Whether two bounds are SciPy's pairs `(lowest, highest)` of two numbers.

    Raises TypeError if they may be trees, too.
    """
    if problem.packing.size != 2 or not all(
        type(part) in (list, tuple) and _is_row(part, 2) for part in bounds
    ):
        return False
    try:
        _bounds(problem, bounds)
    except TreeError:
        return True
    kind = type(problem.packing.model).__name__
    raise TypeError(
        f"minimize: bounds={bounds} may be two pairs (lowest, highest), as in SciPy, or two trees"
        f" (lower, upper) like the start, a {kind}. Pass a list of pairs, {[*bounds]}, or"
        " scipy.optimize.Bounds(lower, upper)."
    )


def _is_row(part: Any, size: int) -> bool:
    """Whether a bound is a row of so many numbers, in the order of `tree.ravel`."""
    numbers = part.tolist() if type(part) is np.ndarray else part
    if type(numbers) not in (list, tuple) or len(numbers) != size:
        return False
    return all(number is None or isinstance(number, (int, float, np.number)) for number in numbers)


def _bounds(problem: Flat, bounds: Any, *, rows: bool = False) -> tuple[Vector, Vector]:
    """Two bounds as vectors.

    rows: whether each may be a row of numbers, as SciPy takes it, in place of a tree.
    """

    def vector(bound: Any, name: str, missing: float) -> Vector:
        if rows and _is_row(bound, problem.packing.size):
            return np.array(
                [missing if number is None else number for number in bound], dtype=np.float64
            )
        return problem.packing.like(bound, name, missing)

    lower, upper = bounds
    return vector(lower, "the lower bound", -np.inf), vector(upper, "the upper bound", np.inf)


def _several(constraints: Any) -> list[Any]:
    return list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]


def _constraint(constraint: Any, problem: Flat, optimize: Any) -> Any:
    if isinstance(constraint, dict):
        own = Flat(
            constraint["fun"],
            problem.backend,
            problem.packing.model,
            tuple(constraint.get("args", ())),
            {},
        )
        return {"type": constraint["type"], "fun": own.residuals, "jac": own.jacobian}
    if isinstance(constraint, optimize.NonlinearConstraint):
        own = Flat(constraint.fun, problem.backend, problem.packing.model, (), {})
        hess = constraint.hess if callable(constraint.hess) else optimize.BFGS()
        return optimize.NonlinearConstraint(
            own.residuals,
            constraint.lb,
            constraint.ub,
            own.jacobian,
            hess,
            constraint.keep_feasible,
        )
    return constraint


def _callback(callback: Callable[..., Any], problem: Flat) -> Callable[..., Any]:
    """A callback in SciPy's form: its argument depends on the name of the parameter."""
    if "intermediate_result" in inspect.signature(callback).parameters:

        def with_result(intermediate_result: Any) -> Any:
            return callback(
                intermediate_result=_nested(type(intermediate_result)(intermediate_result), problem)
            )

        return with_result
    return lambda x, *others: callback(problem.unravel(x), *others)


def _nested(result: Any, problem: Flat) -> Any:
    result["vector"] = np.array(result.x)
    result["x"] = problem.unravel(result.vector)
    return result


__all__ = ["curve_fit", "find_root", "least_squares", "minimize"]
