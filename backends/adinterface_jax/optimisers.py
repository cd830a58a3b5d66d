"""Optax on any tree: it gets a pytree of JAX arrays, and its results are converted back."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface import AutoJax, TreeError, tree
from adinterface.core.contract import NUMPY, PYTHON, Library, changed_options
from adinterface.fit.for_engines import (
    CONSTANT,
    Node,
    Parameters,
    Static,
    Structure,
    each_constant,
    like,
    one_gradient,
    require_floats,
)

from .library import JAX, precision_of
from .nodes import Pytree
from .private import untraced
from .whole_step import WholeStep

_NUMBERS = (float, complex, np.ndarray, jax.Array)

#: The options of AutoJax that change nothing in a compiled whole step. Others take the general way.
_AS_THEY_ARE = {"mode", "chunk_size"}


class Optax:
    """An Optax transformation on any tree. See `adinterface.fit.from_optax`."""

    #: The engine whose compiler takes a whole step with `step` in it.
    engine = "jax"

    def __init__(self, transform: Any, *, jit: bool = True):
        if not (
            callable(getattr(transform, "init", None))
            and callable(getattr(transform, "update", None))
        ):
            raise TypeError(
                "from_optax(transform): transform must have the methods init and update, not"
                f" {transform!r}. Pass what Optax makes, such as optax.adam(1e-3)."
            )
        self.transform, self.jit = transform, jit
        #: Optax's older transformations take no further arguments.
        self._takes_more = type(transform).__name__ != "GradientTransformation"
        self._compiled = jax.jit(self._stepped) if jit else self._stepped
        self._compiled_update = jax.jit(self._update) if jit else self._update
        #: What was compiled with functions of the model in it, last.
        self._known: tuple[Any, Callable[..., Any]] | None = None

    def __repr__(self) -> str:
        return f"from_optax({type(self.transform).__name__}{'' if self.jit else ', jit=False'})"

    def init(self, model: Any) -> Any:
        """The initial Optax state, in which parameters have the model's structure."""
        require_floats(model, "from_optax: the model")
        leaves = _Leaves(model)
        with precision_of(*leaves.dtypes):
            return leaves.kept(
                self.transform.init(jax.tree.map(_as_jax, leaves.pytree(leaves.arrays())))
            )

    def update(self, gradient: Any, state: Any, model: Any = None, **extra: Any) -> tuple[Any, Any]:
        """`(updates, state)`: what to add to the model, a tree like it, and the next state."""
        return self._applied(self._compiled_update, gradient, state, model, extra)

    def step(self, gradient: Any, state: Any, model: Any, **extra: Any) -> tuple[Any, Any]:
        """`(model, state)`: the model after one step, and the next state.

        gradient: a tree like the model, or the result of `gradient(loss, backend, model,
        Constant(x))`. extra: keywords of the Optax transformation, such as `value=`; trees like the
        model are converted as the model is.
        """
        return self._applied(self._compiled, gradient, state, model, extra)

    def _applied(
        self, step: Callable[..., Any], gradient: Any, state: Any, model: Any, extra: dict[str, Any]
    ) -> tuple[Any, Any]:
        leaves = _Leaves(one_gradient(model, gradient) if model is None else model)
        gradients = leaves.pytree(
            leaves.natives(leaves.parameters.gradients(gradient, required=True))
        )
        with precision_of(*leaves.dtypes):
            values = None if model is None else leaves.pytree(leaves.arrays())
            result, state = self._run(step, gradients, state, values, leaves, extra)
            return leaves.restored(result), leaves.kept(state)

    def native_step(
        self, whole: Callable[..., Any], loss: Callable[..., Any], backend: Any
    ) -> Callable[..., Any] | None:
        """`WholeStep(whole)`; None for the backend of another engine, or with other options."""
        if not isinstance(backend, AutoJax) or changed_options(backend) - _AS_THEY_ARE:
            return None
        return WholeStep(whole)

    def _update(self, gradients: Any, state: Any, values: Any, **extra: Any) -> tuple[Any, Any]:
        try:
            result: tuple[Any, Any] = self.transform.update(
                gradients, state, values, **(extra if self._takes_more else {})
            )
        except TypeError as error:
            missing = re.search(
                r"update_fn\(\) missing .* keyword-only arguments?: (.*)", str(error)
            )
            if missing is None:
                raise
            raise TypeError(
                f"{self!r}: in each step this Optax transformation needs {missing[1]}, which"
                " Training does not give. Call optimiser.step(gradient, state, model, value=value,"
                " grad=gradient[0], value_fn=f), with value, gradient = value_and_gradient(f,"
                " backend, model). optax.lbfgs(linesearch=None) needs none of them."
            ) from error
        return result

    def _stepped(self, gradients: Any, state: Any, values: Any, **extra: Any) -> tuple[Any, Any]:
        updates, state = self._update(gradients, state, values, **extra)
        return (
            jax.tree.map(
                lambda value, update: (value + update).astype(value.dtype), values, updates
            ),
            state,
        )

    def _run(
        self,
        step: Callable[..., Any],
        gradients: Any,
        state: Any,
        values: Any,
        leaves: _Leaves,
        extra: dict[str, Any],
    ) -> Any:
        dynamic, functions = {}, {}
        for name, value in extra.items():
            if callable(value):  # of the model, such as the objective of a line search
                functions[name] = leaves.of_pytree(value)
            elif type(value) is type(leaves.parameters.model) and not isinstance(value, _NUMBERS):
                dynamic[name] = leaves.pytree(
                    leaves.natives(leaves.parameters.gradients(value, required=True))
                )
            elif isinstance(value, (*_NUMBERS, np.generic)) or not hasattr(value, "__array__"):
                dynamic[name] = value
            else:  # of another library, such as the value of a loss
                (dynamic[name],) = _Leaves(value).arrays()
        plain = self._stepped if step is self._compiled else self._update
        # inside a larger program, with which XLA does not fuse code that is compiled apart
        if not untraced():
            return plain(gradients, state, values, **dynamic, **functions)
        if functions:
            known = (
                plain,
                tuple(extra[name] for name in functions),
                tree.structure(leaves.parameters.model),
            )
            if self._known is None or self._known[0] != known:
                fixed = functools.partial(plain, **functions)
                self._known = known, jax.jit(fixed) if self.jit else fixed
            step = self._known[1]
        if not self.jit:  # compiled code takes NumPy arrays directly; Optax itself needs JAX arrays
            gradients, state, values, dynamic = jax.tree.map(
                _as_jax, (gradients, state, values, dynamic)
            )
        return step(gradients, state, values, **dynamic)


