"""Rows of the gradient zoo whose functions have rules of their own; the judge has all others, in
its own form.
"""

from __future__ import annotations

from dataclasses import dataclass

from adinterface_conformance.scenarios.building import array, scalar
from adinterface_studies.scenarios.zoo import row
from adinterface_studies.scenarios.zoo_functions import POINT, sine

from adinterface import (
    Constant,
    array_namespace,
    gradient,
    pullback,
    pushforward,
    rule,
    value_and_gradient,
)
from adinterface.rules import ignore_derivatives, non_differentiable, scalar_rule


@rule
def add(a, b):
    return a + b


add.pullback(lambda cotangent, value, a, b: (cotangent, cotangent))


@dataclass(frozen=True)
class AddTo:
    """A callable whose rule has a slot for itself."""

    amount: int

    @rule
    def __call__(self, x):
        return self.amount + x


AddTo.__call__.pullback(lambda cotangent, value, self, x: (None, cotangent))


@rule
def fill(x, length):
    """`length` copies of x."""
    xp = array_namespace(x)
    return xp.broadcast_to(x, (length,)) * 1.0


fill.pullback(lambda cotangent, value, x, length: (array_namespace(cotangent).sum(cotangent), None))
sine_rule = scalar_rule(sine, lambda value, x: array_namespace(x).cos(x))
hypotenuse = scalar_rule(lambda x, y: (x**2 + y**2) ** 0.5, lambda h, x, y: (x / h, y / h))
sine_and_cosine = scalar_rule(
    lambda x: (array_namespace(x).sin(x), array_namespace(x).cos(x)),
    lambda value, x: ((value[1],), (-value[0],)),
)


def ignored_push(x):
    """x goes into the value and takes no derivative with it."""
    y = [1.0, 1.0, 1.0]
    ignore_derivatives(lambda: y.append(x))
    return sum(y[:3]) + ignore_derivatives(y[3])


equal = non_differentiable(lambda x, y: (x == y) * (0.0 * x + 1.0))
length = non_differentiable(lambda x: 0.0 * array_namespace(x).sum(x) + x.shape[0])

_ROWS = [
    row(
        "back-through-a-rule",
        pullback,
        add,
        (2.0, 3.0),
        (1.0, 1.0),
        seed=1.0,
        value=5.0,
        integers=True,
    ),
    row(
        "back-to-the-argument-of-a-callable",
        pullback,
        AddTo(3),
        (4.0,),
        (2.0,),
        seed=2.0,
        value=7.0,
        integers=True,
    ),
    row(
        "back-through-a-rule-of-sine",
        pullback,
        sine_rule,
        (POINT,),
        (0.6795498147167869,),
        seed=1.0,
    ),
    row(
        "back-through-a-rule-of-two-arguments",
        pullback,
        hypotenuse,
        (3.0, 4.0),
        (0.6, 0.8),
        seed=1.0,
        value=5.0,
    ),
    row(
        "forward-through-a-rule-of-sine",
        pushforward,
        sine_rule,
        (POINT,),
        0.6795498147167869,
        seed=(1.0,),
    ),
    row(
        "forward-through-a-rule-of-two-values",
        pushforward,
        sine_and_cosine,
        (POINT,),
        (0.6795498147167869, -0.7336293678134624),
        seed=(1.0,),
        value=(0.7336293678134624, 0.6795498147167869),
    ),
    row(
        "back-through-copies",
        pullback,
        fill,
        (2.0, Constant(3)),
        (6.0, None),
        seed=array(1, 2, 3),
        value=array(2, 2, 2),
    ),
    row(
        "what-is-ignored", gradient, lambda x, w: ignore_derivatives(x) * w, (2.0, 3.0), (0.0, 2.0)
    ),
    row(
        "a-push-that-is-ignored",
        value_and_gradient,
        ignored_push,
        (2.0,),
        (5.0, (0.0,)),
        disconnected=True,
    ),
    row("back-through-a-comparison", pullback, equal, (2.0, 3.0), (0.0, 0.0), seed=1.0, value=0.0),
    row(
        "forward-through-a-length",
        pushforward,
        length,
        (array(2, 3),),
        scalar(0.0),
        seed=(array(1, 1),),
        value=scalar(2.0),
    ),
]

SCENARIOS = [each for rows in _ROWS for each in rows]
