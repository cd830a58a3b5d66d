"""Rows of the study: models of PyTorch, of Equinox and of Flax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np
import torch
from flax import linen, nnx
from judged_functions import Maker, Random, Row
from torch import nn

from adinterface import Constant


def _module(make: Callable[[], nn.Module], shape: tuple[int, ...], *, frozen: bool = False, seeded: bool = False) -> Maker:
    def row(random: Random, dtype: str) -> Any:
        with torch.random.fork_rng():
            torch.manual_seed(int(random.integers(1 << 30)))
            model = make().to(getattr(torch, dtype))
        if frozen:
            next(model.parameters()).requires_grad_(False)
        x = torch.tensor(random.standard_normal(shape)).to(getattr(torch, dtype))

        def f(model: Any, x: Any) -> Any:
            if not seeded:
                return (model(x) ** 3).mean()
            with torch.random.fork_rng():
                torch.manual_seed(3)
                return (model(x) ** 3).mean()

        return f, (model, Constant(x))

    return row


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.out = nn.Embedding(7, 4), nn.Linear(4, 7)
        self.out.weight = self.embedding.weight

    def forward(self, x: Any) -> Any:
        return self.out(torch.tanh(self.embedding((x[:, 0] > 0).long())))


def _equinox(random: Random, dtype: str) -> Any:
    model = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.key(int(random.integers(1 << 30))))
    model = jax.tree.map(lambda x: np.asarray(x, dtype) if eqx.is_array(x) else x, model)
    x = random.standard_normal((4, 3)).astype(dtype)
    return lambda model, x: jax.numpy.mean(jax.vmap(model)(x) ** 2), (model, Constant(x))


class _Nnx(nnx.Module):
    """With statistics, which f changes."""

    def __init__(self, seed: int, dtype: str):
        rngs = nnx.Rngs(seed)
        self.one, self.two = nnx.Linear(3, 6, param_dtype=dtype, rngs=rngs), nnx.Linear(6, 1, param_dtype=dtype, rngs=rngs)
        self.norm = nnx.BatchNorm(6, param_dtype=dtype, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.two(jax.numpy.tanh(self.norm(self.one(x))))


def _nnx(random: Random, dtype: str) -> Any:
    with jax.enable_x64(dtype == "float64"):
        model = _Nnx(int(random.integers(1 << 30)), dtype)
    return lambda model, x: jax.numpy.mean(model(x) ** 2), (model, Constant(random.standard_normal((8, 3)).astype(dtype)))


def _linen(random: Random, dtype: str) -> Any:
    model: Any = linen.Sequential([linen.Dense(8), linen.LayerNorm(), linen.gelu, linen.Dense(1)])
    x = random.standard_normal((8, 3)).astype(dtype)
    parameters = model.init(jax.random.key(int(random.integers(1 << 30))), np.zeros((1, 3), "float32"))
    parameters = jax.tree.map(lambda leaf: np.asarray(leaf, dtype), parameters)
    return lambda parameters, x: jax.numpy.mean(model.apply(parameters, x) ** 2), (parameters, Constant(x))


_TORCH, _JAX = ("AutoTorch",), ("AutoJax",)

MODELS: dict[str, Row] = {
    "nn.BatchNorm2d": Row(
        _module(lambda: nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten()), (5, 1, 6, 6)),
        engines=_TORCH,
    ),
    "nn.TransformerEncoderLayer": Row(
        _module(lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (2, 5, 8)), engines=_TORCH
    ),
    "nn.Linear, frozen": Row(
        _module(lambda: nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1)), (6, 5), frozen=True), engines=_TORCH
    ),
    "nn.Dropout, seeded": Row(
        _module(lambda: nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.3), nn.Linear(8, 1)), (6, 5), seeded=True), engines=_TORCH
    ),
    "nn.Embedding, tied": Row(_module(_Tied, (4, 2)), engines=_TORCH),
    "eqx.nn.MLP": Row(_equinox, engines=_JAX),
    "nnx.BatchNorm": Row(_nnx, engines=_JAX),
    "linen.LayerNorm": Row(_linen, engines=_JAX),
}
