"""The error for a package that is not installed."""

from __future__ import annotations

from ..core.contract.errors import MissingEngineError


def missing(error: ModuleNotFoundError | SystemExit, package: str, extra: str) -> ImportError:
    """The error to raise for one that an import gave: MissingEngineError with the remedy.

    An installed package that lacks a package of its own keeps its own error. One that exits instead, as Tesseract's runtime
    does, is told of like a missing one.
    """
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != package:
        return error
    lacking = "not installed" if isinstance(error, ModuleNotFoundError) else "not installed with all that it needs"
    return MissingEngineError(
        f"adinterface.doors.{extra} needs {package}, which is {lacking}: pip install 'adinterface[{extra}]'", name=package
    )
