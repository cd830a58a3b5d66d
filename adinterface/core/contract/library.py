"""Array libraries: what a leaf is, and how it is converted between libraries.

A `Library` describes the arrays of one package. Those of NumPy arrays and Python numbers are
defined here; each engine provides the library of its arrays through its backend. Nothing else in
the core looks inside an array. Each must give `types`, `dtype`, `to_numpy`, `asarray` and
`namespace`; all else has a default.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, ClassVar, Final, Literal, final

import numpy as np

from ..support.ambient import now
from ..support.members import own_members
from ..support.other_packages import advice
from .errors import ConversionError, NotDifferentiableError, PrecisionError, an
from .loops import Loops
from .rules import Arrays, FlatRule

DtypeKind = Literal["real", "complex", "integer", "bool", "other"]


#: Converts a leaf to a native array. Records the memory that results must not overlap in the set.
Enter = Callable[[Any, set[int]], Any]
#: Converts a native result for the caller, and records its memory. None for a result that needs
#: `restore`.
ToLeaf = Callable[[Any, set[int]], Any]
#: Returns the context that a call needs at this point; None where it needs none.
Scoping = Callable[[], AbstractContextManager[Any] | None]


def as_it_is(x: Any, occupied: set[int]) -> Any:
    """The identity, in either direction; a plan of identities skips it."""
    return x


_WIDTHS = {
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
    "complex64": 32,
    "complex128": 64,
}
#: The dtypes of numbers that NumPy has in every release and on every machine, and in which no
#: engine lacks one.
_WIDE = frozenset({"float32", "float64", "complex64", "complex128"})
_COMPLEX_OF = {32: "complex64", 64: "complex128"}


@functools.cache
def dtype_kind(dtype: str) -> DtypeKind:
    """The kind of a dtype, from its name (`"float32"`, `"bfloat16"`, `"int64"`, ...)."""
    if dtype.startswith(("float", "bfloat", "longdouble")):
        return "real"
    if dtype.startswith(("complex", "clongdouble")):
        return "complex"
    if dtype.startswith(("int", "uint")):
        return "integer"
    return "bool" if dtype == "bool" else "other"


@functools.cache
def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name of a dtype, cached: NumPy computes it anew each time."""
    return dtype.name


@functools.cache
def width(dtype: str) -> int:
    """Bits of one real component: 64 for float64 and complex128; 80 for all long doubles."""
    known = _WIDTHS.get(dtype)
    if known is not None:
        return known
    return 8 if dtype.startswith(("float8_", "float6_", "float4_")) else 80


@functools.cache
def epsilon(dtype: str) -> float:
    """The distance from 1 to the next number of a floating dtype, or of Python numbers."""
    if dtype in ("float", "complex", "int"):
        return 2.0**-52
    if dtype == "bfloat16":
        return 2.0**-7
    return {64: 2.0**-52, 32: 2.0**-23, 16: 2.0**-10, 8: 2.0**-3}.get(
        width(dtype), float(np.finfo(np.longdouble).eps)
    )


@functools.cache
def any_wide(dtypes: tuple[str, ...]) -> bool:
    """Whether a real or complex dtype among these has components of 64 bits."""
    return any(width(dtype) == 64 for dtype in dtypes if dtype_kind(dtype) in ("real", "complex"))


def widest(dtypes: Iterable[str]) -> str:
    """The real dtype that a Python float takes among these; float64 if there is none."""
    best: str | None = None
    for dtype in dtypes:
        kind = dtype_kind(dtype)
        if kind == "complex":
            dtype = {32: "float32", 64: "float64"}.get(width(dtype), np.dtype(np.longdouble).name)
        elif kind != "real":
            continue
        elif width(dtype) < 16:
            dtype = "float32"  # engines do not promote to so few bits
        if best is None or width(dtype) > width(best):
            best = dtype
        elif width(dtype) == width(best) and dtype != best:
            # float16 and bfloat16: neither contains the other, as in NumPy and JAX promotion
            best = "float32"
    return best or "float64"


def complex_of(dtype: str) -> str:
    """The complex dtype of a real dtype; complex64 for the half precisions."""
    return _COMPLEX_OF.get(max(width(dtype), 32), np.dtype(np.clongdouble).name)


