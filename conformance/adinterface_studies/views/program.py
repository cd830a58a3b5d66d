"""Random NumPy programs that make arrays, look at them by views, and write through these.

A program is a list of statements about x, a vector of differentiated numbers. Each is run by NumPy as it is made, so that the
next knows the shapes there are; one that NumPy refuses is left out. What a program gives is a weighted sum of all that is left.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: How many numbers x has.
SIZE = 6
_LIMIT = 40


@dataclass(frozen=True)
class Program:
    statements: tuple[str, ...]

    @property
    def source(self) -> str:
        lines = ["def f(x):", "    total = 0.0", *["    " + line for line in self.statements]]
        for name in self.names:
            lines.append(f"    total = total + weighed({name})")
        return "\n".join([*lines, "    return total", ""])

    @property
    def names(self) -> list[str]:
        names = [line.split(" = ")[0] for line in self.statements]
        return [name for name in dict.fromkeys(names) if name.isidentifier() and name != "total"]

    def function(self) -> Callable[[Any], Any]:
        """The program as a function of NumPy's, with a source that messages can show."""
        source = self.source
        file = f"<program {hash(source):x}>"
        space: dict[str, Any] = {"np": np, "weighed": weighed, "__name__": "programs"}
        exec(compile(source, file, "exec"), space)
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        f: Callable[[Any], Any] = space["f"]
        return f


def weighed(a: Any) -> Any:
    """A number that depends on each element of an array, and on where it is."""
    if np.ndim(a) == 0:
        return np.real(a) + 0.5 * np.imag(a)
    weights = np.cos(np.arange(1.0, a.size + 1)).reshape(a.shape)
    return np.sum(np.real(a) * weights) + 0.5 * np.sum(np.imag(a) * weights)


def random_program(seed: int) -> Program:
    """The program of a seed."""
    return _Making(random.Random(seed)).program()


#: Statements by what they do, one a line, those that are chosen more often after a number. Names in braces are filled in.
_NUMBERS = """
x[{place}]
x[{place}] * x[-{axis}]
np.sin(x[{place}])
3 0.5
2.0
-1.0
1
np.sum(x[:{place}])
{other}.mean()
"""
_VALUES = """
2 {number}
{other}
np.sin({other})
{other} * {number}
{other} + {another}
0.5 * {other}
x[:3]
x
x[{slice}]
[x[0], 2.0]
{other}[{place}:]
{other}.T
np.tanh({other}) - {another}
{other}[::-1]
"""
_ROOTS = """
2 np.zeros({shape})
np.ones({shape})
np.full({shape}, 0.5)
np.zeros({shape}, order='F')
np.arange({size}.0).reshape({shape}) / 9
np.zeros({shape}, complex)
np.zeros({shape}, np.float32)
np.zeros_like({a})
np.empty_like({a}); {new}[...] = 0.25
{a}.copy()
np.array({a})
np.copy({a})
np.sin({a})
{a} * 0.5
x * 1.0
{a}.T + 1.0
np.outer(x[:2], x[:3])
np.array([x[0], x[1], 0.5])
np.eye({axis})
{a} + 0.5j * {a}
{a}.copy('F')
np.full({shape}, x[1])
np.tile(x[:2], 3)
np.linspace(0.0, 1.0, {size}).reshape({shape})
np.concatenate([x[:3], {a}.ravel()[:2]])
np.asarray({a})
np.ones_like({a})
np.full_like({a}, 0.75)
np.stack([x[:3], x[3:]])
"""
_VIEWS = """
8 {a}[{basic}]
{a}.T
2 {a}.reshape({folded})
{a}.ravel()
{a}.reshape({folded}, order='F')
np.reshape({a}, {folded})
{a}.real
{a}.imag
np.swapaxes({a}, 0, -1)
np.flip({a})
np.moveaxis({a}, 0, -1)
np.expand_dims({a}, 0)
np.squeeze({a})
np.atleast_2d({a})
np.rot90({a})
np.split({a}, 2)[0]
np.split({a}, 2)[1]
np.array_split({a}, 2, axis=-1)[-1]
{a}.view()
np.diagonal({a})
np.einsum('ii->i', {filled})
np.einsum('ij->ji', {a})
np.broadcast_to({a}, (2, *{a}.shape))
{a}.flatten()
{a}.ravel('F')
{a}.astype({a}.dtype, copy=False)
{a}[{index}]
{a}[{mask}]
np.transpose({a})
{a}.conj()
np.real({a})
{a}.squeeze()
np.fliplr({a})
np.hsplit({a}, 2)[0]
np.asarray({a})
np.ravel({a})
"""
_WRITES = """
8 {a}[{index}] = {value}
5 {a}[{index}] {operator} {value}
2 {a}[{mask}] = {value} * 1.0
2 {a}[{mask}] {operator} {value}
3 {a} {operator} {value}
np.multiply({value}, {number}, out={a})
np.sin({value}, out={a})
np.add({a}, {value}, out={a}[{basic}])
np.exp({value}, out={a}, where={a} > 0.1)
np.add.at({a}, [0, -1, 0], {value} * 1.0)
np.add.at({a}, {some}, {value} * 1.0)
np.subtract.at({a}, [0, 0], {number})
np.multiply.at({a}, [0, 1, 0], {number})
np.copyto({a}, {value})
np.copyto({a}, {value}, where={a} > 0.3)
np.putmask({a}, {a} > 0.2, {value} * 1.0)
np.place({a}, {a} > 0.2, x[:2])
np.put({a}, {some}, {value} * 1.0)
{a}.fill({number})
np.fill_diagonal({a}, {number})
np.fill_diagonal({a}, x[:2])
{a}.sort()
{a}.sort(axis=0)
{a}.flat[1] = {number}
{a}.flat[::2] = {value} * 1.0
{a}.flat[{some}] = {value} * 1.0
{a}.flat = {value} * 1.0
{a}.real = {value}
{a}.imag = {value}
{a}[...] = {value}
{a}[:] = {a}[::-1]
np.cumsum({a}, axis=0, out={a})
np.sum({value}, axis=0, out={a})
np.put_along_axis({a}, np.argsort({a}, axis=0), {number}, 0)
{a}.put({some}, x[:3])
np.dot({a}, x[:3], out={a})
np.clip({value}, 0.1, 0.9, out={a})
for row in {a}: row[...] = {number}
for row in {a}.T: row *= {number}
{a}[0], {a}[-1] = {a}[-1], {a}[0]
np.nan_to_num({a}, copy=False)
"""
_OTHERS = """
{a} = {another}
total = total + weighed({a})
{a} = {a} * 0.5
{new} = {a}.sum()
"""


