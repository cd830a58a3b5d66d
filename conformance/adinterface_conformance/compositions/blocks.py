"""What programs are composed of. A block is text: statements that change the vector `x`, which the program carries along.

In a text, `F0` and `F1` are the inner functions of the block, from a vector to a vector of the same shape. `B` is the backend
value of the program, `X` the NumPy array at which it is differentiated. Another package adds blocks with `add`, and says with
`in_engine` how an engine writes a block in its own words: its custom functions, its compiler, its modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Words:
    """A text, and what stands before it in the module."""

    text: str
    setup: str = ""


@dataclass(frozen=True)
class Block:
    """One kind of statement.

    bodies: the number of inner functions. kinds: "f" for real numbers, "c" for complex ones. order: how often it
    differentiates. engines: the words of engines that have their own.

    tags: "hook": the derivative is not that of the value; "reverse": nor is it that of forward mode; "any_mode": a
    body is differentiated forward, or in a mode that depends on the engine.
    """

    name: str
    words: Words
    bodies: int = 0
    kinds: str = "fc"
    order: int = 0
    tags: frozenset[str] = frozenset()
    weight: float = 1.0
    engines: Mapping[str, Words] | None = None


BLOCKS: dict[str, Block] = {}
#: How the argument of f is made from a vector, and the vector from the argument.
PACKS: dict[str, Block] = {}


def add(
    name: str,
    text: str,
    setup: str = "",
    *,
    bodies: int = 0,
    kinds: str = "fc",
    order: int = 0,
    tags: str = "",
    weight: float = 1.0,
) -> None:
    """Add a block."""
    words = Words(text.strip("\n"), setup.strip("\n"))
    BLOCKS[name] = Block(name, words, bodies, kinds, order, frozenset(tags.split()), weight)


def add_pack(name: str, pack: str, join: str, setup: str = "") -> None:
    """Add a kind of argument: `pack` is an expression of the vector `v`, `join` one of the argument `p`."""
    PACKS[name] = Block(name, Words(f"{pack}\n{join}", setup.strip("\n")))


def in_engine(engine: str, name: str, text: str, setup: str = "") -> None:
    """Say how the engine with this name writes a block or an argument. The values must be the same."""
    table = BLOCKS if name in BLOCKS else PACKS
    known = table[name].engines or {}
    table[name] = replace(table[name], engines={**known, engine: Words(text.strip("\n"), setup.strip("\n"))})


# Operators: their text is made from how they are called, see `program.py` -------------------------------------------


@dataclass(frozen=True)
class Operator:
    """An operator as a block: what it differentiates, its arguments and what of the result is the new vector."""

    order: int
    kinds: str
    of: str
    args: str
    result: str


#: `{c}` is the place of what is constant.
OPERATORS = {
    "gradient": Operator(1, "fc", "loss", "x{c}", "x = r[0]"),
    "value_and_gradient": Operator(1, "fc", "loss", "x{c}", "x = r.gradient[0] * r.value"),
    "jacobian": Operator(1, "f", "value", "x{c}", "x = xp.sum(r[0], axis=0)"),
    "pullback": Operator(1, "fc", "value", "x{c}", "x = r.back(x)[0]"),
    "pushforward": Operator(1, "fc", "value", "(x{c},), (x{n},)", "x = r.tangent"),
    "linearize": Operator(1, "fc", "value", "x{c}", "x = r.push(x{n})"),
    "derivative": Operator(1, "f", "line", "0.7{c}", "x = r"),
    "second_derivative": Operator(2, "f", "line", "0.7{c}", "x = r"),
    "hvp": Operator(2, "f", "loss", "x, x{c}", "x = r"),
    "hessian": Operator(2, "f", "loss", "x{c}", "x = xp.sum(r, axis=0)"),
    "diagonal_hessian": Operator(2, "f", "loss", "x{c}", "x = r[0]"),
}
for _name, _operator in OPERATORS.items():
    _tags = "" if _name in ("gradient", "value_and_gradient", "pullback") else "any_mode"
    add(_name, "", bodies=1, kinds=_operator.kinds, order=_operator.order, tags=_tags, weight=1.6)

# Elementary functions ------------------------------------------------------------------------------------------------

add("sine", "x = xp.sin(x)")
add("square", "x = x * x + 0.3 * x")
add("coupled", "x = x * xp.sum(x)")
add("reversed", "x = xp.flip(x) * x")
add("exponential", "x = xp.exp(0.3 * x)")
add("conjugate", "x = xp.conj(x) * x[0]", kinds="c")

# Operators around operators, containers ----------------------------------------------------------------------------

add(
    "batched", "x = xp.sum(batched(gradient, lambda t: total(F0(t)), B, Each(xp.stack([x, x * 0.5])))[0], axis=0)",
    bodies=1, order=1,
)  # fmt: skip
add(
    "batched constants",
    "x = xp.sum(batched(gradient, lambda t, c: total(F0(t * c)), B, x, Constant(Each(xp.stack([x, x * 0.5]))))[0], axis=0)",
    bodies=1, order=1,
)  # fmt: skip
add(
    "dict", 'x = gradient(lambda d: total(F0(d["a"]) * d["b"]), B, {"a": x, "b": Constant(x), "name": "x"})[0]["a"]',
    bodies=1, order=1,
)  # fmt: skip
add("list", "r = gradient(lambda d: total(F0(d[0]) * d[1]), B, [x, x])[0]\nx = r[0] - 0.5 * r[1]", bodies=1, order=1)
PAIR = """
@dataclass
class Pair:
    a: object
    b: object
