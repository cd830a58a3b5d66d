"""`python -m adinterface`: which backends there are, which engines are installed, and how to add the others."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, entry_points, packages_distributions, version
from typing import NamedTuple

import numpy as np

from . import __version__
from .core.contract import registry
from .core.contract.auto import BUILT_IN
from .core.contract.entry_points import GROUP
from .core.contract.errors import BackendError

_HEADINGS = ("backend", "installed", "version", "devices", "how to add it")


class Row(NamedTuple):
    """What the table says of one backend."""

    backend: str
    installed: str
    version: str
    devices: str
    remedy: str
    #: Why a backend that is there cannot be used; empty if it can, or if only its engine is missing.
    problem: str = ""


def rows() -> list[Row]:
    """One row for each backend: ours first, then those of other packages."""
    ours = [auto.name for auto in BUILT_IN]
    return [_row(name) for name in [*ours, *(name for name in registry.names() if name not in ours)]]


def _row(name: str) -> Row:
    try:
        devices = ", ".join(registry.backend_class(name).devices())
    except ModuleNotFoundError:
        return Row(_value(name), "no", "-", "-", _remedy(name))
    except Exception as error:  # whatever an engine does when it is broken, the table shows the others
        return _unusable(name, error.__cause__ or error)
    if _has_engine(name):
        return Row(_value(name), "yes", _engine_version(name), devices, _remedy(name))
    package = _package(name)
    return Row(_value(name), "yes", version(package), devices, f"(part of {package})")


def _unusable(name: str, error: BaseException) -> Row:
    state = "conflict" if isinstance(error, BackendError) else "broken"
    return Row(_value(name), state, "-", "-", _remedy(name), f"{type(error).__name__}: {error}")


def _value(name: str) -> str:
    """How one writes the backend value; the bare name while the package that defines it cannot be imported."""
    auto = registry.auto_class(name)
    return f"{auto.__name__}()" if auto else name


def _remedy(name: str) -> str:
    auto = registry.auto_class(name)
    return auto.install() if auto else f"pip install {name}"


def _has_engine(name: str) -> bool:
    """Whether the backend needs a package of its name; some compute with NumPy alone."""
    return registry.is_installed(name)


def _engine_version(name: str) -> str:
    for distribution in (name, *packages_distributions().get(name, ())):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return "?"


def _package(name: str) -> str:
    """The distribution that offers the backend."""
    return next((point.dist.name for point in entry_points(group=GROUP, name=name) if point.dist), "adinterface")


def report() -> str:
    """The table as text."""
    result = rows()
    cells = [_HEADINGS, *(row[: len(_HEADINGS)] for row in result)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    problems = [f"{row.backend}: {row.problem}" for row in result if row.problem]
    head = f"adinterface {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    return "\n".join([head, "", *lines, *([""] if problems else []), *problems])


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(f"python -m adinterface takes no arguments, not {' '.join(sys.argv[1:])}: it prints the table of backends.")
    print(report())
