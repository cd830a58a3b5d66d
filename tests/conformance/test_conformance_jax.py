"""The conformance table on JAX; see test_conformance.py."""

from adinterface_conformance import conformance_tests
from adinterface_studies.scenarios import SCENARIOS
from backends_table import BACKENDS

test_conformance = conformance_tests(BACKENDS["jax"], scenarios=SCENARIOS)
