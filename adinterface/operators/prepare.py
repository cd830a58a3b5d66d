"""`prepare`: an operator on one f, at the speed of the engine."""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ..call.likeness import Signature
from ..call.messages import require_function
from ..call.output import Function, annotate
from ..call.passages import entrance_of, picker, picking
from ..call.plan import Plan, Road
from ..call.recognizer import Recognizer
from ..call.state import Changing
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..contract.decisions import Undecided, take_wish
from ..contract.library import NUMPY, PYTHON, as_it_is
from ..contract.nodes import Unkeyed, contents, exactly
from ..tree import Duplicated, builder
from .batched import batched, batched_kind
from .operation import (
    Compiled,
    Compute,
    Operation,
    Results,
    Write,
    evaluate,
    follow,
    operation_of,
    require_apart,
    require_operator,
    road_of,
    specialized,
    stored,
)
from .typed import as_prepare
from .whole import Finished, NotWhole, Way, back_by, lie_together, may_be_whole


@as_prepare
def prepare(
    operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /, *example_args: Any, **kwargs: Any
) -> Prepared:
    """The operator on f as a function of the arguments alone, specialised for arguments like the example's.

    `fast = prepare(gradient, f, AutoJax(), *args)`, then `fast(*args)`: the same results as
    `gradient(f, AutoJax(), *args)`, at the cost of the engine. JAX compiles f, with the derivative, by `jax.jit`;
    elsewhere what can be decided beforehand is.

    operator: any operator of this package. example_args, kwargs: what it takes after the backend. Their numbers do not
    matter; other shapes, dtypes, structures or static values (strings, functions, integers inside trees) are
    specialised when they first come, the contents of Constants and keyword arrays may change freely.

    f must be pure where the engine compiles: what it captures is fixed when it is specialised, and a branch on a value
    raises the engine's error, with a note (`AutoJax(jit=False)` stays eager). The result can be shared by threads.

    Raises what the operator raises for the example, TypeError for what is no operator of this package.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, gradient, prepare
    >>> fast = prepare(gradient, lambda x: (x**2).sum(), AutoFiniteDifferences(), np.zeros(2))
    >>> fast(np.array([1.0, 3.0]))[0].round(6)
    array([2., 6.])
    """
    kind: Callable[[AutoBackend], Operation]
    if operator is batched:
        caller = "prepare(batched, operator, f, backend, ...)"
        kind, f, backend, example_args = batched_kind(caller, f, (backend, *example_args), kwargs)
    else:
        kind = require_operator("prepare(operator, f, backend, *example_args)", operator)
        require_function("prepare", f)
    prepared = Prepared(kind, backend, f)
    args, _ = prepared._operation.arguments(example_args)
    if prepared._operation.stores:
        args = tuple([arg.value if type(arg) is Duplicated else arg for arg in args])
    prepared._specialization(args, kwargs)  # an engine compiles at the first call
    return prepared


