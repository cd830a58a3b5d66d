"""Nested forward mode, where torch skips the rule of every `torch.autograd.Function`, and of some functions of its own.

torch runs a Function's `jvp` with forward mode switched off, so the outer derivative of the rule's result is silently zero
(https://github.com/pytorch/pytorch/issues/197867). The rules of a few functions treat an intermediate result (a
factorization, a mean) as a constant. Derivatives of these rules are wrong, in reverse mode too
(https://github.com/pytorch/pytorch/issues/198017). Tangents of these functions that solve with a factorization are wrong in
two batches, one inside the other. Such functions are looked for only
in nested forward mode and in nested batches. What is wrong in one level of forward mode is mended or refused here, too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode

from adinterface import BackendError

from .private import (
    TransformType,
    custom_function_call,
    in_backward,
    in_dual_level,
    is_forward_enabled,
    is_gradtracking,
    is_wrapped,
    level_of,
    outside_all,
    peek,
    retrieve_current_functorch_interpreter,
    set_forward,
    set_grad_enabled,
    transformations,
    unwrapped,
)


def followed(function: Callable[..., Any], recorded: bool) -> Callable[..., Any]:
    """The function for one more level of forward mode, with what torch gets wrong there mended or refused.

    Constants are as in reverse mode: forward mode in torch ignores `torch.no_grad`. A function that writes into its own second
    argument, such as `y *= y`, has a wrong tangent there. The product of a 0-d float32 tensor and a Python float has a float64
    tangent, which some functions do not take ("dtypes match").

    recorded: whether its computation stays in a graph, through which torch will differentiate.
    """
    nested = recorded or is_forward() or _batches() > 1

    def watched(*leaves: Any) -> Any:
        with _Forward(nested, recorded):
            return function(*leaves)

    return watched


def _batches() -> int:
    return sum([level.key() == TransformType.Vmap for level in transformations() or ()])


def is_forward() -> bool:
    """Whether a level of forward mode is at work."""
    levels = transformations() or []
    return any(level.key() == TransformType.Jvp for level in levels)


# By name, since each has several: torch.linalg.det, torch.det, Tensor.det.
_SOLVING = frozenset(
    {"det", "linalg_det", "logdet", "slogdet", "linalg_slogdet", "linalg_solve", "linalg_solve_ex", "linalg_tensorsolve"}
)
_SOLVING_IN_BATCHES = _SOLVING | {"linalg_lu_solve"}
_INEXACT = _SOLVING | {"householder_product", "linalg_householder_product", "layer_norm", "native_layer_norm"}
# Only with batch statistics: the keyword that selects them, the sixth argument, and its default.
_BY_STATISTICS = {"batch_norm": ("training", False), "instance_norm": ("use_input_stats", True)}


def _is_inexact(name: str, args: Any, kwargs: Any) -> bool:
    if name in _BY_STATISTICS:
        keyword, default = _BY_STATISTICS[name]
        return bool(args[5] if len(args) > 5 else kwargs.get(keyword, default))
    return name in _INEXACT


def refusal(applied: str) -> str:
    """The message for a Function in a derivative that torch gets wrong."""
    return (
        f"f applies {applied} inside a forward derivative of a forward derivative, where torch leaves its rule out "
        f"(https://github.com/pytorch/pytorch/issues/197867): the result would be wrong. Take one of the two derivatives in "
        f"reverse, with AutoTorch() or AutoTorch(mode='reverse')."
    )


def is_nested_forward(arguments: Iterable[Any]) -> bool:
    """Whether one of them changes along tangents of two levels of forward mode."""
    levels = transformations() or []
    return sum([level.key() == TransformType.Jvp for level in levels]) > 1 and any(len(_levels(x).moved) > 1 for x in arguments)


def is_followed(tensor: torch.Tensor) -> bool:
    """Whether a value has a tangent, or is recorded in a graph, at the present level or at one outside it."""
    levels = _levels(tensor)
    return bool(levels.moved) or levels.recorded


def outside_derivatives(x: torch.Tensor) -> torch.Tensor:
    """The tensor without the wrappers of derivatives; one in a batch stays in it."""
    while is_gradtracking(x):
        x = unwrapped(x)
    return x


def plain(x: Any) -> Any:
    """The tensor without any wrapper of `torch.func`."""
    while is_wrapped(x):
        x = unwrapped(x)
    return x


_TO_NUMPY = frozenset({"numpy", "__array__"})


def _to_numpy(func: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy calls, outside of all transformations for a constant, which would have no numbers in one."""
    x = args[0] if is_followed(args[0]) else outside_derivatives(args[0])
    with outside_all(x):
        return func(x, *args[1:], **kwargs)


