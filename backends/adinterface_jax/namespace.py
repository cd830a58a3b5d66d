"""The Array API namespace of JAX's arrays: `jax.numpy`, with our own functions where its derivatives are missing or wrong."""

from jax.numpy import *  # noqa: F403  (a namespace is what this file is)
from jax.numpy import __array_api_version__ as __array_api_version__
from jax.numpy import __array_namespace_info__ as __array_namespace_info__
from jax.numpy import bool as bool  # the star leaves out what it calls private or shadows a builtin
from jax.numpy import fft as fft
from jax.numpy import linalg as linalg

from .corrected_standard import *  # type: ignore[assignment]  # noqa: F403
