"""What an operator is: how its calls are planned, what the engine computes, and how results get their form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from ..call.call import Call
from ..call.output import Function, OutputKind
from ..call.plan import Plan, Plans
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Aux, Backend
from ..tree import build_gradient
from .dense import warn_if_wasteful
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
        #: It gives f's value, and something of which f's value tells the structure.
        self.gives_value = "value" in self.forms
        self.needs_aux = not {"value", "tangent", "jacobian"}.isdisjoint(self.forms)
        #: One-shot and prepared calls have their plans in common.
        self.plans = Plans(self._plan)

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

    def parts(self, outputs: Arrays, aux: Aux, *parts: Any) -> Results:
        """What `finish` takes, with no more than it needs: compiled code need not return the rest."""
        if not self.needs_aux:
            return parts
        return (outputs, aux, *parts) if self.gives_value else ((), Aux((), aux.form), *parts)

    def finish(self, call: Call, results: Results) -> Any:
        """The user's results from those of `compute`, which are by default what `parts` gives: a part for each form but the
        value."""
        outputs, aux, *parts = results if self.needs_aux else ((), None, *results)
        forms = [form for form in self.forms if form != "value"]
        made = [self._made(form, call, aux, part) for form, part in zip(forms, parts, strict=True)]
        if self.gives_value:
            made.insert(0, aux.form.assemble(outputs, aux.arrays, call.present))
        return made[0] if self.result is None else self.result(*made)

    def _made(self, form: PartForm, call: Call, aux: Any, part: Any) -> Any:
        if form == "tangent":
            return call.tangent(aux.form.structure, part)
        if form == "jacobian":
            warn_if_wasteful(self.name, part)
            return build_gradient(aux.form.structure, iter([call.blocks(row) for row in part]))
        if form == "hessian":
            warn_if_wasteful(self.name, part, "Hessian")
            return call.square(part)
        gradients = call.gradients(part)
        return gradients if form == "arguments" else gradients[0]


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
