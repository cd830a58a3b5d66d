"""The PyTorch backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from operator import attrgetter
from types import NoneType
from typing import Any

import torch

from adinterface import AdinterfaceError, AutoTorch, BackendError
from adinterface.core.contract import (
    Arrays,
    Aux,
    Backend,
    FlatFunction,
    Gradient,
    Linearized,
    Pullback,
    Pushforward,
    Randomness,
    Scoping,
    in_mode,
    leave_to_python,
    note_of,
    note_step,
)

from .backward import backward, dense, detached
from .distributed import Exchange, completed, gradients, is_dtensor, placed_like
from .known_failures import FORWARD_FAILURES, KNOWN_FAILURES
from .levels import is_forward, refuse_tangents
from .library import TORCH, outside_inference
from .modules import ModuleNode
from .nodes import (
    IN_BATCHES,
    ONE_BY_ONE,
    fault,
    is_recorded,
    leaves_behind,
    refuse_again,
    refuse_underived,
    walk,
)
from .notes import NOTES
from .private import (
    TransformType,
    dual_level,
    in_use,
    is_forward_enabled,
    left_to_python,
    peek,
    register_pytree_node,
    transformations,
    tree_map_only,
)
from .recording import Recording, depth, in_graph, marked, recorded, refuse_shared
from .repairs.forward_level import forward_level
from .swapping import swapping
from .unrecorded import custom_nodes, transposed

_DETACH, _REQUIRE, _IS_INFERENCE = (
    torch.Tensor.detach,
    torch.Tensor.requires_grad_,
    torch.Tensor.is_inference,
)
#: The types of the gradients of an output that depends on no leaf: its graph may be that of a copy
#: or a captured parameter.
_NONE = {NoneType}
_GRAD_FN, _REQUIRES = attrgetter("grad_fn"), attrgetter("requires_grad")

leave_to_python(left_to_python)

# torch.func flattens what f returns: the arrays of an Aux are its children.
register_pytree_node(
    Aux,
    lambda aux: ([aux.arrays], aux.layout),
    lambda parts, layout: Aux(next(iter(parts)), layout),
)


class TorchBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (TORCH,)
    node_types = (ModuleNode(),)
    # Measured on torch 2.13: torch.func.jvp costs ten times a transposed pullback on long chains of
    # small operations.
    transposes = "always"

    def __init__(self, auto: AutoTorch):
        super().__init__(auto)
        self.create_graph, self.compiled = auto.create_graph, auto.compile
        if auto.mode == "forward":
            self.known_failures = KNOWN_FAILURES + FORWARD_FAILURES
        if auto.device is not None:
            self._check_device(auto.device)

    def second_order(self) -> tuple[Backend, Backend]:
        return in_mode(self, "reverse"), in_mode(self, "reverse")

    def scope(self) -> Scoping | None:
        return Recording if self.create_graph else None

    def _check_device(self, device: Any) -> None:
        try:
            torch.empty(0, device=device)
        # AssertionError: torch was built without it.
        except (RuntimeError, AssertionError, TypeError) as error:
            reason, seen = str(error).partition(". ")[0].rstrip("."), ", ".join(self.devices())
            raise BackendError(
                f"AutoTorch(device={device!r}): torch cannot put a tensor there ({reason}). It sees"
                f" {seen}."
            ) from error

    def gradient(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Gradient | None:
        """As by `pullback`, but the graph is freed during the pass, as by `backward`."""
        if not self._is_plain_call(function, leaves):
            return None if peek() is not None else self._gradient_inside(function, leaves)
        inputs = _inputs(function, leaves)
        (output,), aux = recorded(function, inputs)
        gradients = backward((output,), inputs) if output.requires_grad else (None,) * len(inputs)
        if not value:
            return Gradient((), aux, gradients, {*map(type, gradients)} != _NONE)
        return Gradient(
            (output.detach(),), aux.map(_detached_aux), gradients, {*map(type, gradients)} != _NONE
        )

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        """Two backward passes through the graph of one evaluation."""
        if self.mode != "reverse" or not self._is_plain_call(function, (*leaves, *directions)):
            return None
        note_step(self, "one pullback")
        note_step(self, "one pullback of 1")
        inputs = _inputs(function, leaves)
        (output,), _ = recorded(function, inputs)
        first = (
            backward((output,), inputs, create_graph=True)
            if output.requires_grad
            else (None,) * len(inputs)
        )
        del output  # with f's intermediate values, as far as the gradients do not need them
        live = [(g, v) for g, v in zip(first, directions) if g is not None and g.requires_grad]
        second = (
            backward([g for g, _ in live], inputs, [v for _, v in live])
            if live
            else (None,) * len(inputs)
        )
        return Pushforward(
            tuple([None if g is None else g.detach() for g in first]), tuple(second), Aux()
        )

    def _is_plain_call(self, function: FlatFunction, arrays: Arrays) -> bool:
        """Whether f's own graph is enough: no outer call, no mode of torch, leaves in place."""
        if depth() or self.create_graph or in_use() or peek() is not None or dual_level() >= 0:
            return False
        if torch.is_inference_mode_enabled() or not torch.is_grad_enabled():
            return False
        if any(map(_REQUIRES, arrays)) and in_graph(arrays):
            return False
        if owned := function.owned:
            # a copy of a module, of differences around this call
            if not all(arrays[n].requires_grad for n in owned):
                return False
            refuse_shared(function, arrays)
        return not (given := function.side_inputs) or not in_graph(given)

    def _gradient_inside(self, function: FlatFunction, leaves: Arrays) -> Gradient:
        """The gradient in an outer call, in a mode of torch, or in a group of processes.

        Results stay in a graph, or leave inference mode. With an exchange, results are of all data,
        with the placements of the leaves.
        """
        exchange = Exchange(function, leaves) if in_use() else None
        if exchange is not None:
            exchange.refuse_kept()
        keep, inputs, (output,), aux = self._recorded(function, leaves)
        if exchange is not None:
            if keep:
                exchange.refuse()
            output = completed(output)
        result: Sequence[Any] = (None,) * len(inputs)
        if output.requires_grad:
            with _mode(keep):
                result = gradients(output, inputs, exchange, keep)
        if exchange is not None:
            result = [*map(placed_like, dense(result), inputs)]
        shown = aux if keep else aux.map(_detached_aux)
        return Gradient(
            (output if keep else output.detach(),),
            shown,
            tuple(result),
            {*map(type, result)} != _NONE,
        )

    def compile_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        # compiled code is differentiated once, in reverse
        if not self.compiled or self.create_graph or self.mode == "forward":
            return f
        compiled: Callable[..., Any] = torch.compile(f)
        return compiled

    def _recorded(self, function: FlatFunction, leaves: Arrays) -> tuple[bool, Arrays, Arrays, Aux]:
        """Whether results stay in an outer graph.

        The inputs of the graph that f's evaluation made, its outputs and aux.
        """
        refuse_shared(function, leaves)
        keep = self._keeps((*leaves, *function.side_inputs))
        # Where other values are in the graph of the parameters, f computes with aliases of these:
        # what a Constant was computed from is constant, and so is what f captured of an earlier
        # call that took a derivative by the same module.
        owned = function.owned
        others = keep and any(x.requires_grad for n, x in enumerate(leaves) if n not in owned)
        copied = not all(leaves[n].requires_grad for n in owned)  # by differences around this call
        swaps = (
            copied
            or others
            or any(map(_IS_INFERENCE, leaves))
            or (keep and (depth() > self.create_graph or in_graph(function.side_inputs)))
        )
        owned = frozenset() if swaps else owned
        with _mode(True):
            inputs = tuple([x if n in owned else _alias(x, keep) for n, x in enumerate(leaves)])
            outputs, aux = recorded(swapping(function, leaves) if swaps else function, inputs)
        if dual_level() >= 0:
            refuse_tangents((*leaves, *function.side_inputs, *outputs, *aux))
        return keep, inputs, outputs, aux

    def pullback(
        self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False
    ) -> Pullback:
        spread = _refuses_exchange(function, leaves)
        if peek() is not None:
            return _functorch_pullback(function, leaves)
        keep, inputs, outputs, aux = self._recorded(function, leaves)
        if spread:
            outputs = tuple(map(completed, outputs))
        connected = [output.requires_grad for output in outputs]

        def back(cotangents: Arrays) -> Arrays:
            return back_in(is_kept(cotangents), cotangents)

        def is_kept(cotangents: Arrays) -> bool:
            return keep or peek() is not None or self._keeps(cotangents)

        def back_in(graph: bool, cotangents: Arrays) -> Arrays:
            gradients: Sequence[torch.Tensor | None] = [None] * len(inputs)
            if any(connected):
                with _mode(graph):
                    gradients = backward(
                        [output for output, live in zip(outputs, connected) if live],
                        inputs,
                        [outside_inference(c) for c, live in zip(cotangents, connected) if live],
                        retain_graph=True,
                        create_graph=graph,
                    )
            return tuple(map(placed_like, gradients, inputs) if spread else gradients)

        def back_stacked(cotangents: Arrays) -> Arrays:
            # Only the backward pass is batched, so f may contain code that vmap refuses.
            # torch.func.vmap, because the vmap of `is_grads_batched` runs a loop for matrix
            # products.
            graph = is_kept(cotangents)

            def of_entry(*entry: torch.Tensor) -> Arrays:  # vmap takes no None
                return tuple(
                    [
                        torch.zeros_like(x) if g is None else g
                        for g, x in zip(back_in(graph, entry), inputs)
                    ]
                )

            if len(cotangents[0]) and fault(walk(outputs, inputs), inputs, ONE_BY_ONE):
                return tuple(
                    map(torch.stack, zip(*[of_entry(*entry) for entry in zip(*cotangents)]))
                )
            return tuple(torch.func.vmap(of_entry)(*cotangents))

        if not keep:
            aux = aux.map(_detached_aux)
        shown = outputs if keep else tuple([output.detach() for output in outputs])
        # which torch cannot batch
        one_by_one = self.chunk_size == 1 or (spread and any(map(is_dtensor, (*inputs, *outputs))))
        return Pullback(shown, aux, back, any(connected), None if one_by_one else back_stacked)

    def pushforward(
        self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
    ) -> Pushforward:
        return self._pushed(function, leaves, tangents)

    def _pushed(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        _refuses_exchange(function, leaves)
        refuse_shared(function, leaves)
        _refuse_dual_level()
        # not the copies below, which are in the graph of a parameter
        given = (*leaves, *tangents, *function.side_inputs)
        with forward_level, torch.inference_mode(False):
            pushed: Any = torch.func.jvp(
                swapping(function, leaves), _copies(leaves), _copies(tangents), has_aux=True
            )
        return self._shown(pushed, given, function, leaves)

    def _shown(
        self, pushed: Sequence[Any], given: Sequence[Any], function: FlatFunction, leaves: Arrays
    ) -> Pushforward:
        """Results of forward mode. torch keeps them in the graph of all that requires grad."""
        outputs, tangents, aux = pushed
        # torch returns float64 where a number in a 0-d array meets a Python float.
        tangents = tuple([tangent.to(output.dtype) for tangent, output in zip(tangents, outputs)])
        keeps = peek() is not None or self._keeps(given)
        if function.owned and not keeps:
            _refuse_captured(function, leaves, (*outputs, *tangents))
        if keeps and is_forward_enabled():  # else inside no_grad, in f of such a call
            return Pushforward(tuple(outputs), tangents, aux)
        return Pushforward(detached(outputs), detached(tangents), aux.map(_detached_aux))

    def _keeps(self, given: Iterable[Any]) -> bool:
        """Whether results stay in the graph around the call; else they are detached.

        given: what the call is given, leaves, Constants, keywords and directions.
        """
        if self.create_graph or not torch.is_grad_enabled():
            return self.create_graph
        return depth() > 0 or in_graph(given)

    def pushforward_stacked(
        self, function: FlatFunction, leaves: Arrays, stacks: Arrays
    ) -> Pushforward | None:
        if self.chunk_size == 1:
            return None
        return self._pushed_stacked(function, leaves, stacks)

    def _pushed_stacked(
        self, function: FlatFunction, leaves: Arrays, stacks: Arrays
    ) -> Pushforward:
        def push(*tangents: Any) -> Any:
            return tuple(self._pushed(function, leaves, tangents))

        # torch takes every batched value for one of this batch: inside a batch of the caller's the
        # outputs get this one, too.
        inside = peek() is not None
        # Random numbers are the same for every tangent, as they must be.
        out_dims: Any = 0 if inside else (None, 0, None)
        batched: Any = torch.func.vmap(push, out_dims=out_dims, randomness="same")
        _refuse_dual_level()
        with forward_level:
            outputs, tangents, aux = batched(*stacks)
        if inside:
            outputs, aux = tuple([output[0] for output in outputs]), aux.map(lambda array: array[0])
        return self._shown(
            (outputs, tangents, aux), (*leaves, *stacks, *function.side_inputs), function, leaves
        )

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        """The value once, and a pushforward in every push; stacks of tangents in one."""
        refuse_shared(function, leaves)
        inputs = _copies(leaves, function.owned)
        outputs, aux = function(*inputs) if peek() is not None else recorded(function, inputs)
        if peek() is None and not self._keeps((*leaves, *function.side_inputs)):
            outputs, aux = detached(outputs), aux.map(_detached_aux)

        def push(tangents: Arrays) -> Arrays:
            return self._pushed(function, leaves, tangents).tangents

        def push_stacked(stacks: Arrays) -> Arrays:
            return self._pushed_stacked(function, leaves, stacks).tangents

        return Linearized(outputs, aux, push, None if self.chunk_size == 1 else push_stacked)

    def vectorize(
        self,
        compute: Callable[..., Any],
        each: tuple[bool, ...],
        *,
        chunk: int,
        randomness: Randomness,
    ) -> Callable[..., Any]:
        axes = tuple([0 if stacked else None for stacked in each])

        def vectorized(*arrays: Any) -> Any:
            count = next(len(array) for array, stacked in zip(arrays, each) if stacked)
            at_once = torch.func.vmap(
                compute,
                in_dims=axes,
                randomness=randomness,
                chunk_size=chunk if chunk < count else None,
            )
            results = at_once(*arrays)
            if peek() is not None or self._keeps(arrays):
                return results
            return tree_map_only(torch.Tensor, torch.Tensor.detach, results)

        return vectorized

    def note(self, error: Exception) -> str | None:
        return None if isinstance(error, AdinterfaceError) else note_of(error, NOTES)

    @classmethod
    def devices(cls) -> list[str]:
        return ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]


