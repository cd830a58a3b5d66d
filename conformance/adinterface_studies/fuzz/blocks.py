"""Compositions: operators in operators, rules, loops and containers, as text that changes the
vector `x`.

In a text, `F0` and `F1` are the inner functions of the block, from a vector to a vector of the same
shape. `B` is the backend value of the program, `X` a NumPy array like `x`. The value without an
engine must be that with one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st


@dataclass(frozen=True)
class Block:
    """One kind of statement: its text, and what stands before it in the module.

    bodies: the number of inner functions. kinds: "f" for real numbers, "c" for complex ones. order:
    how often it differentiates. hooked: the derivative is not that of the value. engines: the text
    and setup of engines with own words.
    """

    name: str
    text: str
    setup: str = ""
    bodies: int = 0
    kinds: str = "fc"
    order: int = 0
    hooked: bool = False
    engines: dict[str, tuple[str, str]] = field(default_factory=dict)


BLOCKS: dict[str, Block] = {}


def add(
    name: str,
    text: str,
    setup: str = "",
    *,
    bodies: int = 0,
    kinds: str = "fc",
    order: int = 0,
    hooked: bool = False,
) -> None:
    """Add a block."""
    BLOCKS[name] = Block(name, text.strip("\n"), setup.strip("\n"), bodies, kinds, order, hooked)


def in_engine(engine: str, name: str, text: str, setup: str) -> None:
    """Say how the engine with this name writes a block."""
    own = {engine: (text.strip("\n"), setup.strip("\n"))}
    BLOCKS[name] = replace(BLOCKS[name], engines={**BLOCKS[name].engines, **own})


# Operators
# ------------------------------------------------------------------------------------------------

#: What an operator differentiates, its arguments, and the new vector; `{c}` is the place of what is
#: constant.
OPERATORS = {
    "gradient": ("total(F0(t))", "x{c}", "r[0]"),
    "value_and_gradient": ("total(F0(t))", "x{c}", "r.gradient[0] * r.value"),
    "jacobian": ("F0(t)", "x{c}", "xp.sum(r[0], axis=0)"),
    "pullback": ("F0(t)", "x{c}", "r.back(x)[0]"),
    "pushforward": ("F0(t)", "(x{c},), (x{n},)", "r.tangent"),
    "linearize": ("F0(t)", "x{c}", "r.push(x{n})"),
    "derivative": ("F0(x * t)", "0.7{c}", "r"),
    "second_derivative": ("F0(x * t)", "0.7{c}", "r"),
    "hvp": ("total(F0(t))", "x, x{c}", "r"),
    "hessian": ("total(F0(t))", "x{c}", "xp.sum(r, axis=0)"),
    "diagonal_hessian": ("total(F0(t))", "x{c}", "r[0]"),
}
_SECOND = "second_derivative", "hvp", "hessian", "diagonal_hessian"
for _name in OPERATORS:
    _real = _name in (*_SECOND, "jacobian", "derivative")
    add(_name, "", bodies=1, kinds="f" if _real else "fc", order=2 if _name in _SECOND else 1)
#: How what is constant shares with what is differentiated: the parameter, the factor in f, the
#: argument, the keyword.
SHARES = {
    "none": ("", "", "", ""),
    "same": (", c", " * c", "Constant(x)", ""),
    "view": (", c", " * c", "Constant(x[:])", ""),
    "computed": (", c", " * c", "Constant(x * 0.5)", ""),
    "keyword": (", c", " * c", "", "c=x"),
    "captured": ("", " * x", "", ""),
}
#: Where an operator inside f is made: in the call, prepared there, or outside of f.
PLACES = "plain", "prepared", "outside"


@st.composite
def operator_text(draw: st.DrawFn, name: str) -> tuple[str, str]:
    """An operator as a block: its text, and what is made outside of f."""
    f, args, result = OPERATORS[name]
    parameter, factor, constant, keyword = SHARES[draw(st.sampled_from([*SHARES]))]
    place = draw(st.sampled_from(PLACES if name in ("pullback", "linearize") else PLACES[:2]))
    args = args.format(c=f", {constant}" if constant else "", n=", None" if constant else "")
    result = result.format(n=", None" if constant else "")
    args += f", {keyword}" if keyword else ""
    f = (
        f"lambda t{parameter}:"
        f" {f.replace('F0(t)', f'F0(t){factor}').replace('F0(x * t)', f'F0(x * t){factor}')}"
    )
    if place == "outside":
        return f"x = {result.replace('r.', 'made.')}", re.sub(
            r"\bx\b", "X", f"made = {name}({f}, B, {args})"
        )
    if place == "prepared":
        return f"r = prepare({name}, {f}, B, {args})({args})\nx = {result}", ""
    return f"r = {name}({f}, B, {args})\nx = {result}", ""


# Elementary functions
# ------------------------------------------------------------------------------------------------

add("sine", "x = xp.sin(x)")
add("square", "x = x * x + 0.3 * x")
add("coupled", "x = x * xp.sum(x)")
add("reversed", "x = xp.flip(x) * x")
add("exponential", "x = xp.exp(0.3 * x)")
add("conjugate", "x = xp.conj(x) * x[0]", kinds="c")

# Operators around operators, containers
# ----------------------------------------------------------------------------

add(
    "batched",
    "x = xp.sum(batched(gradient, lambda t: total(F0(t)), B, Each(xp.stack([x, x * 0.5])))[0], axis=0)",
    bodies=1, order=1,
)  # fmt: skip
add(
    "batched constants",
    "x = xp.sum(batched(gradient, lambda t, c: total(F0(t * c)), B, x, Constant(Each(xp.stack([x, x * 0.5]))))[0], axis=0)",
    bodies=1, order=1,
)  # fmt: skip
add(
    "dict",
    'x = gradient(lambda d: total(F0(d["a"]) * d["b"]), B, {"a": x, "b": Constant(x), "name": "x"})[0]["a"]',
    bodies=1, order=1,
)  # fmt: skip
add(
    "list", "r = gradient(lambda d: total(F0(d[0]) * d[1]), B, [x, x])[0]\nx = r[0] - 0.5 * r[1]",
    bodies=1, order=1,
)  # fmt: skip
COUPLE = """
@dataclass
class Couple:
    a: object
    b: object