class LibraryShortcuts:
    """Conversions that a library may do itself where that is faster. All are optional."""

    def enter(self, example: Any, source: Library, dtype: str | None) -> Enter | None:
        """A direct conversion of arrays of the library `source` to arrays of this one.

        Arrays keep their dtype and may share their memory with the result; a Python number takes
        `dtype`. None where only `asarray` serves.
        """
        return None

    def to_leaf(self, example: Any, source: Library) -> ToLeaf | None:
        """A direct conversion of this library's results to results like the example, of `source`.

        Without an example (None), of results of any shape and dtype to arrays of `source`. None
        where only `restore` of that library serves. The conversion itself returns None for a result
        that needs `restore`.
        """
        return None

    def loops(self) -> Loops:
        """How loops run on arrays of this library: by default, as Python's loops."""
        return Loops(self)


class Library(LibraryShortcuts, ABC):
    """The arrays of one package.

    Laws, for an array x of this library: `asarray(to_numpy(x), dtype(x))` equals x;
    `unshared(x, occupied)` equals x and, where arrays are mutable, overlaps nothing in `occupied`;
    `asarray` never narrows.

    Arrays support indexing along the first axis and arithmetic with each other and with numbers.
    The namespace needs `stack`, `concat`, `reshape`, `moveaxis` and `sum`, and for complex arrays
    `real` and `conj`.
    """

    is_library: Final = True
    #: The names of the members that the class defines.
    gives: ClassVar[frozenset[str]] = frozenset()
    types: ClassVar[tuple[type, ...]]
    mutable: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        cls.gives = own_members(cls, Library)

    @functools.cached_property
    @final
    def name(self) -> str:
        """The name of the package that defines the first of `types`: that of the engine."""
        return self.types[0].__module__.partition(".")[0]

    def owns(self, x: object) -> bool:
        """Whether x is an array (or a tracer) of this library."""
        return isinstance(x, self.types)

    @abstractmethod
    def dtype(self, x: Any) -> str:
        """The dtype's name, in the spelling of NumPy or ml_dtypes."""

    def shape(self, x: Any) -> tuple[int, ...]:
        return tuple(x.shape)

    def signature(self, x: Any) -> Any:
        """The properties of x, except its numbers, on which a prepared call depends."""
        return self.dtype(x), self.shape(x)

    def traced(self, x: Any) -> bool:
        """Whether an engine traces x, so that converting it to numbers would lose a derivative.

        An engine whose tracers have a type of their own decides by the type. This default is for
        engines whose arrays do not show it: it is True for every array of the library, in this
        thread, while an operator evaluates f on it. True for an array without a derivative costs
        speed, and refuses code that takes its numbers: NumPy code that calls `float(x)`, rules that
        capture it. False for an array with a derivative loses the derivative without an error. So
        an engine that also follows arrays at other times, in a tape of its users or while it
        compiles, overrides this.
        """
        return any(library is self for library in now().evaluating)

    def settled(self, x: Any) -> Any:
        """A traced x; as a constant if nothing outside the call that gave it takes part in it."""
        return x

    def value_under_trace(self, x: Any) -> np.ndarray[Any, Any] | None:
        """The numbers of a traced x; None while the engine has not computed them.

        They are known by default where `traced` is the default, since arrays are then no tracers.
        """
        return None if "traced" in self.gives else self.to_numpy(x)

    @abstractmethod
    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        """The numbers of x, without a copy where possible; may be read-only."""

    def exported(self, x: Any) -> Any:
        """x in a form that another library can take: a NumPy array, or an object with `__dlpack__`.

        Raises ConversionError for an array that must be gathered first.
        """
        return self.to_numpy(x)

    @functools.cached_property
    @final
    def plain_numpy(self) -> bool:
        """Whether arrays that the engine does not trace are plain NumPy arrays."""
        return type(self.asarray(np.zeros(()))) is np.ndarray

    @final
    def foreign(self, x: Any, source: Library) -> Any:
        """An array of another library in the form that `asarray` takes."""
        exported = source.exported(x)
        if self.plain_numpy and type(exported) is not np.ndarray:
            return source.to_numpy(x)
        return exported

    @abstractmethod
    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        """An array of this library with the numbers of x, on the device of `like`.

        x is an array of this library, a NumPy array, a Python number, or a result of `foreign`.
        With `copy` the result shares no memory with x. Raises PrecisionError for a dtype that this
        library lacks.
        """

    @final
    def full_like(self, x: Any, value: float, count: int | None = None) -> Any:
        """An array like x, or a stack of `count` of them, filled with one number."""
        shape, dtype = self.shape(x) if count is None else (count, *self.shape(x)), self.dtype(x)
        numbers = np.zeros(shape, dtype if dtype in _WIDE else None)
        if value:
            numbers[...] = value
        return self.asarray(numbers, dtype=dtype, like=x)

    def unshared(self, x: Any, occupied: set[int]) -> Any:
        """x as a result: dense, writable, and not overlapping the memory in `occupied`.

        A key of x's own memory is then in `occupied`, even where the result is a copy. By default x
        itself, but for NumPy arrays.
        """
        return NUMPY.unshared(x, occupied) if type(x) is np.ndarray else x

    @final
    def is_real_scalar(self, x: Any) -> bool:
        """Whether x is 0-d and of a real floating dtype."""
        return self.shape(x) == () and dtype_kind(self.dtype(x)) == "real"

    @final
    def is_floating(self, x: Any) -> bool:
        """Whether x is of a real or complex floating dtype."""
        return dtype_kind(self.dtype(x)) in ("real", "complex")

    @abstractmethod
    def namespace(self, x: Any) -> ModuleType:
        """The Array API namespace of x."""

    def numpy_sources(self) -> tuple[Any, ...]:
        """The sources of NumPy functions, with NumPy's names and semantics, for these arrays.

        The first source with a name is used: modules with `sin`, `linalg.solve`, `fft.rfft`,
        `special.erf` (a ufunc of scipy.special), `getitem(x, index)`, and `written(x, places,
        value)`. `written` returns a copy of x with the value, a 0-d array or a vector, at these
        places: an array of distinct integers in C order. A function without a source is composed
        from the namespace. `special` may also have `PARTS`, and `around`
        for functions that need a correction.
        """
        return ()

    def lift(self, x: Any, beside: Any) -> Any:
        """A NumPy array that NumPy code captured, as an operand for an array of this library."""
        return x

    def sparse_matrices(
        self, rows: Any, columns: Any, shape: tuple[int, int]
    ) -> Callable[[Any], Any] | None:
        """From a vector of entries to the library's sparse matrix, its entries sorted by rows.

        rows, columns: NumPy arrays, which are not written to. Without it, results are SciPy
        matrices.
        """
        return None

    def take(self, x: Any, places: np.ndarray[Any, Any]) -> Any:
        """The elements at these places, counted in C order; all are in bounds."""
        return self.namespace(x).reshape(x, (-1,))[self.asarray(places, like=x)]

    def precision(self, dtypes: tuple[str, ...]) -> Scoping | None:
        """Enters the context in which arrays of these dtypes keep them; None if they always do.

        Called in every call, nested and in several threads at once.
        """
        return None

    def evaluation(self, leaves: Iterable[Any]) -> AbstractContextManager[Any] | None:
        """The context of an evaluation of f for its value alone; None where there is none."""
        return None

    def custom(self, rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        """The result of `rule.value`, with the rule's derivatives registered in the engine.

        An engine without custom rules differentiates the function's code. It raises
        `rule.refused(n)` where it would have to differentiate the n-th carried array, and
        `rule.nonlinear()` where it cannot transpose.
        """
        return rule.value(leaves, carried)

    def outside(
        self, function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]
    ) -> Arrays:
        """The value of a function that the engine cannot trace, as constants of this library.

        function: takes the arrays, untraced, of this library or of NumPy, and returns such arrays.
            Messages may use its `__name__`. It raises if a later value has another structure than
            the first, that of `example` if that was called.
        example: returns NumPy arrays with the shapes and dtypes of the function's results, for an
            engine that compiles before there are numbers. It then compares those of the results.
            `function.fixes` says whether the value has Python values, too, which are those of
            `example`; so the function must run in each call, also if none of its results is used.

        By default a traced array raises, because its derivative would be lost.
        """
        if any(map(self.traced, arrays)):
            lacking = "outside" if "custom" in self.gives else "custom"
            raise ConversionError(
                f"{self.name} cannot trace outside code, and takes no derivative for it: it has no"
                f" `Library.{lacking}`."
            )
        result = function(*map(self.to_numpy, arrays))
        return tuple([self.asarray(x, like=arrays[0]) for x in result])

    def stopped(self, x: Any) -> Any:
        """x as a constant, which the engine does not trace."""
        if not self.traced(x):
            return x
        numbers = self.value_under_trace(x)
        if numbers is None:
            raise ConversionError(
                f"{self.name} has no way to take a traced array out of a derivative"
                " (`Library.stopped`)."
            )
        return self.asarray(numbers, dtype=self.dtype(x))

    @final
    def restore(
        self, result: Any, source: Library, like: Any, dtype: str, occupied: set[int]
    ) -> Any:
        """A result of `source` as an array of this library, with this dtype, on `like`'s device."""
        if source is not self:
            if source.traced(result) and source.traced(result := source.settled(result)):
                return source.asarray(result, dtype=dtype)
            free = source.unshared(result, occupied)
            # A sharded array is gathered for NumPy alone.
            free = source.to_numpy(free) if self in (NUMPY, PYTHON) else self.foreign(free, source)
            return self.unshared(
                self.asarray(free, dtype=dtype, like=like, copy=not source.mutable), set()
            )
        if self.dtype(result) != dtype or like is not None:
            result = self.asarray(result, dtype=dtype, like=like)
        return self.unshared(result, occupied)


