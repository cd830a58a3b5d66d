"""How the code that calls an operator takes an engine's array: as it is, or, NumPy code, behind NumPy's protocols."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

#: What makes of any result the object that stands for it in the code that runs; itself where it is no engine's array.
Form = Callable[[Any], Any]

_form: ContextVar[Form | None] = ContextVar("_form", default=None)

#: The form of the code that runs now; None where it takes arrays as they are.
caller_form = _form.get


@contextlib.contextmanager
def calling_in(form: Form | None) -> Iterator[None]:
    """Tells operators of the code that runs meanwhile."""
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)
