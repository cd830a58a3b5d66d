"""`pullback`, `pushforward` and `linearize`: the derivative as a linear map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import derive
from ..call.call import Call
from ..call.cotangents import Match
from ..call.output import Function
from ..contract.auto import AutoBackend
from ..contract.backend import Arrays, Linearized, Pullback
from ..contract.errors import TreeError
from .operation import OPERATIONS, Operation, Results, run


class ValueAndBack(NamedTuple):
    """The result of `pullback`."""

    value: Any
    back: Back


class ValueAndTangent(NamedTuple):
    """The result of `pushforward`."""

    value: Any
    tangent: Any


class ValueAndPush(NamedTuple):
    """The result of `linearize`."""

    value: Any
    push: Push


class Back:
    """The map from cotangents of f's value to cotangents of its arguments, at a fixed point."""

    def __init__(self, call: Call, function: Function, pulled: Pullback):
        self._call, self._function, self._pulled = call, function, pulled

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        """A tuple with one entry for each argument, as `gradient` returns it.

        cotangent: a tree of the value's structure, each array of its shape and no wider dtype. None, anywhere in it,
        is zero. Raises TreeError, naming the path, for anything else.
        """
        return self._apply(self._pulled.back, cotangent, stacked=False)

    def stacked(self, cotangents: Any) -> tuple[Any, ...]:
        """As calling, for a stack of cotangents: each array has one more axis in front, and so has each result.

        One batched pass on JAX and torch; one pass for each entry elsewhere.
        """
        return self._apply(derive.back_stacked(self._call.backend, self._pulled), cotangents, stacked=True)

    def _apply(self, back: Callable[[Arrays], Arrays], cotangent: Any, stacked: bool) -> tuple[Any, ...]:
        call = self._call
        with call.precision():
            match = Match(call.backend, self._pulled.outputs, "the cotangent", stacked)
            match.walk(self._function.structure, cotangent, "cotangent")
            seeds = match.finish()
            for seed in seeds:
                call.take(seed)
            gradients = back(seeds)
            return call.stacks(gradients) if stacked else call.gradients(gradients)

    def __repr__(self) -> str:
        return f"<back of {getattr(self._function.f, '__name__', self._function.f)!s} on {self._call.backend.auto!r}>"