"""
add(
    "dataclass",
    "r = pullback(lambda p: Couple(F0(p.a) * p.b, p.b), B, Couple(x, x * 0.5)).back(Couple(x, None))[0]\nx = r.a + r.b",
    COUPLE, bodies=1, order=1,
)  # fmt: skip
add(
    "back inside",
    "back = pullback(F0, B, x).back\nx = gradient(lambda t: total(back(t)[0] * t), B, x)[0]",
    bodies=1, order=2,
)  # fmt: skip
add(
    "push inside",
    "push = linearize(F0, B, x).push\nx = gradient(lambda t: total(push(t) * t), B, x)[0]",
    bodies=1, order=2,
)  # fmt: skip
add(
    "own gradient", "x = gradient(lambda t: total(F0(t)), B, x * 1.0)[0] * total(x)", bodies=1,
    order=1,
)  # fmt: skip

# Rules
# ------------------------------------------------------------------------------------------------

add("rule", "x = ruled(x)", """
ruled = rule(lambda x: array_namespace(x).sin(x))
ruled.pullback(lambda cotangent, value, x: cotangent * conj(array_namespace(x).cos(x)))
""")  # fmt: skip
add("pushforward rule", "x = pushed(x)", """
pushed = rule(lambda x: x * x)
pushed.pushforward(lambda tangents, value, x: 2 * x * tangents[0])
""")  # fmt: skip
add("scalar rule", "x = curve(x)", "curve = scalar_rule(lambda x: x * x, lambda value, x: 2 * x)")
add(
    "host scalar rule", "x = host_sine(x)",
    "host_sine = scalar_rule(np.sin, lambda value, x: array_namespace(x).cos(x))",
)  # fmt: skip
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
add("differentiate_with", "x = differentiate_with(F0, B)(x)", bodies=1)
add("checkpoint", "x = checkpoint(F0)(x)", bodies=1)
add("ignore_derivatives", "x = ignore_derivatives(x) * F0(x)", bodies=1, hooked=True)

# Loops
# ------------------------------------------------------------------------------------------------

add("scan", "x = scan(lambda c, s: (F0(c), None), x, None, length=2)[0]", bodies=1)
add(
    "scan over",
    "c, y = scan(lambda c, s: (F0(c) + s * 0.5, c * s), x, xp.stack([x, x * 0.5]))\nx = c + y[1]",
    bodies=1,
)
add(
    "scan checkpoint", "x = scan(lambda c, s: (F0(c), None), x, None, length=3, checkpoint=1)[0]",
    bodies=1,
)  # fmt: skip
add("scan writes", """
def step(c, s):
    c *= 0.5
    return c, c
c, y = scan(step, x, None, length=2)
x = x * c + y[0]
""")  # fmt: skip
add("fori_loop", "x = fori_loop(0, 2, lambda i, c: F0(c), x)", bodies=1)
add(
    "while_loop", "x = while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, F0(c[1])), (0, x))[1]",
    bodies=1,
)  # fmt: skip
add(
    "cond", "x = cond(xp.sum(xp.abs(x) ** 2) < 100.0, F0, F1, x)", bodies=2,
)  # fmt: skip

# Equations
# ------------------------------------------------------------------------------------------------

ITERATE = """
def iterate(g, y):
    for _ in range(18):
        y = g(y)
    return y
