"""torch optimisers on modules and on any tree, whose leaves become tensors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from adinterface import AutoTorch, DisconnectedWarning
from adinterface.core.contract import (
    NUMPY,
    PYTHON,
    Library,
    changed_options,
    levels_to_the_user,
    library_of_array,
)
from adinterface.fit.for_engines import (
    Leaf,
    Parameters,
    check_scalar,
    require_floats,
    stateful_type,
)

from .distributed import is_dtensor
from .dtypes import NAMES
from .library import TORCH
from .private import tree_map_only
from .recording import depth, recorded

#: The options of AutoTorch that a whole step heeds, or that change nothing in one gradient. Others
#: take the general way.
_AS_THEY_ARE = {"mode", "compile", "chunk_size"}


class TorchOptim:
    """A torch optimiser on any tree. See `adinterface.fit.from_torch_optim`."""

    def __init__(
        self,
        optimiser: Callable[..., torch.optim.Optimizer],
        model: Any,
        /,
        *,
        share_memory: bool = False,
        **options: Any,
    ):
        if not callable(optimiser) or isinstance(optimiser, torch.optim.Optimizer):
            raise TypeError(
                "from_torch_optim(optimiser, model, **options): optimiser must be a class such as"
                f" torch.optim.Adam, not {type(optimiser).__name__}: it is made here, around the"
                " model's leaves."
            )
        require_floats(model, "from_torch_optim: the model")
        self._parameters, self._share = Parameters(model), share_memory
        self._dtypes = self._parameters.dtypes
        self._tensors = [
            self._tensor(leaf, dtype) for leaf, dtype in zip(self._parameters.once, self._dtypes)
        ]
        #: The torch optimiser, for its schedulers, parameter groups and hooks.
        self.optimizer = optimiser(self._tensors, **options)
        self._model = model
        self._as_it_is = all(
            value is tensor for value, tensor in zip(self._parameters.values, self._tensors)
        )
        #: Whether f may write into the model: the next model then starts with these changes.
        self._stateful = stateful_type(self._parameters.structure) is not None

    def __repr__(self) -> str:
        return f"from_torch_optim({type(self.optimizer).__name__}, {type(self._model).__name__})"

    def _tensor(self, leaf: Leaf, dtype: str) -> torch.Tensor:
        # The parameters of a module are what torch's optimisers write into; a tensor of the
        # caller's is not.
        if leaf.library is TORCH and (leaf.owner is not None or self._share):
            own: torch.Tensor = leaf.value
            return own
        return _converted(leaf.value, leaf.library, dtype, copy=not self._share).detach()

    @property
    def model(self) -> Any:
        """The current model: the module itself, or a tree like the one given."""
        return self._model if self._as_it_is or self._stateful else self._built()

    def _built(self) -> Any:
        if self._as_it_is:
            return self._model
        if self._stateful:
            self._parameters = Parameters(self._model)
        occupied: set[int] = set()
        values = [
            self._restored(*each, occupied)
            for each in zip(self._tensors, self._parameters.once, self._dtypes)
        ]
        built = self._parameters.rebuilt(values)
        if self._stateful:
            self._model = built
        return built

    def _restored(self, tensor: torch.Tensor, leaf: Leaf, dtype: str, occupied: set[int]) -> Any:
        if tensor is leaf.value or (
            self._share
            and leaf.library is NUMPY
            and np.may_share_memory(TORCH.to_numpy(tensor), leaf.value)
        ):
            return leaf.value
        like = None if leaf.library is PYTHON else leaf.value
        return leaf.library.restore(tensor.detach().clone(), TORCH, like, dtype, occupied)

    def step(self, gradient: Any = None, *, closure: Callable[[Any], Any] | None = None) -> Any:
        """The model after one step: the same module, or a new tree like the one given.

        gradient: a tree like the model, or what `gradient(loss, backend, model, Constant(x))`
        returned; a leaf without one (None) is skipped, as in torch. closure: for an optimiser that
        evaluates more than once (`torch.optim.LBFGS`), from the model to what
        `value_and_gradient(loss, backend, model, Constant(x))` returns, in place of the gradient.
        """
        if (gradient is None) == (closure is None):
            raise TypeError(
                "step(gradient) takes the gradient, or closure=, a function from the model to value"
                " and gradient."
            )
        if closure is None:
            self._set(gradient)
            self.optimizer.step()
        else:
            evaluate = closure

            def evaluated() -> Any:
                value, slope = evaluate(self._built())
                self._set(slope)
                value = value[0] if isinstance(value, tuple) else value
                return value if isinstance(value, torch.Tensor) else float(value)

            self.optimizer.step(evaluated)
        self.optimizer.zero_grad(set_to_none=True)
        return self._built()

    def native_step(
        self, whole: Callable[..., Any], loss: Callable[..., Any], backend: Any
    ) -> Callable[..., Any] | None:
        """A whole step on a module and tensors: `backward()` and the optimiser's own step.

        None if the backend belongs to another engine, or gradients arrive elsewhere, as those of
        DTensors do. The step returns None for arguments that it does not support.
        """
        if (
            not isinstance(backend, AutoTorch)
            or backend.mode == "forward"
            or changed_options(backend) - _AS_THEY_ARE
        ):
            return None
        if not (self._as_it_is and isinstance(self._model, torch.nn.Module)) or any(
            map(is_dtensor, self._tensors)
        ):
            return None
        f = torch.compile(loss) if backend.compile else loss
        model, tensors, optimizer = self._model, self._tensors, self.optimizer

        def step(_: Any, state: Any, data: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            for part in data:
                if (
                    type(part) is not torch.Tensor
                    or part.requires_grad
                    or part.layout is not torch.strided
                ):
                    return None
            if (
                kwargs
                or not torch.is_grad_enabled()
                or depth()
                or torch.is_inference_mode_enabled()
            ):
                return None
            value = recorded(f, (model, *data))
            scalar = (
                value[0]
                if isinstance(value, tuple)
                else next(iter(value.values()))
                if isinstance(value, dict)
                else value
            )
            check_scalar("Training", scalar, value)
            for tensor in tensors:
                tensor.grad = None
            if scalar.requires_grad:
                scalar.backward(inputs=tensors)
            else:
                warnings.warn(
                    "Training: the loss does not depend on the model.",
                    DisconnectedWarning,
                    stacklevel=levels_to_the_user("adinterface_torch"),
                )
            for tensor in tensors:
                if tensor.grad is None:  # a parameter that f does not use has gradient zero
                    tensor.grad = torch.zeros_like(tensor)
            optimizer.step()
            for tensor in tensors:
                tensor.grad = None
            return tree_map_only(torch.Tensor, torch.Tensor.detach, value), model, state

        return step

    def _set(self, gradient: Any) -> None:
        for tensor, part in zip(self._tensors, self._parameters.gradients(gradient), strict=True):
            tensor.grad = None if part is None else _gradient(part, tensor)

    def state_dict(self) -> dict[str, Any]:
        """The torch optimiser's state, which can be pickled, saved, and loaded."""
        return self.optimizer.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a `state_dict`."""
        self.optimizer.load_state_dict(state)


def _gradient(part: Any, tensor: torch.Tensor) -> torch.Tensor:
    if isinstance(part, torch.Tensor):
        return part.detach()
    library = library_of_array(part)
    return _converted(
        part,
        library,
        NAMES[tensor.dtype] if library is PYTHON else library.dtype(part),
        like=tensor,
    )


def _converted(value: Any, library: Library, dtype: str, **options: Any) -> torch.Tensor:
    foreign = value if library in (TORCH, NUMPY, PYTHON) else TORCH.foreign(value, library)
    tensor: torch.Tensor = TORCH.asarray(foreign, dtype=dtype, **options)
    return tensor
