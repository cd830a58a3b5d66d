"""`batched`, an operator over a leading axis; `Duplicated`, buffers that add up the gradients of several calls; Jacobians and
batched calls in parts, on workers or on several devices.

It may import core. Engines import `for_engines`.
"""

from ..core.contract.auto import AutoBackend
from ..core.operators.dispatch import Extension


def has_executor(auto: AutoBackend) -> bool:
    return getattr(auto, "executor", None) is not None


EXTENSION = Extension(has_executor, f"{__name__}.operators:spread_operation")
