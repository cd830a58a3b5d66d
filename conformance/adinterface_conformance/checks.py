"""Laws of every scenario on every backend: `check(scenario, backend)` returns, or raises
AssertionError.

To add one, decorate a function of a `Case` with `check`, and say where it applies. Known failures
refer to the check by the name of the function; its first line describes it in the table.
"""

from __future__ import annotations

import contextvars
import dataclasses
import faulthandler
import functools
import gc
import importlib.util
import itertools
import pickle
import sys
import traceback
import tracemalloc
import warnings
import weakref
import zlib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import adinterface
from adinterface import (
    AutoBackend,
    AutoSparse,
    Constant,
    DisconnectedWarning,
    Each,
    OutputError,
    PrecisionWarning,
)
from adinterface.core.contract import Backend, NodeType
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.library import Library, dtype_kind, width
from adinterface.core.contract.registry import find
from adinterface.core.operators.table import FieldForm, OperatorRow
from adinterface.core.tree import handler_of
from adinterface.sparse.operators import SPARSE
from adinterface.tools.facts import fields_of, operator_of, plain_of

from . import laws, ownership
from .accuracy import does_not_nest
from .arguments import shifted
from .case import Case, Counted, case_of, quiet, row_of
from .scenario import OneOf, Scenario
from .state import changes, global_state, pair_of, restored
from .trees import (
    array_dtype_of,
    assert_close,
    describe,
    dtype_of,
    floating,
    has_derivative,
    is_number,
    leaves_inside,
    leaves_of,
    like,
    mapped,
    nodes,
    shape_of,
)

#: Which operators a law holds of, from what their row says.
Operators = Callable[[OperatorRow], bool]


def every(row: OperatorRow) -> bool:
    return True


def with_fields(*names: str, order: int | None = None) -> Operators:
    """The operators whose result has one of these fields, taking so many derivatives."""
    return lambda row: order in (None, row.order) and any(name in names for name in fields_of(row))


def _with_companion(row: OperatorRow) -> bool:
    return plain_of(row) is not None


def _gradient_of_scalar(row: OperatorRow) -> bool:
    return row.order == 1 and row.output != "tree"


class Check(NamedTuple):
    """One law, and where it applies."""

    function: Callable[[Scenario, AutoBackend], None]
    operators: Operators
    #: Scenarios with one of these tags are left out.
    without: frozenset[str]
    #: One scenario in so many is taken, unless all are asked for: what is dear need not be repeated
    #: everywhere.
    share: int
    #: A further condition on the scenario.
    condition: Callable[[Scenario, AutoBackend], bool]
    #: Why a backend is not asked for it, in words; empty if it is.
    unasked: Callable[[AutoBackend], str]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def law(self) -> Callable[[Case], None]:
        """What it asks of a case."""
        law: Callable[[Case], None] = self.function.__wrapped__  # type: ignore[attr-defined]
        return law

    @property
    def summary(self) -> str:
        return (self.function.__doc__ or "").partition("\n")[0]

    def applies(
        self, scenario: Scenario, backend: AutoBackend, *, everything: bool = False
    ) -> bool:
        """Whether the law is to be checked for this scenario.

        With `everything` also where a sample would do.
        """
        return (
            not self.unasked(backend)
            and self.operators(row_of(scenario))
            and not scenario.tags & self.without
            and (
                everything
                or self.share == 1
                or _sampled(f"{self.name} {scenario.name}", self.share)
            )
            and self.condition(scenario, backend)
        )


def _sampled(name: str, share: int) -> bool:
    return zlib.crc32(name.encode()) % share == 0


def _always(scenario: Scenario, backend: AutoBackend) -> bool:
    return True


CHECKS: dict[str, Check] = {}


def check(
    operators: Operators = every,
    *,
    without: Collection[str] = (),
    share: int = 1,
    condition: Callable[[Scenario, AutoBackend], bool] = _always,
    unasked: Callable[[AutoBackend], str] = lambda backend: "",
) -> Callable[[Callable[[Case], None]], Callable[[Scenario, AutoBackend], None]]:
    """Make a check from a law of a `Case`, and register it in CHECKS.

    operators: those for which it holds, such as `with_fields("gradient")`; all by default. For the
    rest see `Check`.
    """

    def register(law: Callable[[Case], None]) -> Callable[[Scenario, AutoBackend], None]:
        @functools.wraps(law)
        def checked(scenario: Scenario, backend: AutoBackend) -> None:
            # before `quiet`, which would take back what an engine sets when it is imported
            case = case_of(scenario, backend)
            with quiet():
                law(case)

        entry = Check(checked, operators, frozenset(without), share, condition, unasked)
        CHECKS[entry.name] = entry
        return checked

    return register