def _choices(lines: str) -> list[str]:
    found: list[str] = []
    for line in lines.strip().splitlines():
        times, _, rest = line.partition(" ")
        found += [rest] * int(times) if times.isdigit() and rest else [line]
    return found


_CHOICES = {
    "number": _choices(_NUMBERS),
    "value": _choices(_VALUES),
    "root": ["{new} = " + line for line in _choices(_ROOTS)],
    "view": ["{new} = " + line for line in _choices(_VIEWS)],
    "write": _choices(_WRITES),
    "statement": _choices(_OTHERS),
}
_SLICES = (":", "1:", ":-1", "::2", "::-1", "1::2", ":2", "3:", "-2:", "::-2")
_SHAPES = ((6,), (4,), (2, 3), (3, 2), (3, 3), (2, 2, 2), (1, 4), (6, 1))
#: What NumPy raises for a statement that does not fit.
_UNFIT = (ValueError, TypeError, IndexError, AttributeError, Warning, ZeroDivisionError)


class _Making(dict[str, str]):
    """A program as it grows, and what the names in braces mean."""

    def __init__(self, rng: random.Random):
        super().__init__()
        self.rng = rng
        self.arrays: dict[str, Any] = {}
        self.space: dict[str, Any] = {"np": np, "weighed": weighed}
        self.x = np.linspace(0.3, 1.7, SIZE) * np.cos(np.arange(SIZE))
        self.statements: list[str] = []

    def program(self) -> Program:
        self.attempt("root")
        for _ in range(self.rng.randint(3, 12)):
            self.attempt(self.rng.choices(["root", "view", "write", "statement"], [2, 5, 7, 1])[0])
        return Program(tuple(self.statements))

    def attempt(self, kind: str) -> None:
        for _ in range(4):
            self.clear()  # all but a and new is drawn again wherever it stands
            self["a"], self["new"] = self.known(), f"a{len(self.statements)}"
            line = self[kind]
            found = self.run(line)
            if found is not None and not self.reads_what_it_has_written(line, found):
                self.arrays = found
                self.statements.append(line)
                return

    def run(self, line: str) -> dict[str, Any] | None:
        """The arrays that there are after one statement more; None if it does not fit, or they get large.

        All is run anew: a statement that fails half way has written already.
        """
        body = ["total = 0.0", *self.statements, line, "return locals()"]
        space = dict(self.space)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                exec("\n    ".join(["def run(x):", *body]), space)
                found = space["run"](self.x.copy())
            except _UNFIT:
                return None
        arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray) and name != "x"}
        for array in arrays.values():
            if array.size > _LIMIT or not np.isfinite(array).all() or np.abs(array).max(initial=0) > 1e3:
                return None
        return arrays

    def reads_what_it_has_written(self, line: str, found: dict[str, Any]) -> bool:
        """Whether NumPy computes anything else for the same statement with a copy on its right.

        It looks for overlaps, but not where both sides have one axis that runs the same way: in `a[::2] = a[:6]` it reads
        elements that it wrote just before. Here such a statement is what it would be without the overlap.
        """
        left, equals, right = line.partition("] = ")
        if not equals or not left.startswith(f"{self['a']}["):
            return False
        alone = self.run(f"{left}{equals}np.array({right})")
        return alone is not None and any(not np.array_equal(found[name], alone[name]) for name in found)

    # What stands in braces

    def __missing__(self, name: str) -> str:
        if name in _CHOICES:
            return self.rng.choice(_CHOICES[name]).format_map(self)
        found = getattr(self, name)()
        return found if isinstance(found, str) else str(found)

    def known(self) -> str:
        """An array, the later ones more often."""
        names = list(self.arrays) or ["x"]
        return names[min(int(self.rng.triangular(0, len(names), len(names))), len(names) - 1)]

    other = another = known

    def filled(self) -> str:
        """An array that is not empty: of shape (0, 4), NumPy's einsum gives a diagonal of four, in no array's memory."""
        return next((name for name in (self["a"], self.known(), *self.arrays) if self.arrays.get(name, self.x).size), "x")

    def shape_of(self, name: str) -> tuple[int, ...]:
        return np.shape(self.arrays.get(name, self.x))

    def shape(self) -> tuple[int, ...]:
        return self.rng.choice(_SHAPES)

    def size(self) -> int:
        return int(np.prod(self.shape()))

    def place(self) -> int:
        return self.rng.randrange(SIZE)

    def axis(self) -> int:
        return self.rng.randrange(1, 5)

    def slice(self) -> str:
        return self.rng.choice(_SLICES)

    def operator(self) -> str:
        return self.rng.choice(["+=", "*=", "-=", "/="])

    def some(self) -> list[int]:
        return [self.rng.randrange(np.size(self.arrays.get(self["a"], self.x)) or 1) for _ in range(3)]

    def folded(self) -> tuple[int, ...]:
        size = int(np.prod(self.shape_of(self["a"])))
        return self.rng.choice([(size,), (-1,), (2, -1), (-1, 2), (3, -1), (1, size), (size, 1), (2, 2, -1)])

    def basic(self) -> str:
        """An index for a, that gives a view."""
        parts: list[str] = []
        for length in self.shape_of(self["a"]):
            if self.rng.random() < 0.2 and parts:
                break
            number = str(self.rng.randrange(-length, length)) if length else ":"
            parts.append(self.rng.choice([self.slice(), self.slice(), number]))
        if self.rng.random() < 0.1:
            parts.insert(self.rng.randrange(len(parts) + 1), "None")
        if self.rng.random() < 0.1:
            parts = ["...", *parts[-1:]]
        return ", ".join(parts) or "..."

    def mask(self) -> str:
        return self.rng.choice([f"{self['a']} > 0.2", f"~({self['a']} > 0.4)"])

    def index(self) -> str:
        """An index for a: sometimes one with integers."""
        if self.rng.random() > 0.3:
            return self.basic()
        shape = self.shape_of(self["a"])
        length = shape[0] if shape else 1
        some = [self.rng.randrange(-length, length or 1) for _ in range(self.rng.randint(1, 3))] if length else []
        choices = [str(some), f"np.array({some})", "np.argmax(x)"]
        choices.append(f"np.argsort(x)[:2] % {max(length, 1)}")
        if len(shape) > 1:
            choices += [f"{some}, {some}", f":, {some[:1]}"]
        return self.rng.choice(choices)
