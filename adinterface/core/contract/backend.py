"""The contract of a backend: what an engine must provide so that every operator works with it.

An engine sees a flat function on a flat tuple of its own arrays. It never sees a tree, a Constant
or a keyword. It gives one primitive of `Backend`, from which the core writes every operator, and a
`Library` if it has arrays or tracers of its own. `Shortcuts` and `LibraryShortcuts` are for speed.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np

from ..support.members import own_members
from .auto import AutoBackend, Mode, is_mode
from .library import Library, Scoping
from .nodes import NodeType
from .rules import Arrays as Arrays

#: Random numbers that f draws while it is evaluated for many entries at once: refused, drawn for
#: each entry, or shared.
Randomness = Literal["error", "different", "same"]


class Aux:
    """What of f's value is not differentiated: arrays of the engine, and the layout of the value.

    An engine returns it unchanged. If it traces values, it takes each array out of its trace:
    `aux.map(untraced)`.
    """

    __slots__ = ("arrays", "layout")

    def __init__(self, arrays: Arrays = (), layout: Any = None):
        self.arrays: Arrays = arrays
        self.layout: Any = layout

    def __iter__(self) -> Iterator[Any]:
        return iter(self.arrays)

    def map(self, convert: Callable[[Any], Any]) -> Aux:
        """This aux with each array converted."""
        return Aux(tuple(map(convert, self.arrays)), self.layout) if self.arrays else self


class FlatFunction:
    """The function that an engine differentiates.

    Takes one native array for each leaf and returns `(outputs, aux)`: `outputs` is a tuple of
    native arrays, all real or complex floating, whose derivatives are taken; `aux` is an `Aux`,
    which is returned unchanged.
    """

    __slots__ = ()

    #: Leaves that f reaches through an object that holds them (a module's parameters), not through
    #: the value passed. An engine may differentiate with respect to such a leaf in place if it
    #: passes that leaf itself.
    owned: frozenset[int] = frozenset()

    @property
    def owners(self) -> Sequence[Any]:
        """The objects through which f reaches the owned leaves."""
        return ()

    @property
    def side_inputs(self) -> Sequence[Any]:
        """What else f gets that may be in a graph: arrays of the engine, opaque objects."""
        return ()

    def repeated(self) -> FlatFunction:
        """This function for several evaluations: NumPy arrays of Constants are read-only."""
        return self

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]:
        raise NotImplementedError


class Pullback(NamedTuple):
    """The result of `Backend.pullback`."""

    outputs: Arrays
    aux: Aux
    #: `back(cotangents)`: one native array for each leaf, None if no output depends on it; may be
    #: called repeatedly.
    back: Callable[[Arrays], Arrays]
    #: False only if the engine knows that no output depends on any leaf.
    connected: bool = True
    #: As `back`, for stacks of cotangents (a leading axis on each), in one batched call; None if
    #: the engine cannot.
    stacked: Callable[[Arrays], Arrays] | None = None


class Pushforward(NamedTuple):
    """The result of `Backend.pushforward`."""

    outputs: Arrays
    #: One for each output; None for an output that depends on no leaf.
    tangents: Arrays
    aux: Aux


class Linearized(NamedTuple):
    """The result of `Backend.linearize`."""

    outputs: Arrays
    aux: Aux
    #: `push(tangents)`: one native array for each output, None if it depends on no leaf; may be
    #: called repeatedly.
    push: Callable[[Arrays], Arrays]
    #: As `push`, for stacks of tangents, in one batched call; None if the engine cannot.
    stacked: Callable[[Arrays], Arrays] | None = None


class Gradient(NamedTuple):
    """The result of `Shortcuts.gradient`: of a function with one real scalar output."""

    outputs: Arrays
    aux: Aux
    #: One for each leaf; None for a leaf on which the output does not depend.
    gradients: Arrays
    #: False only if the engine knows that the output depends on no leaf.
    connected: bool = True


class Jacobian(NamedTuple):
    """The result of `Shortcuts.jacobian`: `blocks[k][n]` is of output k and leaf n."""

    outputs: Arrays
    aux: Aux
    blocks: list[list[Any]]


class KnownFailure(NamedTuple):
    """A known failure of an engine, as data: the conformance table shows the reason and the link.

    scenario, check: patterns with `*`, as in `fnmatch`; a check's name is that of its function.
    """

    scenario: str
    check: str
    reason: str
    link: str


class Shortcuts:
    """Operators that an engine may compute itself, faster than the core. All are optional.

    Each returns None, before it calls `function`, where it has nothing faster; the core then uses
    the primitives. Without `value`, the numbers of outputs and aux are not used, but the structure
    of aux is.
    """

    #: `back` can itself be differentiated by `pullback` (with `differentiable=True`): the transpose
    #: of the transpose is then a pushforward without a second evaluation of f. "always":
    #: pushforwards are taken so without a `mode`, though `pushforward` is defined.
    transposes: ClassVar[bool | Literal["always"]] = False

    def relative_error(self, order: int, epsilon: float) -> float:
        """The error of derivatives, relative to the largest number. epsilon: that of f's values.

        0 where derivatives are as exact as f's value. An engine that defines this takes derivatives
        from values of f. It notes the accuracy of each with `note_accuracy`, and spreads
        evaluations of f over the workers of the option `executor`.
        """
        return 0.0

    def scales(self, leaves: Arrays) -> Sequence[np.ndarray[Any, Any]] | None:
        """For each leaf the factors for the tangents of a compressed derivative; or None.

        An engine that takes one step along a tangent moves all numbers in it at once. With the
        factors, each number moves as far as it would alone.
        """
        return None

    def gradient(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Gradient | None:
        """The gradient of one real scalar output; without `value`, aux is not used."""
        return None

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | Pullback | Linearized | None:
        """The Jacobian of every output with respect to every leaf.

        Or a map after one evaluation of `function`: the core then takes the rows of a `Pullback`,
        or the columns of a `Linearized`.
        """
        return None

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        """The gradients of one real scalar output, and the Hessian times the directions; no aux.

        None among them represents zeros. Called, like the next two, where this backend is both the
        outer and the inner one.
        """
        return None

    def hessian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | None:
        """The Jacobian of the gradients of one real scalar output; these are the outputs.

        `aux.arrays` holds the function's value and its aux, or nothing without `value`; then the
        gradients are not used.
        """
        return None

    def second_derivatives(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Pushforward | None:
        """First derivatives as outputs, second ones as tangents, along each number of the leaves.

        Of a function of one real number: arrays like its outputs. Of other functions with one real
        scalar output: the gradients and the diagonal of the Hessian, as arrays like the leaves.
        """
        return None

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized | None:
        """The derivative as a linear map that does not evaluate `function` again."""
        return None

    def pushforward_stacked(
        self, function: FlatFunction, leaves: Arrays, stacks: Arrays
    ) -> Pushforward | None:
        """As `pushforward` for stacks of tangents, in one evaluation of `function`.

        `outputs` and `aux` have no such axis.
        """
        return None

    def vectorize(
        self,
        compute: Callable[..., Any],
        each: tuple[bool, ...],
        *,
        chunk: int,
        randomness: Randomness,
    ) -> Callable[..., Any] | None:
        """`compute(*entries)` for each entry of the leading axes, with few evaluations.

        each: whether each array has such an axis; the others are shared by all entries. `compute`
        takes native arrays, and returns tuples and lists of arrays and `Aux`; each array of
        the results has a leading axis. At most `chunk` entries are computed at a time. None if the
        engine cannot; the core then computes the entries one by one. The results must be equal to
        that.
        """
        return None

    def second_order(self) -> tuple[Backend, Backend]:
        """The outer and the inner backend of second derivatives, unless the user sets `mode`."""
        return self, self  # type: ignore[return-value]

    def compile(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        """A compiled `compute`, called with native arrays, NumPy arrays and numbers.

        `compute` returns tuples and lists of arrays and `Aux`. Several threads may call the
        compiled form at once.

        None if the engine does not compile, or if an option turns that off; a prepared call then
        runs `compute` uncompiled.
        """
        return None

    def compile_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """f for prepared gradients, from an engine that compiles f alone."""
        return f


class Backend(Shortcuts, ABC):
    """One engine. Name your class in an entry point of the group `adinterface.backends`.

    Laws, checked by the conformance package. For `outputs, aux, back, *_ = pullback(function,
    leaves)` and `_, tangents_out, _ = pushforward(function, leaves, tangents)`:

    - value: `outputs` and `aux` equal those of `function(*leaves)`;
    - adjointness: `<tangents_out, w> = <tangents, back(w)>` for every w, where `<a, b> = Re
      sum(conj(a) b)`: for a complex leaf the gradient is dL/dRe + i dL/dIm;
    - linearity of `back` in w and of `tangents_out` in `tangents`;
    - a gradient has the shape of its leaf, a tangent that of its output; None represents a zero
      where nothing depends, and the core makes the zeros;
    - `leaves` are not written to, and the engine's global state is unchanged afterwards, also if
      `function` raises.
    """

    #: The libraries of this engine's arrays, so that these are recognised as leaves.
    libraries: ClassVar[tuple[Library, ...]] = ()
    #: The node types of this engine.
    node_types: ClassVar[tuple[NodeType, ...]] = ()
    #: Classes whose instances hold no arrays to differentiate, such as compiled functions; always
    #: structure.
    opaque_types: ClassVar[tuple[type, ...]] = ()
    #: What the engine cannot do, or does differently.
    known_failures: tuple[KnownFailure, ...] = ()
    #: The library of the arrays that the engine computes with; None if it takes each leaf in its
    #: own library.
    library: Library | None
    #: The names of the members that the class defines: the operators choose by them.
    gives: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        cls.gives = own_members(cls, Backend)

    def __init__(self, auto: AutoBackend):
        self.auto = auto
        self.library = self.libraries[0] if self.libraries else None
        mode = getattr(auto, "mode", None)
        self.mode: Mode = mode if is_mode(mode) else None
        self.chunk_size: int | None = getattr(auto, "chunk_size", None)
        #: The device of native arrays; None leaves each on its device.
        self.device: Any = getattr(auto, "device", None)

    @property
    @final
    def estimates(self) -> bool:
        """Whether its derivatives have errors, which it estimates."""
        return "relative_error" in self.gives

    def pullback(
        self, function: FlatFunction, leaves: Arrays, *, differentiable: bool = False
    ) -> Pullback:
        """Evaluate `function` once; return the map from cotangents of outputs to those of leaves.

        differentiable: `back` will be called inside another `pullback` of this backend, which
        differentiates it. An engine that does not transpose can ignore it. It does not ask that
        results stay traced: see `Library.traced`.
        """
        raise NotImplementedError

    def pushforward(
        self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True
    ) -> Pushforward:
        """Evaluate `function` and its derivative along `tangents`, native arrays like the leaves.

        Without `value`, the numbers of outputs and aux are not used.
        """
        raise NotImplementedError

    def scope(self) -> Scoping | None:
        """Enters the context that the options need, for each call and map; None for none."""
        return None

    def note(self, error: Exception) -> str | None:
        """A note for the user on an error that f raised under this engine, or None."""
        return None

    @classmethod
    def devices(cls) -> list[str]:
        """The devices that the engine sees, for `python -m adinterface`."""
        return ["cpu"]
