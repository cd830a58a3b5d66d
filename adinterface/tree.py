"""Trees: an argument comes apart into leaves and a `Structure`, and results are built on that structure again."""

from __future__ import annotations

import enum
import functools
import numbers
import operator
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import registry
from .containers import BUILT_IN, KEPT_CLASSES, Registered
from .contract.errors import NotDifferentiableError, TreeError
from .contract.library import NUMPY, PYTHON, Library, NumpyLibrary, check_ndarray, kind
from .contract.nodes import NodeType
from .opaque import buffer_has_floats, hidden, is_number

T = TypeVar("T")


class Constant:
    """Marks a value that is not differentiated: an argument, or any node inside one.

    f receives what it wraps; the gradient there is None. A frozen layer of a model, an axis, a batch of data:

    >>> from adinterface import AutoFiniteDifferences, Constant, gradient
    >>> gradient(lambda x, n: x**n, AutoFiniteDifferences(), 3.0, Constant(2))[1] is None
    True
    """

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


# Structures ----------------------------------------------------------------------------------------------------------


class LeafSpec:
    """A place that a numeric leaf fills: differentiated, or only carried along."""

    __slots__ = ("differentiated",)

    def __init__(self, differentiated: bool):
        self.differentiated = differentiated


DIFFERENTIATED, CARRIED = LeafSpec(True), LeafSpec(False)


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A value without a gradient, kept as it is."""

    value: Any
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
    """A Constant inside a tree: its content is carried along, its gradient is None as a whole."""

    inner: Structure


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    type: NodeType
    data: Any
    children: tuple[Structure, ...]


Structure = LeafSpec | Static | Frozen | Node


class Holder(NamedTuple):
    """The first child of a held node: the object itself, with the children that it has of its own."""

    value: Any
    children: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A numeric leaf where it was found."""

    value: Any
    library: Library
    #: The object through which f reaches the leaf (a module that holds its parameter), if there is one.
    holder: Any
    differentiated: bool


# Handlers ------------------------------------------------------------------------------------------------------------

_registered: dict[type, Registered] = {}
#: What is known of classes; it is found again, so a program that makes ever more of them need not keep them all.
_handlers: dict[type, Library | NodeType] = {}


def register_node(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Sequence[Any]], T],
) -> type[T]:
    """Make instances of a class into nodes of trees.

    `flatten(obj)` gives `(children, data)`: children are trees, data is everything else. `unflatten(data, children)`
    builds an object again; it meets numbers, an engine's arrays, gradients, and None, so it should check nothing.
    Returns the class. Raises ValueError if the class is registered already, TypeError for one that has a meaning already: a
    built-in container, a number, an array.
    """
    if not isinstance(cls, type) or _has_meaning(cls):
        raise TypeError(
            f"register_node: {getattr(cls, '__qualname__', cls)} is no class of yours: what its objects are is settled before "
            f"registered classes are looked up. Derive a class from it and register that one."
        )
    if cls in _registered:
        raise ValueError(f"{cls.__qualname__} is registered already; a class has one way to come apart.")
    _registered[cls] = Registered(cls, flatten, unflatten)
    _handlers.pop(cls, None)
    return cls


def register_stand_in(
    cls: type[T],
    flatten: Callable[[T], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Sequence[Any]], T],
) -> None:
    """As `register_node`, for a class of this package that stands for the one array in it wherever an array is expected.

    Called at import, so it does not ask for the engines that are there.
    """
    _registered[cls] = Registered(cls, flatten, unflatten)
    _registered[cls].stands_for_array = True


def stood_for(value: Any) -> Any:
    """The array that a value stands for; every other value as it is."""
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType) and handler.stands_for_array:
        (value,), _ = handler.flatten(value)
    return value


def _has_meaning(cls: type) -> bool:
    if cls in _SETTLED or issubclass(cls, np.generic):
        return True
    return any(issubclass(cls, library.types) for backend in registry.loaded_backends() for library in backend.libraries)


def handler_of(value: Any, *, scan: bool = True, alone: bool = False, path: str = "argument") -> Library | NodeType | None:
    """Who handles this value: the library of a leaf, the type of a node, or None for an opaque value.

    With `scan`, an opaque object that holds floating arrays raises NotDifferentiableError; where it is `alone`, an argument of
    its own, one that holds numbers does, too.
    """
    cls = type(value)
    known = _handlers.get(cls)
    if known is not None:
        return known
    handler = _find_handler(value, path)
    if handler is not None:
        if len(_handlers) >= KEPT_CLASSES:
            _handlers.clear()
        _handlers[cls] = handler
    elif scan:
        _check_opaque(value, path, alone)
    return handler


