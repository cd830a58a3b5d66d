"""`check_rule`: compares the derivatives of a rule with those of its function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .. import tree
from ..core.contract.auto import AutoBackend, AutoFiniteDifferences
from ..core.contract.errors import BackendError, RuleError
from ..core.contract.library import NUMPY, PYTHON, Library, epsilon
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
from .leaves import with_other_arrays
from .numbers import Array, largest_of, widened
from .verdict import Verdict

#: What was looked at.
Aspect = Literal["pullback", "pushforward", "linear", "again", "float32", "second order"]


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
        coarsest dtype (1.5e-8 in double precision). The estimated error of the differences is
        added.

    Checks the derivatives' results (a cotangent for each argument, structure, shape, dtype); each
    cotangent and each part of the tangent along a random direction (None where the value depends is
    an error); that both maps are linear; that a pullback can be used again and writes into nothing;
    that single precision stays single, and is right; and the derivatives of the derivatives' code.
    Where arrays are of less than double precision, the primal is evaluated in double precision if
    it can be. Returns a `RuleCheck`, true if all is right. Raises TypeError for anything but a
    rule, BackendError if no engine is installed, and the errors of the primal.

    >>> import numpy as np
    >>> from adinterface import array_namespace
    >>> from adinterface.rules import scalar_rule
    >>> from adinterface.tools import check_rule
    >>> sine = scalar_rule(lambda x: array_namespace(x).sin(x), lambda value,
    ...     x: array_namespace(x).cos(x))
    >>> check_rule(sine, np.array([0.3, 1.2])).ok
    True
    """
    if not isinstance(f, Rule) or (f.definition.back is None and f.definition.push is None):
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
    check = _Check(f, auto, args, keywords, seed, rtol)
    return RuleCheck(f.definition.name, auto, tuple(check.findings()))


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
        rtol: float | None = None,
    ):
        self.f, self.auto, self.args, self.keywords, self.seed = f, auto, args, keywords, seed
        self.definition = f.definition
        self.random = np.random.default_rng(seed)
        self.value = self.definition.f(*args, **keywords)
        #: What an operator gets in place of args.
        self.given = marked(args)
        #: A tangent of the arguments, and a cotangent of the value.
        self.v, self.w = self._drawn(self.given, scaled=True), self._drawn(self.value)
        self.epsilon = max(
            [epsilon(leaf.library.dtype(leaf.value)) for leaf in _leaves((args, self.value))],
            default=2.0**-52,
        )
        self.rtol = self.epsilon**0.5 if rtol is None else rtol

    def findings(self) -> Iterator[RuleFinding]:
        before, first = _numbers(self.args), list[RuleFinding]()
        try:
            for finding in self.first_order():
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

    def first_order(self) -> Iterator[RuleFinding]:
        # The functions below capture arrays, which `Probe.in_double_precision` converts, too.
        primal, args, words = self.definition.f, self.args, self.keywords
        v, w, push = self.v, self.w, self._push
        _, back = pullback(self.f, self.auto, *self.given, **words)
        cotangents = _numbers(back(w))
        yield from self._slopes(
            "pullback",
            [self.definition.path(i) for i in range(len(args))],
            lambda *args: _product(primal(*args, **words), w),
            self.given,
            lambda *args: pullback(self.f, self.auto, *args, **words)[1](w),
        )
        if not _same(cotangents, _numbers(back(w))):
            yield RuleFinding(
                "again", "", "the pullback gives something else when it is called a second time."
            )
        if self.definition.back is not None and not self._doubles(back, w, cotangents):
            yield RuleFinding("linear", "", "the pullback is not linear in the cotangent.")
        pushed = tree.leaves(push(args, v))
        # Along the tangent itself, so that nothing cancels.
        weights = [_aligned(x, t) for x, t in zip(tree.leaves(w), pushed)]
        for n, (path, _) in enumerate(tree.leaves_with_path(self.value)):
            alone = tree.structure(self.value).unflatten(
                [x if k == n else 0 * x for k, x in enumerate(weights)]
            )
            yield from self._slopes(
                "pushforward",
                [f"value{path}"],
                lambda t, alone=alone: _product(primal(*tree.axpy(t - 1, v, args), **words), alone),
                (np.ones((), _coarsest((args, self.value))),),
                lambda t, alone=alone: (tree.vdot(push(tree.axpy(t - 1, v, args), v), alone),),
            )
        if self.definition.push is not None and not self._doubles(
            lambda v: push(args, v), v, _numbers(pushed)
        ):
            yield RuleFinding("linear", "", "the pushforward is not linear in the tangents.")

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

    def _doubles(self, linear: Callable[[Any], Any], moved: Any, result: list[Array]) -> bool:
        """Whether -2 times what a map takes gives -2 times its result: no rounding differs then."""
        return all(
            decide(largest_of(-2 * x - y), 0.0, largest_of(y), self.rtol) == "right"
            for x, y in zip(result, _numbers(linear(tree.scale(-2, moved))))
        )

    def _single_precision(self) -> Iterator[RuleFinding]:
        """The same checks with arrays in single precision, unless they are already."""
        single, words = (with_other_arrays(each, _as_single) for each in (self.args, self.keywords))
        check = _Check(self.f, self.auto, single, words, self.seed)
        dtypes = {leaf.library.dtype(leaf.value) for leaf in _leaves((check.value, single))} - {
            "float",
            "complex",
        }
        if dtypes and dtypes <= {"float32", "complex64"} and self.epsilon < 1e-10:
            try:
                wrong = [finding for finding in check.first_order() if finding.outcome == "wrong"]
            except RuleError as error:
                wrong = [RuleFinding("float32", "", str(error))]
            yield from [replace(finding, aspect="float32") for finding in wrong]

    def _second_order(self) -> Iterator[RuleFinding]:
        if any(np.iscomplexobj(number) for number in _numbers((self.args, self.value))):
            return
        f, auto, args, words, w = self.f, self.auto, self.args, self.keywords, self.w
        active = [n for n, arg in enumerate(args) if has_derivative(arg)]
        own, moved = (tuple([each[n] for n in active]) for each in (args, self.v))

        def weighted(inner: tuple[Any, ...]) -> Any:
            given = dict(zip(active, inner))
            return tree.vdot(f(*[given.get(n, arg) for n, arg in enumerate(args)], **words), w)

        def product(*own: Any) -> Any:
            return hvp(weighted, auto, own, moved)

        try:
            product(*own)
        except (RuleError, TypeError, ValueError, NotImplementedError, RuntimeError) as error:
            yield RuleFinding(
                "second order", "", f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            )
            return

        def slope(*own: Any) -> Any:
            with nothing_fixed():  # what the derivative's code ignores is not held fixed
                return _product(gradient(weighted, auto, own)[0], moved)

        names = [self.definition.path(n) for n in active]
        yield from self._slopes("second order", names, slope, own, product)

    def _push(self, args: tuple[Any, ...], v: tuple[Any, ...]) -> Any:
        auto = replace(self.auto, mode="forward") if hasattr(self.auto, "mode") else self.auto  # type: ignore[call-arg]
        return pushforward(self.f, auto, marked(args), v, **self.keywords).tangent

    def _drawn(self, value: Any, *, scaled: bool = False) -> Any:
        """A random tree like the gradient of a value. scaled: as large as its leaves."""
        structure, leaves = flatten(value, "an argument")
        drawn = [self._numbers_like(leaf, scaled) for leaf in leaves if leaf.differentiated]
        return build_gradient(structure, iter(drawn))

    def _numbers_like(self, leaf: Leaf, scaled: bool) -> Any:
        example = np.asarray(leaf.value)
        drawn = self.random.uniform(0.5, 1.5, example.shape)
        drawn *= self.random.choice([-1.0, 1.0], example.shape)
        drawn *= (largest_of(example) if scaled else 1.0) or 1.0
        if np.iscomplexobj(example):
            drawn = drawn + 1j * self.random.uniform(-1.0, 1.0, example.shape)
        return type(leaf.value)(drawn) if leaf.library is PYTHON else drawn.astype(example.dtype)


