"""What the plan of a call knows of a scripted module, which keeps its parameters in C++.

Nothing in it can be copied piece by piece, and `functional_call` does not reach it: a copy is made by torch, and the values are
written into that.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from adinterface.core.contract.errors import ConversionError


class Scripted:
    """The structure of a ScriptModule, with what a `ModuleStructure` answers of other modules; see there."""

    def __init__(self, module: nn.Module):
        self.names = [name for name, _ in module.named_parameters()]
        self.key = signature_of(module)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scripted) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def gradient(self, module: nn.Module, parameters: Sequence[Any], gradients: Sequence[Any]) -> nn.Module:
        """A copy of the module with gradients for parameters, zeros for None."""
        if any(isinstance(gradient, nn.Module) for gradient in gradients):
            raise ConversionError(
                f"{type(module).__name__}: a ScriptModule holds tensors alone, and cannot hold the rows of a Hessian. Pass the "
                f"module that it was made from, or take products with the Hessian, hvp."
            )
        values = [
            torch.zeros_like(p, memory_format=torch.contiguous_format, requires_grad=False) if gradient is None else gradient
            for gradient, p in zip(gradients, parameters)
        ]
        return self._built(module, [value if value.requires_grad else nn.Parameter(value, False) for value in values])

    def around(
        self, module: nn.Module, parameters: Sequence[Any], values: Sequence[Any], *, compiled: bool = False
    ) -> nn.Module:
        """A copy of the module in which these values take the places of its parameters."""
        return self._built(module, values)

    @staticmethod
    def _built(module: nn.Module, values: Sequence[Any]) -> nn.Module:
        with torch.no_grad():
            copied: nn.Module = copy.deepcopy(module)
        placed = dict(zip(map(id, module.parameters()), values))
        for inner, other in zip(_submodules(module), _submodules(copied), strict=True):
            for name, parameter in inner._parameters.items():
                if parameter is not None:
                    setattr(other, name, placed[id(parameter)])
        if type(copied) is type(module):
            return copied
        # A traced module is a shell around a scripted one, and torch copies the latter alone.
        shell: nn.Module = object.__new__(type(module))
        vars(shell).update({name: copy.copy(value) for name, value in vars(module).items()}, _actual_script_module=copied)
        return shell


def _submodules(module: nn.Module) -> list[nn.Module]:
    return [inner for _, inner in module.named_modules(remove_duplicate=False)]


def signature_of(module: nn.Module) -> Any:
    """What distinguishes scripted modules: the names of their parameters, which are one, and what they are."""
    named = list(module.named_parameters(remove_duplicate=False))
    numbers: dict[int, int] = {}
    ties = tuple([numbers.setdefault(id(parameter), len(numbers)) for _, parameter in named])
    what = tuple([(name, p.shape, p.dtype, p.device, p.requires_grad) for name, p in named])
    return "ScriptModule", type(module), ties, what


def is_scripted(module: object) -> bool:
    return isinstance(module, torch.jit.ScriptModule)


__all__ = ["Scripted", "is_scripted", "signature_of"]
