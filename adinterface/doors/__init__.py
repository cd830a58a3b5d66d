"""Functions differentiated by any backend, in the form that other packages call: PyTensor, pymanopt, Tesseract, OpenMDAO.

Each file is the door to one package, which it imports, and may import core, `fit`, `sparse` and `numpy_code`. `namespaces` is
for engines of other packages: the Array API standard from what an engine has. `traced_calls` and `exporting` are for compilers.
"""

#: What the core calls: how a compiler of users' code traces a call, and how a prepared call becomes a file.
ENTRIES = {
    "trace": f"{__name__}.traced_calls:trace",
    "export": f"{__name__}.exporting:export",
    "Example": f"{__name__}.exporting:Example",
}
