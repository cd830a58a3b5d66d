"""Random functions built from the whole Array API, on trees: sparse is as dense on every engine, and no entry is missing."""

import warnings

import numpy as np
import pytest
from adinterface_conformance.fuzz.making import Impossible, Wanted
from adinterface_conformance.fuzz.making import program as made_of
from backends_table import each_engine

from adinterface import AutoJax, AutoSparse, array_namespace, hessian, jacobian
from adinterface.core.contract.library import Library
from adinterface.core.contract.nodes import NodeType
from adinterface.core.tree import handler_of

pytestmark = pytest.mark.sweep

#: The kit's fuzzing makes them without end.
PROGRAMS = 100


def program(number, form="tree"):
    """A program of the kit's fuzzing, with real arguments; for a Hessian of one argument."""
    rng = np.random.default_rng([18, number])
    while True:
        try:
            return made_of(rng, Wanted(form, one=form == "scalar", real=True))
        except Impossible:
            continue


def pairs(found, expected):
    """The matrices of a sparse result, each beside the numbers of the dense block in its place."""
    if hasattr(found, "toarray"):
        library = handler_of(expected, scan=False)
        yield found, np.asarray(library.to_numpy(expected) if isinstance(library, Library) else expected)
        return
    handler = handler_of(found, scan=False)
    if isinstance(handler, NodeType):
        for one, other in zip(handler.flatten(found)[0], handler.flatten(expected)[0], strict=True):
            yield from pairs(one, other)


def compared(operator, made, backend):
    """Compare all blocks; the number of entries of the pattern, and how many of them are other than zero."""
    f = made.function(array_namespace)
    entries = nonzero = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = operator(f, backend, *made.args, **made.kwargs)
        sparse = operator(f, AutoSparse(backend), *made.args, **made.kwargs)
    for matrix, block in pairs(sparse, dense):
        expected = block.reshape(matrix.shape)
        coarse = matrix.dtype in ("float32", "complex64") or any(x.dtype == "float32" for x in made.arguments.point)
        tolerance = (1e-4 if coarse else 1e-12) * max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(matrix.toarray(), expected, rtol=0, atol=tolerance)
        held = np.zeros(matrix.shape, bool)
        held[np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices] = True
        assert not ((np.abs(expected) > tolerance) & ~held).any()
        entries += matrix.nnz
        nonzero += np.count_nonzero(np.abs(expected) > tolerance)
    return entries, nonzero


def numbers_for(backend):
    # JAX compiles each operation of each program.
    return range(0, PROGRAMS, 8 if isinstance(backend, AutoJax) else 1)


@each_engine
def test_jacobians_of_100_random_functions(backend):
    entries = nonzero = 0
    numbers = numbers_for(backend)
    for number in numbers:
        found = compared(jacobian, program(number), backend)
        entries, nonzero = entries + found[0], nonzero + found[1]
    assert nonzero > 2 * len(numbers)
    assert entries - nonzero < 0.1 * nonzero


@each_engine
def test_hessians_of_random_functions(backend):
    entries = nonzero = 0
    numbers = numbers_for(backend)[::4]
    for number in numbers:
        found = compared(hessian, program(number, "scalar"), backend)
        entries, nonzero = entries + found[0], nonzero + found[1]
    assert nonzero > 2 * len(numbers)
    assert entries - nonzero < 0.5 * nonzero
