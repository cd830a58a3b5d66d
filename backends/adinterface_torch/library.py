"""torch's tensors: conversions without copies, dense and writable results, devices."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
import torch
import torch.utils.dlpack

from adinterface import ConversionError, NotDifferentiableError
from adinterface.core.contract import (
    NUMPY,
    PYTHON,
    Arrays,
    Enter,
    FlatRule,
    Library,
    Loops,
    ToLeaf,
    Unkeyed,
    as_it_is,
    dtype_kind,
    dtype_name,
    unsupported_dtype,
    width,
)

from .custom import custom, outside
from .distributed import is_distributed, is_dtensor, require_right, spread_like
from .dtypes import DTYPES, EXTENDED, NAMES, SHARED, SUPPORTED
from .private import dual_level, is_gradtracking, is_wrapped, is_zero, outside_all, peek, unwrapped
from .recording import depth, in_graph, settled

_storage, _address = torch.Tensor.untyped_storage, torch.UntypedStorage.data_ptr


class TorchLibrary(Library):
    types = (torch.Tensor,)

    def signature(self, x: Any) -> Any:
        if x.is_nested:
            raise Unkeyed
        return (x.dtype, x.shape) if x.layout is torch.strided else (x.dtype, x.shape, x.layout)

    def dtype(self, x: Any) -> str:
        return NAMES[x.dtype]

    def sparse_matrices(
        self, rows: Any, columns: Any, shape: tuple[int, int]
    ) -> Callable[[Any], Any]:
        places = np.stack([rows, columns]).astype("int64")

        def matrix(entries: Any) -> Any:
            # of its own, for it can be written to
            indices = torch.tensor(places, device=entries.device)
            try:
                return torch.sparse_coo_tensor(
                    indices, entries, shape, is_coalesced=True, check_invariants=False
                )
            except NotImplementedError as error:
                raise NotDifferentiableError(
                    "PyTorch has neither forward mode nor vmap for sparse tensors. Differentiate"
                    ' what holds this sparse derivative in reverse, AutoTorch(mode="reverse"), or'
                    " take it without AutoSparse."
                ) from error

        return matrix

    def traced(self, x: Any) -> bool:
        # While f is recorded, the tensors it was given require gradients without having a grad_fn,
        # in other threads as well.
        return (
            x.grad_fn is not None
            or (x.requires_grad and (depth() > 0 or in_graph((x,))))
            or is_wrapped(x)
        )

    def settled(self, x: Any) -> Any:
        return settled(x)

    def value_under_trace(self, x: Any) -> np.ndarray[Any, Any] | None:
        # A tensor that a transform differentiates has its numbers inside; a batched one has no
        # numbers.
        while is_wrapped(x):
            if not is_gradtracking(x):
                return None
            x = unwrapped(x)
        with outside_all():
            return self.to_numpy(x.detach())

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        _require_numbers(x)
        _require_dense(x)
        with outside_all(x):
            x = _resolved(x)
            if not x.is_cpu:
                x = x.cpu().contiguous()  # on the CPU each result is dense
            if x.dtype in EXTENDED:
                import ml_dtypes

                bits: np.ndarray[Any, Any] = x.view(EXTENDED[x.dtype]).numpy()
                return bits.view(getattr(ml_dtypes, NAMES[x.dtype]))
            try:
                array: np.ndarray[Any, Any] = x.numpy()
            except TypeError as error:
                raise ConversionError(
                    f"NumPy has no {NAMES[x.dtype]}, so only AutoTorch() takes such a tensor, in a"
                    " Constant(...). Convert it first."
                ) from error
            return array

    def exported(self, x: Any) -> Any:
        _require_numbers(x)
        return self.to_numpy(x) if x.is_cpu else _resolved(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        given = x
        if isinstance(x, torch.Tensor):
            if dtype is not None:
                _require_dense(x)
            if copy:
                # detached, it would lose a tangent without a word
                kept = self.traced(x) or dual_level() >= 0
                with outside_all(x):
                    x = x.clone() if kept else x.detach().clone()
        else:
            x = self._adopted(x, dtype, copy)
        if dtype is not None and NAMES[x.dtype] != dtype:
            if dtype not in DTYPES:
                raise unsupported_dtype(dtype, "PyTorch", SUPPORTED)
            x = (x.real if x.is_complex() and dtype_kind(dtype) != "complex" else x).to(
                DTYPES[dtype]
            )
        device = like.device if isinstance(like, torch.Tensor) else like
        if is_dtensor(like):
            x = spread_like(x if is_dtensor(x) else x.to(device), like)
        elif device is not None and x.device != torch.device(device):
            x = x.to(device)
        return x if x is given else outside_inference(x)

    def _adopted(self, x: Any, dtype: str | None, copy: bool) -> torch.Tensor:
        """A tensor of a NumPy array, a number or a DLPack object, sharing memory if it can."""
        if isinstance(x, (float, complex, int)) and not isinstance(x, np.generic):
            return torch.tensor(
                float(x) if type(x) is int else x,
                dtype=DTYPES[dtype] if dtype is not None else torch.float64,
            )
        if not isinstance(x, (np.ndarray, np.generic)):
            try:
                shared = torch.utils.dlpack.from_dlpack(x)
            except BufferError as error:
                if width(str(x.dtype)) > 8:
                    raise
                raise unsupported_dtype(str(x.dtype), "PyTorch", SUPPORTED) from error
            return shared.clone() if copy else shared
        array = np.asarray(x)
        name = dtype_name(array.dtype)
        if (named := DTYPES.get(name)) in EXTENDED:
            return torch.from_numpy(np.array(array).view(f"i{array.itemsize}")).view(named)
        if name not in DTYPES or array.dtype.kind not in "fciub":
            raise unsupported_dtype(name, "PyTorch", SUPPORTED)
        flags, least = array.flags, min(array.strides, default=1)
        # first: NumPy warns who asks a broadcast array for the other
        dense = least > 0 or (least == 0 and flags.c_contiguous)
        shareable = dense and flags.writeable and array.dtype.isnative
        if copy or not shareable:
            array = np.array(array, dtype=array.dtype.newbyteorder("="))
        return torch.from_numpy(array)

    def unshared(self, x: Any, occupied: set[int]) -> Any:
        if self.traced(x):
            return x
        x = _resolved(x)
        key = x.untyped_storage().data_ptr() if _has_memory(x) and not is_wrapped(x) else 0
        if not _is_dense(x) or key in occupied:
            # in memory that nothing else can overlap
            x = x.clone(memory_format=torch.contiguous_format)
        if key:
            occupied.add(key)
        return x

    def enter(self, example: Any, source: Library, dtype: str | None) -> Enter | None:
        if source is self:
            if dtype is not None:
                _require_dense(example)
            # The backend asks for leaves, as the question takes a microsecond; a module keeps its
            # parameters.
            recorded = dtype is None and type(example) is torch.Tensor
            return (
                as_it_is
                if not _has_memory(example)
                else _dense_outside_inference
                if recorded
                else _dense_as_it_is
            )
        if source is PYTHON:
            kept = None if dtype is None else DTYPES.get(dtype)
            # The former takes a third of the time, and raises where a narrower dtype overflows.
            make = (
                torch.scalar_tensor if kept in (torch.float64, torch.complex128) else torch.tensor
            )
            return None if kept is None else lambda x, occupied: make(x, dtype=kept)
        return _on_its_memory if _is_shareable(example) else None

    def to_leaf(self, example: Any, source: Library) -> ToLeaf | None:
        if source is self:
            return _own if example is None or _has_memory(example) else None
        if type(example) is float:
            return _own_number
        return (
            _own_numbers
            if _is_shareable(example) or (source is NUMPY and example is None)
            else None
        )

    def loops(self) -> Loops:
        from .loops import TorchLoops

        return TorchLoops(self)

    def namespace(self, x: Any) -> ModuleType:
        from . import namespace  # here, because array_api_compat.torch is slow to import

        return namespace

    def numpy_sources(self) -> tuple[Any, ...]:
        from .numpy_code import SOURCES

        return SOURCES

    def custom(self, rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        return custom(rule, leaves, carried)

    def outside(
        self, function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]
    ) -> Arrays:
        def called(*tensors: torch.Tensor) -> Arrays:
            # The memory of NumPy arrays may be read-only.
            results = [
                x if isinstance(x, torch.Tensor) else np.array(x) for x in function(*tensors)
            ]
            return tuple([self.asarray(x, like=tensors[0]) for x in results])

        return outside(called, arrays)

    def stopped(self, x: Any) -> Any:
        return x.detach()

    def lift(self, x: Any, beside: Any) -> Any:
        # A copy: the backward pass may need the numbers after f has written new ones into its
        # buffer.
        return self.asarray(x, like=beside, copy=True)

    def evaluation(self, leaves: Iterable[Any]) -> AbstractContextManager[Any] | None:
        if depth() or any(isinstance(leaf, torch.Tensor) and self.traced(leaf) for leaf in leaves):
            return None
        return torch.no_grad()


def _is_shareable(example: Any) -> bool:
    return type(example) is np.ndarray and example.dtype in SHARED and example.dtype.isnative


def _dense_outside_inference(x: torch.Tensor, occupied: set[int]) -> torch.Tensor:
    return _dense_as_it_is(outside_inference(x), occupied)


def _dense_as_it_is(x: torch.Tensor, occupied: set[int]) -> torch.Tensor:
    try:
        occupied.add(_address(_storage(x)))
    except RuntimeError:
        _require_dense(x)
    return x


def outside_inference(x: torch.Tensor) -> torch.Tensor:
    """x, or a copy of an inference tensor, which torch cannot record."""
    if not x.is_inference():
        return x
    with torch.inference_mode(False):
        return x.clone()


def _on_its_memory(x: np.ndarray[Any, Any], occupied: set[int]) -> torch.Tensor:
    flags = x.flags
    try:
        # In this order: a broadcast array warns when it is asked whether it is writeable.
        tensor = torch.from_numpy(x) if flags.c_contiguous and flags.writeable else TORCH.asarray(x)
    except ValueError:
        # a negative stride along an axis of length 1, which NumPy calls contiguous all the same
        tensor = TORCH.asarray(x)
    return _dense_as_it_is(outside_inference(tensor), occupied)


def _own(x: torch.Tensor, occupied: set[int]) -> Any:
    """As `unshared`, of a plain tensor.

    None if it is in a graph, in a transformation, or spread over processes.
    """
    if type(x) is not torch.Tensor or x.requires_grad:
        return None
    try:
        memory = _address(_storage(x))
    except RuntimeError:  # the memory of what belongs to a transformation has no address
        return None
    if not memory or x.is_conj() or x.is_neg():
        return TORCH.unshared(x, occupied)
    if memory in occupied or not (x.is_contiguous() or _is_dense(x)):
        return x.clone()
    occupied.add(memory)
    return x


def _own_numbers(x: torch.Tensor, occupied: set[int]) -> Any:
    """As `_own`, for NumPy, which calls only what is in C's order or Fortran's dense."""
    if not x.is_cpu or x.dtype in EXTENDED:
        return None
    own = _own(x if x.is_contiguous() else x.contiguous(), occupied)
    return None if own is None else own.numpy()


def _own_number(x: torch.Tensor, occupied: set[int]) -> Any:
    own = _own(x, occupied)
    return None if own is None else own.item()


def _resolved(x: torch.Tensor) -> torch.Tensor:
    """The numbers of x alone: outside any graph, conjugations and signs carried out."""
    if x.requires_grad:
        x = x.detach()
    if is_zero(x):
        return torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x


def _has_memory(x: torch.Tensor) -> bool:
    return x.layout is torch.strided and not x.is_nested and not is_distributed(x)


def _require_numbers(x: torch.Tensor) -> None:
    if type(x) is not torch.Tensor and is_dtensor(x):
        raise ConversionError(
            "A torch tensor is spread over processes (a DTensor), of whose numbers this one has a"
            " part, so only AutoTorch() takes it. Gather them first, x.full_tensor(), or wrap it in"
            " Constant(...)."
        )
    if x.is_meta:
        raise ConversionError(
            "A torch tensor on the meta device has a shape but no numbers, so only AutoTorch()"
            " takes it. Give it numbers first: torch.empty_like(x, device='cpu'), or"
            " module.to_empty(device='cpu')."
        )


def _require_dense(x: torch.Tensor) -> None:
    if is_wrapped(x) and peek() is None:
        raise ConversionError(
            "A torch tensor belongs to a transformation of torch.func (forward mode, vmap) in"
            " another thread, or to one that has ended, so its derivative would be lost here. Call"
            " in the thread of the outer derivative, or take that in reverse, with AutoTorch()."
        )
    if x.is_nested:
        raise ConversionError(
            "A torch tensor is nested, so it has no shape. Pass the list of its parts,"
            " list(x.unbind()), or torch.nested.to_padded_tensor(x, 0.0). AutoTorch() takes it in a"
            " Constant(...)."
        )
    require_right(x)
    if is_distributed(x) and not is_dtensor(x):
        raise ConversionError(
            f"A torch tensor is spread over processes ({type(x).__name__}) in a way that is not"
            " known here. Pass a DTensor (torch.distributed.tensor.distribute_tensor), whose"
            " gradients are global here, or wrap it in Constant(...)."
        )
    if x.layout is not torch.strided:
        raise ConversionError(
            f"A torch tensor has layout {x.layout}; pass x.to_dense(). AutoTorch() takes it in a"
            " Constant(...)."
        )


def _is_dense(x: torch.Tensor) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in any order of the axes."""
    if x.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(
        (stride, size) for stride, size in zip(x.stride(), x.shape) if size != 1
    ):
        if stride != expected:
            return False
        expected *= size
    return True


TORCH = TorchLibrary()
