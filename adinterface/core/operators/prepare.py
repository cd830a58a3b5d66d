"""`prepare`: an operator for one f, at the speed of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ..call.call import Call
from ..call.messages import require_function
from ..call.plan import Plan
from ..call.row import OperatorRow
from ..contract.auto import AutoBackend
from ..contract.registry import REGISTRY
from ..contract.tracing import untraced
from ..support.cache import Cache
from ..support.static_values import Unkeyed, key_of
from ..tree import Signature
from ..tree.structures import CallData
from .compiled import compiled
from .run import DirectionValues, bound, evaluate, find_plan, resolved, surrounded
from .table import entry_of, names_of, require_operator, row_named
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures


@typed["signatures.Prepare"]()
@untraced
def prepare(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backend: AutoBackend,
    /,
    *example_args: Any,
    **kwargs: Any,
) -> Prepared:
    """Specialise an operator for one f and for arguments like the example's.

    `fast = prepare(gradient, f, AutoJax(), *args)`, then `fast(*args)`: the results of `gradient(f,
    AutoJax(), *args)`, at the engine's own cost. JAX compiles f and its derivative with `jax.jit`;
    other engines decide beforehand what they can. Threads can share the result.

    New shapes, dtypes, structures or static values (strings, functions, integers inside trees) are
    specialised at their first call. The contents of Constants and keyword arrays may change freely.

    Args:
        operator: Any operator of this package.
        f: Must be pure where the engine compiles: captured values, and objects in Constants and
            keywords, are fixed when f is specialised. A branch on a traced value raises the
            engine's error, with a note (`AutoJax(jit=False)` stays eager).
        backend: As in `gradient`.
        example_args: The operator's arguments after the backend. Their numbers do not matter.
        kwargs: Keyword arguments of f.

    Returns:
        A `Prepared`, to be called with the operator's arguments after the backend.

    Raises:
        TypeError: `operator` is no operator of this package.
        AdinterfaceError: As the operator for the example.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, gradient, prepare
    >>> fast = prepare(gradient, lambda x: (x**2).sum(), AutoFiniteDifferences(), np.zeros(2))
    >>> fast(np.array([1.0, 3.0]))[0].round(6)
    array([2., 6.])
    """
    around = entry_of(REGISTRY.outer, operator)
    if around is not None:
        caller = f"prepare({operator.__name__}, operator, f, backend, ...)"
        row, f, backend, example_args = around(caller, f, (backend, *example_args), kwargs)
    else:
        row = require_operator("prepare(operator, f, backend, *example_args)", operator)
        require_function("prepare", f)
    prepared = Prepared(row, backend, f)
    args, _ = row.arguments(example_args)
    plan, values, signature = find_plan(row, backend, args, kwargs)
    if not plan.around:
        # the engine compiles at the first call
        prepared._specialization(Call(plan, prepared._f, values), signature)
    return prepared


class Prepared:
    """An operator for one f; made by `prepare`."""

    def __init__(self, row: OperatorRow, auto: AutoBackend, f: Callable[..., Any]):
        self._row, self._auto, self._original = row, auto, f
        self._name = getattr(f, "__name__", f)
        row, engines = resolved(row, auto)
        backend = engines.backend
        self._backend = backend
        self._f = backend.compile_function(f) if row.compiles_f else f
        compiling = [each for each in engines.backends if each.library is backend.library]
        # Differences are taken of numbers, which compiled code has not.
        compiles = not engines.outer.estimates and not engines.inner.estimates
        self._compiles = compiles and all(each.compile(_nothing) is not None for each in compiling)
        #: Whether static values are part of the cache key: they are compiled in, or decide what is
        #: specialised.
        self._keys_static = self._compiles or row.bind is not None
        #: The plans of specializations.
        self._known: Cache[Plan] = Cache(64)
        #: The last plan of a signature, and that of its specialization.
        self._last: tuple[Plan, Plan] | None = None
        self._count = 0
        self._lock = threading.Lock()

    @property
    def max_specializations(self) -> int:
        """How many specializations are kept; the least recently used is dropped first."""
        return self._known.bound

    @max_specializations.setter
    def max_specializations(self, count: int) -> None:
        self._known.bound = count

    @property
    def specializations(self) -> int:
        """How many signatures have been specialised so far, dropped ones included."""
        return self._count

    @untraced
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The operator's results for these arguments."""
        directions = None
        if self._row.directions is not None:
            args, directions = self._row.arguments(args)
        plan, values, signature = find_plan(self._row, self._auto, args, kwargs)
        call = Call(plan, self._f, values)
        if plan.around:
            call.arguments = args, kwargs
            return surrounded(
                call, plan.around, lambda call: self._evaluate(call, signature, directions)
            )
        call.plan = self._specialization(call, signature)
        return evaluate(call, directions)

    def _evaluate(
        self, call: Call, signature: Signature | None, directions: DirectionValues
    ) -> Any:
        call.plan = self._specialization(call, signature)
        return evaluate(call, directions)

    def _specialization(self, call: Call, signature: Signature | None) -> Plan:
        """The plan for such calls. Without a signature it is that of a one-shot call."""
        plan, values = call.plan, call.values
        if signature is None:
            return plan
        key: Hashable = signature.key
        static = (*signature.static_slots, *plan.without_numbers) if self._keys_static else ()
        last = self._last  # once: another thread may set it meanwhile
        if not static and last is not None and last[0] is plan:
            return last[1]
        if static:
            try:
                key = key, tuple([_static_key(values[n]) for n in static])
            except Unkeyed:
                return plan
        known = self._known.get(key) or self._specialize(key, call, static)
        self._last = plan, known
        return known

    def _specialize(self, key: Any, call: Call, static: Sequence[int]) -> Plan:
        plan = call.plan
        if plan.operator.bind is not None:
            entered = Call(plan, call.f, call.values)
            with entered.scope():
                entered.enter()
                plan = bound(plan, entered)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                known = compiled(plan, call.f, call.values, static) if self._compiles else plan
                self._known.add(key, known)
                self._count += 1
        return known

    def __copy__(self) -> Prepared:
        return self  # as of a function

    def __deepcopy__(self, memo: dict[int, Any]) -> Prepared:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """f, the operator and the backend, without the specializations."""
        return Prepared._again, (
            *names_of(self._row),
            self._original,
            self._auto,
            self.max_specializations,
        )

    @staticmethod
    def _again(
        operator: Any,
        keywords: dict[str, Any] | None,
        f: Callable[..., Any],
        auto: AutoBackend,
        max_specializations: int,
    ) -> Prepared:
        prepared = Prepared(row_named(operator, keywords, f, auto), auto, f)
        prepared.max_specializations = max_specializations
        return prepared

    def __repr__(self) -> str:
        count = len({*map(id, self._known.entries())})
        text = f"{count} specialization" + "s" * (count != 1)
        return f"<{self._row.name} of {self._name!s} prepared on {self._backend.auto!r}: {text}>"


def _static_key(value: Any) -> Any:
    """The cache key of a static value, or of the data of a node."""
    return value.key() if isinstance(value, CallData) else key_of(value)


def _nothing(*args: Any) -> Any:
    return ()
