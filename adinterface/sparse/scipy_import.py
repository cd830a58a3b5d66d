"""The door to SciPy, which is an extra."""

from __future__ import annotations

from types import ModuleType

from ..core.contract.errors import MissingEngineError


def scipy_sparse() -> ModuleType:
    """`scipy.sparse`. Raises MissingEngineError, which names the extra, where SciPy is not installed."""
    try:
        import scipy.sparse
    except ImportError as error:
        raise MissingEngineError(
            "AutoSparse needs SciPy, which is not installed: pip install 'adinterface[sparse]'", name="scipy"
        ) from error
    sparse: ModuleType = scipy.sparse
    return sparse
