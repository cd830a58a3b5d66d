"""`python -m adinterface`: which backends there are, which engines are installed, and how to add
the others.

`python -m adinterface choose module:function ARGUMENT ...`: which of them to use for a function.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import NamedTuple

import numpy as np

from . import __version__
from .core.contract import registry
from .core.contract.auto import BUILT_IN
from .core.contract.errors import BackendError
from .core.support.entry_points import distribution_of

_HEADINGS = ("backend", "installed", "version", "devices", "how to add it")


class Row(NamedTuple):
    """What the table says of one backend."""

    backend: str
    installed: str
    version: str
    devices: str
    remedy: str
    #: Why a backend that is there cannot be used; empty if it can, or if only its engine is
    #: missing.
    problem: str = ""


def rows() -> list[Row]:
    """One row for each backend: ours first, then those of other packages."""
    ours = [auto.name for auto in BUILT_IN]
    return [
        _row(name) for name in [*ours, *(name for name in registry.names() if name not in ours)]
    ]


def _row(name: str) -> Row:
    try:
        devices = ", ".join(registry.backend_class(name).devices())
    except ModuleNotFoundError:
        return Row(_value(name), "no", "-", "-", _remedy(name))
    except Exception as error:
        # whatever an engine does when it is broken, the table shows the others
        return _unusable(name, error.__cause__ or error)
    if _has_engine(name):
        return Row(_value(name), "yes", _engine_version(name), devices, _remedy(name))
    package = distribution_of(name)
    return Row(_value(name), "yes", version(package), devices, f"(part of {package})")


def _unusable(name: str, error: BaseException) -> Row:
    state = "conflict" if isinstance(error, BackendError) else "broken"
    return Row(_value(name), state, "-", "-", _remedy(name), f"{type(error).__name__}: {error}")


def _value(name: str) -> str:
    """How one writes the backend value.

    Its name while the package that defines it cannot be imported.
    """
    auto = registry.auto_class(name)
    return f"{auto.__name__}()" if auto else name


def _remedy(name: str) -> str:
    auto = registry.auto_class(name)
    return auto.install() if auto else f"pip install {distribution_of(name)}"


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


def report() -> str:
    """The table as text."""
    result = rows()
    cells = [_HEADINGS, *(row[: len(_HEADINGS)] for row in result)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEADINGS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    problems = [f"{row.backend}: {row.problem}" for row in result if row.problem]
    head = f"adinterface {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    return "\n".join([head, "", *lines, *([""] if problems else []), *problems])


def chosen(argv: Sequence[str]) -> str:
    """What `tools.choose` finds for a function of a module, as text."""
    parser = argparse.ArgumentParser(
        prog="python -m adinterface choose", description="Which backend to use for a function."
    )
    parser.add_argument(
        "function", metavar="module:function", help="in a module that Python can import from here"
    )
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="ARGUMENT",
        help="an expression with the names of that module, or np",
    )
    parser.add_argument("--operator", default="gradient", help="default: gradient")
    parser.add_argument(
        "--backend",
        action="append",
        metavar="BACKEND",
        help="a value; more than one may be given; default: all installed",
    )
    options = parser.parse_args(argv)
    place, colon, name = options.function.partition(":")
    if not (place and colon and name):
        parser.error(f"write module:function, such as my_model:loss, not {options.function}")
    import adinterface  # here, because the table needs less

    try:
        module = importlib.import_module(place)
    except ModuleNotFoundError as error:
        # an import inside the module failed
        if error.name is None or not f"{place}.".startswith(f"{error.name}."):
            raise
        parser.error(f"Python finds no module {error.name} from this folder")
    here, ours = (
        {"np": np, **vars(module)},
        {word: getattr(adinterface, word) for word in adinterface.__all__},
    )
    if name not in here:
        parser.error(f"{place} has no {name}")
    if options.operator not in ours:
        parser.error(f"adinterface has no operator {options.operator}")
    args = [eval(text, here) for text in options.arguments]
    backends = [eval(text, ours) for text in options.backend] if options.backend else None
    return str(
        adinterface.tools.choose(ours[options.operator], here[name], *args, backends=backends)
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["choose"]:
        print(chosen(sys.argv[2:]))
    elif sys.argv[1:]:
        sys.exit(
            f"python -m adinterface takes no arguments, not {' '.join(sys.argv[1:])}: it prints the"
            " table of backends. Or write: python -m adinterface choose module:function"
            " ARGUMENT ..."
        )
    else:
        print(report())
