"""Functions differentiated by any backend, for other packages: PyTensor, pymanopt, Tesseract, OpenMDAO.

Each file serves one package, which it imports. It may import core, `fit`, `sparse` and `numpy_code`. `traced_calls` and
`exporting` are for compilers. Engines import `for_engines`.
"""

#: What the core calls to write a prepared call into a file.
FUNCTIONS = {
    "export": f"{__name__}.exporting:export",
    "Example": f"{__name__}.exporting:Example",
}
