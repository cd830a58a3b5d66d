"""`batched`, an operator over a leading axis.

`Duplicated`, buffers that add up the gradients of several calls; evaluations of f on workers.

It may import core. Engines import `for_engines`.
"""