def _detached_aux(tensor: torch.Tensor) -> torch.Tensor:
    """An auxiliary result outside its graph.

    A copy of a leaf of the graph, since f may have captured it.
    """
    return tensor.detach().clone() if tensor.requires_grad and tensor.is_leaf else tensor.detach()


def _inputs(function: FlatFunction, leaves: Arrays) -> Arrays:
    """Leaf tensors on the same memory: what f captured of the same array is not differentiated.

    A parameter is one already.
    """
    owned = function.owned
    if len(owned) == len(leaves):
        return leaves
    try:
        if not owned:
            return marked(map(_REQUIRE, map(_DETACH, leaves)))
    except RuntimeError:
        # torch refuses inference tensors, and takes a microsecond for the question
        pass
    return tuple([x if n in owned else _alias(x) for n, x in enumerate(leaves)])


def _refuses_exchange(function: FlatFunction, leaves: Arrays) -> bool:
    """Whether this process belongs to a group.

    Refuses modules that exchange gradients, as this derivative is not exchanged.
    """
    if in_use():
        Exchange(function, leaves).refuse()
    return in_use()


def _refuse_dual_level() -> None:
    if forward_level.is_of_another() and not is_forward():
        raise BackendError(
            "AutoTorch(mode='forward') inside torch.autograd.forward_ad.dual_level: torch has one"
            " such level at a time. Use AutoTorch(), or take the outer derivative with"
            " torch.func.jvp."
        )


