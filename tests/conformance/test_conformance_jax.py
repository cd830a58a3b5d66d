"""The conformance table on JAX; see test_conformance.py."""

import pytest
from adinterface_conformance import conformance_tests
from adinterface_studies.scenarios import EXAMPLES, SCENARIOS
from backends_table import BACKENDS

SMALL = [scenario for scenario in SCENARIOS if scenario not in EXAMPLES]

test_conformance = conformance_tests(BACKENDS["jax"], scenarios=SMALL)
# torch and autograd run them with every change.
test_worked_examples = pytest.mark.sweep(conformance_tests(BACKENDS["jax"], scenarios=EXAMPLES))
