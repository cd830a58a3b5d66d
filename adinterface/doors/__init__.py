"""Functions differentiated by any backend, for other packages: PyTensor, pymanopt, Tesseract, OpenMDAO.

Each file serves one package, which it imports. It may import core, `fit`, `sparse` and `numpy_code`. `namespaces` makes an
Array API namespace from the functions of an engine. `traced_calls` and `exporting` are for compilers.
"""

#: What the core calls: how a compiler of users' code traces a call, and how a prepared call becomes a file.
ENTRIES = {
    "trace": f"{__name__}.traced_calls:trace",
    "export": f"{__name__}.exporting:export",
    "Example": f"{__name__}.exporting:Example",
}
