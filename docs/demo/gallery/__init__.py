"""Ten problems, each written once in a file of its own, and solved with every engine.

A file has `solve(backend)`, which gives what was found as numbers and arrays, and `draw(axes,
found)`.
"""

from __future__ import annotations

from types import ModuleType

from . import (
    autoencoder,
    gauss_newton,
    gaussian_process,
    hamiltonian,
    hyperparameters,
    informed,
    kalman,
    laplace,
    newton,
    predator_prey,
)

PROBLEMS: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        newton,
        gaussian_process,
        kalman,
        predator_prey,
        gauss_newton,
        laplace,
        hamiltonian,
        informed,
        hyperparameters,
        autoencoder,
    )
}

__all__ = ["PROBLEMS"]
