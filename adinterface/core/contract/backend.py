"""The contract of a backend: what an engine must give so that every operator works with it.

An engine sees a flat function on a flat tuple of its own arrays. It never sees a tree, a Constant or a keyword.

- What must be given: one primitive of `Backend`, `pullback` or `pushforward`. The core writes every operator once from it.
- What gives speed: `Shortcuts`, and `LibraryShortcuts` in `library.py`. No engine needs any of it.
- What a library of arrays needs: `Library` in `library.py`, for an engine with arrays or tracers of its own.

An engine imports `adinterface` and `adinterface.core.contract`. Its further doors are named in `docs/writing-a-backend.md`.
"""

from __future__ import annotations

import pickle
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from .auto import AutoBackend, Mode
from .library import Library, Scoping
from .nodes import NodeType

if TYPE_CHECKING:
    from .compilers import Compiler

Arrays = tuple[Any, ...]


#: Random numbers that f draws where it is evaluated for many entries at once: refused, each entry's own, or the same for all.
Randomness = Literal["error", "different", "same"]


class Aux:
    """What f returned beside what is differentiated: arrays of the engine, and the form in which they were returned.

    An engine hands it on. If it traces values, it takes each array out of its trace: `aux.map(untraced)`.
    """

    __slots__ = ("arrays", "form")

    def __init__(self, arrays: Arrays = (), form: Any = None):
        self.arrays, self.form = arrays, form

    def __iter__(self) -> Iterator[Any]:
        return iter(self.arrays)

    def map(self, convert: Callable[[Any], Any]) -> Aux:
        """The same with each array converted."""
        return Aux(tuple([convert(array) for array in self.arrays]), self.form) if self.arrays else self


class FlatFunction(Protocol):
    """What the core asks an engine to differentiate.

    Called with as many native arrays as there are leaves, it gives `(outputs, aux)`: a tuple of native arrays, all real or
    complex floating, of which derivatives are taken, and an `Aux`, which is carried along.
    """

    #: Leaves that f reaches through an object that holds them (a module's parameters), not through the value passed.
    #: An engine may differentiate with respect to such a leaf in place if it passes that leaf itself.
    held: frozenset[int]
    #: Nobody but this call holds the leaves, so an engine may mark them as its own.
    fresh: bool

    @property
    def alone(self) -> FlatFunction:
        """The same for whoever looks at the outputs only, which may take fewer evaluations of f."""

    @property
    def elsewhere(self) -> FlatFunction:
        """The same for other leaves than those of the call, which no object holds."""

    def __call__(self, *leaves: Any) -> tuple[Arrays, Aux]: ...


class RepeatableFunction(FlatFunction, Protocol):
    """What the flat functions of the core offer beyond that, to engines that evaluate f many times.

    Other flat functions need not have these members: an engine asks for each with `getattr(function, name, None)`.
    """

    @property
    def of_any_numbers(self) -> FlatFunction:
        """The same for leaves of other dtypes, such as complex ones in place of real ones, whatever it returns."""

    def shipped(self, active: Sequence[Any]) -> tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]:
        """f itself and its arguments at these leaves, for a worker in another process."""

    def taken_apart(self, result: Any) -> tuple[Arrays, Aux]:
        """What f returned, as `(outputs, aux)`."""


class Pullback(NamedTuple):
    """The result of `Backend.pullback`."""

    outputs: Arrays
    aux: Aux
    #: `back(cotangents)`: one native array for each leaf, None if no output depends on it; may be called again and again.
    back: Callable[[Arrays], Arrays]
    #: False only if the engine knows that no output depends on any leaf.
    connected: bool = True
    #: As `back`, for stacks of cotangents (a leading axis on each), in one batched call; None if the engine cannot.
    back_stacked: Callable[[Arrays], Arrays] | None = None


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
    #: `push(tangents)`: one native array for each output, None if it depends on no leaf; may be called again and again.
    push: Callable[[Arrays], Arrays]
    #: As `push`, for stacks of tangents, in one batched call; None if the engine cannot.
    push_stacked: Callable[[Arrays], Arrays] | None = None


class Gradient(NamedTuple):
    """The result of `Shortcuts.gradient`: of a function with one real scalar output."""

    outputs: Arrays
    aux: Aux
    #: One for each leaf; None for a leaf on which the output does not depend.
    gradients: Arrays
    #: False only if the engine knows that the output depends on no leaf.
    connected: bool = True


class Jacobian(NamedTuple):
    """The result of `Shortcuts.jacobian`: `blocks[k][n]` has the shape of output k followed by that of leaf n."""

    outputs: Arrays
    aux: Aux
    blocks: list[list[Any]]


