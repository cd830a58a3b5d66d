"""A module as users have it, whose functions numpy_function(f, deep=True) reaches from another
one.
"""

import functools

import numpy as np
from numpy import asarray

SCALE = np.array([1.0, 2.0, 3.0])
registry = []


def squares(x):
    return np.asarray(x) ** 2


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@decorated
def filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = asarray(x)[i] * SCALE[i]
    return out


table = last = total = None


def looked_up(x):
    global table
    if table is None:
        table = np.arange(3.0)
        table[0] = 5.0
    return np.sum(table * np.asarray(x))


def summed(x):
    global last, total
    total = 0.0
    for value in x:
        last = float(value)
        add(last)
    return total


def add(value):
    global total
    total = total + value**2


class Layer:
    def __init_subclass__(cls, **keywords):
        registry.append(cls)

    def __init__(self, weight):
        self.weight = weight
        self.seen = 0

    def __call__(self, x):
        self.seen += 1
        return self.forward(np.asarray(x))

    def forward(self, x):
        return x * self.weight


class Shifted(Layer):
    count = 0

    def __init__(self, weight, shift):
        super().__init__(weight)
        self.shift = shift

    def forward(self, x):
        type(self).count += 1
        return super().forward(x) + super().forward(np.asarray(self.shift)) * 0.5


layer = Shifted(2.0, 0.5)
