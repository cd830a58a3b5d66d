"""`numpy_function(f, deep=True)`: f, and the Python code that it reaches, as copies in which NumPy's names mean ours.

NumPy's protocols end where code asks for a plain array: `np.asarray(x)`, `isinstance(x, np.ndarray)`, `float(x)`. A copy of a
function has the same code and other globals, in which those names are answered. What it reaches from there, other functions,
methods, classes and modules, is copied when it is first met; nothing is changed where it is found. Code that cannot be copied,
because it was compiled or lies in a class of its own kind, stays itself, and refuses what is differentiated as ever.

`globals` are the names of a copy, `functions` and `classes` make copies, `copies` says what stands for each value;
`builtin_names`, `numpy_names` and `math_names` are the names themselves. May import what `numpy_code` may, and its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.contract.ambient import wish
from ..refusals import telling_unknown
from .classes import landed
from .copies import Copies, DictView, ListView

COPIES = Copies()


def with_deep_names(f: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """What gives the copy of f for a call. It takes objects of the user's own, and gives such."""
    of = COPIES.of

    def call(*args: Any, **keywords: Any) -> Any:
        try:
            with telling_unknown():
                return _leaving(of(f)(*map(of, args), **{name: of(value) for name, value in keywords.items()}))
        except Exception:
            wish()  # it may be that a compiled call did not know a number
            raise

    return lambda: call


def _leaving(result: Any) -> Any:
    cls = type(result)
    if cls is ListView or cls is DictView:
        return result._original
    if cls is list or cls is tuple:
        parts = list(map(_leaving, result))
        return parts if cls is list else tuple(parts)
    if cls is dict:
        return {key: _leaving(value) for key, value in result.items()}
    return landed(result)


__all__ = ["with_deep_names"]
