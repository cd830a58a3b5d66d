"""The import of SciPy, which is an extra."""

from __future__ import annotations

from types import ModuleType

from ..core.contract.errors import MissingEngineError


def scipy_sparse() -> ModuleType:
    """`scipy.sparse`.

    Raises MissingEngineError, which names the extra, where SciPy is not installed.
    """
    try:
        import scipy.sparse
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        raise MissingEngineError(
            "AutoSparse needs SciPy, which is not installed: pip install 'adinterface[scipy]'",
            name="scipy",
        ) from None
    sparse: ModuleType = scipy.sparse
    return sparse
