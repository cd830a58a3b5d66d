"""`summary`: a table of the leaves of a model or gradient."""

from __future__ import annotations

import math

import numpy as np
import torch

from adinterface import AutoFiniteDifferences, AutoTorch, Constant, gradient, value_and_gradient
from adinterface.tools import LeafSummary, Summary, summary


def test_a_gradient_is_shown_as_a_table():
    model = {"<w>": np.array([[3.0, -4.0]]), "b": 2.0, "n": 3, "name": "line"}
    slopes = gradient(
        lambda m, x: (m["<w>"] ** 2).sum() / 2 + x * m["b"],
        AutoFiniteDifferences(),
        model,
        Constant(12.0),
    )
    report = summary(slopes)
    assert repr(report).splitlines() == [
        "leaf        library  dtype    shape   norm",
        "----------  -------  -------  ------  ----",
        "[0]['<w>']  numpy    float64  (1, 2)  5",
        "[0]['b']    python   float    ()      12",
        "leaves: 2, numbers: 3, norm: 13",
    ]


def test_results_of_operators_have_the_names_of_their_fields():
    report = summary(
        value_and_gradient(lambda x: (x**2).sum(), AutoFiniteDifferences(), np.ones(3))
    )
    assert [leaf.path for leaf in report.leaves] == [".value", ".gradient[0]"]
    assert report.leaves[0] == LeafSummary(".value", "numpy", "float64", (), 3.0)


def test_the_gradient_of_a_module_has_its_parameters_although_they_are_frozen():
    (slopes,) = gradient(lambda m: m(torch.ones(2)).sum(), AutoTorch(), torch.nn.Linear(2, 3))
    assert [(leaf.path, leaf.shape) for leaf in summary(slopes).leaves] == [
        (".weight", (3, 2)),
        (".bias", (3,)),
    ]


def test_other_dtypes_and_nothing():
    assert summary(torch.tensor([3j, 4.0])) == Summary(
        (LeafSummary("", "torch", "complex64", (2,), 5.0),)
    )
    assert summary(torch.ones(4, dtype=torch.bfloat16, requires_grad=True)).norm == 2.0
    assert math.isnan(summary([1.0, np.array([math.nan])]).norm)
    assert (summary({"n": 1}).size, summary(None).norm) == (0, 0.0)
