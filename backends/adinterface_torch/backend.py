"""PyTorch behind the contract."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import torch

from adinterface.contract.auto import AutoTorch
from adinterface.contract.backend import (
    Arrays,
    Backend,
    FlatFunction,
    Linearized,
    Pullback,
    Pushforward,
    Straight,
    StraightProduct,
)
from adinterface.derive.jacobians import gradient_by_pullback

from .backward import backward
from .known_failures import KNOWN_FAILURES
from .library import TorchLibrary, is_plain, nesting, tensor_on
from .nodes import ModuleNode
from .precision import current, python_float

# torch keeps the level of forward mode for the whole process: two threads inside it at once would end each other's.
_forward_mode = threading.RLock()


class TorchBackend(Backend):
    known_failures = KNOWN_FAILURES
    libraries = (TorchLibrary(),)
    node_types = (ModuleNode(),)
    transposes = True
    # Measured on torch 2.13: torch.func.jvp costs ten times a transposed pullback on long chains of small operations.
    prefers_transposing = True
    second_order = ("reverse", "reverse")

    def __init__(self, auto: AutoTorch):
        super().__init__(auto)
        self.create_graph, self.compiled = auto.create_graph, auto.compile

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        """As by `pullback`, but the graph is freed on the way, as `backward` does."""
        if _inside_functorch():
            return gradient_by_pullback(self, function, leaves)
        keep, inputs, (output,), aux = self._recorded(function, leaves)
        gradients: Sequence[torch.Tensor | None] = [None] * len(inputs)
        if output.requires_grad:
            with _mode(keep):
                gradients = backward((output,), inputs, create_graph=keep)
        filled = tuple([torch.zeros_like(leaf) if found is None else found for found, leaf in zip(gradients, inputs)])
        if not keep:
            aux = tuple([array.detach() for array in aux])
        return (output if keep else output.detach(),), aux, filled, output.requires_grad

    def compile_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if not self.compiled or self.create_graph or self.mode == "forward":  # compiled code is differentiated once, in reverse
            return f
        compiled: Callable[..., Any] = torch.compile(f)
        return compiled

    def straight(self, dtypes: tuple[str, ...], value: bool) -> Straight | None:
        if self.create_graph:
            return None
        dtype, library = python_float(dtypes), self.libraries[0]

        def gradient(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]], arrays: Sequence[Any], taken: set[int]
        ) -> tuple[Any, Arrays, Sequence[Any], bool] | None:
            if not _in_the_open():
                return None
            leaves = _leaves(library, arrays)
            output, aux = _followed(evaluate, leaves, dtype)
            connected = output.requires_grad
            found = backward((output,), leaves) if connected else [None] * len(leaves)
            results = _results(library, found, leaves, taken)
            return output.detach(), tuple([array.detach() for array in aux]) if aux else aux, results, connected

        return gradient

    def straight_product(self, dtypes: tuple[str, ...]) -> StraightProduct | None:
        if self.create_graph or self.mode != "reverse":
            return None
        dtype, library = python_float(dtypes), self.libraries[0]

        def product(
            evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]],
            arrays: Sequence[Any],
            directions: Sequence[Any],
            taken: set[int],
        ) -> Sequence[Any] | None:
            if not _in_the_open():
                return None
            leaves = _leaves(library, arrays)
            tangents = [library.adopt(v, taken) for v in directions]

            def gradients(leaves: Sequence[Any]) -> Sequence[Any]:
                output, _ = evaluate(leaves)
                return backward((output,), leaves, create_graph=True) if output.requires_grad else ()

            first = _followed(gradients, leaves, dtype)
            live = [(g, v) for g, v in zip(first, tangents) if g is not None and g.requires_grad]
            found: Sequence[Any] = [None] * len(leaves)
            if live:
                found = backward([g for g, _ in live], leaves, [v for _, v in live])
            return _results(library, found, leaves, taken)

        return product

    def _recorded(self, function: FlatFunction, leaves: Arrays) -> tuple[bool, Arrays, Arrays, Arrays]:
        """Whether results stay in an outer graph; the inputs of the graph that f's evaluation made, its outputs and aux."""
        keep, held = self._keeps(leaves), function.held
        with _Recording():
            if function.fresh and not keep:
                inputs = tuple([_alias(x, keep) if x.is_inference() else x.requires_grad_() for x in leaves])
            elif held:
                inputs = tuple(
                    [leaf if i in held and not leaf.is_inference() else _alias(leaf, keep) for i, leaf in enumerate(leaves)]
                )
            else:
                inputs = tuple([_alias(leaf, keep) for leaf in leaves])
            outputs, aux = function(*inputs)
        return keep, inputs, outputs, aux

    def pullback(self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
        if _inside_functorch():
            return _functorch_pullback(function, leaves)
        keep, inputs, outputs, aux = self._recorded(function, leaves)
        connected = [output.requires_grad for output in outputs]

        def back(cotangents: Arrays) -> Arrays:
            graph = keep or (differentiable and nesting.depth > 0)
            gradients: Sequence[torch.Tensor | None] = [None] * len(inputs)
            if any(connected):
                with _mode(graph):
                    gradients = backward(
                        [output for output, live in zip(outputs, connected) if live],
                        inputs,
                        [_outside_inference(c) for c, live in zip(cotangents, connected) if live],
                        retain_graph=True,
                        create_graph=graph,
                    )
            return tuple(
                [torch.zeros_like(leaf) if gradient is None else gradient for gradient, leaf in zip(gradients, inputs)]
            )

        def back_stacked(cotangents: Arrays) -> Arrays:
            # Only the backward pass is batched, so f may do what vmap cannot. torch.func.vmap, because the vmap behind
            # `is_grads_batched` runs a loop for matrix products.
            stacks: Any = torch.func.vmap(lambda *c: back(c))(*cotangents)
            return tuple(stacks)

        if not keep:
            aux = tuple([array.detach() for array in aux])
        shown = outputs if keep else tuple([output.detach() for output in outputs])
        return Pullback(shown, aux, back, any(connected), None if self.chunk_size == 1 else back_stacked)

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        with _forward_mode, torch.inference_mode(False):
            leaves = tuple([_outside_inference(leaf) for leaf in leaves])
            tangents = tuple([_outside_inference(tangent) for tangent in tangents])
            pushed: Any = torch.func.jvp(function, leaves, tangents, has_aux=True)
        outputs, tangents, aux = [self._shown(part, leaves) for part in pushed]
        # torch's own are float64 where a number in a 0-d array meets a Python float.
        return Pushforward(outputs, tuple([t.to(x.dtype) for t, x in zip(tangents, outputs)]), aux)

    def _shown(self, results: Arrays, leaves: Arrays) -> Arrays:
        """Results of forward mode, which torch keeps in the graph of every leaf and captured tensor that requires grad."""
        if _inside_functorch() or self._keeps(leaves):
            return tuple(results)
        return tuple([result.detach() for result in results])

    def _keeps(self, leaves: Arrays) -> bool:
        return self.create_graph or (
            torch.is_grad_enabled() and (nesting.depth > 0 or any(leaf.grad_fn is not None for leaf in leaves))
        )

    def pushforward_stacked(self, function: FlatFunction, leaves: Arrays, stacks: Arrays) -> Pushforward:
        def push(*tangents: Any) -> Any:
            return tuple(self.pushforward(function, leaves, tangents))

        # Random numbers are the same for every tangent, as they must be.
        batched: Any = torch.func.vmap(push, out_dims=(None, 0, None), randomness="same")  # type: ignore[arg-type]
        with _forward_mode:
            pushed: Any = batched(*stacks)
        return Pushforward(*[self._shown(part, leaves) for part in pushed])

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        linear = super().linearize(function, leaves)
        linear = linear._replace(outputs=self._shown(linear.outputs, leaves), aux=self._shown(linear.aux, leaves))
        if self.chunk_size == 1:
            return linear
        return linear._replace(push_stacked=lambda stacks: self.pushforward_stacked(function, leaves, stacks).tangents)

    def note(self, error: Exception) -> str | None:
        message = str(error)
        if isinstance(error, RuntimeError) and "numpy()" in message and "grad" in message:
            return (
                "NumPy was called on a tensor that is being differentiated. Take the functions from the array: "
                "xp = adinterface.array_namespace(x), then xp.sin(x); or decorate f with adinterface.numpy_function."
            )
        if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
            return "torch.compile could not compile f, for AutoTorch(compile=True). AutoTorch() runs it as it is."
        if isinstance(error, RuntimeError) and "leaf Variable that requires grad" in message:
            return (
                "f writes into its own argument, which torch cannot differentiate. Write into a copy: x = x.clone(), "
                "then x[i] = value."
            )
        return None

    @classmethod
    def devices(cls) -> list[str]:
        return ["cpu", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]


def _in_the_open() -> bool:
    """Whether no outer call, no functorch and no mode of torch asks for more than f's own graph."""
    return not (nesting.depth or _inside_functorch() or not torch.is_grad_enabled() or torch.is_inference_mode_enabled())


def _followed(call: Callable[[Sequence[Any]], Any], leaves: Sequence[Any], dtype: torch.dtype) -> Any:
    """`call(leaves)` as calls of this package inside it, and Python floats, must see it; only `_in_the_open`."""
    before, current.dtype = current.dtype, dtype
    nesting.depth = 1
    try:
        return call(leaves)
    finally:
        nesting.depth, current.dtype = 0, before


def _leaves(library: TorchLibrary, arrays: Sequence[Any]) -> list[torch.Tensor]:
    """Tensors on the memory of plain arrays, each the leaf of a graph."""
    leaves = []
    for x in arrays:
        flags = x.flags
        leaf = tensor_on(x) if flags.c_contiguous and flags.writeable else library.asarray(x)
        leaves.append(leaf.requires_grad_())
    return leaves


def _results(library: TorchLibrary, found: Sequence[Any], leaves: Sequence[torch.Tensor], taken: set[int]) -> list[Any]:
    """Gradients as NumPy arrays that overlap neither each other nor the leaves."""
    taken.update([leaf.untyped_storage().data_ptr() for leaf in leaves])
    results = []
    for result, leaf in zip(found, leaves):
        if result is None:
            result = torch.zeros_like(leaf, memory_format=torch.contiguous_format)
        if is_plain(result) and (key := result.untyped_storage().data_ptr()) not in taken:
            taken.add(key)
        else:
            result = library.own(result, taken)
        results.append(result.numpy())
    return results


def _inside_functorch() -> bool:
    return torch._C._functorch.peek_interpreter_stack() is not None


class _Recording:
    """f runs with gradients on, whatever the caller's mode; results of calls inside f stay in the graph."""

    __slots__ = ("scopes",)

    def __enter__(self) -> None:
        nesting.depth += 1
        # The modes cost more than a small f, and are almost always what they should be.
        self.scopes: list[Any] = []
        if torch.is_inference_mode_enabled():
            self._enter(torch.inference_mode(False))
        if not torch.is_grad_enabled():
            self._enter(torch.enable_grad())

    def _enter(self, scope: Any) -> None:
        scope.__enter__()
        self.scopes.append(scope)

    def __exit__(self, *raised: object) -> None:
        nesting.depth -= 1
        for scope in reversed(self.scopes):
            scope.__exit__(*raised)


def _mode(graph: bool) -> AbstractContextManager[Any]:
    """Outside inference mode, and recording or not."""
    if torch.is_inference_mode_enabled():
        stack = ExitStack()
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.set_grad_enabled(graph))
        return stack
    return nullcontext() if torch.is_grad_enabled() or not graph else torch.enable_grad()


def _outside_inference(x: torch.Tensor) -> torch.Tensor:
    return x.clone() if x.is_inference() else x


def _alias(leaf: torch.Tensor, keep: bool) -> torch.Tensor:
    """Another tensor on the same memory: what f captured of the same array is not differentiated along with it."""
    if keep and leaf.requires_grad:
        return leaf.view_as(leaf)
    return _outside_inference(leaf).detach().requires_grad_()


def _functorch_pullback(function: FlatFunction, leaves: Arrays) -> Pullback:
    """Inside torch.func.grad, vmap, jvp: torch.autograd.grad refuses to run there."""
    with torch.enable_grad():
        pulled: Any = torch.func.vjp(function, *leaves, has_aux=True)
    outputs, transposed, aux = pulled

    def back(cotangents: Arrays) -> Arrays:
        gradients: Any = transposed(tuple(cotangents))
        return tuple(gradients)

    return Pullback(outputs, aux, back, back_stacked=lambda stacks: tuple(torch.func.vmap(lambda *c: back(c))(*stacks)))