"""
add(
    "root", "x = root(lambda y, a: y + 0.1 * array_namespace(y).sin(y) - damped(F0(a)), x * 0, x,"
    " solver=lambda g, y: iterate(lambda y: y - g(y), y))",
    ITERATE, bodies=1, order=1,
)  # fmt: skip
add(
    "fixed_point",
    "x = fixed_point(lambda y, a: 0.1 * array_namespace(y).sin(y) + damped(F0(a)), x * 0, x, solver=iterate)",
    ITERATE, bodies=1, order=1,
)  # fmt: skip
add(
    "linear_solve", "x = linear_solve(lambda v, a: v * (3.0 + a) + 0.1 * array_namespace(v).flip(v), F0(x), x, solver=solved)",
    """
def solved(matvec, b):
    return np.linalg.solve(np.stack([matvec(e) for e in np.eye(b.size, dtype=b.dtype)], axis=1), b)
""",
    bodies=1, order=1,
)  # fmt: skip

# Writes, threads, what engines have of their own
# -----------------------------------------------------

add("written", "y = x * 1.0\ny[0] = x[1] * x[0]\nx = y")
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
add("custom", "x = xp.sin(x)")
add("custom once", "x = x * x")
add("compiled", "x = F0(x)", bodies=1)
add("layer", 'x = layer["a"] * x + layer["b"]', 'layer = {"a": 0.8, "b": 0.3}')
add(
    "gradient of layer",
    'x = gradient(lambda m: total(F0(m["a"] * x + m["b"])), B, {"a": X * 0.5, "b": X * 1.0})[0]["a"]',
    bodies=1, order=1,
)  # fmt: skip

# In the words of engines: f is also evaluated without an engine, on NumPy arrays
# -------------------------------------------

in_engine("torch", "custom", "x = Sine.apply(x) if isinstance(x, torch.Tensor) else xp.sin(x)", """
import torch
class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)
    @staticmethod
    def backward(ctx, cotangent):
        return cotangent * torch.cos(ctx.saved_tensors[0]).conj()
""")  # fmt: skip
in_engine("torch", "custom once", "x = Square.apply(x) if isinstance(x, torch.Tensor) else x * x", """
import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, cotangent):
        return 2 * cotangent * ctx.saved_tensors[0].conj()
""")  # fmt: skip
in_engine(
    "torch", "compiled",
    'x = torch.compile(F0, backend="aot_eager")(x) if isinstance(x, torch.Tensor) else F0(x)',
    "import torch",
)  # fmt: skip
LAYER = """
import torch
class Layer(torch.nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = torch.nn.Parameter(torch.as_tensor(a)), torch.nn.Parameter(torch.as_tensor(b))
        self.tied = self.a
    def forward(self, x):
        return 0.5 * (self.a + self.tied) * x + self.b
"""
in_engine(
    "torch", "layer", "x = layer(x) if isinstance(x, torch.Tensor) else 0.8 * x + 0.3",
    f"{LAYER}layer = Layer(X.real * 0 + 0.8, X.real * 0 + 0.3)",
)  # fmt: skip
in_engine("torch", "gradient of layer", """
if isinstance(x, torch.Tensor):
    x = gradient(lambda m: total(F0(m(x))), B, layer_of_x)[0].a
else:
    x = gradient(lambda m: total(F0(m["a"] * x + m["b"])), B, {"a": X * 0.5, "b": X * 1.0})[0]["a"]
""", f"{LAYER}layer_of_x = Layer(X * 0.5, X * 1.0)")  # fmt: skip
in_engine("jax", "custom", "x = jax_sine(x) if isinstance(x, jax.Array) else xp.sin(x)", """
import jax
@jax.custom_jvp
def jax_sine(x):
    return jax.numpy.sin(x)
jax_sine.defjvps(lambda tangent, value, x: tangent * jax.numpy.cos(x))
""")  # fmt: skip
in_engine("jax", "custom once", "x = jax_square(x) if isinstance(x, jax.Array) else x * x", """
import jax
@jax.custom_vjp
def jax_square(x):
    return x * x
jax_square.defvjp(lambda x: (x * x, x), lambda x, cotangent: (2 * x * cotangent,))
""")  # fmt: skip
in_engine(
    "jax", "compiled", "x = jax.jit(F0)(x) if isinstance(x, jax.Array) else F0(x)", "import jax"
)
in_engine("autograd", "custom", "x = own_sine(x)", """
import autograd
own_sine = autograd.extend.primitive(np.sin)
autograd.extend.defvjp(own_sine, lambda value, x: lambda cotangent: cotangent * autograd.numpy.cos(x))
""")  # fmt: skip
