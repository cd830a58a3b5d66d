"""What an operator does, in three steps that `prepare` can keep apart: take the call apart, compute, give results form."""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

from ..call.call import Call
from ..call.output import Function, OutputKind
from ..call.plan import Plan
from ..call.signature import Signature
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Backend
from ..contract.errors import AdinterfaceError
from ..contract.nodes import Unkeyed
from .second_order import carrier, first_order, second_order

#: What `compute` gives: tuples and lists of native arrays, with the engine's maps where the operator returns one.
Results = Any

#: From f, the values of its arguments and the tangents given to an operator's results; None, before f is called, if it
#: cannot be used now.
Straight = Callable[[Callable[..., Any], Sequence[Any], Any], Any]


#: What a result looks like: f's value; a tangent of it (None for a leaf without a derivative); a tuple with an entry like
#: each argument of f; like the first argument; that tuple for each leaf of the value; an argument of arguments; a function
#: from a cotangent of the value to such a tuple; a function from a tangent for each argument to one of the value.
Form = Literal["value", "tangent", "arguments", "argument", "jacobian", "hessian", "back", "push"]

#: With respect to what an operator differentiates: every argument of f that is no Constant, the first alone, or the first,
#: which is one real number.
Takes = Literal["arguments", "one argument", "one number"]

#: Where an operator takes directions: as its second argument, along the first; or as the second of two tuples, of which
#: the first holds the arguments of f.
Directions = Literal["second argument", "second tuple"]


class Operation(ABC):
    """One operator on one backend. Nothing in it depends on the arguments of a call.

    Its class attributes are what anybody may know of the operator: `prepare`, the tools, the conformance kit and the
    benchmark read them here (see `facts`), so that a new operator is known to all of them once it stands in OPERATIONS.
    """

    name: ClassVar[str]
    output: ClassVar[OutputKind] = "tree"
    #: The named tuple of its results; None for a single one, which is called as the operator is.
    result: ClassVar[type[tuple[Any, ...]] | None] = None
    #: What each result looks like.
    forms: ClassVar[tuple[Form, ...]]
    #: How many derivatives it takes.
    order: ClassVar[Literal[1, 2]] = 1
    takes: ClassVar[Takes] = "arguments"
    directions: ClassVar[Directions | None] = None
    #: The results outlive the call with the leaves in them, so mutable leaves are copied.
    outlives: ClassVar[bool] = False

    #: It takes one derivative in reverse, which an engine can compile f for.
    compiles_function: ClassVar[bool] = False

    #: How many plans are kept; the one that was used last the longest ago goes first.
    bound: ClassVar[int] = 128

    def __init__(self, auto: AutoBackend):
        #: The backend whose arrays f receives.
        self.backend: Backend = self.carrier(auto)
        self.plans: dict[Any, Plan] = {}
        #: The plan that served last: most often the next call is like it.
        self.last: Plan | None = None
        self.lock = threading.Lock()

    def carrier(self, auto: AutoBackend) -> Backend:
        return first_order(auto)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The arguments of f taken apart, by a plan that is made once for each signature."""
        last = self.last  # once, for another thread may set it
        if last is not None and last.recognize is not None:
            values = last.recognize(args, kwargs)
            if values is not None:
                return Call.of(last, values, args, kwargs)
        try:
            signature = Signature(args, kwargs)
        except (Unkeyed, AdinterfaceError):
            call = Call(self.name, self.backend, args, kwargs)  # which raises it with the path
            self.check(call)
            return call
        with self.lock:
            plan = self.plans.pop(signature.key, None)
            if plan is not None:
                self.plans[signature.key] = plan  # at the end, as the one that was used last
        if plan is not None:
            self.last = plan
            return Call.of(plan, signature.values, args, kwargs)
        call = Call(self.name, self.backend, args, kwargs)
        self.check(call)
        self.keep(signature.key, call.plan)
        return call

    def keep(self, key: Any, plan: Plan) -> None:
        plan.keep()
        if plan.plain:
            plan.straight = self.straight(plan)
        with self.lock:
            while len(self.plans) >= self.bound:
                del self.plans[next(iter(self.plans))]
            self.plans[key] = plan
        self.last = plan

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        """From the operator's arguments after the backend: those of f, and their tangents if there are any."""
        return args, None

    def check(self, call: Call) -> None:
        """Refuse arguments that the operator does not take."""
        return

    def tangents(self, call: Call, given: tuple[Any, ...] | None) -> Arrays:
        """The native tangents, one for each active leaf."""
        return ()

    def straight(self, plan: Plan) -> Straight | None:
        """The three steps in one, for a plan whose leaves are plain; None if there is no such way."""
        return None

    @abstractmethod
    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        """All that the engine does. An engine that compiles, compiles this."""

    @abstractmethod
    def finish(self, call: Call, function: Function, results: Results) -> Any:
        """The user's results from those of `compute`."""


class SecondOrderOperation(Operation):
    """An operator of second derivatives: one backend outside, one inside."""

    output: ClassVar[OutputKind] = "scalar"
    order = 2

    def carrier(self, auto: AutoBackend) -> Backend:
        self.outer, self.inner = second_order(auto)
        return carrier(self.outer, self.inner)


@functools.lru_cache(maxsize=256)
def _operation(kind: type[Operation], auto: AutoBackend) -> Operation:
    return kind(auto)


def operation_of(kind: type[Operation], auto: AutoBackend) -> Operation:
    """The operation on a backend; one and the same for equal backends."""
    return _operation(kind, auto) if isinstance(auto, AutoBackend) else kind(auto)


#: The operation of each operator, by the operator.
OPERATIONS: dict[Any, type[Operation]] = {}


def run(kind: type[Operation], auto: AutoBackend, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One call of an operator, from its arguments to its results."""
    operation = operation_of(kind, auto)
    args, given = operation.arguments(args)
    call = operation.call(args, kwargs)
    if call.plan.straight is not None:
        results = call.plan.straight(f, call.values, given)
        if results is not None:
            return results
    return evaluate(operation, call, f, given)


def evaluate(operation: Operation, call: Call, f: Callable[..., Any], given: tuple[Any, ...] | None) -> Any:
    """From a call to the results of its operator."""
    with call.precision():
        leaves = call.native(copy=operation.outlives)
        tangents = operation.tangents(call, given)
        function = Function(call, f, operation.output)
        return operation.finish(call, function, operation.compute(function, leaves, tangents))
