"""What an operator does, in three steps that `prepare` can keep apart: take the call apart, compute, give results form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from ..auto import AutoBackend
from ..backend import Arrays, Backend
from ..call import Call, Function, OutputKind
from ..order import carrier, first_order, second_order

#: What `compute` gives: tuples and lists of native arrays, with the engine's maps where the operator returns one.
Results = Any


class Operation(ABC):
    """One operator on one backend. Nothing in it depends on the arguments of a call."""

    name: ClassVar[str]
    output: ClassVar[OutputKind] = "tree"
    #: The results outlive the call with the leaves in them, so mutable leaves are copied.
    outlives: ClassVar[bool] = False

    def __init__(self, auto: AutoBackend):
        #: The backend whose arrays f receives.
        self.backend: Backend = first_order(auto)

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        """From the operator's arguments after the backend: those of f, and their tangents if there are any."""
        return args, None

    def check(self, call: Call) -> None:
        """Refuse arguments that the operator does not take."""
        return

    def tangents(self, call: Call, given: tuple[Any, ...] | None) -> Arrays:
        """The native tangents, one for each active leaf."""
        return ()

    @abstractmethod
    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        """All that the engine does. An engine that compiles, compiles this."""

    @abstractmethod
    def finish(self, call: Call, function: Function, results: Results) -> Any:
        """The user's results from those of `compute`."""


class SecondOrderOperation(Operation):
    """An operator of second derivatives: one backend outside, one inside."""

    output: ClassVar[OutputKind] = "scalar"

    def __init__(self, auto: AutoBackend):
        self.outer, self.inner = second_order(auto)
        self.backend = carrier(self.outer, self.inner)


def run(operation: Operation, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One call of an operator, from its arguments to its results."""
    args, given = operation.arguments(args)
    call = Call(operation.name, operation.backend, args, kwargs)
    operation.check(call)
    with call.precision():
        leaves = call.native(copy=operation.outlives)
        tangents = operation.tangents(call, given)
        function = call.function(f, operation.output)
        return operation.finish(call, function, operation.compute(function, leaves, tangents))
