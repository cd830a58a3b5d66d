"""PyTensor and PyMC: an Op with derivatives of any order from a function on any backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.call.messages import describe, require_function
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import OutputError
from ..core.contract.registry import find
from ..core.contract.structures import Constant
from ..core.operators.prepare import Prepared
from ..fit.evaluate import Evaluate
from .arguments import require_arguments
from .missing import missing
from .products import ArrayFunction, Pulled, Pushed

try:
    import pytensor.tensor as pt
    from pytensor.gradient import DisconnectedType
    from pytensor.graph.basic import Apply
    from pytensor.graph.basic import Constant as GraphConstant
    from pytensor.graph.op import Op
    from pytensor.scalar import upcast
    from pytensor.tensor.type import TensorType
except ModuleNotFoundError as error:
    raise missing(error, "pytensor", "pytensor") from error


def as_op(f: ArrayFunction, backend: AutoBackend, outputs: TensorType | Sequence[TensorType] | None = None) -> FunctionOp:
    """An Op of PyTensor that evaluates f, with pullbacks and pushforwards by `backend`.

        loglike = as_op(f, AutoJax())
        pymc.Potential("likelihood", loglike(theta, data))

    f takes one array for each variable, in the form of the backend. outputs: the type of what f returns, such as `pt.dvector`,
    or a sequence of types for a tuple of arrays. The default is a scalar of the widest dtype among the floating inputs.

    Integers, bools and PyTensor's constants are not differentiated. Derivatives of any order are Ops of the same kind, as the
    backend's operators nest. Evaluations are prepared: f must be pure where the engine compiles.

    Raises TypeError for outputs that are no floating types; for complex variables, and for variables that f cannot take, when
    the Op is applied; OutputError, when it is evaluated, for values that do not fit `outputs`.
    """
    require_function("as_op", f)
    find(backend)
    single = outputs is None or isinstance(outputs, TensorType)
    types = None if outputs is None else (outputs,) if single else tuple(outputs)
    for wanted in types or ():
        if not isinstance(wanted, TensorType) or wanted.dtype not in ("float16", "float32", "float64"):
            raise TypeError(f"as_op: {wanted!r} is no floating type of PyTensor. Pass outputs=pt.dvector, or a list of types.")
    return FunctionOp(f, backend, types, single)


class FunctionOp(Op):
    """An Op that evaluates a function of arrays; made by `as_op`."""

    def __init__(self, f: ArrayFunction, backend: AutoBackend, types: tuple[TensorType, ...] | None, single: bool):
        self.f, self.backend, self.types, self.single = f, backend, types, single
        self._evaluate: Prepared | None = None
        #: The Ops of derivatives, by what they are derivatives of: PyTensor merges what equal Ops compute.
        self._derivatives: dict[Any, FunctionOp] = {}

    def make_node(self, *inputs: Any) -> Apply:
        require_arguments(str(self), self.f, len(inputs))
        variables = [pt.as_tensor_variable(x) for x in inputs]
        if any(x.type.dtype.startswith("complex") for x in variables):
            raise TypeError(f"{self}: a variable is complex. PyTensor has no complex gradients: pass `x.real` and `x.imag`.")
        floating = [x.type.dtype for x in variables if _is_floating(x)]
        types = self.types or (TensorType(upcast(*floating) if floating else "float64", shape=()),)
        return Apply(self, variables, [wanted() for wanted in types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        if self._evaluate is None:
            self._evaluate = Prepared(Evaluate, self.backend, self.f)
        values = self._evaluate(*[x if np.asarray(x).dtype.kind == "f" else Constant(x) for x in inputs])
        values = (values,) if self.single else values
        if not isinstance(values, (tuple, list)) or len(values) != len(node.outputs):
            raise OutputError(f"{self} must return a tuple of {len(node.outputs)} arrays, not {describe(values)}.")
        for n, (storage, value, output) in enumerate(zip(output_storage, values, node.outputs)):
            storage[0] = _checked(value, output.type, f"{self}: output {n}")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[_is_active(x)] * len(node.outputs) for x in node.inputs]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the inputs; disconnected for integers and constants."""
        active = tuple(map(_is_active, inputs))
        present = tuple([not isinstance(c.type, DisconnectedType) for c in cotangents])
        types = tuple([x.type for x, is_active in zip(inputs, active) if is_active])
        op = self._derivative(Pulled(self.f, self.backend, active, present, self.single), types)
        seeds = [pt.cast(c, y.dtype) for c, y, is_present in zip(cotangents, outputs, present) if is_present]
        results = iter(op(*inputs, *seeds, return_list=True) if types and seeds else ())
        return [next(results) if is_active and seeds else DisconnectedType()() for is_active in active]

    def pushforward(self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The tangents of the outputs; disconnected if there is no tangent of an input."""
        present = tuple(
            [t is not None and not isinstance(t.type, DisconnectedType) and _is_active(x) for x, t in zip(inputs, tangents)]
        )
        op = self._derivative(Pushed(self.f, self.backend, present, self.single), tuple([y.type for y in outputs]))
        seeds = [pt.cast(t, x.dtype) for t, x, is_present in zip(tangents, inputs, present) if is_present]
        return op(*inputs, *seeds, return_list=True) if seeds else [DisconnectedType()() for _ in outputs]

    def L_op(self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """The pullback, by its name before PyTensor 3."""
        return self.pullback(inputs, outputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        """The pushforward, by its name before PyTensor 3."""
        return self.pushforward(inputs, self(*inputs, return_list=True), eval_points)

    def _derivative(self, f: Pulled | Pushed, types: tuple[TensorType, ...]) -> FunctionOp:
        key = (*f.key, types)
        if key not in self._derivatives:
            self._derivatives[key] = FunctionOp(f, self.backend, types, single=False)
        return self._derivatives[key]

    def __str__(self) -> str:
        return f"as_op({getattr(self.f, '__name__', self.f)}, {self.backend!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_evaluate": None, "_derivatives": {}}  # which are made again


def _is_floating(x: Any) -> bool:
    return str(x.type.dtype).startswith("float")


def _is_active(x: Any) -> bool:
    return _is_floating(x) and not isinstance(x, GraphConstant)


def _checked(value: Any, wanted: TensorType, place: str) -> Any:
    """The value as PyTensor stores it. Raises OutputError for another shape, and for what would lose precision or sense."""
    array = np.asarray(value)
    fits = array.ndim == wanted.ndim and all(n is None or n == m for n, m in zip(wanted.shape, array.shape))
    if not fits or not np.can_cast(array.dtype, wanted.dtype, "same_kind"):
        raise OutputError(
            f"{place} is {describe(value)}, and {wanted} was expected: return that, or pass the type of what f returns as "
            f"as_op(f, backend, outputs=pt.TensorType({array.dtype.name!r}, shape={array.shape}))."
        )
    return array.astype(wanted.dtype, copy=False)


__all__ = ["FunctionOp", "as_op"]
