"""`ComposedNamespace`: the Array API namespace of an engine that has only a NumPy-like module."""

from __future__ import annotations

import functools
import math
import operator
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np

from ..core.contract.backend import Aux, Backend, FlatFunction
from ..core.contract.errors import BackendError
from ..core.contract.library import NUMPY, Library
from .compositions import COMPOSITIONS, EighResult, QRResult, SlogdetResult, SVDResult
from .slopes import SLOPES
from .use import Array, Use

#: Names of the standard that NumPy-like modules spell in another way.
_NUMPY_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tan2", "tanh")},
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "bool": "bool_",
    "concat": "concatenate",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "gather": "take",
    "matrix_product": "matmul",
    "permute_dims": "transpose",
    "pow": "power",
    "own_einsum": "einsum",
    "full_svd": "svd",
    "reduced_qr": "qr",
}

_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

#: Dtypes of results that are computed with few bits, even for float64: some engines have no
#: complex128.
_SINGLE = (np.float32, np.complex64)

#: Reductions that have a value for an empty array.
_OF_EMPTY = ("all", "any", "mean", "prod", "std", "sum", "var")

#: Names that compositions call and the standard lacks: they are checked only as parts of
#: compositions.
_PRIMITIVES = (
    "gather",
    "matrix_product",
    "transpose",
    "own_einsum",
    "linalg.full_svd",
    "linalg.reduced_qr",
)

#: The classes of results that the engine may return as plain tuples.
_RESULTS = {
    "linalg.eigh": EighResult,
    "linalg.qr": QRResult,
    "linalg.slogdet": SlogdetResult,
    "linalg.svd": SVDResult,
}


