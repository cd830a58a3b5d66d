"""The error for a package that is not installed."""

from __future__ import annotations

from typing import NoReturn

from ..core.contract.errors import MissingEngineError


def raise_missing(error: ModuleNotFoundError | SystemExit, package: str, extra: str) -> NoReturn:
    """Raise MissingEngineError with the remedy in place of the error of an import.

    The error of a package that is installed and lacks another package is raised as it is. A package that exits instead, as
    the runtime of Tesseract does, is reported as not installed with all that it needs.
    """
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != package:
        raise error
    lacking = "not installed" if isinstance(error, ModuleNotFoundError) else "not installed with all that it needs"
    raise MissingEngineError(
        f"adinterface.doors.{extra} needs {package}, which is {lacking}: pip install 'adinterface[{extra}]'", name=package
    ) from None
