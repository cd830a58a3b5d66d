"""The error for a package that is not installed."""

from __future__ import annotations

from typing import NoReturn

from ..core.contract.errors import MissingEngineError


def raise_missing(error: ModuleNotFoundError | SystemExit, package: str, extra: str) -> NoReturn:
    """Raise MissingEngineError with the remedy in place of the error of an import.

    If the package is installed and another one is missing, the original error is raised. A package
    that exits during import, as the runtime of Tesseract does, is reported as incompletely
    installed.
    """
    if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] != package:
        raise error
    lacking = (
        "not installed"
        if isinstance(error, ModuleNotFoundError)
        else "not installed with all that it needs"
    )
    raise MissingEngineError(
        f"adinterface.integrations.{extra} needs {package}, which is {lacking}: pip install"
        f" 'adinterface[{extra}]'",
        name=package,
    ) from None
