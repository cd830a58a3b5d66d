"""Functions differentiated by any backend, in the form that other packages call: PyTensor, pymanopt, Tesseract, OpenMDAO,
and solvers of constrained problems.

Each file is the door to one package, imports it when the file is imported, and may import core, `sparse`, `numpy_code` and
`fit`.
"""
