"""Which members of the contract a class defines."""

from __future__ import annotations

from inspect import getattr_static


def own_members(cls: type, base: type) -> frozenset[str]:
    """The members of a class of the contract that a subclass defines."""
    members = [name for name in dir(base) if not name.startswith("_")]
    return frozenset(
        [name for name in members if getattr_static(cls, name) is not getattr_static(base, name)]
    )
