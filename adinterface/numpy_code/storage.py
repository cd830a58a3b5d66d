"""What shares memory with what: the same answers that NumPy gives, for arrays of engines that cannot be written to.

A root owns an engine's array. A view knows its parent and how it comes from it: an index, or a function such as
`np.transpose`. The same index applied to the numbers of the root's elements says which of them the view holds, and whether
it shares memory at all, so that NumPy itself answers. A write gives the root a new array; a view then has none until it is
read, and takes it anew from its parent. Nothing here is asked for before the first write.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..core.contract.ambient import now
from ..core.contract.errors import NumpyCodeError
from .refusals import into_unknown_memory

Numbers: TypeAlias = np.ndarray[Any, Any]


class Storage:
    """An engine's array as a root, or as a view of another such.

    _parent: of a view by an index, its source; of one by a function, that function, or (source, function, args, place, kwargs,
        part) where the source is not the first of its positional arguments alone; from the first write on its `Link`. Of a
        root, how its elements follow one another in memory, the axes from the slowest on ("01" is C's order, "10" Fortran's),
        None where that is not known, or one of the two below.
    _how: of a view by an index, that index; of one by a function, its arguments; not set otherwise.
    _views: weak references to the views that were made of it: one, or `Several`.
    """

    # Every view pays for what it notes here, and few are ever written to, so what it notes is no object of its own.

    __slots__ = ("__weakref__", "_array", "_engine", "_how", "_parent", "_views")

    _array: Any
    _engine: Any
    _parent: Any
    _how: Any
    _views: weakref.ref[Storage] | Several | None

    def _operand(self) -> Any:
        """The engine's array as an operand, which no later write may change."""
        return self._array


#: The parent of a root that belongs to the caller, and of one that f captures.
ARGUMENT, CAPTURED = "an argument", "captured"
#: The same of what is no root, but a number that would be Python's own: a float or a complex number.
PYTHON = "Python's own"
#: Says of a structure that it stands for a plain array that f has made.
MADE = object()


def is_number(x: Storage) -> bool:
    """Whether NumPy would have a number for this engine's array: what it computes of no axes, unless it shall be an array."""
    return not x._array.shape and _parent_of(x) in (None, PYTHON)


def _parent_of(x: Storage) -> Any:
    """The parent of x; a function that views, as np.real, gives a number of a number, which is first seen here."""
    if callable(x._parent) and not x._array.shape and is_number(x._how[0]):
        x._parent = x._how = None
    return x._parent


class Several(list["weakref.ref[Storage]"]):
    """Weak references. Called, as one of them is to see what it refers to, they give themselves: some may be alive."""

    def __call__(self) -> Several:
        return self


class Link:
    """How a view comes from its parent, and where its elements lie in the root."""

    __slots__ = ("again", "numbers", "others", "part", "root", "source", "take")

    def __init__(self, source: Storage, take: Callable[[Numbers], Any], again: Callable[[], Any], part: int | None):
        self.source = source
        #: What makes the view of the numbers of the source, and of the source as it is now.
        self.take = take
        self.again = again
        self.part = part
        self.root: Storage | None = None
        self.numbers: Numbers | None = None
        self.others: list[Numbers] | None = None

    def of(self, numbers: Numbers) -> Numbers:
        found = self.take(numbers)
        return found if self.part is None else found[self.part]  # type: ignore[no-any-return]

    def native(self) -> Any:
        found = self.again()
        return (found if self.part is None else found[self.part])._array


def _linked(x: Storage) -> Link:
    """The link of a view, which is made when it is first asked for."""
    parent = x._parent
    if type(parent) is Link:
        return parent
    if isinstance(parent, Storage):
        source, index = parent, x._how
        link = Link(source, operator.itemgetter(known(index, source._engine)), lambda: source[index], None)  # type: ignore[index]
    else:
        source, function, args, place, kwargs, part = (
            parent if type(parent) is tuple else (x._how[0], parent, x._how, 0, {}, None)
        )
        before, after = args[:place], args[place + 1 :]
        link = Link(
            source,
            lambda numbers: function(*before, numbers, *after, **kwargs),
            lambda: function(*args, **kwargs),
            part,
        )
    x._parent = link
    x._how = None
    return link


def source_of(x: Storage) -> Storage | None:
    """What x was made of as a view; None of a root."""
    parent = _parent_of(x)
    if parent is None or type(parent) is str:
        return None
    if type(parent) is Link:
        return parent.source
    if isinstance(parent, Storage):
        return parent
    source: Storage = parent[0] if type(parent) is tuple else x._how[0]
    return source


def view_of(found: Storage, function: Any, args: Any, place: int, kwargs: Any, part: int | None) -> None:
    """Notes that `found` is function(*args, **kwargs), or a part of that, and may share memory with the argument in a place."""
    source = args[place]
    found._parent = (source, function, args, place, kwargs, part)
    register(found, source)


def register(found: Storage, source: Storage) -> None:
    """Notes a view of a source."""
    views = source._views
    if type(views) is Several:
        views.append(weakref.ref(found))
        if not len(views) & 31:  # a loop makes many, of which one at a time lives: one alone costs least
            source._views = Several(view for view in views if view() is not None) or None
    elif views is None or views() is None:
        source._views = weakref.ref(found)
    else:
        source._views = Several((views, weakref.ref(found)))  # type: ignore[arg-type]


def _references(x: Storage) -> list[weakref.ref[Storage]]:
    views = x._views
    if views is None:
        return []
    return views if type(views) is Several else [views]  # type: ignore[list-item]


def views_of(x: Storage) -> Iterator[Storage]:
    """All that is left of the views of x, and of their views."""
    for reference in _references(x):
        view = reference()
        if view is not None:
            yield view
            yield from views_of(view)


