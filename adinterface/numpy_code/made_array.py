"""An array that f makes: a NumPy array until an engine's array is written to it, from then on the
engine's.

It is a wrapper, because f's references to it cannot be changed: at that write the wrapper changes
its class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import Library
from ..core.tree import handler_of, register_stand_in
from .array import COMPARISONS, SIGNS, NumpyArray, binary, out_of, wrap
from .array_like import ArrayHolder, array_of, arrays_in, subclass_among, with_each
from .engine import engine_of
from .names import ARITHMETIC, VIEWS
from .refusals import INTO_CAPTURED, INTO_SHARED, of_write
from .storage import (
    CAPTURED,
    MADE,
    Numbers,
    Storage,
    Unknown,
    View,
    in_order,
    known,
    layout_of,
    numbers_of_root,
    register,
    views_of,
)
from .writers import WRITERS
from .writes import accumulate_at, into, stacked

_new = object.__new__


class MadeArray(NumpyArray):
    """NumPy's array, computed with by NumPy, and lent to engines as a copy, because f may write to
    it later.
    """

    __slots__ = ()

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        for x in inputs:
            if isinstance(x, ArrayHolder):
                return NotImplemented  # it is asked next
        beside = array_of_engine((inputs, kwargs))
        if beside is None and method == "at":
            return getattr(ufunc, method)(*plain(inputs))
        if method == "at":
            if isinstance(inputs[0], MadeArray):
                promote(inputs[0], beside)
            return accumulate_at(ufunc, *inputs)
        outs = kwargs.pop("out", None)
        if beside is None:
            if outs is None:
                return made(getattr(ufunc, method)(*plain(inputs), **plain(kwargs)))
            result = getattr(ufunc, method)(*plain(inputs), **plain(kwargs), out=plain(outs))
            results = [
                made(part) if out is None else out
                for part, out in zip(result if len(outs) > 1 else (result,), outs)
            ]
        else:
            where = kwargs.get("where", True) if method == "__call__" else True
            result = getattr(ufunc, method)(
                *[lent(stacked(part)) for part in inputs], **lent(kwargs)
            )
            if outs is None:
                return result
            parts = result if len(outs) > 1 else (result,)
            results = [
                part if out is None else into(out, part, where, ufunc)
                for part, out in zip(parts, outs)
            ]
        return results[0] if len(outs) == 1 else tuple(results)

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        if array_of_engine((args, kwargs)) is not None:
            if function in WRITERS:
                return WRITERS[function](*args, **kwargs)
            out, args = out_of(function, args, kwargs)
            result = function(*lent(args), **lent(kwargs))
            return result if out is None else into(out, result, True, function)
        result = function(*plain(args), **plain(kwargs))
        sources = [value for value in (*args, *kwargs.values()) if type(value) is MadeArray]
        return _views(result, sources) if function in VIEWS or "out" in kwargs else made(result)

    def _apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.__array_function__(function, (), (self, *args), kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.native, dtype=dtype, copy=copy)

    def operand(self) -> Any:
        return self.native if self.origin is CAPTURED else self.native.copy()

    def _traced(self) -> bool:
        return False

    def __bool__(self) -> bool:
        return bool(self.native)

    def _concrete(self) -> Any:
        return self.native

    # properties of an array

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.native.dtype  # type: ignore[no-any-return]

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int:
            spot = index
        else:
            index = arrays_in(index)
            beside = array_of_engine(index)
            try:
                spot = known(index, None if beside is None else beside.engine)
            except Unknown:  # an index computed from compiled values
                engine = beside.engine
                return wrap(engine.lift(self.operand(), beside.native), engine)[index]
        result = self.native[spot]
        return _views(result, [self]) if type(result) is np.ndarray else result

    def __setitem__(self, index: Any, value: Any) -> None:
        value = array_of(value)
        beside = array_of_engine(value)
        if beside is None:
            among = array_of_engine(index)
            try:
                spot = known(index, None if among is None else among.engine)
            except Unknown:
                beside = among
            else:
                self.native[spot] = plain(value)
                return
        promote(self, beside)
        self[index] = value

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **kwargs: Any) -> Any:
        result = self.native.astype(dtype, *args, copy=copy, **kwargs)
        return self if result is self.native else made(result)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        return _views(self.native.reshape(*plain(shape), order=order), [self])

    def view(self, *args: Any, **kwargs: Any) -> Any:
        if issubclass(cls := subclass_among((*args, *kwargs.values())) or np.ndarray, ArrayHolder):
            return cls.around(self.view(), self)  # type: ignore[union-attr]
        return _views(self.native.view(*args, **kwargs), [self])

    def copy(self, order: Any = "C") -> MadeArray:
        return made(self.native.copy(order))  # type: ignore[no-any-return]

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        self.native.setflags(write, align, uic)

    def __copy__(self) -> MadeArray:
        return self.copy()

    def item(self, *index: int) -> Any:
        return self.native.item(*index)

    def tolist(self) -> Any:
        return self.native.tolist()

    def __repr__(self) -> str:
        return repr(self.native)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self.native, spec)

    def __float__(self) -> float:
        return float(self.native)

    def __complex__(self) -> complex:
        return complex(self.native)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)


#: The bit in `flags.num` that is also set for results of np.broadcast_arrays, where
#: `flags.writeable` warns.
_WRITEABLE = 0x0400


def made(result: Any) -> Any:
    """The NumPy arrays in a NumPy result, each wrapped as one that f has made."""
    if type(result) is np.ndarray:
        if result.base is not None and not _alone(result):
            return captured(result)  # of an array that f did not make
        if result.flags.num & _WRITEABLE and layout_of(result) is None:
            result = result.copy("K")
        return _new_array(result)
    if isinstance(result, tuple):
        parts = [made(part) for part in result]
        return type(result)._make(parts) if hasattr(result, "_make") else tuple(parts)
    return [made(part) for part in result] if type(result) is list else result


def _new_array(
    array: np.ndarray[Any, Any], origin: str | None = None, view: View | None = None
) -> Any:
    if array.dtype.kind not in "fcbiu":
        return array
    wrapped = _new(MadeArray)
    wrapped.native = array
    wrapped.engine = wrapped._views = None
    wrapped.origin, wrapped._view = origin, view
    return wrapped


def _alone(result: np.ndarray[Any, Any]) -> bool:
    """Whether only this array refers to its base: NumPy's functions often end in a reshape of a new
    array.
    """
    return sys.getrefcount(result.base) <= 2


def captured(array: Any) -> Any:
    """A plain array that f captures: copies of it belong to f, while the array itself stays
    plain.
    """
    return _new_array(array, CAPTURED) if type(array) is np.ndarray else array


def _views(result: Any, sources: list[Any]) -> Any:
    """A NumPy result that may share the memory of these arrays."""
    if isinstance(result, (list, tuple)):
        return type(result)([_views(part, sources) for part in result])
    if type(result) is np.ndarray:
        for source in sources:
            if result is source.native:
                return source
            if result.base is not None and result.base is _owner(source.native):
                viewing = _new_array(result, view=View(source))
                register(viewing, source)
                return viewing
    return made(result)


def _owner(array: np.ndarray[Any, Any]) -> Any:
    """The array that owns the memory of this one."""
    return array if array.base is None else array.base


def _wrapped_again(x: Any) -> Any:
    """An operator's result for a plain array that f has made: plain, or of the engine that
    differentiates the operator.
    """
    library = None if type(x) is np.ndarray else handler_of(x, scan=False)
    return wrap(x, engine_of(library)) if isinstance(library, Library) else made(x)


register_stand_in(
    MadeArray, lambda x: ((x.native,), MADE), lambda data, children: _wrapped_again(children[0])
)


# Among arrays of an engine
# --------------------------------------------------------------------------------------------


def array_of_engine(value: Any) -> Any:
    """The first engine's array, also in lists, tuples and dicts; None if there is none."""
    cls = type(value)
    if cls is NumpyArray:
        return value
    if isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            inner = array_of_engine(part)
            if inner is not None:
                return inner
    if isinstance(value, ArrayHolder):
        return array_of_engine(value._inner)
    if cls is slice:
        return array_of_engine((value.start, value.stop, value.step))
    return None


