"""`batched`, an operator over a leading axis; `Duplicated`, buffers that add up the gradients of
several calls; Jacobians and batched calls in parts, on workers or on several devices.

It may import core. Engines import `for_engines`.
"""

#: What the core calls for a backend with an executor.
FUNCTIONS = {"spread": f"{__name__}.operators:spread"}