def _leaves(value: Any) -> list[Leaf]:
    return [leaf for leaf in flatten(value, "an argument")[1] if leaf.differentiated]


def _numbers(value: Any) -> list[Array]:
    return [widened(leaf.library.to_numpy(leaf.value)) for leaf in _leaves(value)]


def _same(a: list[Array], b: list[Array]) -> bool:
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b))


def _aligned(x: Any, part: Any) -> Any:
    """A number or array of the size of x, with the signs of another."""
    part = np.asarray(part)
    turned = np.where(part == 0, x, np.abs(x) * part / np.where(part == 0, 1.0, np.abs(part)))
    return turned.astype(np.asarray(x).dtype)


def _product(value: Any, weights: Any) -> Any:
    """The real inner product, in the coarsest dtype of the value, which tells its rounding."""
    return np.asarray(tree.vdot(value, weights), _coarsest(value))


def _coarsest(value: Any) -> Any:
    return min(
        [np.asarray(leaf.value).real.dtype for leaf in _leaves(value)],
        key=lambda dtype: dtype.itemsize,
    )


def _as_single(library: Library, array: Any) -> Any:
    return (
        array.astype("complex64" if array.dtype.kind == "c" else "float32")
        if library is NUMPY
        else array
    )


__all__ = ["RuleCheck", "RuleFinding", "check_rule"]
