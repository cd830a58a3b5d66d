"""Shrinks a failing program to a few lines: removes or simplifies parts while it still fails."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant
from adinterface.core.contract.nodes import NodeType
from adinterface.core.tree import handler_of

from ..trees import leaves_inside, mapped
from .making import Scope
from .program import Program, Statement
from .trial import Call

Fails = Callable[[Program, Call], bool]

#: How long one failure may take.
SECONDS = 30.0


def shrunk(program: Program, call: Call, fails: Fails) -> tuple[Program, Call]:
    """The smallest program and the simplest call for which `fails` still holds."""
    deadline = time.monotonic() + SECONDS
    progress = True
    while progress and time.monotonic() < deadline:
        progress = False
        for smaller, plainer in _candidates(program, call):
            if time.monotonic() > deadline:
                break
            # A candidate need not be a program at all: what is left may not fit together.
            with suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if _sound(smaller) and fails(smaller, plainer):
                    program, call, progress = smaller, plainer, True
                    break
    return program, call


def _sound(program: Program) -> bool:
    """Whether it runs. Raises if it does not."""
    scope = Scope(program)
    for statement in program.statements:
        scope.run(statement)
    return True


def _candidates(program: Program, call: Call) -> Iterator[tuple[Program, Call]]:
    for plainer in _plainer(call):
        yield program, plainer
    for smaller in _smaller(program):
        yield smaller, call


def _plainer(call: Call) -> Iterator[Call]:
    if call.prepared:
        yield replace(call, prepared=False)
    if call.native:
        yield replace(call, native=False)
    plain = _without_options(call.backend)
    if plain != call.backend:
        yield replace(call, backend=plain)


def _without_options(backend: AutoBackend) -> AutoBackend:
    """The backend with its default options, where it has any."""
    if is_dataclass(backend) and any(field.name == "mode" for field in fields(backend)):
        return replace(backend, mode=None)  # type: ignore[call-arg]
    return backend


def _smaller(program: Program) -> Iterator[Program]:
    if program.form == "auxiliary":
        yield replace(program, form="scalar", results=program.results[:-1]).without_dead_code()
    for n in range(len(program.results)):
        if len(program.results) > (2 if program.form == "auxiliary" else 1):
            yield replace(program, results=program.results[:n] + program.results[n + 1 :]).without_dead_code()
    yield from _without_statements(program)
    for n, result in enumerate(program.results):
        if program.form != "tree" and result.text != "xp.sum({0})" and n < len(program.results) - (program.form == "auxiliary"):
            yield _with_result(program, n, replace(result, text="xp.sum({0})"))
    yield from _without_arguments(program)
    yield from _plainer_leaves(program)


def _with_result(program: Program, n: int, result: Statement) -> Program:
    return replace(program, results=(*program.results[:n], result, *program.results[n + 1 :]))


def _without_statements(program: Program) -> Iterator[Program]:
    """Each statement replaced by one of its operands, or by one of the leaves."""
    for n in reversed(range(len(program.statements))):
        statement = program.statements[n]
        others = program.statements[:n] + program.statements[n + 1 :]
        for operand in dict.fromkeys((*statement.operands, *_places(program)[:2])):
            names = {statement.name: operand}
            yield replace(
                program,
                statements=tuple([other.renamed(names) for other in others]),
                results=tuple([result.renamed(names) for result in program.results]),
            ).without_dead_code()


def _places(program: Program) -> list[str]:
    return [program.place(path) for path in program.arguments.paths]


def _without_arguments(program: Program) -> Iterator[Program]:
    """Fewer arguments, each in a plainer container, and without the entries that nothing uses."""
    for name in program.kwargs:
        if not any(name in operand for operand in program.used()):
            yield replace(program, kwargs={other: value for other, value in program.kwargs.items() if other != name})
    last = len(program.args) - 1
    if last and not any(operand.partition("[")[0].partition(".")[0] == program.names[last] for operand in program.used()):
        yield replace(program, args=program.args[:last])
    for n, (name, arg) in enumerate(zip(program.names, program.args)):
        constant = isinstance(arg, Constant)
        tree = arg.value if constant else arg
        for smaller, renaming in _simpler_trees(tree, name, program.used()):
            args = (*program.args[:n], Constant(smaller) if constant else smaller, *program.args[n + 1 :])
            yield replace(
                program,
                args=args,
                statements=tuple([statement.renamed(renaming) for statement in program.statements]),
                results=tuple([result.renamed(renaming) for result in program.results]),
            )


def _simpler_trees(tree: Any, name: str, used: set[str]) -> Iterator[tuple[Any, dict[str, str]]]:
    """Trees in the place of one, and what its leaves are called then."""
    handler = handler_of(tree, scan=False)
    if not isinstance(handler, NodeType):
        return
    children, data = handler.flatten(tree)
    paths = handler.paths(data, len(children))
    for child, path in zip(children, paths):  # the tree is one of its children
        inside = [place for place, _ in leaves_inside(child, name + path)]
        yield child, {place: name + place.removeprefix(name + path) for place in inside}
    if isinstance(tree, dict) and len(tree) > 1:
        for key, path in zip(tree, paths):
            if not any(operand.startswith(name + path) for operand in used):
                yield {other: value for other, value in tree.items() if other != key}, {}
    if type(tree) in (list, tuple) and len(tree) > 1 and not any(o.startswith(name + paths[-1]) for o in used):
        yield tree[:-1], {}
    if type(tree) not in (list, tuple, dict):
        plain = {path.strip("[].'"): child for path, child in zip(paths, children)}
        renaming = {}
        for child, path in zip(children, paths):
            for place, _ in leaves_inside(child, name + path):
                renaming[place] = f"{name}[{path.strip('[].' + chr(39))!r}]" + place.removeprefix(name + path)
        yield plain, renaming
    for n, (child, path) in enumerate(zip(children, paths)):
        for smaller, renaming in _simpler_trees(child, name + path, used):
            yield handler.unflatten(data, [*children[:n], smaller, *children[n + 1 :]]), renaming


def _plainer_leaves(program: Program) -> Iterator[Program]:
    """Double precision, arrays for scalars, fewer digits, and smaller arrays."""
    changes: tuple[Callable[[Any], Any], ...] = (_doubled, _real, _short, _as_array)
    for change in changes:
        args = tuple([_changed(change, arg) for arg in program.args])
        if repr(args) != repr(program.args):
            yield replace(program, args=args)


def _changed(change: Callable[[Any], Any], arg: Any) -> Any:
    if isinstance(arg, Constant):
        return Constant(_changed(change, arg.value))
    if isinstance(handler_of(arg, scan=False), NodeType):
        return mapped(lambda leaf: _changed(change, leaf) if isinstance(leaf, Constant) else change(leaf), arg)
    return change(arg)


def _doubled(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray) and leaf.dtype.name in ("float32", "complex64"):
        return np.round(leaf.astype({"float32": "float64", "complex64": "complex128"}[leaf.dtype.name]), 2)
    return leaf


def _real(leaf: Any) -> Any:
    return leaf.real.copy() if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "c" else leaf


def _short(leaf: Any) -> Any:
    return np.round(leaf, 1).astype(leaf.dtype) if isinstance(leaf, np.ndarray) and leaf.ndim else leaf


def _as_array(leaf: Any) -> Any:
    return np.array(leaf) if isinstance(leaf, (float, complex, np.generic)) else leaf
