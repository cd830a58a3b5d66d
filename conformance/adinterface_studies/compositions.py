"""`python -m adinterface_studies compositions`: random compositions, with what each of our engines has of its own."""

from __future__ import annotations

from collections.abc import Sequence

from adinterface_conformance.compositions import command
from adinterface_conformance.compositions.blocks import in_engine

in_engine("torch", "custom", "x = Sine.apply(x)", """
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
in_engine("torch", "custom once", "x = Square.apply(x)", """
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
in_engine("torch", "compiled", 'x = torch.compile(F0, backend="aot_eager")(x)', "import torch")
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
in_engine("torch", "layer", "x = layer(x)", f"{LAYER}layer = Layer(X.real * 0 + 0.8, X.real * 0 + 0.3)")
in_engine(
    "torch", "gradient of layer", "x = gradient(lambda m: total(F0(m(x))), B, layer_of_x)[0].a",
    f"{LAYER}layer_of_x = Layer(X * 0.5, X * 1.0)",
)  # fmt: skip
in_engine("torch", "module", "Tied(v)\np()", """
import torch
class Tied(torch.nn.Module):
    def __init__(self, v):
        super().__init__()
        self.a = torch.nn.Parameter(torch.as_tensor(v))
        self.tied = self.a
    def forward(self):
        return 0.5 * (self.a + self.tied)
""")  # fmt: skip
in_engine("jax", "custom", "x = jax_sine(x)", """
import jax
@jax.custom_jvp
def jax_sine(x):
    return jax.numpy.sin(x)
jax_sine.defjvps(lambda tangent, value, x: tangent * jax.numpy.cos(x))
""")  # fmt: skip
in_engine("jax", "custom once", "x = jax_square(x)", """
import jax
@jax.custom_vjp
def jax_square(x):
    return x * x
jax_square.defvjp(lambda x: (x * x, x), lambda x, cotangent: (2 * x * cotangent,))
""")  # fmt: skip
in_engine("jax", "compiled", "x = jax.jit(F0)(x)", "import jax")
in_engine("autograd", "custom", "x = own_sine(x)", """
import autograd
own_sine = autograd.extend.primitive(np.sin)
autograd.extend.defvjp(own_sine, lambda value, x: lambda cotangent: cotangent * autograd.numpy.cos(x))
""")  # fmt: skip


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing was found, 1 if something was, 2 for a wrong command line."""
    return command.main(argv, "python -m adinterface_studies compositions")
