"""`python -m adinterface_conformance benchmark`: what a call costs beside hand-written engine code."""

from .command import backends, main

__all__ = ["backends", "main"]
