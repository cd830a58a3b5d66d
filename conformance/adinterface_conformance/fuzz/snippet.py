"""A failing trial as a program that runs when it is pasted."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import adinterface
from adinterface import AutoBackend, SecondOrder

from ..arguments import shifted
from .program import written
from .trial import Call, Trial, native_library

_NATIVE = """\
library = find({backend}).libraries[0]


def native(x):
    scoping = library.precision((x.dtype.name,))
    with (scoping and scoping()) or nullcontext():
        return library.asarray(x, dtype=x.dtype.name, copy=True)


"""

#: Where the names of a program come from.
_FROM = {
    "collections": ("OrderedDict", "defaultdict"),
    "contextlib": ("nullcontext",),
    "adinterface": tuple(adinterface.__all__),
    "adinterface.registry": ("find",),
    "adinterface_conformance.fuzz.nodes": ("Layer", "Pair"),
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
    """The text: imports, f, the call, and in comments what is wrong with what it prints."""
    operator, backend = trial.operation.name, written_backend(call.backend)
    native = call.native and native_library(call.backend) is not None
    scenario = trial.scenario()

    def arguments(change: Callable[[Any], Any]) -> str:
        args = [written(change(arg), lambda path: native) for arg in scenario.args]
        if trial.operation.directions == "second tuple":
            args = [f"({', '.join(args)},)", written(trial.tangents)]
        keywords = [f"{name}={written(change(value), lambda path: native)}" for name, value in scenario.kwargs.items()]
        return ", ".join([*args, *keywords])

    text = (_NATIVE.format(backend=backend) if native else "") + f"{trial.program.source()}\n\n"
    if call.prepared:
        text += f"fast = prepare({operator}, f, {backend}, {arguments(shifted)})\n"
        text += f"fast({arguments(shifted)})\nresult = fast({arguments(lambda value: value)})\n"
    else:
        text += f"result = {operator}(f, {backend}, {arguments(lambda value: value)})\n"
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
    return f"{_imports(text)}\n\n{text}"


def _imports(text: str) -> str:
    words = set(re.findall(r"\w+", re.sub("#.*", "", text)))
    lines = ["import numpy as np"] if "np" in words else []
    for module, names in _FROM.items():
        used = [name for name in names if name in words]
        if used:
            lines.append(f"from {module} import {', '.join(used)}")
    return "\n".join(lines) + "\n"
