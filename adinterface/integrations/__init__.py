"""Functions differentiated by any backend, for other packages: PyTensor, pymanopt, Tesseract,
OpenMDAO.

Each file serves one package, which it imports. It may import core, `fit`, `sparse` and
`numpy_code`.
"""
