"""The structure of a module and its parameters, from one walk over its submodules."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from itertools import count
from typing import Any
from weakref import ref

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from adinterface.core.contract.cache import Cache
from adinterface.core.contract.errors import ConversionError

from .copying import copy_of, gradient_of, is_plain
from .distributed import refuse_copies, refuse_unknown

# Wrappers keep the module that the user wrote in one of these. Their hooks do not run under torch.autograd.grad,
# or their code cannot be rebuilt around other values.
_INNER = ("_orig_mod", "module", "_fsdp_wrapped_module")


class ModuleStructure:
    """The classes, names and ties in a module. It holds no module and no tensor, so all modules of one structure share it.

    Shapes and dtypes of parameters are not part of it: they are in the signature of a call.
    """

    def __init__(self, module: nn.Module, key: Hashable, parameters: Sequence[Any]):
        self.key, self._hash = key, hash(key)
        self._compiled = is_compiled(module)
        refuse_wrappers(module._orig_mod if self._compiled else module)  # type: ignore[arg-type]
        _refuse_lazy(parameters)
        #: Whether the short way to copy a module serves all of it: its class, and those of its parameters, are in the key.
        self._plain = not self._compiled and is_plain(module)
        #: The names of the parameters, tied ones once, in the order of the walk.
        self.names = [name for name, _ in module.named_parameters()]

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ModuleStructure) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def gradient(self, module: Any, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
        """A module of the same class with gradients for parameters, zeros for None, and a copy of what it holds otherwise.

        A gradient that requires one stays in its graph. A module, the row of a Hessian, stands where its parameter stood.
        """
        if not self._compiled:
            return gradient_of(module, parameters, gradients, self._plain)
        return _rewrapped(module, gradient_of(module._orig_mod, parameters, gradients), False)

    def around(self, module: Any, parameters: Sequence[Any], values: Sequence[Any], *, compiled: bool = False) -> nn.Module:
        """A copy of the module in which these values take the places of its parameters.

        compiled: a copy of what `torch.compile` made is compiled, too, when it is called; else it runs as it is. Raises
        ConversionError for a member of a group of processes, which a copy would not be.
        """
        refuse_copies(module)
        if not self._compiled:
            return copy_of(module, parameters, values, self._plain)
        return _rewrapped(module, copy_of(module._orig_mod, parameters, values), compiled)


def _survey(module: nn.Module) -> tuple[Hashable, list[Any]]:
    """The key of the structure; and each parameter once, in the order of `named_parameters()`.

    A class is held weakly, for that of a parametrized module is its own and keeps it alive.
    """
    places: list[Any] = []
    #: Of each module and parameter, its number; what stands in a second place is told by it.
    numbers: dict[int, int] = {id(None): 0}
    unused = count(1)
    key: list[Any] = []
    stack: list[Any] = [module]
    while stack:
        inner = stack.pop()
        new = next(unused)
        number = numbers.setdefault(id(inner), new)
        if number != new:
            key.append(number)
            continue
        own, children = inner._parameters, inner._modules
        parameters = own.values()
        key += (ref(type(inner)), tuple(own.keys()), tuple(children.keys()), tuple(map(type, parameters)))
        key += map(numbers.setdefault, map(id, parameters), unused)
        places += parameters
        if children:
            stack += reversed(children.values())
    return tuple(key), [x for x in dict(zip(map(id, places), places)).values() if x is not None]


# The structures seen before. They hold no module; the bound is for the classes that they name.
_structures: Cache[ModuleStructure] = Cache(256)


def read(module: nn.Module) -> tuple[ModuleStructure, list[Any]]:
    """The structure of a module, one object for all modules that are alike, and its parameters."""
    key, parameters = _survey(module)
    known = _structures.get(key)
    if known is None:
        known = _structures.add(key, ModuleStructure(module, key, parameters))
    return known, parameters


def is_compiled(module: object) -> bool:
    """Whether a module is what `torch.compile` made of another."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")  # whose import takes a while
    return dynamo is not None and type(module) is dynamo.OptimizedModule


def _rewrapped(wrapper: Any, inner: nn.Module, compiled: bool) -> nn.Module:
    return type(wrapper)(inner, wrapper.dynamo_ctx if compiled else lambda f: f)  # type: ignore[no-any-return]


def _refuse_lazy(parameters: Sequence[Any]) -> None:
    if UninitializedParameter in map(type, parameters):
        raise ConversionError(
            "A lazy module has parameters without a shape, which get one in its first call. Call it once with an example "
            "before differentiating."
        )


def refuse_wrappers(module: nn.Module) -> None:
    for inner in module.modules():
        kind = type(inner)
        refuse_unknown(inner)
        if isinstance(inner, torch.jit.ScriptModule):
            raise ConversionError(
                f"{kind.__name__}: a ScriptModule inside another module cannot be rebuilt around gradients. Script the whole, "
                f"or put the module it was made from in its place; torch.compile it inside f if you need the speed."
            )
        if "keras" in {base.__module__.partition(".")[0] for base in kind.__mro__} and hasattr(inner, "stateless_call"):
            raise ConversionError(
                f"{kind.__name__}: a Keras model keeps its variables to itself, and cannot be rebuilt around gradients. "
                f"Differentiate a function of their values, which calls model.stateless_call(trainable, non_trainable, x), "
                f"with trainable = [v.value for v in model.trainable_variables]."
            )
        wraps = next((name for name in _INNER if isinstance(inner._modules.get(name), nn.Module)), None)
        if isinstance(inner, nn.parallel.DistributedDataParallel):
            continue  # its hooks run, for the gradient alone (see exchange.py)
        if wraps == "_orig_mod":
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}, and cannot be rebuilt around gradients. Pass "
                f"the inner module, model._orig_mod, or compile the whole; module.compile() compiles in place, without a "
                f"wrapper."
            )
        if wraps is not None and kind.__module__.startswith("torch."):
            raise ConversionError(
                f"{kind.__name__} wraps a {type(inner._modules[wraps]).__name__}: its hooks do not run here, or it cannot be "
                f"rebuilt around gradients. Pass the inner module, model.{wraps}, and call the wrapper inside f if you need it."
            )


__all__ = ["ModuleStructure", "is_compiled", "read"]
