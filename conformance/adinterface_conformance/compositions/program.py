"""Programs: chains of blocks, drawn by a seed and written as Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .blocks import BLOCKS, OPERATORS, PACKS, Block, Words

#: How what is constant shares with what is differentiated: the parameter, the factor in f, the argument, the keyword.
SHARES = {
    "none": ("", "", "", ""),
    "same": (", c", " * c", "Constant({x})", ""),
    "view": (", c", " * c", "Constant({x}[:])", ""),
    "computed": (", c", " * c", "Constant({x} * 0.5)", ""),
    "keyword": (", c", " * c", "", "c={x}"),
    "captured": ("", " * {x}", "", ""),
}
#: Where an operator inside f is made: in the call, prepared there, or prepared outside of f (`back` and `push` made there).
PLACES = "plain", "prepared", "outside"
#: How often derivatives may be nested in a program, without those taken of it.
ORDER = 3
PRELUDE = """
import random
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread

import numpy as np
from adinterface import *
from adinterface.rules import *
from adinterface.loops import *


def total(y):
    xp = array_namespace(y)
    return xp.real(xp.sum(y * y) + y[0] * (0.5 + 0.3j)) if complex_numbers else xp.sum(y * y) + 0.5 * y[0]


def damped(x):
    xp = array_namespace(x)
    return x / (1.0 + (xp.real(x) ** 2 + xp.imag(x) ** 2 if complex_numbers else x * x))


def conj(x):
    return array_namespace(x).conj(x) if complex_numbers else x
