"""Other people's optimisers: the doors to what the backends bring for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ..core.contract.errors import BackendError
from ..core.contract.registry import auto_classes, backend_class, backend_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Optimiser(Protocol):
    """An optimiser whose state is a tree: what `optax` gives. Any object with these methods can stand in its place."""

    def init(self, model: Any) -> Any:
        """The state at the start."""

    def update(self, gradient: Any, state: Any, model: Any = None, **extra: Any) -> tuple[Any, Any]:
        """`(updates, state)`: what is to be added to the model, and the next state."""

    def step(self, gradient: Any, state: Any, model: Any, **extra: Any) -> tuple[Any, Any]:
        """`(model, state)` after one step."""


class HoldingOptimiser(Protocol):
    """An optimiser that holds its state, and the model: what `from_torch_optim` gives."""

    @property
    def model(self) -> Any:
        """The model as it is now."""

    def step(self, gradient: Any = None, *, closure: Callable[[Any], Any] | None = None) -> Any:
        """The model after one step."""

    def state_dict(self) -> dict[str, Any]:
        """The state, to be pickled."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from such a state."""


def from_optax(transform: Any, *, jit: bool = True) -> Optimiser:
    """An Optax transformation as an optimiser of any tree, whatever the backend of its gradients.

    `optimiser = from_optax(optax.adam(1e-3))`, `state = optimiser.init(model)`, then in each step `model, state =
    optimiser.step(gradient, state, model)`; `optimiser.update(gradient, state, model)` gives `(updates, state)`, as Optax does.
    The gradient may be the tuple that `gradient(loss, backend, model, Constant(x))` returned.

    Each leaf of the model keeps its type, library and dtype: a Python float stays one, 64 bits stay 64 without JAX's global
    switch. Optax sees the model itself where JAX knows its classes; a dataclass, or a module, is a dict by field there, and
    masks and labels are written so. An array that stands at several places is one parameter. The state is Optax's own, of
    NumPy arrays (of JAX's, for a model of such), and can be pickled.

    jit: JAX compiles the step, once for each structure; False runs it eagerly.
    Complex leaves go as they are: Optax's own users conjugate the gradients of JAX, ours already point uphill.

    Raises TypeError for what is no transformation, MissingEngineError without JAX, TreeError for a gradient that does not
    match.
    """
    return _made("optax", transform, jit=jit)  # type: ignore[no-any-return]


def from_torch_optim(
    optimiser: Callable[..., Any], model: Any, /, *, share_memory: bool = False, **options: Any
) -> HoldingOptimiser:
    """An optimiser of torch's, such as `torch.optim.Adam`, around the leaves of any tree, whatever the backend.

    `optimiser = from_torch_optim(torch.optim.Adam, model, lr=1e-3)`, then in each step `model = optimiser.step(gradient)`. A
    module is written into, as torch optimisers do, and returned. Any other tree is copied: `step` returns a new one like it,
    each leaf of its type, library and dtype. `optimiser.optimizer` is torch's own, for schedulers and hooks; `state_dict()` and
    `load_state_dict(state)` are its, and can be pickled.

    options: those of torch's optimiser. share_memory: NumPy arrays and tensors are written into in place, as well.
    An array that stands at several places of the model is one parameter; a leaf whose gradient is None is skipped.

    Raises TypeError for what is no class of optimisers, MissingEngineError without torch, TreeError for a gradient that does
    not match.
    """
    return _made("torch_optim", optimiser, model, share_memory=share_memory, **options)  # type: ignore[no-any-return]


def _made(name: str, *given: Any, **options: Any) -> Any:
    chosen = [cls for cls in auto_classes() if name in vars(cls).get("optimisers", ())]
    if not chosen:
        raise BackendError(f"{name}: no installed backend brings it.")
    backend_of(chosen[0]())  # which says what to install, if the engine is not there
    return backend_class(chosen[0].name).optimiser(name)(*given, **options)


__all__ = ["HoldingOptimiser", "Optimiser", "from_optax", "from_torch_optim"]
