"""Arrays that carry, for each element, the set of inputs that it depends on, and the values from
which f's shapes follow.

They answer the Array API and the NumPy protocols, as `array_namespace` and `numpy_function` do. So
any f that runs on several engines can be traced. What cannot be followed raises; nothing is ever
left out in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from ..core.contract.library import Library, dtype_kind, dtype_name
from ..core.contract.registry import REGISTRY
from ..core.contract.rules import Arrays, FlatRule
from .index_sets import Sets, selected, stacked

#: Where an element depends on no input.
NOTHING = -1


class Branched(Exception):
    """f reads a value that may differ between arguments: to branch, to index, or for a shape."""


class Untraceable(TypeError):
    """f does something to its arrays that a trace cannot follow."""


class Trace:
    """One run of f."""

    def __init__(self, inputs: int, *, values: bool, second: bool):
        self.inputs = inputs
        #: Whether f may read values; the pattern then holds for these values only.
        self.values = values
        #: Whether pairs of inputs that meet in a second derivative are noted.
        self.second = second
        self.pairs: list[tuple[Sets, Sets]] = []
        #: The names of functions whose compositions are running.
        self.composing: set[str] = set()
        self._noted: set[tuple[int, int]] = set()

    def meet(self, a: Sets, b: Sets) -> None:
        """Row by row, each input of the one meets each of the other in a second derivative."""
        if not self.second or a is None or b is None:
            return
        key = (id(a), id(b)) if id(a) <= id(b) else (id(b), id(a))
        if key not in self._noted:
            self._noted.add(key)
            self.pairs.append((a, b))  # which also keeps their ids from being used again


class Rules(NamedTuple):
    """What functions do to traced arrays; `propagation.py` sets it."""

    apply_ufunc: Callable[..., Any]
    apply_numpy: Callable[..., Any]
    method: Callable[[Any, str], Any]
    namespace: Any
    numpy_names: Any


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of f, while f is traced."""

    __slots__ = (
        "_sets",
        "_value",
        "changes",
        "fixed",
        "places",
        "root",
        "seen",
        "shared",
        "tracing",
    )
    __array_priority__: float = 1000.0
    __hash__ = None  # type: ignore[assignment]
    rules: ClassVar[Rules]

    def __init__(self, value: Any, sets: Sets, trace: Trace, fixed: bool = False):
        self._value: np.ndarray[Any, Any] = np.asarray(value)
        self._sets = sets
        self.tracing: Trace = trace
        #: Whether the value is the same for all arguments.
        self.fixed: bool = fixed
        #: Whether another array may share the memory, in NumPy, so that the effect of writing is
        #: unknown.
        self.shared: bool = False
        #: How often something was written into it.
        self.changes: int = 0
        #: For a view made by an index: its base, the numbers of its elements there, and the base's
        #: state that it has read.
        self.root: Traced | None = None
        self.places: Any = None
        self.seen: int = 0

    @property
    def value(self) -> np.ndarray[Any, Any]:
        self._look()
        return self._value

    @property
    def sets(self) -> Sets:
        self._look()
        return self._sets

    def _look(self) -> None:
        """For a view: read what was written into its base."""
        root = self.root
        if root is not None and self.seen != root.changes:
            self._value = root._value.reshape(-1)[self.places]
            self._sets, self.fixed, self.seen = (
                selected(root._sets, self.places),
                root.fixed,
                root.changes,
            )

    # properties of an array

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.value.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.value.dtype
        return dtype

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def itemsize(self) -> int:
        return self.value.itemsize

    @property
    def nbytes(self) -> int:
        return self.value.nbytes

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def T(self) -> Any:
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return np.real(self)

    @property
    def imag(self) -> Any:
        return np.imag(self)

    @property
    def flat(self) -> Iterator[Any]:
        return iter(np.ravel(self))

    @property
    def numbers(self) -> np.ndarray[Any, Any]:
        """The numbers of the elements: `[[0, 1, 2], [3, 4, 5]]`."""
        return np.arange(self.value.size).reshape(self.value.shape)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.value)))

    def __repr__(self) -> str:
        return f"Traced(shape={self.shape}, dtype={self.dtype})"

    # NumPy's protocols and the Array API's

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.rules.namespace

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        result = self.rules.apply_ufunc(ufunc, method, args, kwargs)
        if out is None:
            return result
        (target,) = out
        if not isinstance(target, Traced):
            raise Untraceable("out= writes into a plain array")
        target.write(..., result)
        return target

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        return self.rules.apply_numpy(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise Untraceable("f makes a plain NumPy array of what is traced")

    def __getitem__(self, key: Any) -> Any:
        key = index_of(key)
        places = self.numbers[key]
        result = Traced(self.value[key], selected(self.sets, places), self.tracing, self.fixed)
        if all(
            part is None or isinstance(part, _BASIC)
            for part in (key if isinstance(key, tuple) else (key,))
        ):
            result.root = self if self.root is None else self.root
            result.places = places if self.root is None else self.places[key]
            result.seen, result.shared = result.root.changes, self.shared
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        self.write(index_of(key), value)

    def write(self, key: Any, value: Any) -> None:
        if self.root is not None:
            numbers = np.asarray(self.places[key])
            shape = numbers.shape
            if isinstance(value, Traced) and value.shape != shape:
                value = self.rules.apply_numpy(np.broadcast_to, (value, shape), {})
            elif not isinstance(value, Traced):
                value = np.broadcast_to(np.asarray(value), shape)
            places = np.unravel_index(numbers, self.root.shape)
            self.root.write(places if self.root.ndim else (), value)
            return
        if self.shared:
            raise Untraceable("f writes into an array of which there is a view")
        new = self._value.copy()
        new[key] = value.value if isinstance(value, Traced) else value
        places = self.numbers[key]
        index = self.numbers.ravel()
        if isinstance(value, Traced) and value.sets is not None:
            index[places.ravel()] = self.size + np.broadcast_to(value.numbers, places.shape).ravel()
            both = stacked([(self.sets, self.size), (value.sets, value.size)], self.tracing.inputs)
            self._sets = selected(both, index)
        elif self.sets is not None:
            index[places.ravel()] = NOTHING
            self._sets = selected(self.sets, index, some_empty=True)
        self._value, self.fixed = new, self.fixed and (not isinstance(value, Traced) or value.fixed)
        self.changes += 1

    # what becomes a Python value

    def known(self) -> np.ndarray[Any, Any]:
        """The value, if f may read it."""
        if not self.fixed and not self.tracing.values:
            raise Branched
        return self.value

    def __bool__(self) -> bool:
        return bool(self.known())

    def __index__(self) -> int:
        return self.known().__index__()

    def __int__(self) -> int:
        return int(self.known())

    def _number(self) -> np.ndarray[Any, Any]:
        if self.sets is not None:
            raise Untraceable("f makes a Python number of what is traced")
        return self.known()

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def item(self, *place: int) -> Any:
        return self._number().item(*place)

    def tolist(self) -> Any:
        return self._number().tolist()

    # methods that are more than a function of the array

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.rules.method(self, name)


_BASIC = (int, slice, np.integer, type(Ellipsis))


def index_of(key: Any) -> Any:
    """An index with the values of traced arrays in it."""
    if isinstance(key, tuple):
        return tuple([index_of(part) for part in key])
    if isinstance(key, list):
        return [index_of(part) for part in key]
    return key.known() if isinstance(key, Traced) else key


def raw(value: Any) -> Any:
    """The values of traced arrays in arguments."""
    if isinstance(value, Traced):
        return value.value
    if type(value) in (list, tuple):
        return type(value)([raw(part) for part in value])
    return value


def placeholder(library: Library, array: Any) -> np.ndarray[Any, Any]:
    """Random numbers for an array that an engine has not computed yet.

    Only its shape and dtype may be used.
    """
    own = {"real": "float64", "complex": "complex128", "integer": "int64", "bool": "bool"}.get(
        dtype_kind(library.dtype(array))
    )
    if own is None:
        raise Untraceable(f"f takes an array of dtype {library.dtype(array)} that is traced")
    return np.random.default_rng(0).uniform(1.0, 2.0, library.shape(array)).astype(own)


class TracedLibrary(Library):
    types: ClassVar[tuple[type, ...]] = (Traced,)

    def __init__(self) -> None:
        vars(self).update(name="traced", plain_numpy=False)  # it makes no arrays

    def dtype(self, x: Any) -> str:
        return dtype_name(x.dtype)

    def traced(self, x: Any) -> bool:
        return True

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        raise Untraceable("f makes a plain NumPy array of what is traced")

    def value_under_trace(self, x: Any) -> np.ndarray[Any, Any]:
        return x.known()  # type: ignore[no-any-return]

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if not isinstance(like, Traced) or not isinstance(x, (np.ndarray, np.generic)):
            raise Untraceable("f differentiates inside what is traced")
        return Traced(np.array(x, dtype), None, like.tracing, True)  # numbers that f has made

    def custom(self, rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        as_written = None if rule.innermost else rule.written(leaves, carried)
        if as_written is None:
            raise Untraceable(f"the rule {rule.name}, whose derivative is not that of its code")
        return as_written

    def stopped(self, x: Any) -> Any:
        return Traced(x.value, None, x.tracing, x.fixed)

    def namespace(self, x: Any) -> ModuleType:
        return cast(ModuleType, Traced.rules.namespace)

    def numpy_sources(self) -> tuple[Any, ...]:
        return (Traced.rules.numpy_names,)


REGISTRY.libraries.append(TracedLibrary())
