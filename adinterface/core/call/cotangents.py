"""Cotangents and tangents from the user: checked against the tree they must match, made native."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..contract.arrays import filled, library_of
from ..contract.backend import Arrays, Backend
from ..contract.errors import ConversionError, TreeError
from ..contract.library import NUMPY, PYTHON, Library, dtype_kind, width
from ..contract.nodes import NodeType
from ..tree import (
    DIFFERENTIATED,
    Constant,
    Matcher,
    Node,
    Structure,
    handler_of,
    stood_for,
)
from .call import Call
from .messages import describe
from .plan import Plan


def native_tangents(call: Call, tangents: Sequence[Any], stacked: bool = False) -> Arrays:
    """One native tangent for each active leaf of the call, after `enter`.

    Raises TreeError, naming the path, for a tangent that does not match.
    """
    plan = call.plan
    if plan.operator.tangents is not None:
        return plan.operator.tangents(call, tangents, stacked)
    values = None if stacked else plan.values_like_arguments(tangents)
    if values is None:
        native = _matched(call, tangents, stacked)
    elif not plan.library.mutable and [*map(type, values)] == [*map(type, call.leaves)]:
        return tuple(values)  # they have the signatures of the leaves: nothing to convert
    else:
        match = NativeMatch(plan.backend, call.leaves, "the tangent")
        native = tuple(map(match.converted, call.leaves, values))
    if plan.library.mutable:
        for tangent in native:
            call.occupy(tangent)
    return native


def _matched(call: Call, tangents: Sequence[Any], stacked: bool) -> Arrays:
    """The tangents read one by one."""
    plan = call.plan
    require_one_each(plan, tangents)
    match = NativeMatch(plan.backend, call.leaves, "the tangent", stacked)
    for i, (structure, tangent) in enumerate(zip(plan.structures, tangents)):
        match.read(structure, tangent, name_of_tangent(plan, i))
    return match.finish()


def name_of_tangent(plan: Plan, i: int) -> str:
    """The tangent of an argument in messages."""
    return "v" if plan.operator.directions == "second argument" else f"tangents[{i}]"


def require_one_each(plan: Plan, tangents: Sequence[Any]) -> None:
    if len(tangents) != len(plan.structures):
        raise TreeError(
            f"{plan.operator.name}: there are {len(plan.structures)} arguments, so there must be as"
            f" many tangents, not {len(tangents)}; None is the tangent of a Constant."
        )


class NativeMatch(Matcher):
    """Collects a native array for each leaf of a structure from a tree; None anywhere is zero.

    arrays: the native arrays that the result must resemble, in order.
    stacked: whether every given leaf has one more axis in front.
    """

    def __init__(self, backend: Backend, arrays: Arrays, what: str, stacked: bool = False):
        self.backend: Backend = backend
        self.what: str = what
        self.stacked: bool = stacked
        self.expected: Iterator[Any] = iter(arrays)
        #: Each native array with the user's array for it.
        self.pairs: list[tuple[Any, Any]] = []
        self.count: int | None = None

    def finish(self) -> Arrays:
        """The native arrays; zeros (or stacks of them) where the user gave None."""
        if self.stacked and self.count is None:
            raise TreeError(f"{self.what}: a stack needs at least one array with a leading axis.")
        arrays, given = [array for array, _ in self.pairs], [given for _, given in self.pairs]
        return filled(self.backend, given, arrays, self.count if self.stacked else None)

    def read(self, structure: Structure, given: Any, path: str) -> None:
        """Collect the arrays of one tree."""
        for where, place, part in self.walk(structure, given, path):
            if place is DIFFERENTIATED:
                array = next(self.expected)
                self.pairs.append((array, None if part is None else self._leaf(array, part, where)))
            elif isinstance(place, Node):
                # a module's gradient has its frozen parameters there
                if part is not None and type(part) is not Constant:
                    raise TreeError(
                        f"{where} is a Constant, so {self.what} must be None there, not"
                        f" {describe(part)}."
                    )
            elif part is not None and isinstance(handler_of(part, scan=False), Library):
                raise TreeError(
                    f"{where} has no derivative, so {self.what} must be None there, not"
                    f" {describe(part)}."
                )

    def of_other_class(self, node: Node, other: Any, path: str) -> TreeError:
        return TreeError(
            f"{path} must be a {node.cls.__name__}, or None for zero, not a {type(other).__name__}."
        )

    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> TreeError:
        missing = [key for key in keys if key not in seen]
        extra = [key for key in seen if key not in keys]
        problems = [f"{', '.join(missing)} missing"] if missing else []
        problems += [f"{', '.join(extra)} not expected"] if extra else []
        return TreeError(
            f"{path} has another structure than {self.what} must have: {'; '.join(problems)}."
        )

    def _leaf(self, array: Any, given: Any, path: str) -> Any:
        library = library_of(self.backend, array)
        given = given_as = stood_for(given)
        handler = handler_of(given, scan=False)
        numbers = False
        if isinstance(handler, NodeType) and type(given) in (list, tuple):
            given, handler = _numbers(given), NUMPY
            numbers = True
        if not isinstance(handler, Library):
            shape = library.shape(array)
            raise TreeError(
                f"{path} must be an array of shape {shape}, or None for zero, not a"
                f" {type(given).__name__}."
            )
        expected = library.shape(array)
        shape = handler.shape(given)
        if self.stacked:
            if not shape or shape[1:] != expected or self.count not in (None, shape[0]):
                n = "n" if self.count is None else self.count
                wanted = f"({n}{''.join([f', {size}' for size in expected]) or ','})"
                raise TreeError(f"{path} must be a stack of shape {wanted}, not {shape}.")
            self.count = shape[0]
        elif shape != expected:
            remedy = f" Pass the array itself, without a {type(given_as).__name__} around it."
            raise TreeError(
                f"{path} must have shape {expected}, not {shape}.{remedy if numbers else ''}"
            )
        self._check_dtype(library.dtype(array), handler, given, path, numbers)
        return self.converted(array, given, path)

    def converted(self, array: Any, given: Any, path: str = "a tangent") -> Any:
        """A user's array, already checked, converted to the library of this native array."""
        if type(given) is type(array) and given.dtype == array.dtype:
            return given
        library, handler = library_of(self.backend, array), handler_of(given, scan=False)
        assert isinstance(handler, Library)
        if handler is not library and handler.traced(given):
            # copied where nothing else of the call records its memory
            if handler is self.backend.library:
                return handler.asarray(given, dtype=library.dtype(array))
            raise ConversionError(
                f"{path} is traced by {handler.name} ({type(given).__name__}), and"
                f" {type(self.backend.auto).__name__} cannot see through that trace. Use one engine"
                " for nested calls, or differentiate_with for a function of another."
            )
        if handler not in (library, PYTHON, NUMPY):
            given = handler.exported(given)
        return library.asarray(given, dtype=library.dtype(array), like=array)

    @staticmethod
    def _check_dtype(
        expected: str, handler: Library, given: Any, path: str, numbers: bool = False
    ) -> None:
        dtype = handler.dtype(given)
        if numbers:  # Python numbers take the expected dtype
            dtype = {"float64": "float", "complex128": "complex"}.get(dtype, dtype)
        if dtype in ("float", "int") or dtype_kind(dtype) in ("integer", "bool"):
            return
        complex_given = dtype == "complex" or dtype_kind(dtype) == "complex"
        if complex_given and dtype_kind(expected) != "complex":
            raise TreeError(f"{path} must be real (dtype {expected}), not {dtype}.")
        if dtype != "complex" and width(dtype) > width(expected):
            raise TreeError(
                f"{path} must have dtype {expected}, not {dtype}, which would be narrowed."
            )


def _numbers(given: Any) -> np.ndarray[Any, Any]:
    """Nested lists of numbers as an array; None among them is zero."""

    def zeros_for_none(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return [*map(zeros_for_none, item)]
        return 0.0 if item is None else item

    return np.asarray(zeros_for_none(given))
