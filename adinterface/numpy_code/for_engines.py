"""What engines may import: compositions of functions that they lack, and the conversions with which
these begin.
"""

from .compositions import COMPOSITIONS
from .compositions.composing import array, counted_in_full, inexact, promoted, sine_dtype
from .compositions.indexing import axes_taken, forwards, is_simple, unique_all
from .names import COUNTS, by_columns

__all__ = [
    "COMPOSITIONS", "COUNTS", "array", "axes_taken", "by_columns", "counted_in_full", "forwards",
    "inexact", "is_simple", "promoted", "sine_dtype", "unique_all",
]  # fmt: skip
