"""One call of a rule, flat, as an engine applies custom derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.contract.arrays import library_of_array
from ..core.contract.errors import RuleError
from ..core.contract.library import NUMPY, PYTHON, Library, complex_of, widest
from ..core.contract.rules import Arrays, Point
from ..core.support.ambient import within
from ..core.tree import Constant, Leaf, Node, Static, Structure, build_gradient, flatten
from . import captured
from .definition import Definition
from .matching import HostMatch, RuleMatch, zeros_like
from .namespace import engine_of_rule

#: What a value in the arguments is: `(_LEAF, n)` and `(_CARRIED, n)` are arrays of the engine,
#: number n of the leaves and of
#: the carried ones. `(_CONSTANT, x)` and `(_STATIC, x)` are x itself; a derivative has a place for
#: the former alone.
_LEAF, _CARRIED, _CONSTANT, _STATIC = range(4)
_WITH_DERIVATIVE = (_LEAF, _CONSTANT)


def apply(rule: Definition, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The value of a rule; where an engine follows an argument, with the rule's derivatives."""
    if keywords or len(args) != rule.count:
        bound = rule.signature.bind(*args, **keywords)
        bound.apply_defaults()
        args, keywords = bound.args, bound.kwargs
    if rule.back is None and rule.push is None and rule.host is False:
        return rule.f(*args, **keywords)
    leaves: list[Leaf] = []
    structures = [_flatten(rule, i, arg, leaves) for i, arg in enumerate(args)]
    count = len(leaves)
    words = {
        name: flatten(Constant(value), "a keyword", leaves)[0] for name, value in keywords.items()
    }
    library = _library_of(rule, leaves)
    if library is None:
        return (
            rule.f(*args, **keywords)
            if rule.host is False
            else _on_plain_arrays(rule, structures, words, leaves)
        )
    application = Application(rule, library, structures, words, leaves, count)
    outputs, aux = library.custom(application, *application.taken())
    return application.result(outputs, aux)


def _on_plain_arrays(
    rule: Definition,
    structures: Sequence[Structure],
    words: dict[str, Structure],
    leaves: Sequence[Leaf],
) -> Any:
    """The value of a host function on copies of NumPy arrays.

    Arrays that were in stand-ins give a value in stand-ins.
    """
    values = iter(
        [
            _writable(leaf.value) if isinstance(leaf.value, np.ndarray) else leaf.value
            for leaf in leaves
        ]
    )
    args = [_plain(structure).build(values) for structure in structures]
    result = rule.f(
        *args, **{name: _plain(structure).build(values) for name, structure in words.items()}
    )
    stand_in = next(filter(None, map(_stand_in, (*structures, *words.values()))), None)
    if stand_in is None:
        return result
    structure, computed = flatten(result, f"the value of {rule.name}")
    return _standing(structure, stand_in).build(iter([leaf.value for leaf in computed]))


def _flatten(rule: Definition, i: int, arg: Any, leaves: list[Leaf]) -> Structure:
    structure, _ = flatten(
        arg, lambda: f"the argument {rule.path(i)} of the rule {rule.name}", leaves
    )
    if any(node.type.is_owner for node in structure.nodes()):
        raise RuleError(
            f"{rule.name}: the argument {rule.path(i)} holds a {type(arg).__name__}, whose"
            " parameters a rule cannot give derivatives of. Pass a dict of them, and have the"
            " object compute with it inside the rule."
        )
    return structure


def _library_of(rule: Definition, leaves: Sequence[Leaf]) -> Library | None:
    """The library whose engine follows the arguments.

    None if there are only NumPy arrays and numbers.
    """
    result = dict.fromkeys(
        [
            leaf.library
            for leaf in leaves
            if leaf.library is not NUMPY and leaf.library is not PYTHON
        ]
    )
    if len(result) <= 1:
        return next(iter(result), None)
    traced = dict.fromkeys([leaf.library for leaf in leaves if leaf.library.traced(leaf.value)])
    if len(traced) > 1:
        names = " and ".join(sorted(library.name for library in traced))
        raise RuleError(
            f"{rule.name}: its arguments are followed by {names} at once, and no engine sees"
            " through the arrays of another. Compute what one of them follows with"
            " differentiate_with."
        )
    return next(iter(traced or result))


