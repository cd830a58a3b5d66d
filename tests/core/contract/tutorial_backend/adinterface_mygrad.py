"""The engine mygrad behind adinterface."""

import threading
from copy import copy
from dataclasses import dataclass

import mygrad
import numpy as np

from adinterface import AutoBackend, NotDifferentiableError
from adinterface.core.contract import NUMPY, Backend, KnownFailure, Library, Pullback


@dataclass(frozen=True)
class AutoMygrad(AutoBackend):
    """mygrad: reverse mode over NumPy arrays, first derivatives only."""

    name = "mygrad"


NAMES = {
    "asarray": "astensor",
    "concat": "concatenate",
    "permute_dims": "transpose",
    "pow": "power",
    "bool": "bool_",
}
NAMES |= {f"a{f}": f"arc{f}" for f in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")} | {
    "cumulative_sum": "cumsum"
}


class Namespace:
    """mygrad's functions under the names of the Array API standard."""

    def __getattr__(self, name):
        return getattr(mygrad, NAMES.get(name, name))  # an AttributeError for what mygrad lacks


class MygradLibrary(Library):
    """NumPy arrays, and the tensors that stand for them inside f."""

    types = (mygrad.Tensor,)

    def dtype(self, x):
        return x.dtype.name

    def traced(self, x):
        return isinstance(x, mygrad.Tensor) and not x.constant

    def to_numpy(self, x):
        return np.asarray(x)

    def asarray(self, x, *, dtype=None, like=None, copy=False):
        if isinstance(x, mygrad.Tensor):
            return x if dtype in (None, x.dtype.name) else mygrad.positive(x, dtype=dtype)
        return NUMPY.asarray(x, dtype=dtype, copy=copy)

    def namespace(self, x):
        return Namespace()


class Root(mygrad.Tensor):
    """A leaf of ours, told apart from the tensors that f itself makes."""


class Outputs(mygrad.operation_base.Operation):
    """The last node of the graph: it stands behind all outputs, and hands each its cotangent."""

    def __call__(self, *outputs):
        self.variables = outputs
        return np.zeros(())

    def backward_var(self, grad, index):
        return self.cotangents[index]


FIRST_ORDER_ONLY = (
    "mygrad's backward pass leaves no graph; SecondOrder(AutoFiniteDifferences(), AutoMygrad())"
    " works"
)
ISSUES, DOCS = "https://github.com/rsokl/MyGrad/issues", "https://mygrad.readthedocs.io/en/latest"
NEP = "https://numpy.org/neps/nep-0050-scalar-promotion.html"
KNOWN = (  # reason, link, check, scenarios
    (
        "no complex numbers",
        f"{DOCS}/generated/mygrad.Tensor.html",
        "runs",
        "complex/* */absolute-of-complex-zero */single-c*",
    ),
    (
        "no linear algebra but norm",
        f"{DOCS}/linalg.html",
        "runs",
        "*/inverse-by* *determinant* *solution* */process-*",
    ),
    (
        "no sort",
        f"{DOCS}/tensor_manipulation.html",
        "runs",
        "functions/sorted-by* kinks/sorted-ties kinks/median-of-ties",
    ),
    (
        "no way to be told a derivative",
        ISSUES,
        "runs",
        "rules/host* rules/i* rules/root rules/linear-* crossings/d*",
    ),
    (
        "no sign, round or abs()",
        f"{DOCS}/tensor.html",
        "runs",
        "kinks/sign control-flow/newton-root rules/straight-through",
    ),
    (
        "x * 2.0 of float32 is float64",
        NEP,
        "dtype",
        "precision/cubes-by-value-and-gradient precision/waves-by-[lpv]*",
    ),
    (
        "x * 2.0 of float32 is float64",
        NEP,
        "[dp][tr]*",
        "*/zero-d-array */half-*-by-[lpv]* */big-*-single-by-[lpv]*",
    ),
    (
        FIRST_ORDER_ONLY,
        f"{ISSUES}/442",
        "runs",
        "*hessian* *hvp* *second-derivative* zoo/diagonal-* */pendulum-stiffness",
    ),
    (
        FIRST_ORDER_ONLY,
        f"{ISSUES}/442",
        "runs",
        "*/curves-of-constant-* kinks/absolute-cubed kinks/rectified-an* */minimal-*",
    ),
)


class MygradBackend(Backend):
    libraries = (MygradLibrary(),)
    known_failures = tuple(
        KnownFailure(name, check, why, link)
        for why, link, check, names in KNOWN
        for name in names.split()
    )

    def pullback(self, function, leaves, *, differentiable=False):
        roots = [Root(leaf, constant=False) for leaf in leaves]
        outputs, aux = function(*[+root for root in roots])
        last = mygrad.execute_op(Outputs, *outputs)
        nodes, lock = graph(last, *aux, *leaves), threading.Lock()
        if {id(x) for x in nodes if isinstance(x, Root) and x.creator is None} - {
            id(root) for root in roots
        }:
            raise NotDifferentiableError(FIRST_ORDER_ONLY)

        def back(cotangents):
            with lock:
                for node in nodes:
                    node.null_grad()
                last.creator.cotangents, last._grad = cotangents, np.ones(())
                for node in nodes:
                    if node.creator is not None and node._grad is not None:
                        copy(node.creator).backward(node._grad)
                return tuple(
                    np.zeros_like(root.data) if root._grad is None else root._grad for root in roots
                )

        return Pullback(
            tuple(np.asarray(y) for y in outputs), aux.map(np.asarray), back, not last.constant
        )


def graph(*ends):
    """The tensors that these were computed from, and these, each before those that it was computed
    from.
    """
    order, seen, stack = [], set(), [(end, False) for end in ends]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif isinstance(node, mygrad.Tensor) and not node.constant and id(node) not in seen:
            seen.add(id(node))
            stack += [
                (node, True),
                *((parent, False) for parent in (node.creator.variables if node.creator else ())),
            ]
    return order[::-1]
