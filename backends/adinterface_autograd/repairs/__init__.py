"""Repairs of HIPS autograd: rules that it lacks or gets wrong, and a namespace for boxes.

They import autograd, NumPy and SciPy alone. Whoever uses them sets the attributes of `given`. A
derivative is taken in three steps: `with new_trace() as trace`, f of `Box(x, trace,
ReverseNode.root_of(x))`, then `backward`.
"""