def unsupported_dtype(dtype: str, engine: str, supported: Iterable[str]) -> PrecisionError:
    """The error for a dtype that an engine lacks."""
    other = ", or use AutoFiniteDifferences(), which keeps every dtype" if width(dtype) > 8 else ""
    return PrecisionError(
        f"{engine} has no {dtype}, and nothing is narrowed silently. Convert the leaf yourself to"
        f" one of {', '.join(supported)}{other}."
    )


#: NumPy types of which every instance is a real 0-d scalar.
REAL_SCALARS = frozenset({np.float16, np.float32, np.float64})


class NumpyLibrary(Library):
    """NumPy arrays and scalars: the only library that the core itself needs."""

    types: ClassVar[tuple[type, ...]] = (np.ndarray, np.generic)

    def owns(self, x: object) -> bool:
        return type(x) is np.ndarray or isinstance(x, (np.generic, np.memmap))

    def traced(self, x: Any) -> bool:
        return False

    def dtype(self, x: Any) -> str:
        return dtype_name(x.dtype)

    def shape(self, x: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = x.shape
        return shape

    def signature(self, x: Any) -> Any:
        return x.dtype, x.shape

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if type(x) is np.ndarray and not copy and (dtype is None or dtype_name(x.dtype) == dtype):
            if type(like) is np.ndarray and x.dtype == like.dtype:
                return x
            if like is None and x.dtype.isnative:
                return x
        target = np.dtype(_extended(dtype)) if dtype is not None else None
        if (
            target is not None
            and isinstance(like, (np.ndarray, np.generic))
            and dtype_name(like.dtype) == dtype
        ):
            target = like.dtype  # keeps the byte order
        if target is not None and target.kind != "c" and np.iscomplexobj(x):
            x = np.real(x)
        array = np.array(x, dtype=target, copy=True) if copy else np.asarray(x, dtype=target)
        scalar = isinstance(x if like is None else like, np.generic) and array.ndim == 0
        return array[()] if scalar else array

    def unshared(self, x: Any, occupied: set[int]) -> Any:
        if isinstance(x, np.generic):
            return x
        dense, key = x.flags.c_contiguous or x.flags.f_contiguous, _memory(x)
        sole = x.flags.owndata or _sole_view(x)
        own = dense and x.flags.writeable and sole and key not in occupied
        if key is not None:
            occupied.add(key)
        if own:
            return x
        return x.copy(order="K") if dense else np.ascontiguousarray(x)

    def enter(self, example: Any, source: Library, dtype: str | None) -> Enter | None:
        if source is PYTHON:
            number = np.dtype(dtype).type
            return lambda x, occupied: number(x)
        if type(example) is not np.ndarray or not example.dtype.isnative:
            return None
        if not example.size:  # an empty array overlaps nothing
            return as_it_is

        def enter(x: Any, occupied: set[int]) -> Any:
            occupied.add(id(x) if x.base is None else _memory(x))  # type: ignore[arg-type]
            return x

        return enter

    def to_leaf(self, example: Any, source: Library) -> ToLeaf | None:
        if type(example) is float:
            return _to_float
        if type(example) is not np.ndarray:
            return None
        dtype = example.dtype

        def to_leaf(result: Any, occupied: set[int]) -> Any:
            if type(result) is not np.ndarray or result.dtype != dtype:
                return None
            flags, key = result.flags, id(result)
            if flags.owndata and flags.c_contiguous and flags.writeable and key not in occupied:
                occupied.add(key)
                return result
            return unshared(result, occupied)

        unshared = self.unshared
        return to_leaf

    def namespace(self, x: Any) -> ModuleType:
        # here, because it takes longer to import than this whole package
        import array_api_compat.numpy as namespace

        return namespace


def _memory(x: np.ndarray[Any, Any]) -> int | None:
    """A key of x's memory; None for an empty array, which overlaps nothing."""
    if not x.size:
        return None
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    # Reading an address takes a microsecond or two. So the key is the identity of an array that
    # owns its memory; for the memory of another library it is the address, as in that library.
    return id(owner) if owner.base is None else x.__array_interface__["data"][0]


def note_memory(library: Library, x: Any, occupied: set[int]) -> None:
    """Record in `occupied` that results must not overlap x."""
    if not isinstance(x, np.ndarray):
        library.unshared(x, occupied)
    elif (key := _memory(x)) is not None:
        occupied.add(key)


def _to_float(result: Any, occupied: set[int]) -> Any:
    return float(result) if type(result) in REAL_SCALARS or type(result) is np.ndarray else None


def _sole_view(x: np.ndarray[Any, Any]) -> bool:
    """Whether x views a whole buffer of another library, whose `unshared` has made it free."""
    return x.base is not None and not isinstance(x.base, np.ndarray)


def _extended(dtype: str) -> Any:
    """A dtype name that NumPy may know only through ml_dtypes."""
    if dtype.startswith(("bfloat", "float8_", "float6_", "float4_")):
        import ml_dtypes

        return getattr(ml_dtypes, dtype)
    return dtype


class PythonNumbers(Library):
    """Python's own float and complex (and int, where it stands as an argument of its own)."""

    types: ClassVar[tuple[type, ...]] = (float, complex, int)

    def __init__(self) -> None:
        vars(self).update(name="python")

    def owns(self, x: object) -> bool:
        return type(x) in (float, complex, int)

    def traced(self, x: Any) -> bool:
        return False

    def dtype(self, x: Any) -> str:
        name: str = type(x).__name__
        return name

    def shape(self, x: Any) -> tuple[int, ...]:
        return ()

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if dtype is not None and dtype_kind(dtype) == "complex":
            return complex(x)
        return float(x.real if np.iscomplexobj(x) else x)

    def namespace(self, x: Any) -> ModuleType:
        return NUMPY.namespace(x)


NUMPY = NumpyLibrary()
PYTHON = PythonNumbers()


_PLAIN = (
    "Pass numpy.asarray(x), wrap it in Constant(...), or register the class with register_node."
)


def check_ndarray(x: np.ndarray[Any, Any], path: str) -> None:
    """Refuse subclasses of ndarray, and dtypes that hide floating numbers."""
    if type(x) is not np.ndarray and not isinstance(x, np.memmap):
        raise ConversionError(
            f"{path} is {an(f'{type(x).__module__}.{type(x).__qualname__}')}, a subclass of"
            " numpy.ndarray whose meaning an engine would drop."
            f" {advice(x) or _PLAIN}"
        )
    if x.dtype.kind == "O" or (x.dtype.names and has_floats(x.dtype)):
        what = "object" if x.dtype.kind == "O" else "structured"
        raise NotDifferentiableError(
            f"{path} is a NumPy array of {what} dtype, which no engine differentiates. Convert it"
            " to floating arrays (for example x.astype(float), or a dict of fields), or wrap it in"
            " Constant(...)."
        )


def has_floats(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype, or a field of it, is floating."""
    return dtype.kind in "fc" or any(
        has_floats(field[0]) for field in (dtype.fields or {}).values()
    )