class _Leaves:
    """The parameters of a model as JAX arrays, and the conversion back."""

    def __init__(self, model: Any):
        self.parameters = Parameters(model)
        own = self.parameters.library
        #: The library of the state: JAX arrays for a model of JAX arrays, else NumPy arrays, which
        #: pickle keeps in 64 bits.
        self.library: Library = own if own is JAX else NUMPY
        self.dtypes = self.parameters.dtypes
        self._order: list[int] | None = None

    def arrays(self) -> list[Any]:
        return self.natives(self.parameters.values)

    def natives(self, values: Sequence[Any]) -> list[Any]:
        """One array for each parameter, in its dtype: JAX's, or NumPy's, which JAX takes."""
        return [
            self._native(value, leaf.library, dtype)
            for value, leaf, dtype in zip(values, self.parameters.once, self.dtypes)
        ]

    @staticmethod
    def _native(value: Any, library: Library, dtype: str) -> Any:
        if isinstance(value, jax.Array):
            return value
        if isinstance(value, (float, complex, int, np.ndarray, np.generic)):
            return NUMPY.asarray(value, dtype=dtype)
        return np.asarray(library.to_numpy(value))

    def pytree(self, values: Sequence[Any]) -> Any:
        """The model as a pytree: unknown classes become dicts, values without a gradient None."""
        seen: set[int] = set()

        def once() -> Iterator[Any]:
            for place in self.parameters.places:
                fresh = place is not None and place not in seen
                if fresh:
                    seen.add(place)  # type: ignore[arg-type]
                yield values[place] if fresh else None  # type: ignore[index]

        return _pytree(self.parameters.structure, once())

    def flat(self, pytree: Any) -> list[Any]:
        """One value for each parameter, from a tree in the form of `pytree`."""
        order = jax.tree.leaves(self.pytree(range(len(self.parameters.once))))
        result: list[Any] = [None] * len(order)
        for n, value in zip(order, jax.tree.leaves(pytree), strict=True):
            result[n] = value
        return result

    def restored(self, pytree: Any) -> Any:
        """The model with these values, each in the type, dtype and device of the parameter."""
        occupied: set[int] = set()
        result = self.flat(pytree)
        for n, (value, leaf) in enumerate(zip(result, self.parameters.once)):
            if np.shape(value) != leaf.library.shape(leaf.value):
                raise TreeError(
                    f"optax: the transformation returned shape {np.shape(value)} for the parameter"
                    f" {self.parameters.paths()[n] or 'itself'} of shape"
                    f" {leaf.library.shape(leaf.value)}. Pass the state of this model:"
                    " optimiser.init(model)."
                )
        values = [
            self._restored(value, leaf, occupied)
            for value, leaf in zip(result, self.parameters.once)
        ]
        return self.parameters.rebuilt(values)

    @staticmethod
    def _restored(value: Any, leaf: Any, occupied: set[int]) -> Any:
        if isinstance(value, jax.core.Tracer):
            return value
        if leaf.library is PYTHON:
            return like(np.asarray(value), leaf.value)
        return leaf.library.restore(
            value, JAX, leaf.value, leaf.library.dtype(leaf.value), occupied
        )

    def of_pytree(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the model as a function of its `pytree`."""
        rebuilt = self.parameters.rebuilt
        return lambda values: f(each_constant(lambda held: held, rebuilt(self.flat(values))))

    def kept(self, state: Any) -> Any:
        """The state in the library in which it is kept."""
        return jax.tree.map(_as_numpy, state) if self.library is NUMPY else state


def _as_jax(x: Any) -> Any:
    return jnp.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _as_numpy(x: Any) -> Any:
    if (
        not isinstance(x, jax.Array)
        or isinstance(x, jax.core.Tracer)
        or jnp.issubdtype(x.dtype, jax.dtypes.extended)
    ):
        return x
    return np.asarray(x)


def _pytree(structure: Structure, values: Iterator[Any]) -> Any:
    return structure.fold(
        lambda place: None if isinstance(place, Static) else next(values), _optax_node
    )


def _optax_node(node: Node, parts: list[Any]) -> Any:
    if node.type is CONSTANT:
        return None
    if not node.type.is_owner and isinstance(node.type, Pytree):
        return node.type.unflatten(node.data, parts)
    if node.type.is_owner:
        parts = parts[1:]
    keys = node.type.paths(node.data, len(parts))
    if keys == [f"[{n}]" for n in range(len(keys))]:
        return parts  # a list; a tuple too, for Optax sees positions alone
    return dict(zip([_key(key) for key in keys], parts))


def _key(path: str) -> str:
    """`.weight` and `['weight']` as the name in Optax's masks and labels."""
    name = path.removeprefix(".")
    if name.startswith("['") and name.endswith("']"):
        return name[2:-2]
    return name
