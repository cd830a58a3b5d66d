"""`explain`: the data that it returns, and their text."""

import numpy as np
import pytest

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    SecondOrder,
    array_namespace,
    batched,
    explain,
    gradient,
    hvp,
    jacobian,
    linearize,
    value_and_gradient,
)
from adinterface.tools import Explanation, LeafReport

X = np.array([0.3, 0.7, 1.1])
STACK = np.stack([X, X + 1.0])


def cubes(x):
    return array_namespace(x).sum(x**3)


def repeated(t):
    return array_namespace(t).stack([t, t * t, t * t * t])


JAX = "AutoJax()"
TORCH = "AutoTorch()"
ARRAY = "args[0]  differentiated  a numpy array of dtype float64 and shape (3,): reaches f as"

MODEL = {
    "w": X.astype("float32"),
    "s": 2.0,
    "count": 3,
    "index": np.arange(2),
    "name": "layer",
    "f": np.sin,
    "no": None,
    "yes": True,
}

#: What is called, and the page of text: operator, arguments, steps, evaluations.
PAGES = {
    "a batched gradient, one entry after another": (
        lambda: explain(batched, gradient, cubes, AutoAutograd(), Each(STACK)),
        """\
batched(gradient) with AutoAutograd()
arguments
  args[0]  differentiated  a numpy array of dtype float64 and shape (2, 3): reaches f as autograd float64, entry by entry
steps
  1. AutoAutograd: 2 entries, one after another
  2. AutoAutograd: one pullback of 1, for each
evaluations of f: 2
""",
    ),
    "a model with everything in it on torch": (
        lambda: explain(
            value_and_gradient,
            lambda p, n, *constants, scale: (p["w"] * p["s"]).sum() * n,
            AutoTorch(),
            MODEL,
            3,
            Constant(X),
            Constant({"a": X, "b": X}),
            scale=2.0,
        ),
        """\
value_and_gradient with AutoTorch()
arguments
  args[0]['w']      differentiated  a numpy array of dtype float32 and shape (3,): reaches f as torch float32
  args[0]['s']      differentiated  the float 2.0: reaches f as torch float64
  args[0]['count']  None            int 3: an int inside a tree has no gradient
  args[0]['index']  None            a numpy array of dtype int64 and shape (2,): integers inside a tree have no gradient
  args[0]['name']   None            str 'layer': str has no gradient
  args[0]['f']      None            ufunc <ufunc 'sin'>: ufunc has no gradient
  args[0]['no']     None            None: None has no gradient
  args[0]['yes']    None            bool True: a bool has no gradient
  args[1]           differentiated  the int 3: reaches f as torch float64, promoted from an integer
  args[2]           None            Constant: marked as not differentiated
  args[3]           None            Constant: marked as not differentiated
steps
  1. AutoTorch: one pullback of 1
evaluations of f: 1
""",
    ),
    "a tall jacobian on torch": (
        lambda: explain(jacobian, repeated, AutoTorch(), 0.5),
        f"""\
jacobian with {TORCH}
arguments
  args[0]  differentiated  the float 0.5: reaches f as torch float64
steps
  1. AutoTorch: one pullback
  2. AutoTorch: transposed into a linear map, because the inputs are fewer than the outputs
  3. AutoTorch: 1 columns of the Jacobian
evaluations of f: 1
""",
    ),
    "a linear map on torch": (
        lambda: explain(linearize, lambda x: x**2, AutoTorch(), 0.5),
        f"""\
linearize with {TORCH}
arguments
  args[0]  differentiated  the float 0.5: reaches f as torch float64
steps
  1. AutoTorch: one pullback, transposed into a linear map
evaluations of f: 1
""",
    ),
    "a product by differences of gradients": (
        lambda: explain(
            hvp, cubes, SecondOrder(AutoFiniteDifferences(method="central"), AutoTorch()), X, X
        ),
        f"""\
hvp with {SecondOrder(AutoFiniteDifferences(method="central"), AutoTorch())!r}
arguments
  {ARRAY} torch float64
steps
  1. AutoFiniteDifferences: one pushforward
  2. AutoTorch: one pullback of 1
  3. AutoTorch: one pullback of 1
evaluations of f: 2
estimated relative error: 6e-11
""",
    ),
}


@pytest.mark.parametrize("page", PAGES)
def test_explain_returns_a_page(page, capsys):
    call, text = PAGES[page]
    report = call()
    assert repr(report) + "\n" == str(report) + "\n" == text
    assert not capsys.readouterr().out


def test_explain_returns_data():
    report = explain(
        linearize, lambda p: p["x"] ** p["n"], AutoFiniteDifferences(), {"x": X, "n": 2}
    )
    assert report == Explanation(
        operator="linearize",
        backend=AutoFiniteDifferences(),
        leaves=(
            LeafReport(
                "args[0]['x']",
                "a numpy array of dtype float64 and shape (3,)",
                True,
                "reaches f as numpy float64",
            ),
            LeafReport("args[0]['n']", "int 2", False, "an int inside a tree has no gradient"),
        ),
        steps=("AutoFiniteDifferences: linearize: each push evaluates f",),
        evaluations=1,
    )


def test_explain_raises_what_the_call_raises_and_prints_nothing(capsys):
    error = RuntimeError("from f")

    def f(x):
        raise error

    with pytest.raises(RuntimeError) as caught:
        explain(gradient, f, AutoJax(), X)
    assert caught.value is error
    assert capsys.readouterr().out == ""