class ComposedNamespace:
    """The Array API namespace of an engine, version 2024.12, from the functions that the engine
    has.

    A function is the first right one of: the function in `own`; the function of `module` under its
    standard or NumPy name; a composition of others. Each is checked at its first use, in its own
    thread, in all uses that `adinterface.namespaces.uses` lists. Values are compared with NumPy;
    with `backend`, derivatives are compared with central differences. A function that returns
    another value than NumPy, or loses a derivative, is passed over. One that raises in some uses is
    used for the others.

    library: the engine's library of arrays: `dtype`, `to_numpy` and `asarray` of it are used.
    module: the engine's functions, by names of the standard or of NumPy, with `linalg` and `fft` if
        it has them.
    own: functions that take precedence, by name, such as `{"asarray": ..., "linalg.solve": ...}`.
        The compositions also call `gather(x, indices, axis)`, which takes indices that are not
        negative, `matrix_product(x, y)` of two stacks of matrices of equal length, and
        `transpose(x, axes)`; by default these are `take`, `matmul` and `transpose` of the module.
    backend: gives the backend whose primitive differentiates the functions in the check; None
        leaves derivatives unchecked.
    custom: tells the engine a derivative. `custom(value, back)` is a function of one array with the
        values of `value` and the cotangent `back(x, cotangents, results)`. Then functions serve
        whose values alone are right: `slopes.py` lists them.

    Accessing a function raises AttributeError if none is right. The message lists what was tried.
    """

    __array_api_version__ = "2024.12"
    e: float = math.e
    inf: float = math.inf
    nan: float = math.nan
    pi: float = math.pi
    newaxis: None = None
    #: The seconds after which the check of a function is given up.
    limit: float = 60.0

    def __init__(
        self,
        library: Library,
        module: Any,
        own: Mapping[str, Any] | None = None,
        *,
        backend: Callable[[], Backend] | None = None,
        custom: (
            Callable[[Callable[..., Any], Callable[..., Any]], Callable[..., Any]] | None
        ) = None,
    ):
        self._library, self._module, self._own, self._backend = (
            library,
            module,
            dict(own or {}),
            backend,
        )
        self._custom = custom
        self._chosen: dict[str, Any] = {}
        #: The functions whose checks are running: the check of each needs the next.
        self._choosing: dict[str, None] = {}
        self._lock = threading.Lock()
        #: The thread that checks a function.
        self._checker: int | None = None
        #: What a check saw, by the name of the function: for messages and for the conformance
        #: command.
        self.findings: dict[str, list[str]] = {}
        self.linalg: _SubNamespace = _SubNamespace(self, "linalg")
        self.fft: _SubNamespace = _SubNamespace(self, "fft")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._function(name)

    def _function(self, name: str) -> Any:
        chosen = self._chosen.get(name)
        if chosen is not None:
            return chosen
        # a function that is being checked calls this one
        if self._checker == threading.get_ident():
            return self._choose(name)
        with self._lock:
            return self._chosen.get(name) or self._chosen_in_a_thread(name)

    def _chosen_in_a_thread(self, name: str) -> Any:
        """A new thread has no trace of the engine, and no graph that is being compiled."""
        found: Future[Any] = Future()

        def choose() -> None:
            self._checker = threading.get_ident()
            try:
                found.set_result(self._choose(name))
            except BaseException as error:
                found.set_exception(error)

        threading.Thread(target=choose, daemon=True).start()
        try:
            return found.result(self.limit)
        except TimeoutError:
            raise BackendError(
                f"The check of {name} took longer than {self.limit:g} s. Does the engine lock its"
                f" backward pass, from which {name} was asked for? Then ask for it before:"
                f" getattr(namespace, {name!r}) when the engine is imported."
            ) from None
        finally:
            self._checker = None

    def _candidates(self, name: str) -> list[tuple[str, Any]]:
        candidates: list[tuple[str, Any]] = []
        if name in self._own:
            candidates.append(("own", _named(name, self._own[name])))
        part, _, last = name.rpartition(".")
        for spelled in dict.fromkeys((last, _NUMPY_NAMES.get(last, last))):
            try:
                function = operator.attrgetter(f"{part}.{spelled}" if part else spelled)(
                    self._module
                )
            except AttributeError:
                continue
            candidates.append((f"module.{spelled}", _named(name, function)))
        if name in COMPOSITIONS:
            candidates.append(("composition", functools.partial(COMPOSITIONS[name], self)))
        if name in _OF_EMPTY:
            candidates = [
                (label, self._of_any_size(name, function)) for label, function in candidates
            ]
        if self._custom is None or name not in SLOPES:
            return candidates
        told = [
            (f"{label} with a derivative", self._with_slope(name, function))
            for label, function in candidates
        ]
        return [each for pair in zip(candidates, told) for each in pair]

    def _of_any_size(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A reduction whose value for an empty array is the one of NumPy: MLX may never return from
        its own.
        """
        numpys = getattr(np, name)

        def reduce(x: Any, /, **options: Any) -> Any:
            if 0 not in tuple(x.shape):
                return function(x, **options)
            given = options.pop("dtype", None)
            dtype = self.dtype_name(x if given is None else given)
            known = hasattr(np, dtype)  # bfloat16 is not
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a mean of nothing is nan
                numbers = numpys(np.zeros(tuple(x.shape), dtype if known else "float32"), **options)
            return self._library.asarray(np.asarray(numbers), dtype=None if known else dtype)

        return reduce

    def _with_slope(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        assert self._custom is not None
        custom = self._custom

        def call(x: Any, /, **options: Any) -> Any:
            def value(x: Any) -> Any:
                result = function(x, **options)
                return tuple(result) if isinstance(result, (tuple, list)) else result

            return custom(value, functools.partial(SLOPES[name], self, **options))(x)

        told: Callable[..., Any] = _named(name, call)
        return told

    def _choose(self, name: str) -> Any:
        candidates = self._candidates(name)
        if name in _DTYPES or name in _PRIMITIVES or not _uses(name):
            if not candidates:
                raise AttributeError(f"The namespace of {self._library.name} has no {name}.")
            self._chosen[name] = candidates[0][1]
            return candidates[0][1]
        findings: list[str] = []
        self._choosing[name] = None
        best, passed = None, 0
        for label, candidate in candidates:
            # for uses in which the function is called through another one
            self._chosen[name] = candidate
            count, wrong = self._check(name, label, findings)
            if not wrong and count > passed:
                best, passed = candidate, count
            if not wrong and count == len(_uses(name)):
                break
        del self._choosing[name]
        self.findings[name] = findings
        if best is None:
            self._chosen.pop(name, None)
            seen = (
                "; ".join([*dict.fromkeys(findings)][:3])
                or "neither its module nor the compositions have one"
            )
            raise AttributeError(
                f"The namespace of {self._library.name} has no {name} that is right: {seen}."
            )
        self._chosen[name] = best
        return best

    def _check(self, name: str, label: str, findings: list[str]) -> tuple[int, bool]:
        """The number of uses in which a function is right, and whether it is silently wrong in
        another.
        """
        count = 0
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for use in _uses(name):
                try:
                    difference = self._difference(use)
                except RecursionError:
                    needed = " and ".join(self._choosing)
                    findings.append(
                        f"{label}: {needed} are composed of each other; give the namespace one of"
                        " them"
                    )
                except Exception as error:
                    # the engine refuses this way of calling, and its user will see the error
                    findings.append(
                        f"{label}: {type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
                    )
                else:
                    if difference:
                        findings.append(f"{label}: {difference}")
                        return count, True
                    count += 1
        return count, False

    def _difference(self, use: Use) -> str:
        """The error of a use in words; "" if there is none."""
        wanted = _parts(use.f(NUMPY.namespace(None), *use.arrays))
        leaves = tuple([self._library.asarray(x, dtype="float64", copy=True) for x in use.arrays])
        got = [self._to_numpy(part) for part in _parts(use.f(self, *leaves))]
        for mine, right in zip(got, map(np.asarray, wanted), strict=True):
            if mine.shape != right.shape:
                return f"a result of shape {mine.shape}, not {right.shape}"
            if mine.dtype.kind != right.dtype.kind and {mine.dtype.kind, right.dtype.kind} != {
                "i",
                "u",
            }:
                return f"a result of dtype {mine.dtype}, not {right.dtype}"
            near = 1e-6 if mine.dtype in _SINGLE else 1e-11
            if not np.allclose(mine, right, rtol=near, atol=near, equal_nan=True):
                return f"{mine.tolist()}, not {right.tolist()}"
        if len(leaves) == 1 and any(part.dtype == np.float64 for part in self._of_float32(use)):
            return "a result of dtype float64 for float32"
        if (
            self._backend is None
            or use.kind == "discrete"
            or any(np.asarray(part).dtype.kind != "f" for part in wanted)
        ):
            return ""
        return self._slope_difference(
            use, leaves, 1e-4 if any(part.dtype in _SINGLE for part in got) else 1e-9
        )

    def _of_float32(self, use: Use) -> list[Array]:
        """The results for float32, if NumPy's are float32."""
        arrays = [x.astype("float32") for x in use.arrays]
        if any(
            np.asarray(part).dtype == np.float64
            for part in _parts(use.f(NUMPY.namespace(None), *arrays))
        ):
            return []
        leaves = [self._library.asarray(x, dtype="float32", copy=True) for x in arrays]
        return [self._to_numpy(part) for part in _parts(use.f(self, *leaves))]

    def _slope_difference(self, use: Use, leaves: tuple[Any, ...], near: float) -> str:
        """As `_difference`, of the derivative along a random direction, summed over the outputs
        with random weights.
        """
        assert self._backend is not None
        backend = self._backend()
        rng = np.random.default_rng(0)
        directions = [np.asarray(rng.uniform(0.5, 1.5, x.shape)) for x in use.arrays]
        right = 0.0
        shapes = [np.shape(part) for part in _parts(use.f(NUMPY.namespace(None), *use.arrays))]
        weights = [np.asarray(rng.uniform(0.5, 1.5, shape)) for shape in shapes]
        if use.kind == "smooth":
            right = _slope(use, directions, weights)
            if not math.isfinite(right):
                return ""

        def function(*arrays: Any) -> tuple[tuple[Any, ...], Aux]:
            return _parts(use.f(self, *arrays)), Aux()

        asarray = self._library.asarray
        if "pullback" in backend.gives:
            seeds = tuple([asarray(weight, dtype="float64") for weight in weights])
            cotangents = backend.pullback(_Flat(function), leaves).back(seeds)
            mine = sum(
                [
                    np.vdot(v, self._to_numpy(w))
                    for v, w in zip(directions, cotangents)
                    if w is not None
                ]
            )
        else:
            tangents = tuple([asarray(v, dtype="float64") for v in directions])
            outputs = backend.pushforward(_Flat(function), leaves, tangents).tangents
            mine = sum(
                [np.vdot(w, self._to_numpy(t)) for w, t in zip(weights, outputs) if t is not None]
            )
        if not np.isclose(mine, right, rtol=near, atol=near):
            return f"a derivative of {float(mine):.12g}, not {right:.12g}"
        return ""

    # functions of the namespace that need none of the engine

    def _to_numpy(self, x: Any) -> Array:
        numbers = self.numbers(x)
        return np.asarray(x) if numbers is None else numbers

    def numbers(self, x: Any) -> Array | None:
        """The numbers of an array or of a number; None where the engine has not computed them."""
        if not self._library.owns(x):
            return np.asarray(x)
        return (
            self._library.value_under_trace(x)
            if self._library.traced(x)
            else np.asarray(self._library.to_numpy(x))
        )

    def dtype_name(self, x: Any) -> str:
        """The name of a dtype, or of the dtype of an array."""
        if self._library.owns(x):
            return self._library.dtype(x)
        if isinstance(x, (np.ndarray, np.generic)):
            return str(x.dtype.name)
        for name in _DTYPES:
            known = self._own.get(name, getattr(self._module, _NUMPY_NAMES.get(name, name), None))
            if (known is not None and known is x) or (
                known is not None and not isinstance(x, type) and known == x
            ):
                return name
        return str(np.dtype(x).name)

    def asarray(self, x: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
        """An array of the engine. A list that holds arrays of the engine is stacked."""
        if "asarray" in self._own:
            return self._own["asarray"](x, dtype=dtype)
        name = None if dtype is None else self.dtype_name(dtype)
        if not self._library.owns(x):
            if isinstance(x, (list, tuple)) and any(map(self._holds, x)):
                return self.stack([self.asarray(part, dtype=dtype) for part in x])
            x = np.asarray(x)
        return self._library.asarray(x, dtype=name, copy=bool(copy))

    def _holds(self, x: Any) -> bool:
        return any(map(self._holds, x)) if isinstance(x, (list, tuple)) else self._library.owns(x)

    def astype(self, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
        """Another dtype, with a derivative between floating dtypes. By default `Library.asarray`
        converts.
        """
        own = self._own.get("astype")
        return (
            self._library.asarray(x, dtype=self.dtype_name(dtype)) if own is None else own(x, dtype)
        )

    def can_cast(self, x: Any, to: Any, /) -> bool:
        return bool(np.can_cast(self.dtype_name(x), self.dtype_name(to)))

    def finfo(self, dtype: Any, /) -> Any:
        return np.finfo(self.dtype_name(dtype))

    def iinfo(self, dtype: Any, /) -> Any:
        return np.iinfo(self.dtype_name(dtype))

    def isdtype(self, dtype: Any, kind: Any) -> bool:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        named = tuple(
            [part if isinstance(part, str) else np.dtype(self.dtype_name(part)) for part in kinds]
        )
        return bool(np.isdtype(np.dtype(self.dtype_name(dtype)), named))

    def result_type(self, *arrays_and_dtypes: Any) -> Any:
        return getattr(self, np.result_type(*[self.dtype_name(x) for x in arrays_and_dtypes]).name)


class _SubNamespace:
    """`linalg` or `fft` of a namespace."""

    def __init__(self, namespace: ComposedNamespace, name: str):
        self._namespace, self._name = namespace, name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._namespace._function(f"{self._name}.{name}")


class _Flat(FlatFunction):
    """A function of arrays as the `FlatFunction` that a backend takes."""

    fresh = True

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def __call__(self, *leaves: Any) -> Any:
        return self._function(*leaves)


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    if name not in _RESULTS:
        return function
    return lambda *args, **options: _RESULTS[name](*function(*args, **options))


@functools.cache
def _uses(name: str) -> tuple[Use, ...]:
    # here, because it takes some milliseconds, and most programs need no composed namespace
    from .uses import USES

    return tuple([use for use in USES if use.name == name])


def _parts(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _slope(
    use: Use, directions: list[Array], weights: list[Array], step: float = 2.0**-13
) -> float:
    """The derivative of NumPy's function by central differences of the fourth order."""

    def total(shift: float) -> float:
        arrays = [x + shift * v for x, v in zip(use.arrays, directions)]
        results = _parts(use.f(NUMPY.namespace(None), *arrays))
        return float(sum([np.sum(w * np.asarray(part)) for w, part in zip(weights, results)]))

    return (8 * (total(step) - total(-step)) - (total(2 * step) - total(-2 * step))) / (12 * step)
