"""`x[index] = value` and its kin, on arrays of engines: the elements that change are found by
NumPy, a new array is made.

NumPy's casting, broadcasting and errors; where an index names an element twice, the last value
stays.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from .array_like import array_of
from .names import spelled
from .refusals import INTO_ARGUMENT, INTO_CAPTURED, INTO_UNKNOWN_ELEMENTS, into_plain, of_write
from .storage import (
    ARGUMENT,
    CAPTURED,
    Numbers,
    Storage,
    Unknown,
    is_number,
    known,
    locate,
    replace_root,
)


def write(x: Storage, index: Any, value: Any) -> None:
    """x[index] = value, of which x at least is an engine's array."""
    engine = x.engine
    root, numbers = writable(x)
    try:
        spot = known(index, engine)
    except Unknown:
        return _write_unknown(x, root, numbers, index, value)
    target = np.asarray(numbers[spot])
    if _may_repeat(spot):
        target, value = _last_of_each(target, value)
    dtype = x.dtype  # type: ignore[attr-defined]
    native = as_native(value, dtype, root)
    native = _fitting(native, target.shape, engine)
    if target.shape != () and not target.size:
        return
    put(root, target, native)


def writable(x: Storage) -> tuple[Storage, Numbers]:
    """The root of x and the numbers of its elements in x, where x may be written to.

    Raises NumpyCodeError or ValueError.
    """
    try:
        root, numbers, _ = locate(x)
    except Unknown:
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS)) from None
    if is_number(root):
        # as NumPy has it
        raise TypeError("'numpy.float64' object does not support item assignment")
    if root.origin is ARGUMENT:
        raise NumpyCodeError(of_write(INTO_ARGUMENT))
    if root.origin is CAPTURED:
        raise NumpyCodeError(of_write(INTO_CAPTURED))
    if not numbers.flags.writeable:
        raise ValueError("assignment destination is read-only")
    return root, numbers


def as_native(value: Any, dtype: np.dtype[Any], root: Storage) -> Any:
    """A value to write, as an array of the root's engine, with a NumPy dtype."""
    engine = root.engine
    if isinstance(value, Storage):
        native = value.operand()
        if not isinstance(native, (np.ndarray, np.generic)) or isinstance(native, engine.types):
            actual = np.dtype(engine.library.dtype(native))
            if actual == dtype:
                return native
            if actual.kind == "c" and dtype.kind != "c":
                warnings.warn(
                    "Casting complex values to real discards the imaginary part",
                    np.exceptions.ComplexWarning,
                    3,
                )
                native = engine.functions[np.real](native)
            return engine.functions[np.astype](native, dtype.name)
        value = native
    elif isinstance(value, (list, tuple)) and holds_storage(value):
        return as_native(stacked(value), dtype, root)
    elif (array := array_of(value)) is not value:
        return as_native(array, dtype, root)
    plain = np.empty(np.shape(value), dtype)
    plain[...] = value
    return engine.lift(plain, root.native)


def holds_storage(values: Any) -> bool:
    """Whether a list, or a list in it, has an array of ours."""
    return any(
        holds_storage(v) if isinstance(v, (list, tuple)) else isinstance(v, Storage) for v in values
    )


def stacked(values: Any) -> Any:
    """Nested lists as one array, wrapped if one of its parts is; anything else unchanged."""
    if not isinstance(values, (list, tuple)):
        return values
    return np.stack([stacked(v) for v in values]) if holds_storage(values) else np.asarray(values)


def _fitting(native: Any, shape: tuple[int, ...], engine: Any) -> Any:
    """A value in the shape of the written part; one number stays one."""
    actual = tuple(native.shape)
    if actual == shape:
        return native
    given = actual
    while len(actual) > len(shape) and actual[0] == 1:
        actual = actual[1:]
    if actual != given:
        native = engine.functions[np.reshape](native, actual)
    if not actual:
        return native
    if len(actual) > len(shape) or any(
        a not in (1, b) for a, b in zip(reversed(actual), reversed(shape))
    ):
        raise ValueError(f"could not broadcast input array from shape {given} into shape {shape}")
    return native if actual == shape else engine.functions[np.broadcast_to](native, shape)


