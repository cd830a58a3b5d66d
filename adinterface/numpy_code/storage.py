"""Shared memory: views as in NumPy, for engine arrays that cannot be written to.

A root owns an engine's array. A view holds its parent and how it was made from it: an index, or a
function such as `np.transpose`. The same index, applied to the numbers of the root's elements,
gives the elements of the view. So NumPy itself decides whether it shares memory. A write gives the
root a new array; a view computes its array anew from its parent when it is read. Nothing here runs
before the first write.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import weakref
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from ..core.contract.errors import NumpyCodeError
from .refusals import INTO_UNKNOWN_MEMORY, of_write

Numbers: TypeAlias = np.ndarray[Any, Any]


class Storage:
    """An engine's array as a root, or as a view of another.

    native: the array.
    origin: of a root, the memory order of its elements, with the slowest axis first ("01" is C
        order, "10" Fortran order); "" for an unknown order; None for a result of which NumPy would
        make a number if it is 0-d; or one of the three names below.
    _view: how a view is made from its source; None for a root.
    _views: weak references to the views of it: one, or `Several`.
    """

    __slots__ = ("__weakref__", "_view", "_views", "engine", "native", "origin")

    native: Any
    engine: Any
    origin: str | None
    _view: View | None
    _views: weakref.ref[Storage] | Several | None

    @property
    def ndim(self) -> int:
        return len(self.native.shape)

    def operand(self) -> Any:
        """The engine's array as an operand, which no later write may change."""
        return self.native


#: The origin of a root that belongs to the caller, and of one that f captures.
ARGUMENT, CAPTURED = "an argument", "captured"
#: The same for a number that would be a Python number: a float or a complex number.
PYTHON = "Python's own"
#: Marks a plain array that f has made.
MADE = object()


def is_number(x: Storage) -> bool:
    """Whether NumPy would return a number for this engine's array: a computed 0-d result, unless it
    must be an array.
    """
    return not x.ndim and x._view is None and x.origin in (None, PYTHON)


class Several(list["weakref.ref[Storage]"]):
    """Several weak references in the place of one: a call returns this list, as that of one returns
    a live object.
    """

    def __call__(self) -> Several:
        return self


class View:
    """How a view comes from its source."""

    __slots__ = ("located", "source")

    def __init__(self, source: Storage):
        self.source: Storage = source
        #: The root, the numbers of its elements that the view holds, and the same for other
        #: layouts, once they are found.
        self.located: tuple[Storage, Numbers, list[Numbers]] | None = None

    def of(self, numbers: Numbers) -> Numbers:
        """The view of the numbers of the source."""
        raise NotImplementedError

    def native(self) -> Any:
        """The engine's array for the view, from the present source."""
        raise NotImplementedError


class Indexed(View):
    __slots__ = ("_known", "index")

    def __init__(self, source: Storage, index: Any):
        self.source: Storage = source
        self.index: Any = index
        self.located: tuple[Storage, Numbers, list[Numbers]] | None = None
        self._known: tuple[Any] | None = None

    def _require_known(self) -> Any:
        """The index as NumPy takes it, found once. Raises Unknown."""
        if self._known is None:
            self._known = (known(self.index, self.source.engine),)
        return self._known[0]

    def of(self, numbers: Numbers) -> Numbers:
        viewed: Numbers = numbers[self._require_known()]
        return viewed

    def native(self) -> Any:
        self._require_known()
        return self.source[self.index].native  # type: ignore[index]


class Applied(View):
    """A view by a function: its result, or a part of it.

    place: the index of the source among the arguments.
    """

    __slots__ = ("args", "function", "kwargs", "part", "place")

    def __init__(self, function: Any, args: Any, place: int, kwargs: Any, part: int | None):
        super().__init__(args[place])
        self.function: Any = function
        self.args: Any = args
        self.place: int = place
        self.kwargs: Any = kwargs
        self.part: int | None = part

    def _of(self, source: Any) -> Any:
        place = self.place
        viewed = self.function(*self.args[:place], source, *self.args[place + 1 :], **self.kwargs)
        return viewed if self.part is None else viewed[self.part]

    def of(self, numbers: Numbers) -> Numbers:
        viewed: Numbers = self._of(numbers)
        return viewed

    def native(self) -> Any:
        return self._of(self.source).native


def source_of(x: Storage) -> Storage | None:
    """What x was made of as a view; None of a root."""
    view = x._view
    return None if view is None else view.source


def note_view(
    viewing: Storage, function: Any, args: Any, place: int, kwargs: Any, part: int | None = None
) -> None:
    """Notes that this is function(*args, **kwargs), or a part of that, and may share memory with
    the argument in a place.
    """
    viewing._view = Applied(function, args, place, kwargs, part)
    register(viewing, args[place])


def register(viewing: Storage, source: Storage) -> None:
    views = source._views
    if views is None or views() is None:
        source._views = weakref.ref(viewing)
    elif type(views) is Several:
        views.append(weakref.ref(viewing))
        # a loop makes many, of which one at a time lives: one alone costs least
        if not len(views) & 31:
            source._views = Several(view for view in views if view() is not None) or None
    else:
        source._views = Several((views, weakref.ref(viewing)))  # type: ignore[arg-type]


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


