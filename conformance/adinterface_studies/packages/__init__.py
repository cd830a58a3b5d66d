"""Functions of installed packages as they are, under `numpy_function(f, deep=True)`: which run on an engine, and which refuse.

`examples` are functions with arguments, `trial` runs one on an engine, `command` makes the table. May import what the kit may,
and at run time the packages that are named.
"""
