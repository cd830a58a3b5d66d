"""A toy engine in reverse mode: NumPy arrays that remember what they were computed from."""

import numpy as np


class Taped:
    __array_ufunc__ = None

    def __init__(self, value, *parents):
        # (parent, cotangent -> the parent's) pairs
        self.value, self.parents = np.asarray(value), parents

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)

    def __add__(self, other):
        other = lift(other)
        return Taped(self.value + other.value, (self, lambda c: c), (other, lambda c: c))

    def __mul__(self, other):
        other = lift(other)
        return Taped(
            self.value * other.value,
            (self, lambda c: c * other.value),
            (other, lambda c: c * self.value),
        )

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -lift(other)

    def __rsub__(self, other):
        return lift(other) - self

    def __getitem__(self, index):
        def back(cotangent):
            whole = np.zeros(self.shape)
            np.add.at(whole, index, cotangent)
            return whole

        return Taped(self.value[index], (self, back))

    def sum(self):
        return Taped(self.value.sum(), (self, lambda c: np.broadcast_to(c, self.shape)))


def lift(x):
    return x if isinstance(x, Taped) else Taped(x)


def sin(x):
    return Taped(np.sin(x.value), (x, lambda c: c * np.cos(x.value)))


def backward(end, cotangent, into):
    """Add what reaches each node, along every path, to `into` (by the node's id)."""
    extra = cotangent.ndim - end.value.ndim
    axes = (
        *range(extra),
        *(extra + i for i, size in enumerate(end.shape) if size == 1 != cotangent.shape[extra + i]),
    )
    cotangent = cotangent.sum(axis=axes).reshape(end.shape) if axes else cotangent
    into[id(end)] = into.get(id(end), 0) + cotangent
    for parent, back in end.parents:
        backward(parent, np.asarray(back(cotangent)), into)