class Prepared:
    """An operator on one f; made by `prepare`."""

    def __init__(self, kind: Callable[[AutoBackend], Operation], auto: AutoBackend, f: Callable[..., Any]):
        operation = operation_of(kind, auto)
        self._operation, self._auto, self._original = operation, auto, f
        self._f = operation.backend.compile_function(f) if operation.compiles_function else f
        self._name = getattr(f, "__name__", f)
        self._arguments = operation.arguments if type(operation).arguments is not Operation.arguments else None
        #: How many specializations are kept; the one that was used last the longest ago goes first.
        self.max_specializations = 64
        self._compiles = operation.compiles and operation.backend.compile(_nothing) is not None
        self._known: dict[Any, Specialization] = {}
        self._lock = threading.Lock()
        self._count = 0
        #: What was called last: most often it is called again.
        self._last: Specialization | None = None
        #: What serves arguments that f may change, and what writes the changes.
        self._following: tuple[Prepared, Write] | None = None

    @property
    def specializations(self) -> int:
        """How many signatures have been specialised so far, those that were dropped included."""
        return self._count + (0 if self._following is None else self._following[0]._count)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The operator's results for these arguments."""
        tangents = None
        if self._arguments is not None:
            args, tangents = self._arguments(args)
        last = self._last  # once, for another thread may set it
        if last is not None and last.recognize is not None:
            values = last.recognize(args, kwargs)
            if values is not None:
                return last.call(values, tangents)
        if self._operation.stores and any(type(arg) is Duplicated for arg in args):
            require_apart(self._operation, args)
            results = self(*[arg.value if type(arg) is Duplicated else arg for arg in args], **kwargs)
            return stored(self._operation, results, args)
        specialization, plan, values = self._specialization(args, kwargs)
        if plan.stateful and not isinstance(self._original, Changing):
            return self._follow(args, kwargs, tangents)
        if specialization is None:
            return evaluate(self._operation, plan, values, self._f, tangents)
        return specialization.call(values, tangents)

    def _specialization(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Specialization | None, Plan, Sequence[Any]]:
        """The specialization for such arguments, None if they have no signature; their plan and values."""
        plan, values, signature = self._operation.plans.find(args, kwargs)
        if plan.stateful and not isinstance(self._original, Changing):
            return None, plan, values
        try:
            signature = signature or Signature(args, kwargs)
            key = self._key(signature)
        except Unkeyed:
            return None, plan, values
        with self._lock:
            known = self._known.pop(key, None)
            if known is not None:
                self._known[known.key] = known  # at the end, as the one that was used last
        if known is None:
            known = self._specialize(key, signature, plan, values)
        self._last = known
        return known, plan, values

    def _follow(self, args: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...] | None) -> Any:
        """As a call, for an f that may change its arguments."""
        with self._lock:
            if self._following is None:
                operation, f, write = follow(self._operation, self._auto, self._original)
                self._following = Prepared(operation.kind, self._auto, f), write
        inner, write = self._following
        specialization, plan, values = inner._specialization(args, kwargs)
        if specialization is None:
            result = evaluate(inner._operation, plan, values, inner._f, tangents)
        else:
            result = specialization.call(values, tangents)
        return write(result, args, kwargs)

    def _key(self, signature: Signature) -> Any:
        if self._compiles and signature.static:
            return signature.key, tuple([(n, _key_of(value)) for n, value in signature.static])
        return signature.key

    def _specialize(self, key: Any, signature: Signature, plan: Plan, values: Sequence[Any]) -> Specialization:
        operation = specialized(self._operation, plan, values, self._f)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                while len(self._known) >= max(1, self.max_specializations):
                    self._known.pop(next(iter(self._known)))
                if self._compiles:
                    known = CompiledSpecialization(operation, self._f, plan, values, signature)
                else:
                    known = Specialization(operation, self._f, plan)
                known.key = key
                self._known[key] = known
                self._count += 1
        return known

    def copy(self) -> Prepared:
        """Another prepared call that starts with the same specializations."""
        new = object.__new__(Prepared)
        vars(new).update(vars(self))
        new._known, new._lock = dict(self._known), threading.Lock()
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Prepared:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """f, the operator and the backend; what was specialised stays behind."""
        return _again, (self._operation.kind, self._auto, self._original, self.max_specializations)

    def __repr__(self) -> str:
        made = f"{len(self._known)} specialization" + "s" * (len(self._known) != 1)
        return f"<{self._operation.name} of {self._name!s} prepared on {self._operation.backend.auto!r}: {made}>"


