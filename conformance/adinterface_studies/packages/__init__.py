"""Functions of installed packages as they are, under `numpy_function(f, deep=True)`: which run on an engine, and which refuse.

`example` is what a function is called with, `examples` are those of known packages, `trial` runs one, `table` summarises many.
May import what the kit may, and at run time the packages that are named.
"""
