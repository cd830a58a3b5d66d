"""Operations: how the calls of an operator are planned, what the engine computes, and how results are presented."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from ..call.call import Call
from ..call.conversions import with_conversions
from ..call.output import OutputKind
from ..call.plan import Plan, lay_out
from ..contract.auto import AutoBackend, SecondOrder
from ..contract.backend import Arrays, Aux, Backend
from ..contract.cache import Cache
from ..contract.errors import AdinterfaceError
from ..contract.registry import function_of_extension
from ..contract.static_values import Unkeyed
from ..tree import DIFFERENTIATED, Signature, build_gradient
from .requirements import require_leaves, require_number, require_one, require_real
from .second_order import first_order, second_order

#: The result of `compute`: tuples and lists of native arrays and `Aux`, with the engine's maps if the operator returns one.
Results = Any

#: What the engine computes for an operator: from the flat function, the native leaves and tangents to `Results`.
Compute = Callable[[Call, Arrays, Arrays], Results]

#: The compiled `Compute`: takes the native leaves, the carried values and the tangents, concatenated.
Compiled = Callable[..., Results]


#: A dense Jacobian or Hessian with more entries is large.
LARGE = 10**7

#: What a field of a result is. "value": what f returned. "tangent": a tree like the value, None for a leaf without derivative.
#: "arguments": a tuple with a tree like each argument. "argument": a tree like the first. "jacobian": a tree like the value, of
#: such tuples. "hessian": a tree of trees, both like the first argument. "back": a map from a cotangent of the value to
#: "arguments". "push": a map from a tangent of each argument to "tangent".
FieldForm = Literal["value", "tangent", "arguments", "argument", "jacobian", "hessian", "back", "push"]

#: The arguments that an operator differentiates: each argument of f that is not a Constant; the first alone; or the first,
#: which must be one real number.
Takes = Literal["arguments", "one argument", "one number"]

#: Where an operator takes directions: as its second argument, for the first; or as the second of two tuples, whose first holds
#: the arguments of f.
Directions = Literal["second argument", "second tuple"]

#: The forms of the results of an operator, and the class of its results, None for a single one.
Forms = tuple[FieldForm, ...]
ResultType = type[tuple[Any, ...]] | None


class Operation(ABC):
    """One operator on one backend, independent of the arguments of a call.

    Its class attributes describe the operator. `prepare`, the tools, the conformance kit and the benchmark read them (see
    `tools.facts`). So an entry in OPERATIONS makes a new operator known to all of them.
    """

    name: ClassVar[str]
    output: ClassVar[OutputKind] = "tree"
    result: ClassVar[ResultType] = None
    forms: ClassVar[Forms]
    order: ClassVar[Literal[1, 2]] = 1
    #: Whether its second derivatives are defined for complex arguments.
    of_complex: ClassVar[bool] = False
    takes: ClassVar[Takes] = "arguments"
    directions: ClassVar[Directions | None] = None
    #: Whether its results keep the leaves after the call, so that mutable leaves are copied.
    outlives: ClassVar[bool] = False
    #: The operation that also returns f's value, for an f that changes its arguments; None: such an f is refused.
    following: ClassVar[type[Operation] | None] = None
    call_type: ClassVar[type[Call]] = Call
    #: Whether it is a first-order reverse derivative, which an engine can compile.
    compiles_function: ClassVar[bool] = False
    #: Whether an engine can compile it in one piece.
    compiles: ClassVar[bool] = True
    #: Whether it writes the gradients of `Duplicated` arguments into their buffers.
    stores: ClassVar[bool] = False

    def __init__(self, auto: AutoBackend):
        self.kind: Callable[[AutoBackend], Operation] = type(self)
        #: The backend whose arrays f receives.
        self.backend: Backend = self.computing_backend(auto)
        #: Whether an engine of this operator estimates its errors.
        self.estimates: bool = self.backend.estimates
        #: Whether something is decided once for each specialization.
        self.specializes: bool = type(self).specialized is not Operation.specialized
        self.gives_value: bool = "value" in self.forms
        self._parts: tuple[FieldForm, ...] = tuple([form for form in self.forms if form != "value"])
        #: Whether a result has the structure of f's value.
        self.needs_aux: bool = not {"value", "tangent", "jacobian"}.isdisjoint(self.forms)
        #: The plans that one-shot and prepared calls share.
        self._plans: Cache[Plan] = Cache(128)

    @property
    def title(self) -> str:
        """The operator's name in messages."""
        return self.name

    def computing_backend(self, auto: AutoBackend) -> Backend:
        return first_order(auto)

    @property
    def backends(self) -> tuple[Backend, ...]:
        """All backends whose options hold for a call."""
        return (self.backend,)

    def find_plan(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Plan, Sequence[Any], Signature | None]:
        """The plan for such arguments, their values, and their signature; without a signature (None) nothing is cached."""
        try:
            signature = Signature(args, kwargs)
        except (Unkeyed, AdinterfaceError, RecursionError):
            return *self._plan(args, kwargs), None  # which raises the error, with its path
        known = self._plans.get(signature.key)
        if known is None:
            known = self._plan(args, kwargs)[0]
            self._plans.add(signature.key, known)
        return known, signature.values, signature

    def _plan(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Plan, Sequence[Any]]:
        plan, values = lay_out(self.name, self.backend, args, kwargs)
        require_leaves(self.name, plan, values)
        plan = replace(plan, marks=self.marks(plan, values))
        wrappings = [each for node_type in plan.node_types() if (each := node_type.wrapping(self, plan)) is not None]
        if self.takes != "arguments":
            require_one(self.name, plan)
        if self.takes == "one number":
            require_number(self.name, plan, self.shape(plan, values))
        elif self.order == 2 and not self.of_complex:
            require_real(self.name, plan)
        copy, backends = self.outlives, self.backends
        return with_conversions(plan, values, copy=copy, backends=backends, wrappings=wrappings), values

    def marks(self, plan: Plan, values: Sequence[Any]) -> Any:
        """What markers such as `Each` say of the slots; None without markers. Constants are in the plan already."""
        return None

    def shape(self, plan: Plan, values: Sequence[Any]) -> tuple[int, ...]:
        """The shape of the first differentiated leaf, as f gets it."""
        n = plan.active[0]
        library: Any = plan.slots[n].library
        shape: tuple[int, ...] = library.shape(values[n])
        return shape

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        """The arguments of f, and their tangents if there are any, from the operator's arguments after the backend."""
        return args, None

    def tangents(self, call: Call, directions: tuple[Any, ...]) -> Arrays:
        """The native tangents, one for each active leaf."""
        return ()

    def specialized(self, call: Call, leaves: Arrays) -> Operation:
        """This operation with what is decided once, such as a sparsity pattern: for a call, or for a specialization."""
        return self

    @abstractmethod
    def compute(self, function: Call, leaves: Arrays, tangents: Arrays) -> Results:
        """What the engine computes, and compiles in a prepared call."""

    def compile(self, compiled: Callable[[Compute], Compiled]) -> Compiled:
        """`compute`, compiled. compiled: compiles one function."""
        return compiled(self.compute)

    def parts(self, outputs: Arrays, aux: Aux, *parts: Any) -> Results:
        """The input of `finish`, without what it does not need: compiled code need not return the rest."""
        if not self.needs_aux:
            return parts
        return (outputs, aux, *parts) if self.gives_value else ((), Aux((), aux.form), *parts)

    def finish(self, call: Call, results: Results) -> Any:
        """The user's results from those of `compute`, by default those of `parts`: one for each form but the value."""
        outputs, aux, *parts = results if self.needs_aux else ((), None, *results)
        fields = [self._present(form, call, aux, part) for form, part in zip(self._parts, parts, strict=True)]
        if self.gives_value:
            fields.insert(0, call.value(outputs, aux))
        return fields[0] if self.result is None else self.result(*fields)

    def _present(self, form: FieldForm, call: Call, aux: Any, part: Any) -> Any:
        if form == "tangent":
            return call.tangent(aux.form.structure, part)
        if form == "jacobian":
            self._look_at("Jacobian", part)
            if aux.form.structure is DIFFERENTIATED:
                return call.blocks(part[0])
            return build_gradient(aux.form.structure, iter([call.blocks(row) for row in part]))
        if form == "hessian":
            self._look_at("Hessian", part)
            return call.square(part)
        gradients = call.gradients(part)
        return gradients if form == "arguments" else gradients[0]

    def _look_at(self, matrix: str, rows: Sequence[Sequence[Any]]) -> None:
        """Let an extension warn that a large dense matrix is mostly zeros."""
        if sum([math.prod(block.shape) for row in rows for block in row]) > LARGE:
            look = function_of_extension("look_at_dense")
            if look is not None:
                look(self.name, matrix, [block for row in rows for block in row])


class SecondOrderOperation(Operation):
    """An operator of second derivatives: one backend outside, one inside."""

    output: ClassVar[OutputKind] = "scalar"
    order: ClassVar[Literal[1, 2]] = 2

    def __init__(self, auto: AutoBackend):
        super().__init__(auto)
        self.estimates: bool = self.outer.estimates or self.inner.estimates

    def computing_backend(self, auto: AutoBackend) -> Backend:
        pair: tuple[Backend, Backend] = second_order(auto)
        self.outer: Backend = pair[0]
        self.inner: Backend = pair[1]
        #: Whether the user has chosen two backends, and not two modes of one.
        self.two: bool = isinstance(auto, SecondOrder)
        return self.inner if self.inner.library is not None else self.outer

    @property
    def backends(self) -> tuple[Backend, ...]:
        return (self.backend, self.inner if self.backend is self.outer else self.outer) if self.two else (self.backend,)
