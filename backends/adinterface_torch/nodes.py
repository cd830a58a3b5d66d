"""Nodes of torch's graph whose backward pass is silently wrong, as data, and how they are found.

A node is looked up by name where a Jacobian is batched, and where a backward pass is recorded for
another derivative. A gradient looks nothing up. Inside a transformation of `torch.func` a call sees
the nodes of its own level alone. So there a pass is taken for one that is differentiated again if a
level around it is a derivative, or if a leaf is in a graph around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from adinterface import NotRecordedError

from .private import is_wrapped, unwrapped


class Fault(NamedTuple):
    """What torch gets wrong at a node."""

    #: What f does, and what torch makes of it.
    wrong: str
    #: A link, or a line that shows it.
    shown_by: str
    #: What to write instead.
    remedy: str = ""
    #: The attribute of the node that says whether this one is wrong; without it all are.
    where: str = ""


#: Wrong where vmap batches the backward pass: a stack of cotangents goes through it one entry after
#: another.
ONE_BY_ONE = {
    "CdistBackward0": Fault(
        "f calls torch.cdist: if the cotangent alone has a batch, rows stand in the place of other"
        " rows",
        "torch.func.jacrev(lambda x: torch.cdist(x, torch.zeros(1, 3)))(torch.eye(2, 3))",
    ),
    "LinalgLuSolveBackward0": Fault(
        "f calls torch.linalg.lu_solve: factors (4, 1, n, n) for (4, 3, n, m) are those of other"
        " entries",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(torch.randn(4, 1, 2, 2)), torch.randn(4, 3,"
        " 2, 1))",
    ),
}

#: An error of torch in a batch inside another batch, where stacks go one entry after another, too.
IN_BATCHES = ONE_BY_ONE | {
    "PreluKernelBackwardBackward0": Fault(
        "f calls prelu of torch, whose second derivative does not fit the shapes of a batch in a"
        " batch",
        "torch.vmap(torch.func.jacrev(torch.func.grad(lambda x: prelu(x,"
        " w).pow(3).sum())))(torch.randn(3, 4, 5))",
    ),
}

#: Wrong where the backward pass is differentiated again: refused where it is recorded for that.
ONCE = {
    "WeightNormInterfaceBackward0": Fault(
        "f calls weight_norm of torch, which takes the norms for constants in its second"
        " derivative",
        "jacrev(jacrev(lambda v: (torch._weight_norm(v, torch.ones(2, 1), 0) ** 3).sum()))(v) is"
        " not symmetric",
        "Compute the weight by g * v / torch.linalg.vector_norm(v, dim=1, keepdim=True)",
    ),
    "GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_defaultBackward": Fault(
        "f calls linear_cross_entropy of torch in chunks, which takes its gradient for a constant",
        "https://github.com/pytorch/pytorch/pull/181574",
        "Write torch.nn.functional.cross_entropy(x @ weight.T, target)",
    ),
    "NativeLayerNormBackwardBackward0": Fault(
        "f calls layer_norm of torch, which takes mean and deviation for constants in its third"
        " derivative",
        "https://github.com/pytorch/pytorch/issues/175754",
        "Compute it from x.mean and x.var",
    ),
    "NativeBatchNormBackwardBackward0": Fault(
        "f calls batch_norm or instance_norm of torch, which takes the statistics for constants in"
        " its third derivative",
        "https://github.com/pytorch/pytorch/issues/186256",
        "Write module.eval(), or compute it from x.mean and x.var",
        "_saved_train",
    ),
}
ONCE["BatchNormBackwardBackward0"] = ONCE["NativeBatchNormBackwardBackward0"]._replace(
    where="_saved_update"
)

_DIFFERENCES = "differences: SecondOrder(AutoFiniteDifferences(), AutoTorch())"


def walk(outputs: Iterable[torch.Tensor], leaves: Iterable[torch.Tensor]) -> set[Any]:
    """The nodes of the graph behind the outputs, up to these leaves.

    Takes 0.2 us a node, 2 % of the pass or less: a set of nodes, because edges would take four
    times as long.
    """
    return _behind([output.grad_fn for output in outputs], {leaf.grad_fn for leaf in leaves})


def _behind(stack: list[Any], ends: set[Any]) -> set[Any]:
    seen: set[Any] = ends | {None}
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [behind for behind, _ in node.next_functions]
    return seen - ends - {None}


def leaves_behind(
    tensors: Iterable[torch.Tensor], ends: Iterable[torch.Tensor] = ()
) -> Iterator[torch.Tensor]:
    """The leaf tensors that a backward pass from tensors arrives at, but for these ends.

    Nothing here touches a leaf, which may belong to a call in another thread.
    """
    ends = [*ends]
    own = {*map(id, ends)}
    seen: set[Any] = {(None, 0), *[(x.grad_fn, x.output_nr) for x in ends]}
    stack: list[Any] = []
    for x in tensors:
        if x.grad_fn is not None:
            stack.append((x.grad_fn, x.output_nr))
        elif x.requires_grad and id(x) not in own:
            yield x
    while stack:
        edge = stack.pop()
        if edge in seen:
            continue
        seen.add(edge)
        node = edge[0]
        if hasattr(node, "variable") and id(node.variable) not in own:
            yield node.variable
        stack += node.next_functions


def fault(nodes: set[Any], leaves: Sequence[torch.Tensor], table: dict[str, Fault]) -> Fault | None:
    """What the table says of a node through which a result depends on one of the leaves.

    None without such a node.
    """
    if table.keys().isdisjoint([cls.__name__ for cls in {*map(type, nodes)}]):
        return None
    for node in nodes:
        found = table.get(type(node).__name__)
        if found is not None and getattr(node, found.where, True) and _leads(node, leaves):
            return found
    return None


def _leads(node: Any, leaves: Sequence[torch.Tensor]) -> bool:
    """Whether a node depends on one of the leaves."""
    ends, own = {leaf.grad_fn for leaf in leaves}, {*map(id, leaves)}
    behind = [x for one in _behind([node], ends) for x, _ in one.next_functions if x is not None]
    return any(x in ends or id(getattr(x, "variable", None)) in own for x in behind)


def refuse_again(nodes: set[Any], leaves: Sequence[torch.Tensor]) -> None:
    """Refuse to record a backward pass whose own derivative would be wrong."""
    if (found := fault(nodes, leaves, ONCE)) is not None:
        raise NotRecordedError(
            f"{found.wrong}. {found.remedy}, or take the outer derivative with {_DIFFERENCES}."
        )


def refuse_underived(error: RuntimeError) -> None:
    """Refuse a backward pass that torch cannot differentiate again."""
    if re.search(r"derivative for \S+_backward'? is not implemented", str(error)):
        raise NotRecordedError(
            f"torch has no second derivative here: {error} Take it with {_DIFFERENCES}."
        ) from error


def is_recorded(x: torch.Tensor) -> bool:
    """Whether a tensor is in a graph, at the present level of `torch.func` or at one around it."""
    return x.requires_grad or (is_wrapped(x) and is_recorded(unwrapped(x)))
