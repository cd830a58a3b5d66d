"""One program on one engine, in each mode, against differences of NumPy's own run."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adinterface import AutoBackend, NumpyCodeError, gradient, hvp, numpy_function, pushforward, tree

from ..functions.checks import derivative_along, second_derivative_along
from ..packages.trial import quiet
from . import expressions, longer

MODES = ("reverse", "forward", "second order")
#: What can become of a program on an engine. "in part": some modes are right, and the others refuse.
VERDICTS = ("right", "in part", "refused", "wrong")


@dataclass(frozen=True, eq=False)
class Program:
    """A function of NumPy's arrays and numbers, and trees of them, with arguments by which all it is differentiated."""

    name: str
    theme: str
    f: Callable[..., Any]
    args: tuple[Any, ...]


def programs() -> list[Program]:
    """All of them, in the order of the files."""
    found = []
    for theme, text in expressions.THEMES.items():
        for source in dict.fromkeys(row.strip() for row in text.split(";") if row.strip()):
            used = {node.id for node in ast.walk(ast.parse(source, mode="eval")) if isinstance(node, ast.Name)}
            names = [name for name in expressions.VARIABLES if name in used]
            f = eval(f"lambda {', '.join(names)}: {source}", dict(expressions.CAPTURED))
            found.append(Program(source, theme, f, tuple([expressions.VARIABLES[name] for name in names])))
    found += [Program(f.__name__, "programs with statements", f, args) for f, args in longer.LONGER.items()]
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of a program on an engine: of each mode "right", "wrong", "refused" or "failed", and why."""

    program: str
    theme: str
    backend: str
    modes: dict[str, tuple[str, str]]

    @property
    def verdict(self) -> str:
        statuses = [status for status, _ in self.modes.values()]
        if "wrong" in statuses:
            return "wrong"
        return "right" if set(statuses) == {"right"} else "in part" if "right" in statuses else "refused"

    def __str__(self) -> str:
        reasons = "; ".join(f"{mode} {status}: {reason}" for mode, (status, reason) in self.modes.items() if status != "right")
        return f"{self.verdict:8} {self.backend} {self.program}  {reasons}".rstrip()


# The reference -------------------------------------------------------------------------------------------------------


def parts_of(result: Any) -> Iterator[Any]:
    """The floating arrays and numbers in a result."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from parts_of(part)
    elif isinstance(result, (float, complex)) or (hasattr(result, "dtype") and result.dtype.kind in "fc"):
        yield result


def weighted(f: Callable[..., Any]) -> Callable[..., Any]:
    """One number of all floating numbers that f gives, each with a weight of its own."""

    def total(*args: Any) -> Any:
        found: Any = 0.0
        for n, part in enumerate(parts_of(f(*args))):
            flat = np.ravel(part)
            flat = np.real(flat) + 0.5 * np.imag(flat) if flat.dtype.kind == "c" else flat
            found = found + np.sum(np.cos(0.7 * np.arange(flat.size) + 0.3 + n) * flat)
        return found

    return total


@dataclass(frozen=True, eq=False)
class Reference:
    """Derivatives along two directions, and the mixed second one; None where it has none, or its leaves are complex."""

    directions: tuple[tuple[Any, ...], tuple[Any, ...]]
    slopes: tuple[float, float]
    curvature: float | None


def reference(program: Program) -> Reference:
    """By central differences of eighth order. Raises ValueError where the program is not smooth."""
    numbers, again = _vector(program.args)
    f = weighted(program.f)
    of_vector = lambda vector: np.asarray(f(*again(vector)), float)
    rng = np.random.default_rng(3)
    vectors = [rng.uniform(-1.0, 1.0, numbers.shape) for _ in range(2)]
    with quiet():
        slopes = [float(_settled(derivative_along, of_vector, numbers, v)) for v in vectors]
        curvature = None
        if not any(np.iscomplexobj(leaf) for leaf in _leaves(program.args)):
            along, against = (
                _settled(second_derivative_along, of_vector, numbers, vectors[0] + sign * vectors[1]) for sign in (1, -1)
            )
            curvature = float(along - against) / 4
    return Reference((again(vectors[0]), again(vectors[1])), (slopes[0], slopes[1]), curvature)


