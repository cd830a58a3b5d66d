"""What this engine is known not to do, as data: the conformance table shows the reason and the link."""

from adinterface.core.contract.backend import KnownFailure

KNOWN_FAILURES: tuple[KnownFailure, ...] = ()
