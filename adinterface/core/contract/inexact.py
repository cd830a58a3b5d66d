"""The errors of an engine that takes derivatives from values of f: its `Backend.errors`. It is None for all others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple


class Errors(ABC):
    """The errors of an engine's derivatives.

    Such an engine notes the accuracy of each derivative with `core.contract.record.note_accuracy`, and spreads its evaluations
    of f over the workers of the option `executor`.
    """

    @abstractmethod
    def relative(self, order: int, epsilon: float) -> float:
        """The relative error of derivatives of this order, for the precision of f.

        Relative to the largest number that takes part. The tools and the conformance package tolerate this error.
        """

    @abstractmethod
    def scales(self, leaves: tuple[Any, ...]) -> tuple[Any, ...]:
        """For each leaf a NumPy array of its shape: the factors for the tangents of a compressed derivative.

        The engine takes one step along a tangent for all numbers in it. With the factors, each number moves as far as it would
        alone.
        """


class LeafAccuracy(NamedTuple):
    """The accuracy of the derivatives by one leaf, or, with the number -1, along a direction that moves several leaves."""

    leaf: int
    #: The largest estimated error relative to the largest derivative.
    relative: float
    #: Whether the user should be warned.
    doubtful: bool = False


class Accuracy(NamedTuple):
    """An engine's estimates of its errors."""

    #: How many derivatives were taken, those inside f included.
    order: int
    leaves: tuple[LeafAccuracy, ...]

    @property
    def relative(self) -> float:
        return max([leaf.relative for leaf in self.leaves], default=0.0)


def relative_error(errors: Errors | None, order: int, epsilon: float) -> float:
    """The relative error of derivatives; 0 if they are as exact as f's value."""
    return 0.0 if errors is None else errors.relative(order, epsilon)


def scales_of(errors: Errors | None, leaves: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The factors for tangents; None where the length of a tangent does not matter."""
    return None if errors is None else errors.scales(leaves)
