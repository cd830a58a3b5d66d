"""Results are built on a structure again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from ..contract.structures import Structure


def build(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree with these leaves; Constants are unwrapped, static values kept."""
    return structure.build(leaves)


def build_gradient(structure: Structure, gradients: Iterator[Any]) -> Any:
    """The tree of gradients for a structure without slots: one for each differentiated leaf, None for everything else."""
    return structure.gradient(gradients, repeat(None))