class Specialization:
    """An operator on one f for arguments of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan):
        self.operation, self.f, self.plan = operation, f, plan
        #: What it is kept under.
        self.key: Any = None
        self.recognize = plan.recognize
        #: From the values of a call, and the directions that the operator takes, to its results.
        self.call: Road = road_of(operation, plan, f)


class CompiledSpecialization(Specialization):
    """What the engine made of f and the operator, with the static values of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan, values: Sequence[Any], signature: Signature):
        super().__init__(operation, f, plan)
        self.call = self._called
        static = {n: _Static(value) for n, value in signature.static}
        #: Of each value that is carried along: whether it is compiled in, and if so, itself.
        self.places = [(True, static[n].value) if n in static else (False, None) for n in plan.carried]
        if plan.recognize is not None and static:
            self.recognize = _with_static(plan.recognize, list(static.items()))
        #: Whether the engine must not read the caller's own arrays.
        self.copies = operation.outlives or not _waits(operation, plan)
        enters, carried = plan.compiled_passages(values, copy=self.copies)
        self.enter = entrance_of(plan.backend.library, enters)
        #: The others, and how they go in.
        dynamic = [(n, enter or as_it_is) for n, enter, (inside, _) in zip(plan.carried, carried, self.places) if not inside]
        self.dynamic = tuple([n for n, _ in dynamic])
        library, beside = plan.backend.library, [enter for _, enter in dynamic]
        self.enter_carried = picking(library, beside, picker(self.dynamic)) if dynamic else None
        #: From all values to what compiled code takes, where the leaves go in as they are; and whether that is these values.
        together = (*plan.active, *self.dynamic)
        self.pick = picking(library, [*repeat(as_it_is, len(plan.active)), *beside], picker(together))
        self.in_order = together == (*range(len(plan.slots)),) and all(enter is as_it_is for enter in beside)
        self.compute = operation.compile(self._compiled)
        #: f goes on by numbers, and is compiled for each way that it takes; None: nobody has tried.
        self._deciding: bool | None = None
        self._lock = threading.Lock()
        if may_be_whole(operation, plan, enters):
            self.call = self._called_first

    def _compiled(self, compute: Compute) -> Compiled:
        flat = self._flat(compute)
        compiled = self.operation.backend.compile(flat)
        assert compiled is not None
        return compiled

    def _compiled_deciding(self, compute: Compute) -> Compiled:
        compiled = self.operation.backend.compile_deciding(self._flat(compute))
        if compiled is None:
            raise Undecided
        return compiled

    def _flat(self, compute: Compute) -> Compiled:
        plan, f, output, places = self.plan, self.f, self.operation.output, self.places

        count, behind = len(plan.active), len(plan.active) + len(self.dynamic)

        def flat(*arrays: Any) -> Results:
            dynamic = iter(arrays[count:behind])
            both = [value if compiled_in else next(dynamic) for compiled_in, value in places]
            function = Function(plan, f, both, output)
            function.fresh = False
            return compute(function, arrays[:count], arrays[behind:])

        return flat

    def _called_first(self, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        """A call that tells whether compiled code can finish the results, which later calls then rely on."""
        operation, plan, self.call = self.operation, self.plan, self._called
        arrays = self._arrays(values, tangents)
        if arrays is None:
            return self._called(values, tangents)
        finished = Finished(operation, plan, self.f, self._flat(operation.compute))
        whole = operation.backend.compile(finished)
        library = operation.backend.library
        assert whole is not None
        assert library is not None
        scope = None if plan.scope is None else plan.scope()
        try:
            with scope or contextlib.nullcontext():
                found = whole(*arrays)
        except NotWhole:
            return self._called(values, tangents)
        except Exception as error:
            if take_wish():  # f goes on by numbers
                return self._called(values, tangents)
            self.call = self._called_first
            if isinstance(error, RuntimeError):  # the engine's own, of the arguments
                annotate(plan, error)
            raise
        if finished.structure is None or not lie_together(library, arrays, found):
            return self._called(values, tangents)
        build = builder(finished.structure)
        self.call = self._calling(whole, build, finished.ways)
        return build(back_by(finished.ways, plan, found, values, self.f))

    def _calling(
        self, whole: Callable[..., Any], build: Callable[[Sequence[Any]], Any], ways: Sequence[Way]
    ) -> Callable[..., Any]:
        plan, f, scoping, in_steps = self.plan, self.f, self.plan.scope, self._called
        straight = self.in_order and self.operation.directions is None

        def call(values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
            arrays = values if straight else self._arrays(values, tangents)
            if arrays is None:
                return in_steps(values, tangents)
            scope = None if scoping is None else scoping()
            try:
                if scope is None:
                    found = whole(*arrays)
                else:
                    with scope:
                        found = whole(*arrays)
            except NotWhole:  # in another trace, such as one of the user's that has another precision
                return in_steps(values, tangents)
            except RuntimeError as error:
                annotate(plan, error)
                raise
            return build(back_by(ways, plan, found, values, f) if ways else found)

        return call

    def _arrays(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Sequence[Any] | None:
        """All that compiled code takes where leaves go in as they are; None for directions of another kind than the leaves."""
        plan, arrays = self.plan, values if self.in_order else self.pick(values, set())
        if directions is None:
            return arrays
        tangents = plan.recognized_tangents(directions, values)
        return None if tangents is None else (*arrays, *tangents)

    def _called(self, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        scoping = self.plan.scope
        scope = None if scoping is None else scoping()
        try:
            if scope is None:
                return self._evaluated(values, tangents)
            with scope:
                return self._evaluated(values, tangents)
        except Exception as error:
            if isinstance(error, RuntimeError):  # the engine's own, of the arguments
                annotate(self.plan, error)
            if not take_wish() or self._deciding is False:
                raise
            return self._decided(error, values, tangents)

    def _decided(self, error: Exception, values: Sequence[Any], tangents: tuple[Any, ...] | None) -> Any:
        """What f gives, if it is that numbers decide which way it goes; else what an uncompiled call of it ends with."""
        before = self.compute
        try:
            with self._lock:  # of several threads that come here the first makes it
                first = self._deciding is None
                if first:
                    self.compute, self._deciding = self.operation.compile(self._compiled_deciding), True
            scoping = self.plan.scope
            with (None if scoping is None else scoping()) or contextlib.nullcontext():
                return self._evaluated(values, tangents)
        except Undecided:  # not even that run knows the numbers
            if first:
                self.compute, self._deciding = before, False
            take_wish()
            raise error from None
        except Exception as ended:
            take_wish()
            raise ended from None  # and not by what compiling it met first

    def _evaluated(self, values: Sequence[Any], directions: tuple[Any, ...] | None) -> Any:
        plan, operation = self.plan, self.operation
        call = operation.call_type(plan, values, self.f)
        taken = call.taken
        active = plan.pick(values)
        native = call.native = active if self.enter is None else self.enter(active, taken)
        carried = () if self.enter_carried is None else self.enter_carried(values, taken)
        tangents: Arrays = ()
        if directions is not None:
            like = plan.recognized_tangents(directions, values)
            if like is not None:
                tangents = tuple(like) if self.enter is None else self.enter(like, taken)
            else:
                tangents = operation.tangents(call, directions)
                if self.copies:
                    tangents = tuple([x.copy() if type(x) is np.ndarray else x for x in tangents])
        return operation.finish(call, self.compute(*native, *carried, *tangents))


def _waits(operation: Operation, plan: Plan) -> bool:
    """Whether some result is a NumPy array or a Python number, for which the call waits until the engine has computed it.

    Otherwise the engine may still be computing when the caller writes into an array that it was given.
    """
    if plan.result_library is NUMPY:
        return True
    like_leaves = "arguments" in operation.forms or "argument" in operation.forms
    return like_leaves and any(plan.slots[n].library in (NUMPY, PYTHON) for n in plan.active)


class _Static:
    """A static value, and the key that is equal only for what f cannot tell from it. What may change meanwhile is copied.

    Raises Unkeyed where there is no telling.
    """

    __slots__ = ("changing", "key", "value")

    def __init__(self, value: Any):
        self.value, self.changing = value, False
        try:
            self.key = exactly(value)
        except Unkeyed:
            self.changing, self.key = True, contents(value)
            self.value = _copied(value)

    def is_like(self, value: Any) -> bool:
        """Whether f cannot tell the value from this one."""
        return (value is self.value and not self.changing) or bool(_key_of(value) == self.key)


def _key_of(value: Any) -> Any:
    try:
        return exactly(value)
    except Unkeyed:
        return contents(value)


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except (TypeError, copy.Error):  # it holds a file, a lock or the like
        return value


def _with_static(recognize: Recognizer, static: Sequence[tuple[int, _Static]]) -> Recognizer:
    """A recognizer that also compares the static values, which are compiled in."""

    def with_static(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        values = recognize(args, kwargs)
        if values is not None:
            try:
                for n, known in static:
                    if not known.is_like(values[n]):
                        return None
            except Unkeyed:
                return None
        return values

    return with_static


def _again(
    kind: Callable[[AutoBackend], Operation], auto: AutoBackend, f: Callable[..., Any], max_specializations: int
) -> Prepared:
    prepared = Prepared(kind, auto, f)
    prepared.max_specializations = max_specializations
    return prepared


def _nothing(*args: Any) -> Any:
    return ()


__all__ = ["Prepared", "prepare"]