def _refuse_captured(function: FlatFunction, leaves: Arrays, results: Arrays) -> None:
    """Refuse a parameter that f reaches past its module.

    It shows in the graph of the results: the tensors of this call stand in the module alone.
    """
    own = {id(leaves[n]) for n in function.owned}
    if any(id(leaf) in own for leaf in leaves_behind(results)):
        raise BackendError(
            "f reaches a parameter of the module that is differentiated in another way than by the"
            " attribute of the module (a list, a closure), where forward mode has no tangent for"
            " it. Reach it through the module, or use AutoTorch() or AutoTorch(mode='reverse')."
        )


def _mode(graph: bool) -> AbstractContextManager[Any]:
    """A context outside inference mode. graph: whether operations must be recorded."""
    if torch.is_inference_mode_enabled():
        stack = ExitStack()
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.set_grad_enabled(graph))
        return stack
    return nullcontext() if torch.is_grad_enabled() or not graph else torch.enable_grad()


def _copies(leaves: Arrays, owned: frozenset[int] = frozenset()) -> Arrays:
    """The leaves for an f that may write into them, in memory without overlaps.

    The owned ones themselves.
    """
    kept = [TORCH.traced(x) or in_graph((x,)) for x in leaves]
    return tuple(
        [x if n in owned else (x if kept[n] else x.detach()).clone() for n, x in enumerate(leaves)]
    )


