"""The contract: what engines and containers must provide, and the values that choose an engine.

Imports NumPy and nothing else of this package.
"""