class NumpyOfConstants(TorchFunctionMode):
    """The value of a rule may call NumPy on its tensors."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        return _to_numpy(func, args, kwargs) if func.__name__ in _TO_NUMPY else func(*args, **kwargs)


_WIDE = dict.fromkeys((torch.float32, torch.float16, torch.bfloat16), torch.float64) | {torch.complex64: torch.complex128}


class _Forward(TorchFunctionMode):
    """While f runs in forward mode: mends what torch gets wrong there, or refuses it. See `followed`.

    nested: whether there are levels or batches around it. constant: whether it has switched tangents off.
    """

    constant = False

    def __init__(self, nested: bool, recorded: bool):
        super().__init__()
        self.nested, self.recorded = nested, recorded

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is set_grad_enabled:
            self._follow(*args)
            with torch._C.DisableTorchFunction():  # the call around this one has switches of its own
                return func(*args)
        name, kwargs = func.__name__, kwargs or {}
        if name[-1] == "_" and writes(name):
            args = (args[0], *[_unaliased(x, args[0]) for x in args[1:]])
            kwargs = {key: _unaliased(x, args[0]) for key, x in kwargs.items()}
        elif name == "linalg_lu_solve":
            refuse_misread()
        elif name in _TO_NUMPY:
            return _to_numpy(func, args, kwargs)
        if self.nested:
            self._refuse_nested(func, name, args, kwargs)
        x = func(*args, **kwargs)
        if isinstance(x, torch.Tensor) and x.ndim == 0 and x.dtype in _WIDE and _levels(x).mixed:
            return x.to(_WIDE[x.dtype]).to(x.dtype)  # which converts the tangents twice, too
        return x

    def _refuse_nested(self, func: Any, name: str, args: Any, kwargs: Any) -> None:
        given = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
        if _is_inexact(name, args, kwargs) and any(_moves(x, self.recorded) for x in given):
            raise BackendError(
                f"f calls {name} of torch inside a derivative of a forward derivative, for which torch takes what it "
                f"computes on the way for a constant (https://github.com/pytorch/pytorch/issues/198017): the result would be "
                f"wrong. Take the inner derivative in reverse, with AutoTorch() or AutoTorch(mode='reverse')."
            )
        if name in _SOLVING_IN_BATCHES and _batches() > 1 and any(_levels(x).moved for x in given):
            raise BackendError(
                f"f calls {name} of torch for a batch of tangents inside another batch, where the result of torch is "
                f"wrong. Take the derivative in reverse, with AutoTorch() or AutoTorch(mode='reverse'), or one entry after "
                f"another, with AutoTorch(mode='forward', chunk_size=1)."
            )
        if custom_function_call == func and not hasattr(args[0], "refusal") and any(map(_moves, given)):
            raise BackendError(refusal(f"{args[0].__qualname__}, a torch.autograd.Function,"))

    def _follow(self, enabled: bool) -> None:
        # While torch itself has switched tangents off, as in a rule, they stay off. A backward pass keeps them: inside
        # another derivative a backward that is not recorded has tangents.
        if enabled is self.constant and (enabled or is_forward_enabled()) and not in_backward():
            set_forward(enabled)
            self.constant = not enabled


_IN_PLACE = frozenset({"__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__iand__", "__ior__", "__ixor__"})


def writes(name: str) -> bool:
    """Whether the function of torch with this name writes into its first argument; item assignment does not count."""
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith(("__", "requires_grad_")))


def _unaliased(x: Any, written: Any) -> Any:
    """An argument in memory of its own, if it is the tensor that is written into, or a view of the same one."""
    tensors = isinstance(x, torch.Tensor) and isinstance(written, torch.Tensor)
    return x.clone() if tensors and _whole(x) is _whole(written) else x


def _whole(x: torch.Tensor) -> torch.Tensor:
    return x if x._base is None else x._base


def refuse_misread() -> None:
    """Refuse `linalg.lu_solve` in a batch: of factors `(4, 1, n, n)` for `(4, 3, n, m)` torch takes those of other entries."""
    if _batches():
        raise BackendError(
            "f calls linalg.lu_solve of torch in a batch, where torch may take the factors of other entries. Write "
            "torch.linalg.solve(A, B), or take one entry after another, with AutoTorch(chunk_size=1)."
        )


def _moves(x: torch.Tensor, recorded: bool = False) -> bool:
    """Whether a value has a tangent at the innermost level, and that has one at another level of forward mode.

    With `recorded`, it may also be in a graph instead.
    """
    if dual(x)[1] is None:
        return False
    levels = _levels(x)
    return len(levels.moved) > 1 or (recorded and levels.recorded)


class _Levels(NamedTuple):
    """What is true of a value at the present level and at those outside it."""

    #: The levels at which it has a tangent; that of `forward_ad` is 0.
    moved: frozenset[int]
    #: Whether it is recorded in a graph at one of them.
    recorded: bool
    #: Whether a tangent has another dtype than its value.
    mixed: bool


def _levels(tensor: torch.Tensor) -> _Levels:
    """Looks at a value of the present level, and through it, and through its tangent, at the levels outside."""
    present: Any = peek()
    forward = in_dual_level() if present is None else present.key() == TransformType.Jvp
    primal, tangent = dual(tensor) if forward else (tensor, None)
    moved = frozenset[int]() if tangent is None else frozenset({0 if present is None else present.level()})
    seen = _Levels(moved, tensor.requires_grad, tangent is not None and tangent.dtype is not tensor.dtype)
    if present is None:
        return seen
    with retrieve_current_functorch_interpreter().lower():
        for part in (primal,) if tangent is None else (primal, tangent):
            outer = _levels(unwrapped(part) if level_of(part) == present.level() else part)
            seen = _Levels(*map(operator.or_, seen, outer))
    return seen


def dual(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A tensor of the present level and its tangent there."""
    unpacked: Any = forward_ad.unpack_dual(tensor)  # type: ignore[no-untyped-call]
    return unpacked.primal, unpacked.tangent


def refuse_tangents(tensors: Iterable[Any]) -> None:
    """Refuse tensors with a tangent of `torch.autograd.forward_ad`: aliases of leaves and detached results lose it."""
    for tensor in tensors:
        if dual(tensor)[1] is not None:
            raise BackendError(
                "A tensor of this call has a tangent of torch.autograd.forward_ad.dual_level, which would be lost. Take the "
                "outer derivative with torch.func.jvp, or with adinterface.pushforward."
            )