def _alias(leaf: torch.Tensor, keep: bool = False) -> torch.Tensor:
    """Another tensor on the same memory, so that what f captured of it is a constant."""
    kept = keep and leaf.requires_grad
    return marked(
        (leaf.view_as(leaf) if kept else outside_inference(leaf).detach().requires_grad_(),)
    )[0]


def _functorch_pullback(function: FlatFunction, leaves: Arrays) -> Pullback:
    """Inside torch.func.grad, vmap, jvp: torch.autograd.grad refuses to run there."""
    refuse_shared(function, leaves)
    custom: list[Any] = []
    wrong: list[Any] = []
    kinds = [level.key() for level in transformations()]
    derivatives = any(kind != TransformType.Vmap for kind in kinds)
    again = derivatives or any(
        map(is_recorded, (*leaves, *filter(torch.is_tensor, function.side_inputs)))
    )
    # In a batch f gets a copy of a module: threads may take parts of the batch.
    taken = function if kinds[-1] == TransformType.Vmap else swapping(function, leaves)

    def seen(*inputs: torch.Tensor) -> tuple[Arrays, Aux]:
        outputs, aux = taken(*inputs)
        nodes = walk(outputs, inputs)
        if again:
            refuse_again(nodes, inputs)
        custom.extend(custom_nodes(nodes))
        wrong.append(fault(nodes, inputs, IN_BATCHES))
        return outputs, aux

    with torch.enable_grad():
        pulled: Any = torch.func.vjp(seen, *leaves, has_aux=True)
    outputs, pull, aux = pulled
    if not is_forward_enabled():  # inside no_grad, in f of a call in forward mode
        outputs, aux = detached(outputs), aux.map(torch.Tensor.detach)

    def back(cotangents: Arrays) -> Arrays:
        # In the batches of the outputs: torch's second derivatives of norms write into the
        # cotangents.
        cotangents = tuple([c + torch.zeros_like(y) for c, y in zip(cotangents, outputs)])
        try:
            return (
                transposed(custom, pull, cotangents, leaves)
                if custom
                else tuple(pull(tuple(cotangents)))
            )
        except RuntimeError as error:
            refuse_underived(error)
            raise

    stacked = (
        None if any(wrong) else lambda stacks: tuple(torch.func.vmap(lambda *c: back(c))(*stacks))
    )
    return Pullback(outputs, aux, back, stacked=stacked)