@check()
def runs(case: Case) -> None:
    """The operator returns; if it does not, nothing else is checked."""
    case.run()


# Numbers
# ------------------------------------------------------------------------------------------------


@check(
    condition=lambda scenario, backend: (
        scenario.expected is not None and backend.name not in scenario.documented
    )
)
def formula(case: Case) -> None:
    """The result is the closed form."""
    _compare(case, case.scenario.expected)


@check(condition=lambda scenario, backend: backend.name in scenario.documented)
def documented(case: Case) -> None:
    """At a kink the result is what is documented for this engine."""
    answer = case.scenario.documented[case.backend.name]
    failures = []
    for wanted in answer.answers if isinstance(answer, OneOf) else (answer,):
        try:
            return _compare(case, wanted)
        except AssertionError as error:
            failures.append(str(error))
    raise AssertionError("; and: ".join(failures))


def _compare(case: Case, expected: Any) -> None:
    parts = case.run()
    wanted = (expected,) if len(parts) == 1 else tuple(expected)
    assert len(wanted) == len(parts), (
        f"the scenario expects {len(wanted)} parts, {case.name} gives {len(parts)}"
    )
    rtol, scale = case.rtol(), case.scale(parts)
    for (part, got), numbers in zip(parts.items(), wanted):
        assert_close(got, numbers, part, rtol, scale)


@check(with_fields("value"))
def value(case: Case) -> None:
    """The value is what f returns, also what is auxiliary in it."""
    for template, got, path in nodes(case.value, case.run()["value"], "value"):
        if is_number(template) and is_number(got):
            assert_close(got, np.asarray(template), path, max(1e-12, case.scenario.rtol))
        else:
            assert got is template or got == template, (
                f"{path}: got {describe(got)}, wanted {describe(template)}"
            )


@check(_with_companion)
def companion(case: Case) -> None:
    """The operator with the value returns the result of the plain operator, for no more evaluations
    of f.

    A central difference needs no evaluation at the point itself. So without reverse mode the
    companion may cost a third gradient for a Hessian-vector product, and a value.
    """
    plain = plain_of(case.row)
    assert plain is not None
    f = case.scenario.f
    if case.row.output == "scalar and aux" and not is_number(case.value):

        def f(*args: Any, **kwargs: Any) -> Any:
            return ownership.scalar_of(case.scenario.f(*args, **kwargs))

    counted = Counted(f)
    part = case.run()[plain.name]
    assert_close(part, case.apply(operator_of(plain), counted), plain.name, 1e-12)
    outer = (
        case.backend.outer if isinstance(case.backend, adinterface.SecondOrder) else case.backend
    )
    at_once = "pullback" in adinterface.core.contract.registry.find(outer).gives
    allowed = counted.calls if at_once else counted.calls * 3 // 2 + 1
    assert case.calls <= allowed, (
        f"{case.name} evaluates f {case.calls} times, {plain.name} {counted.calls} times"
    )


@check(share=4)
def deterministic(case: Case) -> None:
    """A second call gives the same numbers, to the last bit."""
    for part, got in case.again().items():
        assert_close(got, case.run()[part], f"second {part}", 0.0)


# Form
# ------------------------------------------------------------------------------------------------


@check()
def structure(case: Case) -> None:
    """Every result has the structure and the shapes that its arguments or f's value prescribe."""
    for part, got in case.run().items():
        _walk(case, part, got, _same_shape)


@check()
def dtype(case: Case) -> None:
    """Every result has the library, the dtype and the device that its arguments or f's value
    prescribe.
    """
    for part, got in case.run().items():
        _walk(case, part, got, functools.partial(_same_type, case))


#: What is asked of a leaf: `(result, the leaf of f's value, the leaves of the arguments in front of
#: it, path)`.
Rule = Callable[[Any, Any, tuple[Any, ...], str], None]


def _walk(case: Case, part: str, got: Any, rule: Rule) -> None:
    """`rule` at every leaf of one field of a result, whose nodes and Nones are compared on the
    way.
    """
    args = case.arguments.args
    form: FieldForm = case.forms[part]
    if form == "value":
        for template, other, path in nodes(case.value, got, part):
            if has_derivative(template):
                assert is_number(other), f"{path}: got {describe(other)}, wanted a number"
                rule(other, template, (), path)
    elif form in ("tangent", "push"):
        like(case.value, got, part, lambda y, other, path: rule(other, y, (), path))
    elif form == "jacobian":
        like(case.value, got, part, lambda y, other, path: _arguments(args, other, path, rule, y))
    elif form == "hessian":
        x = args[0]
        like(
            x,
            got,
            part,
            lambda row, other, path: like(x, other, path, _leaf(rule, None, row), argument=True),
            argument=True,
        )
    elif form == "argument":
        like(args[0], got, part, _leaf(rule, None), argument=True)
    elif form in ("arguments", "back"):
        _arguments(args, got, part, rule, None)
    else:
        raise TypeError(
            f"{case.name}: no check knows the form {form!r} of {part!r}. Add the form to `_walk` in"
            " conformance/adinterface_conformance/checks.py."
        )