"""
add(
    "dataclass", "r = pullback(lambda p: Pair(F0(p.a) * p.b, p.b), B, Pair(x, x * 0.5)).back(Pair(x, None))[0]\nx = r.a + r.b",
    PAIR, bodies=1, order=1,
)  # fmt: skip
add("back inside", "back = pullback(F0, B, x).back\nx = gradient(lambda t: total(back(t)[0] * t), B, x)[0]", bodies=1, order=2)
add(
    "push inside", "push = linearize(F0, B, x).push\nx = gradient(lambda t: total(push(t) * t), B, x)[0]",
    bodies=1, order=2, tags="any_mode",
)  # fmt: skip
add("own gradient", "x = gradient(lambda t: total(F0(t)), B, x * 1.0)[0] * total(x)", bodies=1, order=1)

# Rules ---------------------------------------------------------------------------------------------------------------

add("rule", "x = ruled(x)", """
ruled = rule(lambda x: array_namespace(x).sin(x))
ruled.pullback(lambda cotangent, value, x: cotangent * conj(array_namespace(x).cos(x)))
""")  # fmt: skip
add("pushforward rule", "x = pushed(x)", """
pushed = rule(lambda x: x * x)
pushed.pushforward(lambda tangents, value, x: 2 * x * tangents[0])
""")  # fmt: skip
add("scalar rule", "x = curve(x)", "curve = scalar_rule(lambda x: x * x, lambda value, x: 2 * x)")
add("host scalar rule", "x = host_sine(x)", "host_sine = scalar_rule(np.sin, lambda value, x: array_namespace(x).cos(x))")
add("host rule", "x = hosted(x)", """
hosted = rule(host=True)(lambda x: np.cos(x))
hosted.pullback(lambda cotangent, value, x: -cotangent * conj(array_namespace(x).sin(x)))
""")  # fmt: skip
add("host writes", "x = written(x)", """
@rule(host=True)
def written(x):
    x *= 2.0  # code of the host may use its argument as work space
    return np.cos(x)
written.pullback(lambda cotangent, value, x: -2.0 * cotangent * conj(array_namespace(x).sin(2.0 * x)))
""")  # fmt: skip
add("rule of two", "x, y = twice(x, x * 0.5)\nx = x - y", """
@rule
def twice(x, y):
    z = x * y
    return z, z
@twice.pullback
def _(cotangent, value, x, y):
    c = cotangent[0] + cotangent[1]
    return c * conj(y), c * conj(x)
""")  # fmt: skip
add("differentiate_with", "x = differentiate_with(F0, B)(x)", bodies=1, tags="any_mode")
add("checkpoint", "x = checkpoint(F0)(x)", bodies=1)
add("hook", "x = gradient_hook(x * x, lambda c: 0.5 * c)", tags="hook reverse")
add("straight_through", "x = straight_through(lambda x: x * 1.0, F0)(x)", bodies=1, tags="hook")
add("ignore_derivatives", "x = ignore_derivatives(x) * F0(x)", bodies=1, tags="hook")

# Loops ---------------------------------------------------------------------------------------------------------------

add("scan", "x = scan(lambda c, s: (F0(c), None), x, None, length=2)[0]", bodies=1, weight=2)
add(
    "scan over",
    "c, y = scan(lambda c, s: (F0(c) + s * 0.5, c * s), x, xp.stack([x, x * 0.5]))\nx = c + y[1]",
    bodies=1,
)
add("scan checkpoint", "x = scan(lambda c, s: (F0(c), None), x, None, length=3, checkpoint=1)[0]", bodies=1)
add("scan writes", """
def step(c, s):
    c *= 0.5
    return c, c
