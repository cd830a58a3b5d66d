"""PyTensor and PyMC: an Op with derivatives of any order from a function on any backend."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.call.messages import describe, require_function
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import OutputError
from ..core.contract.registry import find
from ..core.operators.prepare import Prepared
from ..core.tree.structures import Constant
from ..fit.evaluate import EVALUATE
from .arguments import fitting, require_arguments
from .missing import raise_missing
from .products import ArrayFunction, Pulled, Pushed, Valued

try:
    import pytensor.tensor as pt
    from pytensor.gradient import DisconnectedType
    from pytensor.graph import Apply, Op, node_rewriter
    from pytensor.scalar import upcast
    from pytensor.tensor.rewriting.basic import register_specialize
except ModuleNotFoundError as _error:
    raise_missing(_error, "pytensor", "pytensor")


def as_op(
    f: ArrayFunction,
    backend: AutoBackend,
    outputs: pt.TensorType | Sequence[pt.TensorType] | None = None,
) -> FunctionOp:
    """An Op of PyTensor that evaluates f, with pullbacks and pushforwards by `backend`.

        loglike = as_op(f, AutoJax())
        pymc.Potential("likelihood", loglike(theta, data))

    f takes one array for each variable, in the form of the backend. outputs: the type of the
    result, such as `pt.dvector`, or a sequence of types for a tuple of arrays. The default is a
    scalar of the widest dtype among the floating inputs.

    Integers, bools and PyTensor's constants are not differentiated. Derivatives of any order are
    Ops of the same kind. Evaluations are prepared: f must be pure where the engine compiles.

    Raises TypeError for outputs of no floating type. Applying the Op raises TypeError for complex
    variables and for variables that f cannot take. Evaluating it raises OutputError for values that
    do not fit `outputs`.
    """
    require_function("as_op", f)
    find(backend)
    single = outputs is None or isinstance(outputs, pt.TensorType)
    types = None if outputs is None else (outputs,) if single else tuple(outputs)
    for wanted in types or ():
        if not isinstance(wanted, pt.TensorType) or wanted.dtype not in (
            "float16",
            "float32",
            "float64",
        ):
            raise TypeError(
                f"as_op: {wanted!r} is no floating type of PyTensor. Pass outputs=pt.dvector, or a"
                " list of types."
            )
    return FunctionOp(f, backend, types, single)


class FunctionOp(Op):
    """An Op that evaluates a function of arrays; made by `as_op`."""

    def __init__(
        self,
        f: ArrayFunction,
        backend: AutoBackend,
        types: tuple[pt.TensorType, ...] | None,
        single: bool,
    ):
        self.f: ArrayFunction = f
        self.backend: AutoBackend = backend
        self.types: tuple[pt.TensorType, ...] | None = types
        self.single: bool = single
        self._evaluate: Prepared | None = None
        #: The Ops of derivatives, by what they are derivatives of: PyTensor merges what equal Ops
        #: compute.
        self._derivatives: dict[Any, FunctionOp] = {}

    def make_node(self, *inputs: Any) -> Apply:
        require_arguments(str(self), self.f, len(inputs))
        variables = [pt.as_tensor_variable(x) for x in inputs]
        if any(x.type.dtype.startswith("complex") for x in variables):
            raise TypeError(
                f"{self}: a variable is complex. PyTensor has no complex gradients: pass `x.real`"
                " and `x.imag`."
            )
        floating = [x.type.dtype for x in variables if x.type.dtype.startswith("float")]
        types = self.types or (
            pt.TensorType(upcast(*floating) if floating else "float64", shape=()),
        )
        return Apply(self, variables, [wanted() for wanted in types])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        if self._evaluate is None:
            self._evaluate = Prepared(EVALUATE, self.backend, self.f)
        values = self._evaluate(
            *[x if np.asarray(x).dtype.kind == "f" else Constant(x) for x in inputs]
        )
        values = (values,) if self.single else values
        if not isinstance(values, (tuple, list)) or len(values) != len(node.outputs):
            raise OutputError(
                f"{self} must return a tuple of {len(node.outputs)} arrays, not {describe(values)}."
            )
        for n, (storage, value, output) in enumerate(zip(output_storage, values, node.outputs)):
            storage[0] = fitting(value, output.type.dtype, output.type.shape)
            if storage[0] is None:
                raise OutputError(
                    f"{self}: output {n} is {describe(value)}, and {output.type} was expected:"
                    " return that, or give the type of what f returns, as_op(f, backend,"
                    " outputs=pt.TensorType(dtype, shape=shape))."
                )

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[_is_active(x)] * len(node.outputs) for x in node.inputs]

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """The cotangents of the inputs; disconnected for integers and constants."""
        active = tuple(map(_is_active, inputs))
        present = tuple([not isinstance(c.type, DisconnectedType) for c in cotangents])
        types = tuple([x.type for x, is_active in zip(inputs, active) if is_active])
        if not (types and any(present)):
            return [DisconnectedType()() for _ in inputs]
        if self.single and outputs[0].type.ndim == 0:
            op = self._derivative(Valued(self.f, self.backend, active), (outputs[0].type, *types))
            results = iter(
                [pt.cast(cotangents[0], g.dtype) * g for g in op(*inputs, return_list=True)[1:]]
            )
        else:
            op = self._derivative(Pulled(self.f, self.backend, active, present, self.single), types)
            seeds = [
                pt.cast(c, y.dtype)
                for c, y, is_present in zip(cotangents, outputs, present)
                if is_present
            ]
            results = iter(op(*inputs, *seeds, return_list=True))
        return [next(results) if is_active else DisconnectedType()() for is_active in active]

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> list[Any]:
        """The tangents of the outputs; disconnected if there is no tangent of an input."""
        connected = [t is not None and not isinstance(t.type, DisconnectedType) for t in tangents]
        present = tuple(
            [is_connected and _is_active(x) for is_connected, x in zip(connected, inputs)]
        )
        op = self._derivative(
            Pushed(self.f, self.backend, present, self.single), tuple([y.type for y in outputs])
        )
        seeds = [
            pt.cast(t, x.dtype) for t, x, is_present in zip(tangents, inputs, present) if is_present
        ]
        return (
            op(*inputs, *seeds, return_list=True)
            if seeds
            else [DisconnectedType()() for _ in outputs]
        )

    # The names of both before PyTensor 3.
    L_op = pullback

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> list[Any]:
        return self.pushforward(inputs, self(*inputs, return_list=True), eval_points)

    def _derivative(
        self, f: Valued | Pulled | Pushed, types: tuple[pt.TensorType, ...]
    ) -> FunctionOp:
        return self._derivatives.setdefault(
            (*f.key, types), FunctionOp(f, self.backend, types, single=False)
        )

    def __str__(self) -> str:
        return f"as_op({getattr(self.f, '__name__', self.f)}, {self.backend!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_evaluate": None, "_derivatives": {}}  # which are made again


def value_with_gradient(fgraph: Any, node: Apply) -> list[Any] | None:
    """A scalar comes from the Op that gives it with its gradient, where a graph has both."""
    for client, _ in fgraph.clients[node.inputs[0]] if node.inputs else ():
        is_ours = isinstance(client.op, FunctionOp) and isinstance(client.op.f, Valued)
        if (
            is_ours
            and client.op in node.op._derivatives.values()
            and all(map(operator.is_, client.inputs, node.inputs))
        ):
            return [client.outputs[0]]
    return None


register_specialize(node_rewriter([FunctionOp])(value_with_gradient))


def _is_active(x: Any) -> bool:
    return x.type.dtype.startswith("float") and not isinstance(x, pt.TensorConstant)


__all__ = ["FunctionOp", "as_op"]
