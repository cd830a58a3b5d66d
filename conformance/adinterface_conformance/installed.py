"""Which backends are installed: ours, and those of other packages."""

from __future__ import annotations

import functools

from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN, AutoBackend, AutoFiniteDifferences
from adinterface.core.contract.errors import BackendError

from .selection import selected


def is_installed(auto: type[AutoBackend]) -> bool:
    """Whether a backend of ours can be used; its engine is not imported for that."""
    return auto is AutoFiniteDifferences or registry.is_installed(auto.name)


@functools.cache
def value_of(name: str) -> type[AutoBackend] | None:
    """The class of backend values of an entry point; imports the package of the engine.

    None if the engine is not installed. Raises BackendError if there is no such class, or if it
    cannot be imported.
    """
    ours = next((auto for auto in BUILT_IN if auto.name == name), None)
    if ours is not None:
        return ours if is_installed(ours) else None
    try:
        backend = registry.backend_class(name)
    except ModuleNotFoundError:
        return None
    auto = registry.auto_class(name)
    if auto is None:
        raise BackendError(
            f"{backend.__module__}.{backend.__qualname__} is the backend named {name!r}, but no"
            " subclass of AutoBackend has that name. Define its AutoBackend in"
            f" {backend.__module__}, with name = {name!r}."
        )
    return auto


def installed_backends() -> list[AutoBackend]:
    """Every installed backend with its default options: built-in ones first, then other packages by
    name.

    Under pytest, those that `--adinterface-backends` selects.
    """
    chosen = selected()
    if chosen is not None:
        return chosen
    ours = [auto() for auto in BUILT_IN if is_installed(auto)]
    return ours + strangers()


def strangers() -> list[AutoBackend]:
    """The installed backends of other packages."""
    names = [name for name in registry.names() if name not in {auto.name for auto in BUILT_IN}]
    return [auto() for auto in map(value_of, names) if auto is not None]