def _may_repeat(spot: Any) -> bool:
    """Whether an index may name an element twice: one with arrays of integers."""
    parts = spot if type(spot) is tuple else (spot,)
    return any(
        isinstance(part, list) or (isinstance(part, np.ndarray) and part.dtype != bool)
        for part in parts
    )


def _last_of_each(target: Numbers, value: Any) -> tuple[Numbers, Any]:
    """`target` and `value` with the last occurrence alone of each element."""
    flat = target.real.ravel()
    _, last = np.unique(flat[::-1], return_index=True)
    if last.size == flat.size:
        return target, value
    keep = np.sort(flat.size - 1 - last)
    if np.ndim(value) or isinstance(value, (list, tuple)):
        value = stacked(value)
        while np.ndim(value) > target.ndim and np.shape(value)[0] == 1:
            value = value[0]
        value = np.reshape(np.broadcast_to(value, target.shape), (-1,))[keep]
    return target.ravel()[keep], value


def put(root: Storage, target: Numbers, native: Any) -> None:
    """Writes a native value, 0-d or of the target's shape, to the elements with the numbers in
    `target`.
    """
    engine, array = root.engine, root.native
    places = np.ascontiguousarray(target).reshape(-1)
    if places.dtype.kind != "i":
        places, native = _of_halves(root, places, native)
    shape = tuple(native.shape)
    if len(places) == 1 and shape:
        native = engine.functions[np.reshape](native, ())
    elif len(shape) > 1:
        native = engine.functions[np.reshape](native, (-1,))
    replace_root(root, engine.written(array, places, native))


def _of_halves(root: Storage, places: Numbers, native: Any) -> tuple[Numbers, Any]:
    """Places of a complex root, and the complex numbers to be there, for a write to them or to
    their parts alone.
    """
    if places.dtype.kind == "c":
        return (places.real / 2).astype(np.intp), native
    functions = root.engine.functions
    elements = (places / 2).astype(np.intp)
    old = functions[np.take](functions[np.reshape](root.native, (-1,)), elements)
    if len(native.shape) > 1:
        native = functions[np.reshape](native, (-1,))
    if places[0] % 2:
        return elements, functions[np.add](
            functions[np.real](old), functions[np.multiply](native, 1j)
        )
    return elements, functions[np.add](native, functions[np.multiply](functions[np.imag](old), 1j))


def _write_unknown(x: Any, root: Storage, numbers: Numbers, index: Any, value: Any) -> None:
    """x[index] = value for an index that only the engine knows: integers, or a mask of x's shape
    for one value.
    """
    engine = x.engine
    native = index.native if isinstance(index, Storage) else None
    if native is not None and np.dtype(engine.library.dtype(native)) == bool:
        if np.ndim(value) or tuple(native.shape) != x.shape:
            raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS))
        x[...] = np.where(index, value.astype(x.dtype) if hasattr(value, "astype") else value, x)
        return
    target = _unknown_places(root, numbers, index, engine)
    fitting = _fitting(as_native(value, x.dtype, root), tuple(target.shape), engine)
    if fitting.ndim:
        fitting = engine.functions[np.reshape](fitting, (-1,))
    replace_root(root, engine.written_anywhere(root.native, target, fitting))


def _unknown_places(root: Storage, numbers: Numbers, index: Any, engine: Any) -> Any:
    """The numbers of the elements of an index that only the engine knows, as its array."""
    parts = index if type(index) is tuple else (index,)
    natives = tuple(
        [
            part.native if isinstance(part, Storage) else _list_of_native(part, engine, root)
            for part in parts
        ]
    )
    masks = [
        part
        for part in natives
        if hasattr(part, "shape") and np.dtype(engine.library.dtype(part)) == bool
    ]
    if masks or numbers.dtype.kind != "i":
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS))
    everywhere = engine.library.asarray(
        np.ascontiguousarray(numbers).reshape(numbers.shape), like=root.native
    )
    return engine.getitem(everywhere, natives if type(index) is tuple else natives[0])


