"""torch's part in loops: slices at once, and segments that are computed again in the backward pass.

Python's loop does the rest. `torch.utils.checkpoint` is not used: it saves by hooks, which torch refuses inside `torch.func`,
where batched backward passes run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from adinterface import BackendError
from adinterface.core.contract import Arrays, Loops

from .backward import backward
from .dtypes import is_inexact
from .nested_forward import is_forward, writes
from .private import in_dual_level, is_wrapped, peek, temporarily_clear_interpreter_stack, tree_leaves, unwrapped
from .reaching import nodes_behind
from .recording import Recording


class TorchLoops(Loops):
    def slices(self, x: Any) -> Sequence[Any]:
        """By one node in the graph, where x[n] would be as many as there are slices.

        Copies, so that a step may write into its slice after an earlier one has used its own. torch has no rule for these in
        forward mode, which does not need them.
        """
        views = type(x) is not torch.Tensor or torch.compiler.is_compiling() or is_forward() or in_dual_level()
        if views:
            return tuple(x.unbind(0))
        if peek() is not None:  # torch 2.11 cannot batch `unbind_copy`
            return tuple([each.clone() for each in x.unbind(0)])
        return tuple(_unbind_copy(x))

    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        if not torch.is_grad_enabled() or peek() is not None or in_dual_level() or torch.compiler.is_compiling():
            return function(*arrays)
        kinds = filter(torch.amp.is_autocast_available, {"cpu", *(array.device.type for array in arrays)})
        casts = [(kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)) for kind in kinds]
        draws = torch.get_rng_state()

        def repeated(*again: Any) -> Arrays:
            with torch.random.fork_rng(devices=[]):
                torch.set_rng_state(draws)
                return function(*again)

        detached = [array.detach() for array in arrays]  # before: what is found is what the function closes over
        with torch.no_grad(), _Finding() as finding:
            results = function(*detached)
        if any(id(array) in finding.before for array in detached):
            raise BackendError(
                "checkpoint: the function writes into its argument, with which it is evaluated again. Write into a copy, such "
                "as x + 0.0, or leave checkpoint out."
            )
        finding.note(results)
        captured = tuple(finding.captured.values())
        # A segment inside a segment that is computed again reaches what it closes over through that one's stand-ins.
        inputs = (*arrays, *[tensor.view_as(tensor) for tensor in captured])
        if not any(tensor.requires_grad for tensor in inputs):
            return results
        again: Arrays = _Again.apply(repeated, casts, results, (captured, finding), *inputs)  # type: ignore[no-untyped-call]
        return again


_unbind_copy: Any = torch.unbind_copy
#: The functions that write their second and third argument, a mean and a variance, by the name under which torch has them.
_WITH_STATISTICS = ("batch_norm", "instance_norm")
#: The attribute of a copy that holds the tensor that it replaces, in an evaluation inside one that is repeated.
_OWN = "_adinterface_own"


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """The tensors of a call; most are arguments themselves, which is far faster to check than to flatten trees."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list, dict)):
            yield from tensors_in(tree_leaves(value))


