"""What the repairs take from the package that uses them: errors, and what autograd lacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Function = Callable[..., Any]

#: Errors in place of a gradient that would be lost without a word.
pickled: Callable[[], Exception] = partial(
    TypeError, "A box was pickled, which would drop its gradient."
)
listed: Callable[[], Exception] = partial(
    TypeError, "A list of boxes stands for an array. Its gradient would be lost."
)


def _lacks(name: str, *unused: Any) -> Any:
    raise NotImplementedError(f"autograd has no right rule for this call of {name}")


#: NumPy's function of a name, composed of functions of `namespace`, for the calls that autograd's
#: rule gets wrong.
composition: Callable[[str], Function] = _lacks