_OPAQUE_AT_SIGHT = (str, bytes, bool, type(None), type)
_SETTLED = (
    *_OPAQUE_AT_SIGHT, object, int, float, complex, dict, OrderedDict, defaultdict, list, tuple, np.ndarray, Constant,
)  # fmt: skip
_PLAIN_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)


def is_opaque_type(cls: type) -> bool:
    """Whether an engine says that instances of this class hold nothing to differentiate."""
    return any(cls in backend.opaque_types for backend in registry.loaded_backends())


def _find_handler(value: Any, path: str) -> Library | NodeType | None:
    cls = type(value)
    if cls in _OPAQUE_AT_SIGHT:
        return None
    if NUMPY.owns(value):
        return NUMPY
    if isinstance(value, np.ndarray) and cls not in _registered:
        check_ndarray(value, path)
    if PYTHON.owns(value):
        return PYTHON
    if cls in _registered:
        return _registered[cls]
    engines = registry.loaded_backends()
    for backend in engines:
        for library in backend.libraries:
            if library.owns(value):
                return library
    for node_type in BUILT_IN[:4]:  # plain containers are ours, whatever an engine's own registry says of them
        if node_type.matches(value):
            return node_type
    for backend in engines:
        for node_type in backend.node_types:
            if node_type.matches(value):
                return node_type
    for node_type in BUILT_IN[4:]:
        if node_type.matches(value):
            return node_type
    return None


def _check_opaque(value: Any, path: str, alone: bool) -> None:
    cls = type(value)
    if cls in _OPAQUE_AT_SIGHT or cls is functools.partial or is_opaque_type(cls):
        return
    name = f"{cls.__module__}.{cls.__qualname__}"
    if is_number(value) or (alone and isinstance(value, numbers.Number) and not isinstance(value, (int, enum.Enum))):
        plain = "complex" if isinstance(value, complex) else "float"
        raise NotDifferentiableError(
            f"{path} is a {name}, a number that no engine differentiates: it would silently have no gradient. "
            f"Pass {plain}(x), or wrap it in Constant(...)."
        )
    if buffer_has_floats(value):
        raise NotDifferentiableError(
            f"{path} is a {name}, whose floating numbers no engine differentiates where they are: they would silently have no "
            f"gradient. Pass numpy.asarray(x) or what it is made of, register the class with "
            f"register_node({cls.__qualname__}, flatten, unflatten), or wrap it in Constant(...)."
        )
    inner, what = hidden(value, is_floating_array), "a floating array"
    if inner is None and alone and cls not in _PLAIN_CALLABLES:
        inner, what = hidden(value, is_floating_array, numbers=True), "a number"
    if inner is not None:
        advice = next((said for backend in registry.loaded_backends() if (said := backend.advice(value))), None)
        remedy = advice or (
            f"Register the class with register_node({cls.__qualname__}, flatten, unflatten), make it a dataclass, "
            f"or wrap it in Constant(...)."
        )
        raise NotDifferentiableError(
            f"{path} is a {name}, which adinterface cannot look into, but {path}{inner} is {what}: it would silently have no "
            f"gradient. {remedy}"
        )


