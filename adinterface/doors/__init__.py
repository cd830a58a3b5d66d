"""Functions differentiated by any backend, in the form that other packages call: PyTensor, pymanopt, Tesseract, OpenMDAO.

Each file is the door to one package, which it imports, and may import core, `fit`, `sparse` and `numpy_code`. `namespaces` is
for engines of other packages: the Array API standard from what an engine has.
"""
