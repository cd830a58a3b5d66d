"""The entry points under which packages offer backends."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "adinterface.backends"


@functools.cache
def entry_points() -> dict[str, list[EntryPoint]]:
    """The entry points of the group, by name. Packages that claim the same name are all listed."""
    from importlib import metadata  # a late import: it takes longer than that of this whole package

    points: dict[str, list[EntryPoint]] = {}
    for point in metadata.entry_points(group=GROUP):
        others = points.setdefault(point.name, [])
        # an editable install may be listed twice
        if point.value not in (other.value for other in others):
            others.append(point)
    return points


def distribution_of(name: str) -> str:
    """What pip installs for a backend: the distribution that offers it."""
    return next((point.dist.name for point in entry_points().get(name, []) if point.dist), name)
