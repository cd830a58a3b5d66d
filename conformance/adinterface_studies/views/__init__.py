"""`python -m adinterface_conformance views`: random programs of views and writes, under `numpy_function` and in plain NumPy."""