def _arguments(args: tuple[Any, ...], got: Any, path: str, rule: Rule, y: Any) -> None:
    assert type(got) is tuple, f"{path}: got {describe(got)}, wanted a tuple"
    assert len(got) == len(args), (
        f"{path}: got {len(got)} entries, wanted {len(args)}, one for each argument"
    )
    for i, (arg, other) in enumerate(zip(args, got)):
        like(arg, other, f"{path}[{i}]", _leaf(rule, y), argument=True)


def _leaf(rule: Rule, y: Any, *rows: Any) -> Callable[[Any, Any, str], None]:
    def apply(x: Any, other: Any, path: str) -> None:
        assert is_number(other), f"{path}: got {describe(other)}, wanted a number"
        rule(other, y, (*rows, x), path)

    return apply


def _same_shape(got: Any, y: Any, xs: tuple[Any, ...], path: str) -> None:
    wanted = sum([shape_of(leaf) for leaf in (() if y is None else (y,)) + xs], ())
    assert shape_of(got) == wanted, f"{path}: got the shape {shape_of(got)}, wanted {wanted}"


def _same_type(case: Case, got: Any, y: Any, xs: tuple[Any, ...], path: str) -> None:
    plain = y is None and len(xs) == 1
    if plain and type(xs[0]) in (int, float, complex):
        wanted: type = complex if type(xs[0]) is complex else float
        assert type(got) is wanted, f"{path}: got {describe(got)}, wanted a {wanted.__name__}"
        return
    if plain:
        _same_library(got, xs[0], path)
        dtype = dtype_of(xs[0])
        wanted_dtype = case.arguments.dtypes[0] if dtype_kind(dtype) == "integer" else dtype
        if dtype_kind(dtype) != "integer" or len(case.arguments.dtypes) == 1:
            assert dtype_of(got) == wanted_dtype, (
                f"{path}: got {dtype_of(got)}, wanted {wanted_dtype}"
            )
        if isinstance(xs[0], np.ndarray) and dtype_kind(dtype) != "integer":
            assert got.dtype == xs[0].dtype, (
                f"{path}: got the byte order of {got.dtype.str}, wanted {xs[0].dtype.str}"
            )
        return
    leaves = xs if y is None else (y, *xs)
    if case.arguments.python and all(shape_of(leaf) == () for leaf in leaves):
        assert type(got) in (float, complex), f"{path}: got {describe(got)}, wanted a Python number"
        return
    first = case.arguments.first_array
    _same_library(got, np.asarray(first) if isinstance(first, np.generic) else first, path)
    wide = {
        width(case.arguments.number if type(leaf) in (float, complex) else array_dtype_of(leaf))
        for leaf in leaves
    }
    if len(wide) == 1 and not any(case.arguments.promoted):
        own = width(dtype_of(got))
        assert own in wide, f"{path}: got {dtype_of(got)}, wanted a dtype of {wide.pop()} bits"
    complex_ = any(dtype_kind(array_dtype_of(leaf)) == "complex" for leaf in leaves)
    assert (dtype_kind(dtype_of(got)) == "complex") == complex_, (
        f"{path}: got {dtype_of(got)}, wanted complex: {complex_}"
    )


def _same_library(got: Any, wanted: Any, path: str) -> None:
    mine, theirs = handler_of(got, scan=False), handler_of(wanted, scan=False)
    scalar = isinstance(wanted, np.generic)
    right = mine is theirs and isinstance(got, np.generic) == scalar
    assert right, (
        f"{path}: got {describe(got)}, wanted"
        f" {'a NumPy scalar' if scalar else f'a {type(wanted).__name__}'}"
    )
    assert not (isinstance(mine, Library) and mine.traced(got)), (
        f"{path}: still traced, without a derivative around the call"
    )
    devices = getattr(got, "device", None), getattr(wanted, "device", None)
    assert devices[0] == devices[1], f"{path}: on {devices[0]}, wanted {devices[1]}"


