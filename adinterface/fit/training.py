"""A whole step of training: value, gradient and update, compiled where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._trees import flatten_tree, rebuild
from ..core.contract.auto import AutoBackend
from ..core.contract.library import PYTHON
from ..core.contract.registry import REGISTRY
from ..core.contract.tracing import untraced
from ..core.operators.gradient import value_and_gradient
from ..core.operators.prepare import Prepared, prepare
from ..core.operators.second_order import first_order
from ..core.tree.structures import Constant, Marker
from ..tree.algebra import like
from ..tree.mapping import map, require_leaf
from .evaluate import TRAINING_STEP
from .parameters import Parameters, each_constant, require_floats
from .update import update


class Training:
    """A model in training: `training(*data)` takes one step and returns the loss before it.

    loss: `loss(model, *data, **kwargs)`, a real scalar, or a tuple or dict that begins with it;
    differentiated with respect to the model. backend: any. optimiser: `from_optax(...)`;
    `from_torch_optim(torch.optim.Adam, model)`, without `model`; an object with your own `init` and
    `step`; or a number, the step of plain gradient descent. compiled: None compiles the whole step
    where the engine can; False keeps the prepared value and gradient apart from the optimiser's
    step.

    `training.model` and `training.state` are those after the last step, and can be assigned.

    On JAX with `from_optax`, loss, gradient and optimiser are one `jax.jit` program. With torch
    optimisers and `AutoTorch(compile=True)`, the model's loss is compiled with its backward pass.
    Elsewhere value and gradient are prepared.

    >>> from adinterface import AutoFiniteDifferences
    >>> from adinterface.fit import Training
    >>> training = Training(lambda m, x: (m["w"] - x) ** 2, AutoFiniteDifferences(), 0.25,
    ...     {"w": 0.0})
    >>> [round(training(2.0), 4) for _ in range(3)]
    [4.0, 1.0, 0.25]
    """

    @untraced
    def __init__(
        self,
        loss: Callable[..., Any],
        backend: AutoBackend,
        optimiser: Any,
        model: Any = None,
        *,
        compiled: bool | None = None,
    ):
        self.loss: Callable[..., Any] = loss
        self.backend: AutoBackend = backend
        self.optimiser: Any = optimiser
        holds = hasattr(optimiser, "state_dict") and hasattr(optimiser, "model")
        if not (
            holds
            or _is_number(optimiser)
            or (hasattr(optimiser, "init") and hasattr(optimiser, "step"))
        ):
            raise TypeError(
                "Training: optimiser must be one of this package's, such as from_optax(...), an"
                " object with the methods init and step, or a number, the step of gradient"
                f" descent, not {optimiser!r}."
            )
        if holds and model is not None and model is not optimiser.model:
            raise TypeError("Training: the optimiser holds the model already. Leave the model out.")
        if not holds and model is None:
            raise TypeError(
                "Training: the model is missing: Training(loss, backend, optimiser, model)."
            )
        require_floats(model, "Training: the model")
        self._holds = holds
        self.model = optimiser.model if holds else model
        #: The optimiser's state, a tree; None where it holds it itself.
        self.state = optimiser.init(model) if hasattr(optimiser, "init") and not holds else None
        whole = getattr(optimiser, "engine", None) == first_order(backend).auto.name and getattr(
            backend, "jit", False
        )
        if compiled and not whole:
            raise TypeError(
                f"Training: {backend!r} cannot compile a step with {optimiser!r} in it. Leave"
                " compiled out, or take the optimiser of the same engine."
            )
        #: The whole step compiled, for each way in which arrays of a model are one parameter (None:
        #: none are); None where it
        #: is not compiled.
        self._whole: dict[_Ties | None, Prepared] | None = (
            {} if whole and compiled is not False else None
        )
        self._ties: _Ties | None = None
        #: Whether there are Constants in the model.
        self._frozen = False
        #: The model that the last step returned: any other was assigned since.
        self._moved: Any = None
        native = getattr(optimiser, "native_step", None) if compiled is not False else None
        #: The engine's step for its own models: a function of the model, the state, the data and
        #: the keywords; or None.
        self._native = (
            None if native is None else native(partial(self._stepped, None), loss, backend)
        )
        self._gradient: Prepared | None = None
        #: The class of the moved model, and whether `_restored` has to convert its leaves; None:
        #: not known.
        self._restores: tuple[Any, bool] | None = None

    @untraced
    def __call__(self, /, *data: Any, **kwargs: Any) -> Any:
        """One step.

        Returns the loss at the model before it, or all that the loss function returned.
        """
        if self._native is not None:
            stepped = self._native(self.model, self.state, data, kwargs)
            if stepped is not None:
                value, self.model, self.state = stepped
                return value
        constants = [Constant(part) for part in data]
        if self._whole is not None:
            return self._compiled_step(self._whole, constants, kwargs)
        if self._gradient is None:
            self._gradient = prepare(
                value_and_gradient, self.loss, self.backend, self.model, *constants, **kwargs
            )
        value, gradient = self._gradient(self.model, *constants, **kwargs)
        if self._holds:
            self.model = self.optimiser.step(gradient[0])
        elif _is_number(self.optimiser):
            self.model = update(self.model, gradient[0], self.optimiser)
        else:
            self.model, self.state = self.optimiser.step(gradient[0], self.state, self.model)
        return value

    def _compiled_step(
        self, wholes: dict[_Ties | None, Prepared], constants: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        if self.model is not self._moved:
            self._ties, self._restores = _ties_of(self.model), None
            self._frozen = each_constant(_none, self.model) is not self.model
        whole = wholes.get(self._ties)
        if whole is None:
            whole = wholes[self._ties] = Prepared(
                TRAINING_STEP, self.backend, partial(self._stepped, self._ties)
            )
        model = each_constant(_kept, self.model) if self._frozen else self.model
        value, moved, self.state = whole(model, Constant(self.state), *constants, **kwargs)
        self.model = self._moved = _tied(self._restored(moved), self._ties)
        return value

    def _stepped(
        self, ties: _Ties | None, model: Any, state: Any, *data: Any, **kwargs: Any
    ) -> tuple[Any, Any, Any]:
        constants = [Constant(part) for part in data]
        model = _tied(model, ties)  # compiled code returns a separate array for each place
        value, gradient = value_and_gradient(self.loss, self.backend, model, *constants, **kwargs)
        moved, state = self.optimiser.step(gradient[0], state, model)
        return value, each_constant(_none, moved), state

    def _restored(self, moved: Any) -> Any:
        """The model with leaves of its own types and with its Constants.

        Compiled code returns arrays of one library.
        """
        if self._restores is None or self._restores[0] is not type(moved):
            libraries = {
                leaf.library for leaf in flatten_tree(self.model)[1] if leaf.differentiated
            }
            shared = self._ties is not None  # perhaps as one object
            self._restores = (
                type(moved),
                shared or self._frozen or PYTHON in libraries or len(libraries) > 1,
            )
        return map(_restored, self.model, moved) if self._restores[1] else moved

    def __repr__(self) -> str:
        loss = getattr(self.loss, "__name__", type(self.loss).__name__)
        text = (
            f"Training({loss}, {self.backend!r}, {self.optimiser!r}, {type(self.model).__name__})"
        )
        return " ".join(text.split())  # an optimiser of the user's may take several lines


def _restored(old: Any, new: Any) -> Any:
    library = require_leaf(new, "the moved model")
    number = isinstance(old, (float, complex)) and not library.traced(new)
    return like(library.to_numpy(new) if number else new, old)


#: For each leaf, its parameter; None for a leaf that is not optimised.
_Ties = tuple["int | None", ...]


def _ties_of(model: Any) -> _Ties | None:
    """The places of a model that share an array; None if there are none."""
    places = Parameters(model).places
    several = len({*places} - {None}) < sum(place is not None for place in places)
    return tuple(places) if several else None


def _tied(model: Any, ties: _Ties | None) -> Any:
    """The model with one array at the places of one parameter."""
    if ties is None:
        return model
    structure, leaves = flatten_tree(model)
    firsts: dict[int, Any] = {}
    return rebuild(
        structure,
        iter(
            [
                leaf.value if n is None else firsts.setdefault(n, leaf.value)
                for n, leaf in zip(ties, leaves, strict=True)
            ]
        ),
    )


class _Kept(Constant):
    """Inside a Constant: f receives a Constant again, for the optimiser and the operator."""

    __slots__ = ()


class _Keeping(Marker):
    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return Constant(children[0])


REGISTRY.node_types[_Kept] = _Keeping(_Kept)


def _kept(held: Any) -> Constant:
    return Constant(_Kept(held))


def _none(held: Any) -> None:
    return None


def _is_number(x: Any) -> bool:
    return isinstance(x, (float, int)) and not isinstance(x, bool)


__all__ = ["Training"]
