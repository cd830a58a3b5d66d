"""What the core itself needs below all.

Imports NumPy and nothing else of this package.
"""
