"""The contract of a backend: what an engine must give so that every operator works with it.

An engine sees a flat function on a flat tuple of its own arrays. It never sees a tree, a Constant or a keyword.
A backend defines `pullback` or `pushforward`, one of them; the core writes every operator once from these.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

from .auto import AutoBackend
from .library import Library
from .nodes import NodeType

Arrays = tuple[Any, ...]


class FlatFunction(Protocol):
    """What the core asks an engine to differentiate.

    Called with as many native arrays as there are leaves, it gives `(outputs, aux)`: two tuples of native arrays.
    Derivatives are taken of `outputs` (all real or complex floating); `aux` is carried along.
    """

    #: Leaves that f reaches through an object that holds them (a module's parameters), not through the value passed.
    #: An engine may differentiate with respect to such a leaf in place if it passes that leaf itself.
    held: frozenset[int]

    def __call__(self, *leaves: Any) -> tuple[Arrays, Arrays]: ...


class Pullback(NamedTuple):
    """The result of `Backend.pullback`."""

    outputs: Arrays
    aux: Arrays
    #: `back(cotangents)`: one native array for each leaf; may be called again and again.
    back: Callable[[Arrays], Arrays]
    #: False only if the engine knows that no output depends on any leaf.
    connected: bool = True


class Pushforward(NamedTuple):
    """The result of `Backend.pushforward`."""

    outputs: Arrays
    tangents: Arrays
    aux: Arrays


class Backend(ABC):
    """One engine. Derive from it, name the class in an entry point of the group `adinterface.backends`.

    Laws, checked by the conformance package. For `outputs, aux, back, _ = pullback(function, leaves)` and
    `_, tangents_out, _ = pushforward(function, leaves, tangents)`:

    - value: `outputs` and `aux` are what `function(*leaves)` gives;
    - adjointness: `<tangents_out, w> = <tangents, back(w)>` for every w, where `<a, b> = Re sum(conj(a) b)`: for a
      complex leaf the gradient is dL/dRe + i dL/dIm;
    - linearity of `back` in w and of `tangents_out` in `tangents`;
    - gradients have their leaf's shape; a leaf that is not used has zeros;
    - `leaves` are not written to, and no global state of the engine differs afterwards, also if `function` raises.
    """

    #: The libraries of arrays that this engine brings, so that its arrays are recognised as leaves.
    libraries: ClassVar[tuple[Library, ...]] = ()
    #: The node types that this engine brings.
    node_types: ClassVar[tuple[NodeType, ...]] = ()
    #: The library of the arrays that the engine computes with; None if it takes each leaf in its own library.
    library: Library | None

    def __init__(self, auto: AutoBackend):
        self.auto = auto
        self.library = self.libraries[0] if self.libraries else None

    #: Where native arrays are put; an engine with devices reads it from its options.
    device: Any = None

    def pullback(self, function: FlatFunction, leaves: Arrays) -> Pullback:
        """Evaluate `function` once, and give the map from cotangents of its outputs to cotangents of the leaves."""
        raise NotImplementedError

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        """Evaluate `function` and its derivative in the direction `tangents` (native arrays like the leaves)."""
        raise NotImplementedError

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        """For a function with one real scalar output: `(outputs, aux, gradients, connected)`.

        An engine overrides this only where it can do it faster than by `pullback`.
        """
        from .operators.derive import gradient

        return gradient(self, function, leaves)

    def note(self, error: Exception) -> str | None:
        """What a user should know about an error that f raised under this engine; None if there is nothing to say."""
        return None

    @classmethod
    def devices(cls) -> list[str]:
        """The devices that the engine sees, for `python -m adinterface`."""
        return ["cpu"]


def gives(backend: Backend, primitive: str) -> bool:
    """Whether a backend defines `pullback`, or `pushforward`, itself."""
    return getattr(type(backend), primitive) is not getattr(Backend, primitive)
