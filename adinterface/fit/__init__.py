"""From a gradient to a trained model: other people's optimisers and solvers on any tree and any backend.

`tree` has the arithmetic of trees, which is `adinterface.tree` to users. Nothing else here is imported by `import adinterface`:
SciPy, and what an engine's own optimisers need, come when they are asked for. It stands above the operators, and may import
whatever they may, and the value `AutoSparse`. Nothing imports it, except that engines import `parameters` for their optimisers.
"""