def plain(value: Any) -> Any:
    """The values with plain NumPy arrays."""
    if isinstance(value, ArrayHolder):
        value = value._inner
    return value.native if type(value) is MadeArray else with_each(plain, value)


def lent(value: Any) -> Any:
    """The values with copies of plain NumPy arrays, for an engine."""
    if isinstance(value, ArrayHolder):
        value = value._inner
    return value.operand() if type(value) is MadeArray else with_each(lent, value)


def promote(x: MadeArray, beside: NumpyArray) -> None:
    """Turns the root of x, and all views of the root, into arrays of the engine of another
    array.
    """
    engine = beside.engine
    root: Any = x
    while root._view is not None:
        root = root._view.source
    if root.origin is CAPTURED:
        raise NumpyCodeError(of_write(INTO_CAPTURED))
    if not x.native.flags.writeable:
        raise ValueError("assignment destination is read-only")
    views = list(views_of(root))
    # How many references a call itself adds depends on Python, and on whether torch's compiler
    # traces.
    if _references(root, views) > _references(_unreferenced(root.native.base is None), []):
        raise NumpyCodeError(of_write(INTO_SHARED))
    numbers = root.native
    layout = layout_of(numbers)
    places = numbers_of_root(
        numbers.shape, layout or in_order(numbers.ndim), numbers.dtype.kind == "c"
    )
    for view in views:
        mine = _at(view.native, numbers, places)
        index = np.ascontiguousarray(mine).reshape(mine.shape)
        view._view, view._views, view.engine = _Gathered(root, index), None, engine
        view._view.located = root, mine, []
        del view.native
        view.__class__ = NumpyArray
    root._views = None
    for view in views:
        register(view, root)
    root.engine = engine
    root.origin = layout
    root.native = engine.library.asarray(numbers.copy(), like=beside.native)
    root.__class__ = NumpyArray


