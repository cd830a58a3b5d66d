"""State of Flax NNX modules that f changes: an auxiliary result of the call, written once.

f gets private objects around the engine's values. The state that f leaves in them (statistics,
counters of random streams) is written into the caller's objects after the call.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from adinterface import Constant, ConversionError
from adinterface.core.contract import NodeType
from adinterface.fit.for_engines import (
    check_scalar,
    flatten_tree,
    handler_of,
    is_stateful,
    scalar_and_rest,
)


class Stateful(NamedTuple):
    """One object that f can write to, at one moment."""

    path: str
    value: Any
    type: Any
    children: tuple[Any, ...]
    data: Any
    #: The whole content of a writable object, which f may also change inside a container.
    leaves: list[Any]


class Changes:
    """The call inside returns f's changes with f's value, where the operator writes them."""

    def __init__(self, operator: Any):
        self._operator: str = operator.title
        self._output: str = operator.output
        self._result: Any = operator.result
        #: The operator that returns changes, in place of the one that is called; None if none can.
        self._writing: Any = (operator.with_value or operator) if operator.writes else None

    def __call__(self, call: Any, evaluate: Callable[[Any], Any]) -> Any:
        args, kwargs = call.arguments
        call.f = self.tracking(call.f)
        if self._writing is None:
            return evaluate(call)
        results = evaluate(call.of(self._writing))
        if self._output == "tree":
            value, changes = results
            _write(self._operator, changes, args, kwargs)
            return value
        (_, value, changes), gradient = results
        _write(self._operator, changes, args, kwargs)
        return gradient if self._result is None else self._result(value, gradient)

    def tracking(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """f, which also returns its changes, or refuses them where the operator does not write."""
        return functools.partial(self._called, f)

    def _called(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """f's value and its changes by path, after the scalar where the operator takes one."""
        result, changes = self._changes(f, args, kwargs)
        if self._writing is None:
            if changes:
                raise ConversionError(
                    f"{self._operator}: f changes {next(iter(changes))}, which would be lost. Only"
                    " gradient and value_and_gradient write what f changes into the objects that"
                    " were passed, and so does Training; put the model into evaluation mode, or"
                    " return the state."
                )
            return result
        if self._output == "tree":
            return result, changes
        first = scalar_and_rest(result)[0] if self._operator == "value_and_gradient" else result
        check_scalar(self._operator, first, result)
        return first, result, changes

    def _changes(self, f: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        before = list(stateful(args, kwargs))
        result = f(*args, **kwargs)
        after = list(stateful(args, kwargs))
        changes: dict[str, Any] = {}
        for old, new in zip(before, after):
            if (
                old.path != new.path
                or old.data != new.data
                or len(old.children) != len(new.children)
            ):
                break
            if old.type.writable(old.value):
                if new.children[0] is not old.children[0] or [*map(id, new.leaves)] != [
                    *map(id, old.leaves)
                ]:
                    changes[old.path] = new.children[0]
                continue
            for n, (was, now) in enumerate(zip(old.children, new.children)):
                if was is not now and not isinstance(handler_of(was, scan=False), NodeType):
                    path = old.path + old.type.paths(old.data, len(old.children))[n]
                    raise ConversionError(
                        f"{self._operator}: f changes {path}, which is kept without a variable"
                        " around it and would be lost. Keep it in a variable."
                    )
        else:
            if len(before) == len(after):
                return result, changes
        raise ConversionError(
            f"{self._operator}: f changes the structure of {old.path if before else 'an argument'},"
            " its attributes or its variables, not only their values, which would be lost. Make"
            " them all before the model is differentiated, and set what is no array outside of f."
        )


def _write(
    operator: str, changes: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Write f's changes into the arguments."""
    if not changes:
        return
    targets = {place.path: place for place in stateful(args, kwargs)}
    counts = Counter([id(place.value) for place in targets.values()])
    for path in changes:
        if counts[id(targets[path].value)] > 1:
            raise ConversionError(
                f"{operator}: f changes {path}, which is one object with another place of the"
                " arguments, so that each would be changed alone. Give each place a variable of"
                " its own."
            )
    for path, value in changes.items():
        place = targets[path]
        place.type.write(place.value, value)


def stateful(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Stateful]:
    """Every object in the arguments that f can write to, in order."""
    for i, arg in enumerate(args):
        yield from _stateful(arg, f"args[{i}]")
    for name, arg in kwargs.items():
        yield from _stateful(arg, name)


def _stateful(value: Any, path: str) -> Iterator[Stateful]:
    if type(value) is Constant:
        value = value.value
    handler = handler_of(value, scan=False)
    if not isinstance(handler, NodeType) or handler.is_owner:
        return
    children, data = handler.flatten(value)
    children = tuple([child.value if type(child) is Constant else child for child in children])
    if is_stateful(handler):
        leaves = flatten_tree(Constant(children[0]))[1] if handler.writable(value) else []  # type: ignore[attr-defined]
        yield Stateful(path, value, handler, children, data, [leaf.value for leaf in leaves])
    for child, key in zip(children, handler.paths(data, len(children))):
        yield from _stateful(child, path + key)
