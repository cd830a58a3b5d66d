"""OpenMDAO components whose partials a backend computes from their NumPy code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.contract.errors import BackendError, OutputError
from ..core.operators.jacobian import jacobian
from ..core.operators.prepare import Prepared, prepare
from ..core.tree.structures import Constant
from ..numpy_code import numpy_function
from ..numpy_code.deep import with_deep_names
from ..sparse.auto import AutoSparse
from .missing import raise_missing
from .variables import Inputs, Outputs, apart, copied, places_of, taken

try:
    from openmdao.core.explicitcomponent import ExplicitComponent
    from openmdao.core.implicitcomponent import ImplicitComponent
except ModuleNotFoundError as _error:
    raise_missing(_error, "openmdao", "openmdao")

Class = TypeVar("Class", bound=type)


def partials(backend: AutoBackend) -> Callable[[Class], Class]:
    """A decorator for a component class: `backend` computes its partials.

    It does so whatever method they were declared with.

        @partials(AutoJax())
        class Wing(om.ExplicitComponent): ...

        Exact = partials(AutoTorch())(TheirComponent)

    `compute`, or `apply_nonlinear` of an implicit component, is unchanged NumPy code. Its partials
    replace `compute_partials`, `linearize`, products (`compute_jacvec_product`) and approximations.
    Declared partials stay declared; partials with rows and columns, diagonals and sparse matrices
    are taken from a sparse Jacobian. If no partials were declared, all are. Discrete inputs and
    options are not differentiated; options are read when a Problem is set up.

    Raises TypeError for other classes than components with such a method, BackendError for a value
    that is no backend, MissingEngineError without OpenMDAO. A linearization raises the errors of
    `jacobian`, and OutputError if the method writes to none of its outputs.
    """
    if not isinstance(backend, AutoBackend):
        raise BackendError(f"partials(backend): pass a backend value first, not {backend!r}.")

    def decorated(cls: Class) -> Class:
        kind = next(
            (kind for kind in _KINDS if isinstance(cls, type) and issubclass(cls, kind)), None
        )
        if kind is None:
            raise TypeError(
                f"partials: {cls!r} is no class of explicit or implicit components of OpenMDAO."
            )
        exact, needed = _KINDS[kind]
        if getattr(cls, needed) is getattr(kind, needed):
            raise TypeError(
                f"partials: {cls.__name__} has no method {needed}, of which the partials are taken."
            )
        members = {"__doc__": cls.__doc__, "__module__": cls.__module__, "backend": backend}
        made: Class = type(cls.__name__, (exact, cls), members)  # type: ignore[assignment]
        return made

    return decorated


class _Exact:
    """What both kinds of components share."""

    backend: AutoBackend
    _prepared: Prepared | None = None

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.matrix_free = False  # OpenMDAO asks for no products, even if the class has some

    def declare_partials(
        self, of: Any, wrt: Any, *args: Any, method: str = "exact", **options: Any
    ) -> Any:
        kept = {
            name: value
            for name, value in options.items()
            if name in ("dependent", "rows", "cols", "val", "diagonal")
        }
        return super().declare_partials(of, wrt, *args, **kept)  # type: ignore[misc]

    def setup_partials(self) -> None:
        super().setup_partials()  # type: ignore[misc]
        self._prepared = None
        if not self._declared_partials_patterns:  # type: ignore[attr-defined]
            self.declare_partials("*", "*")

    def _fill(
        self, call: Any, partials: Any, values: dict[str, Any], results: Any, discrete: Any
    ) -> None:
        """Set all declared partials.

        `call` runs the code of a component: on values, results and discrete inputs.
        """
        shapes = {name: np.shape(results[name]) for name in results}
        skipped = len(self.pathname) + 1 if self.pathname else 0  # type: ignore[attr-defined]
        known = self._subjacs_info.items()  # type: ignore[attr-defined]
        declared = [(of[skipped:], wrt[skipped:], info) for (of, wrt), info in known]

        def f(values: dict[str, Any], discrete: Any) -> dict[str, Any]:
            outputs = Outputs(shapes)
            call(
                apart(self), Inputs(values), outputs, *(() if discrete is None else (discrete, {}))
            )
            if not outputs.used:
                raise OutputError(
                    f"partials: {type(self).__name__} writes to none of the outputs that its method"
                    " is given."
                )
            return dict(outputs)

        constant = Constant(None if discrete is None else dict(discrete.items()))
        if self._prepared is None:
            sparse = any(places_of(info) is not None for *_, info in declared) and not isinstance(
                self.backend, AutoSparse
            )
            backend = AutoSparse(self.backend) if sparse else self.backend
            self._prepared = prepare(
                jacobian, numpy_function(f, deep=True), backend, values, constant
            )
        blocks = self._prepared(values, constant)
        for of, wrt, info in declared:
            if of in shapes and wrt in values:
                partials[of, wrt] = taken(blocks[of][0][wrt], info, values[wrt].size)


class _Explicit(_Exact):
    def compute_partials(self, inputs: Any, partials: Any, discrete_inputs: Any = None) -> None:
        def call(component: Any, *given: Any) -> None:
            with_deep_names(component.compute)()(*given)

        self._fill(call, partials, copied(inputs), self._outputs, discrete_inputs)  # type: ignore[attr-defined]


class _Implicit(_Exact):
    def linearize(
        self, inputs: Any, outputs: Any, partials: Any, discrete_inputs: Any = None, *_: Any
    ) -> None:
        states = list(outputs)

        def call(component: Any, values: Any, residuals: Any, *discrete: Any) -> None:
            given = Inputs({name: values[name] for name in values if name not in states})
            with_deep_names(component.apply_nonlinear)()(
                given, Inputs({name: values[name] for name in states}), residuals, *discrete
            )

        self._fill(call, partials, copied(inputs) | copied(outputs), outputs, discrete_inputs)


#: For each kind of component: ours, and the method that computes.
_KINDS: dict[type, tuple[type, str]] = {
    ExplicitComponent: (_Explicit, "compute"),
    ImplicitComponent: (_Implicit, "apply_nonlinear"),
}


__all__ = ["partials"]