# Where elements lie ---------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _small(shape: tuple[int, ...], axes: str, halves: bool) -> Numbers:
    return _numbered(shape, axes, halves)


def _numbered(shape: tuple[int, ...], axes: str, halves: bool) -> Numbers:
    """The number of each element, counted in C's order, lying in memory as the axes say.

    Of complex elements the real part has an even number, the imaginary part the next: both are views of their own.
    """
    count = functools.reduce(operator.mul, shape, 1)
    numbers: Numbers = np.arange(count)
    if halves:
        numbers = 2.0 * numbers + 1j * (2.0 * numbers + 1)
    order = [int(axis) for axis in axes]
    return numbers.reshape(shape).transpose(order).copy().transpose([order.index(axis) for axis in range(len(shape))])


def numbers_of_root(shape: tuple[int, ...], axes: str, halves: bool) -> Numbers:
    size = functools.reduce(operator.mul, shape, 1)
    return _small(shape, axes, halves) if size <= 4096 else _numbered(shape, axes, halves)


def in_order(ndim: int) -> str:
    """The layout of C."""
    return "0123456789"[:ndim]


def layout_of(array: Numbers) -> str | None:
    """How an array's elements follow one another, None if there are gaps."""
    if array.flags.c_contiguous:
        return in_order(array.ndim)
    axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    dense = array.transpose(axes).flags.c_contiguous and array.ndim < 10
    return "".join(map(str, axes)) if dense else None


def locate(x: Storage) -> tuple[Storage, Numbers, list[Numbers]]:
    """The root of x, the numbers of its elements that x holds, and the same for other layouts that the root may have.

    What NumPy would have copied becomes a root by this. Raises Unknown where an index on the way is not known yet.
    """
    parent = _parent_of(x)
    if parent is None or type(parent) is str:
        return _located_root(x, parent)
    link = _linked(x)
    if link.root is None:
        root, numbers, others = locate(link.source)
        mine = link.of(numbers)
        shares = np.may_share_memory(mine, numbers) and not is_number(root)
        alternatives = [link.of(other) for other in others]
        if any(np.may_share_memory(a, b) != shares for a, b in zip(alternatives, others)):  # a number has no others
            raise NumpyCodeError(into_unknown_memory())
        if not shares:
            _detach(x, link.source, layout_of(mine))
            return locate(x)
        link.root, link.numbers, link.others = root, mine, alternatives
    return link.root, link.numbers, link.others  # type: ignore[return-value]


def _located_root(x: Storage, layout: str | None) -> tuple[Storage, Numbers, list[Numbers]]:
    shape = tuple(x._array.shape)
    halves = x.dtype.kind == "c"  # type: ignore[attr-defined]
    ndim = len(shape)
    usual = numbers_of_root(shape, layout if layout and layout.isdigit() else in_order(ndim), halves)
    if ndim < 2 or (layout and layout.isdigit()):
        return x, usual, []
    if sum(length > 1 for length in shape) < 2:  # one line, whatever the order
        return x, usual, []
    orders = itertools.islice(itertools.permutations(range(min(ndim, 9))), 1, 121)
    return x, usual, [numbers_of_root(shape, "".join(map(str, order)), halves) for order in orders]


def _detach(x: Storage, source: Storage, layout: str | None) -> None:
    """x is no view, as it turns out, but a root."""
    x._array = x._array  # which is there: no write has passed yet
    x._parent = layout
    source._views = Several(view for view in _references(source) if view() is not x)


# What a write changes ------------------------------------------------------------------------------------------------


def replace_root(root: Storage, native: Any) -> None:
    """Gives a root another array, and lets its views take theirs anew when they are read."""
    if root._views is not None:
        for view in list(views_of(root)):
            with contextlib.suppress(Unknown):  # an element or a row by an index that is not known yet, which is a view
                locate(view)  # which makes a root of what is no view
        for view in views_of(root):
            if _is_fresh(view):
                del view._array
    root._array = native


def _is_fresh(x: Storage) -> bool:
    """Whether a view has its array, without taking it anew."""
    try:
        _ARRAY.__get__(x)
    except AttributeError:
        return False
    return True


def refresh(x: Storage) -> Any:
    """The array of a view whose root has been written to."""
    x._array = native = _linked(x).native()
    return native


_ARRAY: Any = vars(Storage)["_array"]


# Indices --------------------------------------------------------------------------------------------------------------


class Unknown(Exception):
    """An index of which the numbers are not known yet."""


def known(index: Any, engine: Any) -> Any:
    """An index as NumPy takes it, of numbers alone. Raises Unknown where an engine does not tell them."""
    cls = type(index)
    if cls is int or cls is slice or index is None or index is Ellipsis:
        return _known_slice(index, engine) if cls is slice else index
    if isinstance(index, tuple):
        return tuple([known(part, engine) for part in index])
    if isinstance(index, list):
        return [known(part, engine) for part in index]
    if isinstance(index, Storage):
        engine, index = index._engine, index._array
    if isinstance(index, (bool, int, np.ndarray, np.generic)) or engine is None:
        return index
    if not isinstance(index, engine.types):
        return index
    library = engine.library
    if (decisions := now().decisions) is not None:
        return decisions.numbers(index, library)[()]
    numbers = library.value_under_trace(index) if library.traced(index) else library.to_numpy(index)
    if numbers is None:
        raise Unknown
    return np.asarray(numbers)[()]  # a number, as of np.argmax(x), takes a view; an array without axes would take a copy


def _known_slice(index: slice, engine: Any) -> slice:
    parts = (index.start, index.stop, index.step)
    if all(part is None or type(part) is int for part in parts):
        return index
    return slice(*[None if part is None else operator.index(known(part, engine)) for part in parts])
