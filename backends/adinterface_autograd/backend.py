"""HIPS autograd behind the contract: one trace with a root for each leaf, one backward pass for all outputs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import VJPNode, add_outgrads
from autograd.tracer import isbox, trace_stack
from autograd.util import toposort

from adinterface.contract.backend import Arrays, Backend, FlatFunction, Gradient, Jacobian, Pullback, Pushforward
from adinterface.contract.errors import AdinterfaceError
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
            aux = aux.map(lambda array: _unboxed(array, trace))

        def back(cotangents: Arrays) -> Arrays:
            # autograd transposes the derivative; its adjoint in the real inner product is the conjugate of that.
            seeds = [(end, _conj(c)) for end, c in zip(ends, cotangents) if end is not None]
            found = _backward(seeds)
            return tuple(
                [_conj(found[root]) if root in found else np.zeros(anp.shape(x), x.dtype) for root, x in zip(roots, leaves)]
            )

        return Pullback(outputs, aux, back, any(end is not None for end in ends))

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient:
        roots = [VJPNode.new_root() for _ in leaves]
        with _new_trace() as trace:
            (output,), aux = function(*[Box(leaf, trace, root) for leaf, root in zip(leaves, roots)])
        end, output = _node(output, trace), _unboxed(output, trace)
        found: dict[Any, Any] = {}
        if end is not None:
            found = _backward([(end, np.ones((), dtype=self.libraries[0].dtype(output)))])
        gradients = [_conj(found[root]) if root in found else np.zeros(anp.shape(x), x.dtype) for root, x in zip(roots, leaves)]
        return Gradient((output,), aux.map(lambda array: _unboxed(array, trace)), tuple(gradients), end is not None)

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | None:
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
        return Jacobian(outputs, pulled.aux, blocks)

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
        with _new_trace() as trace:
            boxes = [Box(leaf, trace, ForwardNode.new_root(tangent)) for leaf, tangent in zip(leaves, tangents)]
            outputs, aux = function(*boxes)
            nodes = [_node(output, trace) for output in outputs]
            outputs = tuple([_unboxed(output, trace) for output in outputs])
            aux = aux.map(lambda array: _unboxed(array, trace))
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
