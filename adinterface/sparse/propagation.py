"""The effect of each function of the Array API and of NumPy on the index sets of traced arrays.

Functions belong to a few families: element by element, moving elements, reductions, along lanes,
products. A function of no family is composed of others if `numpy_code` has a composition; else
every element of its result depends on all its arguments. So a missing rule costs too many entries,
never one too few.
"""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import NUMPY, Library
from ..core.tree import handler_of
from ..numpy_code.functions import (
    ELEMENTWISE,
    FLAT,
    LANES,
    LINEAR,
    LINEAR_REDUCTIONS,
    MATRICES,
    MOVES,
    REDUCTIONS,
    SCANS,
    SHAPES_BY_VALUE,
    WHOLE,
    named,
)
from ..numpy_code.names import SEVERAL
from ..numpy_code.names import names as names_of
from .index_sets import Sets, all_of, everywhere, related, selected, stacked, united
from .index_sets import union as union_of
from .traced import NOTHING, Branched, Rules, Trace, Traced, Untraceable, index_of, placeholder, raw
from .traced_products import product_of

Function = Callable[..., Any]
#: Methods of arrays, each a function of NumPy.
_METHODS = named("method") | {"copy", "flatten", "reshape", "transpose"}


# What goes in
# ------------------------------------------------------------------------------------------------


def traced_in(*values: Any) -> Iterator[Traced]:
    for value in values:
        if isinstance(value, Traced):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from traced_in(*value)
        elif isinstance(value, dict):
            yield from traced_in(*value.values())


