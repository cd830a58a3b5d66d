"""`Prepared.export`: a prepared call as a file that loads without this package and without the code of f.

The file takes the leaves of the arguments, one array each, and returns the leaves of the results. A manifest next to it
lists the leaves.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.call.call import Call
from ..core.call.conversions import conversions_into_compiled
from ..core.call.output import annotate
from ..core.contract.auto import AutoBackend
from ..core.contract.errors import BackendError
from ..core.contract.library import PYTHON
from ..core.contract.registry import classes_with
from ..core.contract.structures import CONSTANT, Constant, Leaf, LeafSpec, Node, Static, Structure
from ..core.operators.operation import Operation
from ..core.operators.run import run
from ..core.tree import flatten_tree, rebuild


class Example:
    """The shapes and dtypes of some arguments, and their other values, which are kept alive."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]):
        structure, leaves = flatten_tree((args, {name: Constant(value) for name, value in kwargs.items()}))
        self._structure = structure
        self._leaves = [_specified(leaf) for leaf in leaves]

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments of these shapes and dtypes, with NumPy arrays of zeros."""
        arrays = [np.zeros(*leaf) if isinstance(leaf, tuple) else leaf for leaf in self._leaves]
        args, kwargs = rebuild(self._structure, iter(arrays))
        return args, {name: value.value for name, value in kwargs.items()}


def _specified(leaf: Leaf) -> Any:
    if leaf.library is PYTHON:
        return leaf.value
    return leaf.library.shape(leaf.value), leaf.library.dtype(leaf.value)


def export(
    operation: Operation,
    auto: AutoBackend,
    f: Callable[..., Any],
    path: str | os.PathLike[str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> dict[str, Any]:
    """Write the operator on f for such arguments, and the manifest. Returns the manifest."""
    flat = _Flat(operation, auto, f, args, kwargs)
    try:
        with flat.call.scope():
            written = operation.backend.export(flat, flat.inputs(), os.fspath(path))
    except (RuntimeError, TypeError) as error:
        annotate(flat.plan, error)
        raise
    if written is None:
        formats = [f"{cls.__name__}() for {exports}" for cls, exports in classes_with("exports").items()]
        raise BackendError(f"{auto!r} cannot export a prepared call. Prepare it with {', or with '.join(formats)}.")
    manifest = {
        "operator": operation.name,
        "function": getattr(f, "__qualname__", repr(f)),
        "backend": repr(auto),
        **written,
        "versions": {name: _version(name) for name in ("adinterface", "numpy", operation.backend.auto.name)},
        "python": platform.python_version(),
        "inputs": flat.input_list(),
        "outputs": flat.outputs,
        "arguments": flat.arguments_shown,
        "results": flat.results_shown,
    }
    with open(f"{os.fspath(path)}.json", "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
    return manifest


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # here, because it takes long to import

    try:
        return version(package)
    except PackageNotFoundError:  # it is run from its sources
        return "unknown"


class _Flat:
    """The operator as a function from the leaves of its arguments to the leaves of its results."""

    def __init__(
        self, operation: Operation, auto: AutoBackend, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ):
        self.operation, self.auto, self.f = operation, auto, f
        args, self.directions = operation.arguments(args)
        self.plan, values, _ = operation.find_plan(args, kwargs)
        self.values = list(values)
        self.call = Call(self.plan, self.values, f)
        self._refuse()
        self.paths: list[str] = []
        #: Which slots are inputs; the values of all others are fixed.
        self.places = [n for n, slot in enumerate(self.plan.layout.slots) if slot.library is not None]
        slots = iter(range(len(self.values)))
        shown = [self._shown(place, f"args[{i}]", slots) for i, place in enumerate(self.plan.layout.structures)]
        keywords = {name: self._shown(place, name, slots) for name, place in self.plan.layout.keywords.items()}
        self.arguments_shown = {"args": shown, "kwargs": keywords}
        self.outputs: list[dict[str, Any]] = []
        self.results_shown: Any = None

    def _refuse(self) -> None:
        plan, name, library = self.plan, self.operation.name, self.plan.conversions.library
        if plan.wrappings:
            raise BackendError(
                f"{name} writes into its arguments here, which a file cannot do. Pass f parameters, not objects."
            )
        if {"back", "push"} & set(self.operation.forms):
            raise BackendError(
                f"{name} returns a function, which a file cannot hold. Export pushforward, gradient or jacobian."
            )
        for slot, value in zip(plan.layout.slots, self.values):
            if slot.library is None and library.owns(value):
                raise BackendError(
                    f"An argument has the dtype {library.dtype(value)}, which a file would fix. Pass its data as "
                    f"integers, and make the key of it in f."
                )
            if slot.owner is not None:
                raise BackendError(
                    f"f reaches parameters through a {slot.owner.__name__}, which a file cannot hold. Pass a dict of its "
                    f"parameters, and let f call the object with these."
                )

    def inputs(self) -> tuple[Any, ...]:
        """The leaves, and a direction for each differentiated one if the operator takes directions, as the engine's arrays."""
        plan = self.plan
        active, carried = conversions_into_compiled(plan.backend, plan.layout, self.values, copy=False)
        enters = {**dict(zip(plan.layout.active, active)), **dict(zip(plan.layout.carried, carried))}
        arrays = [plan.conversions.library.asarray(enters[n](self.values[n], set())) for n in self.places]
        if self.directions is not None:
            self.call.enter()
            arrays += [plan.conversions.library.asarray(x) for x in self.operation.tangents(self.call, self.directions)]
        self._arrays = arrays
        return tuple(arrays)

    def input_list(self) -> list[dict[str, Any]]:
        """What the manifest says of the inputs, in order."""
        paths = [self.paths[n] for n in self.places]
        if self.directions is not None:
            paths += [f"the direction of {self.paths[n]}" for n in self.plan.layout.active]
        return [self._described(path, array) for path, array in zip(paths, self._arrays)]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        plan, count = self.plan, len(self.places)
        values = list(self.values)
        for n, array in zip(self.places, arrays):
            values[n] = array
        remaining = iter(values)
        args = tuple([rebuild(structure, remaining) for structure in plan.layout.structures])
        kwargs = {name: rebuild(structure, remaining) for name, structure in plan.layout.keywords.items()}
        if self.directions is not None:
            directions = plan.layout.gradients(arrays[count:], values)
            args = (args[0], directions[0], *args[1:]) if self.operation.directions == "second argument" else (args, directions)
        results = run(self.operation.kind, self.auto, self.f, args, kwargs)
        structure, leaves = flatten_tree(results)
        outputs: list[Any] = []
        self.outputs = []
        self.results_shown = self._result(structure, "result", iter(leaves), outputs)
        return tuple(outputs)

    # the manifest

    def _described(self, path: str, array: Any) -> dict[str, Any]:
        library = self.plan.conversions.library
        return {"path": path, "shape": list(library.shape(array)), "dtype": library.dtype(array)}

    def _shown(self, structure: Structure, path: str, slots: Iterator[int]) -> Any:
        """The structure of an argument for the manifest; notes the path of each slot."""
        if isinstance(structure, Node) and structure.type is CONSTANT:
            return {"Constant": self._shown(structure.children[0], path, slots)}
        if isinstance(structure, Node):
            for _ in structure.children[len(structure.inner) :]:  # its data
                next(slots)
                self.paths.append(path)
            return _container(structure, path, lambda child, place: self._shown(child, place, slots))
        n = next(slots)
        self.paths.append(path)
        return {"input": self.places.index(n)} if n in self.places else {"fixed": repr(self.values[n])}

    def _result(self, structure: Structure, path: str, leaves: Iterator[Leaf], outputs: list[Any]) -> Any:
        """The structure of the results for the manifest; appends the outputs of the file."""
        if isinstance(structure, LeafSpec) and not isinstance(structure, Static):
            leaf = next(leaves)
            if leaf.library is PYTHON:
                return {"fixed": repr(leaf.value)}
            array = self.plan.conversions.library.asarray(leaf.value)
            outputs.append(array)
            self.outputs.append(self._described(path, array))
            return {"output": len(outputs) - 1}
        if isinstance(structure, Node):
            return _container(structure, path, lambda child, place: self._result(child, place, leaves, outputs))
        if isinstance(structure, Static) and (structure.value is None or isinstance(structure.value, (str, bool, int))):
            return {"fixed": repr(structure.value)}
        value = structure.value if isinstance(structure, Static) else structure
        raise BackendError(f"The result of {self.operation.name} holds a {type(value).__name__}, which a file cannot hold.")


def _container(structure: Node, path: str, shown: Callable[[Structure, str], Any]) -> dict[str, Any]:
    children: Mapping[str, Any] = {key: shown(child, path + key) for key, child in zip(structure.keys(), structure.inner)}
    return {"class": f"{structure.cls.__module__}.{structure.cls.__qualname__}", "children": children}
