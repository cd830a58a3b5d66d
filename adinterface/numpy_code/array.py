"""The arrays inside `numpy_function`: wrappers of an engine's arrays that implement NumPy's
protocols.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import NUMPY
from .array_like import ArrayHolder, array_of, subclass_among
from .engine import Engine
from .functions import named
from .gaps import GAPS, past_gaps
from .names import (
    ACCUMULATE,
    ARITHMETIC,
    MAKING_ARRAYS,
    NOTED,
    NUMBERS,
    REDUCE,
    SEVERAL,
    VIEWS,
    WRITING,
    counts,
    for_numpy,
    place_of_out,
    spelled,
    takes_axes,
)  # fmt: skip
from .refusals import (
    KEPT,
    here,
    note_unknown,
    of_key,
    of_leaving,
    of_subclass,
    running,
)  # fmt: skip
from .storage import (
    ARGUMENT,
    CAPTURED,
    PYTHON,
    Indexed,
    Storage,
    in_order,
    is_number,
    note_view,
    refresh,
    register,
    replace_root,
    source_of,
    views_of,
)  # fmt: skip
from .writers import WRITERS, WRITING_METHODS, Flat
from .writes import accumulate_at, holds_storage, into, put, stacked, writable, write

_PIECEWISE = np.piecewise
#: Where every tenth of a microsecond counts, a wrapper is made without the call of `__init__`.
_new = object.__new__
#: The parts of an index that take no element by an array, and always make a view unless the result
#: is a number.
_BASIC = frozenset({int, slice, type(None)})
#: Products with other objects, such as sparse matrices: `(ufunc, other, array, reflected)` to the
#: product, or NotImplemented.
PRODUCTS: list[Callable[..., Any]] = []
#: How operators, `item` and `tolist` make Python numbers in code that runs as a copy; set by
#: `python_numbers`.
OF_PYTHON: dict[str, Callable[..., Any]] = {}
#: Keywords of ufuncs that change nothing here as long as they have these values.
_HARMLESS: dict[str, Any] = {
    "casting": ("same_kind", "unsafe"),
    "order": ("K",),
    "subok": (True,),
    "where": (True,),
}


class NumpyArray(Storage):
    """An engine's array that implements NumPy's functions, operators, indexing and methods by
    calling the engine.

    It refuses to become a plain array or a Python float while the engine traces it, because that
    would drop its gradient. A write to its elements gives it a new engine's array, which its views
    see, as in NumPy.
    """

    __slots__ = ()
    __array_priority__: float = 1000.0

    def __init__(self, array: Any, engine: Engine):
        self.native = array
        self.engine = engine
        self.origin = self._view = self._views = None

    # NumPy's protocols

    # Every operation runs this, so there is no comprehension, which would make a cell of each name
    # it uses, at every call.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, first: Any, *others: Any, **kwargs: Any
    ) -> Any:
        if kwargs or method != "__call__":
            return _unusual(ufunc, method, (first, *others), kwargs)
        if GAPS and (result := past_gaps(ufunc, first, *others)) is not None:
            return result
        engine, array = self.engine, self.native
        natives = []
        for value in (first, *others):
            if type(value) is NumpyArray:
                natives.append(value.native)
            elif type(value) in engine.numbers:
                natives.append(value)
            elif (result := past_gaps(ufunc, first, *others)) is not None:
                return result
            else:
                natives.append(_operand(engine, value, array, ufunc))
                if natives[-1] is NotImplemented:
                    return NotImplemented
        return wrap(engine.functions[ufunc](*natives), engine)

    def __array_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        engine, array = self.engine, self.native
        if function in WRITERS:
            return WRITERS[function](*args, **kwargs)
        if kwargs or len(args) > 2:
            out, args = out_of(function, args, kwargs)
            if out is not None:
                return into(out, function(*args, **kwargs), True, function)
        wrapped = wrap(_called(function, engine, array, args, kwargs), engine)
        return _viewing(wrapped, function, args, kwargs) if function in NOTED else wrapped

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """NumPy's, whose functions are dispatched to this class."""
        return NUMPY.namespace(None)

    def _apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of a NumPy function, without NumPy's dispatch."""
        return self.__array_function__(function, (), (self, *args), kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        caller = sys._getframe(1)
        if caller.f_code.co_name == "_matmul_dispatch" and caller.f_globals.get(
            "__name__", ""
        ).startswith("scipy.sparse"):
            # A sparse matrix checks whether this is an array, and leaves other products to
            # `__rmatmul__`.
            itself = np.empty((), object)
            itself[()] = self
            return itself
        self._refuse_if_traced("a plain NumPy array")
        array = self.engine.library.to_numpy(self.native)
        return np.array(array, dtype=dtype, copy=copy)

    # properties of an array

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.native.shape
        return tuple(shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        if type(self) is not NumpyArray:
            self.native.shape = shape
        elif (
            self._view
            or next(views_of(self), None)
            or self.origin not in (None, "", in_order(self.ndim))
        ):
            raise NumpyCodeError(
                "numpy_function: x.shape = ... gives another shape to an argument of f, or"
                " to an array that shares its elements with another. Write x = x.reshape(shape)."
            )
        else:
            self.native = self.engine.functions[np.reshape](self.native, shape)
            self.origin = self.origin and in_order(self.ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.engine.library.dtype(self.native))
        return dtype

    @property
    def size(self) -> int:
        size = 1
        for length in self.native.shape:
            size *= length
        return size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Any:
        return self._apply(np.transpose)

    @property
    def mT(self) -> Any:
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return self._apply(np.real)

    @real.setter
    def real(self, values: Any) -> None:
        self._apply(np.real)[...] = values

    @property
    def imag(self) -> Any:
        return self._apply(np.imag)

    @imag.setter
    def imag(self, values: Any) -> None:
        self._apply(np.imag)[...] = values

    @property
    def flat(self) -> Flat:
        return Flat(self)

    @flat.setter
    def flat(self, values: Any) -> None:
        Flat(self)[:] = values

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        length: int = self.native.shape[0]
        return length

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        engine = self.engine
        cls = type(index)
        basic, takes_natively, view = True, engine.own_indexing, False  # a view, for any array
        if cls is slice:
            takes_natively = takes_natively and index.step is None
            view = True
        elif cls is tuple:
            for part in index:
                kind = type(part)
                if kind is slice:
                    takes_natively = takes_natively and part.step is None
                    view = True
                elif kind is not int:
                    takes_natively = False
                    if part is None or part is Ellipsis:
                        view = True
                    else:
                        basic = False
                        break
        elif cls is not int:
            basic = False
        if not basic:
            index = unwrap(index, None, None)
        try:
            native = (
                self.native[index]
                if basic and takes_natively
                else engine.getitem(self.native, index)
            )
        except (IndexError, TypeError, RuntimeError) as error:
            if any(
                numbers_unknown(part, engine)
                for part in (index if type(index) is tuple else (index,))
            ):
                note_unknown(error)
            raise
        item = _wrapped(native, engine)
        if (basic and view) or (item.ndim if basic else _may_view(index, item.ndim)):
            item._view = Indexed(self, index)
            register(item, self)
        return item

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    # Text has no derivative. Code that runs as a copy may use it as a key, or read it back.

    def __repr__(self) -> str:
        if running():
            return repr(self._in_text("repr(x)"))
        numbers = known_numbers(self)
        return f"NumpyArray({self.native!r})" if numbers is None else f"NumpyArray({numbers[()]!r})"

    def __str__(self) -> str:
        return str(self._in_text("str(x)"))

    def __format__(self, spec: str) -> str:
        return format(self._in_text("format(x)"), spec)

    def _in_text(self, what: str) -> Any:
        """The plain array or number of which NumPy or Python would write the text."""
        if running() and self._traced() and self.dtype.kind in "fc":
            raise NumpyCodeError(of_key(what))
        return as_plain(self, np.asarray(settled_number(self)))

    def __copy__(self) -> NumpyArray:
        return NumpyArray(self.native, self.engine)

    def __deepcopy__(self, memo: dict[int, Any]) -> NumpyArray:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        # the engine decides whether its array can be pickled
        return NumpyArray, (self.native, self.engine)

    def copy(self, order: str = "C") -> NumpyArray:
        copied = self.__copy__()
        if is_number(self):
            return copied
        if order in ("C", "F") or not self.ndim:
            axes = in_order(self.ndim)
            copied.origin = axes if order == "C" else axes[::-1]
        return copied

    # what becomes a Python value

    def _traced(self) -> bool:
        return bool(self.engine.library.traced(self.native))

    def _refuse_if_traced(self, what: str) -> None:
        if self._traced():
            refused = of_leaving(what)
            if here.call is not None:
                here.call.refused = refused
            raise NumpyCodeError(refused)

    def __bool__(self) -> bool:
        try:
            return bool(self.native)
        # An engine that compiles or batches raises them, where the number is unknown.
        except (TypeError, RuntimeError) as error:
            self._note_unknown(error)
            raise

    def __int__(self) -> int:
        return self._whole(int)

    def __hash__(self) -> int:
        if self.ndim:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        if self.dtype.kind not in "iub":
            raise NumpyCodeError(of_key("hash(x)"))
        return hash(self._whole(int))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._whole(operator.index)

    def _whole(self, convert: Callable[[Any], int]) -> int:
        try:
            return convert(self._concrete())
        except (TypeError, RuntimeError) as error:  # of an engine that compiles or batches
            self._note_unknown(error)
            raise

    def _note_unknown(self, error: BaseException) -> None:
        if numbers_unknown(self.native, self.engine):
            note_unknown(error)

    def _concrete(self) -> Any:
        """The number as Python sees it: an integer of it has no derivative, so nothing is lost."""
        value = self.engine.library.value_under_trace(self.native) if self._traced() else None
        return self.native if value is None else value

    def __round__(self, ndigits: Any = None) -> Any:
        if self.ndim:
            raise TypeError("type numpy.ndarray doesn't define __round__ method")
        return int(np.rint(self)) if ndigits is None else np.round(self, ndigits)

    def __bytes__(self) -> bytes:
        raise NumpyCodeError(of_key("bytes(x)"))

    def __float__(self) -> float:
        self._refuse_if_traced("a Python number")
        return float(self.native)

    def __complex__(self) -> complex:
        self._refuse_if_traced("a Python number")
        return complex(self.native)

    def item(self, *index: Any) -> Any:
        if running():
            return OF_PYTHON["item"](self, *index)
        self._refuse_if_traced("a Python number")
        return self.__array__().item(*index)

    def tolist(self) -> Any:
        if running():
            return OF_PYTHON["tolist"](self)
        self._refuse_if_traced("Python numbers")
        return self.__array__().tolist()

    # methods that are more than a function of the array

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        target = np.dtype(dtype)
        self.engine.require_numbers(target)
        if not copy and target == self.dtype:
            return self  # as in NumPy: a write such as `x += y` also changes the other
        converted = wrap(self.engine.functions[np.astype](self.native, target.name), self.engine)
        return converted if self.ndim or is_number(self) else of_no_axes(converted)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        lengths = shape[0] if len(shape) == 1 else shape
        return (
            self._apply(np.reshape, lengths)
            if order == "C"
            else self._apply(np.reshape, lengths, order=order)
        )

    def transpose(self, *axes: Any) -> Any:
        if not axes or axes[0] is None:
            return np.transpose(self)
        return np.transpose(self, axes[0] if len(axes) == 1 else axes)

    def flatten(self, order: Any = "C") -> Any:
        return np.ravel(self, order).copy()

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        if (cls := subclass_among((dtype, type))) is not None:
            if issubclass(cls, ArrayHolder):
                return cls.around(self[...], self)
            raise NumpyCodeError(of_subclass(cls))
        if dtype is not None and dtype is not np.ndarray and dtype != self.dtype:
            return self.__getattr__("view")
        return self[...]

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        return np.compress(condition, self, axis, out)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        # which wants both limits
        return self._apply(np.clip, min, max, **kwargs, **({} if out is None else {"out": out}))

    def conj(self) -> Any:
        # as NumPy: real ones are not copied
        return np.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """With write=False, nothing: NumPy's error for a later write is not raised."""
        if write or align or uic:
            self.__getattr__("setflags")

    def __setitem__(self, index: Any, value: Any) -> None:
        write(self, index, value)

    def __getattr__(self, name: str) -> Any:
        if name == "native":
            if self._view is None:  # emptied at the end of a call
                raise NumpyCodeError(KEPT)
            return refresh(self)  # of a view whose root has been written to since
        if here.call is not None and here.call.refused and hasattr(type(self), name):
            # While C code ignores an error, CPython may not find what a base class has
            # (`_PyType_Lookup`).
            raise NumpyCodeError(here.call.refused)
        if name == "flags":
            return _flags_of(self)
        if name == "base":
            return source_of(self)
        if name in WRITING:
            raise NumpyCodeError(
                f"numpy_function: the method {name} writes to its array, and engines cannot"
                f" differentiate that. Write {WRITING[name]}."
            )
        if name in _DIGITS and self.origin is PYTHON:
            raise NumpyCodeError(of_key(f"x.{name}"))
        if name.startswith("__") or not hasattr(pretended(self)(0), name):
            raise _no_such(self, name)
        if name == "is_integer":
            return lambda: bool(np.isfinite(self) & (self == np.floor(self)))
        if name == "device":
            if running():
                return "cpu"  # as NumPy's, to code in which NumPy's names mean ours
            raise NumpyCodeError(
                "numpy_function: x.device asks where an array lies, and the engine's may lie"
                " anywhere. Leave device=... out: a NumPy array goes to where the array that it"
                " meets lies."
            )
        if name in _BYTES:
            raise NumpyCodeError(of_key(f"x.{name}"))
        raise NumpyCodeError(
            f"numpy_function: x.{name} needs NumPy memory, which an array of"
            f" {self.engine.library.name} does not have."
        )


def _flags_of(x: NumpyArray) -> Any:
    """As of a NumPy array in C order: an engine's array has no other.

    The caller's arrays are read-only.
    """
    alike = np.empty((2,) * min(x.ndim, 2) + (1,) * (x.ndim - 2))
    alike.flags.writeable = x.origin is not ARGUMENT and x.origin is not CAPTURED
    return alike.flags


def pretended(x: NumpyArray) -> type:
    """The class that a plain NumPy array or number would have here."""
    if type(x) is not NumpyArray or not is_number(x):
        return np.ndarray
    kind = x.dtype.kind if x.origin is PYTHON else ""
    number_class: type = float if kind == "f" else complex if kind == "c" else x.dtype.type
    return number_class


def settled_number(x: Any) -> Any:
    """The numbers of an engine's array, outside its trace.

    Raises NumpyCodeError where they are not known yet.
    """
    if type(x) is tuple:
        return tuple(map(settled_number, x))
    if not isinstance(x, NumpyArray):
        return x
    if type(x) is not NumpyArray:  # that f has made
        return x.native.copy()
    numbers = known_numbers(x)
    if numbers is None:
        error = NumpyCodeError(
            "numpy_function: this code goes on by the numbers of what is"
            " differentiated, which a compiled call does not know yet. Use the backend with"
            " jit=False."
        )
        note_unknown(error)
        raise error
    return numbers if numbers.ndim else numbers[()]


def known_numbers(x: Any) -> np.ndarray[Any, Any] | None:
    """The numbers of an engine's array; None while they are unknown."""
    library = x.engine.library
    numbers = library.value_under_trace(x.native) if x._traced() else x.native
    return (
        None
        if numbers is None
        else np.array(library.to_numpy(numbers) if isinstance(numbers, library.types) else numbers)
    )


def as_plain(x: NumpyArray, numbers: np.ndarray[Any, Any]) -> Any:
    """What an array or number would be in plain NumPy code."""
    return numbers.item() if x.origin is PYTHON else numbers[()] if is_number(x) else numbers


def _no_such(x: NumpyArray, name: str) -> AttributeError:
    cls = pretended(x)
    module = "" if cls.__module__ == "builtins" else cls.__module__ + "."
    return AttributeError(f"'{module}{cls.__name__}' object has no attribute {name!r}")


#: Operands without gaps, unless they are recorded.
_CERTAIN = frozenset({NumpyArray, float, int, bool, complex})


def numbers_unknown(x: Any, engine: Engine) -> bool:
    """Whether this is an engine's array whose numbers are not known yet, as while compiling."""
    library = engine.library
    return (
        isinstance(x, library.types) and library.traced(x) and library.value_under_trace(x) is None
    )


# Wrapping
# ------------------------------------------------------------------------------------------------


def _wrapped(array: Any, engine: Engine) -> NumpyArray:
    """A wrapper, without the call of `__init__`, which takes as long again."""
    wrapped = _new(NumpyArray)
    wrapped.native = array
    wrapped.engine = engine
    wrapped.origin = wrapped._view = wrapped._views = None
    return wrapped


def wrap(result: Any, engine: Engine) -> Any:
    """The engine's arrays in a result with NumPy's structure, each wrapped."""
    if type(result) in engine.classes:
        return _wrapped(result, engine)
    if isinstance(result, engine.types):
        engine.classes.add(type(result))
        return NumpyArray(result, engine)
    if isinstance(result, tuple):
        wrapped = [wrap(part, engine) for part in result]
        return type(result)._make(wrapped) if hasattr(result, "_make") else tuple(wrapped)
    if type(result) is list:
        return [wrap(part, engine) for part in result]
    return result


def _called(
    function: Callable[..., Any],
    engine: Engine,
    beside: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The engine's function for any number of arguments and for keywords."""
    if function is _PIECEWISE:
        return _piecewise(*args, **kwargs)
    if kwargs.get("casting") in _HARMLESS["casting"]:
        del kwargs["casting"]
    for value in kwargs.values():
        if type(value) not in _AS_THEY_ARE:
            kwargs = {
                name: unwrap(value, engine, beside, function, name)
                for name, value in kwargs.items()
            }
            break
    natives = []
    for n, value in enumerate(args):
        natives.append(unwrap(value, engine, beside, function, n))
    return engine.functions[function](*natives, **kwargs)


def out_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...]]:
    """The value of out=, by keyword or position, and the other positional arguments.

    The keyword is removed.
    """
    out = kwargs.pop("out", None)
    place = place_of_out(function)
    if out is None and place is not None and len(args) > place:
        return args[place], (
            (*args[:place], None, *args[place + 1 :]) if len(args) > place + 1 else args[:place]
        )
    return out, args


def unwrap(
    value: Any,
    engine: Engine | None,
    beside: Any,
    function: Callable[..., Any] | None = None,
    place: int | str = 0,
) -> Any:
    """An argument for the engine: its own arrays, converted floating NumPy arrays, and Python
    integers where this parameter is a count or an axis.
    """
    cls = type(value)
    # first, because callers look for the other two themselves where time counts
    if cls is tuple or cls is list:
        if cls is tuple and _AS_THEY_ARE.issuperset(map(type, value)):
            return value
        several = place in SEVERAL.get(function, ())
        apart = several or function is None or takes_axes(function, place)
        if not apart and holds_storage(value):
            return unwrap(stacked(value), engine, beside, function, place)
        parts = []
        for part in value:
            cls_of_part = type(part)
            if cls_of_part is NumpyArray and several:
                parts.append(part.native)
            elif cls_of_part in _AS_THEY_ARE:
                parts.append(part)
            elif (
                apart
                and function is not np.block
                and isinstance(part, (list, tuple))
                and holds_storage(part)
            ):
                parts.append(unwrap(stacked(part), engine, beside, function, place))
            else:
                parts.append(unwrap(part, engine, beside, function, place))
        if cls is tuple:
            return tuple(parts)
        return parts if several or function is None else for_numpy(function, place, parts) or parts
    if cls is NumpyArray:
        if function is None or not takes_axes(function, place):
            return value.native
        return tuple(map(operator.index, value)) if value.ndim else operator.index(value)  # lengths
    if cls in _AS_THEY_ARE:
        return value
    if isinstance(value, Storage):  # a plain array that f has made
        value = value.operand()
        cls = type(value)
    if cls is range or cls is np.ndarray:
        plain = None if function is None else for_numpy(function, place, value)
        if plain is not None:
            return plain
        if cls is range:
            value = np.asarray(value) if engine is not None else list(value)
    if engine is not None and isinstance(value, (np.ndarray, np.inexact)):
        return engine.lift(value, beside)
    if function is not None and isinstance(value, np.integer) and counts(function, place):
        return int(value)
    if isinstance(value, (list, tuple)):  # of a user's class
        return unwrap(
            tuple(value) if isinstance(value, tuple) else list(value),
            engine,
            beside,
            function,
            place,
        )
    inner = array_of(value)
    return value if inner is value else unwrap(inner, engine, beside, function, place)


def _may_view(index: Any, ndim: int) -> bool:
    """Whether an index may make a view of `ndim` axes: one without lists and arrays, whose result
    is not a number.
    """
    no_number = ndim > 0
    part: Any
    for part in index if type(index) is tuple else (index,):
        if part is Ellipsis:
            no_number = True
        elif type(part) not in _BASIC and (isinstance(part, list) or getattr(part, "shape", None)):
            return False
    return no_number


def _viewing(result: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function that may return views, recorded as such: of the first array, or of
    each.
    """
    if function not in VIEWS:
        return of_no_axes(result)
    places = [n for n, value in enumerate(args) if isinstance(value, Storage)]
    if type(result) is NumpyArray:
        source = args[places[0]] if places else None
        if not result.ndim and (
            function in NUMBERS or (type(source) is NumpyArray and is_number(source))
        ):
            return of_no_axes(result) if function in MAKING_ARRAYS else result
        new = function is np.einsum and len(places) > 1  # of one operand it may be a view
        if places and result is not args[places[0]] and not new:
            note_view(result, function, args, places[0], kwargs)
    elif isinstance(result, (list, tuple)):
        for part, viewing in enumerate(result):
            if type(viewing) is NumpyArray and places:
                place = part if len(args) == len(result) and part in places else places[0]
                note_view(viewing, function, args, place, kwargs, part)
    return result


def of_no_axes(x: Any) -> Any:
    """A 0-d array where NumPy would return a number."""
    if type(x) is not NumpyArray or not is_number(x):
        return x
    array = NumpyArray(x.native, x.engine)
    array.origin = ""
    return array


#: Attributes of a Python number that read its digits, and those of an array that read its memory.
_DIGITS = frozenset({"as_integer_ratio", "hex"})
_BYTES = frozenset({"data", "tobytes", "tofile", "dump", "dumps"})
_AS_THEY_ARE = frozenset({int, float, bool, complex, str, slice, type(None), type(Ellipsis)})


def _operand(engine: Engine, value: Any, beside: Any, ufunc: np.ufunc) -> Any:
    if isinstance(value, ArrayHolder):
        return NotImplemented  # the holder is asked next
    operand = engine.operand(array_of(value), beside)
    if operand is NotImplemented:
        raise TypeError(
            f"numpy_function: {spelled(ufunc)} got a {type(value).__name__} and a"
            f" {engine.library.name} array."
        )
    return operand


def _unusual(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc called with keywords, or one of its methods."""
    if method == "at":
        return accumulate_at(ufunc, *inputs)
    where = kwargs.pop("where", True) if method == "__call__" else True
    out = kwargs.pop("out", None)
    if where is not True or (out is not None and any(target is not None for target in out)):
        inputs = tuple([stacked(value) for value in inputs])
        if where is not True:  # elsewhere the ufunc may have no derivative
            inputs = tuple(
                [np.where(where, value, 1) if np.ndim(value) else value for value in inputs]
            )
        result = (
            _unusual(ufunc, method, inputs, kwargs)
            if kwargs or method != "__call__"
            else ufunc(*inputs)
        )
        if out is None:  # NumPy's result has no values elsewhere
            parts = [
                np.where(where, part, False)
                for part in (result if type(result) is tuple else (result,))
            ]
            # a number, as a ufunc's result without axes
            parts = [part if part.ndim else part[()] for part in parts]
            return tuple(parts) if type(result) is tuple else parts[0]
        if len(out) == 1:
            return into(out[0], result, where, ufunc)
        return tuple(
            [part if to is None else into(to, part, where, ufunc) for to, part in zip(out, result)]
        )
    if ufunc in _OF_VECTORS and kwargs.get("axis", -1) != -1 and not kwargs.keys() - {"axis"}:
        return ufunc(*[np.moveaxis(x, kwargs["axis"], -1) for x in inputs])
    if ufunc in _OF_VECTORS:
        kwargs.pop("axis", None)
    kwargs = _plain_keywords(ufunc, method, kwargs)
    if method == "__call__":
        result = ufunc(*inputs)
        return result.astype(kwargs["dtype"]) if kwargs.get("dtype") is not None else result
    if method == "reduce" and ufunc in REDUCE:
        return REDUCE[ufunc](*inputs, **{"axis": 0} | kwargs)
    if method == "accumulate" and ufunc in ACCUMULATE:
        return ACCUMULATE[ufunc](*inputs, **{"axis": 0} | kwargs)
    if method in ("reduce", "accumulate") and ufunc.nin == 2 and ufunc.nout == 1:
        from . import folds  # a late import of what is seldom used

        return getattr(folds, method)(ufunc, *inputs, **kwargs)
    if method == "outer" and ufunc.nin == 2 and not kwargs:
        first, second = inputs
        return ufunc(np.reshape(first, np.shape(first) + (1,) * np.ndim(second)), second)
    raise NumpyCodeError(
        f"numpy_function: {spelled(ufunc)}.{method} has no counterpart here. Write it with "
        f"{spelled(ufunc)} and a loop or a reduction such as np.sum."
    )


#: Ufuncs of vectors, which lie along the last axis or another.
_OF_VECTORS = frozenset({np.vecdot} if hasattr(np, "vecdot") else ())


def _plain_keywords(ufunc: np.ufunc, method: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords that mean something here; others are refused."""
    if method != "__call__":
        return kwargs
    for name in [name for name in kwargs if name != "dtype"]:
        value = kwargs.pop(name)
        if not isinstance(value, (str, bool)) or value not in _HARMLESS.get(name, ()):
            raise NumpyCodeError(
                f"numpy_function: {spelled(ufunc)} does not take {name}= here. Leave it out."
            )
    return kwargs


# Operators and methods
# -----------------------------------------------------------------------------------------------


def binary(ufunc: np.ufunc, reflected: bool = False) -> Callable[[NumpyArray, Any], Any]:
    def operate(self: NumpyArray, other: Any) -> Any:
        if self.origin is PYTHON and ufunc in _PYTHONS:
            number = OF_PYTHON["operator"](ufunc, *((other, self) if reflected else (self, other)))
            if number is not None:
                return number
        if GAPS or type(other) not in _CERTAIN:
            result = past_gaps(ufunc, *((other, self) if reflected else (self, other)))
            if result is not None:
                return result
        engine, array = self.engine, self.native
        if type(other) is NumpyArray:
            if self.origin is PYTHON or other.origin is PYTHON:
                array, other = OF_PYTHON["operands"](self, other)
            else:
                other = other.native
        elif type(other) not in engine.numbers:
            operand = engine.operand(other, array)
            if operand is NotImplemented:
                return _product(ufunc, other, self, reflected)
            other = operand
        result = (
            engine.functions[ufunc](other, array)
            if reflected
            else engine.functions[ufunc](array, other)
        )
        return wrap(result, engine)

    return operate


def _product(ufunc: np.ufunc, other: Any, array: NumpyArray, reflected: bool) -> Any:
    """A product with another object, for which an extension may have one."""
    if ufunc is np.matmul or ufunc is np.multiply:
        for product in PRODUCTS:
            product_value = product(ufunc, other, array, reflected)
            if product_value is not NotImplemented:
                return product_value
    return NotImplemented


def _in_place(ufunc: np.ufunc) -> Callable[[NumpyArray, Any], Any]:
    operator = binary(ufunc)

    def operate(self: NumpyArray, other: Any) -> Any:
        shape = self.shape
        if not shape and is_number(self):
            # NumPy's reductions and indexing return a number, which it does not change either
            return operator(self, other)
        root, numbers = writable(self)
        result = operator(self, other)
        if result is NotImplemented:
            return result
        if type(result) is not NumpyArray:  # a number, where an engine has such
            self[...] = result
            return self
        if result.shape != shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match the"
                f" broadcast shape {result.shape}"
            )
        if result.dtype != self.dtype:
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise TypeError(
                    f"Cannot cast ufunc '{ufunc.__name__}' output from {result.dtype!r} to"
                    f" {self.dtype!r}"
                )
            result = result.astype(self.dtype)
        if root is self:
            replace_root(self, result.native)
        else:
            put(root, numbers, result.native)
        return self

    return operate


def _unary(ufunc: np.ufunc) -> Callable[[NumpyArray], Any]:
    def operate(self: NumpyArray) -> Any:
        if GAPS and (result := past_gaps(ufunc, self)) is not None:
            return result
        result = wrap(self.engine.functions[ufunc](self.native), self.engine)
        if self.origin is PYTHON and type(result) is NumpyArray:
            result.origin = PYTHON
        return result

    return operate


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: NumpyArray, *args: Any, **kwargs: Any) -> Any:
        return self._apply(function, *args, **kwargs)

    method.__name__ = name
    return method


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kwargs: Any) -> Any:
    """np.piecewise by np.where.

    Here, because the functions are NumPy code too, and take wrappers.
    """
    conditions = (
        list(condlist)
        if isinstance(condlist, (list, tuple)) or np.ndim(condlist) > np.ndim(x)
        else [condlist]
    )
    if np.ndim(x) and isinstance(condlist, (list, tuple)) and np.ndim(condlist[0]) == 0:
        conditions = [condlist]
    pieces = [piece(x, *args, **kwargs) if callable(piece) else piece for piece in funclist]
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or one more functions"
            " are expected"
        )
    result = np.zeros_like(x) if len(pieces) == len(conditions) else pieces.pop()
    for condition, piece in zip(conditions, pieces):
        result = np.where(condition, piece, result)
    return np.astype(result, x.dtype)


COMPARISONS: dict[str, np.ufunc] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
#: The operators on two Python numbers that return a third.
_PYTHONS = frozenset({np.divmod, *ARITHMETIC.values()})
SIGNS: dict[str, np.ufunc] = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}

for _name, _ufunc in ARITHMETIC.items():
    setattr(NumpyArray, f"__{_name}__", binary(_ufunc))
    setattr(NumpyArray, f"__r{_name}__", binary(_ufunc, reflected=True))
    setattr(NumpyArray, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in COMPARISONS.items():
    setattr(NumpyArray, f"__{_name}__", binary(_ufunc))
setattr(NumpyArray, "__divmod__", binary(np.divmod))  # noqa: B010  (mypy knows no such method)
setattr(NumpyArray, "__rdivmod__", binary(np.divmod, reflected=True))  # noqa: B010
for _name, _ufunc in SIGNS.items():
    setattr(NumpyArray, f"__{_name}__", _unary(_ufunc))
for _name in named("method"):
    setattr(NumpyArray, _name, _method(_name))
for _name, _writer in WRITING_METHODS.items():
    setattr(NumpyArray, _name, _writer)