class Push:
    """The map from tangents of f's arguments to the tangent of its value, at a fixed point."""

    def __init__(self, call: Call, function: Function, linear: Linearized):
        self._call, self._function, self._linear = call, function, linear

    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the value, in the value's structure.

        tangents: one for each argument, of the argument's structure and shapes; None, anywhere in it, is zero (and is
        what a Constant has). Raises TreeError, naming the path, for anything else.
        """
        return self._apply(self._linear.push, tangents, stacked=False)

    def stacked(self, *tangents: Any) -> Any:
        """As calling, for stacks of tangents: each array has one more axis in front, and so has each result."""
        return self._apply(derive.push_stacked(self._call.backend, self._linear), tangents, stacked=True)

    def _apply(self, push: Callable[[Arrays], Arrays], tangents: tuple[Any, ...], stacked: bool) -> Any:
        with self._call.precision():
            native = native_tangents(self._call, tangents, stacked)
            return self._function.assemble_tangent(push(native), self._call.present)

    def __repr__(self) -> str:
        return f"<push of {getattr(self._function.f, '__name__', self._function.f)!s} on {self._call.backend.auto!r}>"


def native_tangents(call: Call, tangents: Sequence[Any], stacked: bool = False, name: str | None = None) -> Arrays:
    """One native tangent for each active leaf of the call."""
    recognize = call.plan.recognize_tangents
    if recognize is not None and not stacked:
        values = recognize(tangents, {})
        if values is not None:
            return tuple([call.plan.library.adopt(value, call.taken) for value in values])
    if len(tangents) != len(call.structures):
        raise TreeError(
            f"{call.operator}: there are {len(call.structures)} arguments, so there must be as many tangents, "
            f"not {len(tangents)}; None is the tangent of a Constant."
        )
    match = Match(call.backend, call.leaves_native, "the tangent", stacked)
    for i, (structure, tangent) in enumerate(zip(call.structures, tangents)):
        match.walk(structure, tangent, name or f"tangents[{i}]")
    native = match.finish()
    for tangent in native:
        call.take(tangent)
    return native


def pullback(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> ValueAndBack:
    """`(value, back)`: the value of f, and the map from its cotangents to those of the arguments.

    `back(cotangent)` gives a tuple with one entry for each argument, as `gradient` does; it is the adjoint of the
    pushforward in the real inner product Re sum(conj(a) b). It can be called again and again, and keeps its answer
    when the arguments are later overwritten: mutable leaves are copied. (The parameters of an `nn.Module` are not:
    torch raises if they change before `back`.) `back.stacked(cotangents)` takes a leading axis.

    On an engine without reverse mode, `back` takes one pushforward for each number in the arguments.

    >>> from adinterface import AutoFiniteDifferences, pullback
    >>> value, back = pullback(lambda a, b, c: a * b * c, AutoFiniteDifferences(), 2.0, 3.0, 5.0)
    >>> [round(g, 6) for g in back(2.0)]
    [30.0, 20.0, 12.0]
    """
    both: ValueAndBack = run(Reverse, backend, f, args, kwargs)
    return both


def pushforward(
    f: Callable[..., Any], backend: AutoBackend, args: tuple[Any, ...], tangents: tuple[Any, ...], /, **kwargs: Any
) -> ValueAndTangent:
    """`(value, tangent)`: the value of f, and its derivative in one direction.

    args, tangents: tuples; each tangent has its argument's structure and shapes, None is zero (and is what a Constant
    has). The tangent of the value has the value's structure; None for a leaf without a derivative.

    Raises TreeError, naming the path, for a tangent that does not match, TypeError if `args` or `tangents` is no tuple.

    >>> from adinterface import AutoFiniteDifferences, pushforward
    >>> round(pushforward(lambda x, y: x * y, AutoFiniteDifferences(), (2.0, 3.0), (1.0, 0.0)).tangent, 6)
    3.0
    """
    both: ValueAndTangent = run(Forward, backend, f, (args, tangents), kwargs)
    return both


def linearize(f: Callable[..., Any], backend: AutoBackend, /, *args: Any, **kwargs: Any) -> ValueAndPush:
    """`(value, push)`: the value of f, and its derivative as a map from tangents of the arguments.

    `push(*tangents)` takes one tangent for each argument and can be called again and again; mutable leaves are
    copied, as in `pullback`. It evaluates f again in every call with finite differences, and on engines that give
    only a pushforward (`explain` says so). `push.stacked(*tangents)` takes a leading axis.

    >>> from adinterface import AutoFiniteDifferences, linearize
    >>> value, push = linearize(lambda x: x * x, AutoFiniteDifferences(), 3.0)
    >>> value, round(push(1.0), 6)
    (9.0, 6.0)
    """
    both: ValueAndPush = run(Linearize, backend, f, args, kwargs)
    return both


class Reverse(Operation):
    name = "pullback"
    result = ValueAndBack
    forms = ("value", "back")
    outlives = True

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.pullback(self.backend, function, leaves)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        for output in results.outputs:
            call.take(output)  # which back may need
        value = function.assemble(results.outputs, results.aux, call.present)
        return ValueAndBack(value, Back(call, function.frozen(), results))


class Forward(Operation):
    name = "pushforward"
    result = ValueAndTangent
    forms = ("value", "tangent")
    directions = "second tuple"

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        if len(args) != 2:
            raise TypeError(
                f"pushforward(f, backend, args, tangents): takes two tuples, arguments and tangents, but got {len(args)}."
            )
        primals, tangents = args
        for name, given in (("args", primals), ("tangents", tangents)):
            if not isinstance(given, tuple):
                raise TypeError(
                    f"pushforward(f, backend, args, tangents): {name} must be a tuple with one entry for each argument of f, "
                    f"not a {type(given).__name__}."
                )
        return primals, tangents

    def tangents(self, call: Call, given: tuple[Any, ...] | None) -> Arrays:
        assert given is not None
        return native_tangents(call, given)

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.pushforward(self.backend, function, leaves, tangents)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        outputs, tangents_out, aux = results
        value = function.assemble(outputs, aux, call.present)
        return ValueAndTangent(value, function.assemble_tangent(tangents_out, call.present))


class Linearize(Operation):
    name = "linearize"
    result = ValueAndPush
    forms = ("value", "push")
    outlives = True

    def compute(self, function: Function, leaves: Arrays, tangents: Arrays) -> Results:
        return derive.linearize(self.backend, function, leaves)

    def finish(self, call: Call, function: Function, results: Results) -> Any:
        for output in results.outputs:
            call.take(output)  # which push may need
        value = function.assemble(results.outputs, results.aux, call.present)
        return ValueAndPush(value, Push(call, function.frozen(), results))


OPERATIONS |= {pullback: Reverse, pushforward: Forward, linearize: Linearize}
