"""What decides about sparse derivatives: which entries there are, which share a product, and where each is found.

Everything here is numbers of rows and columns; no engine is met but through the functions that are passed in. It may import
the ground, `tree`, and the compositions of NumPy's functions. SciPy is imported here alone, where it is needed: it is the extra
`adinterface[sparse]`. `operators/sparse.py` imports this package when the first `AutoSparse` is used.
"""
