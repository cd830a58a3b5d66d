"""`prepare`: an operator on one f, at the speed of the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..call.likeness import Signature
from ..call.messages import require_function
from ..call.plan import Plan
from ..call.state import Changing
from ..contract.auto import AutoBackend
from ..contract.nodes import Unkeyed
from ..tree import Duplicated
from .batched import batched, batched_kind
from .operation import (
    Operation,
    Write,
    evaluate,
    follow,
    operation_of,
    require_apart,
    require_operator,
    specialized,
    stored,
)
from .typed import as_prepare

if TYPE_CHECKING:  # loaded with the first prepared call
    from .specialization import Specialization


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
        #: Whether static values tell specializations apart: they are compiled in, or what is decided once follows from them.
        self._keys_static = self._compiles or operation.specializes
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
        results = specialization.call(values, tangents)
        self._rename(specialization.written())
        return results

    def _rename(self, keys: dict[Any, Any]) -> None:
        """What f itself has written into a static value makes it no other, for which all would be compiled anew."""
        if keys:
            with self._lock:
                for known in self._known.values():
                    known.rename(keys)
                self._known = {known.key: known for known in self._known.values()}

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
            inner._rename(specialization.written())
        return write(result, args, kwargs)

    def _key(self, signature: Signature) -> Any:
        if self._keys_static and signature.static:
            from .specialization import key_of

            return signature.key, tuple([(n, key_of(value)) for n, value in signature.static])
        return signature.key

    def _specialize(self, key: Any, signature: Signature, plan: Plan, values: Sequence[Any]) -> Specialization:
        from .specialization import CompiledSpecialization, Specialization

        operation = specialized(self._operation, plan, values, self._f)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                while len(self._known) >= max(1, self.max_specializations):
                    self._known.pop(next(iter(self._known)))
                if self._compiles:
                    known = CompiledSpecialization(operation, self._f, plan, values, signature)
                else:
                    known = Specialization(operation, self._f, plan, signature.static if self._keys_static else ())
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


def _again(
    kind: Callable[[AutoBackend], Operation], auto: AutoBackend, f: Callable[..., Any], max_specializations: int
) -> Prepared:
    prepared = Prepared(kind, auto, f)
    prepared.max_specializations = max_specializations
    return prepared


def _nothing(*args: Any) -> Any:
    return ()


__all__ = ["Prepared", "prepare"]