"""


@dataclass(frozen=True)
class Node:
    """A block with the choices that are made for it."""

    block: str
    bodies: tuple[Chain, ...] = ()
    share: str = "none"
    place: str = "plain"
    #: Whether the operators in it use forward mode, where the engine has a mode.
    forward: bool = False
    #: Whether its result is kept small.
    damped: bool = False


Chain = tuple[Node, ...]


@dataclass(frozen=True)
class Program:
    """A function of one argument, and a point."""

    chain: Chain
    dtype: str = "float64"
    size: int = 2
    pack: str = "array"
    share: str = "none"

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")

    @property
    def nodes(self) -> list[Node]:
        return list(_nodes(self.chain))

    @property
    def blocks(self) -> frozenset[str]:
        """What is in it, for comparing failures."""
        choices = {node.share for node in self.nodes} | {node.place for node in self.nodes} | {self.pack, self.share}
        return frozenset({node.block for node in self.nodes} | choices - {"none", "plain", "array"})

    @property
    def tags(self) -> frozenset[str]:
        return frozenset[str]().union(*[BLOCKS[node.block].tags for node in self.nodes])

    @property
    def point(self) -> Any:
        numbers = np.array([0.7, -0.4, 0.3])[: self.size]
        return (numbers + np.array([0.2j, 0.5j, -0.3j])[: self.size] if self.is_complex else numbers).astype(self.dtype)

    @property
    def length(self) -> int:
        """What shrinking reduces."""
        plain = replace(self, chain=()) == Program(())
        return 4 * len(self.nodes) + (not plain) + sum(node != Node(node.block, node.bodies) for node in self.nodes)


def _nodes(chain: Chain) -> Iterator[Node]:
    for node in chain:
        yield node
        for body in node.bodies:
            yield from _nodes(body)


# Drawing -------------------------------------------------------------------------------------------------------------


def drawn(seed: int, number: int) -> Program:
    """The program with this number."""
    rng = np.random.default_rng([seed, number, 50])
    while True:
        dtype = str(rng.choice(["float64", "float32", "complex128"], p=[0.65, 0.1, 0.25]))
        share = str(rng.choice(["none", "same", "view", "computed", "keyword"], p=[0.6, 0.1, 0.1, 0.1, 0.1]))
        pack = str(rng.choice(list(PACKS))) if rng.random() < 0.4 else "array"
        chain = _chain(rng, int(rng.integers(1, 4)), dtype[0], ORDER)
        if pack != "array" and share != "none":  # a tree has no views
            share = "none" if pack == "module" else "same"
        program = Program(chain, dtype, int(rng.integers(2, 4)), pack, share)
        if 2 <= len(program.nodes) <= 7 and not any(map(_is_mixed, program.nodes)):
            return program


def _is_mixed(node: Node) -> bool:
    """Whether what acts in reverse mode alone is differentiated inside f in another mode, or in one that is not said."""
    mode = node.forward or "any_mode" in BLOCKS[node.block].tags
    return mode and any("reverse" in BLOCKS[inner.block].tags for body in node.bodies for inner in _nodes(body))


def _chain(rng: np.random.Generator, depth: int, kind: str, order: int) -> Chain:
    count = int(rng.choice([1, 2], p=[0.65, 0.35]))
    return tuple([_node(rng, depth if n == 0 else min(depth, 1), kind, order) for n in range(count)])


def _node(rng: np.random.Generator, depth: int, kind: str, order: int) -> Node:
    fitting = [
        block for block in BLOCKS.values()
        if kind in block.kinds and block.order <= order and (depth or not block.bodies)
    ]  # fmt: skip
    weights = np.array([block.weight * (2.5 if block.bodies else 1.0) for block in fitting])
    block = fitting[int(rng.choice(len(fitting), p=weights / weights.sum()))]
    bodies = [_chain(rng, depth - 1, kind, order - block.order) for _ in range(block.bodies)]
    share, place = "none", "plain"
    if block.name in OPERATORS:
        share = str(rng.choice(list(SHARES))) if rng.random() < 0.5 else "none"
        place = str(rng.choice(PLACES)) if rng.random() < 0.4 else "plain"
    return Node(block.name, tuple(bodies), share, place, bool(rng.random() < 0.2), block.order > 0)


# Writing -------------------------------------------------------------------------------------------------------------


def source(program: Program, engine: str = "") -> str:
    """The program in the words of an engine: `f`, `loss`, its gradient `slope`, `pack`, and the point `X`.

    `B` is the backend value, `B_forward` the same in forward mode.
    """
    writer = _Writer(engine)
    name = writer.chain(program.chain)
    pack = PACKS[program.pack]
    words = _words(pack, engine)
    made, join = words.text.split("\n")
    writer.before(words.setup)
    parameter, factor, _, _ = SHARES[program.share]
    const, keyword = ("Constant(c)", "") if program.share not in ("none", "keyword") else ("", "c=c" if parameter else "")
    given = f", {const or keyword}" if parameter else ""
    writer.lines += [
        f"def pack(v):\n    return {made}\n",
        f"def f(p{parameter}):\n    return {name}({join}){factor.replace('c', _of(join))}\n",
        f"def loss(p{parameter}):\n    return total(f(p{', c' if parameter else ''}))\n",
        f"def slope(p{parameter}):\n    return gradient(loss, B, p{given})[0]\n",
    ]
    numbers = f"X = np.array({program.point.tolist()}, dtype={program.dtype!r})"
    head = f"complex_numbers = {program.is_complex}\n{numbers}"
    return "\n".join([PRELUDE.strip("\n"), "", "", head, *writer.setups, "", "", "\n\n".join(writer.lines)])


def _of(join: str) -> str:
    return re.sub(r"\bp\b", "c", join)


def _words(block: Block, engine: str) -> Words:
    return (block.engines or {}).get(engine, block.words)


class _Writer:
    """Writes chains as functions of a module."""

    def __init__(self, engine: str):
        self.engine = engine
        self.setups: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def before(self, setup: str) -> None:
        if setup and setup not in self.setups:
            self.setups.append(setup)

    def chain(self, chain: Chain) -> str:
        """Write a chain as a function, after the functions that it needs. Returns its name."""
        statements = [self.statements(node) for node in chain]
        name = f"f{self.count}"
        self.count += 1
        body = "\n".join([*statements, "return x"])
        if re.search(r"\bxp\b", body):
            body = f"xp = array_namespace(x)\n{body}"
        self.lines.append(f"def {name}(x):\n" + "\n".join(f"    {line}" for line in body.split("\n")) + "\n")
        return name

    def statements(self, node: Node) -> str:
        names = [self.chain(body) for body in node.bodies]
        words = self.operator(node) if node.block in OPERATORS else _words(BLOCKS[node.block], self.engine)

        def named(text: str) -> str:
            text = re.sub(r"\bF(\d)\b", lambda found: names[int(found[1])], text)
            return re.sub(r"\bB\b", "B_forward", text) if node.forward else text

        if node.place == "outside":  # it needs the functions, and a name of its own
            own = f"made{self.count}"
            self.lines.append(re.sub(r"\bmade\b", own, named(words.setup)) + "\n")
            text = re.sub(r"\bmade\b", own, named(words.text))
        else:
            self.before(named(words.setup))
            text = named(words.text)
        return f"{text}\nx = damped(x)" if node.damped else text

    def operator(self, node: Node) -> Words:
        """An operator in the way that the node says."""
        operator = OPERATORS[node.block]
        parameter, factor, constant, keyword = SHARES[node.share]
        if operator.of == "line" and node.share != "none":  # the number is not an array, so that x has no second role
            factor = factor.replace("{x}", "x")
        t = "x * t" if operator.of == "line" else "t"
        body = f"F0({t}){factor}"
        f = f"lambda t{parameter}: {f'total({body})' if operator.of == 'loss' else body}"
        outside = node.place == "outside"
        result = operator.result.format(n=", None" if constant else "")

        def args(x: str) -> str:
            text = operator.args.format(c=f", {constant.format(x=x)}" if constant else "", n=", None" if constant else "")
            return re.sub(r"\bx\b", x, text) + (f", {keyword.format(x=x)}" if keyword else "")

        if outside and node.block in ("pullback", "linearize"):
            f = re.sub(r"\bx\b", "X", f.format(x="X"))
            made = f"made = {node.block}({f}, B, {args('X')})"
            return Words(result.replace("r.", "made."), made)
        if outside and operator.of != "line":
            f = re.sub(r"\bx\b", "X", f.format(x="X"))
            return Words(f"r = made({args('x')})\n{result}", f"made = prepare({node.block}, {f}, B, {args('X')})")
        call = f"{node.block}({f.format(x='x')}, B, {args('x')})"
        if node.place == "prepared":
            call = f"prepare({call.replace('(', ', ', 1)}({args('x')})"
        return Words(f"r = {call}\n{result}")


# Smaller programs ----------------------------------------------------------------------------------------------------


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one part less, the largest parts first."""
    for chain in _smaller_chains(program.chain):
        yield replace(program, chain=chain)
    plain = Program(())
    for name in ("pack", "share", "dtype", "size"):
        if getattr(program, name) != getattr(plain, name):
            yield replace(program, **{name: getattr(plain, name)})


def _smaller_chains(chain: Chain) -> Iterator[Chain]:
    for n, node in enumerate(chain):
        before, after = chain[:n], chain[n + 1 :]
        yield before + after
        for body in node.bodies:
            yield before + body + after
        if not node.bodies and node.block != "square" and BLOCKS[node.block].words.text.startswith("x ="):
            yield (*before, Node("square"), *after)
        for m, body in enumerate(node.bodies):
            for less in _smaller_chains(body):
                yield (*before, replace(node, bodies=node.bodies[:m] + (less,) + node.bodies[m + 1 :]), *after)
        for name in ("share", "place", "forward", "damped"):
            default = getattr(Node(""), name)
            if getattr(node, name) != default:
                yield (*before, replace(node, **{name: default}), *after)
