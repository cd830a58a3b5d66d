"""What engines may import: the base of a compiler that traces the code of users."""

from .traced_calls import Compiler, TracedGradient

__all__ = ["Compiler", "TracedGradient"]