def computed(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return function(
            *[raw(arg) for arg in args], **{name: raw(value) for name, value in kwargs.items()}
        )


def settled(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Options with the values of traced indices and counts."""
    return {name: index_of(value) for name, value in kwargs.items()}


def adopted(value: Any, trace: Trace) -> Any:
    """A captured array of an outer transformation, as an array that may differ between arguments.

    Other values unchanged.
    """
    if isinstance(
        value, (Traced, np.ndarray, np.generic, int, float, complex, str, type(None), slice)
    ):
        return value
    if type(value) in (list, tuple):
        return type(value)([adopted(part, trace) for part in value])
    library = handler_of(value, scan=False)
    if not isinstance(library, Library) or not library.traced(value):
        return value
    numbers = library.value_under_trace(value)
    if numbers is None:
        trace.values = False
        numbers = placeholder(library, value)
    return Traced(numbers, None, trace)


def _made(value: Any, sets: Sets, trace: Trace, fixed: bool) -> Any:
    value = np.asarray(value)
    if value.dtype.kind not in "fciub":
        raise Untraceable(f"f makes an array of dtype {value.dtype} of what is traced")
    return Traced(value, sets if value.dtype.kind in "fc" else None, trace, fixed)


# By name
# ------------------------------------------------------------------------------------------------


def apply(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of the Array API or NumPy, by its canonical name, on arguments of which some are
    traced.
    """
    rule = RULES.get(name)
    if rule is None and name.startswith("linalg."):
        rule = RULES.get(name[7:])
    if rule is not None:
        return rule(name.removeprefix("linalg."), function, args, kwargs)
    from ..numpy_code.compositions import COMPOSITIONS

    composed = COMPOSITIONS.get(name)
    trace = next(traced_in(args, kwargs)).tracing
    if composed is not None and name not in WHOLE and name not in trace.composing:
        trace.composing.add(name)  # a composition may use the function that it composes
        try:
            return composed(NAMESPACE, *args, **kwargs)
        except (TypeError, AttributeError, ValueError, NumpyCodeError) as error:
            if isinstance(error, Untraceable):
                raise
        finally:
            trace.composing.discard(name)
    return whole(name, function, args, kwargs)


def apply_numpy(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs.get("out") is not None:
        raise Untraceable("out= writes into an array that is there")
    several = SEVERAL.get(function, ())
    args, kwargs = _adopted(args, kwargs)
    args = [x if n in several else as_array(x) for n, x in enumerate(args)]
    kwargs = {key: x if key in several else as_array(x) for key, x in kwargs.items()}
    known = names_of(function) or (getattr(function, "__name__", ""),)
    return apply(next((name for name in known if name in RULES), known[0]), function, args, kwargs)


def _adopted(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    trace = next(traced_in(args, kwargs)).tracing
    return [adopted(x, trace) for x in args], {
        name: adopted(x, trace) for name, x in kwargs.items()
    }


def apply_ufunc(ufunc: np.ufunc, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    args, kwargs = _adopted(args, kwargs)
    args = [as_array(x) for x in args]
    if method == "__call__":
        if kwargs.get("where", True) is not True:
            raise Untraceable("where= leaves elements as they are")
        return (
            apply(ufunc.__name__, ufunc, args, kwargs)
            if ufunc.signature
            else elementwise(ufunc.__name__, ufunc, args, kwargs)
        )
    function = getattr(ufunc, method)
    name = {"add": "sum", "maximum": "max", "minimum": "min", "fmax": "max", "fmin": "min"}.get(
        ufunc.__name__, "prod"
    )
    if method == "reduce":
        axis = kwargs.pop("axis", args[1] if len(args) > 1 else 0)
        return reduction(name, function, args[:1], {**kwargs, "axis": axis})
    if method == "accumulate":
        axis = kwargs.pop("axis", args[1] if len(args) > 1 else 0)
        return scan(
            "cumsum" if name in LINEAR_REDUCTIONS else "cumprod",
            function,
            args[:1],
            {**kwargs, "axis": axis},
        )
    if method == "outer":
        a, b = [x if isinstance(x, Traced) else np.asarray(x) for x in args]
        return ufunc(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)
    if method == "at":
        raise Untraceable("at() writes into an array that is there")
    return whole(ufunc.__name__, function, args, kwargs)


class Namespace:
    """The Array API's functions, or NumPy's, for traced and plain arrays."""

    def __init__(self, source: Any, prefix: str = ""):
        self._source, self._prefix = source, prefix

    def __getattr__(self, name: str) -> Any:
        result = operator.attrgetter(name)(self._source)
        full = self._prefix + name
        if not self._prefix and name in ("linalg", "fft", "special"):
            result = Namespace(result, full + ".")
        elif callable(result) and not isinstance(result, type):
            result = self._applying(full, result)
        setattr(self, name, result)
        return result

    def _applying(self, name: str, function: Function) -> Function:
        ufunc = isinstance(function, np.ufunc) and not function.signature

        @functools.wraps(function)
        def applying(*args: Any, **kwargs: Any) -> Any:
            if next(traced_in(args, kwargs), None) is None:
                return function(*args, **kwargs)
            own, options = _adopted(args, kwargs)
            if ufunc:
                return elementwise(name.rpartition(".")[2], function, own, options)
            return apply(name, function, own, options)

        return applying


class _NumpyNames(Namespace):
    """The names that `numpy_function` uses: with dots, and SciPy's ufuncs if they were imported."""

    def __getattr__(self, name: str) -> Any:
        if name == "special":
            result: Any = Namespace(importlib.import_module("scipy.special"), "special.")
        elif "." in name:
            result = self._applying(name, operator.attrgetter(name)(np))
        elif name == "getitem":
            return lambda x, index: x[index]
        else:
            return super().__getattr__(name)
        setattr(self, name, result)
        return result


# The families
# ------------------------------------------------------------------------------------------------


def spread(x: Traced, shape: tuple[int, ...]) -> Sets:
    """The sets of an array that is broadcast."""
    if x.sets is None or x.shape == shape:
        return x.sets
    if x.size == 1:
        return everywhere(x.sets, int(np.prod(shape)))
    return selected(x.sets, np.broadcast_to(x.numbers, shape))


def elementwise(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    operands = [*args, *kwargs.values()]
    traced = list(traced_in(operands))
    trace, fixed = traced[0].tracing, all(x.fixed for x in traced)
    values = computed(function, args, kwargs)
    several = isinstance(values, tuple)
    shape = np.shape(values[0] if several else values)
    sets: Sets = None
    if name not in FLAT:
        parts = [spread(x, shape) for x in traced]
        if name == "multiply":
            parts = _without_zeros(args, parts, shape)
        for part in parts:
            sets = union_of(sets, part)
        if trace.second and sets is not None:
            _meet(name, trace, args, shape, sets)
    if several:
        return tuple([_made(value, sets, trace, fixed) for value in values])
    return _made(values, sets, trace, fixed)


def _without_zeros(args: Sequence[Any], parts: list[Sets], shape: tuple[int, ...]) -> list[Sets]:
    """A product with a zero that stays one depends on nothing."""
    kept: list[Sets] = []
    remaining = iter(parts)
    for n, arg in enumerate(args):
        if not isinstance(arg, Traced):
            continue
        part, other = next(remaining), args[1 - n]
        zero = None
        if part is not None and not isinstance(other, Traced):
            zero = np.asarray(other) == 0
        elif part is not None and other.fixed and other.sets is None:
            zero = other.value == 0
        if zero is not None and zero.any():
            index = np.where(zero, NOTHING, np.arange(int(np.prod(shape))).reshape(shape))
            part = selected(part, index, some_empty=True)
        kept.append(part)
    return kept


def _meet(name: str, trace: Trace, args: Sequence[Any], shape: tuple[int, ...], sets: Sets) -> None:
    """Note which inputs meet in the second derivative of an elementwise function."""
    if name in LINEAR:
        return
    if name in ("abs", "absolute", "fabs") and all(x.dtype.kind != "c" for x in traced_in(args)):
        return
    if name in ("multiply", "divide", "true_divide", "power", "pow") and len(args) == 2:
        a, b = [spread(x, shape) if isinstance(x, Traced) else None for x in args]
        if name == "multiply":
            trace.meet(a, b)
            return
        if name in ("divide", "true_divide"):
            trace.meet(b, b)
            trace.meet(a, b)
            return
        exponent = args[1]
        if b is None and isinstance(exponent, (int, float)) and exponent in (0, 1):
            return
    trace.meet(sets, sets)


def convert(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The same numbers as another array: `asarray`, `astype`, `copy`."""
    x = args[0]
    if not isinstance(x, Traced):
        if isinstance(x, (list, tuple)) and name in ("asarray", "array"):
            return _nested(x, kwargs.get("dtype"))
        return whole(name, function, args, kwargs)
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    copied = _made(x.value if dtype is None else x.value.astype(dtype), x.sets, x.tracing, x.fixed)
    if (
        name in ("asarray", "ascontiguousarray", "asanyarray")
        and kwargs.get("copy") is not True
        and copied.dtype == x.dtype
    ):
        return x
    return copied


def _nested(parts: Any, dtype: Any) -> Any:
    """Lists of lists of traced arrays as one array."""
    rows = [_nested(part, dtype) if isinstance(part, (list, tuple)) else part for part in parts]
    both = join("stack", np.stack, (rows,), {})
    return both if dtype is None else convert("astype", np.astype, (both, dtype), {})


def as_array(part: Any) -> Any:
    """A list of traced numbers as a traced array, a range as a tuple, anything else unchanged."""
    if isinstance(part, range):
        return tuple(part)
    return (
        _nested(part, None)
        if isinstance(part, (list, tuple)) and any(True for _ in traced_in(part))
        else part
    )


def like(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`zeros_like` and its kin use the shape of an array alone."""
    x = next(traced_in(args, kwargs))
    fill = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
    if name == "full_like" and isinstance(fill, Traced):
        value = np.asarray(computed(function, args, kwargs))
        return _made(value, spread(fill, value.shape), fill.tracing, fill.fixed)
    return Traced(computed(function, args, kwargs), None, x.tracing, True)


def about(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function of shapes and dtypes."""
    return computed(function, args, kwargs)


def move(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    x, *rest = args
    rest, kwargs = [index_of(part) for part in rest], settled(kwargs)
    if isinstance(x, (list, tuple)):
        return whole(name, function, args, kwargs)
    if not isinstance(x, Traced):
        return function(x, *rest, **kwargs)
    value = function(x.value, *rest, **kwargs)
    filled = name in ("tril", "triu", "diag", "diagflat")
    moved = function(x.numbers + filled, *rest, **kwargs)
    if isinstance(value, (tuple, list)):
        parts = [Traced(v, selected(x.sets, n), x.tracing, x.fixed) for v, n in zip(value, moved)]
        for part in parts:
            part.shared = x.shared = True
        return type(value)(parts) if type(value) in (tuple, list) else tuple(parts)
    result = Traced(value, selected(x.sets, moved - filled, some_empty=filled), x.tracing, x.fixed)
    result.shared = x.shared = True
    return result


def join(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    parts = [
        part if isinstance(part, Traced) else np.asarray(part) for part in map(as_array, args[0])
    ]
    kwargs, rest = settled(kwargs), args[1:]
    trace = next(traced_in(parts)).tracing
    value = function([raw(part) for part in parts], *rest, **kwargs)
    numbers: list[Any] = []
    offset = 0
    for part in parts:
        numbers.append(np.arange(offset, offset + part.size).reshape(part.shape))
        offset += part.size
    both = stacked(
        [(part.sets if isinstance(part, Traced) else None, part.size) for part in parts],
        trace.inputs,
    )
    kwargs.pop("dtype", None)
    moved = function(numbers, *rest, **kwargs)
    return _made(value, selected(both, moved), trace, all(x.fixed for x in traced_in(parts)))


def _groups(
    shape: tuple[int, ...], axis: Any, keepdims: bool, value: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """For each element the number of its result: `[[0, 0, 0], [1, 1, 1]]` for the sum of shape `(2,
    3)` over axis 1.
    """
    if axis is None:
        return np.zeros(shape, dtype=np.intp)
    kept = np.arange(value.size).reshape(value.shape)
    return np.broadcast_to(kept if keepdims else np.expand_dims(kept, axis), shape)


def reduction(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    x, *rest = args
    if not isinstance(x, Traced):
        if isinstance(x, (list, tuple)):
            return reduction(name, function, (_nested(x, None), *rest), kwargs)
        return whole(name, function, args, kwargs)
    axis = index_of(
        kwargs.get("axis", rest[0] if rest and name not in ("norm", "vector_norm") else None)
    )
    if name == "norm" and rest and rest[0] is not None and axis is None and x.ndim == 2:
        return whole(name, function, args, kwargs)
    value = np.asarray(computed(function, args, kwargs))
    if name in FLAT:
        return Traced(value, None, x.tracing, x.fixed)
    groups = _groups(x.shape, axis, bool(kwargs.get("keepdims", False)), value)
    sets = united(x.sets, groups, value.size)
    for other in traced_in(rest, kwargs):  # mean=, and initial=, which an empty x has, too
        one = other.sets is not None and other.size == 1
        more = (
            everywhere(other.sets, value.size)
            if one
            else united(spread(other, x.shape), groups, value.size)
        )
        sets = union_of(sets, more)
    if name not in LINEAR_REDUCTIONS:
        x.tracing.meet(sets, sets)
    fixed = all(y.fixed for y in traced_in(args, kwargs))
    return _made(value, sets, x.tracing, fixed)


def scan(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    x, *rest = args
    if not isinstance(x, Traced):
        return whole(name, function, args, kwargs)
    kwargs = settled(kwargs)
    value = np.asarray(computed(function, args, kwargs))
    axis = kwargs.get("axis", rest[0] if rest else None)
    numbers = x.numbers
    if axis is None:
        numbers, axis = numbers.ravel(), 0
    lanes = np.moveaxis(numbers, axis, -1).reshape(-1, numbers.shape[axis])
    first = int(bool(kwargs.get("include_initial", False)))
    places = np.moveaxis(np.arange(value.size).reshape(value.shape), axis, -1).reshape(
        lanes.shape[0], -1
    )[:, first:]
    below = np.tril_indices(lanes.shape[1])
    sets = related(x.sets, places[:, below[0]], lanes[:, below[1]], value.size)
    if name not in LINEAR:
        x.tracing.meet(sets, sets)
    return _made(value, sets, x.tracing, x.fixed)


def lane(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Along one axis, each element depends on all: sorting, transforms."""
    x, *rest = args
    if not isinstance(x, Traced):
        return whole(name, function, args, kwargs)
    kwargs = settled(kwargs)
    place = 1 if name.startswith("fft.") or name == "partition" else 0
    default: Any = -1
    if name.endswith(("2", "n")):
        default = (-2, -1) if name.endswith("2") else None
    axis = kwargs.get("axis", kwargs.get("axes", rest[place] if len(rest) > place else default))
    value = np.asarray(computed(function, args, kwargs))
    if axis is None:
        return whole(name, function, args, kwargs)
    axis = tuple(axis) if isinstance(axis, list) else axis
    reduced = np.max(np.empty(x.shape, bool), axis=axis, keepdims=True, initial=False)
    sets = united(x.sets, _groups(x.shape, axis, True, reduced), reduced.size)
    shape = list(value.shape)
    numbers = np.broadcast_to(np.arange(reduced.size).reshape(reduced.shape), shape)
    return _made(value, selected(sets, numbers), x.tracing, x.fixed)


def matrices(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """For stacks of matrices: each result depends on its whole matrix."""
    if any(isinstance(x, (Traced, np.ndarray)) for x in kwargs.values()):
        return whole(name, function, args, kwargs)
    arrays = [x for x in args if isinstance(x, Traced) or np.ndim(x) >= 2]
    values = computed(function, args, kwargs)
    results = list(values) if isinstance(values, tuple) else [values]
    batch = np.broadcast_shapes(*[x.shape[:-2] for x in arrays])
    vector = name == "solve" and np.ndim(raw(args[1])) == 1
    if (
        not all(x.ndim >= 2 and x.shape[:-2] == batch for x in arrays if isinstance(x, Traced))
        and not vector
    ):
        return whole(name, function, args, kwargs)
    if not batch or vector or name == "lstsq":
        return whole(name, function, args, kwargs)
    traced = list(traced_in(args))
    trace, fixed = traced[0].tracing, all(x.fixed for x in traced)
    count = int(np.prod(batch))
    sets: Sets = None
    for x in traced:
        groups = np.broadcast_to(np.arange(count).reshape(*batch, 1, 1), x.shape)
        sets = union_of(sets, united(x.sets, groups, count))
    trace.meet(sets, sets)
    wrapped = []
    for value in results:
        value = np.asarray(value)
        numbers = np.arange(count).reshape(*batch, *[1] * (value.ndim - len(batch)))
        wrapped.append(
            _made(value, selected(sets, np.broadcast_to(numbers, value.shape)), trace, fixed)
        )
    return (
        type(values)(*wrapped)
        if hasattr(values, "_fields")
        else tuple(wrapped)
        if isinstance(values, tuple)
        else wrapped[0]
    )


def whole(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Every element of the result depends on everything that went in."""
    traced = list(traced_in(args, kwargs))
    trace, fixed = traced[0].tracing, all(x.fixed for x in traced)
    if name.rpartition(".")[2] in SHAPES_BY_VALUE and not fixed and not trace.values:
        raise Branched
    result = computed(function, args, kwargs)
    sets: Sets = None
    if name.rpartition(".")[2] not in FLAT:
        for x in traced:
            if x.sets is not None:
                sets = union_of(sets, all_of(x.sets))
        trace.meet(sets, sets)

    def wrapped(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic, float, complex, bool, int)):
            value = np.asarray(value)
            each = (
                None
                if sets is None or value.dtype.kind not in "fc"
                else everywhere(sets, value.size)
            )
            return Traced(value, each, trace, fixed)
        if isinstance(value, tuple):
            parts = [wrapped(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return [wrapped(part) for part in value] if isinstance(value, list) else value

    return wrapped(result)


def where(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Depends on both arms, unless the condition is the same for all arguments."""
    if len(args) == 1:
        return whole("nonzero", function, args, kwargs)
    condition, a, b = args
    traced = list(traced_in(args))
    trace, fixed = traced[0].tracing, all(x.fixed for x in traced)
    value = computed(function, args, kwargs)
    settled_condition = not isinstance(condition, Traced) or condition.fixed
    chosen = np.broadcast_to(np.asarray(raw(condition), bool), value.shape)
    sets: Sets = None
    for x, taken in ((a, chosen), (b, ~chosen)):
        if isinstance(x, Traced) and x.sets is not None:
            part = spread(x, value.shape)
            if settled_condition:
                numbers = np.arange(value.size).reshape(value.shape)
                part = selected(part, np.where(taken, numbers, NOTHING), some_empty=True)
            sets = union_of(sets, part)
    return _made(value, sets, trace, fixed)


def product(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    result = product_of(name, function, args, kwargs)
    return whole(name, function, args, kwargs) if result is None else result


def indices_and_counts(
    name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """These have no derivative, but depend on the values."""
    traced = list(traced_in(args, kwargs))
    result = computed(function, args, kwargs)
    fixed = all(x.fixed for x in traced)
    return Traced(result, None, traced[0].tracing, fixed)


def untraceable(name: str, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    raise Untraceable(f"{name} writes into an array that is there")


# The table
# ------------------------------------------------------------------------------------------------

Rule = Callable[[str, Function, Sequence[Any], dict[str, Any]], Any]
RULES: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, elementwise),
    **dict.fromkeys(MOVES, move),
    **dict.fromkeys(REDUCTIONS, reduction),
    **dict.fromkeys(SCANS, scan),
    **dict.fromkeys(LANES, lane),
    **dict.fromkeys(MATRICES, matrices),
    **dict.fromkeys(
        ("concat", "concatenate", "stack", "hstack", "vstack", "column_stack", "dstack"), join
    ),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), like),
    **dict.fromkeys(
        (
            "shape",
            "ndim",
            "size",
            "result_type",
            "can_cast",
            "iscomplexobj",
            "isrealobj",
            "broadcast_shapes",
        ),
        about,
    ),
    **dict.fromkeys(
        ("asarray", "array", "astype", "copy", "ascontiguousarray", "asanyarray"), convert
    ),
    **dict.fromkeys(("matmul", "tensordot", "vecdot"), product),
    **dict.fromkeys(
        ("argmax", "argmin", "argsort", "count_nonzero", "searchsorted", "isin"), indices_and_counts
    ),
    **dict.fromkeys(
        ("put", "place", "copyto", "putmask", "fill_diagonal", "put_along_axis"), untraceable
    ),
    "where": where,
}

NAMESPACE = Namespace(NUMPY.namespace(None))
NUMPY_NAMES = _NumpyNames(np)


def _method(x: Traced, name: str) -> Any:
    if name == "clip":
        return lambda a_min=None, a_max=None, **kwargs: np.clip(x, a_min, a_max, **kwargs)
    if name == "compress":
        return lambda condition, axis=None: np.compress(condition, x, axis)
    if name in _METHODS:
        function = np.ravel if name == "flatten" else getattr(np, name)
        if name in ("reshape", "transpose"):
            return lambda *args, **kwargs: function(
                x, args[0] if len(args) == 1 else args or None, **kwargs
            )
        return functools.partial(function, x)
    if name == "astype":
        return lambda dtype, *args, **kwargs: convert("astype", np.astype, (x, dtype), {})
    if name in ("conj", "conjugate"):
        return lambda: np.conjugate(x)
    raise AttributeError(f"what is traced has no attribute {name!r}")


Traced.rules = Rules(apply_ufunc, apply_numpy, _method, NAMESPACE, NUMPY_NAMES)
