"""What engines may import: compositions of functions of the Array API standard."""

from .compositions import COMPOSITIONS

__all__ = ["COMPOSITIONS"]
