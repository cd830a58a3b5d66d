"""`check_rule`: compares the derivatives of a rule with those of its function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.errors import BackendError, RuleError
from ..core.contract.library import NUMPY, PYTHON, Library, dtype_kind, epsilon
from ..core.contract.registry import auto_class, backend_class, find, is_installed, names
from ..core.operators.gradient import gradient
from ..core.operators.hessian import hvp
from ..core.operators.pullback import pullback, pushforward
from ..core.tree import Leaf, build_gradient, flatten
from ..rules.derived.engine import has_derivative, marked
from ..rules.fixed_values import nothing_fixed
from ..rules.rule import Rule
from .check_gradient import checked
from .evidence import Outcome, decide
from .leaves import named_leaves, nearby, with_other_arrays
from .numbers import Array, largest_of, widened
from .probe import inner
from .verdict import Verdict

#: What was looked at.
Aspect = Literal["pullback", "pushforward", "adjoint", "linear", "again", "float32", "second order"]


@dataclass(frozen=True)
class RuleFinding:
    """Something that is wrong with a rule, or that cannot be decided."""

    aspect: Aspect
    #: The argument, or the part of the value, where it shows; empty where it is the whole.
    path: str
    message: str
    outcome: Outcome = "wrong"

    def __str__(self) -> str:
        return f"{self.aspect}{f', {self.path}' if self.path else ''}: {self.message}"


@dataclass(frozen=True, repr=False)
class RuleCheck(Verdict):
    """What `check_rule` found. True if nothing is wrong; prints as a page of text."""

    name: str
    backend: AutoBackend
    findings: tuple[RuleFinding, ...]

    @property
    def verdict(self) -> Outcome:
        outcomes = {finding.outcome for finding in self.findings}
        return "wrong" if "wrong" in outcomes else "undecided" if outcomes else "right"

    def __repr__(self) -> str:
        verdict = self.verdict if self.ok else self.verdict.upper()
        return "\n".join(
            [
                f"check_rule({self.name}) on {self.backend!r}: {verdict}",
                *[f"  {result}" for result in self.findings],
            ]
        )


def check_rule(
    f: Callable[..., Any],
    /,
    *args: Any,
    backend: AutoBackend | None = None,
    seed: int = 0,
    rtol: float | None = None,
    **keywords: Any,
) -> RuleCheck:
    """Compare the derivatives of a rule with finite differences of its primal, in both modes.

    f: made by `rule`, `scalar_rule` or `differentiate_with`. args, keywords: the point, NumPy
        arrays and numbers away from kinks.
    backend: the engine that uses the rule; None takes the first that is installed.
    seed: of the random directions. rtol: the accepted relative error; None takes eps^(1/2) of the
        coarsest dtype (1.5e-8 in double precision). The estimated errors of differences and of the
        rule's own rounding are added.

    Checks the derivatives' results (a cotangent for each argument, structure, shape, dtype); each
    cotangent and each part of the tangent along a random direction (None where the value depends is
    an error); that both maps are adjoint and linear; that a pullback can be used again and writes
    into nothing; that single precision stays single, and is right; and the derivatives of the
    derivatives' code. Where arrays are of less than double precision, the primal is evaluated in
    double precision if it can be. Returns a `RuleCheck`, true if all is right. Raises TypeError for
    anything but a rule, BackendError if no engine is installed, and the errors of the primal.

    >>> import numpy as np
    >>> from adinterface import array_namespace
    >>> from adinterface.rules import scalar_rule
    >>> from adinterface.tools import check_rule
    >>> sine = scalar_rule(lambda x: array_namespace(x).sin(x), lambda value,
    ...     x: array_namespace(x).cos(x))
    >>> check_rule(sine, np.array([0.3, 1.2])).ok
    True
    """
    if not isinstance(f, Rule) or (f._definition.back is None and f._definition.push is None):
        what = "has neither a pullback nor a pushforward" if isinstance(f, Rule) else "is no rule"
        raise TypeError(
            f"check_rule: {getattr(f, '__name__', f)} {what}. Decorate it with @rule, and give it a"
            " derivative."
        )
    auto = backend or _an_engine()
    if not find(auto).libraries:
        raise BackendError(
            f"check_rule: {type(auto).__name__} uses no rule, but the primal alone. Pass an"
            " engine's backend."
        )
    check = _Check(f, auto, args, keywords, seed)
    if rtol is not None:
        check.rtol = rtol
    return RuleCheck(f._definition.name, auto, tuple(check.findings()))


def _an_engine() -> AutoBackend:
    for name in names():
        if is_installed(name):
            backend_class(name)  # loads the engine, so that its arrays are recognised
            cls = auto_class(name)
            if cls is not None and backend_class(name).libraries:
                return cls()
    raise BackendError(
        "check_rule: no engine is installed that would use a rule: pip install 'adinterface[all]'"
    )


class _Check:
    """The checks of one rule at one point."""

    def __init__(
        self,
        f: Rule[..., Any],
        auto: AutoBackend,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        seed: int,
    ):
        self.f, self.auto, self.args, self.keywords, self.seed = f, auto, args, keywords, seed
        self.definition = f._definition
        self.random = np.random.default_rng(seed)
        self.value = self.definition.f(*args, **keywords)
        self.given = marked(args)
        self.epsilon = max(
            [epsilon(leaf.library.dtype(leaf.value)) for leaf in _leaves((args, self.value))],
            default=2.0**-52,
        )
        self.rtol = self.epsilon**0.5

    def findings(self) -> Iterator[RuleFinding]:
        before, first = _numbers(self.args), list[RuleFinding]()
        try:
            for finding in self._first_order():
                first.append(finding)
                yield finding
        except RuleError as error:
            aspect: Aspect = "pushforward" if "its pushforward" in str(error) else "pullback"
            yield RuleFinding(aspect, "", str(error))
            return
        if not _same(before, _numbers(self.args)):
            yield RuleFinding(
                "again", "", "the rule wrote into its own argument. Write into a copy."
            )
        if not first:
            yield from self._single_precision()
        yield from self._second_order()

    # the checks

    def _first_order(self) -> Iterator[RuleFinding]:
        (v, v2), (w, w2) = self._directions(self.args, scaled=True), self._directions(self.value)
        primal, args, words, seed = (
            self.definition.f,
            self.args,
            self.keywords,
            _like(self.value, w),
        )
        _, back = pullback(self.f, self.auto, *self.given, **words)
        cotangents = _numbers(back(seed))
        names = [self.definition.path(i) for i in range(len(args))]
        # The functions below capture arrays, which `Probe.in_double_precision` converts, too.
        product = lambda *args: _product(w, primal(*args, **words))
        yield from self._slopes(
            "pullback", names, product, self.given, lambda *args: self._back(args, seed)
        )
        if not _same(cotangents, _numbers(back(seed))):
            yield RuleFinding(
                "again", "", "the pullback gives something else when it is called a second time."
            )
        back_errors = self._rounding(cotangents, lambda args: self._back(args, seed), self.given)
        if self.definition.back is not None:
            other, both = (
                _numbers(back(_like(self.value, numbers))) for numbers in (w2, _combined(w, w2))
            )
            if not self._equal(_combined(cotangents, other), both, back_errors):
                yield RuleFinding("linear", "", "the pullback is not linear in the cotangent.")
        pushed = self._push(args, v)
        paths = [path for path, leaf in named_leaves(self.value, "value") if leaf.differentiated]
        for n, (path, part) in enumerate(zip(paths, pushed)):
            signs = part / np.where(part == 0, 1.0, np.abs(part))
            one = [
                np.where(part == 0, x, np.abs(x) * signs) if k == n else 0 * x
                for k, x in enumerate(w)
            ]
            yield from self._slopes(
                "pushforward",
                [path],
                lambda t, one=one: _product(one, primal(*_added(args, v, t - 1), **words)),
                (np.ones((), _coarsest((args, self.value))),),
                lambda t, one=one: (_inner(one, self._push(_added(args, v, t - 1), v)),),
            )
        push_errors = self._rounding(pushed, lambda args: self._push(args, v), args)
        if self.definition.push is not None:
            other, both = (self._push(args, numbers) for numbers in (v2, _combined(v, v2)))
            if not self._equal(_combined(pushed, other), both, push_errors):
                yield RuleFinding("linear", "", "the pushforward is not linear in the tangents.")
            if self.definition.back is not None:
                forward, reverse = _inner(w, pushed), _inner(cotangents, v)
                error = _inner(push_errors, map(np.abs, w)) + _inner(back_errors, map(np.abs, v))
                size = max(
                    _inner(*[map(np.abs, each) for each in pair])
                    for pair in ((w, pushed), (cotangents, v))
                )
                if decide(abs(forward - reverse), error, size, self.rtol) == "wrong":
                    problem = (
                        f"<w, pushforward(v)> is {forward:.6g}, but <pullback(w), v> is"
                        f" {reverse:.6g}."
                    )
                    yield RuleFinding("adjoint", "", problem)

    def _slopes(
        self,
        aspect: Aspect,
        names: Sequence[str],
        f: Callable[..., Any],
        args: tuple[Any, ...],
        gradient: Callable[..., Any],
    ) -> Iterator[RuleFinding]:
        """The derivative of f by a rule against differences of f. names: of the arguments."""
        check = checked(f, AutoFiniteDifferences(), gradient, args, {}, self.seed, 1, self.rtol)
        for leaf in (*check.wrong, *check.undecided):
            where = re.sub(r"^args\[(\d+)\]", lambda found: names[int(found[1])], leaf.path)
            what = "the derivative of its derivative's code" if aspect == "second order" else "it"
            problem = (
                f"along a random direction {what} gives {leaf.gradient:.6g}, differences"
                f" {leaf.differences:.6g}."
            )
            if leaf.status == "undecided":
                yield RuleFinding(aspect, where, f"{problem} {leaf.note}", "undecided")
            elif aspect == "pullback" and leaf.gradient == 0:
                yield RuleFinding(
                    aspect, where, "its cotangent is zero, or None, but the value depends on it."
                )
            else:
                yield RuleFinding(aspect, where, problem)

    def _single_precision(self) -> Iterator[RuleFinding]:
        """The same checks with arrays in single precision, unless they are already."""
        single, words = (with_other_arrays(tree, _as_single) for tree in (self.args, self.keywords))
        check = _Check(self.f, self.auto, single, words, self.seed)
        dtypes = {leaf.library.dtype(leaf.value) for leaf in _leaves((check.value, single))} - {
            "float",
            "complex",
        }
        if dtypes and dtypes <= {"float32", "complex64"} and self.epsilon < 1e-10:
            try:
                wrong = [finding for finding in check._first_order() if finding.outcome == "wrong"]
            except RuleError as error:
                wrong = [RuleFinding("float32", "", str(error))]
            yield from [replace(finding, aspect="float32") for finding in wrong]

    def _second_order(self) -> Iterator[RuleFinding]:
        if any(np.iscomplexobj(number) for number in _numbers((self.args, self.value))):
            return
        f, auto, args, words = self.f, self.auto, self.args, self.keywords
        weights, moved = (
            _like(self.value, self._directions(self.value)[0]),
            self._directions(args, scaled=True)[0],
        )
        own = tuple([arg for arg in args if has_derivative(arg)])
        names = [self.definition.path(i) for i, arg in enumerate(args) if has_derivative(arg)]

        def weighted(inner: tuple[Any, ...]) -> Any:
            remaining = iter(inner)
            return _weighted_sum(
                f(*[next(remaining) if has_derivative(arg) else arg for arg in args], **words),
                weights,
            )

        def product(*own: Any) -> Any:
            return hvp(weighted, auto, own, _like(own, moved))

        try:
            product(*own)
        except (RuleError, TypeError, ValueError, NotImplementedError, RuntimeError) as error:
            yield RuleFinding(
                "second order", "", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            )
            return

        def slope(*own: Any) -> Any:
            with nothing_fixed():  # what the derivative's code ignores is not held fixed
                return _product(moved, gradient(weighted, auto, own)[0])

        yield from self._slopes("second order", names, slope, own, product)

    # evaluations

    def _back(self, args: tuple[Any, ...], w: Any) -> Any:
        return pullback(self.f, self.auto, *args, **self.keywords)[1](w)

    def _push(self, args: tuple[Any, ...], v: Sequence[Array]) -> list[Array]:
        auto = replace(self.auto, mode="forward") if hasattr(self.auto, "mode") else self.auto  # type: ignore[call-arg]
        moved = tuple([t if has_derivative(arg) else None for t, arg in zip(_like(args, v), args)])
        return _numbers(pushforward(self.f, auto, marked(args), moved, **self.keywords).tangent)

    def _rounding(
        self, numbers: list[Array], compute: Callable[[Any], Any], args: Any
    ) -> list[Array]:
        """How much each array changes if the arguments are a few roundings off."""
        random = np.random.default_rng(1)
        others = [compute(nearby(args, random)) for _ in range(2)]
        return [
            np.full(array.shape, max(largest_of(x - array) for x in each))
            for array, *each in zip(numbers, *map(_numbers, others))
        ]

    def _directions(self, tree: Any, *, scaled: bool = False) -> list[list[Array]]:
        """Two lists of random arrays, one array for each leaf. scaled: as large as the leaf."""
        return [[self._drawn(leaf, scaled) for leaf in _leaves(tree)] for _ in range(2)]

    def _drawn(self, leaf: Leaf, scaled: bool) -> Array:
        dtype, shape = leaf.library.dtype(leaf.value), leaf.library.shape(leaf.value)
        scale = largest_of(widened(leaf.library.to_numpy(leaf.value))) if scaled else 1.0
        drawn = (
            (scale or 1.0)
            * self.random.uniform(0.5, 1.5, shape)
            * self.random.choice([-1.0, 1.0], shape)
        )
        if dtype_kind(dtype) == "complex" or dtype == "complex":
            drawn = drawn + 1j * self.random.uniform(-1.0, 1.0, shape)
        return widened(np.asarray(drawn, dtype))

    def _equal(self, wanted: list[Array], got: list[Array], errors: list[Array]) -> bool:
        """Whether two results of a map are equal up to its errors."""
        return all(
            decide(largest_of(x - y), 3 * largest_of(error), largest_of(x), self.rtol) != "wrong"
            for x, y, error in zip(wanted, got, errors)
        )


# Trees and their numbers
# ---------------------------------------------------------------------------------------------


def _leaves(tree: Any) -> list[Leaf]:
    _, leaves = flatten(tree, "an argument")
    return [leaf for leaf in leaves if leaf.differentiated]


def _numbers(tree: Any) -> list[Array]:
    return [widened(leaf.library.to_numpy(leaf.value)) for leaf in _leaves(tree)]


def _like(tree: Any, numbers: Iterable[Array]) -> Any:
    """A gradient of this tree with these numbers, in its dtypes."""
    structure, leaves = flatten(tree, "an argument")
    live = [leaf for leaf in leaves if leaf.differentiated]
    return build_gradient(structure, iter([_cast(x, leaf) for x, leaf in zip(numbers, live)]))


def _cast(x: Any, leaf: Leaf) -> Any:
    return type(leaf.value)(x) if leaf.library is PYTHON else np.asarray(x, leaf.value.dtype)


def _added(tree: Any, v: Iterable[Array], t: Any) -> Any:
    """tree + t v."""
    (structure, leaves), moves = flatten(tree, "an argument"), iter(v)
    moved = [
        _cast(leaf.value + t * next(moves), leaf) if leaf.differentiated else leaf.value
        for leaf in leaves
    ]
    return structure.build(iter(moved))


def _combined(a: Iterable[Array], b: Iterable[Array]) -> list[Array]:
    return [2 * x - 0.5 * y for x, y in zip(a, b)]


def _same(a: list[Array], b: list[Array]) -> bool:
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b))


def _inner(a: Iterable[Array], b: Iterable[Array]) -> float:
    return sum([inner(x, y) for x, y in zip(a, b)])


def _product(a: Iterable[Array], tree: Any) -> Any:
    """The real inner product with the numbers of a tree, in the coarsest of its dtypes, which tells
    its rounding.
    """
    return np.asarray(_inner(a, _numbers(tree)), _coarsest(tree))


def _coarsest(tree: Any) -> Any:
    return min(
        [np.asarray(leaf.value).real.dtype for leaf in _leaves(tree)],
        key=lambda dtype: dtype.itemsize,
    )


def _weighted_sum(value: Any, weights: Any) -> Any:
    parts = [leaf.value for leaf in _leaves(value)]
    factors: Sequence[Any] = [leaf.value for leaf in _leaves(weights)]
    total: Any = 0.0
    for part, leaf, factor in zip(parts, _leaves(value), factors):
        library = leaf.library
        weight = factor if library is PYTHON else library.lift(np.asarray(factor), part)
        total = total + (
            part * weight if library is PYTHON else library.namespace(part).sum(part * weight)
        )
    return total


def _as_single(library: Library, array: Any) -> Any:
    return (
        array.astype("complex64" if array.dtype.kind == "c" else "float32")
        if library is NUMPY
        else array
    )


__all__ = ["RuleCheck", "RuleFinding", "check_rule"]
