"""Modules with other values: a deep copy, and a gradient, which shares all but the parameters."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from adinterface import ConversionError

from .distributed import exchanges
from .private import is_wrapped
from .swapping import refuse_swapped

#: Names an attribute with the row of a Hessian that is no module.
ROW = "_row_of_a_hessian"


class NoHooks(OrderedDict[Any, Any]):
    """The empty register of hooks that all modules of all gradients share.

    A copy of it is an ordinary register.

    A dozen registers for each submodule would be most of a gradient.
    """

    def __setitem__(self, key: Any, hook: Any) -> None:
        raise TypeError(
            "The modules of a gradient share their registers of hooks, which are empty. Register it"
            " on the model that is differentiated; or on copy.deepcopy(gradient), which has"
            " registers of its own."
        )

    def copy(self) -> OrderedDict[Any, Any]:  # type: ignore[override]
        return OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, ()


_NO_HOOKS = NoHooks()
_CONTENT = ("_parameters", "_buffers", "_modules")
_BLANK = {
    name: _NO_HOOKS
    for name, value in vars(nn.Module()).items()
    if isinstance(value, dict) and name not in _CONTENT
}


def copy_of(module: nn.Module, parameters: Sequence[Any], values: Sequence[Any]) -> nn.Module:
    """A deep copy of the module in which the values take the places of the parameters."""
    memo = dict(zip(map(id, parameters), values))
    # the gradient of one, which refuses to be copied deeply
    if any(exchanges(type(inner)) for inner in module.modules()):
        return _copied(module, {id(None): None, **memo}, False)
    placed: nn.Module = copy.deepcopy(module, memo)
    # A class with a copy of its own may have made other parameters.
    for own, copied in zip(module.modules(), placed.modules()):
        copied._parameters.update(
            (name, memo[id(p)]) for name, p in own._parameters.items() if id(p) in memo
        )
    return placed


def gradient_of(
    module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]
) -> nn.Module:
    """A module of the same class that holds gradients, and has no hooks.

    Other attributes are shared.
    """
    entries = [*map(entry, gradients, parameters)]
    rows = not all(issubclass(cls, torch.Tensor) for cls in {*map(type, entries)})  # of a Hessian
    try:
        return _copied(module, {id(None): None, **dict(zip(map(id, parameters), entries))}, rows)
    except KeyError:
        refuse_swapped(module.modules())
        raise ConversionError(
            f"{type(module).__name__} has other parameters than before: f added or replaced some,"
            " so their gradients have no place. Let the module have all its parameters before it"
            " is differentiated."
        ) from None


def _copied(module: nn.Module, memo: dict[int, Any], rows: bool) -> nn.Module:
    """memo: the entries by the identities of parameters, and the modules copied already."""
    if id(module) in memo:
        return memo[id(module)]  # type: ignore[no-any-return]
    kind: Any = type(module)
    new: nn.Module = object.__new__(kind)
    memo[id(module)] = new
    state = module.__dict__.copy()
    object.__setattr__(new, "__dict__", state)
    state.update(_BLANK)
    state.pop("_compiled_call_impl", None)  # which would call the original
    if "reducer" in state and exchanges(kind):
        # which make a DistributedDataParallel a member of its group
        del state["reducer"], state["logger"]
    own, buffers, children = state["_parameters"], state["_buffers"], state["_modules"]
    if own:
        state["_parameters"] = own = {name: memo[id(p)] for name, p in own.items()}
    state["_non_persistent_buffers_set"] = {*state["_non_persistent_buffers_set"]}
    if buffers:
        state["_buffers"] = {
            name: None if x is None else x.detach().clone() for name, x in buffers.items()
        }
    if children or rows:
        state["_modules"] = {name: _copied(child, memo, rows) for name, child in children.items()}
    if rows:
        _place_rows(own, state)
    return new


def _place_rows(own: dict[str, Any], state: dict[str, Any]) -> None:
    """Puts rows of a Hessian, which are no tensors, among the modules or the attributes."""
    for name in [
        name for name, row in own.items() if row is not None and not isinstance(row, torch.Tensor)
    ]:
        row = own.pop(name)
        (
            state.update({name: row, ROW: name})
            if not isinstance(row, nn.Module)
            else state["_modules"].update({name: row})
        )


def entry(gradient: Any, parameter: torch.Tensor) -> Any:
    """The gradient of a parameter as a parameter that requires no gradient; zeros for None."""
    if gradient is None:
        gradient = torch.zeros_like(parameter, memory_format=torch.contiguous_format)
    if not isinstance(gradient, torch.Tensor) or gradient.requires_grad or is_wrapped(gradient):
        return gradient  # a parameter would lose its graph, or the tangent in it
    return nn.Parameter(gradient, requires_grad=False)
