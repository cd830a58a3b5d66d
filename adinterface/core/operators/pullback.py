"""`pullback`, `pushforward` and `linearize`: the derivative as a linear map."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, NoReturn, Self, TypeVar

from .. import derive
from ..call.call import Call
from ..call.cotangents import NativeMatch, native_tangents
from ..call.output import form_of, noting
from ..call.row import Compiled, Compute, OperatorRow, Parts
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Linearized, Pullback
from ..contract.errors import BackendError
from ..contract.registry import REGISTRY
from ..contract.tracing import untraced
from ..support.record import estimating
from .run import run
from .typed import typed

if TYPE_CHECKING:
    from ... import _signatures as signatures

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)
Gradients = TypeVar("Gradients", bound=tuple[Any, ...])
Gradients_co = TypeVar("Gradients_co", bound=tuple[Any, ...], covariant=True)


class ValueAndBack(NamedTuple, Generic[Gradients]):
    """The result of `pullback`."""

    value: Any
    back: Back[Gradients]


class ValueAndTangent(NamedTuple, Generic[Value]):
    """The result of `pushforward`."""

    value: Value
    tangent: Value


class ValueAndPush(NamedTuple, Generic[Value]):
    """The result of `linearize`."""

    value: Value
    push: Push[Value]


class _Map:
    """A linear map at one point."""

    _kind: ClassVar[str]
    _call: Call

    def __copy__(self) -> Self:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise BackendError(
            f"{self!r} cannot be pickled: it holds what the engine recorded in this process. Pickle"
            f" f and its arguments, and call {self._call.plan.operator.name} where they are loaded."
        )

    def __repr__(self) -> str:
        name = getattr(self._call.f, "__name__", self._call.f)
        return f"<{self._kind} of {name} on {self._call.plan.backend.auto!r}>"


class Back(_Map, Generic[Gradients_co]):
    """The map from cotangents of f's value to cotangents of its arguments, at one point."""

    _kind = "back"

    def __init__(self, call: Call, pulled: Pullback):
        self._call, self._pulled = call, pulled

    @untraced
    def __call__(self, cotangent: Any) -> Gradients_co:
        """The cotangents of the arguments.

        Args:
            cotangent: A tree of the value's structure, each array of its shape and no wider dtype.
                None, anywhere in it, is zero.

        Returns:
            A tuple with one entry for each argument, as from `gradient`.

        Raises:
            TreeError: The cotangent does not match; names the path.
        """
        gradients: Gradients_co = self._apply(self._pulled.back, cotangent, stacked=False)
        return gradients

    @untraced
    def stacked(self, cotangents: Any) -> tuple[Any, ...]:
        """As a call, for a stack of cotangents: one batched pass on JAX and torch.

        Args:
            cotangents: As `cotangent`, with one more leading axis on each array.

        Returns:
            As from a call, with that axis on each array.
        """
        stacks: tuple[Any, ...] = self._apply(
            derive.stacked(self._call.plan.backend, self._pulled), cotangents, stacked=True
        )
        return stacks

    def _apply(self, back: Callable[[Arrays], Arrays], cotangent: Any, stacked: bool) -> Any:
        call = self._call.copy()
        with call.scope():
            match = NativeMatch(call.plan.backend, self._pulled.outputs, "the cotangent", stacked)
            match.read(self._pulled.aux.layout.structure, cotangent, "cotangent")
            seeds = match.finish()
            for seed in seeds:
                call.occupy(seed)
            with estimating() as result, noting(call.plan):
                gradients = back(seeds)
            call.warn_imprecise(result)
            return call.blocks(gradients) if stacked else call.gradients(gradients)


class Push(_Map, Generic[Value_co]):
    """The map from tangents of f's arguments to the tangent of its value, at one point."""

    _kind = "push"

    def __init__(self, call: Call, linear: Linearized):
        self._call, self._linear = call, linear

    @untraced
    def __call__(self, *tangents: Any) -> Value_co:
        """The tangent of the value.

        Args:
            tangents: One for each argument, of the argument's structure and shapes. None, anywhere
                in it, is zero, and is what a Constant has.

        Returns:
            A tree of the value's structure.

        Raises:
            TreeError: A tangent does not match; names the path.
        """
        tangent: Value_co = self._apply(self._linear.push, tangents, stacked=False)
        return tangent

    @untraced
    def stacked(self, *tangents: Any) -> Any:
        """As a call, for stacks of tangents.

        Args:
            tangents: As in a call, with one more leading axis on each array.

        Returns:
            As from a call, with that axis on each array.
        """
        return self._apply(
            derive.stacked(self._call.plan.backend, self._linear), tangents, stacked=True
        )

    def _apply(
        self, push: Callable[[Arrays], Arrays], tangents: tuple[Any, ...], stacked: bool
    ) -> Any:
        call = self._call.copy()
        with call.scope():
            native = native_tangents(call, tangents, stacked)
            with estimating() as result, noting(call.plan):
                pushed = push(native)
            call.warn_imprecise(result)
            return call.tangent((form_of(self._linear.aux), pushed))


