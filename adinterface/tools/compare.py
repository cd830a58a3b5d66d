"""`compare`: one call of an operator on several backends, side by side."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from ..core.call.row import OperatorRow
from ..core.contract.auto import AutoBackend
from ..core.contract.library import NUMPY, PYTHON, dtype_kind, epsilon
from ..core.contract.registry import find
from ..core.operators.pullback import Back, Push
from ..core.tree import Constant, Leaf, Structure, build_gradient, flatten
from .check_gradient import VALUE, GradientCheck, checked
from .comparison import Comparison, engines_of, takes_differences, with_reference
from .facts import arguments_of, fields_of, require_call, row_of_name
from .leaves import named_leaves, nearby, taken_apart
from .measured import LeafDifference, Measured, listed
from .numbers import Array, distances, largest_of, widened
from .probe import counted
from .recording import recording

#: Later calls are repeated until they have taken this long, at least once and at most so many
#: times.
_SECONDS, _MOST_CALLS = 0.2, 20


# Measuring
# ------------------------------------------------------------------------------------------------


@overload
def compare(
    operator: Callable[..., Any],
    f: Callable[..., Any],
    backends: Iterable[AutoBackend],
    /,
    *args: Any,
    **kwargs: Any,
) -> Comparison: ...


@overload
def compare(
    operator: Callable[..., Any],
    functions: Mapping[AutoBackend, Callable[..., Any]],
    /,
    *args: Any,
    **kwargs: Any,
) -> Comparison: ...


def compare(operator: Callable[..., Any], f: Any, /, *args: Any, **kwargs: Any) -> Comparison:
    """Make the same call of an operator with several backends, and report results and costs.

    `compare(operator, f, backends, *args)` compares backends on one function. `compare(operator,
    {backend: f, ...}, *args)` compares implementations of one function, each on its own backend,
    such as a model in PyTorch and its port to JAX; the arguments may be of any library.

    operator: one of this package's operators. The maps of `pullback` and `linearize` are applied
        once, to the same random direction on every backend, and the results are compared.
    args: the list of backend values, or the dict, and the operator's arguments after the backend.
        The first backend that succeeds and is not finite differences is the reference; the first
        that succeeds if there is none.
    kwargs: the operator's keywords.

    For each backend: the result; the largest difference from the reference, for each leaf with its
    path; the time of the first call and the median of later ones (at least one, for about 0.2 s);
    evaluations of f in the first call. Each backend is called twice or more, so f should be pure. A
    backend's error is part of the report. Where `gradient` or `value_and_gradient` differ at a kink
    of f, the report says so. A difference that rounding explains is undecided: the results change
    as much if the arguments, and what f captures, are a few roundings off.

    Raises BackendError if `backends` is not a list of backend values, TypeError if f is neither a
    function nor such a dict.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, compare, gradient
    >>> report = compare(gradient, lambda p: (p["x"] ** 2).sum(), [AutoFiniteDifferences()],
    ...     {"x": np.ones(3)})
    >>> report.agree(), report[AutoFiniteDifferences()].evaluations
    (True, 13)
    """
    functions, args = _functions(operator, f, args)
    name = getattr(operator, "__name__", str(operator))
    row = row_of_name(name)
    call = _Call(operator, name, row, args, kwargs)
    measured = tuple([call.measured(f, backend) for backend, f in functions])
    working = [m for m in measured if m.error is None]
    reference = next(
        (m for m in working if not takes_differences(m.backend)), working[0] if working else None
    )
    coarsest = _coarsest(args, kwargs, working) if working else "float64"
    report = Comparison(name, measured, None, coarsest, row.order if row else 1)
    if reference is None:
        return report
    report = with_reference(report, reference)
    report = _with_kinks(call, report, dict(functions))
    differ = {
        reference.backend,
        *[m.backend for m, difference, _ in report.disagreements() if not difference.note],
    }
    if len(differ) == 1 or report.note:
        return report
    known = [
        replace(m, roundings=call.roundings(f, m)) if backend in differ else m
        for m, (backend, f) in zip(report.backends, functions)
    ]
    return replace(report, backends=tuple(known)).against(reference.backend)


def _functions(
    operator: Callable[..., Any], f: Any, args: tuple[Any, ...]
) -> tuple[list[tuple[AutoBackend, Callable[..., Any]]], tuple[Any, ...]]:
    """Each backend with its function; and the arguments."""
    words = "compare(operator, f, backends, *args)"
    if isinstance(f, Mapping):
        require_call("compare(operator, {backend: f}, *args)", operator, next(iter(f.values()), f))
        return [(backend, f[backend]) for backend in listed(words, f)], args
    if isinstance(f, list) and all(map(callable, f)):
        raise TypeError(
            f"{words}: f is a list. To compare several functions, write a dict with the backend "
            "of each: compare(operator, {backend: f, other: g}, *args)."
        )
    require_call(words, operator, f)
    return [(backend, f) for backend in listed(words, args[0] if args else None)], args[1:]


@dataclass(frozen=True)
class _Call:
    """A call of an operator without f and the backend."""

    operator: Callable[..., Any]
    name: str
    row: OperatorRow | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def measured(self, f: Callable[..., Any], backend: AutoBackend) -> Measured:
        counting = counted(f)

        def call() -> tuple[Any, dict[str, Array], float]:
            start = time.perf_counter()
            return *self.numbers(counting, backend, self.args), time.perf_counter() - start

        try:
            for part in engines_of(backend):
                find(part)  # so that importing the engine is not part of the first call
            with recording() as record:
                result, numbers, first = call()
            evaluations = counting.calls
            leaves = {path: widened(array) for path, array in numbers.items()}
            later = [call()[2]]
            while sum(later) < _SECONDS and len(later) < _MOST_CALLS:
                later.append(call()[2])
            estimated = max([accuracy.relative for accuracy in record.accuracies], default=None)
        except Exception as error:
            return Measured(backend, error=error)
        median = float(np.median(later))
        return Measured(
            backend, result, None, leaves, first, median, evaluations, estimated=estimated
        )

    def numbers(
        self, f: Callable[..., Any], backend: AutoBackend, args: tuple[Any, ...]
    ) -> tuple[Any, dict[str, Array]]:
        """A result, and its numbers by path, such as `gradient[0]['w']`.

        A map is applied once, in a random direction.
        """
        result, numbers = self.operator(f, backend, *args, **self.kwargs), dict[str, Array]()
        # An operator that is not this package's may return a named tuple.
        own = (
            getattr(result, "_fields", (self.name,))
            if self.row is None
            else tuple(fields_of(self.row))
        )
        for path, part in zip(own, result if len(own) > 1 else (result,)):
            if isinstance(part, Back):
                part = part(_random_cotangent(result.value))
            elif isinstance(part, Push):
                part = part(
                    *_filled(
                        *taken_apart(args if self.row is None else arguments_of(self.row, args))
                    )
                )
            numbers |= {
                where: leaf.library.to_numpy(leaf.value) for where, leaf in named_leaves(part, path)
            }
        return result, numbers

    def roundings(self, f: Callable[..., Any], measured: Measured) -> dict[str, float]:
        """How much each leaf of a result changes if f and the arguments are a few roundings off."""
        random, found = np.random.default_rng(0), dict.fromkeys(measured.leaves, 0.0)
        # f may refuse other points; then the difference stays
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were shown
            for _ in range(4):
                other, args, kwargs = (nearby(each, random) for each in (f, self.args, self.kwargs))
                _, numbers = replace(self, kwargs=kwargs).numbers(other, measured.backend, args)
                for path, array in numbers.items():
                    found[path] = max(
                        found[path], largest_of(distances(widened(array), measured.leaves[path]))
                    )
        return found


def _random_cotangent(value: Any) -> Any:
    structure, leaves = flatten(value, "value")
    return _filled([structure], leaves)[0]


def _filled(structures: Iterable[Structure], leaves: Iterable[Leaf]) -> list[Any]:
    """Random numbers, always the same ones, in place of the differentiated leaves."""
    random = np.random.default_rng(0)
    drawn: list[Any] = []
    for leaf in (leaf for leaf in leaves if leaf.differentiated):
        shape, dtype = leaf.library.shape(leaf.value), leaf.library.dtype(leaf.value)
        numbers = random.standard_normal(shape)
        if dtype_kind(dtype) == "complex":
            numbers = numbers + 1j * random.standard_normal(shape)
        if leaf.library is PYTHON or dtype_kind(dtype) == "integer":
            drawn.append(NUMPY.asarray(numbers).item() if shape == () else numbers.round())
        else:
            drawn.append(leaf.library.asarray(numbers, dtype=dtype, like=leaf.value))
    entries = iter(drawn)
    return [build_gradient(structure, entries) for structure in structures]


# Comparing
# ------------------------------------------------------------------------------------------------


def _coarsest(args: tuple[Any, ...], kwargs: dict[str, Any], measured: list[Measured]) -> str:
    """The coarsest floating dtype among the arguments and the results."""
    trees = [Constant((args, kwargs)), *[_without_maps(m.result) for m in measured]]
    dtypes = {
        leaf.library.dtype(leaf.value) for tree in trees for _, leaf in named_leaves(tree, "")
    }
    floating = sorted(
        dtype
        for dtype in dtypes
        if dtype_kind(dtype) in ("real", "complex") and dtype not in ("float", "complex")
    )
    return max(floating, key=epsilon, default="float64")


def _without_maps(result: Any) -> Any:
    return (
        tuple([part for part in result if not isinstance(part, (Back, Push))])
        if hasattr(result, "_fields")
        else result
    )


# Kinks
# ------------------------------------------------------------------------------------------------


def _with_kinks(
    call: _Call, report: Comparison, functions: Mapping[AutoBackend, Callable[..., Any]]
) -> Comparison:
    """The report with the leaves at a kink of f marked.

    Or with a note, if f does not repeat its value.
    """
    reference, row = report.reference, call.row
    if (
        row is None
        or row.order == 2
        or fields_of(row).get("gradient") != "arguments"
        or reference is None
    ):
        return report
    suspects = [
        (m.backend, d.path)
        for m, d, _ in report.disagreements()
        if not d.note and d.path.startswith("gradient")
    ]
    if not suspects:
        return report
    f, checks = functions[reference.backend], dict[AutoBackend, GradientCheck]()
    # f may refuse other points; then the difference stays
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were shown
        for backend in dict.fromkeys([reference.backend, *[backend for backend, _ in suspects]]):
            own = functools.partial(call.operator, functions[backend], backend)
            checks[backend] = checked(f, reference.backend, own, call.args, call.kwargs)
    first = checks.get(reference.backend)
    if first is None or not checks.keys() >= {backend for backend, _ in suspects}:
        return report
    if first.whole and first.whole[0].path == VALUE:
        return replace(report, note=first.whole[0].note)

    def said(m: Measured, path: str) -> set[str]:
        """The statuses of a leaf and of single numbers in it."""
        own = path.replace("gradient", "args", 1)
        return {
            leaf.status
            for leaf in checks.get(m.backend, first).leaves
            if own in (leaf.path, leaf.path.rpartition("[")[0])
        }

    kinked = {path for _, path in suspects if any("kink" in said(m, path) for m in report.backends)}
    known = [
        replace(m, kinks=frozenset([path for path in kinked if said(m, path) <= {"right", "kink"}]))
        for m in report.backends
    ]
    return replace(report, backends=tuple(known)).against(reference.backend)


__all__ = ["Comparison", "LeafDifference", "Measured", "compare"]
