"""What the core itself needs below all: caches, ambient state, records, entry points, keys, words
of other packages.

Imports NumPy and nothing else of this package.
"""
