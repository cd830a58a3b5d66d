"""The Array API namespace of JAX arrays: `jax.numpy`, with repaired functions."""

from jax.numpy import *  # noqa: F403  (a namespace is what this file is)
from jax.numpy import __array_api_version__ as __array_api_version__
from jax.numpy import __array_namespace_info__ as __array_namespace_info__
from jax.numpy import bool as bool  # the star import skips private names and names of builtins
from jax.numpy import fft as fft
from jax.numpy import linalg as linalg

from .repairs.standard import *  # type: ignore[assignment]  # noqa: F403
