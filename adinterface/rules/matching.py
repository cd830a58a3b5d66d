"""Checks of what the author of a rule returns: the same errors on every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._trees import structure_key
from ..core.contract.arrays import library_of_array
from ..core.contract.errors import RuleError
from ..core.contract.library import NUMPY, PYTHON, Library, dtype_kind, width
from ..core.contract.registry import REGISTRY
from ..core.tree import (
    CONSTANT,
    DIFFERENTIATED,
    Matcher,
    Node,
    Static,
    Structure,
    handler_of,
    stood_for,
)
from .definition import Definition


def zeros_like(array: Any) -> Any:
    """Zeros of an array's shape and dtype; 0 for a number."""
    library = library_of_array(array)
    return type(array)(0) if library is PYTHON else library.namespace(array).zeros_like(array)


class RuleMatch(Matcher):
    """Collects an array for each differentiated leaf from trees of the same structure.

    None anywhere is zero.

    expected: what each collected array must resemble in shape and dtype, in order.
    """

    def __init__(self, library: Library, name: str, what: str, expected: Iterator[Any]):
        self.library: Library = library
        self.name: str = name
        self.what: str = what
        self.expected: Iterator[Any] = expected
        self.arrays: list[Any] = []

    def _error(self, problem: str) -> RuleError:
        return RuleError(f"{self.name}: its {self.what} {problem}")

    def arguments(self, rule: Definition, structures: Sequence[Structure], given: Any) -> None:
        """A tuple with a tree for each argument."""
        count = len(structures)
        alone = count == 1 and (
            type(given) is not tuple or (len(given) != 1 and _children(structures[0]) == len(given))
        )
        if alone:
            given = (given,)
        if type(given) is not tuple:
            raise self._error(
                f"returned a {type(given).__name__}, where it must return a tuple with one"
                f" cotangent for each of its {count} arguments; None is zero."
            )
        if len(given) != count:
            raise self._error(
                f"returned {_counted(len(given))} for {count} argument{'s' * (count != 1)}. There"
                " must be one for each positional argument; None is zero."
            )
        for i, (structure, part) in enumerate(zip(structures, given)):
            self.read(structure, part, rule.path(i))

    def read(self, structure: Structure, given: Any, path: str) -> None:
        """Collect the arrays of one tree."""
        for where, place, part in self.walk(structure, given, path):
            if place is DIFFERENTIATED:
                like = next(self.expected)
                self.arrays.append(
                    zeros_like(like) if part is None else self._leaf(like, part, where)
                )
            elif part is not None and isinstance(handler_of(part, scan=False), Library):
                raise self._error(
                    f"gave {_describe(part)} for {where}, which has no derivative. It must be None"
                    " there."
                )

    def parts(self, node: Node, keys: Sequence[str], other: Any, path: str) -> Sequence[Any]:
        """As for any tree; but a dict may give the fields of an object, and may leave out zeros."""
        fields = isinstance(other, dict) and all(key.startswith(".") for key in keys)
        if not fields and not (
            isinstance(other, dict) and handler_of(other, scan=False) is node.type
        ):
            return super().parts(node, keys, other, path)
        by_key = {f".{key}" if fields else f"[{key!r}]": part for key, part in other.items()}
        if by_key.keys() - {*keys}:
            raise self.of_other_keys(node, keys, [*by_key], other, path)
        return [by_key.get(key) for key in keys]

    def of_other_class(self, node: Node, other: Any, path: str) -> RuleError:
        return self._error(
            f"gave a {type(other).__name__} for {path}, which is a {node.cls.__name__}."
        )

    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> RuleError:
        extra, missing = (
            [key for key in seen if key not in keys],
            [key for key in keys if key not in seen],
        )
        problem = f"{', '.join(extra)} not expected" if extra else f"{', '.join(missing)} missing"
        return self._error(f"gave another structure for {path} than it has: {problem}.")

    def _leaf(self, like: Any, given: Any, path: str) -> Any:
        handler = REGISTRY.handlers.get(type(given))
        if handler is self.library or (handler is NUMPY and self.library.plain_numpy):
            result, owner = (handler.dtype(given), handler.shape(given)), library_of_array(like)
            if (owner.dtype(like), owner.shape(like)) == result:
                return given
        return self._unusual(like, given, path)

    def _unusual(self, like: Any, given: Any, path: str) -> Any:
        """A value that is not the engine's array, or does not fit."""
        library, given = self.library, stood_for(given)
        handler, owner = handler_of(given, scan=False), library_of_array(like)
        if not isinstance(handler, Library):
            raise self._error(
                f"gave a {type(given).__name__} for {path}, where it must give {_kind_of(like)}, or"
                " None for zero."
            )
        if owner is PYTHON:
            return given  # for a number that is not differentiated
        shape, expected = tuple(owner.shape(like)), owner.dtype(like)
        dtype = handler.dtype(given)
        if tuple(handler.shape(given)) != shape:
            raise self._error(
                f"gave an array of shape {tuple(handler.shape(given))} for {path}, which has shape"
                f" {shape}. Take the sum over the axes along which it was broadcast."
            )
        complex_given = dtype == "complex" or dtype_kind(dtype) == "complex"
        if complex_given and dtype_kind(expected) == "real":
            raise self._error(
                f"gave an array of dtype {dtype} for {path}, which has dtype {expected}. Take its"
                " real part."
            )
        widened = (
            not complex_given
            and dtype_kind(expected) == "complex"
            and width(dtype) == width(expected)
        )
        if owner is NUMPY and library is not NUMPY and not library.plain_numpy:
            # for an array that is not differentiated, which may be wider than the engine allows
            return given
        if handler is not PYTHON and dtype != expected and not widened:
            raise self._error(
                f"gave an array of dtype {dtype} for {path}, which has dtype {expected}. Convert"
                f" it, or what it is computed from, to {expected}."
            )
        if handler in (library, NUMPY, PYTHON):
            return library.asarray(
                given, dtype=expected, like=None if library.plain_numpy else like
            )
        return library.asarray(library.foreign(given, handler), dtype=expected, like=like)