def is_floating_array(value: object) -> bool:
    """Whether value is an array of real or complex floats, of any library that is loaded."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" or kind(value.dtype.name) in ("real", "complex")
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType) or handler is None or isinstance(handler, NumpyLibrary):
        return False
    return handler.name != "python" and kind(handler.dtype(value)) in ("real", "complex")


def _refuse_hidden_arrays(value: object, where: str) -> None:
    inner = "" if is_floating_array(value) or buffer_has_floats(value) else hidden(value, is_floating_array)
    if inner is not None:
        raise NotDifferentiableError(
            f"{where}{inner} is an attribute that is not a field but holds a floating array, which would silently have no "
            f"gradient. Declare it as a field, mark it static with field(metadata={{'static': True}}), register the class with "
            f"register_node, or wrap the object in Constant(...)."
        )


#: What is less deep than this is not why Python's recursion limit was reached.
_DEEP = 100

# Flattening ----------------------------------------------------------------------------------------------------------


def flatten(value: Any, leaves: list[Leaf], path: Callable[[], str], *, holder: Any = None, fixed: bool = False) -> Structure:
    """Append the numeric leaves of a tree to `leaves`, in its own order, and return its structure.

    `path` is called only for an error message. fixed: it stands in a node in which Python numbers are structure.
    """
    if type(value) is Constant:
        return Frozen(_flatten_constant(value.value, leaves, path))
    handler = _handlers.get(type(value))
    if handler is None:
        handler = handler_of(value, path=_Later(path))
        if handler is None:
            return Static(value, _reason(value))
    if isinstance(handler, NodeType):
        children, data = handler.flatten(value)
        for where, hidden in handler.hidden(value, data):
            _refuse_hidden_arrays(hidden, where)
        if handler.held and holder is None:
            holder = value
        fixed = fixed or handler.fixes_numbers
        parts = [
            flatten(child, leaves, _child_path(path, handler, data, children, i), holder=holder, fixed=fixed)
            for i, child in enumerate(children)
        ]
        itself = [Static(holder, "it holds what is differentiated") for holder in holder_of(handler, value, children)]
        return Node(handler, data, (*itself, *parts))
    if fixed and handler is PYTHON:
        return Static(value, "a number inside such a module is a hyperparameter")
    return _flatten_leaf(value, handler, leaves, path, True, holder)


def refuse_endless(roots: Iterable[tuple[str, Any]]) -> None:
    """Raise TreeError for the value that holds itself, or is nested deeper than Python can follow; after a RecursionError."""
    for path, root in roots:
        depth = 0
        above: dict[int, str] = {}  # of the nodes on the way down to here, the key of each
        done: set[int] = set()
        stack: list[tuple[Any, str, bool]] = [(root, path, True)]
        while stack:
            value, key, enters = stack.pop()
            if not enters:
                del above[id(value)]
                done.add(id(value))
                continue
            if type(value) is Constant:
                value = value.value
            if id(value) in above:
                keys = list(above)
                first = "".join([above[k] for k in keys[: keys.index(id(value)) + 1]])
                raise TreeError(
                    f"{''.join(above.values())}{key} is {first} itself, so there is no end to it. Leave such a reference out, "
                    f"or hold a weakref.ref."
                )
            handler = handler_of(value, scan=False)
            if id(value) in done or not isinstance(handler, NodeType):
                continue
            above[id(value)] = key
            depth = max(depth, len(above))
            stack.append((value, key, False))
            children, data = handler.flatten(value)
            stack.extend([(child, name, True) for child, name in zip(children, handler.paths(data, len(children)))])
        if depth > _DEEP:
            raise TreeError(
                f"{path} is nested {depth:,} levels deep, deeper than Python's recursion limit lets it be taken apart. Put its "
                f"levels one after another into a list."
            )


def holder_of(node_type: NodeType, value: Any, children: Sequence[Any]) -> list[Holder]:
    """What stands in front of the children of this object where it is held: itself, with its own children."""
    if not node_type.held:
        return []
    return [Holder(value, tuple([child.value if type(child) is Constant else child for child in children]))]


def _flatten_leaf(
    value: Any, library: Library, leaves: list[Leaf], path: Callable[[], str], differentiated: bool, holder: Any
) -> Structure:
    if library is PYTHON:
        if not differentiated or type(value) is int:
            return Static(value, "an int inside a tree is structure" if type(value) is int else "inside a Constant")
        leaves.append(Leaf(value, library, holder, True))
        return DIFFERENTIATED
    kind_ = kind(library.dtype(value))
    if kind_ == "other":
        if library is NUMPY and isinstance(value, np.ndarray) and differentiated:
            check_ndarray(value, path())
        return Static(value, f"dtype {library.dtype(value)}")
    floating = differentiated and kind_ in ("real", "complex")
    leaves.append(Leaf(value, library, holder, floating))
    return DIFFERENTIATED if floating else CARRIED


def _flatten_constant(value: Any, leaves: list[Leaf], path: Callable[[], str]) -> Structure:
    """As `flatten`, but nothing is differentiated and an opaque object may hold whatever it likes."""
    if type(value) is Constant:
        return _flatten_constant(value.value, leaves, path)
    if isinstance(value, np.ndarray) and not NUMPY.owns(value):
        return Static(value, "inside a Constant")
    handler = handler_of(value, scan=False)
    if handler is None or (isinstance(handler, NodeType) and handler.held):
        return Static(value, "inside a Constant")
    if isinstance(handler, NodeType):
        children, data = handler.flatten(value)
        return Node(handler, data, tuple([_flatten_constant(child, leaves, path) for child in children]))
    return _flatten_leaf(value, handler, leaves, path, False, None)


class _Later(str):
    """A path that is only computed if an error message prints it."""

    def __new__(cls, path: Callable[[], str]) -> _Later:
        new = super().__new__(cls)
        new._path = path  # type: ignore[attr-defined]
        return new

    def __str__(self) -> str:
        return self._path()  # type: ignore[attr-defined,no-any-return]

    def __format__(self, spec: str) -> str:
        return str(self)


def _child_path(path: Callable[[], str], handler: NodeType, data: Any, children: Sequence[Any], i: int) -> Callable[[], str]:
    return lambda: path() + handler.paths(data, len(children))[i]


def _reason(value: Any) -> str:
    if isinstance(value, bool):
        return "a bool is structure"
    if value is None:
        return "it is structure"
    return f"{type(value).__name__} has no gradient"


# Building ------------------------------------------------------------------------------------------------------------


def build(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree with these leaves; Constants are unwrapped, static values kept."""
    if isinstance(structure, LeafSpec):
        return next(leaves)
    if isinstance(structure, Node):
        return structure.type.unflatten(structure.data, [build(child, leaves) for child in structure.children])
    return build(structure.inner, leaves) if isinstance(structure, Frozen) else structure.value


