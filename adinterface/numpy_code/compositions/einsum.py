"""numpy.einsum, as a chain of matrix products."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .composing import Array, cast, composition, counted_in_full

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@composition("einsum")
def einsum(
    xp: ModuleType, *operands: Any, out: Any = None, dtype: Any = None, order: str = "K",
    casting: str = "safe", optimize: Any = False,
) -> Array:  # fmt: skip
    subscripts, values = _spelled_out(operands)
    arrays = counted_in_full(xp, *values)
    labels, result = _explicit(subscripts, [len(x.shape) for x in arrays])
    pairs = [_without_repeats(xp, x, names) for x, names in zip(arrays, labels)]
    array, names = pairs[0]
    for n, (other, others) in enumerate(pairs[1:], 1):
        later = set(result).union(*[names_ for _, names_ in pairs[n + 1 :]])
        array, names = _contracted(xp, array, names, other, others, later)
    array, names = _summed(xp, array, names, set(result))
    permuted = xp.permute_dims(array, tuple([names.index(name) for name in result]))
    return permuted if dtype is None else cast(xp, permuted, dtype)


def _spelled_out(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Subscripts and operands, also from the form einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    letters: Callable[[Any], str] = lambda axes: "".join(
        "..." if n is Ellipsis else _LETTERS[n] for n in axes
    )
    count = len(operands) // 2
    subscripts = ",".join(letters(operands[2 * n + 1]) for n in range(count))
    if len(operands) % 2:
        subscripts += "->" + letters(operands[-1])
    return subscripts, list(operands[0 : 2 * count : 2])


def _explicit(subscripts: str, ranks: list[int]) -> tuple[list[list[str]], list[str]]:
    """A name for each axis of the operands and of the result.

    Those under an ellipsis are numbered from the right.
    """
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum: {len(ranks)} operands for the subscripts {subscripts!r}")
    hidden = [
        rank - len(term.replace("...", "")) if "..." in term else 0
        for term, rank in zip(terms, ranks)
    ]

    def named(term: str, count: int) -> list[str]:
        before, dots, after = term.partition("...")
        return [*before, *[f"...{n}" for n in range(count, 0, -1)], *after] if dots else list(term)

    labels = [named(term, count) for term, count in zip(terms, hidden)]
    for names, rank in zip(labels, ranks):
        if len(names) != rank:
            raise ValueError(
                f"einsum: the subscripts {subscripts!r} do not fit operands of {ranks} axes"
            )
    if not arrow:
        letters = inputs.replace(",", "").replace("...", "")
        output = "..." + "".join(sorted(name for name in set(letters) if letters.count(name) == 1))
    return labels, named(output, max(hidden))


def _without_repeats(xp: ModuleType, x: Array, names: list[str]) -> tuple[Array, list[str]]:
    """The diagonal of axes with one name."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            rest = [n for n in range(len(names)) if n not in (first, second)]
            x = xp.permute_dims(x, (*rest, first, second))
            length = x.shape[-1]
            rows = xp.reshape(x, (*x.shape[:-2], length * length))
            x = rows[..., :: length + 1]
            names = [names[n] for n in rest] + [name]
    return x, names


def _summed(xp: ModuleType, x: Array, names: list[str], kept: set[str]) -> tuple[Array, list[str]]:
    axes = tuple([n for n, name in enumerate(names) if name not in kept])
    return (xp.sum(x, axis=axes), [name for name in names if name in kept]) if axes else (x, names)


def _contracted(
    xp: ModuleType, a: Array, names: list[str], b: Array, others: list[str], later: set[str]
) -> tuple[Array, list[str]]:
    """The product of two operands, summed over the axes that nothing needs later: one matrix
    product.
    """
    a, names = _summed(xp, a, names, later | set(others))
    b, others = _summed(xp, b, others, later | set(names))
    shared = [name for name in names if name in others]
    batch = [name for name in shared if name in later]
    inside = [name for name in shared if name not in later]
    left = [name for name in names if name not in others]
    right = [name for name in others if name not in names]
    a = xp.permute_dims(a, tuple([names.index(name) for name in batch + left + inside]))
    b = xp.permute_dims(b, tuple([others.index(name) for name in batch + inside + right]))
    k, m = len(batch), len(inside)
    stack = np.broadcast_shapes(a.shape[:k], b.shape[:k])
    summed = np.broadcast_shapes(a.shape[len(names) - m :], b.shape[k : k + m])
    rows, columns = tuple(a.shape[k : len(names) - m]), tuple(b.shape[k + m :])
    a, b = (
        xp.broadcast_to(a, (*stack, *rows, *summed)),
        xp.broadcast_to(b, (*stack, *summed, *columns)),
    )
    count = int(np.prod(summed, dtype=int))
    product = xp.matmul(
        xp.reshape(a, (*stack, int(np.prod(rows, dtype=int)), count)),
        xp.reshape(b, (*stack, count, int(np.prod(columns, dtype=int)))),
    )
    return xp.reshape(product, (*stack, *rows, *columns)), batch + left + right