@check()
def memory(case: Case) -> None:
    """Results are writable and dense, and overlap neither each other nor an argument."""
    places = [place for part, got in case.run().items() for place in leaves_of(got, part)]
    arrays = [(path, leaf) for path, leaf in places if isinstance(leaf, np.ndarray) and leaf.size]
    others = [(path, leaf) for path, leaf in case.inputs() if leaf.size]
    for path, leaf in arrays:
        assert leaf.flags.writeable, f"{path} is read-only"
        assert leaf.flags.c_contiguous or leaf.flags.f_contiguous, (
            f"{path} is not dense: strides {leaf.strides}"
        )
    spans = [(*np.lib.array_utils.byte_bounds(leaf), True, path) for path, leaf in arrays]
    spans += [(*np.lib.array_utils.byte_bounds(leaf), False, path) for path, leaf in others]
    for (_, end, mine, path), (start, _, other, other_path) in itertools.pairwise(sorted(spans)):
        assert start >= end or not (mine or other), f"{path} overlaps {other_path}"


# Laws
# ------------------------------------------------------------------------------------------------


@check(with_fields("back", "push", "tangent"), without=("kink",))
def adjointness(case: Case) -> None:
    """<push(v), w> = <v, back(w)>, in the real inner product Re sum(conj(a) b)."""
    laws.adjointness(case)


@check(
    with_fields("gradient", "jacobian", "derivative", order=1),
    without=("discrete", "kink"),
    share=4,
)
def consistency(case: Case) -> None:
    """A gradient agrees with the pushforward of f, a Jacobian or derivative with its pullback."""
    laws.adjointness(case)


@check(with_fields("back", "push", "hvp"), without=("kink",))
def linearity(case: Case) -> None:
    """`back`, `push` and the Hessian are linear maps, and return the same when called again."""
    laws.linearity(case)


@check(with_fields("back", "push"), share=4)
def stacks(case: Case) -> None:
    """A stack of cotangents or tangents gives what its entries give."""
    laws.stacks(case)


@check(with_fields("hessian", "hvp"), without=("kink",))
def symmetry(case: Case) -> None:
    """The Hessian is symmetric."""
    laws.symmetry(case)


@check(without=("kink", "ignored"))
def taylor(case: Case) -> None:
    """The error of the Taylor polynomial falls as the next power of the step."""
    laws.taylor(case)


# Ownership
# ------------------------------------------------------------------------------------------------


def _exact_reals(scenario: Scenario, backend: AutoBackend) -> bool:
    """Whether all numbers are real and of 64 bits, as sums with numbers of an outer derivative need
    it.
    """
    case = case_of(scenario, backend)
    dtypes = [*case.arguments.dtypes, *map(array_dtype_of, case.value_leaves())]
    return set(dtypes) <= {"float64"} and not any(case.arguments.promoted)


def _exact_arrays(scenario: Scenario, backend: AutoBackend) -> bool:
    """As `_exact_reals`, without Python numbers, which are equal to nothing but numbers."""
    leaves = case_of(scenario, backend).arguments.leaves
    return _exact_reals(scenario, backend) and not any(type(leaf) is float for leaf in leaves)


@check(share=2, condition=_exact_arrays)
def constants(case: Case) -> None:
    """What is given as a Constant or keyword is constant, although it is an argument, too."""
    ownership.constants(case)


@check(without=("kink",), share=4, condition=_exact_reals, unasked=does_not_nest)
def outer(case: Case) -> None:
    """An outer derivative passes through Constants and keywords."""
    ownership.outer(case)


@check(
    with_fields("back", "push"),
    without=("kink",),
    share=2,
    condition=_exact_reals,
    unasked=does_not_nest,
)
def maps_outside(case: Case) -> None:
    """An outer derivative passes through `back` and `push` that were made outside of it."""
    ownership.maps_outside(case)


@check(share=4)
def identity(case: Case) -> None:
    """f gets the very objects that the caller passed, one-shot and prepared, also in lists, dicts
    and sets.
    """
    ownership.identity(case)


@check(
    lambda row: row.order == 2 and row.output != "tree",
    without=("kink", "discrete"),
    share=2,
    condition=_exact_reals,
)
def recorded(case: Case) -> None:
    """A second derivative through a rule is right, also in a loop, or it is refused."""
    ownership.recorded(case)


# Behaviour
# ------------------------------------------------------------------------------------------------


@check(
    with_fields("gradient", "back", order=1),
    condition=lambda scenario, backend: case_of(scenario, backend).reverse,
)
def evaluations(case: Case) -> None:
    """An engine with a pullback evaluates f exactly once."""
    case.run()
    assert case.calls == 1, f"{case.name} evaluated f {case.calls} times, wanted once"
    assert case.counted.calls == 1, (
        f"back evaluated f {case.counted.calls - 1} times more, wanted never"
    )


@check()
def arguments_untouched(case: Case) -> None:
    """No argument is written to."""
    case.run()
    assert not case.written, f"{', '.join(case.written)} was written to"


