"""`torch.nn.Module` as a node: its parameters are the children, everything else is structure."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any
from weakref import ref

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from adinterface import Constant, ConversionError
from adinterface.core.contract import NodeType, advice

from .copying import ROW, copy_of, gradient_of
from .distributed import refuse_copies, refuse_unknown, reshard
from .private import in_use, is_compiled, is_wrapped
from .recording import depth
from .swapping import refuse_swapped


class ModuleNode(NodeType):
    """Children: each parameter once (tied ones are one), in the order of `named_parameters`.

    Frozen ones as Constant.

    f gets the user's own module as long as the children are what it holds: its parameters, or the
    tensors that stand in their places while f runs. Otherwise it gets a deep copy with the values,
    as in differences.
    """

    is_owner = True

    def matches(self, value: object) -> bool:
        return isinstance(value, nn.Module)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        if in_use():
            reshard(value)
        refuse_swapped(value.modules())
        structure, parameters = read(value)
        return [p if _is_differentiated(p) else Constant(p) for p in parameters], structure

    def key(self, data: Any, fixed: bool = True) -> Any:
        return data

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        (module, parameters), *values = children
        if all(map(operator.is_, values, parameters)):
            return module
        _, held = read(module)
        return module if all(map(operator.is_, values, held)) else around(module, held, values)

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        refuse_wrappers(value._orig_mod if is_compiled(value) else value)
        for inner in value.modules():
            if ROW in vars(inner):
                raise ConversionError(
                    f"{type(inner).__name__}.{vars(inner)[ROW]} is the row of a Hessian of a"
                    " container, which is no part of a module. Pass the row itself."
                )
        return ()

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        (module, parameters), *gradients = children
        if is_compiled(module):
            return _rewrapped(module, gradient_of(module._orig_mod, parameters, gradients), False)
        return gradient_of(module, parameters, gradients)

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        (module, parameters), *values = children
        # the frozen ones
        values = [value.value if type(value) is Constant else value for value in values]
        values = [_parameter(value, old) for value, old in zip(values, parameters)]
        return around(module, parameters, values, compiled=True)

    def widened(self, value: Any) -> Any:
        return copy.deepcopy(value).double()

    def state(self, value: Any) -> tuple[Any, ...]:
        return tuple([(id(buffer), buffer._version) for buffer in value.buffers()])

    def parts(self, data: Any, other: Any) -> tuple[Sequence[Any], list[str]]:
        # A module of the rows of a Hessian has trees in place of parameters.
        names = names_of(data)
        if not all(_inside(other, name) is not None for name in names):
            names = names_of(read(other)[0])
        return [_inside(other, name) for name in names], [_path(name) for name in names]

    def paths(self, data: Any, count: int) -> list[str]:
        return [_path(name) for name in names_of(data)]


def _is_differentiated(parameter: torch.Tensor) -> bool:
    """Not if it is frozen.

    A plain tensor stands in the place of one that a call around this one differentiates.
    """
    return parameter.requires_grad or type(parameter) is torch.Tensor


def _parameter(value: Any, old: nn.Parameter) -> torch.Tensor:
    if isinstance(value, nn.Parameter):
        return value
    if not isinstance(value, torch.Tensor):
        kind = type(value).__name__
        raise ConversionError(
            f"A module holds tensors alone, so a {kind} cannot take the place of a parameter."
        )
    # computed in f, so f's derivative goes through it
    if is_wrapped(value) or (depth() and value.requires_grad):
        return value
    return nn.Parameter(value.detach(), requires_grad=_is_differentiated(old))


def _inside(module: Any, name: str) -> Any:
    """A parameter, or a tree in its place; None if there is none of this name."""
    return functools.reduce(lambda inner, part: getattr(inner, part, None), name.split("."), module)


def _path(name: str) -> str:
    """`layers.0.weight` as one writes it in Python: `.layers[0].weight`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in name.split("."))


# What a module is.
# ------------------------------------------------------------------------------------------------


