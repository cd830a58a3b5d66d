"""A failing trial as a program that runs when it is pasted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import adinterface
from adinterface import AutoBackend, SecondOrder

from ..arguments import shifted
from .elsewhere import switched, switches
from .program import Program, written
from .trial import Call, Trial, native_library

_NATIVE = """\
library = find({backend}).libraries[0]


def native(x):
    scoping = library.precision((x.dtype.name,))
    with (scoping and scoping()) or contextlib.nullcontext():
        return library.asarray(x, dtype=x.dtype.name, copy=True)


"""

#: Where the names of a program come from.
_FROM = {
    "collections": ("OrderedDict", "defaultdict"),
    "adinterface": tuple(adinterface.__all__),
    "adinterface.rules": tuple(name for name in adinterface.rules.__all__ if name not in adinterface.__all__),
    "adinterface.loops": tuple(adinterface.loops.__all__),
    "adinterface.core.contract.registry": ("find",),
    "adinterface_conformance.fuzz.nodes": ("Layer", "Pair", "Switch"),
}


def written_backend(backend: AutoBackend) -> str:
    """The value as one would write it: only the options that differ from their defaults."""
    if isinstance(backend, SecondOrder) or not is_dataclass(backend):
        return repr(backend)
    options = [(each.name, getattr(backend, each.name)) for each in fields(backend) if each.init]
    plain = type(backend)()
    inside = ", ".join(f"{name}={value!r}" for name, value in options if value != getattr(plain, name))
    return f"{type(backend).__name__}({inside})"


def snippet(trial: Trial, call: Call, messages: list[str]) -> str:
    """The text: imports, f, the call, and comments on the errors in the results."""
    operator, backend = trial.operation.name, written_backend(call.backend)
    native = call.native and native_library(call.backend) is not None

    def arguments(program: Program, change: Callable[[Any], Any] = lambda value: value) -> str:
        values, keywords = trial.given(program, lambda value: value)
        args = [written(value, lambda path: native) for value in values]
        if trial.operation.directions == "second tuple":
            args = [f"({', '.join(args)},)", written(change(trial.tangents))]
        return ", ".join([*args, *[f"{name}={written(value, lambda path: native)}" for name, value in keywords.items()]])

    text = f"\n{trial.program.source()}\n\n"
    if call.prepared:
        with switched(trial.elsewhere):
            text += _switch(trial.program)
            there = arguments(trial.elsewhere.program, shifted)
        text += f"fast = prepare({operator}, f, {backend}, {there})\nfast({there})\n"
        text += "".join(f"setting.power = {switch.power}\n" for switch in switches(trial.program) if trial.elsewhere.turns)
        text += f"result = fast({arguments(trial.program)})\n"
    else:
        text += _switch(trial.program)
        text += f"result = {operator}(f, {backend}, {arguments(trial.program)})\n"
    if "back" in trial.operation.forms:
        text += f"print(result.value, result.back({written(trial.cotangent)}))\n"
    elif "push" in trial.operation.forms:
        text += f"print(result.value, result.push(*{written(trial.tangents)}))\n"
    else:
        text += "print(result)\n"
    for name in ("u", "v"):
        if any(f"along {name}" in message for message in messages):
            text += f"# {name} = {written(trial.arguments.tangents(trial.direction(name)))}\n"
    text += "".join(f"# {line}\n" for message in dict.fromkeys(messages) for line in message.splitlines()[:3])
    return imported(text, call.backend)


def imported(text: str, backend: AutoBackend) -> str:
    """The text behind the imports that it needs, and `native`, which makes arrays of the engine, if it calls that."""
    if "native(" in text:
        text = f"\n{_NATIVE.format(backend=written_backend(backend))}{text}"
    return f"{_imports(text)}\n{text}"


def _switch(program: Program) -> str:
    return "".join(f"setting = Switch({switch.power})\n" for switch in switches(program))


def _imports(text: str) -> str:
    words = set(re.findall(r"(?<![.\w])\w+", re.sub("#.*", "", text)))
    lines = [f"import {module}" for module in ("contextlib", "math") if module in words]
    lines += ["import numpy as np"] if "np" in words else []
    for module, names in _FROM.items():
        used = [name for name in names if name in words]
        if used:
            lines.append(f"from {module} import {', '.join(used)}")
    return "\n".join(lines) + "\n"
