"""Which way a derivative is taken: by pushforwards, by pullbacks, or by the transpose of a pullback.

Decided from the backend, and for a Jacobian from the numbers of inputs and outputs. Nothing else in the core decides it.
"""

from __future__ import annotations

from ..contract.backend import Backend, gives


def in_reverse(backend: Backend) -> bool:
    """Whether gradients and pullbacks are the engine's own. Else they take one pushforward for each number of the arguments."""
    return gives(backend, "pullback") and backend.mode != "forward"


def in_forward(backend: Backend, *, once: bool = False) -> bool:
    """Whether pushforwards are the engine's own. Else they are transposed pullbacks, or go row by row.

    once: for a linear map, which evaluates f once: an engine without one transposes its pullback, if that can be transposed.
    """
    if not gives(backend, "pushforward") and not (once and gives(backend, "linearize")):
        return False
    if backend.mode is not None and gives(backend, "pullback"):
        return backend.mode == "forward"
    again = once and backend.mode is None and backend.transposes and not gives(backend, "linearize")
    return not again and not backend.prefers_transposing


def by_columns(backend: Backend, inputs: int, outputs: int) -> bool:
    """Whether a Jacobian is taken by columns: no rows are possible, or columns are fewer and need no back for each row."""
    return not in_reverse(backend) or (backend.mode is None and backend.transposes and inputs < outputs)


def in_one_batch(backend: Backend, inputs: int) -> bool:
    """Whether all columns of a Jacobian may be pushed at once, whatever the number of outputs."""
    return not in_reverse(backend) or (backend.mode is None and inputs <= backend.forward_below)


def by_symmetry(backend: Backend, *, once: bool = False) -> bool:
    """Whether a Hessian's product is a pullback of the gradient, as the Hessian is symmetric. once: as in `in_forward`."""
    return gives(backend, "pullback") and (
        backend.mode == "reverse" or (once and backend.mode is None and not gives(backend, "linearize"))
    )


def directions(backend: Backend) -> tuple[bool, bool]:
    """Whether pushforwards, and whether pullbacks, take a few evaluations each, rather than one for each number."""
    pulls = in_reverse(backend)
    forward = gives(backend, "pushforward") or gives(backend, "linearize")
    pushes = backend.mode != "reverse" and (forward or backend.transposes)
    return pushes or not pulls, pulls
