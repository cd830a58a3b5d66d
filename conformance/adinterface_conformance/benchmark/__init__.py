"""`python -m adinterface_conformance benchmark`: the cost of a call compared with hand-written engine code."""

from .command import backends, main

__all__ = ["backends", "main"]
