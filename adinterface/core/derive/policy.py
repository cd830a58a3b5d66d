"""Which way a derivative is taken: by pushforwards, pullbacks, or a transposed pullback.

Decided from the backend, and for a Jacobian from the numbers of inputs and outputs. Nothing else in
the core decides it.
"""

from __future__ import annotations

from ..contract.backend import Backend

#: A Jacobian of at most so many inputs is pushed in one batch where the engine can, for any number
#: of outputs: measured on JAX.
FEW_INPUTS = 32


def in_reverse(backend: Backend) -> bool:
    """Whether pullbacks are the engine's own, and not one pushforward for each number."""
    return "pullback" in backend.gives and backend.mode != "forward"


def in_forward(backend: Backend, *, once: bool = False) -> bool:
    """Whether pushforwards are the engine's own, and not transposed pullbacks or rows.

    once: for a linear map, which evaluates f once: an engine without one transposes its pullback,
    if that can be transposed.
    """
    if "pushforward" not in backend.gives and not (once and "linearize" in backend.gives):
        return False
    if backend.mode is not None and "pullback" in backend.gives:
        return backend.mode == "forward"
    again = (
        once and backend.mode is None and backend.transposes and "linearize" not in backend.gives
    )
    return not again and backend.transposes != "always"


def by_columns(backend: Backend, inputs: int, outputs: int) -> bool:
    """Whether a Jacobian is taken by columns: they are fewer and cheap, or no rows are possible."""
    return not in_reverse(backend) or (
        backend.mode is None and backend.transposes and inputs < outputs
    )


def in_one_batch(backend: Backend, inputs: int) -> bool:
    """Whether all columns of a Jacobian may be pushed at once, whatever the number of outputs."""
    return not in_reverse(backend) or (
        backend.mode is None and backend.transposes != "always" and inputs <= FEW_INPUTS
    )


def by_symmetry(backend: Backend, *, once: bool = False) -> bool:
    """Whether a Hessian's product is a pullback of the gradient. once: as in `in_forward`.

    It is, too, where a pushforward would be that pullback, transposed.
    """
    if "pullback" not in backend.gives or backend.mode == "forward":
        return False
    again = once and "linearize" not in backend.gives
    return backend.mode == "reverse" or backend.transposes == "always" or again


def directions(backend: Backend) -> tuple[bool, bool]:
    """Whether pushforwards, and whether pullbacks, take few evaluations, not one a number."""
    pulls = in_reverse(backend)
    forward = "pushforward" in backend.gives or "linearize" in backend.gives
    pushes = backend.mode != "reverse" and (forward or bool(backend.transposes))
    return pushes or not pulls, pulls
