"""Functions of any backend for PyTensor, pymanopt, Tesseract, OpenMDAO and solvers.

Each file serves one package, which it imports. It may import core, `fit`, `sparse` and
`numpy_code`.
"""