class _Finding(TorchFunctionMode):
    """Finds the tensors that a function closes over, and those that it writes into and did not make.

    Nothing is recorded, but for derivatives inside the function, whose tensors it makes. So it closes over each tensor that
    requires gradients and that it did not make. Existing tensors that it writes into, such as the statistics of a BatchNorm,
    are written once: its second evaluation writes into copies of what the first one found.
    """

    def __init__(self) -> None:
        super().__init__()
        #: The tensors that the function closes over, by identity.
        self.captured: dict[int, torch.Tensor] = {}
        #: The existing tensors that it writes into, each with a copy of what it was before.
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._made: dict[int, weakref.ref[torch.Tensor]] = {}

    def note(self, values: Iterable[Any]) -> None:
        for tensor in tensors_in(values):
            while is_wrapped(tensor):  # by a transformation inside the function, which has ended when the tensor is needed
                tensor = unwrapped(tensor)
            if tensor.requires_grad and not self._has_made(tensor):
                self.captured[id(tensor)] = tensor

    def _has_made(self, tensor: torch.Tensor) -> bool:
        made = self._made.get(id(tensor))
        return made is not None and made() is tensor

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self.note((*args, *kwargs.values()))
        for tensor in tensors_in(_written(function, args, kwargs)):
            self._note_written(tensor)
        result = function(*args, **kwargs)
        for tensor in tensors_in((result,)):
            if all(tensor is not x for x in args):
                self._made[id(tensor)] = weakref.ref(tensor)
        return result

    def _note_written(self, tensor: torch.Tensor) -> None:
        whole = tensor if tensor._base is None else tensor._base
        if not self._has_made(whole):
            own = getattr(whole, _OWN, whole)
            if id(own) not in self.before:
                self.before[id(own)] = own, whole.detach().clone()

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]
        self._made.clear()

    def scratch(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """The tensors that were written into, each with a new copy of what it was before, to be written into instead."""
        pairs = [(tensor, before.clone()) for tensor, before in self.before.values()]
        for tensor, copy in pairs:
            setattr(copy, _OWN, tensor)
        return pairs


def _written(function: Any, args: Any, kwargs: Any) -> Sequence[Any]:
    """The arguments that a function of torch writes into."""
    name = getattr(function, "__name__", "")
    if name in _WITH_STATISTICS:
        return *args[1:3], kwargs.get("running_mean"), kwargs.get("running_var")
    if name == "__setitem__" or writes(name):
        return args[:1]  # type: ignore[no-any-return]
    return (kwargs.get("out"),)


class _StandingIn(TorchFunctionMode):
    """Replaces the tensors that a function captures by others. leaves: those that a derivative inside the function makes."""

    def __init__(self, pairs: Iterable[tuple[torch.Tensor, torch.Tensor]]):
        super().__init__()
        self.leaves: list[torch.Tensor] = []
        self._others = {id(tensor): other for tensor, other in pairs}

    def of(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._others.get(id(value), value)
        if type(value) in (tuple, list):
            return type(value)([self.of(part) for part in value])
        return value

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args = [self.of(value) for value in args]
        result = function(*args, **{name: self.of(value) for name, value in kwargs.items()}) if kwargs else function(*args)
        leaf = isinstance(result, torch.Tensor) and result.requires_grad and result.is_leaf
        if leaf and not (result._is_view() or is_wrapped(result)):  # else not recorded, or in a level of functorch
            self.leaves.append(result)
        return result


class _Again(torch.autograd.Function):
    """A function that is evaluated once more when its derivative is asked for."""

    @staticmethod
    def forward(ctx: Any, function: Any, casts: Any, results: Any, closed: Any, *inputs: torch.Tensor) -> Any:
        ctx.function, ctx.casts, (ctx.captured, ctx.writes) = function, casts, closed
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[r for r in results if not is_inexact(r)])
        return tuple([result.view_as(result) if result.requires_grad else result for result in results])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        inputs = ctx.saved_tensors
        graph, wanted = torch.is_grad_enabled(), [tensor.requires_grad for tensor in inputs]
        with ExitStack() as stack:
            if not any(map(is_wrapped, inputs)):  # a batched backward pass has batches of cotangents only
                stack.enter_context(temporarily_clear_interpreter_stack())
            for cast in ctx.casts:
                stack.enter_context(torch.autocast(*cast))
            stack.enter_context(torch.enable_grad())
            # The way back ends at these; one of the inputs may have been made of another.
            ends = tuple([tensor.view_as(tensor) if live else tensor for tensor, live in zip(inputs, wanted)])
            count = len(inputs) - len(ctx.captured)
            stack.enter_context(Recording(ends))  # results of calls inside the function stay in the graph
            with _StandingIn([*ctx.writes.scratch(), *zip(ctx.captured, ends[count:])]) as standing_in:
                results = [standing_in.of(result) for result in ctx.function(*ends[:count])]
        _require_ends(results, (*ends, *standing_in.leaves))
        pairs = [(r, c) for r, c in zip(results, cotangents) if c is not None and r.requires_grad]
        sources = [tensor for tensor, live in zip(ends, wanted) if live]
        computed: Sequence[Any] = [None] * len(sources)
        if pairs:
            outputs, seeds = zip(*pairs)
            computed = backward(outputs, sources, seeds, create_graph=graph)
        gradients = iter(computed)
        return (None, None, None, None, *[next(gradients) if live else None for live in wanted])


def _require_ends(results: Iterable[torch.Tensor], ends: Arrays) -> None:
    """Raise BackendError if there is a way back to a leaf that does not go through one of the ends: it would be left out."""
    if any(hasattr(node, "variable") for node in nodes_behind(results, ends)):
        raise BackendError(
            "checkpoint: a torch.autograd.Function is applied to a tensor that the checkpointed function, or the loop, closes "
            "over. Its gradient would be lost where that is computed again. Pass the tensor as an argument, in the carry or in "
            "xs; apply something else to it first (w * 1.0); or leave checkpoint out."
        )
