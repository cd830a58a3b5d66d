"""`python -m adinterface_studies views`: random programs of views and writes, under `numpy_function` and in plain NumPy."""