@check()
def received(case: Case) -> None:
    """f gets the dtypes and shapes that the caller passed, and unchanged fixed values, integers in
    a Constant too.
    """
    case.run()
    assert not case.counted.seen, case.counted.seen


def _lacks_arrays(backend: AutoBackend) -> str:
    library = find(pair_of(backend)[1]).library
    return "it has no arrays of its own" if library is None or library.plain_numpy else ""


@check(share=4, condition=lambda scenario, backend: _has_arrays(scenario), unasked=_lacks_arrays)
def own_arrays(case: Case) -> None:
    """For arrays of the engine as arguments the results have the same numbers, in arrays of the
    engine.
    """
    scenario, plain = case.scenario, case.run()
    native = functools.partial(_native, case.engine.libraries[0])
    args, kwargs, seed = (
        mapped(native, given) for given in (scenario.args, dict(scenario.kwargs), scenario.seed)
    )
    tangents = None if scenario.tangents is None else mapped(native, scenario.tangents)
    own = Case(
        dataclasses.replace(scenario, args=args, kwargs=kwargs, seed=seed, tangents=tangents),
        case.backend,
    )
    if scenario.tangents is None:
        own.once("direction tangents", lambda: case.direction("tangents"))
    if scenario.seed is None and "back" in case.forms:
        own.once("codirection seed", lambda: case.codirection("seed"))
    for part, got in own.run().items():
        assert_close(got, plain[part], part, case.rtol(), case.scale(plain))
        _walk(own, part, got, _same_shape)
        _walk(own, part, got, functools.partial(_same_type, own))
    assert not own.counted.seen, own.counted.seen


def _native(library: Library, leaf: Any) -> Any:
    """A floating array as an array of the engine, which may lack its dtype."""
    if isinstance(leaf, Constant):
        return Constant(mapped(functools.partial(_native, library), leaf.value))
    try:
        return library.asarray(leaf) if _is_floating_array(leaf) else leaf
    except PrecisionError:
        return leaf


@check(share=4)
def prepared(case: Case) -> None:
    """A call prepared for other numbers returns the result of a plain one, for no more evaluations.

    A compiler refuses branches.

    Earlier results stay unchanged, also when the caller writes into the arrays that it passed.
    """
    plain = case.run()
    args, kwargs = case.given()
    others, other_kwargs = shifted(args), shifted(kwargs)
    counted = Counted(case.scenario.f, functools.partial(case.arguments.mistaken, prepared=True))
    try:
        fast = adinterface.prepare(
            case.scenario.operator, counted, case.backend, *shifted(args), **shifted(kwargs)
        )
        before = fast(*others, **other_kwargs)
        counted.calls, known = 0, _kept(case.parts(before))
        result = fast(*args, **kwargs)
        parts = case.parts(result)
    except Exception as error:
        if "value-dependent" in case.scenario.tags and getattr(error, "__notes__", None):
            return
        raise
    calls = counted.calls
    assert fast.specializations == 1, (
        f"{fast.specializations} specializations for arguments of one kind, wanted 1"
    )
    assert not counted.seen, counted.seen
    for part, got in parts.items():
        assert_close(got, plain[part], part, case.rtol(), case.scale(plain))
        _walk(case, part, got, _same_shape)
        _walk(case, part, got, functools.partial(_same_type, case))
    assert calls <= case.counted.calls, (
        f"prepared, {case.name} evaluates f {calls} times, plain {case.counted.calls} times"
    )
    overwrite(others, other_kwargs)
    for part, got in case.parts(before).items():
        assert_close(got, known[part], f"{part} of the call before", 1e-12)


def _lacks_scipy(backend: AutoBackend) -> str:
    return "" if importlib.util.find_spec("scipy") is not None else "SciPy is not installed"


@check(
    lambda row: row in SPARSE,
    without=("complex", "complex64", "float16", "kink"),
    share=8,
    unasked=_lacks_scipy,
)
def sparse(case: Case) -> None:
    """AutoSparse returns the same blocks as sparse matrices, from a pattern that it detected and
    checked.
    """
    plain = case.run()
    args, kwargs = case.given()
    result = case.scenario.operator(case.scenario.f, AutoSparse(case.backend), *args, **kwargs)
    parts = case.parts(result)
    for part in {"jacobian", "hessian"} & set(parts):
        pairs = list(_sparse_pairs(parts[part], plain[part]))
        assert pairs, f"{part} holds no matrix"
        for matrix, block in pairs:
            assert matrix.format == "csr", matrix.format
            expected = np.asarray(_numbers_of(block))
            assert matrix.nnz <= expected.size, (
                f"{part} has {matrix.nnz} entries of {expected.size}"
            )
            found = matrix.toarray().reshape(expected.shape)
            assert_close(found, expected, part, 10 * case.rtol(), case.scale(plain))


