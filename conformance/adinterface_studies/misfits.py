"""Trees that do not fit: a leaf of another shape, which arithmetic would broadcast, where one like the model is wanted.

All that takes a tree and a model must refuse it with TreeError, which names the place of the leaf. The models are
arguments of the random programs of the fuzzer.
"""

from __future__ import annotations

import argparse
import sys
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance.fuzz.program import Program, written
from adinterface_conformance.fuzz.record import Failure, Fuzzing
from adinterface_conformance.fuzz.run import drawn
from adinterface_conformance.fuzz.snippet import imported, written_backend
from adinterface_conformance.fuzz.trial import as_native, native_library
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from
from adinterface_conformance.trees import filled, is_floating, leaves_inside, leaves_of

import adinterface
from adinterface import AutoBackend, Constant, TreeError
from adinterface.core.contract.library import Library


class Misfit(NamedTuple):
    """A function that took a misfit, or refused it with another error, and a program that shows it."""

    function: str
    kind: str
    text: str


#: What takes a tree and a model, as it is called.
FUNCTIONS = (
    "tree.add(model, other)",
    "tree.axpy(0.5, other, model)",
    "tree.vdot(model, other)",
    "tree.where(True, model, other)",
    "update(model, other, 0.5)",
    "pushforward(lambda model: tree.vdot(model, model), {backend}, (model,), (other,))",
    "linearize(lambda model: tree.vdot(model, model), {backend}, model).push(other)",
    "pullback(lambda model: model, {backend}, model).back(other)",
    "hvp(lambda model: tree.vdot(model, model), {backend}, model, other)",
)


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if every misfit was refused, 1 if not, 2 for a wrong command line."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies misfits", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    parser.add_argument("--programs", type=int, default=100, metavar="N", help="models of how many programs are taken")
    options = parser.parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    done = tried(backends, options.seed, options.programs)
    print(*done.failures, sep="\n", end="\n" if done.failures else "")
    print(f"{sum(done.comparisons.values())} misfits of {done.programs} programs, {len(done.failures)} ways to fail")
    return 0 if done.good else 1


def tried(backends: Sequence[AutoBackend], seed: int, programs: int) -> Fuzzing:
    """Try misfits of the first programs of a seed on every backend."""
    done = Fuzzing(seed, programs=programs)
    for number in range(programs):
        made, _ = drawn(seed, number)
        for backend in backends:
            name = type(backend).__name__
            rng = np.random.default_rng([seed, number, zlib.crc32(b"misfits"), zlib.crc32(backend.name.encode())])
            count, found = misfits(made, backend, rng)
            done.comparisons[name] += count
            for function, kind, text in found:
                done.note(Failure(name, function, kind, "", frozenset(), text, number))
    return done


def misfits(program: Program, backend: AutoBackend, rng: np.random.Generator) -> tuple[int, list[Misfit]]:
    """How many misfits of a model among the arguments of the program were tried, and what was not refused as it should be."""
    models = [arg for arg in program.args if not isinstance(arg, Constant) and _misfitting(arg)]
    if not models:
        return 0, []
    model = models[int(rng.integers(len(models)))]
    path, leaf = _misfitting(model)[int(rng.integers(len(_misfitting(model))))]
    wrong = _broadcast(leaf)[int(rng.integers(len(_broadcast(leaf))))]
    library = native_library(backend) if rng.random() < 0.5 else None
    found, tried = [], 0
    for function in FUNCTIONS:
        if "hvp" in function and any(np.iscomplexobj(each) for _, each in leaves_inside(model, "")):
            continue
        tried += 1
        kind = _kind(function, Pair(model, path, wrong, library), backend)
        if kind is not None:
            least = Pair({"x": leaf}, "['x']", wrong, None), Pair({"x": leaf}, "['x']", wrong, library)
            plain = next((pair for pair in least if _kind(function, pair, backend) == kind), Pair(model, path, wrong, library))
            found.append(Misfit(function.partition("(")[0], kind, _text(function, plain, backend)))
    return tried, found


class Pair(NamedTuple):
    """A model, and what stands in another tree at the path of one of its leaves; both of a library, or of NumPy."""

    model: Any
    path: str
    wrong: Any
    library: Library | None

    @property
    def other(self) -> Any:
        """A gradient of the model with that leaf."""
        leaves = [self.wrong if path == self.path else leaf for path, leaf in leaves_of(self.model, "") if is_floating(leaf)]
        return filled(self.model, iter(leaves))


def _misfitting(model: Any) -> list[tuple[str, Any]]:
    return [(path, leaf) for path, leaf in leaves_of(model, "") if isinstance(leaf, np.ndarray) and is_floating(leaf)]


def _broadcast(leaf: Any) -> list[Any]:
    """Arrays of other shapes that broadcast with the leaf."""
    shapes: list[tuple[int, ...]] = [(), (1, *leaf.shape)]
    if leaf.ndim:
        shapes += [(*leaf.shape, 1)] if leaf.ndim == 1 else []
        shapes.append((min(1, len(leaf)), *leaf.shape[1:]))
    return [np.ones(shape, leaf.dtype) for shape in dict.fromkeys(shapes) if shape != leaf.shape]


def _kind(function: str, pair: Pair, backend: AutoBackend) -> str | None:
    """How a function goes wrong with a misfit; None if it refuses as it should."""
    names: dict[str, Any] = {
        "update": adinterface.fit.update,
        **{name: getattr(adinterface, name) for name in ("tree", "pushforward", "linearize", "pullback", "hvp")},
        "model": as_native(pair.library, pair.model),
        "other": as_native(pair.library, pair.other),
        "backend": backend,
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            eval(function.format(backend="backend"), names)
        except TreeError as error:
            return None if pair.path in str(error) else "does not name the place"
        except Exception as error:
            return f"raises {type(error).__name__}"
    return "takes a misfit"


def _text(function: str, pair: Pair, backend: AutoBackend) -> str:
    native: Callable[[str], bool] = lambda path: pair.library is not None
    call = function.format(backend=written_backend(backend))
    return imported(f"model = {written(pair.model, native)}\nother = {written(pair.other, native)}\nprint({call})\n", backend)
