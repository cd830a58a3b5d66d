"""The HIPS autograd backend: one trace with a root for each leaf, one backward pass."""

from __future__ import annotations

import re
from typing import Any

import autograd.numpy as anp
import numpy as np

from adinterface import AdinterfaceError
from adinterface.core.contract import (
    TAKE_FUNCTIONS,
    Arrays,
    Backend,
    FlatFunction,
    Gradient,
    Jacobian,
    Pullback,
    Pushforward,
    in_mode,
    note_step,
)

from .library import AutogradLibrary
from .nodes import Boxed
from .repairs.box import Box
from .repairs.forward import ForwardNode
from .repairs.functions import astype, conjugate
from .repairs.reverse import ReverseNode
from .repairs.traces import backward, new_trace, node_of, unboxed


class AutogradBackend(Backend):
    libraries = (AutogradLibrary(),)
    node_types = (Boxed(),)

    transposes = True

    def second_order(self) -> tuple[Backend, Backend]:
        # forward rules for one product, the gradient's pullback for many
        return self, in_mode(self, "reverse")

    def pullback(
        self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False
    ) -> Pullback:
        roots = [ReverseNode.root_of(leaf) for leaf in leaves]
        with new_trace() as trace:
            outputs, aux = function(*[Box(leaf, trace, root) for leaf, root in zip(leaves, roots)])
            ends = [node_of(output, trace) for output in outputs]
            outputs = tuple([unboxed(output, trace) for output in outputs])
            aux = aux.map(lambda array: unboxed(array, trace))

        def back(cotangents: Arrays) -> Arrays:
            # autograd transposes the derivative; its adjoint in the real inner product is the
            # conjugate of that.
            seeds = [(end, conjugate(c)) for end, c in zip(ends, cotangents) if end is not None]
            result = backward(seeds)
            return tuple(
                [
                    _narrow(conjugate(result[root]), x) if root in result else None
                    for root, x in zip(roots, leaves)
                ]
            )

        return Pullback(outputs, aux, back, any(end is not None for end in ends))

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient:
        roots = [ReverseNode.root_of(leaf) for leaf in leaves]
        with new_trace() as trace:
            (output,), aux = function(
                *[Box(leaf, trace, root) for leaf, root in zip(leaves, roots)]
            )
        end, output = node_of(output, trace), unboxed(output, trace)
        results: dict[Any, Any] = {}
        if end is not None:
            results = backward([(end, np.ones((), dtype=self.libraries[0].dtype(output)))])
        gradients = tuple([conjugate(results[root]) if root in results else None for root in roots])
        return Gradient(
            (output,), aux.map(lambda array: unboxed(array, trace)), gradients, end is not None
        )

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | Pullback | None:
        """Row by row into one array for each block, for real NumPy arrays and few outputs."""
        if self.mode == "forward" or not all(
            type(leaf) is np.ndarray and leaf.dtype.kind == "f" for leaf in leaves
        ):
            return None
        note_step(self, "one pullback")
        pulled = self.pullback(function, leaves, differentiable=True)
        outputs = pulled.outputs
        columns, rows = sum([x.size for x in leaves]), sum([np.size(y) for y in outputs])
        if (self.mode is None and columns < rows) or not all(
            isinstance(output, (np.ndarray, np.generic)) and output.dtype.kind == "f"
            for output in outputs
        ):
            return pulled
        note_step(self, f"{rows} rows of the Jacobian")
        blocks = [
            [np.zeros((*output.shape, *leaf.shape), leaf.dtype) for leaf in leaves]
            for output in outputs
        ]
        seeds = [np.zeros(output.shape, output.dtype) for output in outputs]
        for row, seed, output in zip(blocks, seeds, outputs):
            for place in np.ndindex(output.shape):
                seed[place] = 1.0
                for block, gradient in zip(row, pulled.back(tuple(seeds))):
                    if gradient is None:
                        continue
                    if type(gradient) is not np.ndarray:  # f captured what another trace follows
                        return pulled
                    block[place] = gradient
                seed[place] = 0.0
        return Jacobian(outputs, pulled.aux, blocks)

    def pushforward(
        self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
    ) -> Pushforward:
        with new_trace() as trace:
            boxes = [
                Box(leaf, trace, ForwardNode.new_root(tangent))
                for leaf, tangent in zip(leaves, tangents)
            ]
            outputs, aux = function(*boxes)
            nodes = [node_of(output, trace) for output in outputs]
            outputs = tuple([unboxed(output, trace) for output in outputs])
            aux = aux.map(lambda array: unboxed(array, trace))
        tangents_out = tuple(
            [None if node is None else _narrow(node.g, y) for node, y in zip(nodes, outputs)]
        )
        return Pushforward(outputs, tangents_out, aux)

    def note(self, error: Exception) -> str | None:
        message = str(error)
        if isinstance(error, TypeError) and re.search("valid JAX type|abstract array", message):
            return f"A JAX function {_MET} AutoJax()."
        if isinstance(error, (TypeError, ValueError, RuntimeError, AttributeError)) and re.search(
            _OBJECTS, message
        ):
            return _NUMPY_CALLED
        if isinstance(error, AdinterfaceError):
            return None
        if "Box" in message and ("item assignment" in message or "output" in message):
            return _NO_ASSIGNMENT
        if isinstance(error, TypeError) and (
            "must be Tensor, not" in message or "'torch.Tensor'" in message
        ):
            return f"A torch function {_MET} AutoTorch()."
        if isinstance(error, ValueError) and "element with a sequence" in message:
            return f"{_NO_ASSIGNMENT} Or {_NUMPY_CALLED}"
        if isinstance(error, TypeError) and re.search(
            r"(float|complex)\(\).*Box|real number, not Box", message
        ):
            return _NUMBER
        if isinstance(error, TypeError) and ("Box" in message or "ufunc" in message):
            return _NUMPY_CALLED
        return None


#: What NumPy and SciPy say of an array whose entries are autograd's boxes.
_OBJECTS = (
    r"object arrays are not|dtype .?object|object dtype|dtype\('O'\)|ObjectDType|type 'object'"
    r" not|argument 'out'"
)
_NUMPY_CALLED = (
    f"NumPy or SciPy was called on an array that autograd is tracing. {TAKE_FUNCTIONS} Beside an"
    " array c that is not differentiated write array_namespace(c, x)."
)
_MET = (
    "got an array that autograd is tracing. Write xp.sin(x) with xp ="
    " adinterface.array_namespace(x), or differentiate with"
)
_NUMBER = (
    "float(x) makes a Python number of an array that autograd follows, which would drop its"
    " gradient. Leave it an array: write xp.sin for math.sin, with xp ="
    " adinterface.array_namespace(x)."
)
_NO_ASSIGNMENT = (
    "autograd cannot differentiate item assignment. Build the array with xp.stack, xp.concat or"
    " xp.where (xp = adinterface.array_namespace(x))."
)


def _narrow(tangent: Any, y: Any) -> Any:
    """A derivative in its number's dtype; some of autograd's rules widen single precision."""
    if getattr(tangent, "dtype", y.dtype) == y.dtype:
        return tangent
    return astype(
        anp.real(tangent) if y.dtype.kind == "f" and np.iscomplexobj(tangent) else tangent, y.dtype
    )
