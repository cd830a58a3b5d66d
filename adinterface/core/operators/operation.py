"""What an operator does, in steps that `prepare` can keep apart: plan the call, compute, give results form."""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from ..call.call import Call
from ..call.messages import describe, require_function
from ..call.output import Function, OutputKind, annotate, check_scalar
from ..call.plan import Plan, Plans, Road
from ..call.state import Changing, Followed, Unchanging, write
from ..contract.auto import AutoBackend, AutoSparse
from ..contract.backend import Arrays, Backend
from ..contract.record import active_record, estimating
from ..tree import Duplicated, store
from .second_order import carrier, first_order, second_order

#: What `compute` gives: tuples and lists of native arrays and `Aux`, with the engine's maps where the operator returns one.
Results = Any

#: All that the engine does of an operator: from the flat function, the native leaves and tangents to `Results`.
Compute = Callable[[Function, Arrays, Arrays], Results]

#: The same compiled: of the native leaves, what is carried along, and the tangents, one behind the other.
Compiled = Callable[..., Results]


#: What a result looks like: f's value; a tangent of it (None for a leaf without a derivative); a tuple with an entry like
#: each argument of f; like the first argument; that tuple for each leaf of the value; an argument of arguments; a function
#: from a cotangent of the value to such a tuple; a function from a tangent for each argument to one of the value.
PartForm = Literal["value", "tangent", "arguments", "argument", "jacobian", "hessian", "back", "push"]

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
    forms: ClassVar[tuple[PartForm, ...]]
    #: How many derivatives it takes.
    order: ClassVar[Literal[1, 2]] = 1
    #: Whether its second derivatives have a form by complex arguments: one that a gradient could have.
    of_complex: ClassVar[bool] = False
    takes: ClassVar[Takes] = "arguments"
    directions: ClassVar[Directions | None] = None
    #: The results outlive the call with the leaves in them, so mutable leaves are copied.
    outlives: ClassVar[bool] = False
    #: The operation that also gives all that f returns, for an f that changes its arguments; None refuses such.
    following: ClassVar[type[Operation] | None] = None
    #: How a call is planned, and what holds its values.
    plan_type: ClassVar[type[Plan]] = Plan
    call_type: ClassVar[type[Call]] = Call
    #: It takes one derivative in reverse, which an engine can compile f for.
    compiles_function: ClassVar[bool] = False
    #: An engine can compile it as a whole.
    compiles: ClassVar[bool] = True

    #: It writes the gradients of arguments in `Duplicated` into their buffers.
    stores: ClassVar[bool] = False

    def __init__(self, auto: AutoBackend):
        #: What it is made of again, for another backend.
        self.kind: Callable[[AutoBackend], Operation] = type(self)
        #: The backend whose arrays f receives.
        self.backend: Backend = self.carrier(auto)
        #: Some engine of this operator estimates its errors.
        self.estimates = self.backend.estimates
        #: There is something that it decides once.
        self.specializes = type(self).specialized is not Operation.specialized
        #: One-shot and prepared calls have their plans in common.
        self.plans = Plans(self._plan, functools.partial(road_of, self))

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.name

    def carrier(self, auto: AutoBackend) -> Backend:
        return first_order(auto)

    def _plan(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Plan:
        plan = self.plan_type(self.name, self.backend, args, kwargs, copy=self.outlives)
        if plan.duplicated and not self.stores:
            raise TypeError(
                f"{self.name}: Duplicated(...) has room for a gradient, which gradient and value_and_gradient store in it; "
                f"{self.name} has none. Pass the model itself."
            )
        if self.takes == "one number":
            plan.require_number()
        elif self.takes == "one argument":
            plan.require_one()
        if self.order == 2 and not self.of_complex:
            plan.require_real()
        return plan

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        """From the operator's arguments after the backend: those of f, and their tangents if there are any."""
        return args, None

    def tangents(self, call: Call, directions: tuple[Any, ...]) -> Arrays:
        """The native tangents, one for each active leaf."""
        return ()

    def specialized(self, call: Call, leaves: Arrays, function: Function) -> Operation:
        """This operation with what it decides once: for one call, or for a specialization of a prepared one."""
        return self

    @abstractmethod
    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        """All that the engine does."""

    def compile(self, compiled: Callable[[Compute], Compiled]) -> Compiled:
        """All that the engine does, as an engine that compiles has compiled it."""
        return compiled(self.compute)

    @abstractmethod
    def finish(self, call: Call, results: Results) -> Any:
        """The user's results from those of `compute`."""


class SecondOrderOperation(Operation):
    """An operator of second derivatives: one backend outside, one inside."""

    output: ClassVar[OutputKind] = "scalar"
    order = 2

    def __init__(self, auto: AutoBackend):
        super().__init__(auto)
        self.estimates = self.outer.estimates or self.inner.estimates

    def carrier(self, auto: AutoBackend) -> Backend:
        self.outer, self.inner = second_order(auto)
        return carrier(self.outer, self.inner)


@functools.lru_cache(maxsize=256)
def _operation(kind: Callable[[AutoBackend], Operation], auto: AutoBackend) -> Operation:
    if isinstance(auto, AutoSparse) and isinstance(kind, type):
        # Found when it is first asked for, as engines are: it stands above this file, and takes SciPy and a while to import.
        found: Operation = importlib.import_module(".sparse", __package__).sparse_operation(kind, auto)
        return found
    if getattr(auto, "executor", None) is not None:
        return importlib.import_module(".spread", __package__).spread_operation(kind, auto)  # type: ignore[no-any-return]
    return kind(auto)


def operation_of(kind: Callable[[AutoBackend], Operation], auto: AutoBackend) -> Operation:
    """The operation on a backend; one and the same for equal backends."""
    return _operation(kind, auto) if isinstance(auto, AutoBackend) else kind(auto)


#: The operation of each operator, by the operator.
OPERATIONS: dict[Any, type[Operation]] = {}


def require_operator(caller: str, operator: Any) -> type[Operation]:
    """The operation of an operator; raises TypeError, and says what to write, for what is none.

    caller: the tool that takes it, as it is called.
    """
    kind = _kind_of(operator)
    if kind is not None:
        return kind
    names = sorted(operation.name for operation in OPERATIONS.values())
    if isinstance(operator, str) and operator in names:
        remedy = f" Pass {operator} itself, without quotes."
    elif callable(operator) or isinstance(operator, str):
        remedy = ""
    else:
        remedy = f" It is passed itself, not called: {caller.replace('operator', 'gradient')}."
    seen = repr(operator) if callable(operator) or isinstance(operator, str) else describe(operator)
    raise TypeError(f"{caller}: operator must be one of {', '.join(names)}, not {seen}.{remedy}")


def require_call(caller: str, operator: Any, f: Any) -> None:
    """As `require_operator` for a tool that takes whatever is called as an operator is: it must be a function, and so must
    f, which is no operator unless the two were exchanged."""
    if not callable(operator) or _kind_of(f) is not None:
        require_operator(caller, operator)
    require_function(caller.partition("(")[0], f)


def _kind_of(operator: Any) -> type[Operation] | None:
    try:
        return OPERATIONS.get(operator)
    except TypeError:  # it cannot be hashed
        return None


def run(
    kind: Callable[[AutoBackend], Operation],
    auto: AutoBackend,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """One call of an operator, from its arguments to its results."""
    operation = _operation(kind, auto) if isinstance(auto, AutoBackend) else kind(auto)
    directions = None
    if operation.directions is not None:
        args, directions = operation.arguments(args)
    plan, values, _ = operation.plans.find(args, kwargs)
    if plan.writes:
        return _run_writing(operation, auto, f, args, kwargs, directions)
    return (plan.road or road_of(operation, plan))(values, directions, f)  # as `evaluate`, which takes a frame


def _run_writing(
    operation: Operation,
    auto: AutoBackend,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    directions: tuple[Any, ...] | None,
) -> Any:
    """As `run`, where what f changes, or a gradient, goes into something that was passed."""
    plan, values, _ = operation.plans.find(args, kwargs)
    require_apart(operation, args)
    if not plan.stateful:
        return stored(operation, evaluate(operation, plan, values, f, directions), args)
    following, wrapped, write = follow(operation, auto, f)
    if following is not operation:
        plan, values, _ = following.plans.find(args, kwargs)
    return stored(operation, write(evaluate(following, plan, values, wrapped, directions), args, kwargs), args)


def require_apart(operation: Operation, args: Sequence[Any]) -> None:
    """No two arguments have their buffers in common."""
    buffers = [id(arg) for arg in args if type(arg) is Duplicated]
    if len(set(buffers)) < len(buffers):
        raise TypeError(
            f"{operation.name}: two arguments are one and the same Duplicated, and there is room for one gradient in it. Wrap "
            f"each on its own."
        )


def stored(operation: Operation, result: Any, args: Sequence[Any]) -> Any:
    """The operator's result after each gradient of an argument in `Duplicated` has gone into its buffers."""
    if not any(type(arg) is Duplicated for arg in args):
        return result
    gradients = result if operation.result is None else result.gradient
    entries = tuple([store(arg, entry) if type(arg) is Duplicated else entry for arg, entry in zip(args, gradients)])
    return entries if operation.result is None else result._replace(gradient=entries)


#: From an operator's results, and the arguments of f, to what the user gets.
Write = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def follow(operation: Operation, auto: AutoBackend, f: Callable[..., Any]) -> tuple[Operation, Callable[..., Any], Write]:
    """The operation and the function that also find what f changes in its arguments, and what writes that into them."""
    if operation.following is None:
        return operation, Unchanging(f, operation.title), lambda result, args, kwargs: result
    following = operation_of(operation.following, auto)

    def written(results: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if operation.output == "tree":
            value, changes = results
            write(operation.title, changes, args, kwargs)
            return value
        (_, value, changes), *others = results
        write(operation.title, changes, args, kwargs)
        return others[0] if operation.result is None else operation.result(value, *others)

    if operation.output == "tree":
        return following, Changing(f, operation.title), written
    return following, Followed(f, operation.title, check_scalar), written


def evaluate(
    operation: Operation, plan: Plan, values: Sequence[Any], f: Callable[..., Any], directions: tuple[Any, ...] | None
) -> Any:
    """From the values of a call, and the directions that the operator takes, to its results."""
    return (plan.road or road_of(operation, plan))(values, directions, f)


def road_of(operation: Operation, plan: Plan, only: Callable[..., Any] | None = None) -> Road:
    """All that a call does behind its plan, in one function for all calls with the plan.

    only: the f of all these calls, if they have one.
    """
    call_type, entrance, enter_carried, scoping = operation.call_type, plan.entrance, plan.enter_carried, plan.scope
    compute, output = operation.compute, operation.output
    settled = not (operation.specializes or operation.estimates)
    known = Function(plan, only, (), output) if only is not None and enter_carried is None else None

    def road(values: Sequence[Any], directions: tuple[Any, ...] | None, f: Any = only) -> Any:
        record = active_record()
        if record is not None:
            record.calls.append((plan, values))
        try:
            with (None if scoping is None else scoping()) or _UNSCOPED:
                call = call_type(plan, values, f)
                leaves = call.native = entrance(values, call.taken)
                tangents = operation.tangents(call, directions) if directions is not None else ()
                carried = () if enter_carried is None else enter_carried(values, call.taken)
                function = known or Function(plan, f, carried, output)
                if settled:
                    return operation.finish(call, compute(function, leaves, tangents))
                return _unsettled(operation, call, function, tangents)
        except RuntimeError as error:  # the engine's own, of the arguments
            annotate(plan, error)
            raise

    return road


class _Unscoped:
    """No scope: as nullcontext, which is slower."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        pass


_UNSCOPED = _Unscoped()


def specialized(operation: Operation, plan: Plan, values: Sequence[Any], f: Callable[..., Any]) -> Operation:
    """The operation with what it decides once, by these values, for a specialization of a prepared call."""
    if not operation.specializes:
        return operation
    call = Call(plan, values, f)
    with call.scope():
        leaves = call.enter()
        function = Function(plan, f, call.enter_carried(), operation.output)
        return operation.specialized(call, leaves, function)


def _unsettled(operation: Operation, call: Call, function: Function, tangents: Arrays) -> Any:
    """The results of an operator that decides something by the values of the call, or hears how exact they are."""
    if operation.specializes:
        operation = operation.specialized(call, call.native, function)
    if not operation.estimates:
        return operation.finish(call, operation.compute(function, call.native, tangents))
    with estimating() as found:
        results = operation.compute(function, call.native, tangents)
    call.warn_imprecise(found)
    return operation.finish(call, results)
