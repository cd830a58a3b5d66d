"""What this engine is known not to do: reasons and links for the conformance table."""

from adinterface.core.contract import KnownFailure

KNOWN_FAILURES: tuple[KnownFailure, ...] = (
    KnownFailure(
        "function:x[[]::-1]",
        "*",
        "torch refuses slices with a negative step; write xp.flip(x, axis=...), or x[::-1] inside"
        " numpy_function",
        "https://github.com/pytorch/pytorch/issues/59786",
    ),
    KnownFailure(
        "function:x // y",
        "[!v]*",
        "torch has no derivative for the operator //; write xp.floor_divide(x, y), whose derivative"
        " is zero here",
        "https://github.com/pytorch/pytorch/issues/43327",
    ),
)

#: With mode="forward" alone.
FORWARD_FAILURES: tuple[KnownFailure, ...] = tuple(
    KnownFailure(
        f"rules/sine-by-{operator}",
        "*",
        "torch leaves the derivative of a custom function out in a forward derivative of a forward"
        " derivative, so a rule is refused there; take one of the two in reverse",
        "https://github.com/pytorch/pytorch/issues/197867",
    )
    for operator in ("hessian", "second-derivative")
)
