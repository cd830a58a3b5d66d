"""Tesseract: the endpoints of a component from one function, differentiated by any backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..core.call.messages import describe
from ..core.call.row import OperatorRow
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import OutputError, TreeError
from ..core.contract.registry import find
from ..core.operators.jacobian import JACOBIAN
from ..core.operators.prepare import Prepared
from ..core.operators.pullback import PULLBACK, PUSHFORWARD
from ..core.tree.structures import Constant
from ..fit.evaluate import EVALUATE
from .arguments import require_arguments
from .missing import raise_missing

try:
    from tesseract_core.runtime.tree_transforms import get_at_path, path_to_index_op, split_path
except (ModuleNotFoundError, SystemExit) as _error:
    raise_missing(_error, "tesseract_core", "tesseract")

#: A function from a nested dict of inputs to a nested dict of outputs, as users write it.
Component = Callable[[dict[str, Any]], Mapping[str, Any]]
#: Arrays by their paths, such as `mesh.points` or `layers.[0]`.
ByPath = dict[str, Any]


class Endpoints(NamedTuple):
    """What `tesseract_api.py` defines, each by its name there."""

    apply: Callable[[Any], Mapping[str, Any]]
    jacobian: Callable[[Any, Iterable[str], Iterable[str]], dict[str, ByPath]]
    jacobian_vector_product: Callable[[Any, Iterable[str], Iterable[str], ByPath], ByPath]
    vector_jacobian_product: Callable[[Any, Iterable[str], Iterable[str], ByPath], ByPath]


def endpoints(f: Component, backend: AutoBackend) -> Endpoints:
    """The endpoints of a Tesseract from f.

    They are `apply`, `jacobian`, `jacobian_vector_product` and `vector_jacobian_product`.

        apply, jacobian, jacobian_vector_product, vector_jacobian_product = endpoints(f,
        AutoTorch())

    f takes the dict that `InputSchema` dumps, with arrays in the form of the backend, and returns
    the dict of `OutputSchema`. Integers, strings and other values are static. Each endpoint is
    prepared: f must be pure where the engine compiles. `tesseract build` looks for `def
    apply(inputs)` in the file: define it to return `endpoints(...).apply(inputs)`.

    Raises TypeError for a value that is no function, BackendError for a value that is no backend.
    Endpoints raise the errors of the operators, TreeError for an unknown path of the inputs, and
    OutputError for an unknown path of the outputs.
    """
    require_arguments("endpoints", f, 1)
    find(backend)
    component = _Component(f, backend)
    return Endpoints(
        component.apply,
        component.jacobian,
        component.jacobian_vector_product,
        component.vector_jacobian_product,
    )


class _Component:
    """A function and its prepared operators."""

    def __init__(self, f: Component, backend: AutoBackend):
        self.f, self.backend = f, backend
        self._evaluate = Prepared(EVALUATE, backend, f)
        self._prepared: dict[tuple[OperatorRow, tuple[str, ...]], Prepared] = {}

    def apply(self, inputs: Any) -> Mapping[str, Any]:
        """The outputs of f."""
        return _mapping(self._evaluate(_dumped(inputs)))

    def jacobian(
        self, inputs: Any, jac_inputs: Iterable[str], jac_outputs: Iterable[str]
    ) -> dict[str, ByPath]:
        """By output, by input, an array of shape `output.shape + input.shape`."""
        selected, rest = _selected(inputs, jac_inputs)
        blocks = self._of(JACOBIAN, jac_outputs)(selected, rest)
        return {path: block[0] for path, block in blocks.items()}

    def jacobian_vector_product(
        self,
        inputs: Any,
        jvp_inputs: Iterable[str],
        jvp_outputs: Iterable[str],
        tangent_vector: ByPath,
    ) -> ByPath:
        """The tangents of the outputs for tangents of the inputs, by path."""
        point = _selected(inputs, jvp_inputs)
        _, tangent = self._of(PUSHFORWARD, jvp_outputs)(point, (_ordered(tangent_vector), None))
        return dict(tangent)

    def vector_jacobian_product(
        self,
        inputs: Any,
        vjp_inputs: Iterable[str],
        vjp_outputs: Iterable[str],
        cotangent_vector: ByPath,
    ) -> ByPath:
        """The cotangents of the inputs for cotangents of the outputs, by path."""
        point = _selected(inputs, vjp_inputs)
        _, back = self._of(PULLBACK, vjp_outputs)(*point)
        return dict(back(_ordered(cotangent_vector))[0])

    def _of(self, row: OperatorRow, outputs: Iterable[str]) -> Prepared:
        """The operator on some outputs, of some inputs and of the rest."""
        paths = tuple(sorted(outputs))

        def chosen(selected: ByPath, rest: dict[str, Any]) -> ByPath:
            for path, value in selected.items():
                rest = _replaced(rest, split_path(path), value)
            values = _mapping(self.f(rest))
            return {path: _at(values, path, "the output of f", OutputError) for path in paths}

        if (row, paths) not in self._prepared:
            self._prepared[row, paths] = Prepared(row, self.backend, chosen)
        return self._prepared[row, paths]


def _dumped(inputs: Any) -> Any:
    return inputs.model_dump() if hasattr(inputs, "model_dump") else inputs


def _selected(inputs: Any, paths: Iterable[str]) -> tuple[ByPath, Constant]:
    """The inputs at some paths, and the dict of all inputs with None in their places."""
    rest = _dumped(inputs)
    selected = {path: _at(rest, path, "the inputs", TreeError) for path in sorted(paths)}
    for path in selected:
        rest = _replaced(rest, split_path(path), None)
    return selected, Constant(rest)


def _ordered(values: ByPath) -> ByPath:
    return {path: values[path] for path in sorted(values)}


def _at(values: Any, path: str, where: str, kind: type[Exception]) -> Any:
    try:
        return get_at_path(values, path)
    except (KeyError, IndexError, AttributeError, TypeError, ValueError) as error:
        names = ", ".join(map(repr, values)) if isinstance(values, Mapping) else describe(values)
        raise kind(
            f"there is no {path!r} in {where}; its top has {names}. Use the names of the schema."
        ) from error


def _replaced(values: Any, path: list[str], new: Any) -> Any:
    """A nested dict or list with another value at a path. Parts off the path are shared."""
    if not path:
        return new
    _, key = path_to_index_op(path[0])
    copied: Any = dict(values) if isinstance(values, Mapping) else list(values)
    copied[key] = _replaced(values[key], path[1:], new)
    return tuple(copied) if isinstance(values, tuple) else copied


def _mapping(values: Any) -> Mapping[str, Any]:
    if isinstance(values, Mapping):
        return values
    raise OutputError(
        f"f must return a dict with the names of OutputSchema, not {describe(values)}."
    )


__all__ = ["Endpoints", "endpoints"]
