"""Optimisers of other libraries: the entry points to those that the backends provide."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from ..core.contract.errors import BackendError
from ..core.contract.registry import backend_for, classes_with

if TYPE_CHECKING:
    from collections.abc import Mapping


class Optimiser(Protocol):
    """An optimiser whose state is a tree: the result of `from_optax`.

    Any object with these methods can replace it.
    """

    def init(self, model: Any) -> Any:
        """The state at the start."""

    def update(self, gradient: Any, state: Any, model: Any = None, **extra: Any) -> tuple[Any, Any]:
        """`(updates, state)`: the updates to add to the model, and the next state."""

    def step(self, gradient: Any, state: Any, model: Any, **extra: Any) -> tuple[Any, Any]:
        """`(model, state)` after one step."""


class StatefulOptimiser(Protocol):
    """An optimiser that holds its state and the model: the result of `from_torch_optim`."""

    @property
    def model(self) -> Any:
        """The current model."""

    def step(self, gradient: Any = None, *, closure: Callable[[Any], Any] | None = None) -> Any:
        """The model after one step."""

    def state_dict(self) -> dict[str, Any]:
        """The state, to be pickled."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from such a state."""


def from_optax(transform: Any, *, jit: bool = True) -> Optimiser:
    """An Optax transformation as an optimiser of any tree, for gradients of any backend.

    `optimiser = from_optax(optax.adam(1e-3))`, `state = optimiser.init(model)`, then in each step
    `model, state = optimiser.step(gradient, state, model)`; `optimiser.update(gradient, state,
    model)` returns `(updates, state)`, as in Optax. The gradient may be the tuple that
    `gradient(loss, backend, model, Constant(x))` returned.

    Each leaf of the model keeps its type, library and dtype; 64 bits stay 64 without JAX's global
    switch. Optax gets the model itself where JAX knows its classes; a dataclass or a module becomes
    a dict by field, also in masks and labels. An array at several places is one parameter. The
    state is Optax's, with NumPy arrays (JAX arrays for a model of JAX arrays), and can be pickled.

    jit: whether JAX compiles the step, once for each structure.
    Complex gradients need no conjugation: ours point uphill, while those of JAX must be conjugated
    for Optax.

    Raises TypeError for anything but a transformation, MissingEngineError without JAX, TreeError
    for a gradient that does not match.
    """
    return _made("optax", transform, jit=jit)  # type: ignore[no-any-return]


def from_torch_optim(
    optimiser: Callable[..., Any], model: Any, /, *, share_memory: bool = False, **options: Any
) -> StatefulOptimiser:
    """A torch optimiser on the leaves of any tree, for gradients of any backend.

    `optimiser = from_torch_optim(torch.optim.Adam, model, lr=1e-3)`, then in each step `model =
    optimiser.step(gradient)`. A module is updated in place and returned. Any other tree is copied:
    `step` returns a new one like it, each leaf with its type, library and dtype.
    `optimiser.optimizer` is the torch optimiser, for schedulers and hooks; `state_dict()` and
    `load_state_dict(state)` work as in torch, and the state can be pickled.

    options: those of torch's optimiser. share_memory: whether NumPy arrays and tensors are updated
    in place, too. An array at several places of the model is one parameter; a leaf with gradient
    None is skipped.

    Raises TypeError for anything but an optimiser class, MissingEngineError without torch,
    TreeError for a gradient that does not match.
    """
    return _made("torch_optim", optimiser, model, share_memory=share_memory, **options)  # type: ignore[no-any-return]


def _made(name: str, *given: Any, **options: Any) -> Any:
    for cls, optimisers in classes_with("optimisers").items():
        if name in optimisers:
            backend_for(cls())  # which says what to install, if the engine is not there
            return resolve_name(optimisers[name])(*given, **options)
    raise BackendError(f"{name}: no installed backend brings it.")


__all__ = ["StatefulOptimiser", "Optimiser", "from_optax", "from_torch_optim"]