class LeafAccuracy(NamedTuple):
    """How exact the derivatives by one leaf are, or, with the number -1, those in a direction that moves several."""

    leaf: int
    #: The largest estimated error relative to the largest derivative.
    relative: float
    #: Whether the user should be warned.
    doubtful: bool = False


class Accuracy(NamedTuple):
    """What an engine tells of derivatives that it estimates the errors of, by `core.contract.record.note_accuracy`."""

    #: How many derivatives were taken, those inside f included.
    order: int
    leaves: tuple[LeafAccuracy, ...]

    @property
    def relative(self) -> float:
        return max([leaf.relative for leaf in self.leaves], default=0.0)


class KnownFailure(NamedTuple):
    """Something that an engine cannot do, as data: the conformance table shows the reason and the link.

    scenario, check: patterns with `*`, as in `fnmatch`; a check's name is that of its function.
    """

    scenario: str
    check: str
    reason: str
    link: str


class Shortcuts:
    """What an engine may do in its own way, where that is faster than by the primitives. No engine needs any of it.

    Each answers None, before it calls `function`, where it has nothing better; the core then does it. Without `value`
    nobody looks at the numbers of outputs and aux, but the form of aux counts.
    """

    #: `back` can itself be differentiated by `pullback` (with `differentiable=True`): the transpose of the transpose
    #: is then a pushforward that needs no second evaluation of f.
    transposes: ClassVar[bool] = False
    #: Without a `mode`, take pushforwards by transposing `pullback` even if `pushforward` is there.
    prefers_transposing: ClassVar[bool] = False
    #: Without a `mode`, a Jacobian of at most so many inputs is taken by `pushforward_stacked`, whatever the outputs.
    forward_below: ClassVar[int] = 0
    #: The modes of the outer and the inner derivative in second-order operators, unless the user's `mode` says.
    second_order: ClassVar[tuple[Mode, Mode]] = (None, None)

    #: `vectorize` and `compile` take functions that return tuples and lists of arrays, of None and of `Aux`. Otherwise they are
    #: given functions that return a flat tuple of arrays, and the core keeps the structure of the results.
    takes_trees: ClassVar[bool] = False
    #: It hands evaluations of f to the executor of its value itself; derivatives of others go out in parts.
    takes_executor: ClassVar[bool] = False
    #: The engine estimates the errors of its derivatives and notes them (see `Accuracy`).
    estimates: ClassVar[bool] = False

    def relative_error(self, order: int, epsilon: float) -> float | None:
        """How exact its derivatives of this order are, by the precision of f; None if they are as exact as f's value.

        Relative to the largest number that takes part. The tools and the conformance package allow that much.
        """
        return None

    def gradient(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Gradient | Linearized | None:
        """The gradient of a function with one real scalar output; without `value` nobody looks at aux at all.

        Or a `Linearized`, of which the core then takes the columns.
        """
        return None

    def jacobian(
        self, function: FlatFunction, leaves: Arrays, *, value: bool = True
    ) -> Jacobian | Pullback | Linearized | None:
        """The Jacobian of every output with respect to every leaf.

        Or a map after one evaluation of `function`: the core then takes the rows of a `Pullback`, or the columns of a
        `Linearized`.
        """
        return None

    def hvp(self, function: FlatFunction, leaves: Arrays, directions: Arrays) -> Pushforward | None:
        """Of a function with one real scalar output: the gradients, and the Hessian times the directions, with an empty aux.

        None stands for zeros, among the gradients and among the products.
        Asked where this backend is both the outer and the inner one.
        """
        return None

    def hessian(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Jacobian | None:
        """Of a function with one real scalar output: the Jacobian of its gradients, which are the outputs.

        `aux.arrays` holds the function's value and what it returned beside, or nothing without `value`; then nobody looks at
        the gradients. Asked, like the next two, where this backend is both the outer and the inner one.
        """
        return None

    def hessian_diagonal(self, function: FlatFunction, leaves: Arrays) -> Arrays | None:
        """The diagonal of that, an array like each leaf."""
        return None

    def second_derivative(self, function: FlatFunction, leaves: Arrays, *, value: bool = True) -> Pushforward | None:
        """Of a function of one real number: its derivatives as outputs, its second derivatives as tangents; aux as above."""
        return None

    def linearize(self, function: FlatFunction, leaves: Arrays) -> Linearized | None:
        """The derivative as a linear map that does not evaluate `function` again."""
        return None

    def pushforward_stacked(self, function: FlatFunction, leaves: Arrays, stacks: Arrays) -> Pushforward | None:
        """As `pushforward` for stacks of tangents (a leading axis on each), in one evaluation of `function`.

        `outputs` and `aux` have no such axis.
        """
        return None

    def scales(self, leaves: Arrays) -> tuple[Any, ...] | None:
        """For each leaf a NumPy array of its shape: by what to multiply the tangents of a compressed derivative.

        For an engine that measures along a tangent, with one step for all that it moves: so each number moves as far as it
        would alone. None where the length of a tangent does not matter.
        """
        return None

    def vectorize(
        self, compute: Callable[..., Any], each: tuple[bool, ...], *, chunk: int, randomness: Randomness
    ) -> Callable[..., Any] | None:
        """A function of arrays that is `compute(*entries)` for each entry of the leading axes, from few evaluations.

        each: of every array, whether it has such an axis; the others go to every entry as they are. `compute` takes native
        arrays, and returns a flat tuple of arrays (see `takes_trees`); the results have an axis in front of each array.
        At most `chunk` entries are computed at a time. None if the engine cannot; the core then computes one after another,
        which is what such a function must be equal to.
        """
        return None

    def pair(self) -> tuple[Backend, Backend] | None:
        """The outer and the inner backend of second derivatives, where they are more than two modes of the engine."""
        return None

    def compile(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        """A compiled form of `compute(*arrays)`, which takes native or plain NumPy arrays and NumPy numbers, never None.

        `compute` returns a flat tuple of arrays (see `takes_trees`). Several threads may call the compiled form at once.

        None if the engine does not compile, or was told not to; a prepared call then runs `compute` as it is.
        """
        return None

    def compile_deciding(self, compute: Callable[..., Any]) -> Callable[..., Any] | None:
        """As `compile`, for code that goes on by numbers which a compiled call does not know: see `decisions`.

        It compiles a form for each way that the code takes, and compares the numbers in each call. None if the engine cannot.
        """
        return None

    def export(self, function: Callable[..., Arrays], arrays: Arrays, path: str) -> dict[str, Any] | None:
        """Write a function of such native arrays, and what it computes, into a file that loads without this package.

        `function` returns a tuple of native arrays. The result says in a manifest what the file is: `format`, `load` (the code
        that loads it), and what else a user must know. None if the engine cannot; then nothing is written.
        """
        return None

    def compile_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """f as a prepared `gradient` or `value_and_gradient` should call it, for an engine that compiles f alone."""
        return f


class Backend(Shortcuts, ABC):
    """One engine. Derive from it, name the class in an entry point of the group `adinterface.backends`.

    Laws, checked by the conformance package. For `outputs, aux, back, _ = pullback(function, leaves)` and
    `_, tangents_out, _ = pushforward(function, leaves, tangents)`:

    - value: `outputs` and `aux` are what `function(*leaves)` gives;
    - adjointness: `<tangents_out, w> = <tangents, back(w)>` for every w, where `<a, b> = Re sum(conj(a) b)`: for a
      complex leaf the gradient is dL/dRe + i dL/dIm;
    - linearity of `back` in w and of `tangents_out` in `tangents`;
    - a gradient has the shape of its leaf, a tangent that of its output; None stands for one that is zero because nothing
      depends there, and the core makes the zeros;
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

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays, *, value: bool = True) -> Pushforward:
        """Evaluate `function` and its derivative in the direction `tangents` (native arrays like the leaves).

        Without `value` nobody looks at the numbers of outputs and aux.
        """
        raise NotImplementedError

    def scope(self) -> Scoping | None:
        """How to enter the context that the options of the value ask for; None asks for no context.

        The context is entered when a call begins, and when a map that a call returned is applied.
        """
        return None

    def note(self, error: Exception) -> str | None:
        """What a user should know about an error that f raised under this engine; None if there is nothing to say."""
        return None

    @classmethod
    def optimiser(cls, name: str) -> Callable[..., Any]:
        """What makes the optimiser of this name, one of those that the backend's value names in `optimisers`."""
        raise NotImplementedError

    @classmethod
    def advice(cls, value: object) -> str | None:
        """What to pass in place of an object that holds arrays and cannot be looked into, if this engine's users know a way."""
        return None

    @classmethod
    def compiler(cls) -> Compiler:
        """What calls in a user's compiled code need, for an engine whose value defines `is_compiling`. Asked once."""
        raise NotImplementedError

    @classmethod
    def devices_of(cls, executor: Any) -> list[Any] | None:
        """The devices that an executor stands for, if it is this engine's own word for several; None for any other."""
        return None

    @classmethod
    def pickle_device(cls, device: Any) -> bytes:
        """A device of the backend's value, pickled; for an engine whose devices do not pickle themselves."""
        return pickle.dumps(device)

    @classmethod
    def devices(cls) -> list[str]:
        """The devices that the engine sees, for `python -m adinterface`."""
        return ["cpu"]


def gives(backend: Backend, member: str) -> bool:
    """Whether a backend defines this primitive, or this shortcut, itself."""
    return getattr(type(backend), member) is not getattr(Backend, member)
