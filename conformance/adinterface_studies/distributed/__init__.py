"""The set of checks that several processes run together: gradients are those of all data, with each
leaf's placement.

`launch` starts processes on this machine; `command` runs the set there, or as a member of a group
that another program has started (`torchrun`, a scheduler). What an engine's users write is in
`torch_processes` and `jax_processes`.
"""
