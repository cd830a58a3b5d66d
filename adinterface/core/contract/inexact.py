"""How exact derivatives are that an engine takes from values of f, see `note_accuracy`."""

from __future__ import annotations

from typing import NamedTuple


class LeafAccuracy(NamedTuple):
    """The accuracy by one leaf; or, with the number -1, along a direction of several leaves."""

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
