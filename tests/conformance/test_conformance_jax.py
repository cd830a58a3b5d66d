"""The conformance table on JAX; see test_conformance.py."""

import pytest
from adinterface_conformance import conformance_tests
from adinterface_studies.scenarios import EXAMPLES, SCENARIOS
from backends_table import BACKENDS, FORMULAS

from adinterface import AutoJax

MODES = [each for each in SCENARIOS if each.family in FORMULAS]
test_conformance = conformance_tests(BACKENDS["jax"], scenarios=[each for each in SCENARIOS if each not in EXAMPLES])
# torch and autograd run them with every change.
test_examples = pytest.mark.sweep(conformance_tests(BACKENDS["jax"], scenarios=EXAMPLES))
test_modes = pytest.mark.sweep(conformance_tests(AutoJax(mode="forward"), AutoJax(mode="reverse"), scenarios=MODES))
