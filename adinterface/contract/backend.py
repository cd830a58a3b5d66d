"""The contract of a backend: what an engine must give so that every operator works with it.

An engine sees a flat function on a flat tuple of its own arrays. It never sees a tree, a Constant or a keyword.
A backend defines `pullback` or `pushforward`, one of them; the core writes every operator once from these.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Protocol

from .auto import AutoBackend, Mode
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
    #: Nobody but this call holds the leaves, so an engine may mark them as its own.
    fresh: bool

    def __call__(self, *leaves: Any) -> tuple[Arrays, Arrays]: ...


class Pullback(NamedTuple):
    """The result of `Backend.pullback`."""

    outputs: Arrays
    aux: Arrays
    #: `back(cotangents)`: one native array for each leaf; may be called again and again.
    back: Callable[[Arrays], Arrays]
    #: False only if the engine knows that no output depends on any leaf.
    connected: bool = True
    #: As `back`, for stacks of cotangents (a leading axis on each), in one batched call; None if the engine cannot.
    back_stacked: Callable[[Arrays], Arrays] | None = None


class Pushforward(NamedTuple):
    """The result of `Backend.pushforward`."""

    outputs: Arrays
    tangents: Arrays
    aux: Arrays


class Linearized(NamedTuple):
    """The result of `Backend.linearize`."""

    outputs: Arrays
    aux: Arrays
    #: `push(tangents)`: one native array for each output; may be called again and again.
    push: Callable[[Arrays], Arrays]
    #: As `push`, for stacks of tangents, in one batched call; None if the engine cannot.
    push_stacked: Callable[[Arrays], Arrays] | None = None


class Straight(Protocol):
    """The gradient of a real scalar function of plain NumPy arrays, without intermediate objects.

    `evaluate(leaves)`, called once with the engine's arrays, gives the native scalar and the auxiliary arrays.
    `taken`: the memory that results must not overlap; that of the leaves is added. Returns the scalar, the auxiliary
    arrays, the caller's own NumPy arrays of gradients, and whether the scalar depends on any leaf (as far as the engine
    knows); or None, before `evaluate`, where the state of the engine asks for the general way.
    """

    def __call__(
        self, evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]], arrays: Sequence[Any], taken: set[int]
    ) -> tuple[Any, Arrays, Sequence[Any], bool] | None: ...


class StraightProduct(Protocol):
    """As `Straight`, the Hessian times `directions`, which are NumPy arrays like `arrays`."""

    def __call__(
        self,
        evaluate: Callable[[Sequence[Any]], tuple[Any, Arrays]],
        arrays: Sequence[Any],
        directions: Sequence[Any],
        taken: set[int],
    ) -> Sequence[Any] | None: ...


class KnownFailure(NamedTuple):
    """Something that an engine cannot do, as data: the conformance table shows the reason and the link.

    scenario, check: patterns with `*`, as in `fnmatch`; a check's name is that of its function.
    """

    scenario: str
    check: str
    reason: str
    link: str


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
    #: Classes whose instances hold no arrays to differentiate, such as compiled functions: structure, at sight.
    opaque_types: ClassVar[tuple[type, ...]] = ()
    #: What the engine is known not to do, or to do in its own way.
    known_failures: ClassVar[tuple[KnownFailure, ...]] = ()
    #: The library of the arrays that the engine computes with; None if it takes each leaf in its own library.
    library: Library | None

    #: `back` can itself be differentiated by `pullback` (with `differentiable=True`): the transpose of the transpose
    #: is then a pushforward that needs no second evaluation of f.
    transposes: ClassVar[bool] = False
    #: Without a `mode`, take pushforwards by transposing `pullback` even if `pushforward` is there.
    prefers_transposing: ClassVar[bool] = False
    #: Without a `mode`, a Jacobian of at most so many inputs is taken by `pushforward_stacked`, whatever the outputs.
    forward_below: ClassVar[int] = 0
    #: The modes of the outer and the inner derivative in second-order operators, unless the user's `mode` says.
    second_order: ClassVar[tuple[Mode, Mode]] = (None, None)

    def __init__(self, auto: AutoBackend):
        self.auto = auto
        self.library = self.libraries[0] if self.libraries else None
        self.mode: Mode = getattr(auto, "mode", None)
        self.chunk_size: int | None = getattr(auto, "chunk_size", None)
        #: Where native arrays are put; None leaves them where they are.
        self.device: Any = getattr(auto, "device", None)

    def pullback(self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False) -> Pullback:
        """Evaluate `function` once, and give the map from cotangents of its outputs to cotangents of the leaves.

        With `differentiable`, `back` may be called inside another `pullback` of this backend; an engine that does not
        transpose can ignore it.
        """
        raise NotImplementedError

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        """Evaluate `function` and its derivative in the direction `tangents` (native arrays like the leaves)."""
        raise NotImplementedError

    def tangents(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Arrays:
        """The tangents of `pushforward` alone, for an engine that needs less for them."""
        return self.pushforward(function, leaves, tangents).tangents

    def pushforward_stacked(self, function: FlatFunction, leaves: Arrays, stacks: Arrays) -> Pushforward:
        """As `pushforward` for stacks of tangents (a leading axis on each), in one evaluation of `function`.

        `outputs` and `aux` have no such axis. An engine without batching leaves it out.
        """
        raise NotImplementedError

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized:
        """Evaluate `function`, and give its derivative as a linear map; by default each push is a `pushforward`."""
        from ..derive.primitives import linearize_by_pushforward

        return linearize_by_pushforward(self, function, leaves)

    def pair(self) -> tuple[Backend, Backend]:
        """The outer and the inner backend for second derivatives with this backend alone."""
        if not hasattr(self.auto, "mode") or self.mode is not None:
            return self, self
        from ..registry import backend_of

        outer, inner = self.second_order
        return (
            backend_of(replace(self.auto, mode=outer)),  # type: ignore[call-arg]
            backend_of(replace(self.auto, mode=inner)),  # type: ignore[call-arg]
        )

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        """For a function with one real scalar output: `(outputs, aux, gradients, connected)`.

        An engine overrides this only where it can do it faster than by `pullback`.
        """
        from ..derive.jacobians import gradient_by_pullback

        return gradient_by_pullback(self, function, leaves)

    def gradients(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, bool]:
        """As `gradient`: the gradients and `connected` alone, for an engine that finds them without the value."""
        return self.gradient(function, leaves)[2:]

    def straight(self, dtypes: tuple[str, ...], value: bool) -> Straight | None:
        """The shortest way from NumPy arrays of these dtypes (float16, float32, float64) to their gradients.

        It gives what `gradient` gives; without `value`, any scalar in its place. None if the engine has no shorter way
        than the general one.
        """
        return None

    def straight_product(self, dtypes: tuple[str, ...]) -> StraightProduct | None:
        """As `straight`, for the product of the Hessian with a vector, where this backend is both of a pair."""
        return None

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> tuple[Arrays, Arrays, list[list[Any]]] | None:
        """`(outputs, aux, blocks)`, where `blocks[k][n]` has the shape of output k followed by that of leaf n.

        Without `value` nobody looks at outputs and aux. An engine overrides this only where it can do it faster than by
        `pullback` or `pushforward`; None, before it calls `function`, where it cannot.
        """
        return None

    def compile(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        """A compiled form of `compute(active, carried, tangents)`, which takes tuples of native arrays (and, in `carried`,
        Python floats) and returns tuples, lists and named tuples of arrays, bools and this backend's own maps.

        None if the engine does not compile, or was told not to; a prepared call then runs `compute` as it is.
        """
        return None

    def compile_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """f as a prepared `gradient` or `value_and_gradient` should call it, for an engine that compiles f alone."""
        return f

    def compile_numpy(self, compute: Callable[..., Any], dtypes: tuple[str, ...]) -> Callable[..., Any] | None:
        """As `compile`, from plain NumPy arrays to the caller's own NumPy arrays, in a precision scope for these dtypes.

        Asked only of an engine that compiles. `compute` must not return maps. What is compiled may return None for "not now".
        """
        return None

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
