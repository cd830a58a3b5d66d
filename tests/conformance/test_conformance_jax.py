"""The conformance table on JAX; see test_conformance.py."""

import pytest
from adinterface_conformance import conformance_tests
from adinterface_conformance.scenarios import SCENARIOS
from adinterface_studies.scenarios import OWN
from backends_table import BACKENDS

test_conformance = conformance_tests(BACKENDS["jax"], scenarios=SCENARIOS)
# torch and autograd run them with every change.
test_scenarios_of_this_project = pytest.mark.sweep(conformance_tests(BACKENDS["jax"], scenarios=OWN))