c, y = scan(step, x, None, length=2)
x = x * c + y[0]
""")  # fmt: skip
add("fori_loop", "x = fori_loop(0, 2, lambda i, c: F0(c), x)", bodies=1, weight=2)
add("while_loop", "x = while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, F0(c[1])), (0, x))[1]", bodies=1)
add(
    "cond",
    "x = cond(xp.real(xp.sum(x)) < 100.0 if complex_numbers else xp.sum(x) < 100.0, F0, F1, x)",
    bodies=2,
    weight=2,
)

# Equations -----------------------------------------------------------------------------------------------------------

ITERATE = """
def iterate(g, y):
    for _ in range(18):
        y = g(y)
    return y
"""
add(
    "root", "x = root(lambda y, a: y + 0.1 * array_namespace(y).sin(y) - damped(F0(a)), x * 0, x,"
    " solver=lambda g, y: iterate(lambda y: y - g(y), y))",
    ITERATE, bodies=1, order=1, tags="any_mode", weight=2,
)  # fmt: skip
add(
    "fixed_point", "x = fixed_point(lambda y, a: 0.1 * array_namespace(y).sin(y) + damped(F0(a)), x * 0, x, solver=iterate)",
    ITERATE, bodies=1, order=1, tags="any_mode",
)  # fmt: skip
add(
    "linear_solve", "x = linear_solve(lambda v, a: v * (3.0 + a) + 0.1 * array_namespace(v).flip(v), F0(x), x, solver=solved)",
    """
def solved(matvec, b):
    return np.linalg.solve(np.stack([matvec(e) for e in np.eye(b.size, dtype=b.dtype)], axis=1), b)
""",
    bodies=1, order=1, tags="any_mode",
)  # fmt: skip

# Writes, threads, what engines have of their own -----------------------------------------------------

add("written", "y = x * 1.0\ny[0] = x[1] * x[0]\nx = y", weight=0.4)
add("NumPy code", "x = scaled(x)", """
@numpy_function
def scaled(x):
    y = np.zeros_like(x)
    y[:] = np.cos(x)
    y[0] *= x[1]
    return y
""")  # fmt: skip
add("views", "x = viewed(x)", """
@numpy_function
def viewed(x):
    y = np.stack([x, 0.5 * x])
    columns, tail = y.T, y[1, 1:]
    tail *= x[0]
    columns[0] += np.cos(x[-1])
    y[::-1][0] -= y[0]
    return y[0] + y[1]
""")  # fmt: skip
add("thread", "x = in_thread(F0, x)", """
def in_thread(f, x):
    future = Future()
    def target():
        try:
            future.set_result(f(x))
        except BaseException as error:
            future.set_exception(error)
    Thread(target=target, daemon=True).start()
    return future.result(timeout=20)  # else it hangs
""", bodies=1)  # fmt: skip
add("custom", "x = xp.sin(x)", weight=2)
add("custom once", "x = x * x")
add("compiled", "x = F0(x)", bodies=1, weight=0.5)
add("layer", 'x = layer["a"] * x + layer["b"]', 'layer = {"a": 0.8, "b": 0.3}')
add(
    "gradient of layer", 'x = gradient(lambda m: total(F0(m["a"] * x + m["b"])), B, {"a": X * 0.5, "b": X * 1.0})[0]["a"]',
    bodies=1, order=1,
)  # fmt: skip

add_pack("array", "v", "p")
add_pack("dict", '{"a": v[:1], "b": v[1:]}', 'array_namespace(p["a"]).concat([p["a"], p["b"]])')
add_pack("list", "[v[:1], (v[1:],)]", "array_namespace(p[0]).concat([p[0], p[1][0]])")
add_pack("dataclass", "Pair(v[:1], v[1:])", "array_namespace(p.a).concat([p.a, p.b])", PAIR)
add_pack("module", '{"a": v}', 'p["a"]')
add_pack("native", "v", "p")