def builder(structure: Structure, first: int = 0) -> tuple[Callable[[Sequence[Any]], Any], int]:
    """`build` for one structure, made once: from the values of all slots to the tree. And the number of the slot behind it."""
    if isinstance(structure, LeafSpec):
        return operator.itemgetter(first), first + 1
    if isinstance(structure, Frozen):
        return builder(structure.inner, first)
    if isinstance(structure, Static):
        value = structure.value
        return lambda leaves: value, first
    make, data, last = structure.type.unflatten, structure.data, first + len(structure.children)
    if structure.children and all(isinstance(child, LeafSpec) for child in structure.children):
        return lambda leaves: make(data, leaves[first:last]), last
    parts = []
    last = first
    for child in structure.children:
        part, last = builder(child, last)
        parts.append(part)
    return lambda leaves: make(data, [part(leaves) for part in parts]), last


#: From the gradients of all differentiated leaves, and the values of all slots, to the gradient of one tree.
GradientBuilder = Callable[[Sequence[Any], Sequence[Any]], Any]


def gradient_builder(structure: Structure, first: int = 0, slot: int = 0) -> tuple[GradientBuilder, int, int]:
    """As `builder`, for `build_gradient`; also the number of the slot after the structure's last."""
    if isinstance(structure, LeafSpec):
        if structure.differentiated:
            return lambda gradients, values: gradients[first], first + 1, slot + 1
        return _no_gradient, first, slot + 1
    if isinstance(structure, Frozen):
        return _no_gradient, first, slot + count_slots(structure)
    if isinstance(structure, Static):
        return _no_gradient, first, slot
    make, data, last = structure.type.gradient, structure.data, first + len(structure.children)
    if structure.children and all(isinstance(child, LeafSpec) and child.differentiated for child in structure.children):
        return lambda gradients, values: make(data, gradients[first:last]), last, slot + len(structure.children)
    parts: list[GradientBuilder] = []
    last, held = first, slot
    for child in structure.children:
        part, last, slot = gradient_builder(child, last, slot)
        parts.append(part)
    if not structure.type.held:
        return lambda gradients, values: make(data, [part(gradients, values) for part in parts]), last, slot
    del parts[0]
    if len(parts) == last - first:
        return lambda gradients, values: make(data, [values[held], *gradients[first:last]]), last, slot

    def around(gradients: Sequence[Any], values: Sequence[Any]) -> Any:
        return make(data, [values[held], *[part(gradients, values) for part in parts]])

    return around, last, slot


def _no_gradient(gradients: Sequence[Any], values: Sequence[Any]) -> None:
    return None


def build_gradient(structure: Structure, gradients: Iterator[Any]) -> Any:
    """The tree of gradients: one for each differentiated leaf, None for everything else."""
    if isinstance(structure, LeafSpec):
        return next(gradients) if structure.differentiated else None
    if isinstance(structure, Node):
        children = [build_gradient(child, gradients) for child in structure.children]
        if structure.type.held:
            (itself, *_) = structure.children
            assert isinstance(itself, Static)
            children[0] = itself.value
        return structure.type.gradient(structure.data, children)
    return None


