"""`prepare`: an operator on one f, at the speed of the engine."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..call.call import Call, Released
from ..call.output import Function
from ..call.plan import Plan
from ..call.recognition import Recognizer
from ..call.signature import Signature
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays
from ..contract.errors import AdinterfaceError
from ..contract.nodes import Unkeyed, exactly
from ..derive.record import active_record
from .operation import OPERATIONS, Operation, Results, evaluate, operation_of
from .typed import as_prepare


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
    kind_of_operation = OPERATIONS.get(operator)
    if kind_of_operation is None:
        names = ", ".join(sorted(operation.name for operation in OPERATIONS.values()))
        raise TypeError(f"prepare(operator, f, backend, *example_args): operator must be one of {names}, not {operator!r}.")
    prepared = Prepared(kind_of_operation, backend, f)
    prepared._begin(example_args, kwargs)
    return prepared


class Prepared:
    """An operator on one f; made by `prepare`."""

    def __init__(self, kind: type[Operation], auto: AutoBackend, f: Callable[..., Any]):
        operation = operation_of(kind, auto)
        self._operation, self._auto, self._given = operation, auto, f
        self._f = operation.backend.compile_function(f) if operation.compiles_function else f
        self._name = getattr(f, "__name__", f)
        self._arguments = operation.arguments if type(operation).arguments is not Operation.arguments else None
        #: How many specializations are kept; the one that was used last the longest ago goes first.
        self.max_specializations = 64
        self._compiles = operation.backend.compile(_nothing) is not None
        self._made: dict[Any, Specialization] = {}
        self._lock = threading.Lock()
        self._count = 0
        #: What was called last: most often it is called again.
        self._last: Specialization | None = None

    @property
    def specializations(self) -> int:
        """How many signatures have been specialised so far, those that were dropped included."""
        return self._count

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The operator's results for these arguments."""
        given = None
        if self._arguments is not None:
            args, given = self._arguments(args)
        last = self._last  # once, for another thread may set it
        if last is not None and last.recognize is not None:
            values = last.recognize(args, kwargs)
            if values is not None:
                if last.straight is not None:
                    results = last.straight(self._f, values, given)
                    if results is not None:
                        return results
                return last(Call.of(last.plan, values, args, kwargs), given)
        try:
            signature = Signature(args, kwargs)
        except (Unkeyed, AdinterfaceError):
            return evaluate(self._operation, self._operation.call(args, kwargs), self._f, given)
        key = self._key(signature)
        with self._lock:
            found = self._made.pop(key, None)
            if found is not None:
                self._made[found.key] = found  # at the end, as the one that was used last
        if found is None:
            found = self._specialize(signature, args, kwargs)
        self._last = found
        if found.straight is not None:
            results = found.straight(self._f, signature.values, given)
            if results is not None:
                return results
        return found(Call.of(found.plan, signature.values, args, kwargs), given)

    def _key(self, signature: Signature, *, keep: bool = False) -> Any:
        if self._compiles and signature.static:
            return signature.key, tuple([(n, _Static(value, keep=keep)) for n, value in signature.static])
        return signature.key

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Check the example, and specialise for it; an engine compiles at the first call."""
        args, _ = self._operation.arguments(args)
        try:
            signature = Signature(args, kwargs)
        except (Unkeyed, AdinterfaceError):
            self._operation.call(args, kwargs)
            return
        self._specialize(signature, args, kwargs)

    def _specialize(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Specialization:
        plan = self._operation.call(args, kwargs).plan
        key = self._key(signature, keep=True)
        with self._lock:
            found = self._made.get(key)
            if found is None:
                while len(self._made) >= max(1, self.max_specializations):
                    self._made.pop(next(iter(self._made)))
                if self._compiles:
                    found = Compiled(self._operation, self._f, plan, signature)
                else:
                    found = Specialization(self._operation, self._f, plan)
                found.key = key
                self._made[key] = found
                self._count += 1
        return found

    def copy(self) -> Prepared:
        """Another prepared call that starts with the same specializations."""
        new = object.__new__(Prepared)
        vars(new).update(vars(self))
        new._made, new._lock = dict(self._made), threading.Lock()
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Prepared:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """f, the operator and the backend; what was specialised stays behind."""
        return _again, (type(self._operation), self._auto, self._given, self.max_specializations)

    def __repr__(self) -> str:
        made = f"{len(self._made)} specialization" + "s" * (len(self._made) != 1)
        return f"<{self._operation.name} of {self._name!s} prepared on {self._operation.backend.auto!r}: {made}>"


class Specialization:
    """An operator on one f for arguments of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan):
        self.operation, self.f, self.plan = operation, f, plan
        #: What it is kept under: the key of a later call may hold values that still change.
        self.key: Any = None
        self.straight: Callable[..., Any] | None = plan.straight
        self.recognize = plan.recognize

    def __call__(self, call: Call, given: Any) -> Any:
        return evaluate(self.operation, call, self.f, given)


