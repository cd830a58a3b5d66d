"""Gives each operator its precise type, which says what comes back for the types of its arguments.

At run time these decorators return the function as it is. The overloads are in `signatures.pyi`, which
`python -m adinterface_studies.signatures` writes: Python cannot map types over a tuple, so they are spelled out for up to four
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from . import signatures


def as_gradient(operator: Callable[..., Any]) -> signatures.GradientOperator:
    return cast("signatures.GradientOperator", operator)


def as_value_and_gradient(operator: Callable[..., Any]) -> signatures.ValueAndGradientOperator:
    return cast("signatures.ValueAndGradientOperator", operator)


def as_jacobian(operator: Callable[..., Any]) -> signatures.JacobianOperator:
    return cast("signatures.JacobianOperator", operator)


def as_value_and_jacobian(operator: Callable[..., Any]) -> signatures.ValueAndJacobianOperator:
    return cast("signatures.ValueAndJacobianOperator", operator)


def as_derivative(operator: Callable[..., Any]) -> signatures.DerivativeOperator:
    return cast("signatures.DerivativeOperator", operator)


def as_value_and_derivative(operator: Callable[..., Any]) -> signatures.ValueAndDerivativeOperator:
    return cast("signatures.ValueAndDerivativeOperator", operator)


def as_value_derivative_and_second_derivative(
    operator: Callable[..., Any],
) -> signatures.ValueDerivativeAndSecondDerivativeOperator:
    return cast("signatures.ValueDerivativeAndSecondDerivativeOperator", operator)


def as_pullback(operator: Callable[..., Any]) -> signatures.PullbackOperator:
    return cast("signatures.PullbackOperator", operator)


def as_pushforward(operator: Callable[..., Any]) -> signatures.PushforwardOperator:
    return cast("signatures.PushforwardOperator", operator)


def as_linearize(operator: Callable[..., Any]) -> signatures.LinearizeOperator:
    return cast("signatures.LinearizeOperator", operator)


def as_hvp(operator: Callable[..., Any]) -> signatures.HvpOperator:
    return cast("signatures.HvpOperator", operator)


def as_gradient_and_hvp(operator: Callable[..., Any]) -> signatures.GradientAndHvpOperator:
    return cast("signatures.GradientAndHvpOperator", operator)


def as_hessian(operator: Callable[..., Any]) -> signatures.HessianOperator:
    return cast("signatures.HessianOperator", operator)


def as_value_gradient_and_hessian(operator: Callable[..., Any]) -> signatures.ValueGradientAndHessianOperator:
    return cast("signatures.ValueGradientAndHessianOperator", operator)


def as_batched(batched: Callable[..., Any]) -> signatures.BatchedOperator:
    return cast("signatures.BatchedOperator", batched)


def as_prepare(prepare: Callable[..., Any]) -> signatures.Prepare:
    return cast("signatures.Prepare", prepare)
