"""What engines may import: derivatives and corrections for functions with special cases."""

from .special.bessel import along_the_line
from .special.far_out import require, small_shape_complement
from .special.on_engines import with_partials

__all__ = ["along_the_line", "require", "small_shape_complement", "with_partials"]