class Compiled(Specialization):
    """What the engine made of f and the operator, with the static values of one signature."""

    def __init__(self, operation: Operation, f: Callable[..., Any], plan: Plan, signature: Signature):
        super().__init__(operation, f, plan)
        self.function: Function | None = None
        static = {n: _Static(value, keep=True) for n, value in signature.static}
        #: Of each value that is not differentiated: whether it is static, and if so, itself.
        self.places = [
            (True, static[n].value) if n in static else (False, None)
            for n, spec in enumerate(plan.specs)
            if not spec.differentiated
        ]
        if plan.recognize is not None and static:
            self.recognize = _with_static(plan.recognize, list(static.items()))

        def compute(active: Arrays, carried: Arrays, tangents: Arrays) -> Results:
            call = Call.of(plan, values=[], args=(), kwargs={})
            dynamic = iter(carried)
            call.carried = [value if static else next(dynamic) for static, value in self.places]
            call.leaves_native, call.held, call.fresh = tuple(active), plan.held, False
            function = Function(call, f, operation.output)
            results = operation.compute(function, tuple(active), tuple(tangents))
            self.function = function.after()
            return results

        compiled = operation.backend.compile(compute)
        assert compiled is not None
        self.compiled = compiled
        # Only if every result becomes a NumPy array, so that the engine is done before the caller can write to a leaf.
        self.compiled_numpy = None
        if plan.plain and not plan.unfit and not operation.outlives:
            self.compiled_numpy = operation.backend.compile_numpy(compute, plan.all_dtypes)
        if self.compiled_numpy is not None:
            self.straight = self._straight(self.compiled_numpy)

    def _straight(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """All of the operation on the values of a call (and its tangents), whose arrays go to the engine as they are."""
        plan, finish = self.plan, self.operation.finish
        dynamic = [n for (n, _), (static, _) in zip(plan.carried, self.places) if not static]
        released = Released.of(plan, values=[], args=(), kwargs={})

        recognize = plan.recognize_tangents

        def straight(_: Callable[..., Any], values: Sequence[Any], given: Any) -> Any:
            if active_record() is not None:
                return None
            tangents: Sequence[Any] | None = ()
            if given is not None:
                tangents = recognize(given, {}) if recognize is not None else None
                if tangents is None:
                    return None
            if plan.carried:
                results = compiled([values[n] for n in plan.active], [values[n] for n in dynamic], tangents)
            else:
                results = compiled(values, (), tangents)
            return None if results is None else finish(released, self.function, results)  # type: ignore[arg-type]

        return straight

    def __call__(self, call: Call, given: Any) -> Any:
        with call.precision():
            dynamic: Arrays = ()
            active = call.native(copy=self.operation.outlives)
            tangents = self.operation.tangents(call, given)
            if self.places:
                dynamic = tuple([value for (static, _), value in zip(self.places, call.carried) if not static])
            results = self.compiled(active, dynamic, tangents)
            assert self.function is not None
            return self.operation.finish(call, self.function, results)


class _Static:
    """A static value as a key: equal if f cannot tell the two apart. What may change under the same name is kept as a copy."""

    __slots__ = ("exact", "value")

    def __init__(self, value: Any, *, keep: bool = False):
        self.value = value
        self.exact: Any = None
        try:
            self.exact = exactly(value)
        except Unkeyed:
            if keep:
                self.value = _copied(value)

    def __hash__(self) -> int:
        return hash(type(self.value)) if self.exact is None else hash(self.exact)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Static):
            return NotImplemented
        if self.exact is not None or other.exact is not None:
            return bool(self.exact == other.exact)
        if type(self.value) is not type(other.value):
            return False
        if type(self.value) is np.ndarray:  # of strings, dates or objects
            return self.value.dtype == other.value.dtype and np.array_equal(self.value, other.value)
        try:
            return bool(self.value == other.value)
        except ValueError:  # what holds arrays has no single answer
            return False


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
            for n, known in static:
                if (known.exact is None or values[n] is not known.value) and _Static(values[n]) != known:
                    return None
        return values

    return with_static


def _again(kind: type[Operation], auto: AutoBackend, f: Callable[..., Any], max_specializations: int) -> Prepared:
    prepared = Prepared(kind, auto, f)
    prepared.max_specializations = max_specializations
    return prepared


def _nothing(*args: Any) -> Any:
    return ()


__all__ = ["Prepared", "prepare"]