class HostMatch(Matcher):
    """The value of a host function, which must be like the first one.

    An engine compiles the call for that one.
    """

    strict, optional = True, False

    def __init__(self, name: str):
        self.name: str = name

    def leaves(self, structure: Structure, value: Any) -> list[Any]:
        """The arrays and numbers of the value, in the order of the structure."""
        result: list[Any] = []
        for where, place, part in self.walk(structure, value, "its value"):
            handler = handler_of(part, scan=False)
            if isinstance(place, Static):
                if structure_key(place) != structure_key(Static(part, "")):
                    raise self._error(
                        where,
                        part,
                        f"{place.value!r}" if _is_plain(place.value) else _class(place.value),
                    )
            elif not isinstance(handler, Library) or type(part) is int:
                raise self._error(where, part, "an array or a float")
            else:
                result.append(part)
        return result

    def _error(self, where: str, part: Any, first: str) -> RuleError:
        seen = repr(part) if _is_plain(part) else _class(part)
        return RuleError(
            f"{self.name}: {where} is {seen}, and was {first} in its first run: at ones where code"
            " is compiled, or in `like`, or for another entry of a batch. Only numbers in arrays"
            " and floats may change: return np.asarray(n), or leave it out. If ones are a special"
            " case, write @rule(host=like), or differentiate_with(like=like)."
        )

    def of_other_class(self, node: Node, other: Any, path: str) -> RuleError:
        return self._error(path, other, f"a {node.cls.__name__}")

    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> RuleError:
        return self._error(path, other, f"a {node.cls.__name__} of {', '.join(keys)}")


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, str))


def _class(value: Any) -> str:
    return f"a {type(value).__name__}"


def _kind_of(like: Any) -> str:
    owner = library_of_array(like)
    return f"an array of shape {tuple(owner.shape(like))} and dtype {owner.dtype(like)}"


def _describe(given: Any) -> str:
    handler = library_of_array(given)
    return f"the {type(given).__name__} {given}" if handler is PYTHON else _kind_of(given)


def _counted(count: int) -> str:
    return f"{count} cotangent{'s' * (count != 1)}"


def _children(structure: Structure) -> int | None:
    """How many entries a tuple has; None for anything else."""
    if isinstance(structure, Node) and structure.type is CONSTANT:
        structure = structure.children[0]
    return (
        len(structure.children) if isinstance(structure, Node) and structure.cls is tuple else None
    )


__all__ = ["HostMatch", "RuleMatch", "zeros_like"]
