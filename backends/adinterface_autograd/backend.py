"""HIPS autograd behind the contract: one trace with a root for each leaf, one backward pass for all outputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.tracer import isbox, trace_stack
from autograd.util import toposort

from adinterface.contract.backend import (
    Arrays,
    Backend,
    FlatFunction,
    Pullback,
    Pushforward,
    Straight,
    StraightProduct,
)
from adinterface.contract.errors import AdinterfaceError
from adinterface.contract.library import NUMPY, dtype_name
from adinterface.derive.jacobians import jacobian_of
from adinterface.derive.record import note_step

from .box import Box
from .forward import ForwardNode
from .known_failures import KNOWN_FAILURES
from .library import AutogradLibrary


class AutogradBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (AutogradLibrary(),)

    transposes = True
    prefers_transposing = True
    second_order = ("reverse", "reverse")

    def pullback(self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
        roots = [VJPNode.new_root() for _ in leaves]
        with _new_trace() as trace:
            outputs, aux = function(*[Box(leaf, trace, root) for leaf, root in zip(leaves, roots)])
            ends = [_node(output, trace) for output in outputs]
            outputs = tuple([_unboxed(output, trace) for output in outputs])
            aux = tuple([_unboxed(array, trace) for array in aux])

        def back(cotangents: Arrays) -> Arrays:
            # autograd transposes the derivative; its adjoint in the real inner product is the conjugate of that.
            seeds = [(end, _conj(c)) for end, c in zip(ends, cotangents) if end is not None]
            found = _backward(seeds)
            return tuple(
                [_conj(found[root]) if root in found else np.zeros(anp.shape(x), x.dtype) for root, x in zip(roots, leaves)]
            )

        return Pullback(outputs, aux, back, any(end is not None for end in ends))

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        pulled = self.pullback(function, leaves)
        one = np.ones((), dtype=self.libraries[0].dtype(pulled.outputs[0]))
        return pulled.outputs, pulled.aux, pulled.back((one,)), pulled.connected

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> tuple[Arrays, Arrays, list[list[Any]]] | None:
        """Row by row into one array for each block, for real NumPy arrays of fewer outputs than inputs."""
        if self.mode == "forward" or not all(type(leaf) is np.ndarray and leaf.dtype.kind == "f" for leaf in leaves):
            return None
        note_step(self, "one pullback")
        pulled = self.pullback(function, leaves, differentiable=True)
        outputs = pulled.outputs
        plain = all(isinstance(output, (np.ndarray, np.generic)) and output.dtype.kind == "f" for output in outputs)
        if not plain or (self.mode is None and sum([x.size for x in leaves]) < sum([y.size for y in outputs])):
            return jacobian_of(self, pulled, leaves)
        note_step(self, f"{sum([output.size for output in outputs])} rows of the Jacobian")
        blocks = [[np.empty((*output.shape, *leaf.shape), leaf.dtype) for leaf in leaves] for output in outputs]
        seeds = [np.zeros(output.shape, output.dtype) for output in outputs]
        for row, seed, output in zip(blocks, seeds, outputs):
            for place in np.ndindex(output.shape):
                seed[place] = 1.0
                for block, gradient in zip(row, pulled.back(tuple(seeds))):
                    if type(gradient) is not np.ndarray:  # f captured what another trace follows
                        return jacobian_of(self, pulled, leaves)
                    block[place] = gradient
                seed[place] = 0.0
        return outputs, pulled.aux, blocks

    def straight(self, dtypes: tuple[str, ...], value: bool) -> Straight | None:
        library = self.libraries[0]

        def gradient(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]], arrays: Sequence[Any], taken: set[int]
        ) -> tuple[Any, Arrays, Sequence[Any], bool]:
            roots = [VJPNode.new_root() for _ in arrays]
            with _new_trace() as trace:
                output, aux = evaluate([Box(x, trace, root) for x, root in zip(arrays, roots)])
            end, output = _node(output, trace), _unboxed(output, trace)
            found: dict[Any, Any] = {}
            if end is not None:
                found = _backward([(end, np.ones((), dtype=library.dtype(output)))])
            results = []
            for x, root in zip(arrays, roots):
                NUMPY.adopt(x, taken)
                results.append(_released(found[root], x, taken) if root in found else np.zeros_like(x, order="C"))
            return output, tuple([_unboxed(array, trace) for array in aux]) if aux else aux, results, end is not None

        return gradient

    def straight_product(self, dtypes: tuple[str, ...]) -> StraightProduct | None:
        if self.mode != "reverse":
            return None
        library = self.libraries[0]

        def product(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]],
            arrays: Sequence[Any],
            directions: Sequence[Any],
            taken: set[int],
        ) -> Sequence[Any]:
            roots, inner_roots = [VJPNode.new_root() for _ in arrays], [VJPNode.new_root() for _ in arrays]
            with _new_trace() as outer:
                boxes = [Box(x, outer, root) for x, root in zip(arrays, roots)]
                with _new_trace() as inner:
                    output, _ = evaluate([Box(x, inner, root) for x, root in zip(boxes, inner_roots)])
                end = _node(output, inner)
                first: dict[Any, Any] = {}
                if end is not None:
                    first = _backward([(end, np.ones((), dtype=library.dtype(output)))])
            ends = [_node(first.get(root), outer) for root in inner_roots]
            del boxes, output, end, first  # and with them what only the first backward pass needed
            found = _backward([(end, v) for end, v in zip(ends, directions) if end is not None])
            results = []
            for x, root in zip(arrays, roots):
                NUMPY.adopt(x, taken)
                results.append(_released(found[root], x, taken) if root in found else np.zeros_like(x, order="C"))
            return results

        return product

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        with _new_trace() as trace:
            boxes = [Box(leaf, trace, ForwardNode.new_root(tangent)) for leaf, tangent in zip(leaves, tangents)]
            outputs, aux = function(*boxes)
            nodes = [_node(output, trace) for output in outputs]
            outputs = tuple([_unboxed(output, trace) for output in outputs])
            aux = tuple([_unboxed(array, trace) for array in aux])
        tangents_out = tuple(
            [node.g if node is not None else np.zeros(anp.shape(y), y.dtype) for node, y in zip(nodes, outputs)]
        )
        return Pushforward(outputs, tangents_out, aux)

    def note(self, error: Exception) -> str | None:
        message = str(error)
        if isinstance(error, AdinterfaceError):
            return None
        if "Box" in message and "item assignment" in message:
            return _NO_ASSIGNMENT
        if isinstance(error, ValueError) and "setting an array element with a sequence" in message:
            return _NO_ASSIGNMENT
        if isinstance(error, TypeError) and "output" in message and "Box" in message:
            return _NO_ASSIGNMENT
        if isinstance(error, TypeError) and ("Box" in message or "ufunc" in message):
            return (
                "NumPy was called on an array that autograd is tracing. Take the functions from the array: "
                "xp = adinterface.array_namespace(x), then xp.sin(x); or decorate f with adinterface.numpy_function."
            )
        return None


_NO_ASSIGNMENT = (
    "autograd cannot differentiate item assignment. Build the array with xp.stack, xp.concat or xp.where "
    "(xp = adinterface.array_namespace(x))."
)


# autograd numbers its traces by a global depth that is not safe between threads and is left too high if f raises.
# While any of ours is open the depth only grows, so an inner trace always has the larger number; the last to close
# puts it back where the first found it.

_lock = threading.Lock()
_open = 0
_base = -1


class _new_trace:
    """A scope with a trace of its own, whose number it gives."""

    __slots__ = ()

    def __enter__(self) -> int:
        global _open, _base
        with _lock:
            if _open == 0:
                _base = trace_stack.top
            _open += 1
            trace_stack.top += 1
            number: int = trace_stack.top
        return number

    def __exit__(self, *raised: object) -> None:
        global _open
        with _lock:
            _open -= 1
            if _open == 0:
                trace_stack.top = _base


def _node(x: Any, trace: int) -> Any:
    """The node of a box of this trace; None for what does not depend on its roots."""
    return x._node if isbox(x) and x._trace == trace else None


def _unboxed(x: Any, trace: int) -> Any:
    return x._value if isbox(x) and x._trace == trace else x


def _released(result: Any, x: Any, taken: set[int]) -> Any:
    """A gradient as the caller's own array like x."""
    numbers = NUMPY.release(result, x.dtype, taken)
    if numbers is not None:
        return numbers
    return NUMPY.restore(_conj(result), AutogradBackend.libraries[0], x, dtype_name(x.dtype), taken)


class _Sink:
    """Stands behind all outputs, so that one topological order serves them together."""

    def __init__(self, parents: Sequence[Any]):
        self.parents = parents


def _backward(seeds: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """Propagate the seeds to the roots: autograd's `backward_pass` for several ends and several roots."""
    collected: dict[Any, Any] = {}
    for end, cotangent in seeds:
        collected[end] = add_outgrads(collected.get(end), cotangent)
    found: dict[Any, Any] = {}
    order = toposort(_Sink([end for end, _ in seeds]))
    next(order)  # the sink itself
    for node in order:
        gradient = collected.pop(node)[0]
        if not node.parents:
            found[node] = gradient
            continue
        for parent, contribution in zip(node.parents, node.vjp(gradient)):
            collected[parent] = add_outgrads(collected.get(parent), contribution)
    return found


def _conj(x: Any) -> Any:
    return anp.conj(x) if np.iscomplexobj(x) else x