# Where elements lie
# ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def _small(shape: tuple[int, ...], axes: str, halves: bool) -> Numbers:
    return _numbered(shape, axes, halves)


def _numbered(shape: tuple[int, ...], axes: str, halves: bool) -> Numbers:
    """The number of each element in C order, in memory in the order of the axes.

    The real part of a complex element has an even number, the imaginary part the next: both can be
    views.
    """
    count = functools.reduce(operator.mul, shape, 1)
    numbers: Numbers = np.arange(count)
    if halves:
        numbers = 2.0 * numbers + 1j * (2.0 * numbers + 1)
    order = [int(axis) for axis in axes]
    return (
        numbers.reshape(shape)
        .transpose(order)
        .copy()
        .transpose([order.index(axis) for axis in range(len(shape))])
    )


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
    """The root of x, the numbers of its elements that x holds, and the same for other possible
    layouts of the root.

    An array that NumPy would have copied becomes a root. Raises Unknown if an index is not known
    yet.
    """
    view = x._view
    if view is None:
        return _located_root(x, x.origin)
    if view.located is None:
        root, numbers, others = locate(view.source)
        mine = view.of(numbers)
        shares = np.may_share_memory(mine, numbers) and not is_number(root)
        alternatives = [view.of(other) for other in others]
        # a number has no others
        if any(np.may_share_memory(a, b) != shares for a, b in zip(alternatives, others)):
            raise NumpyCodeError(of_write(INTO_UNKNOWN_MEMORY))
        if not shares:
            _detach(x, view.source, layout_of(mine))
            return locate(x)
        view.located = root, mine, alternatives
    return view.located


def _located_root(x: Storage, layout: str | None) -> tuple[Storage, Numbers, list[Numbers]]:
    shape = tuple(x.native.shape)
    halves = x.dtype.kind == "c"  # type: ignore[attr-defined]
    ndim = len(shape)
    usual = numbers_of_root(
        shape, layout if layout and layout.isdigit() else in_order(ndim), halves
    )
    if ndim < 2 or (layout and layout.isdigit()):
        return x, usual, []
    if sum(length > 1 for length in shape) < 2:  # one line, in any order
        return x, usual, []
    orders = itertools.islice(itertools.permutations(range(min(ndim, 9))), 1, 121)
    return x, usual, [numbers_of_root(shape, "".join(map(str, order)), halves) for order in orders]


def _detach(x: Storage, source: Storage, layout: str | None) -> None:
    """Make x a root: it is not a view."""
    x.native = x.native  # which is there: no write has passed yet
    x.origin, x._view = layout, None
    source._views = Several(view for view in _references(source) if view() is not x)


# What a write changes
# ------------------------------------------------------------------------------------------------


def replace_root(root: Storage, native: Any) -> None:
    """Gives a root another array, and lets its views take theirs anew when they are read."""
    if root._views is not None:
        for view in list(views_of(root)):
            # an element or a row by an index that is not known yet, which is a view
            with contextlib.suppress(Unknown):
                locate(view)  # makes a root of an array that is not a view
        for view in views_of(root):
            if _is_fresh(view):
                del view.native
    root.native = native


def _is_fresh(x: Storage) -> bool:
    """Whether a view has its array, without taking it anew."""
    try:
        _ARRAY.__get__(x)
    except AttributeError:
        return False
    return True


def is_emptied(x: Storage) -> bool:
    """Whether the array has been taken away, because it is of a call that has ended."""
    return x._view is None and not _is_fresh(x)


def refresh(x: Storage) -> Any:
    """The array of a view whose root has been written to."""
    assert x._view is not None
    x.native = native = x._view.native()
    return native


_ARRAY: Any = vars(Storage)["native"]


# Indices
# ------------------------------------------------------------------------------------------------


class Unknown(Exception):
    """An index of which the numbers are not known yet."""


def known(index: Any, engine: Any) -> Any:
    """An index of plain numbers, as for NumPy. Raises Unknown if an engine does not know them."""
    cls = type(index)
    if cls is int or cls is slice or index is None or index is Ellipsis:
        return _known_slice(index, engine) if cls is slice else index
    if isinstance(index, tuple):
        return tuple([known(part, engine) for part in index])
    if isinstance(index, list):
        return [known(part, engine) for part in index]
    if isinstance(index, Storage):
        engine, index = index.engine, index.native
    if isinstance(index, (bool, int, np.ndarray, np.generic)) or engine is None:
        return index
    if not isinstance(index, engine.types):
        return index
    library = engine.library
    numbers = library.value_under_trace(index) if library.traced(index) else library.to_numpy(index)
    if numbers is None:
        raise Unknown
    # a number, as of np.argmax(x), takes a view; an array without axes would take a copy
    return np.asarray(numbers)[()]


def _known_slice(index: slice, engine: Any) -> slice:
    parts = (index.start, index.stop, index.step)
    if all(part is None or type(part) is int for part in parts):
        return index
    return slice(*[None if part is None else operator.index(known(part, engine)) for part in parts])
