"""torch's modules, from three numbers to twelve layers, and what their users write: gradients as a
list, no copy.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import torch
from torch import nn

from . import Function, Model

ALL = ("gradient", "value_and_gradient", "hvp", "jacobian")


def models() -> list[Model]:
    return [
        Model("nn.Linear(3, 1)", 4, lambda: _regression(nn.Linear(3, 1), 8, 3), _transform),
        Model("nn.Module", 128, _mlp, _transform, ALL),
        Model("50 nn.Linear", 100, _many_linears, _transform),
        Model("20 conv + norm", 20, _convolutions, _transform),
        Model("transformer", 12, _transformer, _transform),
        Model("compiled nn.Module", 128, _mlp, _compiled, ("gradient",), {"compile": True}),
    ]


def _mlp() -> Any:
    generator = torch.Generator().manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10))
    batch = torch.randn(128, 64, generator=generator)
    labels = torch.randint(10, (128,), generator=generator)

    def loss(model: Any, batch: Any, labels: Any) -> Any:
        return nn.functional.cross_entropy(model(batch), labels)

    return loss, lambda model, batch, labels: model(batch).mean(dim=0), model, (batch, labels)


def _many_linears() -> Any:
    return _regression(nn.Sequential(*[nn.Linear(8, 8) for _ in range(50)]), 8, 8)


def _convolutions() -> Any:
    blocks = [
        nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        for _ in range(20)
    ]
    return _regression(nn.Sequential(*blocks), 4, 16, 8, 8)


def _transformer() -> Any:
    layer = nn.TransformerEncoderLayer
    layers = [layer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(12)]
    return _regression(nn.Sequential(*layers), 4, 16, 32)


def _regression(model: nn.Module, *shape: int) -> Any:
    batch = torch.randn(*shape, generator=torch.Generator().manual_seed(0))

    def loss(model: Any, batch: Any) -> Any:
        return model(batch).square().mean()

    return loss, lambda model, batch: model(batch).mean(dim=0), model, (batch,)


# What their users write
# -----------------------------------------------------------------------------------------------


def _transform(operator: str, f: Function, prepared: bool) -> Function | None:
    made = _TRANSFORMS.get(operator)
    return None if made is None else lambda *args: made(f, *args)


def _compiled(operator: str, f: Any, prepared: bool) -> Function | None:
    """The user's own compiled loss; a single call is not worth compiling for.

    What torch has compiled it keeps at the code of f: that of a copy is compiled apart from ours.
    """
    if not prepared or operator not in _TRANSFORMS:
        return None
    code = f.__code__.replace()
    copied = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    return _transform(operator, torch.compile(copied), prepared)


def _gradient(f: Function, model: nn.Module, *constants: Any) -> Any:
    return torch.autograd.grad(f(model, *constants), list(model.parameters()))


def _value_and_gradient(f: Function, model: nn.Module, *constants: Any) -> Any:
    value = f(model, *constants)
    return value.detach(), torch.autograd.grad(value, list(model.parameters()))


def _hvp(f: Function, model: nn.Module, v: nn.Module, *constants: Any) -> Any:
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(f(model, *constants), parameters, create_graph=True)
    return torch.autograd.grad(gradients, parameters, list(v.parameters()))


def _jacobian(f: Function, model: nn.Module, *constants: Any) -> Any:
    parameters = list(model.parameters())
    value = f(model, *constants)
    basis = torch.eye(value.numel(), dtype=value.dtype)
    return torch.func.vmap(lambda seed: torch.autograd.grad(value, parameters, seed))(basis)


_TRANSFORMS: dict[str, Function] = {
    "gradient": _gradient,
    "value_and_gradient": _value_and_gradient,
    "hvp": _hvp,
    "jacobian": _jacobian,
}
