"""What engines may import: derivatives and corrections for the functions of which they need something special."""

from .bessel import along_the_line
from .far_out import require, small_shape_complement
from .on_engines import with_partials

__all__ = ["along_the_line", "require", "small_shape_complement", "with_partials"]