def children_of(node: Node) -> tuple[Structure, ...]:
    """The children of a node, without the object itself in front of those of a held one."""
    return node.children[1:] if node.type.held else node.children


def paths_of(structure: Structure, path: str) -> Iterator[tuple[str, LeafSpec | Static | Frozen]]:
    """Every place of a structure with its path."""
    if isinstance(structure, Node):
        children = children_of(structure)
        for key, child in zip(structure.type.paths(structure.data, len(children)), children):
            yield from paths_of(child, path + key)
    else:
        yield path, structure


def count_slots(structure: Structure) -> int:
    """How many slots a structure has in which each value without a gradient has one too."""
    if isinstance(structure, Node):
        return sum([count_slots(child) for child in structure.children])
    return count_slots(structure.inner) if isinstance(structure, Frozen) else 1


def count_leaves(structure: Structure) -> int:
    """How many numeric leaves a structure has."""
    if isinstance(structure, LeafSpec):
        return 1
    if isinstance(structure, Node):
        return sum([count_leaves(child) for child in structure.children])
    return count_leaves(structure.inner) if isinstance(structure, Frozen) else 0


# What users do with trees of gradients -------------------------------------------------------------------------------


def sum_shared(model: Any, gradients: Any) -> Any:
    """Add up the gradients of what is one object in the model.

    Arrays that stand at several places of a model are several variables to `gradient`. If they are one parameter
    (tied weights), its gradient is the sum of theirs: this gives that sum at each of the places. `gradients` has the
    structure of `model`, as `gradient` returns it; the result has the structure of `gradients`.
    Raises TreeError if the two do not match.

    >>> import numpy as np
    >>> from adinterface import tree
    >>> w = np.ones(1)
    >>> tree.sum_shared({"a": w, "b": w}, {"a": np.array([24.0]), "b": np.array([48.0])})
    {'a': array([72.]), 'b': array([72.])}
    """
    owners: list[Any] = []
    parts: list[Any] = []
    structure = _pair(model, gradients, owners, parts, "gradients")
    # Equal Python numbers may be one object without being one variable.
    keys = [n if handler_of(owner) is PYTHON else (id(owner),) for n, owner in enumerate(owners)]
    totals: dict[Any, Any] = {}
    for key, part in zip(keys, parts):
        totals[key] = totals[key] + part if key in totals else part
    taken: set[int] = set()
    sums: list[Any] = []
    for key in keys:
        total = totals[key]
        library = handler_of(total)
        sums.append(library.own(total, taken) if isinstance(library, Library) and library is not PYTHON else total)
    return build_gradient(structure, iter(sums))


def _pair(model: Any, other: Any, owners: list[Any], parts: list[Any], path: str) -> Structure:
    """Walk a model and a tree of its structure side by side, collecting the leaves that have a gradient."""
    if type(model) is Constant or other is None:
        return Static(model, "no gradient")
    handler = handler_of(model)
    if not isinstance(handler, NodeType):
        if not isinstance(handler_of(other), Library):
            raise TreeError(f"{path} is a {type(other).__name__}, but the model has a {type(model).__name__} there.")
        owners.append(model)
        parts.append(other)
        return DIFFERENTIATED
    if type(model) is not type(other):
        raise TreeError(f"{path} is a {type(other).__name__}, but the model has a {type(model).__name__} there.")
    children, data = handler.flatten(model)
    others = [child.value if type(child) is Constant else child for child in handler.flatten(other)[0]]
    if len(children) != len(others):
        raise TreeError(f"{path} has {len(others)} children, but the model has {len(children)} there.")
    keys = handler.paths(data, len(children))
    seen = handler.paths(handler.flatten(other)[1], len(children))
    if keys != seen:
        raise TreeError(
            f"{path} has the keys {', '.join(key.strip('[].') for key in seen)}, but the model has "
            f"{', '.join(key.strip('[].') for key in keys)} there."
        )
    paired = [_pair(child, o, owners, parts, path + key) for child, o, key in zip(children, others, keys)]
    itself = [Static(holder, "no gradient") for holder in holder_of(handler, model, children)]
    return Node(handler, data, (*itself, *paired))


def __dir__() -> list[str]:
    """What is for users; the core's own functions are here too."""
    return __all__


__all__ = ["Constant", "register_node", "sum_shared"]