def _list_of_native(part: Any, engine: Any, root: Storage) -> Any:
    if not holds_storage([part]):
        return part
    if type(part) is slice:
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS))
    return stacked(part).native


def of_numbers(value: Any, name: str) -> Any:
    """A value for a function of this name that writes to a plain array.

    Raises NumpyCodeError where it is differentiated.
    """
    if isinstance(value, (list, tuple)):
        parts = [of_numbers(part, name) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if not isinstance(value, Storage):
        return value
    engine = value.engine
    if engine is not None and value.dtype.kind not in "iub" and engine.library.traced(value.native):  # type: ignore[attr-defined]
        raise NumpyCodeError(into_plain(name))
    try:
        return known(value, engine)
    except Unknown:
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS)) from None


# out=, at
# ------------------------------------------------------------------------------------------------


def into(out: Any, result: Any, where: Any, function: Any) -> Any:
    """out[...] = result where `where` is true, with the casting of a ufunc's out=.

    Gives out, an array of ours.
    """
    ours = isinstance(out, Storage)
    if not ours:
        raise NumpyCodeError(into_plain(spelled(function)))
    dtype = getattr(result, "dtype", None)
    if dtype is not None and not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast ufunc '{function.__name__}' output from {np.dtype(dtype)!r} to"
            f" {out.dtype!r} with casting rule 'same_kind'"
        )
    shape = np.shape(result)
    if np.broadcast_shapes(shape, out.shape) != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast"
            f" shape {np.broadcast_shapes(shape, out.shape)}"
        )
    out[...] = result if where is True else np.where(where, result, out)
    return out


def accumulate_at(ufunc: np.ufunc, x: Any, index: Any, values: Any = None) -> None:
    """ufunc.at(x, index, values): an element that the index names twice is changed twice."""
    plain = not isinstance(x, Storage)
    if plain:
        at: Any = ufunc.at  # typed for NumPy arrays alone
        name = f"{spelled(ufunc)}.at"
        at(x, *[of_numbers(part, name) for part in (index, values) if part is not None])
        return
    root, numbers = writable(x)
    try:
        spot = known(index, x.engine)
    except Unknown:
        return _add_unknown(ufunc, x, root, numbers, index, values)
    places = np.asarray(np.arange(x.size).reshape(x.shape)[spot])
    if values is not None:
        values = stacked(values)
        values = np.reshape(np.broadcast_to(values, places.shape), (-1,))
    flat = places.ravel()
    real = values is None or np.dtype(values.dtype).kind != "c"
    if ufunc in (np.add, np.subtract) and real and x.dtype.kind != "c" and flat.size:
        total = np.reshape(np.bincount(flat, weights=values, minlength=x.size), x.shape)
        into(
            x, ufunc(x, total if total.dtype == x.dtype else np.astype(total, x.dtype)), True, ufunc
        )
        return
    for rows in _rounds(flat):
        index = np.unravel_index(flat[rows], x.shape)
        old = x[index]
        x[index] = ufunc(old) if values is None else ufunc(old, values[rows])


def _add_unknown(
    ufunc: np.ufunc, x: Any, root: Storage, numbers: Numbers, index: Any, values: Any
) -> None:
    engine = x.engine
    if ufunc not in (np.add, np.subtract):
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS))
    target = _unknown_places(root, numbers, index, engine)
    values = np.broadcast_to(stacked(values), tuple(target.shape))
    native = as_native(np.reshape(values if ufunc is np.add else -values, (-1,)), x.dtype, root)
    replace_root(root, engine.added_anywhere(root.native, target, native))


def _rounds(places: Numbers) -> list[Numbers]:
    """Which entries come first in their place, which second, and so on."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = (
        np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        if len(places)
        else np.zeros(0, int)
    )
    turn = np.arange(len(places)) - np.repeat(starts, np.diff(np.append(starts, len(places))))
    return [np.sort(order[turn == n]) for n in range(int(turn.max(initial=-1)) + 1)]
