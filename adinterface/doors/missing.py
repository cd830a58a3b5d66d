"""The error for a package that is not installed."""

from __future__ import annotations

from ..core.contract.errors import MissingEngineError


def missing(error: ModuleNotFoundError, package: str, extra: str) -> ImportError:
    """The error to raise for one that an import gave: MissingEngineError with the remedy.

    An installed package that lacks a package of its own keeps its own error.
    """
    if error.name is None or error.name.partition(".")[0] != package:
        return error
    return MissingEngineError(
        f"adinterface.doors.{extra} needs {package}, which is not installed: pip install 'adinterface[{extra}]'", name=package
    )