def _references(root: Any, views: list[Any]) -> int:
    """How many references there are to the array that owns the memory of the root, without those of
    these views.

    Each belongs to a plain array, or to code outside NumPy, which would not see a write.
    """
    owner = _owner(root.native)
    ours = 0
    for view in views:
        ours += view.native.base is owner
    return sys.getrefcount(owner) - ours


def _unreferenced(owning: bool) -> Any:
    """A new array without other references. owning: whether it owns its memory."""
    return _new_array(np.zeros(1) if owning else np.zeros((1, 1))[0])


class _Gathered(View):
    """A view of an array that became an engine's, by the numbers of the elements in it."""

    __slots__ = ("places",)

    def __init__(self, root: Storage, places: Numbers):
        super().__init__(root)
        self.places = places

    def native(self) -> Any:
        return _gathered(self.source, self.places).native


def _at(
    view: np.ndarray[Any, Any], root: np.ndarray[Any, Any], places: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Which of the root's elements a view holds, from where it lies in the same memory."""
    if not view.size:
        return np.zeros(view.shape, places.dtype)
    scale = places.itemsize / root.itemsize
    start = view.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    dtype = places.dtype if view.dtype == root.dtype else np.dtype(float)
    strides = tuple([int(step * scale) for step in view.strides])
    in_memory = places.transpose(np.argsort([-step for step in places.strides], kind="stable"))
    elements = np.ndarray(view.shape, dtype, in_memory, int(start * scale), strides)
    elements.flags.writeable = view.flags.writeable
    return elements


def _gathered(root: Any, numbers: np.ndarray[Any, Any]) -> Any:
    halves = numbers.dtype.kind != "i"
    places = (numbers.real / 2).astype(np.intp) if halves else numbers
    # By a list of places, because autograd takes a number for an element.
    complex_elements = np.reshape(np.reshape(root, (-1,))[places.ravel()], numbers.shape)
    if not halves or numbers.dtype.kind == "c":
        return complex_elements
    return np.imag(complex_elements) if numbers.flat[0] % 2 else np.real(complex_elements)


# Operators
# ------------------------------------------------------------------------------------------------


def _operator(ufunc: np.ufunc, reflected: bool = False) -> Callable[[MadeArray, Any], Any]:
    mirrored = binary(ufunc, not reflected)

    def operate(self: MadeArray, other: Any) -> Any:
        if type(other) is NumpyArray:
            return mirrored(other, self.operand())
        if type(other) is MadeArray:
            other = other.native
        elif isinstance(other, (list, tuple)):
            return operate(self, stacked(other))
        elif not reflected and getattr(other, "__array_priority__", 0) > 0:
            return NotImplemented
        result = ufunc(other, self.native) if reflected else ufunc(self.native, other)
        return _new_array(result) if type(result) is np.ndarray else result

    return operate


def _in_place(ufunc: np.ufunc, name: str) -> Callable[[MadeArray, Any], Any]:
    def operate(self: MadeArray, other: Any) -> Any:
        beside = array_of_engine(other)
        if beside is not None:
            promote(self, beside)
            return getattr(self, name)(stacked(other))
        ufunc(self.native, plain(other), out=self.native)
        return self

    return operate


def _sign(ufunc: np.ufunc) -> Callable[[MadeArray], Any]:
    return lambda self: made(ufunc(self.native))


for _name, _ufunc in ARITHMETIC.items():
    setattr(MadeArray, f"__{_name}__", _operator(_ufunc))
    setattr(MadeArray, f"__r{_name}__", _operator(_ufunc, reflected=True))
    setattr(MadeArray, f"__i{_name}__", _in_place(_ufunc, f"__i{_name}__"))
for _name, _ufunc in COMPARISONS.items():
    setattr(MadeArray, f"__{_name}__", _operator(_ufunc))
setattr(MadeArray, "__divmod__", _operator(np.divmod))  # noqa: B010
setattr(MadeArray, "__rdivmod__", _operator(np.divmod, reflected=True))  # noqa: B010
for _name, _ufunc in SIGNS.items():
    setattr(MadeArray, f"__{_name}__", _sign(_ufunc))
