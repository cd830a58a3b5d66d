"""Python numbers of Constants and keywords in compiled calls of 32 bits.

f may compute with such numbers before they meet an array: `x * (t1 - t0)`. Python does that in 64 bits, compiled code would
do it in 32. So these steps are taken out of the program: each call makes them with NumPy, and the program gets their results.
Where they cannot be taken out, as from a loop, the numbers are compiled in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from operator import add, attrgetter, eq, ge, gt, le, lt, mul, ne, neg, sub, truediv
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, jaxpr_as_fun

from adinterface.core.contract import Cache, key_of

from . import unrolled
from .outside import own_error


def _power(x: Any, y: Any) -> Any:
    result = x**y
    return result if type(result) is not complex or complex in (type(x), type(y)) else math.nan  # as JAX


# Python's operators, by the names of JAX's operations.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": add, "sub": sub, "mul": mul, "div": truediv, "neg": neg, "abs": abs, "pow": _power, "lt": lt, "le": le, "gt": gt,
    "ge": ge, "eq": eq, "ne": ne, "real": attrgetter("real"), "imag": attrgetter("imag"),
}  # fmt: skip
_CONVERSIONS = {np.dtype("float32"): partial(mul, 1.0), np.dtype("complex64"): partial(add, 0j)}
_NUMBERS = frozenset({float, complex})
_LARGEST = float(np.finfo(np.float32).max)
#: When so many numbers have been compiled in, a warning names the remedy.
_MANY = 8


class PythonNumbers:
    """`compute`, compiled by `jax.jit`, in which no step between Python numbers is narrowed."""

    def __init__(self, compute: Callable[..., Any], around: Callable[[Any], Any] = unrolled.warning):
        self._compute, self._around = compute, around
        self._whole = jax.jit(around(compute))
        #: The compiled function, chosen in the first call: which arguments are Python numbers does not change.
        self._chosen: Callable[..., Any] | None = None
        self._fixed: Cache[Callable[..., Any]] = Cache(64)
        self._count = 0

    def __call__(self, *arrays: Any) -> Any:
        try:
            return self._called(*arrays)
        except jax.errors.JaxRuntimeError as error:
            raise own_error(error) from None

    def _called(self, *arrays: Any) -> Any:
        if self._chosen is None:
            numbers = [n for n, x in enumerate(arrays) if type(x) in _NUMBERS]
            if numbers and not narrows():
                return self._whole(*arrays)
            self._chosen = self._choose(arrays, numbers) if numbers else self._whole
        return self._chosen(*arrays)

    def _choose(self, arrays: Sequence[Any], numbers: Sequence[int]) -> Callable[..., Any]:
        try:
            steps = _Steps(jax.jit(self._compute).trace(*arrays).jaxpr, numbers)
        except NotImplementedError:
            return self._with_fixed

        def rest(*both: Any) -> Any:
            traced = jax.jit(self._compute).trace(*both[: len(arrays)])
            return jax.tree.unflatten(jax.tree.structure(traced.out_info), _Steps(traced.jaxpr, numbers).program(*both))

        return partial(steps, self._whole, jax.jit(self._around(rest))) if steps.matter else self._whole

    def _with_fixed(self, *arrays: Any) -> Any:
        if not narrows():
            return self._whole(*arrays)
        numbers = [x if type(x) in _NUMBERS else None for x in arrays]
        key = key_of(tuple(numbers))
        compiled = self._fixed.get(key)
        if compiled is None:

            def placed(*others: Any) -> Any:
                remaining = iter(others)
                return self._compute(*[next(remaining) if x is None else x for x in numbers])

            compiled = self._fixed.add(key, jax.jit(self._around(placed)))
            self._count += 1
            if self._count == _MANY:
                unrolled.warn(
                    f"f computes with Python numbers of Constants or keywords inside a loop or a compiled function. To keep "
                    f"their 64 bits they are compiled in, now for {_MANY} different values. Pass a number that changes as an "
                    f"array, such as np.float32(0.1)."
                )
        return compiled(*[x for x, number in zip(arrays, numbers) if number is None])


def narrows() -> bool:
    """Whether code compiled now computes with Python numbers in 32 bits."""
    config: Any = jax.config
    return not (config.jax_enable_x64 or config.jax_disable_jit)


class _Steps:
    """The steps between Python numbers in a program, and the program without them.

    Raises NotImplementedError if some of them are inside an operation, or use a number that JAX has narrowed.
    """

    def __init__(self, closed: Any, numbers: Sequence[int]):
        jaxpr = closed.jaxpr
        self._numbers = [(n, jaxpr.invars[n]) for n in numbers]
        #: Each step: its operator, its operands, which are variables or numbers, and its result.
        self._steps: list[tuple[Callable[..., Any], list[Any], Any]] = []
        known, rest = {var for _, var in self._numbers}, []
        same = set(known)
        for eqn in jaxpr.eqns:
            operands = [var for var in eqn.invars if not isinstance(var, Literal)]
            operator = _operator(eqn) if operands and known.issuperset(operands) else None
            if operator is not None:
                step = operator, [_number(var) for var in eqn.invars], eqn.outvars[0]
                self._steps.append(step)
                if getattr(step[2].aval, "weak_type", False):
                    known.add(step[2])  # else it has met an array, and what follows is in the array's dtype
                if same.issuperset(operands) and (operator in _CONVERSIONS.values() or (operator is mul and 1.0 in step[1])):
                    same.add(step[2])
                continue
            if not known.isdisjoint(operands) and any(map(_computes, unrolled.programs([*eqn.params.values()]))):
                raise NotImplementedError
            rest.append(eqn)
        outputs = [(k, var) for k, var in enumerate(jaxpr.outvars) if not isinstance(var, Literal)]
        needed = {var for _, var in outputs} | {var for eqn in rest for var in eqn.invars if not isinstance(var, Literal)}
        #: The results of steps that the rest of the program needs, and the outputs that are numbers.
        self._entering = [var for _, _, var in self._steps if var in needed]
        self._outputs = [(k, var) for k, var in outputs if var in known]
        #: Whether some of these are not the given numbers themselves.
        self.matter: bool = bool(self._outputs or set(self._entering) - same)
        whole = jaxpr.replace(invars=[*jaxpr.invars, *self._entering], eqns=rest)
        #: The program without the steps, whose results follow the other arguments.
        self.program: Callable[..., Any] = jaxpr_as_fun(ClosedJaxpr(whole, closed.consts))

    def __call__(self, whole: Callable[..., Any], compiled: Callable[..., Any], *arrays: Any) -> Any:
        if not narrows():
            return whole(*arrays)
        try:
            values = self._made(arrays, lambda x: x)
        except ArithmeticError:  # Python raises where JAX has an infinity
            with np.errstate(all="ignore"):
                values = self._made(arrays, np.asarray)
        results = compiled(*arrays, *[_within_32_bits(values[var]) for var in self._entering])
        if self._outputs:
            leaves, structure = jax.tree.flatten(results)
            for k, var in self._outputs:
                leaves[k] = np.asarray(values[var])
            results = jax.tree.unflatten(structure, leaves)
        return results

    def _made(self, arrays: Sequence[Any], number: Callable[[Any], Any]) -> dict[Any, Any]:
        values = {var: number(arrays[n]) for n, var in self._numbers}
        for operator, operands, var in self._steps:
            values[var] = operator(*[values.get(x, x) for x in operands])
        return values


def _within_32_bits(x: Any) -> Any:
    """The same, with an infinity for what has none of 32 bits: JAX would warn."""
    return math.copysign(math.inf, x) if type(x) is not complex and abs(x) > _LARGEST else x


def _operator(eqn: Any) -> Callable[..., Any] | None:
    name = eqn.primitive.name
    if name == "convert_element_type":
        return _CONVERSIONS.get(eqn.params["new_dtype"])
    return partial(_power, y=eqn.params["y"]) if name == "integer_pow" else _OPERATORS.get(name)


def _number(var: Any) -> Any:
    """A variable, or the number of a literal, as f wrote it."""
    if not isinstance(var, Literal):
        return var
    if isinstance(var.val, (float, complex)):
        return var.val
    if var.val != np.round(var.val) or abs(var.val) >= 2**24:  # JAX may have narrowed it
        raise NotImplementedError
    return float(var.val)


def _computes(program: Any) -> bool:
    """Whether a program inside an operation has steps between numbers that Python would make in 64 bits."""
    for eqn in program.eqns:
        operands = [var.aval for var in eqn.invars if not isinstance(var, Literal)]
        if eqn.primitive.name in _OPERATORS and operands and all(map(_is_number, operands)):
            return True
        if any(map(_computes, unrolled.programs([*eqn.params.values()]))):
            return True
    return False


def _is_number(aval: Any) -> bool:
    return getattr(aval, "weak_type", False) and aval.shape == () and aval.dtype.kind in "fc"


__all__ = ["PythonNumbers", "narrows"]
