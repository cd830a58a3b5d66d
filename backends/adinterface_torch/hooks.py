"""The registers of hooks that every module has, empty as a rule, and the empty ones that all gradients share."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from torch import nn

_HELD = ("_parameters", "_buffers", "_modules")
#: The other containers that every module has, with their types: never shared by two models.
HOOKS = {name: type(value) for name, value in vars(nn.Module()).items() if isinstance(value, (dict, set)) and name not in _HELD}
#: Those of them that only a call asks. A gradient has none: nobody calls it.
CALLED = frozenset(name for name in HOOKS if name.endswith("hooks") and "state_dict" not in name)

_REFUSAL = (
    "The modules of a gradient share their registers of hooks and of names, which are empty. Register it on the model that is "
    "differentiated; or on copy.deepcopy(gradient), which has registers of its own."
)


class NoHooks(OrderedDict[Any, Any]):
    """The empty register of hooks that all modules of all gradients share; every copy of it is an ordinary one.

    A dozen of them for each submodule would be most of what a gradient consists of.
    """

    def __setitem__(self, key: Any, hook: Any) -> None:
        raise TypeError(_REFUSAL)

    def copy(self) -> OrderedDict[Any, Any]:  # type: ignore[override]
        return OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, ()


class NoNames(set[Any]):
    """The same for the register of names of buffers that are not saved."""

    def add(self, name: Any) -> None:
        raise TypeError(_REFUSAL)

    def update(self, *names: Any) -> None:
        raise TypeError(_REFUSAL)

    def copy(self) -> set[Any]:
        return set()

    def __reduce__(self) -> tuple[Any, ...]:
        return set, ()


NO_HOOKS, NO_NAMES = NoHooks(), NoNames()
#: What stands for each of them in a gradient.
SHARED: dict[str, Any] = {name: NO_NAMES if issubclass(kind, set) else NO_HOOKS for name, kind in HOOKS.items()}


__all__ = ["CALLED", "HOOKS", "NO_HOOKS", "SHARED", "NoHooks", "NoNames"]
