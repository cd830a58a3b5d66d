"""The ground: what an engine and a container must give, and the values that choose an engine.

It imports NumPy and nothing else of this package.
"""
