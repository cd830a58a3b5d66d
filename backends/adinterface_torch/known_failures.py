"""What this engine is known not to do, as data: the conformance table shows the reason and the
link.
"""

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