def _settled(differences: Callable[..., Any], f: Callable[..., Any], at: Any, direction: Any) -> Any:
    """With smaller steps where a kink or the edge of the domain is near."""
    for step in (2.0**-6, 2.0**-8, 2.0**-10):
        try:
            return differences(f, (at,), (direction,), step)
        except ValueError:
            continue
    return differences(f, (at,), (direction,), 2.0**-12)


def _leaves(args: Any) -> list[Any]:
    found: list[Any] = []
    tree.map(lambda leaf: found.append(leaf), args)
    return found


def _vector(args: Any) -> tuple[np.ndarray[Any, Any], Callable[[Any], Any]]:
    """All numbers in a row, the imaginary parts of complex ones after their real parts, and the way back."""
    leaves = _leaves(args)
    rows = [np.concatenate([np.ravel(np.real(x)), *([np.ravel(np.imag(x))] if np.iscomplexobj(x) else [])]) for x in leaves]

    def again(vector: Any) -> Any:
        rest = vector

        def take(leaf: Any) -> Any:
            nonlocal rest
            size = np.size(leaf)
            found, rest = rest[:size], rest[size:]
            if np.iscomplexobj(leaf):
                found, rest = found + 1j * rest[:size], rest[size:]
            return np.reshape(found, np.shape(leaf)) if isinstance(leaf, np.ndarray) else type(leaf)(found[0])

        return tree.map(take, args)

    return np.concatenate(rows), again


# The engine ----------------------------------------------------------------------------------------------------------


def run(program: Program, wanted: Reference, backend: AutoBackend, *, deep: bool) -> Outcome:
    """The program in each mode that the engine has."""
    f = numpy_function(weighted(program.f), deep=deep)
    has_modes = any(field.name == "mode" for field in dataclasses.fields(backend))
    modes = {"reverse": _status(lambda: _reverse(f, backend, program, wanted))}
    if has_modes:
        forward = dataclasses.replace(backend, mode="forward")  # type: ignore[call-arg]
        modes["forward"] = _status(lambda: _forward(f, forward, program, wanted))
    if wanted.curvature is not None:
        modes["second order"] = _status(lambda: _second(f, backend, program, wanted))
    return Outcome(program.name, program.theme, type(backend).__name__, modes)


class _Wrong(Exception):
    pass


def _status(check: Callable[[], None]) -> tuple[str, str]:
    try:
        with quiet():
            check()
    except _Wrong as error:
        return "wrong", str(error)
    except NumpyCodeError as error:
        return "refused", str(error).removeprefix("numpy_function: ")
    except Exception as error:  # whatever an engine raises
        first = str(error).strip().splitlines()
        return "failed", f"{type(error).__name__}: {first[0] if first else ''}"
    return "right", ""


def _reverse(f: Any, backend: AutoBackend, program: Program, wanted: Reference) -> None:
    found = gradient(f, backend, *program.args)
    for direction, slope in zip(wanted.directions, wanted.slopes):
        _compare("the gradient along a direction", _inner(found, direction), slope, 1e-7)


def _forward(f: Any, backend: AutoBackend, program: Program, wanted: Reference) -> None:
    for direction, slope in zip(wanted.directions, wanted.slopes):
        _compare("the derivative along a direction", pushforward(f, backend, program.args, direction).tangent, slope, 1e-7)


def _second(f: Any, backend: AutoBackend, program: Program, wanted: Reference) -> None:
    one, other = wanted.directions
    product = hvp(lambda args: f(*args), backend, program.args, one)
    assert wanted.curvature is not None
    _compare("the second derivative", _inner(product, other), wanted.curvature, 1e-6)


def _inner(a: Any, b: Any) -> float:
    pairs = zip(_leaves(a), _leaves(b), strict=True)
    return float(sum(np.real(np.sum(np.conj(x) * y)) for x, y in pairs))


def _compare(what: str, got: Any, wanted: float, tolerance: float) -> None:
    if not abs(float(got) - wanted) <= tolerance * max(1.0, abs(wanted)):
        raise _Wrong(f"{what} is {float(got):.12g}, by differences {wanted:.12g}")
