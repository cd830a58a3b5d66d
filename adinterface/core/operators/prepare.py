"""`prepare`: an operator for one f, at the speed of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..call.messages import require_function
from ..call.plan import Plan
from ..contract.auto import AutoBackend
from ..contract.cache import Cache
from ..contract.static_values import Unkeyed, key_of
from ..contract.structures import Given
from ..contract.tracing import untraced
from ..tree import Signature
from .dispatch import Kind, operation_of, outer_operator_of, recipe, require_operator
from .evaluate import evaluate, specialized
from .specialization import Specialization
from .typed import typed
from .wrapped import finished, inside

if TYPE_CHECKING:
    from ... import _signatures as signatures


@typed["signatures.Prepare"]()
@untraced
def prepare(
    operator: Callable[..., Any], f: Callable[..., Any], backend: AutoBackend, /, *example_args: Any, **kwargs: Any
) -> Prepared:
    """Specialise an operator for one f and for arguments like the example's.

    `fast = prepare(gradient, f, AutoJax(), *args)`, then `fast(*args)`: the results of `gradient(f, AutoJax(), *args)`, at
    the engine's own cost. JAX compiles f and its derivative with `jax.jit`; other engines decide beforehand what they can.

    operator: any operator of this package. example_args, kwargs: the operator's arguments after the backend. Their numbers do
    not matter. New shapes, dtypes, structures or static values (strings, functions, integers inside trees) are specialised at
    their first call. The contents of Constants and keyword arrays may change freely.

    f must be pure where the engine compiles: captured values, and objects in Constants and keywords, are fixed when f is
    specialised. A branch on a traced value raises the engine's error, with a note (`AutoJax(jit=False)` stays eager). Threads
    can share the result.

    Raises what the operator raises for the example, and TypeError for anything but an operator of this package.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, gradient, prepare
    >>> fast = prepare(gradient, lambda x: (x**2).sum(), AutoFiniteDifferences(), np.zeros(2))
    >>> fast(np.array([1.0, 3.0]))[0].round(6)
    array([2., 6.])
    """
    kind, f, backend, example_args = _parts(operator, f, (backend, *example_args), kwargs)
    inner = prepared = Prepared(kind, backend, f)
    args, _ = prepared._operation.arguments(example_args)
    plan, values, signature = prepared._operation.find_plan(args, kwargs)
    if plan.wrappings:
        inner, plan, values, signature = prepared._inside(plan, args, kwargs)
    inner._specialization(plan, values, signature)  # the engine compiles at the first call
    return prepared


def _parts(
    operator: Any, f: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Kind, Callable[..., Any], AutoBackend, tuple[Any, ...]]:
    around = outer_operator_of(operator)
    if around is not None:
        return around(f"prepare({operator.__name__}, operator, f, backend, ...)", f, rest, kwargs)
    kind = require_operator("prepare(operator, f, backend, *example_args)", operator)
    require_function("prepare", f)
    return kind, f, rest[0], rest[1:]


#: From the values and the directions of a call to its results: compiled code, or `evaluate` with all but these.
_Compute = Callable[[Sequence[Any], tuple[Any, ...] | None], Any]


class Prepared:
    """An operator for one f; made by `prepare`."""

    def __init__(self, kind: Kind, auto: AutoBackend, f: Callable[..., Any]):
        operation = operation_of(kind, auto)
        self._kind, self._operation, self._auto, self._original = kind, operation, auto, f
        self._f = operation.backend.compile_function(f) if operation.compiles_function else f
        self._name = getattr(f, "__name__", f)
        compiling = [each for each in operation.backends if each.library is operation.backend.library]
        # Differences are taken of numbers, which compiled code has not.
        compiles = operation.compiles and not operation.estimates
        self._compiles = compiles and all(each.compile(_nothing) is not None for each in compiling)
        #: Whether static values are part of the cache key: they are compiled in, or decide what is specialised.
        self._keys_static = self._compiles or operation.specializes
        self._known: Cache[_Compute] = Cache(64)
        self._last: tuple[Plan, _Compute] | None = None
        self._count = 0
        self._lock = threading.Lock()
        #: The call inside, for an f that may change its arguments.
        self._inner: Prepared | None = None

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
        return self._count + (0 if self._inner is None else self._inner._count)

    @untraced
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The operator's results for these arguments."""
        directions = None
        if self._operation.directions is not None:
            args, directions = self._operation.arguments(args)
        plan, values, signature = self._operation.find_plan(args, kwargs)
        if not plan.wrappings:
            return self._specialization(plan, values, signature)(values, directions)
        inner, inner_plan, values, signature = self._inside(plan, args, kwargs)
        results = inner._specialization(inner_plan, values, signature)(values, directions)
        return finished(plan, results, args, kwargs)

    def _specialization(self, plan: Plan, values: Sequence[Any], signature: Signature | None) -> _Compute:
        """The specialization for these arguments. If they have no signature, it is that of a one-shot call."""
        if signature is None:
            return partial(evaluate, self._operation, plan, self._f)
        key: Any = signature.key
        static = (*signature.static_slots, *plan.without_numbers) if self._keys_static else ()
        last = self._last  # once: another thread may set it meanwhile
        if not static and last is not None and last[0] is plan:
            return last[1]
        if static:
            try:
                key = key, tuple([_static_key(values[n]) for n in static])
            except Unkeyed:
                return partial(evaluate, self._operation, plan, self._f)
        compute = self._known.get(key) or self._specialize(key, plan, values, static)
        self._last = plan, compute
        return compute

    def _specialize(self, key: Any, plan: Plan, values: Sequence[Any], static: Sequence[int]) -> _Compute:
        operation = specialized(self._operation, plan, values, self._f)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                if self._compiles:
                    known = Specialization(operation, self._f, plan, values, static).call  # faster than `__call__`
                else:
                    known = partial(evaluate, operation, plan, self._f)
                self._known.add(key, known)
                self._count += 1
        return known

    def _inside(
        self, plan: Plan, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Prepared, Plan, Sequence[Any], Signature | None]:
        """The prepared call inside the wrappings of a plan, and the plan, values and signature of its arguments."""
        kind, f, args = inside(plan, self._operation.kind, self._original, args)
        inner = self
        if f is not self._original:
            with self._lock:
                inner = self._inner = self._inner or Prepared(kind, self._auto, f)
        return inner, *inner._operation.find_plan(args, kwargs)

    def copy(self) -> Prepared:
        """Another prepared call that starts with the same specializations."""
        new = object.__new__(Prepared)
        vars(new).update(vars(self))
        new._known, new._lock = self._known.copy(), threading.Lock()
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Prepared:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """f, the operator and the backend, without the specializations."""
        operators, keywords = recipe(self._kind)
        return Prepared._again, (operators, keywords, self._original, self._auto, self.max_specializations)

    @staticmethod
    def _again(
        operators: tuple[Any, ...], keywords: dict[str, Any], f: Callable[..., Any], auto: AutoBackend, max_specializations: int
    ) -> Prepared:
        kind, operator, *rest = operators[0], *operators, f, auto
        if not isinstance(kind, type):
            kind, f, auto, _ = _parts(operator, rest[0], tuple(rest[1:]), keywords)
        prepared = Prepared(kind, auto, f)
        prepared.max_specializations = max_specializations
        return prepared

    def __repr__(self) -> str:
        count = len({*map(id, self._known.entries())})
        text = f"{count} specialization" + "s" * (count != 1)
        return f"<{self._operation.name} of {self._name!s} prepared on {self._operation.backend.auto!r}: {text}>"


def _static_key(value: Any) -> Any:
    """The cache key of a static value, or of the data of a node."""
    return value.key() if isinstance(value, Given) else key_of(value)


def _nothing(*args: Any) -> Any:
    return ()


__all__ = ["Prepared", "prepare"]
