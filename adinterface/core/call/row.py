"""Operators as data: what the engine computes, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from ..contract.backend import Arrays

#: What is differentiated of f's value: a real scalar; one with auxiliary values behind it; every
#: floating leaf.
OutputKind = Literal["scalar", "scalar and aux", "tree"]

#: What a field of a result is. `Call.results` makes it of one part of what `compute` gives:
#:
#: "value": what f returned, from outputs and aux.
#: "tangent": a tree like the value, None for a leaf without a derivative; from the aux by `form_of`
#: and an array for each output.
#: "arguments": a tuple with a tree like each argument; from an array for each leaf.
#: "argument": a tree like the first argument; from the same.
#: "jacobian": a tree like the value, of such tuples; from the aux by `form_of` and rows of blocks.
#: "hessian": a tree of trees, both like the first argument; from rows of blocks.
#: "back": a map from a cotangent of the value to "arguments".
#: "push": a map from a tangent of each argument to "tangent".
#: Operators that return a map have a `finish`.
FieldForm = Literal[
    "value", "tangent", "arguments", "argument", "jacobian", "hessian", "back", "push"
]

#: What an operator differentiates: each argument of f; the first alone; or the first, which must be
#: one real number.
Takes = Literal["arguments", "one argument", "one number"]

#: Where an operator takes directions: as its second argument, for the first; or as the second of
#: two tuples, whose first holds the arguments of f.
Directions = Literal["second argument", "second tuple"]

#: Tuples and lists of native arrays and `Aux`, with the engine's maps if the operator returns one.
Parts = Any

#: From the call as the flat function, its native leaves, and tangents for these.
Compute = Callable[[Any, Arrays, Arrays], Parts]

#: A compiled `Compute`: takes the leaves, the carried values and the tangents, concatenated.
Compiled = Callable[..., Parts]


@dataclass(frozen=True, eq=False)
class OperatorRow:
    """One operator, as plans, `prepare`, the tools, the kit and the benchmark read it."""

    name: str
    #: What the engine computes, and compiles in a prepared call: one part for each field of the
    #: result. Behind them stands `()` if the engine knows that f's value depends on no leaf.
    compute: Compute
    forms: tuple[FieldForm, ...]
    #: The class of the results; None for a single one.
    result: type[tuple[Any, ...]] | None = None
    output: OutputKind = "tree"
    order: Literal[1, 2] = 1
    #: Whether second derivatives are defined for complex arguments.
    of_complex: bool = False
    takes: Takes = "arguments"
    directions: Directions | None = None
    #: From the call and the parts to the result, in place of `Call.results`.
    finish: Callable[[Any, Parts], Any] | None = None
    #: Whether an engine can compile f alone, which is enough for first derivatives in reverse.
    compiles_f: bool = False
    #: For an operator that computes in several pieces: compiles each by `compiled`, and returns the
    #: whole.
    pieces: Callable[[Callable[[Compute], Compiled]], Compiled] | None = None
    #: Whether the objects that a call is given are written to: `Duplicated`, and what f changes in
    #: Flax NNX.
    writes: bool = False
    #: Of such an operator: the row that returns f's value, too; None for this one.
    with_value: OperatorRow | None = None

    # for extensions, whose rows are made of others

    #: What their markers, such as `Each`, say of the slots of a plan, from the plan and the values.
    marks: Callable[[Any, Sequence[Any]], Any] | None = None
    #: The native tangents, from a call, its directions, and whether these are stacks; in place of
    #: `native_tangents`.
    tangents: Callable[[Any, Sequence[Any], bool], Arrays] | None = None
    #: The row with what is decided once for a call, or for a specialization of a prepared one: a
    #: sparsity pattern.
    bind: Callable[[Any, Arrays], OperatorRow] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.compute.__module__, self.name)

    @property
    def title(self) -> str:
        """The operator in messages."""
        return self.name

    @property
    def made_of(self) -> tuple[Any, Any, dict[str, Any]]:
        """For pickles: the operator around an operator, the row inside, and the keywords."""
        return None, None, {}

    @property
    def outlives(self) -> bool:
        """Whether a result keeps the leaves after the call, so that mutable leaves are copied."""
        return "back" in self.forms or "push" in self.forms

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
        """The arguments of f and their tangents, from the operator's after the backend."""
        if self.directions is None:
            return args, None
        if self.directions == "second argument":
            if len(args) < 2:
                raise TypeError(
                    f"{self.name}(f, backend, x, v, *constants): takes x and its direction v, but"
                    f" got {len(args)}."
                )
            x, v, *constants = args
            return (x, *constants), (v, *[None] * len(constants))
        words = f"{self.name}(f, backend, args, tangents)"
        if len(args) != 2:
            raise TypeError(
                f"{words}: takes two tuples, arguments and tangents, but got {len(args)}."
            )
        for name, part in zip(("args", "tangents"), args):
            if not isinstance(part, tuple):
                raise TypeError(
                    f"{words}: {name} must be a tuple with one entry for each argument of f, not a"
                    f" {type(part).__name__}."
                )
        return args[0], args[1]

    def compiled(self, compiled: Callable[[Compute], Compiled]) -> Compiled:
        """`compute`, compiled."""
        return compiled(self.compute) if self.pieces is None else self.pieces(compiled)


def _row(module: str, name: str) -> OperatorRow:
    """A row of a module, for pickles."""
    rows = [each for each in vars(import_module(module)).values() if isinstance(each, OperatorRow)]
    return next(row for row in rows if (row.compute.__module__, row.name) == (module, name))