def read(module: nn.Module) -> tuple[tuple[Any, ...], list[Any]]:
    """The classes, names and ties in a module.

    And each parameter once, in the order of `named_parameters()`.

    The first is equal for similar modules, and contains no module and no tensor. A class is held
    weakly: a parametrized module has a class of its own, which keeps the module alive.
    """
    places: list[Any] = []
    #: For each module its class, and the names in it; or the number of a module that was there
    #: before, 0 for None.
    modules: list[Any] = []
    numbers: dict[int, int] = {id(None): 0}
    stack: list[Any] = [module]
    while stack:
        inner = stack.pop()
        new = len(numbers)
        number = numbers.setdefault(id(inner), new)
        if number != new:
            modules.append(number)
            continue
        own, children = inner._parameters, inner._modules
        modules.append((ref(type(inner)), tuple(own.keys()), tuple(children.keys())))
        if own:
            places += own.values()
        if children:
            stack += reversed(children.values())
    if UninitializedParameter in map(type, places):
        raise ConversionError(
            "A lazy module has parameters without a shape, which get one in its first call. Call it"
            " once with an example before differentiating."
        )
    identities = [*map(id, places)]
    first: dict[int, int | None] = {id(None): None}
    #: For each place the first one with this parameter; None for an empty one.
    ties = tuple(map(first.setdefault, identities, count()))
    once = dict(zip(identities, places))
    once.pop(id(None), None)
    return (ties, *modules), [*once.values()]


def names_of(structure: tuple[Any, ...]) -> list[str]:
    """The name of each parameter in a module, as in `named_parameters()`."""
    ties, *modules = structure
    names: list[str] = []
    above = [""]
    for module in modules:
        path = above.pop()
        if type(module) is tuple:
            _, own, children = module
            names += [path + name for name in own]
            above += [f"{path}{name}." for name in reversed(children)]
    return [name for n, name in enumerate(names) if ties[n] == n]


# What is built from it.
# -------------------------------------------------------------------------------------------------


def around(
    module: Any, parameters: Sequence[Any], values: Sequence[Any], *, compiled: bool = False
) -> nn.Module:
    """A copy of the module in which these values take the places of its parameters.

    compiled: a copy of what `torch.compile` made is compiled, too, when it is called; else it runs
    as it is. Raises ConversionError for a member of a group of processes, which a copy would not
    be.
    """
    refuse_copies(module)
    if is_compiled(module):
        return _rewrapped(module, copy_of(module._orig_mod, parameters, values), compiled)
    return copy_of(module, parameters, values)


def _rewrapped(wrapper: Any, inner: nn.Module, compiled: bool) -> nn.Module:
    return type(wrapper)(inner, wrapper.dynamo_ctx if compiled else lambda f: f)  # type: ignore[no-any-return]


# Wrappers keep the module that the user wrote in one of these. Their hooks do not run under
# torch.autograd.grad, or their code cannot be rebuilt around other values.
_INNER = ("_orig_mod", "module", "_fsdp_wrapped_module")


def refuse_wrappers(module: nn.Module) -> None:
    for inner in module.modules():
        kind = type(inner)
        refuse_unknown(inner)
        if isinstance(inner, torch.jit.ScriptModule):
            raise ConversionError(
                f"{kind.__name__}: a ScriptModule keeps its parameters in C++ and cannot be rebuilt"
                " around gradients. Pass the module it was made from, with its state"
                " (load_state_dict), or wrap it in Constant(...); torch.compile it inside f if you"
                " need the speed."
            )
        if (said := advice(inner)) is not None:
            raise ConversionError(f"{kind.__name__} cannot be rebuilt around gradients. {said}")
        wraps = next(
            (name for name in _INNER if isinstance(inner._modules.get(name), nn.Module)), None
        )
        if isinstance(inner, nn.parallel.DistributedDataParallel):
            continue  # its hooks run, for the gradient alone (see distributed.py)
        if wraps is not None and kind.__module__.startswith("torch."):
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}: its hooks do not"
                " run here, or it cannot be rebuilt around gradients. Pass the inner module,"
                f" model.{wraps}, and call the wrapper inside f if you need it."
            )