def _numbers_of(array: Any) -> Any:
    """The numbers of an array of any library."""
    library = handler_of(array, scan=False)
    return library.to_numpy(array) if isinstance(library, Library) else array


def _sparse_pairs(got: Any, wanted: Any) -> Iterator[tuple[Any, Any]]:
    """The matrices of a result of AutoSparse, each with the dense block in its place."""
    if hasattr(got, "toarray"):
        yield got, wanted
        return
    handler = handler_of(got, scan=False)
    if isinstance(handler, NodeType):
        for one, other in zip(handler.flatten(got)[0], handler.flatten(wanted)[0], strict=True):
            yield from _sparse_pairs(one, other)


def _kept(parts: dict[str, Any]) -> dict[str, Any]:
    """A copy of some results."""
    return {
        part: mapped(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, got)
        for part, got in parts.items()
    }


def overwrite(*trees: Any) -> None:
    """Write into every NumPy array that can be written to."""
    for tree in trees:
        for _, leaf in leaves_inside(tree, ""):
            if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
                leaf[...] = 0.37 - 1.3 * leaf if leaf.dtype.kind in "fc" else 0


@check(without=("discrete",), share=8, condition=lambda scenario, backend: _has_arrays(scenario))
def batched(case: Case) -> None:
    """With an axis on every array, a batched call returns the results of a loop over the
    entries.
    """
    args, kwargs = case.given()
    both = mapped(_of_two, (args, kwargs))
    try:
        with warnings.catch_warnings():
            # an engine may say that it takes some function entry by entry
            warnings.simplefilter("ignore", UserWarning)
            result = adinterface.batched(
                case.scenario.operator, case.scenario.f, case.backend, *both[0], **both[1]
            )
    except Exception as error:
        if "value-dependent" in case.scenario.tags and getattr(error, "__notes__", None):
            return
        raise
    second_args, second_kwargs = mapped(_second, (args, kwargs))
    second = case.parts(
        case.scenario.operator(case.scenario.f, case.backend, *second_args, **second_kwargs)
    )
    rows = [floating(case.run()), floating(second)]
    if "back" in case.forms:
        value, back = result
        result = value, back(case.stacked_cotangent([case.seed_leaves()] * 2))
    elif "push" in case.forms:
        value, push = result
        result = value, push(*case.stacked_tangents([case.tangent_leaves()] * 2))
    got = floating(result)
    assert [len(row) for row in rows] == [len(got)] * 2, f"{len(got)} leaves, wanted {len(rows[0])}"
    for n, leaf in enumerate(got):
        wanted = np.stack([row[n] for row in rows])
        scale = max(case.scale(case.run()) or 1e-3, float(np.max(np.abs(wanted), initial=0.0)))
        assert_close(leaf, wanted, f"leaf {n}", case.rtol(), scale)


