"""Tensors that a rule captures: an error if they are differentiated, since a rule gives no derivative by them.

torch does not check this. Below a level of functorch it treats such a tensor as a constant, or fails an assertion. It also
records captured tensors in the derivative of a rule. Then one half of a second derivative has a term that the other half lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from adinterface.core.contract.rules import Arrays, FlatRule, Point

from .ambient import here
from .backward import detached
from .dtypes import is_inexact
from .nested_forward import dual, is_followed
from .private import (
    in_dual_level,
    is_gradtracking,
    level_of,
    peek,
    set_forward_enabled,
    set_grad_enabled,
    temporarily_clear_interpreter_stack,
    temporarily_restore_interpreter_stack,
    tree_leaves,
    tree_map_only,
    unwrapped,
)
from .unrecorded import nodes_behind

#: From tangents, or cotangents, at a point.
Map = Callable[[Arrays, Point], Arrays]


class Called:
    """A rule and the levels at which it was called. inside: whether there are any, of forward mode or functorch."""

    __slots__ = ("captures", "inside", "rule", "stack")

    def __init__(self, rule: FlatRule, inside: bool):
        self.rule, self.inside, self.captures = rule, inside, False
        if inside:
            with temporarily_clear_interpreter_stack() as stack:
                self.stack = stack


def primal(called: Called, arrays: Arrays, count: int) -> tuple[Arrays, Arrays]:
    """The value of a rule below the levels of its call; an error if it captures a tensor that they differentiate."""
    if not called.inside:
        return called.rule.value(arrays[:count], arrays[count:])
    before, here.called = here.called, called
    try:
        with _naming_captured(called.rule):
            result: tuple[Arrays, Arrays] = below(called.rule.value)(arrays[:count], arrays[count:])
    finally:
        here.called = before
        if called.captures:  # also if the primal has failed, for the same reason
            raise called.rule.captured()
    return result


def below(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that belongs to the primal which is running, as torch does not take the mode along into all that it calls."""
    called: Called | None = here.called
    if called is None:
        return function

    def watched(*arrays: Any) -> Any:
        with _BelowLevels(called):
            return function(*arrays)

    return watched


#: What NumPy calls of a tensor, which refuses one that is recorded.
_TO_NUMPY: Any = (torch.Tensor.__array__, torch.Tensor.numpy, torch.Tensor.__dlpack__)


class _BelowLevels(TorchFunctionMode):
    """Records that a primal uses a differentiated tensor, which torch treats as a constant.

    A derivative inside the primal has levels with the same numbers. Their tensors end with them, so the tensors are checked
    after it.
    """

    def __init__(self, called: Called):
        super().__init__()
        self.called, self.level = called, _present_level()
        #: Tensors of levels above, in a derivative inside the primal: its own, or captured.
        self.undecided: WeakTensorKeyDictionary = WeakTensorKeyDictionary()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        if any(level_of(x) > 0 and self._is_followed(x) for x in self.undecided):
            self.called.captures = True

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        level = _present_level()
        tensors = [*tensors_in(args), *tensors_in(kwargs.values())]
        above = [x for x in tensors if _is_above(x, level)]
        undecided = [x for x in tensors if self.level < level_of(x) <= level]
        if above:
            args, kwargs = tree_map_only(torch.Tensor, lambda x: _constant(x, level), (args, kwargs))
        result = func(*args, **kwargs)
        if (above or undecided) and _is_moved(func, result):
            if any(map(self._is_followed, above)):
                self.called.captures = True  # an error here would be lost: torch treats it as an unsupported operand
            for x in undecided:
                self.undecided.update(dict.fromkeys(_recorded(x)))
        return result

    def _is_followed(self, x: torch.Tensor) -> bool:
        if not is_inexact(x):
            return False
        levels = temporarily_restore_interpreter_stack(self.called.stack)
        with temporarily_clear_interpreter_stack(), levels, set_forward_enabled(True):
            return is_followed(x)


def tensors_in(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """The tensors of a call; most are arguments themselves, which is far faster to check than to flatten trees."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list, dict)):
            yield from tensors_in(tree_leaves(value))


def _present_level() -> int:
    present: Any = peek()
    return 0 if present is None else present.level()


def _is_above(x: torch.Tensor, level: int) -> bool:
    if level_of(x) > level:
        return True
    if not in_dual_level() or peek() is not None:
        return False
    with set_forward_enabled(True):
        return dual(x)[1] is not None


def _constant(x: torch.Tensor, level: int) -> torch.Tensor:
    while level_of(x) > level:
        x = unwrapped(x)
    return x


def _recorded(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensor and those inside it, for levels of derivatives: other tensors outlive their level."""
    while level_of(x) > 0:
        if is_gradtracking(x):
            yield x
        x = unwrapped(x)


def _is_moved(func: Any, found: Any) -> bool:
    """Whether a derivative of the operands may be one of what torch found."""
    if func is torch.Tensor.detach:
        return False
    return found is None or func in _TO_NUMPY or any(map(is_inexact, tensors_in((found,))))


class _Made(TorchFunctionMode):
    """Leaves of graphs that are made meanwhile, as a derivative inside a rule's own derivative makes them.

    torch suspends a mode while `torch.autograd.grad` runs. So the leaves of a rule in that pass are handed on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.leaves: list[torch.Tensor] = []

    def __enter__(self) -> Self:
        self.around, here.made = here.made, self.leaves
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        here.made = self.around
        if self.around is not None:
            self.around.extend(self.leaves)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.is_leaf and result.requires_grad:
            if func is torch.Tensor.requires_grad_ or all(result is not x for x in args):
                self.leaves.append(_constant(result, 0))  # the batch that it may be in ends before it is looked at
        elif func is _SET and args[1]:
            self.leaves.append(_constant(args[0], 0))
        return result


_SET: Any = torch.Tensor.requires_grad.__set__  # type: ignore[attr-defined]


def derived(rule: FlatRule, derivative: Map, moved: Arrays, point: Point) -> Arrays:
    """The result of a rule's derivative; an error if it depends on a differentiated tensor outside of the point."""
    if peek() is None:
        if not torch.is_grad_enabled():
            return _of_numbers(rule, derivative, moved, point)
        with _Made() as made:
            result = derivative(moved, point)
        known = (*moved, *point.leaves, *point.carried, *point.outputs, *made.leaves)
        for node in nodes_behind(result, known):
            if all(behind[0] is None for behind in node.next_functions):  # the graph has another end
                raise rule.captured()
        return result
    with _naming_captured(rule):
        result = derivative(moved, point)
    if any(map(is_followed, result)):
        # Without a graph, a tensor that is traced although the point is not was captured.
        apart = derivative(detached(moved), Point(*map(detached, point)))
        if any(map(is_followed, apart)):
            raise rule.captured()
    return result


def _of_numbers(rule: FlatRule, derivative: Map, moved: Arrays, point: Point) -> Arrays:
    """The derivative in a pass that is not recorded. What its result then depends on was captured."""
    moved, apart = detached(moved), Point(*map(detached, point))
    set_grad_enabled(True)
    try:
        result = derivative(moved, apart)
    finally:
        set_grad_enabled(False)
    for x in result:
        if x.requires_grad or (in_dual_level() and is_followed(x)):
            raise rule.captured()
    return result


@contextmanager
def _naming_captured(rule: FlatRule) -> Iterator[None]:
    """The error for a captured tensor, where functorch asserts that no tensor belongs to a level that has ended."""
    try:
        yield
    except RuntimeError as error:
        if "INTERNAL ASSERT FAILED" in str(error) and "functorch" in str(error):
            raise rule.captured() from error
        raise
