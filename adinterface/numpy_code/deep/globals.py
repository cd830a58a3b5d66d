"""The globals of copied functions, and the replacements of modules in them."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...core.contract.errors import NumpyCodeError

Of = Callable[[Any], Any]


class Globals(dict[str, Any]):
    """The globals of the copies of one module's functions.

    Each name is looked up in the module at each use, so that a copy sees later definitions, as in a
    notebook.

    The dict itself holds the built-in names, which the interpreter reads there, and what copies
    have assigned during a call.
    """

    def __init__(self, original: dict[str, Any], of: Of, builtins: dict[str, Any]):
        super().__init__(__builtins__=builtins)
        self.original = original
        self._of = of
        self._builtins = builtins

    def __missing__(self, name: str) -> Any:
        try:
            value = self.original[name]
        except KeyError:
            return self._builtins[name]
        return self._of(value)

    def settle(self, leaving: Of) -> Iterator[NumpyCodeError]:
        """At the end of a call, give the module what copies have assigned to its names, or the
        reason why not.
        """
        for name in dict.keys(self) - {"__builtins__"}:
            try:
                self.original[name] = leaving(dict.pop(self, name))
            except NumpyCodeError as error:
                yield error

    # For Python code that calls `globals()`; the interpreter uses the methods above.

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401

    def __contains__(self, name: object) -> bool:
        return name in self.original or dict.__contains__(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.original | dict.fromkeys(dict.keys(self)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, value: Any) -> None:
        dict.pop(self, name, None)
        self.original[name] = value


class ModuleView(types.ModuleType):
    """A module whose attributes are replaced."""

    def __init__(self, original: types.ModuleType, of: Of, scopes: Mapping[int, Globals]):
        super().__init__(original.__name__)
        self.__dict__["_scopes"] = scopes
        for name in ("__doc__", "__loader__", "__spec__", "__package__"):
            self.__dict__[name] = getattr(original, name, None)
        self.__dict__["_original"] = original
        self.__dict__["_of"] = of

    def __getattr__(self, name: str) -> Any:
        original = self.__dict__["_original"]
        scope = self.__dict__["_scopes"].get(id(vars(original)))
        if scope is not None and dict.__contains__(scope, name):
            return scope[name]
        return self.__dict__["_of"](getattr(original, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_original"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_original"])