@typed["signatures.PullbackOperator"]()
def pullback(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndBack[tuple[Any, ...]]:
    """`(value, back)`: the value of f, and the map from its cotangents to those of the arguments.

    `back(cotangent)` gives a tuple with one entry for each argument, as `gradient` does. It is the
    adjoint of the pushforward in the real inner product Re sum(conj(a) b). It can be called
    repeatedly; `back.stacked(cotangents)` takes a leading axis. Mutable leaves are copied, so later
    writes to the arguments do not change its result. (The parameters of an `nn.Module` are not
    copied: torch raises if they change before `back`.)

    On an engine without reverse mode, `back` takes one pushforward for each number in the
    arguments.

    Args:
        f: Returns an array, or a tree of arrays.
        backend, args, kwargs: As in `gradient`.

    Returns:
        What f returned, and a `Back`.

    Raises:
        AdinterfaceError: As `jacobian`.

    >>> from adinterface import AutoFiniteDifferences, pullback
    >>> value, back = pullback(lambda a, b, c: a * b * c, AutoFiniteDifferences(), 2.0, 3.0, 5.0)
    >>> [round(g, 6) for g in back(2.0)]
    [30.0, 20.0, 12.0]
    """
    both: ValueAndBack[tuple[Any, ...]] = run(PULLBACK, backend, f, args, kwargs)
    return both


@typed["signatures.PushforwardOperator"]()
def pushforward(
    f: Callable[..., Any],
    backend: AutoBackend,
    args: tuple[Any, ...],
    tangents: tuple[Any, ...],
    /,
    **kwargs: Any,
) -> ValueAndTangent[Any]:
    """`(value, tangent)`: the value of f, and its derivative in one direction.

    Args:
        f: Returns an array, or a tree of arrays.
        backend: As in `gradient`.
        args: A tuple of the arguments of f.
        tangents: A tuple; each tangent has its argument's structure and shapes. None is zero, and
            is what a Constant has.
        kwargs: Handed to f, never differentiated.

    Returns:
        What f returned, and its tangent in the same structure; None for a leaf without a
        derivative.

    Raises:
        TreeError: A tangent does not match; names the path.
        TypeError: `args` or `tangents` is no tuple.

    >>> from adinterface import AutoFiniteDifferences, pushforward
    >>> f = lambda x, y: x * y
    >>> round(pushforward(f, AutoFiniteDifferences(), (2.0, 3.0), (1.0, 0.0)).tangent, 6)
    3.0
    """
    both: ValueAndTangent[Any] = run(PUSHFORWARD, backend, f, (args, tangents), kwargs)
    return both


@typed["signatures.LinearizeOperator"]()
def linearize(
    f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any
) -> ValueAndPush[Any]:
    """`(value, push)`: the value of f, and its derivative as a map from tangents of the arguments.

    `push(*tangents)` takes one tangent for each argument and can be called repeatedly;
    `push.stacked(*tangents)` takes a leading axis. Mutable leaves are copied, as in `pullback`.
    With finite differences, and on engines that define only a pushforward, each call evaluates f
    again (`explain` says so).

    Args:
        f: Returns an array, or a tree of arrays.
        backend, args, kwargs: As in `gradient`.

    Returns:
        What f returned, and a `Push`.

    Raises:
        AdinterfaceError: As `jacobian`.

    >>> from adinterface import AutoFiniteDifferences, linearize
    >>> value, push = linearize(lambda x: x * x, AutoFiniteDifferences(), 3.0)
    >>> value, round(push(1.0), 6)
    (9.0, 6.0)
    """
    both: ValueAndPush[Any] = run(LINEARIZE, backend, f, args, kwargs)
    return both


def _value(f: Call, x: Arrays, _: Arrays) -> Parts:
    return f(*x)


def _pullback(f: Call, x: Arrays, _: Arrays) -> Pullback:
    return derive.pullback(f.plan.backend, f, x)


def _linearize(f: Call, x: Arrays, _: Arrays) -> Linearized:
    return derive.linearize(f.plan.backend, f, x)


def _in_pieces(compute: Compute, result: type, apply: str) -> Callable[..., Compiled]:
    """Compiles f's value, the map, and the map of stacks, each by itself.

    Compiled code would have to return what a backward pass needs. Computing it again takes less
    time.
    """

    def pieces(compiled: Callable[[Compute], Compiled]) -> Compiled:
        value = compiled(_value)
        one = compiled(lambda f, x, seeds: getattr(compute(f, x, ()), apply)(seeds))
        many = compiled(
            lambda f, x, stacks: derive.stacked(f.plan.backend, compute(f, x, ()))(stacks)
        )

        def whole(*point: Any) -> Any:
            maps = {
                apply: lambda seeds: one(*point, *seeds),
                "stacked": lambda stacks: many(*point, *stacks),
            }
            return result(*value(*point), **maps)

        return whole

    return pieces


def _value_and_map(call: Call, result: Any) -> Any:
    """The value, and the map of the engine for the user."""
    for output in result.outputs:
        call.occupy(output)  # the map may need it
    value = call.value((result.outputs, result.aux))
    if isinstance(result, Pullback):
        return ValueAndBack(value, Back(call, result))
    return ValueAndPush(value, Push(call, result))


def _pushforward(f: Call, x: Arrays, v: Arrays) -> Parts:
    outputs, pushed, aux = derive.pushforward(f.plan.backend, f, x, v)
    return (outputs, aux), (form_of(aux), pushed)


PULLBACK = OperatorRow(
    "pullback",
    _pullback,
    ("value", "back"),
    ValueAndBack,
    finish=_value_and_map,
    pieces=_in_pieces(_pullback, Pullback, "back"),
)
PUSHFORWARD = OperatorRow(
    "pushforward", _pushforward, ("value", "tangent"), ValueAndTangent, directions="second tuple"
)
LINEARIZE = OperatorRow(
    "linearize",
    _linearize,
    ("value", "push"),
    ValueAndPush,
    finish=_value_and_map,
    pieces=_in_pieces(_linearize, Linearized, "push"),
)

REGISTRY.operators |= {pullback: PULLBACK, pushforward: PUSHFORWARD, linearize: LINEARIZE}
