"""A few hundred small programs of plain NumPy and SciPy under `numpy_function`, on every engine, in every mode.

What they cover is what the tests of HIPS autograd cover, in words of our own: `expressions` are programs of one line by theme,
`longer` those with statements, `trial` runs one, `command` counts. May import what the kit may.
"""