class Application:
    """One call of a rule, as a `FlatRule`."""

    __slots__ = (
        "_form", "_order", "_rule", "_stand_in", "_structures", "_words", "carried",
        "innermost", "leaves", "library", "name", "pullback", "pushforward",
    )  # fmt: skip

    def __init__(
        self,
        rule: Definition,
        library: Library,
        structures: Sequence[Structure],
        words: dict[str, Structure],
        found: Sequence[Leaf],
        count: int,
    ):
        self._rule = rule
        self.library: Library = library
        self._structures = structures
        self._words = words
        self.name: str = rule.name
        self.innermost: bool = rule.innermost
        self.pullback: Callable[[Arrays, Point], Arrays] | None = (
            self._pull if rule.back is not None else None
        )
        self.pushforward: Callable[[Arrays, Point], Arrays] | None = (
            self._push if rule.push is not None else None
        )
        if self.pullback is None and self.pushforward is None:
            self.pullback = self.pushforward = self._without_derivative
        #: The value's structure, and of each array in it whether it is an output; known when the
        #: primal has run.
        self._form: tuple[Structure, tuple[bool, ...]] | None = None
        leaves: list[Any] = []
        carried: list[Any] = []
        #: For each array and number in the arguments what it is: see `_LEAF`.
        self._order: list[tuple[int, Any]] = []
        beside = next(leaf.value for leaf in found if leaf.library is library)
        #: A stand-in in the arguments, as NumPy code passes it: then arrays in the value are
        #: wrapped, too.
        self._stand_in: Node | None = next(
            filter(None, map(_stand_in, (*structures, *words.values()))), None
        )
        plain = rule.host is not False or self._stand_in is not None
        for n, leaf in enumerate(found):
            if leaf.library is library:
                place = leaves if leaf.differentiated and n < count else carried
                self._order.append((_LEAF if place is leaves else _CARRIED, len(place)))
                place.append(leaf.value)
            else:
                constant = _constant(library, leaf, beside, plain)
                self._order.append((_CONSTANT if leaf.differentiated else _STATIC, constant))
        self.leaves: Arrays = tuple(leaves)
        self.carried: Arrays = tuple(carried)

    def taken(self) -> tuple[Arrays, Arrays]:
        """The leaves and carried values, once: compiled code may keep the rule but not them."""
        both = self.leaves, self.carried
        self.leaves = self.carried = ()
        return both

    # trees

    def _arguments(
        self, leaves: Arrays, carried: Arrays, *, plain: bool = False
    ) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments of the author's code. plain: without stand-ins."""
        values = iter(
            [
                leaves[n] if kind == _LEAF else carried[n] if kind == _CARRIED else n
                for kind, n in self._order
            ]
        )
        as_it_is = not plain or self._stand_in is None
        args = [
            (structure if as_it_is else _plain(structure)).build(values)
            for structure in self._structures
        ]
        return args, {
            name: (s if as_it_is else _plain(s)).build(values) for name, s in self._words.items()
        }

    def result(self, outputs: Arrays, aux: Arrays) -> Any:
        """The value in the structure that f returned."""
        assert self._form is not None
        structure, places = self._form
        one, other = iter(outputs), iter(aux)
        return structure.build(
            iter([next(one) if is_output else next(other) for is_output in places])
        )

    def value(self, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        if self._rule.host is not False:
            return self._host(leaves, carried)
        return self._value(self._rule.f, leaves, carried)

    def _without_derivative(self, moved: Arrays, point: Point) -> Arrays:
        raise RuleError(
            f"{self.name} has no derivative: it is a rule without a pullback and without a"
            f" pushforward. Decorate one with {self.name}.pullback, or take finite differences with"
            f" differentiate_with({self.name}, AutoFiniteDifferences())."
        )

    def written(self, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays] | None:
        f = self._rule.written
        return None if f is None else self._value(f, leaves, carried)

    def _value(
        self, f: Callable[..., Any], leaves: Arrays, carried: Arrays
    ) -> tuple[Arrays, Arrays]:
        args, words = self._arguments(leaves, carried)
        structure, computed = flatten(f(*args, **words), f"the value of {self.name}")
        self._form = structure, tuple([leaf.differentiated for leaf in computed])
        return self._split([self._native(leaf, leaves or carried) for leaf in computed])

    def _split(self, arrays: Iterable[Any]) -> tuple[Arrays, Arrays]:
        """The arrays of the value: outputs, and those without a derivative."""
        assert self._form is not None
        pairs = list(zip(arrays, self._form[1]))
        return tuple([x for x, out in pairs if out]), tuple([x for x, out in pairs if not out])

    def _host(self, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        """As `value`, of code that runs outside of the engine's traces."""
        library, rule, count = self.library, self._rule, len(leaves)
        beside = (*leaves, *carried)
        dtype = widest([library.dtype(x) for x in beside])
        dtypes = {float: dtype, complex: complex_of(dtype)}
        first: list[Structure] = []

        def numbers(f: Callable[..., Any], given: Iterable[Any]) -> Arrays:
            """The value of f for arrays outside of a trace, flat, in the structure of the first."""
            arrays = tuple(given)
            args, words = self._arguments(arrays[:count], arrays[count:], plain=not rule.outside)
            value = (
                f(*args, **words)
                if rule.outside
                else captured.on_numbers(self.name, f, *args, **words)
            )
            if first:
                found = HostMatch(self.name).leaves(first[0], value)
            else:
                structure, result = flatten(value, f"the value of {self.name}")
                first.append(structure)
                self._form = (
                    structure if self._stand_in is None else _standing(structure, self._stand_in),
                    tuple([leaf.differentiated for leaf in result]),
                )
                found = [leaf.value for leaf in result]
                outside.fixes = structure.fold(_is_fixed, lambda node, fixed: any(fixed))
            return tuple(
                [np.asarray(x, dtypes[type(x)]) if type(x) in dtypes else x for x in found]
            )

        def called(*arrays: Any) -> Arrays:
            return numbers(rule.f, map(_writable if rule.outside else _numpy, arrays))

        def example() -> Arrays:
            ones = [np.ones(library.shape(x), library.dtype(x)) for x in beside]
            return numbers(rule.host if callable(rule.host) else rule.f, ones)

        outside: Any = called
        outside.__name__ = self.name
        return self._split(library.outside(outside, beside, example))

    def _native(self, leaf: Leaf, beside: Arrays) -> Any:
        library = self.library
        if leaf.library is library:
            return leaf.value
        if leaf.library is PYTHON:
            dtype = (
                widest([library.dtype(x) for x in beside])
                if leaf.library.dtype(leaf.value) == "float"
                else None
            )
            return library.asarray(leaf.value, dtype=dtype, like=beside[0])
        if leaf.library is NUMPY:
            return library.asarray(leaf.value, like=beside[0])
        return library.asarray(library.foreign(leaf.value, leaf.library), like=beside[0])

    # derivatives

    def _pull(self, cotangents: Arrays, point: Point) -> Arrays:
        args, words = self._arguments(point.leaves, point.carried)
        assert self._form is not None
        cotangent = build_gradient(self._form[0], iter(self._own(cotangents)))
        given = self._derivative(self._rule.back, cotangent, point, args, words)
        match = RuleMatch(self.library, self.name, "pullback", self._expected(point))
        match.arguments(self._rule, self._structures, given)
        kinds = [kind for kind, _ in self._order if kind in _WITH_DERIVATIVE]
        return tuple([x for x, kind in zip(match.arrays, kinds) if kind == _LEAF])

    def _push(self, tangents: Arrays, point: Point) -> Arrays:
        args, words = self._arguments(point.leaves, point.carried)
        given = self._derivative(
            self._rule.push, self._tangents(self._own(tangents)), point, args, words
        )
        assert self._form is not None
        match = RuleMatch(self.library, self.name, "pushforward", iter(point.outputs))
        match.read(self._form[0], given, "value")
        return tuple(match.arrays)

    def _own(self, moved: Arrays) -> Arrays:
        """Copies, since the author may write into them, and the engine keeps its own."""
        return tuple([x * 1 for x in moved]) if self.library.mutable else moved

    def _derivative(
        self, function: Any, moved: Any, point: Point, args: Sequence[Any], words: dict[str, Any]
    ) -> Any:
        """The result of the author's derivative for a cotangent, or for tangents."""
        value = self.result(point.outputs, point.aux)
        if not self.library.plain_numpy:
            return function(moved, value, *args, **words)
        with within(engine_of_rule, self.library):
            return function(moved, value, *args, **words)

    def _expected(self, point: Point) -> Iterator[Any]:
        """The array that each cotangent must resemble in shape and dtype."""
        return iter(
            [
                point.leaves[n] if kind == _LEAF else n
                for kind, n in self._order
                if kind in _WITH_DERIVATIVE
            ]
        )

    def _tangents(self, tangents: Arrays) -> tuple[Any, ...]:
        both = iter(
            [
                tangents[n] if kind == _LEAF else zeros_like(n)
                for kind, n in self._order
                if kind in _WITH_DERIVATIVE
            ]
        )
        return tuple([build_gradient(structure, both) for structure in self._structures])

    # errors

    def refused(self, n: int) -> Exception:
        refusal = self._rule.refusal
        if refusal is not None:
            return type(refusal)(*refusal.args)
        words = ", ".join(self._words)
        return RuleError(
            f"{self.name}: a keyword of it ({words}) is being differentiated, but a rule's keywords"
            f" are constants. Make it a positional parameter of {self.name}, or pass"
            " ignore_derivatives(x)."
        )

    def captured(self) -> Exception:
        return captured.refusal(self.name)

    def nonlinear(self) -> Exception:
        given, derived = (
            ("pullback", "pushforward") if self._rule.push is None else ("pushforward", "pullback")
        )
        what = "cotangent" if given == "pullback" else "tangents"
        return RuleError(
            f"{self.name}: its {derived} is derived by transposing its {given}, which is not linear"
            f" in the {what}, or not in a way that the engine can transpose. Make it linear, or"
            f" give the {derived} too: @{self.name}.{derived}."
        )


def _writable(x: Any) -> Any:
    """A copy of an array without a trace, which user code may write into."""
    library = library_of_array(x)
    return library.asarray(x, like=x, copy=True) if library.mutable else x


def _numpy(x: Any) -> Any:
    """A new NumPy array with the numbers of an array without a trace."""
    return np.array(library_of_array(x).to_numpy(x))


def _is_fixed(place: Any) -> bool:
    return isinstance(place, Static) and place.value is not None


def _stand_in(structure: Structure) -> Node | None:
    """A stand-in in the structure, or None."""
    return next((node for node in structure.nodes() if node.type.stands_for_array), None)


def _plain(structure: Structure) -> Structure:
    """The structure with the array itself in place of each stand-in."""

    def plain(node: Node, children: list[Structure]) -> Structure:
        return children[0] if node.type.stands_for_array else node.with_children(children)

    return structure.fold(lambda place: place, plain)


def _standing(structure: Structure, stand_in: Node) -> Structure:
    """The structure with such a node around each array."""
    return structure.fold(
        lambda place: place if isinstance(place, Static) else stand_in.with_children([place]),
        Node.with_children,
    )


def _constant(library: Library, leaf: Leaf, beside: Any, plain: bool) -> Any:
    """A value that is not an engine's array, in the form that the rule's code gets."""
    if leaf.library is PYTHON or (leaf.library is NUMPY and plain):
        return leaf.value
    if leaf.library is NUMPY:
        return library.lift(leaf.value, beside)
    return library.asarray(library.foreign(leaf.value, leaf.library), like=beside)
