"""`AutoSparse`: the backend value of sparse Jacobians and Hessians.

Plain data: SciPy is not imported here.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from ..core.contract.auto import AutoBackend, MatrixBackend, require_backend, require_option
from .pattern import SparsityPattern


@dataclass(frozen=True, repr=False)
class AutoSparse(MatrixBackend):
    """Sparse Jacobians and Hessians on any backend, which may be a `SecondOrder`.

    `jacobian`, `value_and_jacobian`, `hessian` and `value_gradient_and_hessian` return a sparse
    matrix for each pair of leaves, of shape `(y.size, x.size)`. It takes as few products as the
    sparsity pattern allows. All other operators work as with `backend` alone.

    pattern: the sparsity pattern: any sparse matrix, or a `SparsityPattern`, perhaps with its
        colouring, from `sparsity`. None:
    it is detected, in every one-shot call, and once for each specialization of a prepared one.
    detect: the method. `"trace"` runs f once on arrays that record which inputs each element
        depends on; `"probe"` takes
    derivatives along random directions; `"auto"` traces if f can be traced, and probes otherwise.
    format: `"csr"`, `"csc"` or `"coo"` arrays of SciPy, or the engine's own, `"native"`: BCOO on
        JAX, a sparse COO tensor on
    torch, SciPy's CSR elsewhere.
    check: when a product with a random vector is compared with the engine's: `"always"`, never
        (False), or `"first"`. That is
    after the first evaluation of a compiled specialization. It is after each one if f is not
    compiled or branches on values, or the pattern was probed.

    Needs SciPy: `pip install 'adinterface[scipy]'`.
    """

    backend: AutoBackend
    _: KW_ONLY
    pattern: Any = None
    detect: Literal["auto", "trace", "probe"] = "auto"
    format: Literal["csr", "csc", "coo", "native"] = "csr"
    check: Literal["first", "always", False] = "first"
    name = "sparse"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_backend(self, "backend")
        if self.pattern is not None and not isinstance(self.pattern, SparsityPattern):
            object.__setattr__(self, "pattern", SparsityPattern(self.pattern))
        for name, known in _OPTIONS.items():
            value = getattr(self, name)
            holds = any(
                value is option or (isinstance(value, str) and value == option) for option in known
            )
            options = ", ".join(map(repr, known[:-1]))
            require_option(self, name, holds, f"{options} or {known[-1]!r}")


_OPTIONS: dict[str, tuple[Any, ...]] = {
    "detect": ("auto", "trace", "probe"),
    "format": ("csr", "csc", "coo", "native"),
    "check": ("first", "always", False),
}

__all__ = ["AutoSparse"]