def _is_floating_array(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc"


def _has_arrays(scenario: Scenario) -> bool:
    return any(
        _is_floating_array(leaf)
        for _, leaf in leaves_inside((scenario.args, dict(scenario.kwargs)), "")
    )


def _second(leaf: Any) -> Any:
    """Other arrays; numbers are the same for all entries."""
    if isinstance(leaf, Constant):
        return Constant(mapped(_second, leaf.value))
    return shifted(leaf) if _is_floating_array(leaf) else leaf


def _of_two(leaf: Any) -> Any:
    if isinstance(leaf, Constant):
        return Constant(mapped(_of_two, leaf.value))
    return Each(np.stack([leaf, shifted(leaf)])) if _is_floating_array(leaf) else leaf


@check(with_fields("back", "push"), share=2)
def snapshot(case: Case) -> None:
    """Later writes of the caller into its arrays or a result do not change the results of `back`
    and `push`.
    """
    plain = case.run()
    args, kwargs = shifted(case.given(), 1.0)
    result = case.scenario.operator(case.scenario.f, case.backend, *args, **kwargs)
    overwrite(args, kwargs, next(iter(result)))
    for turn in ("first", "second"):
        got = list(case.parts(result).items())[-1]
        assert_close(
            got[1],
            plain[got[0]],
            f"{got[0]}, called the {turn} time after arrays were written to",
            1e-12,
        )
        overwrite(got[1])


class Stop(Exception):
    """Raised by f of a scenario, to test whether it is propagated."""


@check(share=4)
def exceptions(case: Case) -> None:
    """Errors of f are raised unchanged, and leave no state."""
    error, arrived = _raised(case, Stop("raised by f"))
    assert arrived is error, f"f raised Stop, and from {case.name} came {arrived!r}"
    assert error.__cause__ is None, f"the error of f was raised from {error.__cause__!r}"
    assert not error.__suppress_context__, "the error of f lost what it was raised in"
    assert "f's own note" in error.__notes__, (
        f"the error of f lost its note, and has {error.__notes__}"
    )
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert frames[-1] == "raising", f"the traceback ends in {frames[-1]}, and not where f raised"


@check(share=8)
def interrupts(case: Case) -> None:
    """An interrupt while f runs is raised unchanged, leaves no state, thread or trace, and the next
    call is right.
    """
    known = case.run()
    sent, arrived = _raised(case, KeyboardInterrupt())
    assert arrived is sent, f"f was interrupted, and from {case.name} came {arrived!r}"
    for part, got in case.again().items():
        assert_close(got, known[part], f"{part} after an interrupt", 1e-12)


def _raised(case: Case, error: BaseException) -> tuple[BaseException, BaseException | None]:
    """The error that f raises at its end, and the error of the call.

    Raises AssertionError if it leaves state.
    """
    error.add_note("f's own note")

    def raising(*args: Any, **kwargs: Any) -> Any:
        case.scenario.f(*args, **kwargs)
        raise error

    arrived: BaseException | None = None
    with restored():
        before = global_state(case.backend)
        try:
            case.apply(case.scenario.operator, raising)
        except (Exception, KeyboardInterrupt) as caught:
            arrived = caught
        changed = changes(before, global_state(case.backend))
    assert not changed, "; ".join(changed)
    return error, arrived


class ScenarioWarning(UserWarning):
    """Raised by f of a scenario, to test whether it is shown."""


@check(share=4)
def warns(case: Case) -> None:
    """Warnings of f are shown, and no others, except that an engine may warn of a disconnected
    value.
    """

    def telling(*args: Any, **kwargs: Any) -> Any:
        warnings.warn("f says so", ScenarioWarning, stacklevel=1)
        return case.scenario.f(*args, **kwargs)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        case.apply(case.scenario.operator, telling)
    kinds = [each.category for each in found]
    assert ScenarioWarning in kinds, f"f gave a warning, and from {case.name} came none of it"
    with warnings.catch_warnings(record=True) as own, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        case.evaluate(case.point)
    # An engine that estimates its errors may say that they are large, where there is no derivative.
    known = {
        ScenarioWarning,
        *(each.category for each in own),
        *([PrecisionWarning] if "kink" in case.scenario.tags else []),
    }
    disconnected = "disconnected" in case.scenario.tags
    others = [
        f"{each.category.__name__}: {each.message}" for each in found if each.category not in known
    ]
    if not disconnected:
        assert not others, f"{case.name} warns: {others[0]}"
    elif with_fields("gradient", order=1)(case.row) and case.tells_disconnected:
        assert DisconnectedWarning in kinds, (
            f"f depends on no argument, and {case.name} gives no DisconnectedWarning"
        )


@check(share=48)
def growth(case: Case) -> None:
    """Calls keep no reference to f, arguments or results, and no memory except the caches of a
    compiler.
    """
    case.run()
    for what, reference in _called_with_its_own(case):
        if reference() is not None:
            gc.collect()
        assert reference() is None, f"{case.name} holds on to {what}"
    if case.engine.compile(_nothing) is not None:
        return

    def held() -> tuple[int, int]:
        """Bytes that are allocated, and objects that the garbage collector follows."""
        for _ in range(CALLS):
            case.again()
        gc.collect()
        return tracemalloc.get_traced_memory()[0], len(gc.get_objects())

    gc.freeze()  # so that only what is made from here on is looked through
    tracemalloc.start()
    try:
        amounts = [held() for _ in range(5)]
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    pairs = list(itertools.pairwise(amounts[1:]))
    size, objects = min(b[0] - a[0] for a, b in pairs), min(b[1] - a[1] for a, b in pairs)
    assert size < CALLS * LEAST, f"each call of {case.name} holds on to {size // CALLS} bytes"
    assert objects < CALLS, f"each call of {case.name} holds on to {objects // CALLS} objects"


#: How many calls are measured together.
CALLS = 6
#: More than the free lists and caches of Python and NumPy grow by, in bytes.
LEAST = 4096


def _called_with_its_own(case: Case) -> list[tuple[str, weakref.ref[Any]]]:
    """Weak references to the f, the arrays and the results of one call."""

    def f(*args: Any, **kwargs: Any) -> Any:
        return case.scenario.f(*args, **kwargs)

    args, kwargs = shifted(case.given(), 1.0)
    results = case.parts(case.scenario.operator(f, case.backend, *args, **kwargs))
    places = [*leaves_inside((args, kwargs), "argument"), *leaves_of(results)]
    # Not of what results have in common with the scenario: what f captures, or its constants.
    own = {id(leaf) for _, leaf in case.inputs()}
    arrays = [
        (path, leaf)
        for path, leaf in places
        if isinstance(leaf, np.ndarray) and id(leaf) not in own
    ]
    return [("f", weakref.ref(f)), *((path, weakref.ref(leaf)) for path, leaf in arrays)]


def _nothing(*arrays: Any) -> Any:
    return ()


@check(
    _gradient_of_scalar,
    share=4,
    condition=lambda scenario, backend: hasattr(
        ownership.scalar_of(case_of(scenario, backend).value), "dtype"
    ),
)
def refuses_what_is_no_scalar(case: Case) -> None:
    """An f that returns an array instead of a scalar is refused before any backward pass."""

    def array(*args: Any, **kwargs: Any) -> Any:
        returned = ownership.scalar_of(case.scenario.f(*args, **kwargs))
        return adinterface.array_namespace(returned).stack([returned, returned])

    try:
        returned = case.apply(case.scenario.operator, array)
    except OutputError:
        return
    raise AssertionError(
        f"f gave an array of shape (2,), and {case.name} returned {describe(returned)}"
    )


@check(share=16)
def threads(case: Case) -> None:
    """Eight threads at once get the same numbers."""
    expected = case.run()
    faulthandler.dump_traceback_later(
        600, exit=True, file=sys.__stderr__ or sys.stderr
    )  # a deadlock of an engine ends with the stacks
    try:
        with ThreadPoolExecutor(8) as pool:
            # Each thread in a copy of this context, because NumPy's error state is one of its
            # variables.
            tasks = [pool.submit(contextvars.copy_context().run, case.again) for _ in range(8)]
            results = [task.result() for task in tasks]
    finally:
        faulthandler.cancel_dump_traceback_later()
    for n, result in enumerate(results):
        for part, got in result.items():
            assert_close(got, expected[part], f"thread {n}: {part}", 0.0)


@check(
    with_fields("gradient", "jacobian", order=1),
    share=8,
    condition=lambda scenario, backend: getattr(backend, "executor", ...) is None,
)
def workers(case: Case) -> None:
    """Evaluated on workers, the result is the same, and equal to the bit for any number of
    workers.
    """
    results = []
    for count in (1, 3):
        with ThreadPoolExecutor(count) as pool:
            results.append(case.again(dataclasses.replace(case.backend, executor=pool)))  # type: ignore[call-arg]
    expected = case.run()
    for part, got in results[0].items():
        assert_close(got, expected[part], part, case.rtol(), case.scale(expected))
        assert_close(results[1][part], got, f"{part}, by three workers", 0.0)


@check(share=8)
def picklable(case: Case) -> None:
    """The backend is a value: it can be pickled, and its copy is equal, has the same hash, and
    works.
    """
    copy = pickle.loads(pickle.dumps(case.backend))
    assert copy == case.backend, f"got {copy!r}, wanted {case.backend!r}"
    assert hash(copy) == hash(case.backend), "the copy has another hash"
    for part, got in case.again(copy).items():
        assert_close(got, case.run()[part], part, 0.0)


@check(share=48)
def members(case: Case) -> None:
    """The classes of the engine define members of the contract alone: a name that the contract lost
    would do nothing.
    """
    classes: list[tuple[Any, type]] = [
        (case.engine, Backend),
        *((library, Library) for library in case.engine.libraries),
    ]
    for one, base in classes:
        lines = [cls for cls in type(one).__mro__ if issubclass(cls, base) and cls is not base]
        unknown = [
            name
            for cls in lines
            for name in vars(cls)
            if not name.startswith("_") and name not in _members(base)
        ]
        assert not unknown, (
            f"{type(one).__name__} defines {', '.join(unknown)}, which {base.__name__} does not"
            " have. Names of the engine's own begin with an underscore."
        )


def _members(base: type) -> set[str]:
    return {
        *dir(base),
        *(name for cls in base.__mro__ for name in vars(cls).get("__annotations__", ())),
    }


# At the end, when every other check has made its calls.
@check()
def state_untouched(case: Case) -> None:
    """No call, not even the first, changes global state of Python, NumPy or the engine."""
    case.run()
    changed = case.changed()
    assert not changed, "; ".join(changed)


def checks_for(
    scenario: Scenario, backend: AutoBackend, *, everything: bool = False
) -> Iterator[Check]:
    """The checks that apply."""
    return (
        entry
        for entry in CHECKS.values()
        if entry.applies(scenario, backend, everything=everything)
    )
