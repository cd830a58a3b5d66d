"""What this engine is known not to do, as data: the conformance table shows the reason and the link."""

from adinterface.backend import KnownFailure

_PROD = "autograd's rule for prod divides by each factor, so a factor of zero gives nan where the others' product is right"
_PROD_LINK = "https://github.com/HIPS/autograd/issues/93"

KNOWN_FAILURES: tuple[KnownFailure, ...] = tuple(
    KnownFailure("functions/product-with-a-zero", check, _PROD, _PROD_LINK) for check in ("formula", "consistency", "taylor")
)
