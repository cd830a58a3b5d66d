"""The compositions of the Array API, for whatever is no usual call of a function here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adinterface.numpy_code.compositions import COMPOSITIONS
from adinterface.numpy_code.usual import usual as usual_form


@functools.cache
def composed(name: str) -> Callable[..., Any]:
    """NumPy's function on tensors, as every engine has it."""
    from .. import namespace  # here, because array-api-compat is slow to import

    return functools.partial(COMPOSITIONS[name], namespace)


usual = functools.partial(usual_form, composed)
